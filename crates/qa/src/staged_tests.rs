use super::*;
use crate::fixture::Scratch;
use crate::git::PATIENCE;
use crate::source::{read, relative};

/// What is staged below the paths: its path, and its text or why there is none.
fn staged(r: &Scratch, below: &[&str]) -> Vec<(String, String)> {
    let paths: Vec<PathBuf> = below.iter().map(|b| r.0.path().join(b)).collect();
    let sources = sources(&paths, None, PATIENCE).unwrap();
    let text = |source: &Source| read(source).unwrap_or_else(|fault| fault.message);
    sources
        .iter()
        .map(|s| (relative(&s.path, r.0.path()), text(s)))
        .collect()
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    of.iter().map(owned).collect()
}

#[test]
fn the_index_is_read_and_the_folder_is_not() {
    let r = Scratch::new();
    for name in ["same.json", "w/ü b.json", "gone.json", "taken-out.json"] {
        r.write(name, "old");
    }
    r.commit();
    assert_eq!(staged(&r, &["."]), []);
    r.write("untracked.json", "never added");
    r.write("only-in-folder.json", "x");
    r.git(&["add", "-N", "only-in-folder.json"]);
    r.write("w/ü b.json", "staged");
    r.write("gone.json", "staged too");
    for name in [
        "note.txt",
        ".hidden/a.json",
        "node_modules/a.json",
        "memory/runs/1/a.json",
        "new/a.JSON",
    ] {
        r.write(name, "new");
    }
    r.git(&["rm", "-q", "--cached", "taken-out.json"]);
    r.git(&[
        "add",
        "-f",
        "w",
        "gone.json",
        "note.txt",
        ".hidden",
        "node_modules",
        "memory",
        "new",
    ]);
    // Afterwards the folder goes on.
    r.write("w/ü b.json", "repaired");
    r.write("same.json", "broken");
    std::fs::remove_file(r.0.path().join("gone.json")).unwrap();
    std::fs::remove_dir_all(r.0.path().join("new")).unwrap();
    let all = [
        ("gone.json", "staged too"),
        ("new/a.JSON", "new"),
        ("w/ü b.json", "staged"),
    ];
    assert_eq!(staged(&r, &["."]), pairs(&all));
    assert_eq!(staged(&r, &["w", "new"]), pairs(&[all[2], all[1]]));
    // A file that is named counts whatever it is called and wherever it lies, once.
    assert_eq!(
        staged(&r, &["note.txt", "new/a.JSON", ".", "w"]),
        pairs(&[("note.txt", "new"), all[1], all[0], all[2]])
    );
    assert_eq!(staged(&r, &["same.json"]), []);
}

#[test]
fn before_the_first_commit_what_was_added_is_staged() {
    let r = Scratch::new();
    r.write("a.json", "a");
    r.write("b.json", "b");
    r.git(&["add", "a.json"]);
    assert_eq!(staged(&r, &["."]), pairs(&[("a.json", "a")]));
}

#[test]
fn a_commit_with_an_index_of_its_own_is_told_by_it() {
    let r = Scratch::new();
    r.write("a.json", "a");
    r.git(&["add", "a.json"]);
    let other = r.0.path().join("other-index");
    std::fs::copy(r.0.path().join(".git/index"), &other).unwrap();
    let index = |index: &Path| sources(&[r.0.path().to_owned()], Some(index), PATIENCE);
    // The tests do not run in this repository: its own index is what counts.
    r.write("b.json", "b");
    r.git(&["add", "b.json"]);
    assert_eq!(index(&other).unwrap().len(), 2);
    let none = r.0.path().join("none");
    assert_eq!(index(&none), Err(StagedError::NoIndex(none)));
}

#[test]
fn what_is_not_there_or_not_merged_is_said() {
    let r = Scratch::new();
    r.write("a.json", "{}");
    r.commit();
    let none = r.0.path().join("none");
    let found = sources(std::slice::from_ref(&none), None, PATIENCE);
    assert_eq!(found, Err(NotThere(none).into()));
    r.git(&["checkout", "-q", "-b", "topic"]);
    r.write("a.json", "topic");
    r.commit();
    r.git(&["checkout", "-q", "main"]);
    r.write("a.json", "main");
    r.commit();
    let merge = std::process::Command::new("git")
        .arg("-C")
        .arg(r.0.path())
        .args(["merge", "-q", "topic"])
        .output()
        .unwrap();
    assert!(!merge.status.success());
    assert_eq!(
        staged(&r, &["."]),
        pairs(&[("a.json", "cannot be read: it is not merged yet: git add it")])
    );
    let outside = tempfile::tempdir().unwrap();
    let found = sources(&[outside.path().to_owned()], None, PATIENCE);
    assert!(matches!(
        found,
        Err(StagedError::Git(GitError::NoRepository { .. }))
    ));
}

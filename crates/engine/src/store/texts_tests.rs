use super::{Project, ResourceId, ResourceMark, StoreError};
use agentctl_base::canonical::sha256_hex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A document of some 400 KB, one of whose lines is its own.
fn document(own: &str) -> String {
    let lines = (0..12_000).map(|i| format!("  \"part {i}\": \"which is like the others\",\n"));
    format!(
        "{{\n{}  \"own\": \"{own}\"\n}}\n",
        lines.collect::<String>()
    )
}

fn mark(revision: &str) -> ResourceMark {
    ResourceMark {
        resource: ResourceId::new("document", "big"),
        revision: revision.to_owned(),
        size: 12_000,
    }
}

fn bytes_below(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.is_dir() {
            true => bytes_below(&path),
            false => fs::metadata(&path).unwrap().len(),
        })
        .sum()
}

fn base(project: &Project) -> PathBuf {
    let folder = project.memory().join("texts/big");
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(names.len(), 1);
    names.remove(0)
}

#[test]
fn what_is_kept_of_a_long_text_is_what_changed() {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path());
    let mut kept = Vec::new();
    // In runs of their own, as most changes are.
    for n in 0..20 {
        let run = project.run(&format!("run-{n}")).unwrap();
        let text = document(&"other ".repeat(n));
        let before = if n == 0 { 0 } else { bytes_below(dir.path()) };
        let taken = project
            .snapshots(&run)
            .save(&mark("0123456789"), &text)
            .unwrap();
        assert_eq!(taken.sha256, Some(sha256_hex(text.as_bytes())));
        let more = bytes_below(dir.path()) - before;
        match n {
            0 => assert!(more > text.len() as u64),
            _ => assert!(more < 1_000, "{more}"),
        }
        kept.push((run, taken, text));
    }
    base(&project);
    for (run, taken, text) in &kept {
        let snapshots = project.snapshots(run);
        assert_eq!(&snapshots.read(&taken.file).unwrap(), text);
        let told = taken.sha256.as_deref();
        assert_eq!(&snapshots.read_taken(&taken.file, told).unwrap(), text);
    }
    // A text that has little in common is kept whole, and later ones rest on it.
    let run = project.run("run-20").unwrap();
    let other = document("x").replace("like", "unlike");
    let taken = project.snapshots(&run).save(&mark("x"), &other).unwrap();
    assert_eq!(project.snapshots(&run).read(&taken.file).unwrap(), other);
    assert_eq!(
        fs::read_dir(project.memory().join("texts/big"))
            .unwrap()
            .count(),
        2
    );
    // A short one stands there as it is.
    let taken = project.snapshots(&run).save(&mark("y"), "{}").unwrap();
    assert_eq!(
        fs::read_to_string(run.snapshots().join(&taken.file)).unwrap(),
        "{}"
    );
}

#[test]
fn a_text_that_others_rest_on_is_missed_and_its_change_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path());
    let run = project.run("run-1").unwrap();
    let snapshots = project.snapshots(&run);
    let first = snapshots.save(&mark("a"), &document("one")).unwrap();
    let second = snapshots.save(&mark("b"), &document("two")).unwrap();
    let file = base(&project);
    let whole = fs::read_to_string(&file).unwrap();
    let why = |of: &super::SnapshotRef| match snapshots.read_taken(&of.file, of.sha256.as_deref()) {
        Err(StoreError::Changed { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    fs::write(&file, whole.replacen("others", "OTHERS", 1)).unwrap();
    for of in [&first, &second] {
        assert!(why(of).ends_with("which was changed"), "{}", why(of));
    }
    // Nothing new rests on it.
    let third = snapshots.save(&mark("c"), &document("three")).unwrap();
    assert_eq!(snapshots.read(&third.file).unwrap(), document("three"));
    fs::remove_file(&file).unwrap();
    assert!(why(&first).ends_with("which is gone"), "{}", why(&first));
    fs::write(&file, &whole).unwrap();
    assert_eq!(snapshots.read(&second.file).unwrap(), document("two"));
    // What stands for a text names nothing outside, and no form that is newer.
    let place = run.snapshots().join(&second.file);
    let written = fs::read_to_string(&place).unwrap();
    fs::write(&place, written.replace("\"big/", "\"../big/")).unwrap();
    assert!(
        why(&second).contains("no text of this project"),
        "{}",
        why(&second)
    );
    fs::write(
        &place,
        written.replace("\"agentctl_patch\":1", "\"agentctl_patch\":2"),
    )
    .unwrap();
    assert!(why(&second).contains("update agentctl"), "{}", why(&second));
    fs::write(
        &place,
        written.replace("three", "four").replace("two", "too"),
    )
    .unwrap();
    assert!(snapshots.read(&second.file).is_err());
}

/// A text goes when nothing rests on it, and none while it is not known what does.
#[test]
fn texts_on_which_nothing_rests_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path());
    let (first, second) = (project.run("run-1").unwrap(), project.run("run-2").unwrap());
    let taken = project
        .snapshots(&first)
        .save(&mark("a"), &document("one"))
        .unwrap();
    project
        .snapshots(&second)
        .save(&mark("b"), &document("two"))
        .unwrap();
    let (text, bytes) = (base(&project), document("one").len() as u64);
    let unused = |without: &[&Path]| {
        let without = without.iter().map(|path| (*path).to_owned()).collect();
        project.texts().unused(&without).unwrap()
    };
    assert_eq!(unused(&[]), []);
    assert_eq!(unused(&[first.dir()]), []);
    let both = [first.dir(), second.dir()];
    assert_eq!(unused(&both), [(text.clone(), bytes)]);
    // A version rests on it too, wherever in the project's memory it stands.
    let snapshot = first.snapshots().join(&taken.file);
    let version = project.memory().join("versions/big/0001-a.json");
    fs::create_dir_all(version.parent().unwrap()).unwrap();
    fs::copy(snapshot, &version).unwrap();
    assert_eq!(unused(&both), []);
    fs::write(&version, "{\"agentctl_patch\":2}").unwrap();
    assert_eq!(unused(&both), []);
    fs::write(&version, "{}").unwrap();
    assert_eq!(unused(&both), [(text, bytes)]);
}

#[cfg(unix)]
#[test]
fn texts_do_not_follow_links() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let project = Project::new(dir.path());
    fs::create_dir_all(project.memory()).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), project.memory().join("texts")).unwrap();
    let run = project.run("run-1").unwrap();
    assert!(
        project
            .snapshots(&run)
            .save(&mark("a"), &document("one"))
            .is_err()
    );
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    fs::write(elsewhere.path().join("mine.json"), "{}").unwrap();
    assert!(project.texts().unused(&BTreeSet::new()).is_err());
}

use super::*;
use crate::fixture::Scratch;
use crate::git::PATIENCE;

fn since_rev(r: &Scratch, rev: &str) -> Result<Vec<String>, GitError> {
    let sources = crate::source::collect(&[r.0.path().to_owned()]).unwrap();
    let kept = since(rev, sources, PATIENCE)?;
    Ok(kept
        .iter()
        .map(|s| crate::source::relative(&s.path, r.0.path()))
        .collect())
}

#[test]
fn what_the_branch_touched_is_kept() {
    let r = Scratch::new();
    for name in [
        "same.json",
        "edited.json",
        "w/staged.json",
        "w/ü b.json",
        "gone.json",
        "on-main.json",
    ] {
        r.write(name, "{}");
    }
    r.write(".gitignore", "ignored.json\n");
    r.commit();
    r.git(&["checkout", "-q", "-b", "topic"]);
    r.write("edited.json", "{ }");
    r.write("committed.json", "{}");
    std::fs::remove_file(r.0.path().join("gone.json")).unwrap();
    r.commit();
    // What happened on main meanwhile is not the branch's doing.
    r.git(&["checkout", "-q", "main"]);
    r.write("on-main.json", "[]");
    r.commit();
    r.git(&["checkout", "-q", "topic"]);
    r.write("w/staged.json", "[]");
    r.git(&["add", "w/staged.json"]);
    r.write("w/ü b.json", "[]");
    r.write("new.json", "{}");
    r.write("ignored.json", "{}");
    assert_eq!(
        since_rev(&r, "main").unwrap(),
        [
            "committed.json",
            "edited.json",
            "new.json",
            "w/staged.json",
            "w/ü b.json"
        ]
    );
    assert_eq!(
        since_rev(&r, "HEAD").unwrap(),
        ["new.json", "w/staged.json", "w/ü b.json"]
    );
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let r = Scratch::new();
    r.write("a.json", "{}");
    r.write("b.json", "{}");
    r.git(&["add", "a.json"]);
    assert_eq!(since_rev(&r, "HEAD").unwrap(), ["a.json", "b.json"]);
}

#[test]
fn what_git_cannot_tell_is_an_error() {
    let r = Scratch::new();
    r.write("a.json", "{}");
    r.commit();
    assert_eq!(
        since_rev(&r, "no-such"),
        Err(GitError::NoRevision("no-such".into()))
    );
    assert_eq!(
        since_rev(&r, "--output=x"),
        Err(GitError::NoRevision("--output=x".into()))
    );
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a.json"), "{}").unwrap();
    let sources = crate::source::collect(&[outside.path().to_owned()]).unwrap();
    assert!(matches!(
        since("HEAD", sources, PATIENCE),
        Err(GitError::NoRepository { .. })
    ));
}

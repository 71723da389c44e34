use super::*;

struct Repository(tempfile::TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Repository(tempfile::tempdir().unwrap());
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }
    fn git(&self, args: &[&str]) {
        let status = Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.com",
                "-c",
                "commit.gpgsign=false",
                "-C",
            ])
            .arg(self.0.path())
            .args(args)
            .status()
            .unwrap();
        assert!(status.success(), "git {args:?}");
    }
    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "x"]);
    }
    fn since(&self, rev: &str) -> Result<Vec<String>, GitError> {
        let sources = crate::source::collect(&[self.0.path().to_owned()]).unwrap();
        let kept = since(rev, sources, PATIENCE)?;
        Ok(kept
            .iter()
            .map(|s| crate::source::relative(&s.path, self.0.path()))
            .collect())
    }
}

#[test]
fn what_the_branch_touched_is_kept() {
    let r = Repository::new();
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
        r.since("main").unwrap(),
        [
            "committed.json",
            "edited.json",
            "new.json",
            "w/staged.json",
            "w/ü b.json"
        ]
    );
    assert_eq!(
        r.since("HEAD").unwrap(),
        ["new.json", "w/staged.json", "w/ü b.json"]
    );
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let r = Repository::new();
    r.write("a.json", "{}");
    r.write("b.json", "{}");
    r.git(&["add", "a.json"]);
    assert_eq!(r.since("HEAD").unwrap(), ["a.json", "b.json"]);
}

#[test]
fn what_git_cannot_tell_is_an_error() {
    let r = Repository::new();
    r.write("a.json", "{}");
    r.commit();
    assert_eq!(
        r.since("no-such"),
        Err(GitError::NoRevision("no-such".into()))
    );
    assert_eq!(
        r.since("--output=x"),
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

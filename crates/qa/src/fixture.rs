//! A git repository for tests.

use std::process::Command;

pub struct Scratch(pub tempfile::TempDir);

impl Scratch {
    pub fn new() -> Self {
        let repository = Scratch(tempfile::tempdir().unwrap());
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }
    pub fn git(&self, args: &[&str]) {
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
    pub fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "x"]);
    }
}

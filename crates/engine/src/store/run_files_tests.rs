use super::*;
use agentctl_host::key::Key;

fn project(root: &Path, key: u8) -> Project {
    let project = Project::open(root).unwrap();
    project.with_key(Some(Key::fixed([key; Key::BYTES])))
}

#[test]
fn a_place_is_that_of_a_run_and_of_no_other_folder() {
    let file = RunFile::at("memory/files/0198-a/Sprint-42.csv").unwrap();
    assert_eq!((file.run(), file.name()), ("0198-a", "Sprint-42.csv"));
    assert_eq!(file.media_type(), "text/csv; charset=utf-8");
    assert_eq!(file.place(), "memory/files/0198-a/Sprint-42.csv");
    for none in [
        "",
        "memory/files",
        "memory/files/0198-a",
        "memory/files/0198-a/",
        "memory/files//x.md",
        "memory/files/0198-a/.md",
        "memory/files/0198-a/x",
        "memory/files/0198-a/x.exe",
        "memory/files/0198-a/x.svg",
        "memory/files/../runs/x.md",
        "memory/files/0198-a/../0198-b/x.md",
        "memory/files/0198-a/b/x.md",
        "memory/files/0198-a/..md",
        "memory/files/0198-a/.x.md",
        "memory/files/0198-a/x\0.md",
        "memory/files/0198-a/x%2f.md",
        "memory/files/0198-a/x .md",
        "memory/filesystem/0198-a/x.md",
        "/memory/files/0198-a/x.md",
        "./memory/files/0198-a/x.md",
        "memory/runs/0198-a/journal.json",
        "https://example.com/memory/files/0198-a/x.md",
    ] {
        assert_eq!(RunFile::at(none), None, "{none:?}");
    }
    assert_eq!(
        RunFile::of("0198-a", &format!("{}.md", "x".repeat(198))),
        None
    );
}

#[test]
fn a_link_counts_for_its_file_its_time_its_folder_and_its_user() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mine = project(one.path(), 7);
    let file = RunFile::of("a", "x.md").unwrap();
    let mark = mine.link_mark(&file, 100).unwrap();
    assert_eq!(mark.len(), 64);
    assert!(mine.is_link_mark(&file, 100, &mark));
    let other = |run, name| RunFile::of(run, name).unwrap();
    assert!(!mine.is_link_mark(&file, 101, &mark));
    assert!(!mine.is_link_mark(&other("b", "x.md"), 100, &mark));
    assert!(!mine.is_link_mark(&other("a", "y.md"), 100, &mark));
    assert!(!project(two.path(), 7).is_link_mark(&file, 100, &mark));
    assert!(!project(one.path(), 8).is_link_mark(&file, 100, &mark));
    for wrong in ["", "0", &mark[..62], &format!("{mark}00"), "é"] {
        assert!(!mine.is_link_mark(&file, 100, wrong), "{wrong:?}");
    }
    let keyless = Project::open(one.path()).unwrap();
    assert_eq!(keyless.link_mark(&file, 100), None);
    assert!(!keyless.is_link_mark(&file, 100, &mark));
}

#[test]
fn only_what_the_run_made_is_read_and_removed() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let project = project(root.path(), 7);
    let file = RunFile::of("a", "x.md").unwrap();
    assert_eq!(project.run_file(&file).unwrap(), None);
    assert!(!project.remove_run_files("a").unwrap());
    let folder = root.path().join("memory/files/a");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("x.md"), "hello").unwrap();
    assert_eq!(project.run_file(&file).unwrap().unwrap(), b"hello");
    let large = RunFile::of("a", "large.md").unwrap();
    fs::write(folder.join("large.md"), vec![b'x'; RunFile::MAX + 1]).unwrap();
    assert_eq!(project.run_file(&large).unwrap(), None);
    assert!(project.remove_run_files("..").is_err());
    assert!(project.remove_run_files("a").unwrap());
    assert_eq!(project.run_file(&file).unwrap(), None);
    #[cfg(unix)]
    {
        fs::write(outside.path().join("x.md"), "secret").unwrap();
        fs::create_dir_all(outside.path().join("a")).unwrap();
        fs::write(outside.path().join("a/x.md"), "secret").unwrap();
        let link = std::os::unix::fs::symlink::<&Path, &Path>;
        link(outside.path(), &folder).unwrap();
        assert_ne!(
            project.run_file(&file).ok().flatten(),
            Some(b"secret".to_vec())
        );
        fs::remove_dir_all(root.path().join("memory")).unwrap();
        fs::create_dir_all(root.path().join("memory")).unwrap();
        link(outside.path(), &root.path().join("memory/files")).unwrap();
        assert!(project.remove_run_files("a").is_err());
        assert!(outside.path().join("a/x.md").is_file());
    }
}

use super::search_files::{is_folder, search};
use serde_json::{Value, json};
use std::path::Path;

fn found(root: &Path, folder: &str, args: Value) -> Result<Value, String> {
    search(args.as_object().unwrap(), root, folder).map_err(|(why, _)| why)
}

#[test]
fn lines_of_the_folder_are_found_and_nothing_outside_of_it() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("key.txt"), "harbour secret").unwrap();
    let project = tempfile::tempdir().unwrap();
    let root = project.path();
    std::fs::create_dir_all(root.join("notes/old/.git")).unwrap();
    std::fs::write(root.join("top.md"), "harbour above").unwrap();
    std::fs::write(root.join("notes/a.md"), "one\nThe HARBOUR opens at 6\n").unwrap();
    std::fs::write(root.join("notes/old/b.txt"), "opens late, says the harbour").unwrap();
    std::fs::write(root.join("notes/old/.git/c.txt"), "harbour opens").unwrap();
    std::fs::write(root.join("notes/x.bin"), [0xff, 0xfe, 0x00]).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outside.path().join("key.txt"), root.join("notes/l.txt"))
            .unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("notes/out")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("led")).unwrap();
    }
    let all = found(root, "notes", json!({"query": "opens harbour"})).unwrap();
    assert_eq!(
        all["matches"],
        json!([
            {"file": "a.md", "line": 2, "text": "The HARBOUR opens at 6"},
            {"file": "old/b.txt", "line": 1, "text": "opens late, says the harbour"},
        ])
    );
    assert_eq!((&all["total"], &all["cut"]), (&json!(2), &json!(false)));
    let one = found(root, "notes", json!({"query": "harbour", "limit": 1})).unwrap();
    assert_eq!(
        (one["matches"].as_array().unwrap().len(), &one["total"]),
        (1, &json!(2))
    );
    assert!(!one.to_string().contains("secret"), "{one}");
    assert_eq!(
        found(root, "none", json!({"query": "x"})).unwrap_err(),
        "the project has no folder none"
    );
    assert_eq!(
        found(root, "notes", json!({"query": " "})).unwrap_err(),
        "there is nothing to search for"
    );
    #[cfg(unix)]
    assert_eq!(
        found(root, "led", json!({"query": "harbour"})).unwrap_err(),
        "led leads out of the project"
    );
}

#[test]
fn a_tool_names_no_folder_that_is_outside_or_hidden() {
    for good in ["notes", "docs/site", "a b"] {
        assert!(is_folder(good), "{good}");
    }
    for bad in [
        "", ".", "..", "/etc", "notes/..", "a//b", ".git", "a/.ssh", "memory", "memory/x", "a\\b",
    ] {
        assert!(!is_folder(bad), "{bad}");
    }
}

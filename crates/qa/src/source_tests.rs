use super::*;

fn collected(root: &Path, paths: &[&str]) -> Vec<String> {
    let paths: Vec<PathBuf> = paths.iter().map(|p| root.join(p)).collect();
    let sources = collect(&paths).unwrap();
    sources.iter().map(|s| relative(&s.path, root)).collect()
}

#[test]
fn folders_are_walked_in_order_and_no_file_comes_twice() {
    let dir = tempfile::tempdir().unwrap();
    for name in [
        "b/z.json",
        "b/a.JSON",
        "b/notes.txt",
        "a.json",
        ".git/x.json",
        "node_modules/p/package.json",
        "memory/runs/1/snapshots/s.json",
        "memory/kept.json",
    ] {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}").unwrap();
    }
    assert_eq!(
        collected(dir.path(), &[""]),
        ["a.json", "b/a.JSON", "b/z.json", "memory/kept.json"]
    );
    assert_eq!(
        collected(dir.path(), &["b/z.json", "b", "./b/../a.json", "a.json"]),
        ["b/z.json", "b/a.JSON", "a.json"]
    );
    assert_eq!(
        collected(dir.path(), &[".git"]),
        [".git/x.json"],
        "what is named is walked"
    );
    assert_eq!(
        collect(&[dir.path().join("gone.json")]),
        Err(NotThere(dir.path().join("gone.json")))
    );
}

fn fault_of(bytes: &[u8]) -> (String, usize, usize) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.json");
    std::fs::write(&path, bytes).unwrap();
    let source = Source::named(&path);
    let fault = read(&source).and_then(|text| parse(&text)).unwrap_err();
    (fault.message, fault.place.line, fault.place.column)
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let long = fault_of(&[b'['; 100_000]);
    assert_eq!(
        long,
        (
            "nested deeper than 127 levels at line 1, column 128; not checked".into(),
            1,
            128
        )
    );
    for (bytes, message, line, column) in [
        (&b""[..], "the file is empty", 1, 1),
        (b" \n", "the file is empty", 1, 1),
        (
            "{\n \"é\": }".as_bytes(),
            "not valid JSON at line 2, column 7: expected value",
            2,
            7,
        ),
        (
            b"{\"a\": 1",
            "not valid JSON at line 1, column 7: EOF while parsing an object",
            1,
            7,
        ),
        (
            b"{\"a\": 1}\nx",
            "not valid JSON at line 2, column 1: trailing characters",
            2,
            1,
        ),
        (
            b"{\"a\": \"\n\xff\"}",
            "is not UTF-8 from here on; save it as UTF-8",
            2,
            1,
        ),
        (b"\xff\xfe{\0}\0", "is UTF-16; save it as UTF-8", 1, 1),
        (
            b"\xef\xbb\xbf{}",
            "starts with a byte order mark, on which `n8n import:workflow` fails; save it as UTF-8 without one",
            1,
            1,
        ),
    ] {
        assert_eq!(fault_of(bytes), (message.to_owned(), line, column));
    }
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("big.json");
    std::fs::File::create(&path)
        .unwrap()
        .set_len(MAX_BYTES + 1)
        .unwrap(); // sparse: no disk is used
    let source = Source::named(&path);
    let fault = read(&source).unwrap_err();
    assert_eq!(fault.code, "agentctl/file-too-large");
    assert!(
        fault
            .message
            .starts_with("is 67 MB; files over 64 MB are not checked"),
        "{}",
        fault.message
    );
}

#[test]
fn a_stream_without_a_size_is_bounded_too() {
    let Ok(Bytes::TooMany(None)) = bounded(std::io::repeat(b' '), 0) else {
        panic!()
    };
    let Ok(Bytes::All(bytes)) = bounded(&b"[]"[..], 0) else {
        panic!()
    };
    assert_eq!(bytes, b"[]");
}

#[test]
fn paths_are_seen_from_a_base() {
    assert_eq!(
        relative(Path::new("/p/./w/../w/a.json"), Path::new("/p")),
        "w/a.json"
    );
    assert_eq!(
        relative(Path::new("/q/a.json"), Path::new("/p")),
        "/q/a.json"
    );
    assert_eq!(relative(Path::new("-"), Path::new("/p")), "-");
}

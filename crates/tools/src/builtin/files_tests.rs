use super::make;
use serde_json::{Map, Value, json};
use std::path::Path;

fn made(root: &Path, values: Value) -> Result<Value, String> {
    let mut all: Map<String, Value> = values.as_object().cloned().unwrap();
    all.entry("run").or_insert(json!("0198-a"));
    make(&all, root).map_err(|(why, _)| why)
}

/// What stands in the file of these values.
fn written(values: Value) -> String {
    let root = tempfile::tempdir().unwrap();
    let told = made(root.path(), values).unwrap();
    let bytes = std::fs::read(root.path().join(told["file"].as_str().unwrap())).unwrap();
    assert_eq!(told["attachment"]["size"], bytes.len());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_file_stands_below_its_run_and_its_name_is_only_letters() {
    let root = tempfile::tempdir().unwrap();
    for (name, file) in [
        ("Sprint 42 – report", "Sprint-42-report.md"),
        ("../../.ssh/authorized_keys", "authorized_keys.md"),
        ("..\\..\\x.md", "x.md"),
        ("a\0b\n.sh", "a-b-sh.md"),
        ("", "file.md"),
        ("....", "file-2.md"),
        ("Größe", "Grosse.md"),
        ("CON:", "CON.md"),
    ] {
        let told = made(
            root.path(),
            json!({"name": name, "format": "md", "content": "x"}),
        )
        .unwrap();
        assert_eq!(told["file"], format!("memory/files/0198-a/{file}"));
        assert_eq!(
            told["attachment"],
            json!({"name": file, "mime": "text/markdown; charset=utf-8", "size": 1})
        );
    }
    assert_eq!(
        std::fs::read_dir(root.path().join("memory/files/0198-a"))
            .unwrap()
            .count(),
        8
    );
    for run in ["", "..", "a/b", "../x"] {
        let none = made(
            root.path(),
            json!({"run": run, "format": "md", "content": "x"}),
        );
        assert_eq!(none.unwrap_err(), "there is no run whose file it would be");
    }
}

#[test]
fn what_is_there_is_not_written_over_and_there_is_an_end() {
    let root = tempfile::tempdir().unwrap();
    for number in 1..=50 {
        let told = made(
            root.path(),
            json!({"name": "a", "format": "json", "content": number}),
        )
        .unwrap();
        let name = if number == 1 {
            "a.json".to_owned()
        } else {
            format!("a-{number}.json")
        };
        assert_eq!(told["attachment"]["name"], name);
    }
    let more = made(
        root.path(),
        json!({"name": "b", "format": "json", "content": 1}),
    );
    assert_eq!(more.unwrap_err(), "this run has made 50 files already");
    let large =
        json!({"name": "c", "format": "md", "content": "x".repeat(5 << 20), "run": "other"});
    assert!(made(root.path(), large).unwrap_err().contains("bytes"));
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(root.path().join("memory")).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("memory/files")).unwrap();
    assert!(
        made(
            root.path(),
            json!({"name": "a", "format": "md", "content": "x"})
        )
        .is_err()
    );
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_page_runs_and_loads_nothing() {
    let page = written(
        json!({"name": "p", "format": "html", "content": "# A\n\n<script>alert(1)</script>\n\n[here](javascript:alert(2)) ![x](https://x.example/y) **b**\n\n<img src=x onerror=y>"}),
    );
    assert!(
        page.contains("<h1>A</h1>") && page.contains("<strong>b</strong>"),
        "{page}"
    );
    assert!(
        page.contains("&lt;script&gt;") && page.contains("&lt;img"),
        "{page}"
    );
    for wrong in ["<script", "<img", "<a ", "javascript:", "x.example"] {
        assert!(!page.contains(wrong), "{wrong}: {page}");
    }
}

#[test]
fn a_table_reckons_nothing() {
    let rows =
        json!([{"key": "NH-1", "title": "=1+1"}, {"key": "NH-2", "n": 3, "title": "a, \"b\""}]);
    assert_eq!(
        written(json!({"name": "t", "format": "csv", "content": rows})),
        "key,title,n\nNH-1,'=1+1,\nNH-2,\"a, \"\"b\"\"\",3\n"
    );
    let rows = json!([["a", "@b"], [1, null]]);
    assert_eq!(
        written(json!({"name": "t", "format": "csv", "content": rows})),
        "a,'@b\n1,\n"
    );
    let root = tempfile::tempdir().unwrap();
    for wrong in [json!("a,b"), json!([]), json!([{"a": 1}, [2]]), json!([1])] {
        let none = made(
            root.path(),
            json!({"name": "t", "format": "csv", "content": wrong}),
        );
        assert!(none.is_err(), "{none:?}");
    }
}

#[test]
fn json_is_json_also_when_it_was_given_as_a_text() {
    for content in [json!({"a": [1]}), json!("{\"a\": [1]}")] {
        assert_eq!(
            written(json!({"name": "j", "format": "json", "content": content})),
            "{\n  \"a\": [\n    1\n  ]\n}\n"
        );
    }
    assert_eq!(
        written(json!({"name": "j", "format": "json", "content": "no json"})),
        "\"no json\"\n"
    );
}

#[test]
fn a_pdf_has_pages_of_lines_that_fit() {
    let words = "word ".repeat(1000) + "Größe 5 € ) ( \\ 漢";
    let pdf = written(json!({"name": "p", "format": "pdf", "content": words}));
    assert!(
        pdf.starts_with("%PDF-1.") && pdf.trim_end().ends_with("%%EOF"),
        "{pdf}"
    );
    // 5,000 letters are 63 lines, which are two pages.
    assert!(pdf.contains("/Count 2"), "{pdf}");
    // Größe 5 €, in WinAnsi.
    assert!(pdf.contains("4772F6DF6520352080"), "{pdf}");
}

//! `agentctl qa`: what CI relies on. Exit codes, forms, baselines, waivers, fixes, and that no file can stop it.

use super::support::{Project, Ran};
use serde_json::{Value, json};

fn workflow(url: &str) -> String {
    let workflow = json!({"name": "Orders", "nodes": [
        {"id": "h", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "x"}},
        {"id": "a", "name": "Ask", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [0, 0], "parameters": {"url": url}},
    ], "connections": {"Hook": {"main": [[{"node": "Ask", "type": "main", "index": 0}]]}}});
    format!("{workflow:#}\n")
}

fn json_of(project: &Project, args: &[&str]) -> (i32, Value) {
    let ran = project.run(&[&["qa", "--output-format", "json"], args].concat());
    (ran.code, ran.json())
}

fn found(report: &Value) -> Vec<String> {
    let files = report["files"].as_array().unwrap();
    let findings = files.iter().flat_map(|f| f["findings"].as_array().unwrap());
    findings
        .map(|f| f["code"].as_str().unwrap().to_owned())
        .collect()
}

fn git(project: &Project, args: &[&str]) {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let status = std::process::Command::new("git")
        .current_dir(project.path())
        .args(identity)
        .args(args)
        .status()
        .unwrap();
    assert!(status.success(), "git {args:?}");
}

#[test]
fn the_text_names_file_place_node_and_totals() {
    let project = Project::new();
    project.write("w/orders.json", &workflow(""));
    project.write("w/fine.json", &workflow("https://x.test"));
    project.write("w/package.json", "{}");
    let Ran { code, stdout, .. } = project.run(&["qa", "w"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(stdout, @r#"
    w/orders.json · Orders
      error   n8n/parameter [Ask] "URL" (url) is required and empty; set it
              27:9 /nodes/1/parameters/url

    1 JSON file without nodes skipped (no workflows)
    2 workflows, 1 clean, 1 error, 0 warnings
    "#);
}

#[test]
fn every_kind_of_bad_input_is_a_finding_with_its_place() {
    let project = Project::new();
    project.write("w/a-cut.json", "{\"nodes\": [");
    project.write("w/b-deep.json", &"[".repeat(200_000));
    project.write("w/c-empty.json", "");
    std::fs::write(project.file("w/d-latin.json"), b"{\"name\": \"\xe9\"}").unwrap();
    std::fs::File::create(project.file("w/e-huge.json"))
        .unwrap()
        .set_len(200_000_000)
        .unwrap(); // sparse
    project.write("w/f-good.json", &workflow("https://x.test"));
    let (code, report) = json_of(&project, &["w", "w/c-empty.json"]);
    assert_eq!(code, 1);
    let files = report["files"].as_array().unwrap();
    let lines: Vec<String> = files
        .iter()
        .map(|f| match f["findings"].get(0) {
            None => format!("{} ok", f["path"].as_str().unwrap()),
            Some(x) => format!(
                "{}:{}:{} {} {}",
                f["path"].as_str().unwrap(),
                x["line"],
                x["column"],
                x["code"].as_str().unwrap(),
                x["message"].as_str().unwrap()
            ),
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    w/a-cut.json:1:11 n8n/structure not valid JSON at line 1, column 11: EOF while parsing a list
    w/b-deep.json:1:128 agentctl/file-too-deep nested deeper than 127 levels at line 1, column 128; not checked
    w/c-empty.json:1:1 n8n/structure the file is empty
    w/d-latin.json:1:11 agentctl/file-encoding is not UTF-8 from here on; save it as UTF-8
    w/e-huge.json:1:1 agentctl/file-too-large is 200 MB; files over 64 MB are not checked (n8n takes at most 16 MB unless N8N_PAYLOAD_SIZE_MAX says otherwise); pinned data is the usual reason: remove it
    w/f-good.json ok
    ");
}

#[test]
fn a_wrong_file_that_was_named_is_a_finding_and_a_missing_one_is_usage() {
    let project = Project::new();
    project.write("package.json", "{\"private\": true}");
    let (code, report) = json_of(&project, &["package.json"]);
    assert_eq!(
        (code, found(&report)),
        (1, vec!["n8n/structure".to_owned(); 2])
    );
    assert_eq!(project.run(&["qa", "gone.json"]).code, 2);
    assert_eq!(project.run(&["qa"]).code, 2);
    assert_eq!(
        project
            .run(&["qa", "package.json", "--report", "html=x"])
            .code,
        2
    );
    assert_eq!(project.run(&["qa", "package.json", "--dry-run"]).code, 2);
}

#[test]
fn line_by_line_comes_init_each_file_and_the_result() {
    let project = Project::new();
    project.write("w/a.json", &workflow(""));
    project.write("w/b.json", &workflow("https://x.test"));
    for format in ["jsonl", "stream-json"] {
        let ran = project.run(&["qa", "w", "--output-format", format]);
        let lines: Vec<Value> = ran
            .stdout
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let kinds: Vec<&str> = lines.iter().map(|l| l["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["init", "file", "file", "result"]);
        assert_eq!(lines[1]["findings"][0]["code"], "n8n/parameter");
        assert_eq!(lines[3]["summary"]["errors"], 1);
        assert_eq!((lines[3]["exit_code"].clone(), ran.code), (json!(1), 1));
    }
}

#[test]
fn a_baseline_lets_old_findings_pass_and_new_ones_fail() {
    let project = Project::new();
    project.write("w/old.json", &workflow(""));
    let missing = project.run(&["qa", "w", "--baseline", "known.json"]);
    assert_eq!(missing.code, 2);
    assert!(
        missing.stderr.contains("--write-baseline"),
        "{}",
        missing.stderr
    );
    assert_eq!(
        project
            .run(&["qa", "w", "--baseline", "known.json", "--write-baseline"])
            .code,
        0
    );
    assert_eq!(
        project.read_json("known.json")["files"]["w/old.json"][0]["code"],
        "n8n/parameter"
    );
    // The same finding, whatever the path is called by and whoever moved in the file.
    let mut moved: Value = serde_json::from_str(&workflow("")).unwrap();
    moved["nodes"].as_array_mut().unwrap().insert(0, json!({"id": "n", "name": "Note", "type": "n8n-nodes-base.stickyNote", "typeVersion": 1, "position": [0, 0], "parameters": {}}));
    project.write("w/old.json", &moved.to_string());
    let absolute = project.file("w");
    for path in ["w", "./w/../w", absolute.to_str().unwrap()] {
        let (code, report) = json_of(&project, &[path, "--baseline", "known.json"]);
        assert_eq!(
            (code, &report["summary"]["known"]),
            (0, &json!(1)),
            "{path}"
        );
        assert_eq!(report["files"][0]["findings"][0]["known"], true);
    }
    project.write("w/new.json", &workflow(""));
    let (code, report) = json_of(&project, &["w", "--baseline", "known.json"]);
    assert_eq!((code, &report["summary"]["errors"]), (1, &json!(1)));
    // What is fixed is told, and taken out when the baseline is written again.
    project.write("w/old.json", &workflow("https://x.test"));
    let ran = project.run(&["qa", "w/old.json", "--baseline", "known.json"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout.contains("1 finding of the baseline is gone"),
        "{}",
        ran.stdout
    );
    project.run(&[
        "qa",
        "w/old.json",
        "--baseline",
        "known.json",
        "--write-baseline",
    ]);
    assert_eq!(project.read_json("known.json")["files"], json!({}));
    project.write("known.json", "[]");
    assert_eq!(
        project.run(&["qa", "w", "--baseline", "known.json"]).code,
        2
    );
}

#[test]
fn a_waiver_holds_until_its_day_and_a_broken_one_stops_everything() {
    let project = Project::new();
    project.write("w/a.json", &workflow(""));
    let waiver = |expires: &str| {
        format!(
            "[[qa.waiver]]\ncode = \"n8n/parameter\"\npath = \"w/**\"\nreason = \"set at import\"\nexpires = \"{expires}\"\n"
        )
    };
    project.write("agentctl.toml", &waiver("9999-12-31"));
    let (code, report) = json_of(&project, &["w"]);
    assert_eq!((code, &report["summary"]["waived"]), (0, &json!(1)));
    assert_eq!(
        report["files"][0]["findings"][0]["waived"]["reason"],
        "set at import"
    );
    project.write("agentctl.toml", &waiver("2020-01-01"));
    let ran = project.run(&["qa", "w"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout
            .contains("waiver expired: n8n/parameter (until 2020-01-01: set at import)"),
        "{}",
        ran.stdout
    );
    project.write(
        "agentctl.toml",
        "\n[[qa.waiver]]\ncode = \"n8n/parameter\"\n",
    );
    let ran = project.run(&["qa", "w"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("agentctl.toml:2: missing field `reason`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn fixes_are_shown_or_written_and_the_rest_is_reported() {
    let project = Project::new();
    let before = workflow("https://x.test/{{ $json.body.id }}");
    project.write("w/a.json", &before);
    let shown = project.run(&["qa", "w", "--fix", "--dry-run"]);
    assert_eq!(
        std::fs::read_to_string(project.file("w/a.json")).unwrap(),
        before
    );
    assert!(shown.stdout.contains("would fix"), "{}", shown.stdout);
    let ran = project.run(&["qa", "w", "--fix"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    insta::assert_snapshot!(ran.stdout, @r#"
    w/a.json · Orders
      fixed agentctl/missing-expression-prefix [Ask] put "=" in front
      --- w/a.json
      +++ w/a.json
      @@ -24,7 +24,7 @@
               0
             ],
             "parameters": {
      -        "url": "https://x.test/{{ $json.body.id }}"
      +        "url": "=https://x.test/{{ $json.body.id }}"
             }
           }
         ],

    1 workflow, 1 clean, 0 errors, 0 warnings, 1 fixed
    "#);
    assert_eq!(
        std::fs::read_to_string(project.file("w/a.json")).unwrap(),
        workflow("=https://x.test/{{ $json.body.id }}")
    );
    assert_eq!(project.run(&["qa", "-", "--fix"]).code, 2);
}

#[test]
fn reports_are_written_beside_the_answer() {
    let project = Project::new();
    git(&project, &["init", "-q"]);
    project.write("w/a.json", &workflow(""));
    let args = [
        "--report",
        "sarif=out/qa.sarif",
        "--report",
        "junit=out/qa.xml",
        "--report",
        "github",
    ];
    let ran = project.run(&[&["qa", "w"], &args[..]].concat());
    let line = "::error file=w/a.json,line=27,endLine=27,col=9,endColumn=18,title=n8n/parameter::Ask: \"URL\" (url) is required and empty; set it\n";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    let sarif = project.read_json("out/qa.sarif");
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "w/a.json");
    assert_eq!(place["region"]["startLine"], 27);
    let junit = std::fs::read_to_string(project.file("out/qa.xml")).unwrap();
    assert!(
        junit.contains("<testsuite name=\"w/a.json\" tests=\"1\" failures=\"1\""),
        "{junit}"
    );
    // Beside JSON the annotations go to stderr: stdout stays one document.
    let ran = project.run(&[&["qa", "w", "--output-format", "json"], &args[..]].concat());
    assert_eq!(ran.json()["summary"]["errors"], 1);
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
}

#[test]
fn only_what_a_branch_changed_is_checked() {
    let project = Project::new();
    git(&project, &["init", "-q", "-b", "main"]);
    project.write("w/old.json", &workflow(""));
    project.write("w/touched.json", &workflow("https://x.test"));
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "first"]);
    let ran = project.run(&["qa", "w", "--changed-since", "HEAD"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout.contains("no workflow was changed"),
        "{}",
        ran.stdout
    );
    project.write("w/touched.json", &workflow(""));
    let (code, report) = json_of(&project, &["w", "--changed-since", "main"]);
    assert_eq!(code, 1);
    assert_eq!(report["files"].as_array().unwrap().len(), 1);
    assert_eq!(report["files"][0]["path"], "w/touched.json");
    let ran = project.run(&["qa", "w", "--changed-since", "origin/main"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("fetch-depth"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn the_hook_checks_what_is_staged_and_nothing_beside_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    git(&project, &["init", "-q", "-b", "main"]);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_agentctl"));
    let hook = format!(
        "#!/bin/sh\nPATH='{}':$PATH exec '{}' .\n",
        binary.parent().unwrap().display(),
        root.join("packaging/hook").display()
    );
    project.write(".git/hooks/pre-commit", &hook);
    let may_run = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.file(".git/hooks/pre-commit"), may_run).unwrap();
    let commit = |args: &[&str]| {
        let commit = std::process::Command::new("git")
            .current_dir(project.path())
            .env("HOME", project.path())
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args(["-c", "core.hooksPath=.git/hooks"])
            .args(["commit", "-q", "-m", "x"])
            .args(args)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&commit.stdout).into_owned()
            + &String::from_utf8_lossy(&commit.stderr);
        (commit.status.success(), told)
    };
    let (good, bad) = (workflow("https://x.test"), workflow(""));
    project.write("README", "x");
    project.write("w/untracked.json", &bad);
    git(&project, &["add", "README"]);
    let (is_made, told) = commit(&[]);
    assert!(is_made, "{told}");
    // Staged broken, repaired in the folder only.
    project.write("w/a.json", &bad);
    git(&project, &["add", "w/a.json"]);
    project.write("w/a.json", &good);
    let (is_made, told) = commit(&[]);
    assert!(!is_made && told.contains("./w/a.json"), "{told}");
    // Staged whole, broken in the folder afterwards.
    git(&project, &["add", "w/a.json"]);
    project.write("w/a.json", &bad);
    let (is_made, told) = commit(&[]);
    assert!(is_made, "{told}");
    // These two have an index of their own, which says what the commit will hold.
    let (is_made, told) = commit(&["w/a.json"]);
    assert!(!is_made && told.contains("./w/a.json"), "{told}");
    let (is_made, told) = commit(&["-a"]);
    assert!(!is_made && told.contains("./w/a.json"), "{told}");
    project.write("w/b.json", &bad);
    git(&project, &["add", "w/b.json"]);
    project.write("w/a.json", &workflow("https://y.test"));
    let (is_made, told) = commit(&["w/a.json"]);
    assert!(is_made, "{told}");
}

/// Nothing to check is not the same as nothing wrong; of what was changed or staged there may be nothing.
#[test]
fn a_folder_without_workflows_is_a_mistake_whatever_else_is_in_it() {
    let project = Project::new();
    project.write("empty/note.txt", "x");
    project.write("foreign/package.json", "{}");
    for (folder, told) in [
        ("empty", "error: no workflow in empty\n"),
        (
            "foreign",
            "error: no workflow in foreign: its only JSON file has no nodes\n",
        ),
    ] {
        let ran = project.run(&["qa", folder]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
        let (code, answer) = json_of(&project, &[folder]);
        assert_eq!((code, &answer["exit_code"]), (2, &json!(2)));
    }
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "-A"]);
    for which in [&["--staged"][..], &["--changed-since", "HEAD"]] {
        let ran = project.run(&[&["qa", "empty", "foreign"], which].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
}

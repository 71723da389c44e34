//! The other commands, each in a fresh folder.

use super::support::Project;

#[test]
fn init_sets_up_a_folder_and_changes_nothing_the_second_time() {
    let project = Project::new();
    let ran = project.run(&["init", "shop"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for made in [
        "shop/workflows",
        "shop/memory/README.md",
        "shop/.mcp.json.example",
        "shop/.gitignore",
    ] {
        assert!(project.file(made).exists(), "{made} is missing");
    }
    let ignored = std::fs::read_to_string(project.file("shop/.gitignore")).unwrap();
    assert_eq!(
        ignored,
        ".mcp.json.*\n!.mcp.json.example\n!.mcp.json.full.example\n"
    );
    let again = project.run(&["init", "shop", "--output-format", "json"]);
    assert_eq!(again.json()["made"], serde_json::json!([]));
    // Servers without a key in them are for everybody who works on the project; a key is not.
    let example = std::fs::read_to_string(project.file("shop/.mcp.json.example")).unwrap();
    for (servers, is_kept_back) in [
        (example.clone(), false),
        (example.replace("${N8N_API_KEY}", "n8n-key-of-mine"), true),
        ("{ broken".to_owned(), true),
    ] {
        let project = Project::new();
        project.write(".mcp.json", &servers);
        assert_eq!(project.run(&["init"]).code, 0);
        let ignored = std::fs::read_to_string(project.file(".gitignore")).unwrap();
        let line = ignored.lines().any(|line| line == ".mcp.json");
        assert_eq!(line, is_kept_back, "{servers}");
    }
}

#[test]
fn memory_is_kept_out_of_git_by_init_and_by_the_first_run_of_a_folder_that_nobody_set_up() {
    let untracked = |project: &Project| {
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            let output = git.current_dir(project.path()).args(args).output().unwrap();
            assert!(output.status.success(), "{args:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        git(&["init", "--quiet"]);
        git(&["status", "--porcelain", "--untracked-files=all"])
    };
    let request = "Every day at 9:00 post hello to Slack #dev";
    let project = Project::new();
    let ran = project.run(&["build", "--yes", request]);
    assert!([0, 9].contains(&ran.code), "{}", ran.stderr);
    let seen = untracked(&project);
    assert!(
        seen.contains("workflows/") && !seen.contains("memory"),
        "{seen}"
    );

    let project = Project::new();
    project.run(&["init"]);
    project.run(&["build", "--yes", request]);
    let seen = untracked(&project);
    // What the project's files name goes along with them: a clone's editor finds it.
    let schema = "memory/schemas/settings.schema.json";
    let settings = std::fs::read_to_string(project.file("agentctl.toml")).unwrap();
    assert!(
        settings.starts_with(&format!("#:schema {schema}\n")),
        "{settings}"
    );
    assert!(
        seen.contains("workflows/") && seen.contains(schema),
        "{seen}"
    );
    assert_eq!(seen.matches("memory/").count(), 1, "{seen}");

    // What the user said stays.
    let project = Project::new();
    project.write("memory/.gitignore", "runs/\n");
    project.run(&["build", "--yes", request]);
    let kept = std::fs::read_to_string(project.file("memory/.gitignore")).unwrap();
    assert_eq!(kept, "runs/\n");
}

#[test]
fn qa_checks_every_file_whatever_is_wrong_with_the_others() {
    let project = Project::new();
    project.write("w/a-broken.json", "{\"nodes\": [\n  {\"name\": }]}");
    project.write(
        "w/b-empty.json",
        "{\"name\": \"b\", \"nodes\": [], \"connections\": {}}",
    );
    project.write("w/c-other.json", "{\"version\": 1}");
    project.write("w/d-unknown.json", r#"{"name": "d", "nodes": [{"id": "1", "name": "X", "type": "n8n-nodes-base.noSuchNode", "typeVersion": 1, "position": [0, 0], "parameters": {}}], "connections": {}}"#);
    let ran = project.run(&["qa", "w", "--output-format", "json"]);
    assert_eq!(ran.code, 1);
    let report = ran.json();
    let files = report["files"].as_array().unwrap();
    assert_eq!(files.len(), 3);
    assert_eq!(files[0]["findings"][0]["code"], "n8n/structure");
    assert!(
        files[0]["findings"][0]["message"]
            .as_str()
            .unwrap()
            .contains("line 2, column 12"),
        "{}",
        files[0]
    );
    assert!(
        files[2]["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|f| f["code"] == "n8n/unknown-type" && f["node_id"] == "1")
    );
    assert_eq!(report["summary"]["skipped"].as_array().unwrap().len(), 1);
    assert_eq!(project.run(&["qa", "w", "--fail-on", "never"]).code, 0);
    assert_eq!(project.run(&["qa", "nowhere"]).code, 2);
}

#[test]
fn qa_reads_stdin_only_when_asked() {
    use std::io::Write;
    let project = Project::new();
    let mut child = project
        .command(&["qa", "-", "--output-format", "json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"[1, 2").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_catalog_answers_offline() {
    let project = Project::new();
    let hits = project
        .run(&[
            "catalog",
            "search",
            "google",
            "sheet",
            "--output-format",
            "json",
        ])
        .json();
    assert_eq!(hits["hits"][0]["node_type"], "n8n-nodes-base.googleSheets");
}

#[test]
fn the_policy_explains_its_decisions() {
    let project = Project::new();
    let allowed = project.run(&[
        "policy",
        "check",
        "builder",
        "update_workflow",
        "--output-format",
        "json",
    ]);
    assert_eq!(
        (allowed.code, allowed.json()["decision"]["decision"].clone()),
        (0, "allow".into())
    );
    let denied = project.run(&[
        "policy",
        "check",
        "qa",
        "update_workflow",
        "--output-format",
        "json",
    ]);
    assert_eq!(
        (denied.code, denied.json()["decision"]["decision"].clone()),
        (5, "deny".into())
    );
    let unknown = project.run(&["policy", "check", "builder", "Update_workflow"]);
    assert_eq!(
        unknown.code, 5,
        "names match byte for byte: {}",
        unknown.stdout
    );
    assert_eq!(
        project
            .run(&["policy", "check", "nobody", "get_workflow"])
            .code,
        2
    );
}

#[test]
fn a_broken_pack_file_is_named_with_its_line_and_nothing_runs() {
    let project = Project::new();
    project.write(
        "agents/builder.md",
        "---\nname: builder\ndescription: mine\nmodel: gigantic\n---\nBuild.\n",
    );
    let ran = project.run(&[
        "build",
        "--yes",
        "Every day at 9:00 post hello to Slack #general",
    ]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("builder.md:4"), "{}", ran.stderr);
    assert!(project.workflows().is_empty());
}

#[test]
fn agents_skills_and_doctor_answer() {
    let project = Project::new();
    let agents = project
        .run(&["agents", "list", "--output-format", "json"])
        .json();
    assert_eq!(agents["agents"].as_array().unwrap().len(), 6);
    let skills = project
        .run(&["skills", "list", "--output-format", "json"])
        .json();
    assert_eq!(skills["skills"].as_array().unwrap().len(), 8);
    assert!(
        project
            .run(&["skills", "show", "n8n-expression-syntax"])
            .stdout
            .contains("$json")
    );
    let doctor = project.run(&["doctor", "--output-format", "json"]);
    assert_eq!(doctor.code, 0, "{}", doctor.stdout);
}

#[test]
fn man_pages_are_made() {
    let project = Project::new();
    assert!(project.run(&["man"]).stdout.contains(".TH agentctl"));
    assert_eq!(project.run(&["man", "--dir", "man1"]).code, 0);
    assert!(project.file("man1/agentctl-build.1").is_file());
}

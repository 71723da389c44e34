//! Cases 382 to 400: what happens to a folder after it was trusted, and the ways round where the user's own folder lies.

use crate::attack::ran;
use crate::trust::{AGENT, Cloned, REQUEST};
use agentctl_host::home::{Home, NoHome, lies_in};
use agentctl_qa::changed;
use agentctl_qa::git::GitError;
use agentctl_qa::source;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn case_382_a_folder_of_ones_own_behind_dots_that_lead_back_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().canonicalize().unwrap();
    let project = at.join("project");
    std::fs::create_dir(&project).unwrap();
    let find = |named: &Path| {
        let named = named.display().to_string();
        Home::find(
            |name| (name == "AGENTCTL_HOME").then(|| named.clone()),
            &project,
        )
    };
    // None of the folders in front of the dots is there yet: where they lead is decided by who makes them, as a link perhaps.
    for inside in [
        "none/../project/own",
        "none/deep/../../project",
        "project/none/../../x",
    ] {
        let found = find(&at.join(inside));
        assert!(
            matches!(found, Err(NoHome::Unsafe { .. })),
            "{inside}: {found:?}"
        );
        assert!(lies_in(&at.join(inside), &project), "{inside}");
    }
    // Where everything in front is there, the dots are followed as the system does.
    std::fs::create_dir(at.join("side")).unwrap();
    let found = find(&at.join("side/../project/own"));
    assert!(matches!(found, Err(NoHome::InProject { .. })), "{found:?}");
    assert_eq!(
        find(&at.join("project/../own")).unwrap().dir(),
        at.join("own")
    );

    let cloned = Cloned::with(&[("agents/architect.md", AGENT)]);
    let mut command = cloned.command(&["trust"]);
    command.env("AGENTCTL_HOME", cloned.dir.path().join("none/../clone/own"));
    let (code, _, told) = ran(command);
    assert_eq!(code, 5, "{told}");
    assert!(
        told.contains("`..` follows a folder that is not there"),
        "{told}"
    );
    assert!(!cloned.folder.join("own").exists());
    // The data of an n8n too: it would be made, and later be something else.
    let (code, _, told) = cloned.run(&["n8n", "up", "--data", "none/../.agentctl/n8n"]);
    assert_eq!(code, 5, "{told}");
}

#[test]
fn case_383_a_pipe_that_git_would_wait_for_ends_the_command() {
    let places = [
        ".gitignore",
        "below/.gitignore",
        ".git/info/exclude",
        ".git/index",
        ".git/config",
        ".git/HEAD",
    ];
    for place in places {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.arg("-C").arg(root).args(args).stdin(Stdio::null());
            assert!(git.status().unwrap().success());
        };
        git(&["init", "-q", "-b", "main"]);
        std::fs::create_dir_all(root.join("below")).unwrap();
        std::fs::write(root.join("below/a.json"), "{}").unwrap();
        git(&["add", "-A"]);
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        git(&[&who[..], &["commit", "-q", "-m", "x"]].concat());
        let pipe = root.join(place);
        let _ = std::fs::remove_file(&pipe);
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let sources = source::collect(&[root.to_owned()]).unwrap();
        let found = changed::since("HEAD", sources, Duration::from_millis(500));
        let Err(error @ GitError::Waits { .. }) = found else {
            panic!("{place}: {found:?}")
        };
        let told = error.to_string();
        assert!(
            told.contains("may be a pipe") && told.contains("-type p"),
            "{told}"
        );
    }
}

#[test]
fn case_384_a_folder_of_ones_own_in_the_repository_around_the_project_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap().join("repository");
    let project = top.join("below/project");
    std::fs::create_dir_all(&project).unwrap();
    let find = |named: &Path, user: &Path| {
        let variables = [
            ("AGENTCTL_HOME", named.display().to_string()),
            ("HOME", user.display().to_string()),
        ];
        let find = |name: &str| variables.iter().find(|(n, _)| *n == name);
        Home::find(|name| find(name).map(|(_, value)| value.clone()), &project)
    };
    let (own, user) = (top.join("own"), dir.path().join("user"));
    std::fs::create_dir_all(&user).unwrap();
    // No repository: the project's folder is all that came.
    assert!(find(&own, &user).is_ok());
    std::fs::create_dir(top.join(".git")).unwrap();
    let found = find(&own, &user);
    assert!(
        matches!(found, Err(NoHome::InRepository { .. })),
        "{found:?}"
    );
    assert!(find(&dir.path().join("own"), &user).is_ok());
    // A repository that holds the user's home folder is the user's.
    assert!(find(&own, &top).is_ok());
    assert!(find(&own, &top.join("user")).is_err(), "there is none");
}

const SKILL: &str = "---\nname: own\ndescription: Of the folder.\n---\nText.\n";
const SETTINGS: &str = "[models]\ndefault = \"offline\"\n";

#[test]
fn case_385_what_was_approved_and_taken_away_is_not_replaced_by_what_is_built_in() {
    let flow = include_str!("../../agents/flow.yaml").replace("name: ", "name: our-");
    let agent = AGENT.replace("Of the folder.", "Of the team.");
    for (name, text, uses) in [
        (
            "agents/architect.md",
            agent.as_str(),
            &["agents", "list"][..],
        ),
        ("agents/flow.yaml", &flow, &["flow", "graph"]),
        ("agents/policy.yaml", "{}\n", &["build", "--yes", REQUEST]),
        ("skills/own/SKILL.md", SKILL, &["skills", "list"]),
        ("agentctl.toml", SETTINGS, &["models"]),
        ("n8n-catalog.bin", "x", &["catalog", "search", "slack"]),
    ] {
        let cloned = Cloned::with(&[(name, text)]);
        cloned.ok(&["trust"]);
        std::fs::remove_file(cloned.folder.join(name)).unwrap();
        let told = cloned.refused(uses);
        let item = name.trim_end_matches("/SKILL.md");
        let wanted =
            format!("error: {item} was changed since this folder was trusted: it is gone\n");
        assert!(told.contains(&wanted), "{uses:?}: {told}");
        assert_eq!(cloned.state(), "changed", "{name}");
        // A hash for CI is for the files that are there.
        let mut hashed = cloned.command(uses);
        let hash = cloned.trusted()["hash"].as_str().unwrap().to_owned();
        hashed.env("AGENTCTL_TRUST", "0".repeat(64));
        assert_eq!(ran(hashed).0, 5, "{name}");
        assert_eq!(hash.len(), 64);
        // That it is gone can be approved, like anything else.
        cloned.ok(&["trust"]);
        assert_eq!(cloned.state(), "nothing", "{name}");
        cloned.ok(uses);
    }
    // A server that is gone is missed by what would work on it.
    let cloned = Cloned::new();
    let servers = serde_json::json!({"n8n": cloned.server()});
    cloned.write(".mcp.json", &cloned.mcp(servers));
    cloned.ok(&["trust"]);
    std::fs::remove_file(cloned.folder.join(".mcp.json")).unwrap();
    let told = cloned.refused(&["build", "--yes", REQUEST]);
    assert!(
        told.contains(
            "the server \"n8n\" of .mcp.json was changed since this folder was trusted: it is gone"
        ),
        "{told}"
    );
    assert!(!cloned.mark().exists());
}

//! Cases 61–66: names that lead somewhere else, and files that are none.

#![cfg(unix)]

use crate::attack::{OUTSIDE, Place};
use crate::support::*;
use agentctl_base::model::ToolStatus;
use agentctl_base::question::Outcome;
use agentctl_engine::pack;
use agentctl_engine::run::{self, RunError};
use agentctl_engine::store::{Journal, Project, StateFile, StoreError};
use agentctl_host::files::FileError;
use agentctl_n8n_tools::vocabulary;
use serde_json::json;
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;

fn pipe(path: &Path) {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
}

#[test]
fn case_061_neither_dots_nor_absolute_paths_lead_out() {
    let place = Place::new();
    let knowledge = place.knowledge();
    let absolute = place.outside();
    for path in [
        "../../../outside.md",
        "references/../../../../outside.md",
        "./../../../outside.md",
        "..\\..\\..\\outside.md",
        "references//../../../../outside.md",
        "%2e%2e/%2e%2e/%2e%2e/outside.md",
        absolute.to_str().unwrap(),
        "/proc/self/environ",
        "a\0b",
        "",
        "~",
    ] {
        let read = knowledge.skill_file("own", path);
        assert!(read.is_err(), "{path:?}: {read:?}");
    }
    for name in ["../own", "skills/own", "/etc", "OWN", "own/", " own"] {
        assert!(knowledge.load_skill(name).is_err(), "{name}");
    }
    assert_eq!(
        knowledge.skill_file("own", "references/a.md"),
        Ok("A".to_owned())
    );
    // Workflows by their path, and learnings by what should be an id.
    block_on(async {
        let mut bench = Bench::embedded(built_in().policy.clone()).with_file("orders", 3, false);
        let beside = bench
            .dir
            .path()
            .parent()
            .unwrap()
            .join(format!("beside-{}.json", std::process::id()));
        std::fs::write(&beside, chain("beside", 2).to_text()).unwrap();
        let name = beside.file_name().unwrap().to_str().unwrap();
        for id in [
            format!("../{name}"),
            format!("workflows/../../{name}"),
            beside.to_str().unwrap().to_owned(),
            format!("..\\{name}"),
            format!("./../{name}"),
            "/etc/passwd".to_owned(),
            "/proc/self/environ".to_owned(),
            "orders\0.json".to_owned(),
        ] {
            let result = bench
                .call("builder", "get_workflow", json!({"workflow_id": id}))
                .await;
            assert_eq!(
                result.status,
                ToolStatus::Failed,
                "{id}: {:#}",
                result.content
            );
        }
        let read = bench
            .ok(
                "qa",
                "read_learning",
                json!({"ids": ["../../orders", "L-001/../x"]}),
            )
            .await;
        assert_eq!(read["missing"], json!(["../../orders", "L-001/../x"]));
        std::fs::remove_file(beside).unwrap();
    });
}

#[test]
fn case_062_a_link_inside_the_project_leads_nowhere() {
    // Wherever a run writes: the run does not begin, and nothing appears behind the link.
    for link in [
        "memory",
        "memory/runs",
        "memory/agent_results",
        "memory/agentctl.lock",
    ] {
        let outside = tempfile::tempdir().unwrap();
        let mut shop = Shop::new(good);
        let at = shop.dir.path().join(link);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(
            outside
                .path()
                .join(if link.ends_with("lock") { "lock" } else { "" }),
            &at,
        )
        .unwrap();
        let refused = shop.start(request("orders"));
        assert!(
            matches!(
                refused,
                Err(RunError::Store(StoreError::File(FileError::Linked { .. })))
            ),
            "{link}: {refused:?}"
        );
        assert_eq!(
            std::fs::read_dir(outside.path()).unwrap().count(),
            0,
            "{link}"
        );
    }
    // A link in the place of a file that is replaced: the link goes, what it named stays.
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target.json");
    std::fs::write(&target, OUTSIDE).unwrap();
    let mut shop = Shop::new(good);
    std::fs::create_dir_all(shop.project.agent_results()).unwrap();
    for file in [
        shop.project.state_file(),
        shop.project.result_file("workflow", "orders"),
    ] {
        symlink(&target, file).unwrap();
    }
    assert_eq!(
        shop.start(request("orders")).unwrap().outcome,
        Outcome::Complete
    );
    assert_eq!(std::fs::read_to_string(&target).unwrap(), OUTSIDE);
    // The folders of workflows, versions and learnings.
    for (link, tool, args) in [
        ("workflows", "create_workflow", two_nodes("x")),
        (
            "docs/learning",
            "write_learning",
            json!({"title": "t", "problem": "p", "cause": "c", "solution": "s", "evidence": "e"}),
        ),
        (
            "docs",
            "write_learning",
            json!({"title": "t", "problem": "p", "cause": "c", "solution": "s", "evidence": "e"}),
        ),
    ] {
        let outside = tempfile::tempdir().unwrap();
        let role = if tool == "write_learning" {
            "analyst"
        } else {
            "builder"
        };
        block_on(async {
            let mut bench = Bench::embedded(built_in().policy.clone());
            let at = bench.dir.path().join(link);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(outside.path(), at).unwrap();
            let done = bench.raw(role, tool, &args.to_string()).await;
            let ok = matches!(&done, Ok(agentctl_engine::gateway::Settled::Done(result)) if result.status == ToolStatus::Ok);
            assert!(!ok, "{link}: {done:?}");
        });
        assert_eq!(
            std::fs::read_dir(outside.path()).unwrap().count(),
            0,
            "{link}"
        );
    }
    // What a link shows of the outside is not read either.
    let place = Place::new();
    symlink(place.outside(), place.skill().join("link.md")).unwrap();
    symlink(place.dir.path(), place.skill().join("folder")).unwrap();
    for path in ["link.md", "folder/outside.md"] {
        assert!(place.knowledge().skill_file("own", path).is_err(), "{path}");
    }
    let learning = place.project().join("docs/learning");
    std::fs::create_dir_all(&learning).unwrap();
    symlink(place.outside(), learning.join("LEARNINGS.md")).unwrap();
    assert!(place.knowledge().read_learnings(&["L-001".into()]).is_err());
}

/// Another process puts links, pipes and files in one place by turns; whoever reads there meets each of them at some time.
#[test]
fn case_063_a_file_swapped_between_look_and_open_gives_nothing_away() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let place = Place::new();
    let target = place.skill().join("references/turn.md");
    std::fs::write(&target, "inside").unwrap();
    symlink(place.outside(), place.skill().join("references/to-link")).unwrap();
    std::fs::write(place.skill().join("references/to-file"), "inside").unwrap();
    pipe(&place.skill().join("references/to-pipe"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let names =
                ["to-link", "to-file", "to-pipe"].map(|n| place.skill().join("references").join(n));
            let spare = place.skill().join("references/spare");
            while !done.load(Ordering::Relaxed) {
                for name in &names {
                    // A rename within the folder swaps in one step, as an attacker would.
                    std::fs::rename(&target, &spare).unwrap();
                    std::fs::rename(name, &target).unwrap();
                    std::fs::rename(&target, name).unwrap();
                    std::fs::rename(&spare, &target).unwrap();
                }
            }
        });
        let knowledge = place.knowledge();
        let mut read = BTreeSet::new();
        for _ in 0..3000 {
            if let Ok(text) = knowledge.skill_file("own", "references/turn.md") {
                read.insert(text);
            }
        }
        done.store(true, Ordering::Relaxed);
        assert!(!read.contains(OUTSIDE), "{read:?}");
    });
}

#[test]
fn case_064_pipes_devices_and_second_names_are_said_and_not_waited_for() {
    // A skill's files.
    let place = Place::new();
    pipe(&place.skill().join("pipe.md"));
    std::fs::hard_link(place.outside(), place.skill().join("hard.md")).unwrap();
    symlink("/dev/zero", place.skill().join("zero.md")).unwrap();
    symlink("/proc/self/environ", place.skill().join("environ.md")).unwrap();
    for path in ["pipe.md", "hard.md", "zero.md", "environ.md"] {
        assert!(place.knowledge().skill_file("own", path).is_err(), "{path}");
    }
    // A pack's files: a mistake that is told, as any other.
    let place = Place::new();
    std::fs::remove_file(place.skill().join("SKILL.md")).unwrap();
    pipe(&place.skill().join("SKILL.md"));
    std::fs::create_dir_all(place.project().join("agents")).unwrap();
    for name in [
        "agents/builder.md",
        "agents/policy.yaml",
        "agents/flow.yaml",
    ] {
        pipe(&place.project().join(name));
    }
    let problems = agentctl::pack::load(&place.project(), &pack::LoadOptions::all())
        .unwrap_err()
        .problems;
    let odd: Vec<&str> = problems
        .iter()
        .filter(|p| p.message.contains("not a regular file"))
        .map(|p| p.file.as_str())
        .collect();
    assert_eq!(
        odd,
        [
            "agents/builder.md",
            "agents/flow.yaml",
            "agents/policy.yaml",
            "skills/own/SKILL.md"
        ]
    );
    // Workflows.
    block_on(async {
        let mut bench = Bench::embedded(built_in().policy.clone()).with_file("orders", 3, false);
        let folder = bench.dir.path().join("workflows");
        pipe(&folder.join("pipe.json"));
        symlink("/dev/zero", folder.join("zero.json")).unwrap();
        symlink("/proc/self/environ", folder.join("environ.json")).unwrap();
        let listed = bench.ok("builder", "list_workflows", json!({})).await;
        assert_eq!(
            (&listed["total"], listed["broken"].as_array().unwrap().len()),
            (&json!(1), 3)
        );
        for id in ["pipe", "zero", "environ"] {
            let result = bench
                .call("builder", "get_workflow", json!({"workflow_id": id}))
                .await;
            assert_eq!(result.status, ToolStatus::Failed, "{id}");
        }
        // A second name is cut off by a change: the other file stays as it was.
        let other = bench.dir.path().join("other.json");
        std::fs::hard_link(folder.join("orders.json"), &other).unwrap();
        let before = std::fs::read_to_string(&other).unwrap();
        bench
            .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
            .await;
        bench
            .ok(
                "builder",
                "update_workflow",
                set("orders", "id-1", json!(9)),
            )
            .await;
        assert_eq!(std::fs::read_to_string(&other).unwrap(), before);
    });
    // The run's own records.
    let mut shop = Shop::new(good);
    let report = shop.start(request("orders")).unwrap();
    let state = shop.project.state_file();
    for odd in ["pipe", "zero"] {
        std::fs::remove_file(&state).unwrap();
        match odd {
            "pipe" => pipe(&state),
            _ => symlink("/dev/zero", &state).unwrap(),
        }
        assert!(
            matches!(StateFile::read(&state), Ok(StateFile::Corrupt { .. })),
            "{odd}"
        );
        assert_eq!(
            run::status(&shop.project, &shop.pack).unwrap(),
            report,
            "{odd}"
        );
        assert_eq!(shop.resume(None).unwrap(), report, "{odd}");
        assert!(
            matches!(StateFile::read(&state), Ok(StateFile::Good(_))),
            "{odd}"
        );
    }
    let journal = shop.project.run(&report.run_id).unwrap().journal();
    std::fs::remove_file(&journal).unwrap();
    pipe(&journal);
    assert!(Journal::read(&journal).is_err());
    let listed = run::list(&shop.project).unwrap();
    let why = listed[0].broken.as_deref().unwrap();
    assert!(
        why.contains("is lost") && why.contains("is no file"),
        "{why}"
    );
}

#[test]
fn case_065_an_id_is_one_file_name_and_no_other_ids() {
    let project = Project::new("/p");
    let long = "x".repeat(300);
    let ids = [
        "../../x",
        "..",
        ".",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "a\0b",
        "a\nb",
        "",
        " ",
        "CON",
        "con",
        "orders",
        "Orders",
        "ORDERS",
        "o\u{308}",
        "\u{f6}",
        "orders.json",
        "orders ",
        long.as_str(),
        &long[..299],
    ];
    let mut seen = BTreeSet::new();
    for id in ids {
        let path = project.result_file("workflow", id);
        assert_eq!(
            path.parent(),
            Some(Path::new("/p/memory/agent_results")),
            "{id:?}"
        );
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(
            name.len() < 128
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)),
            "{name}"
        );
        // Also on a file system that does not tell case apart.
        assert!(
            seen.insert(name.to_lowercase()),
            "{id:?} is {name}, as another one"
        );
    }
    for id in ["../x", "a/b", "", "a\0b", &long] {
        assert!(project.run(id).is_err(), "{id:?}");
    }
}

#[test]
fn case_066_no_tool_writes_what_agents_are_told_or_allowed_or_what_a_run_recorded() {
    let guarded = [
        ".mcp.json",
        "agents/policy.json",
        "agents/x.json",
        "AGENTS/y.json",
        "skills/own/w.json",
        ".agents/skills/w.json",
        ".claude/settings.json",
        "memory/run_state.json",
        "Memory/z.json",
        "memory/runs/r/snapshots/001-a.json",
        "docs/learning/a.json",
        "agents /x.json",
        "agents./x.json",
    ];
    block_on(async {
        let mut bench = Bench::embedded(built_in().policy.clone());
        let document = chain("x", 3).to_text();
        for file in guarded {
            let path = bench.dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &document).unwrap();
        }
        for file in guarded {
            for id in [
                file.to_owned(),
                format!("./{file}"),
                format!("workflows/../{file}"),
                file.replace('/', "\\"),
            ] {
                let calls = [
                    ("get_workflow", json!({"workflow_id": id})),
                    ("update_workflow", set(&id, "id-0", json!(1))),
                    ("delete_workflow", json!({"workflow_id": id})),
                    ("autofix_workflow", json!({"workflow_id": id})),
                    ("rollback_workflow", json!({"workflow_id": id})),
                ];
                for (tool, args) in calls {
                    let result = bench.call("builder", tool, args).await;
                    assert_ne!(
                        result.status,
                        ToolStatus::Ok,
                        "{tool} {id}: {:#}",
                        result.content
                    );
                }
            }
            bench
                .ok(
                    "builder",
                    "create_workflow",
                    two_nodes(&format!("../{file}")),
                )
                .await;
            let now = std::fs::read_to_string(bench.dir.path().join(file)).unwrap();
            assert_eq!(now, document, "{file}");
        }
        // What was created under those names lies where workflows lie.
        assert_eq!(bench.files(), guarded.len());
    });
    // The tools that change anything at all are these, and each of them is about a workflow or a learning.
    let gateway = gateway(tempfile::tempdir().unwrap().path(), built_in());
    let named = vocabulary::n8n().tools().iter();
    let all: Vec<String> = named.map(|tool| tool.name.to_owned()).collect();
    let mut changing = BTreeSet::new();
    for role in ROLES {
        let names = gateway.tools_for(role, &all).into_iter().map(|t| t.name);
        changing.extend(names.filter(|name| {
            ![
                "draft_",
                "qa_",
                "get_",
                "list_",
                "search_",
                "check_",
                "validate_",
                "load_",
                "read_",
            ]
            .iter()
            .any(|read| name.starts_with(read))
        }));
    }
    assert_eq!(
        changing.into_iter().collect::<Vec<_>>(),
        [
            "activate_workflow",
            "autofix_workflow",
            "create_workflow",
            "deactivate_workflow",
            "delete_workflow",
            "rehearse_workflow",
            "rollback_workflow",
            "trigger_workflow",
            "update_workflow",
            "write_learning"
        ]
    );
}

//! The pack that researches a question: who says it, who says otherwise, what is traced, and when there is nothing to say.

use crate::support::{Project, Ran};
use serde_json::Value;
use std::collections::BTreeSet;

fn asked(project: &Project, args: &[&str]) -> Ran {
    let mut all = vec!["run", "research"];
    all.extend(args);
    all.extend(["--output-format", "json"]);
    let mut command = project.command(&all);
    command.env_remove("AGENTCTL_TOOLS");
    Ran::from(command.output().unwrap())
}

fn claim<'a>(output: &'a Value, part: &str) -> &'a Value {
    let mut claims = output["claims"].as_array().unwrap().iter();
    let found = claims.find(|claim| claim["text"].as_str().unwrap().contains(part));
    found.unwrap_or_else(|| panic!("no claim with {part:?}: {output:#}"))
}

#[test]
fn claims_have_sources_and_verdicts_and_the_report_says_nothing_else() {
    let project = Project::new();
    let ran = asked(
        &project,
        &["How long is the heating network of Norrfeld, and how much heat does it lose?"],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let output = &ran.json()["output"];
    assert_eq!(claim(output, "148 kilometres")["verdict"], "supported");
    let wrong = claim(output, "184 kilometres");
    assert_eq!(wrong["verdict"], "contradicted");
    let says: Vec<&str> = wrong["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["says"].as_str().unwrap())
        .collect();
    assert_eq!(says, ["claims", "otherwise", "otherwise"]);
    assert_eq!(claim(output, "31 percent")["verdict"], "contradicted");
    for agent in [
        "technology-agent",
        "economic-agent",
        "social-cultural-agent",
        "fact-checking-agent",
    ] {
        assert_eq!(output["agents"][agent]["status"], "completed", "{agent}");
    }
    // Each line of the report is a heading or names a claim.
    let ids: BTreeSet<&str> = output["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["id"].as_str().unwrap())
        .collect();
    let report = output["report_markdown"].as_str().unwrap();
    for line in report
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        assert!(
            ids.iter().any(|id| line.contains(&format!("[{id}]"))),
            "{line}"
        );
    }
    assert!(
        report.contains("## Contradicted by independent sources"),
        "{report}"
    );
}

/// The lines of the report's first section.
fn in_short(report: &str) -> Vec<&str> {
    let lines = report.lines().skip_while(|line| *line != "## In short");
    let lines = lines.skip(1).take_while(|line| !line.starts_with('#'));
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_answer_comes_first_and_what_is_about_something_else_does_not() {
    let project = Project::new();
    for (question, answer, other) in [
        (
            "How long is the heating network of Norrfeld, and what did it cost?",
            "148 kilometres",
            "buses",
        ),
        ("What do the free buses cost?", "6.4 million crowns", "heat"),
    ] {
        let ran = asked(&project, &[question]);
        let report = ran.json()["output"]["report_markdown"].clone();
        let report = report.as_str().unwrap();
        let short = in_short(report);
        assert!(short[0].contains(answer), "{report}");
        assert!(short.iter().all(|line| !line.contains(other)), "{report}");
    }
}

#[test]
fn a_file_that_names_no_source_is_cited_by_its_name_and_what_is_not_verified_says_why() {
    let project = Project::new();
    project.write(
        "c/one.md",
        "# One\n\nThe bridge of Aldan is 420 metres long. It was opened in 1998.\n",
    );
    project.write(
        "c/two.txt",
        "The bridge of Aldan has a length of 420 metres.\n",
    );
    project.write("c/three.txt", "The Aldan bridge is 240 metres long.\n");
    let folder = project.path().join("c");
    let args = [
        "How long is the bridge of Aldan, and when was it opened?",
        "--corpus",
    ];
    let ran = asked(&project, &[&args[..], &[folder.to_str().unwrap()]].concat());
    let report = ran.json()["output"]["report_markdown"].clone();
    let report = report.as_str().unwrap();
    assert!(
        report.contains("(one; two)") && report.contains("(three)"),
        "{report}"
    );
    let opened = "- It was opened in 1998. [one#2] (one): one source alone says it";
    assert!(
        report.contains("## Not verified") && report.contains(opened),
        "{report}"
    );
    // Where no two sources agree, that is said first, and what comes closest.
    std::fs::remove_file(folder.join("two.txt")).unwrap();
    let ran = asked(&project, &[&args[..], &[folder.to_str().unwrap()]].concat());
    let report = ran.json()["output"]["report_markdown"].clone();
    let short = in_short(report.as_str().unwrap());
    assert_eq!(short[0], "- No two independent sources agree on an answer.");
    assert!(short[1].starts_with("- Not verified: “"), "{report}");
}

#[test]
fn nothing_to_research_is_told_in_the_packs_own_words() {
    let project = Project::new();
    let ran = project.run(&["run", "research", " "]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("there is nothing to run research with: the message is empty")
            && ran.stderr.contains("agentctl run research \"…\""),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_report_for_people_is_on_stdout_as_it_was_written() {
    let project = Project::new();
    let question = "How long is the heating network of Norrfeld?";
    let whole = asked(&project, &[question]).json();
    let report = whole["output"]["report_markdown"].as_str().unwrap();
    assert!(report.lines().count() > 5, "{report}");
    let mut command = project.command(&["run", "research", question]);
    command.env_remove("AGENTCTL_TOOLS");
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout.trim_end(), report.trim_end());
    // What is on stdout is not told a second time.
    assert!(!ran.stderr.contains(question), "{}", ran.stderr);
}

#[test]
fn a_folder_is_read_in_place_of_the_documents_of_the_pack() {
    let project = Project::new();
    let folder = project.path().join("papers");
    std::fs::create_dir(&folder).unwrap();
    for (name, source, text) in [
        ("a.md", "City", "The Vell bridge is 310 metres long."),
        (
            "b.md",
            "Engineers",
            "The Vell bridge has a length of 310 metres.",
        ),
        ("c.txt", "Blog", "The Vell bridge is 450 metres long."),
    ] {
        std::fs::write(folder.join(name), format!("Source: {source}\n\n{text}\n")).unwrap();
    }
    let folder = folder.to_str().unwrap();
    let ran = asked(
        &project,
        &["How long is the Vell bridge?", "--corpus", folder],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let output = &ran.json()["output"];
    assert_eq!(claim(output, "310")["verdict"], "supported");
    assert_eq!(claim(output, "450")["verdict"], "contradicted");
    assert!(!output.to_string().contains("Norrfeld"));

    let none = asked(&project, &["How long is the Vell bridge?"]);
    assert_eq!(
        none.code, 1,
        "the pack's own documents do not know it: {}",
        none.stdout
    );
    let gone = asked(&project, &["How long is it?", "--corpus", "nowhere"]);
    assert_eq!(gone.code, 2, "{}", gone.stderr);
    // What a caller gives as input opens no folder.
    let input = format!("corpus={folder}");
    let refused = asked(
        &project,
        &["How long is the Vell bridge?", "--input", &input],
    );
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(refused.stderr.contains("--corpus"), "{}", refused.stderr);
}

#[test]
fn only_the_analysts_that_were_asked_for_work() {
    let project = Project::new();
    let ran = asked(
        &project,
        &[
            "What do the free buses of Tolverne cost?",
            "--agents",
            "economic-agent",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let output = &ran.json()["output"];
    assert_eq!(output["agents"]["technology-agent"]["status"], "not asked");
    assert_eq!(claim(output, "16.4 million")["verdict"], "contradicted");
}

#[test]
fn the_basic_orchestrator_checks_nothing_and_says_so() {
    let project = Project::new();
    let question = "How long is the heating network of Norrfeld?";
    let ran = asked(&project, &[question, "--orchestrator", "basic"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let output = &ran.json()["output"];
    assert_eq!(
        output["agents"]["fact-checking-agent"]["status"],
        "not asked"
    );
    let claims = output["claims"].as_array().unwrap();
    assert!(!claims.is_empty());
    for claim in claims {
        assert_eq!(claim["verdict"], "unverified", "{claim}");
        assert_eq!(claim["sources"][0]["quote"], claim["text"], "{claim}");
    }
    // The run is read with the orchestrator that it was begun with.
    let run = ran.json()["run_id"].as_str().unwrap().to_owned();
    let shown = project.run(&["runs", "show", &run]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let undone = project.run(&["undo", &run, "--no-input"]);
    let nothing = format!("run {run} changed no resource");
    assert!(undone.stderr.contains(&nothing), "{}", undone.stderr);
    // The same by the settings of the folder.
    project.write(
        "agentctl.toml",
        "[packs.orchestrators]\nresearch = \"basic\"\n",
    );
    let set = asked(&project, &[question, "--trust-once"]);
    assert_eq!(&set.json()["output"], output, "{}", set.stderr);
}

#[test]
fn an_orchestrator_of_the_users_own_names_its_agents_and_a_wrong_one_starts_nothing() {
    let project = Project::new();
    project.write(
        "mine.json",
        r#"{
  "id": "mine",
  "agents": {"heat-agent": {"as": "technology-agent", "with": {"question": "'heating network of Norrfeld'"}}},
  "steps": [
    {"id": "look", "pattern": "parallel", "agents": ["heat-agent"], "on_failure": "continue"},
    {"id": "check", "pattern": "conditional", "if": "'heat-agent' in state.results",
     "then": [{"id": "facts", "pattern": "sequential", "agents": ["fact-checking-agent"]}]}
  ]
}"#,
    );
    let mine = project.path().join("mine.json");
    let mine = mine.to_str().unwrap();
    let ran = asked(&project, &["What is it?", "--orchestrator", mine]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let output = &ran.json()["output"];
    assert_eq!(output["agents"]["heat-agent"]["status"], "completed");
    assert_eq!(output["agents"]["economic-agent"]["status"], "not asked");
    assert_eq!(claim(output, "184 kilometres")["verdict"], "contradicted");

    project.write("mine.json", "{\"id\": \"mine\",\n \"steps\": [{\"id\": \"a\", \"pattern\": \"sequential\", \"agents\": [\"heat\"]}]}");
    for args in [
        &["run", "research", "What is it?", "--orchestrator", mine][..],
        &["orchestrators", "check", mine],
    ] {
        let wrong = project.run(args);
        assert_eq!(wrong.code, 2, "{}", wrong.stderr);
        let place = format!("{mine}:2:60: there is no agent \"heat\"");
        assert!(wrong.stderr.contains(&place), "{}", wrong.stderr);
        // What calls it is not told as a mistake of its own.
        assert!(!wrong.stderr.contains("no flow"), "{}", wrong.stderr);
    }
    let nobody = asked(&project, &["What is it?", "--agents", "economic"]);
    assert_eq!(nobody.code, 2, "{}", nobody.stdout);
    assert!(
        nobody.stderr.contains("did you mean \"economic-agent\"?"),
        "{}",
        nobody.stderr
    );
}

#[test]
fn orchestrators_are_listed_checked_drawn_and_begun() {
    let project = Project::new();
    let listed = project.run(&["orchestrators", "list"]);
    assert!(
        listed.stdout.contains("advanced (default), basic"),
        "{}",
        listed.stdout
    );
    let checked = project.run(&["orchestrators", "check"]);
    assert_eq!(
        (checked.code, checked.stdout.as_str()),
        (0, "research: advanced, basic: no mistakes\n")
    );
    let drawn = project.run(&["orchestrators", "graph", "basic"]);
    assert!(
        drawn.stdout.contains("technology-agent"),
        "{}",
        drawn.stdout
    );
    let file = project.path().join("mine.json");
    let file = file.to_str().unwrap();
    let new = project.run(&["orchestrators", "new", file, "--like", "basic"]);
    assert_eq!(new.code, 0, "{}", new.stderr);
    let sound = project.run(&["orchestrators", "check", file]);
    assert_eq!(sound.code, 0, "{}", sound.stderr);
    let again = project.run(&["orchestrators", "new", file]);
    assert_eq!(
        again.code, 2,
        "what is there is not written over: {}",
        again.stdout
    );
}

/// A pack that cannot be read is no reason to call all orchestrators sound.
#[test]
fn a_broken_pack_is_told_by_the_check_and_hides_no_other() {
    let project = Project::new();
    project.write("packs/mine/pack.yaml", "name: mine\nentry: nowhere\n");
    let checked = project.run(&["orchestrators", "check", "--trust-once"]);
    assert_eq!(checked.code, 2, "{}", checked.stdout);
    assert!(checked.stderr.contains("packs/mine/"), "{}", checked.stderr);
    let listed = project.run(&["orchestrators", "list", "--trust-once"]);
    assert!(listed.stdout.starts_with("research  "), "{}", listed.stdout);
    assert!(
        listed.stderr.contains("a pack is left out: packs/mine/"),
        "{}",
        listed.stderr
    );
}

/// The files of other domains that the documentation shows.
#[test]
fn the_orchestrators_of_the_examples_are_sound() {
    let project = Project::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/orchestrators");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|end| end == "json") {
            let checked = project.run(&["orchestrators", "check", file.to_str().unwrap()]);
            assert_eq!(checked.code, 0, "{}", checked.stderr);
            files += 1;
        }
    }
    assert_eq!(files, 3);
}

/// What a claim says is held against what it cites: a publisher is never named for words that are not its own.
#[test]
fn a_claim_that_its_own_source_does_not_say_is_refused() {
    let project = Project::new();
    let claims = serde_json::json!([
        {"id": "length", "text": "The network is 184 kilometres long.", "sources": ["heat-01#1"]},
        {"id": "moon", "text": "The moon is made of cheese.", "sources": ["heat-01#1"]},
        {"id": "true", "text": "The network is 148 kilometres long.", "sources": ["heat-01#1"]},
    ]);
    let input = format!("claims={claims}");
    let ran = asked(&project, &["Is it so?", "--input", &input]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let output = &ran.json()["output"];
    // What a rival says comes beside, by the id of its sentence.
    let by_id = |id: &str| {
        let mut claims = output["claims"].as_array().unwrap().iter();
        claims.find(|claim| claim["id"] == id).unwrap().clone()
    };
    for id in ["length", "moon"] {
        let refused = by_id(id);
        assert_eq!(refused["verdict"], "unverified", "{refused}");
        assert_eq!(refused["why"], "its own source does not say it");
        assert_eq!(refused["sources"], serde_json::json!([]));
    }
    let quote = "The district heating network of Norrfeld is 148 kilometres long.";
    assert_eq!(by_id("true")["sources"][0]["quote"], quote);
    assert_eq!(output["refused"].as_array().unwrap().len(), 2, "{output}");
}

/// Of a folder, what is no text is named, and the others are read.
#[test]
fn a_text_file_that_is_not_utf_8_is_named_and_passed_over() {
    let project = Project::new();
    project.write("papers/a.md", "The Vell bridge is 310 metres long.\n");
    std::fs::write(
        project.path().join("papers/b.txt"),
        b"Die Br\xfccke ist 310 m lang.\n",
    )
    .unwrap();
    let folder = project.path().join("papers");
    let folder = folder.to_str().unwrap();
    let ran = asked(
        &project,
        &["How long is the Vell bridge?", "--corpus", folder],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let output = &ran.json()["output"];
    assert_eq!(output["unread"][0]["file"], "b.txt", "{output}");
    let report = output["report_markdown"].as_str().unwrap();
    assert!(report.contains("- b.txt: "), "{report}");
}

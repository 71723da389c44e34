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
            "--input",
            r#"agents=["economic"]"#,
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let output = &ran.json()["output"];
    assert_eq!(output["agents"]["technology-agent"]["status"], "not asked");
    assert_eq!(claim(output, "16.4 million")["verdict"], "contradicted");
}

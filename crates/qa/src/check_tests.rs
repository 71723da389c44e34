use super::*;
use serde_json::json;
use std::path::Path;

fn check<'a>(baseline: Option<&'a Baseline>, waivers: &'a [Waiver], root: &Path) -> Check<'a> {
    Check {
        catalog: Catalog::embedded(),
        only: &[],
        ignore: &[],
        baseline,
        baseline_root: root.to_owned(),
        waivers,
        waiver_root: root.to_owned(),
        today: "2026-06-01".parse().unwrap(),
        fix: FixMode::Off,
    }
}

/// A folder with these files, and its sources in order.
fn folder(files: &[(&str, String)]) -> (tempfile::TempDir, Vec<Source>) {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let sources = source::collect(&[dir.path().to_owned()]).unwrap();
    (dir, sources)
}

fn outcomes(check: &Check, sources: &[Source]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let done: Result<(), ()> = check.all(sources, &|outcome| outcome, &mut |_, outcome| {
        outcomes.push(outcome);
        Ok(())
    });
    done.unwrap();
    outcomes
}

/// `line:column code state` of every finding of one file.
fn lines(outcome: &Outcome) -> Vec<String> {
    let Outcome::Checked(checked) = outcome else {
        panic!("{outcome:?}")
    };
    let found = checked.iter().flat_map(|c| &c.findings);
    found
        .map(|j| {
            let state = match &j.state {
                State::Open => "open",
                State::Known => "known",
                State::Waived { .. } => "waived",
            };
            format!(
                "{}:{} {} {} {state}",
                j.place.line, j.place.column, j.finding.code, j.finding.pointer
            )
        })
        .collect()
}

fn workflow(url: &str) -> Value {
    json!({"name": "W", "nodes": [
        {"id": "h", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "x"}},
        {"id": "a", "name": "Ask", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [0, 0], "parameters": {"url": url}},
    ], "connections": {"Hook": {"main": [[{"node": "Ask", "type": "main", "index": 0}]]}}})
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[test]
fn every_file_has_its_outcome_in_order_whatever_is_wrong_with_the_others() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let (dir, sources) = folder(&[
        ("a.json", "{\"nodes\": [\n  {\"name\": }]}".into()),
        ("b.json", pretty(&workflow(""))),
        ("c.json", "{\"private\": true}".into()),
        ("d.json", deep),
        ("e.json", "\u{feff}{}".into()),
        ("f.json", pretty(&workflow("https://x.test"))),
    ]);
    let outcomes = outcomes(&check(None, &[], dir.path()), &sources);
    assert_eq!(lines(&outcomes[0]), ["2:12 n8n/structure  open"]);
    assert_eq!(
        lines(&outcomes[1]),
        ["27:9 n8n/parameter /nodes/1/parameters/url open"]
    );
    assert!(matches!(&outcomes[2], Outcome::Skipped(path) if path.ends_with("c.json")));
    assert_eq!(lines(&outcomes[3]), ["1:128 agentctl/file-too-deep  open"]);
    assert_eq!(lines(&outcomes[4]), ["1:1 agentctl/file-encoding  open"]);
    assert_eq!(lines(&outcomes[5]), [""; 0]);
}

#[test]
fn the_order_does_not_depend_on_the_threads() {
    let files: Vec<(String, String)> = (0..600)
        .map(|i| (format!("{i:03}.json"), format!("{{\"nodes\": {i}}}")))
        .collect();
    let files: Vec<(&str, String)> = files.iter().map(|(n, t)| (n.as_str(), t.clone())).collect();
    let (dir, sources) = folder(&files);
    let paths: Vec<String> = outcomes(&check(None, &[], dir.path()), &sources)
        .into_iter()
        .map(|o| match o {
            Outcome::Checked(c) => c[0].path.clone(),
            Outcome::Skipped(p) => p,
        })
        .collect();
    assert_eq!(paths, sources.iter().map(Source::shown).collect::<Vec<_>>());
}

#[test]
fn an_export_of_several_workflows_is_checked_one_by_one() {
    let mut second = workflow("");
    second["id"] = json!("other");
    let (dir, sources) = folder(&[("all.json", pretty(&json!([workflow(""), second])))]);
    let outcomes = outcomes(&check(None, &[], dir.path()), &sources);
    let Outcome::Checked(checked) = &outcomes[0] else {
        panic!()
    };
    assert_eq!(
        checked
            .iter()
            .map(|c| (c.nodes, c.findings[0].finding.pointer.as_str()))
            .collect::<Vec<_>>(),
        [
            (2, "/0/nodes/1/parameters/url"),
            (2, "/1/nodes/1/parameters/url")
        ]
    );
    assert_ne!(
        checked[0].findings[0].finding.id,
        checked[1].findings[0].finding.id
    );
    assert!(checked[0].findings[0].place.line < checked[1].findings[0].place.line);
}

#[test]
fn known_and_waived_findings_say_so() {
    let (dir, sources) = folder(&[
        ("a.json", pretty(&workflow(""))),
        ("b.json", pretty(&workflow(""))),
    ]);
    let outcomes_of = |baseline: Option<&Baseline>, waivers: &[Waiver]| {
        let list = outcomes(&check(baseline, waivers, dir.path()), &sources);
        list.iter()
            .flat_map(lines)
            .map(|l| l.rsplit(' ').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let Outcome::Checked(checked) = check(None, &[], dir.path()).one(&sources[0]) else {
        panic!()
    };
    let finding = &checked[0].findings[0].finding;
    let mut baseline = Baseline::default();
    baseline.insert(
        "a.json",
        super::super::baseline::Known {
            id: finding.id.clone(),
            code: finding.code.clone(),
            node: None,
        },
    );
    assert_eq!(outcomes_of(Some(&baseline), &[]), ["known", "open"]);
    let waiver = |expires: &str| {
        let text = format!(
            "[[qa.waiver]]\ncode = \"n8n/parameter\"\npath = \"b.json\"\nreason = \"r\"\nexpires = \"{expires}\""
        );
        crate::waiver::waiver_tests::of_file(&text).unwrap()
    };
    assert_eq!(
        outcomes_of(Some(&baseline), &waiver("2026-06-01")),
        ["known", "waived"]
    );
    assert_eq!(
        outcomes_of(Some(&baseline), &waiver("2026-05-31")),
        ["known", "open"]
    );
}

#[test]
fn codes_are_chosen_by_name_or_family() {
    let (only, ignore) = (["n8n/".to_owned()], ["n8n/credential".to_owned()]);
    let mut check = check(None, &[], Path::new("/"));
    (check.only, check.ignore) = (&only, &ignore);
    assert!(check.looks_for("n8n/parameter"));
    assert!(!check.looks_for("n8n/credential"));
    assert!(!check.looks_for("agentctl/option-value"));
}

#[test]
fn fixes_change_only_their_lines_and_what_our_reading_leaves_out_stays() {
    let text = "{\n\t\"name\": \"W\", \"nodes\": [\n\t\t{\"id\": \"h\", \"name\": \"Hook\", \"type\": \"n8n-nodes-base.webhook\", \"typeVersion\": 2, \"position\": [0, 0], \"parameters\": {\"path\": \"x\"}},\n\t\t{\"id\": \"a\", \"name\": \"Ask\", \"type\": \"n8n-nodes-base.httpRequest\", \"typeVersion\": 4.2, \"position\": [0, 0],\n\t\t \"parameters\": {\"url\": \"https://x.test/{{ $json.body.id }}\"}}\n\t],\n\t\"connections\": {\"Hook\": {\"main\": [[{\"node\": \"Ask\", \"type\": \"main\", \"index\": 0, \"note\": \"mine\"}]]}}\n}\n";
    let (dir, sources) = folder(&[("a.json", text.to_owned())]);
    let mut check = check(None, &[], dir.path());
    check.fix = FixMode::Show;
    let Outcome::Checked(shown) = check.one(&sources[0]) else {
        panic!()
    };
    assert!(!shown[0].mended.as_ref().unwrap().written);
    assert_eq!(shown[0].findings.len(), 1);
    assert_eq!(
        std::fs::read_to_string(dir.path().join("a.json")).unwrap(),
        text
    );
    check.fix = FixMode::Write;
    let Outcome::Checked(fixed) = check.one(&sources[0]) else {
        panic!()
    };
    let mended = fixed[0].mended.as_ref().unwrap();
    assert_eq!(
        mended
            .fixed
            .iter()
            .map(|f| f.code.as_str())
            .collect::<Vec<_>>(),
        ["agentctl/missing-expression-prefix"]
    );
    assert_eq!(fixed[0].findings, []);
    assert_eq!(
        std::fs::read_to_string(dir.path().join("a.json")).unwrap(),
        text.replace("\"https://x.test", "\"=https://x.test")
    );
    let Outcome::Checked(again) = check.one(&sources[0]) else {
        panic!()
    };
    assert_eq!(
        again[0].mended, None,
        "a second time there is nothing to fix"
    );
}

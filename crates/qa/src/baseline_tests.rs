use super::*;

fn known(id: &str, code: &str, node: Option<&str>) -> Known {
    Known {
        id: id.into(),
        code: code.into(),
        node: node.map(str::to_owned),
    }
}

fn some() -> Baseline {
    let mut baseline = Baseline::default();
    baseline.insert(
        "w/b.json",
        known("2", "n8n/parameter", Some("A \"quoted\"")),
    );
    baseline.insert("w/b.json", known("1", "agentctl/unreachable-node", None));
    baseline.insert("a.json", known("1", "n8n/no-trigger", None));
    baseline
}

#[test]
fn the_file_is_sorted_one_line_a_finding() {
    insta::assert_snapshot!(some().to_text(), @r#"
    {
      "version": 1,
      "files": {
        "a.json": [
          {"id":"1","code":"n8n/no-trigger"}
        ],
        "w/b.json": [
          {"id":"1","code":"agentctl/unreachable-node"},
          {"id":"2","code":"n8n/parameter","node":"A \"quoted\""}
        ]
      }
    }
    "#);
    assert_eq!(Baseline::read(&some().to_text()), Ok(some()));
    assert_eq!(
        Baseline::read(&Baseline::default().to_text()),
        Ok(Baseline::default())
    );
}

#[test]
fn a_finding_is_known_by_file_and_id() {
    let baseline = some();
    assert!(baseline.knows("w/b.json", "2"));
    assert!(!baseline.knows("a.json", "2"));
    assert!(!baseline.knows("c.json", "1"));
}

#[test]
fn only_what_was_looked_for_is_forgotten_or_gone() {
    let mut baseline = some();
    let n8n = |code: &str| code.starts_with("n8n/");
    assert_eq!(baseline.gone("w/b.json", &n8n, &BTreeSet::new()), 1);
    assert_eq!(
        baseline.gone("w/b.json", &|_| true, &BTreeSet::from(["1", "9"])),
        1
    );
    baseline.forget("w/b.json", &n8n);
    assert_eq!((baseline.len(), baseline.knows("w/b.json", "1")), (2, true));
}

#[test]
fn a_file_that_is_no_baseline_is_refused() {
    let error = |text: &str| Baseline::read(text).unwrap_err().to_string();
    insta::assert_snapshot!(error("{"), @"line 1, column 1: EOF while parsing an object");
    insta::assert_snapshot!(error("{\"files\": []}"), @"line 1, column 13: missing field `version`");
    insta::assert_snapshot!(error("{\"version\": 1, \"files\": []}"), @"line 1, column 24: invalid type: sequence, expected a map");
    insta::assert_snapshot!(error("{\"version\": 2, \"known\": 7}"), @"is of version 2, this agentctl reads version 1; update agentctl or write it again with --write-baseline");
}

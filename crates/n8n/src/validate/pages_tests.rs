//! The pages in findings are the examples of the rules: what stands in a `json match` block has a finding of the
//! rule, what stands in a `json no-match` block has none, and where a sure fix is offered it ends the finding.

use super::*;
use crate::{
    edit,
    finding::{Confidence, Severity},
};
use std::{collections::BTreeSet, path::Path};

fn examples(page: &str, kind: &str) -> Vec<Value> {
    let start = format!("```json {kind}\n");
    let blocks = page.split(&start).skip(1);
    let text = |block: &str| block.split("\n```").next().unwrap().to_owned();
    blocks
        .map(text)
        .map(|t| serde_json::from_str(&t).unwrap_or_else(|e| panic!("{e} in {t}")))
        .collect()
}

fn findings(example: &Value, code: &str) -> Vec<Finding> {
    let all = validate_value(example, Catalog::embedded()).into_iter();
    all.filter(|f| f.code == code).collect()
}

#[test]
fn every_example_does_what_its_page_says() {
    for rule in RULES {
        let (found, clean) = (
            examples(rule.page, "match"),
            examples(rule.page, "no-match"),
        );
        assert!(
            !found.is_empty() && !clean.is_empty(),
            "{} lacks examples",
            rule.code
        );
        for example in found {
            let findings = findings(&example, rule.code);
            assert!(
                !findings.is_empty(),
                "{} is not found in {example}",
                rule.code
            );
        }
        for example in clean {
            assert_eq!(findings(&example, rule.code), [], "in {example}");
        }
    }
}

#[test]
fn the_first_example_has_the_severity_of_the_rule() {
    for rule in RULES {
        let first = examples(rule.page, "match").remove(0);
        let severity = findings(&first, rule.code)[0].severity;
        assert_eq!(severity, rule.severity, "{}", rule.code);
    }
}

#[test]
fn sure_fixes_end_their_findings_and_bring_no_new_errors() {
    let errors = |document: &Value| {
        let all = validate_value(document, Catalog::embedded()).into_iter();
        all.filter(|f| f.severity == Severity::Error).count()
    };
    let mut fixed = BTreeSet::new();
    for rule in RULES {
        for example in examples(rule.page, "match") {
            for finding in findings(&example, rule.code) {
                let Some(fix) = finding.fix.filter(|f| f.confidence == Confidence::Sure) else {
                    continue;
                };
                let workflow = Workflow::from_value(example.clone()).unwrap();
                let after = edit::apply(&workflow, &fix.ops, &mut || "new".to_owned()).unwrap();
                let after = after.to_value();
                let ids: Vec<String> = findings(&after, rule.code)
                    .into_iter()
                    .map(|f| f.id)
                    .collect();
                assert!(!ids.contains(&finding.id), "{} stays in {after}", rule.code);
                assert!(errors(&after) <= errors(&example), "{after}");
                fixed.insert(rule.code);
            }
        }
    }
    let expected = [
        "agentctl/loop-outputs-swapped",
        "agentctl/missing-expression-prefix",
        "agentctl/node-setting-inside-parameters",
        "agentctl/respond-node-unused",
    ];
    assert_eq!(fixed.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn every_page_has_a_rule_and_says_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("findings");
    let mut pages = BTreeSet::new();
    for family in ["n8n", "agentctl"] {
        for entry in std::fs::read_dir(root.join(family)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            pages.insert(format!("{family}/{}", name.strip_suffix(".md").unwrap()));
        }
    }
    let codes: BTreeSet<String> = RULES.iter().map(|r| r.code.to_owned()).collect();
    assert_eq!(pages, codes);
    assert_eq!(codes.len(), RULES.len());
    let index = std::fs::read_to_string(root.join("README.md")).unwrap();
    for rule in RULES {
        let severity = format!("{:?}", rule.severity).to_lowercase();
        let head = format!("# {}\n\n**{severity}**: {}\n", rule.code, rule.reason);
        assert!(
            rule.page.starts_with(&head),
            "the page of {} starts otherwise than\n{head}",
            rule.code
        );
        let row = format!(
            "| [{0}]({0}.md) | {severity} | {1} |",
            rule.code, rule.reason
        );
        assert!(
            index.contains(&row),
            "findings/README.md lacks the row\n{row}"
        );
    }
}

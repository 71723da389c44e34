//! What must hold for any policy.

use super::*;
use crate::vocabulary::fixture::vocabulary;
use agentctl_base::decision::Decision;
use agentctl_base::foreign::{foreign_name, split_foreign};
use proptest::prelude::*;
use serde_json::{Value, json};

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Allow { .. } => "allow",
        Decision::Ask { .. } => "ask",
        Decision::Deny { .. } => "deny",
    }
}

const RULES: &str = "\
roles:
  r: [list-items]
  s: []
rules:
  - id: read-issues
    effect: allow
    roles: [r]
    tools: [mcp__tracker__get_issue]
    when: args.project in ['A', 'B']
    reason: issues of two projects
    match: [{role: r, args: {project: A}}]
    not_match: [{role: r, args: {project: C}}, {role: s, args: {project: A}}, {role: r}]
  - id: ask-for-b
    effect: ask
    tools: [mcp__tracker__get_issue]
    when: args.project == 'B'
    reason: project B is confidential
    match: [{role: r, args: {project: B}}]
    not_match: [{role: r, args: {project: A}}]
  - id: no-secrets
    effect: deny
    tools: [mcp__tracker__get_issue, list_items]
    when: has(args.query) && args.query.contains('secret')
    reason: no search for secrets
    match: [{role: r, args: {query: my secret}}]
    not_match: [{role: r, args: {query: x}}, {role: r}]
";

#[test]
fn deny_beats_ask_beats_allow_and_foreign_tools_need_a_rule() {
    let policy = Policy::load(RULES, "p", &vocabulary()).unwrap_or_else(|p| panic!("{p:?}"));
    let decide = |role: &str, tool: &str, args: Value| {
        let decision = policy.decide(role, tool, args.as_object().unwrap());
        format!("{} {}", word(&decision), decision.rule())
    };
    let tool = "mcp__tracker__get_issue";
    assert_eq!(
        decide("r", tool, json!({"project": "A"})),
        "allow read-issues"
    );
    assert_eq!(decide("r", tool, json!({"project": "B"})), "ask ask-for-b");
    assert_eq!(
        decide("r", tool, json!({"project": "B", "query": "secret"})),
        "deny no-secrets"
    );
    assert_eq!(
        decide("r", tool, json!({"project": "C"})),
        "deny foreign-tools"
    );
    assert_eq!(decide("r", tool, json!({})), "deny foreign-tools");
    assert_eq!(
        decide("s", tool, json!({"project": "A"})),
        "deny foreign-tools"
    );
    assert_eq!(
        decide("r", "mcp__tracker__delete_issue", json!({"project": "A"})),
        "deny foreign-tools"
    );
    assert_eq!(
        decide("r", "mcp__other__get_issue", json!({"project": "A"})),
        "deny foreign-tools"
    );
    assert_eq!(decide("x", tool, json!({"project": "A"})), "deny role");
    assert_eq!(decide("r", "list_items", json!({})), "allow r: list-items");
    assert_eq!(
        decide("r", "list_items", json!({"query": "a secret"})),
        "deny no-secrets"
    );
    assert_eq!(decide("r", "get_item", json!({})), "deny r: no get-item");
    // A rule that cannot be evaluated on these arguments stops the call rather than letting it pass.
    assert_eq!(
        decide("r", "list_items", json!({"query": 5})),
        "deny no-secrets"
    );
    assert_eq!(
        policy.allowed_tools("r"),
        ["list_items", "mcp__tracker__get_issue"]
    );
}

#[test]
fn the_explanation_shows_the_way_to_the_decision() {
    let policy = Policy::load(RULES, "p", &vocabulary()).unwrap();
    let args = json!({"project": "B"});
    let text = policy
        .explain(
            "r",
            "mcp__tracker__get_issue",
            args.as_object().unwrap(),
            &Facts::default(),
        )
        .to_string();
    insta::assert_snapshot!(text, @r"
    ask: mcp__tracker__get_issue for r
      decided by ask-for-b
      project B is confidential
      - get_issue of the server tracker: denied unless a rule allows it
      - effect: change
      - origin of project: model
      - rule read-issues (allow) matches
      - rule ask-for-b (ask) matches
      - rule no-secrets (deny) does not match
    ");
}

#[test]
fn a_foreign_name_splits_at_the_first_double_underscore() {
    assert_eq!(
        split_foreign(&foreign_name("srv", "do__it")),
        Some(("srv", "do__it"))
    );
    for name in [
        "mcp__", "mcp__a", "mcp__a__", "mcp____b", "a__b", "mcp_a__b",
    ] {
        assert_eq!(split_foreign(name), None, "{name}");
    }
}

fn any_decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        "[a-c]".prop_map(|rule| Decision::Allow { rule }),
        "[a-c]".prop_map(|rule| Decision::Ask {
            rule,
            reason: "r".into()
        }),
        "[a-c]".prop_map(|rule| Decision::Deny {
            rule,
            reason: "r".into()
        }),
    ]
}

proptest! {
    #[test]
    fn together_the_stricter_decides(decisions in prop::collection::vec(any_decision(), 1..6)) {
        let rank = |d: &Decision| ["allow", "ask", "deny"].iter().position(|w| *w == word(d));
        let strictest = decisions.iter().map(rank).max().flatten();
        let mut all = decisions.clone().into_iter();
        let first = all.next().unwrap();
        prop_assert_eq!(rank(&all.fold(first, Decision::and)), strictest);
    }

    /// A tool that is not shown is never allowed, whatever the arguments.
    #[test]
    fn what_is_not_shown_is_denied(role in "r|s|x", tool in "list_items|get_item|mcp__tracker__get_issue|mcp__tracker__x", project in "A|B|C", query in "secret|x") {
        let policy = Policy::load(RULES, "p", &vocabulary()).unwrap();
        let args = json!({"project": project, "query": query});
        let decision = policy.decide(&role, &tool, args.as_object().unwrap());
        if !policy.allowed_tools(&role).contains(&tool) {
            prop_assert_eq!(word(&decision), "deny");
        }
    }
}

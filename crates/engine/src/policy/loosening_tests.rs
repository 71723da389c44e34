//! A project's rule against the rule of the same id that it stands on: what allows more is named, what allows less passes.

use super::*;
use crate::vocabulary::fixture::vocabulary;
use agentctl_base::decision::Decision;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const TOOLS: [&str; 2] = ["delete_item", "update_item"];

fn file(rules: &str) -> String {
    format!("roles: {{a: [delete-item, update-item], b: [update-item]}}\nrules:\n{rules}")
}

/// Against a base that denies two tools to everybody: what each replacement is said to loosen.
#[test]
fn a_replaced_rule_is_compared_with_what_it_replaces() {
    let base = "  - {id: x, effect: ask, tools: [delete_item, update_item], reason: r, match: [{role: a}]}\n";
    let base = Policy::load(&file(base), "base", &vocabulary()).unwrap();
    for (rule, said) in [
        // the same, another reason, stricter, about more
        (
            "{id: x, effect: ask, tools: [delete_item, update_item], reason: other, match: [{role: a}]}",
            vec![],
        ),
        (
            "{id: x, effect: deny, tools: [delete_item, update_item], reason: r, match: [{role: a}]}",
            vec![],
        ),
        (
            "{id: x, effect: ask, tools: [delete_item, update_item, create_item], reason: r, match: [{role: a}]}",
            vec![],
        ),
        // about fewer tools, fewer roles, fewer calls, another thing
        (
            "{id: x, effect: deny, tools: [update_item], reason: r, match: [{role: a}]}",
            vec!["the rule \"x\" would no longer ask delete_item"],
        ),
        (
            "{id: x, effect: ask, roles: [a], tools: [delete_item, update_item], reason: r, match: [{role: a}]}",
            vec!["the rule \"x\" would only be about a"],
        ),
        (
            "{id: x, effect: ask, tools: [delete_item, update_item], when: args.y == 1, reason: r, match: [{role: a, args: {y: 1}}], not_match: [{role: a, args: {y: 2}}]}",
            vec!["the rule \"x\" would only hold when args.y == 1"],
        ),
        (
            "{id: x, effect: allow, tools: [mcp__s__t], when: 'true', reason: r, match: [{role: a}], not_match: [{role: a, tool: mcp__s__u}]}",
            vec![
                "the rule \"x\" would allow where it has to ask",
                "the rule \"x\" would no longer ask delete_item, update_item",
                "the rule \"x\" would only hold when true",
                "the rule \"x\" would allow mcp__s__t",
            ],
        ),
    ] {
        let text = format!("rules:\n  - {rule}\n");
        assert_eq!(
            base.with_project(&text, "p", false).is_ok(),
            said.is_empty(),
            "{rule}"
        );
        let policy = base.with_project(&text, "p", true).unwrap();
        assert_eq!(policy.loosened(), said, "{rule}");
    }
}

#[test]
fn a_foreign_tool_may_be_allowed_less_but_not_more() {
    let rule = |tools: &str, roles: &str, when: &str| {
        format!(
            "rules:\n  - {{id: f, effect: allow, tools: [{tools}], roles: [{roles}], when: '{when}', reason: r, match: [{{role: a, args: {{p: 1}}}}], not_match: [{{role: c}}]}}\n"
        )
    };
    let base = Policy::load(
        &format!(
            "roles: {{a: [], b: []}}\n{}",
            rule("mcp__s__t, mcp__s__u", "a, b", "args.p == 1")
        ),
        "base",
        &vocabulary(),
    )
    .unwrap();
    for (text, loosens) in [
        (rule("mcp__s__t, mcp__s__u", "a, b", "args.p == 1"), false),
        (rule("mcp__s__t", "a", "args.p == 1"), false),
        (rule("mcp__s__t, mcp__s__v", "a", "args.p == 1"), true),
        (rule("mcp__s__t", "a, c", "args.p == 1"), true),
        (rule("mcp__s__t", "a", "args.p >= 1"), true),
    ] {
        // The example of a role that is not named there any more must still hold.
        let text = text.replace("not_match: [{role: c}]", "not_match: [{role: d}]");
        assert_eq!(
            base.with_project(&text, "p", false).is_err(),
            loosens,
            "{text}"
        );
    }
}

fn any_rule() -> impl Strategy<Value = String> {
    let tools = prop::sample::subsequence(TOOLS.to_vec(), 1..=2);
    let roles = prop::option::of(prop::sample::subsequence(vec!["a", "b"], 1..=2));
    let when = prop::option::of(prop::sample::select(vec!["args.y == 1", "args.y <= 1"]));
    (prop::sample::select(vec!["x", "y"]), prop::sample::select(vec!["ask", "deny"]), tools, roles, when).prop_map(
        |(id, effect, tools, roles, when)| {
            let tool = tools[0];
            let role = roles.as_ref().map_or("a", |r: &Vec<&str>| r[0]);
            let roles = roles.map(|r| format!("roles: [{}], ", r.join(", "))).unwrap_or_default();
            let when = when.map(|w| format!("when: {w}, ")).unwrap_or_default();
            format!(
                "  - {{id: {id}, effect: {effect}, {roles}tools: [{}], {when}reason: r, match: [{{role: {role}, tool: {tool}, args: {{y: 1}}}}], not_match: [{{role: z, tool: create_item, args: {{y: 2}}}}]}}\n",
                tools.join(", ")
            )
        },
    )
}

fn rank(policy: &Policy, role: &str, tool: &str, args: &Map<String, Value>) -> u8 {
    match policy.decide(role, tool, args) {
        Decision::Allow { .. } => 0,
        Decision::Ask { .. } => 1,
        Decision::Deny { .. } => 2,
    }
}

proptest! {
    /// Whatever rules a project writes: accepted without the flag, no call is decided more mildly than before.
    #[test]
    fn what_is_accepted_in_silence_decides_no_call_more_mildly(base in any_rule(), project in any_rule(), y in 0..3) {
        let base = Policy::load(&file(&base), "base", &vocabulary()).unwrap();
        if let Ok(policy) = base.with_project(&format!("rules:\n{project}"), "p", false) {
            let args = json!({"y": y});
            let args = args.as_object().unwrap();
            for role in ["a", "b"] {
                for tool in TOOLS {
                    prop_assert!(
                        rank(&policy, role, tool, args) >= rank(&base, role, tool, args),
                        "{} {} {}", role, tool, y
                    );
                }
            }
        }
    }
}

use super::*;
use crate::vocabulary::fixture::vocabulary;
use agentctl_base::decision::Decision;
use proptest::prelude::*;
use serde_json::Map;
use std::fmt::Write as _;

fn problems(text: &str) -> String {
    let found = Policy::load(text, "policy.yaml", &vocabulary()).unwrap_err();
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn every_mistake_is_reported_in_one_pass_with_its_place() {
    let text = "\
colour: red
roles:
  qa: [fly, list-items, list-itemz]
  other: list-items
rules:
  - id: one
    effect: allow
    tools: [create_item, nothing]
    reason: x
    match: [{role: a}]
  - id: two
    effect: maybe
    tools: [create_item]
    when: argz.x == 1
    reason: x
  - id: three
    effect: allow
    tools: [mcp__s__t]
    reason: x
    match: [{role: a}]
limits:
  max_turns: -1
  max_fun: 3
";
    let found = problems(text);
    for (place, part) in [
        ("policy.yaml:1:", "unknown key \"colour\""),
        (
            "policy.yaml:3:",
            "\"fly\" is no capability; there are list-items, get-item",
        ),
        ("policy.yaml:3:", "read-notes; did you mean \"list-items\"?"),
        ("policy.yaml:4:", "must have a list"),
        ("policy.yaml:8:", "granted by a capability"),
        ("policy.yaml:8:", "there is no tool \"nothing\""),
        ("policy.yaml:12:", "effect must be"),
        ("policy.yaml:14:", "unknown variable `argz`"),
        ("policy.yaml:16:", "must name the arguments"),
        ("policy.yaml:22:", "must be a number"),
        ("policy.yaml:23:", "unknown key \"max_fun\""),
    ] {
        assert!(
            found
                .lines()
                .any(|l| l.starts_with(place) && l.contains(part)),
            "{place} {part} in\n{found}"
        );
    }
}

#[test]
fn a_rule_that_does_not_do_what_its_examples_say_is_a_mistake() {
    let rule = |examples: &str| {
        format!(
            "roles: {{a: []}}\nrules:\n  - id: one\n    effect: deny\n    tools: [delete_item]\n    when: args.id == 'x'\n    reason: r\n{examples}"
        )
    };
    let good =
        rule("    match: [{role: a, args: {id: x}}]\n    not_match: [{role: a, args: {id: y}}]\n");
    assert!(Policy::load(&good, "p", &vocabulary()).is_ok());
    assert!(
        problems(&rule(
            "    match: [{role: a, args: {id: y}}]\n    not_match: [{role: a, args: {id: z}}]\n"
        ))
        .contains("does not match this example")
    );
    assert!(
        problems(&rule(
            "    match: [{role: a, args: {id: x}}]\n    not_match: [{role: a, args: {id: x}}]\n"
        ))
        .contains("matches this example")
    );
    let none = problems(&rule(""));
    assert!(
        none.contains("under \"match\"") && none.contains("under \"not_match\""),
        "{none}"
    );
}

const BASE: &str =
    "roles:\n  a: [list-items, get-item]\n  b: [create-item]\nlimits: {max_turns: 10}\n";

fn base() -> Policy {
    Policy::load(BASE, "base", &vocabulary()).unwrap()
}

#[test]
fn limits_have_finite_defaults() {
    let limits = *base().limits();
    assert_eq!(
        limits,
        Limits {
            max_turns: 10,
            ..Limits::default()
        }
    );
}

#[test]
fn a_project_may_tighten() {
    let text = "roles:\n  a: [list-items]\nlimits: {max_turns: 5, max_cost_usd: 0.5}\nrules:\n  - {id: ask, effect: ask, tools: [create_item], reason: r, match: [{role: b}]}\n";
    let policy = base().with_project(text, "p", false).unwrap();
    assert_eq!(policy.allowed_tools("a"), ["list_items"]);
    assert_eq!(policy.allowed_tools("b"), ["create_item"]);
    assert_eq!(
        (policy.limits().max_turns, policy.limits().max_cost_usd),
        (5, 0.5)
    );
    assert!(matches!(
        policy.decide("b", "create_item", &Map::new()),
        Decision::Ask { .. }
    ));
    assert_eq!(policy.loosened(), Vec::<String>::new());
}

#[test]
fn each_way_to_loosen_is_refused_and_with_the_flag_reported() {
    for (text, said) in [
        ("roles:\n  a: [delete-item]\n", "a would get delete-item"),
        ("roles:\n  c: [list-items]\n", "c would get list-items"),
        (
            "limits: {max_turns: 11}\n",
            "max_turns would rise from 10 to 11",
        ),
        (
            "rules:\n  - {id: f, effect: allow, tools: [mcp__s__t], when: 'true', reason: r, match: [{role: a}], not_match: [{role: a, tool: mcp__s__u}]}\n",
            "the rule \"f\" would allow mcp__s__t",
        ),
    ] {
        let found = base().with_project(text, "p", false).unwrap_err();
        assert!(
            found
                .iter()
                .any(|p| p.message.contains(said) && p.place.line > 0),
            "{said}: {found:?}"
        );
        let policy = base().with_project(text, "p", true).unwrap();
        assert_eq!(policy.loosened(), [said]);
    }
}

#[test]
fn a_rule_of_the_pack_is_not_replaced_in_silence() {
    let text = |id: &str| {
        format!(
            "roles: {{b: [create-item]}}\nrules:\n  - {{id: {id}, effect: deny, tools: [create_item], reason: r, match: [{{role: b}}]}}\n"
        )
    };
    let base = Policy::load(&text("x"), "base", &vocabulary()).unwrap();
    let softer =
        "rules:\n  - {id: x, effect: ask, tools: [create_item], reason: r, match: [{role: b}]}\n";
    assert!(base.with_project(softer, "p", false).is_err());
    let same = base.with_project(&text("x"), "p", false).unwrap();
    assert_eq!(same, base);
}

#[test]
fn a_capability_of_an_earlier_version_gives_nothing_and_is_told() {
    let text = "roles:\n  a: [get-item]\n  b:\n    - hand-over\n    - list-items\n";
    let policy = Policy::load(text, "base", &vocabulary()).unwrap();
    assert_eq!(policy.allowed_tools("b"), ["list_items"]);
    let told = "base:4:";
    assert_eq!(
        policy.notes(),
        [format!(
            "{told} the capability \"hand-over\" is no more and gives \"b\" nothing: no tool ever needed it"
        )]
    );
    let project = policy
        .with_project("roles: {a: [hand-over]}\n", "p", false)
        .unwrap();
    assert_eq!(project.allowed_tools("a"), Vec::<String>::new());
    assert_eq!(project.notes().len(), 2);
    assert!(project.loosened().is_empty());
}

#[test]
fn a_role_of_an_earlier_version_gets_nothing_is_told_and_counts_as_no_loosening() {
    let text =
        "roles:\n  a: [get-item]\nretired:\n  speaker: the program speaks; delete the line\n";
    let base = Policy::load(text, "base", &vocabulary()).unwrap();
    assert!(base.notes().is_empty());
    // What it had in the earlier version, a capability of that version, and more than it ever had.
    let own = "roles:\n  speaker: [list-items, get-item, hand-over, delete-item]\n";
    for allow_loosen in [false, true] {
        let policy = base.with_project(own, "p", allow_loosen).unwrap();
        assert_eq!(
            policy.notes(),
            [
                "p:2: the capability \"hand-over\" is no more and gives \"speaker\" nothing: no tool ever needed it",
                "p:2: the role \"speaker\" is no more and may do nothing, whatever is listed here: the program speaks; delete the line",
            ]
        );
        assert!(policy.loosened().is_empty());
        let roles: Vec<&str> = policy.roles().map(|(role, _)| role).collect();
        assert_eq!(roles, ["a"]);
        let decision = policy.decide("speaker", "list_items", &Map::new());
        assert!(matches!(decision, Decision::Deny { .. }), "{decision:?}");
        // Neither does a rule of the project let it pass.
        let rule = "rules:\n  - {id: f, effect: allow, tools: [mcp__s__t], roles: [speaker], when: 'true', reason: r, match: [{role: speaker}], not_match: [{role: a}]}\n";
        if let Ok(policy) = base.with_project(&format!("{own}{rule}"), "p", allow_loosen) {
            assert_eq!(policy.allowed_tools("speaker"), Vec::<String>::new());
        }
    }
    // Beside it the rest of the file counts as before.
    let told = base
        .with_project(&format!("{own}  a: [get-item, delete-item]\n"), "p", false)
        .unwrap_err();
    assert_eq!(
        told.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["p:3:3: a project may only tighten the policy: a would get delete-item"]
    );
}

#[test]
fn only_the_pack_says_which_roles_are_retired() {
    let base = Policy::load("roles: {a: [get-item]}\n", "base", &vocabulary()).unwrap();
    let told = base
        .with_project("retired: {a: x}\n", "p", true)
        .unwrap_err();
    assert_eq!(
        told.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "p:1:11: only the policy of the pack itself says which roles are retired; take \"a\" out of `retired`"
        ]
    );
    // A copy of the pack's file is no mistake and changes nothing.
    let text = "roles: {a: [get-item]}\nretired: {b: x}\n";
    let base = Policy::load(text, "base", &vocabulary()).unwrap();
    assert_eq!(base.with_project(text, "p", false).unwrap(), base);
    for (text, said) in [
        (
            "roles: {a: []}\nretired: {a: x}\n",
            "base:2:11: the role \"a\" stands under `roles` and under `retired`",
        ),
        (
            "retired: {a: ''}\n",
            "base:1:14: `retired` needs the text \"a\"",
        ),
        (
            "retired: [a]\n",
            "base:1:10: `retired` must be a map of role to what to do where it is still named",
        ),
    ] {
        let told = Policy::load(text, "base", &vocabulary()).unwrap_err();
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        assert_eq!(told, [said]);
    }
}

fn matrix(roles: &[(String, Vec<usize>)]) -> String {
    let mut text = "roles:\n".to_owned();
    for (role, can) in roles {
        let all: Vec<Capability> = vocabulary().capabilities().map(|(c, _)| c).collect();
        let names: Vec<&str> = can.iter().map(|i| all[i % all.len()].name()).collect();
        let _ = writeln!(text, "  {role}: [{}]", names.join(", "));
    }
    text
}

fn any_matrix() -> impl Strategy<Value = Vec<(String, Vec<usize>)>> {
    prop::collection::btree_map("[abc]", prop::collection::vec(0usize..20, 0..6), 1..4)
        .prop_map(|m| m.into_iter().collect())
}

proptest! {
    /// Whatever a project's file holds: without the flag, no role may do afterwards what it might not do before.
    #[test]
    fn a_project_never_loosens_without_the_flag(before in any_matrix(), project in any_matrix()) {
        let base = Policy::load(&matrix(&before), "base", &vocabulary()).unwrap();
        if let Ok(policy) = base.with_project(&matrix(&project), "p", false) {
            for role in ["a", "b", "c"] {
                for tool in policy.allowed_tools(role) {
                    prop_assert!(base.allowed_tools(role).contains(&tool), "{} {}", role, tool);
                }
            }
        }
        let loose = base.with_project(&matrix(&project), "p", true).unwrap();
        let more = ["a", "b", "c"].iter().any(|role| {
            loose.roles().filter(|(r, _)| r == role).any(|(_, can)| can.iter().any(|c| !base.grants(role, *c)))
        });
        prop_assert_eq!(more, !loose.loosened().is_empty());
    }
}

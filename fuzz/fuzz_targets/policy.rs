//! policy.yaml, as a whole policy and as a project's file on top of the built-in one. Whatever the text: no panic, every
//! mistake has a place in the file, and a project that was accepted allows nothing that was not allowed before.
#![no_main]

use agentctl_base::decision::Decision;
use agentctl_engine::policy::Policy;
use agentctl_n8n_tools::vocabulary;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

static BUILT_IN: LazyLock<Policy> = LazyLock::new(|| {
    Policy::load(
        include_str!("../../agents/policy.yaml"),
        "policy.yaml",
        vocabulary::n8n(),
    )
    .expect("the built-in policy")
});

fn calls() -> [Map<String, Value>; 3] {
    let object = |value: Value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    [
        Map::new(),
        object(json!({"workflow_id": "orders", "limit": 3})),
        object(json!({"query": "a\u{0}b", "deep": {"list": [1, null, {"x": 1.5}]}})),
    ]
}

/// How much a decision lets through: 0 nothing, 1 after a question, 2 all.
fn leave(decision: &Decision) -> u8 {
    match decision {
        Decision::Deny { .. } => 0,
        Decision::Ask { .. } => 1,
        Decision::Allow { .. } => 2,
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Policy::load(text, "policy.yaml", vocabulary::n8n()) {
        Ok(policy) => {
            for (role, _) in policy.roles() {
                for call in calls() {
                    for tool in [
                        "get_workflow",
                        "update_workflow",
                        "mcp__s__t",
                        "no_such_tool",
                    ] {
                        let decided = policy.decide(role, tool, &call);
                        assert_eq!(
                            policy
                                .explain(role, tool, &call, &Default::default())
                                .decision,
                            decided
                        );
                    }
                }
                let _ = policy.allowed_tools(role);
            }
        }
        Err(problems) => assert!(!problems.is_empty(), "refused without a reason"),
    }
    let Ok(tightened) = BUILT_IN.with_project(text, "policy.yaml", false) else {
        return;
    };
    assert!(tightened.loosened().is_empty());
    for (role, _) in tightened.roles() {
        for (capability, _) in vocabulary::n8n().capabilities() {
            assert!(
                !tightened.grants(role, capability) || BUILT_IN.grants(role, capability),
                "{role} got {capability}"
            );
        }
        for call in calls() {
            let native = vocabulary::n8n().tools().iter().map(|tool| tool.name);
            for tool in native.chain(["mcp__s__t"]) {
                let (now, before) = (
                    tightened.decide(role, tool, &call),
                    BUILT_IN.decide(role, tool, &call),
                );
                assert!(
                    leave(&now) <= leave(&before),
                    "{role} {tool}: {before:?} became {now:?}"
                );
            }
        }
    }
});

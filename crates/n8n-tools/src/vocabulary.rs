//! What a policy and a flow may name where n8n is the place to work: the tools, what they do, and the functions of conditions.

use crate::capability as can;
use crate::findings::compare_findings;
use crate::report::quoted;
use agentctl_engine::condition::Function;
use agentctl_engine::vocabulary::{Capability, Does, NamedTool, Vocabulary, Words};
use serde_json::Value;
use std::sync::LazyLock;

/// In the order of the matrix, with how far the harm of a call goes.
const CAPABILITIES: &[(Capability, Does)] = &[
    (can::LIST_WORKFLOWS, Does::Read),
    (can::GET_WORKFLOW, Does::Read),
    (can::CREATE_WORKFLOW, Does::Change),
    (can::UPDATE_WORKFLOW, Does::Change),
    (can::EDIT_STRUCTURE, Does::Change),
    (can::EDIT_PARAMETERS, Does::Change),
    (can::READ_PARAMETERS, Does::Read),
    (can::VALIDATE_PART, Does::Read),
    (can::AUTOFIX_WORKFLOW, Does::Change),
    (can::NOTE_TODO, Does::Change),
    (can::ROLLBACK_WORKFLOW, Does::Change),
    (can::RESTORE_WORKFLOW, Does::Change),
    (can::SHOW_WORKFLOW, Does::Read),
    (can::DELETE_WORKFLOW, Does::Change),
    (can::VALIDATE_DRAFT, Does::Read),
    (can::DRAFT_WORKFLOW, Does::Read),
    (can::QA_WORKFLOWS, Does::Read),
    (can::VALIDATE_FINAL, Does::Read),
    (can::ACTIVATE_WORKFLOW, Does::Change),
    (can::TRIGGER_WORKFLOW, Does::Change),
    (can::READ_EXECUTIONS, Does::Read),
    (can::READ_VERSIONS, Does::Read),
    (can::SEARCH_NODES, Does::Read),
    // A search goes to n8n's own library.
    (can::SEARCH_TEMPLATES, Does::Egress),
    (can::NODE_SCHEMA, Does::Read),
    (can::CHECK_NODES, Does::Read),
    (can::READ_SKILLS, Does::Read),
    (can::BEST_PRACTICES, Does::Read),
    (can::READ_LEARNINGS, Does::Read),
    (can::WRITE_LEARNINGS, Does::Change),
    (can::SUBMIT_REQUEST, Does::Change),
];

/// What earlier versions granted, with what to do where a policy still names it.
const RETIRED: &[(&str, &str)] = &[(
    "delegate",
    "the flow alone says which agent works next, and no tool ever needed it; take it out of the list",
)];

/// What conditions of a flow or a policy may call.
const FUNCTIONS: &[Function] = &[
    Function {
        name: "compare_findings",
        arguments: 2,
        call: |given| {
            let list = |i: usize| given.get(i).and_then(Value::as_array);
            let list = |i: usize| list(i).map_or(&[][..], Vec::as_slice);
            Ok(compare_findings(list(0), list(1)).to_json())
        },
    },
    Function {
        name: "quoted",
        arguments: 1,
        call: |given| {
            let list = given.first().and_then(Value::as_array);
            Ok(quoted(list.map_or(&[][..], Vec::as_slice)).into())
        },
    },
];

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let heads = crate::tools::heads()
        .into_iter()
        .chain(crate::library::heads())
        .chain(crate::requests::heads());
    let tools = heads.map(|head| NamedTool {
        name: head.name,
        capability: head.capability,
        changes: head.changes,
    });
    let made = Vocabulary::new(Words {
        tools: tools.collect(),
        capabilities: CAPABILITIES.to_vec(),
        retired: RETIRED.to_vec(),
        functions: FUNCTIONS.to_vec(),
        material: vec!["workflows", "templates"],
        loads_skills: Some("load_skill"),
        facts: crate::claims::FACTS.to_vec(),
        reports: crate::report::SECTIONS.to_vec(),
        report: Some(crate::report::sections),
        ..Words::default()
    });
    #[expect(
        clippy::expect_used,
        reason = "constants of this file, which its tests make too"
    )]
    made.expect("the words of the n8n toolset make a vocabulary")
});

/// The words of the n8n toolset.
pub fn n8n() -> &'static Vocabulary {
    &VOCABULARY
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentctl_engine::condition::Condition;
    use serde_json::json;

    #[test]
    fn the_words_make_a_vocabulary_and_keep_their_order() {
        assert_eq!(n8n().capabilities().collect::<Vec<_>>(), CAPABILITIES);
        // Each capability has a tool.
        for (capability, _) in CAPABILITIES {
            let has_tool = n8n()
                .tools()
                .iter()
                .any(|tool| tool.capability == *capability);
            assert!(has_tool, "{capability}");
        }
        // What a policy of an earlier version may still name gives nothing.
        assert_eq!(n8n().capability("delegate"), None);
        assert!(n8n().retired("delegate").is_some());
        // A tool that changes nothing has a capability that changes nothing.
        for tool in n8n().tools() {
            let name = tool.name;
            assert_eq!(
                n8n().does(name) == Some(Does::Change),
                tool.changes,
                "{name}"
            );
        }
    }

    #[test]
    fn a_condition_compares_findings() {
        let given = |source: &str| {
            let condition = Condition::compile_with(source, &["a"], &[], n8n().functions())
                .unwrap_or_else(|e| panic!("{e}"));
            condition.value(json!({"a": 1}).as_object().unwrap())
        };
        assert_eq!(
            given("compare_findings([{'id': 'p'}, {'id': 'q'}], [{'id': 'q'}, {'id': 'r'}])"),
            Ok(json!({"fixed": ["p"], "new": ["r"], "still": ["q"]}))
        );
        // What is no list has no findings.
        assert_eq!(
            given("compare_findings(a, [{'id': 'r'}])"),
            Ok(json!({"fixed": [], "new": ["r"], "still": []}))
        );
        assert!(given("compare_findings([])").is_err());
        assert!(Condition::compile("compare_findings(a, a)", &["a"]).is_err());
    }
}

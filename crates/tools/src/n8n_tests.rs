use super::{KIND, NotRun, Ran, outcome};
use agentctl_base::yaml;
use agentctl_engine::toolset::Outcome;
use serde_json::json;

fn ran(status: &str) -> Result<Ran, NotRun> {
    Ok(Ran {
        workflow: "w".into(),
        execution: "17".into(),
        status: status.into(),
        answer: json!({"n": 3}),
        left_behind: None,
    })
}

/// `word what`
fn told(outcome: Outcome) -> String {
    match outcome {
        Outcome::Ok(content) => format!("ok {content}"),
        Outcome::Failed(content) => format!("failed {} {}", content["error"], content["execution"]),
        Outcome::Unknown(content) => {
            format!("unknown {} {}", content["error"], content["execution"])
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn only_an_execution_that_ended_well_is_a_result() {
    assert_eq!(
        told(outcome(ran("success"), true, 100)),
        r#"ok {"result":{"n":3},"execution":{"id":"17","workflow":"w","status":"success"}}"#
    );
    assert_eq!(
        told(outcome(ran("success"), true, 3)),
        r#"ok {"result":{"left_out":"an answer of 7 bytes"},"execution":{"id":"17","workflow":"w","status":"success"}}"#
    );
    let lost = || Err(NotRun::Lost { why: "gone".into() });
    let not = || Err(NotRun::Not { why: "no".into() });
    for (ran, changes, wanted) in [
        (
            ran("error"),
            false,
            r#"failed "the execution 17 ended with: error" "17""#,
        ),
        (
            ran("error"),
            true,
            r#"unknown "the execution 17 ended with: error" "17""#,
        ),
        (
            ran("running"),
            true,
            r#"unknown "the execution 17 has not ended yet" "17""#,
        ),
        (
            ran("waiting"),
            false,
            r#"failed "the execution 17 has not ended yet" "17""#,
        ),
        (lost(), true, r#"unknown "gone" null"#),
        (lost(), false, r#"failed "gone" null"#),
        (not(), true, r#"failed "no" null"#),
    ] {
        assert_eq!(told(outcome(ran, changes, 100)), wanted);
    }
}

#[test]
fn a_file_names_a_tag_to_list_or_a_workflow_and_no_value_names_any_workflow() {
    let faults = |text: &str| {
        let node = yaml::read(text, "tool.yaml").unwrap();
        (KIND.check)(&node, &["id".to_owned(), "given".to_owned()]).len()
    };
    for right in [
        "{lists: agent-tool}",
        "{workflow: Count tickets}",
        "{workflow: \"{id}\", tag: agent-tool, payload: \"{given}\"}",
        "{workflow: Count, node: Webhook, payload: {a: \"{id}\", b: 1}}",
    ] {
        assert_eq!(faults(right), 0, "{right}");
    }
    for wrong in [
        "{}",
        "{lists: x, workflow: y}",
        "{lists: x, tag: y}",
        "{workflow: \"{id}\"}",
        "{workflow: \"{other}\", tag: x}",
        "{workflow: x, payload: [1]}",
        "{workflow: x, payload: \"{other}\"}",
        "{workflow: x, url: y}",
    ] {
        assert_eq!(faults(wrong), 1, "{wrong}");
    }
}

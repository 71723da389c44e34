use super::*;

fn spec() -> AnswerSpec {
    AnswerSpec {
        value: Some("result".into()),
        failed_when: vec![("success".into(), false.into())],
        error: vec!["message".into(), "error".into()],
        lists_tools: false,
    }
}

fn word(status: u16, body: &str, changes: bool) -> String {
    let body = body.as_bytes().to_vec();
    let sent = Sent::Answered {
        status,
        body,
        after: None,
    };
    let (word, content) = match outcome(sent, &spec(), changes, true) {
        Outcome::Ok(content) => return format!("ok {content}"),
        Outcome::Failed(content) => ("failed", content),
        Outcome::Unknown(content) => ("unknown", content),
        other => panic!("{other:?}"),
    };
    format!(
        "{word} {} {}",
        content["rule"].as_str().unwrap(),
        content["error"].as_str().unwrap()
    )
}

#[test]
fn a_change_whose_answer_is_not_whole_is_unknown_and_a_read_failed() {
    for (status, body) in [
        (302, ""),
        (303, "{}"),
        (500, "{}"),
        (502, "oops"),
        (200, "<html>"),
        (200, "{\"other\": 1}"),
    ] {
        assert!(
            word(status, body, true).starts_with("unknown "),
            "{status} {body}"
        );
        assert!(
            word(status, body, false).starts_with("failed "),
            "{status} {body}"
        );
    }
    let lost = || Sent::Lost {
        why: "cut".into(),
        late: false,
    };
    assert!(matches!(
        outcome(lost(), &spec(), true, true),
        Outcome::Unknown(_)
    ));
    assert!(matches!(
        outcome(lost(), &spec(), false, true),
        Outcome::Failed(_)
    ));
    assert!(!may_retry(&lost(), true));
    assert!(may_retry(&lost(), false));
    let server = |status| Sent::Answered {
        status,
        body: Vec::new(),
        after: None,
    };
    assert!(!may_retry(&server(500), true));
    assert!(may_retry(&server(429), false));
}

/// A server that takes no more did nothing: the change failed, is not sent again by itself, and its failure says when it may be.
#[test]
fn a_change_that_came_too_soon_failed_and_says_when_it_may_be_tried_again() {
    let slow = |after: Option<&str>| Sent::Answered {
        status: 429,
        body: br#"{"message": "slow down."}"#.to_vec(),
        after: after.map(str::to_owned),
    };
    assert!(!may_retry(&slow(None), true));
    for (after, when) in [
        (Some("7"), "in 7 s"),
        (
            Some("Sat, 28 Nov 2026 12:00:00 GMT"),
            "after Sat, 28 Nov 2026 12:00:00 GMT",
        ),
        (None, "later"),
    ] {
        let Outcome::Failed(content) = outcome(slow(after), &spec(), true, true) else {
            panic!("it is no failure");
        };
        assert_eq!(
            content["error"],
            format!("slow down; too many calls: it may be asked for again {when}")
        );
    }
}

#[test]
fn a_refusal_of_the_server_is_a_failure_in_its_words() {
    assert_eq!(
        word(404, r#"{"success":false,"message":"no issue X-1"}"#, true),
        "failed tools.failed no issue X-1"
    );
    assert_eq!(
        word(200, r#"{"success":false,"error":"no"}"#, true),
        "failed tools.failed no"
    );
    assert_eq!(
        word(404, r#"{"error":"Tool not found"}"#, true),
        "failed tools.gone Tool not found"
    );
    assert_eq!(
        word(200, r#"{"success":true,"result":{"key":1}}"#, true),
        r#"ok {"result":{"key":1}}"#
    );
}

#[test]
fn both_forms_of_a_list_of_tools_are_read_as_one() {
    let plain =
        json!([{"id": "a_1", "name": "A", "description": "d", "parameters": {"type": "object"}}]);
    let functions = json!({"tools": [{"type": "function", "function": {"name": "a_1", "description": "d", "parameters": {"type": "object"}}}]});
    let (plain, functions) = (listed(&plain).unwrap(), listed(&functions).unwrap());
    assert_eq!(plain[0]["id"], functions[0]["id"]);
    assert_eq!(plain[0]["parameters"], functions[0]["parameters"]);
    assert_eq!(listed(&json!({"error": "no"})), None);
    assert_eq!(listed(&json!([])), Some(Vec::new()));
}

#[test]
fn an_entry_that_is_no_tool_loses_no_other_one() {
    let spec = AnswerSpec {
        lists_tools: true,
        ..AnswerSpec::default()
    };
    let of = |body: &str| {
        let sent = Sent::Answered {
            status: 200,
            body: body.as_bytes().to_vec(),
            after: None,
        };
        outcome(sent, &spec, false, false)
    };
    let Outcome::Ok(content) = of(r#"[{"id": 5, "name": null}, {"id": "a"}]"#) else {
        panic!("the good one is listed");
    };
    assert_eq!(content["tools"].as_array().unwrap().len(), 1);
    assert!(matches!(of(r#"[{"id": 5}]"#), Outcome::Failed(_)));
}

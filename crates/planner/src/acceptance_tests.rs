use super::cases;
use serde_json::{Value, json};

fn asked(request: &str) -> Vec<(Value, Value)> {
    let all = cases(request).into_iter();
    all.map(|case| (case["input"].clone(), case["expect"]["answer"].clone()))
        .collect()
}

#[test]
fn answers_on_a_condition_are_tried_on_both_sides_of_its_border() {
    let big = [
        (json!({"body": {"amount": 101}}), json!({"big": true})),
        (json!({"body": {"amount": 100}}), json!({"big": false})),
    ];
    for request in [
        r#"When a webhook POST /orders2 arrives, if amount is greater than 100 answer {"big": true}, otherwise answer {"big": false}"#,
        r#"A webhook POST /o: answer {"big": true} if amount is greater than 100, else {big: false}."#,
        r#"Wenn ein Webhook POST /o eintrifft: wenn amount größer als 100 ist, antworte {"big": true}, sonst {"big": false}."#,
    ] {
        assert_eq!(asked(request), big, "{request}");
    }
    assert_eq!(
        asked(
            r#"On webhook POST /t, if score is at least 50 answer "pass", otherwise answer "fail""#
        ),
        [
            (json!({"body": {"score": 50}}), json!("pass")),
            (json!({"body": {"score": 49}}), json!("fail")),
        ]
    );
}

#[test]
fn a_text_that_is_compared_stands_in_quotes() {
    let request =
        r#"Webhook POST /s: if status is "paid" answer "thanks", otherwise answer "later"."#;
    assert_eq!(
        asked(request),
        [
            (json!({"body": {"status": "paid"}}), json!("thanks")),
            (json!({"body": {"status": "other"}}), json!("later")),
        ]
    );
}

#[test]
fn each_of_several_conditions_is_tried_where_those_before_do_not_hold() {
    let request = r#"When a webhook POST /size arrives: if amount is more than 100 answer {"size": "large"}, if amount is more than 50 answer {"size": "middle"}, otherwise answer {"size": "small"}."#;
    assert_eq!(
        asked(request),
        [
            (json!({"body": {"amount": 101}}), json!({"size": "large"})),
            (json!({"body": {"amount": 100}}), json!({"size": "middle"})),
            (json!({"body": {"amount": 50}}), json!({"size": "small"})),
        ]
    );
}

#[test]
fn what_was_sent_stands_in_the_holes_of_an_answer() {
    for request in [
        r#"When a webhook POST /hello arrives, answer "Hello NAME" with the name that was sent"#,
        r#"When a webhook POST /hello arrives, answer "Hello {name}"."#,
        r#"When a webhook POST /hello arrives, answer with the text "Hello <name>"."#,
    ] {
        let hello = [(json!({"body": {"name": "Ann"}}), json!("Hello Ann"))];
        assert_eq!(asked(request), hello, "{request}");
    }
}

#[test]
fn an_input_with_its_answer_is_a_case() {
    let request = "A webhook POST /pwr gets {amount: 5} and answers {total: 10}";
    let pair = [(json!({"body": {"amount": 5}}), json!({"total": 10}))];
    assert_eq!(asked(request), pair);
    let one = "Webhook GET /ping answers \"pong\"";
    assert_eq!(asked(one), [(json!({}), json!("pong"))]);
    assert_eq!(cases(one)[0]["name"], "any call");
    assert_eq!(cases(request)[0]["name"], "amount 5");
}

/// What a request only describes is no case: it would fail a workflow that is right.
#[test]
fn what_is_not_certain_is_no_case() {
    for request in [
        r#"Every day at 8 answer {"ok": true}"#,
        r#"When a webhook POST /a arrives, answer {total: amount * 2}"#,
        r#"When a webhook POST /a arrives, answer with the fields "name" and "age""#,
        r#"When a webhook POST /a arrives, answer {"total": "the sum of all rows"}"#,
        r#"GET webhook /health that answers with JSON {status, time} and status 200"#,
        r#"When a webhook POST /a arrives, answer {total: null, at}"#,
        r#"When a webhook POST /a arrives, post {"text": "hi"} to Slack"#,
        r#"When a webhook POST /a arrives, if the customer is one of ours answer "yes", otherwise answer "no""#,
        r#"When a webhook POST /a arrives, save it to the sheet "Orders""#,
        r#"When a webhook POST /a arrives and the order is older than 3 days answer {"old": true}, otherwise {"old": false}"#,
        r#"When a webhook POST /a arrives, if the net order value is over 100 answer "a", otherwise answer "b""#,
    ] {
        assert_eq!(asked(request), [], "{request}");
    }
}

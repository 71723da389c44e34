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
        r#"Change the workflow "Webhook th": answer {"big": "no"} instead of {"big": false}"#,
        r#"When a webhook POST /a arrives, answer {total: amount * 2}"#,
        r#"When a webhook POST /a arrives, answer with the fields "name" and "age""#,
        r#"When a webhook POST /a arrives, answer {"total": "the sum of all rows"}"#,
        r#"GET webhook /health that answers with JSON {name, total}, where total is the sum of the amounts"#,
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

/// The other side of a condition, wherever the condition stands.
#[test]
fn an_answer_on_a_condition_is_not_given_on_its_other_side() {
    let wanted = json!({"ok": true});
    let sides = |request: &str| -> Vec<(Value, &'static str)> {
        let cases = cases(request).into_iter();
        let side = |case: &Value| match case["expect"].get("answer_not") {
            Some(not) => (*not == wanted).then_some("not"),
            None => (case["expect"]["answer"] == wanted).then_some("answered"),
        };
        cases
            .map(|case| (case["input"]["body"].clone(), side(&case).unwrap()))
            .collect()
    };
    let over = [
        (json!({"amount": 11}), "answered"),
        (json!({"amount": 10}), "not"),
    ];
    for request in [
        r#"Webhook POST /h: respond with {"ok": true} only when amount is over 10, else call https://x.example"#,
        r#"Webhook POST /de: antworte {"ok": true}, wenn amount größer als 10 ist, sonst schicke eine Mail an a@b.example"#,
        r#"Webhook POST /de: antworte {"ok": true}, nur wenn amount größer als 10 ist"#,
    ] {
        assert_eq!(sides(request), over, "{request}");
    }
    let under = [
        (json!({"amount": 10}), "answered"),
        (json!({"amount": 11}), "not"),
    ];
    for request in [
        r#"When a webhook POST /a arrives, if amount is over 10 send an email to a@b.example, otherwise answer {"ok": true}"#,
        r#"Webhook POST /i: answer {"ok": true} unless amount is over 10"#,
    ] {
        assert_eq!(sides(request), under, "{request}");
    }
    // Of which condition it is the other side nobody can say.
    let request = r#"When a webhook POST /a arrives, if the customer is one of ours send an email, otherwise answer {"ok": true}"#;
    assert_eq!(cases(request), Vec::<Value>::new());
}

#[test]
fn a_word_in_capitals_that_the_request_explains_stands_for_what_is_sent() {
    let city = r#"Webhook POST /q: answer {"city": "CITY"} where CITY is the city"#;
    let wanted = [(json!({"body": {"city": "Ann"}}), json!({"city": "Ann"}))];
    assert_eq!(asked(city), wanted);
    let other = r#"Webhook POST /q: answer {"city": "CITY"} where CITY is the place of the customer's last order"#;
    assert_eq!(asked(other), []);
}

#[test]
fn an_answer_that_is_worked_out_is_named() {
    let said = super::open_answer(
        "When a webhook POST /t arrives, answer the name in upper case, then stop",
    );
    assert_eq!(said.as_deref(), Some("answer the name in upper case"));
    assert_eq!(super::open_answer("Every day at 8 answer all mails"), None);
    assert_eq!(
        super::open_answer("When a webhook POST /t arrives, post it to Slack"),
        None
    );
}

#[test]
fn keys_and_a_status_are_expected_as_they_are_said() {
    let expect = |request: &str| -> Vec<Value> {
        let cases = cases(request).into_iter();
        cases.map(|case| case["expect"].clone()).collect()
    };
    let health = [json!({"status": 200, "answer_has": ["status", "time"]})];
    for request in [
        "GET webhook /health that answers with JSON {status, time} and status 200",
        r#"GET webhook /status: answer {"status", "time"} (HTTP 200)"#,
        "Ein Webhook GET /h antwortet mit Status 200 und dem JSON {status, time}",
        "Webhook GET /h: respond with HTTP 200 and {status, time}",
    ] {
        assert_eq!(expect(request), health, "{request}");
    }
    assert_eq!(
        expect(r#"Webhook POST /n: answer {"ok": true} with status 201 if amount is over 10"#),
        [
            json!({"status": 201, "answer": {"ok": true}}),
            json!({"answer_not": {"ok": true}})
        ]
    );
    assert_eq!(
        expect(
            r#"Webhook POST /n: if amount is over 10 answer "yes" with status 202, otherwise answer "no" with status code 400"#
        ),
        [
            json!({"status": 202, "answer": "yes"}),
            json!({"status": 400, "answer": "no"})
        ]
    );
    // A hole, and what is worked out.
    assert_eq!(
        expect("Webhook POST /n: answer {name}"),
        Vec::<Value>::new()
    );
}

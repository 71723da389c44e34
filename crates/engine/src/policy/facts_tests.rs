//! Where values come from: what the functions of a policy's conditions answer.

use super::facts::Facts;
use super::program::program_texts;
use crate::condition::Origins;
use serde_json::{Value, json};
use std::sync::Arc;

fn known(facts: Value, program: Value) -> impl Origins {
    let program = program_texts(program.as_object().unwrap());
    Facts::from_json(&facts).unwrap().known(&Arc::new(program))
}

#[test]
fn a_value_is_the_users_then_the_programs_then_a_tools_then_the_models() {
    let facts = json!({
        "request": "Pay Bob 12.50 today",
        "answers": ["use DE1"],
        "calls": [
            {"tool": "mcp__a__first", "result": "Bob lives at Elm Street"},
            {"tool": "mcp__a__refused", "status": "refused", "result": "Oak Street"},
            {"tool": "mcp__b__second", "result": {"rows": [{"street": "Elm Street", "no": 7}], "by": {"a@x.example": "r"}}},
        ],
    });
    let known = known(facts, json!({"payees": ["DE2", 99]}));
    for (value, origin, origins) in [
        (json!("bob"), "user", json!(["tool:mcp__a__first", "user"])),
        (json!("DE1"), "user", json!(["user"])),
        (json!(12.5), "user", json!(["user"])),
        (json!("DE2"), "program", json!(["program"])),
        (json!(99), "program", json!(["program"])),
        (
            json!("Elm Street"),
            "tool:mcp__a__first",
            json!(["tool:mcp__a__first", "tool:mcp__b__second"]),
        ),
        (
            json!(7),
            "tool:mcp__b__second",
            json!(["tool:mcp__b__second"]),
        ),
        (
            json!("a@x.example"),
            "tool:mcp__b__second",
            json!(["tool:mcp__b__second"]),
        ),
        (json!("Oak Street"), "model", json!(["model"])),
        (json!(true), "model", json!(["model"])),
        (json!(""), "model", json!(["model"])),
        (json!(null), "none", json!([])),
        (json!([]), "none", json!([])),
        (
            json!(["bob", "DE2"]),
            "program",
            json!(["program", "tool:mcp__a__first", "user"]),
        ),
        (
            json!({"x": ["bob", {"y": "Mallory"}]}),
            "model",
            json!(["model", "tool:mcp__a__first", "user"]),
        ),
        // Of two tools: no one of them gave it.
        (
            json!(["lives at", 7]),
            "model",
            json!(["tool:mcp__a__first", "tool:mcp__b__second"]),
        ),
    ] {
        assert_eq!(known.origin(&value), origin, "{value}");
        assert_eq!(json!(known.origins(&value)), origins, "{value}");
    }
}

#[test]
fn a_place_can_be_one_field_of_a_result() {
    let facts = json!({"calls": [{"tool": "t__x__y", "result":
        "{\"mails\": [{\"sender\": \"a@x.example\", \"body\": \"ask b@x.example\"}]}"}]});
    let known = known(facts, json!({}));
    let from = |value: Value, places: &[&str]| {
        let places: Vec<String> = places.iter().map(|p| (*p).to_owned()).collect();
        known.from(&value, &places)
    };
    for (value, places, holds) in [
        (json!("a@x.example"), &["tool:t__x__y#sender"][..], true),
        (json!("a@x.example"), &["tool:t__x__y#mails.sender"], true),
        (json!("a@x.example"), &["tool:t__x__y#ender"], false),
        (json!("a@x.example"), &["tool:t__x__y#body"], false),
        (json!("a@x.example"), &["tool:t__x__z"], false),
        (json!("b@x.example"), &["tool:t__x__y#sender"], false),
        (json!("b@x.example"), &["tool:t__x__y#body"], true),
        (
            json!(["a@x.example", "b@x.example"]),
            &["tool:t__x__y#sender"],
            false,
        ),
        (
            json!(["a@x.example", "b@x.example"]),
            &["tool:t__x__y"],
            true,
        ),
        (
            json!(["a@x.example", null, []]),
            &["tool:t__x__y#sender"],
            true,
        ),
        (json!([]), &["user"], true),
        (json!(true), &["user"], false),
        (json!("anything"), &["any"], true),
        (json!("anything"), &[], false),
    ] {
        assert_eq!(from(value.clone(), places), holds, "{value} {places:?}");
    }
}

#[test]
fn facts_from_a_file_are_read_strictly() {
    for (wrong, why) in [
        (json!([]), "must be a JSON object"),
        (json!({"requests": ""}), "unknown key"),
        (json!({"request": 1}), "must be text"),
        (json!({"answers": "x"}), "must be a list"),
        (json!({"calls": [{"args": {}}]}), "needs its `tool`"),
        (
            json!({"calls": [{"tool": "t", "from": "x"}]}),
            "unknown key",
        ),
        (
            json!({"calls": [{"tool": "t", "status": "fine"}]}),
            "no status",
        ),
        (
            json!({"calls": [{"tool": "t", "does": "harm"}]}),
            "read, egress or change",
        ),
        (
            json!({"calls": [{"tool": "t", "does": ["read"]}]}),
            "must be text",
        ),
        (json!({"keys": "x"}), "must be a list"),
        (json!({"keys": [1]}), "list of texts"),
    ] {
        let told = Facts::from_json(&wrong).unwrap_err();
        assert!(told.contains(why), "{wrong}: {told}");
    }
}

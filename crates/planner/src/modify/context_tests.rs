//! What stands around a change in what people write: reasons, asides, pronouns, the branch of a check, what happens at a step.

use super::asked_tests::{orders, told};
use super::classes_tests::{all_ask, all_do, desk, leads, report};

#[test]
fn a_reason_and_an_aside_are_no_change() {
    all_do(
        &report(),
        &["- Ping group", "+ Discord", "Mail report [0] → Discord"],
        &[
            "We left Telegram for Discord, so please use Discord there.",
            "I don't like Telegram, use Discord.",
            "We have switched from Telegram to Discord; kindly replace it.",
            "Use Discord.",
        ],
    );
    all_do(
        &report(),
        &["{\"op\":\"disable_node\",\"node\":\"Ping group\"}"],
        &[
            "I'm going on holiday, could you switch off Ping group for a while?",
            "pause Ping group",
        ],
    );
}

#[test]
fn it_is_the_step_of_the_clause_before() {
    let told = told(&report(), "Rename Ping group to Ping all and disable it.");
    assert!(told.contains("disable_node"), "{told}");
}

#[test]
fn what_happens_at_a_step_places_what_follows() {
    all_do(
        &leads(),
        &["+ Send Email", "Keep lead [0] → Send Email"],
        &["Email boss@x.com whenever Keep lead is done."],
    );
    // That it fails is not what the step does.
    let told = told(&report(), "If Load sales fails, tell #ops on Slack.");
    assert!(told.contains("Load sales [1] → Slack"), "{told}");
}

#[test]
fn a_branch_is_named() {
    let told = |message| told(&orders(), message);
    for message in [
        "false branch -> Slack #small",
        "Otherwise post to #small on Slack.",
        "Post to #small on Slack on the no branch.",
    ] {
        let told = told(message);
        assert!(told.contains("Over 100? [1] → Slack"), "{message}: {told}");
    }
}

#[test]
fn a_condition_that_names_no_field_is_none() {
    all_ask(&desk(), &["tell #boss on Slack in case of 99"]);
}

#[test]
fn what_comes_in_addition_is_no_new_recipient_elsewhere() {
    let told = told(&desk(), "Zusätzlich eine Mail an boss@x.com.");
    assert!(!told.contains("/toEmail = \"boss@x.com\""), "{told}");
}

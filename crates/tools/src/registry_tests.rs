use super::*;
use agentctl_base::yaml::Place;
use agentctl_engine::pack::{Requires, ToolKind, ToolLimits};
use serde_json::json;
use std::sync::Arc;

#[test]
fn a_share_is_bounded_from_below_and_grows_with_what_is_known() {
    let none = wilson(0, 0);
    assert!(none > 0.15 && none < 0.35, "{none}");
    assert!(wilson(90, 100) > wilson(9, 10), "more calls, more trust");
    assert!(
        wilson(1, 10) < none,
        "known to be bad is worse than unknown"
    );
    assert!(wilson(1_000_000, 1_000_000) > 0.99);
}

#[test]
fn words_lose_their_endings() {
    assert_eq!(
        words("Reads the tickets, of a user"),
        ["read", "the", "ticket", "user"]
    );
}

#[test]
fn a_rare_word_counts_more_and_a_missing_one_nothing() {
    let text = |words: &[&str]| {
        words
            .iter()
            .map(|w| ((*w).to_owned(), 1.0))
            .collect::<Vec<_>>()
    };
    let all = [
        text(&["rate", "list"]),
        text(&["list", "card"]),
        text(&["list"]),
    ];
    let need = |word: &str| vec![word.to_owned()];
    assert!(matches(&need("rate"), &all[0], &all) > matches(&need("list"), &all[0], &all));
    assert_eq!(matches(&need("card"), &all[0], &all), 0.0);
}

/// One that reads, of these words.
fn tool(id: &'static str, words: &str, requires: Option<&str>) -> DeclaredTool {
    DeclaredTool {
        id,
        name: id.into(),
        description: words.into(),
        category: String::new(),
        keywords: Vec::new(),
        acts: Vec::new(),
        parameters: Arc::new(json!({"type": "object"})),
        output_schema: None,
        examples: Vec::new(),
        kind: ToolKind::Flow { flow: "f".into() },
        bind: Default::default(),
        changes: false,
        reads_when: None,
        requires: requires.map(|tool| Requires {
            tool: tool.to_owned(),
            id: None,
            parameters: None,
        }),
        limits: ToolLimits::default(),
        cache_s: None,
        mock: None,
        readme: None,
        tests: Vec::new(),
        file: "tool.yaml".into(),
        place: Place::default(),
    }
}

#[test]
fn what_a_tool_requires_is_offered_before_it_and_the_order_is_that_of_the_scores() {
    let tools = [
        tool("cards", "cards of a board", None),
        tool("pay", "pays a bill", Some("bills")),
        tool("bills", "lists what is due", None),
        tool("zebra", "stripes", None),
    ];
    let order = |need: &str| -> Vec<&str> {
        let order = in_order(need, None, &tools, &BTreeMap::new(), |_| Stands::Real);
        order.iter().map(|scored| scored.tool.id).collect()
    };
    assert_eq!(order("pay the bill"), ["bills", "pay", "cards", "zebra"]);
    assert_eq!(
        order("cards of the board"),
        ["cards", "bills", "pay", "zebra"]
    );
    assert_eq!(order("nothing of that"), ["bills", "cards", "pay", "zebra"]);
}

#[test]
fn what_helped_in_a_task_counts_most_in_that_task() {
    let tools = [
        tool("cards", "cards of a board", None),
        tool("notes", "cards of a board", None),
    ];
    let steps = |made, useful| Steps { made, useful };
    let calls = |tasks: &[(&str, Steps)]| Calls {
        made: tasks.iter().map(|(_, of)| of.made).sum(),
        ok: tasks.iter().map(|(_, of)| of.made).sum(),
        steps: tasks.iter().map(|(_, of)| of.made).sum(),
        useful: tasks.iter().map(|(_, of)| of.useful).sum(),
        tasks: tasks
            .iter()
            .map(|(task, of)| ((*task).to_owned(), *of))
            .collect(),
        ..Calls::default()
    };
    let all = BTreeMap::from([
        (
            "cards".to_owned(),
            calls(&[("serve", steps(30, 30)), ("sum up", steps(30, 3))]),
        ),
        (
            "notes".to_owned(),
            calls(&[("serve", steps(30, 3)), ("sum up", steps(30, 29))]),
        ),
    ]);
    let order = |task: Option<&str>| -> Vec<&str> {
        let order = in_order("cards", task, &tools, &all, |_| Stands::Real);
        order.iter().map(|scored| scored.tool.id).collect()
    };
    assert_eq!(order(None), ["cards", "notes"], "33 of 60 and 32 of 60");
    assert_eq!(order(Some("serve")), ["cards", "notes"]);
    assert_eq!(order(Some("sum up")), ["notes", "cards"]);
}

#[test]
fn of_a_task_without_steps_the_others_say_a_little() {
    let good = Calls {
        steps: 200,
        useful: 190,
        ..Calls::default()
    };
    let there = good.useful_at_least(None);
    let elsewhere = good.useful_at_least(Some("new"));
    assert!(
        there > elsewhere && elsewhere > Calls::default().useful_at_least(Some("new")),
        "{there} {elsewhere}"
    );
    assert_eq!(Calls::default().useful_at_least(Some("new")), wilson(0, 0));
}

use super::prose;
use crate::read::{ReadContext, read, set_aside};

const REQUEST: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales.";

/// What people tell around a request, no sentence of it twice.
fn story(from: usize, to: usize) -> String {
    let told = |n: usize| match n % 6 {
        0 => format!("In our {n}th week the kitchen was painted and everybody liked the colour."),
        1 => format!("Every week {n} of us meet in the kitchen."),
        2 => format!("We used Slack for {n} months and people were happy with it."),
        3 => format!("Maria says that room {n} is too small for all of them!"),
        4 => format!("Lunch on day {n} was at noon, and the weather was fine."),
        _ => format!("Our customers write to us about bicycle {n}, and we like them."),
    };
    (from..to).map(told).collect::<Vec<_>>().join(" ")
}

#[test]
fn of_a_long_text_the_one_request_is_read_and_the_rest_is_named_in_groups() {
    let text = format!(
        "{}\n\n{} {REQUEST} {}",
        story(0, 40),
        story(40, 80),
        story(80, 160)
    );
    let parted = prose(&text, "en").unwrap();
    assert_eq!(parted.request(&text), REQUEST);
    assert_eq!(
        parted.left,
        [
            "In our 0th week the kitchen was painted and everybody liked… (40 sentences)",
            "Lunch on day 40 was at noon, and the weather was fine… (40 sentences)",
            "We used Slack for 80 months and people were happy with it… (80 sentences)",
        ]
    );
    let alone = read(REQUEST, &ReadContext::default());
    assert_eq!(read(&text, &ReadContext::default()), alone);
    let at = text.find(REQUEST).unwrap();
    let blanked = parted.blanked(&text);
    assert_eq!(blanked.find(REQUEST), Some(at));
    assert_eq!(blanked.trim(), REQUEST);
}

#[test]
fn what_belongs_to_the_request_is_read_with_it() {
    let request = "Every Monday at 9:00. Read the Google Sheet Orders and mail me one summary at me@acme.example. If there is no row, do nothing.";
    let text = format!("{} {request} {}", story(0, 60), story(60, 120));
    assert_eq!(prose(&text, "en").unwrap().request(&text), request);
}

#[test]
fn a_long_text_without_a_request_is_no_workflow() {
    let text = story(0, 120);
    let parted = prose(&text, "en").unwrap();
    assert!(parted.asked.is_empty(), "{:?}", parted.asked);
    let reading = read(&text, &ReadContext::default());
    assert_eq!(reading.plan.steps, []);
    assert_eq!(reading.plan.triggers, []);
    assert_eq!(set_aside(&text).len(), 1);
}

#[test]
fn a_short_text_and_a_long_list_are_read_as_they_stand() {
    assert_eq!(prose(&story(0, 30), "en"), None);
    let steps: Vec<String> = (1..120)
        .map(|n| format!("{n}. The field {n} of the order is shown beside the others there"))
        .collect();
    assert_eq!(prose(&steps.join("\n"), "en"), None);
    let orders: Vec<String> = (1..120)
        .map(|n| format!("Post order {n} to Slack #s{n}."))
        .collect();
    assert_eq!(prose(&orders.join(" "), "en"), None);
}

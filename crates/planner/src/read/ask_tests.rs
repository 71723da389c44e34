use crate::read::{ReadContext, read};
use indexmap::IndexMap;

fn topics(request: &str) -> Vec<String> {
    read(request, &ReadContext::default())
        .questions
        .iter()
        .filter(|q| q.required)
        .map(|q| q.topic.clone())
        .collect()
}

#[test]
fn vague_requests_are_asked_about_what_is_missing() {
    assert_eq!(
        topics("post our latest things on social media automatically"),
        ["social", "source", "timing"]
    );
    assert_eq!(
        topics("Gib mir jeden Abend Bescheid, wenn die Umsätze schlecht sind."),
        ["threshold", "source", "recipient"]
    );
    assert_eq!(
        topics("Automate our invoices end to end, please"),
        ["accounting", "channel", "rules", "authority"]
    );
}

#[test]
fn clear_requests_are_not_asked_about() {
    for request in [
        "Every Monday at 9 send the open Jira issues to #team in Slack",
        "When a Typeform response comes in, add it to Airtable",
        "On demand: read /data/in.csv and write it to /data/out.json",
    ] {
        assert_eq!(topics(request), Vec::<String>::new(), "{request}");
    }
}

#[test]
fn a_source_that_was_asked_for_is_read_before_the_rest() {
    let answers = IndexMap::from([
        ("source".to_owned(), "our RSS feed".to_owned()),
        ("social".to_owned(), "LinkedIn".to_owned()),
    ]);
    assert_eq!(
        crate::read::ask::with_answers("post our news", &answers),
        "Read our RSS feed. post our news. Use LinkedIn"
    );
}

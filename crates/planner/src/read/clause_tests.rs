use super::*;
use crate::read::text::Masked;

fn cut(request: &str) -> Vec<String> {
    let masked = Masked::of(request);
    all(&masked.text)
        .iter()
        .map(|c| masked.plain(&c.text))
        .collect()
}

#[test]
fn lists_stay_whole_and_predicates_are_cut() {
    assert_eq!(
        cut(
            "Fetch id, name and phone from Pipedrive, then mail them to a@b.io and post the count to #x in Slack."
        ),
        [
            "Fetch id, name and phone from Pipedrive",
            "then mail them to a@b.io",
            "post the count to #x in Slack"
        ]
    );
    assert_eq!(
        cut(
            "Billing goes to Slack #billing, technical becomes a Linear issue, for 'other' nothing happens."
        ),
        [
            "Billing goes to Slack #billing",
            "technical becomes a Linear issue",
            "for 'other' nothing happens"
        ]
    );
}

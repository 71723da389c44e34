use super::clauses;
use crate::chart::chart;
use crate::time::spans;

/// One line a clause: what introduces it, its verb, the phrases before and after it.
fn shown(text: &str) -> String {
    let chart = chart(text, "en");
    let times = spans(text, "en");
    let phrase = |p: &super::Phrase| {
        let mut said = p.words(&chart, text);
        for name in &p.names {
            said = format!("{said} <{}>", chart.items[*name].text);
        }
        if let Some(service) = p.service {
            said = format!("${} {said}", service.key);
        }
        format!("{} {}", p.prep, said.trim()).trim().to_owned()
    };
    let line = |c: &super::Clause| {
        let verb = c.verb.as_ref().map_or(String::new(), |v| {
            format!("{}{}", if v.negated { "!" } else { "" }, v.sense.concept)
        });
        let list = |of: &[super::Phrase]| of.iter().map(phrase).collect::<Vec<_>>().join(" | ");
        format!(
            "{:?} {}: {} / {}",
            c.intro,
            verb,
            list(&c.before),
            list(&c.after)
        )
    };
    clauses(&chart, &times)
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn clauses_have_their_verbs_and_phrases() {
    insta::assert_snapshot!(shown("When a new order comes in, add a row to the Google Sheet 'Orders' and tell #sales on Slack. If the total is over 100 euros, email boss@acme.io; otherwise do nothing."), @"");
}

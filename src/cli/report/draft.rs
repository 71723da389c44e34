//! The head of a draft's report: how much of the request is built, and the phrases that were not understood, where they stand.

use crate::cli::progress::plain;
use agentctl_base::counted::counted;
use agentctl_base::untrusted::prose;
use agentctl_engine::run::RunReport;
use agentctl_n8n_tools::report::{Built, MOST_QUOTED};
use console::style;

/// How many lines the phrases may take.
const MOST_LINES: usize = 17;

/// The first line, and below it the phrases by paragraph where one line does not hold them.
pub(super) fn told(report: &RunReport, made: &Built, out: &mut String) {
    out.push_str(&format!(
        "{}\n",
        style(prose(&report.message)).yellow().bold()
    ));
    let phrases = made.workflow.as_ref().map(|w| w.not_understood.as_slice());
    let phrases = phrases.unwrap_or_default();
    if phrases.len() > MOST_QUOTED {
        let lines = by_paragraph(&report.request, phrases);
        for line in lines.iter().take(MOST_LINES) {
            out.push_str(&format!("  {}\n", prose(&plain(line))));
        }
        if let Some(rest) = lines.len().checked_sub(MOST_LINES).filter(|rest| *rest > 0) {
            out.push_str(&format!(
                "  {}: --output-format json\n",
                counted(rest, "more paragraph")
            ));
        }
    }
    out.push('\n');
}

/// One line for each paragraph of the request that a phrase stands in, in order; phrases that stand in none come last.
fn by_paragraph(request: &str, phrases: &[String]) -> Vec<String> {
    let single = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut left: Vec<&String> = phrases.iter().collect();
    let mut lines = Vec::new();
    for (number, paragraph) in paragraphs(request).enumerate() {
        let text = single(paragraph);
        // A group that was set aside is named by its first words.
        let stands = |phrase: &&String| match phrase.split_once('…') {
            Some((first, _)) => text.contains(first),
            None => text.contains(phrase.as_str()),
        };
        let (here, rest): (Vec<&String>, Vec<&String>) = left.into_iter().partition(stands);
        left = rest;
        if !here.is_empty() {
            lines.push(line(&format!("paragraph {}", number + 1), &here));
        }
    }
    if !left.is_empty() {
        lines.push(line("elsewhere", &left));
    }
    lines
}

/// The parts of a text between empty lines.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split("\n\n").map(str::trim);
    parts.filter(|part| !part.is_empty())
}

fn line(head: &str, phrases: &[&String]) -> String {
    let quoted: Vec<String> = phrases.iter().map(|phrase| format!("'{phrase}'")).collect();
    format!("{head}: {}", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::by_paragraph;

    #[test]
    fn phrases_stand_under_their_paragraphs_and_each_once() {
        let request = "Read the\nmails.\n\nFrob them,\nthen blorp.\n\nThen frob.";
        let set_aside = "Read the mails… (2 sentences)";
        let phrases = [
            "the mails",
            "Frob",
            "blorp",
            "frob",
            "the answer",
            set_aside,
        ]
        .map(str::to_owned);
        assert_eq!(
            by_paragraph(request, &phrases),
            [
                "paragraph 1: 'the mails', 'Read the mails… (2 sentences)'",
                "paragraph 2: 'Frob', 'blorp'",
                "paragraph 3: 'frob'",
                "elsewhere: 'the answer'",
            ]
        );
    }
}

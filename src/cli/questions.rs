//! Open questions as text: whose words they are, the exact call that an approval is for, and the
//! command that answers.

use crate::cli::look;
use crate::cli::progress::{plain, plain_long, shown};
use agentctl_base::question::{Proposal, Question, QuestionOption};
use agentctl_base::shell;
use agentctl_base::untrusted::prose;
use agentctl_engine::run::Taken;
use console::style;

/// Open questions with their ids, topics and options, ready to be answered by a command. `taken`: the recommendations that the run took.
pub fn questions(questions: &[Question], taken: &[Taken]) -> String {
    let mut out = format!(
        "{} waiting for {}\n",
        style("?").yellow().bold(),
        if questions.len() == 1 {
            "an answer"
        } else {
            "answers"
        }
    );
    for question in questions {
        out.push_str(&format!(
            "  {} ({}) {}\n",
            style(plain(&question.id)).bold(),
            plain(&question.topic),
            words(question)
        ));
        for line in origin(question) {
            out.push_str(&format!("      {line}\n"));
        }
        match &question.proposal {
            Some(proposal) if look::is_look(question) => out.push_str(&look::text(proposal, taken)),
            Some(proposal) => out.push_str(&self::proposal(proposal)),
            None => {}
        }
        for option in &question.options {
            let fit = option
                .fit_score
                .map(|s| format!(" (fit {s})"))
                .unwrap_or_default();
            let (value, label) = (plain(&shown(&option.value)), prose(&option.label));
            let detail = detail(option).map_or_else(String::new, |d| format!(" – {}", prose(d)));
            let named = match value == label {
                true => value,
                false => format!("{value} = {label}"),
            };
            out.push_str(&format!("      {named}{fit}{detail}\n"));
        }
        if let Some(recommended) = &question.recommended {
            out.push_str(&format!(
                "      recommended: {}\n",
                plain(&shown(recommended))
            ));
        }
        if !question.required {
            out.push_str("      optional\n");
        }
    }
    out
}

/// What an option says beyond its label.
pub fn detail(option: &QuestionOption) -> Option<&str> {
    let detail = option.detail.as_deref();
    detail.filter(|detail| *detail != option.label)
}

/// A question's words: the program's own as they are, those of a project as a quotation on one line.
pub fn words(question: &Question) -> String {
    let text = prose(&question.text);
    match &question.asked_by {
        None => text,
        // Spaces in a row could push words to the beginning of a line, where they would look like the program's.
        Some(_) => {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("“{}”", text.replace(['“', '”'], "\""))
        }
    }
}

/// What there is to know of a question before it is read.
pub fn origin(question: &Question) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(by) = &question.asked_by {
        let by = plain(by).replace(" of this folder", " in this folder");
        lines.push(format!("This question comes from {by}, not from agentctl."));
    }
    if question.asks_secret {
        lines.push(match question.asked_by {
            Some(_) => "Warning: it asks for a password, a key or a token. agentctl needs none: what is typed is neither kept nor handed on.".to_owned(),
            None => "Warning: it speaks of a password, a key or a token. Do not type one: what is typed is kept in the run's journal.".to_owned(),
        });
    }
    lines
}

/// The exact call that waits for approval, and what it would change.
pub fn proposal(proposal: &Proposal) -> String {
    let mut out = format!(
        "      call: {} → {} {}\n      rule: {}; an answer counts until {}\n",
        plain(&proposal.role),
        plain(&proposal.tool),
        plain_long(&proposal.arguments.to_string()),
        plain(&proposal.rule),
        plain(&proposal.expires_at),
    );
    if let Some(hidden) = &proposal.hidden {
        out.push_str(&format!("      hidden values: {}\n", plain_long(hidden)));
    }
    for line in proposal.diff.iter().flat_map(|diff| diff.lines()) {
        out.push_str(&format!("      {}\n", plain_long(line)));
    }
    out
}

/// The command that answers, filled in as far as it can be.
pub fn answer_command(run: &str, questions: &[Question]) -> String {
    let pairs: Vec<String> = questions
        .iter()
        .filter(|q| q.required)
        .map(|q| {
            // An approval's command is one that approves; nobody runs it but a person.
            let value = match (&q.recommended, &q.approves) {
                // Which of several is a person's choice; a command that makes it would be copied.
                (Some(_), Some(_)) if q.options.len() > 2 => "…".to_owned(),
                (Some(value), _) => shell::word(&prose(&shown(value))),
                (None, Some(_)) => "approve".to_owned(),
                (None, None) => "…".to_owned(),
            };
            format!("{}={value}", shell::word(&q.id))
        })
        .collect();
    format!("agentctl answer {run} {}", pairs.join(" "))
}

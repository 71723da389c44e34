//! Reads a request, with the answers to its questions, into a plan. The modules below are the older reader's of values, times
//! and conditions, which only changes of a workflow and the coverage of literals still use.

pub(crate) mod compare;
pub(crate) mod cond;
pub(crate) mod models;
mod prose;
pub(crate) mod text;
pub(crate) mod times;
pub(crate) mod value;
pub(crate) mod when;

use crate::lex::{Cells, Lexicon, Table};
use crate::plan::{Plan, Refusal};
use crate::spot::{Kind, tokens};
use crate::{assemble, explain};
use agentctl_base::question::Question;
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// What the reader may know besides the request.
#[derive(Debug, Clone, Default)]
pub struct ReadContext {
    /// Answers to earlier questions, by topic.
    pub answers: IndexMap<String, String>,
}

/// A request, understood as far as it goes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    pub plan: Plan,
    /// Required ones first. A plan stands beside them where the rest was clear.
    pub questions: Vec<Question>,
    pub refusal: Option<Refusal>,
    /// What was assumed, in the request's language.
    pub notes: Vec<String>,
}

/// Reads a request. What was answered is not asked again.
pub fn read(request: &str, cx: &ReadContext) -> Reading {
    let whole = with_answers(request, &cx.answers);
    let mut reading = assemble::read(&whole, explain::language(&whole));
    if !cx.answers.is_empty() {
        reading.questions.clear();
    }
    reading
}

/// Answers as the reader takes them: text by topic, several as a list in words.
pub(crate) fn by_topic(answers: &Map<String, Value>) -> IndexMap<String, String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            items.join(", ")
        }
        other => other.to_string(),
    };
    let all = answers.iter();
    all.map(|(topic, value)| (topic.clone(), text(value)))
        .collect()
}

pub(crate) const ANSWERS: Table = Table {
    file: "gate/answers.tsv",
    text: include_str!("../../knowledge/gate/answers.tsv"),
    columns: 2,
};

/// The request with the answers that belong to it, each as a sentence of its own; `knowledge/gate/answers.tsv` says where it
/// stands and what a bare answer needs before it.
pub fn with_answers(request: &str, answers: &IndexMap<String, String>) -> String {
    let language = explain::language(request);
    let column = ["en", "de", "es", "fr"].iter().position(|l| *l == language);
    let mut out = asked(request, language);
    for (topic, answer) in answers {
        let answer = answer.trim();
        if answer.is_empty() {
            continue;
        }
        let of = |c: &Cells<'_>| c.at(0) == topic || c.at(0) == "*";
        let Some(row) = ANSWERS.rows().find(of) else {
            continue;
        };
        let lead = row.at(2 + column.unwrap_or(0));
        let said = match lead.is_empty() || acts(answer, language) {
            true => answer.to_owned(),
            false => format!("{lead} {answer}"),
        };
        let (first, second) = match row.at(1) {
            "in" if !acts(answer, language)
                && let Some(at) = assemble::spoken_of(&out, language, topic) =>
            {
                out.replace_range(at, answer);
                continue;
            }
            // Who names the steps says all of it anew.
            "instead" => {
                out = said;
                continue;
            }
            "before" => (said, out),
            _ => (out, said),
        };
        let end = match first.ends_with(['.', '!', '?']) {
            true => "",
            false => ".",
        };
        out = format!("{first}{end} {second}");
    }
    out
}

/// What of a request asks for something: of a long text of prose its sentences that do; where none does, nothing is read of it.
fn asked(request: &str, language: &str) -> String {
    let text = once(request.trim());
    match prose::prose(&text, language) {
        Some(parted) => parted.request(&text),
        None => text,
    }
}

/// What of a long text was not read, in groups; empty where all of it was.
pub(crate) fn set_aside(request: &str) -> Vec<String> {
    let language = explain::language(request);
    let parted = prose::prose(&once(request.trim()), language);
    parted.unwrap_or_default().left
}

/// A request, word for word where it stands, with spaces for what of a long text was not read.
pub(crate) fn only_asked(request: &str) -> String {
    match prose::prose(request, explain::language(request)) {
        Some(parted) => parted.blanked(request),
        None => request.to_owned(),
    }
}

/// A text without the sentences that only repeat the one before them: what is pasted again says nothing more.
fn once(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut from, mut last) = (0, "");
    let ends = tokens(text).into_iter().filter(|t| t.kind == Kind::End);
    for end in ends.map(|t| t.to).chain([text.len()]) {
        let piece = text.get(from..end).unwrap_or("");
        let sentence = piece.trim();
        if sentence.is_empty() || sentence != last {
            out.push_str(piece);
        }
        if !sentence.is_empty() {
            last = sentence;
        }
        from = end;
    }
    out.trim_end().to_owned()
}

/// Whether an answer says what to do, or when, and so needs no words before it: its first word is a verb or introduces a clause.
fn acts(answer: &str, language: &str) -> bool {
    let first = answer
        .split_whitespace()
        .next()
        .unwrap_or("")
        .to_lowercase();
    let lexicon = Lexicon::of(language);
    let verb = lexicon
        .senses(&first)
        .iter()
        .any(|s| s.class == crate::lex::Class::Verb);
    verb || ["when", "if", "prep"]
        .iter()
        .any(|c| lexicon.can_be(&first, c))
}

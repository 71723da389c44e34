//! How a request is read, as text: each clause with what introduces it, its verb and its phrases.

use crate::chart::{Chart, chart};
use crate::clause::{Clause, Intro, Phrase, clauses};
use crate::time::spans;

/// One line for each clause.
pub fn explain(request: &str, language: &str) -> String {
    let chart = chart(request, language);
    let times = spans(request, language);
    let lines: Vec<String> = clauses(&chart, &times)
        .iter()
        .map(|c| line(c, &chart, request))
        .collect();
    lines.join("\n")
}

fn line(clause: &Clause, chart: &Chart, text: &str) -> String {
    let intro = match clause.intro {
        Intro::None => String::new(),
        other => format!("{other:?} ").to_uppercase(),
    };
    let verb = clause.verb.as_ref().map_or_else(
        || "-".to_owned(),
        |v| {
            format!(
                "{}{}:{}",
                if v.negated { "not " } else { "" },
                v.sense.concept,
                v.frame()
            )
        },
    );
    let list = |of: &[Phrase]| {
        of.iter()
            .map(|p| phrase(p, chart, text))
            .collect::<Vec<_>>()
            .join(" ")
    };
    format!(
        "{intro}{verb}  {}  /  {}",
        list(&clause.before),
        list(&clause.after)
    )
}

fn phrase(phrase: &Phrase, chart: &Chart, text: &str) -> String {
    let item = |i: &usize| {
        chart
            .items
            .get(*i)
            .and_then(|i| text.get(i.from..i.to))
            .unwrap_or("")
    };
    let mut parts = vec![phrase.prep.clone()];
    parts.extend(phrase.compared.iter().map(|i| format!("<{}>", item(i))));
    parts.extend(phrase.service.map(|s| format!("${}", s.key)));
    parts.push(phrase.words(chart, text));
    parts.extend(phrase.names.iter().map(|i| format!("'{}'", item(i))));
    parts.extend(phrase.numbers.iter().map(|i| item(i).to_owned()));
    parts.extend(phrase.pronoun.iter().map(|i| format!("~{}", item(i))));
    parts.retain(|p| !p.is_empty());
    let comma = if phrase.listed { "," } else { "" };
    format!("{comma}[{}]", parts.join(" "))
}

/// The language that a request is read in.
pub fn language(request: &str) -> &'static str {
    crate::chart::language(request)
}

/// Each item of a request with its class, its concept and its form, for those who look after the tables.
pub fn items(request: &str, language: &str) -> String {
    let item = |i: &crate::chart::Item| match &i.what {
        crate::chart::What::Word(s) => format!(
            "{}={:?}:{}{}{}",
            i.text,
            s.class,
            s.concept,
            if s.form.is_empty() { "" } else { "." },
            s.form
        ),
        crate::chart::What::Service(s) => format!("{}=${}", i.text, s.key),
        crate::chart::What::Shape(k) => format!("{}={k:?}", i.text),
        crate::chart::What::Unknown => format!("{}=?", i.text),
    };
    let items = chart(request, language).items;
    items.iter().map(item).collect::<Vec<_>>().join(" | ")
}

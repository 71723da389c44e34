//! What a command says, looked for in the nodes that were made of that command alone: its verb, what it is done to, its figures, its
//! columns.

use super::super::Fate;
use super::super::evidence::Evidence;
use super::finished::{Finished, mapping, parameters};
use super::frames;
use super::ways::Said;
use crate::clause::{Clause, Intro, Phrase};
use agentctl_n8n::Node;
use serde_json::Value;
use std::rc::Rc;

pub(super) const SAID: &[Said] = &[
    is_another_act,
    is_done_to_another,
    lacks_a_figure,
    writes_other_columns,
    lies_with_another,
    is_done_with_another,
    says_more_of_a_thing,
    is_told_as_an_event,
];

/// What is added to a record that is there, by its concept: no message, and no record of its own.
const PARTS: &[&str] = &["comment", "note", "label", "attachment"];

/// A command of which something was made.
fn obeyed<'f>(finished: &'f Finished<'_>, at: usize) -> Option<&'f Clause> {
    let clause = finished.whole().clauses.get(at)?;
    let orders = matches!(clause.intro, Intro::None | Intro::Else | Intro::Purpose);
    let verb = clause.verb.as_ref().filter(|v| !v.negated && orders)?;
    let acts = frames::asks_for_a_step(&verb.sense) && !finished.made_of(clause).is_empty();
    acts.then_some(clause)
}

/// Such a command with the evidence of what was made of it.
fn command<'f>(finished: &'f Finished<'_>, at: usize) -> Option<(&'f Clause, Rc<Evidence>)> {
    let clause = obeyed(finished, at)?;
    Some((clause, finished.evidence_of_clause(clause)))
}

/// Whether what was made of a command does something else than its verb says.
fn is_another_act(finished: &Finished<'_>, at: usize) -> bool {
    let Some((clause, evidence)) = command(finished, at) else {
        return false;
    };
    // "I'd like #ops to get a message", "get the answers into the sheet": who gets something is told it, and where is written to.
    let into = |p: &Phrase| matches!(p.prep.as_str(), "to" | "into") && p.service.is_some();
    let told = clause.before.iter().any(|p| p.pronoun.is_none());
    let gets = clause.calls("GET") && (told || clause.after.iter().any(into));
    let verb = clause.verb.as_ref().filter(|_| !gets);
    verb.is_some_and(|v| frames::verb(&v.sense, false, &evidence) == Fate::Missing)
}

/// Whether what was made of a command does it to something else.
fn is_done_to_another(finished: &Finished<'_>, at: usize) -> bool {
    let Some((clause, evidence)) = command(finished, at) else {
        return false;
    };
    let chart = &finished.whole().chart;
    let makes = ["CREATE", "UPDATE", "DELETE", "STORE"]
        .iter()
        .any(|f| clause.calls(f));
    let lost = |phrase: &Phrase| {
        let Some(noun) = phrase.noun(chart).filter(|_| phrase.names.is_empty()) else {
            return false;
        };
        let word = phrase.head(chart).map_or("", |i| i.text.as_str());
        let known = evidence
            .concept(&noun.concept)
            .or_else(|| evidence.word(word, finished.language));
        let own = match PARTS.contains(&noun.concept.as_str()) {
            true => makes,
            false => matches!(noun.kind(), "field" | "money" | "date"),
        };
        let held = known.or_else(|| {
            let part = PARTS.contains(&noun.concept.as_str());
            evidence.kind(noun.kind(), &noun.concept).filter(|_| !part)
        });
        let given = phrase.prep.is_empty() || phrase.prep == "with";
        own && given && phrase.compared.is_none() && held.is_none()
    };
    clause.after.iter().any(lost)
}

/// Whether a figure of a command stands in none of what was made of it.
fn lacks_a_figure(finished: &Finished<'_>, at: usize) -> bool {
    let Some((clause, evidence)) = command(finished, at) else {
        return false;
    };
    let chart = &finished.whole().chart;
    let timed = |at: usize| {
        let item = chart.item(at);
        clause
            .times
            .iter()
            .any(|t| item.from >= t.from && item.to <= t.to)
    };
    let figures = clause
        .phrases()
        .filter(|p| p.compared.is_none())
        .flat_map(|p| &p.numbers);
    let mut open = figures.filter(|n| !timed(**n));
    open.any(|n| evidence.figure(&chart.item(*n).text).is_none())
}

/// The names of the columns, or fields, that a node writes; none where it writes all that come.
fn written(node: &Node) -> Option<Vec<String>> {
    if mapping(node) == "autoMapInputData" {
        return None;
    }
    let parameters = parameters(node);
    let columns = parameters.get("columns");
    let mut names: Vec<String> = Vec::new();
    let value = columns.and_then(|c| c.get("value")?.as_object());
    names.extend(value.into_iter().flat_map(|v| v.keys().cloned()));
    for (list, entries, name) in [
        ("valuesToSend", "values", "column"),
        ("bodyParameters", "parameters", "name"),
        ("fieldsUi", "fieldValues", "fieldId"),
    ] {
        let given = parameters
            .get(list)
            .and_then(|l| l.get(entries)?.as_array());
        let given = given.into_iter().flatten();
        let given = given.filter_map(|e| e.get(name).and_then(Value::as_str));
        names.extend(given.map(str::to_owned));
    }
    Some(names)
}

/// A name without case, spaces and signs.
fn bare(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// The columns that a clause lists by that word: "columns name, email and total", "nur die Spalten name und email".
fn listed(finished: &Finished<'_>, clause: &Clause) -> Vec<String> {
    let chart = &finished.whole().chart;
    let marks = |at: &usize| {
        let noun = chart.item(*at).noun();
        noun.is_some_and(|n| matches!(n.concept.as_str(), "column" | "field") && n.form == "many")
    };
    let Some(at) = (clause.from..clause.to).find(marks) else {
        return Vec::new();
    };
    let mut names = vec![String::new()];
    for at in at + 1..clause.to {
        let item = chart.item(at);
        let joins =
            item.is("and") || item.stops() && matches!(item.text.as_str(), "," | ":" | "(" | ";");
        if joins {
            names.push(String::new());
        } else if item.stops() || item.is("prep") || item.verb().is_some() {
            break;
        } else if !item.is("det")
            && !item.is("also")
            && let Some(name) = names.last_mut()
        {
            name.push_str(&bare(&item.text));
        }
    }
    names.retain(|n| !n.is_empty());
    names
}

/// Whether the columns that a command lists are not those that are written.
fn writes_other_columns(finished: &Finished<'_>, at: usize) -> bool {
    let Some(clause) = finished.whole().clauses.get(at) else {
        return false;
    };
    let listed = listed(finished, clause);
    if listed.len() < 2 {
        return false;
    }
    let writes = |n: &&Node| {
        ["columns", "valuesToSend", "bodyParameters", "dataMode"]
            .iter()
            .any(|k| parameters(n).contains_key(*k))
    };
    let made = finished.made_of(clause);
    let mut nodes = made.into_iter().filter(writes).peekable();
    nodes.peek().is_some()
        && nodes.all(|n| {
            let Some(names) = written(n) else {
                return true;
            };
            let names: Vec<String> = names.iter().map(|n| bare(n)).collect();
            // A word may be left of a verb in two parts, or of "the current date".
            let same = |l: &String| {
                let near = |n: &String| l.starts_with(n.as_str()) || l.ends_with(n.as_str());
                names.iter().any(|n| l == n || !n.is_empty() && near(n))
            };
            !listed.iter().all(same)
        })
}

/// Whether a literal of a command of which nothing was made stands in what was made of another one.
fn lies_with_another(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let Some(clause) = whole.clauses.get(at).filter(|c| c.intro == Intro::None) else {
        return false;
    };
    let verb = clause
        .verb
        .as_ref()
        .filter(|v| !v.negated && v.sense.form == "base");
    let acts = verb.is_some_and(|v| frames::asks_for_a_step(&v.sense));
    if !acts || !clause.before.is_empty() || !finished.made_of(clause).is_empty() {
        return false;
    }
    let quotes = clause
        .phrases()
        .filter(|p| p.compared.is_none())
        .flat_map(|p| &p.names);
    let mut quotes = quotes
        .map(|n| whole.chart.item(*n))
        .filter(|i| i.shape() == Some(crate::spot::Kind::Quote));
    quotes.any(|item| {
        let holds = |n: &Node| {
            super::finished::all_texts(n)
                .iter()
                .any(|t| t.contains(&item.text))
        };
        let mut held = finished.nodes().filter(|n| holds(n)).peekable();
        held.peek().is_some() && held.all(super::finished::is_outside)
    })
}

/// Whether a clause names a service that it is done with, or that it happens in, and what was made of it is of another one.
fn is_done_with_another(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let Some(clause) = whole.clauses.get(at) else {
        return false;
    };
    let starts =
        whole.event().is_some_and(|e| e.from == clause.from) && clause.intro == Intro::When;
    let aims =
        |p: &&Phrase| starts || matches!(p.prep.as_str(), "to" | "in" | "into" | "on" | "via");
    let services = clause.after.iter().filter(aims).filter_map(|p| p.service);
    let mut services = services.filter(|s| !s.actions.is_empty()).peekable();
    if services.peek().is_none() {
        return false;
    }
    let mut made = finished.made_of(clause);
    if starts {
        let trigger = |n: &&Node| {
            let short = agentctl_n8n::short_type(n.node_type());
            short.ends_with("Trigger")
                || matches!(short, "webhook" | "emailReadImap")
                || finished.before(n).next().is_none()
        };
        made.extend(finished.nodes().filter(trigger));
    }
    let acts = clause
        .verb
        .as_ref()
        .is_some_and(|v| !v.negated && (starts || frames::asks_for_a_step(&v.sense)));
    if !acts || made.is_empty() {
        return false;
    }
    let evidence = finished.evidence_of(&made);
    services.any(|s| evidence.service(s, "").is_none())
}

/// Whether a command says more of a thing by a verb of its own, and it was read as one with the command: "la carte qui a le même e-mail".
fn says_more_of_a_thing(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let Some(clause) = obeyed(finished, at) else {
        return false;
    };
    let Some(verb) = clause.verb.as_ref() else {
        return false;
    };
    let chart = &whole.chart;
    let begins = |i: &usize| {
        let (item, next) = (chart.item(*i), chart.item(i + 1));
        let noun = i.checked_sub(1).map(|b| chart.item(b));
        let of_thing = noun.is_some_and(|n| {
            n.noun().is_some()
                || n.sense(crate::lex::Class::Adjective).is_some()
                || n.service().is_some()
        });
        let speaks = item.tells("speaker") || item.tells("us");
        let still = next
            .verb()
            .is_some_and(|v| v.form == "third" || chart.language != "en");
        item.is("pronoun") && !speaks && of_thing && still
    };
    (verb.at + 1..clause.to.saturating_sub(1)).any(|i| begins(&i))
}

/// Whether what is to be done is read as something that happens: "it should be forwarded and starred".
fn is_told_as_an_event(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let Some(clause) = whole.clauses.get(at).filter(|c| c.intro == Intro::None) else {
        return false;
    };
    let happens = clause.verb.as_ref().is_some_and(|v| {
        let first = v.sense.says.first().is_some_and(|f| f == "HAPPEN");
        first && v.sense.form == "past" && !v.negated
    });
    let before = at.checked_sub(1).and_then(|b| whole.clauses.get(b));
    let done = before.is_some_and(|b| {
        let acts = b
            .verb
            .as_ref()
            .is_some_and(|v| frames::asks_for_a_step(&v.sense));
        acts && b.sentence == clause.sentence && b.intro == Intro::None
    });
    happens && done && clause.before.is_empty() && finished.made_of(clause).is_empty()
}

//! What a request says must come out of what, as acceptance cases: literal answers of a webhook, on conditions with numbers, to given
//! input, with what was sent in their holes, with the keys that it shall have, with a status. Read from the request's own words, beside the plan: a plan that was read wrongly does not
//! pass by construction. What is not certain is no case.

mod inputs;
mod literal;

use crate::lex::Table;
use crate::lexicon::rx;
use crate::plan::Cond;
use crate::read::cond;
use crate::read::text::Masked;
use inputs::Asked;
use literal::{Literal, Said, literals};
use serde_json::{Map, Value, json};
use std::ops::Range;
use std::sync::LazyLock;

pub(crate) const WORDS: Table = Table {
    file: "acceptance.tsv",
    text: include_str!("../knowledge/acceptance.tsv"),
    columns: 2,
};
/// As many as the requirements hold.
const MOST: usize = 5;

struct Words {
    answer: String,
    otherwise: String,
    condition: String,
    unless: String,
    only: String,
    given: String,
    status: String,
    instead: String,
    filler: String,
    sent: String,
    other: String,
}

static SAID: LazyLock<Words> = LazyLock::new(|| {
    let of = |kind: &str| {
        let row = WORDS.rows().find(|row| row.at(0) == kind);
        let words = row.map_or("", |row| row.at(1)).split('|');
        // Longer ones first: "is sent" before "is".
        let mut words: Vec<String> = words.map(pattern).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        format!("(?:{})", words.join("|"))
    };
    Words {
        answer: of("answer"),
        otherwise: of("otherwise"),
        condition: of("if"),
        unless: of("unless"),
        only: of("only"),
        given: of("given"),
        status: of("status"),
        instead: of("instead"),
        filler: of("filler"),
        sent: of("sent"),
        other: of("other"),
    }
});

fn pattern(word: &str) -> String {
    word.replace('.', r"\.").replace(' ', r"\s+")
}

/// One answer that the request spells out, and when it is given.
struct Answer {
    said: Said,
    status: Option<u16>,
    /// What must hold; those before it must not.
    guard: Guard,
}

enum Guard {
    Always,
    If(Cond),
    /// With the condition right before it, on which something else is done than an answer.
    Otherwise(Option<Cond>),
}

impl Guard {
    /// After these answers. None: of which condition it is the other side nobody can say.
    fn after(self, answers: &[Answer]) -> Option<Guard> {
        let answered = answers.iter().any(|a| matches!(a.guard, Guard::If(_)));
        match self {
            Guard::Otherwise(of) if !answered => {
                let of = Box::new(of?);
                Some(Guard::If(Cond::Not { of }))
            }
            guard => Some(guard),
        }
    }
}

/// The cases that a request holds, as its requirements keep them; none where it is of no webhook, or where some of it is not certain.
pub fn cases(request: &str) -> Vec<Value> {
    let Some(place) = called(request) else {
        return Vec::new();
    };
    if rx(&format!(r"(?i)\b{}\b", SAID.instead)).is_match(request) {
        return Vec::new();
    }
    let found = literals(request);
    let mut given: Option<&Literal> = None;
    let mut pairs: Vec<(Value, Value, Option<u16>)> = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    let mut from = 0;
    for (at, literal) in found.iter().enumerate() {
        let before = request.get(from..literal.from).unwrap_or("");
        let end = found.get(at + 1).map_or(request.len(), |next| next.from);
        let after = request.get(literal.to..end).unwrap_or("");
        match role(before) {
            Role::Given if literal.is_object() => given = Some(literal),
            // Of what stands under the keys the request says more, which nobody compares.
            Role::Answer if literal.is_explained(request, &SAID.status) => continue,
            Role::Answer if is_whole(after) => {
                let (status, after) = with_status(before, after);
                let Some(guard) = guard(before, &after).and_then(|guard| guard.after(&answers))
                else {
                    return Vec::new();
                };
                match (given.take().and_then(Literal::plain), literal.plain()) {
                    (Some(input), Some(value)) => pairs.push((input, value, status)),
                    _ => answers.push(Answer {
                        said: literal.said.clone(),
                        status,
                        guard,
                    }),
                }
            }
            Role::Answer => return Vec::new(),
            _ => continue,
        }
        from = literal.to;
    }
    let mut cases: Vec<Value> = pairs
        .into_iter()
        .map(|(input, value, status)| {
            let input = input.as_object().cloned().unwrap_or_default();
            case(place, input, expected(status, "answer", value))
        })
        .collect();
    cases.extend(guarded(request, place, answers).unwrap_or_default());
    cases.truncate(MOST);
    cases
}

/// The part of the call in which its fields are; None: the request is of no webhook.
fn called(request: &str) -> Option<&'static str> {
    let webhook = rx(r"(?i)\bwebhook|(?-i:\b(?:GET|POST|PUT|PATCH|DELETE))\s+/");
    if !webhook.is_match(request) {
        return None;
    }
    match rx(r"(?-i:\b(?:GET|HEAD)\b)").is_match(request) {
        true => Some("query"),
        false => Some("body"),
    }
}

enum Role {
    Answer,
    Given,
    None,
}

/// What a literal is for, by the words right before it.
fn role(before: &str) -> Role {
    let w = &*SAID;
    let filled = format!(r"(?:[\s,:]+{})*[\s:=]*$", w.filler);
    let ends = |words: &str| rx(&format!(r"(?i)(?:^|[^\w]){words}{filled}")).is_match(before);
    if rx(&format!(r"(?i)\b{}\s*$", w.other)).is_match(before) {
        Role::None
    } else if ends(&w.answer) || ends(&w.otherwise) {
        Role::Answer
    } else if rx(&format!(r"(?i)(?:^|[^\w]){}[\s:]*$", w.given)).is_match(before) {
        Role::Given
    } else {
        Role::None
    }
}

/// Whether the literal is all of the answer: no list goes on behind it.
fn is_whole(after: &str) -> bool {
    let goes_on = format!(
        r#"(?i)^\s*(?:,?\s*(?:and|or|und|oder|y|o|et|ou)\s*$|,?\s*$|{}\b|\+)"#,
        SAID.other
    );
    after.trim().is_empty() || !rx(&goes_on).is_match(after)
}

/// The status that the request gives the answer, right before it or behind; with what stands behind it else.
fn with_status(before: &str, after: &str) -> (Option<u16>, String) {
    let w = &*SAID;
    let number = r"\s*:?\s*([1-5]\d\d)\b";
    let behind = rx(&format!(
        r"(?i)^[\s,(]*(?:{}\s+)*{}{number}[)]?",
        w.filler, w.status
    ));
    if let Some(found) = behind.captures(after) {
        let status = found.get(1).and_then(|m| m.as_str().parse().ok());
        let rest = found.get(0).and_then(|all| after.get(all.end()..));
        return (status, rest.unwrap_or_default().to_owned());
    }
    let ahead = rx(&format!(
        r"(?i)\b{}{number}(?:[\s,:]+{})*[\s,:]*$",
        w.status, w.filler
    ));
    let ahead = ahead.captures(before);
    let status = ahead.and_then(|found| found.get(1)?.as_str().parse().ok());
    (status, after.to_owned())
}

/// When the answer is given: the words before it, and what is put behind it. None: a condition that cannot be read.
fn guard(before: &str, after: &str) -> Option<Guard> {
    let w = &*SAID;
    let last = |words: &str| {
        let found = rx(&format!(r"(?i)(?:^|[^\w]){words}\b"));
        found.find_iter(before).last().map(|m| m.end())
    };
    let otherwise = last(&w.otherwise);
    if last(&w.unless).is_some() {
        return None;
    }
    // "when a webhook arrives" is no condition.
    let starts = rx(
        r"(?i)webhook|arriv|\bcall|eintrifft|ankommt|aufgerufen|kommt|llega|arrive|\b(?:GET|POST|PUT|PATCH|DELETE)\s+/",
    );
    let behind = |words: &str| {
        let said = rx(&format!(
            r"(?i)^[\s,]*(?:(?:but\s+)?{}\s+)?{words}\s+([^,;.]+)",
            w.only
        ));
        let found = said.captures(after).and_then(|c| c.get(1));
        found.map(|found| found.as_str().to_owned())
    };
    let verb = rx(&format!(r"(?i)[\s,:]*\b{}\b.*$", w.answer));
    // With an answer of its own it is the condition of the next one.
    let own = |found: &str| !verb.is_match(found);
    if let Some(found) = behind(&w.unless) {
        let of = Box::new(read(&found)?);
        return Some(Guard::If(Cond::Not { of }));
    }
    if let Some(found) = behind(&w.condition).filter(|found| own(found)) {
        return read(&found).map(Guard::If);
    }
    let said = last(&w.condition).and_then(|at| before.get(at..));
    match (said, otherwise) {
        (Some(said), at) if at.is_none_or(|at| before.len() - said.len() > at) => {
            let said = verb.replace(said, "").into_owned();
            match starts.is_match(&said) {
                true => Some(Guard::Always),
                false => read(&said).map(Guard::If),
            }
        }
        (said, Some(at)) => Some(Guard::Otherwise(said.and_then(|said| {
            let to = at.checked_sub(before.len() - said.len())?;
            let said = said.get(..to).filter(|said| !starts.is_match(said))?;
            read(rx(BORDER).find(said)?.as_str())
        }))),
        _ => Some(Guard::Always),
    }
}

/// A condition with what is done on it behind: as far as what it compares with.
const BORDER: &str = r#"^[^\d"“„«]*(?:\d[\d.]*|"[^"]*"|[“„][^“”]*[“”]|«[^»]*»)"#;

fn read(said: &str) -> Option<Cond> {
    let said = said.trim().trim_matches([',', ':']).trim();
    // In German the verb stands behind the number.
    let said = rx(r"(?i)(\d\S*)\s+(?:ist|sind|liegt|beträgt)$").replace(said, "$1");
    let masked = Masked::of(&said);
    cond::condition(&masked, &masked.text)
}

/// The cases of answers with their conditions: each condition with values beside its border. None: a condition on something that no
/// value can be given for.
fn guarded(request: &str, place: &str, answers: Vec<Answer>) -> Option<Vec<Value>> {
    let conditions = answers.iter().filter_map(|answer| match &answer.guard {
        Guard::If(cond) => Some(cond),
        _ => None,
    });
    let asked = Asked::of(request, conditions)?;
    // An answer on no condition beside those on one: which of them is meant nobody can say.
    let always = answers
        .iter()
        .filter(|a| matches!(a.guard, Guard::Always))
        .count();
    if always > 1 || (always == 1 && answers.len() > 1) {
        return None;
    }
    let mut cases = Vec::new();
    let mut before: Vec<&Cond> = Vec::new();
    for answer in &answers {
        let holds = match &answer.guard {
            Guard::If(cond) => Some(cond),
            _ => None,
        };
        let mut input = asked.input(holds, &before)?;
        let expect = match &answer.said {
            Said::Keys(keys) => expected(answer.status, "answer_has", json!(keys)),
            Said::Value(value) => {
                let value = filled(request, value, &mut input)?;
                expected(answer.status, "answer", value)
            }
        };
        cases.push(case(place, input, expect));
        before.extend(holds);
    }
    // Of an answer on a condition alone the other side is tried too: there it is not given.
    if let ([answer], [_]) = (answers.as_slice(), before.as_slice())
        && let Said::Value(value) = &answer.said
        && let Some(mut input) = asked.input(None, &before)
        && let Some(value) = filled(request, value, &mut input)
    {
        cases.push(case(place, input, expected(None, "answer_not", value)));
    }
    Some(cases)
}

/// The answer and, where the request says one, its status.
fn expected(status: Option<u16>, what: &str, answer: Value) -> Value {
    match status {
        Some(status) => json!({"status": status, what: answer}),
        None => json!({what: answer}),
    }
}

fn case(place: &str, input: Map<String, Value>, expect: Value) -> Value {
    let name = match input.is_empty() {
        true => "any call".to_owned(),
        false => inputs::told(&input),
    };
    let input = match (input.is_empty(), place) {
        // What it is called with is no matter: it is made from what the workflow reads.
        (true, _) => json!({}),
        (false, place) => json!({ place: input }),
    };
    json!({"name": name, "input": input, "expect": expect})
}

/// An answer that the request wants and that no case can be made of, because it is worked out: as it is said. None: it wants none.
pub fn open_answer(request: &str) -> Option<String> {
    called(request)?;
    let w = &*SAID;
    let said = rx(&format!(
        r"(?i)\b{}\b\s+([^,;.\n]*\p{{Alphabetic}}[^,;.\n]*)",
        w.answer
    ));
    let found = said.captures(request)?;
    found.get(0).map(|found| found.as_str().trim().to_owned())
}

/// A literal that a change says is answered, or is answered no more.
pub(crate) struct Told {
    pub value: Value,
    pub place: Range<usize>,
}

/// The literals of a text that says what is answered, with where the words stand that say so; None: it does not, or what is answered is
/// more than a literal.
pub(crate) fn told_answers(text: &str) -> Option<(Vec<Told>, Vec<Range<usize>>)> {
    let found = literals(text);
    let mut plain = text.to_owned();
    for literal in &found {
        let (from, to) = (literal.from, literal.to);
        plain.replace_range(from..to, &" ".repeat(to - from));
    }
    let w = &*SAID;
    if !rx(&format!(r"(?i)\b{}\b", w.answer)).is_match(&plain) {
        return None;
    }
    let told = found.iter().map(|literal| {
        Some(Told {
            value: literal.whole()?,
            place: literal.from..literal.to,
        })
    });
    let told: Vec<Told> = told.collect::<Option<_>>()?;
    let words = rx(&format!(
        r"(?i)\b(?:{}|{}|{})\b",
        w.answer, w.filler, w.instead
    ));
    let words = words.find_iter(&plain).map(|word| word.range()).collect();
    (!told.is_empty()).then_some((told, words))
}

/// The answer with a value in each hole of its texts, which goes in too. None: it says what is meant and not what it is.
fn filled(request: &str, value: &Value, input: &mut Map<String, Value>) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(literal::filled(request, text, &SAID.sent, input)?),
        Value::Array(list) => {
            let list = list.iter().map(|value| filled(request, value, input));
            Value::Array(list.collect::<Option<_>>()?)
        }
        Value::Object(map) => {
            let pairs = map.iter();
            let pairs =
                pairs.map(|(key, value)| Some((key.clone(), filled(request, value, input)?)));
            Value::Object(pairs.collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

#[cfg(test)]
#[path = "acceptance_tests.rs"]
mod acceptance_tests;

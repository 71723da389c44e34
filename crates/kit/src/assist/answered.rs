//! What a message is about that is no request of its own: the answer to a question of the reply before, or a word about what was spoken
//! of. The request then goes on with all that was answered since; nothing else is read out of an answer.

use super::delegate::{Errand, Plan};
use super::fill::{TICKET, by_pattern};
use crate::words::Text;
use serde_json::{Map, Value};

/// Words of an answer to a question that asks for no parameter, at most.
const SHORT: usize = 6;
/// Questions about one request that are gone back over.
const MAX_QUESTIONS: usize = 8;

/// What a reply asked for.
enum Question {
    Parameter(String),
    Other,
    /// It told that it did not work with what was answered.
    Failed,
}

/// What was said for a request: for a parameter, or None: besides.
type Answered<'t> = (Option<String>, &'t str);

impl Plan<'_> {
    /// The errands of the request that this message answers a question about; None: it is no answer.
    pub(super) fn goes_on(&self) -> Option<Vec<Errand>> {
        let (request, reply, answers) = self.answers()?;
        let named = |text: &str| {
            let errands = self.of_request(text);
            (!errands.is_empty()).then_some(errands)
        };
        let besides = || answers.iter().filter(|(to, _)| to.is_none());
        let mut errands = named(request).or_else(|| besides().find_map(|(_, text)| named(text)))?;
        let mut text = String::new();
        for (_, said) in besides() {
            text += &format!("\n{}", said.trim());
        }
        for (to, said) in &answers {
            if let Some(parameter) = to {
                text += &format!("\n{parameter}: {}", said.trim());
            }
        }
        // What the reply told before its question was done: a look is made again, an act is not.
        let done = reply.contains("\n\n");
        if done && let Some(last) = errands.pop() {
            errands.retain(|errand| !self.has_act(&errand.text));
            errands.push(last);
        }
        let alone = errands.len() == 1;
        let at = if done { errands.len() - 1 } else { 0 };
        let asked = errands.get_mut(at)?;
        if alone {
            asked.text = request.to_owned();
            asked.takes = false;
        }
        asked.text += &text;
        Some(errands)
    }

    /// The request, the reply that asked last, and what was answered, in order.
    fn answers(&self) -> Option<(&str, &str, Vec<Answered<'_>>)> {
        let said = &self.task.said;
        let mut at = said.iter().rposition(|one| one.by_user)?;
        let mut answers: Vec<Answered<'_>> = Vec::new();
        let mut reply = "";
        while answers.len() < MAX_QUESTIONS {
            let text = said.get(at)?.text.as_str();
            let Some(asked) = said.get(..at)?.iter().rposition(|one| !one.by_user) else {
                break;
            };
            let question = self.question(&said.get(asked)?.text);
            let Some(question) = question.filter(|question| self.is_answer(text, question)) else {
                break;
            };
            let Some(before) = said.get(..asked)?.iter().rposition(|one| one.by_user) else {
                break;
            };
            let to = match &question {
                Question::Parameter(name) => Some(name.clone()),
                Question::Other => None,
                Question::Failed => Some(self.asked_before(before)?),
            };
            if answers.is_empty() {
                reply = said.get(asked)?.text.as_str();
            }
            answers.push((to, text));
            at = before;
            if matches!(question, Question::Other) {
                break;
            }
        }
        answers.reverse();
        let request = said.get(at)?.text.as_str();
        (!answers.is_empty()).then_some((request, reply, answers))
    }

    /// The parameter that this message of the user answered.
    fn asked_before(&self, at: usize) -> Option<String> {
        let before = self.task.said.get(..at)?.iter();
        let reply = before.rev().find(|one| !one.by_user)?;
        match self.question(&reply.text)? {
            Question::Parameter(name) => Some(name),
            Question::Other | Question::Failed => None,
        }
    }

    fn question(&self, reply: &str) -> Option<Question> {
        if let Some(parameter) = self.parameter_of(reply) {
            return Some(Question::Parameter(parameter));
        }
        if reply.trim().contains('?') {
            return Some(Question::Other);
        }
        self.is_text("did_not_work", reply)
            .then_some(Question::Failed)
    }

    fn is_answer(&self, text: &str, question: &Question) -> bool {
        if self.lexicon.has(text, "thanks") {
            return false;
        }
        let has_act = self.has_act(text);
        let short = Text::new(text).words.len() <= SHORT;
        // Who begins with what is to be done, and names where, wants something else.
        let begins = ["search", "get", "run", "build", "what"];
        let hits = self.lexicon.hits(text);
        let mut first = hits.iter().take_while(|hit| hit.from == 0);
        let begins = first.any(|hit| begins.contains(&hit.concept.as_str()));
        let is_request = || !self.of_request(text).is_empty();
        match question {
            // A text may speak of anything; a wish of its own names its system.
            Question::Parameter(_) => !(has_act || begins) || !is_request(),
            Question::Other => short && !has_act && !(begins && is_request()),
            Question::Failed => short && !has_act && !is_request(),
        }
    }

    /// The parameter that a reply asks for.
    fn parameter_of(&self, reply: &str) -> Option<String> {
        let texts = self.task.offline.get("texts").and_then(Value::as_object)?;
        let asks = texts.keys().filter(|name| *name != ASK_ANY);
        let mut asks = asks.filter_map(|name| name.strip_prefix("ask_"));
        if let Some(name) = asks.find(|name| self.is_text(&format!("ask_{name}"), reply)) {
            return Some(name.to_owned());
        }
        let any = texts.get(ASK_ANY).and_then(Value::as_object)?;
        let named = any.values().filter_map(Value::as_str).find_map(|text| {
            let (before, behind) = text.split_once("{parameter}")?;
            let (_, rest) = reply.split_once(before)?;
            rest.split_once(behind).map(|(name, _)| name)
        });
        named.map(|name| name.replace(' ', "_"))
    }

    /// Whether a reply has a text of the pack, whatever stands in its places.
    fn is_text(&self, name: &str, reply: &str) -> bool {
        let texts = self.task.offline.get("texts").and_then(|t| t.get(name));
        let all = texts.and_then(Value::as_object).into_iter();
        let mut all = all.flat_map(Map::values).filter_map(Value::as_str);
        all.any(|text| {
            let mut rest = reply;
            text.split(['{', '}']).step_by(2).all(|part| {
                let found = rest.split_once(part.trim());
                found.map(|(_, behind)| rest = behind).is_some()
            })
        })
    }

    /// The errand of a message about what was spoken of before: with the thing that the last reply named, by its place in the list.
    pub(super) fn of_what_was_said(&self, now: &str, users: &[&str]) -> Option<Errand> {
        let (request, first) = users.iter().rev().skip(1).find_map(|text| {
            let first = self.of_request(text).into_iter().next()?;
            Some((*text, first))
        })?;
        if self.lexicon.has(now, "of_those") {
            return Some(Errand {
                text: format!("{}\n{}", request.trim(), now.trim()),
                takes: false,
                ..first
            });
        }
        if !self.has_act(now) && !self.lexicon.has(now, "it") {
            return None;
        }
        let said = self.task.said.iter().rev().skip(1);
        let mut said = said
            .map(|one| tickets(&one.text))
            .filter(|all| !all.is_empty());
        let named = said.next().unwrap_or_default();
        let key = match self.ordinal(now) {
            Some(Ordinal::Nth(nth)) => named.get(nth),
            Some(Ordinal::Last) => named.last(),
            None => named.first(),
        };
        let own = by_pattern(TICKET, now).is_some();
        let text = match key.filter(|_| !own) {
            Some(key) => format!("{}\n{key}", now.trim()),
            None => now.to_owned(),
        };
        Some(Errand {
            text,
            takes: false,
            ..first
        })
    }

    fn ordinal(&self, now: &str) -> Option<Ordinal> {
        let names = ["first_one", "second_one", "third_one"];
        let nth = names.iter().position(|name| self.lexicon.has(now, name));
        match nth {
            Some(nth) => Some(Ordinal::Nth(nth)),
            None => self.lexicon.has(now, "last_one").then_some(Ordinal::Last),
        }
    }
}

enum Ordinal {
    Nth(usize),
    Last,
}

/// The question for a parameter that has none of its own.
const ASK_ANY: &str = "ask_any";

/// The keys of tickets in a text, each once, in order.
fn tickets(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(key) = by_pattern(TICKET, word)
            && !found.contains(&key)
        {
            found.push(key);
        }
    }
    found
}

//! What policy conditions may know of a run, folded from its journal: the user's words, and the calls with their results. The
//! same journal gives the same facts, now and after a resume.

use crate::policy::{Carries, Facts, Grants, Outside, PastCall};
use crate::store::{Event, Shared};
use agentctl_base::decision::Decision;
use agentctl_base::model::{ToolCall, ToolResult};
use agentctl_base::question::{AnsweredBy, Question};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The key of a run's input under which the user's request stands.
const REQUEST: &str = "request";

/// A call that was begun.
#[derive(Debug, Clone)]
struct Open {
    call: Shared<ToolCall>,
    role: String,
    decision: Decision,
    carries: Option<Carries>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct RunFacts {
    facts: Facts,
    /// Further keys of the run's input that the user wrote.
    words: Vec<&'static str>,
    /// Questions that were asked, by id.
    questions: BTreeMap<String, Question>,
    /// The user's request as it stands in the run's input.
    request: String,
    /// The answers to questions that ask for no approval, by topic.
    answers: Map<String, Value>,
    /// The intents that have no result yet, by step and call.
    open: BTreeMap<(String, String), Open>,
}

impl RunFacts {
    pub fn new(words: Vec<&'static str>) -> Self {
        RunFacts {
            words,
            ..RunFacts::default()
        }
    }

    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::RunStarted { input, .. } => {
                let request = input.get(REQUEST).and_then(Value::as_str);
                request.unwrap_or_default().clone_into(&mut self.request);
                let keys = [REQUEST].into_iter().chain(self.words.iter().copied());
                for words in keys.filter_map(|key| input.get(key)?.as_str()) {
                    self.facts.add_words(words);
                }
            }
            // Another agent's program opened it and named itself: that is nobody's word.
            Event::SessionOpened { .. } => self.facts.forget_words(),
            Event::QuestionAsked { question, .. } => {
                self.questions.insert(question.id.clone(), question.clone());
            }
            Event::AnswerGiven {
                question_id,
                value,
                by,
                ..
            } => {
                if let Some(question) = self.questions.get(question_id) {
                    if question.approves.is_none() {
                        self.answers.insert(question.topic.clone(), value.clone());
                    }
                    let written = match by {
                        AnsweredBy::Recommended => Vec::new(),
                        _ => typed(question, value),
                    };
                    for words in written {
                        self.facts.add_words(&words);
                    }
                }
            }
            Event::GrantsPinned { grants, .. } => {
                // What cannot be read grants nothing.
                let read = Grants::parse(grants).unwrap_or_else(|_| Grants::nothing(Outside::Ask));
                self.facts.grant(read);
            }
            Event::ToolIntent {
                step,
                call,
                role,
                decision,
                carries,
                ..
            } => {
                let open = Open {
                    call: Shared::clone(call),
                    role: role.clone(),
                    decision: decision.clone(),
                    carries: carries.clone(),
                };
                self.open.insert((step.clone(), call.id.clone()), open);
            }
            Event::ToolFinished { step, result, .. } => {
                let call = (step.clone(), result.call_id.clone());
                if let Some(open) = self.open.remove(&call) {
                    self.called(open, result);
                }
            }
            _ => {}
        }
    }

    fn called(&mut self, open: Open, result: &Shared<ToolResult>) {
        let Open {
            call,
            role,
            decision,
            carries,
        } = open;
        let past = PastCall::of(call, &role, decision.rule(), Shared::clone(result));
        self.facts.add_call(past.decided(carries));
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The request, and the answers to the run's questions, by topic.
    pub fn said(&self) -> (&str, &Map<String, Value>) {
        (&self.request, &self.answers)
    }
}

/// What the user wrote in an answer. What was chosen among options, or recommended, was written by whoever asked; an approval says
/// yes or no.
fn typed(question: &Question, value: &Value) -> Vec<String> {
    if question.approves.is_some() {
        return Vec::new();
    }
    // A recommendation that was only taken was written by whoever asked, and so was a part of one.
    let options = question.options.iter().map(|option| &option.value);
    let written: Vec<&Value> = options.chain(&question.recommended).collect();
    let offered = |value: &Value| written.iter().any(|whole| holds(whole, value));
    let mut texts = Vec::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            _ if offered(value) => {}
            Value::String(text) => texts.push(text.clone()),
            Value::Number(number) => texts.push(number.to_string()),
            Value::Array(items) => left.extend(items),
            Value::Object(map) => left.extend(map.values()),
            Value::Null | Value::Bool(_) => {}
        }
    }
    texts
}

/// Whether the value is this one, or stands in it.
fn holds(whole: &Value, value: &Value) -> bool {
    whole == value
        || match whole {
            Value::Array(items) => items.iter().any(|item| holds(item, value)),
            Value::Object(map) => map.values().any(|item| holds(item, value)),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn question(more: Value) -> Question {
        let mut question = json!({"id": "q", "topic": "to", "text": "To whom?"});
        let more = more.as_object().unwrap().clone();
        question.as_object_mut().unwrap().extend(more);
        serde_json::from_value(question).unwrap()
    }

    #[test]
    fn what_somebody_else_wrote_into_a_question_is_not_what_the_user_typed() {
        let eve = json!("eve@x.example");
        for (asked, answer, words) in [
            (json!({}), eve.clone(), vec!["eve@x.example"]),
            // Enter takes the recommendation: it is whoever asked that wrote it.
            (json!({"recommended": eve}), eve.clone(), vec![]),
            (json!({"recommended": eve}), json!("bob"), vec!["bob"]),
            (
                json!({"recommended": [eve, "bob"]}),
                json!([eve, "bob"]),
                vec![],
            ),
            // A part of what was recommended.
            (
                json!({"recommended": [eve, "bob"]}),
                json!([eve, "tim"]),
                vec!["tim"],
            ),
            (
                json!({"options": [{"value": eve, "label": "Eve"}]}),
                eve.clone(),
                vec![],
            ),
            (
                json!({"options": [{"value": eve, "label": "Eve"}]}),
                json!([eve, "bob", 7, true]),
                vec!["7", "bob"],
            ),
            (
                json!({"options": [{"value": {"to": eve}, "label": "Eve"}]}),
                json!({"who": {"to": eve}, "how": "by mail"}),
                vec!["by mail"],
            ),
            (json!({"approves": "sha"}), json!("bob"), vec![]),
        ] {
            let mut typed = typed(&question(asked.clone()), &answer);
            typed.sort();
            assert_eq!(typed, words, "{asked} {answer}");
        }
    }

    #[test]
    fn a_recommendation_that_was_taken_is_nobodys_word_in_the_facts() {
        let asked = Event::QuestionAsked {
            step: "s".into(),
            question: question(json!({"recommended": "eve@x.example"})),
        };
        let given = |value: &str, by| Event::AnswerGiven {
            step: "s".into(),
            question_id: "q".into(),
            value: json!(value),
            by,
        };
        let origin = |events: &[Event]| {
            let mut run = RunFacts::default();
            events.iter().for_each(|event| run.observe(event));
            let none = crate::vocabulary::Vocabulary::default();
            let policy = crate::policy::Policy::load("roles: {}", "p", &none).unwrap();
            let args = json!({"to": "eve@x.example"});
            let told = policy.explain("r", "mcp__a__b", args.as_object().unwrap(), run.facts());
            told.considered.contains(&"origin of to: user".to_owned())
        };
        for by in [
            AnsweredBy::Terminal,
            AnsweredBy::Command,
            AnsweredBy::File,
            AnsweredBy::Recommended,
        ] {
            let taken = [asked.clone(), given("eve@x.example", by)];
            assert!(!origin(&taken), "{by:?}");
        }
        let typed = "to eve@x.example, please";
        assert!(origin(&[asked.clone(), given(typed, AnsweredBy::Terminal)]));
        assert!(!origin(&[asked, given(typed, AnsweredBy::Recommended)]));
    }
}

//! What comes in through Restate, read strictly: whose conversation, and what is to be done in it.

use super::Worker;
use super::turns::{Answer, Order, Work};
use crate::clients::May;
use crate::fields::Fields;
use crate::problem::Problem;
use crate::server::ServedPack;
use agentctl_engine::pack::MAX_KEY_PART;
use agentctl_sessions::SessionKey;
use agentctl_turns::Submit;
use serde_json::{Map, Value};
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Session,
    Run,
}

impl Worker {
    pub fn order(&self, kind: Kind, name: &str, id: &str, work: Work) -> Result<Order, Problem> {
        let approves = matches!(&work, Work::Answer(Answer::To { approves: true, .. }));
        self.may(if approves { May::Approve } else { May::Turn })?;
        let (pack, key) = self.key(kind, name)?;
        Ok(Order {
            server: Arc::clone(&self.server),
            pack,
            key,
            id: id.to_owned(),
            work,
        })
    }

    /// The conversation that an object's key names: `PACK:CONVERSATION`, `PACK:USER:CONVERSATION`; of a run `PACK:NAME`.
    pub fn key(&self, kind: Kind, name: &str) -> Result<(Arc<ServedPack>, SessionKey), Problem> {
        let (user, conversation, pack) = parts(kind, name)?;
        let pack = self
            .server
            .packs
            .get(pack)
            .filter(|_| self.client.reaches(pack));
        let served = || {
            self.server
                .packs
                .keys()
                .cloned()
                .collect::<Vec<_>>()
                .join(", ")
        };
        let pack = pack.ok_or_else(|| {
            Problem::not_found("such pack here").hint(format!("served: {}", served()))
        })?;
        let tenant = self.client.tenant(None);
        let tenant = tenant.ok_or_else(|| Problem::bad("the worker speaks for no tenant"))?;
        let key = SessionKey {
            pack: pack.pack.manifest.name.clone(),
            tenant,
            user: user.to_owned(),
            conversation,
        };
        Ok((Arc::clone(pack), key))
    }
}

fn parts(kind: Kind, name: &str) -> Result<(&str, String, &str), Problem> {
    let wrong = || {
        Problem::bad(format!("{name:?} names no conversation")).hint(match kind {
            Kind::Session => "Session/PACK:CONVERSATION or Session/PACK:USER:CONVERSATION",
            Kind::Run => "Run/PACK:NAME",
        })
    };
    let (pack, rest) = name.split_once(':').ok_or_else(wrong)?;
    let (user, conversation) = match kind {
        // No key of a conversation has a colon and no user: a run's is nobody else's.
        Kind::Run => ("", format!("run:{rest}")),
        Kind::Session => match rest.split_once(':') {
            Some(("", _)) => return Err(wrong()),
            Some((user, conversation)) => (user, conversation.to_owned()),
            None => ("", rest.to_owned()),
        },
    };
    let is_long = |part: &str| part.chars().count() > MAX_KEY_PART;
    match rest.trim().is_empty()
        || conversation.trim().is_empty()
        || is_long(user)
        || is_long(&conversation)
    {
        true => Err(wrong()),
        false => Ok((user, conversation, pack)),
    }
}

pub fn start(body: Value, kind: Kind) -> Result<Work, Problem> {
    let body = object(body, &["message", "input"])?;
    let mut fields = Fields::of(&body);
    let message = fields.text("message").map(str::to_owned);
    let input = fields.object("input").cloned().unwrap_or_default();
    fields.fit()?;
    if message.is_none() && input.is_empty() {
        return Err(
            Problem::bad("there is neither a message nor an input").hint("{\"message\": \"…\"}")
        );
    }
    let submit = Submit {
        message,
        input,
        ..Submit::default()
    };
    Ok(Work::Start {
        submit: Box::new(submit),
        only: kind == Kind::Run,
    })
}

pub fn answer(body: Value) -> Result<Work, Problem> {
    let mut body = object(body, &["message", "question", "answer", "approve"])?;
    let mut fields = Fields::of(&body);
    let (said, question) = (fields.text("message"), fields.text("question"));
    let (said, question) = (said.map(str::to_owned), question.map(str::to_owned));
    let approve = fields.flag("approve");
    fields.fit()?;
    let given = body.remove("answer");
    let answer = match (said, question, given, approve) {
        (Some(said), None, None, None) => Answer::Said(said),
        (None, Some(question), Some(value), None) => Answer::To {
            question,
            value,
            approves: false,
        },
        (None, Some(question), None, Some(approve)) => Answer::To {
            question,
            value: if approve { "approve" } else { "refuse" }.into(),
            approves: true,
        },
        _ => {
            return Err(Problem::bad("it is not known what is answered").hint(
                "{\"message\": TEXT}, {\"question\": ID, \"answer\": VALUE} or {\"question\": ID, \"approve\": true or false}",
            ));
        }
    };
    Ok(Work::Answer(answer))
}

/// A body with these members and no others.
fn object(body: Value, known: &[&str]) -> Result<Map<String, Value>, Problem> {
    let Value::Object(body) = body else {
        return Err(Problem::bad("the body must be a JSON object"));
    };
    match body.keys().find(|name| !known.contains(&name.as_str())) {
        Some(other) => Err(Problem::bad(format!("the body has a member {other:?}"))
            .hint(format!("known: {}", known.join(", ")))),
        None => Ok(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_names_one_conversation() {
        let of = |kind, name: &str| {
            let parts = parts(kind, name);
            parts
                .map(|(user, conversation, pack)| format!("{pack}|{user}|{conversation}"))
                .ok()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of(Kind::Session, "desk:c"), some("desk||c"));
        assert_eq!(of(Kind::Session, "desk:ann:c:d"), some("desk|ann|c:d"));
        assert_eq!(of(Kind::Run, "desk:c:d"), some("desk||run:c:d"));
        let long = format!("desk:{}", "c".repeat(2000));
        for wrong in ["desk", "desk:", "desk::c", "desk: ", "desk:ann:", &long] {
            assert_eq!(of(Kind::Session, wrong), None, "{wrong}");
        }
        assert_eq!(of(Kind::Run, "desk:"), None);
    }

    #[test]
    fn what_is_not_said_clearly_is_refused() {
        let starts = |body| start(body, Kind::Session).is_ok();
        assert!(starts(json!({"message": "hello"})));
        assert!(starts(json!({"input": {"event": "joined"}})));
        for wrong in [
            json!({}),
            json!("hello"),
            json!({"message": 1}),
            json!({"message": "m", "tenant": "t"}),
        ] {
            assert!(!starts(wrong));
        }
        let answers = |body| answer(body).is_ok();
        assert!(answers(json!({"message": "red"})));
        assert!(answers(json!({"question": "colour", "answer": "red"})));
        assert!(answers(json!({"question": "q", "approve": false})));
        for wrong in [
            json!({"question": "q"}),
            json!({"question": "q", "answer": "a", "approve": true}),
            json!({"message": "m", "question": "q", "answer": "a"}),
            json!({"question": "q", "approve": "yes"}),
        ] {
            assert!(!answers(wrong));
        }
    }
}

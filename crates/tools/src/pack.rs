//! `kind: pack`: a conversation with another pack as a tool. A call is one message in it, and what that pack says back is the result. It
//! works under its own policy and its own guards, in a run of its own that is named in the result; the caller's rights do not reach
//! into it, and its do not reach out. How a pack is run is not known here.

use crate::answer::{FAILED, TELL, late, unknown};
use crate::call::Call;
use crate::kind::{KindOfTool, Work};
use crate::places::{check_text, filled, only};
use crate::toolset::Surroundings;
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_base::yaml::Node;
use agentctl_engine::toolset::{Outcome, Reserved, error_content};
use agentctl_engine::vocabulary::Faults;
use serde_json::{Map, Value, json};
use std::time::Duration;

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: NAME,
    check,
    make: |section| Box::new(Spec::of(section)),
};
/// The kind, for who has to know whether packs are talked with.
pub const NAME: &str = "pack";
/// The rule of a call that the other pack answered with a question that only the user may answer.
pub(crate) const ASKS: &str = "pack.approval";
const KEYS: [&str; 5] = ["name", "message", "tenant", "user", "conversation"];

/// Whose conversation it is, and with which pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct With {
    pub pack: String,
    pub tenant: String,
    pub user: String,
    pub conversation: String,
}

/// What a pack said back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// The run that was its turn.
    pub run: String,
    pub output: String,
    pub data: Value,
    pub attachment: Option<String>,
    /// Its turn changed something.
    pub changed: bool,
    /// Its turn waits for the user's approval, which no message is.
    pub approval: Option<Approval>,
    /// Its turn did not come to a good end: why.
    pub failed: Option<String>,
}

/// What a pack's turn asks the user to allow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approval {
    /// The question's id in that turn's run.
    pub question: String,
    pub text: String,
}

/// Other packs that can be talked with.
pub trait Packs: Send + Sync {
    /// What keeps this one from being talked with, as a sentence without its end; None: nothing.
    fn lacks(&self, pack: &str) -> Option<String>;
    /// One message in a conversation. Err: why there was no turn.
    fn say(&self, with: With, message: String) -> BoxFuture<'_, Result<Told, String>>;
    /// The turn of a conversation that waits for an approval; None: none does.
    fn waiting(&self, with: With) -> BoxFuture<'_, Result<Option<Waits>, String>>;
    /// The user's word on what such a turn asks, which so goes on.
    fn allow(&self, with: With, asked: Waits, yes: bool) -> BoxFuture<'_, Result<Told, String>>;
}

/// A turn that waits for the user's approval, as a result keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    pub run: String,
    pub question: String,
    pub text: String,
}

impl Waits {
    pub(crate) fn of(content: &Value) -> Option<Waits> {
        let waits = content.get("waits")?;
        let text = |key: &str| Some(waits.get(key)?.as_str()?.to_owned());
        Some(Waits {
            run: text("run")?,
            question: text("question")?,
            text: text("text")?,
        })
    }

    /// What the user is asked.
    pub(crate) fn asked(&self, pack: &str) -> Reserved {
        let decision = Decision::Ask {
            rule: ASKS.to_owned(),
            reason: format!("it asks: {}", self.text),
        };
        Reserved::new(decision, || {
            (format!("let {pack} go on"), self.subject(pack))
        })
    }

    /// What the approval is of.
    pub(crate) fn subject(&self, pack: &str) -> Value {
        json!({"pack": pack, "run": self.run, "question": self.question, "text": self.text})
    }
}

/// What the file says; it was checked when the pack was loaded.
pub(crate) struct Spec {
    pub name: String,
    message: String,
    tenant: String,
    user: String,
    conversation: String,
}

impl Spec {
    fn of(section: &Value) -> Spec {
        let text = |key: &str| {
            let text = section.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        Spec {
            name: text("name"),
            message: text("message"),
            tenant: text("tenant"),
            user: text("user"),
            conversation: text("conversation"),
        }
    }

    /// Whose conversation it is stands in what the program bound alone.
    fn with(&self, call: &Call, values: &Map<String, Value>) -> Option<With> {
        let mut bound = values.clone();
        bound.retain(|name, _| !call.args.contains_key(name));
        self.of_bound(&bound)
    }

    pub fn of_bound(&self, bound: &Map<String, Value>) -> Option<With> {
        let of = |written: &str| filled(written, bound).filter(|text| !text.is_empty());
        Some(With {
            pack: self.name.clone(),
            tenant: of(&self.tenant)?,
            user: of(&self.user)?,
            conversation: of(&self.conversation)?,
        })
    }
}

/// What a turn came to that went on with the user's word.
pub(crate) async fn allowed(
    call: &Call,
    talk: (&Spec, &Map<String, Value>),
    asked: Waits,
    yes: bool,
) -> Outcome {
    let (spec, bound) = talk;
    let Some((packs, with)) = call
        .shared
        .surroundings
        .packs
        .as_ref()
        .zip(spec.of_bound(bound))
    else {
        return Outcome::failed(NONE, FAILED, TELL);
    };
    let wait = Duration::from_secs(call.made.tool.limits.timeout_s);
    match tokio::time::timeout(wait, packs.allow(with, asked, yes)).await {
        Err(_) => late(true, crate::answer::TIMEOUT),
        Ok(Err(why)) => unknown(&why, None),
        Ok(Ok(told)) => outcome(told),
    }
}

const NONE: &str = "no other pack can be talked with here";

impl Work for Spec {
    fn lacks(&self, of: &Surroundings) -> Option<String> {
        match &of.packs {
            None => Some(NONE.to_owned()),
            Some(packs) => packs.lacks(&self.name),
        }
    }

    fn talk(&self) -> Option<&Spec> {
        Some(self)
    }

    fn changed(&self, content: &Map<String, Value>) -> bool {
        content.get("changed") == Some(&Value::Bool(true))
    }

    fn work<'a>(
        &'a self,
        call: &'a Call,
        values: Map<String, Value>,
        changes: bool,
    ) -> BoxFuture<'a, Outcome> {
        let wait = Duration::from_secs(call.made.tool.limits.timeout_s);
        Box::pin(async move {
            let Some(packs) = &call.shared.surroundings.packs else {
                return Outcome::failed(NONE, FAILED, TELL);
            };
            let Some(with) = self.with(call, &values) else {
                let why = "tenant, user and conversation are bound by the program, and one is not";
                return Outcome::failed(why, FAILED, "mend the tool file");
            };
            let message = filled(&self.message, &values).unwrap_or_default();
            match tokio::time::timeout(wait, packs.say(with, message)).await {
                Err(_) => late(changes, crate::answer::TIMEOUT),
                Ok(Err(why)) => Outcome::failed(why, FAILED, TELL),
                Ok(Ok(told)) => outcome(told),
            }
        })
    }
}

fn outcome(told: Told) -> Outcome {
    let failed = |why: &str, rule: &str, hint: &str| {
        let mut content = error_content(why, rule, hint);
        if let Value::Object(content) = &mut content {
            content.insert("run".into(), told.run.as_str().into());
        }
        Outcome::Failed(content)
    };
    if let Some(asked) = &told.approval {
        let mut content = error_content(
            &format!(
                "it waits for the user's approval: {} (agentctl answer {} {}=approve)",
                asked.text, told.run, asked.question
            ),
            ASKS,
            "tell the user; no message of a conversation is an approval",
        );
        let waits = json!({"run": told.run, "question": asked.question, "text": asked.text});
        if let Value::Object(content) = &mut content {
            content.insert("waits".into(), waits);
            content.insert("run".into(), told.run.as_str().into());
        }
        return Outcome::Failed(content);
    }
    match &told.failed {
        // What it did before stays.
        Some(why) if told.changed => unknown(why, None),
        Some(why) => failed(why, FAILED, TELL),
        None => Outcome::Ok(json!({
            "output": told.output, "data": told.data, "attachment": told.attachment, "run": told.run, "changed": told.changed,
        })),
    }
}

fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    only(node, &KEYS, &mut faults);
    for key in KEYS {
        match node.get(key).and_then(|of| Some((of, of.as_text()?))) {
            Some((of, text)) if key == "name" && text.contains(['{', '}']) => {
                let why = "no value names the pack that is talked with";
                faults.push((of.place, why.to_owned()));
            }
            Some((of, text)) if !text.is_empty() => check_text(of, values, &mut faults),
            _ => {
                let form = format!(
                    "{key} is a text: {{name: n8n-copilot, message: \"{{message}}\", tenant: \"{{tenant}}\", user: \"{{user}}\", conversation: \"{{conversation}}\"}}"
                );
                faults.push((node.place, form));
            }
        }
    }
    faults
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod pack_tests;

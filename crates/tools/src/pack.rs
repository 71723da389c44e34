//! `kind: pack`: a conversation with another pack as a tool. A call is one message in it, and what that pack says back is the result. It
//! works under its own policy and its own guards, in a run of its own that is named in the result; the caller's rights do not reach
//! into it, and its do not reach out. Both journals name the other run. How a pack is run is not known here.

use crate::answer::{FAILED, TELL, late, unknown};
use crate::call::Call;
use crate::kind::{KindOfTool, Work};
use crate::places::{body, check_shape, check_text, filled, only};
use crate::toolset::Surroundings;
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_base::yaml::Node;
use agentctl_engine::store::{Link, Side};
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
const KEYS: [&str; 8] = [
    "name",
    "names",
    "message",
    "input",
    "tenant",
    "user",
    "conversation",
    "recommended",
];
/// Those of them that are texts and must be there.
const TEXTS: [&str; 5] = ["name", "message", "tenant", "user", "conversation"];

/// Whose conversation it is, and with which pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct With {
    pub pack: String,
    pub tenant: String,
    pub user: String,
    pub conversation: String,
}

/// What is said in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    pub text: String,
    /// What the pack's flow sees as `input` besides.
    pub input: Map<String, Value>,
    /// Each recommendation of a question is taken.
    pub recommended: bool,
    /// The call that says it; None: it is no call of a run.
    pub call: Option<CallOf>,
}

/// A call of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOf {
    pub run_id: String,
    pub step: String,
    pub call_id: String,
}

impl CallOf {
    /// The run that worked on it, as the journal of the run that called names it; or that run, as the other one's does.
    pub fn link(&self, side: Side, run_id: &str, pack: &str) -> Link {
        Link {
            side,
            run_id: run_id.to_owned(),
            pack: pack.to_owned(),
            step: self.step.clone(),
            call_id: self.call_id.clone(),
        }
    }
}

/// What a pack said back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// The run that was its turn.
    pub run: String,
    /// What it came to.
    pub outcome: String,
    /// The file, or the place, of what it made.
    pub place: Option<String>,
    /// What is left to a person, a line each: to do, not understood, taken for granted, asked.
    pub open: Vec<String>,
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
    fn say(&self, with: With, message: Message) -> BoxFuture<'_, Result<Told, String>>;
    /// What the turn came to that was begun for this very call before a process was killed, gone on with where it stopped; None: none was.
    fn begun(&self, with: With, call: CallOf) -> BoxFuture<'_, Result<Option<Told>, String>>;
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

/// What is known of a call that was begun before.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Begun {
    /// Its turn waits for the user.
    Waits(Waits),
    /// Its turn is over.
    Over(Box<Told>),
}

impl Begun {
    pub fn of(told: Told) -> Begun {
        match &told.approval {
            Some(asked) => Begun::Waits(Waits {
                run: told.run.clone(),
                question: asked.question.clone(),
                text: asked.text.clone(),
            }),
            None => Begun::Over(Box::new(told)),
        }
    }
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
    name: String,
    /// Where a value of the call names the pack: those that it may name.
    names: Vec<String>,
    message: String,
    input: Value,
    recommended: bool,
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
        let names = section.get("names").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        Spec {
            name: text("name"),
            names: names.map(str::to_owned).collect(),
            message: text("message"),
            input: section.get("input").cloned().unwrap_or_default(),
            recommended: section.get("recommended") == Some(&Value::Bool(true)),
            tenant: text("tenant"),
            user: text("user"),
            conversation: text("conversation"),
        }
    }

    /// The pack, one of those that the file names.
    pub fn pack(&self, args: &Map<String, Value>, bound: &Map<String, Value>) -> Option<String> {
        if self.names.is_empty() {
            return Some(self.name.clone());
        }
        let mut values = args.clone();
        values.extend(bound.clone());
        filled(&self.name, &values).filter(|name| self.names.contains(name))
    }

    /// Whose conversation it is stands in what the program bound alone.
    pub fn with(&self, args: &Map<String, Value>, bound: &Map<String, Value>) -> Option<With> {
        let mut bound = bound.clone();
        bound.retain(|name, _| !args.contains_key(name));
        let of = |written: &str| filled(written, &bound).filter(|text| !text.is_empty());
        Some(With {
            pack: self.pack(args, &bound)?,
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
        .zip(spec.with(&call.args, bound))
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
            Some(packs) if self.names.is_empty() => packs.lacks(&self.name),
            Some(packs) => self.names.iter().find_map(|name| packs.lacks(name)),
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
            let Some(with) = self.with(&call.args, &values) else {
                let why = "the pack is one of those that the tool names; tenant, user and conversation are bound by the program: one of them is not";
                return Outcome::failed(why, FAILED, "mend the tool file");
            };
            let message = Message {
                text: filled(&self.message, &values).unwrap_or_default(),
                input: match body(&self.input, &values) {
                    Some(Value::Object(input)) => input,
                    _ => Map::new(),
                },
                recommended: self.recommended,
                call: call.of.clone(),
            };
            match tokio::time::timeout(wait, packs.say(with, message)).await {
                Err(_) => late(changes, crate::answer::TIMEOUT),
                Ok(Err(why)) => Outcome::failed(why, FAILED, TELL),
                Ok(Ok(told)) => outcome(told),
            }
        })
    }
}

pub(crate) fn outcome(told: Told) -> Outcome {
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
        Some(why) if told.changed => match unknown(why, None) {
            Outcome::Unknown(Value::Object(mut content)) => {
                content.insert("run".into(), told.run.as_str().into());
                Outcome::Unknown(Value::Object(content))
            }
            other => other,
        },
        Some(why) => failed(why, FAILED, TELL),
        None => Outcome::Ok(json!({
            "output": told.output, "data": told.data, "attachment": told.attachment, "run": told.run, "changed": told.changed,
            "outcome": told.outcome, "place": told.place, "open": told.open,
        })),
    }
}

/// The run that a call was worked on in, by what came of it.
pub(crate) fn run_of(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Ok(content) | Outcome::Failed(content) | Outcome::Unknown(content) => {
            content.get("run")?.as_str().filter(|run| !run.is_empty())
        }
        Outcome::Unread(_) | Outcome::Refused(_) => None,
    }
}

fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    only(node, &KEYS, &mut faults);
    let names = node.get("names");
    let named = names.and_then(Node::as_list).unwrap_or_default();
    if let Some(names) = names
        && (named.is_empty()
            || named
                .iter()
                .any(|name| name.as_text().is_none_or(str::is_empty)))
    {
        let form =
            "names lists the packs of which a value of the call is one: [n8n-builder, n8n-copilot]";
        faults.push((names.place, form.to_owned()));
    }
    for key in TEXTS {
        match node.get(key).and_then(|of| Some((of, of.as_text()?))) {
            Some((of, text)) if key == "name" && text.contains(['{', '}']) != names.is_some() => {
                let why = match names.is_some() {
                    true => {
                        "where names lists packs, name is the value that is one of them: \"{pack}\""
                    }
                    false => {
                        "no value names the pack that is talked with, unless it is one of `names`"
                    }
                };
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
    if let Some(input) = node.get("input") {
        check_shape(input, values, &mut faults);
    }
    if let Some(of) = node.get("recommended").filter(|of| of.as_bool().is_none()) {
        faults.push((of.place, "recommended is true or false".to_owned()));
    }
    faults
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod pack_tests;

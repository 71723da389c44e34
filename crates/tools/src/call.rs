//! One call of a declared tool that the gateway let pass: what it requires, where it goes, what comes back.

use crate::answer::{FAILED, GONE};
use crate::kind::Work;
use crate::mock;
use crate::pack::{self, Begun, CallOf, Told, Waits};
use crate::seen::Seen;
use crate::toolset::{Made, Shared};
use agentctl_base::BoxFuture;
use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_base::decision::Decision;
use agentctl_engine::flow::Schema;
use agentctl_engine::guards::approval_hash;
use agentctl_engine::pack::Requires;
use agentctl_engine::store::{Link, Side, SnapshotRef};
use agentctl_engine::toolset::{
    Act, Answer, BackendError, Change, Cx, Keep, Outcome, Performed, Plan, Planning, Read,
    Reserved, Touches,
};
use agentctl_evidence::Document;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The rule of a refusal because of where a request would go.
pub(crate) const ADDRESS: &str = "guard.address";
/// The rule of a refusal because of what did not happen before.
pub(crate) const REQUIRES: &str = "tools.requires";

#[derive(Clone)]
pub(crate) struct Call {
    pub made: Arc<Made>,
    pub shared: Arc<Shared>,
    pub args: Map<String, Value>,
    /// What the web gave in this run before; None: it is no call of a run.
    pub found: Option<Arc<Vec<Document>>>,
    /// Which call of a run it is; None: it is none.
    pub of: Option<CallOf>,
}

fn call_of(cx: &Cx<'_>) -> CallOf {
    CallOf {
        run_id: cx.recorder.run_id().to_owned(),
        step: cx.step.to_owned(),
        call_id: cx.call_id.to_owned(),
    }
}

pub(crate) fn deny(rule: &str, reason: impl Into<String>) -> Decision {
    Decision::Deny {
        rule: rule.to_owned(),
        reason: reason.into(),
    }
}

impl Read for Call {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let bound = cx.bound.cloned().unwrap_or_default();
        let required = self.required(cx);
        let found = cx.memory::<Seen>().map(Seen::found).unwrap_or_default();
        let call = Call {
            found: Some(Arc::new(found)),
            of: Some(call_of(cx)),
            ..self.clone()
        };
        Box::pin(async move {
            if let Err(decision) = required {
                return Ok(Outcome::Refused(decision));
            }
            let outcome = call.made(&bound).await;
            if let Some(link) = call.link(&bound, &outcome) {
                let kept = cx.link(link);
                kept.map_err(|e| BackendError::unavailable(e.to_string()))?;
            }
            Ok(outcome)
        })
    }
}

impl Change for Call {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Value) -> BoxFuture<'a, Planning> {
        let required = self.required(cx).map_err(Outcome::Refused);
        let bound = cx.bound.cloned().unwrap_or_default();
        let begun = self.shared.held(&self.held_key(cx.step, &bound));
        let (waits, over) = match begun {
            Some(Begun::Waits(waits)) => (Some(waits), None),
            Some(Begun::Over(told)) => (None, Some(*told)),
            None => (None, None),
        };
        let of = Some(call_of(cx));
        let now = cx.recorder.now();
        Box::pin(async move {
            if let Err(refused) = required {
                return Ok(Err(refused));
            }
            let mut performing = Performing {
                call: Call { of, ..self.clone() },
                step: cx.step.to_owned(),
                goes_on: waits.clone(),
                over,
                asks: None,
                link: None,
                bound,
            };
            let Some((pack, waits)) = self.talks_with(&performing.bound).zip(waits) else {
                return Ok(Ok(Plan::unguarded(Box::new(performing))));
            };
            let hash = approval_hash(pack::ASKS, &waits.subject(&pack));
            if cx.guards.answer(&hash, now) == Some(false) {
                // The refusal below tells the model; this tells the other pack.
                performing.went_on(false).await;
            }
            Ok(Ok(Plan {
                reserved: vec![waits.asked(&pack)],
                ..Plan::unguarded(Box::new(performing))
            }))
        })
    }
}

struct Performing {
    call: Call,
    step: String,
    bound: Map<String, Value>,
    /// The other pack's turn that was begun before, and waits.
    goes_on: Option<Waits>,
    /// What it came to, where a process before this one began it.
    over: Option<Told>,
    /// What it waits for now.
    asks: Option<Waits>,
    /// The run that worked on it.
    link: Option<Link>,
}

impl Performing {
    async fn went_on(&mut self, yes: bool) -> Option<Outcome> {
        let (talk, waits) = self.call.talk().zip(self.goes_on.take())?;
        let key = self.call.held_key(&self.step, &self.bound);
        self.call.shared.let_go(&key);
        Some(pack::allowed(&self.call, (talk, &self.bound), waits, yes).await)
    }
}

impl Act for Performing {
    fn touches(&self) -> Touches {
        Touches::Nothing
    }
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(async move {
            let outcome = match (self.went_on(true).await, self.over.take()) {
                (Some(outcome), _) => self.call.with_effect(outcome, true),
                (None, Some(told)) => {
                    let key = self.call.held_key(&self.step, &self.bound);
                    self.call.shared.let_go(&key);
                    self.call.with_effect(pack::outcome(told), true)
                }
                (None, None) => self.call.made(&self.bound).await,
            };
            self.link = self.call.link(&self.bound, &outcome);
            if let Outcome::Failed(content) = &outcome
                && let Some(waits) = Waits::of(content).filter(|_| self.call.talk().is_some())
            {
                let key = self.call.held_key(&self.step, &self.bound);
                self.call.shared.hold(key, Begun::Waits(waits.clone()));
                self.asks = Some(waits);
            }
            (Ok(outcome), None)
        })
    }
    fn asks(&mut self) -> Option<Reserved> {
        let (pack, waits) = self.call.talks_with(&self.bound).zip(self.asks.take())?;
        Some(waits.asked(&pack))
    }
    fn linked(&mut self) -> Option<Link> {
        self.link.take()
    }
}

impl Call {
    /// What has to have happened before did.
    fn required(&self, cx: &Cx<'_>) -> Result<(), Decision> {
        let Some(requires) = &self.made.tool.requires else {
            return Ok(());
        };
        let listed = cx
            .memory::<Seen>()
            .and_then(|seen| seen.listed(cx.step, &requires.tool));
        self.fits(requires, listed)
    }

    /// The call is one of those that were listed. `listed`: id → schema; None: nothing was.
    pub(crate) fn fits(
        &self,
        requires: &Requires,
        listed: Option<&BTreeMap<String, Value>>,
    ) -> Result<(), Decision> {
        let tool = &requires.tool;
        let Some(listed) = listed else {
            return Err(deny(REQUIRES, format!("{tool} was not called here before")));
        };
        let Some(id) = &requires.id else {
            return Ok(());
        };
        let named = self
            .args
            .get(id)
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some(schema) = listed.get(named) else {
            return Err(deny(
                REQUIRES,
                format!("{id} {named:?} is none of those that {tool} listed for this user"),
            ));
        };
        let Some(parameters) = &requires.parameters else {
            return Ok(());
        };
        let empty = json!({});
        let given = self.args.get(parameters).unwrap_or(&empty);
        let faults = match Schema::compile(schema.clone()) {
            Ok(schema) => schema.faults(given),
            Err(why) => vec![why],
        };
        match faults.is_empty() {
            true => Ok(()),
            false => Err(deny(
                REQUIRES,
                format!("the parameters do not fit {named}: {}", faults.join("; ")),
            )),
        }
    }

    pub(crate) fn changes(&self) -> bool {
        let reads = self.made.tool.reads_when.as_ref().is_some_and(|when| {
            let mut variables = Map::new();
            variables.insert("args".into(), Value::Object(self.args.clone()));
            when.holds(&variables).unwrap_or(false)
        });
        self.made.tool.changes && !reads
    }

    pub(crate) fn talk(&self) -> Option<&pack::Spec> {
        self.made.work.as_ref()?.talk()
    }

    /// The pack that it is a message to; None: it is none.
    pub(crate) fn talks_with(&self, bound: &Map<String, Value>) -> Option<String> {
        self.talk()?.pack(&self.args, bound)
    }

    /// The run that worked on it, by what came of it.
    fn link(&self, bound: &Map<String, Value>, outcome: &Outcome) -> Option<Link> {
        if self.made.is_mock(&self.shared.surroundings) {
            return None;
        }
        let (pack, run) = self.talks_with(bound).zip(pack::run_of(outcome))?;
        Some(self.of.as_ref()?.link(Side::Child, run, &pack))
    }

    /// Which call it is, for what its turn waits for.
    pub(crate) fn held_key(&self, step: &str, bound: &Map<String, Value>) -> String {
        format!("{step} {}", self.key(bound))
    }

    pub(crate) async fn made(&self, bound: &Map<String, Value>) -> Outcome {
        let changes = self.changes();
        let (shared, tool) = (&self.shared, &self.made.tool);
        let outcome = match (&self.made.work, &tool.mock) {
            (_, Some(mock)) if self.made.is_mock(&shared.surroundings) => {
                mock::answer(mock, &self.args, bound)
            }
            (Some(_), _) if self.made.is_without_mock(&shared.surroundings) => {
                let why = format!(
                    "{} was not called: AGENTCTL_TOOLS is mock, and it has no mock",
                    tool.id
                );
                let hint = "say that it did not work; a mock.json in its folder answers for it";
                Outcome::failed(why, mock::WRONG, hint)
            }
            (Some(work), _) => self.real(work.as_ref(), bound, changes).await,
            (None, _) => Outcome::failed("this tool is a flow", FAILED, ""),
        };
        self.with_effect(outcome, changes)
    }

    fn with_effect(&self, outcome: Outcome, changes: bool) -> Outcome {
        match outcome {
            Outcome::Ok(Value::Object(mut content)) => {
                let changes = changes && self.changed(&content);
                content.insert(
                    "effect".into(),
                    if changes { "changes" } else { "reads" }.into(),
                );
                Outcome::Ok(Value::Object(content))
            }
            other => other,
        }
    }

    fn changed(&self, content: &Map<String, Value>) -> bool {
        let work = self.made.work.as_ref();
        work.is_none_or(|work| work.changed(content))
    }

    async fn real(&self, work: &dyn Work, bound: &Map<String, Value>, changes: bool) -> Outcome {
        if let Some(why) = self.made.lacks(&self.shared.surroundings) {
            let why = format!("it cannot be called: {why}");
            return Outcome::failed(why, "tools.environment", "tell the user");
        }
        let key = self.key(bound);
        if let Some(kept) = self.kept(&key) {
            return Outcome::Ok(kept);
        }
        if let Some(most) = self.made.tool.limits.per_minute
            && self.is_over(most)
        {
            let why = format!("more than {most} calls in a minute");
            return Outcome::failed(why, "tools.rate", "try again later");
        }
        let mut values = self.args.clone();
        values.extend(bound.clone());
        let outcome = work.work(self, values, changes).await;
        match &outcome {
            Outcome::Ok(content) => self.keep(key, content),
            Outcome::Failed(content)
                if content.get("rule").and_then(Value::as_str) == Some(GONE) =>
            {
                self.forget()
            }
            _ => {}
        }
        outcome
    }

    fn key(&self, bound: &Map<String, Value>) -> String {
        let key = json!({"tool": self.made.tool.id, "args": self.args, "bound": bound});
        sha256_hex(canonical(&key).as_bytes())
    }

    fn kept(&self, key: &str) -> Option<Value> {
        let seconds = self.made.tool.cache_s?;
        let cache = self.shared.cache.lock().ok()?;
        let (since, value) = cache.get(key)?;
        (since.elapsed() < Duration::from_secs(seconds)).then(|| value.clone())
    }

    fn keep(&self, key: String, content: &Value) {
        if self.made.tool.cache_s.is_some()
            && let Ok(mut cache) = self.shared.cache.lock()
        {
            // It is a cache: when it is full, it begins anew.
            if cache.len() >= 1024 {
                cache.clear();
            }
            cache.insert(key, (Instant::now(), content.clone()));
        }
    }

    /// What was listed is out of date.
    fn forget(&self) {
        if let Ok(mut cache) = self.shared.cache.lock() {
            cache.clear();
        }
    }

    /// One more call in the last minute; true: it is one too many.
    fn is_over(&self, most: u64) -> bool {
        let Ok(mut calls) = self.shared.calls.lock() else {
            return true;
        };
        let made = calls.entry(self.made.tool.id).or_default();
        while made
            .front()
            .is_some_and(|at| at.elapsed() > Duration::from_secs(60))
        {
            made.pop_front();
        }
        let over = u64::try_from(made.len()).unwrap_or(u64::MAX) >= most;
        if !over {
            made.push_back(Instant::now());
        }
        over
    }
}

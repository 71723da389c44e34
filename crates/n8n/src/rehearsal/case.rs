//! Acceptance cases: what is given to a workflow, what the services beside it answer, and what must come of it. Who writes them (a
//! person, a model) says what was asked for; whether it came about says the program alone.

use super::case_words::{TOLD, told};
use super::differences::{differs, lacks};
use super::headers::without_headers;
use super::made_up::MadeUp;
use super::{Item, Part, Rehearsal, Trace};
use crate::Workflow;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The trigger to start from; None: the one from which most nodes are reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The trigger's item; a webhook's as {body, query, headers}. Empty: made from what the workflow reads.
    #[serde(default, skip_serializing_if = "Item::is_empty")]
    pub input: Item,
    /// The items that nodes hand on in this test in the place of what their services would answer, by the node's name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub mocks: IndexMap<String, Vec<Item>>,
    pub expect: Expect,
}

/// What must come out. An object that is expected may have more fields than it says; a list has as many elements as it says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The HTTP status of the webhook's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The body of the webhook's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Keys under each of which the body of the webhook's answer must hold a value, whatever it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer_has: Vec<String>,
    /// What the body of the webhook's answer must not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_not: Option<Value>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub nodes: IndexMap<String, AtNode>,
}

/// What must be seen at one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtNode {
    /// Whether the run comes to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<bool>,
    /// How many items it hands on, over all of its outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The items that it hands on, over all of its outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<Value>>,
    /// The parameters of each call that it makes, with what their expressions came to: what a simulated node would have sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Vec<Value>>,
}

/// An object without fields: as a part of an item it is left out, and what is expected so fits every object.
pub(super) fn says_nothing(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

impl AtNode {
    /// It is expected that nothing comes out of it, and nothing is sent.
    fn is_none(&self) -> bool {
        let empty = |list: &Option<Vec<Value>>| list.as_ref().is_none_or(Vec::is_empty);
        let says = self.count.is_some() || self.items.is_some() || self.sent.is_some();
        says && self.reached.is_none()
            && self.count.is_none_or(|count| count == 0)
            && empty(&self.items)
            && empty(&self.sent)
    }
}

impl Expect {
    fn is_empty(&self) -> bool {
        let nothing = |node: &AtNode| *node == AtNode::default();
        let answer =
            self.answer.is_none() && self.answer_not.is_none() && self.answer_has.is_empty();
        self.status.is_none() && answer && self.nodes.values().all(nothing)
    }
}

impl Case {
    /// What keeps it from being a test of this workflow, in words; empty: nothing.
    pub fn wrong(&self, workflow: &Workflow) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.expect.is_empty() {
            wrong.push("it expects nothing, so it could not fail".to_owned());
        }
        if self.expect.answer.as_ref().is_some_and(says_nothing) {
            wrong.push("`answer: {}` fits every object; say what is in it".to_owned());
        }
        if self.expect.answer_not.as_ref().is_some_and(says_nothing) {
            wrong.push("`answer_not: {}` fits every object; say what is in it".to_owned());
        }
        for (name, at) in &self.expect.nodes {
            let lists = [("sent", &at.sent), ("items", &at.items)];
            for (what, list) in lists {
                if list.iter().flatten().any(says_nothing) {
                    wrong.push(format!(
                        "{name:?}: a {{}} in `{what}` fits everything; say what is in it, or use `count` or `reached`"
                    ));
                }
            }
        }
        let names = self.mocks.keys().chain(self.expect.nodes.keys());
        for name in names.chain(&self.start) {
            if workflow.node_by_name(name).is_none() {
                wrong.push(format!("the workflow has no node named {name:?}"));
            }
        }
        wrong
    }
}

/// From the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseOutcome {
    Passed,
    /// The run did not come to what was expected.
    NotReached,
    /// What was seen is other than expected, or what was not to come did not, and that rests on items that the test made up for a
    /// simulated node, or on a run that stopped for a reason outside the workflow.
    Inconclusive,
    Failed,
}

/// One thing that was expected, and what was seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Of what: `answer`, or a node with what of it.
    pub what: String,
    pub outcome: CaseOutcome,
    /// In words, where it is not passed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What was there; of much of it the beginning, as a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Value>,
}

impl Check {
    fn new(what: impl Into<String>, why: Option<String>) -> Check {
        Check {
            what: what.into(),
            outcome: match why {
                None => CaseOutcome::Passed,
                Some(_) => CaseOutcome::Failed,
            },
            why: why.unwrap_or_default(),
            seen: None,
        }
    }

    fn seeing(mut self, seen: Option<&Value>) -> Check {
        self.seen = seen.map(|seen| {
            let seen = without_headers(seen);
            match seen.to_string().len() > TOLD {
                true => Value::String(told(&seen)),
                false => seen,
            }
        });
        self
    }

    /// Of something that rests on what this simulated node was made to hand on: that it is otherwise says nothing of the workflow.
    fn resting_on(mut self, node: Option<&str>, rehearsal: &Rehearsal) -> Check {
        if let Some(node) = node.filter(|_| self.outcome != CaseOutcome::Passed) {
            self.say_nothing(&made_up_for(node, rehearsal));
        }
        self
    }

    /// Of something that was expected not to come, and did not. `what`: that, in words. With another answer than the one that the test
    /// made up, or in a run that went on, it might have come.
    fn missing(
        mut self,
        what: &str,
        node: Option<&str>,
        rehearsal: &Rehearsal,
        seen: Seen<'_>,
    ) -> Check {
        if self.outcome != CaseOutcome::Passed {
            return self.resting_on(node, rehearsal);
        }
        let because = node.map(|node| made_up_for(node, rehearsal));
        if let Some(because) = because.or_else(|| seen.stopped.map(stopped_by)) {
            self.why = what.to_owned();
            self.say_nothing(&because);
        }
        self
    }

    /// What was seen tells nothing of the workflow.
    fn say_nothing(&mut self, because: &str) {
        self.outcome = CaseOutcome::Inconclusive;
        self.why = format!("{}; that says nothing: {because}", self.why);
    }

    fn not_reached(what: impl Into<String>) -> Check {
        Check {
            what: what.into(),
            outcome: CaseOutcome::NotReached,
            why: NOT_COME_TO.to_owned(),
            seen: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseVerdict {
    pub outcome: CaseOutcome,
    pub checks: Vec<Check>,
}

impl CaseVerdict {
    /// Something that came of the run was compared, beyond whether it came to a node.
    pub(super) fn compares(&self) -> bool {
        self.checks.iter().any(|check| check.seen.is_some())
    }

    /// What was expected and did not come says nothing of the workflow, because of this.
    pub fn say_nothing(&mut self, because: &str) {
        let open = |check: &&mut Check| {
            matches!(check.outcome, CaseOutcome::Failed | CaseOutcome::NotReached)
        };
        self.checks
            .iter_mut()
            .filter(open)
            .for_each(|check| check.say_nothing(because));
        let worst = self.checks.iter().map(|check| check.outcome).max();
        self.outcome = worst.unwrap_or(self.outcome);
    }

    pub(super) fn add(&mut self, check: Check) {
        self.outcome = self.outcome.max(check.outcome);
        self.checks.push(check);
    }
}

/// What a run showed to who called it and at its nodes.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub trace: &'a Trace,
    pub status: Option<u16>,
    pub answer: Option<&'a Value>,
    /// What simulated nodes would have sent, call by call.
    pub sent: &'a IndexMap<String, Vec<Value>>,
    /// The run itself has failed at something.
    pub has_failed: bool,
    /// What ended it for a reason outside the workflow.
    pub stopped: Option<&'a str>,
}

/// Whether what was expected was seen.
pub fn judge_case(
    expect: &Expect,
    workflow: &Workflow,
    rehearsal: &Rehearsal,
    seen: Seen<'_>,
) -> CaseVerdict {
    let made_up = MadeUp::of(workflow, &rehearsal.parts, seen.trace);
    let mut checks = Vec::new();
    if let Some(status) = expect.status {
        let why = (seen.status != Some(status)).then(|| match seen.status {
            Some(seen) => format!("{seen}, not {status}"),
            None => UNANSWERED.to_owned(),
        });
        let rests = made_up.answer(workflow, seen.trace);
        let status = seen.status.map(|status| json!(status));
        let check = Check::new("status", why).seeing(status.as_ref());
        checks.push(check.resting_on(rests, rehearsal));
    }
    if let Some(answer) = &expect.answer {
        let why = match seen.answer {
            Some(seen) => differs(answer, seen),
            None => Some(UNANSWERED.to_owned()),
        };
        let rests = made_up.answer(workflow, seen.trace);
        let check = Check::new("answer", why).seeing(seen.answer);
        checks.push(check.resting_on(rests, rehearsal));
    }
    if !expect.answer_has.is_empty() {
        let why = match seen.answer {
            Some(seen) => lacks(&expect.answer_has, seen),
            None => Some(UNANSWERED.to_owned()),
        };
        let rests = made_up.answer(workflow, seen.trace);
        let check = Check::new("answer", why).seeing(seen.answer);
        checks.push(check.resting_on(rests, rehearsal));
    }
    if let Some(not) = &expect.answer_not {
        let same = |seen: &Value| differs(not, seen).is_none();
        let why = (seen.answer.is_some_and(same)).then(|| format!("{} was answered", told(not)));
        let rests = made_up.answer(workflow, seen.trace);
        let check = Check::new("another answer", why).seeing(seen.answer);
        checks.push(check.missing("it was not answered", rests, rehearsal, seen));
    }
    for (name, at) in &expect.nodes {
        at_node(name, at, (rehearsal, &made_up), seen, &mut checks);
    }
    if let (Some(why), false) = (seen.stopped, seen.has_failed) {
        // What it came to before that, it came to.
        let open = |check: &&mut Check| {
            check.outcome == CaseOutcome::Failed && !check.what.ends_with(NOT_REACHED)
        };
        for check in checks.iter_mut().filter(open) {
            check.say_nothing(&stopped_by(why));
        }
    }
    let worst = checks.iter().map(|check| check.outcome).max();
    let outcome = match seen.has_failed {
        true => CaseOutcome::Failed,
        false => worst.unwrap_or(CaseOutcome::Failed),
    };
    CaseVerdict { outcome, checks }
}

const NOT_REACHED: &str = ": not reached";
const UNANSWERED: &str = "nothing was answered";

const NOT_COME_TO: &str = "the run did not come to it";

fn made_up_for(node: &str, rehearsal: &Rehearsal) -> String {
    let because = because(rehearsal, node);
    format!(
        "it rests on what the test made up for {node:?}, which is only simulated ({because}); give its items in `mocks`"
    )
}

fn stopped_by(why: &str) -> String {
    format!("the run stopped for a reason outside the workflow, {why}")
}

/// Why a node is simulated, in words.
fn because<'r>(rehearsal: &'r Rehearsal, node: &str) -> &'r str {
    let mut simulated = rehearsal.simulated().filter(|part| part.node == node);
    match simulated.next().map(|part| &part.part) {
        Some(Part::Simulated { because, .. }) => because,
        _ => "",
    }
}

fn at_node(
    name: &str,
    at: &AtNode,
    (rehearsal, made_up): (&Rehearsal, &MadeUp),
    seen: Seen<'_>,
    out: &mut Vec<Check>,
) {
    let way = made_up.way(name);
    let ran = seen.trace.ran(name);
    match at.reached {
        Some(false) => {
            let why = ran.then(|| "the run came to it".to_owned());
            let check = Check::new(format!("{name}{NOT_REACHED}"), why);
            out.push(check.missing(NOT_COME_TO, way, rehearsal, seen));
            return;
        }
        _ if !ran && at.is_none() => {
            let nothing = Check::new(format!("{name}: nothing"), None);
            out.push(nothing.missing(NOT_COME_TO, way, rehearsal, seen));
            return;
        }
        _ if !ran => {
            out.push(Check::not_reached(name).resting_on(way, rehearsal));
            return;
        }
        Some(true) => out.push(Check::new(format!("{name}: reached"), None)),
        None => {}
    }
    // What it came to, it came to: that the run stopped behind it does not matter.
    let seen = Seen {
        stopped: None,
        ..seen
    };
    let run = seen.trace.nodes.get(name);
    let settle =
        |check: Check, wanted: usize, rests: Option<&str>, count: Option<&str>| match wanted {
            0 => check.missing("nothing came of it", rests.or(count), rehearsal, seen),
            _ => check.resting_on(rests, rehearsal),
        };
    if let Some(count) = at.count {
        let found = run.map_or(0, |run| run.items.iter().sum());
        let why = (found != count).then(|| format!("{found} items, not {count}"));
        let check = Check::new(format!("{name}: count"), why).seeing(Some(&json!(found)));
        out.push(settle(check, count, made_up.count(name), None));
    }
    if let Some(items) = &at.items {
        let handed: Vec<&Value> = run
            .into_iter()
            .flat_map(|run| run.kept.iter().flatten())
            .collect();
        let rests = match handed.len() == items.len() {
            true => made_up.items(name),
            false => made_up.items(name).or_else(|| made_up.count(name)),
        };
        let handed = json!(handed);
        let check = Check::new(format!("{name}: items"), differs(&json!(items), &handed));
        let check = check.seeing(Some(&handed));
        out.push(settle(check, items.len(), rests, made_up.count(name)));
    }
    if let Some(calls) = &at.sent {
        let is_simulated = rehearsal.simulated().any(|part| part.node == name);
        let why = match seen.sent.get(name) {
            Some(sent) => differs(&json!(calls), &json!(sent)),
            None if is_simulated => Some("what it would have sent was not worked out: its expressions are more than work on data".to_owned()),
            None => Some("it was not simulated, so nothing says what it sent; expect its items".to_owned()),
        };
        let as_many = seen
            .sent
            .get(name)
            .is_none_or(|sent| sent.len() == calls.len());
        let rests = made_up.work(name).or(way);
        let rests = rests.or_else(|| made_up.calls(name).filter(|_| !as_many));
        let sent = seen.sent.get(name).map(|sent| json!(sent));
        let check = Check::new(format!("{name}: sent"), why).seeing(sent.as_ref());
        out.push(settle(check, calls.len(), rests, made_up.calls(name)));
    }
}

#[cfg(test)]
#[path = "case_tests.rs"]
mod case_tests;

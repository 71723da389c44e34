//! The `steps` of flow.yaml: what every step has, and what all of them say about stages, fields and each other. The kinds are read in
//! `load_work`, `load_actions` and `load_control`.

use super::load_work::AGENT_KEYS;
use super::model::{FieldSpec, Limits, Retry, Step, StepKind};
use super::reader::Reader;
use super::scope::VARIABLES;
use crate::condition::Condition;
use crate::nearest::nearest;
use agentctl_base::yaml::{Entry, Kind, Node, Place};
use indexmap::IndexMap;

pub(super) struct Steps<'r, 'k> {
    pub(super) reader: &'r mut Reader<'k>,
    pub(super) stages: &'r [String],
    pub(super) blocked: Option<&'r str>,
    pub(super) fields: &'r IndexMap<String, FieldSpec>,
    pub(super) limits: Limits,
    /// Id → where it was first used.
    pub(super) ids: IndexMap<String, Place>,
    /// Expressions to check against the ids, once all are known.
    pub(super) expressions: Vec<(Place, Condition)>,
    /// Loops around the place that is read now.
    pub(super) loops: Vec<String>,
    /// What branches around the place that is read now call by a name of their own.
    pub(super) bound: Vec<String>,
    /// Branches around it.
    pub(super) branches: usize,
    /// The furthest stage so far, in the order of the file.
    pub(super) furthest: usize,
}

const KINDS: &[&str] = &[
    "agent", "ask", "tool", "call", "parallel", "for_each", "route", "loop", "gate", "set", "say",
    "clear", "end", "steps",
];
/// What a step that lets somebody work may say of its failures.
const WORK_KEYS: &[&str] = &["on_failure", "timeout_s", "retry"];
const MAX_SECONDS: u64 = 3600;
const MAX_ATTEMPTS: u32 = 10;
const MAX_BACKOFF: f64 = 10.0;
/// What the program itself does; several of them may stand on one step.
const ACTIONS: &[&str] = &["set", "say", "clear", "end"];

impl<'r, 'k> Steps<'r, 'k> {
    pub fn new(
        reader: &'r mut Reader<'k>,
        stages: &'r [String],
        blocked: Option<&'r str>,
        fields: &'r IndexMap<String, FieldSpec>,
        limits: Limits,
    ) -> Self {
        Steps {
            reader,
            stages,
            blocked,
            fields,
            limits,
            ids: IndexMap::new(),
            expressions: Vec::new(),
            loops: Vec::new(),
            bound: Vec::new(),
            branches: 0,
            furthest: 0,
        }
    }

    /// `about`: expressions of the flow that are none of a step's.
    pub fn read(&mut self, node: &Node, about: &[(&Node, &Condition)]) -> Vec<Step> {
        for (node, condition) in about {
            self.expressions.push((node.place, (*condition).clone()));
        }
        let steps = self.list(node, "`steps`");
        self.check_expressions();
        steps
    }

    pub(super) fn list(&mut self, node: &Node, what: &str) -> Vec<Step> {
        let Some(items) = node.as_list().filter(|items| !items.is_empty()) else {
            self.add(node.place, format!("{what} must be a list of steps"));
            return Vec::new();
        };
        items.iter().filter_map(|item| self.step(item)).collect()
    }

    pub(super) fn add(&mut self, place: Place, message: impl Into<String>) {
        self.reader.problems.add(place, message);
    }

    pub(super) fn expression(&mut self, node: &Node) -> Option<Condition> {
        self.expression_over(node, VARIABLES)
    }

    /// One that sees these variables, and what the branches around it bind.
    pub(super) fn expression_over(&mut self, node: &Node, variables: &[&str]) -> Option<Condition> {
        let bound = self.bound.iter().map(String::as_str);
        let variables: Vec<&str> = variables.iter().copied().chain(bound).collect();
        let condition = self.reader.condition(node, &variables)?;
        self.expressions.push((node.place, condition.clone()));
        Some(condition)
    }

    pub(super) fn expressions_of(
        &mut self,
        node: &Node,
        what: &str,
    ) -> IndexMap<String, Condition> {
        self.reader
            .map(node, what)
            .unwrap_or_default()
            .iter()
            .filter_map(|e| Some((e.key.clone(), self.expression(&e.value)?)))
            .collect()
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        let entries = self.reader.map(node, "a step")?;
        let id = self.id(node);
        let what = format!("the step {id:?}");
        let when = node.get("when").and_then(|n| self.expression(n));
        let stage = node.get("stage").and_then(|n| self.stage(n));
        let continue_on_failure = node.get("on_failure").is_some_and(|n| match n.as_text() {
            Some("continue") => true,
            Some("stop") => false,
            _ => {
                self.add(n.place, "`on_failure` must be continue or stop");
                false
            }
        });
        let around = node.get("parallel").or_else(|| node.get("for_each"));
        let timeout_ms = around
            .unwrap_or(node)
            .get("timeout_s")
            .and_then(|n| self.seconds(n, "timeout_s"));
        let retry = node.get("retry").and_then(|n| self.retry(n));
        // The steps of a loop over a list are its own.
        let each = node.get("for_each").is_some();
        let kinds: Vec<&Entry> = entries
            .iter()
            .filter(|e| KINDS.contains(&e.key.as_str()) && !(each && e.key == "steps"))
            .collect();
        let is_action = |e: &&Entry| ACTIONS.contains(&e.key.as_str());
        let mut keys = vec!["id", "when", "stage"];
        keys.extend(kinds.iter().map(|kind| kind.key.as_str()));
        let kind = match kinds.as_slice() {
            [kind] => self.kind(node, kind, (&what, &id), &mut keys),
            [] => {
                self.add(
                    node.place,
                    format!("{what} has no kind: it needs one of {}", KINDS.join(", ")),
                );
                return None;
            }
            several if several.iter().all(is_action) => {
                Some(StepKind::Block(self.actions(several, &id)))
            }
            [_, second, ..] => {
                self.add(
                    second.key_place,
                    format!(
                        "{what} has two kinds; it may have one of {}, or several of {}",
                        KINDS.join(", "),
                        ACTIONS.join(", ")
                    ),
                );
                return None;
            }
        };
        self.reader.keys(node, &what, &keys);
        let step = Step {
            id,
            place: node.place,
            when,
            stage,
            continue_on_failure,
            timeout_ms,
            retry,
            kind: kind?,
        };
        self.fits_a_branch(&step);
        Some(step)
    }

    /// In milliseconds.
    fn seconds(&mut self, node: &Node, key: &str) -> Option<u64> {
        let seconds = node.as_u64().filter(|s| (1..=MAX_SECONDS).contains(s));
        if seconds.is_none() {
            let message =
                format!("`{key}` must be a whole number of seconds from 1 to {MAX_SECONDS}");
            self.add(node.place, message);
        }
        seconds.map(|seconds| seconds * 1000)
    }

    fn retry(&mut self, node: &Node) -> Option<Retry> {
        self.reader
            .keys(node, "`retry`", &["attempts", "delay_s", "backoff"]);
        let attempts = self.reader.required(node, "attempts", "`retry`")?;
        let counted = attempts
            .as_u64()
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| (1..=MAX_ATTEMPTS).contains(n));
        if counted.is_none() {
            let message = format!("`attempts` counts the first one too: from 1 to {MAX_ATTEMPTS}");
            self.add(attempts.place, message);
        }
        let delay_ms = match node.get("delay_s") {
            Some(n) => self.seconds(n, "delay_s")?,
            None => 0,
        };
        let backoff = match node.get("backoff") {
            Some(n) => self.backoff(n)?,
            None => 100,
        };
        Some(Retry {
            attempts: counted?,
            delay_ms,
            backoff,
        })
    }

    /// A factor, in hundredths.
    fn backoff(&mut self, node: &Node) -> Option<u32> {
        let factor = match &node.kind {
            Kind::Number(n) => n.as_f64(),
            _ => None,
        };
        let hundredths = factor
            .filter(|factor| (1.0..=MAX_BACKOFF).contains(factor))
            .and_then(|factor| format!("{:.0}", factor * 100.0).parse().ok());
        if hundredths.is_none() {
            let message = format!("`backoff` must be a number from 1 to {MAX_BACKOFF}");
            self.add(node.place, message);
        }
        hundredths
    }

    fn id(&mut self, node: &Node) -> String {
        let found = self.reader.required(node, "id", "the step");
        let Some((place, id)) = found.and_then(|n| Some((n.place, self.reader.name(n, "a step")?)))
        else {
            return String::new();
        };
        match self.ids.get(&id).map(|first| first.line) {
            Some(line) => self.add(
                place,
                format!("the step id {id:?} is used twice (first in line {line})"),
            ),
            None => {
                self.ids.insert(id.clone(), place);
            }
        }
        id
    }

    /// One kind, with the keys that a step of it may have besides.
    fn kind(
        &mut self,
        node: &Node,
        kind: &Entry,
        (what, id): (&str, &str),
        keys: &mut Vec<&str>,
    ) -> Option<StepKind> {
        match kind.key.as_str() {
            "agent" => {
                keys.extend(AGENT_KEYS);
                keys.extend(WORK_KEYS);
                self.agent(node, &kind.value, what).map(StepKind::Agent)
            }
            "ask" => self.ask(&kind.value).map(StepKind::Ask),
            "tool" => {
                keys.extend(["role", "args"]);
                keys.extend(WORK_KEYS);
                self.tool(node, &kind.value, what).map(StepKind::Tool)
            }
            "route" => {
                keys.extend(["by", "cases"]);
                self.route(node, &kind.value, what).map(StepKind::Route)
            }
            "loop" => {
                keys.extend(["max", "until", "exhausted"]);
                self.cycles(node, &kind.value, what, id).map(StepKind::Loop)
            }
            "gate" => {
                keys.push("otherwise");
                self.gate(node, &kind.value, what).map(StepKind::Gate)
            }
            "call" => {
                keys.extend(["with", "take"]);
                keys.extend(WORK_KEYS);
                self.call(node, &kind.value, what).map(StepKind::Call)
            }
            "parallel" => {
                keys.extend(["branches", "on_failure"]);
                self.parallel(node, &kind.value, what)
                    .map(StepKind::Parallel)
            }
            "for_each" => {
                keys.extend(["steps", "on_failure"]);
                self.for_each(node, &kind.value, what)
                    .map(StepKind::ForEach)
            }
            "steps" => Some(StepKind::Block(self.list(&kind.value, "`steps`"))),
            _ => self.action(kind),
        }
    }

    fn stage(&mut self, node: &Node) -> Option<String> {
        let stage = self.reader.text(node, "a stage")?;
        if self.blocked == Some(stage.as_str()) {
            return Some(stage);
        }
        match self.stages.iter().position(|s| *s == stage) {
            None => {
                let hint = nearest(&stage, self.stages.iter().map(String::as_str));
                self.add(node.place, format!("there is no stage {stage:?}{hint}"));
            }
            Some(index) if index < self.furthest => {
                let furthest = self.stages.get(self.furthest).cloned().unwrap_or_default();
                self.add(
                    node.place,
                    format!("the stage {stage:?} stands before {furthest:?}, which an earlier step enters; a stage only moves forward"),
                );
            }
            Some(index) => self.furthest = index,
        }
        Some(stage)
    }

    pub(super) fn field(&mut self, place: Place, name: &str) -> Option<&'r FieldSpec> {
        let found = self.fields.get(name);
        if found.is_none() {
            let hint = nearest(name, self.fields.keys().map(String::as_str));
            self.add(place, format!("there is no field {name:?}{hint}"));
        }
        found
    }

    /// `state.x` must be a field, `steps.x` a step.
    fn check_expressions(&mut self) {
        for (place, condition) in std::mem::take(&mut self.expressions) {
            for path in condition.paths() {
                let (Some(root), Some(name)) = (path.first(), path.get(1)) else {
                    continue;
                };
                let source = condition.source();
                if root == "state" && !self.fields.contains_key(name) {
                    let hint = nearest(name, self.fields.keys().map(String::as_str));
                    self.add(
                        place,
                        format!("the expression `{source}` reads the unknown field {name:?}{hint}"),
                    );
                }
                if root == "pack"
                    && let Some(data) = self.reader.known.data
                    && !data.contains_key(name)
                {
                    let hint = nearest(name, data.keys().map(String::as_str));
                    self.add(
                        place,
                        format!("the expression `{source}` reads the data {name:?}, which the pack does not have{hint}"),
                    );
                }
                if root == "steps" && !self.ids.contains_key(name) {
                    let hint = nearest(name, self.ids.keys().map(String::as_str));
                    self.add(
                        place,
                        format!("the expression `{source}` reads the unknown step {name:?}{hint}"),
                    );
                }
            }
        }
    }
}

//! The flow as a Mermaid flowchart, and beside it each flow that it calls.

use super::model::{By, CallSpec, Flow, Join, JoinSpec, Otherwise, Step, StepKind};
use std::collections::VecDeque;
use std::fmt::Write as _;

pub fn mermaid(flow: &Flow) -> String {
    let mut chart = Chart {
        out: "flowchart TD\n".to_owned(),
        depth: 1,
        within: String::new(),
        calls: VecDeque::new(),
    };
    chart.whole(flow);
    let mut drawn: Vec<String> = Vec::new();
    while let Some((caller, call)) = chart.calls.pop_front() {
        chart.within = format!("{}__", node(&call.name));
        if !drawn.contains(&call.name) {
            let title = label(&format!("the flow {}", call.name));
            chart.line(&format!(
                "subgraph {}[{title}]",
                node(&format!("flow_{}", call.name))
            ));
            chart.depth += 1;
            chart.whole(&call.flow);
            chart.depth -= 1;
            chart.line("end");
            drawn.push(call.name.clone());
        }
        let start = chart.node("begin");
        chart.line(&format!("{caller} -.-> {start}"));
    }
    chart.out
}

/// An open end: the node to leave from and the words on the arrow.
type Ends = Vec<(String, Option<String>)>;

struct Chart<'f> {
    out: String,
    depth: usize,
    /// What the nodes of a called flow begin with; empty: the flow is the one that was asked for.
    within: String,
    /// Calls whose flows are still to be drawn: the node, and what it calls.
    calls: VecDeque<(String, &'f CallSpec)>,
}

impl<'f> Chart<'f> {
    fn whole(&mut self, flow: &'f Flow) {
        // A step may be called `start` in any flow.
        let (start, finish) = match self.within.as_str() {
            "" => ("start".to_owned(), "finish".to_owned()),
            within => (format!("{within}begin"), format!("{within}done")),
        };
        self.line(&format!("{start}([start])"));
        let open = self.list(&flow.steps, vec![(start, None)]);
        let last = flow.stages.last().map_or("end", String::as_str);
        if open.is_empty() {
            return;
        }
        self.line(&format!("{finish}([{}])", label(last)));
        self.connect(&open, &finish);
    }

    /// A step's node.
    fn node(&self, id: &str) -> String {
        match self.within.as_str() {
            "" => node(id),
            within => format!("{within}{}", id.replace(['-', '.'], "_")),
        }
    }

    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth);
        let _ = writeln!(self.out, "{indent}{text}");
    }

    fn connect(&mut self, from: &Ends, to: &str) {
        for (node, words) in from {
            match words {
                Some(words) => self.line(&format!("{node} -- {} --> {to}", label(words))),
                None => self.line(&format!("{node} --> {to}")),
            }
        }
    }

    fn list(&mut self, steps: &'f [Step], mut open: Ends) -> Ends {
        for step in steps {
            open = self.step(step, open);
        }
        open
    }

    fn step(&mut self, step: &'f Step, open: Ends) -> Ends {
        let id = &self.node(&step.id);
        let title = title(step);
        match &step.kind {
            StepKind::Gate(gate) => {
                self.line(&format!("{id}{{{}}}", label(&title)));
                self.connect(&open, id);
                let (target, shape) = match &gate.otherwise {
                    Otherwise::End(end) => {
                        let node = format!("{id}_end");
                        let shape = format!(
                            "{node}([{}])",
                            label(&format!("{:?}", end.outcome).to_lowercase())
                        );
                        (node, Some(shape))
                    }
                    Otherwise::Leave(target) => (format!("{}_left", self.node(target)), None),
                    Otherwise::Exhaust(target) => {
                        (format!("{}_exhausted", self.node(target)), None)
                    }
                };
                if let Some(shape) = shape {
                    self.line(&shape);
                }
                self.connect(&vec![(id.clone(), Some("no".to_owned()))], &target);
                vec![(id.clone(), Some("yes".to_owned()))]
            }
            StepKind::Route(route) => {
                self.line(&format!("{id}{{{}}}", label(&title)));
                self.connect(&open, id);
                let mut ends = Vec::new();
                for case in &route.cases {
                    ends.extend(
                        self.list(&case.steps, vec![(id.clone(), Some(case.name.clone()))]),
                    );
                }
                if route.by.is_none() && !route.cases.iter().any(|c| c.otherwise) {
                    ends.push((id.clone(), Some("none".to_owned())));
                }
                ends
            }
            StepKind::Loop(l) => {
                let (begin, left, gave_up) = (
                    format!("{id}_cycle"),
                    format!("{id}_left"),
                    format!("{id}_exhausted"),
                );
                self.line(&format!("subgraph {id}[{}]", label(&title)));
                self.depth += 1;
                self.line(&format!("{begin}(({}))", label("next cycle")));
                let ends = self.list(&l.steps, vec![(begin.clone(), None)]);
                self.connect(&ends, &begin);
                self.depth -= 1;
                self.line("end");
                self.connect(&open, &begin);
                self.line(&format!("{left}[/{}/]", label("left")));
                if l.until.is_some() {
                    self.connect(&vec![(begin.clone(), Some("done".to_owned()))], &left);
                }
                self.line(&format!("{gave_up}[/{}/]", label("exhausted")));
                self.connect(&vec![(begin, Some(format!("after {}", l.max)))], &gave_up);
                let mut ends = self.list(&l.exhausted, vec![(gave_up, None)]);
                if let Some(end) = &l.exhausted_end {
                    let node = format!("{id}_end");
                    self.line(&format!(
                        "{node}([{}])",
                        label(&format!("{:?}", end.outcome).to_lowercase())
                    ));
                    self.connect(&ends, &node);
                    ends = Vec::new();
                }
                ends.insert(0, (left, None));
                ends
            }
            StepKind::Ask(_) => {
                self.line(&format!("{id}[/{}\\]", label(&title)));
                self.connect(&open, id);
                vec![(id.clone(), None)]
            }
            StepKind::Block(steps) => {
                let (inside, skipped) = match &step.when {
                    None => (open, None),
                    Some(when) => {
                        let title = format!("{}<br/>when {}", step.id, short(when.source()));
                        self.line(&format!("{id}{{{}}}", label(&title)));
                        self.connect(&open, id);
                        let inside = vec![(id.clone(), Some("yes".to_owned()))];
                        (inside, Some((id.clone(), Some("no".to_owned()))))
                    }
                };
                let mut ends = self.list(steps, inside);
                ends.extend(skipped);
                ends
            }
            StepKind::End(end) => {
                let outcome = format!("{:?}", end.outcome).to_lowercase();
                self.line(&format!("{id}([{}])", label(&outcome)));
                match &step.when {
                    None => {
                        self.connect(&open, id);
                        Vec::new()
                    }
                    Some(when) => {
                        let asked = format!("{id}_when");
                        self.line(&format!(
                            "{asked}{{{}}}",
                            label(short(when.source()).as_str())
                        ));
                        self.connect(&open, &asked);
                        self.connect(&vec![(asked.clone(), Some("yes".to_owned()))], id);
                        vec![(asked, Some("no".to_owned()))]
                    }
                }
            }
            StepKind::Parallel(spec) => {
                let join = format!("{id}_join");
                self.line(&format!("{id}{{{{{}}}}}", label(&title)));
                self.connect(&open, id);
                self.line(&format!("{join}{{{{{}}}}}", label(how(&spec.how).as_str())));
                for branch in &spec.branches {
                    let words = match &branch.when {
                        None => branch.id.clone(),
                        Some(when) => format!("{}, when {}", branch.id, short(when.source())),
                    };
                    let ends = self.list(&branch.steps, vec![(id.clone(), Some(words))]);
                    self.connect(&ends, &join);
                }
                vec![(join, None)]
            }
            StepKind::ForEach(spec) => {
                let (begin, join) = (format!("{id}_item"), format!("{id}_join"));
                self.line(&format!("subgraph {id}[{}]", label(&title)));
                self.depth += 1;
                self.line(&format!("{begin}(({}))", label(&spec.item)));
                let ends = self.list(&spec.steps, vec![(begin.clone(), None)]);
                self.depth -= 1;
                self.line("end");
                self.connect(&open, &begin);
                self.line(&format!("{join}{{{{{}}}}}", label(how(&spec.how).as_str())));
                self.connect(&ends, &join);
                vec![(join, None)]
            }
            StepKind::Call(call) => {
                self.calls.push_back((id.clone(), call));
                self.line(&format!("{id}[[{}]]", label(&title)));
                self.connect(&open, id);
                vec![(id.clone(), None)]
            }
            StepKind::Agent(_)
            | StepKind::Tool(_)
            | StepKind::Set(_)
            | StepKind::Say(_)
            | StepKind::Clear(_) => {
                self.line(&format!("{id}[{}]", label(&title)));
                self.connect(&open, id);
                vec![(id.clone(), None)]
            }
        }
    }
}

fn title(step: &Step) -> String {
    let what = match &step.kind {
        StepKind::Agent(spec) => format!("{}: {}", spec.agent, spec.task),
        StepKind::Ask(_) => format!("ask the user: {}", step.id),
        StepKind::Tool(spec) => format!("{} calls {}", spec.role, spec.tool),
        StepKind::Parallel(_) => format!("at once: {}", step.id),
        StepKind::ForEach(spec) => format!("{}: each of {}", step.id, short(spec.of.source())),
        StepKind::Call(spec) => format!("{}: the flow {}", step.id, spec.name),
        StepKind::Route(route) => match &route.by {
            Some(By::Agent(spec)) => format!("{} chooses: {}", spec.agent, step.id),
            _ => format!("route: {}", step.id),
        },
        StepKind::Say(_) => format!("say: {}", step.id),
        StepKind::Clear(spec) if spec.fields.is_empty() => "forget the messages".to_owned(),
        StepKind::Clear(spec) => format!("clear {}", spec.fields.join(", ")),
        StepKind::End(_) | StepKind::Block(_) => step.id.clone(),
        StepKind::Loop(l) => format!("{}, at most {}", step.id, l.max),
        StepKind::Gate(_) => format!("{}?", step.id.replace('_', " ")),
        StepKind::Set(fields) => format!(
            "set {}",
            fields.keys().cloned().collect::<Vec<_>>().join(", ")
        ),
    };
    match &step.when {
        Some(when) => format!("{what}<br/>when {}", short(when.source())),
        None => what,
    }
}

fn how(spec: &JoinSpec) -> String {
    match spec.join {
        Join::All => "join all".to_owned(),
        Join::Any => "join any".to_owned(),
        Join::AtLeast(n) => format!("join at least {n}"),
    }
}

/// A box is no place for a long expression: the flow file has it.
fn short(text: &str) -> String {
    const MAX: usize = 60;
    if text.chars().count() <= MAX {
        return text.to_owned();
    }
    text.chars().take(MAX).collect::<String>() + " …"
}

/// A step id as a Mermaid node: some words mean something there, and so do hyphens.
fn node(id: &str) -> String {
    let id = id.replace(['-', '.'], "_");
    match id.as_str() {
        "end" | "start" | "finish" | "graph" | "subgraph" | "flowchart" | "style" | "class"
        | "click" | "default" => format!("{id}_step"),
        _ => id,
    }
}

/// Quoted for Mermaid.
fn label(text: &str) -> String {
    let clean = text
        .replace('"', "'")
        .replace("&&", "and")
        .replace("||", "or");
    format!("\"{clean}\"")
}

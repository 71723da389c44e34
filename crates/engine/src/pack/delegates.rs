//! The flows that agents call as tools: each is put into the agent's steps, so that its own steps have a place in the journal and can
//! be gone on with. Checked here: the flow is there, asks nobody, does not call itself, and stands not too deep.

use super::tool::{DeclaredTool, ToolKind};
use super::{Agent, LoadedFlow};
use crate::condition::Condition;
use crate::flow::{CallSpec, Flow, Step, StepKind};
use crate::policy::Policy;
use agentctl_base::yaml::Problem;
use indexmap::IndexMap;
use std::sync::Arc;

/// Flows below one another by calls of agents, at most.
pub const MAX_CALLED: usize = 3;

/// Gives each agent's step the flows that the agent may call.
pub(super) fn attach(
    flows: &mut IndexMap<String, LoadedFlow>,
    tools: &IndexMap<String, DeclaredTool>,
    agents: &IndexMap<String, Agent>,
    policy: &Policy,
    problems: &mut Vec<Problem>,
) {
    let by_agent = agents.values().map(|agent| {
        let may = policy.allowed_tools(&agent.name);
        let called = tools.values().filter_map(|tool| match &tool.kind {
            ToolKind::Flow { flow } => Some((tool, flow.as_str())),
            ToolKind::Other { .. } => None,
        });
        let called = called.filter(|(tool, _)| {
            agent.tools.iter().any(|name| name == tool.id) && may.iter().any(|m| m == tool.id)
        });
        (agent.name.as_str(), called.collect())
    });
    let plain = flows.clone();
    let mut attached = Attached {
        plain: &plain,
        by_agent: by_agent.collect(),
        open: Vec::new(),
        problems,
    };
    for tool in tools.values() {
        attached.check(tool);
    }
    for (name, loaded) in flows.iter_mut() {
        attached.open = vec![name.clone()];
        attached.flow(&mut loaded.flow);
    }
}

struct Attached<'a> {
    /// As they were read.
    plain: &'a IndexMap<String, LoadedFlow>,
    /// The tools that are flows, by the agent that may call them.
    by_agent: IndexMap<&'a str, Vec<(&'a DeclaredTool, &'a str)>>,
    /// The flows around the one that is looked at.
    open: Vec<String>,
    problems: &'a mut Vec<Problem>,
}

impl Attached<'_> {
    fn check(&mut self, tool: &DeclaredTool) {
        let ToolKind::Flow { flow } = &tool.kind else {
            return;
        };
        let wrong = match self.plain.get(flow) {
            None => format!("there is no flow {flow:?}"),
            Some(loaded) => match loaded.flow.asks() {
                Some(step) => format!(
                    "the flow {flow} asks the user in its step {:?}; a flow that is a tool cannot",
                    step.id
                ),
                None => return,
            },
        };
        self.wrong(tool, wrong);
    }

    fn wrong(&mut self, tool: &DeclaredTool, message: String) {
        let problem = Problem {
            file: tool.file.clone(),
            place: tool.place,
            message,
        };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn flow(&mut self, flow: &mut Flow) {
        self.steps(&mut flow.steps);
    }

    fn steps(&mut self, steps: &mut [Step]) {
        for step in steps {
            match &mut step.kind {
                StepKind::Agent(spec) => {
                    let tools = self.by_agent.get(spec.agent.as_str()).cloned();
                    let calls = tools.unwrap_or_default().into_iter();
                    let calls = calls.filter_map(|(tool, flow)| self.call(tool, flow));
                    spec.calls = Arc::new(calls.collect());
                }
                StepKind::Call(spec) => self.flow(Arc::make_mut(&mut spec.flow)),
                _ => {
                    for steps in step.written_inside() {
                        self.steps(steps);
                    }
                }
            }
        }
    }

    /// The step that the tool is, below the agent's.
    fn call(&mut self, tool: &DeclaredTool, name: &str) -> Option<Step> {
        if self.open.iter().any(|open| open == name) {
            let way = self.open.join(" → ");
            self.wrong(
                tool,
                format!("the flow {name} would call itself: {way} → {name}"),
            );
            return None;
        }
        if self.open.len() > MAX_CALLED {
            let way = self.open.join(" → ");
            self.wrong(
                tool,
                format!(
                    "at most {MAX_CALLED} flows stand below one another, and {way} → {name} is more"
                ),
            );
            return None;
        }
        let mut flow = self.plain.get(name)?.flow.clone();
        self.open.push(name.to_owned());
        self.flow(&mut flow);
        self.open.pop();
        Some(Step {
            id: tool.id.to_owned(),
            place: tool.place,
            when: None::<Condition>,
            stage: None,
            continue_on_failure: false,
            timeout_ms: None,
            retry: None,
            kind: StepKind::Call(CallSpec {
                name: name.to_owned(),
                flow: Arc::new(flow),
                with: tool.bind.clone(),
                take: IndexMap::new(),
                as_tool: true,
            }),
        })
    }
}

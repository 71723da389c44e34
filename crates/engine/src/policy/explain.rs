//! A decision with the way to it, for people who ask why.

use super::Capability;
use super::decide::Policy;
use super::facts::Facts;
use crate::condition::Origins;
use agentctl_base::decision::Decision;
use agentctl_base::foreign::split_foreign;
use serde_json::{Map, Value};
use std::fmt;

impl Policy {
    /// The decision with the way to it, for `policy check`.
    pub fn explain(
        &self,
        role: &str,
        tool: &str,
        args: &Map<String, Value>,
        facts: &Facts,
    ) -> Explanation {
        let mut considered = Vec::new();
        if let Some(capability) = self.capability_of(tool) {
            let word = if self.grants(role, capability) {
                "granted to"
            } else {
                "not granted to"
            };
            considered.push(format!("{tool} needs {}: {word} {role}", capability.name()));
        } else if let Some((server, name)) = split_foreign(tool) {
            considered.push(format!(
                "{name} of the server {server}: denied unless a rule allows it"
            ));
        } else {
            considered.push(format!(
                "{tool:?} is no tool of this program and not named mcp__server__tool"
            ));
        }
        let (call, granted) = self.asked(role, tool, args, facts);
        considered.push(format!("effect: {}", call.does.name()));
        for (name, value) in args {
            let origin = call.known().origin(value);
            considered.push(format!("origin of {name}: {origin}"));
        }
        for rule in self.rules.iter().filter(|r| r.names(tool)) {
            let word = if rule.matches(&call) {
                "matches"
            } else {
                "does not match"
            };
            considered.push(format!("rule {} ({}) {word}", rule.id, rule.effect.name()));
        }
        if split_foreign(tool).is_some() {
            considered.extend(self.outside(&call).iter().map(|outside| match outside {
                Decision::Ask { reason, .. } | Decision::Deny { reason, .. } => {
                    format!("the run's grants: {reason}")
                }
                Decision::Allow { .. } => String::new(),
            }));
        }
        Explanation {
            role: role.to_owned(),
            tool: tool.to_owned(),
            capability: self.capability_of(tool),
            decision: self.decided(&call, granted),
            considered,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    pub role: String,
    pub tool: String,
    pub capability: Option<Capability>,
    pub decision: Decision,
    /// One line for the grant and one for each rule about the tool.
    pub considered: Vec<String>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, reason) = match &self.decision {
            Decision::Allow { .. } => ("allow", None),
            Decision::Ask { reason, .. } => ("ask", Some(reason)),
            Decision::Deny { reason, .. } => ("deny", Some(reason)),
        };
        writeln!(f, "{word}: {} for {}", self.tool, self.role)?;
        writeln!(f, "  decided by {}", self.decision.rule())?;
        if let Some(reason) = reason {
            writeln!(f, "  {reason}")?;
        }
        for line in &self.considered {
            writeln!(f, "  - {line}")?;
        }
        Ok(())
    }
}

//! The decision: role, tool and arguments in, allow, ask or deny out. Total: what no rule names is denied, and a rule that
//! cannot be evaluated counts as matching when it is there to stop something.

use super::tools::{NATIVE_TOOLS, capability_of, split_foreign};
use super::{Capability, Decision, Limits};
use crate::condition::Condition;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;

/// The variables of a rule's condition.
pub(super) const VARIABLES: &[&str] = &["role", "tool", "args"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Allow,
    Ask,
    Deny,
}

impl Effect {
    pub fn name(self) -> &'static str {
        match self {
            Effect::Allow => "allow",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        }
    }
}

/// One rule of policy.yaml. `allow` is for tools of other servers only: native tools are granted by capability. `ask` and `deny`
/// only ever make a grant stricter.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub id: String,
    pub effect: Effect,
    /// None: every role.
    pub roles: Option<Vec<String>>,
    /// Native names, or `mcp__server__tool`.
    pub tools: Vec<String>,
    pub when: Option<Condition>,
    pub reason: String,
    /// Of an allow rule: what it lets pass changes nothing, so a lost answer may be asked for again.
    pub read_only: bool,
}

impl Rule {
    /// Whether the rule speaks about this call.
    pub fn matches(&self, role: &str, tool: &str, args: &Map<String, Value>) -> bool {
        if !self.tools.iter().any(|t| t == tool) {
            return false;
        }
        if self
            .roles
            .as_ref()
            .is_some_and(|roles| !roles.iter().any(|r| r == role))
        {
            return false;
        }
        let Some(when) = &self.when else { return true };
        let mut variables = Map::new();
        variables.insert("role".to_owned(), Value::String(role.to_owned()));
        variables.insert("tool".to_owned(), Value::String(tool.to_owned()));
        variables.insert("args".to_owned(), Value::Object(args.clone()));
        // Arguments that the rule cannot be evaluated on are no reason to let the call pass.
        when.holds(&variables)
            .unwrap_or(self.effect != Effect::Allow)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub(super) roles: IndexMap<String, BTreeSet<Capability>>,
    pub(super) rules: Vec<Rule>,
    pub(super) limits: Limits,
    pub(super) loosened: Vec<String>,
}

impl Policy {
    pub fn capability_of(&self, tool: &str) -> Option<Capability> {
        capability_of(tool)
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Roles in the order of the file, with what they may do.
    pub fn roles(&self) -> impl Iterator<Item = (&str, &BTreeSet<Capability>)> {
        self.roles.iter().map(|(role, can)| (role.as_str(), can))
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What a project's file allows beyond the policy it stands on. Empty unless loosening was allowed.
    pub fn loosened(&self) -> &[String] {
        &self.loosened
    }

    pub fn grants(&self, role: &str, capability: Capability) -> bool {
        self.roles
            .get(role)
            .is_some_and(|can| can.contains(&capability))
    }

    /// Every tool of which a role might be allowed (or may ask for) some call, sorted by name. A tool that is denied whatever its arguments is not shown.
    pub fn allowed_tools(&self, role: &str) -> Vec<String> {
        let native = NATIVE_TOOLS
            .iter()
            .filter(|tool| capability_of(tool).is_some_and(|c| self.grants(role, c)))
            .map(|tool| (*tool).to_owned());
        let foreign = self
            .rules
            .iter()
            .filter(|rule| rule.effect == Effect::Allow)
            .filter(|rule| {
                rule.roles
                    .as_ref()
                    .is_none_or(|roles| roles.iter().any(|r| r == role))
            })
            .flat_map(|rule| rule.tools.iter())
            .filter(|tool| split_foreign(tool).is_some() && self.roles.contains_key(role))
            .cloned();
        let always_denied = |tool: &String| {
            self.rules.iter().any(|rule| {
                rule.effect == Effect::Deny
                    && rule.when.is_none()
                    && rule.tools.contains(tool)
                    && rule
                        .roles
                        .as_ref()
                        .is_none_or(|roles| roles.iter().any(|r| r == role))
            })
        };
        let all: BTreeSet<String> = native
            .chain(foreign)
            .filter(|t| !always_denied(t))
            .collect();
        all.into_iter().collect()
    }

    pub fn decide(&self, role: &str, tool: &str, args: &Map<String, Value>) -> Decision {
        let mut decision = self.granted(role, tool);
        let foreign = capability_of(tool).is_none();
        if foreign {
            if !self.roles.contains_key(role) {
                return decision;
            }
            let granting = self
                .rules
                .iter()
                .filter(|rule| rule.effect == Effect::Allow)
                .find(|rule| rule.matches(role, tool, args));
            match granting {
                Some(rule) => {
                    decision = Decision::Allow {
                        rule: rule.id.clone(),
                    }
                }
                None => return decision,
            }
        }
        for rule in &self.rules {
            if rule.effect != Effect::Allow && rule.matches(role, tool, args) {
                let (rule, reason, ask) = (
                    rule.id.clone(),
                    rule.reason.clone(),
                    rule.effect == Effect::Ask,
                );
                decision = decision.and(if ask {
                    Decision::Ask { rule, reason }
                } else {
                    Decision::Deny { rule, reason }
                });
            }
        }
        decision
    }

    /// Whether the rule that lets a tool of another server pass says that the call changes nothing.
    pub fn reads_only(&self, role: &str, tool: &str, args: &Map<String, Value>) -> bool {
        self.rules
            .iter()
            .filter(|rule| rule.effect == Effect::Allow)
            .find(|rule| rule.matches(role, tool, args))
            .is_some_and(|rule| rule.read_only)
    }

    /// What the matrix says, before any rule.
    fn granted(&self, role: &str, tool: &str) -> Decision {
        let deny = |rule: String, reason: String| Decision::Deny { rule, reason };
        let Some(can) = self.roles.get(role) else {
            return deny(
                "role".to_owned(),
                format!("the policy has no role {role:?}"),
            );
        };
        match capability_of(tool) {
            Some(capability) if can.contains(&capability) => Decision::Allow {
                rule: format!("{role}: {}", capability.name()),
            },
            Some(capability) => deny(
                format!("{role}: no {}", capability.name()),
                format!(
                    "{role} may not {}; {}",
                    capability.name().replace('-', " "),
                    self.who(capability)
                ),
            ),
            None if split_foreign(tool).is_some() => deny(
                "foreign-tools".to_owned(),
                format!("no rule of the policy allows {tool} for {role} with these arguments"),
            ),
            None => deny(
                "unknown-tool".to_owned(),
                format!("there is no tool {tool:?}"),
            ),
        }
    }

    fn who(&self, capability: Capability) -> String {
        let who: Vec<&str> = self
            .roles
            .iter()
            .filter(|(_, can)| can.contains(&capability))
            .map(|(role, _)| role.as_str())
            .collect();
        if who.is_empty() {
            "no role may".to_owned()
        } else {
            format!("{} may", who.join(", "))
        }
    }

    /// The decision with the way to it, for `policy check`.
    pub fn explain(&self, role: &str, tool: &str, args: &Map<String, Value>) -> Explanation {
        let mut considered = Vec::new();
        if let Some(capability) = capability_of(tool) {
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
        for rule in self
            .rules
            .iter()
            .filter(|r| r.tools.iter().any(|t| t == tool))
        {
            let word = if rule.matches(role, tool, args) {
                "matches"
            } else {
                "does not match"
            };
            considered.push(format!("rule {} ({}) {word}", rule.id, rule.effect.name()));
        }
        Explanation {
            role: role.to_owned(),
            tool: tool.to_owned(),
            capability: capability_of(tool),
            decision: self.decide(role, tool, args),
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

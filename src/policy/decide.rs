//! The decision: role, tool and arguments in, allow, ask or deny out. Total: what no rule names is denied, and a rule that
//! cannot be evaluated counts as matching when it is there to stop something.

use super::facts::{Does, Facts, Known, program_texts};
use super::grants::Judged;
use super::literal::Text;
use super::tools::{NATIVE_TOOLS, capability_of, split_foreign};
use super::{Capability, Decision, Limits};
use crate::condition::{Condition, Origins};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The variables of a rule's condition.
pub(super) const VARIABLES: &[&str] = &["role", "tool", "args", "effect", "calls", "facts"];

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
    /// Of an allow rule: how far the harm of what it lets pass goes; None: as `read_only` says.
    pub does: Option<Does>,
}

impl Rule {
    /// Whether the rule names the tool. A trailing `*` stands for any ending.
    pub(super) fn names(&self, tool: &str) -> bool {
        self.tools.iter().any(|t| match t.strip_suffix('*') {
            Some(beginning) => tool.starts_with(beginning),
            None => t == tool,
        })
    }

    /// Of an allow rule.
    pub(super) fn does(&self, facts: &Facts) -> Does {
        match (self.does, self.read_only) {
            (Some(said), _) => said,
            // Whoever chooses the place can send something there.
            (None, true) if facts.addressed => Does::Egress,
            (None, true) => Does::Read,
            (None, false) => Does::Change,
        }
    }

    /// Whether the rule speaks about this call.
    pub(super) fn matches(&self, call: &Asked<'_>) -> bool {
        if !self.names(call.tool) {
            return false;
        }
        if self
            .roles
            .as_ref()
            .is_some_and(|roles| !roles.iter().any(|r| r == call.role))
        {
            return false;
        }
        let Some(when) = &self.when else { return true };
        let does = match self.effect {
            Effect::Allow => self.does(call.facts),
            Effect::Ask | Effect::Deny => call.does,
        };
        let mut variables = Map::new();
        variables.insert("role".to_owned(), Value::String(call.role.to_owned()));
        variables.insert("tool".to_owned(), Value::String(call.tool.to_owned()));
        variables.insert("args".to_owned(), Value::Object(call.args.clone()));
        variables.insert("effect".to_owned(), Value::String(does.name().to_owned()));
        if when.reads("calls") {
            let calls = call.facts.calls_json(call.program);
            variables.insert("calls".to_owned(), calls);
        }
        if when.reads("facts") {
            let facts = call.program.facts.clone();
            variables.insert("facts".to_owned(), Value::Object(facts));
        }
        let known: Arc<dyn Origins> = Arc::new(call.facts.known(&call.program.texts));
        // Arguments that the rule cannot be evaluated on are no reason to let the call pass.
        when.holds_with(&variables, Some(&known))
            .unwrap_or(self.effect != Effect::Allow)
    }
}

/// One call, and all that a rule may know of it.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub role: &'a str,
    pub tool: &'a str,
    pub args: &'a Map<String, Value>,
    /// By the rule that lets it pass, or by what the native tool is.
    pub does: Does,
    pub facts: &'a Facts,
    pub program: &'a Program,
}

/// The `facts` of policy.yaml: what whoever deploys the pack knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Program {
    pub facts: Map<String, Value>,
    pub texts: Arc<Vec<Text>>,
    /// What the calls do that an allow rule lets pass, by the rule's id.
    pub does: BTreeMap<String, Does>,
}

impl Program {
    pub fn new(facts: Map<String, Value>) -> Program {
        Program {
            texts: Arc::new(program_texts(&facts)),
            facts,
            does: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn with_rules(mut self, rules: &[Rule]) -> Program {
        let allowing = rules.iter().filter(|rule| rule.effect == Effect::Allow);
        self.does = allowing
            .map(|rule| (rule.id.clone(), rule.does(&Facts::default())))
            .collect();
        self
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub(super) roles: IndexMap<String, BTreeSet<Capability>>,
    pub(super) rules: Vec<Rule>,
    pub(super) limits: Limits,
    pub(super) program: Program,
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
                    && rule.names(tool)
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

    /// Without knowing anything of a run: no words, no earlier calls.
    pub fn decide(&self, role: &str, tool: &str, args: &Map<String, Value>) -> Decision {
        self.decide_with(role, tool, args, &Facts::default())
    }

    /// The decision on a call of a run that these are the facts of.
    pub fn decide_with(
        &self,
        role: &str,
        tool: &str,
        args: &Map<String, Value>,
        facts: &Facts,
    ) -> Decision {
        let mut decision = self.granted(role, tool);
        let mut call = self.asked(role, tool, args, facts);
        let foreign = capability_of(tool).is_none();
        if foreign {
            if !self.roles.contains_key(role) {
                return decision;
            }
            match self.granting(&call) {
                Some(rule) => {
                    call.does = rule.does(facts);
                    decision = Decision::Allow {
                        rule: rule.id.clone(),
                    }
                }
                None => return decision,
            }
        }
        for rule in &self.rules {
            if rule.effect != Effect::Allow && rule.matches(&call) {
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
        if foreign && !matches!(decision, Decision::Deny { .. }) {
            for outside in self.outside(&call) {
                decision = joined(decision, outside);
            }
        }
        decision
    }

    /// What the run's own grants keep out.
    fn outside(&self, call: &Asked<'_>) -> Vec<Decision> {
        if call.facts.grants.is_empty() {
            return Vec::new();
        }
        let known: Known = call.facts.known(&self.program.texts);
        let judged = Judged {
            role: call.role,
            tool: call.tool,
            args: call.args,
            does: call.does,
        };
        let grants = call.facts.grants();
        grants
            .filter_map(|grants| grants.outside(&judged, call.facts.calls(), &known))
            .collect()
    }

    fn asked<'a>(
        &'a self,
        role: &'a str,
        tool: &'a str,
        args: &'a Map<String, Value>,
        facts: &'a Facts,
    ) -> Asked<'a> {
        Asked {
            role,
            tool,
            args,
            does: capability_of(tool).map_or(Does::Change, Capability::does),
            facts,
            program: &self.program,
        }
    }

    /// The rule that lets a tool of another server pass.
    fn granting(&self, call: &Asked<'_>) -> Option<&Rule> {
        self.rules
            .iter()
            .filter(|rule| rule.effect == Effect::Allow)
            .find(|rule| rule.matches(call))
    }

    /// What a call does, by the rule that lets it pass, or by what the native tool is.
    pub fn does(&self, role: &str, tool: &str, args: &Map<String, Value>, facts: &Facts) -> Does {
        let call = self.asked(role, tool, args, facts);
        match capability_of(tool) {
            Some(_) => call.does,
            None => self
                .granting(&call)
                .map_or(Does::Change, |rule| rule.does(facts)),
        }
    }

    /// The worst that the role can do by a tool of another server.
    pub fn most(&self, role: &str, tool: &str, addressed: bool) -> Does {
        let facts = Facts {
            addressed,
            ..Facts::default()
        };
        self.rules
            .iter()
            .filter(|rule| rule.effect == Effect::Allow && rule.names(tool))
            .filter(|rule| {
                rule.roles
                    .as_ref()
                    .is_none_or(|roles| roles.iter().any(|r| r == role))
            })
            .map(|rule| rule.does(&facts))
            .max()
            .unwrap_or_default()
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
    pub fn explain(
        &self,
        role: &str,
        tool: &str,
        args: &Map<String, Value>,
        facts: &Facts,
    ) -> Explanation {
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
        let mut call = self.asked(role, tool, args, facts);
        call.does = self.does(role, tool, args, facts);
        considered.push(format!("effect: {}", call.does.name()));
        let known = facts.known(&self.program.texts);
        for (name, value) in args {
            considered.push(format!("origin of {name}: {}", known.origin(value)));
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
            capability: capability_of(tool),
            decision: self.decide_with(role, tool, args, facts),
            considered,
        }
    }
}

/// The stricter of two; where both ask, one question says both reasons.
fn joined(decision: Decision, other: Decision) -> Decision {
    match (decision, other) {
        (
            Decision::Ask { rule, reason },
            Decision::Ask {
                reason: further, ..
            },
        ) => Decision::Ask {
            rule,
            reason: format!("{reason}; {further}"),
        },
        (decision, other) => decision.and(other),
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

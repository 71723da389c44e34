//! The decision: role, tool and arguments in, allow, ask or deny out. Total: what no rule names is denied, and a rule that
//! cannot be evaluated counts as matching when it is there to stop something.

use super::Limits;
use super::facts::Facts;
use super::grants::Judged;
use super::origin::Known;
use super::program::Program;
use crate::condition::{Condition, Origins};
use crate::flow::PROGRAM;
use crate::vocabulary::{Capability, Does, Vocabulary};
use agentctl_base::decision::Decision;
use agentctl_base::foreign::split_foreign;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The variables of a rule's condition.
pub(super) const VARIABLES: &[&str] =
    &["role", "tool", "args", "bound", "effect", "calls", "facts"];

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

    /// Whether the rule is about calls of this role.
    pub(super) fn is_for(&self, role: &str) -> bool {
        self.roles
            .as_ref()
            .is_none_or(|roles| roles.iter().any(|r| r == role))
    }

    /// Whether its condition may read the fact.
    pub(super) fn reads_fact(&self, name: &str) -> bool {
        let paths = self.when.iter().flat_map(Condition::paths);
        let mut of_facts = paths.filter(|path| path.first().is_some_and(|root| root == "facts"));
        of_facts.any(|path| path.get(1).is_none_or(|field| field == name))
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
        if !self.names(call.tool) || !self.is_for(call.role) {
            return false;
        }
        let Some(when) = &self.when else { return true };
        let does = match self.effect {
            Effect::Allow => self.does(call.facts),
            Effect::Ask | Effect::Deny => call.does,
        };
        let mut variables = Map::new();
        let mut set = |name: &str, value: &dyn Fn() -> Value| {
            if when.reads(name) {
                variables.insert(name.to_owned(), value());
            }
        };
        set("role", &|| call.role.into());
        set("tool", &|| call.tool.into());
        set("args", &|| Value::Object(call.args.clone()));
        set("bound", &|| Value::Object(call.facts.bound.clone()));
        set("effect", &|| does.name().into());
        set("calls", &|| call.calls().clone());
        set("facts", &|| Value::Object(call.program.facts.clone()));
        let known = when
            .asks_origins()
            .then(|| Arc::clone(call.known()) as Arc<dyn Origins>);
        // Arguments that the rule cannot be evaluated on are no reason to let the call pass.
        when.holds_with(&variables, known.as_ref())
            .unwrap_or(self.effect != Effect::Allow)
    }
}

/// One call, and all that a rule may know of it.
pub(super) struct Asked<'a> {
    pub role: &'a str,
    pub tool: &'a str,
    pub args: &'a Map<String, Value>,
    /// By the rule that lets it pass, or by what the native tool is.
    pub does: Does,
    pub facts: &'a Facts,
    pub program: &'a Program,
    /// Made for the first rule that asks, and kept for the others.
    known: OnceCell<Arc<Known>>,
    calls: OnceCell<Value>,
}

impl<'a> Asked<'a> {
    pub fn new(
        (role, tool, args): (&'a str, &'a str, &'a Map<String, Value>),
        does: Does,
        facts: &'a Facts,
        program: &'a Program,
    ) -> Asked<'a> {
        Asked {
            role,
            tool,
            args,
            does,
            facts,
            program,
            known: OnceCell::new(),
            calls: OnceCell::new(),
        }
    }

    pub fn known(&self) -> &Arc<Known> {
        let known = || Arc::new(self.facts.known(&self.program.texts));
        self.known.get_or_init(known)
    }

    fn calls(&self) -> &Value {
        self.calls
            .get_or_init(|| self.facts.calls_json(self.program))
    }
}

impl Program {
    #[must_use]
    pub fn with_rules(mut self, rules: &[Rule]) -> Program {
        let allowing = rules.iter().filter(|rule| rule.effect == Effect::Allow);
        let worst = Facts {
            addressed: true,
            ..Facts::default()
        };
        self.does = allowing
            .map(|rule| (rule.id.clone(), rule.does(&worst)))
            .collect();
        self
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub(super) roles: IndexMap<String, BTreeSet<Capability>>,
    /// Roles that an earlier version of the pack had, with what to do where a project's file still names one.
    pub(super) retired: IndexMap<String, String>,
    pub(super) rules: Vec<Rule>,
    pub(super) limits: Limits,
    pub(super) program: Program,
    pub(super) loosened: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Policy {
    pub fn capability_of(&self, tool: &str) -> Option<Capability> {
        self.vocabulary().capability_of(tool)
    }

    /// What the policy was written with.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.program.vocabulary
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

    /// What is to be said of the files besides: names of earlier versions that stand in them, with place.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub fn grants(&self, role: &str, capability: Capability) -> bool {
        self.roles
            .get(role)
            .is_some_and(|can| can.contains(&capability))
    }

    /// Lets the program itself call these tools, besides what the file grants it.
    pub fn grant_program(&mut self, tools: &[&str]) {
        let granted: Vec<Capability> = tools.iter().filter_map(|t| self.capability_of(t)).collect();
        if !granted.is_empty() {
            let role = self.roles.entry(PROGRAM.to_owned()).or_default();
            role.extend(granted);
        }
    }

    /// Every tool of which a role might be allowed (or may ask for) some call, sorted by name. A tool that is denied whatever its arguments is not shown.
    pub fn allowed_tools(&self, role: &str) -> Vec<String> {
        let native = self.vocabulary().tools().iter();
        let native = native
            .filter(|tool| self.grants(role, tool.capability))
            .map(|tool| tool.name.to_owned());
        let foreign = self
            .rules
            .iter()
            .filter(|rule| rule.effect == Effect::Allow && rule.is_for(role))
            .flat_map(|rule| rule.tools.iter())
            .filter(|tool| split_foreign(tool).is_some() && self.roles.contains_key(role))
            .cloned();
        let always_denied = |tool: &String| {
            self.rules.iter().any(|rule| {
                rule.effect == Effect::Deny
                    && rule.when.is_none()
                    && rule.names(tool)
                    && rule.is_for(role)
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
        self.judge(role, tool, args, facts).0
    }

    /// The decision, and what the call does: by the rule that lets it pass, or by what the native tool is.
    pub fn judge(
        &self,
        role: &str,
        tool: &str,
        args: &Map<String, Value>,
        facts: &Facts,
    ) -> (Decision, Does) {
        let (call, granted) = self.asked(role, tool, args, facts);
        let decision = self.decided(&call, granted);
        (decision, call.does)
    }

    /// `granted`: by the matrix, or by the rule that lets a tool of another server pass.
    pub(super) fn decided(&self, call: &Asked<'_>, granted: Decision) -> Decision {
        let mut decision = granted;
        let foreign = self.capability_of(call.tool).is_none();
        if foreign && matches!(decision, Decision::Deny { .. }) {
            return decision;
        }
        for rule in &self.rules {
            if rule.effect != Effect::Allow && rule.matches(call) {
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
            for outside in self.outside(call) {
                decision = joined(decision, outside);
            }
        }
        decision
    }

    /// What the run's own grants keep out.
    pub(super) fn outside(&self, call: &Asked<'_>) -> Vec<Decision> {
        let judged = Judged {
            role: call.role,
            tool: call.tool,
            args: call.args,
            does: call.does,
            known: call.known(),
            program: call.program,
        };
        let grants = call.facts.grants();
        grants
            .filter_map(|grants| grants.outside(&judged, call.facts.calls()))
            .collect()
    }

    /// The call as rules are asked about it, and what lets it pass so far.
    pub(super) fn asked<'a>(
        &'a self,
        role: &'a str,
        tool: &'a str,
        args: &'a Map<String, Value>,
        facts: &'a Facts,
    ) -> (Asked<'a>, Decision) {
        let does = self.vocabulary().does(tool).unwrap_or(Does::Change);
        let mut call = Asked::new((role, tool, args), does, facts, &self.program);
        let mut granted = self.granted(role, tool);
        if self.capability_of(tool).is_none() && self.roles.contains_key(role) {
            let mut allowing = self.rules.iter().filter(|r| r.effect == Effect::Allow);
            if let Some(rule) = allowing.find(|rule| rule.matches(&call)) {
                call.does = rule.does(facts);
                granted = Decision::Allow {
                    rule: rule.id.clone(),
                };
            }
        }
        (call, granted)
    }

    /// The worst that the role can do by a tool of another server.
    pub fn most(&self, role: &str, tool: &str, addressed: bool) -> Does {
        let facts = Facts {
            addressed,
            ..Facts::default()
        };
        self.rules
            .iter()
            .filter(|rule| rule.effect == Effect::Allow && rule.names(tool) && rule.is_for(role))
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
        match self.capability_of(tool) {
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

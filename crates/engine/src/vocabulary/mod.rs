//! What a pack's policy and flow may name besides their own words: tools, what they do, functions of conditions, facts. Built by
//! whoever brings the tools, in code: a pack cannot make a tool mean something else. Knows no toolset itself.

pub mod capability;

pub use capability::{Capability, Carries, Does};

use crate::claims::{Claim, Reported};
use crate::condition::{self, Function};
use agentctl_base::foreign::split_foreign;
use agentctl_base::yaml::{Node, Place};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// One tool, as far as a policy and a flow speak of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedTool {
    pub name: &'static str,
    pub capability: Capability,
    /// A call changes something that stays.
    pub changes: bool,
}

/// What is wrong in a part of a file, and where.
pub type Faults = Vec<(Place, String)>;

/// Checks a part of a tool file; the texts are the names of the values that a call has.
pub type CheckKind = fn(&Node, &[String]) -> Faults;

/// What a pack's tool file may be (`kind: NAME`), besides a flow.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    /// Checks what stands under that name in the file; `values`: what a call of the tool has, by the file. Empty: it is right.
    pub check: CheckKind,
}

/// A tool that a pack's file declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredName {
    pub name: &'static str,
    pub does: Does,
    /// It is a flow that an agent calls.
    pub is_flow: bool,
    /// The names of what a model says with a call, and of what the program fills in.
    pub takes: Vec<String>,
    pub bound: Vec<String>,
}

/// What a role needs to call a flow as a tool, besides the tool itself.
pub const DELEGATE: Capability = Capability::named("delegate");

/// What an agent may claim in a field of the flow (`fact: NAME`).
#[derive(Clone, Copy)]
pub struct Fact {
    pub name: &'static str,
    /// Checks the claim against what the run's calls did, and fills in what they know better. Empty: it holds.
    pub check: fn(&mut Map<String, Value>, &Claim<'_>) -> Vec<String>,
}

impl fmt::Debug for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A run's sections of the report: what stands before the questions, and what stands behind the usage.
pub type Sections = (Map<String, Value>, Map<String, Value>);

/// A vocabulary as a toolset writes it down, before it is checked.
#[derive(Clone, Default)]
pub struct Words {
    pub tools: Vec<NamedTool>,
    /// In the order in which people are told of them, with how far the harm of a call goes.
    pub capabilities: Vec<(Capability, Does)>,
    /// Capabilities of earlier versions that nothing needs any more, each with what to do about it. A policy that grants one is
    /// still read; it gives nothing.
    pub retired: Vec<(&'static str, &'static str)>,
    /// What conditions may call.
    pub functions: Vec<Function>,
    /// What comes from outside and is no instruction, in words for a model, besides web pages and earlier answers.
    pub material: Vec<&'static str>,
    /// The tool that loads a skill; None: an agent is only told which there are.
    pub loads_skills: Option<&'static str>,
    /// Names of what a flow's field may state, so that it is checked against the run's calls.
    pub facts: Vec<Fact>,
    /// Names of the sections of a run's report that a flow's field may make.
    pub reports: Vec<&'static str>,
    /// What tool files may be.
    pub kinds: Vec<Kind>,
    /// Tools that a pack's files declare: granted by their own name.
    pub declared: Vec<DeclaredName>,
    /// Makes the toolset's sections of a run's report; None: it has none.
    pub report: Option<fn(&Reported<'_>) -> Sections>,
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words")
            .field("tools", &self.tools)
            .field("capabilities", &self.capabilities)
            .field("facts", &self.facts)
            .field("reports", &self.reports)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Vocabulary {
    /// By what is named.
    fn eq(&self, other: &Self) -> bool {
        let (one, two) = (&self.0, &other.0);
        (&one.tools, &one.capabilities, &one.retired, &one.functions)
            == (&two.tools, &two.capabilities, &two.retired, &two.functions)
            && self.facts() == other.facts()
            && one.reports == two.reports
    }
}

/// Words that were checked. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary(Arc<Words>);

/// Why words make no vocabulary: a mistake of the toolset, not of a pack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the vocabulary is wrong: {}", .0.join("; "))]
pub struct VocabularyError(pub Vec<String>);

impl Vocabulary {
    /// Checks the words: no name twice, each name one that can be written in a pack, each tool's capability known, and no tool
    /// that changes something under a capability that does not.
    pub fn new(mut words: Words) -> Result<Vocabulary, VocabularyError> {
        words.tools.sort_by_key(|tool| tool.name);
        let mut problems = Vec::new();
        let capabilities = words.capabilities.iter().map(|(c, _)| c.name());
        let capabilities = capabilities.chain(words.retired.iter().map(|(name, _)| *name));
        names(&mut problems, "capability", '-', capabilities);
        names(
            &mut problems,
            "tool",
            '_',
            words.tools.iter().map(|t| t.name),
        );
        names(
            &mut problems,
            "function",
            '_',
            words.functions.iter().map(|f| f.name),
        );
        names(
            &mut problems,
            "fact",
            '_',
            words.facts.iter().map(|f| f.name),
        );
        names(&mut problems, "section", '_', words.reports.iter().copied());
        for tool in &words.tools {
            let name = tool.name;
            let does = words.capabilities.iter();
            match does.clone().find(|(c, _)| *c == tool.capability) {
                None => problems.push(format!(
                    "the tool {name:?} has the unknown capability {:?}",
                    tool.capability.name()
                )),
                Some((capability, does)) if tool.changes && *does != Does::Change => {
                    problems.push(format!(
                        "the tool {name:?} changes something, its capability {:?} does not",
                        capability.name()
                    ));
                }
                Some(_) => {}
            }
            if split_foreign(name).is_some() {
                problems.push(format!(
                    "the tool {name:?} is named as one of another server"
                ));
            }
        }
        if let Some(name) = words.loads_skills
            && !words.tools.iter().any(|tool| tool.name == name)
        {
            problems.push(format!("{name:?}, which loads skills, is no tool"));
        }
        for function in &words.functions {
            if condition::is_own(function.name) {
                problems.push(format!(
                    "the function {:?} has the name of one that every condition has",
                    function.name
                ));
            }
        }
        if problems.is_empty() {
            Ok(Vocabulary(Arc::new(words)))
        } else {
            Err(VocabularyError(problems))
        }
    }

    /// The same, where tool files may be these besides.
    #[must_use]
    pub fn with_kinds(&self, kinds: &[Kind]) -> Vocabulary {
        let mut words = (*self.0).clone();
        words.kinds.extend_from_slice(kinds);
        Vocabulary(Arc::new(words))
    }

    pub fn kinds(&self) -> &[Kind] {
        &self.0.kinds
    }

    /// The same with the tools of a pack's files, each with a capability of its own name. A name that is taken already is given back.
    pub fn with_declared(&self, declared: &[DeclaredName]) -> (Vocabulary, Vec<&'static str>) {
        let mut words = (*self.0).clone();
        let mut taken = Vec::new();
        for tool in declared {
            if self.is_tool(tool.name) || self.capability(tool.name).is_some() {
                taken.push(tool.name);
                continue;
            }
            let capability = Capability::named(tool.name);
            words.capabilities.push((capability, tool.does));
            words.tools.push(NamedTool {
                name: tool.name,
                capability,
                changes: tool.does == Does::Change && !tool.is_flow,
            });
            words.declared.push(tool.clone());
        }
        if declared.iter().any(|tool| tool.is_flow) {
            words.retired.retain(|(name, _)| *name != DELEGATE.name());
            if !words.capabilities.iter().any(|(c, _)| *c == DELEGATE) {
                words.capabilities.push((DELEGATE, Does::Change));
            }
        }
        words.tools.sort_by_key(|tool| tool.name);
        (Vocabulary(Arc::new(words)), taken)
    }

    /// The declared tools that are flows.
    pub(crate) fn flows(&self) -> impl Iterator<Item = &'static str> + '_ {
        let declared = self.0.declared.iter();
        declared.filter(|tool| tool.is_flow).map(|tool| tool.name)
    }

    /// The declared tool of this name.
    pub(crate) fn declared(&self, name: &str) -> Option<&DeclaredName> {
        self.0.declared.iter().find(|tool| tool.name == name)
    }

    /// Sorted by name.
    pub fn tools(&self) -> &[NamedTool] {
        &self.0.tools
    }

    /// By the exact bytes of the name: no trimming, no case folding, no Unicode normalisation.
    pub fn tool(&self, name: &str) -> Option<&NamedTool> {
        self.0.tools.iter().find(|tool| tool.name == name)
    }

    pub fn is_tool(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    pub fn capability_of(&self, tool: &str) -> Option<Capability> {
        self.tool(tool).map(|tool| tool.capability)
    }

    /// What a call of the tool does; None: it is no tool.
    pub fn does(&self, tool: &str) -> Option<Does> {
        let capability = self.capability_of(tool)?;
        let mut all = self.0.capabilities.iter();
        all.find(|(c, _)| *c == capability).map(|(_, does)| *does)
    }

    /// In the toolset's order, with what they do.
    pub fn capabilities(&self) -> impl Iterator<Item = (Capability, Does)> + '_ {
        self.0.capabilities.iter().copied()
    }

    /// The capability that a file names.
    pub fn capability(&self, name: &str) -> Option<Capability> {
        self.capabilities()
            .map(|(capability, _)| capability)
            .find(|capability| capability.name() == name)
    }

    /// What to do about a capability of an earlier version; None: it is none.
    pub fn retired(&self, name: &str) -> Option<&'static str> {
        let mut retired = self.0.retired.iter();
        retired.find(|(old, _)| *old == name).map(|(_, what)| *what)
    }

    pub fn functions(&self) -> &[Function] {
        &self.0.functions
    }

    /// In words for a model.
    pub fn material(&self) -> &[&'static str] {
        &self.0.material
    }

    pub fn loads_skills(&self) -> Option<&'static str> {
        self.0.loads_skills
    }

    pub fn facts(&self) -> Vec<&'static str> {
        self.0.facts.iter().map(|fact| fact.name).collect()
    }

    /// Checks what is claimed in a field of this fact. Empty: it holds. What nobody can check does not hold.
    pub fn check(
        &self,
        fact: &str,
        claimed: &mut Map<String, Value>,
        by: &Claim<'_>,
    ) -> Vec<String> {
        match self.0.facts.iter().find(|known| known.name == fact) {
            Some(known) => (known.check)(claimed, by),
            None => vec![format!(
                "nothing checks the fact {fact:?}; name one that the tools bring"
            )],
        }
    }

    /// The toolset's sections of a run's report.
    pub fn report(&self, of: &Reported<'_>) -> Sections {
        self.0.report.map(|report| report(of)).unwrap_or_default()
    }

    pub fn reports(&self) -> &[&'static str] {
        &self.0.reports
    }
}

/// Lowercase words joined by `join`, each once.
fn names(
    problems: &mut Vec<String>,
    what: &str,
    join: char,
    all: impl Iterator<Item = &'static str>,
) {
    let mut seen = BTreeSet::new();
    for name in all {
        let good = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == join);
        if !good {
            problems.push(format!(
                "{name:?} is no name for a {what}: use a-z, 0-9 and {join}, a letter first"
            ));
        }
        if !seen.insert(name) {
            problems.push(format!("the {what} {name:?} is named twice"));
        }
    }
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod vocabulary_tests;

//! Collecting findings: stable ids, one order.

use super::rules::Rule;
use super::subject::NodeView;
use crate::edit::EditOp;
use crate::finding::{Confidence, Finding, Fix, Severity};
use agentctl_base::secrets;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Hex digits of a finding's id: enough for one workflow.
const ID_DIGITS: usize = 12;

#[derive(Default)]
pub(super) struct Report {
    entries: Vec<Entry>,
}

struct Entry {
    /// Place of the node in the document; findings about the whole come first.
    rank: Option<usize>,
    /// What distinguishes this finding from others at the same place.
    key: String,
    finding: Finding,
}

/// One finding before it has its id.
pub(super) struct Draft {
    pub code: &'static str,
    pub severity: Severity,
    /// Below the node for a finding of a node (`/parameters/url`), else from the document's root.
    pub pointer: String,
    /// What the finding shows as its pointer where n8n names the place otherwise.
    pub named: Option<String>,
    pub key: String,
    pub message: String,
    pub fix: Option<Fix>,
}

impl Rule {
    /// A finding of this rule, with the rule's own severity.
    pub(super) fn at(&self, pointer: impl Into<String>, message: impl Into<String>) -> Draft {
        Draft::new(self.code, self.severity, pointer, message)
    }
}

impl Draft {
    pub(super) fn new(
        code: &'static str,
        severity: Severity,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Draft {
            code,
            severity,
            pointer: pointer.into(),
            named: None,
            key: String::new(),
            message: message.into(),
            fix: None,
        }
    }
    /// For a case of the rule that is less sure: at most this severity.
    pub(super) fn at_most(mut self, severity: Severity) -> Self {
        self.severity = self.severity.min(severity);
        self
    }
    /// n8n's name for the place, if it is another one.
    pub(super) fn named(mut self, pointer: String) -> Self {
        self.named = (pointer != self.pointer).then_some(pointer);
        self
    }
    /// Tells apart findings of one code at one place.
    pub(super) fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }
    pub(super) fn fix(
        mut self,
        confidence: Confidence,
        title: impl Into<String>,
        ops: Vec<EditOp>,
    ) -> Self {
        self.fix = Some(Fix {
            confidence,
            title: title.into(),
            ops,
        });
        self
    }
}

impl Report {
    /// A finding about one node. What never runs does not fail either: n8n's own checks aside, that is a warning.
    pub(super) fn node(&mut self, node: &NodeView, mut draft: Draft) {
        if node.idle && draft.code.starts_with("agentctl/") {
            draft = draft.at_most(Severity::Warning);
        }
        let pointer = if draft.pointer.starts_with("/connections/") {
            draft.pointer.clone()
        } else {
            format!("/nodes/{}{}", node.at, draft.pointer)
        };
        self.add(
            Some(node.at),
            node.name.map(str::to_owned),
            node.id.map(str::to_owned),
            pointer,
            draft,
        );
    }

    /// What another report found, behind what this one did.
    pub(super) fn append(&mut self, mut other: Report) {
        self.entries.append(&mut other.entries);
    }

    /// A finding about the document.
    pub(super) fn document(&mut self, draft: Draft) {
        let pointer = draft.pointer.clone();
        self.add(None, None, None, pointer, draft);
    }

    /// A structure finding at a place of the document that belongs to a node, if it can be told which.
    pub(super) fn place(&mut self, node: (Option<String>, Option<String>), mut draft: Draft) {
        let pointer = draft.pointer.clone();
        // The id must outlive a node that is added before this one, so it does not know the node's place.
        if node.0.is_some() || node.1.is_some() {
            let below = pointer
                .strip_prefix("/nodes/")
                .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
            if let Some(below) = below {
                draft.pointer = below.to_owned();
            }
        }
        self.add(None, node.0, node.1, pointer, draft);
    }

    fn add(
        &mut self,
        rank: Option<usize>,
        node: Option<String>,
        node_id: Option<String>,
        pointer: String,
        draft: Draft,
    ) {
        let whose = node_id
            .as_deref()
            .filter(|id| !id.is_empty())
            .or(node.as_deref());
        let mut hash = Sha256::new();
        for part in [draft.code, whose.unwrap_or(""), &draft.pointer, &draft.key] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let mut id = String::new();
        for byte in hash.finalize().iter().take(ID_DIGITS / 2) {
            let _ = write!(id, "{byte:02x}"); // writing to a String cannot fail
        }
        let (pointer, place) = match (draft.named, rank) {
            (Some(named), Some(at)) => (format!("/nodes/{at}{named}"), Some(pointer)),
            _ => (pointer, None),
        };
        self.entries.push(Entry {
            rank,
            key: draft.key,
            finding: Finding {
                id,
                code: draft.code.to_owned(),
                severity: draft.severity,
                node,
                node_id,
                pointer,
                // What a message quotes may be a key that somebody wrote into the workflow.
                message: secrets::mask(&draft.message).into_owned(),
                place,
                fix: draft.fix,
            },
        });
    }

    /// Sorted by node, place, code and key; a repeated id gets a number.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        fn order(e: &Entry) -> impl Ord {
            let finding = &e.finding;
            let place = finding.place.as_ref().unwrap_or(&finding.pointer);
            (e.rank, place, &finding.code, &e.key, &finding.message)
        }
        self.entries.sort_by(|a, b| order(a).cmp(&order(b)));
        let mut seen: HashMap<String, usize> = HashMap::new();
        let findings = self.entries.into_iter().map(|entry| entry.finding);
        findings
            .map(|mut finding| {
                let count = seen.entry(finding.id.clone()).or_default();
                *count += 1;
                if *count > 1 {
                    finding.id = format!("{}-{count}", finding.id);
                }
                finding
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod report_tests;

//! Checking files, several at a time, in their order. Holds one chunk of results and, of large files, one at a time: memory is
//! bounded by the largest file.

use super::baseline::Baseline;
use super::document::workflows;
pub use super::mend::FixMode;
use super::mend::{self, Mended};
use super::place::{Place, locate};
use super::rules;
use super::source::{self, Fault, Source};
use super::waiver::{Waiver, matches_code};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::finding::{Finding, Severity};
use agentctl_n8n::validate;
use jiff::civil::Date;
use rayon::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// So many files are checked before their results are handed on.
const CHUNK: usize = 256;
/// Files from this size on are checked one at a time, each on several threads.
const LARGE: u64 = 1024 * 1024;

/// Rules walk down values; as deep as a file may be nested, with room.
const STACK: usize = 16 * 1024 * 1024;

/// How a finding stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Open,
    /// In the baseline.
    Known,
    Waived {
        reason: String,
        expires: Date,
    },
}

/// A finding in its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub finding: Finding,
    pub place: Place,
    pub state: State,
}

/// What was found in one workflow of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub path: String,
    pub workflow: Option<String>,
    pub nodes: usize,
    pub findings: Vec<Judged>,
    /// What `--fix` did, if it did something.
    pub mended: Option<Mended>,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// One entry, or for an export of several workflows one for each.
    Checked(Vec<Checked>),
    /// JSON found in a folder that is no workflow at all.
    Skipped(String),
}

/// What to look for, and what is settled already.
pub struct Check<'a> {
    pub catalog: &'a Catalog,
    /// Codes or families of codes; empty: all.
    pub only: &'a [String],
    pub ignore: &'a [String],
    pub baseline: Option<&'a Baseline>,
    /// The folder that the baseline's paths are seen from.
    pub baseline_root: PathBuf,
    pub waivers: &'a [Waiver],
    /// The folder that the waivers' paths are seen from.
    pub waiver_root: PathBuf,
    pub today: Date,
    pub fix: FixMode,
}

impl Check<'_> {
    /// Is this code looked for at all?
    pub fn looks_for(&self, code: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|wanted| matches_code(code, wanted));
        (self.only.is_empty() || named(self.only)) && !named(self.ignore)
    }

    /// Checks every file and lets `make` work on each outcome where it was checked, on several threads; what it makes is
    /// taken in the order of the sources. The first Err of `take` ends it.
    pub fn all<R: Send, E>(
        &self,
        sources: &[Source],
        make: &(dyn Fn(Outcome) -> R + Sync),
        take: &mut dyn FnMut(&Source, R) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_large = |source: &Source| {
            let size = || source.path.metadata().map_or(0, |m| m.len());
            source.is_stdin() || size() >= LARGE
        };
        let one = |source: &Source| make(self.one(source));
        // Where no threads can be had, rayon's own pool (or this thread) does it.
        let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).build();
        for chunk in sources.chunks(CHUNK) {
            let check = || {
                let small = |source| (!is_large(source)).then(|| one(source));
                let mut made: Vec<Option<R>> = chunk.par_iter().map(small).collect();
                for (source, slot) in chunk.iter().zip(&mut made) {
                    slot.get_or_insert_with(|| one(source));
                }
                made
            };
            let made = match &pool {
                Ok(pool) => pool.install(check),
                Err(_) => check(),
            };
            for (source, made) in chunk.iter().zip(made.into_iter().flatten()) {
                take(source, made)?;
            }
        }
        Ok(())
    }

    /// Checks one file. A bug in a rule is a finding of this file, and the other files are still checked.
    pub fn one(&self, source: &Source) -> Outcome {
        catch_unwind(AssertUnwindSafe(|| self.file(source))).unwrap_or_else(|_| {
            let message = "checking this file failed; please report it with the file: it is a bug in agentctl";
            let fault = Fault::new(rules::INTERNAL, message, Place::START);
            self.fault(source, fault)
        })
    }

    fn file(&self, source: &Source) -> Outcome {
        let read = source::read(source).and_then(|text| Ok((source::parse(&text)?, text)));
        let (mut document, mut text) = match read {
            Ok(read) => read,
            Err(fault) => return self.fault(source, fault),
        };
        if !source.named && !holds_workflows(&document) {
            return Outcome::Skipped(source.shown());
        }
        let mut mended = None;
        if self.fix != FixMode::Off && !source.is_stdin() {
            let wanted = |finding: &Finding| {
                self.looks_for(&finding.code)
                    && !matches!(self.state(source, finding), State::Waived { .. })
            };
            match mend::mend(source, &text, &document, self.catalog, &wanted, self.fix) {
                Ok(Some((result, after, after_text))) => {
                    if self.fix == FixMode::Write {
                        (document, text) = (after, after_text);
                    }
                    mended = Some(result);
                }
                Ok(None) => {}
                Err(fault) => return self.fault(source, fault),
            }
        }
        let mut checked: Vec<Checked> = workflows(&document)
            .map(|(prefix, workflow)| self.workflow(source, &text, prefix, workflow))
            .collect();
        if let Some(first) = checked.first_mut() {
            first.mended = mended;
        }
        Outcome::Checked(checked)
    }

    fn workflow(&self, source: &Source, text: &str, prefix: String, workflow: &Value) -> Checked {
        let mut findings = validate::validate_value(workflow, self.catalog);
        if prefix.is_empty() {
            findings.extend(source.found.iter().cloned());
        }
        findings.retain(|f| self.looks_for(&f.code));
        for finding in &mut findings {
            finding.pointer.insert_str(0, &prefix);
            if let Some(place) = &mut finding.place {
                place.insert_str(0, &prefix);
            }
            if !prefix.is_empty() {
                // Two workflows of one file may have the same finding.
                let whose = workflow.get("id").map_or(prefix.clone(), Value::to_string);
                finding.id = format!("{}@{}", finding.id, short_hash(&whose));
            }
        }
        let exact = |f: &Finding| f.place.as_deref().unwrap_or(&f.pointer).to_owned();
        let exact: Vec<String> = findings.iter().map(exact).collect();
        let places = locate(text, exact.iter().map(String::as_str));
        let text_at = |key: &str| workflow.get(key).and_then(Value::as_str).map(str::to_owned);
        Checked {
            path: source.shown(),
            workflow: text_at("name"),
            nodes: workflow
                .get("nodes")
                .and_then(Value::as_array)
                .map_or(0, Vec::len),
            findings: self.judged(source, findings.into_iter().zip(places)),
            mended: None,
        }
    }

    fn judged(
        &self,
        source: &Source,
        findings: impl Iterator<Item = (Finding, Place)>,
    ) -> Vec<Judged> {
        findings
            .map(|(finding, place)| Judged {
                state: self.state(source, &finding),
                finding,
                place,
            })
            .collect()
    }

    fn state(&self, source: &Source, finding: &Finding) -> State {
        if !self.waivers.is_empty() {
            let path = source::relative(&source.path, &self.waiver_root);
            let waiver = self
                .waivers
                .iter()
                .find(|w| w.holds_on(self.today) && w.means(finding, &path));
            if let Some(waiver) = waiver {
                return State::Waived {
                    reason: waiver.reason.clone(),
                    expires: waiver.expires,
                };
            }
        }
        match self.baseline {
            Some(baseline)
                if baseline.knows(
                    &source::relative(&source.path, &self.baseline_root),
                    &finding.id,
                ) =>
            {
                State::Known
            }
            _ => State::Open,
        }
    }

    /// The file as a whole is the finding.
    fn fault(&self, source: &Source, fault: Fault) -> Outcome {
        let finding = Finding {
            id: short_hash(fault.code),
            code: fault.code.to_owned(),
            severity: Severity::Error,
            node: None,
            node_id: None,
            pointer: String::new(),
            place: None,
            message: fault.message,
            fix: None,
        };
        let found = self
            .looks_for(&finding.code)
            .then_some((finding, fault.place));
        Outcome::Checked(vec![Checked {
            path: source.shown(),
            workflow: None,
            nodes: 0,
            findings: self.judged(source, found.into_iter()),
            mended: None,
        }])
    }
}

fn holds_workflows(document: &Value) -> bool {
    document.get("nodes").is_some() || workflows(document).any(|(prefix, _)| !prefix.is_empty())
}

/// Enough of a hash to tell apart what stands in one file.
fn short_hash(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod check_tests;

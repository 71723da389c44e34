//! The totals of a check, and whether it failed.

use super::check::{Checked, State};
use agentctl_n8n::finding::{Finding, Severity};
use serde::Serialize;
use std::collections::BTreeMap;

/// The lowest severity that fails a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threshold {
    Error,
    Warning,
    Never,
}

impl Threshold {
    /// Does a finding like this fail the check, if it is neither known nor waived?
    pub fn fails(self, finding: &Finding) -> bool {
        match self {
            Threshold::Never => false,
            Threshold::Error => finding.severity == Severity::Error,
            Threshold::Warning => finding.severity >= Severity::Warning,
        }
    }
}

/// Errors, warnings and infos are those that are open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub files: usize,
    /// Without an open finding.
    pub clean: usize,
    /// JSON files that are no workflows.
    pub skipped: Vec<String>,
    pub errors: usize,
    pub warnings: usize,
    pub infos: usize,
    /// In the baseline.
    pub known: usize,
    pub waived: usize,
    pub fixed: usize,
    /// Entries of the baseline whose findings are gone from the files that were checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_gone: Option<usize>,
    /// Waivers that no longer hold, as `code (until DAY: reason)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expired_waivers: Vec<String>,
    /// How many open findings have each code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_code: BTreeMap<String, usize>,
    pub failed: bool,
}

impl Summary {
    pub fn add(&mut self, checked: &Checked, threshold: Threshold) {
        self.files += 1;
        let mut clean = true;
        for judged in &checked.findings {
            match judged.state {
                State::Known => self.known += 1,
                State::Waived { .. } => self.waived += 1,
                State::Open => {
                    clean = false;
                    let code = judged.finding.code.clone();
                    *self.by_code.entry(code).or_default() += 1;
                    self.failed |= threshold.fails(&judged.finding);
                    match judged.finding.severity {
                        Severity::Error => self.errors += 1,
                        Severity::Warning => self.warnings += 1,
                        Severity::Info => self.infos += 1,
                    }
                }
            }
        }
        self.clean += usize::from(clean);
        if let Some(mended) = checked.mended.as_ref().filter(|m| m.written) {
            self.fixed += mended.fixed.len();
        }
    }
}

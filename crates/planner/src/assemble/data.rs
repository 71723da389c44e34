//! Work on the data inside: filters, sums, order, numbers of items, files.

use super::{Reading, field, figure};
use crate::clause::{Clause, Phrase};
use crate::plan::{Cond, Does, Measure, Step, Val};

/// Names of file formats, by the concepts and words that say them.
pub(super) const FORMATS: &[(&str, &str)] = &[
    ("csv", "csv"),
    ("pdf", "pdf"),
    ("json", "json"),
    ("excel", "xlsx"),
    ("xlsx", "xlsx"),
    ("html", "html"),
];

impl Reading<'_> {
    /// "Ignore …", "keep only …".
    pub(super) fn filter(&mut self, clause: &Clause) -> Vec<Step> {
        let keeps = clause.calls("KEEP");
        let alone = Clause {
            verb: None,
            ..clause.clone()
        };
        let told = self.sent_by(&alone).or_else(|| self.condition(&alone));
        let Some(condition) = told else {
            return Vec::new();
        };
        let condition = if keeps {
            condition
        } else {
            Cond::Not {
                of: Box::new(condition),
            }
        };
        vec![self.simple(clause, Does::Filter { condition })]
    }

    pub(super) fn measured(&mut self, clause: &Clause, frame: &str) -> Vec<Step> {
        let op = match frame {
            "SUM" => "sum",
            "COUNT" => "count",
            _ => "average",
        };
        let by: Vec<Val> = clause
            .after
            .iter()
            .filter(|p| matches!(p.prep.as_str(), "per" | "by"))
            .map(|p| field(&self.field_name(p)))
            .collect();
        let of = clause
            .after
            .iter()
            .find(|p| p.prep.is_empty() || p.prep == "of")
            .map(|p| self.field_name(p))
            .filter(|w| !w.is_empty());
        let Some(of) = of else {
            return Vec::new();
        };
        self.topic.many = !by.is_empty();
        vec![self.simple(
            clause,
            Does::Summarize {
                measures: vec![Measure {
                    op: op.into(),
                    of: field(&of),
                }],
                by,
            },
        )]
    }

    pub(super) fn sorted(&mut self, clause: &Clause) -> Vec<Step> {
        let by = clause
            .after
            .iter()
            .find(|p| p.prep == "by")
            .map(|p| self.field_name(p))
            .filter(|by| !by.is_empty());
        let descending = ["descending", "highest", "newest", "largest", "latest"]
            .iter()
            .any(|w| self.said(clause).to_lowercase().contains(w));
        by.into_iter()
            .map(|by| {
                self.simple(
                    clause,
                    Does::Sort {
                        by: field(&by),
                        descending,
                    },
                )
            })
            .collect()
    }

    pub(super) fn limited(&mut self, clause: &Clause) -> Vec<Step> {
        let n = clause
            .phrases()
            .flat_map(|p| p.numbers.iter())
            .find_map(|n| figure(self.raw(*n)));
        n.into_iter()
            .map(|n| self.simple(clause, Does::LimitTo { n: n as u32 }))
            .collect()
    }

    pub(super) fn keys(&self, clause: &Clause) -> Vec<Val> {
        clause
            .after
            .iter()
            .filter(|p| matches!(p.prep.as_str(), "by" | "on"))
            .map(|p| field(&self.field_name(p)))
            .collect()
    }

    pub(super) fn converted(&mut self, clause: &Clause) -> Vec<Step> {
        self.file_for(clause)
    }

    /// A file that a clause asks for ("as a CSV"): the step that makes it.
    pub(super) fn file_for(&mut self, clause: &Clause) -> Vec<Step> {
        let said = |p: &Phrase| {
            let words = self.words(p).to_lowercase();
            FORMATS
                .iter()
                .find(|(w, _)| words.split([' ', '-']).any(|x| x == *w))
                .map(|(_, f)| *f)
        };
        let format = clause
            .after
            .iter()
            .filter(|p| matches!(p.prep.as_str(), "as" | "" | "in" | "into" | "to" | "with"))
            .find_map(said);
        let Some(format) = format.filter(|_| !self.topic.file) else {
            return Vec::new();
        };
        self.topic.file = true;
        self.topic.many = false;
        vec![self.simple(
            clause,
            Does::ToFile {
                format: format.into(),
                file_name: None,
            },
        )]
    }
}

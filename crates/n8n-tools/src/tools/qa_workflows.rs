//! `qa_workflows`: what `agentctl qa` says of the workflows that there are, or of a document that is not written yet, with the project's
//! waivers. Nothing is written, and it is no final verdict of a run.

use super::content::{bad_cursor, counts};
use super::n8n::N8n;
use crate::arguments::{arguments, cursor, text};
use crate::backend::{BackendErrorKind, ListQuery, Stored, list_all};
use crate::capability as can;
use crate::sync;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::length::written_length;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, PAGE_BYTES, Read};
use agentctl_n8n::finding::Finding;
use agentctl_n8n::{WorkflowId, rehearsal};
use agentctl_qa::rules::meant;
use agentctl_qa::{Check, Checked, FixMode, Outcome as OfFile, Source, State, Summary, Threshold};
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// So many workflows are read by one call; `next_cursor` goes on.
const MOST_READ: usize = 100;
/// Findings told of one workflow; the others are counted, and `check_workflow` or `validate_workflow` has them.
const MOST_TOLD: usize = 20;

arguments! {
    QaWorkflows {
        #[serde(default)]
        optional workflow_ids: Vec<String> = json!({"type": "array", "items": text("an id or a file path"), "description": "these; without it all"});
        optional document: Option<Map<String, Value>> = json!({"type": "object", "description": "check this (nodes, connections, …) instead: `create` of a draft, an export, a file's text"});
        #[serde(default)]
        optional only: Vec<String> = json!({"type": "array", "items": text("a code or a family of codes, e.g. n8n/")});
        optional cursor: Option<String> = cursor();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<QaWorkflows>(Head {
        for_clients: true,
        returns: Some(returns),
        ..Head::new(
            "qa_workflows",
            can::QA_WORKFLOWS,
            "Check all workflows, some, or a document that is not written yet: what n8n would refuse and what a run would fail on, with the project's waivers. Totals by code, findings by workflow, the most severe first.",
            QaWorkflows::schema,
        )
    })
}

fn returns() -> Value {
    let count = || json!({"type": "integer", "minimum": 0});
    json!({
        "type": "object",
        "required": ["workflows", "summary", "passed"],
        "properties": {
            "passed": {"type": "boolean", "description": "no open error among those checked by this call"},
            "summary": {"type": "object", "description": "of those checked by this call", "required": ["checked", "clean", "error_count", "warning_count", "info_count", "waived", "by_code"], "properties": {
                "checked": count(), "clean": count(), "error_count": count(), "warning_count": count(), "info_count": count(), "waived": count(),
                "by_code": {"type": "object", "additionalProperties": count()},
            }},
            "total": {"type": "integer", "description": "how many there are to check by this and the following calls"},
            "workflows": {"type": "array", "items": {"type": "object", "required": ["name", "error_count", "warning_count", "info_count", "findings"], "properties": {
                "id": {"type": "string"}, "name": {"type": "string"}, "file": {"type": "string"},
                "error_count": count(), "warning_count": count(), "info_count": count(),
                "findings": {"type": "array", "items": {"type": "object"}}, "more_findings": count(),
            }}},
            "broken": {"type": "array", "items": {"type": "object"}},
            "next_cursor": {"type": "string"},
        },
    })
}

impl Read for On<N8n, QaWorkflows> {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.qa(cx, &self.args))
    }
}

/// What was checked so far, within an answer's length.
#[derive(Default)]
struct Told {
    summary: Summary,
    workflows: Vec<Value>,
    bytes: usize,
}

impl Told {
    /// False: there is no room for it in this answer.
    fn take(&mut self, checked: &Checked, more: Map<String, Value>) -> bool {
        let open = (checked.findings.iter()).filter(|judged| judged.state == State::Open);
        let mut open: Vec<Finding> = open.map(|judged| judged.finding.clone()).collect();
        open.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let (errors, warnings, infos) = counts(&open);
        let mut entry = more;
        entry.insert("error_count".into(), json!(errors));
        entry.insert("warning_count".into(), json!(warnings));
        entry.insert("info_count".into(), json!(infos));
        let first: Vec<&Finding> = open.iter().take(MOST_TOLD).collect();
        entry.insert("findings".into(), json!(first));
        if open.len() > MOST_TOLD {
            entry.insert("more_findings".into(), json!(open.len() - MOST_TOLD));
        }
        let entry = Value::Object(entry);
        let length = written_length(&entry);
        if !self.workflows.is_empty() && self.bytes + length > PAGE_BYTES {
            return false;
        }
        self.bytes += length;
        self.summary.add(checked, Threshold::Error);
        self.workflows.push(entry);
        true
    }

    fn content(self) -> Map<String, Value> {
        let Summary {
            files,
            clean,
            errors,
            warnings,
            infos,
            waived,
            by_code,
            ..
        } = self.summary;
        let mut content = Map::new();
        content.insert("passed".into(), Value::Bool(errors == 0));
        content.insert("summary".into(), json!({
            "checked": files, "clean": clean, "error_count": errors, "warning_count": warnings, "info_count": infos, "waived": waived, "by_code": by_code,
        }));
        content.insert("workflows".into(), Value::Array(self.workflows));
        content
    }
}

impl N8n {
    async fn qa(&self, cx: &mut Cx<'_>, asked: &QaWorkflows) -> Answer {
        let only: Result<Vec<String>, _> = asked.only.iter().map(|code| meant(code)).collect();
        let only = match only {
            Ok(only) => only,
            Err(why) => {
                return Ok(Outcome::failed(
                    why.to_string(),
                    "arguments",
                    "correct the code",
                ));
            }
        };
        let check = Check {
            catalog: self.catalog,
            only: &only,
            ignore: &[],
            baseline: None,
            baseline_root: PathBuf::new(),
            waivers: &self.waivers,
            waiver_root: self.root.clone(),
            today: cx.recorder.now().to_zoned(jiff::tz::TimeZone::UTC).date(),
            fix: FixMode::Off,
        };
        if let Some(document) = &asked.document {
            if !asked.workflow_ids.is_empty() {
                let why = "give workflow_ids or a document, not both";
                return Ok(Outcome::failed(why, "arguments", "call it twice"));
            }
            return Ok(of_document(&check, document));
        }
        let (ids, broken) = match asked.workflow_ids.as_slice() {
            [] => {
                let listing = list_all(self.backend(), &ListQuery::default()).await?;
                let own = listing.workflows.into_iter();
                let own = own.filter(|w| !w.name.starts_with(rehearsal::COPY));
                (own.map(|w| w.id).collect(), listing.broken)
            }
            named => {
                let mut ids: Vec<WorkflowId> = Vec::new();
                for name in named {
                    ids.push(self.backend.resolve(name).await?);
                }
                (ids, Vec::new())
            }
        };
        let from = match asked.cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(at)) if at <= ids.len() => at,
            Some(_) => return Ok(bad_cursor("this is no cursor of this answer".to_owned())),
        };
        let mut read: Vec<(usize, Stored)> = Vec::new();
        for (at, id) in ids.iter().enumerate().skip(from).take(MOST_READ) {
            match self.backend.get(id).await {
                Ok(stored) => read.push((at, stored)),
                // Listed a moment ago, and gone since.
                Err(error)
                    if error.kind == BackendErrorKind::NotFound
                        && asked.workflow_ids.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        let sources = read.iter().map(|(_, stored)| source(&self.root, stored));
        let sources: Vec<Source> = sources.collect();
        let mut told = Told::default();
        let mut next = (from + MOST_READ).min(ids.len());
        for ((at, stored), checked) in read.iter().zip(checked(&check, &sources)) {
            if let Some(checked) = checked
                && !told.take(&checked, named(stored))
            {
                next = *at;
                break;
            }
        }
        let mut content = told.content();
        content.insert("total".into(), json!(ids.len()));
        if !broken.is_empty() {
            let first: Vec<_> = broken.iter().take(MOST_TOLD).collect();
            content.insert("broken".into(), json!(first));
        }
        if next < ids.len() {
            content.insert("next_cursor".into(), json!(next.to_string()));
        }
        Ok(Outcome::Ok(Value::Object(content)))
    }
}

fn named(stored: &Stored) -> Map<String, Value> {
    let mut named = Map::new();
    named.insert("id".into(), json!(stored.id));
    named.insert("name".into(), json!(stored.workflow.name()));
    if let Some(file) = &stored.file {
        named.insert("file".into(), json!(file));
    }
    named
}

/// The workflow where a waiver would look for it.
fn source(root: &Path, stored: &Stored) -> Source {
    let path = match &stored.file {
        Some(file) => root.join(file),
        None => PathBuf::from("n8n").join(&stored.id.0),
    };
    Source::held(path, sync::file(stored, true, None))
}

fn of_document(check: &Check<'_>, document: &Map<String, Value>) -> Outcome {
    let text = Value::Object(document.clone()).to_string();
    let source = Source::held(PathBuf::from("document"), text);
    let of_it = checked(check, &[source]).into_iter().flatten().next();
    let Some(checked) = of_it else {
        return Outcome::failed(
            "the document is no workflow: it has no list of nodes",
            "arguments",
            "give an object with nodes and connections",
        );
    };
    let mut told = Told::default();
    let name = checked.workflow.clone().unwrap_or_default();
    told.take(&checked, Map::from_iter([("name".to_owned(), json!(name))]));
    let mut content = told.content();
    content.insert("total".into(), json!(1));
    Outcome::Ok(Value::Object(content))
}

/// On threads with room for values that are nested deep. None: it is no workflow.
fn checked(check: &Check<'_>, sources: &[Source]) -> Vec<Option<Checked>> {
    let mut found = Vec::with_capacity(sources.len());
    let take = &mut |_: &Source, outcome: OfFile| -> Result<(), Infallible> {
        found.push(match outcome {
            OfFile::Checked(of_file) => of_file.into_iter().next(),
            OfFile::Skipped(_) => None,
        });
        Ok(())
    };
    let Ok(()) = check.all(sources, &|outcome| outcome, take);
    found
}

//! `validate_structure` and `validate_configuration`: the two halves of a check, each a tool for who can mend what it finds. They
//! pass where no error is there that was not there when the run began.

use super::content::head;
use super::findings::report;
use super::n8n::N8n;
use crate::arguments::{arguments, cursor, text};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_n8n::validate::{Half, rule};
use agentctl_n8n::{Finding, Severity};
use serde::Deserialize;
use serde_json::{Value, json};

arguments! {
    ValidateHalf {
        optional workflow_id: Option<String> = text("its id; without it the one that was made in this turn");
        optional cursor: Option<String> = cursor();
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Structure(ValidateHalf);

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Configuration(ValidateHalf);

pub(super) fn structure() -> Tool<N8n> {
    Tool::read::<Structure>(Head::new(
        "validate_structure",
        can::VALIDATE_PART,
        "Check nodes and connections of a workflow. `passed`: there is no error that was not there before this turn.",
        ValidateHalf::schema,
    ))
}

pub(super) fn configuration() -> Tool<N8n> {
    Tool::read::<Configuration>(Head::new(
        "validate_configuration",
        can::VALIDATE_PART,
        "Check the values of a workflow's nodes. `passed`: there is no error that was not there before this turn.",
        ValidateHalf::schema,
    ))
}

impl Read for On<N8n, Structure> {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.check_half(cx, &self.args.0, Half::Structure))
    }
}

impl Read for On<N8n, Configuration> {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.check_half(cx, &self.args.0, Half::Configuration))
    }
}

/// The one workflow that the run made.
fn only<'a>(cx: &'a Cx<'_>) -> Option<&'a str> {
    let mut made = cx.guards.log().created();
    made.next().filter(|_| made.next().is_none())
}

impl N8n {
    async fn check_half(&self, cx: &mut Cx<'_>, asked: &ValidateHalf, half: Half) -> Answer {
        let Some(id) = asked.workflow_id.as_deref().or_else(|| only(cx)) else {
            return Ok(Outcome::failed(
                "which workflow is meant is not said, and this turn has not made just one",
                "arguments",
                "name it by its id",
            ));
        };
        let stored = self.stored(id).await?;
        let of_half = |f: &Finding| rule(&f.code).is_some_and(|rule| rule.half == half);
        let mut findings = self.findings(&stored.workflow);
        findings.retain(of_half);
        let errors = findings.iter().filter(|f| f.severity == Severity::Error);
        let errors: Vec<&Finding> = errors.collect();
        let new = match errors.is_empty() || cx.guards.log().made(&stored.id.0) {
            true => errors.len(),
            false => {
                let before = match (
                    cx.guards.log().snapshots(&stored.id.0).is_empty(),
                    self.found(cx, &stored),
                ) {
                    // A workflow that the run has not changed is as it was.
                    (true, _) => findings.clone(),
                    (false, Ok(Some(found))) => self.findings(&found),
                    // How it was is not known, so nothing is old.
                    (false, Ok(None) | Err(_)) => Vec::new(),
                };
                let is_old = |f: &&&Finding| before.iter().any(|old| old.id == f.id);
                errors.len() - errors.iter().filter(is_old).count()
            }
        };
        let outcome = report(head(&stored), &findings, asked.cursor.as_deref());
        Ok(match outcome {
            Outcome::Ok(Value::Object(mut content)) => {
                content.insert("passed".into(), json!(new == 0));
                content.insert("new_error_count".into(), json!(new));
                Outcome::Ok(Value::Object(content))
            }
            other => other,
        })
    }
}

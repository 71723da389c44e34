//! Two states of what a run changed, side by side.

use super::{
    RunError,
    earlier_states::{Believe, EarlierStates},
    history::{self, Made},
    inspect::{self, AllRuns},
};
use crate::{
    redact::Redactor,
    store::Project,
    toolset::{Difference, Document, ResourceId, Resources, keyed},
};
use serde::{Deserialize, Serialize};

/// Which states are compared. Numbers are those of the run's or of the resource's history.
pub enum Compare<'r> {
    /// What a run did: from what it started from to what it left. None: the active run.
    Run {
        run: Option<String>,
        from: Option<u32>,
        to: Option<u32>,
    },
    /// From before the last run that changed the resource to how it is now.
    Resource {
        runs: &'r AllRuns,
        named: String,
        from: Option<u32>,
        to: Option<u32>,
    },
}

/// One resource in two states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    #[serde(flatten, with = "keyed")]
    pub resource: ResourceId,
    pub from: Side,
    pub to: Side,
    #[serde(flatten)]
    pub difference: Difference,
    /// The two states whole, with their secrets. Not part of the JSON.
    #[serde(skip)]
    pub documents: (Option<Document>, Option<Document>),
}

/// One state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The state after this change; 0: before the first. None: as it is now.
    pub change: Option<u32>,
    /// None: there was no such resource.
    pub revision: Option<String>,
}

/// Compares what the request names.
pub async fn compare(
    project: &Project,
    resources: &dyn Resources,
    redactor: &Redactor,
    what: Compare<'_>,
) -> Result<Vec<Compared>, RunError> {
    let states = EarlierStates {
        project,
        resources,
        believe: Believe::Any,
    };
    match what {
        Compare::Run { run, from, to } => {
            let run_id = inspect::run_named(project, run.as_deref())?;
            let made = inspect::changes(project, &run_id)?;
            let last = made.last().map_or(0, |m| m.number);
            let what = format!("run {run_id}");
            let (from, to) = (
                within(from, 0, last, &what)?,
                within(to, last, last, &what)?,
            );
            let mut compared = Vec::new();
            for id in history::changed(&made) {
                let of_it = history::only(&made, &id);
                compared.push(one(&states, redactor, &id, &of_it, from, Some(to)).await?);
            }
            Ok(compared)
        }
        Compare::Resource {
            runs,
            named,
            from,
            to,
        } => {
            let (id, made) = runs.changes(resources, &named).await?;
            let last = made.last().map_or(0, |m| m.number);
            let what = format!("{} {id:?}", resources.kind());
            let from = within(from, history::before_last_run(&made), last, &what)?;
            let to = to
                .map(|to| within(Some(to), last, last, &what))
                .transpose()?;
            Ok(vec![one(&states, redactor, &id, &made, from, to).await?])
        }
    }
}

/// The number asked for, when there is such a state.
pub(super) fn within(
    asked: Option<u32>,
    default: u32,
    last: u32,
    what: &str,
) -> Result<u32, RunError> {
    match asked {
        None => Ok(default),
        Some(number) if number <= last => Ok(number),
        Some(number) => Err(RunError::Usage(format!(
            "there is no change {number} of {what}: it has {}; 0 is the state before the first",
            match last {
                0 => "no changes".to_owned(),
                1 => "change 1 only".to_owned(),
                last => format!("changes 1 to {last}"),
            }
        ))),
    }
}

async fn one(
    states: &EarlierStates<'_>,
    redactor: &Redactor,
    id: &str,
    made: &[Made],
    from: u32,
    to: Option<u32>,
) -> Result<Compared, RunError> {
    let now = states.now(id).await?;
    let before = states.document(id, made, from, now.as_ref()).await?;
    let before = before.map(|copy| copy.document);
    let after = match to {
        Some(to) => {
            let copy = states.document(id, made, to, now.as_ref()).await?;
            copy.map(|copy| copy.document)
        }
        None => now.map(|now| now.document),
    };
    let side = |change: Option<u32>, document: Option<&Document>| Side {
        change,
        revision: document.map(|document| document.revision.clone()),
    };
    let resources = states.resources;
    Ok(Compared {
        resource: ResourceId::new(resources.kind(), id),
        from: side(Some(from), before.as_ref()),
        to: side(to, after.as_ref()),
        difference: resources.difference(redactor, before.as_ref(), after.as_ref()),
        documents: (before, after),
    })
}

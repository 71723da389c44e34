//! Runs that belong together, by what their journals say: a call in one is worked on in the other. Both have to say it, so that no
//! journal leads to a run that knows nothing of it. Reading only.

use super::{RunError, RunUsage};
use crate::store::{Link, Project};
use crate::view::RunView;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A run that worked on a call of another one.
#[derive(Debug, Clone)]
pub struct Linked {
    pub link: Link,
    /// From 1: how many runs stand above it.
    pub depth: usize,
    /// Err: why it cannot be told of, in words.
    pub view: Result<RunView, String>,
}

/// What such a run used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsedByLinked {
    pub run_id: String,
    pub pack: String,
    pub total: RunUsage,
}

/// A run as its journal tells it.
pub fn view(project: &Project, run_id: &str) -> Result<RunView, RunError> {
    let mut view = RunView::default();
    project.read_run_each(run_id, &mut |record, _| view.apply(record))?;
    Ok(view)
}

/// The runs that worked on calls of this one, each followed by those that worked on its own; in the order in which they were begun.
pub fn linked(project: &Project, of: &RunView) -> Vec<Linked> {
    let mut known = BTreeSet::from([of.run_id.clone()]);
    let mut all = Vec::new();
    follow(project, of, &mut known, 1, &mut all);
    all
}

fn follow(
    project: &Project,
    of: &RunView,
    known: &mut BTreeSet<String>,
    depth: usize,
    all: &mut Vec<Linked>,
) {
    for link in of.children() {
        if !known.insert(link.run_id.clone()) {
            continue;
        }
        let child = child(project, of, link);
        let further = child.as_ref().ok().cloned();
        all.push(Linked {
            link: link.clone(),
            depth,
            view: child,
        });
        if let Some(further) = further {
            follow(project, &further, known, depth + 1, all);
        }
    }
}

fn child(project: &Project, of: &RunView, link: &Link) -> Result<RunView, String> {
    let child = view(project, &link.run_id).map_err(|e| e.to_string())?;
    match child.parent() {
        Some(parent) if parent.run_id == of.run_id => Ok(child),
        _ => Err(format!(
            "its journal does not say that it worked for run {}",
            of.run_id
        )),
    }
}

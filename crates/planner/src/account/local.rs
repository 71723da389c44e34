//! Which nodes answer for which part of a request. A name is answered for by the nodes that were made of the part where it
//! stands, not by a word that happens to stand in another node.

use super::evidence::Evidence;
use super::{But, Fate};
use crate::chart::{Chart, What};
use agentctl_n8n::Workflow;
use std::cell::OnceCell;
use std::ops::Range;

/// A part of the request, in bytes.
struct Part<'a> {
    at: Range<usize>,
    nodes: &'a [String],
}

pub(super) struct Local<'a> {
    request: &'a str,
    workflow: Option<&'a Workflow>,
    parts: Vec<Part<'a>>,
    /// The evidence of what stands in each part, and, last, in none of them: what starts the workflow.
    evidence: Vec<OnceCell<Evidence>>,
}

impl<'a> Local<'a> {
    pub fn of(request: &'a str, workflows: &[&'a Workflow], but: &But<'a>) -> Self {
        let workflow = match workflows {
            [only] if !but.made.is_empty() => Some(*only),
            _ => None,
        };
        let place = |said: &str| request.find(said).map(|at| at..at + said.len());
        let parts: Vec<Part<'a>> = but
            .made
            .iter()
            .filter(|m| !m.said.is_empty())
            .filter_map(|m| {
                place(&m.said).map(|at| Part {
                    at,
                    nodes: &m.nodes,
                })
            })
            .collect();
        let evidence = (0..=parts.len()).map(|_| OnceCell::new()).collect();
        Local {
            request,
            workflow,
            parts,
            evidence,
        }
    }

    /// The fate of a name that was found to be built: it stays so where the nodes of its own part hold it.
    pub fn narrowed(&self, chart: &Chart, at: usize, fate: Fate) -> Fate {
        let item = chart.item(at);
        let word = matches!(item.what, What::Unknown | What::Word(_));
        if !word || !matches!(fate, Fate::Built { .. }) {
            return fate;
        }
        let stands = |p: &usize| {
            self.parts
                .get(*p)
                .is_some_and(|p| p.at.contains(&item.from))
        };
        let mut own: Vec<usize> = (0..self.parts.len()).filter(stands).collect();
        if own.is_empty() {
            own.push(self.parts.len());
        }
        let mut evidence = own.iter().map(|part| self.evidence(*part));
        match evidence.any(|e| e.is_none_or(|e| e.names(&item.text))) {
            true => fate,
            false => Fate::Missing,
        }
    }

    fn evidence(&self, part: usize) -> Option<&Evidence> {
        let workflow = self.workflow?;
        let made = |name: &str| self.parts.iter().any(|p| p.nodes.iter().any(|n| n == name));
        let keep = |name: &str| match self.parts.get(part) {
            Some(part) => part.nodes.iter().any(|n| n == name),
            None => !made(name),
        };
        let cell = self.evidence.get(part)?;
        Some(cell.get_or_init(|| {
            let mut own = workflow.clone();
            own.nodes.retain(|n| keep(n.name()));
            Evidence::of(&[&own], self.request, false)
        }))
    }
}

//! Many runs together: how they ended, what blocked them, which rules stopped calls, which learnings helped.

use super::{Analysis, Kind};
use crate::store::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trends {
    pub runs: usize,
    pub complete: usize,
    pub blocked: usize,
    /// No end yet, waiting, interrupted.
    pub open: usize,
    pub other: usize,
    /// First causes, most frequent first: (kind, finding code if any, runs).
    pub causes: Vec<(Kind, Option<String>, usize)>,
    /// (rule, calls)
    pub stopped: Vec<(String, usize)>,
    /// (node type, runs that used it without a look-up)
    pub gaps: Vec<(String, usize)>,
    /// (learning, runs that read it, of these complete)
    pub learnings: Vec<(String, usize, usize)>,
    /// Rounds of repair, and those that brought new errors.
    pub repairs: usize,
    pub regressions: usize,
    pub model_calls: u64,
    pub tool_calls: u64,
    /// None: the price of a run is unknown.
    pub cost_usd: Option<f64>,
}

pub fn trends(runs: &[Analysis]) -> Trends {
    let mut all = Trends {
        runs: runs.len(),
        cost_usd: Some(0.0),
        ..Trends::default()
    };
    let mut causes: BTreeMap<(Kind, Option<String>), usize> = BTreeMap::new();
    let mut stopped: BTreeMap<String, usize> = BTreeMap::new();
    let mut gaps: BTreeMap<String, usize> = BTreeMap::new();
    let mut learnings: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for run in runs {
        let complete = run.outcome == Some(Outcome::Complete);
        match run.outcome {
            Some(Outcome::Complete) => all.complete += 1,
            Some(Outcome::Blocked) => all.blocked += 1,
            None | Some(Outcome::Waiting | Outcome::Interrupted) => all.open += 1,
            Some(_) => all.other += 1,
        }
        if let Some(cause) = &run.root_cause {
            *causes.entry((cause.kind, cause.code.clone())).or_default() += 1;
        }
        for stop in &run.stopped {
            *stopped.entry(stop.rule.clone()).or_default() += 1;
        }
        for gap in &run.gaps {
            *gaps.entry(gap.node_type.clone()).or_default() += 1;
        }
        for id in &run.read {
            let of = learnings.entry(id.clone()).or_default();
            of.0 += 1;
            of.1 += usize::from(complete);
        }
        all.repairs += run.attempts.len();
        all.regressions += run.attempts.iter().filter(|a| !a.new.is_empty()).count();
        all.model_calls += run.cost.model_calls;
        all.tool_calls += run.cost.tool_calls;
        if run.cost.model_calls > 0 {
            all.cost_usd = all.cost_usd.zip(run.cost.cost_usd).map(|(a, b)| a + b);
        }
    }
    all.causes = causes.into_iter().map(|((k, c), n)| (k, c, n)).collect();
    all.causes.sort_by_key(|(.., n)| std::cmp::Reverse(*n));
    all.stopped = most(stopped);
    all.gaps = most(gaps);
    all.learnings = learnings
        .into_iter()
        .map(|(id, (r, p))| (id, r, p))
        .collect();
    all.learnings
        .sort_by_key(|(_, r, p)| std::cmp::Reverse((*p, *r)));
    all
}

fn most(counts: BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut list: Vec<_> = counts.into_iter().collect();
    list.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    list
}

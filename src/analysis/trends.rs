//! Many runs together, one after the other: how they ended, what blocked them, which rules stopped calls, which learnings helped.

use super::{Analysis, Kind};
use agentctl_base::question::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trends {
    pub runs: usize,
    pub complete: usize,
    /// Made, but not all that was asked for.
    pub draft: usize,
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
    /// Oldest first.
    pub weeks: Vec<Week>,
    /// Rounds of repair, and those that brought new errors.
    pub repairs: usize,
    pub regressions: usize,
    pub model_calls: u64,
    pub tool_calls: u64,
    /// None: the price of a run is unknown.
    pub cost_usd: Option<f64>,
}

/// The runs that began in one week.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Week {
    /// Its Monday, YYYY-MM-DD (UTC).
    pub monday: String,
    pub runs: usize,
    pub complete: usize,
    pub blocked: usize,
}

/// Counts run after run, so that never more than one is in memory.
#[derive(Debug, Clone, Default)]
pub struct Counting {
    all: Trends,
    causes: BTreeMap<(Kind, Option<String>), usize>,
    stopped: BTreeMap<String, usize>,
    gaps: BTreeMap<String, usize>,
    learnings: BTreeMap<String, (usize, usize)>,
    weeks: BTreeMap<String, Week>,
    unpriced: bool,
    cost_usd: f64,
}

impl Counting {
    pub fn add(&mut self, run: &Analysis) {
        let all = &mut self.all;
        all.runs += 1;
        let complete = run.outcome == Some(Outcome::Complete);
        let blocked = run.outcome == Some(Outcome::Blocked);
        match run.outcome {
            Some(Outcome::Complete) => all.complete += 1,
            Some(Outcome::Draft | Outcome::Partial) => all.draft += 1,
            Some(Outcome::Blocked) => all.blocked += 1,
            None | Some(Outcome::Waiting | Outcome::Interrupted) => all.open += 1,
            Some(_) => all.other += 1,
        }
        if let Some(monday) = run.timeline.first().and_then(|m| monday(&m.at)) {
            let week = self.weeks.entry(monday).or_default();
            week.runs += 1;
            week.complete += usize::from(complete);
            week.blocked += usize::from(blocked);
        }
        if let Some(cause) = &run.root_cause {
            let key = (cause.kind, cause.code.clone());
            *self.causes.entry(key).or_default() += 1;
        }
        for stop in &run.stopped {
            *self.stopped.entry(stop.rule.clone()).or_default() += 1;
        }
        for gap in &run.gaps {
            *self.gaps.entry(gap.node_type.clone()).or_default() += 1;
        }
        for id in &run.read {
            let of = self.learnings.entry(id.clone()).or_default();
            of.0 += 1;
            of.1 += usize::from(complete);
        }
        all.repairs += run.attempts.len();
        all.regressions += run.attempts.iter().filter(|a| !a.new.is_empty()).count();
        all.model_calls += run.cost.model_calls;
        all.tool_calls += run.cost.tool_calls;
        if run.cost.model_calls > 0 {
            self.unpriced |= run.cost.cost_usd.is_none();
            self.cost_usd += run.cost.cost_usd.unwrap_or(0.0);
        }
    }

    pub fn done(self) -> Trends {
        let mut causes: Vec<_> = self
            .causes
            .into_iter()
            .map(|((k, c), n)| (k, c, n))
            .collect();
        causes.sort_by_key(|(.., n)| std::cmp::Reverse(*n));
        let mut learnings: Vec<_> = self
            .learnings
            .into_iter()
            .map(|(id, (r, p))| (id, r, p))
            .collect();
        learnings.sort_by_key(|(_, r, p)| std::cmp::Reverse((*p, *r)));
        let weeks = self.weeks.into_iter();
        Trends {
            causes,
            learnings,
            stopped: most(self.stopped),
            gaps: most(self.gaps),
            weeks: weeks
                .map(|(monday, week)| Week { monday, ..week })
                .collect(),
            cost_usd: (!self.unpriced).then_some(self.cost_usd),
            ..self.all
        }
    }
}

fn monday(at: &str) -> Option<String> {
    let date: jiff::civil::Date = at.get(..10)?.parse().ok()?;
    let back = date.weekday().to_monday_zero_offset();
    let monday = date.checked_sub(jiff::Span::new().days(i64::from(back)));
    monday.ok().map(|date| date.to_string())
}

fn most(counts: BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut list: Vec<_> = counts.into_iter().collect();
    list.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    list
}

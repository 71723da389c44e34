//! A ledger in memory: what replicas share, without a network. Leases run out when a test says so, and it can be away.

use crate::store::{Entry, Fetched, Last, Lease, Ledger, LedgerError};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A call of [`MemoryLedger::fetch`] gives as many lines as these.
const AT_ONCE: usize = 3;

#[derive(Debug, Default)]
pub struct MemoryLedger {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    away: bool,
    /// How often lines were asked for.
    fetches: usize,
    runs: BTreeMap<String, Run>,
}

#[derive(Debug, Default)]
struct Run {
    lines: Vec<(String, String)>,
    fence: i64,
    held: bool,
    over: bool,
    gone: bool,
    /// The lease that was asked to end.
    stop: Option<i64>,
    kept: BTreeMap<String, Vec<u8>>,
}

impl MemoryLedger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reached(&self) -> Result<MutexGuard<'_, State>, LedgerError> {
        let state = self.state();
        match state.away {
            false => Ok(state),
            true => Err(LedgerError::Away {
                place: self.place().to_owned(),
                why: "a test took it away".to_owned(),
            }),
        }
    }

    pub fn set_away(&self, away: bool) {
        self.state().away = away;
    }

    pub fn fetches(&self) -> usize {
        self.state().fetches
    }

    /// The lease of a run runs out.
    pub fn run_out(&self, run: &str) {
        self.state().runs.get_mut(run).unwrap().over = true;
    }

    /// The lines of a run.
    pub fn lines(&self, run: &str) -> Vec<String> {
        let state = self.state();
        let run = state.runs.get(run);
        let lines = run.into_iter().flat_map(|run| &run.lines);
        lines.map(|(_, line)| line.clone()).collect()
    }

    /// Changes a line behind everybody's back.
    pub fn forge(&self, run: &str, seq: usize, line: &str) {
        self.state().runs.get_mut(run).unwrap().lines[seq - 1].1 = line.to_owned();
    }
}

impl Run {
    fn is_held(&self) -> bool {
        self.held && !self.over
    }

    fn held_by(&self, run: &str) -> LedgerError {
        LedgerError::Held {
            run: run.to_owned(),
            by: "another".to_owned(),
            seconds: 1,
        }
    }
}

impl Ledger for MemoryLedger {
    fn id(&self) -> &str {
        "in-memory"
    }

    fn place(&self) -> &str {
        "the test's memory"
    }

    fn lease(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn runs(&self) -> Result<Vec<(String, Last)>, LedgerError> {
        let state = self.reached()?;
        let runs = state.runs.iter().filter_map(|(id, run)| {
            let (hash, _) = run.lines.last()?;
            let last = Last {
                seq: run.lines.len() as u64,
                hash: hash.clone(),
            };
            Some((id.clone(), last))
        });
        Ok(runs.collect())
    }

    fn fetch(&self, run: &str, after: u64) -> Result<Fetched, LedgerError> {
        let mut state = self.reached()?;
        state.fetches += 1;
        let Some(found) = state.runs.get(run) else {
            return Ok(Fetched::default());
        };
        if found.gone {
            return Err(LedgerError::Gone {
                run: run.to_owned(),
            });
        }
        let after = usize::try_from(after).unwrap();
        let rest = found.lines.iter().skip(after).map(|(_, line)| line.clone());
        let lines: Vec<String> = rest.take(AT_ONCE).collect();
        Ok(Fetched {
            more: after + lines.len() < found.lines.len(),
            lines,
        })
    }

    fn take(&self, run: &str, begins: bool) -> Result<Lease, LedgerError> {
        let mut state = self.reached()?;
        let place = self.place().to_owned();
        let (name, known) = (run.to_owned(), state.runs.contains_key(run));
        match (begins, known) {
            (true, true) => return Err(LedgerError::Exists { run: name, place }),
            (false, false) => return Err(LedgerError::OnlyHere { run: name, place }),
            _ => {}
        }
        let found = state.runs.entry(name.clone()).or_default();
        if found.gone {
            return Err(LedgerError::Gone { run: name });
        }
        if found.is_held() {
            return Err(found.held_by(run));
        }
        found.fence += 1;
        (found.held, found.over) = (true, false);
        Ok(Lease {
            run: name,
            fence: found.fence,
        })
    }

    fn holder(&self, run: &str) -> Result<Option<LedgerError>, LedgerError> {
        let state = self.reached()?;
        let found = state.runs.get(run).filter(|found| found.is_held());
        Ok(found.map(|found| found.held_by(run)))
    }

    fn leave(&self, lease: &Lease) {
        if let Ok(mut state) = self.reached()
            && let Some(run) = state.runs.get_mut(&lease.run)
            && run.fence == lease.fence
        {
            run.held = false;
        }
    }

    fn abandon(&self, lease: &Lease) {
        if let Some(run) = self.state().runs.get_mut(&lease.run)
            && run.fence == lease.fence
        {
            run.over = true;
        }
    }

    fn append(&self, lease: &Lease, entries: &[Entry]) -> Result<(), LedgerError> {
        let mut state = self.reached()?;
        let lost = || LedgerError::Lost {
            run: lease.run.clone(),
        };
        let run = state.runs.get_mut(&lease.run).ok_or_else(lost)?;
        for entry in entries {
            let follows = run.lines.last().is_none_or(|(hash, _)| *hash == entry.prev);
            if run.fence != lease.fence || run.lines.len() as u64 + 1 != entry.seq || !follows {
                return Err(lost());
            }
            run.lines.push((entry.hash.clone(), entry.line.clone()));
        }
        Ok(())
    }

    fn keep(&self, run: &str, name: &str, bytes: &[u8]) -> Result<(), LedgerError> {
        let mut state = self.reached()?;
        let run = state.runs.entry(run.to_owned()).or_default();
        run.kept.entry(name.to_owned()).or_insert(bytes.to_vec());
        Ok(())
    }

    fn kept(&self, run: &str, name: &str) -> Result<Option<Vec<u8>>, LedgerError> {
        let state = self.reached()?;
        Ok(state
            .runs
            .get(run)
            .and_then(|run| run.kept.get(name).cloned()))
    }

    fn names(&self, run: &str) -> Result<Vec<String>, LedgerError> {
        let state = self.reached()?;
        let run = state.runs.get(run);
        Ok(run
            .into_iter()
            .flat_map(|run| run.kept.keys().cloned())
            .collect())
    }

    fn remove(&self, run: &str) -> Result<bool, LedgerError> {
        let mut state = self.reached()?;
        let Some(found) = state.runs.get_mut(run).filter(|found| !found.gone) else {
            return Ok(false);
        };
        if found.is_held() {
            return Err(found.held_by(run));
        }
        *found = Run {
            gone: true,
            fence: found.fence + 1,
            ..Run::default()
        };
        Ok(true)
    }

    fn removed(&self) -> Result<Vec<String>, LedgerError> {
        let state = self.reached()?;
        let gone = state.runs.iter().filter(|(_, run)| run.gone);
        Ok(gone.map(|(id, _)| id.clone()).collect())
    }

    fn abandoned(&self) -> Result<Vec<String>, LedgerError> {
        let state = self.reached()?;
        let over = state.runs.iter().filter(|(_, run)| run.held && run.over);
        Ok(over.map(|(id, _)| id.clone()).collect())
    }

    fn stop(&self, run: &str) -> Result<bool, LedgerError> {
        let mut state = self.reached()?;
        let Some(found) = state.runs.get_mut(run).filter(|found| found.is_held()) else {
            return Ok(false);
        };
        found.stop = Some(found.fence);
        Ok(true)
    }

    fn stops(&self) -> Result<Vec<String>, LedgerError> {
        let state = self.reached()?;
        let asked = state
            .runs
            .iter()
            .filter(|(_, run)| run.is_held() && run.stop == Some(run.fence));
        Ok(asked.map(|(id, _)| id.clone()).collect())
    }
}

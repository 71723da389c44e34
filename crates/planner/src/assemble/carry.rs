//! What is carried from one service to another: made there, taken out for it, moved over, or given out as a file.

use super::{Reading, on};
use crate::chart::Item;
use crate::clause::{Clause, Phrase};
use crate::lexicon::ServiceEntry;
use crate::plan::{Step, Verb};

impl Reading<'_> {
    /// "get new answers into Airtable", "turn mails into Todoist tasks": where the phrase stands that says what is made of what another
    /// service has.
    pub(super) fn carried(&self, clause: &Clause) -> Option<usize> {
        let into = |p: &Phrase| matches!(p.prep.as_str(), "into" | "to" | "onto");
        let acts = |p: &Phrase| {
            p.service
                .is_some_and(|s| !s.actions.is_empty() && !s.speaks() && !s.is("llm"))
        };
        let at = clause.after.iter().position(|p| into(p) && acts(p))?;
        let to = clause.after.get(at)?.service?;
        let taken = crate::cut::before(&clause.after, at);
        let other = |p: &Phrase| p.service.is_some_and(|s| s.key != to.key && !s.is("llm"));
        let came = || self.trigger_service().is_some_and(|s| s.key != to.key);
        let thing = |p: &Phrase| matches!(self.kind(p), "record" | "message" | "event" | "person");
        let own = taken.iter().any(thing) && came();
        (taken.iter().any(other) || own).then_some(at)
    }

    /// What is taken from one service, where it did not start the workflow, and made in another.
    pub(super) fn carry(&mut self, i: usize, clause: &Clause, at: usize) -> Vec<Step> {
        let part = |after: &[Phrase]| Clause {
            before: Vec::new(),
            after: after.to_vec(),
            ..clause.clone()
        };
        let taken = part(crate::cut::before(&clause.after, at));
        let made = part(crate::cut::from(&clause.after, at));
        let came = self.trigger_service();
        let read = taken
            .after
            .iter()
            .filter_map(|p| p.service)
            .any(|s| came.is_none_or(|c| c.key != s.key));
        let mut steps = match read {
            true => self.fetch(i, &taken, "GET"),
            false => Vec::new(),
        };
        steps.extend(self.create(i, &made, "CREATE"));
        steps
    }

    /// "export the Postgres table orders to Dropbox": the phrase of what is taken out of one service for another.
    pub(super) fn taken_out(&self, clause: &Clause) -> Option<usize> {
        let acts = |p: &Phrase| {
            p.service
                .is_some_and(|s| !s.actions.is_empty() && !s.is("llm"))
        };
        let first = clause.after.iter().position(&acts)?;
        let source = clause.after.get(first)?;
        let own = matches!(source.prep.as_str(), "" | "from" | "of");
        let other =
            |p: &Phrase| p.service.map(|s| &s.key) != source.service.map(|s| &s.key) && acts(p);
        // What started the workflow is at hand.
        let came = self.trigger_service().map(|s| &s.key) == source.service.map(|s| &s.key);
        (own && !came && clause.after.iter().any(other)).then_some(first)
    }

    /// "all contacts from HubSpot": what is taken stands before where it is taken from; the rest says where it goes.
    pub(super) fn take_out(&mut self, i: usize, clause: &Clause, at: usize) -> Vec<Step> {
        let source = Clause {
            before: Vec::new(),
            after: crate::cut::before(&clause.after, at + 1).to_vec(),
            verb: None,
            ..clause.clone()
        };
        let mut rest = clause.clone();
        rest.after.remove(at);
        let mut steps = self.fetch(i, &source, "GET");
        steps.extend(self.store(i, &rest, "STORE"));
        steps
    }

    /// The service whose files go to another one.
    pub(super) fn moved_from(&self, clause: &Clause) -> Option<&'static ServiceEntry> {
        let files = |s: &&'static ServiceEntry| s.is("files") && !s.actions.is_empty();
        let to = |p: &&Phrase| matches!(p.prep.as_str(), "to" | "into" | "onto" | "in" | "on");
        let target = clause
            .after
            .iter()
            .filter(to)
            .find_map(|p| p.service.filter(files))?;
        let from = clause.phrases().filter(|p| p.prep == "from");
        let from = from.filter_map(|p| p.service).find(files);
        let before = crate::cut::before(&self.chart.items, clause.from);
        let named = || before.iter().rev().filter_map(Item::service).find(files);
        let source = from.or_else(named)?;
        (source.key != target.key).then_some(source)
    }

    /// Files are stored in another service; what is moved is deleted where it was.
    pub(super) fn move_over(
        &mut self,
        i: usize,
        clause: &Clause,
        frame: &str,
        source: &'static ServiceEntry,
    ) -> Vec<Step> {
        let mut steps = self.store(i, clause, "STORE");
        if frame == "MOVE" && !steps.is_empty() {
            let object = Some("file".to_owned());
            steps.push(self.step("", on(source, Verb::Delete, object, Vec::new())));
        }
        steps
    }

    /// "export all Stripe charges as a CSV": the service is said with what is taken out of it.
    pub(super) fn exports(&self, clause: &Clause) -> bool {
        let acts = |p: &Phrase| p.service.is_some_and(|s| !s.actions.is_empty());
        let first = clause.phrases().find(|p| acts(p));
        // "the table in Postgres is exported": what is exported is its subject.
        let passive = clause.verb.as_ref().is_some_and(|v| v.passive);
        let subject = passive && clause.before.iter().any(acts);
        first.is_some_and(|p| subject || matches!(p.prep.as_str(), "" | "from" | "of"))
            && clause.phrases().filter(|p| acts(p)).count() == 1
    }

    pub(super) fn exported(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        let mut steps = self.fetch(i, clause, "GET");
        steps.extend(self.file_for(clause));
        steps
    }
}

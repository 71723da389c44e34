//! What is done again and again: batches with pauses, items that may fail while the others go on, things done only once.

use super::Reading;
use super::flow::{Kind, Tree};
use crate::clause::{Clause, Intro, Phrase};
use crate::lex::Lexicon;
use crate::plan::{Cmp, Cond, Does, Retry, Step, Verb};
use crate::time::TimeMeaning;

impl Reading<'_> {
    /// Whether a word of a clause can be a function word of a class.
    pub(super) fn can_say(&self, clause: &Clause, class: &str) -> bool {
        let lexicon = Lexicon::of(self.chart.language);
        let items = self.items(clause);
        items.iter().any(|i| lexicon.can_be(&i.text, class))
    }

    /// How many items go through at once: "in batches of 25", "10 per batch", "25 at a time", "one by one".
    pub(super) fn batch(&self, clause: &Clause) -> Option<u32> {
        if self.can_say(clause, "single") {
            return Some(1);
        }
        let noun = |i: &crate::chart::Item| i.noun().is_some_and(|n| n.concept == "batch");
        let items = self.items(clause);
        let lexicon = Lexicon::of(self.chart.language);
        let at = items
            .iter()
            .position(|i| lexicon.can_be(&i.text, "batch") || noun(i))?;
        let size = |i: &&crate::chart::Item| {
            let timed = clause
                .times
                .iter()
                .any(|t| i.from >= t.from && i.to <= t.to);
            (!timed && i.shape() == Some(crate::spot::Kind::Number))
                .then(|| super::figure(&i.text))
                .flatten()
        };
        let figure = crate::cut::from(items, at)
            .iter()
            .find_map(|i| size(&i))
            .or_else(|| {
                crate::cut::before(items, at)
                    .iter()
                    .rev()
                    .find_map(|i| size(&i))
            });
        let one = crate::cut::before(items, at).iter().any(|i| i.is("quant"))
            && items
                .get(at)
                .is_some_and(|i| lexicon.can_be(&i.text, "batch"));
        figure
            .filter(|n| (1.0..100_000.0).contains(n))
            .map(|n| n as u32)
            .or(one.then_some(1))
    }

    /// How long a clause lasts.
    pub(super) fn lasts(clause: &Clause) -> Option<u64> {
        clause.times.iter().find_map(|t| match t.means {
            TimeMeaning::Duration { seconds } => Some(seconds),
            TimeMeaning::Offset { seconds } => u64::try_from(seconds).ok(),
            TimeMeaning::Age { seconds, .. } => Some(seconds),
            _ => None,
        })
    }

    /// "2 seconds between batches", "take a break of 3 seconds": the pause of the loop that is open, or a wait.
    pub(super) fn pauses(&mut self, tree: &mut Tree, clause: &Clause) -> bool {
        let Some(seconds) = Self::lasts(clause) else {
            return false;
        };
        let said = clause.calls("WAIT")
            || clause
                .phrases()
                .any(|p| matches!(self.concept(p), "pause" | "batch"));
        let bare = clause
            .phrases()
            .all(|p| p.service.is_none() && p.names.is_empty());
        if !said || !bare || clause.intro == Intro::If {
            return false;
        }
        match tree.looping() {
            Some(pause) => *pause = Some(seconds),
            None if clause.calls("WAIT") => return false,
            None => {
                let said = self.said(clause);
                let step = self.step(&said, Does::Wait { seconds });
                tree.here().push(step);
            }
        }
        true
    }

    /// Whether a clause speaks of the time when all items went through.
    pub(super) fn ends(&self, clause: &Clause) -> bool {
        let lexicon = Lexicon::of(self.chart.language);
        let items = self.items(clause);
        let last = items
            .iter()
            .take(4)
            .any(|i| lexicon.can_be(&i.text, "last"));
        let done = matches!(clause.intro, Intro::When | Intro::If)
            && clause.phrases().any(|p| {
                p.states.iter().any(|s| {
                    self.chart
                        .item(*s)
                        .sense(crate::lex::Class::Adjective)
                        .is_some_and(|a| a.concept == "closed")
                })
            });
        let after = clause
            .before
            .iter()
            .chain(clause.after.first())
            .any(|p| p.prep == "after" && self.concept(p) == "batch");
        last || done || after
    }

    /// "Carry on with the others", "that must not stop the rest": the step before may fail.
    pub(super) fn spares(&mut self, tree: &mut Tree, clause: &Clause) -> bool {
        let fails = clause.calls("FAIL") && matches!(clause.intro, Intro::None | Intro::Else);
        let stops = (clause.calls("STOP") || fails) && self.denies(clause);
        if !(clause.calls("CONTINUE") && !self.denies(clause) || stops) {
            return false;
        }
        let bare = clause.phrases().all(|p| p.service.is_none());
        if bare {
            let said = self
                .failure_before(clause)
                .unwrap_or_else(|| clause.clone());
            self.may_fail(tree, &said);
        }
        bare
    }

    /// The clause of its sentence that speaks of the failure on which it goes on: "if a call fails just go on with the next one".
    fn failure_before(&self, clause: &Clause) -> Option<Clause> {
        let mut same = self
            .clauses
            .iter()
            .filter(|c| c.sentence == clause.sentence);
        same.find(|c| c.from < clause.from && self.fails(c))
            .cloned()
    }

    /// "… with the others", "… the rest": what is left over is the object of the clause before, no other way.
    pub(super) fn rests(&self, tree: &Tree, i: usize, clause: &Clause) -> bool {
        let before = i.checked_sub(1).and_then(|b| self.clauses.get(b));
        let object = before.is_some_and(|b| {
            b.sentence == clause.sentence
                && ["CONTINUE", "FILTER", "STOP", "FAIL"]
                    .iter()
                    .any(|f| b.calls(f))
        });
        let looping = matches!(tree.open.last().map(|o| &o.kind), Some(Kind::Loop(..)));
        let empty = clause.verb.is_none()
            && clause
                .phrases()
                .all(|p| p.names.is_empty() && p.service.is_none() && p.head.is_none())
            && self.clauses.get(i + 1).is_none_or(|n| {
                n.sentence != clause.sentence && !(n.line == clause.line && (n.arrow || n.colon))
            });
        object || empty || looping && clause.verb.is_none()
    }

    /// Whether a word of a clause denies it.
    pub(super) fn denies(&self, clause: &Clause) -> bool {
        let items = self.items(clause);
        clause.negated() || items.iter().any(|i| i.is("neg"))
    }

    /// Lets the step that a clause speaks of fail without stopping the rest.
    fn may_fail(&mut self, tree: &Tree, clause: &Clause) {
        if let Some(id) = self.failing_step(tree, clause)
            && !self.plan.lenient.contains(&id)
        {
            self.plan.lenient.push(id);
        }
    }

    /// The step whose failure a clause speaks of: the last one that its nouns name ("if a call fails"), else the last one that
    /// does more than read.
    pub(super) fn failing_step(&self, tree: &Tree, clause: &Clause) -> Option<String> {
        let mut steps: Vec<&Step> = Vec::new();
        tree.steps_so_far()
            .for_each(|step| last_first(step, &mut steps));
        steps.retain(|s| acts(s));
        let lexicon = Lexicon::of(self.chart.language);
        let nouns: Vec<&str> = clause.phrases().map(|p| self.concept(p)).collect();
        let words = clause.phrases().filter_map(|p| p.head(self.chart));
        let words: Vec<&str> = words.map(|i| i.text.as_str()).collect();
        let named = |step: &&&Step| {
            let Some(own) = self.clauses.iter().find(|c| self.said(c) == step.said) else {
                return false;
            };
            let verb = own.verb.as_ref().map(|v| v.sense.concept.as_str());
            let of_verb = |word: &&str| {
                let senses = lexicon.senses(word);
                senses.iter().any(|s| Some(s.concept.as_str()) == verb)
            };
            let object = |p: &Phrase| {
                let concept = self.concept(p);
                !concept.is_empty() && nouns.contains(&concept)
            };
            let service = |p: &Phrase| {
                let told = |s: &&crate::lexicon::ServiceEntry| {
                    self.services_of(own).iter().any(|o| o.key == s.key)
                };
                p.service.as_ref().is_some_and(told)
            };
            words.iter().any(of_verb) || own.phrases().any(object) || clause.phrases().any(service)
        };
        let writes = |s: &&&Step| !reads(s);
        let found = steps
            .iter()
            .find(named)
            .or_else(|| steps.iter().find(writes));
        found.or(steps.first()).map(|s| s.id.clone())
    }

    /// Whether a clause speaks of the failure of any step: "if anything goes wrong", "if the workflow fails".
    pub(super) fn fails_as_a_whole(&self, clause: &Clause) -> bool {
        let whole = |p: &Phrase| matches!(self.concept(p), "thing" | "workflow" | "step");
        clause.phrases().any(whole)
    }

    /// "If the upload fails", "if that does not work".
    pub(super) fn fails(&self, clause: &Clause) -> bool {
        clause.calls("FAIL") && !clause.negated()
            || clause.calls("SUCCEED") && clause.negated()
            || clause.calls("ANSWER") && clause.negated()
            || clause.verb.is_none()
                && clause.phrases().count() == 1
                && clause.phrases().any(|p| self.concept(p) == "error")
    }

    /// "If a mail can't be sent", "if it could not be saved": what was to be done before did not succeed.
    pub(super) fn is_not_done(&self, tree: &Tree, clause: &Clause) -> bool {
        let Some(verb) = clause.verb.as_ref().filter(|v| v.negated) else {
            return false;
        };
        let bare = clause
            .phrases()
            .all(|p| p.compared.is_none() && p.numbers.is_empty() && p.service.is_none());
        let before = self.chart.items.get(clause.from..verb.at).unwrap_or(&[]);
        let able = before.iter().any(|i| i.tells("able"));
        let last = tree.steps_so_far().find(|s| acts(s));
        let done = last.and_then(|s| self.clauses.iter().find(|c| self.said(c) == s.said));
        let same = done
            .and_then(|c| c.verb.as_ref())
            .is_some_and(|v| v.frame() == verb.frame());
        bare && (able || same) && (verb.passive || able) && last.is_some()
    }

    /// "If it fails for one of them, note …": a condition on the error of the step before, where the others go on.
    pub(super) fn fails_alone(
        &mut self,
        tree: &mut Tree,
        i: usize,
        clause: &Clause,
    ) -> Option<Cond> {
        let goes_on = crate::cut::from(&self.clauses, i)
            .iter()
            .take_while(|c| c.sentence == clause.sentence)
            .any(|c| c.calls("CONTINUE") || c.calls("STOP") && self.denies(c));
        if !goes_on && tree.looping().is_none() {
            return None;
        }
        self.may_fail(tree, clause);
        Some(Cond::Compare {
            left: super::field("error"),
            op: Cmp::Exists,
            right: super::lit(true),
        })
    }

    /// "A CVE must never be filed twice": what was handled in an earlier run is dropped before the last step that acts.
    pub(super) fn once_only(&mut self, tree: &mut Tree, clause: &Clause) -> bool {
        if !self.denies(clause)
            || !self.can_say(clause, "twice")
            || clause.calls("RETRY")
            || clause.intro == Intro::Because
        {
            return false;
        }
        let key = clause
            .phrases()
            .find(|p| {
                p.pronoun.is_none()
                    && matches!(self.kind(p), "record" | "field" | "text" | "web" | "person")
            })
            .map_or_else(
                || "id".to_owned(),
                |p| match self.kind(p) {
                    "person" => "email".to_owned(),
                    _ => self.words(p),
                },
            );
        let said = self.said(clause);
        let step = self.step(
            &said,
            Does::Dedupe {
                key: super::field(&key),
                window_seconds: None,
            },
        );
        let steps = tree.here();
        let at = steps
            .iter()
            .position(|s| acts(s) && !reads(s))
            .unwrap_or(steps.len());
        steps.insert(at, step);
        true
    }

    /// "Retry up to 3 times", "3 attempts".
    pub(super) fn retries(&mut self, clause: &Clause) -> bool {
        let counted = |p: &Phrase| self.concept(p) == "attempt" && !p.numbers.is_empty();
        let tried = clause.calls("TRY") && clause.phrases().any(|p| !p.numbers.is_empty());
        let attempts = clause.phrases().any(counted);
        let url = |p: &Phrase| p.literal(self.chart, crate::spot::Kind::Url).is_some();
        let alone = clause.phrases().all(|p| p.service.is_none() && !url(p));
        if !clause.calls("RETRY") && !tried && !attempts {
            return false;
        }
        let items = self.items(clause);
        let timed = |i: &&crate::chart::Item| {
            !clause.times.iter().any(|t| {
                matches!(t.means, TimeMeaning::Duration { .. }) && i.from >= t.from && i.to <= t.to
            })
        };
        let times = items
            .iter()
            .filter(timed)
            .find_map(|i| super::figure(&i.text));
        let attempted = clause
            .phrases()
            .filter(|p| counted(p))
            .flat_map(|p| &p.numbers);
        let times = attempted
            .filter_map(|n| super::figure(self.raw(*n)))
            .next()
            .or(times);
        let words = items.iter().find_map(|i| match i.text.as_str() {
            "twice" | "two" => Some(2.0),
            "three" => Some(3.0),
            _ => None,
        });
        self.plan.retry = Some(Retry {
            max_tries: times.or(words).map_or(3, |n| n as u32).clamp(2, 5),
            wait_seconds: Self::lasts(clause).and_then(|s| u32::try_from(s).ok()),
        });
        // A clause that does something besides is read on.
        alone || clause.calls("RETRY")
    }
}

/// A step with the steps within it, the last first.
fn last_first<'s>(step: &'s Step, found: &mut Vec<&'s Step>) {
    // What a join reads is no step by itself.
    if !matches!(step.does, Does::Join { .. }) {
        for steps in step.ways().into_iter().rev() {
            steps.iter().rev().for_each(|s| last_first(s, found));
        }
    }
    found.push(step);
}

/// Whether a step acts on the outside.
pub(super) fn acts(step: &Step) -> bool {
    matches!(
        step.does,
        Does::Service { .. } | Does::Http { .. } | Does::CallWorkflow { .. }
    )
}

pub(super) fn reads(step: &Step) -> bool {
    match &step.does {
        Does::Service { verb, .. } => matches!(
            verb,
            Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download
        ),
        Does::Http { method, .. } => method == "GET",
        _ => false,
    }
}

impl Tree {
    /// The pause of the loop that is open around the place.
    pub(super) fn looping(&mut self) -> Option<&mut Option<u64>> {
        self.open.iter_mut().rev().find_map(|o| match &mut o.kind {
            Kind::Loop(_, pause) if !o.on_second => Some(pause),
            _ => None,
        })
    }

    /// The steps before the place, the last first, those of the branches around it after its own.
    pub(super) fn steps_so_far(&self) -> impl Iterator<Item = &Step> {
        let open = self.open.iter().rev().flat_map(|o| {
            let own = if o.on_second { &o.second } else { &o.first };
            own.iter().rev()
        });
        open.chain(self.steps.iter().rev())
    }
}

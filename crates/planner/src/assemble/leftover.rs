//! What was said and found no place: a literal that no step holds goes to the step beside it that lacks such a thing. An id of
//! a chat goes to the message that has no recipient, an address to the mail without one, a quoted text to what has none.

use super::{Reading, arg, content::template, lit};
use crate::clause::{Clause, Phrase};
use crate::lexicon::{self, ServiceEntry};
use crate::plan::{Arg, Does, Role, Step, Val, Verb};
use crate::spot::Kind;
use serde_json::json;

/// A literal without a place.
struct Loose {
    clause: usize,
    at: usize,
    /// What its phrase is called: the concept of its head, or of the word before that.
    of: Vec<String>,
}

impl Reading<'_> {
    /// Gives each literal that the plan does not hold to the nearest step that can take it.
    pub(super) fn leftover(&mut self) {
        // What a step was said to be shows nothing of what it holds.
        let bare = |steps: &[Step]| {
            let mut steps = steps.to_vec();
            each(&mut steps, &mut |s| s.said.clear());
            steps
        };
        let (made, failing) = (bare(&self.plan.steps), bare(&self.plan.on_error));
        let held = json!([self.plan.triggers, made, failing]).to_string();
        let loose: Vec<Loose> = (0..self.clauses.len())
            .flat_map(|i| self.loose_in(i, &held))
            .collect();
        let mut steps = std::mem::take(&mut self.plan.steps);
        for one in &loose {
            self.place(one, &mut steps);
        }
        self.plan.steps = steps;
    }

    fn loose_in(&self, i: usize, held: &str) -> Vec<Loose> {
        let clause = self.clause_at(i);
        if clause.negated() {
            return Vec::new();
        }
        let timed = |at: usize| {
            let item = self.chart.item(at);
            let within = |t: &crate::time::TimeSpan| item.from >= t.from && item.to <= t.to;
            clause.times.iter().any(within)
        };
        let mut found = Vec::new();
        // "rows with status 'ready'": a test, no container.
        let tests = |p: &Phrase| p.prep == "with" && self.concept(p) == "status";
        for phrase in clause
            .phrases()
            .filter(|p| p.compared.is_none() && !tests(p))
        {
            for at in phrase.names.iter().chain(&phrase.numbers).copied() {
                let said = json!(self.name(at)).to_string();
                if timed(at) || held.contains(said.trim_matches('"')) || !self.is_literal(at) {
                    continue;
                }
                found.push(Loose {
                    clause: i,
                    at,
                    of: self.concepts_of(clause, phrase),
                });
            }
        }
        found
    }

    /// An address, a quoted text, an id, or a figure that is as long as an id.
    fn is_literal(&self, at: usize) -> bool {
        const SHORTEST_ID: usize = 5;
        let digits = || self.raw(at).chars().filter(char::is_ascii_digit).count();
        match self.chart.item(at).shape() {
            Some(Kind::Number) => digits() >= SHORTEST_ID,
            Some(Kind::Sign | Kind::Mark | Kind::End | Kind::Word | Kind::Clock) => false,
            _ => true,
        }
    }

    /// The concepts of a phrase; of the one before it where it has none of its own.
    fn concepts_of(&self, clause: &Clause, phrase: &Phrase) -> Vec<String> {
        let concepts = |p: &Phrase| -> Vec<String> {
            let nouns = p.head.iter().chain(&p.modifiers);
            nouns
                .filter_map(|n| self.chart.item(*n).noun())
                .map(|n| n.concept.clone())
                .collect()
        };
        let own = concepts(phrase);
        if !own.is_empty() {
            return own;
        }
        let before = clause.phrases().take_while(|p| p.from < phrase.from).last();
        before.map(concepts).unwrap_or_default()
    }

    fn place(&self, one: &Loose, steps: &mut [Step]) {
        let order: Vec<String> = self.clauses.iter().map(|c| self.said(c)).collect();
        let distance = |step: &Step| {
            let at = order.iter().position(|s| *s == step.said)?;
            // What stands later in the text is farther than what stands before.
            Some(match at <= one.clause {
                true => (one.clause - at) * 2,
                false => (at - one.clause) * 2 + 3,
            })
        };
        let mut best: Option<(usize, usize, Arg)> = None;
        let mut n = 0;
        each(steps, &mut |step| {
            n += 1;
            let Some(far) = distance(step) else { return };
            if best.as_ref().is_some_and(|(least, ..)| *least <= far) {
                return;
            }
            if let Some(arg) = self.fits(one, far, step) {
                best = Some((far, n, arg));
            }
        });
        let Some((_, wanted, arg)) = best else {
            return;
        };
        let mut n = 0;
        each(steps, &mut |step| {
            n += 1;
            if n == wanted {
                give(step, arg.clone());
            }
        });
    }

    /// The argument that a literal is for a step, where the step can take it and has none of the kind.
    fn fits(&self, one: &Loose, far: usize, step: &Step) -> Option<Arg> {
        let (service, args, verb) = match &step.does {
            Does::Service {
                service,
                args,
                verb,
                ..
            } => (service, args, Some(*verb)),
            Does::Approval { service, args, .. } => (service, args, None),
            _ => return None,
        };
        let entry = lexicon::services()
            .iter()
            .find(|s| !s.actions.is_empty() && s.actions == service.node_types)?;
        let has = |roles: &[Role]| args.iter().any(|a| roles.contains(&a.role));
        let aimed = has(&[Role::Channel, Role::Recipient]);
        let name = || lit(self.name(one.at));
        let called = |concepts: &[&str]| one.of.iter().any(|c| concepts.contains(&c.as_str()));
        let talks = entry.is("chat") || entry.is("sms");
        match self.chart.item(one.at).shape() {
            Some(Kind::Channel | Kind::Handle) if talks && !aimed => {
                Some(arg(Role::Channel, name()))
            }
            Some(Kind::Number) if talks && !aimed => {
                let chat = far == 0 || called(&["conversation", "channel", "group", "key", "user"]);
                chat.then(|| arg(Role::Channel, lit(self.raw(one.at))))
            }
            Some(Kind::Phone) if talks && !aimed => Some(arg(Role::Recipient, name())),
            Some(Kind::Mail) if entry.is("mail") => {
                let given = args
                    .iter()
                    .any(|a| a.role == Role::To && matches!(a.value, Val::Lit { .. }));
                (!given).then(|| arg(Role::To, name()))
            }
            Some(Kind::Url) if entry.speaks() && far <= 2 => Some(arg(Role::Text, name())),
            Some(Kind::Quote) if far == 0 => self.quoted_for(one, entry, verb, &has),
            Some(Kind::Id | Kind::Quote) if far <= 4 => self.kept_in(one, entry, &has),
            None if far == 0 => one.of.first().map(|c| arg(Role::Named(c.clone()), name())),
            _ => None,
        }
    }

    /// "the list 5f1c…", "the tab 'DACH'" said beside the step: what keeps things takes the name of its container.
    fn kept_in(
        &self,
        one: &Loose,
        entry: &ServiceEntry,
        has: &dyn Fn(&[Role]) -> bool,
    ) -> Option<Arg> {
        let is = |concepts: &[&str]| one.of.iter().any(|c| concepts.contains(&c.as_str()));
        let part = is(&["tab", "table"]) && entry.is_any(&["sheet", "db", "base"]);
        let holds = is(&[
            "list",
            "board",
            "folder",
            "project",
            "database",
            "spreadsheet",
            "calendar",
            "repository",
        ]) && !entry.speaks();
        let role = match (part, holds) {
            (true, _) => Role::Part,
            (_, true) => Role::Container,
            _ => return None,
        };
        (!has(std::slice::from_ref(&role))).then(|| arg(role, lit(self.name(one.at))))
    }

    /// What a quoted text is for a step of its own clause: what a message says, a title, a container.
    fn quoted_for(
        &self,
        one: &Loose,
        entry: &ServiceEntry,
        verb: Option<Verb>,
        has: &dyn Fn(&[Role]) -> bool,
    ) -> Option<Arg> {
        let text = || template(&self.name(one.at));
        let kept = entry.is_any(&["sheet", "db", "base", "files", "kv"]);
        if entry.speaks() {
            return (!has(&[Role::Text])).then(|| arg(Role::Text, text()));
        }
        let makes = matches!(verb, Some(Verb::Create | Verb::Draft));
        if makes && !kept {
            return (!has(&[Role::Title])).then(|| arg(Role::Title, text()));
        }
        let free = [Role::Container, Role::Part]
            .into_iter()
            .find(|r| !has(std::slice::from_ref(r)));
        free.filter(|_| kept)
            .map(|role| arg(role, lit(self.name(one.at))))
    }
}

/// Gives an argument to a step: a text is added to the one it has, a guessed address makes way.
fn give(step: &mut Step, new: Arg) {
    let (Does::Service { args, .. } | Does::Approval { args, .. }) = &mut step.does else {
        return;
    };
    if new.role == Role::Text {
        return super::detail::add_text(args, new.value);
    }
    match args.iter_mut().find(|a| a.role == new.role) {
        Some(guessed) => guessed.value = new.value,
        None => args.push(new),
    }
}

/// Every step of these and of their ways, in order.
fn each(steps: &mut [Step], see: &mut dyn FnMut(&mut Step)) {
    for step in steps {
        see(step);
        for way in step.ways_mut() {
            each(way, see);
        }
    }
}

//! The order of the steps and the conditions that they stand under.

use super::Reading;
use super::condition::STILL;
use crate::clause::{Clause, Intro};
use crate::plan::{Arg, Cmp, Cond, Does, Role, Step, Verb};

/// A branch that is still open.
#[derive(Clone, PartialEq)]
pub(super) struct Open {
    said: String,
    pub(super) kind: Kind,
    /// The steps of the first and of the second way.
    pub(super) first: Vec<Step>,
    pub(super) second: Vec<Step>,
    pub(super) on_second: bool,
    sentence: usize,
    /// Its condition stands in the clause that acts: "for complaints, …".
    inline: bool,
    /// The line of a list that it stands in: all of the line belongs to it.
    line: Option<usize>,
}

#[derive(Clone, PartialEq)]
pub(super) enum Kind {
    If(Cond),
    /// A step that waits for a yes or a no.
    Approval(Box<Step>),
    /// What happens when something fails.
    Failure,
    /// The steps for each batch of so many items, with a pause after it.
    Loop(u32, Option<u64>),
}

impl Open {
    fn new(said: String, kind: Kind, sentence: usize) -> Self {
        Open {
            said,
            kind,
            first: Vec::new(),
            second: Vec::new(),
            on_second: false,
            sentence,
            inline: false,
            line: None,
        }
    }
}

/// Steps and the branches that are open around the place.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Tree {
    pub(super) steps: Vec<Step>,
    pub(super) open: Vec<Open>,
}

impl Tree {
    pub(super) fn here(&mut self) -> &mut Vec<Step> {
        match self.open.last_mut() {
            Some(open) if open.on_second => &mut open.second,
            Some(open) => &mut open.first,
            None => &mut self.steps,
        }
    }
}

impl Reading<'_> {
    /// Reads all clauses that are not used yet into steps.
    pub(super) fn flow(&mut self) {
        let mut tree = Tree::default();
        tree.steps.extend(self.day_holds());
        tree.steps.extend(self.meant_event());
        tree.steps.extend(self.delayed());
        tree.steps.extend(self.allowed());
        if let Some((at, condition)) = self.starts_if() {
            let clause = self.clause_at(at).clone();
            let said = self.said(&clause);
            if self.goes_otherwise(&clause) {
                tree.open
                    .push(Open::new(said, Kind::If(condition), clause.sentence));
            } else {
                tree.steps
                    .push(self.step(&said, Does::Filter { condition }));
            }
        }
        tree.steps.extend(self.polled_state());
        tree.steps.extend(self.once_each());
        for i in self.sequence() {
            let clause = self.clause_at(i).clone();
            self.leave(&mut tree, i, &clause);
            if i == self.agent_at
                && let Some(step) = self.assistant.take()
            {
                tree.here().push(step);
                let back = self.answer_back();
                tree.here().extend(back);
            }
            if !self.is_used(i) {
                let is_first = tree == Tree::default();
                let before = clause.verb.as_ref().map(|_| self.traces(&tree));
                self.clause(&mut tree, i, &clause);
                let is_traceless = before.is_some_and(|before| before.are(self, &tree));
                if is_traceless && self.asks_for_something(i, &clause) {
                    self.traceless.push(i);
                }
                if is_first {
                    self.answer_of_its_own(i, &mut tree);
                    if self.only_echoes(i, &clause, &tree) {
                        self.traceless.push(i);
                    }
                }
            }
        }
        while !tree.open.is_empty() {
            self.close(&mut tree);
        }
        self.plan.steps = super::think::folded(before_acting(tree.steps));
    }

    /// The clauses in the order in which they are done: "before the card is created, wait", "mail it after waiting an hour".
    fn sequence(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.clauses.len()).collect();
        for (i, pair) in self.clauses.windows(2).enumerate() {
            let [first, second] = pair else { continue };
            let both = first.sentence == second.sentence
                && first.verb.is_some()
                && second.verb.is_some()
                && [first, second]
                    .iter()
                    .all(|c| matches!(c.intro, Intro::None));
            if both && (self.led_by(first, "before") || self.led_by(second, "after")) {
                order.swap(i, i + 1);
            }
        }
        order
    }

    /// Whether a clause that tells what is done begins with a preposition of a class.
    fn led_by(&self, clause: &Clause, prep: &str) -> bool {
        let begins = self.chart.item(clause.from);
        let led = begins.is("prep") && (begins.text == prep || begins.tells(prep));
        let subject = clause.before.first();
        let told = clause.verb.as_ref().is_some_and(|v| {
            let doing = v.sense.form == "ing" && subject.is_none();
            doing || v.passive || subject.is_some_and(|p| p.pronoun.is_some())
        });
        led && told
    }

    /// What is asked for every few minutes is handled once.
    fn once_each(&mut self) -> Option<Step> {
        let polled = matches!(
            self.plan.triggers.first(),
            Some(crate::plan::Trigger::Poll { .. })
        );
        let key = super::field("id");
        polled.then(|| {
            self.step(
                "",
                Does::Dedupe {
                    key,
                    window_seconds: None,
                },
            )
        })
    }

    /// Closes branches that end with the sentence before this clause.
    fn leave(&mut self, tree: &mut Tree, i: usize, clause: &Clause) {
        while let Some(open) = tree.open.last() {
            let stays = matches!(open.kind, Kind::Loop(..))
                || open.sentence == clause.sentence
                || open.line == Some(clause.line) && !self.points(i, clause)
                || clause.intro == Intro::Else
                || matches!(open.kind, Kind::Approval(_)) && self.decides(clause).is_some()
                || open.first.is_empty()
                    && !open.on_second
                    && open.line.is_none_or(|l| l == clause.line)
                    && !matches!(open.kind, Kind::Approval(_));
            if stays {
                return;
            }
            self.close(tree);
        }
    }

    fn close(&mut self, tree: &mut Tree) {
        let Some(open) = tree.open.pop() else {
            return;
        };
        let does = match open.kind {
            Kind::If(_) if open.first.is_empty() && open.second.is_empty() => return,
            Kind::If(condition) => Does::If {
                condition,
                then: open.first,
                otherwise: open.second,
            },
            Kind::Approval(mut step) => {
                if let Does::Approval {
                    approved, rejected, ..
                } = &mut step.does
                {
                    *approved = open.first;
                    *rejected = open.second;
                }
                tree.here().push(*step);
                return;
            }
            Kind::Failure => {
                self.plan.on_error.extend(open.first);
                tree.here().extend(open.second);
                return;
            }
            Kind::Loop(..) if open.first.is_empty() => {
                tree.here().extend(open.second);
                return;
            }
            Kind::Loop(batch_size, pause) => {
                let mut body = open.first;
                body.extend(pause.map(|seconds| self.step(&open.said, Does::Wait { seconds })));
                Does::Loop {
                    batch_size,
                    body,
                    after: open.second,
                }
            }
        };
        let step = self.step(&open.said, does);
        tree.here().push(step);
    }

    /// Opens the last branch again, where its second way is still free: "otherwise …" may stand sentences later.
    fn reopen(&mut self, tree: &mut Tree, sentence: usize) {
        if tree
            .open
            .iter()
            .any(|o| matches!(o.kind, Kind::If(_) | Kind::Approval(_)))
        {
            return;
        }
        let steps = tree.here();
        let last = matches!(steps.last().map(|s| &s.does), Some(Does::If { otherwise, .. }) if otherwise.is_empty());
        if !last {
            return;
        }
        if let Some(Step {
            said,
            does: Does::If {
                condition, then, ..
            },
            ..
        }) = steps.pop()
        {
            tree.open.push(Open {
                said,
                kind: Kind::If(condition),
                first: then,
                second: Vec::new(),
                on_second: true,
                sentence,
                inline: false,
                line: None,
            });
        }
    }

    fn clause(&mut self, tree: &mut Tree, i: usize, clause: &Clause) {
        let said = self.said(clause);
        if self.tells_that(i, clause) {
            // "mail the customer that we try again": what is told, and no step.
            self.plan.unread.push(said);
            return;
        }
        if self.retries(clause) || self.defines(tree, i, clause) {
            return;
        }
        if let Some(open) = tree.open.last_mut()
            && matches!(open.kind, Kind::Loop(..))
            && self.ends(clause)
        {
            open.on_second = true;
            if clause.intro == Intro::When {
                return;
            }
        }
        if self.limits(tree, clause)
            || self.spares(tree, clause)
            || self.once_only(tree, clause)
            || self.compares(tree, i, clause)
            || self.batch(clause).is_none() && self.pauses(tree, clause)
        {
            return;
        }
        if let Some(open) = tree.open.last_mut()
            && matches!(open.kind, Kind::Approval(_))
            && let Some(yes) = self.decides(clause)
        {
            open.on_second = !yes;
            open.sentence = clause.sentence;
            let outcome = self.outcome(clause);
            self.act_into(tree, i, &outcome);
            return;
        }
        if self.points(i, clause) && self.cased(tree, clause, &said) || self.holds(tree, i, clause)
        {
            return;
        }
        match clause.intro {
            Intro::Else if self.upserts(tree, clause) => {}
            Intro::Else if self.rests(tree, i, clause) => self.act_into(tree, i, clause),
            Intro::If | Intro::When | Intro::Unless => self.conditional(tree, i, clause, &said),
            Intro::Else => {
                self.reopen(tree, clause.sentence);
                if tree.open.is_empty() {
                    if !clause.calls("FILTER") && !clause.calls("STOP") {
                        let condition = self.closed(clause);
                        tree.open.push(Open::new(
                            said.clone(),
                            Kind::If(condition),
                            clause.sentence,
                        ));
                        self.act_into(tree, i, clause);
                    }
                    return;
                }
                if let Some(open) = tree.open.last_mut() {
                    // "check X; if not, …; otherwise …": the second "else" is the first way.
                    open.on_second = !(open.on_second && open.first.is_empty());
                    open.sentence = clause.sentence;
                }
                self.act_into(tree, i, clause);
            }
            // "a webhook that answers with …": what it does with the call.
            Intro::Relative if clause.calls("REPLY") || clause.calls("ANSWER") => {
                self.act_into(tree, i, clause);
            }
            Intro::Relative if self.drops(tree, i, clause, &said) => {}
            Intro::Relative => {
                let starts = i.checked_sub(1).is_some_and(|before| self.is_used(before));
                self.narrowed(tree, clause, &said, starts);
            }
            Intro::Because | Intro::Until => {}
            Intro::None if self.verified(tree, i, clause, &said) => {}
            Intro::None if self.lets_only(tree, clause, &said) => {}
            Intro::None | Intro::Purpose => {
                if self.joins(tree, clause)
                    || self.readdressed(tree, clause)
                    || self.placed(tree, clause)
                {
                    return;
                }
                self.act_into(tree, i, clause);
            }
        }
    }

    /// Whether a clause is what the one before it tells somebody: "notify the customer that we will try again".
    fn tells_that(&self, i: usize, clause: &Clause) -> bool {
        let before = i.checked_sub(1).map(|b| self.clause_at(b));
        let told = before.is_some_and(|b| {
            let tells = ["SEND", "NOTIFY", "MAIL", "REPLY"]
                .iter()
                .any(|f| b.calls(f));
            tells && b.sentence == clause.sentence && self.chart.item(b.to).is("det")
        });
        let we = |p: &crate::clause::Phrase| {
            let speaker = |at: usize| {
                let item = self.chart.item(at);
                item.tells("us") || item.tells("speaker")
            };
            p.pronoun.is_some_and(speaker)
        };
        told && clause.intro == Intro::Relative && clause.before.iter().any(we)
    }

    /// "The chat id is 778812345", "text: title and link": says more about the last step.
    fn defines(&mut self, tree: &mut Tree, i: usize, clause: &Clause) -> bool {
        let still = clause.verb.as_ref().is_none_or(|v| v.calls("BE"));
        let phrases: Vec<_> = clause.phrases().collect();
        let [subject, rest @ ..] = phrases.as_slice() else {
            return false;
        };
        let kind = self.kind(subject);
        let fits = matches!(
            kind,
            "field" | "text" | "message" | "place" | "container" | "ai"
        ) && subject.service.is_none()
            && subject.prep.is_empty();
        if !still
            || !fits
            || clause.intro != Intro::None
            || rest.is_empty() && subject.names.is_empty()
        {
            return false;
        }
        if let Some(given) = self.each_with_value(&phrases) {
            return last_args(tree.here()).is_some_and(|args| {
                for one in given {
                    if !args.iter().any(|a| a.role == one.role) {
                        args.push(one);
                    }
                }
                true
            });
        }
        let value = rest
            .iter()
            .find_map(|p| p.names.first().or(p.numbers.first()))
            .copied();
        let aimed = rest
            .iter()
            .any(|p| p.service.is_some() || self.addresses(p));
        if aimed {
            return false;
        }
        let listed = rest.iter().all(|p| p.aside || p.listed || p.prep == "of")
            && value.is_none_or(|v| self.chart.item(v).shape() == Some(crate::spot::Kind::Id));
        let text = matches!(
            self.concept(subject),
            "text" | "message" | "data" | "description"
        ) && listed;
        let arg = if text {
            self.text_of(i)
        } else {
            let words = self.words(subject).to_lowercase();
            let role = match self.concept(subject) {
                "title" => crate::plan::Role::Title,
                "subject" => crate::plan::Role::Subject,
                "text" | "message" => crate::plan::Role::Text,
                _ if words.contains("chat") || kind == "place" => crate::plan::Role::Channel,
                _ => crate::plan::Role::Named(words),
            };
            value.map(|v| super::arg(role, super::lit(self.name(v))))
        };
        let Some(arg) = arg else {
            return false;
        };
        let Some(args) = last_args(tree.here()) else {
            return false;
        };
        if !args.iter().any(|a| a.role == arg.role) {
            args.push(arg);
        }
        true
    }

    /// "title 'Alarm', priority 8": several parts of a message, each with its value behind it.
    fn each_with_value(&self, phrases: &[&crate::clause::Phrase]) -> Option<Vec<Arg>> {
        let given = |p: &&crate::clause::Phrase| {
            let value = match (p.names.first(), p.numbers.first()) {
                (Some(at), _) => super::content::template(&self.name(*at)),
                (None, Some(at)) => {
                    super::figure(self.raw(*at)).map(|n| super::lit(super::number(n)))?
                }
                (None, None) => return None,
            };
            let role = match self.concept(p) {
                "title" => Role::Title,
                "subject" => Role::Subject,
                "priority" => Role::Priority,
                "text" | "message" => Role::Text,
                _ => return None,
            };
            (p.service.is_none() && p.compared.is_none()).then(|| super::arg(role, value))
        };
        (phrases.len() > 1).then(|| phrases.iter().map(given).collect())?
    }

    /// Whether a clause without a verb stands before an arrow, or a colon, that leads to what is done then.
    fn points(&self, i: usize, clause: &Clause) -> bool {
        let leads = self
            .clauses
            .get(i + 1)
            .is_some_and(|n| (n.arrow || n.colon) && n.line == clause.line);
        let aims = clause.phrases().any(|p| {
            p.service.is_some() || p.literal(self.chart, crate::spot::Kind::Url).is_some()
        });
        let plain = clause
            .verb
            .as_ref()
            .is_none_or(|v| STILL.contains(&v.frame()) || v.calls("APPROVE"));
        leads && !aims && plain && clause.intro == Intro::None
    }

    /// Opens a branch for a clause that only names its condition.
    fn cased(&mut self, tree: &mut Tree, clause: &Clause, said: &str) -> bool {
        let figures = clause
            .phrases()
            .any(|p| p.compared.is_some() || !p.numbers.is_empty());
        let told = self
            .commanded(clause)
            .or_else(|| self.look(tree, clause))
            .or_else(|| self.value_that_came(clause))
            .or_else(|| self.condition(clause))
            .or_else(|| self.labelled(clause));
        let Some(condition) = told.or_else(|| figures.then(|| self.closed(clause))) else {
            return false;
        };
        let lines = self.clauses.last().is_some_and(|c| c.line > 1);
        tree.open.push(Open {
            line: lines.then_some(clause.line),
            ..Open::new(said.to_owned(), Kind::If(condition), clause.sentence)
        });
        true
    }

    /// "critical", before an arrow: a bare word is a value of the field that came and sorts, where one is known.
    fn value_that_came(&self, clause: &Clause) -> Option<Cond> {
        let bare = |p: &crate::clause::Phrase| {
            p.compared.is_none() && p.numbers.is_empty() && p.prep.is_empty() && p.pronoun.is_none()
        };
        let open = self.topic.labels.is_empty() && !self.fields_that_came().is_empty();
        let known = self.topic.field.is_none() || self.sorts();
        let all =
            clause.verb.is_none() && clause.phrases().count() == 1 && clause.phrases().all(bare);
        if !(open && known && all) {
            return None;
        }
        let word = self.words(clause.phrases().next()?);
        let left = self.sorted_by(std::slice::from_ref(&word))?;
        (!word.is_empty()).then(|| Cond::Compare {
            left,
            op: Cmp::Eq,
            right: super::lit(word),
        })
    }

    /// Whether the field that was compared last is the one that sorts what came.
    fn sorts(&self) -> bool {
        self.topic.field.is_some() && self.sorted_by(&[]) == self.topic.field
    }

    /// "critical", "billing": one of the labels of a classification, or a value of the field that was compared last.
    fn labelled(&self, clause: &Clause) -> Option<Cond> {
        let phrase = clause.phrases().next()?;
        let word = match phrase.names.first() {
            Some(name) => self.name(*name),
            None => self.words(phrase),
        };
        let label = self.label_of(phrase);
        let left = match label {
            Some(_) => super::field("category"),
            None => {
                let known = self.topic.field.clone();
                known.or_else(|| self.sorted_by(std::slice::from_ref(&word)))?
            }
        };
        if word.is_empty() {
            return None;
        }
        // "stdout → …": what is compared is no value of itself.
        if left == super::field(&word) || self.concept(phrase) == "output" {
            return None;
        }
        let equals = |value: String| Cond::Compare {
            left: left.clone(),
            op: Cmp::Eq,
            right: super::lit(value),
        };
        let more: Vec<Cond> = clause
            .phrases()
            .skip(1)
            .take_while(|p| p.listed && p.prep.is_empty())
            .map(|p| match (p.names.first(), self.label_of(p)) {
                (_, Some(label)) => label,
                (Some(name), _) => self.name(*name),
                (None, None) => self.words(p),
            })
            .filter(|w| !w.is_empty())
            .map(equals)
            .collect();
        let first = equals(label.unwrap_or(word));
        Some(match more.is_empty() {
            true => first,
            false => Cond::Any {
                of: std::iter::once(first).chain(more).collect(),
            },
        })
    }

    /// "… and the total is over 100": one more condition of the branch that was just opened.
    fn joins(&mut self, tree: &mut Tree, clause: &Clause) -> bool {
        let still = clause
            .verb
            .as_ref()
            .is_some_and(|v| STILL.contains(&v.frame()));
        let fresh = tree.open.last().is_some_and(|o| {
            o.first.is_empty()
                && !o.on_second
                && matches!(o.kind, Kind::If(_))
                && o.sentence == clause.sentence
        });
        let aimed = clause.phrases().any(|p| self.addresses(p));
        if !still || !fresh || aimed {
            return false;
        }
        let Some(more) = self.condition(clause) else {
            return false;
        };
        let Some(Open {
            kind: Kind::If(condition),
            ..
        }) = tree.open.last_mut()
        else {
            return false;
        };
        let first = std::mem::replace(condition, Cond::All { of: Vec::new() });
        *condition = if clause.or {
            Cond::Any {
                of: vec![first, more],
            }
        } else {
            Cond::All {
                of: vec![first, more],
            }
        };
        true
    }

    /// "… if the price from https://… falls": what is tested is fetched before the steps of its sentence; the clause without it.
    fn fetched_before(&mut self, tree: &mut Tree, i: usize, clause: &Clause) -> Option<Clause> {
        let (read, rest) = self.fetched_from(clause)?;
        let before = crate::cut::before(&self.clauses, i);
        let same = before.iter().filter(|c| c.sentence == clause.sentence);
        let sentence: Vec<String> = same.map(|c| self.said(c)).collect();
        let steps = tree.here();
        let at = steps.iter().position(|s| sentence.contains(&s.said));
        let said = sentence.into_iter().next().unwrap_or_default();
        steps.insert(at.unwrap_or(steps.len()), Step { said, ..read });
        Some(rest)
    }

    fn conditional(&mut self, tree: &mut Tree, i: usize, clause: &Clause, said: &str) {
        let rest = self.fetched_before(tree, i, clause);
        let clause = rest.as_ref().unwrap_or(clause);
        let failing = (self.fails(clause) || self.is_not_done(tree, clause))
            && self
                .condition(clause)
                .is_none_or(|c| matches!(c, Cond::Compare { op: Cmp::Eq, .. }));
        let refused = clause.negated()
            && clause.before.iter().any(|p| p.service.is_some())
            && self.condition(clause).is_none();
        if (failing || refused)
            && let Some(condition) = self.fails_alone(tree, i, clause)
        {
            tree.open.push(Open::new(
                said.to_owned(),
                Kind::If(condition),
                clause.sentence,
            ));
            return;
        }
        if failing && !self.plan.triggers.is_empty() && i > 0 {
            let meant = self.failing_step(tree, clause);
            let meant = meant.filter(|_| !self.fails_as_a_whole(clause));
            self.plan.failing.extend(meant);
            tree.open
                .push(Open::new(said.to_owned(), Kind::Failure, clause.sentence));
            return;
        }
        let compares = clause.phrases().any(|p| p.compared.is_some());
        let nominal = clause.intro == Intro::When && clause.verb.is_none() && !compares;
        if nominal && !self.plan.triggers.is_empty()
            || clause.intro == Intro::When && self.retells(clause)
        {
            return;
        }
        if self.stored(tree, clause, said) || self.looked_at(tree, i, clause, said) {
            return;
        }
        let last = tree.steps_so_far().next().cloned();
        let told = self
            .affirmed(last.as_ref(), clause)
            .or_else(|| self.found(last.as_ref(), clause))
            .or_else(|| self.look(tree, clause))
            .or_else(|| self.condition(clause));
        // "if so": what was looked for was found.
        let told = told.or_else(|| {
            let so = clause.verb.is_none() && clause.phrases().next().is_none();
            let read = last.as_ref().is_some_and(super::repeat::reads);
            (so && read).then(|| Cond::Compare {
                left: super::field("id"),
                op: Cmp::Exists,
                right: super::lit(true),
            })
        });
        if told.is_none() && self.can_say(clause, "place") {
            return;
        }
        let ordered = clause.verb.as_ref().is_some_and(|v| v.sense.form == "base")
            && clause.before.is_empty();
        if told.is_none() && clause.intro == Intro::When && ordered {
            return self.act_into(tree, i, clause);
        }
        if let Some(kept) = self.sifted(i, clause) {
            let condition = told.unwrap_or_else(|| self.closed(clause));
            let condition = match kept {
                true => condition,
                false => Cond::Not {
                    of: Box::new(condition),
                },
            };
            let step = self.step(said, Does::Filter { condition });
            return tree.here().push(step);
        }
        let mut condition = told.unwrap_or_else(|| self.closed(clause));
        if clause.intro == Intro::Unless {
            condition = Cond::Not {
                of: Box::new(condition),
            };
        }
        let follows = crate::cut::before(&self.clauses, i)
            .iter()
            .rev()
            .take_while(|c| c.sentence == clause.sentence)
            .any(|c| c.intro == Intro::None && c.verb.is_some());
        let later = crate::cut::from(&self.clauses, i + 1)
            .iter()
            .take_while(|c| c.sentence == clause.sentence)
            .any(|c| matches!(c.intro, Intro::None | Intro::Else));
        if follows && !later && tree.open.is_empty() && !tree.steps.is_empty() {
            let mut made = self.made_in(tree, clause.sentence, i);
            // "check the address and alert me if …": what is read first is what is tested.
            let read = made.iter().take_while(|s| super::repeat::reads(s)).count();
            let all = read == made.len();
            tree.here().extend(made.drain(..read));
            // "read the rows where …": what is read is narrowed.
            if all && read > 0 {
                let step = self.step(said, Does::Filter { condition });
                return tree.here().push(step);
            }
            if !made.is_empty() {
                let step = self.step(
                    said,
                    Does::If {
                        condition,
                        then: made,
                        otherwise: Vec::new(),
                    },
                );
                tree.here().push(step);
                return;
            }
        }
        tree.open.push(Open::new(
            said.to_owned(),
            Kind::If(condition),
            clause.sentence,
        ));
    }

    /// "When it comes in": the event that started the workflow, told again.
    fn retells(&self, clause: &Clause) -> bool {
        let event = clause
            .verb
            .as_ref()
            .is_some_and(|v| super::start::EVENTS.contains(&v.frame()));
        let own = clause
            .phrases()
            .all(|p| p.compared.is_none() && p.names.is_empty());
        event && own && !self.plan.triggers.is_empty() && !clause.calls("FAIL")
    }

    /// Takes back the steps that the clauses of this sentence made.
    fn made_in(&mut self, tree: &mut Tree, sentence: usize, i: usize) -> Vec<Step> {
        let said: Vec<String> = crate::cut::before(&self.clauses, i)
            .iter()
            .filter(|c| c.sentence == sentence)
            .map(|c| self.said(c))
            .collect();
        let steps = tree.here();
        let at = steps
            .iter()
            .position(|s| said.contains(&s.said))
            .unwrap_or(steps.len());
        steps.split_off(at)
    }

    /// The look into a store that a condition asks for, put before it.
    fn look(&mut self, tree: &mut Tree, clause: &Clause) -> Option<Cond> {
        let look = self.looked_up(clause)?;
        let condition = look.condition();
        tree.here().push(look.step);
        Some(condition)
    }

    /// "… that are overdue": what is fetched is narrowed down.
    fn narrowed(&mut self, tree: &mut Tree, clause: &Clause, said: &str, starts: bool) {
        if let Some(look) = self.looked_up(clause) {
            let lookup = Box::new(look.step);
            let step = self.step(
                said,
                Does::NotIn {
                    lookup,
                    key: look.key,
                },
            );
            tree.here().push(step);
            return;
        }
        if tree.here().is_empty() && !starts {
            return;
        }
        let Some(condition) = self.condition(clause) else {
            // "… that nobody is assigned to": what would leave something out and was not read.
            let read = tree.here().iter().rev().take(2).any(super::repeat::reads);
            let acts = clause
                .verb
                .as_ref()
                .is_some_and(|v| crate::account::asks_for_a_step(&v.sense));
            if self.denies(clause) || read && acts {
                self.plan.unread.push(said.to_owned());
            }
            return;
        };
        // "… a signup whose country is Germany, do this, otherwise that": both ways are wanted.
        if starts && self.goes_otherwise(clause) && tree.open.is_empty() {
            tree.open.push(Open::new(
                said.to_owned(),
                Kind::If(condition),
                clause.sentence,
            ));
            return;
        }
        let step = self.step(said, Does::Filter { condition });
        self.sift_before(tree, clause, step);
    }

    /// Puts a test of what was spoken of before the step that writes, sends or deletes it; what is deleted or changed is read
    /// and tested first, so that nothing else is touched.
    fn sift_before(&mut self, tree: &mut Tree, clause: &Clause, test: Step) {
        let of = self.clauses.iter().rev().find(|c| c.to <= clause.from);
        let of = of.filter(|c| c.sentence == clause.sentence);
        let said = of.map(|c| self.said(c)).unwrap_or_default();
        let steps = tree.here();
        let writes = |s: &Step| super::repeat::acts(s) && !super::repeat::reads(s);
        let own = |s: &Step| s.said == said && !said.is_empty() && writes(s);
        let collects = |s: &Step| {
            s.said == said && !said.is_empty() && matches!(s.does, Does::Aggregate { .. })
        };
        let Some(at) = steps.iter().position(|s| own(s) || collects(s)) else {
            return steps.push(test);
        };
        let read = match steps.get(at).map(|s| &s.does) {
            Some(Does::Service {
                service,
                verb: Verb::Delete | Verb::Update,
                object,
                args,
                ..
            }) => {
                let read =
                    |a: &&Arg| matches!(a.role, Role::Container | Role::Part | Role::Named(_));
                Some(Does::Service {
                    service: service.clone(),
                    verb: Verb::GetMany,
                    object: object.clone(),
                    args: args.iter().filter(read).cloned().collect(),
                    once: false,
                })
            }
            _ => None,
        };
        let read = read.map(|does| self.step(&said, does));
        let here = tree.here();
        let rest = here.split_off(at);
        let known = here.last().is_some_and(super::repeat::reads);
        here.extend(read.filter(|_| !known));
        here.push(test);
        here.extend(rest);
    }

    /// Whether the same sentence says later what is done otherwise.
    fn goes_otherwise(&self, clause: &Clause) -> bool {
        let later = self.clauses.iter().filter(|c| c.from >= clause.to);
        later
            .filter(|c| c.sentence == clause.sentence)
            .any(|c| c.intro == Intro::Else)
    }

    fn act_into(&mut self, tree: &mut Tree, i: usize, clause: &Clause) {
        if clause.negated() {
            return;
        }
        let inline = self.inline_condition(clause);
        self.asks_after(i, clause);
        let steps = self.act(i, clause);
        if steps.is_empty() && self.says_which(i, clause) {
            let said = self.said(clause);
            return self.narrowed(tree, clause, &said, true);
        }
        if let Some(size) = self.batch(clause)
            && !tree.open.iter().any(|o| matches!(o.kind, Kind::Loop(..)))
        {
            let reads = steps.first().is_some_and(|s| {
                matches!(
                    &s.does,
                    Does::Service {
                        verb: crate::plan::Verb::GetMany | crate::plan::Verb::Query,
                        ..
                    }
                )
            });
            if reads {
                tree.here().extend(steps.clone());
            }
            tree.open.push(Open {
                said: self.said(clause),
                kind: Kind::Loop(size, Self::lasts(clause)),
                first: if reads { Vec::new() } else { steps },
                second: Vec::new(),
                on_second: false,
                sentence: clause.sentence,
                inline: false,
                line: None,
            });
            self.topic.many = false;
            return;
        }
        let mut steps = self.with_leave(clause, steps);
        let whole =
            |s: &Step| matches!(&s.does, Does::Approval { approved, .. } if approved.is_empty());
        let approval = steps.iter().position(whole);
        if let Some(condition) = inline.filter(|_| !steps.is_empty()) {
            if tree.open.last().is_some_and(|o| o.inline) {
                self.close(tree);
            }
            let open = Open::new(self.said(clause), Kind::If(condition), clause.sentence);
            tree.open.push(Open {
                inline: true,
                ..open
            });
        }
        match approval {
            Some(at) => {
                let mut step = steps.remove(at);
                tree.here().extend(steps);
                self.asked_by(tree, i, &mut step);
                let said = step.said.clone();
                tree.open.push(Open::new(
                    said,
                    Kind::Approval(Box::new(step)),
                    clause.sentence,
                ));
            }
            None => tree.here().extend(steps),
        }
    }

    /// "A mail comes in that has 'Invoice' in its subject": a statement about what the clause before it told of.
    fn says_which(&self, i: usize, clause: &Clause) -> bool {
        let states = clause
            .verb
            .as_ref()
            .is_some_and(|v| STILL.contains(&v.frame()));
        let before = i
            .checked_sub(1)
            .map(|b| (self.is_used(b), self.clause_at(b)));
        let starts = before.is_some_and(|(used, b)| used && b.sentence == clause.sentence);
        states && starts && self.plan.triggers.len() == 1
    }

    /// "For complaints, …", "with 200 or more: …" before the verb: a condition of this clause alone.
    fn inline_condition(&mut self, clause: &Clause) -> Option<Cond> {
        let front: Vec<_> = clause
            .before
            .iter()
            .filter(|p| p.compared.is_some())
            .cloned()
            .collect();
        if front.is_empty() && clause.verb.is_none() {
            return self.leading(clause);
        }
        if front.is_empty() {
            let label = clause.phrases().next().and_then(|p| self.label_of(p))?;
            return Some(Cond::Compare {
                left: super::field("category"),
                op: Cmp::Eq,
                right: super::lit(label),
            });
        }
        let alone = Clause {
            before: Vec::new(),
            after: clause.before.clone(),
            verb: None,
            ..clause.clone()
        };
        self.condition(&alone)
    }
}

impl Reading<'_> {
    /// "Keep only rows where …", "drop those where …": whether what meets the condition is kept; none where nothing is sifted.
    fn sifted(&self, i: usize, clause: &Clause) -> Option<bool> {
        let before = i.checked_sub(1).map(|b| self.clause_at(b))?;
        let verb = before.verb.as_ref().filter(|v| v.frame() == "FILTER")?;
        let bare = before
            .phrases()
            .all(|p| p.compared.is_none() && p.names.is_empty());
        let same = before.sentence == clause.sentence && clause.intro == Intro::If;
        (bare && same).then(|| verb.calls("KEEP"))
    }

    /// "Skip videos that have 'test' in the title": what is left out, or kept, of what came.
    fn drops(&mut self, tree: &mut Tree, i: usize, clause: &Clause, said: &str) -> bool {
        let as_if = Clause {
            intro: Intro::If,
            ..clause.clone()
        };
        let Some(kept) = self.sifted(i, &as_if) else {
            return false;
        };
        let Some(condition) = self.condition(clause) else {
            return false;
        };
        let condition = match kept {
            true => condition,
            false => Cond::Not {
                of: Box::new(condition),
            },
        };
        let step = self.step(said, Does::Filter { condition });
        tree.here().push(step);
        self.set_used(i - 1, true);
        true
    }

    /// "Check that the amount is over 0; if not, …": a test whose other way is told.
    fn verified(&mut self, tree: &mut Tree, i: usize, clause: &Clause, said: &str) -> bool {
        let next = self.clause_at(i + 1);
        let (other, sentence) = (next.intro == Intro::Else, next.sentence);
        let bound = clause.phrases().any(|p| p.compared.is_some());
        if !clause.calls("CHECK") || clause.negated() || !other || !bound {
            return false;
        }
        let bare = Clause {
            verb: None,
            ..clause.clone()
        };
        let Some(condition) = self.condition(&bare) else {
            return false;
        };
        tree.open
            .push(Open::new(said.to_owned(), Kind::If(condition), sentence));
        true
    }

    /// "Only *.csv", "only rows with status open": what is let pass, in a clause of its own.
    fn lets_only(&mut self, tree: &mut Tree, clause: &Clause, said: &str) -> bool {
        let only = self.items(clause).iter().any(|i| i.is("only"));
        let aimed = clause
            .phrases()
            .any(|p| self.addresses(p) || p.service.is_some());
        if !only || clause.verb.is_some() || aimed {
            return false;
        }
        let Some(condition) = self.ending(clause).or_else(|| self.condition(clause)) else {
            return false;
        };
        let step = self.step(said, Does::Filter { condition });
        tree.here().push(step);
        true
    }

    /// "The Jira bugs that are open should be posted …": what a rhythm or a person brings nothing of is read, and narrowed.
    fn looked_at(&mut self, tree: &mut Tree, i: usize, clause: &Clause, said: &str) -> bool {
        use crate::plan::Trigger;
        let kept = |p: &crate::clause::Phrase| {
            let acts = |s: &crate::lexicon::ServiceEntry| {
                !s.actions.is_empty() && !s.speaks() && !s.is("llm")
            };
            p.prep.is_empty() && p.service.is_some_and(acts) && self.kind(p) == "record"
        };
        let blind = !self.plan.triggers.is_empty()
            && self.plan.triggers.iter().all(Trigger::brings_nothing);
        let first = tree.steps_so_far().next().is_none() && tree.open.is_empty();
        let whole = clause.before.first().is_some_and(kept);
        if !(blind && first && whole) {
            return false;
        }
        let subject = Clause {
            after: clause.before.clone(),
            before: Vec::new(),
            ..clause.clone()
        };
        let read = self.fetch(
            i,
            &Clause {
                verb: None,
                ..subject
            },
            "GET",
        );
        let narrowed = read.iter().any(|s| matches!(s.does, Does::Filter { .. }));
        let test = self.condition(clause).filter(|_| !narrowed);
        let read: Vec<Step> = read
            .into_iter()
            .chain(test.map(|condition| self.step(said, Does::Filter { condition })))
            .collect();
        let any = !read.is_empty();
        tree.here().extend(read);
        any
    }

    /// "If the price in the MySQL table offers is below …": what lies in a store that nothing read yet is read and tested.
    fn stored(&mut self, tree: &mut Tree, clause: &Clause, said: &str) -> bool {
        let kept = |s: &&'static crate::lexicon::ServiceEntry| {
            s.is_any(&["db", "sheet", "base"]) && !s.actions.is_empty()
        };
        let Some(service) = self.services_of(clause).into_iter().find(kept) else {
            return false;
        };
        let bound = clause.phrases().any(|p| p.compared.is_some());
        if !bound || tree.steps_so_far().next().is_some() || !tree.open.is_empty() {
            return false;
        }
        let args = self.containers(clause, service);
        let Some(condition) = self.condition(clause) else {
            return false;
        };
        self.mention(service);
        let read = super::on(
            service,
            crate::plan::Verb::GetMany,
            Some("row".into()),
            args,
        );
        let read = self.step(said, read);
        let test = self.step(said, Does::Filter { condition });
        tree.here().extend([read, test]);
        self.topic.many = true;
        true
    }

    /// "Check the country of the parcel: Germany → …": the field that the cases that follow compare.
    fn asks_after(&mut self, i: usize, clause: &Clause) {
        let asks = ["CHECK", "CLASSIFY", "FILTER"]
            .iter()
            .any(|f| clause.calls(f));
        let cases = self
            .clauses
            .get(i + 1)
            .is_some_and(|n| self.points(i + 1, n));
        let sorts = clause.after.iter().find(|p| {
            let by = matches!(p.prep.as_str(), "by" | "per")
                || p.prep == "after" && self.chart.language == "de";
            by && p.service.is_none() && p.numbers.is_empty()
        });
        let object = clause
            .after
            .iter()
            .find(|p| p.prep.is_empty() && p.service.is_none());
        let object = object.filter(|_| asks).or(sorts);
        let asks = asks || sorts.is_some();
        let name = object.map(|p| self.field_name(p)).filter(|n| !n.is_empty());
        if let Some(name) = name.filter(|_| asks && cases) {
            self.topic.field = Some(super::field(&name));
        }
    }

    /// "Below 50 €, the mail with …": what stands before the first comma of a clause without a verb, where it compares.
    fn leading(&mut self, clause: &Clause) -> Option<Cond> {
        let front = clause
            .after
            .iter()
            .take_while(|p| !p.listed)
            .cloned()
            .collect::<Vec<_>>();
        let bound = front.iter().any(|p| p.compared.is_some());
        let aims = front
            .iter()
            .any(|p| p.service.is_some() || self.kind(p) == "message");
        if !bound || aims || front.len() == clause.after.len() {
            return None;
        }
        self.condition(&Clause {
            after: front,
            ..clause.clone()
        })
    }
}

/// The arguments of the last step that acts on a service.
fn last_args(steps: &mut [Step]) -> Option<&mut Vec<crate::plan::Arg>> {
    steps.iter_mut().rev().find_map(|s| match &mut s.does {
        Does::Service { args, .. } => Some(args),
        _ => None,
    })
}

/// What is said last of all to be left out is tested before anything is done with it: a test that nothing follows is for what came.
fn before_acting(mut steps: Vec<Step>) -> Vec<Step> {
    let acts = |s: &Step| {
        let writes = super::repeat::acts(s) && !super::repeat::reads(s);
        writes || matches!(s.does, Does::Aggregate { .. })
    };
    let last = steps
        .last()
        .is_some_and(|s| matches!(s.does, Does::Filter { .. }));
    let Some(at) = steps.iter().position(acts).filter(|_| last) else {
        return steps;
    };
    if let Some(test) = steps.pop() {
        steps.insert(at, test);
    }
    steps
}

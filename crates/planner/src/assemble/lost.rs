//! Clauses that ask for something and left no trace in the plan: what they say is not understood, whatever else of the
//! workflow answers for their words.

use super::Reading;
use super::flow::Tree;
use crate::account::asks_for_a_step;
use crate::chart::What;
use crate::clause::{Clause, Intro, Phrase};
use crate::plan::{Arg, Does, Plan, Role, Trigger, Val};

/// All that a clause can change while the flow is read.
pub(super) struct Traces {
    tree: Tree,
    plan: Plan,
    field: Option<Val>,
    labels: usize,
}

impl Traces {
    /// Whether nothing has changed since.
    pub fn are(&self, now: &Reading<'_>, tree: &Tree) -> bool {
        self.tree == *tree
            && self.plan == now.plan
            && self.field == now.topic.field
            && self.labels == now.topic.labels.len()
    }
}

impl Reading<'_> {
    pub(super) fn traces(&self, tree: &Tree) -> Traces {
        Traces {
            tree: tree.clone(),
            plan: self.plan.clone(),
            field: self.topic.field.clone(),
            labels: self.topic.labels.len(),
        }
    }

    /// Whether a clause wants a step, or a condition, of its own: what tells of people, what is said not to happen and what
    /// only names again what starts the workflow wants none.
    pub(super) fn asks_for_something(&self, i: usize, clause: &Clause) -> bool {
        let Some(verb) = &clause.verb else {
            return false;
        };
        let told = |c: &Clause| matches!(c.intro, Intro::When | Intro::Relative | Intro::Because);
        let within = i.checked_sub(1).is_some_and(|b| {
            let before = self.clause_at(b);
            before.sentence == clause.sentence && told(before)
        });
        // What only looks at what came leaves no trace of its own.
        let looks = ["GET", "SEARCH", "CHECK", "LOOP", "HANDLE", "EXTRACT"];
        // "find the ones where …": the condition behind it says which, and leaves its own.
        let which = |c: &Clause| matches!(c.intro, Intro::If | Intro::Relative);
        let bare = |p: &Phrase| {
            p.pronoun.is_some() || matches!(self.concept(p), "one" | "thing") && p.names.is_empty()
        };
        let next = self.clause_at(i + 1);
        let picks = looks.contains(&verb.frame())
            && clause.phrases().all(bare)
            && next.sentence == clause.sentence
            && which(next);
        // "check each morning at 8": the rhythm is all that it says.
        let rhythm = looks.contains(&verb.frame())
            && clause.phrases().next().is_none()
            && !clause.times.is_empty();
        // "spam is ignored": nothing hangs on what was classified so.
        let labelled = |p: &Phrase| self.label_of(p).is_some();
        let ignored = verb.frame() == "FILTER"
            && !self.topic.labels.is_empty()
            && clause.before.iter().any(labelled);
        if (picks || rhythm || ignored) && !verb.negated {
            return false;
        }
        let ordered =
            verb.sense.form == "base" && clause.before.is_empty() && !looks.contains(&verb.frame());
        let asks = match clause.intro {
            Intro::If | Intro::Unless => true,
            Intro::None | Intro::Purpose | Intro::Else | Intro::Until => {
                (!within || ordered)
                    && asks_for_a_step(&verb.sense)
                    && !self.tells_of_people(clause)
            }
            Intro::When | Intro::Relative | Intro::Because => false,
        };
        let own =
            !matches!(verb.sense.form.as_str(), "past") || verb.passive || verb.at == clause.from;
        // "pushes to other branches must not show up": what is to be left out.
        let left_out = verb.negated
            && clause.intro == Intro::None
            && verb.calls("HAPPEN")
            && clause.before.iter().any(|p| p.head.is_some());
        left_out || asks && own && !verb.negated && !self.wants_only(clause)
    }

    /// Whether the only step hands the caller back what it sent, though the clause answers with something else: "returns it in upper
    /// case", "answers which day of the week it is", "receives a number and answers with its digit sum". A bare answer, of which a
    /// status is all ("confirm the receipt"), is none.
    pub(super) fn only_echoes(&self, i: usize, clause: &Clause, tree: &Tree) -> bool {
        let [step] = tree.steps.as_slice() else {
            return false;
        };
        let (
            true,
            Does::Respond {
                status: 200..300,
                body,
                as_text: None,
            },
        ) = (tree.open.is_empty(), &step.does)
        else {
            return false;
        };
        if body.is_empty() {
            let tells = |p: &Phrase| {
                let said = p.head.is_some() || !p.states.is_empty();
                let whole = self.is_what_came(p) || self.is_the_answer(p);
                p.service.is_none() && p.prep != "to" && said && !whole
            };
            return clause.after.iter().any(tells);
        }
        let came = self.came(i);
        let computed = |a: &Arg| match (&a.role, &a.value) {
            (Role::Field(name), Val::Field { .. }) => !is_one_of(&came, name),
            _ => false,
        };
        !came.is_empty() && body.iter().all(computed) && !self.is_of_the_record(i, clause)
    }

    /// "receives an order … with its total": one record has parts, and a plain noun is the name of one; a figure or a text has
    /// none, and what several give together is computed.
    fn is_of_the_record(&self, i: usize, clause: &Clause) -> bool {
        let listed =
            |t: &Trigger| matches!(t, Trigger::Webhook { fields, .. } if !fields.is_empty());
        let record = |p: &Phrase| {
            let one = p.noun(self.chart).is_some_and(|n| n.form == "one");
            one && self.kind(p) == "record" && !self.is_what_came(p)
        };
        let part = |p: &Phrase| {
            let own = matches!(self.kind(p), "field" | "money" | "date");
            own && p.modifiers.is_empty() && p.states.is_empty() && p.prep != "of"
        };
        let before = crate::cut::before(&self.clauses, i);
        let mut came = before.iter().flat_map(|c| &c.after);
        came.any(record) && !self.plan.triggers.iter().any(listed) && clause.after.iter().all(part)
    }

    /// The fields of an answer that who answers knows ("a health check that answers with status and time"), where all of them are such
    /// and the request says of none that it is sent.
    pub(super) fn answer_of_its_own(&self, i: usize, tree: &mut Tree) {
        let [step] = tree.steps.as_mut_slice() else {
            return;
        };
        let Does::Respond { body, .. } = &mut step.does else {
            return;
        };
        let came = self.came(i);
        let own = |a: &Arg| match (&a.role, &a.value) {
            (Role::Field(name), Val::Field { of: None, .. }) if !is_one_of(&came, name) => {
                super::content::known(name)
            }
            _ => None,
        };
        let Some(values) = body.iter().map(own).collect::<Option<Vec<Val>>>() else {
            return;
        };
        for (arg, value) in body.iter_mut().zip(values) {
            arg.value = value;
        }
    }

    /// What the clauses before this one name as what came, in lower case.
    fn came(&self, i: usize) -> Vec<String> {
        let before = self.clauses.iter().take(i).flat_map(|c| &c.after);
        before
            .filter(|p| p.service.is_none() && p.prep.is_empty() && p.head.is_some())
            .map(|p| self.words(p).to_lowercase())
            .collect()
    }

    /// "I want an automation that …", "set up a workflow": what is asked of the reader, no step of the workflow.
    fn wants_only(&self, clause: &Clause) -> bool {
        let bare = |p: &crate::clause::Phrase| {
            p.names.is_empty() && p.service.is_none() && matches!(self.kind(p), "" | "context")
        };
        self.says(clause, "workflow") && clause.phrases().all(|p| p.names.is_empty())
            || clause.calls("CREATE") && clause.phrases().all(bare)
    }

    /// The clauses without a trace that nothing read later used either, as they stand in the request.
    pub(super) fn lost(&self) -> Vec<String> {
        let open = self.traceless.iter().filter(|i| !self.is_used(**i));
        let said = open.map(|i| self.said(self.clause_at(*i)));
        let said = said.chain(self.start_unknown()).chain(self.goes_where());
        said.filter(|s| !s.is_empty()).collect()
    }

    /// "a pull request is merged to main": where something went to, which nothing tests.
    fn goes_where(&self) -> Option<String> {
        let event = self.starts_at.map(|at| self.clause_at(at))?;
        let verb = event.verb.as_ref()?.at;
        let word = |at: usize| {
            let item = self.chart.item(at);
            let named = matches!(item.what, What::Unknown)
                || item.sense(crate::lex::Class::Adjective).is_some();
            named && self.chart.item(at + 1).stops()
        };
        let into = |at: &usize| {
            let item = self.chart.item(*at);
            let classes = ["to", "into"];
            item.is("prep") && classes.iter().any(|c| item.text == *c || item.tells(c))
        };
        let at = (verb + 1..event.to).filter(into).find(|at| word(at + 1))? + 1;
        let args = self.plan.triggers.iter().filter_map(|t| match t {
            Trigger::Service { args, .. } => Some(args),
            _ => None,
        });
        let args: Vec<&Vec<Arg>> = args.collect();
        let mut steps = self.plan.steps.clone();
        for step in &mut steps {
            step.said.clear();
        }
        let held = serde_json::json!([args, steps]).to_string();
        (!held.contains(self.raw(at))).then(|| self.raw(at).to_owned())
    }

    /// The first clause, where nothing starts the workflow and it is no order: what happens there was not understood.
    fn start_unknown(&self) -> Option<String> {
        let first = self
            .clauses
            .first()
            .filter(|_| self.plan.triggers.is_empty())?;
        let orders = |v: &crate::clause::Use| v.sense.form == "base" || self.chart.language != "en";
        let ordered = first.before.is_empty() && first.verb.as_ref().is_some_and(orders);
        let wished = first.calls("WANT");
        (!ordered && !wished || first.intro == Intro::When).then(|| self.said(first))
    }
}

/// Whether a field is one of those that came, by one of its words.
fn is_one_of(came: &[String], field: &str) -> bool {
    let field = field.to_lowercase();
    let mut words = field.split(['_', ' ']).filter(|w| !w.is_empty());
    words.any(|word| came.iter().any(|c| c.contains(word)))
}

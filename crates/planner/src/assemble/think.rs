//! What a language model does: classify, extract, summarise, translate, write. The branches for its labels are folded into a
//! choice between them.

use super::Reading;
use crate::clause::{Clause, Intro, Phrase};
use crate::plan::{Case, Cmp, Cond, Does, LlmTask, Step, Val};

/// Frames of verbs that a model can do, where the clause names one.
const THINKS: &[&str] = &[
    "CLASSIFY",
    "EXTRACT",
    "SUMMARIZE",
    "TRANSLATE",
    "ANALYZE",
    "WRITE",
];

/// The answers to what a model is asked about.
const YES: &str = "yes";
const NO: &str = "no";

impl Reading<'_> {
    /// A clause that names a model, or the model's service, and what it does.
    pub(super) fn thought(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        if clause.verb.is_none() {
            return self.thought_of(i, clause);
        }
        let verb = clause.verb.as_ref().filter(|v| !v.negated);
        let Some(verb) = verb.filter(|_| self.models(clause)) else {
            return Vec::new();
        };
        if verb.calls("TRANSCRIBE") {
            let named = self.services_of(clause).into_iter().find(|s| s.is("llm"));
            let provider = named.map(|s| s.key.clone());
            return vec![self.simple(clause, Does::Transcribe { provider })];
        }
        let frame = verb
            .sense
            .says
            .iter()
            .find(|f| THINKS.contains(&f.as_str()));
        let frame = frame.cloned();
        if frame.is_none() && verb.calls("GET") {
            let read = self.read_out(i, clause);
            if !read.is_empty() {
                return read;
            }
        }
        if frame.is_none() && verb.calls("ASK") && self.is_affirmed(self.clause_at(i + 1)) {
            return self.asked_whether(clause);
        }
        self.think(i, clause, &frame.unwrap_or_else(|| "WRITE".to_owned()))
    }

    /// "if yes", "if so", "if not": the answer to a question that stands before it, and nothing else.
    pub(super) fn is_affirmed(&self, clause: &Clause) -> bool {
        clause.intro == Intro::If && clause.verb.is_none() && clause.phrases().next().is_none()
    }

    /// "ask the model whether … If yes, …": a choice between two answers.
    fn asked_whether(&mut self, clause: &Clause) -> Vec<Step> {
        let provider = self.provider(clause);
        let labels = [YES, NO].map(str::to_owned).to_vec();
        self.topic.labels.clone_from(&labels);
        let instructions = self.said(clause);
        let does = Does::Llm {
            task: LlmTask::Classify { labels },
            provider,
            instructions,
            input: None,
        };
        vec![self.simple(clause, does)]
    }

    /// What "if yes" tests, where a model was just asked.
    pub(super) fn affirmed(&self, last: Option<&Step>, clause: &Clause) -> Option<Cond> {
        let asked = last.is_some_and(|s| match &s.does {
            Does::Llm {
                task: LlmTask::Classify { labels },
                ..
            } => labels.iter().any(|l| l == YES),
            _ => false,
        });
        let denied = self.items(clause).iter().any(|i| i.is("neg"));
        (asked && self.is_affirmed(clause)).then(|| Cond::Compare {
            left: super::field("category"),
            op: Cmp::Eq,
            right: super::lit(if denied { NO } else { YES }),
        })
    }

    /// "AI: a summary and a category: complaint / question": what a model is to give, without a verb.
    fn thought_of(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        let leads = clause
            .after
            .first()
            .is_some_and(|p| p.service.is_some_and(|s| s.is("llm")) || self.concept(p) == "model");
        if !leads {
            return Vec::new();
        }
        let said = |concept: &str| clause.phrases().any(|p| self.concept(p) == concept);
        let mut steps = Vec::new();
        if said("summary") {
            steps.extend(self.think(i, clause, "SUMMARIZE"));
        }
        let next = self.clause_at(i + 1).clone();
        let follows = next.verb.is_none() && next.sentence == clause.sentence;
        for (at, part) in [(i, clause), (i + 1, &next)] {
            let category = part.after.iter().position(|p| self.concept(p) == "label");
            let Some(from) = category.filter(|_| at == i || follows) else {
                continue;
            };
            let listed = Clause {
                after: crate::cut::from(&part.after, from + 1).to_vec(),
                ..part.clone()
            };
            let made = self.think(at, &listed, "CLASSIFY");
            if !made.is_empty() && at > i {
                self.set_used(at, true);
            }
            steps.extend(made);
        }
        steps
    }

    /// "An AI reads the invoice and takes out supplier, number and date": what the next clause lists is extracted.
    fn read_out(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        let own = self.fields(i);
        let next = self.clause_at(i + 1);
        let goes_on = next.sentence == clause.sentence
            && ["GET", "EXTRACT"].iter().any(|f| next.calls(f))
            && self.services_of(next).is_empty();
        let (fields, said) = match own.len() > 1 {
            true => (own, self.said(clause)),
            false if goes_on => {
                let said = format!("{} {}", self.said(clause), self.said(next));
                (self.fields(i + 1), said)
            }
            false => return Vec::new(),
        };
        if fields.len() < 2 {
            return Vec::new();
        }
        if goes_on {
            self.set_used(i + 1, true);
        }
        let provider = self.provider(clause);
        let does = Does::Llm {
            task: LlmTask::Extract { fields },
            provider,
            instructions: said.clone(),
            input: None,
        };
        vec![self.step(&said, does)]
    }

    /// Whether a clause names a model as who does it.
    pub(super) fn models(&self, clause: &Clause) -> bool {
        let written = clause
            .verb
            .as_ref()
            .is_some_and(|v| v.sense.says.iter().any(|f| THINKS.contains(&f.as_str())));
        let subject = clause.before.iter().any(|p| {
            matches!(self.concept(p), "model" | "agent") && self.services_of(clause).is_empty()
        });
        subject
            || clause.phrases().any(|p| {
                p.service.is_some_and(|s| s.is("llm"))
                    || written && matches!(self.concept(p), "model" | "agent")
            })
    }

    pub(super) fn think(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let provider = self.provider(clause);
        let model = provider.is_some() || clause.phrases().any(|p| self.kind(p) == "ai");
        let mut said = self.said(clause);
        let task = match frame {
            "CLASSIFY" => {
                let (labels, used) = self.labels(i, clause);
                if labels.len() < 2 {
                    return Vec::new();
                }
                if let Some(next) = used {
                    self.set_used(next, true);
                    said = format!("{said} {}", self.said(self.clause_at(next)));
                }
                LlmTask::Classify { labels }
            }
            "ANALYZE" if self.labels(i, clause).0.len() > 1 => {
                return self.think(i, clause, "CLASSIFY");
            }
            "ANALYZE" if clause.phrases().any(|p| self.concept(p) == "sentiment") => {
                LlmTask::Sentiment
            }
            "EXTRACT" => {
                let fields = self.fields(i);
                if fields.is_empty() {
                    return self.opened(clause);
                }
                LlmTask::Extract { fields }
            }
            "SUMMARIZE" => LlmTask::Summarize,
            "TRANSLATE" => {
                let to = clause
                    .after
                    .iter()
                    .find(|p| self.concept(p) == "language")
                    .or_else(|| {
                        let to = |p: &&Phrase| matches!(p.prep.as_str(), "to" | "into");
                        clause.after.iter().find(to)
                    })
                    .map(|p| self.words(p));
                let Some(language) = to.filter(|w| !w.is_empty()) else {
                    return Vec::new();
                };
                LlmTask::Translate { language }
            }
            "WRITE" | "ANALYZE" if model => LlmTask::Write,
            _ => return Vec::new(),
        };
        if let LlmTask::Classify { labels } = &task {
            self.topic.labels.clone_from(labels);
        }
        vec![self.step(
            &said.clone(),
            Does::Llm {
                task,
                provider,
                instructions: said,
                input: None,
            },
        )]
    }

    /// The model's service that a clause names, else the one that the request names.
    fn provider(&self, clause: &Clause) -> Option<String> {
        let named = self.services_of(clause).into_iter().find(|s| s.is("llm"));
        named.map(|s| s.key.clone()).or_else(|| self.latest_model())
    }

    /// The model's service that was named last, where only one is named.
    fn latest_model(&self) -> Option<String> {
        let mut named = self
            .chart
            .items
            .iter()
            .filter_map(crate::chart::Item::service)
            .filter(|s| s.is("llm"));
        let first = named.next()?;
        named.all(|s| s.key == first.key).then(|| first.key.clone())
    }

    /// The labels that a classification chooses from, and the clause that lists them where it is the next one.
    fn labels(&self, i: usize, clause: &Clause) -> (Vec<String>, Option<usize>) {
        let listed = |phrases: &[Phrase]| {
            let mut labels: Vec<String> = Vec::new();
            let begins = phrases.iter().enumerate().position(|(n, p)| {
                let next = phrases.get(n + 1).is_some_and(|x| x.listed);
                next && (p.head.is_some() || !p.states.is_empty() || !p.names.is_empty())
            });
            let Some(begins) = begins else {
                return labels;
            };
            for (n, phrase) in crate::cut::from(phrases, begins).iter().enumerate() {
                if n > 0 && !phrase.listed {
                    break;
                }
                let name = self.field_name(phrase);
                if !name.is_empty() && !labels.contains(&name) {
                    labels.push(name);
                }
            }
            labels
        };
        let own = listed(&clause.after);
        if own.len() > 1 {
            return (own, None);
        }
        let next = self.clauses.get(i + 1).filter(|n| {
            n.sentence == clause.sentence
                && (matches!(n.intro, Intro::If) || n.colon || n.verb.is_none())
        });
        let more = next.map(|n| listed(&n.after)).unwrap_or_default();
        if more.len() > 1 {
            (more, Some(i + 1))
        } else {
            (own, None)
        }
    }

    /// The label that a phrase speaks of: the one with the most words in common, by their beginnings.
    pub(super) fn label_of(&self, phrase: &Phrase) -> Option<String> {
        let said = match phrase.names.first() {
            Some(name) => self.name(*name),
            None => self.words(phrase),
        };
        let stems = |text: &str| -> Vec<String> {
            text.to_lowercase()
                .split(|c: char| !c.is_alphanumeric())
                .filter(|w| w.chars().count() > 1)
                .map(|w| w.chars().take(5).collect())
                .collect()
        };
        let words = stems(&said);
        if words.is_empty() {
            return None;
        }
        let score = |label: &String| {
            let of = stems(label);
            let common = of.iter().filter(|w| words.contains(w)).count();
            (common * 10).saturating_sub(of.len().abs_diff(words.len()))
        };
        let best = self.topic.labels.iter().max_by_key(|l| score(l))?;
        (score(best) > 4).then(|| best.clone())
    }
}

/// Branches in a row that compare one field with one value each become a choice between them; the other way of the last is
/// for all the rest.
pub(super) fn folded(steps: Vec<Step>) -> Vec<Step> {
    let mut done: Vec<Step> = Vec::new();
    let mut run: Vec<Step> = Vec::new();
    for step in steps {
        let step = inner(step);
        let fits = compared(&step).is_some_and(|field| {
            run.last().is_none_or(|last| {
                compared(last) == Some(field) && otherwise(last).is_some_and(|o| o.is_empty())
            })
        });
        if !fits {
            close(&mut run, &mut done);
        }
        if compared(&step).is_some() {
            run.push(step);
        } else {
            done.push(step);
        }
    }
    close(&mut run, &mut done);
    done
}

fn close(run: &mut Vec<Step>, done: &mut Vec<Step>) {
    let mut steps = std::mem::take(run);
    if steps.len() < 2 {
        done.append(&mut steps);
        return;
    }
    let Some((first, on)) = steps
        .first()
        .and_then(|s| Some((s.clone(), compared(s)?.clone())))
    else {
        done.append(&mut steps);
        return;
    };
    let mut fallback = None;
    let cases = steps
        .into_iter()
        .filter_map(|step| match step.does {
            Does::If {
                condition,
                then,
                otherwise,
            } => {
                if !otherwise.is_empty() {
                    fallback = Some(otherwise);
                }
                Some(Case {
                    label: label(&condition),
                    condition: Some(condition),
                    steps: then,
                })
            }
            _ => None,
        })
        .collect();
    done.push(Step {
        does: Does::Switch {
            on,
            cases,
            fallback,
        },
        ..first
    });
}

fn otherwise(step: &Step) -> Option<&Vec<Step>> {
    match &step.does {
        Does::If { otherwise, .. } => Some(otherwise),
        _ => None,
    }
}

/// The field that a branch compares with given values.
fn compared(step: &Step) -> Option<&Val> {
    fn of(cond: &Cond) -> Option<&Val> {
        match cond {
            Cond::Compare {
                left: left @ Val::Field { .. },
                op: Cmp::Eq | Cmp::StartsWith,
                right: Val::Lit { .. },
            } => Some(left),
            Cond::Any { of: all } => {
                let first = of(all.first()?)?;
                all.iter().all(|c| of(c) == Some(first)).then_some(first)
            }
            _ => None,
        }
    }
    match &step.does {
        Does::If { condition, .. } => of(condition),
        _ => None,
    }
}

fn label(cond: &Cond) -> String {
    match cond {
        Cond::Compare {
            right: Val::Lit { value },
            ..
        } => value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned),
        Cond::Any { of } => of.iter().map(label).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    }
}

/// The same within the ways of a step.
fn inner(mut step: Step) -> Step {
    for way in step.ways_mut() {
        *way = folded(std::mem::take(way));
    }
    step
}

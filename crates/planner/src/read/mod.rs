//! Reads a request into a plan: values aside, clauses, trigger, conditions, actions, questions. Pure and deterministic; it
//! knows no n8n parameter, builds no node and asks only about what has no sensible default.

pub mod act;
pub mod agent;
pub mod args;
pub mod ask;
pub mod bot;
pub mod clause;
pub mod compare;
pub mod cond;
pub mod flow;
pub mod heads;
pub mod ingest;
pub mod models;
pub mod named;
pub mod parts;
pub mod phrasing;
pub mod refuse;
pub mod rules;
pub mod shape;
pub mod signal;
pub mod special;
pub mod text;
pub mod times;
pub mod title;
pub mod tree;
pub mod trigger;
pub mod value;
pub mod when;

use crate::lexicon::{first, has, rx};
use crate::plan::{self, Plan, Refusal, Retry};
use act::Memory;
use agentctl_base::lazy_regex::Captures;
use agentctl_base::question::Question;
use clause::Join;
use indexmap::IndexMap;
use text::Masked;

/// What the reader may know besides the request.
#[derive(Debug, Clone, Default)]
pub struct ReadContext {
    /// Answers to earlier questions, by topic.
    pub answers: IndexMap<String, String>,
}

/// A request, understood as far as it goes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    pub plan: Plan,
    /// Required ones first. A plan stands beside them where the rest was clear.
    pub questions: Vec<Question>,
    pub refusal: Option<Refusal>,
    /// What was assumed, in the request's language.
    pub notes: Vec<String>,
}

/// Reads a request; one of several flows is read part by part.
pub fn read(request: &str, cx: &ReadContext) -> Reading {
    let parts = parts::split(request);
    if parts.len() > 1 {
        let readings = parts.iter().map(|p| flow_of(p, cx)).collect();
        if let Some(mut whole) = parts::merge(readings) {
            language(request).clone_into(&mut whole.plan.language);
            return whole;
        }
    }
    flow_of(request, cx)
}

/// Reads a request of one flow.
fn flow_of(request: &str, cx: &ReadContext) -> Reading {
    let language = language(request);
    let refusal = refuse::refusal(request, language);
    let said = request;
    let request = refuse::without_secrets(request, refusal.as_ref());
    let answered = ask::with_answers(&request, &cx.answers);
    let mut m = Masked::of(&answered);
    let only = plain_times(&mut m);
    m.text = phrasing::plain(&m, &m.text);
    m.text = rules::plain(&m, &m.text);
    let m = m;
    let mut mem = Memory::new(&m, language);
    let mut clauses = clause::all(&m.text);
    let mut plan = Plan {
        language: language.to_owned(),
        timezone: when::zone(&m.plain(&m.text)),
        ..Plan::default()
    };
    let (name, labelled) = flow::name(&m, &mut clauses);
    plan.name = name;
    constraints(&m, &mut clauses, &mut plan);
    agent::without_unwanted(&mut clauses);
    let mut found = trigger::find(&mut mem, &mut clauses);
    if let Some(condition) = only
        && matches!(found.triggers.as_slice(), [plan::Trigger::Schedule { rules }] if rules.len() == 1)
    {
        let step = mem.step("", plan::Does::Filter { condition });
        found.first_steps.insert(0, step);
    }
    plan.triggers = found.triggers;
    let obeys = bot::obeys(&mut mem, &mut clauses, &mut found.first_steps);
    let agent = !obeys && agent::whole(&mut mem, &mut clauses, &mut plan);
    let (steps, on_error) = if agent {
        (std::mem::take(&mut plan.steps), Vec::new())
    } else {
        flow::steps(&mut mem, &clauses, found.first_steps)
    };
    plan.steps = steps;
    bot::hand_over(&mut plan.steps, mem.ordered.take());
    plan.on_error = on_error;
    plan.lenient = std::mem::take(&mut mem.lenient);
    if !labelled && let Some(name) = title::title(&plan, &answered) {
        plan.name = name;
    }
    if let Some(r) = &refusal {
        if refuse::is_about_secret(r) {
            refuse::with_credentials(&mut plan, said);
        } else {
            plan.steps.clear();
        }
        return Reading {
            plan,
            questions: Vec::new(),
            refusal,
            notes: mem.notes,
        };
    }
    let questions = ask::questions(&m, &plan, found.guessed, language, &cx.answers);
    Reading {
        plan,
        questions,
        refusal,
        notes: mem.notes,
    }
}

/// Schedules in plain words, cron expressions out of their quotes; what must hold on the day, if anything.
fn plain_times(m: &mut Masked) -> Option<plan::Cond> {
    let opened = rx(r"§[kqr]\d+§")
        .replace_all(&m.text, |c: &Captures<'_>| {
            let mark = c.get(0).map_or("", |w| w.as_str());
            match m.entity(mark) {
                Some(e) if times::is_cron(&e.value) => format!("cron {}", e.value),
                _ => mark.to_owned(),
            }
        })
        .into_owned();
    let plain = times::canonical(&opened);
    m.text = plain.text;
    plain.only
}

/// The request's language by its small words.
pub fn language(text: &str) -> &'static str {
    const SMALL: [(&str, &str); 4] = [
        (
            "de",
            r"\b(?:der|die|das|und|ein|eine|einen|einer|nicht|mit|für|ist|wenn|aus|den|dem|soll|sollen|bitte|jeden|jede|jeder|im|auf|von|bei|mir|alle|wird|werden|schick|als|wir|ich|sie|wenn|neue[rnms]?|zu|zum|zur|nach|an|am|vom|oder|dann|uns)\b",
        ),
        (
            "es",
            r"\b(?:el|la|los|las|un|una|que|de|del|con|para|por|cuando|cada|envía|crea|y|en|si|mi|su|nuestro|todos|lo|al)\b",
        ),
        (
            "fr",
            r"\b(?:le|la|les|des|un|une|et|est|pour|avec|dans|sur|que|chaque|tous|quand|envoie|crée|du|au|mes|notre|si|nos|sans)\b",
        ),
        (
            "en",
            r"\b(?:the|and|to|of|a|an|in|is|for|with|when|if|every|each|new|it|on|my|our|please|send|from|that|all|into|as|at|we|i)\b",
        ),
    ];
    let plain = rx(r"`[^`]*`|https?://\S+|\x22[^\x22]*\x22")
        .replace_all(text, " ")
        .into_owned();
    SMALL
        .iter()
        .map(|(l, p)| (rx(p).find_iter(&plain).count(), *l))
        .max_by_key(|(n, l)| (*n, *l == "en"))
        .map_or("en", |(_, l)| l)
}

/// Sentences that bind the whole workflow: retries, "nothing else", what must not happen.
fn constraints(m: &Masked, clauses: &mut Vec<clause::Clause>, plan: &mut Plan) {
    for c in clauses.iter_mut() {
        let t = c.text.clone();
        if has(
            r"\b(?:retry|retries|retried|try again|wiederhol\w*|reintent\w*|réessa\w*)\b",
            &t,
        ) {
            let n = first(
                r"(\d+)\s*(?:times|x|tries|attempts|retries|mal|veces|fois)",
                &t,
            )
            .or(first(r"(\d+)", &t))
            .and_then(|n| n.parse().ok())
            .unwrap_or(3);
            let wait = when::duration(
                &rx(r"\d+\s*(?:times|x|tries|attempts|retries|mal|veces|fois)").replace_all(&t, ""),
            )
            .and_then(|s| u32::try_from(s).ok());
            plan.retry = Some(Retry {
                max_tries: n,
                wait_seconds: wait,
            });
            c.text = without_retry(&t);
        } else if has(
            r"^(?:that'?s (?:all|it)|nothing else|no extras?|nothing more|mehr nicht|sonst nichts|nada más|c'est tout|rien d'autre)\b|\bnothing else\b",
            &t,
        ) {
            plan.minimal = true;
            c.text.clear();
        } else if has(
            r"\b(?:are|is) to be ignored\b|\bmust not (?:show|appear|trigger|be)\b|\bshould (?:not|never) (?:show up|trigger|appear)\b|\bwerden ignoriert\b|\bsollen nicht\b.*\bauslösen\b|\bse ignoran?\b|\bdeben ignorarse\b|\bsont ignorés?\b",
            &t,
        ) {
            c.text.clear();
        }
    }
    let _ = m;
    silent_conditions(clauses);
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
}

/// "get the charges, retry 3 times when it fails": what else the clause says.
fn without_retry(text: &str) -> String {
    let Some(f) = rx(r"(?:,\s*)?(?:\b(?:and|und|y|et|with|mit|con|avec)\s+)?(?:(?:up to|at most|bis zu|hasta|jusqu'à|\d+)\s*)*\b(?:retry|retries|retried|try (?:it )?again|wiederhol\w*|reintent\w*|réessa\w*)\b").find(text) else {
        return String::new();
    };
    let before = text.get(..f.start()).unwrap_or_default().trim();
    let acts = act::verb_in(before).is_some_and(|(v, _)| v.role != "neutral")
        && !has(
            r"^(?:{if}|should|soll\w*|please|failing|failed|steps?|every|each|jede\w*|all|alle)\b",
            before,
        )
        && before.split_whitespace().count() > 2;
    if acts {
        before.to_owned()
    } else {
        String::new()
    }
}

/// "If nobody has a birthday, nothing is posted" restates the main path.
fn silent_conditions(clauses: &mut [clause::Clause]) {
    for i in 0..clauses.len() {
        let silent = clauses.get(i).is_some_and(|c| {
            has(r"^(?:(?:then|dann|just|simply)\s+)?(?:{nothing}|soll nichts|nichts soll|send nothing|post nothing|don't send|do not send|don't post|do not post|no message|stay (?:quiet|silent)|skip it|no (?:se )?\w+ nada|ne rien \w+|es soll nichts|keine \w+ (?:senden|schicken))", &c.text)
        });
        // "…, do nothing, otherwise …": the condition decides about what follows.
        let decides = clauses
            .get(i + 1)
            .is_some_and(|n| has(r"^{else}\b", clause::strip_lead(&n.text)));
        if !silent || decides {
            continue;
        }
        let Some(before) = i.checked_sub(1) else {
            continue;
        };
        let same = clauses.get(before).map(|b| b.sentence) == clauses.get(i).map(|c| c.sentence);
        let labelled = clauses
            .get(before)
            .is_some_and(|b| has(r"^(?:{if}|{else}|hat|ist|sind|no |without|kein)\b", &b.text))
            || clauses.get(i).is_some_and(|c| c.join == Join::Arrow);
        if same && labelled {
            for k in [before, i] {
                if let Some(c) = clauses.get_mut(k) {
                    c.text.clear();
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod read_tests;

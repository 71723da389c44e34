//! Which tool fits a need best, out of what its file says and what came of its calls: text match × health × usefulness − cost − time.
//! Pure: the same files and figures give the same list.

use agentctl_engine::pack::DeclaredTool;
use std::collections::BTreeMap;

/// What came of a tool's calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    pub made: u64,
    pub ok: u64,
    /// Steps that made one or more.
    pub steps: u64,
    /// Those of them whose answer holds something that the tool said.
    pub useful: u64,
    pub refused: u64,
    /// The middle time of the calls that succeeded, in milliseconds.
    pub p50_ms: u64,
    /// Steps and useful steps by the task of the step, as its flow names it.
    pub tasks: BTreeMap<String, Steps>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    pub made: u64,
    pub useful: u64,
}

impl Calls {
    /// The lower bound of the share of steps that it helped. For a task the steps of that task count, and what the others say as ten
    /// steps at most: what helps in one task need not help in another one.
    pub fn useful_at_least(&self, task: Option<&str>) -> f64 {
        let Some(task) = task else {
            return wilson(self.useful, self.steps);
        };
        let of = self.tasks.get(task).copied().unwrap_or_default();
        let (good, all) = (
            self.useful.saturating_sub(of.useful),
            self.steps.saturating_sub(of.made),
        );
        let (good, all) = (number(good) + 2.0, number(all) + 3.0);
        let weight = all.min(OTHER_TASKS);
        bound(
            number(of.useful) + good / all * weight,
            number(of.made) + weight,
        )
    }
}

/// What is known of other tasks counts as so many steps at most.
const OTHER_TASKS: f64 = 10.0;

/// A tool with its score and what it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored<'t> {
    pub tool: &'t DeclaredTool,
    /// From 0 (no word of the need) on.
    pub text: f64,
    /// 1: it is real here, and none of its calls failed; 0: it cannot be called.
    pub health: f64,
    /// The lower bound of the share of steps that it helped (Wilson, 95 %), those of the task first.
    pub useful: f64,
    /// Taken away: a tenth for a call that changes something, and up to a tenth for a slow one.
    pub cost: f64,
    pub score: f64,
}

/// How a tool stands here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    Real,
    Mock,
    /// It lacks something of the environment.
    Not,
}

/// The lower bound of Wilson's interval at 95 % for a share. Before there are calls, two of three count as good: nobody knows yet.
pub fn wilson(good: u64, all: u64) -> f64 {
    bound(number(good) + 2.0, number(all) + 3.0)
}

fn number(n: u64) -> f64 {
    u32::try_from(n).map_or(f64::from(u32::MAX), f64::from)
}

fn bound(good: f64, all: f64) -> f64 {
    const Z: f64 = 1.96;
    let p = good / all;
    let squared = Z * Z / all;
    let spread = Z * ((p * (1.0 - p) + squared / 4.0) / all).sqrt();
    ((p + squared / 2.0 - spread) / (1.0 + squared)).max(0.0)
}

/// The tools that have a word of the need, the best first; where two are equal, by name.
pub fn ranked<'t>(
    need: &str,
    task: Option<&str>,
    tools: impl IntoIterator<Item = &'t DeclaredTool>,
    calls: &BTreeMap<String, Calls>,
    stands: impl Fn(&DeclaredTool) -> Stands,
) -> Vec<Scored<'t>> {
    let mut ranked = scored(need, task, tools, calls, stands);
    ranked.retain(|scored| scored.text > 0.0);
    ranked
}

/// All of them in the order in which they are offered: the best first, and what a tool requires before it, so that whoever has the one has
/// the other too.
pub fn in_order<'t>(
    need: &str,
    task: Option<&str>,
    tools: impl IntoIterator<Item = &'t DeclaredTool>,
    calls: &BTreeMap<String, Calls>,
    stands: impl Fn(&DeclaredTool) -> Stands,
) -> Vec<Scored<'t>> {
    let mut left = scored(need, task, tools, calls, stands);
    let mut order = Vec::new();
    while !left.is_empty() {
        let first = left.remove(0);
        let required = first.tool.requires.as_ref();
        let required = required.and_then(|of| left.iter().position(|one| one.tool.id == of.tool));
        order.extend(required.map(|at| left.remove(at)));
        order.push(first);
    }
    order
}

impl Scored<'_> {
    /// What the score is made of, on one line.
    pub fn why(&self) -> String {
        format!(
            "{:.2} (words) × {:.2} (health) × {:.2} (useful at least) − {:.2} (cost, time)",
            self.text, self.health, self.useful, self.cost
        )
    }
}

fn scored<'t>(
    need: &str,
    task: Option<&str>,
    tools: impl IntoIterator<Item = &'t DeclaredTool>,
    calls: &BTreeMap<String, Calls>,
    stands: impl Fn(&DeclaredTool) -> Stands,
) -> Vec<Scored<'t>> {
    let tools: Vec<&DeclaredTool> = tools.into_iter().collect();
    let texts: Vec<Vec<(String, f64)>> = tools.iter().map(|tool| words_of(tool)).collect();
    let need = words(need);
    let mut scored: Vec<Scored<'t>> = tools
        .iter()
        .zip(&texts)
        .map(|(tool, text)| {
            let text = matches(&need, text, &texts);
            let none = Calls::default();
            let calls = calls.get(tool.id).unwrap_or(&none);
            let health = match stands(tool) {
                Stands::Real => health(calls),
                Stands::Mock => 0.5,
                Stands::Not => 0.0,
            };
            let useful = calls.useful_at_least(task);
            let slow = (ratio(calls.p50_ms, 10_000)).min(1.0) / 10.0;
            let cost = slow + if tool.changes { 0.1 } else { 0.0 };
            let score = text * health * useful - if text > 0.0 { cost } else { 0.0 };
            Scored {
                tool,
                text,
                health,
                useful,
                cost,
                score,
            }
        })
        .collect();
    scored.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.tool.id.cmp(b.tool.id))
    });
    scored
}

fn ratio(a: u64, b: u64) -> f64 {
    number(a) / number(b).max(1.0)
}

fn health(calls: &Calls) -> f64 {
    match calls.made.saturating_sub(calls.refused) {
        0 => 1.0,
        made => ratio(calls.ok, made),
    }
}

/// The words of a text in lower case, three letters and more.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let long = words.filter(|word| word.chars().count() > 2);
    long.map(|word| stem(&word.to_lowercase())).collect()
}

/// Without the ending of a plural or of a form of a verb.
fn stem(word: &str) -> String {
    let ends = ["ing", "es", "ed", "en", "s"];
    let cut = ends.iter().find_map(|end| word.strip_suffix(end));
    match cut.filter(|cut| cut.chars().count() > 3) {
        Some(cut) => cut.to_owned(),
        None => word.to_owned(),
    }
}

/// The words that a tool is found by, with the weight of where they stand.
fn words_of(tool: &DeclaredTool) -> Vec<(String, f64)> {
    let examples: Vec<String> = tool.examples.iter().map(ToString::to_string).collect();
    let parts = [
        (format!("{} {}", tool.id.replace('_', " "), tool.name), 3.0),
        (tool.keywords.join(" "), 2.0),
        (tool.category.clone(), 1.0),
        (tool.description.clone(), 1.0),
        (examples.join(" "), 0.5),
    ];
    let weighed = parts
        .iter()
        .flat_map(|(text, weight)| words(text).into_iter().map(move |word| (word, *weight)));
    weighed.collect()
}

/// Okapi BM25 over the tools at hand, with the weights in place of counts.
fn matches(need: &[String], text: &[(String, f64)], all: &[Vec<(String, f64)>]) -> f64 {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;
    let length = |of: &[(String, f64)]| ratio(u64::try_from(of.len()).unwrap_or(u64::MAX), 1);
    let count = length(&[]).max(ratio(u64::try_from(all.len()).unwrap_or(u64::MAX), 1));
    let mean = all.iter().map(|of| length(of)).sum::<f64>() / count.max(1.0);
    let of_word = |word: &String| {
        let weight: f64 = text
            .iter()
            .filter(|(w, _)| w == word)
            .map(|(_, weight)| weight)
            .sum();
        let known = all
            .iter()
            .filter(|of| of.iter().any(|(w, _)| w == word))
            .count();
        let known = ratio(u64::try_from(known).unwrap_or(u64::MAX), 1);
        let rare = ((count - known + 0.5) / (known + 0.5) + 1.0).ln();
        rare * weight * (K1 + 1.0) / (weight + K1 * (1.0 - B + B * length(text) / mean.max(1.0)))
    };
    need.iter().map(of_word).sum()
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod registry_tests;

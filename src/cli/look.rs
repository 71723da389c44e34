//! What a run is about to write, shown before it is: the workflow as it would be, what changes, what would be left to do, what of the
//! request is not in it, and the recommendations that were taken.

use super::ask;
use super::cases;
use super::choose;
use super::plain::{plain, plain_long};
use super::progress::{Progress, answered, colour_diff};
use super::questions;
use super::streams;
use agentctl_base::counted::counted;
use agentctl_base::question::{Glance, Proposal, Question};
use agentctl_base::untrusted::prose;
use agentctl_engine::guards::rules::LOOK;
use agentctl_engine::run::{Asked, Taken};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Workflow, tree::tree};
use console::style;
use serde_json::{Map, Value};

/// A run whose user looks first.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// What is to be otherwise, in the user's words; with it nothing was written.
    pub wish: Option<String>,
    /// What the user answered before that, by topic.
    pub answers: Map<String, Value>,
}

/// True for the question that shows a change before it is made.
pub fn is_look(question: &Question) -> bool {
    question.proposal.as_ref().is_some_and(|p| p.rule == LOOK)
}

impl Look {
    /// Shows the change, and asks for a yes, another wish, or a no.
    pub fn ask(&mut self, question: &Question, progress: &Progress) -> Result<Asked, String> {
        const YES: &str = "Yes, write it";
        const CHANGE: &str = "Change something";
        const NO: &str = "No, leave everything as it is";
        let Some(proposal) = &question.proposal else {
            return ask::ask(question);
        };
        streams::tell(&text(proposal, &progress.taken()));
        let text = questions::words(question);
        let text = super::fit::question(&text);
        let answered = match choose::one(&text, &[YES, CHANGE, NO], 2) {
            Ok(1) => {
                let wish = choose::text("What should be otherwise?");
                wish.map(|wish| {
                    self.wish = Some(wish).filter(|wish| !wish.trim().is_empty());
                    self.answers = progress.typed();
                    "refuse"
                })
            }
            other => other.map(|chosen| if chosen == 0 { "approve" } else { "refuse" }),
        };
        ask::came(answered.map(|value| Some(value.into())))
    }
}

/// The change in full, for a terminal and for a run that waits. `taken`: the recommendations that were taken on the way to it.
pub fn text(proposal: &Proposal, taken: &[Taken]) -> String {
    let mut out = String::new();
    let after = proposal.after.clone();
    let after = after.and_then(|after| Workflow::from_value(after).ok());
    if let Some(after) = &after {
        let mut said = Vec::new();
        strings(&proposal.arguments, &mut said);
        out.push_str(&document(after, |node| said.contains(&node)));
    }
    let diff = proposal.diff.as_deref().unwrap_or_default();
    // Of a new workflow the tree says the same in fewer lines.
    if !diff.is_empty() && !(after.is_some() && is_new(diff)) {
        let lines: Vec<&str> = diff.lines().collect();
        let (shown, more) = lines.split_at(lines.len().min(MOST_OF_DIFF));
        out.push_str(&format!("{}\n", colour_diff(&shown.join("\n"))));
        out.push_str(&left_out(
            more.len(),
            "more line",
            "agentctl status --output-format json has the whole diff",
        ));
    }
    if let Some(glance) = &proposal.glance {
        out.push_str(&known(glance));
    }
    for taken in taken {
        let what = format!("{} {}", taken.question, answered(&taken.value));
        out.push_str(&line("taken", &plain_long(&what)));
    }
    out
}

/// Lines of one kind; more are counted.
const MOST_OF_KIND: usize = 12;
/// Lines of a tree; of a larger one what changes, and what stands beside it.
const MOST_OF_TREE: usize = 40;
/// Lines of a diff.
const MOST_OF_DIFF: usize = 120;

/// How many were left out, and where they are; empty: none.
fn left_out(more: usize, what: &str, place: &str) -> String {
    match more {
        0 => String::new(),
        more => format!("… {}: {place}\n", counted(more, what)),
    }
}

/// Whether there was not a node before.
fn is_new(diff: &str) -> bool {
    diff.lines()
        .any(|line| line.trim_end() == "-  \"nodes\": [],")
}

/// Every text of a value.
fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(all) => all.iter().for_each(|value| strings(value, found)),
        Value::Object(all) => all.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

/// A workflow that is not written yet, as a tree. `changes`: whether a node of this name is another than before.
pub fn document(after: &Workflow, changes: impl Fn(&str) -> bool) -> String {
    let nodes = after.nodes.iter().filter(|n| !n.is_sticky()).count();
    let name = style(plain(after.name())).for_stderr().bold();
    let nodes = counted(nodes, "node");
    let tree = tree(after, Some(Catalog::embedded()));
    let names = after.nodes.iter().map(|node| node.name());
    let changed: Vec<String> = names.filter(|name| changes(name)).map(plain).collect();
    let tree = around(&tree, |line| changed.iter().any(|name| line.contains(name)));
    format!("\n{name} ({nodes})\n\n{tree}\n")
}

/// The lines that tell of something and those beside them; of a short text, or one in which none does, its beginning.
fn around(text: &str, tells: impl Fn(&str) -> bool) -> String {
    const BESIDE: usize = 2;
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= MOST_OF_TREE {
        return text.to_owned();
    }
    let mut told: Vec<usize> = (0..lines.len())
        .filter(|at| {
            let beside = at.saturating_sub(BESIDE)..=at + BESIDE;
            beside
                .into_iter()
                .any(|at| lines.get(at).is_some_and(|line| tells(line)))
        })
        .collect();
    if told.is_empty() {
        told = (0..lines.len()).collect();
    }
    told.truncate(MOST_OF_TREE);
    let (mut out, mut next) = (String::new(), 0);
    for at in told {
        if at > next {
            out.push_str(&format!("… {}\n", counted(at - next, "line")));
        }
        out.push_str(&format!("{}\n", lines.get(at).copied().unwrap_or_default()));
        next = at + 1;
    }
    let more = lines.len().saturating_sub(next);
    out + &left_out(
        more,
        "line",
        "agentctl show tells of them once it is written",
    )
}

/// What only the user can do, what is wrong with it, and what of the request is not in it.
pub fn known(glance: &Glance) -> String {
    let mut out = String::new();
    let more = |all: &[Value]| all.len().saturating_sub(MOST_OF_KIND);
    for item in glance.todo.iter().take(MOST_OF_KIND) {
        let field = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let what = match (item.as_str(), field("node")) {
            (Some(text), _) => prose(text),
            (None, "") => prose(field("text")),
            (None, node) => format!("[{}] {}", plain(node), prose(field("text"))),
        };
        out.push_str(&line("left to do", &what));
    }
    let place = "agentctl status --output-format json has them all";
    out.push_str(&left_out(more(&glance.todo), "more point", place));
    for found in glance.findings.iter().take(MOST_OF_KIND) {
        let field = |key: &str| found.get(key).and_then(Value::as_str).unwrap_or_default();
        let node = match field("node") {
            "" => String::new(),
            node => format!("[{}] ", plain(node)),
        };
        let what = format!("{} {node}{}", plain(field("code")), prose(field("message")));
        out.push_str(&line(&plain(field("severity")), &what));
    }
    out.push_str(&left_out(
        more(&glance.findings),
        "more finding",
        "agentctl qa",
    ));
    let missing = glance.not_covered.iter();
    let missing: Vec<String> = missing
        .map(|phrase| format!("'{}'", plain(phrase)))
        .collect();
    if !missing.is_empty() {
        out.push_str(&line("not covered", &missing.join(", ")));
    }
    for case in cases::in_words(&glance.cases) {
        out.push_str(&line("case", &case));
    }
    out
}

fn line(head: &str, text: &str) -> String {
    format!(
        "{} {text}\n",
        style(format!("{head}:")).for_stderr().yellow()
    )
}

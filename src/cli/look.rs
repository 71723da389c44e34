//! What a run is about to write, shown before it is: the workflow as it would be, what changes, what would be left to do, what of the
//! request is not in it, and the recommendations that were taken.

use super::ask;
use super::attended::attended;
use super::cases;
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
        let asked = inquire::Select::new(&text, vec![YES, CHANGE, NO]).with_starting_cursor(2);
        let asked = attended(|| asked.prompt());
        let answered = match asked {
            Ok(CHANGE) => {
                let wish = inquire::Text::new("What should be otherwise?");
                attended(|| wish.prompt()).map(|wish| {
                    self.wish = Some(wish).filter(|wish| !wish.trim().is_empty());
                    self.answers = progress.typed();
                    "refuse"
                })
            }
            other => other.map(|chosen| if chosen == YES { "approve" } else { "refuse" }),
        };
        ask::came(answered.map(|value| Some(value.into())))
    }
}

/// The change in full, for a terminal and for a run that waits. `taken`: the recommendations that were taken on the way to it.
pub fn text(proposal: &Proposal, taken: &[Taken]) -> String {
    let mut out = String::new();
    let after = proposal.after.clone();
    if let Some(after) = after.and_then(|after| Workflow::from_value(after).ok()) {
        out.push_str(&document(&after));
    }
    let diff = proposal.diff.as_deref().unwrap_or_default();
    if !diff.is_empty() {
        out.push_str(&format!("{}\n", colour_diff(diff)));
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

/// A workflow that is not written yet, as a tree.
pub fn document(after: &Workflow) -> String {
    let nodes = after.nodes.iter().filter(|n| !n.is_sticky()).count();
    let name = style(plain(after.name())).for_stderr().bold();
    let nodes = counted(nodes, "node");
    let tree = tree(after, Some(Catalog::embedded()));
    format!("\n{name} ({nodes})\n\n{tree}\n")
}

/// What only the user can do, what is wrong with it, and what of the request is not in it.
pub fn known(glance: &Glance) -> String {
    let mut out = String::new();
    for item in &glance.todo {
        let field = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let what = match (item.as_str(), field("node")) {
            (Some(text), _) => prose(text),
            (None, "") => prose(field("text")),
            (None, node) => format!("[{}] {}", plain(node), prose(field("text"))),
        };
        out.push_str(&line("left to do", &what));
    }
    for found in &glance.findings {
        let field = |key: &str| found.get(key).and_then(Value::as_str).unwrap_or_default();
        let node = match field("node") {
            "" => String::new(),
            node => format!("[{}] ", plain(node)),
        };
        let what = format!("{} {node}{}", plain(field("code")), prose(field("message")));
        out.push_str(&line(&plain(field("severity")), &what));
    }
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

//! What a run is about to write, shown before it is: the workflow as it would be, what changes, what would be left to do, what of the
//! request is not in it, and the recommendations that were taken.

use super::ask;
use super::attended::attended;
use super::plain::{plain, plain_long};
use super::progress::Progress;
use super::questions;
use super::streams;
use agentctl_base::counted::counted;
use agentctl_base::question::{Proposal, Question};
use agentctl_base::untrusted::prose;
use agentctl_engine::guards::rules::LOOK;
use agentctl_engine::run::Asked;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Severity, Workflow, needs, tree::tree, validate};
use agentctl_planner::explain::explanation;
use console::style;

/// A run whose user looks first.
#[derive(Debug, Clone)]
pub struct Look {
    /// What was asked for, where a new workflow is to have all of it.
    pub request: Option<String>,
    /// What is to be otherwise, in the user's words; with it nothing was written.
    pub wish: Option<String>,
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
        let mut shown = text(proposal);
        shown.push_str(&self.not_covered(proposal));
        shown.push_str(&taken(progress));
        streams::tell(&shown);
        let text = questions::words(question);
        let text = super::fit::question(&text);
        let asked = inquire::Select::new(&text, vec![YES, CHANGE, NO]).with_starting_cursor(2);
        let asked = attended(|| asked.prompt());
        let answered = match asked {
            Ok(CHANGE) => {
                let wish = inquire::Text::new("What should be otherwise?");
                attended(|| wish.prompt()).map(|wish| {
                    self.wish = Some(wish).filter(|wish| !wish.trim().is_empty());
                    "refuse"
                })
            }
            other => other.map(|chosen| if chosen == YES { "approve" } else { "refuse" }),
        };
        ask::came(answered.map(|value| Some(value.into())))
    }

    /// The phrases of the request that are not in a new workflow.
    fn not_covered(&self, proposal: &Proposal) -> String {
        let (Some(request), Some(after)) = (&self.request, workflow(proposal)) else {
            return String::new();
        };
        let explained = explanation(request, Some(&after), Catalog::embedded());
        let missing = explained.not_understood.iter();
        let missing: Vec<String> = missing
            .map(|phrase| format!("'{}'", plain(phrase)))
            .collect();
        match missing.is_empty() {
            true => String::new(),
            false => line("not covered", &missing.join(", ")),
        }
    }
}

fn workflow(proposal: &Proposal) -> Option<Workflow> {
    Workflow::from_value(proposal.after.clone()?).ok()
}

/// The change in full, for a terminal and for a run that waits.
pub fn text(proposal: &Proposal) -> String {
    let mut out = String::new();
    if let Some(after) = workflow(proposal) {
        let nodes = after.nodes.iter().filter(|n| !n.is_sticky()).count();
        let name = style(plain(after.name())).for_stderr().bold();
        out.push_str(&format!("\n{name} ({})\n\n", counted(nodes, "node")));
        out.push_str(&tree(&after, Some(Catalog::embedded())));
        out.push('\n');
        out.push_str(&changes(proposal));
        out.push_str(&left(&after));
    } else {
        out.push_str(&changes(proposal));
    }
    out
}

fn changes(proposal: &Proposal) -> String {
    let diff = proposal.diff.as_deref().unwrap_or_default();
    match diff.is_empty() {
        true => String::new(),
        false => format!("{}\n", super::progress::colour_diff(diff)),
    }
}

/// What only the user can do, and what would still be wrong.
fn left(after: &Workflow) -> String {
    let catalog = Catalog::embedded();
    let mut out = String::new();
    for need in needs::all_needs(after, catalog)
        .iter()
        .filter(|need| need.id.is_none())
    {
        let label = catalog.credential_label(&need.credential_type);
        let label = label.unwrap_or(&need.credential_type);
        let what = format!(
            "[{}] connect a credential: {}",
            plain(&need.node),
            plain(label)
        );
        out.push_str(&line("left to do", &what));
    }
    let found = validate::validate_value(&after.to_value(), catalog);
    for finding in found.iter().filter(|f| f.severity == Severity::Error) {
        let node = finding.node.as_deref().unwrap_or_default();
        let what = format!(
            "{} [{}] {}",
            finding.code,
            plain(node),
            prose(&finding.message)
        );
        out.push_str(&line("error", &what));
    }
    out
}

/// What `--plan` took for an answer.
fn taken(progress: &Progress) -> String {
    let taken = progress.taken();
    taken
        .iter()
        .map(|what| line("taken", &plain_long(what)))
        .collect()
}

fn line(head: &str, text: &str) -> String {
    format!(
        "{} {text}\n",
        style(format!("{head}:")).for_stderr().yellow()
    )
}

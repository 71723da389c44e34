//! Change requests on a workflow that exists: request → edit operations that touch only what is asked.
//! Nodes named as untouchable never appear in an operation; ids and credentials stay, and so do names, but of a node that is called by
//! its condition. Pure and deterministic.

mod address;
mod asking;
mod bare;
mod brain;
mod branch;
mod condition;
mod context;
mod days;
mod diff;
mod exchange;
mod failing;
mod guard;
mod hold;
mod idiom;
mod insert;
mod mention;
mod named;
mod only;
mod order;
mod patience;
mod phrase;
mod place;
mod recipient;
mod refuse;
mod renamed;
mod request;
mod said;
mod sieve;
mod slot;
mod spot;
mod tidy;
mod value;
mod wire;
mod words;

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod asked_tests;
#[cfg(test)]
mod chat_tests;
#[cfg(test)]
mod classes_tests;
#[cfg(test)]
mod context_tests;
#[cfg(test)]
mod modify_tests;
#[cfg(test)]
mod short_tests;
#[cfg(test)]
mod slot_tests;
#[cfg(test)]
mod stranger_tests;
#[cfg(test)]
mod wire_tests;

pub(crate) use address::unaddressed;
pub(crate) use diff::between;
pub(crate) use order::counted;
pub(crate) use said::{begins, is_said, meant, says_only, spoken};
pub(crate) use slot::{is_astray, is_open, is_unsaid};
pub(crate) use tidy::tidy;

pub(super) use diff::changed_node;

pub(crate) use words::of_changes as words_of_changes;

#[cfg(test)]
pub(crate) fn tables() -> Vec<&'static crate::lex::Table> {
    let mut tables = vec![&slot::SLOTS, &named::KINDS];
    let of_words = words::TABLES
        .iter()
        .chain(&words::CLAUSES)
        .chain(&idiom::TABLES);
    tables.extend(of_words.map(|(_, table)| table));
    tables
}

use super::compile::existing::Patch;
use super::cover;
use super::lexicon::rx;
use super::plan::{Plan, Refusal, Todo};
use agentctl_base::question::Question;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{EditOp, Node, Workflow};
use guard::attempt;

/// What a change request becomes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Modification {
    /// Empty when nothing was understood; then `questions` says what is missing.
    pub ops: Vec<EditOp>,
    pub questions: Vec<Question>,
    pub refusal: Option<Refusal>,
    pub todo: Vec<Todo>,
    pub notes: Vec<String>,
    /// The clauses that changed nothing, because no reader understood them.
    pub unread: Vec<String>,
    /// The language of the request.
    pub language: String,
}

/// Reads a change request against a workflow.
pub fn modify(existing: &Workflow, request: &str, catalog: &Catalog) -> Modification {
    let spoken = said::spoken(request);
    let language = spoken.to_owned();
    let request = &unaddressed(request, existing.name(), spoken);
    if let Some(refusal) = refuse::wipe(request, &language) {
        return Modification {
            refusal: Some(refusal),
            language,
            ..Modification::default()
        };
    }
    let plan = Plan {
        name: existing.name().to_owned(),
        language: language.clone(),
        ..Plan::default()
    };
    let tidied = tidy(request, Some(existing), spoken);
    let request = tidied.as_str();
    let names: Vec<&str> = existing.nodes.iter().map(Node::name).collect();
    let is_one = |sentence: &str| {
        wire::is_order(existing, sentence, spoken) || place::is_turn(existing, sentence, spoken)
    };
    let mut asked = phrase::read_request(request, &names, &is_one);
    context::settle(&mut asked.changes, existing, spoken);
    // What is said to stay is no change.
    asked
        .changes
        .retain(|clause| !words::is_all(clause, spoken, "rest"));
    let (kept, kept_parts) = protected(existing, &asked.protected);
    let mut patch = Patch::on(existing, &plan, catalog);
    let (mut unread, mut open) = (Vec::new(), Vec::new());
    let mut renames = Vec::new();
    let mut answers: Vec<&String> = Vec::new();
    for clause in &asked.changes {
        if answers.contains(&clause) {
            continue;
        }
        // A name that is given is no text of a node.
        if value::is_rename(clause) && value::rename(existing, clause, &mut renames) {
            continue;
        }
        if wired(&mut patch, clause, spoken, catalog) {
            continue;
        }
        let mut spoken_readers = SPOKEN_READERS.iter();
        if spoken_readers.any(|reader| {
            let read = |trial: &mut Patch<'_>| reader(trial, clause, spoken);
            attempt(&read, &mut patch, clause, spoken)
        }) {
            continue;
        }
        match placed(&mut patch, clause, spoken, &kept, &asked.changes) {
            Placed::Done(answer) => {
                answers.extend(answer);
                continue;
            }
            Placed::Open(question) => {
                open.push(*question);
                continue;
            }
            Placed::Other => {}
        }
        // "The subject is now Hello there": the rest of it is the value.
        if let Some(marked) = bare::ending(clause, spoken)
            && placed(&mut patch, &marked, spoken, &kept, &[]).is_done()
        {
            continue;
        }
        if let Some(marked) = bare::labelled(clause, spoken)
            && placed(&mut patch, &marked, spoken, &kept, &[]).is_done()
        {
            continue;
        }
        // "Put them into the tab Archive from now on": so does a bare name, where something else stood until now.
        const FEW: usize = 4;
        let is_set =
            { ["now", "instead", "be"].iter() }.any(|class| words::has(clause, spoken, class));
        if (is_set || words::words(clause).len() <= FEW)
            && let Some(marked) = bare::quoted(clause, spoken)
            && placed(&mut patch, &marked, spoken, &kept, &[]).is_done()
        {
            continue;
        }
        let mut by_any = |clause: &str| {
            READERS.iter().any(|reader| {
                let read = |trial: &mut Patch<'_>| reader(trial, clause, &kept);
                attempt(&read, &mut patch, clause, spoken)
            })
        };
        let marked = bare::quoted(clause, spoken);
        let runs_on = marked.as_ref().is_some_and(|m| bare::runs_on(m));
        let done = value::rename(existing, clause, &mut renames)
            || (runs_on && marked.as_ref().is_some_and(|clause| by_any(clause)))
            || by_any(clause)
            || marked.is_some_and(|clause| by_any(&clause))
            || value::called(existing, clause, &mut renames);
        if !done {
            unread.push(clause.clone());
        }
    }
    let (workflow, todo, mut notes) = patch.finish();
    for node in wire::loose(existing, &workflow) {
        notes.push(asking::hangs_free(&node, &language));
    }
    for node in asking::emptied(existing, &workflow) {
        notes.push(asking::leads_nowhere(&node, &language));
    }
    for (new, old) in asking::twins(existing, &workflow) {
        notes.push(asking::is_twin(&new, &old, &language));
    }
    let mut ops = diff::between(existing, &workflow);
    renames.extend(renamed::renamed(existing, &workflow, &renames));
    ops.extend(renames);
    if let Some(question) = asking::startless(existing, &workflow, &language) {
        ops.clear();
        notes.clear();
        open.push(question);
    }
    keep(&mut ops, &kept, &kept_parts, &mut notes);
    let mut questions = open;
    if !unread.is_empty() || (ops.is_empty() && questions.is_empty()) {
        questions.extend(asking::ask(
            existing,
            &unread,
            request,
            &language,
            !ops.is_empty(),
        ));
    }
    Modification {
        ops,
        questions,
        refusal: None,
        todo,
        notes,
        unread,
        language,
    }
}

type Part = (String, &'static [&'static str]);

/// The last word on what must not change: parameters, names and settings of protected nodes.
fn keep(ops: &mut Vec<EditOp>, kept: &[String], kept_parts: &[Part], notes: &mut Vec<String>) {
    ops.retain(|op| {
        let touched = diff::changed_node(op);
        let part = |name: &str| {
            let EditOp::SetParameter { pointer, .. } = op else {
                return false;
            };
            let key = pointer.trim_start_matches('/').split('/').next();
            kept_parts
                .iter()
                .any(|(node, slots)| node == name && key.is_some_and(|key| slots.contains(&key)))
        };
        // how often a step is tried is no part of what it does: only a clause that names the step sets it
        let tries = matches!(op, EditOp::SetNodeSettings { .. });
        let allowed =
            tries || touched.is_none_or(|name| !kept.iter().any(|k| k == name) && !part(name));
        if !allowed && let Some(name) = touched {
            notes.push(format!("{name} stays as it is, as asked"));
        }
        allowed
    });
}

/// What must stay: whole nodes, and parts of messages ("the text of the mail").
fn protected(existing: &Workflow, clauses: &[String]) -> (Vec<String>, Vec<Part>) {
    let (mut nodes, mut parts) = (Vec::new(), Vec::new());
    let pieces = clauses.iter().flat_map(|clause| {
        rx(r"\s*(?:,|;|/|\b(?:and|or|nor|und|oder|y|o|et|ou)\b)\s*")
            .split(clause)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    for piece in pieces {
        let meant = mention::all(existing, &piece);
        match value::message_part(&piece) {
            Some(slots) => parts.extend(meant.into_iter().map(|node| (node, slots))),
            None => nodes.extend(meant),
        }
    }
    // a whole node that two pieces name together: "the data sent to the CRM"
    for clause in clauses.iter().filter(|c| value::message_part(c).is_none()) {
        nodes.extend(mention::all(existing, clause));
    }
    (nodes, parts)
}

/// One way to read a clause; true when it changed the workflow by it.
type Reader = fn(&mut Patch<'_>, &str, &[String]) -> bool;

/// From the most particular to the most general.
const READERS: &[Reader] = &[
    brain::change,
    sieve::pass,
    hold::approval,
    hold::decided,
    hold::batches,
    spot::at_the_end,
    insert::removal,
    insert::tool,
    patience::timeout,
    failing::failing,
    branch::also_required,
    branch::also_contains,
    branch::only_when,
    recipient::added,
    request::method,
    request::part,
    branch::sorted_out,
    value::switched,
    value::labelled,
    value::timed,
    value::waited,
    value::limited,
    value::exchanged,
    value::set,
    insert::service_swap,
    branch::conditional,
    spot::placed,
    place::placed,
    spot::prepared,
    spot::appended,
];

/// One that knows the words of changes of a language: it sees the clause before those that look for values.
type SpokenReader = fn(&mut Patch<'_>, &str, &str) -> bool;

const SPOKEN_READERS: &[SpokenReader] = &[
    exchange::exchanged,
    days::added,
    only::only,
    only::those,
    branch::on_branch,
    place::when,
    branch::sized,
    failing::noticed,
    place::between,
    place::turned,
    place::moved,
];

/// What became of a clause that may set what is there.
enum Placed<'c> {
    Other,
    /// With the clause that is the answer to which of several places was meant.
    Done(Option<&'c String>),
    Open(Box<Question>),
}

impl Placed<'_> {
    fn is_done(&self) -> bool {
        matches!(self, Placed::Done(_))
    }
}

/// Reads a clause as a new value of what is there.
fn placed<'c>(
    patch: &mut Patch<'_>,
    clause: &str,
    language: &str,
    kept: &[String],
    clauses: &'c [String],
) -> Placed<'c> {
    let mut trial = patch.clone();
    let (read, answer) = match slot::read(&mut trial, clause, language, kept) {
        slot::Read::Which(value, nodes) => {
            let names = |said: &&String| nodes.iter().any(|node| answers(said, node));
            let Some(said) = clauses.iter().find(names) else {
                return asking::open(&value, &nodes, language)
                    .map_or(Placed::Other, |question| Placed::Open(Box::new(question)));
            };
            let others = nodes.into_iter().filter(|node| !answers(said, node));
            let kept: Vec<String> = kept.iter().cloned().chain(others).collect();
            (slot::read(&mut trial, clause, language, &kept), Some(said))
        }
        read => (read, None),
    };
    let is_whole = || cover::lost(clause, patch.workflow(), trial.workflow()).is_empty();
    match read {
        slot::Read::Done if trial.workflow() != patch.workflow() && is_whole() => {
            *patch = trial;
            Placed::Done(answer)
        }
        _ => Placed::Other,
    }
}

/// Whether a sentence only names a node, as the answer to which one was meant does.
fn answers(said: &str, node: &str) -> bool {
    const USE: &str = "use ";
    let (said, node) = (said.to_lowercase(), node.to_lowercase());
    said.strip_prefix(USE).unwrap_or(&said) == node
}

/// Reads a clause about connections; what it does counts only when everything that the clause names is in it.
fn wired(patch: &mut Patch<'_>, clause: &str, language: &str, catalog: &Catalog) -> bool {
    let mut trial = patch.clone();
    let done = wire::wired(&mut trial, clause, language, catalog)
        && cover::lost(clause, patch.workflow(), trial.workflow()).is_empty();
    if done {
        *patch = trial;
    }
    done
}

//! What there is to know of a document before it is written, whoever made it: what only the user can do afterwards, what was decided,
//! and what of the request is not in it. What the planner knows of its own document counts only as far as this is it.

use crate::account::Account;
use crate::plan::Todo;
use crate::read::{self, ReadContext};
use crate::{compile, draft, explain, extend, gate, modify, timezone, wish};
use agentctl_base::counted::counted;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Node, Workflow, edit, needs};
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// A look at a document that is about to be written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Glance {
    pub todo: Vec<Todo>,
    /// What was assumed or decided, in the request's language.
    pub notes: Vec<String>,
    /// The phrases of the request, and of what was wanted otherwise, that nothing in the document answers for.
    pub not_covered: Vec<String>,
}

/// The document, with what the planner itself would say of it.
struct Own {
    document: Workflow,
    todo: Vec<Todo>,
    notes: Vec<String>,
    account: Account,
}

/// `before`: the workflow as it is; None: `after` is a new one. `answers`: to the run's questions, by topic.
pub fn glance(
    request: &str,
    answers: &Map<String, Value>,
    before: Option<&Workflow>,
    after: &Workflow,
    catalog: &Catalog,
) -> Glance {
    let answers = read::by_topic(answers);
    let (request, wishes) = wish::parted(request);
    let about = |wanted: bool| {
        let of = |(topic, _): &(&String, &String)| wish::is_about_wish(topic) == wanted;
        let all = answers.iter().filter(of);
        all.map(|(topic, answer)| (topic.clone(), answer.clone()))
            .collect::<IndexMap<_, _>>()
    };
    let (of_request, of_wishes) = (about(false), about(true));
    let proposals: Vec<Own> = match before {
        None => vec![made(request, &of_request, zone_of(after), catalog)],
        Some(before) => changed(before, request, &of_request, catalog),
    };
    let found = proposals.into_iter().find_map(|own| {
        let Own {
            document,
            todo,
            notes,
            account,
        } = own;
        let wished = wish::applied(document, &wishes, &of_wishes, catalog);
        is_same(&wished.workflow, after).then(|| {
            let mut account = account;
            account.add(wished.account.clone());
            let notes = notes.into_iter().chain(wished.notes.clone()).collect();
            (wished.left(todo), notes, account.missing)
        })
    });
    let (todo, notes, not_covered) = match found {
        Some(own) => own,
        // Whose it is says more of what was done to the old one for a wish.
        None if !wishes.is_empty() => Default::default(),
        None => (
            Vec::new(),
            Vec::new(),
            held(request, &of_request, before, after),
        ),
    };
    Glance {
        todo: left(todo, before, after, catalog),
        notes,
        not_covered,
    }
}

/// The timezone that its times of day are in; empty: n8n's own.
fn zone_of(workflow: &Workflow) -> &str {
    let settings = workflow.head.get("settings");
    let zone = settings.and_then(|settings| settings.get("timezone"));
    zone.and_then(Value::as_str).unwrap_or_default()
}

/// `zone`: the one that the request or the user's setting came to.
fn made(request: &str, answers: &IndexMap<String, String>, zone: &str, catalog: &Catalog) -> Own {
    let known = ReadContext {
        answers: answers.clone(),
    };
    let mut reading = read::read(request, &known);
    let noted = timezone::settled(&mut reading.plan, zone, None);
    reading.notes.extend(noted);
    let built = compile::compile(&reading.plan, catalog);
    let account = draft::account_of(request, &known, &reading, &built);
    let notes = draft::notes_of(request, &known, &reading, &built);
    Own {
        document: built.workflow,
        todo: built.todo,
        notes,
        account,
    }
}

/// As a change of what the user named, and as a plan that is laid over what is there.
fn changed(
    before: &Workflow,
    request: &str,
    answers: &IndexMap<String, String>,
    catalog: &Catalog,
) -> Vec<Own> {
    let asked = read::with_answers(request, answers);
    let named = modify::modify(before, &asked, catalog);
    let known = ReadContext {
        answers: answers.clone(),
    };
    let plan = read::read(request, &known).plan;
    let compiled = compile::compile(&plan, catalog);
    let mut laid = extend::extend(before, &compiled.workflow);
    laid.todo = compiled.todo;
    laid.notes.extend(compiled.notes);
    laid.language = plan.language;
    let own = |change: modify::Modification| {
        let mut next = 0;
        let mut new_id = || {
            next += 1;
            format!("new-{next}")
        };
        let document = edit::apply(before, &change.ops, &mut new_id).ok()?;
        Some(Own {
            document,
            account: draft::account_of_change(request, answers, before, &change),
            todo: change.todo,
            notes: change.notes,
        })
    };
    [named, laid].into_iter().filter_map(own).collect()
}

/// What nothing in a document of somebody else's answers for.
fn held(
    request: &str,
    answers: &IndexMap<String, String>,
    before: Option<&Workflow>,
    after: &Workflow,
) -> Vec<String> {
    let language = explain::language(request);
    let versions: Vec<&Workflow> = before.into_iter().chain([after]).collect();
    gate::judge(request, answers, language, &versions, before.is_some(), &[]).missing
}

/// Whether the nodes are the same in name, type and parameters: ids, places and credentials are the program's.
fn is_same(own: &Workflow, after: &Workflow) -> bool {
    let alike = |node: &Node| {
        let other = after.node_by_name(node.name());
        other.is_some_and(|other| {
            other.node_type() == node.node_type() && other.parameters() == node.parameters()
        })
    };
    own.nodes.len() == after.nodes.len() && own.nodes.iter().all(alike)
}

/// What only the user can do about a workflow, as far as it says so itself.
pub fn lacking(workflow: &Workflow, catalog: &Catalog) -> Vec<Todo> {
    left(Vec::new(), None, workflow, catalog)
}

/// More names than these are counted.
const MOST_NAMED: usize = 6;

/// What is left to do of what the planner said, by the document as it is: each point names its node, credentials that are there need
/// nothing, and those that are missing are named. `before`: the workflow before a change; what it lacked already is only counted.
pub(crate) fn left(
    mut todo: Vec<Todo>,
    before: Option<&Workflow>,
    after: &Workflow,
    catalog: &Catalog,
) -> Vec<Todo> {
    for item in &mut todo {
        if let Some(node) = meant(&item.node, before, after, catalog) {
            item.node = node;
        }
    }
    let open = |of: &Workflow| {
        let needs = needs::all_needs(of, catalog).into_iter();
        needs.filter(|need| need.id.is_none()).collect::<Vec<_>>()
    };
    let (stood, lacks) = (before.map(open).unwrap_or_default(), open(after));
    let (old, new): (Vec<_>, Vec<_>) = lacks.into_iter().partition(|need| stood.contains(need));
    let is_new = |node: &str| new.iter().any(|need| need.node == node);
    todo.retain(|item| item.kind != "credential" || is_new(&item.node));
    let mut left: Vec<Todo> = Vec::new();
    for item in todo {
        if !left.contains(&item) {
            left.push(item);
        }
    }
    let held = before.map(|before| compile::bare_names(before, catalog));
    let (held, bare): (Vec<_>, Vec<_>) = compile::bare_names(after, catalog)
        .into_iter()
        .partition(|name| held.as_ref().is_some_and(|held| held.contains(name)));
    let said = |left: &[Todo], name: &Todo| {
        let quoted = name.text.split('"').nth(1).unwrap_or_default();
        let same = |item: &Todo| item.node == name.node && item.text.contains(quoted);
        left.iter().any(same)
    };
    for name in bare {
        if !said(&left, &name) {
            let credential = left.iter().position(|item| item.kind == "credential");
            left.insert(credential.unwrap_or(left.len()), name);
        }
    }
    for need in &new {
        let told = |item: &Todo| item.kind == "credential" && item.node == need.node;
        if left.iter().any(told) {
            continue;
        }
        let label = catalog.credential_label(&need.credential_type);
        left.push(Todo {
            kind: "credential".into(),
            node: need.node.clone(),
            text: format!(
                "connect a credential: {}",
                label.unwrap_or(&need.credential_type)
            ),
        });
    }
    let mut names: Vec<&str> = held.iter().map(|name| name.node.as_str()).collect();
    names.dedup();
    let held = "a name where n8n wants an id, as before this change";
    left.extend(as_before(&names, "id", held));
    let mut names: Vec<&str> = old.iter().map(|need| need.node.as_str()).collect();
    names.dedup();
    let lacked = "no credential before this change either";
    left.extend(as_before(&names, "credential", lacked));
    left
}

/// What a change leaves as it was.
fn as_before(names: &[&str], kind: &str, what: &str) -> Option<Todo> {
    let (named, more) = names.split_at(names.len().min(MOST_NAMED));
    let named = named.join(", ");
    let nodes = counted(names.len(), "node");
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!names.is_empty()).then(|| Todo {
        kind: kind.into(),
        node: String::new(),
        text: format!("{nodes} had {what}: {named}{more}"),
    })
}

/// The one node that a service's name means, of those that were made. None: it is a node's name, or more than one could be meant.
fn meant(
    service: &str,
    before: Option<&Workflow>,
    after: &Workflow,
    catalog: &Catalog,
) -> Option<String> {
    if service.is_empty() || after.node_by_name(service).is_some() {
        return None;
    }
    let is_of_it = |node: &&Node| {
        let found = catalog
            .lookup(node.node_type(), node.type_version())
            .known();
        found.is_some_and(|of| of.label.starts_with(service))
    };
    let stood = |node: &&Node| before.is_some_and(|b| b.node_by_name(node.name()).is_some());
    let mut all = after.nodes.iter().filter(is_of_it).filter(|n| !stood(n));
    let one = all.next()?;
    all.next().is_none().then(|| one.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAILY: &str = "Every day at 9:00 post the open Jira bugs to Slack #dev";

    fn built(request: &str) -> Workflow {
        draft::of_request(request, IndexMap::new(), Catalog::embedded())
            .workflow
            .unwrap()
    }

    fn seen(request: &str, before: Option<&Workflow>, after: &Workflow) -> Glance {
        glance(request, &Map::new(), before, after, Catalog::embedded())
    }

    #[test]
    fn all_that_is_left_to_do_of_a_new_workflow_is_seen() {
        let form = "When a form is submitted, create a Jira issue";
        let draft = draft::of_request(form, IndexMap::new(), Catalog::embedded());
        let seen = seen(form, None, &draft.workflow.unwrap());
        assert_eq!(seen.todo, draft.todo);
        assert!(
            seen.todo.iter().any(|t| t.kind != "credential"),
            "{:?}",
            seen.todo
        );
        // Nobody said a field of it.
        assert_eq!(seen.not_covered, ["form"]);
    }

    #[test]
    fn a_name_in_a_list_that_wants_an_id_is_told_by_the_document_alone() {
        let before = built("When a webhook receives an order, append it to the Google Sheet Leads");
        let ids = |left: Vec<Todo>| -> Vec<(String, String)> {
            let of_ids = left.into_iter().filter(|todo| todo.kind == "id");
            of_ids.map(|todo| (todo.node, todo.text)).collect()
        };
        let text = "choose Document: \"Leads\" is its name, and n8n wants its id";
        let node = "Google Sheets: Append row";
        let alone = [(node.to_owned(), text.to_owned())];
        assert_eq!(ids(lacking(&before, Catalog::embedded())), alone);
        // A change tells that it was so before.
        let none = IndexMap::new();
        let change = "also post it to Slack #ops";
        let draft = draft::of_change(&before, change, &none, Catalog::embedded());
        let mut id = || "new".to_owned();
        let after = edit::apply(&before, &draft.ops, &mut id).unwrap();
        let seen = ids(seen(change, Some(&before), &after).todo);
        let held =
            format!("1 node had a name where n8n wants an id, as before this change: {node}");
        assert_eq!(seen, [(String::new(), held)]);
        // What was chosen in n8n has an id beside its name.
        let mut chosen = before.to_value();
        let locator = chosen
            .pointer_mut("/nodes")
            .and_then(Value::as_array_mut)
            .unwrap();
        for node in locator {
            if let Some(document) = node.pointer_mut("/parameters/documentId") {
                document["value"] = Value::from("1AbcDEF23");
            }
        }
        let chosen = Workflow::from_value(chosen).unwrap();
        assert_eq!(ids(lacking(&chosen, Catalog::embedded())), []);
        let drive = built(
            "When a mail with an attachment arrives in Gmail, upload the attachment to Google Drive",
        );
        assert!(drive.to_value().to_string().contains("My Drive"));
        assert_eq!(ids(lacking(&drive, Catalog::embedded())), []);
    }

    #[test]
    fn what_a_change_leaves_out_is_seen() {
        let before = built(DAILY);
        let change = "post to #x instead of #dev and frobnicate the wombats";
        let none = IndexMap::new();
        let draft = draft::of_change(&before, change, &none, Catalog::embedded());
        let mut id = || "new".to_owned();
        let after = edit::apply(&before, &draft.ops, &mut id).unwrap();
        let seen = seen(change, Some(&before), &after);
        assert!(seen.not_covered.join(" ").contains("wombats"), "{seen:?}");
    }

    #[test]
    fn a_document_of_somebody_elses_is_held_against_the_request() {
        let other = built("Every day at 9:00 post hello to Slack #dev");
        let seen = seen(DAILY, None, &other);
        assert!(seen.not_covered.join(" ").contains("Jira"), "{seen:?}");
        let credentials = seen.todo.iter().filter(|t| t.kind == "credential");
        assert_eq!(
            (credentials.count(), seen.todo.len()),
            (1, 1),
            "{:?}",
            seen.todo
        );
    }
}

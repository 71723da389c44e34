//! What the planner makes of a request in one go, for a model that begins with it: the document of a new workflow or the operations
//! of a change, and what it left out, what is to be asked, and what stays for the user. Writes nothing.

use crate::account::{self, Account};
use crate::compile::{self, Compiled};
use crate::pattern;
use crate::plan::{Plan, Refusal, Todo, Trigger};
use crate::read::{self, ReadContext, Reading};
use crate::{cover, gate, glance, modify};
use agentctl_base::question::{Question, QuestionOption};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{EditOp, Workflow, edit};
use indexmap::IndexMap;
use serde_json::{Value, json};

/// What was made of a request, as far as it goes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// Of a request for a new workflow; None: nothing could be made of it, and `questions` or `refusal` says why.
    pub workflow: Option<Workflow>,
    /// Of a change; empty where nothing could be made of it.
    pub ops: Vec<EditOp>,
    /// The phrases that nothing answers for, as they stand in the request.
    pub not_understood: Vec<String>,
    pub questions: Vec<Question>,
    pub refusal: Option<Refusal>,
    pub todo: Vec<Todo>,
    /// What was assumed or decided, in the request's language.
    pub notes: Vec<String>,
}

/// A new workflow. `answers`: to the questions of a draft before, by topic.
pub fn of_request(request: &str, answers: IndexMap<String, String>, catalog: &Catalog) -> Draft {
    let known = ReadContext { answers };
    let reading = read::read(request, &known);
    let built = compile::compile(&reading.plan, catalog);
    let account = account_of(request, &known, &reading, &built);
    let open = open(request, &known, &reading, &built, &account, Vec::new());
    let is_there =
        open.refusal.is_none() && !does_nothing(&reading.plan) && !gate::too_little(&account);
    let notes = notes_of(request, &known, &reading, &built);
    let todo = glance::left(built.todo, None, &built.workflow, catalog);
    Draft {
        workflow: is_there.then_some(built.workflow),
        ops: Vec::new(),
        not_understood: account.missing,
        questions: open.questions,
        refusal: open.refusal,
        todo,
        notes,
    }
}

/// What was assumed and decided, by the reader, by the compiler, and of what nobody said. What was answered is said, too.
pub(crate) fn notes_of(
    request: &str,
    known: &ReadContext,
    reading: &Reading,
    built: &Compiled,
) -> Vec<String> {
    let asked = read::with_answers(request, &known.answers);
    let assumed = account::assumptions(&asked, &reading.plan.language, built);
    let more = built.notes.iter().cloned().chain(assumed);
    let more = more.filter(|note| !reading.notes.contains(note));
    reading.notes.iter().cloned().chain(more).collect()
}

/// A change of a workflow that is there.
pub fn of_change(
    existing: &Workflow,
    request: &str,
    answers: &IndexMap<String, String>,
    catalog: &Catalog,
) -> Draft {
    let asked = read::with_answers(request, answers);
    let change = modify::modify(existing, &asked, catalog);
    let account = account_of_change(request, answers, existing, &change);
    Draft {
        workflow: None,
        not_understood: account.missing,
        ops: change.ops,
        questions: change.questions,
        refusal: change.refusal,
        todo: change.todo,
        notes: change.notes,
    }
}

/// The arguments of `create_workflow` for a document.
pub fn creation(workflow: &Workflow) -> Value {
    json!({"name": workflow.name(), "nodes": workflow.nodes, "connections": workflow.connections, "settings": workflow.head.get("settings")})
}

/// What a workflow that was compiled answers for in its request.
pub(crate) fn account_of(
    request: &str,
    known: &ReadContext,
    reading: &Reading,
    built: &Compiled,
) -> Account {
    gate::judge(
        request,
        &known.answers,
        &reading.plan.language,
        &[&built.workflow],
        false,
        &built.made,
    )
    .without_gaps(
        (request, &reading.plan.language),
        &reading.plan.unread,
        built,
    )
}

/// What a change left out, and what neither the workflow before nor the one after answers for.
pub(crate) fn account_of_change(
    request: &str,
    answers: &IndexMap<String, String>,
    existing: &Workflow,
    change: &modify::Modification,
) -> Account {
    let mut next = 0;
    let mut new_id = || {
        next += 1;
        format!("new-{next}")
    };
    let mut account = match edit::apply(existing, &change.ops, &mut new_id) {
        Ok(after) => gate::judge(
            &modify::unaddressed(request, existing.name(), &change.language),
            answers,
            &change.language,
            &[existing, &after],
            !change.ops.is_empty(),
            &[],
        ),
        Err(_) => Account::unjudged(),
    };
    account.leaves_out(&change.unread);
    account
}

/// What is open of a request that was read and compiled.
pub(crate) struct Open {
    pub questions: Vec<Question>,
    /// Why nothing is built.
    pub refusal: Option<Refusal>,
}

/// `plans`: in words, to choose from where the request names no steps.
pub(crate) fn open(
    request: &str,
    known: &ReadContext,
    reading: &Reading,
    built: &Compiled,
    account: &Account,
    plans: Vec<pattern::InWords>,
) -> Open {
    let language = &reading.plan.language;
    let mut questions = reading.questions.clone();
    let mut refusal = reading.refusal.clone();
    let empty = does_nothing(&reading.plan);
    let guess = gate::too_little(account);
    if refusal.is_none() && (empty || guess) {
        let what_to_do = gate::question(request, account, language);
        if empty && !plans.is_empty() {
            questions = vec![which_plan(what_to_do, plans, request)];
        } else if guess && !known.answers.is_empty() {
            refusal = Some(gate::refusal(account, language));
        } else if gate::strange(account) || !questions.iter().any(|q| q.required) {
            questions = vec![what_to_do];
        }
    }
    if questions.is_empty() && refusal.is_none() {
        let asked = read::with_answers(request, &known.answers);
        let unused = cover::unused(&asked, &[&built.workflow]);
        questions.extend(cover::question(&unused, language));
    }
    Open { questions, refusal }
}

/// A plan without a step (and without tools that would be steps) is a request that was not understood.
pub(crate) fn does_nothing(plan: &Plan) -> bool {
    let serves = plan
        .triggers
        .iter()
        .any(|t| matches!(t, Trigger::McpServer { tools, .. } if !tools.is_empty()));
    plan.steps.is_empty() && !serves
}

/// The same question with the plans of patterns to choose from. Only one that the request names by its id is recommended: what
/// stands in a file decides nothing by itself.
fn which_plan(question: Question, plans: Vec<pattern::InWords>, request: &str) -> Question {
    let request = request.to_uppercase();
    let wanted = plans.iter().find(|plan| request.contains(&plan.id));
    let recommended = wanted.map(|plan| json!(plan.words));
    let options = plans.into_iter().map(|plan| QuestionOption {
        value: json!(plan.words),
        label: plan.name,
        detail: Some(plan.words),
        fit_score: None,
    });
    Question {
        options: options.collect(),
        recommended,
        ..question
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";

    #[test]
    fn a_request_becomes_a_document_with_what_is_left_to_do() {
        let draft = of_request(ORDERS, IndexMap::new(), Catalog::embedded());
        let workflow = draft.workflow.unwrap();
        let types: Vec<&str> = workflow.nodes.iter().map(|n| n.node_type()).collect();
        assert!(types.contains(&"n8n-nodes-base.slack"), "{types:?}");
        assert_eq!(draft.not_understood, [""; 0]);
        assert_eq!(draft.questions, []);
        assert!(draft.todo.iter().any(|todo| todo.kind == "credential"));
    }

    #[test]
    fn what_is_not_understood_is_named_and_nothing_is_made_of_nothing() {
        let odd = "Cada lunes envía las facturas pendientes de Xero en una lista a ap@example.com";
        let draft = of_request(odd, IndexMap::new(), Catalog::embedded());
        let missing = draft.not_understood.join(" ");
        assert!(missing.contains("pendientes"), "{missing}");
        let draft = of_request("hi", IndexMap::new(), Catalog::embedded());
        assert_eq!(draft.workflow, None);
        assert!(!draft.questions.is_empty());
    }

    #[test]
    fn a_change_becomes_operations_on_what_is_there() {
        let made = of_request(ORDERS, IndexMap::new(), Catalog::embedded());
        let workflow = made.workflow.unwrap();
        let change = "post to #orders instead of #sales";
        let draft = of_change(&workflow, change, &IndexMap::new(), Catalog::embedded());
        assert_eq!(draft.workflow, None);
        assert_eq!(draft.ops.len(), 1, "{:?}", draft.ops);
        assert_eq!(draft.not_understood, [""; 0]);
        // The same step once more is made, and said.
        let more = "also post to #ops";
        let once = of_change(&workflow, more, &IndexMap::new(), Catalog::embedded());
        let same = |notes: &[String]| notes.iter().any(|note| note.contains("does the same as"));
        assert!(!same(&once.notes), "{:?}", once.notes);
        let mut id = || "new".to_owned();
        let after = edit::apply(&workflow, &once.ops, &mut id).unwrap();
        let twice = of_change(&after, more, &IndexMap::new(), Catalog::embedded());
        assert!(same(&twice.notes), "{:?}", twice.notes);
        let odd = of_change(
            &workflow,
            "frobnicate the moon",
            &IndexMap::new(),
            Catalog::embedded(),
        );
        assert_eq!(odd.ops, []);
        assert!(!odd.questions.is_empty());
    }
}

//! What a user wants otherwise after a look at what was proposed. It stands behind the request, on a line of its own, and is read as
//! a change of what the request alone comes to, never as a part of the request.

use crate::account::Account;
use crate::modify::{self, Modification};
use crate::plan::{Refusal, Todo};
use crate::{draft, read};
use agentctl_base::question::Question;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{EditOp, Workflow, edit};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Begins the line of a wish.
const LEAD: &str = "Changed after a look at the proposal:";
/// The key of a task's input under which the wishes stand, once they are parted from the request.
const WISHES: &str = "wishes";
/// Begins the topic of a question about a wish.
const ASKED: &str = "wish-";

/// The request with one more wish behind it.
pub fn with(request: &str, wish: &str) -> String {
    let wish = wish.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}\n{LEAD} {wish}", request.trim_end())
}

/// The request without its wishes, and the wishes in their order.
pub fn parted(request: &str) -> (&str, Vec<&str>) {
    let starts = request.match_indices(LEAD);
    let of_line = |at: &usize| request.get(..*at).is_some_and(|head| head.ends_with('\n'));
    let mut starts: Vec<usize> = starts.map(|(at, _)| at).filter(of_line).collect();
    let own = request.get(..starts.first().copied().unwrap_or(request.len()));
    starts.push(request.len());
    let mut from_to = Vec::new();
    for (from, to) in starts.iter().zip(starts.iter().skip(1)) {
        let wish = request.get(from + LEAD.len()..*to).unwrap_or_default();
        from_to.push(wish.trim());
    }
    from_to.retain(|wish| !wish.is_empty());
    (own.unwrap_or(request).trim_end(), from_to)
}

/// A task's input with the wishes apart; None: there are none.
pub(crate) fn apart(input: &Map<String, Value>) -> Option<Map<String, Value>> {
    let (request, wishes) = parted(input.get("request")?.as_str()?);
    if wishes.is_empty() {
        return None;
    }
    let mut apart = input.clone();
    apart.insert("request".into(), json!(request));
    apart.insert(WISHES.into(), json!(wishes));
    Some(apart)
}

/// The wishes of a task's input.
pub(crate) fn of(input: &Map<String, Value>) -> Vec<&str> {
    let wishes = input.get(WISHES).and_then(Value::as_array);
    let wishes = wishes.into_iter().flatten();
    wishes.filter_map(Value::as_str).collect()
}

/// Whether an answer, by its topic, is about a wish and not about the request.
pub(crate) fn is_about_wish(topic: &str) -> bool {
    topic.starts_with(ASKED)
}

/// What became of the wishes.
#[derive(Debug, Clone)]
pub(crate) struct Wished {
    /// What was proposed before.
    proposed: Workflow,
    pub workflow: Workflow,
    pub ops: Vec<EditOp>,
    pub todo: Vec<Todo>,
    pub notes: Vec<String>,
    pub questions: Vec<Question>,
    pub refusal: Option<Refusal>,
    /// What of the wishes was not done.
    pub account: Account,
}

/// Makes each wish a change of what the ones before it left. `answers`: of the whole run, by topic.
pub(crate) fn applied(
    proposed: Workflow,
    wishes: &[&str],
    answers: &IndexMap<String, String>,
    catalog: &Catalog,
) -> Wished {
    let mut made = Wished {
        workflow: proposed.clone(),
        proposed,
        ops: Vec::new(),
        todo: Vec::new(),
        notes: Vec::new(),
        questions: Vec::new(),
        refusal: None,
        account: Account::unjudged(),
    };
    for (number, wish) in wishes.iter().enumerate() {
        let lead = format!("{ASKED}{}-", number + 1);
        let own = |(topic, answer): (&String, &String)| {
            Some((topic.strip_prefix(&lead)?.to_owned(), answer.clone()))
        };
        let answers: IndexMap<String, String> = answers.iter().filter_map(own).collect();
        let asked = read::with_answers(wish, &answers);
        let change = modify::modify(&made.workflow, &asked, catalog);
        let account = draft::account_of_change(wish, &answers, &made.workflow, &change);
        made.account.add(account);
        made.take(change, &lead, answers.is_empty());
    }
    made
}

impl Wished {
    fn take(&mut self, change: Modification, lead: &str, asks: bool) {
        let Modification {
            ops,
            questions,
            refusal,
            todo,
            notes,
            ..
        } = change;
        if let Ok(after) = edit::apply(&self.workflow, &ops, &mut new_ids(self.ops.len())) {
            self.workflow = after;
        }
        self.ops.extend(ops);
        self.todo.extend(todo);
        self.notes.extend(notes);
        self.refusal = self.refusal.take().or(refusal);
        // What was answered is not asked again.
        for mut question in questions.into_iter().filter(|_| asks) {
            for name in [&mut question.id, &mut question.topic] {
                name.insert_str(0, lead);
            }
            self.questions.push(question);
        }
    }

    /// What is left to do of the request and of the wishes together: of nodes that are still there.
    pub fn left(&self, of_request: Vec<Todo>) -> Vec<Todo> {
        if self.ops.is_empty() {
            return of_request;
        }
        let mut left: Vec<Todo> = Vec::new();
        for todo in of_request.into_iter().chain(self.todo.clone()) {
            // Some speak of a service, not of a node.
            let stood = self.proposed.node_by_name(&todo.node).is_some();
            let gone = stood && self.workflow.node_by_name(&todo.node).is_none();
            if !gone && !left.contains(&todo) {
                left.push(todo);
            }
        }
        left
    }
}

/// Ids of new nodes, the same each time.
fn new_ids(made: usize) -> impl FnMut() -> String {
    let mut next = 0;
    move || {
        next += 1;
        format!("wish-{made}-{next}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAILY: &str = "Every day at 9:00 post the open Jira bugs to Slack #dev";

    fn wished(request: &str, wishes: &[&str]) -> Wished {
        let made = draft::of_request(request, IndexMap::new(), Catalog::embedded());
        let workflow = made.workflow.unwrap();
        applied(workflow, wishes, &IndexMap::new(), Catalog::embedded())
    }

    #[test]
    fn wishes_stand_behind_the_request_and_are_parted_from_it() {
        let one = with("Every day post it\nto Slack\n", "at 10:00,\n not 9:00");
        let two = with(&one, "to #qa");
        let (request, wishes) = parted(&two);
        assert_eq!(request, "Every day post it\nto Slack");
        assert_eq!(wishes, ["at 10:00, not 9:00", "to #qa"]);
        // In the middle of a line it is the user's own text.
        let quoted = format!("post \"{LEAD} x\" to Slack");
        assert_eq!(parted(&quoted), (quoted.as_str(), Vec::new()));
    }

    #[test]
    fn a_wish_changes_what_was_proposed() {
        let done = wished(
            DAILY,
            &["at 10:00, not 9:00", "post to #qa instead of #dev"],
        );
        let text = done.workflow.to_text();
        assert!(text.contains("\"triggerAtHour\": 10"), "{text}");
        assert!(text.contains("#qa") && !text.contains("#dev"), "{text}");
        let slack = done.workflow.nodes.iter();
        let slack = slack.filter(|n| n.node_type().ends_with(".slack")).count();
        assert_eq!(
            (slack, done.account.missing.len()),
            (1, 0),
            "{:?}",
            done.account.missing
        );
    }

    #[test]
    fn what_of_a_wish_is_not_done_is_named_and_asked_about() {
        let done = wished(DAILY, &["frobnicate the wombats"]);
        let missing = done.account.missing.join(" ");
        assert!(missing.contains("wombats"), "{missing}");
        let topics: Vec<&str> = done.questions.iter().map(|q| q.topic.as_str()).collect();
        assert_eq!(topics, ["wish-1-change"]);
    }
}

//! The workflow to change, as far as the offline model has read it: the whole of it, or of a large one the parts that the request
//! speaks of. What was not read, and what came cut, is known here and said where it is the reason that something was not understood.

use super::lexicon::has;
use super::modify::{Modification, changed_node};
use super::roles::Seen;
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_base::question::Question;
use agentctl_n8n::{EditOp, Node, Workflow};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

const TOOL: &str = "get_workflow";
/// Parts that are read on where what was read makes no sense of the request.
const READ_ON: usize = 8;
/// Times that the names of new nodes are looked for.
const MOST_NAMINGS: usize = 3;

/// Speaks of everything of a kind, so that all of it must be known.
const EVERYTHING: &str = r"\b(?:all|every\w*|each|any|both|alle[nrsm]?|jede[nrsm]?|überall|sämtliche\w*|beide[nrs]?|tod[oa]s?|cada|ambos|tou[st]e?s?|chaque|partout)\b";

/// What the tool counted of the parts behind the one that was read last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Left {
    nodes: u64,
    named: u64,
    of_kind: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Existing {
    pub workflow: Workflow,
    left: Left,
    parts: usize,
    /// The cursor of the next part.
    next: Option<String>,
    /// Nodes of which not everything was shown, and what else was not, each with the tool's words.
    cut: Vec<(String, String)>,
}

/// The workflow that the step was given; None: the step is about none.
pub(super) fn given(input: &Map<String, Value>) -> Option<Result<Existing, String>> {
    let content = input.get("existing")?;
    // A step that was left out says nothing.
    content.as_object().filter(|said| !said.is_empty())?;
    Some(merged(&[content]))
}

/// What the step read of a workflow with its tool, and which call reads on.
pub(super) struct Read {
    pub existing: Existing,
    /// What was looked for, by each reading from the start.
    asked: Vec<String>,
    id: String,
}

/// As read so far; Err: nothing yet, and the call that reads it.
pub(super) fn read(
    id: &str,
    about: &str,
    seen: &Seen<'_>,
) -> Result<Result<Read, (&'static str, Value)>, String> {
    let calls = seen.calls(TOOL);
    let Some((_, last)) = calls.last() else {
        return Ok(Err((TOOL, json!({"workflow_id": id, "about": about}))));
    };
    if last.status != ToolStatus::Ok {
        let why = last.content.get("error").and_then(Value::as_str);
        let why = why.map_or_else(|| last.content.to_string(), str::to_owned);
        return Err(format!("the workflow {id} cannot be read: {why}"));
    }
    let contents: Vec<&Value> = calls.iter().map(|(_, result)| &result.content).collect();
    let starts = calls
        .iter()
        .filter(|(args, _)| args.get("cursor").is_none());
    let about = starts.filter_map(|(args, _)| args.get("about")?.as_str());
    let mut existing = merged(&contents)?;
    // Reading on is reading on with the first question; the names of new nodes are looked for by others.
    let first = calls.first().and_then(|(args, _)| args.get("about"));
    let own = calls.iter().filter(|(args, _)| args.get("about") == first);
    let own: Vec<&ToolResult> = own.map(|(_, result)| *result).collect();
    existing.parts = own.len();
    if let Some(last) = own.last() {
        (existing.left, existing.next) = behind(&last.content);
    }
    Ok(Ok(Read {
        existing,
        asked: about.map(str::to_owned).collect(),
        id: id.to_owned(),
    }))
}

impl Read {
    /// The call without which the change would rest on too little; None: it rests on enough. `whole`: all of the workflow counts.
    pub fn more(
        &self,
        request: &str,
        whole: bool,
        change: &Modification,
    ) -> Option<(&'static str, Value)> {
        let existing = &self.existing;
        let made_nothing = change.ops.is_empty() || !change.unread.is_empty();
        let needed =
            whole || existing.lacks(request, change) || (made_nothing && existing.parts < READ_ON);
        if let Some(cursor) = existing.next.as_ref().filter(|_| needed) {
            let args = json!({"workflow_id": self.id, "about": request, "cursor": cursor});
            return Some((TOOL, args));
        }
        existing.next.as_ref()?;
        let added = change.ops.iter().filter_map(|op| match op {
            EditOp::AddNode { node } => Some(format!("\"{}\"", node.name)),
            _ => None,
        });
        // A name that a node has which was not read would be taken twice.
        let names = added.collect::<Vec<_>>().join(", ");
        let looked = names.is_empty() || self.asked.contains(&names);
        (!looked && self.asked.len() <= MOST_NAMINGS)
            .then(|| (TOOL, json!({"workflow_id": self.id, "about": names})))
    }
}

impl Existing {
    /// Nodes that the request speaks of were not read: those that it names, and where it is about several of a kind, all of it.
    pub fn lacks(&self, request: &str, change: &Modification) -> bool {
        let changed: HashSet<&str> = change.ops.iter().filter_map(changed_node).collect();
        let several = changed.len() > 1 || has(EVERYTHING, request);
        self.left.named > 0 || (several && self.left.of_kind > 0)
    }

    /// Why a change cannot be trusted, or why nothing was understood: what it needed came cut.
    pub fn cut_off(&self, change: &Modification) -> Option<String> {
        let nothing = change.ops.is_empty() || !change.unread.is_empty();
        let touches = |name: &str| change.ops.iter().any(|op| changed_node(op) == Some(name));
        let meant: Vec<&(String, String)> = (self.cut.iter())
            .filter(|(node, _)| nothing || touches(node))
            .collect();
        let (_, why) = meant.first()?;
        let nodes: Vec<&str> = meant.iter().map(|(node, _)| node.as_str()).collect();
        Some(format!(
            "not everything of {} could be read, because what {TOOL} answered was cut: {why}. Change what is that long by hand, or name another node",
            nodes.join(", ")
        ))
    }

    /// Says with a question how much of the workflow it rests on.
    pub fn tell(&self, questions: &mut [Question], language: &str) {
        if self.next.is_none() {
            return;
        }
        let (read, all) = (
            self.workflow.nodes.len(),
            self.workflow.nodes.len() as u64 + self.left.nodes,
        );
        for question in questions {
            let told = match language {
                "de" => format!(
                    " Angesehen wurden {read} von {all} Schritten: nenne den Schritt, wie er im Workflow heißt."
                ),
                "es" => format!(
                    " Se miraron {read} de {all} pasos: nombra el paso como se llama en el flujo."
                ),
                "fr" => format!(
                    " {read} étapes sur {all} ont été regardées : nommez l'étape comme dans le workflow."
                ),
                _ => format!(
                    " {read} of {all} nodes were looked at: name the step as it is called in the workflow."
                ),
            };
            question.text.push_str(&told);
        }
    }
}

/// The parts of a workflow as one; a node that came twice counts once.
fn merged(contents: &[&Value]) -> Result<Existing, String> {
    let mut whole: Option<Workflow> = None;
    let mut known: HashSet<(String, String)> = HashSet::new();
    let mut cut = Vec::new();
    for content in contents {
        let Some(document) = content.get("workflow") else {
            let why = content.get("cut").and_then(Value::as_str);
            return Err(match why {
                Some(why) => format!("what {TOOL} answered was cut: {why}"),
                None => format!("{TOOL} answered without the workflow"),
            });
        };
        let part = Workflow::from_value(document.clone()).map_err(|e| e.to_string())?;
        cut.extend(cut_parts(content, &part));
        let Some(whole) = &mut whole else {
            known.extend(part.nodes.iter().map(key_of));
            whole = Some(part);
            continue;
        };
        let new = part
            .nodes
            .into_iter()
            .filter(|node| known.insert(key_of(node)));
        whole.nodes.extend(new);
        for (from, outputs) in part.connections {
            whole.connections.entry(from).or_insert(outputs);
        }
    }
    let mut workflow = whole.ok_or("the workflow was not read")?;
    for content in contents {
        come_in(&mut workflow, content);
    }
    let (left, next) = contents
        .last()
        .map_or_else(Default::default, |last| behind(last));
    Ok(Existing {
        workflow,
        left,
        parts: contents.len(),
        next,
        cut,
    })
}

fn key_of(node: &Node) -> (String, String) {
    (node.id().0, node.name().to_owned())
}

/// Connections from nodes that were not read: what they lead to is no start, and no end of anything.
fn come_in(workflow: &mut Workflow, content: &Value) {
    let Some(incoming) = content.get("incoming") else {
        return;
    };
    let mut from_others = Workflow::empty("");
    if let Ok(connections) = serde_json::from_value(incoming.clone()) {
        from_others.connections = connections;
    }
    let read: HashSet<String> = workflow.nodes.iter().map(|n| n.name().to_owned()).collect();
    for (from, kind, output, link) in from_others.edges() {
        if !read.contains(from) {
            workflow.connect(from, kind, output, &link.node, link.index);
        }
    }
}

fn behind(content: &Value) -> (Left, Option<String>) {
    let count = |key: &str| {
        let left = content.get("left").and_then(|left| left.get(key));
        left.and_then(Value::as_u64).unwrap_or(0)
    };
    let left = Left {
        nodes: count("nodes"),
        named: count("named"),
        of_kind: count("of_kind"),
    };
    let next = content.get("next_cursor").and_then(Value::as_str);
    (left, next.map(str::to_owned))
}

/// What of a part came cut: the node's name, or the key of the document.
fn cut_parts(content: &Value, part: &Workflow) -> Vec<(String, String)> {
    let Some(why) = content.get("cut").and_then(Value::as_str) else {
        return Vec::new();
    };
    let places = content.get("cut_at").and_then(Value::as_array);
    let places = places.into_iter().flatten().filter_map(Value::as_str);
    let mut named: Vec<(String, String)> = Vec::new();
    for place in places {
        let below = place.strip_prefix("/workflow/").unwrap_or(place);
        let node = below.strip_prefix("nodes/").and_then(|rest| {
            let at: usize = rest.split('/').next()?.parse().ok()?;
            part.nodes.get(at)
        });
        let name = match node {
            Some(node) => node.name().to_owned(),
            None => format!(
                "the workflow's {:?}",
                below.split('/').next().unwrap_or_default()
            ),
        };
        if !named.iter().any(|(known, _)| *known == name) {
            named.push((name, why.to_owned()));
        }
    }
    if named.is_empty() {
        named.push(("the workflow".to_owned(), why.to_owned()));
    }
    named
}

//! A workflow as a tree for a terminal: triggers at the root, what follows below, branches by the name of their output.
//! A node where branches meet is written once; later visits only point to it (↪), so loops end too. Plain text, no colour.

use super::{
    branches::Branches,
    catalog::Catalog,
    workflow::{Link, Node, Workflow},
};
use crate::workflow::short_type;
use agentctl_base::counted::counted;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Parameters worth a place beside the node's name, most telling first.
const TELLING: [&str; 26] = [
    "resource",
    "operation",
    "method",
    "httpMethod",
    "url",
    "path",
    "channelId",
    "channel",
    "user",
    "documentId",
    "sheetName",
    "base",
    "table",
    "database",
    "databaseId",
    "sendTo",
    "toEmail",
    "chatId",
    "to",
    "subject",
    "model",
    "modelName",
    "mode",
    "rule",
    "query",
    "text",
];
const MOST_SHOWN: usize = 4;
const LONGEST_VALUE: usize = 36;

/// More lines than these say less: a person looks at a part of a large workflow in an editor.
const MOST_LINES: usize = 200;

/// The tree, one line per node, ending in a line break; of a large workflow its beginning, and how many nodes are left. With a
/// catalog, outputs have the names that n8n gives them.
pub fn tree(workflow: &Workflow, catalog: Option<&Catalog>) -> String {
    let view = View::of(workflow, catalog);
    let mut text = String::new();
    let mut seen = HashSet::new();
    let mut lines = MOST_LINES;
    for root in view.roots() {
        if !seen.contains(root) {
            view.write_from(root, &mut seen, &mut lines, &mut text);
        }
    }
    let left = view.by_name.len().saturating_sub(seen.len());
    if left > 0 {
        text.push_str(&format!("… and {}\n", counted(left, "more node")));
    }
    text
}

struct View<'a> {
    catalog: Option<&'a Catalog>,
    nodes: Vec<&'a Node>,
    by_name: HashMap<&'a str, &'a Node>,
    /// Main edges by source, in output order.
    after: HashMap<&'a str, Vec<(u32, &'a Link)>>,
    /// Sub-nodes by the node they serve: (connection type, name).
    subs: HashMap<&'a str, Vec<(&'a str, &'a str)>>,
    fed: HashSet<&'a str>,
    serving: HashSet<&'a str>,
}

/// A line to write: what is left of it, whether it is the last of its siblings, the edge that leads to it.
struct Line<'a> {
    name: &'a str,
    indent: String,
    is_last: bool,
    is_root: bool,
    label: Option<String>,
    sub_kind: Option<&'a str>,
    input: u32,
}

impl<'a> View<'a> {
    fn of(workflow: &'a Workflow, catalog: Option<&'a Catalog>) -> Self {
        let nodes: Vec<&Node> = workflow.nodes.iter().filter(|n| !n.is_sticky()).collect();
        let by_name: HashMap<&str, &Node> = nodes.iter().map(|n| (n.name(), *n)).collect();
        let mut view = View {
            catalog,
            nodes,
            by_name,
            after: HashMap::new(),
            subs: HashMap::new(),
            fed: HashSet::new(),
            serving: HashSet::new(),
        };
        for (from, kind, output, link) in workflow.edges() {
            let to = link.node.as_str();
            if !view.by_name.contains_key(from) || !view.by_name.contains_key(to) {
                continue;
            }
            if kind == "main" {
                view.after.entry(from).or_default().push((output, link));
                view.fed.insert(to);
            } else {
                view.subs.entry(to).or_default().push((kind, from));
                view.serving.insert(from);
            }
        }
        view
    }

    /// Nodes that nothing leads to, then the rest (what is left unseen of it is a loop that nothing enters).
    fn roots(&self) -> Vec<&'a str> {
        let names = || self.nodes.iter().map(|n| n.name());
        let is_start = |name: &&str| !self.fed.contains(name) && !self.serving.contains(name);
        let starts = names().filter(is_start);
        // A sub-node that also takes items, or only serves a loop of its own kind, still has to be written somewhere.
        starts
            .chain(names().filter(|n| !is_start(n) && self.fed.contains(n)))
            .chain(names())
            .collect()
    }

    fn write_from(
        &self,
        root: &'a str,
        seen: &mut HashSet<&'a str>,
        lines: &mut usize,
        text: &mut String,
    ) {
        let mut open = vec![Line {
            name: root,
            indent: String::new(),
            is_last: true,
            is_root: true,
            label: None,
            sub_kind: None,
            input: 0,
        }];
        while let Some(line) = open.pop().filter(|_| *lines > 0) {
            *lines -= 1;
            let is_new = seen.insert(line.name);
            self.write(&line, is_new, text);
            if is_new {
                open.extend(self.below(&line).into_iter().rev());
            }
        }
    }

    fn write(&self, line: &Line, is_new: bool, text: &mut String) {
        let mut row = String::new();
        row.push_str(&line.indent);
        if !line.is_root {
            row.push_str(if line.is_last { "└─ " } else { "├─ " });
        }
        if let Some(kind) = line.sub_kind {
            row.push_str(&format!("⊂ {kind}: "));
        }
        if let Some(label) = &line.label {
            row.push_str(&format!("{label} → "));
        }
        if !is_new {
            row.push_str("↪ ");
        }
        row.push_str(line.name);
        if is_new && let Some(node) = self.by_name.get(line.name) {
            row.push_str(&format!(" · {}", short_type(node.node_type())));
            let shown = telling(node);
            if !shown.is_empty() {
                row.push_str(&format!(" ({})", shown.join(", ")));
            }
            if node.disabled() {
                row.push_str(" [disabled]");
            }
        }
        if line.input > 0 {
            row.push_str(&format!(" at input {}", line.input));
        }
        // Names come from outside: one line each, whatever is in them.
        text.push_str(&agentctl_base::untrusted::line(&row));
        text.push('\n');
    }

    fn below(&self, line: &Line<'a>) -> Vec<Line<'a>> {
        let indent = match (line.is_root, line.is_last) {
            (true, _) => String::new(),
            (false, true) => format!("{}   ", line.indent),
            (false, false) => format!("{}│  ", line.indent),
        };
        let child = |name: &'a str| Line {
            name,
            indent: indent.clone(),
            is_last: false,
            is_root: false,
            label: None,
            sub_kind: None,
            input: 0,
        };
        let subs = self.subs.get(line.name).into_iter().flatten();
        let mut lines: Vec<Line> = subs
            .map(|(kind, name)| Line {
                sub_kind: Some(kind),
                ..child(name)
            })
            .collect();
        let labels = self.labels(line.name);
        for (output, link) in self.after.get(line.name).into_iter().flatten() {
            lines.push(Line {
                label: labels.name(*output),
                input: link.index,
                ..child(link.node.as_str())
            });
        }
        if let Some(last) = lines.last_mut() {
            last.is_last = true;
        }
        lines
    }

    fn labels(&self, name: &str) -> Branches {
        let Some(node) = self.by_name.get(name) else {
            return Branches::default();
        };
        let edges = self.after.get(name).into_iter().flatten();
        Branches::of(node, edges.map(|(output, _)| *output).max(), self.catalog)
    }
}

/// The values of a node that tell most about it, each in a few characters and without what looks like a secret.
pub fn telling(node: &Node) -> Vec<String> {
    let Some(parameters) = node.parameters() else {
        return Vec::new();
    };
    let shown = TELLING
        .iter()
        .filter_map(|key| short_value(parameters.get(*key)?));
    shown.take(MOST_SHOWN).collect()
}

/// The value in a few characters; a resource locator by the name a person saw when choosing it.
fn short_value(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Object(locator) => {
            let named = locator.get("cachedResultName").and_then(Value::as_str);
            let named = named.filter(|name| !name.is_empty());
            return short_value(&Value::from(named.or(locator.get("value")?.as_str())?));
        }
        _ => return None,
    };
    // Hidden before it is cut: half a key is still half a key, and no longer looks like one.
    let text = agentctl_base::secrets::mask(&text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return None;
    }
    if text.chars().count() <= LONGEST_VALUE {
        return Some(text);
    }
    let start: String = text.chars().take(LONGEST_VALUE - 1).collect();
    Some(format!("{start}…"))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tree_tests;

//! A document in pieces (a top-level key, or one node of the list), so that a diff writes out only those that changed and what
//! stands next to them: the rest of a document is compared and counted, not written.

use crate::workflow::{Connections, Node, Workflow, same_value_text};
use agentctl_base::line_diff;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

/// Lines of unchanged text around each change.
const CONTEXT: usize = 3;

#[derive(Clone)]
enum Body<'w> {
    /// A bracket of the document or of the list of nodes.
    Line(&'static str),
    Node(Node),
    Key(Cow<'w, str>, Cow<'w, Value>),
    Connections(&'w Connections),
}

#[derive(Clone)]
struct Piece<'w> {
    body: Body<'w>,
    /// A comma follows.
    more: bool,
}

/// A whole document.
pub(super) struct Pieces<'w>(Vec<Piece<'w>>);

impl<'w> Pieces<'w> {
    pub fn of(workflow: &'w Workflow) -> Self {
        let mut pieces = vec![Piece {
            body: Body::Line("{"),
            more: false,
        }];
        let missing = ["nodes", "connections"]
            .into_iter()
            .filter(|key| !workflow.head.contains_key(*key))
            .map(|key| (key, &Value::Null));
        let head = workflow
            .head
            .iter()
            .map(|(key, value)| (key.as_str(), value));
        let mut entries = head.chain(missing).peekable();
        while let Some((key, value)) = entries.next() {
            let more = entries.peek().is_some();
            match key {
                "nodes" => add_nodes(&workflow.nodes, more, &mut pieces),
                "connections" => pieces.push(Piece {
                    body: Body::Connections(&workflow.connections),
                    more,
                }),
                _ => pieces.push(Piece {
                    body: Body::Key(Cow::Borrowed(key), Cow::Borrowed(value)),
                    more,
                }),
            }
        }
        pieces.push(Piece {
            body: Body::Line("}"),
            more: false,
        });
        Pieces(pieces)
    }

    /// The pieces of the range, with everything that `shown` makes of their values; the others as they are. None: it made
    /// nothing else of any.
    pub fn shown(
        &self,
        range: &Range<usize>,
        shown: &dyn Fn(Value) -> Value,
    ) -> Option<Pieces<'w>> {
        let mut pieces = self.0.clone();
        // The document's own keys belong together: what one is called says what another holds.
        let mut head = Map::new();
        for (at, piece) in self.0.iter().enumerate() {
            if let Body::Key(key, value) = &piece.body {
                let wanted = range.contains(&at) || value.is_string();
                let value = if wanted {
                    value.as_ref().clone()
                } else {
                    Value::Null
                };
                head.insert(key.clone().into_owned(), value);
            }
        }
        let names: Vec<String> = head.keys().cloned().collect();
        // All in one list: then it is looked at once.
        let mut all = vec![Value::Object(head)];
        for piece in self.0.get(range.clone()).unwrap_or_default() {
            match &piece.body {
                Body::Node(node) => all.push(Value::Object(node.map().clone())),
                Body::Connections(links) => {
                    all.push(serde_json::to_value(links).unwrap_or(Value::Null));
                }
                Body::Key(..) | Body::Line(_) => {}
            }
        }
        let nothing = Some(Pieces(Vec::new()));
        let Value::Array(all) = shown(Value::Array(all)) else {
            return nothing;
        };
        let mut all = all.into_iter();
        let Some(Value::Object(head)) = all.next() else {
            return nothing;
        };
        // Two keys that look the same now are one: then none of them is told apart.
        let head: Vec<(String, Value)> = if head.len() == names.len() {
            head.into_iter().collect()
        } else {
            names
                .into_iter()
                .map(|_| (String::new(), Value::Null))
                .collect()
        };
        let mut head = head.into_iter();
        for (at, piece) in pieces.iter_mut().enumerate() {
            let inside = range.contains(&at);
            match &mut piece.body {
                Body::Key(key, value) => {
                    if let Some((name, clean)) = head.next() {
                        (*key, *value) = (Cow::Owned(name), Cow::Owned(clean));
                    }
                }
                Body::Node(node) if inside => match all.next() {
                    Some(Value::Object(clean)) => *node = Node::from(clean),
                    _ => return nothing,
                },
                Body::Connections(_) if inside => {
                    let clean = all.next().unwrap_or(Value::Null);
                    piece.body = Body::Key(Cow::Borrowed("connections"), Cow::Owned(clean));
                }
                Body::Node(_) | Body::Connections(_) | Body::Line(_) => {}
            }
        }
        let mut inside = self.0.iter().zip(&pieces).enumerate();
        let same = inside.all(|(at, (a, b))| !range.contains(&at) || a.body.same(&b.body));
        (!same).then_some(Pieces(pieces))
    }

    /// The text of the pieces in the range, as the whole document has it.
    pub fn lines(&self, range: &Range<usize>) -> String {
        let mut text = String::new();
        for piece in self.0.get(range.clone()).unwrap_or_default() {
            let (indent, body) = match &piece.body {
                Body::Line(line) => ("", (*line).to_owned()),
                Body::Node(node) => ("    ", pretty(node)),
                Body::Key(key, value) => {
                    let key = Value::from(key.as_ref());
                    ("  ", format!("{key}: {}", pretty(value.as_ref())))
                }
                Body::Connections(all) => ("  ", format!("\"connections\": {}", pretty(all))),
            };
            let mut lines = body.lines().peekable();
            while let Some(line) = lines.next() {
                text.push_str(indent);
                text.push_str(line);
                if piece.more && lines.peek().is_none() {
                    text.push(',');
                }
                text.push('\n');
            }
        }
        text
    }

    /// How many lines the pieces of the range have.
    fn count(&self, range: Range<usize>) -> usize {
        let pieces = self.0.get(range).unwrap_or_default();
        pieces.iter().map(|piece| piece.body.count()).sum()
    }
}

impl Body<'_> {
    /// The same text: the order of keys counts.
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Body::Line(a), Body::Line(b)) => a == b,
            (Body::Node(a), Body::Node(b)) => a.same_text(b),
            (Body::Key(a, x), Body::Key(b, y)) => a == b && same_value_text(x, y),
            (Body::Connections(a), Body::Connections(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .zip(b.iter())
                        .all(|((from, kinds), (other, others))| {
                            from == other
                                && kinds.len() == others.len()
                                && kinds.iter().eq(others.iter())
                        })
            }
            _ => false,
        }
    }

    fn count(&self) -> usize {
        match self {
            Body::Line(_) => 1,
            Body::Node(node) => count_map(node.map()),
            Body::Key(_, value) => count(value),
            Body::Connections(all) => pretty(all).lines().count(),
        }
    }
}

fn add_nodes<'w>(nodes: &'w [Node], more: bool, pieces: &mut Vec<Piece<'w>>) {
    let line = |text, more| Piece {
        body: Body::Line(text),
        more,
    };
    if nodes.is_empty() {
        pieces.push(line("  \"nodes\": []", more));
        return;
    }
    pieces.push(line("  \"nodes\": [", false));
    let last = nodes.len() - 1;
    pieces.extend(nodes.iter().enumerate().map(|(at, node)| Piece {
        body: Body::Node(node.clone()),
        more: at != last,
    }));
    pieces.push(line("  ]", more));
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The lines of a value's pretty JSON.
fn count(value: &Value) -> usize {
    match value {
        Value::Object(map) => count_map(map),
        Value::Array(items) if !items.is_empty() => 2 + items.iter().map(count).sum::<usize>(),
        _ => 1,
    }
}

fn count_map(map: &Map<String, Value>) -> usize {
    match map.is_empty() {
        true => 1,
        false => 2 + map.values().map(count).sum::<usize>(),
    }
}

/// The pieces between the first and the last change, with their neighbours, and how many lines stand before them.
pub(super) struct Window {
    pub old: Range<usize>,
    pub new: Range<usize>,
    before: usize,
}

impl Window {
    pub fn between(old: &Pieces<'_>, new: &Pieces<'_>) -> Self {
        let same = |a: &Piece<'_>, b: &Piece<'_>| a.more == b.more && a.body.same(&b.body);
        let mut front = old
            .0
            .iter()
            .zip(&new.0)
            .take_while(|(a, b)| same(a, b))
            .count();
        let shorter = old.0.len().min(new.0.len());
        if front == shorter && old.0.len() == new.0.len() {
            return Window {
                old: 0..0,
                new: 0..0,
                before: 0,
            };
        }
        let backwards = old.0.iter().rev().zip(new.0.iter().rev());
        let mut back = backwards.take_while(|(a, b)| same(a, b)).count();
        back = back.min(shorter - front);
        let mut around = 0;
        while front > 0 && around < CONTEXT {
            front -= 1;
            around += old.count(front..front + 1);
        }
        let mut around = 0;
        while back > 0 && around < CONTEXT {
            let at = old.0.len() - back;
            back -= 1;
            around += old.count(at..at + 1);
        }
        Window {
            old: front..old.0.len() - back,
            new: front..new.0.len() - back,
            before: old.count(0..front),
        }
    }

    /// The unified diff of the window's texts, with the line numbers of the whole documents.
    pub fn diff(&self, old: &str, new: &str) -> String {
        let mut text = String::new();
        for hunk in line_diff::hunks(old, new, CONTEXT) {
            if text.is_empty() {
                text.push_str("--- before\n+++ after\n");
            }
            text.push_str(&format!(
                "@@ -{} +{} @@\n{}",
                self.place(&hunk.before),
                self.place(&hunk.after),
                hunk.text
            ));
        }
        text
    }

    /// As unified diffs write a range of lines.
    fn place(&self, lines: &Range<usize>) -> String {
        let start = self.before + lines.start + 1;
        match lines.len() {
            1 => start.to_string(),
            0 => format!("{},0", start - 1),
            length => format!("{start},{length}"),
        }
    }
}

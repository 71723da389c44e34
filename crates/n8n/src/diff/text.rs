//! A diff for people: one line per change with node names, and the unified diff of the documents.

use super::pieces::{Pieces, Window};
use super::{Aspect, EdgeRef, NodeChange, ValueChange, WorkflowDiff};
use crate::workflow::Workflow;
use agentctl_base::counted::counted;
use serde_json::Value;
use std::fmt;

/// Longest value shown in a summary line, in characters.
const LONGEST_VALUE: usize = 60;

/// The unified diff of the pretty JSON of both versions; empty when they are the same. Plain text, no colour.
pub fn text_diff(before: &Workflow, after: &Workflow) -> String {
    let (old, new) = (Pieces::of(before), Pieces::of(after));
    let window = Window::between(&old, &new);
    window.diff(&old.lines(&window.old), &new.lines(&window.new))
}

/// The same with every value passed through `shown`, which keeps a value's shape. `hidden` is the number of changed lines that
/// are not shown because both sides look the same then.
pub fn shown_diff(
    before: &Workflow,
    after: &Workflow,
    shown: &dyn Fn(Value) -> Value,
) -> (String, usize) {
    let (old, new) = (Pieces::of(before), Pieces::of(after));
    let window = Window::between(&old, &new);
    let raw = (old.lines(&window.old), new.lines(&window.new));
    let clean = (old.shown(&window.old, shown), new.shown(&window.new, shown));
    if let (None, None) = clean {
        return (window.diff(&raw.0, &raw.1), 0);
    }
    let lines = |clean: Option<Pieces<'_>>, range, raw: &String| match clean {
        Some(pieces) => pieces.lines(range),
        None => raw.clone(),
    };
    let clean = (
        lines(clean.0, &window.old, &raw.0),
        lines(clean.1, &window.new, &raw.1),
    );
    let diff = window.diff(&clean.0, &clean.1);
    let hidden = if raw == clean {
        0
    } else {
        changed_lines(&window.diff(&raw.0, &raw.1)).saturating_sub(changed_lines(&diff))
    };
    (diff, hidden)
}

/// Lines of a unified diff that are on one side only.
fn changed_lines(diff: &str) -> usize {
    diff.lines()
        .skip(2) // the names of both sides
        .filter(|line| line.starts_with(['+', '-']))
        .count()
}

/// One line per change: `+` added, `-` removed, `~` changed. Moves on the canvas are left out unless nothing else changed.
impl fmt::Display for WorkflowDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.nodes_removed {
            writeln!(f, "- node {:?}", node.name)?;
        }
        for node in &self.nodes_added {
            writeln!(f, "+ node {:?}", node.name)?;
        }
        for change in &self.nodes_changed {
            write_node_change(f, change)?;
        }
        for edge in &self.edges_removed {
            writeln!(f, "- {}", edge_text(edge))?;
        }
        for edge in &self.edges_added {
            writeln!(f, "+ {}", edge_text(edge))?;
        }
        for change in &self.settings {
            writeln!(f, "~ settings{}", value_text(change))?;
        }
        for change in &self.document {
            writeln!(f, "~ workflow{}", value_text(change))?;
        }
        if !self.is_empty() && self.is_move_only() {
            writeln!(
                f,
                "~ {} moved on the canvas",
                counted(self.nodes_changed.len(), "node")
            )?;
        }
        Ok(())
    }
}

fn write_node_change(f: &mut fmt::Formatter<'_>, change: &NodeChange) -> fmt::Result {
    let (before, after) = (&change.before.name, &change.after.name);
    if before != after {
        writeln!(f, "~ node {before:?} renamed {after:?}")?;
    }
    if change.follows_rename {
        writeln!(f, "~ {after:?}: its expressions follow the rename")?;
    }
    for value in &change.values {
        match super::aspect_of(&value.pointer) {
            Aspect::Name | Aspect::Position => {}
            Aspect::Parameters if change.follows_rename => {}
            _ => writeln!(f, "~ {after:?}{}", value_text(value))?,
        }
    }
    Ok(())
}

fn edge_text(edge: &EdgeRef) -> String {
    let port = match (edge.output, edge.input) {
        (0, 0) => String::new(),
        (output, 0) => format!(" (output {output})"),
        (0, input) => format!(" (input {input})"),
        (output, input) => format!(" (output {output}, input {input})"),
    };
    let kind = match edge.kind.as_str() {
        "main" => String::new(),
        other => format!(" as {other}"),
    };
    format!("{:?} → {:?}{kind}{port}", edge.from.name, edge.to.name)
}

fn value_text(change: &ValueChange) -> String {
    let path = change
        .pointer
        .strip_prefix("/parameters")
        .unwrap_or(&change.pointer);
    let path: String = path
        .split('/')
        .skip(1)
        .map(|token| format!(" {}", token.replace("~1", "/").replace("~0", "~")))
        .collect();
    match (&change.old, &change.new) {
        (None, Some(new)) => format!("{path}: {}", shortened(new)),
        (Some(old), None) => format!("{path}: {} removed", shortened(old)),
        (Some(old), Some(new)) => format!("{path}: {} → {}", shortened(old), shortened(new)),
        (None, None) => path,
    }
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= LONGEST_VALUE {
        return text;
    }
    let start: String = text.chars().take(LONGEST_VALUE - 1).collect();
    format!("{start}…")
}

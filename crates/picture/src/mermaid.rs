//! A workflow as a Mermaid flow chart. Ids are ours; every word from outside is letters, figures and Mermaid's own codes for the rest,
//! so that no name can become a link, a style or a line of its own.

use crate::scene::Uses;
use crate::{Subject, is_of};
use agentctl_n8n::{Branches, Severity, short_type};
use std::collections::HashMap;

/// Names longer than these are cut, in characters.
const LONGEST: usize = 80;

pub fn mermaid(subject: Subject<'_>) -> String {
    let workflow = subject.workflow;
    let nodes = || workflow.nodes.iter().filter(|n| !n.is_sticky()).enumerate();
    let ids: HashMap<&str, usize> = nodes().map(|(at, node)| (node.name(), at)).collect();
    let uses = Uses::of(workflow);
    let branches = nodes().map(|(_, node)| {
        let used = uses.outputs.get(node.name()).copied();
        Branches::of(node, used, Some(subject.catalog))
    });
    let branches: Vec<Branches> = branches.collect();
    let mut out = "flowchart LR\n".to_owned();
    for (at, node) in nodes() {
        let label = format!(
            "{}<br/>{}",
            quoted(node.name()),
            quoted(short_type(node.node_type()))
        );
        let known = subject
            .catalog
            .lookup(node.node_type(), node.type_version())
            .known();
        let begins = known.is_some_and(|known| known.begins().is_some());
        let (open, close) = match (begins, uses.serves.contains(node.name())) {
            (true, _) => ("([", "])"),
            (false, true) => ("((", "))"),
            (false, false) => ("[", "]"),
        };
        let worst = subject
            .findings
            .iter()
            .filter(|f| is_of(f, node))
            .map(|f| f.severity)
            .max();
        let class = match worst {
            Some(Severity::Error) => ":::error",
            Some(Severity::Warning) => ":::warning",
            _ => "",
        };
        out.push_str(&format!("  n{at}{open}\"{label}\"{close}{class}\n"));
    }
    for (from, kind, output, link) in workflow.edges() {
        let (Some(a), Some(b)) = (ids.get(from), ids.get(link.node.as_str())) else {
            continue;
        };
        if kind != "main" {
            out.push_str(&format!("  n{a} -. \"{}\" .-> n{b}\n", quoted(kind)));
            continue;
        }
        match branches.get(*a).and_then(|of| of.name(output)) {
            Some(name) => out.push_str(&format!("  n{a} -- \"{}\" --> n{b}\n", quoted(&name))),
            None => out.push_str(&format!("  n{a} --> n{b}\n")),
        }
    }
    out.push_str("  classDef error stroke:#c4232f,stroke-width:3px\n  classDef warning stroke:#9a6200,stroke-width:3px\n");
    out
}

/// In a label between double quotes.
fn quoted(name: &str) -> String {
    let name = agentctl_base::untrusted::line(name);
    let mut out = String::new();
    for c in name.chars().take(LONGEST) {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '.' | ',' | '-' | '_' | '(' | ')' => {
                out.push(c)
            }
            _ => out.push_str(&format!("#{};", u32::from(c))),
        }
    }
    if name.chars().count() > LONGEST {
        out.push_str("#8230;");
    }
    // An empty label is none.
    if out.is_empty() { " ".to_owned() } else { out }
}

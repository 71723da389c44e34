//! Agents: what they know, remember and may use, read from the whole request.

use crate::model::offline::lexicon::has;
use crate::model::offline::plan::{Does, Step, Tool};
use crate::model::offline::read::act::Memory;
use crate::model::offline::read::special::provider;

/// An agent in the middle of a workflow: "let an agent research it on the web (SerpAPI) and write an article".
pub fn researcher(mem: &mut Memory<'_>, text: &str) -> Step {
    let m = mem.m;
    let opened = m.open(text);
    let mut tools: Vec<Tool> = builtin_tools(mem, &opened);
    if tools.is_empty() && has(r"\b(?:web|internet|google|online|research\w*)\b", &opened) {
        tools.push(builtin("serpapi", "search the web"));
    }
    mem.step(
        text,
        Does::Agent {
            provider: provider(m, &opened),
            instructions: m.plain(text),
            input: None,
            tools,
            memory: None,
            knowledge: Vec::new(),
            output_fields: Vec::new(),
        },
    )
}

pub fn builtin(name: &str, purpose: &str) -> Tool {
    Tool {
        name: None,
        purpose: purpose.to_owned(),
        step: None,
        builtin: Some(name.to_owned()),
        inputs: Vec::new(),
        approval: None,
    }
}

/// Search engines, encyclopedias, calculators that the text names.
pub fn builtin_tools(mem: &Memory<'_>, text: &str) -> Vec<Tool> {
    let mut out: Vec<Tool> = mem
        .m
        .all(text, "s")
        .iter()
        .filter_map(|e| e.service.filter(|s| s.is("tool")))
        .map(|s| builtin(&s.key, &format!("look things up with {}", s.label)))
        .collect();
    if has(r"\bcalculator\b|\btaschenrechner\b|\bcalculadora\b", text) {
        out.push(builtin("calculator", "calculate"));
    }
    out
}

/// An assistant that the whole request describes. False: the request is no such thing.
pub fn whole(
    _mem: &mut Memory<'_>,
    _clauses: &mut Vec<crate::model::offline::read::clause::Clause>,
    _plan: &mut crate::model::offline::plan::Plan,
) -> bool {
    false
}

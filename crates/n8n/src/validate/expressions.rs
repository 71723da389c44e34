//! Texts with `{{ }}`: code that does not parse, a forgotten `=`, `$fromAI` where no agent fills it in, and the nodes that
//! expressions and code name.

use super::{
    javascript::JavaScript,
    leaves::Leaf,
    path, python,
    references::{Named, References},
    report::Report,
    rules,
    script::{NodeReference, Problem, Script},
    subject::{NodeView, Subject},
    template::{self, Part},
    without_return,
};
use crate::{
    edit::{EditOp, references::is_python},
    finding::{Confidence, Severity},
};
use serde_json::Value;

/// Variables that only n8n's expressions know: with one of them inside, `{{ … }}` was meant as an expression.
const VARIABLES: [&str; 14] = [
    "$json",
    "$(",
    "$node[",
    "$node.",
    "$input",
    "$now",
    "$today",
    "$item",
    "$env.",
    "$vars.",
    "$execution.",
    "$workflow.",
    "$fromAI(",
    "$binary",
];
/// Parameters that hold a program: (node type, parameter, language).
pub(crate) const PROGRAMS: [(&str, &str, Language); 8] = [
    ("n8n-nodes-base.code", "jsCode", Language::JavaScript),
    ("n8n-nodes-base.code", "pythonCode", Language::Python),
    ("n8n-nodes-base.aiTransform", "jsCode", Language::JavaScript),
    (
        "n8n-nodes-base.function",
        "functionCode",
        Language::JavaScript,
    ),
    (
        "n8n-nodes-base.functionItem",
        "functionCode",
        Language::JavaScript,
    ),
    (
        "@n8n/n8n-nodes-langchain.toolCode",
        "jsCode",
        Language::JavaScript,
    ),
    (
        "@n8n/n8n-nodes-langchain.toolCode",
        "pythonCode",
        Language::Python,
    ),
    (
        "@n8n/n8n-nodes-langchain.code",
        "code",
        Language::JavaScript,
    ),
];

/// Characters of code that a message shows.
const SHOWN: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Language {
    JavaScript,
    Python,
}

pub(super) fn check<'a>(
    subject: &Subject,
    node: &'a NodeView,
    leaf: &Leaf<'a, '_>,
    javascript: &mut JavaScript,
    references: &mut References<'a>,
    report: &mut Report,
) {
    if leaf.is_code() {
        program(node, leaf, javascript, references, report);
    } else if leaf.is_expression() {
        expression(subject, node, leaf, javascript, references, report);
    } else {
        prefix(node, leaf, javascript, report);
    }
}

fn program<'a>(
    node: &'a NodeView,
    leaf: &Leaf<'a, '_>,
    javascript: &mut JavaScript,
    references: &mut References<'a>,
    report: &mut Report,
) {
    let known = PROGRAMS
        .iter()
        .find(|(of, parameter, _)| *of == node.node_type && *parameter == leaf.key);
    let language = match known {
        Some((_, _, language)) => *language,
        None if is_python(leaf.key) => Language::Python,
        None => Language::JavaScript,
    };
    // n8n evaluates code that starts with "=" like any other value; what comes out is not known here.
    let code = match leaf.text.strip_prefix('=') {
        Some(rest) if rest.contains("{{") => return,
        Some(rest) => rest,
        None => leaf.text,
    };
    let problem = match language {
        Language::JavaScript => {
            let script = javascript.body(code);
            named(node, leaf, &script.references, references);
            if let (Some(returns), None, true) = (&script.returns, &script.problem, known.is_some())
            {
                without_return::check(node, leaf, returns, report);
            }
            script.problem
        }
        Language::Python => {
            references.add_text(node, leaf, code);
            let problem = python::problem(code);
            if problem.is_none() && known.is_some() {
                without_return::of_python(node, leaf, code, report);
            }
            problem
        }
    };
    if let (Some(problem), true) = (&problem, known.is_some()) {
        let message = explained("the code does not parse", code, problem);
        report.node(node, rules::CODE_SYNTAX.at(leaf.pointer, message));
    }
}

fn named<'a>(
    node: &'a NodeView,
    leaf: &Leaf<'a, '_>,
    found: &[NodeReference],
    references: &mut References<'a>,
) {
    for reference in found {
        // Whether a node ran may be asked of any node; so a text that asks is prepared for the answer.
        let asked = found
            .iter()
            .any(|r| r.node == reference.node && r.property.as_deref() == Some("isExecuted"));
        let unneeded = matches!(
            reference.property.as_deref(),
            Some("isExecuted" | "params" | "parameter" | "context" | "runIndex")
        );
        references.add(Named {
            node,
            pointer: leaf.pointer.to_owned(),
            text: leaf.text,
            key: leaf.key,
            name: reference.node.clone(),
            caught: reference.caught,
            needs_data: !asked && !unneeded,
        });
    }
}

fn expression<'a>(
    subject: &Subject,
    node: &'a NodeView,
    leaf: &Leaf<'a, '_>,
    javascript: &mut JavaScript,
    references: &mut References<'a>,
    report: &mut Report,
) {
    let template = leaf.text.get(1..).unwrap_or_default();
    let mut problem_is_said = false;
    let mut from_ai = false;
    let mut found = Vec::new();
    for part in template::parts(template) {
        let Part::Code { code, at, closed } = part else {
            continue;
        };
        let Script {
            problem,
            references,
            calls_from_ai,
            returns: _,
            field_reads: _,
        } = javascript.expression(code);
        from_ai |= calls_from_ai;
        found.extend(references);
        if problem_is_said {
            continue;
        }
        problem_is_said = syntax(node, leaf, (template, code, at, closed), problem, report);
    }
    named(node, leaf, &found, references);
    if from_ai {
        outside_tool(subject, node, leaf, report);
    }
}

/// Reports what is wrong with one `{{ }}`; says whether anything was.
fn syntax(
    node: &NodeView,
    leaf: &Leaf,
    (template, code, at, closed): (&str, &str, usize, bool),
    problem: Option<Problem>,
    report: &mut Report,
) -> bool {
    let draft = match problem {
        None if closed => return false,
        None => rules::UNBALANCED_EXPRESSION
            .at(
                leaf.pointer,
                "an expression starts with {{ and has no closing }}; n8n takes the rest of the text as code",
            )
            .at_most(Severity::Warning),
        Some(problem) if !closed => {
            let message = explained(
                "an expression starts with {{ and has no closing }}, so the rest of the text is code, which does not parse",
                code,
                &problem,
            );
            rules::UNBALANCED_EXPRESSION.at(leaf.pointer, message)
        }
        Some(problem) => {
            let mut message = explained("the expression does not parse", code, &problem);
            let rest = template.get(at + code.len()..).unwrap_or_default();
            let cut = rest.starts_with("}}") && code.matches('{').count() > code.matches('}').count();
            if cut {
                message.push_str("; it ends at the first }}, so write \"} }\" for two braces inside");
            }
            rules::EXPRESSION_SYNTAX.at(leaf.pointer, message)
        }
    };
    report.node(node, draft);
    true
}

/// `what: message at line 2, column 5, near "const b = ;"`
fn explained(what: &str, code: &str, problem: &Problem) -> String {
    let at = (0..=problem.at.min(code.len()))
        .rev()
        .find(|at| code.is_char_boundary(*at))
        .unwrap_or(0);
    let (before, after) = code.split_at(at);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    let column = code.get(start..at).map_or(0, |t| t.chars().count()) + 1;
    let lead: String = code.get(start..at).unwrap_or_default().chars().collect();
    let lead: String = lead
        .chars()
        .skip(lead.chars().count().saturating_sub(SHOWN / 2))
        .collect();
    let near: String = after
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(SHOWN / 2)
        .collect();
    let near = format!("{lead}{near}");
    let message = problem.message.trim_end_matches('.');
    if near.trim().is_empty() {
        return format!("{what}: {message} (line {line}, column {column})");
    }
    format!(
        "{what}: {message} (line {line}, column {column}, near {:?})",
        near.trim()
    )
}

fn prefix(node: &NodeView, leaf: &Leaf, javascript: &mut JavaScript, report: &mut Report) {
    // Editors of code, SQL and HTML read `{{ }}` themselves or not at all; where no expression is allowed there is nothing to add.
    let own_syntax = leaf.editor().is_some()
        || leaf
            .property
            .is_none_or(|p| p.no_expression || p.data_path.is_some());
    // A workflow or a schema written as JSON holds the expressions of somebody else.
    const OF_OTHERS: [&str; 4] = [
        "workflowJson",
        "jsonSchemaExample",
        "inputSchema",
        "jsonSchema",
    ];
    if own_syntax || OF_OTHERS.contains(&leaf.key) || !leaf.text.contains("{{") {
        return;
    }
    let meant = |code: &&str| VARIABLES.iter().any(|variable| code.contains(variable));
    let Some(code) = template::code(leaf.text).find(meant) else {
        return;
    };
    // A text about expressions is no expression: one that n8n could not evaluate was not meant as one.
    let all_parse =
        template::code(leaf.text).all(|code| javascript.expression(code).problem.is_none());
    let shown = shown(code.trim());
    let message = format!(
        "holds {{{{ {shown} }}}} but does not start with \"=\", so n8n takes it as plain text"
    );
    let draft = rules::MISSING_EXPRESSION_PREFIX.at(leaf.pointer, message);
    if !all_parse {
        return report.node(node, draft.at_most(Severity::Warning));
    }
    let fix = EditOp::SetParameter {
        node: node.address(),
        pointer: path::below_parameters(leaf.pointer),
        value: Value::String(format!("={}", leaf.text)),
    };
    report.node(
        node,
        draft.fix(Confidence::Sure, "put \"=\" in front", vec![fix]),
    );
}

/// The beginning of a text, without the secrets in it.
pub(super) fn shown(text: &str) -> String {
    let text = agentctl_base::secrets::mask(text);
    text.chars().take(SHOWN).collect()
}

fn outside_tool(subject: &Subject, node: &NodeView, leaf: &Leaf, report: &mut Report) {
    let serves_agent = subject.leaving(node.index).any(|e| e.kind == "ai_tool");
    if node.node_type.ends_with("Tool") || serves_agent || node.is_sub_node() {
        return;
    }
    let message = "$fromAI is filled in by an agent that calls the node as a tool; no agent calls this node, so the value stays empty";
    report.node(node, rules::FROMAI_OUTSIDE_TOOL.at(leaf.pointer, message));
}

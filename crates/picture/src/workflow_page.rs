//! A page about one workflow: its picture, what was found in it, and the same as text.

use crate::page::{self, Page, lines, text};
use crate::{Style, Subject, TooLarge, svg, words};
use agentctl_base::counted::counted;
use agentctl_n8n::{Finding, Severity, tree::tree};

/// The whole file.
pub fn workflow_page(subject: Subject<'_>) -> Result<String, TooLarge> {
    let workflow = subject.workflow;
    let mut out = Page::new(&words::heading(workflow.name()));
    let nodes = workflow.nodes.iter().filter(|n| !n.is_sticky()).count();
    let picture = svg(subject, Style::OnPage)?;
    out.push(&page::figure(
        &picture,
        &format!("{}, from left to right", counted(nodes, "node")),
    ));
    out.section("Findings", &findings(subject.findings));
    let tree = lines(&tree(workflow, Some(subject.catalog)));
    out.section("As text", &format!("<pre>{tree}</pre>\n"));
    Ok(out.finish())
}

/// Findings as a table, the worst first.
pub fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "<p class=\"good\">None.</p>\n".to_owned();
    }
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let row = |finding: &&Finding| {
        vec![
            severity(finding.severity).to_owned(),
            format!("<code>{}</code>", text(&finding.code)),
            text(finding.node.as_deref().unwrap_or_default()),
            text(&finding.message),
            text(finding.fix.as_ref().map_or("", |fix| fix.title.as_str())),
        ]
    };
    page::table(
        &["severity", "code", "node", "what", "fix"],
        sorted.iter().map(row),
    )
}

/// The word with its colour.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "<span class=\"error\">error</span>",
        Severity::Warning => "<span class=\"warning\">warning</span>",
        Severity::Info => "<span class=\"info\">info</span>",
    }
}

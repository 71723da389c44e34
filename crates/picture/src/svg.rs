//! A scene as SVG. Nothing in it is loaded from anywhere and nothing runs; colours follow what the reader's system likes, light or dark.

use crate::escape::text;
use crate::scene::{Drawn, LINE, Note, Scene, Shape};
use crate::wires::{self, Label, Wire, number};
use crate::words;
use crate::{Subject, TooLarge};
use agentctl_base::counted::counted;
use agentctl_n8n::{Finding, Severity};

/// The look of every picture, in one style sheet.
pub const STYLE: &str = include_str!("style.css");

/// Where a picture stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A file of its own: with its style sheet, and the findings below.
    Alone,
    /// On a page that has the style sheet, and says the findings itself.
    OnPage,
}

/// Findings that are written below a picture.
const MOST_FINDINGS: usize = 12;
/// A text below is about this wide at least.
const LEGEND_WIDTH: f64 = 640.0;

/// The workflow as n8n shows it: from left to right, branches named, findings on their nodes.
pub fn svg(subject: Subject<'_>, style: Style) -> Result<String, TooLarge> {
    let scene = Scene::of(subject)?;
    let (wires, bottom) = wires::wires(subject.workflow, &scene);
    let mut legend = match style {
        Style::Alone => marked(subject.findings),
        Style::OnPage => Vec::new(),
    };
    legend.extend(not_shown(&scene));
    let width = match legend.is_empty() {
        true => scene.width,
        false => scene.width.max(LEGEND_WIDTH),
    };
    let name = words::heading(subject.workflow.name());
    let heading = words::width(&name) * 18.0 + 48.0;
    let name = text(&name);
    let width = width.max(heading.min(2.0 * LEGEND_WIDTH));
    let height = bottom + legend.len() as f64 * 18.0 + if legend.is_empty() { 0.0 } else { 20.0 };
    let (w, h) = (number(width), number(height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wf\" role=\"img\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\">\n<title>{name}</title>\n<desc>{}</desc>\n",
        described(&scene, subject.findings)
    );
    if style == Style::Alone {
        out.push_str(&format!("<style>{STYLE}</style>\n"));
    }
    out.push_str(&format!(
        "<rect class=\"bg\" width=\"{w}\" height=\"{h}\"/>\n"
    ));
    if style == Style::Alone {
        out.push_str(&format!(
            "<text class=\"head\" x=\"24\" y=\"36\">{name}</text>\n"
        ));
    }
    for note in &scene.notes {
        draw_note(note, &mut out);
    }
    for wire in &wires {
        draw_wire(wire, &mut out);
    }
    for node in &scene.nodes {
        draw_node(node, &mut out);
    }
    for label in scene.nodes.iter().flat_map(wires::labels) {
        draw_label(&label, &mut out);
    }
    for (row, (severity, line)) in legend.iter().enumerate() {
        let y = bottom + 18.0 * row as f64 + 8.0;
        if let Some(severity) = severity {
            let (class, y) = (severity.name(), number(y - 4.0));
            out.push_str(&format!(
                "<circle class=\"dot {class}\" cx=\"30\" cy=\"{y}\" r=\"4\"/>"
            ));
        }
        out.push_str(&format!(
            "<text class=\"legend\" x=\"42\" y=\"{}\">{line}</text>\n",
            number(y)
        ));
    }
    out.push_str("</svg>\n");
    Ok(out)
}

/// For somebody who does not see it.
fn described(scene: &Scene<'_>, findings: &[Finding]) -> String {
    let count = |wanted| findings.iter().filter(|f| f.severity == wanted).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    format!(
        "{}, {}, {}",
        counted(scene.nodes.len(), "node"),
        counted(errors, "error"),
        counted(warnings, "warning")
    )
}

fn draw_note(note: &Note, out: &mut String) {
    let (x, y) = (number(note.x), number(note.y));
    out.push_str(&format!(
        "<rect class=\"note\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\"/>\n",
        number(note.width),
        number(note.height)
    ));
    for (row, line) in note.lines.iter().enumerate() {
        let y = number(note.y + 20.0 + LINE * row as f64);
        let x = number(note.x + 12.0);
        out.push_str(&format!(
            "<text class=\"memo\" x=\"{x}\" y=\"{y}\">{}</text>\n",
            text(line)
        ));
    }
}

fn draw_wire(wire: &Wire, out: &mut String) {
    let kind = wire.kind;
    out.push_str(&format!(
        "<path class=\"wire {kind:?}\" d=\"{}\"/>",
        wire.path
    ));
    let (x, y) = wire.end;
    let arrow = match kind {
        wires::Kind::Serves => format!("M{} {}l5 5l-5 5l-5 -5z", number(x), number(y - 5.0)),
        _ => format!("M{} {}l-9 -5v10z", number(x), number(y)),
    };
    out.push_str(&format!("<path class=\"arrow {kind:?}\" d=\"{arrow}\"/>\n"));
}

fn draw_label(label: &Label, out: &mut String) {
    let middle = if label.is_middle { " middle" } else { "" };
    let whole = label.whole.as_ref();
    let tip = whole.map_or(String::new(), |whole| {
        format!("<title>{}</title>", text(whole))
    });
    out.push_str(&format!(
        "<text class=\"label {:?}{middle}\" x=\"{}\" y=\"{}\">{tip}{}</text>\n",
        label.kind,
        number(label.x),
        number(label.y),
        text(&label.text)
    ));
}

fn draw_node(node: &Drawn<'_>, out: &mut String) {
    let worst = node.findings.iter().map(|f| f.severity).max();
    let class = worst.map_or("", Severity::name);
    let off = if node.is_off { " off" } else { "" };
    out.push_str(&format!(
        "<g class=\"node {class}{off}\"><title>{}</title>",
        tip(node)
    ));
    out.push_str(&card(node));
    let (x, y, scale) = match node.shape {
        Shape::Served => (
            node.x + 20.0,
            node.y + node.height / 2.0 - 20.0,
            40.0 / 24.0,
        ),
        Shape::Sub => (node.x + 22.0, node.y + 22.0, 36.0 / 24.0),
        _ => (
            node.x + 26.0,
            node.y + node.height / 2.0 - 22.0,
            44.0 / 24.0,
        ),
    };
    out.push_str(&format!(
        "<path class=\"icon {}\" transform=\"translate({} {}) scale({scale:.3})\" d=\"{}\"/>",
        node.icon.colour,
        number(x),
        number(y),
        node.icon.path
    ));
    draw_text(node, out);
    for output in 0..node.branches.count().min(64) {
        let (x, y) = node.output(u32::try_from(output).unwrap_or(u32::MAX));
        out.push_str(&format!(
            "<circle class=\"port\" cx=\"{}\" cy=\"{}\" r=\"4\"/>",
            number(x),
            number(y)
        ));
    }
    if let Some(worst) = worst {
        let (x, y) = (number(node.x + node.width - 4.0), node.y + 4.0);
        out.push_str(&format!(
            "<circle class=\"badge {}\" cx=\"{x}\" cy=\"{}\" r=\"11\"/><text class=\"count\" x=\"{x}\" y=\"{}\">{}</text>",
            worst.name(),
            number(y),
            number(y + 4.0),
            node.findings.len()
        ));
    }
    out.push_str("</g>\n");
}

/// The outline: a trigger is round on the left, as in n8n.
fn card(node: &Drawn<'_>) -> String {
    let (x, y) = (number(node.x), number(node.y));
    let (w, h) = (number(node.width), number(node.height));
    match node.shape {
        Shape::Sub => {
            let r = node.width / 2.0;
            let (x, y) = (number(node.x + r), number(node.y + r));
            format!(
                "<circle class=\"card\" cx=\"{x}\" cy=\"{y}\" r=\"{}\"/>",
                number(r)
            )
        }
        Shape::Trigger => format!(
            "<path class=\"card\" d=\"M{} {y}h{}a8 8 0 0 1 8 8v{}a8 8 0 0 1 -8 8h-{}a36 36 0 0 1 -36 -36v-{}a36 36 0 0 1 36 -36z\"/>",
            number(node.x + 36.0),
            number(node.width - 44.0),
            number(node.height - 16.0),
            number(node.width - 44.0),
            number(node.height - 72.0)
        ),
        Shape::Step | Shape::Served => {
            format!(
                "<rect class=\"card\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"8\"/>"
            )
        }
    }
}

fn draw_text(node: &Drawn<'_>, out: &mut String) {
    let rows = node.lines.len() as f64;
    let (x, first, middle) = match node.shape {
        Shape::Served => {
            let detail = if node.detail.is_empty() { 0.0 } else { LINE };
            let top = node.y + (node.height - rows * LINE - detail) / 2.0 + 12.0;
            (node.x + 72.0, top, "")
        }
        _ => (
            node.x + node.width / 2.0,
            node.y + node.height + 18.0,
            " middle",
        ),
    };
    for (row, line) in node.lines.iter().enumerate() {
        let y = number(first + LINE * row as f64);
        out.push_str(&format!(
            "<text class=\"name{middle}\" x=\"{}\" y=\"{y}\">{}</text>",
            number(x),
            text(line)
        ));
    }
    if !node.detail.is_empty() {
        let y = number(first + LINE * rows - 1.0);
        let detail = text(&node.detail);
        out.push_str(&format!(
            "<text class=\"detail{middle}\" x=\"{}\" y=\"{y}\">{detail}</text>",
            number(x)
        ));
    }
}

/// What is shown when the pointer rests on the node.
fn tip(node: &Drawn<'_>) -> String {
    let mut tip = text(node.name);
    for finding in &node.findings {
        tip.push('\n');
        tip.push_str(&told(finding));
    }
    tip
}

fn told(finding: &Finding) -> String {
    let code = text(&finding.code);
    format!(
        "{} {code}: {}",
        finding.severity.name(),
        text(&finding.message)
    )
}

/// What the picture marks, in words.
fn marked(findings: &[Finding]) -> Vec<(Option<Severity>, String)> {
    let mut findings: Vec<&Finding> = findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let line = |finding: &&Finding| {
        let at = finding
            .node
            .as_deref()
            .map(|node| format!("[{}] ", text(node)));
        let line = format!("{}{}", at.unwrap_or_default(), told(finding));
        (Some(finding.severity), line)
    };
    let mut lines: Vec<_> = findings.iter().take(MOST_FINDINGS).map(line).collect();
    if let Some(more) = findings
        .len()
        .checked_sub(MOST_FINDINGS)
        .filter(|more| *more > 0)
    {
        lines.push((
            None,
            format!("{}: agentctl qa", counted(more, "more finding")),
        ));
    }
    lines
}

/// What the workflow has and the picture does not.
fn not_shown(scene: &Scene<'_>) -> Option<(Option<Severity>, String)> {
    let notes = match scene.notes_left {
        0 => return None,
        1 => "1 sticky note is".to_owned(),
        many => format!("{many} sticky notes are"),
    };
    let line = format!("{notes} not shown: the nodes were laid out anew");
    Some((None, line))
}

#[cfg(test)]
#[path = "svg_tests.rs"]
mod svg_tests;

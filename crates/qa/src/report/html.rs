//! A check as a page in one file, for people: totals, how often each code was found, and all findings in a table that can be sorted and
//! filtered. Without scripts the table is whole and in the order of the files.

use crate::check::{Checked, Judged, State};
use crate::source;
use crate::summary::Summary;
use agentctl_n8n::finding::Severity;
use agentctl_picture::page::{Page, table, text};
use agentctl_picture::severity;
use std::collections::BTreeSet;
use std::path::Path;

/// More rows than these are slow to sort in a browser; the rest is counted.
pub const MOST_ROWS: usize = 10_000;

/// `root`: the folder that the paths are seen from. `hide`: takes secrets out of a text from outside.
pub fn html(
    files: &[Checked],
    summary: &Summary,
    root: &Path,
    hide: &dyn Fn(&str) -> String,
) -> String {
    let mut page = Page::new("agentctl qa").with_script(include_str!("page.js"));
    page.push(&totals(summary));
    page.section("Codes", &codes(summary));
    let told = Told { root, hide };
    page.section("Findings", &findings(files, &told));
    page.finish()
}

struct Told<'a> {
    root: &'a Path,
    hide: &'a dyn Fn(&str) -> String,
}

impl Told<'_> {
    fn text(&self, of: &str) -> String {
        text(&(self.hide)(of))
    }

    fn row(&self, file: &Checked, judged: &Judged) -> Vec<String> {
        let (finding, place) = (&judged.finding, &judged.place);
        let path = source::relative(Path::new(&file.path), self.root);
        let fix = finding.fix.as_ref().map_or("", |fix| fix.title.as_str());
        vec![
            severity(finding.severity).to_owned(),
            self.text(&finding.code),
            format!("{}:{}:{}", self.text(&path), place.line, place.column),
            self.text(file.workflow.as_deref().unwrap_or_default()),
            self.text(finding.node.as_deref().unwrap_or_default()),
            match fix {
                "" => self.text(&finding.message),
                fix => format!("{} (fix: {})", self.text(&finding.message), self.text(fix)),
            },
            self.state(&judged.state),
        ]
    }

    fn state(&self, state: &State) -> String {
        match state {
            State::Open => "open".to_owned(),
            State::Known => "known".to_owned(),
            State::Waived { reason, expires } => {
                format!("waived until {expires}: {}", self.text(reason))
            }
        }
    }
}

fn totals(summary: &Summary) -> String {
    let class = if summary.failed { "error" } else { "good" };
    let word = if summary.failed { "failed" } else { "passed" };
    let figures = [
        ("workflows", summary.files),
        ("of these clean", summary.clean),
        ("errors", summary.errors),
        ("warnings", summary.warnings),
        ("for information", summary.infos),
        ("in the baseline", summary.known),
        ("waived", summary.waived),
        ("fixed", summary.fixed),
        ("files without nodes, not checked", summary.skipped.len()),
    ];
    let rows: String = figures
        .iter()
        .map(|(name, figure)| format!("<dt>{name}</dt><dd>{figure}</dd>\n"))
        .collect();
    format!("<p><span class=\"{class}\">The check {word}.</span></p>\n<dl>\n{rows}</dl>\n")
}

fn codes(summary: &Summary) -> String {
    if summary.by_code.is_empty() {
        return "<p class=\"good\">No open finding.</p>\n".to_owned();
    }
    let mut codes: Vec<(&String, &usize)> = summary.by_code.iter().collect();
    codes.sort_by_key(|(code, number)| (std::cmp::Reverse(**number), *code));
    let items: String = codes
        .iter()
        .map(|(code, number)| format!("<dt>{number}</dt><dd><code>{}</code></dd>\n", text(code)))
        .collect();
    format!("<dl>\n{items}</dl>\n")
}

fn findings(files: &[Checked], told: &Told<'_>) -> String {
    let all = || {
        files
            .iter()
            .flat_map(|file| file.findings.iter().map(move |judged| (file, judged)))
    };
    let codes: BTreeSet<&str> = all()
        .map(|(_, judged)| judged.finding.code.as_str())
        .collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let severities = [Severity::Error, Severity::Warning, Severity::Info];
    let severities = severities.map(Severity::name);
    let mut part = format!(
        "<div class=\"tools\" id=\"tools\" hidden>\n{}{}{}<label>words <input id=\"words\" type=\"search\"></label>\n<output id=\"shown\"></output>\n</div>\n",
        choice("code", &codes),
        choice("severity", &severities),
        choice("state", &["open", "known", "waived"])
    );
    let rows = all()
        .take(MOST_ROWS)
        .map(|(file, judged)| told.row(file, judged));
    let head = [
        "severity", "code", "place", "workflow", "node", "what", "state",
    ];
    part.push_str(&table(&head, rows));
    if let Some(more) = all()
        .count()
        .checked_sub(MOST_ROWS)
        .filter(|more| *more > 0)
    {
        part.push_str(&format!("<p><span class=\"warning\">{more} more are not in this table: --output-format json has them all.</span></p>\n"));
    }
    part
}

fn choice(name: &str, values: &[&str]) -> String {
    let options: String = values
        .iter()
        .map(|value| format!("<option>{}</option>", text(value)))
        .collect();
    format!(
        "<label>{name} <select id=\"{name}\"><option value=\"\">all</option>{options}</select></label>\n"
    )
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod html_tests;

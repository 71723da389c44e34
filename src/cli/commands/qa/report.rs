//! What a check found, as text for people and as reports for CI.

use super::args::{QaArgs, Report};
use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::cli::plain::{plain, plain_long};
use agentctl_base::counted::counted;
use agentctl_base::untrusted;
use agentctl_host::files::write_atomic;
use agentctl_n8n::finding::{Finding, Severity};
use agentctl_qa::check::{Checked, Judged, State};
use agentctl_qa::report::{github, html, junit, sarif};
use agentctl_qa::source;
use agentctl_qa::summary::{Summary, Threshold};
use console::style;
use std::path::{Path, PathBuf};

pub fn reports(
    files: &[Checked],
    threshold: Threshold,
    args: &QaArgs,
    out: &Output,
) -> Result<(), CliError> {
    if args.reports.is_empty() {
        return Ok(());
    }
    let root = repository_root();
    let write = |file: &Path, text: String| {
        write_atomic(file, text.as_bytes()).map_err(|e| CliError::failed(e.to_string()))
    };
    for report in &args.reports {
        match report {
            Report::Sarif(file) => {
                let log = out.redactor().strings(sarif::sarif(files, &root));
                write(file, format!("{}\n", untrusted::json(&format!("{log:#}"))))?;
            }
            Report::Junit(file) => {
                let xml = junit::junit(files, threshold, &root);
                write(file, out.redactor().text(&xml))?;
            }
            Report::Github => out.commands(&github::annotations(files, &root))?,
        }
    }
    Ok(())
}

/// The page for people.
pub fn page(
    files: &[Checked],
    summary: &Summary,
    args: &QaArgs,
    out: &Output,
) -> Result<(), CliError> {
    let Some(file) = &args.html else {
        return Ok(());
    };
    let redactor = out.redactor();
    let hide = |text: &str| redactor.text(text);
    let page = html::html(files, summary, &repository_root(), &hide);
    write_atomic(file, page.as_bytes()).map_err(|e| CliError::failed(e.to_string()))
}

/// Totals by code are shown beyond so many findings.
const FEW: usize = 5;

pub fn text(files: &[Checked], summary: &Summary, args: &QaArgs) -> String {
    let mut out = String::new();
    for file in files {
        let mut open = file
            .findings
            .iter()
            .filter(|j| j.state == State::Open)
            .peekable();
        if open.peek().is_none() && file.mended.is_none() {
            continue;
        }
        let name = file
            .workflow
            .as_deref()
            .map(|name| format!(" · {}", plain(name)));
        out.push_str(&format!(
            "{}{}\n",
            style(plain_long(&file.path)).bold(),
            name.unwrap_or_default()
        ));
        if let Some(mended) = &file.mended {
            let verb = if mended.written { "fixed" } else { "would fix" };
            for finding in &mended.fixed {
                let title = finding.fix.as_ref().map_or("", |f| f.title.as_str());
                out.push_str(&format!(
                    "  {} {}{} {title}\n",
                    style(verb).green(),
                    style(&finding.code).cyan(),
                    node_of(finding)
                ));
            }
            out.push_str(&coloured(&mended.diff));
        }
        for judged in open {
            out.push_str(&judged_line(judged));
        }
        out.push('\n');
    }
    if !summary.skipped.is_empty() {
        let files = counted(summary.skipped.len(), "JSON file");
        out.push_str(&format!("{files} without nodes skipped (no workflows)\n"));
    }
    for waiver in &summary.expired_waivers {
        out.push_str(&format!("{} {waiver}\n", style("waiver expired:").yellow()));
    }
    // A few findings can be counted by eye.
    if summary.by_code.values().sum::<usize>() > FEW {
        let mut codes: Vec<(&String, &usize)> = summary.by_code.iter().collect();
        codes.sort_by_key(|(code, number)| (std::cmp::Reverse(**number), *code));
        for (code, number) in codes {
            out.push_str(&format!("{number:>6}  {}\n", style(code).cyan()));
        }
    }
    let mut totals = vec![
        counted(summary.files, "workflow"),
        format!("{} clean", summary.clean),
    ];
    totals.push(counted(summary.errors, "error"));
    totals.push(counted(summary.warnings, "warning"));
    for (number, what) in [
        (summary.infos, "for information"),
        (summary.known, "in the baseline"),
        (summary.waived, "waived"),
        (summary.fixed, "fixed"),
    ] {
        if number > 0 {
            totals.push(format!("{number} {what}"));
        }
    }
    out.push_str(&totals.join(", "));
    out.push('\n');
    if let Some(gone) = summary
        .baseline_gone
        .filter(|n| *n > 0 && !args.write_baseline)
    {
        out.push_str(&format!(
            "{} of the baseline {} gone; --write-baseline takes them out\n",
            counted(gone, "finding"),
            if gone == 1 { "is" } else { "are" }
        ));
    }
    if args.changed_since.is_some() && summary.files == 0 {
        out.push_str("no workflow was changed\n");
    }
    if args.staged && summary.files == 0 {
        out.push_str("no workflow is staged\n");
    }
    out
}

fn coloured(diff: &str) -> String {
    let line = |line: &str| match line.chars().next() {
        Some('+') => format!("  {}\n", style(line).green()),
        Some('-') => format!("  {}\n", style(line).red()),
        _ => format!("  {line}\n"),
    };
    diff.lines().map(|l| line(&plain_long(l))).collect()
}

fn node_of(finding: &Finding) -> String {
    let node = finding.node.as_deref();
    node.map(|n| format!(" [{}]", plain(n))).unwrap_or_default()
}

/// One finding, with its node and where it is.
fn judged_line(judged: &Judged) -> String {
    let (finding, place) = (&judged.finding, &judged.place);
    let severity = match finding.severity {
        Severity::Error => style("error  ").red().bold(),
        Severity::Warning => style("warning").yellow(),
        Severity::Info => style("info   ").dim(),
    };
    let mut line = format!(
        "  {severity} {}{} {}\n",
        style(&finding.code).cyan(),
        node_of(finding),
        plain_long(&finding.message)
    );
    let at = format!(
        "{}:{} {}",
        place.line,
        place.column,
        plain_long(&finding.pointer)
    );
    line.push_str(&format!("          {}\n", style(at.trim_end()).dim()));
    if let Some(fix) = &finding.fix {
        line.push_str(&format!("          fix: {}\n", plain_long(&fix.title)));
    }
    line
}

/// CI systems see paths from the repository's root.
fn repository_root() -> PathBuf {
    let here = source::absolute(Path::new("."));
    let root = here.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(&here).to_owned()
}

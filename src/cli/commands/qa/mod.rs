//! `agentctl qa PATH…`: checks workflow files; every file is checked, whatever is wrong with the others.

mod args;
#[cfg(feature = "full")]
mod live;
mod report;

pub use args::QaArgs;

use crate::cli::args::{FailOn, OutputFormat};
#[cfg(feature = "full")]
use crate::cli::bar::Bar;
use crate::cli::error::{CliError, Exit};
use crate::cli::fit;
use crate::cli::output::{Output, write_bytes};
use crate::cli::{catalog_file, settings};
use agentctl_base::counted::counted;
use agentctl_host::files::{read_given_text, write_atomic};
use agentctl_n8n::finding::Finding;
use agentctl_qa::baseline::{Baseline, Known};
use agentctl_qa::changed;
use agentctl_qa::check::{Check, Checked, FixMode, Outcome, State};
use agentctl_qa::git::{self, GitError};
use agentctl_qa::report::json;
use agentctl_qa::rules;
use agentctl_qa::source::{self, Source};
use agentctl_qa::staged::{self, StagedError};
use agentctl_qa::summary::{Summary, Threshold};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub fn qa(project: &Path, args: &QaArgs, out: &Output) -> Result<Exit, CliError> {
    if let Some(code) = &args.explain {
        return explain(code, out);
    }
    // Before an n8n is asked for anything.
    let (only, ignore) = (codes(&args.only)?, codes(&args.ignore)?);
    #[cfg(feature = "full")]
    let sources = if live::is_asked(args) {
        live::sources(project, args, out)?
    } else {
        // What is mistyped is said first.
        let sources = sources(args)?;
        live::facts(project, out)?;
        sources
    };
    #[cfg(not(feature = "full"))]
    let sources = sources(args)?;
    let waivers = settings::waivers(project)?;
    let known = args
        .baseline
        .as_deref()
        .map(|file| read_baseline(file, args.write_baseline));
    let known = known.transpose()?;
    let today = jiff::Zoned::now().date();
    let check = Check {
        catalog: catalog_file::of(project, out)?,
        only: &only,
        ignore: &ignore,
        baseline: known.as_ref(),
        baseline_root: args.baseline.as_deref().map(folder_of).unwrap_or_default(),
        waivers: &waivers,
        waiver_root: project.to_owned(),
        today,
        fix: match (args.fix, args.dry_run) {
            (false, _) => FixMode::Off,
            (true, true) => FixMode::Show,
            (true, false) => FixMode::Write,
        },
    };
    let threshold = match args.fail_on {
        FailOn::Never => Threshold::Never,
        FailOn::Error => Threshold::Error,
        FailOn::Warning => Threshold::Warning,
    };
    out.stream(&json!({"type": "init", "command": "qa", "files": sources.len()}))?;
    let Run {
        files,
        mut summary,
        drawn,
        answer,
    } = run(&check, &sources, threshold, args, out)?;
    nothing(&summary, args)?;
    summary.expired_waivers = waivers
        .iter()
        .filter(|w| !w.holds_on(today))
        .map(|w| format!("{} (until {}: {})", w.subject(), w.expires, w.reason))
        .collect();
    report::reports(&files, threshold, args, out)?;
    if let Some(file) = args.baseline.as_deref().filter(|_| args.write_baseline) {
        write_atomic(file, drawn.to_text().as_bytes())
            .map_err(|e| CliError::failed(e.to_string()))?;
        summary.failed = false; // what is found now is known from now on
        out.note(&format!(
            "the baseline is now {}: {}",
            counted(drawn.len(), "finding"),
            file.display()
        ));
    }
    report::page(&files, &summary, args, out)?;
    let exit = if summary.failed {
        Exit::Failed
    } else {
        Exit::Complete
    };
    if out.format == OutputFormat::Json {
        answer.end(&summary)?;
        return Ok(exit);
    }
    out.answer(
        exit,
        || report::text(&files, &summary, args),
        || json!({"summary": summary}),
    )
}

/// Where nothing was to be checked a clean answer would say too much. What was changed, staged or is on an n8n may well be nothing.
fn nothing(summary: &Summary, args: &QaArgs) -> Result<(), CliError> {
    let may_be = args.paths.is_empty() || args.staged || args.changed_since.is_some();
    if summary.files > 0 || may_be {
        return Ok(());
    }
    let other = match summary.skipped.len() {
        0 => String::new(),
        1 => ": its only JSON file has no nodes".to_owned(),
        n => format!(": none of its {n} JSON files has nodes"),
    };
    let told = format!("no workflow in {}{other}", list(&args.paths));
    Err(CliError::usage(told)
        .hint("name a workflow file, a folder that has some, or `-` for stdin"))
}

/// What a run over the files leaves.
struct Run<'a> {
    /// Empty where nothing needs them any more.
    files: Vec<Checked>,
    summary: Summary,
    /// The baseline as it would be drawn now.
    drawn: Baseline,
    answer: Pieces<'a>,
}

/// The JSON answer, written in pieces while files are still being checked.
struct Pieces<'a> {
    out: &'a Output,
    held: String,
    is_empty: bool,
    /// Nothing can fail any more that would have to be said instead.
    at_once: bool,
}

impl Pieces<'_> {
    /// So many bytes are worth a write.
    const ENOUGH: usize = 64 * 1024;

    fn add(&mut self, piece: &str) -> Result<(), CliError> {
        self.held.push_str(json::before_file(self.is_empty));
        self.held.push_str(piece);
        self.is_empty = false;
        if self.at_once && self.held.len() >= Self::ENOUGH {
            write_bytes(self.held.as_bytes())?;
            self.held.clear();
        }
        Ok(())
    }

    fn end(mut self, summary: &Summary) -> Result<(), CliError> {
        self.held.push_str(json::before_summary(self.is_empty));
        let summary = self.out.json_piece(summary, json::SUMMARY_MARGIN)?;
        self.held.push_str(&summary);
        self.held.push_str(json::END);
        write_bytes(self.held.as_bytes())
    }
}

/// Checks the files.
fn run<'a>(
    check: &Check,
    sources: &[Source],
    threshold: Threshold,
    args: &QaArgs,
    out: &'a Output,
) -> Result<Run<'a>, CliError> {
    let mut files = Vec::new();
    let mut summary = Summary {
        baseline_gone: check.baseline.map(|_| 0),
        ..Summary::default()
    };
    let mut drawn = check.baseline.cloned().unwrap_or_default();
    let mut answer = Pieces {
        out,
        held: String::new(),
        is_empty: true,
        at_once: !args.needs_all() && !args.write_baseline,
    };
    // What is said file by file is not kept, unless a report wants the whole.
    let keep = out.is_text() || args.needs_all();
    #[cfg(feature = "full")]
    let bar = Bar::of_files(sources.len(), "checked", out);
    let make = |outcome: Outcome| {
        #[cfg(feature = "full")]
        bar.more(1);
        let pieces = match &outcome {
            Outcome::Checked(checked) if out.format == OutputFormat::Json => checked
                .iter()
                .map(|one| out.json_piece(one, json::FILE_MARGIN))
                .collect(),
            _ => Ok(Vec::new()),
        };
        (outcome, pieces)
    };
    check.all(sources, &make, &mut |source, (outcome, pieces)| {
        let pieces: Vec<String> = pieces?;
        let checked = match outcome {
            Outcome::Skipped(path) => {
                summary.skipped.push(path);
                return Ok(());
            }
            Outcome::Checked(checked) => checked,
        };
        if let Some(baseline) = check.baseline {
            let path = source::relative(&source.path, &check.baseline_root);
            let looks_for = |code: &str| check.looks_for(code);
            let found = || checked.iter().flat_map(|c| &c.findings);
            let ids: BTreeSet<&str> = found().map(|j| j.finding.id.as_str()).collect();
            let gone = baseline.gone(&path, &looks_for, &ids);
            summary.baseline_gone = summary.baseline_gone.map(|n| n + gone);
            drawn.forget(&path, &looks_for);
            for judged in found().filter(|j| !matches!(j.state, State::Waived { .. })) {
                drawn.insert(&path, known(&judged.finding));
            }
        }
        for piece in &pieces {
            answer.add(piece)?;
        }
        for one in checked {
            summary.add(&one, threshold);
            out.stream(&line(&one))?;
            if keep {
                files.push(one);
            }
        }
        Ok::<(), CliError>(())
    })?;
    Ok(Run {
        files,
        summary,
        drawn,
        answer,
    })
}

fn line(checked: &Checked) -> serde_json::Value {
    let mut line = json!({"type": "file"});
    if let (Some(line), Ok(serde_json::Value::Object(mut file))) =
        (line.as_object_mut(), serde_json::to_value(checked))
    {
        line.append(&mut file);
    }
    line
}

fn known(finding: &Finding) -> Known {
    Known {
        id: finding.id.clone(),
        code: finding.code.clone(),
        node: finding.node.clone(),
    }
}

/// A code, or a family of codes, as it stands in findings.
fn meant(typed: &str) -> Result<String, CliError> {
    rules::meant(typed)
        .map_err(|unknown| CliError::usage(unknown.to_string()).hint(known_codes("")))
}

/// The codes that there are of a family; of an empty one all.
fn known_codes(family: &str) -> String {
    let mut codes: Vec<&str> = rules::all().map(|rule| rule.code).collect();
    codes.retain(|code| code.starts_with(family));
    codes.sort_unstable();
    format!("the codes are {}", codes.join(", "))
}

fn codes(typed: &[String]) -> Result<Vec<String>, CliError> {
    typed.iter().map(|code| meant(code)).collect()
}

/// Prints the page of a rule. A code may be given without its family when only one rule has the name.
fn explain(code: &str, out: &Output) -> Result<Exit, CliError> {
    let code = meant(code)?;
    let Some(rule) = rules::rule(&code) else {
        return Err(
            CliError::usage(format!("{code:?} is a family of codes")).hint(known_codes(&code))
        );
    };
    out.document(
        || fit::for_stdout(rule.page).into_owned(),
        || json!({"code": rule.code, "severity": rule.severity, "reason": rule.reason, "page": rule.page}),
    )
}

fn sources(args: &QaArgs) -> Result<Vec<Source>, CliError> {
    if args.fix && args.paths.iter().any(|p| p == Path::new("-")) {
        return Err(CliError::usage("stdin cannot be fixed in place").hint("name a file"));
    }
    if args.staged {
        return staged(args);
    }
    let sources = source::collect(&args.paths).map_err(|error| {
        CliError::usage(error.to_string()).hint("name a workflow file or a folder")
    })?;
    let Some(rev) = &args.changed_since else {
        return Ok(sources);
    };
    changed::since(rev, sources, git::PATIENCE).map_err(|error| of_git(&error, "--changed-since"))
}

/// What the next commit holds. Inside a hook git says which index that is.
fn staged(args: &QaArgs) -> Result<Vec<Source>, CliError> {
    if args.paths.iter().any(|p| p == Path::new("-")) {
        return Err(CliError::usage("stdin is not staged").hint("name a file or a folder"));
    }
    let index = std::env::var_os("GIT_INDEX_FILE").map(PathBuf::from);
    staged::sources(&args.paths, index.as_deref(), git::PATIENCE).map_err(|error| match error {
        StagedError::Git(error) => of_git(&error, "--staged"),
        StagedError::NotThere(_) => {
            CliError::usage(error.to_string()).hint("name a workflow file or a folder")
        }
        StagedError::NoIndex(_) => CliError::usage(error.to_string())
            .hint("unset GIT_INDEX_FILE, or start from the repository's folder as git does"),
    })
}

fn of_git(error: &GitError, option: &str) -> CliError {
    let hint = match error {
        GitError::NoRevision(_) => "in CI, fetch it first: a shallow clone knows only its own commit (actions/checkout: fetch-depth: 0)".to_owned(),
        GitError::Waits { .. } => format!("remove the pipe, or check files without {option}"),
        _ => format!("{option} needs git and a repository"),
    };
    CliError::usage(error.to_string()).hint(hint)
}

fn read_baseline(file: &Path, will_be_written: bool) -> Result<Baseline, CliError> {
    match read_given_text(file, source::MAX_BYTES) {
        Ok(text) => Baseline::read(&text)
            .map_err(|error| CliError::usage(format!("the baseline {}: {error}", file.display()))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && will_be_written => {
            Ok(Baseline::default())
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(CliError::usage(format!(
            "the baseline {} is not there",
            file.display()
        ))
        .hint("--write-baseline makes it from what is found now")),
        Err(e) => Err(CliError::io("read", file, &e)),
    }
}

fn folder_of(file: &Path) -> PathBuf {
    source::absolute(file)
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    shown.join(", ")
}

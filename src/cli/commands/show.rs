//! `show`: any workflow as a tree, a Mermaid chart, a picture or a page. Reads only; secrets are hidden before anything is drawn.

use crate::cli::args::ModelOptions;
use crate::cli::connection::{told, unreached};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::{Output, write_bytes};
use crate::cli::progress::{plain, plain_long};
use crate::cli::session::Session;
use crate::cli::{catalog_file, runtime, settings};
use agentctl_base::counted::counted;
use agentctl_base::shell;
use agentctl_n8n::{Finding, Severity, Workflow, catalog::Catalog, tree::tree};
use agentctl_n8n_tools::backend::{BackendError, BackendErrorKind};
use agentctl_n8n_tools::sync;
use agentctl_picture::{Style, Subject, mermaid, svg, workflow_page};
use agentctl_qa::check::{Check, Checked, FixMode, Outcome, State};
use agentctl_qa::document::workflows;
use agentctl_qa::source::{self, Source};
use clap::{Args, ValueEnum};
use console::style;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Show a workflow: as a tree, a chart for Markdown, a picture, or a page
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl show workflows/orders.json\n  agentctl show orders --format svg > orders.svg\n  agentctl show orders --format html > orders.html\n  agentctl show --name \"Daily report\" --format mermaid export.json\n\nA picture shows nodes where n8n shows them; a workflow whose nodes have no places of their own is laid out anew. What `agentctl qa` finds is marked on its node."
)]
pub struct ShowArgs {
    /// A workflow file (`-`: stdin), or a workflow of the project or of the connected n8n, by id or name
    #[arg(value_name = "FILE|ID")]
    pub what: String,
    /// What it is shown as, on stdout
    #[arg(long, value_name = "FORMAT", default_value = "tree")]
    pub format: Format,
    /// The workflow of this name, of an export that holds several
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines of text
    Tree,
    /// A flow chart for Markdown
    Mermaid,
    /// A picture, light or dark as its reader likes
    Svg,
    /// A page in one file: picture, findings, text
    Html,
}

/// A workflow with what was found in it.
struct Shown {
    workflow: Workflow,
    findings: Vec<Finding>,
}

impl Shown {
    fn subject(&self, catalog: &'static Catalog) -> Subject<'_> {
        Subject {
            workflow: &self.workflow,
            catalog,
            findings: &self.findings,
        }
    }
}

pub fn show(root: &Path, args: &ShowArgs, out: &Output) -> Result<Exit, CliError> {
    let held = match is_file(&args.what) {
        true => {
            let source = Source::named(Path::new(&args.what));
            let text = source::read(&source).map_err(|fault| wrong(&source, &fault))?;
            Source::held(source.path, text)
        }
        false => {
            stored(root, &args.what, out).map_err(|error| folder(&args.what).unwrap_or(error))?
        }
    };
    let catalog = catalog_file::of(root, out)?;
    let found = named(all(root, &held, catalog, out)?, args)?;
    if args.format != Format::Tree && found.len() > 1 {
        let names: Vec<String> = found.iter().map(|one| plain(one.workflow.name())).collect();
        let shown = plain_long(&args.what);
        return Err(CliError::usage(format!(
            "{shown} holds {} workflows, and a picture shows one: {}",
            names.len(),
            names.join(", ")
        ))
        .hint("name one with --name"));
    }
    let drawn: Vec<String> = found
        .iter()
        .map(|one| draw(one, args.format, catalog))
        .collect::<Result<_, _>>()?;
    if out.is_text() && args.format != Format::Tree {
        // It holds no secret any more, and a policy's hash must stay as it is.
        write_bytes(drawn.concat().as_bytes())?;
        return Ok(Exit::Complete);
    }
    out.answer(
        Exit::Complete,
        || {
            let both = found.iter().zip(&drawn);
            let parts: Vec<String> = both.map(|(one, tree)| told_of(one, tree)).collect();
            parts.join("\n")
        },
        || json!({"workflows": found.iter().zip(&drawn).map(|(one, drawn)| listed(one, args.format, drawn)).collect::<Vec<_>>()}),
    )
}

/// That a folder was named, of which no picture is made.
fn folder(what: &str) -> Option<CliError> {
    let shown = plain_long(what);
    Path::new(what).is_dir().then(|| {
        CliError::usage(format!("{shown} is a folder, and one workflow is shown")).hint(format!(
            "name a file in it; agentctl qa {} checks them all",
            shell::word(what)
        ))
    })
}

/// What is there, or looks like the name of a file.
fn is_file(what: &str) -> bool {
    what == "-" || what.ends_with(".json") || Path::new(what).is_file()
}

/// A workflow that the project's backend keeps, as `qa --workflow` reads it.
fn stored(root: &Path, named: &str, out: &Output) -> Result<Source, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = session.n8n()?.backend();
    let found = runtime::block_on(async {
        let id = backend.resolve(named).await?;
        let stored = backend.get(&id).await;
        backend.close().await;
        stored
    })?;
    let stored = found.map_err(|error| told(exit_of(&error), error))?;
    let text = sync::file(&stored, true, None);
    Ok(Source::held(PathBuf::from(&stored.id.0), text))
}

fn exit_of(error: &BackendError) -> Exit {
    match error.kind {
        BackendErrorKind::Unavailable => unreached(error),
        BackendErrorKind::NotFound | BackendErrorKind::Rejected => Exit::Usage,
        _ => Exit::Failed,
    }
}

fn wrong(source: &Source, fault: &source::Fault) -> CliError {
    let (path, place) = (source.shown(), fault.place);
    CliError::usage(format!(
        "{}:{}:{}: {}",
        plain_long(&path),
        place.line,
        place.column,
        plain_long(&fault.message)
    ))
    .hint("name a workflow file, or a workflow by id or name")
}

/// The workflows of a text, each with what is open in it.
fn all(
    root: &Path,
    held: &Source,
    catalog: &'static Catalog,
    out: &Output,
) -> Result<Vec<Shown>, CliError> {
    let read = source::read(held).and_then(|text| source::parse(&text));
    let document = read.map_err(|fault| wrong(held, &fault))?;
    let waivers = settings::waivers(root)?;
    let check = Check {
        catalog,
        only: &[],
        ignore: &[],
        baseline: None,
        baseline_root: PathBuf::new(),
        waivers: &waivers,
        waiver_root: root.to_owned(),
        today: jiff::Zoned::now().date(),
        fix: FixMode::Off,
    };
    let checked = match check.one(held) {
        Outcome::Checked(checked) => checked,
        Outcome::Skipped(_) => Vec::new(),
    };
    let redactor = out.redactor();
    let mut shown = Vec::new();
    for ((_, document), checked) in workflows(&document).zip(checked) {
        let hidden: Value = redactor.strings(document.clone());
        let workflow = Workflow::from_value(hidden).map_err(|e| {
            let path = plain_long(&held.shown());
            CliError::usage(format!("{path} is no workflow: {e}"))
        })?;
        let findings = open(checked)
            .map(|finding| finding.rewritten(|text| redactor.text(text)))
            .collect();
        shown.push(Shown { workflow, findings });
    }
    Ok(shown)
}

fn open(checked: Checked) -> impl Iterator<Item = Finding> {
    let open = checked
        .findings
        .into_iter()
        .filter(|j| j.state == State::Open);
    open.map(|judged| judged.finding)
}

/// Those that are meant.
fn named(found: Vec<Shown>, args: &ShowArgs) -> Result<Vec<Shown>, CliError> {
    let Some(name) = &args.name else {
        return Ok(found);
    };
    let names: Vec<String> = found.iter().map(|one| plain(one.workflow.name())).collect();
    let mut found = found;
    found.retain(|one| one.workflow.name() == name);
    match found.len() {
        0 => Err(CliError::usage(format!("no workflow is called {name:?}"))
            .hint(format!("there are: {}", names.join(", ")))),
        _ => Ok(found),
    }
}

fn draw(one: &Shown, format: Format, catalog: &'static Catalog) -> Result<String, CliError> {
    let subject = one.subject(catalog);
    let drawn = match format {
        Format::Tree => Ok(tree(&one.workflow, Some(catalog))),
        Format::Mermaid => Ok(mermaid(subject)),
        Format::Svg => svg(subject, Style::Alone),
        Format::Html => workflow_page(subject),
    };
    drawn.map_err(|e| {
        let name = plain(one.workflow.name());
        CliError::usage(format!("{name}: {e}")).hint("--format tree shows its beginning")
    })
}

fn told_of(one: &Shown, tree: &str) -> String {
    let nodes = one.workflow.nodes.iter().filter(|n| !n.is_sticky()).count();
    let count = |wanted| one.findings.iter().filter(|f| f.severity == wanted).count();
    format!(
        "{} ({})\n\n{tree}\n{}, {}\n",
        style(plain(one.workflow.name())).bold(),
        counted(nodes, "node"),
        counted(count(Severity::Error), "error"),
        counted(count(Severity::Warning), "warning")
    )
}

fn listed(one: &Shown, format: Format, drawn: &str) -> Value {
    let format = format.to_possible_value();
    json!({
        "name": one.workflow.name(),
        "nodes": one.workflow.nodes.iter().filter(|n| !n.is_sticky()).count(),
        "format": format.map(|f| f.get_name().to_owned()),
        "shown": drawn,
        "findings": one.findings,
    })
}

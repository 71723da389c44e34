//! `agentctl tools`: the tools of a pack's own files, and the guard of replies.

mod calls;
mod find;

use crate::cli::args::ModelOptions;
use crate::cli::declared::{self, Means};
use crate::cli::error::{CliError, Exit};
use crate::cli::other_packs::OtherPacks;
use crate::cli::output::{Output, write_bytes};
use crate::cli::progress::plain_long;
use crate::cli::remote;
use crate::cli::session::{connected, foreign_tools, load_pack, talks_with_packs};
use crate::cli::settings;
use agentctl_base::counted::counted;
use agentctl_base::untrusted;
use agentctl_engine::pack::{DeclaredTool, Pack};
use agentctl_kit::guard::{Became, Evidence, knows_act, label_alone};
use agentctl_tools::{Packs, Tools};
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The tools that a pack's files declare
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  agentctl tools list --pack my-pack\n  agentctl tools check --pack my-pack\n  agentctl tools test --pack my-pack"
)]
pub enum ToolsCommand {
    /// The tools of the pack, with what kind each is and whether it is the real one here
    #[command(after_help = "Example:\n  agentctl tools list --pack my-pack")]
    List,
    /// One tool as models are told of it, and what its file says besides
    #[command(after_help = "Example:\n  agentctl tools show my_tool --pack my-pack")]
    Show(ShowArgs),
    /// Look at the tool files: mistakes, descriptions that say too little, and variables that are not set
    #[command(
        after_help = "Examples:\n  agentctl tools check --pack my-pack\n  agentctl tools check --pack my-pack --strict\n\nExit code 0, also with remarks; with --strict 1 where a file gives cause for one. 2: a mistake in a file."
    )]
    Check(CheckArgs),
    /// Make the calls of the tools' tests.yaml, and say which came to what it says
    #[command(
        after_help = "Examples:\n  agentctl tools test --pack my-pack\n  AGENTCTL_TOOLS=real agentctl tools test my_tool --pack my-pack\n\nMock data answers unless AGENTCTL_TOOLS=real; a call that changes something real is left out without --yes.\nExit code 0: all came to what they should; 1: one did not; 2: a mistake in a file."
    )]
    Test(calls::TestArgs),
    /// Make one call of a tool, outside of any run
    #[command(
        after_help = "Example:\n  agentctl tools call my_tool --pack my-pack --arg query=leave --bind userID=me\n\nAn argument is text, or JSON where it begins with a bracket, a quotation mark or a digit. What a tool requires before is called with --after.\nExit code 0: it answered; 1: it failed, or nobody knows; 5: it was refused."
    )]
    Call(calls::CallArgs),
    /// Which tool fits a need best: by its words, its health, and what came of its calls
    #[command(
        after_help = "Example:\n  agentctl tools discover \"open tickets\" --pack my-pack --explain"
    )]
    Discover(find::DiscoverArgs),
    /// What came of each tool's calls in this project's runs
    #[command(after_help = "Example:\n  agentctl tools stats --pack my-pack")]
    Stats,
    /// Read sentences of replies with the calls behind them (JSON lines on stdin), and say of each whether it may be said
    #[command(
        after_help = "Example:\n  agentctl tools guard < sentences.jsonl\n\nA line in: {\"id\", \"sentence\", \"evidence\": [{\"tool\", \"effect\": \"reads|changes\", \"status\": \"ok|failed|refused|unknown\", \"result\" or \"error\"}]}\nWith \"description\" or \"acts\": [\"book\"] a call says what its tool does where the name does not.\nA line out: {\"id\", \"label\": \"promise|unsupported_act|contradicts_failure|fine\"}"
    )]
    Guard,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Fail where a file gives cause for a remark; what is missing on this machine is told, and is no fault of a file
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    #[arg(value_name = "TOOL")]
    pub tool: String,
}

pub fn tools(root: &Path, command: &ToolsCommand, out: &Output) -> Result<Exit, CliError> {
    match command {
        ToolsCommand::Guard => guard(),
        ToolsCommand::List => list(root, out),
        ToolsCommand::Show(args) => show(root, &args.tool, out),
        ToolsCommand::Check(args) => check(root, args, out),
        ToolsCommand::Test(args) => calls::test(root, args, out),
        ToolsCommand::Call(args) => calls::call(root, args, out),
        ToolsCommand::Discover(args) => find::discover(root, args, out),
        ToolsCommand::Stats => find::stats(root, out),
    }
}

#[derive(Deserialize)]
struct Line {
    id: Value,
    sentence: String,
    #[serde(default)]
    evidence: Vec<LineOfEvidence>,
}

#[derive(Deserialize)]
struct LineOfEvidence {
    tool: String,
    /// What the tool's definition says of it.
    #[serde(default)]
    description: String,
    #[serde(default)]
    acts: Vec<String>,
    #[serde(default)]
    effect: String,
    status: String,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Option<Value>,
}

impl From<LineOfEvidence> for Evidence {
    fn from(of: LineOfEvidence) -> Evidence {
        Evidence {
            tool: of.tool,
            about: of.description,
            acts: of.acts,
            // What is not said changes something.
            changes: of.effect != "reads",
            became: Became::of(&of.status),
            result: match of.error {
                Some(error) => json!({"error": error}),
                None => of.result,
            },
        }
    }
}

fn guard() -> Result<Exit, CliError> {
    let text = std::io::read_to_string(std::io::stdin())
        .map_err(|e| CliError::failed(format!("cannot read stdin: {e}")))?;
    let mut told = String::new();
    for (at, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let line: Line = serde_json::from_str(line)
            .map_err(|e| CliError::usage(format!("line {}: {e}", at + 1)))?;
        let evidence: Vec<Evidence> = line.evidence.into_iter().map(Evidence::from).collect();
        let label = label_alone(&line.sentence, &evidence);
        told += &format!("{}\n", json!({"id": line.id, "label": label.name()}));
    }
    write_bytes(told.as_bytes())?;
    Ok(Exit::Complete)
}

/// The pack with its tools as they are made here.
fn made(root: &Path, out: &Output) -> Result<(Pack, Tools), CliError> {
    let pack = load_pack(root, out)?;
    let config = settings::of_project(root, out)?;
    let means = Means {
        servers: foreign_tools(root, &pack, &config, out)?.map(Arc::new),
        n8n: connected(root, &pack, &config, out)?.map(|(_, n8n)| n8n),
        agents: remote::of_tools(root, &pack, &config, out),
        packs: talks_with_packs(&pack).then(|| {
            let of = (pack.manifest.name.as_str(), 0);
            OtherPacks::new(of, root, &ModelOptions::offline(), out) as Arc<dyn Packs>
        }),
        root: Some(root),
        folder: None,
    };
    let tools = declared::made(&pack, &config, means)?;
    Ok((pack, tools))
}

/// `real`, `mock`, or what keeps it from being either.
fn stands(tool: &DeclaredTool, tools: &Tools) -> String {
    let mut mocked = tools.mocked().into_iter();
    match tools.keeps(tool.id) {
        Some(why) => format!("not called: {why}"),
        None if mocked.any(|mocked| mocked.tool == tool.id) => "mock".to_owned(),
        None => "real".to_owned(),
    }
}

fn list(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let (pack, tools) = made(root, out)?;
    out.answer(
        Exit::Complete,
        || {
            let lines = pack.tools.values().map(|tool| {
                let first = first_sentence(&tool.description);
                format!("{} [{}, {}] {}\n", tool.id, tool.kind.name(), stands(tool, &tools), plain_long(&first))
            });
            lines.collect()
        },
        || {
            let all = pack.tools.values().map(|tool| {
                json!({"tool_id": tool.id, "name": tool.name, "kind": tool.kind.name(), "changes": tool.changes, "stands": stands(tool, &tools), "description": tool.description})
            });
            json!({"tools": all.collect::<Vec<_>>()})
        },
    )
}

/// What a description begins with, wherever its lines end.
fn first_sentence(description: &str) -> String {
    let lines = description.lines().map(str::trim);
    let lines = lines.take_while(|line| !line.is_empty() && !line.starts_with('-'));
    let text = lines.collect::<Vec<_>>().join(" ");
    match text.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => text,
    }
}

fn named<'p>(pack: &'p Pack, name: &str) -> Result<&'p DeclaredTool, CliError> {
    pack.tools.get(name).ok_or_else(|| {
        let known: Vec<&str> = pack.tools.keys().map(String::as_str).collect();
        CliError::usage(format!("the pack has no tool {name:?}"))
            .hint(format!("its tools: {}", known.join(", ")))
    })
}

fn show(root: &Path, name: &str, out: &Output) -> Result<Exit, CliError> {
    let (pack, tools) = made(root, out)?;
    let tool = named(&pack, name)?;
    let bound: Vec<String> = (tool.bind.iter())
        .map(|(name, from)| format!("{name} = {}", from.source()))
        .collect();
    out.answer(
        Exit::Complete,
        || {
            format!(
                "{} ({}, {}, {})\n{}\nparameters: {}\nbound by the program: {}\nfile: {}\n{}",
                tool.id,
                tool.kind.name(),
                if tool.changes { "changes" } else { "reads" },
                stands(tool, &tools),
                untrusted::text(tool.description.trim_end()),
                tool.parameters,
                bound.join(", "),
                tool.file,
                tool.readme.as_ref().map_or_else(String::new, |text| format!("\n{}\n", untrusted::text(text.trim_end()))),
            )
        },
        || json!({"tool_id": tool.id, "kind": tool.kind.name(), "changes": tool.changes, "stands": stands(tool, &tools), "description": tool.description, "parameters": *tool.parameters, "bind": bound, "file": tool.file, "readme": tool.readme}),
    )
}

/// What a description has at least, in characters: what it does, and when to use it.
const LEAST: usize = 60;

/// What is to be said of a tool file that is no mistake.
fn remarks(tool: &DeclaredTool) -> Vec<String> {
    let mut remarks = Vec::new();
    let text = tool.description.to_lowercase();
    if tool.description.chars().count() < LEAST {
        remarks.push("the description is too short for a model to choose by: say what it does and when to use it".to_owned());
    } else if !["use ", "when", "call "]
        .iter()
        .any(|word| text.contains(word))
    {
        remarks.push("the description does not say when to use it".to_owned());
    }
    if tool.keywords.is_empty() {
        remarks.push("it has no keywords".to_owned());
    }
    for act in tool.acts.iter().filter(|act| !knows_act(act)) {
        remarks.push(format!(
            "acts: the guard of replies knows no verb {act:?}, so only that very word is taken for it"
        ));
    }
    if tool.readme.is_none() {
        remarks.push("its folder has no README.md that tells people about it".to_owned());
    }
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if schema.get("description").is_none() {
            remarks.push(format!("the parameter {name} has no description"));
        }
    }
    remarks
}

fn check(root: &Path, args: &CheckArgs, out: &Output) -> Result<Exit, CliError> {
    let (pack, tools) = made(root, out)?;
    let mut told: Vec<(String, String)> = Vec::new();
    let mut of_files = 0;
    for tool in pack.tools.values() {
        told.extend(
            remarks(tool)
                .into_iter()
                .map(|remark| (tool.file.clone(), remark)),
        );
        of_files += remarks(tool).len();
        let lacks = tools.lacks(tool.id);
        let why = match (&lacks, tools.keeps(tool.id)) {
            (Some(why), _) => Some(format!("{why}, so the real tool cannot be called here")),
            (None, why) => why,
        };
        told.extend(why.map(|why| (tool.file.clone(), why)));
        let refused = tools.refused(tool.id);
        told.extend(refused.map(|why| (tool.file.clone(), format!("each call is refused: {why}"))));
    }
    let exit = match args.strict && of_files > 0 {
        true => Exit::Failed,
        false => Exit::Complete,
    };
    out.answer(
        exit,
        || {
            let mut text: String = told
                .iter()
                .map(|(file, remark)| format!("{file}: {remark}\n"))
                .collect();
            text += &format!(
                "{}, {}\n",
                counted(pack.tools.len(), "tool"),
                counted(told.len(), "remark")
            );
            text
        },
        || {
            let all = told
                .iter()
                .map(|(file, remark)| json!({"file": file, "remark": remark}));
            json!({"tools": pack.tools.len(), "remarks": all.collect::<Vec<_>>()})
        },
    )
}

//! What can be typed next, for a shell that asks: run ids, workflow files, finding codes, packs, node types, schemas, learnings, roles. Which values an
//! argument takes is told by the name of its value in the help. It reads names only, believes no file, and never fails: where
//! nothing can be read, nothing is proposed.

use super::Cli;
use super::commands::{runs::list, schema};
use super::plain::plain;
use super::project;
use super::timeline::outcome;
use agentctl_engine::run;
use agentctl_knowledge::Learnings;
use agentctl_n8n::catalog::Catalog;
use agentctl_qa::rules;
use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{CompleteEnv, Shells};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Set by the script of `agentctl completions` when a shell asks.
const VARIABLE: &str = "AGENTCTL_COMPLETE";
const NAME: &str = "agentctl";
/// A list that is longer helps nobody who types.
const LONGEST: usize = 200;

/// Answers the shell, if one asks. `typed` is what it hands over: the program, `--`, and the words so far.
pub fn answer(typed: &[OsString]) -> clap::error::Result<bool> {
    let root = root(typed);
    let whole = || with_values(Cli::command(), &root);
    CompleteEnv::with_factory(whole)
        .var(VARIABLE)
        .try_complete(typed, std::env::current_dir().ok().as_deref())
}

/// The script that has a shell ask; None: it is no shell that is known.
pub fn script(shell: &str) -> std::io::Result<Option<Vec<u8>>> {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(shell) else {
        return Ok(None);
    };
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, NAME, NAME, NAME, &mut script)?;
    Ok(Some(script))
}

/// The project folder that the words so far name.
fn root(typed: &[OsString]) -> PathBuf {
    let given = typed.iter().enumerate().find_map(|(at, word)| {
        let word = word.to_str()?;
        match word.strip_prefix("--project") {
            Some("") => typed.get(at.saturating_add(1)).map(PathBuf::from),
            Some(rest) => rest.strip_prefix('=').map(PathBuf::from),
            None => None,
        }
    });
    given
        .or_else(|| std::env::var_os("AGENTCTL_PROJECT").map(PathBuf::from))
        .unwrap_or_else(|| PathBuf::from("."))
}

fn with_values(command: Command, root: &Path) -> Command {
    let command = command.mut_args(|arg| match values(&arg, root) {
        Some(values) => arg.add(ArgValueCompleter::new(values)),
        None => arg,
    });
    command.mut_subcommands(|below| with_values(below, root))
}

/// What the argument takes, by the name that its value has in the help.
fn values(arg: &Arg, root: &Path) -> Option<Values> {
    // What has a list of its own is completed by it.
    if !arg.get_possible_values().is_empty() {
        return None;
    }
    let list = match arg.get_value_names()?.first()?.as_str() {
        // A run that is served is a task, by the same id.
        "RUN" | "TASK" => runs,
        "STATUS" => standings,
        "SCHEMA" => schemas,
        "ENTRY" => learnings,
        "ROLE" => roles,
        "FILE|ID" | "ID|FILE" | "WORKFLOW" => files,
        "CODE" => codes,
        "PACK" | "PACK[/FLOW]" => packs,
        "TYPE" => types,
        _ => return None,
    };
    Some(Values {
        list,
        root: root.to_owned(),
    })
}

struct Values {
    list: fn(&Path, &OsStr) -> Vec<CompletionCandidate>,
    root: PathBuf,
}

impl ValueCompleter for Values {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let mut found = begun((self.list)(&self.root, current), current);
        found.truncate(LONGEST);
        // In the order of the list, not of the alphabet: the newest run comes first.
        let ordered = (0..).zip(found);
        let ordered = ordered.map(|(order, candidate)| candidate.display_order(Some(order)));
        ordered.collect()
    }
}

/// Those that begin with what is typed so far.
fn begun(mut all: Vec<CompletionCandidate>, current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.as_encoded_bytes();
    all.retain(|one| one.get_value().as_encoded_bytes().starts_with(current));
    all
}

fn runs(root: &Path, _: &OsStr) -> Vec<CompletionCandidate> {
    let found = project::open_here(root)
        .ok()
        .and_then(|p| run::list(&p).ok());
    let newest = found.unwrap_or_default().into_iter().rev();
    let candidates = newest.map(|run| {
        let told = match &run.broken {
            Some(_) => "unreadable".to_owned(),
            None => format!("{}: {}", outcome(run.outcome), plain(&run.request)),
        };
        proposed(run.run_id, told)
    });
    candidates.collect()
}

fn files(root: &Path, current: &OsStr) -> Vec<CompletionCandidate> {
    let below = root.strip_prefix(".").unwrap_or(root).join("workflows");
    let entries = std::fs::read_dir(root.join("workflows"))
        .into_iter()
        .flatten();
    // A name that would steer a terminal is not proposed.
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| name.ends_with(".json") && plain(name) == **name)
        .collect();
    names.sort_unstable();
    let paths = names.iter().map(|name| below.join(name));
    let paths = begun(paths.map(CompletionCandidate::new).collect(), current);
    match paths.is_empty() {
        // A file anywhere.
        true => PathCompleter::any().complete(current),
        false => paths,
    }
}

fn codes(_: &Path, _: &OsStr) -> Vec<CompletionCandidate> {
    let codes = rules::all().map(|rule| proposed(rule.code, rule.reason.to_owned()));
    codes.collect()
}

/// Those that come with the program, and the folders of the project that look like one.
fn packs(root: &Path, _: &OsStr) -> Vec<CompletionCandidate> {
    let names = crate::pack::seen(root);
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn standings(_: &Path, _: &OsStr) -> Vec<CompletionCandidate> {
    let all = list::standings().into_iter();
    all.map(CompletionCandidate::new).collect()
}

fn schemas(_: &Path, _: &OsStr) -> Vec<CompletionCandidate> {
    let all = schema::named().into_iter();
    all.map(|(name, of)| proposed(name, of)).collect()
}

fn learnings(root: &Path, _: &OsStr) -> Vec<CompletionCandidate> {
    let kept = Learnings::new(root);
    let entries = kept.all().map(|(entries, _)| entries).unwrap_or_default();
    let entries = entries.into_iter().rev().map(|e| (e.id, e.title));
    let patterns = kept.patterns().unwrap_or_default().into_iter();
    let all = entries.chain(patterns.map(|p| (p.id, p.title)));
    let harmless = all.filter(|(id, _)| plain(id) == *id);
    harmless
        .map(|(id, title)| proposed(id, plain(&title)))
        .collect()
}

/// Those of the built-in agents, and of files of the project that could be one.
fn roles(root: &Path, _: &OsStr) -> Vec<CompletionCandidate> {
    let names = crate::pack::roles_seen(root);
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn types(_: &Path, _: &OsStr) -> Vec<CompletionCandidate> {
    let types = Catalog::embedded().types();
    types.map(CompletionCandidate::new).collect()
}

fn proposed(value: impl Into<OsString>, told: String) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(StyledStr::from(told)))
}

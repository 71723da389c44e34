//! `agentctl orchestrators list|check|graph|new`: who of a pack works on a request, and in which order.

use crate::cli::commands::schema;
use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust;
use crate::cli::layout::words;
use crate::cli::output::Output;
use crate::cli::remote;
use crate::cli::session::{self, Which};
use crate::cli::settings;
use crate::config::Config;
use crate::pack::NoPack;
use agentctl_base::shell;
use agentctl_base::yaml;
use agentctl_engine::flow;
use agentctl_engine::nearest::nearest;
use agentctl_engine::pack::{LoadOptions, ORCHESTRATOR, Orchestrator, Pack, is_name};
use clap::Subcommand;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Orchestrators: which agents of a pack work on a request, and in which order
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  agentctl orchestrators list\n  agentctl orchestrators new mine.json\n  agentctl orchestrators check mine.json\n  agentctl orchestrators graph basic\n\nA pack with orchestrators is named by --pack; where only one has some, it need not be."
)]
pub enum OrchestratorsCommand {
    /// List them, with who may work in one
    #[command(after_help = "Example:\n  agentctl orchestrators list")]
    List,
    /// Check one of a pack, or a file; without a name all of all packs; every mistake with file and line
    #[command(
        after_help = "Examples:\n  agentctl orchestrators check\n  agentctl orchestrators check mine.json"
    )]
    Check {
        /// Its name, or a JSON file
        #[arg(value_name = "NAME|FILE")]
        name: Option<String>,
    },
    /// Draw one as a Mermaid diagram: the flow that it is run as
    #[command(after_help = "Example:\n  agentctl orchestrators graph mine.json > mine.mmd")]
    Graph {
        /// Its name, or a JSON file; default: the one in force
        #[arg(value_name = "NAME|FILE")]
        name: Option<String>,
    },
    /// Write a new file, as a copy of one of the pack's, to change
    #[command(after_help = "Example:\n  agentctl orchestrators new mine.json --like basic")]
    New {
        /// The file, which must not be there
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Which one is copied; default: the one in force
        #[arg(long, value_name = "NAME")]
        like: Option<String>,
    },
}

pub fn orchestrators(
    root: &Path,
    command: &OrchestratorsCommand,
    out: &Output,
) -> Result<Exit, CliError> {
    match command {
        OrchestratorsCommand::List => list(root, out),
        OrchestratorsCommand::Check { name: None } => check_all(root, out),
        OrchestratorsCommand::Check { name: Some(name) } => {
            folder_trust::needs_pack(root, out)?;
            let pack = with(root, Some(name), out)?;
            agents_are_known(root, name, &pack, out)?;
            told(&[(pack.manifest.name, vec![name.clone()])], out)
        }
        OrchestratorsCommand::Graph { name } => {
            let pack = with(root, name.as_deref(), out)?;
            let graph = pack.flows.get(ORCHESTRATOR);
            let graph = graph.map_or_else(String::new, |loaded| flow::mermaid(&loaded.flow));
            out.document(|| graph.clone(), || json!({"mermaid": graph}))
        }
        OrchestratorsCommand::New { file, like } => new(root, file, like.as_deref(), out),
    }
}

/// Each agent elsewhere has to be one of the settings.
fn agents_are_known(root: &Path, name: &str, pack: &Pack, out: &Output) -> Result<(), CliError> {
    let wrong = unknown_agents(name, pack, &settings::of_project(root, out)?);
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(CliError::usage(wrong.join("\n")).hint(
            "say where it is: [a2a.agents.NAME] url = \"https://…\" in agentctl.toml or your own config.toml (docs/a2a.md)",
        )),
    }
}

/// The agents elsewhere of a pack's orchestrator that the settings do not describe, with their places in the file.
fn unknown_agents(name: &str, pack: &Pack, config: &Config) -> Vec<String> {
    let unknown = remote::unknown(pack, config);
    let chosen = pack.orchestrator.as_ref();
    let Some(Ok(file)) = chosen.map(|chosen| yaml::read(&chosen.text, name)) else {
        return Vec::new();
    };
    let known = || config.agents.keys().map(String::as_str);
    let wrong = file.entries("agents").iter().filter_map(|agent| {
        let named = agent.value.get("a2a")?;
        let elsewhere = named.as_text().filter(|name| unknown.contains(name))?;
        let place = named.place;
        Some(format!(
            "{name}:{}:{}: the settings describe no agent {elsewhere:?}{}",
            place.line,
            place.column,
            nearest(elsewhere, known())
        ))
    });
    wrong.collect()
}

/// The packs that have orchestrators, each with its own in force, and what is wrong with those that cannot be read.
fn teams(root: &Path, options: &LoadOptions) -> Result<(Vec<Pack>, Vec<String>), CliError> {
    let (mut teams, mut broken) = (Vec::new(), Vec::new());
    for name in crate::pack::names(root, options) {
        match crate::pack::named(&name, root, options) {
            Ok(pack) if pack.orchestrator.is_some() => teams.push(pack),
            Ok(_) => {}
            Err(error @ NoPack::Errors { .. }) => broken.push(error.to_string()),
            Err(error) => return Err(session::no_pack(&error)),
        }
    }
    Ok((teams, broken))
}

/// The same, where a broken pack does not hide the others.
fn sound_teams(root: &Path, out: &Output) -> Result<Vec<Pack>, CliError> {
    let (teams, broken) = teams(root, &session::load_options(root, out)?)?;
    for error in broken {
        out.note(&format!("warning: a pack is left out: {error}"));
    }
    Ok(teams)
}

/// The pack that is meant, with the orchestrator that is named.
fn with(root: &Path, name: Option<&str>, out: &Output) -> Result<Pack, CliError> {
    let pack = match &out.pack {
        Some(named) => named.clone(),
        None => only(&sound_teams(root, out)?)?,
    };
    let chosen = name.map_or(Which::AsSet, |name| Which::Named(name.to_owned()));
    let pack = session::pack_with(root, &pack, &chosen, out)?;
    match pack.orchestrator {
        Some(_) => Ok(pack),
        None => Err(CliError::usage(format!(
            "the pack {} has no orchestrators",
            pack.manifest.name
        ))
        .hint("agentctl orchestrators list names those of all packs")),
    }
}

fn only(teams: &[Pack]) -> Result<String, CliError> {
    let names: Vec<&str> = (teams.iter())
        .map(|pack| pack.manifest.name.as_str())
        .collect();
    match names.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(CliError::usage("no pack has orchestrators")
            .hint("a pack says who may work in one: docs/orchestrators.md")),
        several => Err(CliError::usage(format!(
            "several packs have orchestrators: {}",
            several.join(", ")
        ))
        .hint("--pack names one")),
    }
}

/// The one that works where none is named.
fn default(pack: &Pack) -> Option<&str> {
    let chosen = pack.orchestrator.as_ref()?.chosen.as_deref();
    let own = pack.manifest.orchestrators.as_ref();
    chosen.or(own.map(|own| own.default.as_str()))
}

fn agents(pack: &Pack) -> &[String] {
    let in_force = pack.orchestrator.as_ref();
    in_force.map_or(&[], |in_force| in_force.agents.as_slice())
}

fn list(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let teams = sound_teams(root, out)?;
    out.answer(
        Exit::Complete,
        || {
            let rows = teams.iter().map(|pack| {
                let names = pack.orchestrators.iter().map(|name| {
                    let mark = if default(pack) == Some(name) { " (default)" } else { "" };
                    format!("{name}{mark}")
                });
                let names: Vec<String> = names.collect();
                let agents = agents(pack).join(", ");
                [pack.manifest.name.clone(), format!("{}; agents: {agents}", names.join(", "))]
            });
            words(rows)
        },
        || {
            let packs = teams.iter().map(|pack| {
                json!({"pack": pack.manifest.name, "orchestrators": pack.orchestrators, "default": default(pack), "agents": agents(pack)})
            });
            json!({"packs": packs.collect::<Vec<Value>>()})
        },
    )
}

/// The mistakes of all orchestrators of a pack; with settings the agents elsewhere that these do not describe, too.
pub(super) fn faults(
    root: &Path,
    pack: &Pack,
    options: &LoadOptions,
    settings: Option<&Config>,
) -> Result<Vec<String>, CliError> {
    let mut faults = Vec::new();
    for name in &pack.orchestrators {
        let mut options = options.clone();
        let of = pack.manifest.name.clone();
        let chosen = Orchestrator::Named(name.clone());
        options.orchestrators.insert(of.clone(), chosen);
        match crate::pack::named(&of, root, &options) {
            Ok(pack) => {
                let file = format!("{of}/orchestrators/{name}.json");
                faults.extend(
                    settings
                        .into_iter()
                        .flat_map(|settings| unknown_agents(&file, &pack, settings)),
                );
            }
            Err(error @ NoPack::Errors { .. }) => faults.push(error.to_string()),
            Err(error) => return Err(session::no_pack(&error)),
        }
    }
    Ok(faults)
}

fn check_all(root: &Path, out: &Output) -> Result<Exit, CliError> {
    folder_trust::needs_pack(root, out)?;
    let options = session::load_options(root, out)?;
    let settings = settings::of_project(root, out)?;
    let mut sound = Vec::new();
    let (teams, mut wrong) = teams(root, &options)?;
    for pack in teams {
        wrong.extend(faults(root, &pack, &options, Some(&settings))?);
        sound.push((pack.manifest.name, pack.orchestrators));
    }
    match wrong.is_empty() {
        true => told(&sound, out),
        false => Err(CliError::usage(wrong.join("\n"))),
    }
}

fn told(sound: &[(String, Vec<String>)], out: &Output) -> Result<Exit, CliError> {
    out.answer(
        Exit::Complete,
        || {
            let lines = sound
                .iter()
                .map(|(pack, names)| format!("{pack}: {}: no mistakes\n", names.join(", ")));
            lines.collect()
        },
        || {
            let checked = sound
                .iter()
                .map(|(pack, names)| json!({"pack": pack, "orchestrators": names}));
            json!({"checked": checked.collect::<Vec<Value>>()})
        },
    )
}

fn new(root: &Path, file: &Path, like: Option<&str>, out: &Output) -> Result<Exit, CliError> {
    let shown = file.display();
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let id = stem.filter(|id| is_name(id) && file.extension().is_some_and(|end| end == "json"));
    let id = id.ok_or_else(|| {
        CliError::usage(format!("{shown} is no name for an orchestrator"))
            .hint("take one like mine.json: a-z, 0-9, - and _")
    })?;
    let pack = with(root, like, out)?;
    let text = pack.orchestrator.as_ref();
    let text = renamed(text.map_or("", |in_force| in_force.text.as_str()), id);
    let text = match schema::named_in(file, "orchestrator").filter(|_| root == Path::new(".")) {
        Some(named) if !text.contains("\"$schema\"") => {
            schema::put_beside(root, &["orchestrator"])?;
            text.replacen('{', &format!("{{\n  \"$schema\": \"{named}\","), 1)
        }
        _ => text,
    };
    let made = std::fs::File::create_new(file).and_then(|mut file| file.write_all(text.as_bytes()));
    made.map_err(|e| CliError::usage(format!("cannot write {shown}: {e}")))?;
    let pack = &pack.manifest.name;
    out.answer(
        Exit::Complete,
        || {
            format!(
                "{shown} is written; change it, then\n  agentctl orchestrators check {file}\n  agentctl run {pack} \"…\" --orchestrator {file}\n",
                file = shell::word(&shown.to_string())
            )
        },
        || json!({"file": shown.to_string(), "pack": pack}),
    )
}

/// The same file with another id.
fn renamed(text: &str, id: &str) -> String {
    let read = serde_json::from_str::<Value>(text).ok();
    let old = read.as_ref().and_then(|file| file.get("id")?.as_str());
    old.map_or_else(
        || text.to_owned(),
        |old| text.replacen(&format!("\"{old}\""), &format!("\"{id}\""), 1),
    )
}

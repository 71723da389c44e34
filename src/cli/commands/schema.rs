//! `agentctl schema [NAME]`: JSON Schemas of what agentctl prints and reads, for programs that read or write it. They are the files of
//! `docs/schemas`: what a schema is of stands in its own `title`, and which commands print it in its `x-commands`.

use crate::cli::error::{CliError, Exit};
use crate::cli::layout::words;
use crate::cli::output::Output;
use agentctl_engine::nearest::nearest;
use agentctl_host::files::{Existing, Files as Written};
use clap::Args;
use rust_embed::RustEmbed;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// Print the JSON Schema of an answer or a file, for programs that read or write it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl schema\n  agentctl schema qa > qa.schema.json\n  agentctl schema \"runs list\"\n\nSCHEMA may be the command that prints it, in quotes. The same files stand in docs/schemas. Keys that a schema does not name may come in a later version where it says so; names and meanings stay."
)]
pub struct SchemaArgs {
    /// Which one; without it they are listed
    #[arg(value_name = "SCHEMA")]
    name: Option<String>,
}

#[derive(RustEmbed)]
#[folder = "docs/schemas/"]
struct Files;

/// Where an editor finds the schemas that files of a project name; in git they go along with these.
const BESIDE: &str = "memory/schemas";

/// Puts these schemas where files of the project name them; what is there as it should be is left. The paths that are new.
pub fn put_beside(root: &Path, names: &[&str]) -> Result<Vec<PathBuf>, CliError> {
    let files = Written::open(root).map_err(|e| CliError::failed(e.to_string()))?;
    let mut new = Vec::new();
    for name in names {
        let file = format!("{name}.schema.json");
        let Some(found) = Files::get(&file) else {
            continue;
        };
        let path = Path::new(BESIDE).join(file);
        let whole = root.join(&path);
        if std::fs::read(&whole).is_ok_and(|there| there == *found.data) {
            continue;
        }
        files
            .write(&path, &found.data, Existing::Replace)
            .map_err(|e| CliError::failed(e.to_string()))?;
        new.push(whole);
    }
    Ok(new)
}

/// How a file of the project (its path seen from there) names its schema; None: the path leads out of the project.
pub fn named_in(file: &Path, schema: &str) -> Option<String> {
    let plain = |part: Component<'_>| match part {
        Component::Normal(_) => Some(1),
        Component::CurDir => Some(0),
        _ => None,
    };
    let depth: Option<Vec<usize>> = file.components().map(plain).collect();
    let above = depth?.iter().sum::<usize>().saturating_sub(1);
    let up = "../".repeat(above);
    Some(format!("{up}{BESIDE}/{schema}.schema.json"))
}

/// The first line of a YAML file, by which an editor knows its schema.
pub fn line_in(file: &Path, schema: &str) -> String {
    named_in(file, schema).map_or_else(String::new, |named| {
        format!("# yaml-language-server: $schema={named}\n")
    })
}

/// Their names, each with what it is of; nothing where one cannot be read.
pub fn named() -> Vec<(String, String)> {
    let all = all().unwrap_or_default().into_iter();
    let named = |one: Published| (one.name.clone(), one.title().to_owned());
    all.map(named).collect()
}

/// One that is published.
struct Published {
    name: String,
    text: String,
    schema: Value,
}

impl Published {
    /// What it is of.
    fn title(&self) -> &str {
        let title = self.schema.get("title").and_then(Value::as_str);
        title.unwrap_or_default()
    }

    /// The commands whose answer with `--output-format json` it describes.
    fn commands(&self) -> Vec<&str> {
        let listed = self.schema.get("x-commands").and_then(Value::as_array);
        let listed = listed.into_iter().flatten();
        listed.filter_map(Value::as_str).collect()
    }
}

/// All, by name.
fn all() -> Result<Vec<Published>, CliError> {
    let broken = |name: &str| CliError::new(Exit::Internal, format!("the schema {name} is broken"));
    let mut all = Vec::new();
    for file in Files::iter() {
        let Some(name) = file.strip_suffix(".schema.json") else {
            continue;
        };
        let found = Files::get(&file).ok_or_else(|| broken(name))?;
        let text = String::from_utf8(found.data.into_owned()).map_err(|_| broken(name))?;
        let schema = serde_json::from_str(&text).map_err(|_| broken(name))?;
        all.push(Published {
            name: name.to_owned(),
            text,
            schema,
        });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

pub fn schema(args: &SchemaArgs, out: &Output) -> Result<Exit, CliError> {
    let all = all()?;
    let Some(name) = &args.name else {
        let row = |one: &Published| [one.name.clone(), one.title().to_owned()];
        let listed = |one: &Published| json!({"name": one.name, "of": one.title(), "commands": one.commands()});
        return out.answer(
            Exit::Complete,
            || words(all.iter().map(row)),
            || json!({"schemas": all.iter().map(listed).collect::<Vec<_>>()}),
        );
    };
    let is_meant = |one: &&Published| one.name == *name || one.commands().contains(&name.as_str());
    let Some(found) = all.iter().find(is_meant) else {
        let near = nearest(name, all.iter().map(|one| one.name.as_str()));
        return Err(
            CliError::usage(format!("there is no schema {name:?}{near}"))
                .hint("agentctl schema lists them, each with what it is of"),
        );
    };
    out.document(|| found.text.clone(), || found.schema.clone())
}

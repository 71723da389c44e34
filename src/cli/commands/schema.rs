//! `agentctl schema [NAME]`: JSON Schemas of what agentctl prints and reads, for programs that read or write it.

use crate::cli::error::{CliError, Exit};
use crate::cli::layout::words;
use crate::cli::output::Output;
use agentctl_engine::nearest::nearest;
use clap::Args;
use serde_json::{Value, json};

/// Print the JSON Schema of an answer or a file, for programs that read or write it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl schema\n  agentctl schema qa > qa.schema.json\n\nThe same files stand in docs/schemas. Keys that a schema does not name may come in a later version where it says so; names and meanings stay."
)]
pub struct SchemaArgs {
    /// Which one; without it they are listed
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

struct Published {
    name: &'static str,
    of: &'static str,
    text: &'static str,
}

/// The schema of this file below docs, under this name.
macro_rules! published {
    ($name:literal, $of:literal, $file:literal) => {
        Published {
            name: $name,
            of: $of,
            text: include_str!(concat!("../../../docs/", $file, ".schema.json")),
        }
    };
}

const ALL: &[Published] = &[
    published!(
        "a2a-envelope",
        "a message of the envelope at the A2A door of serve",
        "schemas/a2a-envelope"
    ),
    published!("answers", "a file for --answers", "schemas/answers"),
    published!(
        "build",
        "build, resume, answer, status with --output-format json",
        "schemas/build"
    ),
    published!(
        "events",
        "a line of build, resume, answer with --output-format stream-json",
        "events"
    ),
    published!(
        "flow",
        "agents/flow.yaml and agents/NAME.flow.yaml",
        "schemas/flow"
    ),
    published!(
        "orchestrator",
        "a file for run --orchestrator",
        "schemas/orchestrator"
    ),
    published!("pack", "pack.yaml", "schemas/pack"),
    published!("policy", "agents/policy.yaml", "schemas/policy"),
    published!("qa", "qa with --output-format json", "schemas/qa"),
    published!(
        "runs",
        "runs list with --output-format json",
        "schemas/runs"
    ),
    published!(
        "settings",
        "agentctl.toml, and the user's own config.toml",
        "schemas/settings"
    ),
    published!("show", "show with --output-format json", "schemas/show"),
    published!("tool", "tools/NAME/tool.yaml of a pack", "schemas/tool"),
    published!("usage", "usage with --output-format json", "schemas/usage"),
];

pub fn schema(args: &SchemaArgs, out: &Output) -> Result<Exit, CliError> {
    let Some(name) = &args.name else {
        let row = |one: &Published| [one.name.to_owned(), one.of.to_owned()];
        let listed = |one: &Published| json!({"name": one.name, "of": one.of});
        return out.answer(
            Exit::Complete,
            || words(ALL.iter().map(row)),
            || json!({"schemas": ALL.iter().map(listed).collect::<Vec<_>>()}),
        );
    };
    let Some(found) = ALL.iter().find(|one| one.name == name) else {
        let near = nearest(name, ALL.iter().map(|one| one.name));
        let names: Vec<&str> = ALL.iter().map(|one| one.name).collect();
        return Err(
            CliError::usage(format!("there is no schema {name:?}{near}"))
                .hint(format!("there are: {}", names.join(", "))),
        );
    };
    out.document(
        || found.text.to_owned(),
        || serde_json::from_str(found.text).unwrap_or(Value::Null),
    )
}

//! `agentctl packs export`: a pack as workflows of n8n, in a folder, and from there on the n8n that is connected.

use crate::cli::catalog_file;
use crate::cli::commands::pull::read;
use crate::cli::commands::push::{self, PushArgs};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::session;
use agentctl_host::files::write_atomic;
use agentctl_n8n_tools::export::{Account, Accounts, Exported, keep, rewire, workflows};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Target {
    N8n,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Its name
    #[arg(value_name = "PACK")]
    pack: String,
    /// What it becomes
    #[arg(long, value_enum, default_value = "n8n")]
    to: Target,
    /// The folder for the workflows; files of the same names in it are written anew, with the credentials that their nodes have
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Write the value of a variable into the workflows, which otherwise read it from n8n's environment
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// Connect the nodes that ask for a credential of this type with the one that has this id on your n8n
    #[arg(long, value_name = "TYPE=ID[:NAME]", value_parser = account)]
    credential: Vec<(String, Account)>,
    /// Send them to the connected n8n as well, each as `agentctl push` would
    #[arg(long)]
    push: bool,
    /// With --push: over what was changed on n8n since the file was pushed or pulled
    #[arg(long, requires = "push")]
    force: bool,
    /// With --push: allow what a guard would ask: wipe, publish, credentials
    #[arg(long, value_name = "GUARD", value_parser = ["wipe", "publish", "credentials"], requires = "push")]
    allow: Vec<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it is not NAME=VALUE".to_owned()),
    }
}

fn account(text: &str) -> Result<(String, Account), String> {
    let (credential_type, value) = pair(text).map_err(|_| "it is not TYPE=ID or TYPE=ID:NAME")?;
    let (id, name) = value.split_once(':').unwrap_or((&value, &value));
    match [id, name].iter().any(|part| part.trim().is_empty()) {
        true => Err("it is not TYPE=ID or TYPE=ID:NAME".to_owned()),
        false => Ok((
            credential_type,
            Account {
                id: id.to_owned(),
                name: name.to_owned(),
            },
        )),
    }
}

/// A file that was written, and what its push came to.
struct Written {
    file: PathBuf,
    pushed: Option<push::Pushed>,
}

pub(super) fn export(root: &Path, args: &ExportArgs, out: &Output) -> Result<Exit, CliError> {
    let Target::N8n = args.to;
    let pack = session::named_pack(root, &args.pack, out)?;
    let set: BTreeMap<String, String> = args.set.iter().cloned().collect();
    let exported = workflows(&pack, &set).map_err(|e| CliError::usage(e.to_string()))?;
    let mut by_type = BTreeMap::new();
    for (kind, account) in &args.credential {
        if by_type.insert(kind.clone(), account.clone()).is_some() {
            return Err(
                CliError::usage(format!("--credential names two of the type {kind}")).hint(
                    "one of a type is for all nodes that ask for it; another one is chosen in n8n",
                ),
            );
        }
    }
    let accounts = Accounts {
        by_type,
        catalog: catalog_file::of(root, out)?,
    };
    accounts
        .all_asked_for(&exported)
        .map_err(|e| CliError::usage(e.to_string()))?;
    std::fs::create_dir_all(&args.dir).map_err(|e| CliError::io("make", &args.dir, &e))?;
    // The id that the pack gives a workflow, and the one that it has.
    let mut ids = BTreeMap::new();
    let mut written = Vec::new();
    for one in exported.workflows {
        written.push(write(root, args, one, (&mut ids, &accounts), out)?);
    }
    for why in &exported.left_out {
        out.note(&format!("left out: {why}"));
    }
    answer(args, &written, &exported.left_out, out)
}

/// Those that are called come first, so the one that calls them knows their ids.
fn write(
    root: &Path,
    args: &ExportArgs,
    one: Exported,
    (ids, accounts): (&mut BTreeMap<String, String>, &Accounts),
    out: &Output,
) -> Result<Written, CliError> {
    let Exported { file, mut workflow } = one;
    let file = args.dir.join(file);
    let own = workflow.get("id").and_then(Value::as_str);
    let own = own.unwrap_or_default().to_owned();
    rewire(&mut workflow, ids);
    let before = read(&file)?;
    let follows = before.as_ref().is_some_and(|local| local.base.is_some());
    if let Some(before) = &before {
        keep(&mut workflow, before);
    }
    accounts.connect(&mut workflow);
    if args.push && !follows {
        // It is new there: n8n gives it its id.
        workflow.as_object_mut().map(|map| map.shift_remove("id"));
    }
    let text = serde_json::to_string_pretty(&workflow);
    let text = text.map_err(|e| CliError::failed(e.to_string()))?;
    write_atomic(&file, (text + "\n").as_bytes()).map_err(|e| CliError::failed(e.to_string()))?;
    let pushed = match args.push {
        false => None,
        true => {
            let push = PushArgs {
                files: Vec::new(),
                id: None,
                target: None,
                new: false,
                force: args.force,
                allow: allowed(args),
                dry_run: false,
            };
            Some(push::pushed(root, &file, &push, out)?)
        }
    };
    let id = match &pushed {
        Some(pushed) => pushed.id.as_ref().map(|id| id.0.clone()),
        None => workflow
            .get("id")
            .and_then(Value::as_str)
            .map(str::to_owned),
    };
    if let Some(id) = id {
        ids.insert(own, id);
    }
    Ok(Written { file, pushed })
}

/// Who says which credential it shall be need not allow that as well.
fn allowed(args: &ExportArgs) -> Vec<String> {
    let mut allow = args.allow.clone();
    if !args.credential.is_empty() && !allow.iter().any(|guard| guard == "credentials") {
        allow.push("credentials".to_owned());
    }
    allow
}

fn answer(
    args: &ExportArgs,
    written: &[Written],
    left_out: &[String],
    out: &Output,
) -> Result<Exit, CliError> {
    let shown = args.dir.display();
    out.answer(
        Exit::Complete,
        || {
            let lines = written.iter().map(|one| {
                let file = one.file.display();
                match &one.pushed {
                    None => format!("{file}\n"),
                    Some(pushed) => {
                        let id = pushed.id.as_ref().map(|id| format!(" `{id}`"));
                        format!("{file}: {}{}\n", pushed.what, id.unwrap_or_default())
                    }
                }
            });
            let lines: String = lines.collect();
            let next = match args.push {
                false => format!("next: agentctl qa {shown}/*.json; import them into n8n in this order, choose the credentials there (or name them with --credential), and set INTEGRATION_URL and ASSISTANT_MODEL for it (or write them in with --set)"),
                true => "next: choose the credentials that are missing in n8n (or name them with --credential), then publish them in this order (agentctl workflows activate ID); once they are pulled into the files, another export keeps the credentials".to_owned(),
            };
            format!("{lines}{next}\n")
        },
        || {
            let files: Vec<String> = (written.iter()).map(|one| one.file.display().to_string()).collect();
            let pushed: Vec<Value> = (written.iter())
                .filter_map(|one| {
                    let pushed = one.pushed.as_ref()?;
                    Some(json!({"file": one.file.display().to_string(), "what": pushed.what, "id": pushed.id, "run": pushed.run}))
                })
                .collect();
            match args.push {
                false => json!({"pack": args.pack, "files": files, "left_out": left_out}),
                true => json!({"pack": args.pack, "files": files, "left_out": left_out, "pushed": pushed}),
            }
        },
    )
}

//! `agentctl packs test`: plays the dialogues of a pack, and says which of their expectations hold.

use crate::cli::args::ModelOptions;
use crate::cli::conversations::turn_error;
use crate::cli::error::{CliError, Exit};
use crate::cli::observer::TapeKeeper;
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::runtime;
use crate::cli::session::{self, Elsewhere};
use crate::dialogues::{self, Dialogue, DialogueFile, NotPlayed, Played, Stage};
use agentctl_base::counted::counted;
use agentctl_engine::pack::TestFile;
use agentctl_engine::run::Cancel;
use agentctl_host::files::{read_given_text, write_atomic};
use clap::Args;
use console::style;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub struct TestArgs {
    /// Its name; without it the dialogues of every pack are played
    #[arg(value_name = "PACK")]
    pub pack: Option<String>,
    /// Only these files: names in the pack's tests/, or files elsewhere
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only dialogues whose name has this in it
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Write a report for CI: `junit=FILE`
    #[arg(long = "report", value_name = "KIND=FILE", value_parser = report)]
    pub reports: Vec<PathBuf>,
    /// Exit code 1 when fewer of the expectations hold
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), default_value = "100")]
    pub min: u8,
    #[command(flatten)]
    pub model: ModelOptions,
}

fn report(text: &str) -> Result<PathBuf, String> {
    match text.split_once('=') {
        Some(("junit", file)) if !file.is_empty() => Ok(file.into()),
        _ => Err("write junit=FILE".to_owned()),
    }
}

/// What was played of one file.
struct Ran {
    pack: String,
    file: String,
    played: Vec<Played>,
}

pub fn test(root: &Path, args: &TestArgs, out: &Output) -> Result<Exit, CliError> {
    let taped = args.model.record.is_some() || args.model.replay.is_some();
    if taped && args.pack.is_none() {
        return Err(
            CliError::usage("a recording is of one pack, and none is named")
                .hint("agentctl packs test PACK FILE --replay RECORDING"),
        );
    }
    let names = match &args.pack {
        Some(name) => vec![name.clone()],
        None => crate::pack::names(root, &session::load_options(root, out)?),
    };
    let model = model(&args.model);
    // Every file is read before anything is played, so that all mistakes are told at once.
    let mut benches = Vec::new();
    let mut wrong = Vec::new();
    for name in names {
        let pack = session::named_pack(root, &name, out)?;
        let texts = texts(root, &name, &args.files, out)?;
        if texts.is_empty() {
            continue;
        }
        let mut files = Vec::new();
        for text in texts {
            match dialogues::read(&text.text, &text.file, &pack) {
                Ok(file) => files.push(file),
                Err(problems) => wrong.extend(problems.iter().map(ToString::to_string)),
            }
        }
        benches.push((name, pack, files));
    }
    if !wrong.is_empty() {
        return Err(CliError::usage(wrong.join("\n")));
    }
    if benches.is_empty() {
        let whose = args
            .pack
            .as_deref()
            .map_or("no pack has".to_owned(), |pack| {
                format!("the pack {pack} has no")
            });
        return Err(CliError::usage(format!("{whose} dialogues to play"))
            .hint("they stand in tests/*.yaml of the pack (docs/packs.md)"));
    }
    let mut ran = Vec::new();
    for (name, pack, files) in benches {
        let elsewhere = Elsewhere::of(root, pack, &model, out)?;
        ran.extend(of_pack(&name, &elsewhere, files, args, out)?);
    }
    write_reports(&ran, args, out)?;
    tell(&ran, args, out)
}

/// What the pack says offline, unless a model is named.
fn model(options: &ModelOptions) -> ModelOptions {
    let mut options = options.clone();
    if options.names.model.is_none() && options.names.model_for.is_empty() {
        options.names = ModelOptions::offline().names;
    }
    options
}

/// The files that were asked for, else all of the pack.
fn texts(
    root: &Path,
    pack: &str,
    files: &[PathBuf],
    out: &Output,
) -> Result<Vec<TestFile>, CliError> {
    let options = session::load_options(root, out)?;
    let all = crate::pack::tests(pack, root, &options).map_err(|e| session::no_pack(&e))?;
    if files.is_empty() {
        return Ok(all);
    }
    let each = files.iter().map(|file| {
        let shown = file.display().to_string();
        if let Some(own) = all.iter().find(|own| own.name == shown) {
            return Ok(own.clone());
        }
        let text = read_given_text(file, MAX_FILE).map_err(|e| {
            CliError::usage(e.to_string()).hint(format!(
                "of the pack itself: {}",
                all.iter()
                    .map(|own| own.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            ))
        })?;
        Ok(TestFile {
            name: shown.clone(),
            file: shown,
            text,
        })
    });
    each.collect()
}

/// No file of dialogues is larger.
const MAX_FILE: u64 = 4 * 1024 * 1024;

fn of_pack(
    name: &str,
    elsewhere: &Elsewhere,
    files: Vec<DialogueFile>,
    args: &TestArgs,
    out: &Output,
) -> Result<Vec<Ran>, CliError> {
    let cancel = Cancel::default();
    let gateway = |folder: &Path, failing: &[String]| {
        let gateway = elsewhere.gateway(folder, failing);
        gateway.map_err(|e| e.to_string())
    };
    let stage = Stage {
        pack: &elsewhere.pack,
        models: &elsewhere.models,
        cancel: &cancel,
        limits: elsewhere.budgets.clone(),
        gateway: &gateway,
    };
    let wanted = |dialogue: &&Dialogue| {
        let only = args.only.as_ref();
        only.is_none_or(|only| dialogue.name.contains(only.as_str()))
    };
    let mut keeper = TapeKeeper::new(elsewhere.tape.clone());
    let work = async {
        let mut ran = Vec::new();
        for file in &files {
            let mut played = Vec::new();
            for dialogue in file.dialogues.iter().filter(wanted) {
                let one = dialogues::play(&stage, dialogue, &mut keeper).await;
                let one = one.map_err(|e| not_played(&e))?;
                out.stream(&json!({"type": "packs.dialogue", "pack": name, "file": file.file, "dialogue": of_dialogue(&one)}))?;
                played.push(one);
            }
            ran.push(Ran {
                pack: name.to_owned(),
                file: file.file.clone(),
                played,
            });
        }
        Ok(ran)
    };
    let ran = runtime::block_on_until(&cancel, work)??;
    if let Some(tape) = &elsewhere.tape {
        tape.finish(args.only.is_none())
            .map_err(|e| CliError::failed(e.to_string()))?;
    }
    Ok(ran)
}

fn not_played(error: &NotPlayed) -> CliError {
    match error {
        // Its folder is gone, so there is no run to go on with.
        NotPlayed::Turn(error) => {
            let told = turn_error(error);
            CliError::new(told.exit, told.message)
        }
        NotPlayed::Interrupted(cause) => {
            CliError::new(Exit::from(*cause), "interrupted; nothing of it is kept")
        }
        NotPlayed::Session(_) | NotPlayed::Folder(_) => CliError::failed(error.to_string()),
    }
}

fn write_reports(ran: &[Ran], args: &TestArgs, out: &Output) -> Result<(), CliError> {
    let files: Vec<(String, &[Played])> = ran
        .iter()
        .map(|ran| (ran.file.clone(), ran.played.as_slice()))
        .collect();
    for file in &args.reports {
        let xml = out.redactor().text(&dialogues::junit(&files));
        write_atomic(file, xml.as_bytes()).map_err(|e| CliError::failed(e.to_string()))?;
    }
    Ok(())
}

fn tell(ran: &[Ran], args: &TestArgs, out: &Output) -> Result<Exit, CliError> {
    let all = || ran.iter().flat_map(|ran| &ran.played);
    let count: usize = all().map(|one| one.all().count()).sum();
    let failed: usize = all().map(Played::failed).sum();
    let (held, dialogues) = (count - failed, all().count());
    let enough = held * 100 >= count * usize::from(args.min);
    let exit = match enough {
        true => Exit::Complete,
        false => Exit::Failed,
    };
    out.answer(
        exit,
        || {
            let mut text: String = ran.iter().map(of_file).collect();
            text += &format!("{}: {held} of {} met\n", counted(dialogues, "dialogue"), counted(count, "expectation"));
            text
        },
        || {
            let files = ran.iter().map(|ran| {
                let played: Vec<Value> = ran.played.iter().map(of_dialogue).collect();
                json!({"pack": ran.pack, "file": ran.file, "dialogues": played})
            });
            json!({
                "files": files.collect::<Vec<_>>(), "dialogues": dialogues, "expectations": count, "held": held,
                "exit_code": exit.code(),
            })
        },
    )
}

fn of_file(ran: &Ran) -> String {
    let count: usize = ran.played.iter().map(|one| one.all().count()).sum();
    let failed: usize = ran.played.iter().map(Played::failed).sum();
    let mut text = format!(
        "{}: {}, {} of {count}\n",
        style(plain_long(&ran.file)).bold(),
        counted(ran.played.len(), "dialogue"),
        count - failed
    );
    for one in ran.played.iter().filter(|one| one.failed() > 0) {
        text += &format!(
            "  {} ({}:{})\n",
            plain_long(&one.name),
            plain_long(&ran.file),
            one.place.line
        );
        for (turn, n) in one.turns.iter().zip(1..) {
            for held in &turn.held {
                if let Some(got) = &held.got {
                    let say = turn.say.as_deref().unwrap_or("(no message)");
                    text += &format!(
                        "    turn {n}, {:?}: {} does not hold: {}\n",
                        short(&plain_long(say)),
                        style(&held.name).red(),
                        plain_long(&got.replace('\n', " "))
                    );
                }
            }
        }
    }
    text
}

fn short(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn of_dialogue(one: &Played) -> Value {
    let turns = one.turns.iter().map(|turn| {
        let failed = turn.held.iter().filter_map(|held| {
            let got = held.got.as_ref()?;
            Some(json!({"expectation": held.name, "line": held.place.line, "got": got}))
        });
        json!({
            "say": turn.say, "said": turn.said, "expectations": turn.held.len(),
            "failed": failed.collect::<Vec<_>>(),
        })
    });
    json!({"name": one.name, "line": one.place.line, "turns": turns.collect::<Vec<_>>()})
}

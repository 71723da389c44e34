//! The way to a model for somebody who has one and set none: what runs here and which keys are there is looked for once, for a moment.
//! On a terminal one question is asked and its answer kept in the user's own settings; elsewhere one line is said. Nothing that was
//! found is used without the user's word.

use super::args::ModelOptions;
use super::choose;
use super::error::{CliError, Exit};
use super::output::Output;
use super::plain::plain;
use super::runtime::block_on;
use super::settings;
use crate::config::{self, Config, Origin};
use agentctl_host::files::{read_regular_text, write_atomic};
use agentctl_host::home::variable;
use agentctl_models::nearby::{From, Offer, Places};
use std::path::Path;
use std::time::Duration;

/// All servers together: a build without a model must not feel that it was looked.
const LONGEST: Duration = Duration::from_millis(100);
/// `no`: nothing is looked for; `keys`: no server.
const LOOK: &str = "AGENTCTL_LOOK";
/// No file of settings is larger.
const MAX_SETTINGS: u64 = 1024 * 1024;

/// The model that the user takes, of those that were found; None: the settings say one, or the user stays offline.
pub fn taken(
    root: &Path,
    options: &ModelOptions,
    out: &Output,
) -> Result<Option<String>, CliError> {
    let names = &options.names;
    let is_said = options.replay.is_some() || names.model.is_some() || !names.model_for.is_empty();
    let look = variable(LOOK).unwrap_or_default();
    if is_said || look == "no" {
        return Ok(None);
    }
    if says_a_model(&settings::of_project(root, out)?) {
        return Ok(None);
    }
    let places = Places::known();
    let mut offers = match look.as_str() {
        "keys" => Vec::new(),
        _ => block_on(places.running(LONGEST, variable))?,
    };
    offers.extend(places.keys(variable));
    if offers.is_empty() {
        return Ok(None);
    }
    if out.can_ask() {
        return ask(&offers, out);
    }
    out.note(&line(&offers));
    Ok(None)
}

fn says_a_model(config: &Config) -> bool {
    let models = &config.models;
    let tiers = [&models.default, &models.opus, &models.sonnet, &models.haiku];
    tiers.iter().any(|tier| tier.is_some()) || !models.agents.is_empty()
}

fn named(offer: &Offer) -> String {
    let from = match &offer.from {
        From::Server(name) => format!("{name} on this machine"),
        From::Key(variable) => format!("by your {variable}"),
    };
    format!("{} ({from})", plain(&offer.model))
}

/// How what is there is used.
fn line(offers: &[Offer]) -> String {
    let there: Vec<String> = offers.iter().map(named).collect();
    let first = offers.first().map(|o| plain(&o.model)).unwrap_or_default();
    format!(
        "a model is there: {}; --model {first} uses it, [models] default in agentctl.toml keeps it, {LOOK}=no stops looking",
        there.join(", ")
    )
}

fn ask(offers: &[Offer], out: &Output) -> Result<Option<String>, CliError> {
    const NO: &str = "no: offline, and do not ask again";
    let mut which: Vec<String> = offers.iter().map(named).collect();
    which.push(NO.to_owned());
    let asked = choose::one("A model is there. Build with it?", &which, 0);
    let Some(chosen) = answered(asked)? else {
        return Ok(None);
    };
    let Some(offer) = offers.get(chosen) else {
        keep("offline", out)?;
        return Ok(None);
    };
    const ALWAYS: &str = "always: keep it in your own settings";
    const ONCE: &str = "only this time";
    match answered(choose::one("For how long?", &[ALWAYS, ONCE], 0))? {
        Some(0) => keep(&offer.model, out)?,
        Some(_) => {}
        None => return Ok(None),
    }
    Ok(Some(offer.model.clone()))
}

/// None: thought better of it, so nothing is used and nothing kept.
fn answered<T>(asked: Result<T, inquire::InquireError>) -> Result<Option<T>, CliError> {
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(inquire::InquireError::OperationCanceled) => Ok(None),
        Err(inquire::InquireError::OperationInterrupted) => Err(CliError::new(
            Exit::Interrupted,
            "interrupted; nothing was changed",
        )),
        Err(e) => Err(CliError::failed(format!(
            "cannot ask on this terminal: {e}"
        ))),
    }
}

/// Into the user's own settings, for every project that names no model.
fn keep(model: &str, out: &Output) -> Result<(), CliError> {
    let Some(file) = settings::user_file() else {
        out.note("no folder of your own is known here, so this is for this time only: set HOME");
        return Ok(());
    };
    let shown = file.display();
    let before = match read_regular_text(&file, MAX_SETTINGS) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(CliError::io("read", &file, &e)),
    };
    let after = with_default(&before, model).ok_or_else(|| {
        CliError::failed(format!(
            "{shown}: the model cannot be added to what stands there"
        ))
        .hint(format!(
            "write it yourself, below [models]: default = \"{model}\""
        ))
    })?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|e| CliError::io("make the folder", folder, &e))?;
    }
    write_atomic(&file, after.as_bytes())
        .map_err(|e| CliError::failed(format!("cannot write {shown}: {e}")))?;
    out.note(&format!("kept in {shown}: [models] default = \"{model}\""));
    Ok(())
}

/// The settings with a model for what names none; all else stays as it was written. None: they would say something else then.
fn with_default(text: &str, model: &str) -> Option<String> {
    let said = format!("default = {}\n", toml::Value::String(model.to_owned()));
    let is_head = |line: &str| {
        line.split('#')
            .next()
            .is_some_and(|l| l.trim() == "[models]")
    };
    let mut at = 0;
    let head = text.split_inclusive('\n').find_map(|line| {
        at += line.len();
        is_head(line).then_some(at)
    });
    let after = match head {
        Some(at) => {
            let (head, rest) = text.split_at_checked(at)?;
            let line_end = if head.ends_with('\n') { "" } else { "\n" };
            format!("{head}{line_end}{said}{rest}")
        }
        None => {
            let gap = match text {
                "" => "",
                text if text.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            format!("{text}{gap}[models]\n{said}")
        }
    };
    let read = config::read(&after, "settings", Origin::User).ok()?;
    (read
        .models
        .default
        .as_ref()
        .map(ToString::to_string)
        .as_deref()
        == Some(model))
    .then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_model_changes_nothing_else_of_the_settings() {
        let with = |text: &str| with_default(text, "ollama::qwen3:8b");
        let said = "[models]\ndefault = \"ollama::qwen3:8b\"\n";
        assert_eq!(with("").as_deref(), Some(said));
        let own = "# mine\n[models.time]\nconnect = 5";
        assert_eq!(with(own), Some(format!("{own}\n\n{said}")));
        assert_eq!(
            with("[models] # who\n[prices.\"a::b\"]\ninput = 0\noutput = 0\n").as_deref(),
            Some(
                "[models] # who\ndefault = \"ollama::qwen3:8b\"\n[prices.\"a::b\"]\ninput = 0\noutput = 0\n"
            )
        );
        // A table in one line cannot be written on.
        assert_eq!(with("models = { opus = \"offline\" }\n"), None);
    }

    #[test]
    fn the_line_says_what_is_there_and_how_it_is_used() {
        let offers = [
            Offer {
                model: "ollama::qwen3:8b".to_owned(),
                from: From::Server("Ollama".to_owned()),
            },
            Offer {
                model: "anthropic::claude-sonnet-4-6".to_owned(),
                from: From::Key("ANTHROPIC_API_KEY"),
            },
        ];
        assert_eq!(
            line(&offers),
            "a model is there: ollama::qwen3:8b (Ollama on this machine), anthropic::claude-sonnet-4-6 (by your ANTHROPIC_API_KEY); --model ollama::qwen3:8b uses it, [models] default in agentctl.toml keeps it, AGENTCTL_LOOK=no stops looking"
        );
    }
}

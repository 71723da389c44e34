//! What is printed, and how: stdout carries the answer, stderr everything else; neither shows a secret or steers a terminal.
//! A closed pipe on stdout ends the program quietly; any other write error is a failure. The writing itself is `streams`.

use super::args::{Color, Global, OutputFormat};
use super::error::{CliError, Exit};
use super::fit;
use super::streams;
#[cfg(feature = "full")]
use crate::trust::InForce;
use agentctl_base::untrusted;
use agentctl_engine::redact::{Redactor, secret_values};
#[cfg(feature = "full")]
use agentctl_n8n_tools::backend::BackendName;
use clap::ValueEnum as _;
use clap::error::ErrorKind;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ffi::OsString;
#[cfg(feature = "full")]
use std::io::IsTerminal as _;
#[cfg(feature = "full")]
use std::sync::Mutex;
use std::sync::{Arc, PoisonError, RwLock};

/// Where and how a command's answer is written.
#[derive(Debug, Clone)]
pub struct Output {
    pub format: OutputFormat,
    pub quiet: bool,
    /// What no line may show: the environment's secrets, those of `.mcp.json` and the models' keys, besides what looks like
    /// one. One for all clones: a key is known to everything that prints as soon as it was read.
    redactor: Arc<RwLock<Arc<Redactor>>>,
    /// Every step and every call of a run is told, not only what became of it.
    #[cfg(feature = "full")]
    pub verbose: bool,
    /// Said with every command like the two above; counts where the pack is loaded.
    #[cfg(feature = "full")]
    pub allow_loose_policy: bool,
    /// `--pack`; counts where the pack is loaded.
    #[cfg(feature = "full")]
    pub pack: Option<String>,
    /// `--backend`; counts where a backend is chosen.
    #[cfg(feature = "full")]
    pub backend: Option<BackendName>,
    /// `--trust-once`; counts where it is decided what of the folder is in force.
    #[cfg(feature = "full")]
    pub trust_once: bool,
    /// `--no-input` of the command: nobody is asked, terminal or not.
    #[cfg(feature = "full")]
    pub no_input: bool,
    /// What was decided of the folder, once a process.
    #[cfg(feature = "full")]
    pub(super) decided: Arc<Mutex<Option<Arc<InForce>>>>,
}

impl Output {
    /// Fixes colour for both streams from `--color`, `NO_COLOR` and whether they are terminals.
    pub fn new(global: &Global) -> Self {
        match global.color {
            Color::Auto => {}
            Color::Always => {
                console::set_colors_enabled(true);
                console::set_colors_enabled_stderr(true);
            }
            Color::Never => {
                console::set_colors_enabled(false);
                console::set_colors_enabled_stderr(false);
            }
        }
        Output {
            format: global.output_format,
            quiet: global.quiet,
            redactor: Arc::new(RwLock::new(Arc::new(known_secrets()))),
            #[cfg(feature = "full")]
            verbose: global.verbose,
            #[cfg(feature = "full")]
            allow_loose_policy: global.allow_loose_policy,
            #[cfg(feature = "full")]
            pack: global.pack.clone(),
            #[cfg(feature = "full")]
            backend: global.backend.map(Into::into),
            #[cfg(feature = "full")]
            trust_once: global.trust_once,
            #[cfg(feature = "full")]
            no_input: false,
            #[cfg(feature = "full")]
            decided: Arc::default(),
        }
    }

    pub fn redactor(&self) -> Arc<Redactor> {
        let known = self.redactor.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&known)
    }

    #[cfg(feature = "full")]
    /// From here on nothing shows these values.
    pub fn hide(&self, secrets: impl IntoIterator<Item = String>) {
        let mut secrets = secrets.into_iter().peekable();
        if secrets.peek().is_none() {
            return;
        }
        let mut known = self
            .redactor
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *known = Arc::new((**known).clone().and(secrets));
    }

    /// Text as stdout may show it.
    fn shown(&self, text: &str) -> String {
        untrusted::terminal(&self.redactor().text(text), console::colors_enabled())
    }

    /// Text as stderr may show it.
    pub fn told(&self, text: &str) -> String {
        untrusted::terminal(
            &self.redactor().text(text),
            console::colors_enabled_stderr(),
        )
    }

    fn json_line(&self, value: Value) -> String {
        let value = self.redactor().strings(value);
        untrusted::json(&value.to_string()).into_owned()
    }

    fn json_pages(&self, value: Value) -> String {
        let text =
            serde_json::to_string_pretty(&self.redactor().strings(value)).unwrap_or_default();
        untrusted::json(&text).into_owned()
    }

    pub fn is_text(&self) -> bool {
        self.format == OutputFormat::Text
    }

    #[cfg(feature = "full")]
    /// True when a person can be asked: both ends of the conversation are a terminal, and nobody says that it is a machine's.
    pub fn can_ask(&self) -> bool {
        let no = |said: &std::ffi::OsString| said.is_empty() || said == "0" || said == "false";
        let is_ci = std::env::var_os("CI").is_some_and(|said| !no(&said));
        !self.no_input
            && !is_ci
            && std::io::stdin().is_terminal()
            && console::user_attended_stderr()
    }

    /// The command's answer: text for people, or its JSON. Each format is only made when it is asked for.
    pub fn answer(
        &self,
        exit: Exit,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> Value,
    ) -> Result<Exit, CliError> {
        match self.format {
            OutputFormat::Text => self.answer_text(&text())?,
            OutputFormat::Json | OutputFormat::StreamJson => self.answer_json(exit, json())?,
        }
        told(streams::finish_answer())?;
        Ok(exit)
    }

    #[cfg(feature = "full")]
    /// The same, where a stream ends with a line of its own.
    pub fn answer_or_last(
        &self,
        exit: Exit,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> Value,
        last: impl FnOnce() -> Value,
    ) -> Result<Exit, CliError> {
        if self.format != OutputFormat::StreamJson {
            return self.answer(exit, text, json);
        }
        write_bytes(format!("{}\n", self.json_line(last())).as_bytes())?;
        told(streams::finish_answer())?;
        Ok(exit)
    }

    fn answer_text(&self, text: &str) -> Result<(), CliError> {
        write_bytes(fit::for_stdout(&self.whole_lines(text)).as_bytes())
    }

    fn whole_lines(&self, text: &str) -> String {
        let mut text = self.shown(text);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    /// The same as [`Output::answer`] for what is a document of its own (JSON, a picture, a page with code): its lines stay as
    /// they are, on a terminal too.
    pub fn document(
        &self,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> Value,
    ) -> Result<Exit, CliError> {
        if !self.is_text() {
            return self.answer(Exit::Complete, String::new, json);
        }
        write_bytes(self.whole_lines(&text()).as_bytes())?;
        told(streams::finish_answer())?;
        Ok(Exit::Complete)
    }

    /// Whole, or as the last line of a stream.
    fn answer_json(&self, exit: Exit, answer: Value) -> Result<(), CliError> {
        if self.format == OutputFormat::Json {
            let mut line = self.json_pages(answer);
            line.push('\n');
            return write_bytes(line.as_bytes());
        }
        let line = match answer {
            Value::Object(mut map) => {
                let mut whole = serde_json::Map::new();
                whole.insert("type".into(), "result".into());
                whole.append(&mut map);
                whole.insert("exit_code".into(), exit.code().into());
                Value::Object(whole)
            }
            other => json!({"type": "result", "result": other, "exit_code": exit.code()}),
        };
        write_bytes(format!("{}\n", self.json_line(line)).as_bytes())
    }

    /// A part of a JSON answer that is written in pieces, its lines behind the first one moved in by the margin.
    pub fn json_piece(
        &self,
        part: &impl serde::Serialize,
        margin: &str,
    ) -> Result<String, CliError> {
        let text = serde_json::to_string_pretty(part)
            .map_err(|e| CliError::new(Exit::Internal, format!("cannot write the answer: {e}")))?;
        // Rarely: a value that is known to be secret, in a text that was written without knowing it.
        let safe = if self.redactor().hidden(&text) == text {
            untrusted::json(&text)
        } else {
            let value = serde_json::from_str(&text).unwrap_or_default();
            Cow::Owned(self.json_pages(value))
        };
        Ok(safe.replace('\n', &format!("\n{margin}")))
    }

    /// Lines that a CI runner reads: with the text on stdout, beside JSON on stderr.
    pub fn commands(&self, lines: &str) -> Result<(), CliError> {
        let lines = untrusted::terminal(&self.redactor().text(lines), false);
        if self.is_text() {
            return write_bytes(lines.as_bytes());
        }
        streams::tell_all(&lines);
        Ok(())
    }

    /// One line of `stream-json`; nothing in the other formats. Waits for no reader.
    pub fn stream(&self, event: &Value) -> Result<(), CliError> {
        if self.format == OutputFormat::StreamJson {
            let line = self.json_line(event.clone());
            told(streams::stream(&format!("{line}\n")))?;
        }
        Ok(())
    }

    /// Progress and remarks, on stderr.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Says of an MCP server that its start takes long.
    #[cfg(feature = "full")]
    pub fn of_starts(&self) -> impl Fn(&agentctl_mcp::Starting<'_>) + use<> {
        let quiet = self.quiet;
        move |starting| {
            let why = match starting.fetches {
                true => "; the first time it is fetched from npm",
                false => "",
            };
            let (name, seconds) = (untrusted::line(starting.server), starting.seconds);
            let line = format!(
                "the MCP server {name:?} is starting, {seconds} s of {} s{why}\n",
                starting.limit
            );
            if !quiet {
                streams::tell(&line);
            }
        }
    }

    /// A line on stderr that was asked for, so not muted.
    pub fn say(&self, text: &str) {
        streams::tell(&format!("{}\n", self.told(text)));
    }

    /// The error line and its hints, where the answer on stdout says the same.
    pub fn mistake(&self, error: &CliError) {
        streams::tell(&format!(
            "{} {}\n",
            console::style("error:").for_stderr().red().bold(),
            self.told(&error.message)
        ));
        for hint in &error.hints {
            let hint = self.told(hint);
            let label = console::style("hint:").for_stderr().cyan();
            streams::tell(&format!("{label} {hint}\n"));
        }
    }

    /// The same, and in JSON formats an error object on stdout.
    pub fn error(&self, error: &CliError) {
        self.mistake(error);
        if self.format != OutputFormat::Text {
            let line = self.json_line(error_object(error));
            if write_bytes(format!("{line}\n").as_bytes()).is_err() {
                // Nobody reads stdout any more; the message is on stderr.
            }
        }
    }
}

/// What any command answers in JSON that could not do its work.
fn error_object(error: &CliError) -> Value {
    json!({"type": "result", "error": {"message": error.message, "hints": error.hints}, "exit_code": error.exit.code()})
}

/// What is known to be secret before anything was read: the environment's variables by their names. What the project's servers are
/// given comes with their trust.
fn known_secrets() -> Redactor {
    // A variable that is no text cannot be printed as one either.
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Redactor::new(secret_values(environment))
}

/// What the parser of the command line says instead of a command: an answer (help, version), or what was typed wrongly. `args`: what
/// was typed.
pub fn usage(error: &clap::Error, args: &[OsString]) -> Exit {
    let text = error.render();
    if error.use_stderr() {
        if wants_json(args) {
            let wrong = mistyped(error, &text.to_string());
            let line = known_secrets().strings(error_object(&wrong));
            // Nobody who does not read stdout misses it: the message is on stderr.
            drop(write_bytes(
                format!("{}\n", untrusted::json(&line.to_string())).as_bytes(),
            ));
            drop(streams::finish_answer());
        }
        // It repeats what was typed, which may have been pasted from anywhere.
        let text = match console::colors_enabled_stderr() {
            true => text.ansi().to_string(),
            false => text.to_string(),
        };
        streams::tell(&plainly(&text));
        return Exit::Usage;
    }
    let text = match console::colors_enabled() {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    let written = write_bytes(text.as_bytes()).and_then(|()| told(streams::finish_answer()));
    match written {
        Ok(_) => Exit::Complete,
        Err(error) => {
            streams::tell(&plainly(&format!("error: {error}\n")));
            error.exit
        }
    }
}

/// Whether a format in JSON was asked for, as far as can be told of what does not fit together.
fn wants_json(args: &[OsString]) -> bool {
    const NAME: &str = "--output-format";
    let words = args.iter().map(|word| word.to_string_lossy());
    let words: Vec<_> = words.take_while(|word| word != "--").collect();
    let behind = words.iter().skip_while(|word| *word != NAME).nth(1);
    let joined = words
        .iter()
        .find_map(|word| word.strip_prefix(NAME)?.strip_prefix('='));
    let form = joined.or(behind.map(|form| form.as_ref()));
    form.is_some_and(|form| {
        OutputFormat::from_str(form, false).is_ok_and(|f| f != OutputFormat::Text)
    })
}

/// What the parser says, as an error like any other: its first sentence, and what stands below as hints.
fn mistyped(error: &clap::Error, text: &str) -> CliError {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return CliError::usage("a command or an argument is missing")
            .hint("the same with --help lists what there is");
    }
    let parts = text
        .split("\n\n")
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut parts = parts.filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(&first);
    parts.fold(CliError::usage(message), |error, part| {
        let hint = part.strip_prefix("tip: ").or(part.strip_prefix("hint: "));
        error.hint(hint.unwrap_or(&part))
    })
}

/// Text for stderr before it is known what was typed.
pub fn plainly(text: &str) -> String {
    let text = known_secrets().text(text);
    untrusted::terminal(&text, console::colors_enabled_stderr())
}

/// A reader that has gone (`| head`) is not an error: the program ends as `head` wanted.
pub fn write_bytes(bytes: &[u8]) -> Result<(), CliError> {
    write_to_reader(bytes).map(|_| ())
}

/// The same; false when there is no reader any more, so that who goes on writing can stop.
pub fn write_to_reader(bytes: &[u8]) -> Result<bool, CliError> {
    told(streams::answer(bytes))
}

/// The last of a command: its answer is written to the end, and its remarks as far as anybody reads them.
pub fn finish(out: &Output, ended: Result<Exit, CliError>) -> Exit {
    let whole = |exit| told(streams::finish_answer()).map(|_| exit);
    let exit = ended.and_then(whole).unwrap_or_else(|error| {
        out.error(&error);
        // What it says on stdout is an answer too. Where that cannot be written either, the exit code is the first error's.
        drop(streams::finish_answer());
        error.exit
    });
    streams::finish();
    exit
}

fn told(written: Result<bool, String>) -> Result<bool, CliError> {
    written.map_err(|why| CliError::failed(format!("cannot write to stdout: {why}")))
}

//! The only place that prints. stdout carries the answer, stderr everything else.
//! A closed pipe on stdout ends the program quietly; any other write error is a failure.

use super::args::{Color, Global, OutputFormat};
use super::error::{CliError, Exit};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};

/// Where and how a command's answer is written.
#[derive(Debug, Clone)]
pub struct Output {
    pub format: OutputFormat,
    pub quiet: bool,
    /// Said with every command like the two above; counts where the pack is loaded.
    pub allow_loose_policy: bool,
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
            allow_loose_policy: global.allow_loose_policy,
        }
    }

    pub fn is_text(&self) -> bool {
        self.format == OutputFormat::Text
    }

    /// True when a person can be asked: both ends of the conversation are a terminal.
    pub fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// The command's answer: text for people, or its JSON. Each format is only made when it is asked for.
    pub fn answer(
        &self,
        exit: Exit,
        text: impl FnOnce() -> String,
        json: impl FnOnce() -> Value,
    ) -> Result<Exit, CliError> {
        match self.format {
            OutputFormat::Text => {
                let mut text = text();
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                write_bytes(text.as_bytes())?;
            }
            OutputFormat::Json => {
                let mut line = serde_json::to_string_pretty(&json()).unwrap_or_default();
                line.push('\n');
                write_bytes(line.as_bytes())?;
            }
            OutputFormat::StreamJson => {
                let line = match json() {
                    Value::Object(mut map) => {
                        let mut whole = serde_json::Map::new();
                        whole.insert("type".into(), "result".into());
                        whole.append(&mut map);
                        whole.insert("exit_code".into(), exit.code().into());
                        Value::Object(whole)
                    }
                    other => json!({"type": "result", "result": other, "exit_code": exit.code()}),
                };
                self.stream(&line)?;
            }
        }
        Ok(exit)
    }

    /// The command's answer as something that can be large: text, or JSON written as it is; for `stream-json` the last line.
    pub fn large_answer(
        &self,
        exit: Exit,
        text: impl FnOnce() -> String,
        json: &impl serde::Serialize,
        last: impl FnOnce() -> Value,
    ) -> Result<Exit, CliError> {
        if self.format != OutputFormat::Json {
            return self.answer(exit, text, last);
        }
        let mut line = serde_json::to_string_pretty(json)
            .map_err(|e| CliError::new(Exit::Internal, format!("cannot write the answer: {e}")))?;
        line.push('\n');
        write_bytes(line.as_bytes())?;
        Ok(exit)
    }

    /// Lines that a CI runner reads: with the text on stdout, beside JSON on stderr.
    pub fn commands(&self, lines: &str) -> Result<(), CliError> {
        if self.is_text() {
            return write_bytes(lines.as_bytes());
        }
        eprint!("{lines}");
        Ok(())
    }

    /// One line of `stream-json`; nothing in the other formats.
    pub fn stream(&self, event: &Value) -> Result<(), CliError> {
        if self.format == OutputFormat::StreamJson {
            write_bytes(format!("{event}\n").as_bytes())?;
        }
        Ok(())
    }

    /// Progress and remarks, on stderr.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    /// The error line, its hints, and in JSON formats an error object on stdout.
    pub fn error(&self, error: &CliError) {
        eprintln!(
            "{} {}",
            console::style("error:").for_stderr().red().bold(),
            error.message
        );
        for hint in &error.hints {
            eprintln!("{} {hint}", console::style("hint:").for_stderr().cyan());
        }
        if self.format != OutputFormat::Text {
            let object = json!({"type": "result", "error": {"message": error.message, "hints": error.hints}, "exit_code": error.exit.code()});
            if write_bytes(format!("{object}\n").as_bytes()).is_err() {
                // Nobody reads stdout any more; the message is on stderr.
            }
        }
    }
}

/// A reader that has gone (`| head`) is not an error: the program ends as `head` wanted.
pub fn write_bytes(bytes: &[u8]) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(CliError::failed(format!("cannot write to stdout: {e}"))),
    }
}

//! The waivers of `agentctl.toml`; all else that stands there is for other commands, and not looked at.

use super::error::CliError;
use agentctl_host::files::read_regular_text;
use agentctl_qa::waiver::{BadWaiver, Section, Waiver};
use serde::Deserialize;
use std::path::Path;

const FILE: &str = "agentctl.toml";
const MAX_BYTES: u64 = 1024 * 1024;

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    qa: Section,
}

pub fn waivers(root: &Path) -> Result<Vec<Waiver>, CliError> {
    let path = root.join(FILE);
    let text = match read_regular_text(&path, MAX_BYTES) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(CliError::io("read", &path, &e)),
    };
    read(&text).map_err(|BadWaiver { line, message }| {
        CliError::usage(format!("{}:{line}: {message}", path.display()))
            .hint("a [[qa.waiver]] has code or id, reason and expires, and where it is not for all path and node (docs/qa.md)")
    })
}

fn read(text: &str) -> Result<Vec<Waiver>, BadWaiver> {
    let line_of = |offset: usize| 1 + text.bytes().take(offset).filter(|b| *b == b'\n').count();
    let written: Written = toml::from_str(text).map_err(|error| BadWaiver {
        line: error.span().map_or(1, |span| line_of(span.start)),
        message: error.message().to_owned(),
    })?;
    written.qa.waivers(&line_of)
}

//! The child that reads a file which is more than text: this program, started by itself and confined, with the file on stdin. It is no
//! command of anybody's: it answers with a line of JSON and does nothing else.

use super::error::Exit;
use super::streams;
use agentctl_tools::Reader;
use std::ffi::OsString;
use std::io::Read as _;

/// The word behind which the form stands.
const WORD: &str = "read-document";
/// Whoever asks gives less.
const MOST: u64 = 64 * 1024 * 1024;

/// How the tools start it; None: it cannot be said where this program is.
pub fn reader() -> Option<Reader> {
    Some(Reader {
        program: std::env::current_exe().ok()?,
        args: vec![WORD.to_owned()],
    })
}

/// The form that is asked for, where this is that child.
pub fn asked(args: &[OsString]) -> Option<&str> {
    match args {
        [_, word, form] if word == WORD => form.to_str(),
        _ => None,
    }
}

pub fn answer(form: &str) -> Exit {
    let mut bytes = Vec::new();
    if std::io::stdin().take(MOST).read_to_end(&mut bytes).is_err() {
        return Exit::Failed;
    }
    let answer = agentctl_documents::answer(form, &bytes).to_json();
    let told = streams::answer(answer.to_string().as_bytes());
    match told.and_then(|_| streams::finish_answer()) {
        Ok(_) => Exit::Complete,
        Err(_) => Exit::Failed,
    }
}

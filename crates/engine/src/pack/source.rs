//! A text of a pack, from the project or compiled in.

use super::files::MAX_PACK_FILE;
use agentctl_base::yaml::{Place, Problem};
use agentctl_host::files::{Found, read_within};
use std::path::Path;

/// One text of a pack. `file` is how messages call it: the path below the project, or `built-in agents/x.md`.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) file: String,
    pub(super) text: String,
}

/// How the name of a compiled-in text begins, where messages call it.
pub(super) const BUILT_IN: &str = "built-in ";

impl Source {
    /// Whether it is compiled in, and not the project's.
    pub(super) fn is_built_in(&self) -> bool {
        self.file.starts_with(BUILT_IN)
    }
}

/// A text of the project; None: there is none. A link is followed within the project only.
pub(super) fn own_text(project: &Path, relative: &Path) -> std::io::Result<Option<String>> {
    let odd = |why: String| std::io::Error::new(std::io::ErrorKind::InvalidInput, why);
    match read_within(project, relative, MAX_PACK_FILE)? {
        Found::Bytes(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(odd("it is not UTF-8 text".to_owned())),
        },
        Found::Missing => Ok(None),
        Found::Odd(why) => Err(odd(why)),
    }
}

pub(super) fn unreadable(file: &str, error: &std::io::Error) -> Problem {
    Problem {
        file: file.to_owned(),
        place: Place::default(),
        message: format!("cannot be read: {error}"),
    }
}

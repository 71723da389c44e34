//! Which files are checked, in which order, and reading one of them: bounded, decoded, never a crash. What is wrong with a
//! file is a `Fault`, which becomes a finding; the other files are still checked.

use super::place::Place;
use super::rules;
use super::staged::Blob;
use agentctl_host::files::{open_given, plain_path};
use agentctl_n8n::Finding;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger files are not read. n8n itself takes at most 16 MiB by its API unless told otherwise.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Folders that hold no workflows of the project, whatever JSON is in them.
const PASSED_OVER: [&str; 1] = ["node_modules"];

/// A file to check.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// As named, or as found below what was named; `-` is standard input.
    pub path: PathBuf,
    /// Named by the user (and not found by walking a folder): it must be a workflow.
    pub named: bool,
    pub content: Content,
    /// What is known of its workflow besides what its text says.
    pub found: Vec<Finding>,
}

/// Where a source's text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// In the file of its path.
    File,
    /// Here; the path only names it.
    Text(String),
    /// In git's index; the file of its path may say something else by now, or be gone.
    Staged(Blob),
    /// Nowhere: why it cannot be read.
    Missing(String),
}

/// A path that names nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not there", .0.display())]
pub struct NotThere(pub PathBuf);

/// What is wrong with a file as such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: &'static str,
    pub message: String,
    pub place: Place,
}

impl Source {
    /// A file.
    pub fn named(path: &Path) -> Self {
        Source {
            path: path.to_owned(),
            named: true,
            content: Content::File,
            found: Vec::new(),
        }
    }

    /// A text from elsewhere, and what it is called.
    pub fn held(path: PathBuf, text: String) -> Self {
        Source {
            content: Content::Text(text),
            ..Source::named(&path)
        }
    }

    pub fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// What reports and people see.
    pub fn shown(&self) -> String {
        self.path.display().to_string()
    }
}

/// The files that the paths mean: files as named, folders with all `.json` files below them, sorted by name. Folders whose
/// name starts with a dot are passed over, as are `node_modules` and the snapshots of runs. No file comes twice.
pub fn collect(paths: &[PathBuf]) -> Result<Vec<Source>, NotThere> {
    let mut sources = Vec::new();
    for path in paths {
        if path == Path::new("-") || path.metadata().is_ok_and(|m| !m.is_dir()) {
            sources.push(Source::named(path));
        } else if path.is_dir() {
            walk(path, &mut sources);
        } else {
            return Err(NotThere(path.clone()));
        }
    }
    let mut seen = HashSet::new();
    sources.retain(|source| source.is_stdin() || seen.insert(absolute(&source.path)));
    Ok(sources)
}

fn walk(folder: &Path, sources: &mut Vec<Source>) {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name();
    let wanted = |entry: &walkdir::DirEntry| {
        entry.depth() == 0 || !entry.file_type().is_dir() || !passed_over(entry.path())
    };
    for entry in entries.into_iter().filter_entry(wanted) {
        match entry {
            Ok(entry) => {
                let is_file = is_json(entry.path()) && entry.file_type().is_file();
                if is_file {
                    sources.push(Source {
                        path: entry.into_path(),
                        named: false,
                        content: Content::File,
                        found: Vec::new(),
                    });
                }
            }
            Err(error) => sources.push(Source {
                path: error.path().unwrap_or(folder).to_owned(),
                named: true,
                content: Content::Missing(
                    error
                        .io_error()
                        .map_or_else(|| error.to_string(), ToString::to_string),
                ),
                found: Vec::new(),
            }),
        }
    }
}

/// Of the files of a folder these are looked at.
pub(super) fn is_json(file: &Path) -> bool {
    file.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"))
}

pub(super) fn passed_over(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|n| n.to_str()).unwrap_or("");
    name.starts_with('.') || PASSED_OVER.contains(&name) || folder.ends_with("memory/runs")
}

/// The whole path without `.` and `..`; links are left as they are.
pub fn absolute(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    plain_path(&whole)
}

/// The path as seen from `base`, with forward slashes; the whole path when it lies elsewhere. `-` stays `-`.
pub fn relative(path: &Path, base: &Path) -> String {
    if path == Path::new("-") {
        return "-".to_owned();
    }
    let whole = absolute(path);
    let seen = whole.strip_prefix(absolute(base)).unwrap_or(&whole);
    seen.to_string_lossy().replace('\\', "/")
}

impl Fault {
    pub(super) fn new(code: &'static str, message: impl Into<String>, place: Place) -> Self {
        Fault {
            code,
            message: message.into(),
            place,
        }
    }
}

/// A file's text. Standard input is read to its end, once.
pub fn read(source: &Source) -> Result<String, Fault> {
    let unreadable = |why: &str| {
        Fault::new(
            rules::UNREADABLE,
            format!("cannot be read: {why}"),
            Place::START,
        )
    };
    let bytes = match &source.content {
        Content::Missing(why) => return Err(unreadable(why)),
        Content::Text(text) => return Ok(text.clone()),
        Content::Staged(blob) => blob.read().map_err(|e| unreadable(&e.to_string()))?,
        Content::File if source.is_stdin() => {
            bounded(std::io::stdin().lock(), 0).map_err(|e| unreadable(&e.to_string()))?
        }
        Content::File => open_given(&source.path)
            .and_then(|file| {
                let size = file.metadata().map_or(0, |m| m.len());
                bounded(file, size)
            })
            .map_err(|e| unreadable(&e.to_string()))?,
    };
    match bytes {
        Bytes::TooMany(known) => {
            let size = known.map_or_else(String::new, |n| format!("is {} MB; ", n / 1_000_000));
            let message = format!(
                "{size}files over {} MB are not checked (n8n takes at most 16 MB unless N8N_PAYLOAD_SIZE_MAX says otherwise); pinned data is the usual reason: remove it",
                MAX_BYTES / (1024 * 1024)
            );
            Err(Fault::new(rules::TOO_LARGE, message, Place::START))
        }
        Bytes::All(bytes) => decoded(bytes),
    }
}

pub(super) enum Bytes {
    All(Vec<u8>),
    /// With the size, where it is known.
    TooMany(Option<u64>),
}

fn bounded(from: impl Read, size: u64) -> std::io::Result<Bytes> {
    if size > MAX_BYTES {
        return Ok(Bytes::TooMany(Some(size)));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // What is no plain file has no size beforehand.
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Ok(Bytes::TooMany(None));
    }
    Ok(Bytes::All(bytes))
}

fn decoded(bytes: Vec<u8>) -> Result<String, Fault> {
    let encoding = |message: &str, place| Err(Fault::new(rules::ENCODING, message, place));
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return encoding("is UTF-16; save it as UTF-8", Place::START);
    }
    if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
        return encoding(
            "starts with a byte order mark, on which `n8n import:workflow` fails; save it as UTF-8 without one",
            Place::START,
        );
    }
    String::from_utf8(bytes).or_else(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default());
        encoding(
            "is not UTF-8 from here on; save it as UTF-8",
            end_of(&before),
        )
    })
}

/// The place behind the last character.
fn end_of(text: &str) -> Place {
    let line = text.bytes().filter(|b| *b == b'\n').count() + 1;
    let last = text.rsplit('\n').next().unwrap_or("");
    Place::point(line, last.chars().count() + 1)
}

/// The document, or where and why it is none.
pub fn parse(text: &str) -> Result<serde_json::Value, Fault> {
    if text.trim().is_empty() {
        return Err(Fault::new(
            "n8n/structure",
            "the file is empty",
            Place::START,
        ));
    }
    serde_json::from_str(text).map_err(|error| {
        let place = in_characters(text, error.line(), error.column());
        let whole = error.to_string();
        let why = whole.split(" at line ").next().unwrap_or(&whole);
        if why.starts_with("recursion limit") {
            return Fault::new(
                rules::TOO_DEEP,
                format!(
                    "nested deeper than 127 levels at line {}, column {}; not checked",
                    place.line, place.column
                ),
                place,
            );
        }
        let message = format!(
            "not valid JSON at line {}, column {}: {why}",
            place.line, place.column
        );
        Fault::new("n8n/structure", message, place)
    })
}

/// The parser counts a column in bytes, and 0 for the line break before the line.
fn in_characters(text: &str, line: usize, column: usize) -> Place {
    let content = text.split('\n').nth(line.saturating_sub(1)).unwrap_or("");
    let bytes = content
        .as_bytes()
        .get(..column.saturating_sub(1))
        .unwrap_or(content.as_bytes());
    Place::point(
        line.max(1),
        String::from_utf8_lossy(bytes).chars().count() + 1,
    )
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod source_tests;

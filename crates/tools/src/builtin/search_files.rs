//! `search_files`: lines of the text files below one folder of the project, which the tool's file names. Nothing that a call says becomes
//! a part of a path, no link leads out of the folder, and what is hidden is not looked at.

use super::Answered;
use agentctl_host::files::{Files, Found, Within, within};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Of a folder: files, bytes of one, bytes of all, folders below one another.
const MAX_FILES: usize = 2000;
const MAX_FILE: u64 = 1024 * 1024;
const MAX_ALL: usize = 32 * 1024 * 1024;
const MAX_DEPTH: usize = 6;
/// Lines, unless the call says how many; and at most. Characters of one.
const USUAL: u64 = 20;
const MOST: u64 = 100;
const MAX_LINE: usize = 300;
/// Files that a result names as not read.
const MAX_TOLD: usize = 50;

const TELL: &str = "say that the files cannot be searched";

#[derive(Default)]
struct Searched {
    files: usize,
    bytes: usize,
    total: usize,
    matches: Vec<Value>,
    unread: Vec<Value>,
    /// More is there than one call looks at.
    cut: bool,
}

/// A folder that a tool's file may name: below the project, not hidden, and none of agentctl's own.
pub(super) fn is_folder(named: &str) -> bool {
    let parts: Vec<&str> = named.split('/').collect();
    let plain =
        |part: &&str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0']);
    parts.iter().all(plain) && parts.first() != Some(&"memory")
}

pub(super) fn search(args: &Map<String, Value>, root: &Path, folder: &str) -> Answered {
    let query = args.get("query").and_then(Value::as_str);
    let wanted: Vec<String> = query
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    if wanted.is_empty() {
        return Err(("there is nothing to search for".to_owned(), "name words"));
    }
    let limit = args.get("limit").and_then(Value::as_u64).unwrap_or(USUAL);
    let limit = usize::try_from(limit.clamp(1, MOST)).unwrap_or_default();
    let inside = match within(root, Path::new(folder)) {
        Ok(Within::Inside(inside)) => inside,
        Ok(Within::Outside) => return Err((format!("{folder} leads out of the project"), TELL)),
        Ok(Within::Missing) => return Err((format!("the project has no folder {folder}"), TELL)),
        Err(e) => return Err((format!("cannot read {folder}: {e}"), TELL)),
    };
    let files = Files::open(&root.join(inside)).map_err(|e| (e.to_string(), TELL))?;
    let mut searched = Searched::default();
    searched.folder(&files, Path::new("."), 0, (&wanted, limit))?;
    Ok(json!({
        "matches": searched.matches,
        "total": searched.total,
        "files": searched.files,
        "unread": searched.unread,
        "cut": searched.cut,
    }))
}

impl Searched {
    fn folder(
        &mut self,
        files: &Files,
        at: &Path,
        depth: usize,
        wish: (&[String], usize),
    ) -> Result<(), (String, &'static str)> {
        let failed = |e: agentctl_host::files::FileError| (e.to_string(), TELL);
        for name in files.names(at).map_err(failed)? {
            if name.starts_with('.') {
                continue;
            }
            if self.files >= MAX_FILES || self.bytes >= MAX_ALL {
                self.cut = true;
                return Ok(());
            }
            let path: PathBuf = at.join(&name);
            match files.read(&path, MAX_FILE).map_err(failed)? {
                Found::Bytes(bytes) => self.file(&path, bytes, wish),
                Found::Missing => {}
                // A folder is no file to read; whatever else it is has no names.
                Found::Odd(why) => match files.names(&path) {
                    Ok(_) if depth < MAX_DEPTH => self.folder(files, &path, depth + 1, wish)?,
                    Ok(_) => self.cut = true,
                    Err(_) => self.not_read(&path, &why),
                },
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, bytes: Vec<u8>, (wanted, limit): (&[String], usize)) {
        self.files += 1;
        self.bytes += bytes.len();
        let Ok(text) = String::from_utf8(bytes) else {
            self.not_read(path, "it is no text");
            return;
        };
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            if !wanted.iter().all(|word| lower.contains(word.as_str())) {
                continue;
            }
            self.total += 1;
            if self.matches.len() < limit {
                let line: String = line.trim().chars().take(MAX_LINE).collect();
                self.matches
                    .push(json!({"file": shown(path), "line": number + 1, "text": line}));
            }
        }
    }

    fn not_read(&mut self, path: &Path, why: &str) {
        if self.unread.len() < MAX_TOLD {
            self.unread.push(json!({"file": shown(path), "why": why}));
        }
    }
}

/// Below the folder.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

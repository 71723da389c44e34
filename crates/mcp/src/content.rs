//! What files hold, as a hash: of one file, or of the code below a folder. Bounded in number, size and depth; never waits for a
//! pipe, never follows a link into a loop. What could not be looked at is part of the hash as such, and is told.

use agentctl_base::canonical::sha256_hex;
use agentctl_host::files::read_regular;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program of one file may be long.
const MAX_FILE: u64 = 64 * 1024 * 1024;
const MOST_FILES: usize = 4_000;
const MOST_BYTES: u64 = 32 * 1024 * 1024;
const MOST_DEPTH: usize = 24;
const MOST_ENTRIES: usize = 40_000;

/// How much of a folder is looked at, for a person.
pub(super) fn most() -> String {
    format!("{MOST_FILES} files, {} MiB", MOST_BYTES / (1024 * 1024))
}

/// Folders that a program writes, or that are bound by what names their contents (lock files).
const NOT_CODE: &[&str] = &[
    ".git",
    ".agentctl",
    "node_modules",
    ".venv",
    "venv",
    "target",
    "__pycache__",
    ".cache",
];
/// Folders of the project itself that every run writes.
const NOT_CODE_AT_TOP: &[&str] = &["memory", "workflows"];
/// Endings of what is read and not run.
const DATA: &[&str] = &[
    "md", "txt", "csv", "tsv", "log", "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "pdf",
    "css", "html", "lock", "map", "db", "sqlite", "json", "jsonl",
];
/// JSON files that say what is run.
const CODE_ALL_THE_SAME: &[&str] = &["package.json", "tsconfig.json", "deno.json", "jsr.json"];

/// One file's content; what it is instead, where it is no file that can be read.
fn file(path: &Path) -> String {
    match read_regular(path, MAX_FILE) {
        Ok(bytes) => sha256_hex(&bytes),
        Err(e) => format!("unread: {}", e.kind()),
    }
}

/// The code below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    pub hash: String,
    pub files: usize,
    /// Everything was looked at.
    pub is_whole: bool,
}

/// What was looked at already, so that a folder is not read once for each server that may run its code.
#[derive(Debug, Default)]
pub(super) struct Seen {
    files: RefCell<BTreeMap<PathBuf, String>>,
    /// By folder, whether it was looked at as the project, and whether all of it counted.
    folders: RefCell<BTreeMap<(PathBuf, bool, bool), Code>>,
}

impl Seen {
    /// See [`file`].
    pub fn file(&self, path: &Path) -> String {
        if let Some(known) = self.files.borrow().get(path) {
            return known.clone();
        }
        let hash = file(path);
        self.files
            .borrow_mut()
            .insert(path.to_owned(), hash.clone());
        hash
    }

    /// See [`code`]; `project` is the same at each call.
    pub fn code(&self, folder: &Path, project: Option<&Path>, everything: bool) -> Code {
        let key = (folder.to_owned(), project.is_some(), everything);
        if let Some(known) = self.folders.borrow().get(&key) {
            return known.clone();
        }
        let found = code(folder, project, everything);
        self.folders.borrow_mut().insert(key, found.clone());
        found
    }
}

struct Walk {
    lines: Vec<String>,
    files: usize,
    bytes: u64,
    entries: usize,
    is_whole: bool,
}

/// `project`: its own folders that each run writes are left out. `everything`: as the folder of one package, with data and all.
fn code(folder: &Path, project: Option<&Path>, everything: bool) -> Code {
    let mut walk = Walk {
        lines: Vec::new(),
        files: 0,
        bytes: 0,
        entries: 0,
        is_whole: true,
    };
    let mut open: Vec<(PathBuf, String, usize)> = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((at, name, depth)) = open.pop() {
        let Ok(read) = std::fs::read_dir(&at) else {
            walk.lines.push(format!("unread {name:?}"));
            continue;
        };
        let mut entries: Vec<std::fs::DirEntry> = Vec::new();
        for entry in read {
            walk.entries += 1;
            if walk.entries > MOST_ENTRIES {
                walk.is_whole = false;
                break;
            }
            entries.extend(entry.ok());
        }
        entries.sort_by_key(std::fs::DirEntry::file_name);
        let at_top = project == Some(at.as_path());
        for entry in entries {
            let short = entry.file_name().to_string_lossy().into_owned();
            let below = format!("{name}/{short}");
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                let passed_over = NOT_CODE.contains(&short.as_str())
                    || (at_top && NOT_CODE_AT_TOP.contains(&short.as_str()));
                if passed_over && !everything {
                    continue;
                }
                match depth < MOST_DEPTH {
                    true => open.push((entry.path(), below, depth + 1)),
                    false => walk.is_whole = false,
                }
                continue;
            }
            if everything || is_code(&short) {
                walk.take(&entry.path(), &below, kind.is_symlink());
            }
        }
    }
    walk.lines.sort_unstable();
    if !walk.is_whole {
        walk.lines.push("more than is looked at".to_owned());
    }
    Code {
        hash: sha256_hex(walk.lines.join("\n").as_bytes()),
        files: walk.files,
        is_whole: walk.is_whole,
    }
}

impl Walk {
    fn take(&mut self, path: &Path, name: &str, is_link: bool) {
        if self.files >= MOST_FILES || self.bytes >= MOST_BYTES {
            self.is_whole = false;
            return;
        }
        self.files += 1;
        let target = match is_link {
            true => std::fs::read_link(path).ok(),
            false => None,
        };
        let left = MOST_BYTES.saturating_sub(self.bytes);
        let content = match read_regular(path, left) {
            Ok(bytes) => {
                self.bytes += bytes.len() as u64;
                sha256_hex(&bytes)
            }
            Err(e) => {
                let size = path.metadata().map(|meta| meta.len()).unwrap_or_default();
                if size > left {
                    self.is_whole = false;
                }
                format!("unread: {} {size}", e.kind())
            }
        };
        self.lines.push(format!("{name:?} {target:?} {content}"));
    }
}

fn is_code(name: &str) -> bool {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    CODE_ALL_THE_SAME.contains(&name)
        || ending.is_none_or(|ending| !DATA.contains(&ending.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_code_is_another_hash_and_a_change_of_data_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for (name, text) in [
            ("server.js", "1"),
            ("lib/a.py", "1"),
            ("run", "1"),
            ("package.json", "{}"),
            ("data.json", "1"),
            ("README.md", "1"),
            ("memory/runs/x.js", "1"),
            ("lib/memory/x.js", "1"),
            ("node_modules/a/x.js", "1"),
        ] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let hash = || code(root, Some(root), false).hash;
        let first = hash();
        assert_eq!(first, hash());
        let files = code(root, Some(root), false).files;
        assert_eq!(files, 5);
        for (name, counts) in [
            ("server.js", true),
            ("lib/a.py", true),
            ("run", true),
            ("package.json", true),
            ("lib/memory/x.js", true),
            ("data.json", false),
            ("README.md", false),
            ("memory/runs/x.js", false),
            ("node_modules/a/x.js", false),
        ] {
            let path = root.join(name);
            std::fs::write(&path, "2").unwrap();
            assert_eq!(hash() != first, counts, "{name}");
            let text = if name == "package.json" { "{}" } else { "1" };
            std::fs::write(&path, text).unwrap();
            assert_eq!(hash(), first, "{name}");
        }
        std::fs::rename(root.join("run"), root.join("ran")).unwrap();
        assert_ne!(hash(), first);
        assert_eq!(code(root, Some(root), true).files, 9);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_waits_loops_or_grows() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        nix::unistd::mkfifo(&at("pipe.js"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless.js")).unwrap();
        std::os::unix::fs::symlink(dir.path(), at("loop")).unwrap();
        std::os::unix::fs::symlink(at("none"), at("dangling.js")).unwrap();
        let found = code(dir.path(), None, true);
        assert_eq!((found.files, found.is_whole), (4, true));
        assert_eq!(file(&at("pipe.js")).get(..6), Some("unread"));
        std::fs::remove_file(at("dangling.js")).unwrap();
        std::os::unix::fs::symlink(at("other"), at("dangling.js")).unwrap();
        assert_ne!(
            code(dir.path(), None, true).hash,
            found.hash,
            "where a link leads counts"
        );
        for i in 0..MOST_FILES {
            std::fs::write(at(&format!("f{i}.js")), "").unwrap();
        }
        assert!(!code(dir.path(), None, true).is_whole);
    }
}

//! Files that a run made for its user: `memory/files/RUN/NAME`. Where they lie, what they are called, and links to them that only the
//! user's key can make.

use super::{Project, StoreError};
use agentctl_host::files::{FileError, Files, Found, is_plain};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder of all of them, below the project.
const FOLDER: &str = "memory/files";
/// The longest name, in bytes.
const MAX_NAME: usize = 200;
/// What a link's mark is for: it counts for nothing else.
const LINK: &str = "agentctl file link 1";

/// What a run may make: the ending of its name, and its media type.
pub const KINDS: [(&str, &str); 5] = [
    ("md", "text/markdown; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("json", "application/json"),
    ("pdf", "application/pdf"),
];

/// A file's name, which says nothing of whether it is there. It never leads out of its run's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    run: String,
    name: String,
    media_type: &'static str,
}

impl RunFile {
    /// The largest one, in bytes.
    pub const MAX: usize = 4 * 1024 * 1024;

    /// None: no file of a run has such a name.
    pub fn of(run: &str, name: &str) -> Option<RunFile> {
        let (base, ending) = name.rsplit_once('.')?;
        let (_, media_type) = KINDS.iter().find(|(known, _)| *known == ending)?;
        let is_base = !base.is_empty()
            && base
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        (is_plain(run) && is_base && name.len() <= MAX_NAME).then(|| RunFile {
            run: run.to_owned(),
            name: name.to_owned(),
            media_type,
        })
    }

    /// By its place below the project, `memory/files/RUN/NAME`; None: that is no such place.
    pub fn at(place: &str) -> Option<RunFile> {
        let (run, name) = place
            .strip_prefix(FOLDER)?
            .strip_prefix('/')?
            .split_once('/')?;
        RunFile::of(run, name)
    }

    pub fn run(&self) -> &str {
        &self.run
    }
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn media_type(&self) -> &'static str {
        self.media_type
    }
    /// Its place below the project.
    pub fn place(&self) -> String {
        format!("{FOLDER}/{}/{}", self.run, self.name)
    }
    /// The folder of a run's files, below the project.
    pub fn folder(run: &str) -> PathBuf {
        Path::new(FOLDER).join(run)
    }
}

impl Project {
    /// What stands in it; None: it is not there, or is no file of at most [`RunFile::MAX`] bytes.
    pub fn run_file(&self, file: &RunFile) -> Result<Option<Vec<u8>>, StoreError> {
        let files = Files::open(self.root())?;
        self.fetch_file(&files, file)?;
        match files.read(Path::new(&file.place()), RunFile::MAX as u64)? {
            Found::Bytes(bytes) => Ok(Some(bytes)),
            Found::Missing | Found::Odd(_) => Ok(None),
        }
    }

    /// How many bytes stand in it; None as for [`Project::run_file`].
    pub fn run_file_size(&self, file: &RunFile) -> Result<Option<u64>, StoreError> {
        let files = Files::open(self.root())?;
        self.fetch_file(&files, file)?;
        let size = files.size(Path::new(&file.place()))?;
        Ok(size.filter(|size| *size <= RunFile::MAX as u64))
    }

    /// Removes all that a run made. False: there was nothing.
    pub fn remove_run_files(&self, run_id: &str) -> Result<bool, StoreError> {
        let _ = self.run(run_id)?;
        self.refuse_links(None)?;
        let all = self.root().join(FOLDER);
        match fs::symlink_metadata(&all) {
            Ok(found) if found.is_symlink() => return Err(FileError::Linked { path: all }.into()),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(StoreError::io("look at", all)(e)),
        }
        let dir = self.root().join(RunFile::folder(run_id));
        match fs::remove_dir_all(&dir) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(StoreError::io("remove", dir)(e)),
        }
    }

    /// The mark of a link to a file of this folder that counts until then, in seconds since 1970. None: there is no key of the user.
    pub fn link_mark(&self, file: &RunFile, until: i64) -> Option<String> {
        let key = self.key()?;
        Some(self.over_link(file, until, |parts| key.mac(LINK, parts)))
    }

    /// Whether a link's mark was made with the user's key for this folder, file and time; compared in constant time.
    pub fn is_link_mark(&self, file: &RunFile, until: i64, mark: &str) -> bool {
        let Some(key) = self.key() else { return false };
        self.over_link(file, until, |parts| key.made(LINK, parts, mark))
    }

    fn over_link<T>(&self, file: &RunFile, until: i64, made: impl FnOnce(&[&[u8]]) -> T) -> T {
        let place = self.place();
        made(&[
            place.as_os_str().as_encoded_bytes(),
            file.run.as_bytes(),
            file.name.as_bytes(),
            &until.to_be_bytes(),
        ])
    }
}

#[cfg(test)]
#[path = "run_files_tests.rs"]
mod run_files_tests;

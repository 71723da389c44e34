//! Reading a journal while another process writes it: whole, verified records as they come. It takes no lock and changes
//! nothing; a journal that is not there, or for a moment shorter than it was, has nothing new to say.

use super::{Foreign, Marks, Record, StoreError, read::Loaded};
use agentctl_host::files::FileError;
use std::{
    fs::File,
    io::{ErrorKind, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    marks: Marks,
    loaded: Loaded,
}

impl Tail {
    pub fn new(path: &Path) -> Self {
        Tail {
            path: path.to_owned(),
            marks: Marks::none(),
            loaded: Loaded::empty(),
        }
    }

    /// Judges whose the records are.
    #[must_use]
    pub fn of(self, marks: Marks) -> Self {
        Tail { marks, ..self }
    }

    /// From where on what was read so far is not this user's.
    pub fn foreign(&self) -> Option<&Foreign> {
        self.loaded.foreign.as_ref()
    }

    /// The records that came since the last call; with them the error that comes after them, if there is one.
    pub fn more(&mut self) -> (Vec<Record>, Result<(), StoreError>) {
        let bytes = match self.new_bytes() {
            Ok(bytes) => bytes,
            Err(error) => return (Vec::new(), Err(error)),
        };
        let read = self.loaded.read_on(&self.path, &bytes, &self.marks);
        (std::mem::take(&mut self.loaded.records), read)
    }

    fn new_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let failed = |e| StoreError::io("read", &self.path)(e);
        // A link, or a pipe that never ends, is no journal.
        match std::fs::symlink_metadata(&self.path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => {
                return Err(FileError::Linked {
                    path: self.path.clone(),
                }
                .into());
            }
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(failed(e)),
        }
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(failed(e)),
        };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.loaded.whole()))
            .and_then(|_| file.read_to_end(&mut bytes))
            .map_err(failed)?;
        Ok(bytes)
    }
}

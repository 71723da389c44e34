//! Files as others may have put them there: read without a wait and never outside their folder, written whole or not at all.

mod atomic;
mod disk;
mod folder;
mod name;
mod regular;
mod temporary;

pub use atomic::{
    create_dir, create_dir_unsynced, parent, sync_dir, sync_dir_on, write_atomic, write_atomic_on,
    write_cache,
};
pub use disk::{Disk, real};
pub use folder::{Existing, Files};
pub use name::{file_part, is_plain};
pub use regular::{
    Found, LEADS_OUT, Links, Opened, Within, has_other_names, open_given, open_own, plain_path,
    read_below, read_given, read_given_text, read_own, read_regular, read_regular_text,
    read_within, within,
};
pub(crate) use temporary::create as create_temporary;
pub use temporary::{tidy, tidy_here};

use std::{io, path::PathBuf};

/// What can go wrong with a file. Never swallowed: what could not be kept is not there.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is a link; agentctl keeps its files inside the project: put a real file or folder there", path.display())]
    Linked { path: PathBuf },
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
}

impl FileError {
    pub fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> FileError {
        let path = path.into();
        move |source| FileError::Io {
            doing,
            path,
            source,
        }
    }
}

//! What the machine has no more of: room on a disk, file handles, memory. Such a failure is nobody else's, whoever met it.

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::error::Error;
use std::fs::File;
use std::io;

/// Handles that a command needs besides those that are open when it begins; measured for a build: 15.
const HANDLES: usize = 24;
/// What a process may have where nobody said otherwise.
const USUAL: u64 = 1024;

/// Whether the cause of an error is that the machine has no more of something.
pub fn is_short(error: &(dyn Error + 'static)) -> bool {
    is_caused(error, says_short)
}

/// Whether the system said this at the bottom of it, or on the way there.
fn is_caused(error: &(dyn Error + 'static), says: fn(&io::Error) -> bool) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            let inner = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
            if says(error) || inner.is_some_and(|inner| is_caused(inner, says)) {
                return true;
            }
        }
        cause = error.source();
    }
    false
}

/// Whether a file could not be looked at for want of something of the machine's, or because its disk failed: that says nothing of
/// what stands there.
pub fn is_at_fault(error: &io::Error) -> bool {
    is_caused(error, |error| {
        says_short(error) || error.raw_os_error() == Some(Errno::IO.raw_os_error())
    })
}

fn says_short(error: &io::Error) -> bool {
    let short = [
        Errno::NOSPC,
        Errno::DQUOT,
        Errno::FBIG,
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOMEM,
        Errno::ROFS,
    ];
    error
        .raw_os_error()
        .is_some_and(|code| short.contains(&Errno::from_raw_os_error(code)))
}

/// Sees that a command has the file handles that it needs, and takes what it may where there are too few. Err: what to tell.
pub fn handles() -> Result<(), String> {
    let Err(first) = try_handles() else {
        return Ok(());
    };
    let mut limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(USUAL, |most| most.min(USUAL));
    if limit.current.is_some_and(|now| now < most) {
        limit.current = Some(most);
        if setrlimit(Resource::Nofile, limit).is_ok() && try_handles().is_ok() {
            return Ok(());
        }
    }
    let allowed = limit.current.map(|now| format!(" of {now}"));
    Err(format!(
        "too few file handles are left{}: {first}; a command needs {HANDLES} more than are open when it begins",
        allowed.unwrap_or_default()
    ))
}

fn try_handles() -> io::Result<()> {
    let first = File::open("/dev/null")?;
    let more = (1..HANDLES).map(|_| first.try_clone());
    more.collect::<io::Result<Vec<File>>>().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FileError;

    #[test]
    fn a_shortage_is_found_below_whoever_met_it() {
        let full = || io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error());
        let handles = || io::Error::from_raw_os_error(Errno::MFILE.raw_os_error());
        assert!(is_short(&full()) && is_short(&handles()));
        assert!(is_short(&io::Error::other(full())));
        assert!(is_short(&FileError::io("write", "a")(handles())));
        assert!(!is_short(&io::Error::from(io::ErrorKind::NotFound)));
        assert!(!is_short(&io::Error::other("No space left on device")));
        let of = |errno: Errno| is_at_fault(&io::Error::from_raw_os_error(errno.raw_os_error()));
        assert!(of(Errno::IO) && of(Errno::MFILE));
        // Of a folder that could not be synced, too.
        let io = io::Error::from_raw_os_error(Errno::IO.raw_os_error());
        assert!(is_at_fault(&io::Error::other(FileError::io("sync", "a")(
            io
        ))));
        assert!(!of(Errno::ACCESS) && !of(Errno::NOENT) && !of(Errno::LOOP));
    }
}

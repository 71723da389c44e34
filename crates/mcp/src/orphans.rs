//! Servers whose agentctl was killed. A server is asked to end by closing its stdin, which not every one heeds; an agentctl that is
//! killed at once (`kill -9`, no memory left) can do no more. So each server that runs is written down beside the process that started
//! it, and the next start of any server ends those that nobody is left to end.

use agentctl_host::files::write_atomic;
use agentctl_host::process::Identity;
use serde::{Deserialize, Serialize};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// An entry is two processes.
const MAX_BYTES: u64 = 4096;

/// A server and the process that started it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Running {
    pub(super) server: Identity,
    pub(super) owner: Identity,
}

/// A server's entry among those that run; taken out when it is dropped.
#[derive(Debug)]
pub(super) struct Entry(PathBuf);

impl Drop for Entry {
    fn drop(&mut self) {
        // Left behind it says that the server has ended, which the next look sees itself.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Where the entries of this user lie; None when the user has no cache folder.
pub(super) fn folder() -> Option<PathBuf> {
    Some(agentctl_host::cache::of_user(agentctl_host::home::variable)?.join("servers"))
}

/// Writes down that this child runs, a leader of its group. None when it cannot be: then it ends as any child does, and only after a
/// `kill -9` of ours it may go on.
pub(super) fn enter(folder: &Path, child: u32, owner: u32) -> Option<Entry> {
    let running = Running {
        server: Identity::of(child)?,
        owner: Identity::of(owner)?,
    };
    let path = folder.join(name(owner, child));
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .ok()?;
    write_atomic(&path, &serde_json::to_vec(&running).ok()?).ok()?;
    Some(Entry(path))
}

/// Ends the servers whose owner is gone, and forgets those that ended. Only what this user alone can have written is believed.
pub(super) fn end_orphans(folder: &Path) {
    if !is_ours(folder, std::fs::Metadata::is_dir) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        // What cannot be read, or names another pair than its name does, names no process to end.
        let Some(running) = read(&path).filter(|running| running.owner.is_gone()) else {
            continue;
        };
        running.server.kill_group();
        drop(Entry(path));
    }
}

fn read(path: &Path) -> Option<Running> {
    let small = |found: &std::fs::Metadata| found.is_file() && found.len() <= MAX_BYTES;
    if !is_ours(path, small) {
        return None;
    }
    let running: Running = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    let named = name(running.owner.pid, running.server.pid);
    (path.file_name()?.to_str()? == named).then_some(running)
}

/// Of this user, and written by nobody else; no link is followed.
fn is_ours(path: &Path, kind: impl Fn(&std::fs::Metadata) -> bool) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| {
        kind(&found)
            && found.uid() == rustix::process::geteuid().as_raw()
            && found.mode() & 0o022 == 0
    })
}

fn name(owner: u32, server: u32) -> String {
    format!("{owner}-{server}.json")
}

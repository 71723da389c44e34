//! Children of ours and what they start in turn: none outlives this program, however it ends. A child that is not waited for yet
//! keeps its pid, and its group with it, so nothing else is ever signalled. What a `kill -9` of ours leaves behind is for others
//! (`agentctl_mcp`'s orphans).

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgid, kill_process, kill_process_group, waitid,
};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use tokio::signal::unix::{SignalKind, signal};

/// The children that end with this program.
static LIVING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
/// Between two looks for what was started meanwhile.
const LOOKS: usize = 16;

/// A child that was started and not waited for. Dropped, or at the end of this program, it is killed with all that it started:
/// with its group, when it leads one, and with what descends from it.
#[derive(Debug)]
#[must_use]
pub struct Family {
    child: u32,
}

impl Family {
    /// Of a child of this process, taken before anybody waits for it.
    pub fn of(child: u32) -> Self {
        change(|living| living.insert(child));
        Family { child }
    }

    /// It was waited for, or may outlive this program: nothing is killed.
    pub fn let_go(self) {
        change(|living| living.remove(&self.child));
        std::mem::forget(self);
    }

    /// Kills all of it, the child too.
    pub fn kill(&self) {
        kill(&[self.child]);
    }

    /// Ready when the child has ended. It still has to be waited for; until then its group can be killed.
    pub async fn child_ended(&self) -> std::io::Result<()> {
        // Heard from before the first look on, so that no end is missed.
        let mut ends = signal(SignalKind::child())?;
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Some(child) = pid(self.child) else {
            return Ok(());
        };
        while waitid(WaitId::Pid(child), ended)?.is_none() {
            ends.recv().await;
        }
        Ok(())
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        self.kill();
        change(|living| living.remove(&self.child));
    }
}

/// Kills all children of this program with their families: the program ends now.
pub fn end_all() {
    let living: Vec<u32> = change(|living| living.iter().copied().collect());
    kill(&living);
}

/// A holder that panicked left the set whole: each change of it is one insert or one remove.
fn change<T>(with: impl FnOnce(&mut BTreeSet<u32>) -> T) -> T {
    with(&mut LIVING.lock().unwrap_or_else(PoisonError::into_inner))
}

fn pid(raw: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(raw).ok()?)
}

/// All that is found is stopped first, so that nothing is started, and no pid freed, between the look and the end.
fn kill(children: &[u32]) {
    let mut stopped: BTreeSet<u32> = BTreeSet::new();
    for _ in 0..LOOKS {
        let found = families(children, &table());
        let new: Vec<u32> = found.difference(&stopped).copied().collect();
        if new.is_empty() {
            break;
        }
        new.iter().for_each(|one| send(*one, Signal::STOP));
        stopped.extend(new);
    }
    for child in children {
        // Where the table of processes cannot be read, this is what is left.
        if let Some(group) = pid(*child).filter(|group| getpgid(Some(*group)) == Ok(*group)) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
    stopped.iter().for_each(|one| send(*one, Signal::KILL));
}

/// It may end between the look and the signal; then there is nobody to hear of it.
fn send(to: u32, signal: Signal) {
    if let Some(to) = pid(to) {
        let _ = kill_process(to, signal);
    }
}

/// A process of this machine.
#[derive(Debug, Clone, Copy)]
struct Process {
    pid: u32,
    parent: u32,
    group: u32,
}

/// The children that are still ours, who is in a group that one of them leads, and all that descend from these.
fn families(children: &[u32], table: &[Process]) -> BTreeSet<u32> {
    let own = std::process::id();
    let ours: BTreeSet<u32> = table
        .iter()
        .filter(|one| one.parent == own && children.contains(&one.pid))
        .map(|one| one.pid)
        .collect();
    let mut found = ours.clone();
    loop {
        let before = found.len();
        let related = table.iter().filter(|one| {
            one.pid != own && (ours.contains(&one.group) || found.contains(&one.parent))
        });
        let related: Vec<u32> = related.map(|one| one.pid).collect();
        found.extend(related);
        if found.len() == before {
            return found;
        }
    }
}

/// All processes that can be seen.
#[cfg(target_os = "linux")]
fn table() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in front may hold spaces and brackets.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace().skip(1);
        Some(Process {
            pid,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
        })
    })
    .collect()
}

#[cfg(not(target_os = "linux"))]
fn table() -> Vec<Process> {
    let output = std::process::Command::new("ps")
        .args(["-A", "-o", "pid=,ppid=,pgid="])
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    let row = |line: &str| {
        let mut fields = line.split_whitespace().map(str::parse);
        Some(Process {
            pid: fields.next()?.ok()?,
            parent: fields.next()?.ok()?,
            group: fields.next()?.ok()?,
        })
    };
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(row)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::process::{Child, Command, Stdio};

    #[test]
    fn a_family_is_the_child_its_group_and_its_descendants() {
        let own = std::process::id();
        let process = |pid, parent, group| Process { pid, parent, group };
        let table = [
            process(own, 1, own),
            process(900_001, own, 900_001),
            process(900_002, 900_001, 900_001),
            // Its parent has ended; it is still in the group.
            process(900_003, 1, 900_001),
            // A group of its own, below a member.
            process(900_004, 900_003, 900_004),
            // Another child, and a process of somebody else.
            process(900_005, own, own),
            process(900_006, 1, 900_006),
        ];
        assert_eq!(
            families(&[900_001, 900_006], &table),
            BTreeSet::from([900_001, 900_002, 900_003, 900_004])
        );
        assert_eq!(families(&[900_005], &table), BTreeSet::from([900_005]));
    }

    /// A shell that ignores what asks it to end, with children and a grandchild, which hold its stdout.
    fn stubborn(leads: bool) -> Child {
        let script = "trap '' TERM HUP INT QUIT; sh -c 'sleep 600 & wait' & sleep 600 & echo there; exec 1>&-; wait";
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        if leads {
            command.process_group(0);
        }
        command.spawn().unwrap()
    }

    #[test]
    fn a_family_that_is_dropped_ends_whole() {
        for leads in [true, false] {
            let mut child = stubborn(leads);
            let family = Family::of(child.id());
            let mut said = BufReader::new(child.stdout.take().unwrap());
            said.read_line(&mut String::new()).unwrap();
            drop(family);
            // All that have its end of the pipe are gone: the sleepers hold it too.
            said.read_to_end(&mut Vec::new()).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(9));
        }
    }

    #[test]
    fn what_is_let_go_stays() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        Family::of(child.id()).let_go();
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[tokio::test]
    async fn a_child_that_has_ended_leaves_nobody_behind() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & exit 3"]);
        let mut child = command
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let family = Family::of(child.id());
        let mut said = child.stdout.take().unwrap();
        family.child_ended().await.unwrap();
        family.kill();
        said.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3));
        family.let_go();
    }
}

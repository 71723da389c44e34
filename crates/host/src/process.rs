//! Which process a pid means. A pid is used again after its process ended, so it counts only together with the time at which
//! the process began; nothing else is ever signalled.

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One process, also after a reboot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub pid: u32,
    /// When it began, as the system counts it; opaque.
    pub began: String,
}

const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How long it may take to end by itself.
const GRACE: Duration = Duration::from_secs(20);

impl Identity {
    /// The process of this pid as it is now; None when there is none, or when that cannot be seen.
    pub fn of(pid: u32) -> Option<Self> {
        Some(Identity {
            pid,
            began: began(pid).ok()??,
        })
    }

    /// Whether this very process still runs.
    pub fn is_alive(&self) -> bool {
        matches!(began(self.pid), Ok(Some(began)) if began == self.began)
    }

    /// Whether it is seen that it no longer runs; what cannot be seen is not gone.
    pub fn is_gone(&self) -> bool {
        began(self.pid).is_ok_and(|began| began.as_deref() != Some(&self.began))
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.pid).ok()?)
    }

    /// Asks it to end, and after a while ends it with what it started. True when it is gone.
    pub async fn end(&self) -> bool {
        self.ask_to_end();
        if self.gone_within(GRACE).await {
            return true;
        }
        self.kill_group();
        self.gone_within(GRACE).await
    }

    /// Ends at once the group that it leads: itself and what it started. Nothing where it leads none, and never the first process,
    /// whose group means every process, or our own.
    pub fn kill_group(&self) {
        let Some(pid) = self.pid().filter(|_| self.is_alive()) else {
            return;
        };
        if self.pid > 1 && self.pid != std::process::id() && getpgid(Some(pid)) == Ok(pid) {
            // It may end between the look and the signal; then there is nobody to hear of it.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    pub fn ask_to_end(&self) {
        if let Some(pid) = self.pid().filter(|_| self.is_alive()) {
            // It may end between the look and the signal; then there is nobody to hear of it.
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Waits for its end, but no longer than this; holds up the thread.
    pub fn wait_until_gone(&self, patience: Duration) {
        let deadline = std::time::Instant::now() + patience;
        while self.is_alive() && std::time::Instant::now() < deadline {
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    async fn gone_within(&self, patience: Duration) -> bool {
        let deadline = tokio::time::Instant::now() + patience;
        while self.is_alive() {
            if tokio::time::Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        true
    }
}

/// `boot/ticks`; None for a pid that nobody has, or whose process has ended and was not yet waited for.
#[cfg(target_os = "linux")]
fn began(pid: u32) -> std::io::Result<Option<String>> {
    let stat = match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    // The name in front may hold spaces and brackets.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut fields = rest.split_whitespace();
    if matches!(fields.next(), None | Some("Z" | "X")) {
        return Ok(None);
    }
    let Some(ticks) = fields.nth(18) else {
        return Err(std::io::Error::other("a process without a beginning"));
    };
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(Some(format!("{}/{ticks}", boot.trim())))
}

#[cfg(not(target_os = "linux"))]
fn began(pid: u32) -> std::io::Result<Option<String>> {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=,lstart=", "-p", &pid.to_string()])
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .output()?;
    let line = String::from_utf8_lossy(&output.stdout);
    let found = line.trim().split_once(char::is_whitespace);
    Ok(found.and_then(|(state, began)| (!state.starts_with('Z')).then(|| began.trim().to_owned())))
}

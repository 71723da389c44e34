//! Calls with hidden values that wait for the user's approval, kept in the user's home: a file each, for its owner only (0600),
//! below a folder for the run of this project. Not encrypted: whoever can read the home can read the key that would open it.
//! What is spent, too old or of a run that ended is removed.

use agentctl_base::canonical::sha256_hex;
use agentctl_engine::gateway::HeldCall;
use agentctl_engine::gateway::HeldCalls;
use agentctl_host::home::Home;
use jiff::Timestamp;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = "held";

pub struct Held {
    home: Home,
    /// The project's real path: a run that was copied elsewhere has none of these calls.
    project: PathBuf,
    now: fn() -> Timestamp,
}

impl Held {
    /// `now`: the time by which a call is too old.
    pub fn new(home: Home, project: &Path, now: fn() -> Timestamp) -> Self {
        Held {
            home,
            project: project
                .canonicalize()
                .unwrap_or_else(|_| project.to_owned()),
            now,
        }
    }

    /// No part of it is a name that somebody else chose.
    fn folder(&self, run: &str) -> String {
        let of = format!("{}\0{run}", self.project.display());
        format!("{FOLDER}/{}", sha256_hex(of.as_bytes()))
    }

    fn file(&self, run: &str, step: &str, call_id: &str) -> String {
        let of = sha256_hex(format!("{step}\0{call_id}").as_bytes());
        format!("{}/{of}.json", self.folder(run))
    }

    fn read(&self, file: &str) -> Option<HeldCall> {
        let bytes = self.home.read(file).ok().flatten()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The calls of a run that wait, in no order.
    pub fn of_run(&self, run: &str) -> Vec<HeldCall> {
        self.tidy();
        let folder = self.folder(run);
        let files = names(&self.home.dir().join(&folder));
        files
            .iter()
            .filter_map(|name| self.read(&format!("{folder}/{name}")))
            .collect()
    }

    /// Removes every call whose time is over, of whatever project, and empty folders.
    fn tidy(&self) {
        for run in names(&self.home.dir().join(FOLDER)) {
            let folder = format!("{FOLDER}/{run}");
            for name in names(&self.home.dir().join(&folder)) {
                let file = format!("{folder}/{name}");
                if self
                    .read(&file)
                    .is_none_or(|held| held.is_over((self.now)()))
                {
                    // One that cannot be removed now is removed the next time; until then it is too old for anything.
                    let _ = self.home.remove(&file);
                }
            }
            // Only an empty one goes.
            let _ = fs::remove_dir(self.home.dir().join(&folder));
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect()
}

impl HeldCalls for Held {
    fn hold(&self, run: &str, held: &HeldCall) -> Result<(), String> {
        self.tidy();
        let bytes = serde_json::to_vec(held).map_err(|e| e.to_string())?;
        let file = self.file(run, &held.step, &held.call_id);
        self.home.write(&file, &bytes).map_err(|e| e.to_string())
    }

    fn find(&self, run: &str, step: &str, call_id: &str) -> Option<HeldCall> {
        let held = self.read(&self.file(run, step, call_id))?;
        let is_it = held.step == step && held.call_id == call_id;
        (is_it && !held.is_over((self.now)())).then_some(held)
    }

    fn spent(&self, run: &str, step: &str, call_id: &str) {
        // What stays is too old for use within a day, and removed then.
        let _ = self.home.remove(&self.file(run, step, call_id));
        let _ = fs::remove_dir(self.home.dir().join(self.folder(run)));
    }

    fn ended(&self, run: &str) {
        let _ = fs::remove_dir_all(self.home.dir().join(self.folder(run)));
    }
}

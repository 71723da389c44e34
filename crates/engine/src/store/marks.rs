//! Whose a run's records are. Each record that this user's agentctl writes carries a mark: the user's key over the project's
//! real path, the run's id, the record's number and its hash. The chain alone says that nothing was changed since it was made,
//! and anybody can make one; the marks say who made it. A record without this user's mark is foreign.

use agentctl_host::key::Key;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

const JOURNAL: &str = "journal";
const ACTIVE: &str = "active run";

/// Makes and judges the marks of one run in one folder.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    key: Option<Key>,
    place: Vec<u8>,
    /// Marks of this place count too; none are made for it.
    or_of: Option<Vec<u8>>,
    run_id: String,
}

/// From which record on a journal is not this user's, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    pub from: u64,
    pub why: Whose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// No mark: an agentctl of before there were marks wrote it, one without a key, or anybody by hand.
    Unmarked,
    /// A mark that is not of this key, folder, run and record.
    AnotherMark,
    /// There is no key here that a mark could be compared with.
    NoKey,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from > 1 && self.why != Whose::NoKey {
            write!(f, "from record {} on ", self.from)?;
        }
        f.write_str(match self.why {
            Whose::Unmarked => {
                "it carries no mark: an older agentctl wrote it, one without a folder of its own, or somebody by hand"
            }
            Whose::AnotherMark => {
                "it carries marks of another user, of another folder or of another run"
            }
            Whose::NoKey => {
                "no key of yours is known; set AGENTCTL_HOME to a folder of your own, outside of the project"
            }
        })
    }
}

impl Marks {
    /// None: nothing is marked, and every record is foreign.
    pub fn none() -> Marks {
        Marks::default()
    }

    /// Of the run in the project at `place`, its real path.
    pub fn of(key: Option<Key>, place: &Path, run_id: &str) -> Marks {
        Marks {
            key,
            place: place.as_os_str().as_encoded_bytes().to_vec(),
            or_of: None,
            run_id: run_id.to_owned(),
        }
    }

    /// Records that were marked for `place` are the user's as well.
    #[must_use]
    pub fn or_of(mut self, place: &Path) -> Marks {
        self.or_of = Some(place.as_os_str().as_encoded_bytes().to_vec());
        self
    }

    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The mark of record `seq` with this hash, which covers what it says and all records before it.
    pub(super) fn mark(&self, seq: u64, hash: &str) -> Option<String> {
        let key = self.key.as_ref()?;
        Some(key.mac(JOURNAL, &self.parts(&seq.to_be_bytes(), hash)))
    }

    pub(super) fn judge(&self, seq: u64, hash: &str, mark: Option<&str>) -> Result<(), Whose> {
        let key = self.key.as_ref().ok_or(Whose::NoKey)?;
        let mark = mark.ok_or(Whose::Unmarked)?;
        let seq = seq.to_be_bytes();
        let made = |place: &[u8]| {
            let parts = [self.run_id.as_bytes(), place, &seq, hash.as_bytes()];
            key.made(JOURNAL, &parts, mark)
        };
        match made(&self.place) || self.or_of.as_deref().is_some_and(made) {
            true => Ok(()),
            false => Err(Whose::AnotherMark),
        }
    }

    fn parts<'a>(&'a self, seq: &'a [u8], hash: &'a str) -> [&'a [u8]; 4] {
        [self.run_id.as_bytes(), &self.place, seq, hash.as_bytes()]
    }

    /// The mark of a text about the run; `purpose` keeps it from counting for another.
    pub(super) fn of_text(&self, purpose: &str, text: &[u8]) -> Option<String> {
        let key = self.key.as_ref()?;
        Some(key.mac(purpose, &[self.run_id.as_bytes(), &self.place, text]))
    }

    pub(super) fn is_of_text(&self, purpose: &str, text: &[u8], mark: &str) -> bool {
        let parts: [&[u8]; 3] = [self.run_id.as_bytes(), &self.place, text];
        let key = self.key.as_ref();
        key.is_some_and(|key| key.made(purpose, &parts, mark))
    }

    /// What says that this user's agentctl made the run the folder's active one.
    pub fn active(&self) -> Option<String> {
        let key = self.key.as_ref()?;
        Some(key.mac(ACTIVE, &[self.run_id.as_bytes(), &self.place]))
    }

    pub fn is_active(&self, mark: &str) -> bool {
        let parts: [&[u8]; 2] = [self.run_id.as_bytes(), &self.place];
        let key = self.key.as_ref();
        key.is_some_and(|key| key.made(ACTIVE, &parts, mark))
    }
}

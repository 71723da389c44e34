//! Which servers of `.mcp.json` count: whoever reads the file is handed this value, whose default is none of them.

use std::collections::BTreeSet;

/// The servers of `.mcp.json` that may be started and given variables, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServersInForce {
    all: bool,
    names: BTreeSet<String>,
}

impl ServersInForce {
    /// Every server, whoever wrote it: for tests, and for who decided it otherwise.
    pub fn all() -> ServersInForce {
        ServersInForce {
            all: true,
            names: BTreeSet::new(),
        }
    }

    /// Nothing of the file counts.
    pub fn is_none(&self) -> bool {
        !self.all && self.names.is_empty()
    }

    pub fn has(&self, server: &str) -> bool {
        self.all || self.names.contains(server)
    }

    /// These servers alone.
    pub fn only(names: BTreeSet<String>) -> ServersInForce {
        ServersInForce { all: false, names }
    }
}

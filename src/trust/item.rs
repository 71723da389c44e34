//! One thing that a folder would override: its kind, its name, what it would do, and the hash that stands for it.

use agentctl_base::canonical::hex;
use agentctl_engine::pack::POLICY_FILE;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The project's settings.
pub const SETTINGS: &str = "agentctl.toml";
/// The project's own list of node types. Beside the settings: meant to be committed, so that everybody checks against the same n8n.
pub const CATALOG: &str = "n8n-catalog.bin";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Agent,
    Flow,
    Policy,
    Skill,
    Pack,
    /// Data of a built-in pack, and nothing else of it: what is asked for, which teams there are, what is said.
    Data,
    Tool,
    Settings,
    Catalog,
    Server,
    /// The data of a development n8n: its workflows run, and its nodes are programs.
    N8nData,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Agent => "agent",
            Kind::Flow => "flow",
            Kind::Policy => "policy",
            Kind::Skill => "skill",
            Kind::Pack => "pack",
            Kind::Data => "data",
            Kind::Tool => "tool",
            Kind::Settings => "settings",
            Kind::Catalog => "catalog",
            Kind::Server => "server",
            Kind::N8nData => "n8n data",
        }
    }

    /// The kind of the item of this name, for one that is not there any more.
    pub fn of_name(name: &str) -> Kind {
        match name {
            POLICY_FILE => Kind::Policy,
            SETTINGS => Kind::Settings,
            CATALOG => Kind::Catalog,
            _ => match name.split('/').next().unwrap_or_default() {
                agentctl_mcp::FILE => Kind::Server,
                "agents" if name.ends_with(".yaml") => Kind::Flow,
                "agents" => Kind::Agent,
                "packs" => Kind::Pack,
                "tools" => Kind::Tool,
                _ => Kind::Skill,
            },
        }
    }

    /// What could say which n8n a project works on.
    pub fn names_an_n8n(self) -> bool {
        matches!(self, Kind::Server | Kind::Settings)
    }

    /// What the pack's reader would read.
    pub fn is_of_pack(self) -> bool {
        use Kind as K;
        matches!(
            self,
            K::Agent | K::Flow | K::Policy | K::Skill | K::Pack | K::Data | K::Tool
        )
    }

    /// Neither a program nor a prompt nor a rule. In a folder that `agentctl init` made here it is taken for its user's own.
    pub fn is_plain_data(self) -> bool {
        self == Kind::Data
    }

    /// One that cannot be trusted is left out and the rest goes on without it; of the others that would be another rule.
    pub fn may_be_left_out(self) -> bool {
        matches!(self, Kind::Skill | Kind::Pack | Kind::Data | Kind::Tool)
    }
}

/// One thing that would come into force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub kind: Kind,
    /// Its path below the folder; of a server `.mcp.json/NAME`. Unique.
    pub name: String,
    /// What it would do, line by line; names of secrets and never their values.
    pub shows: Vec<String>,
    /// Err: why it cannot be hashed, and so never trusted.
    pub hash: Result<String, String>,
}

impl Item {
    /// As messages call it.
    pub fn called(&self) -> String {
        match self.name.strip_prefix(".mcp.json/") {
            Some(server) if self.kind == Kind::Server => {
                format!("the server {server:?} of .mcp.json")
            }
            _ => self.name.clone(),
        }
    }
}

/// The hash of an item's bytes; those of two kinds are never the same.
pub fn hashed(kind: Kind, bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(kind.word().as_bytes());
    hash.update([0]);
    hash.update(bytes);
    hex(&hash.finalize())
}

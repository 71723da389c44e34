//! Which files of a folder a pack is read from, and where they lie. Who decides which count stands above.

use super::manifest::{MAIN_FLOW, is_name};
use std::collections::BTreeSet;

/// No file of a pack is larger.
pub const MAX_PACK_FILE: u64 = 4 * 1024 * 1024;
/// Where a project's skills lie; of two of the same name the first counts.
pub const SKILL_FOLDERS: [&str; 3] = ["skills", ".agents/skills", ".claude/skills"];

/// Whether a file of `agents/` is an agent, by its name.
pub fn is_agent_file(name: &str) -> bool {
    name.ends_with(".md") && !name.starts_with('.') && !name.eq_ignore_ascii_case("README.md")
}

/// Whether a file of `agents/` is a flow, by its name: `flow.yaml`, and `NAME.flow.yaml`.
pub fn is_flow_file(name: &str) -> bool {
    flow_name(name).is_some()
}

/// The flow that a file of `agents/` is, by its name.
pub(super) fn flow_name(file: &str) -> Option<&str> {
    match file {
        "flow.yaml" => Some(MAIN_FLOW),
        file => file.strip_suffix(".flow.yaml").filter(|name| is_name(name)),
    }
}

/// Whether what a project says counts, or only what agentctl and the user's own settings say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Use {
    #[default]
    BuiltIn,
    Project,
}

/// Which files of a project its pack is read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackFiles {
    pub own: Use,
    /// Skills that cannot be trusted, by path.
    pub left_out: BTreeSet<String>,
}

impl PackFiles {
    /// Every file of the project, whoever wrote it: for tests, and for who decided it otherwise.
    pub fn all() -> PackFiles {
        PackFiles {
            own: Use::Project,
            left_out: BTreeSet::new(),
        }
    }
}

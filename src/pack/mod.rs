//! The pack that is compiled into the binary, n8n-builder: the repository's own `agents/` and `skills/`.

use agentctl_engine::pack::{self, BuiltIn, LoadOptions, Pack, PackErrors};
use agentctl_n8n_tools::vocabulary;
use rust_embed::RustEmbed;
use std::path::Path;
use std::sync::LazyLock;

#[cfg(test)]
mod flow_tests;
#[cfg(test)]
mod pack_tests;
#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod prompts_tests;

#[derive(RustEmbed)]
#[folder = "agents/"]
#[prefix = "agents/"]
struct Agents;

#[derive(RustEmbed)]
#[folder = "skills/"]
#[prefix = "skills/"]
struct Skills;

static BUILT_IN: LazyLock<BuiltIn> = LazyLock::new(|| {
    let agents = Agents::iter().filter_map(|path| Some((path.to_string(), Agents::get(&path)?)));
    let skills = Skills::iter().filter_map(|path| Some((path.to_string(), Skills::get(&path)?)));
    let files = agents.chain(skills);
    let files = files.map(|(path, file)| (path, file.data));
    BuiltIn::new(vocabulary::n8n().clone(), files)
});

/// The built-in pack alone.
pub fn built_in() -> Result<Pack, PackErrors> {
    load(Path::new(""), &LoadOptions::default())
}

/// The built-in pack with those of the project's own files over it that count.
pub fn load(project: &Path, options: &LoadOptions) -> Result<Pack, PackErrors> {
    pack::load(&BUILT_IN, project, options)
}

/// Whether `path` below a project is, byte for byte, the built-in file of that path.
pub fn is_built_in(path: &str, bytes: &[u8]) -> bool {
    BUILT_IN.is_same(path, bytes)
}

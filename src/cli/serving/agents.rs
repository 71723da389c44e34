//! `serve --agents`: single agents of a pack's orchestrators, each served as if it were a pack.

use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::cli::session;
use agentctl_engine::nearest::nearest;
use agentctl_engine::pack::Pack;
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::path::Path;

/// The pack of each agent, by the agent's name, in the order in which they were named.
///
/// Errors: no pack, or more than one, has an agent of that name.
pub(super) fn named(
    root: &Path,
    agents: &[String],
    out: &Output,
) -> Result<IndexMap<String, String>, CliError> {
    if agents.is_empty() {
        return Ok(IndexMap::new());
    }
    let options = session::load_options(root, out)?;
    let packs = match &out.pack {
        Some(pack) => vec![pack.clone()],
        None => crate::pack::names(root, &options),
    };
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut broken = None;
    for name in packs {
        let pack = match crate::pack::named(&name, root, &options) {
            Ok(pack) => pack,
            // A broken pack that nobody named keeps nobody from the others.
            Err(error) if out.pack.is_none() => {
                broken.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(session::no_pack(&error)),
        };
        let team = pack.manifest.orchestrators.iter();
        for agent in team.flat_map(|team| team.agents.keys()) {
            known.entry(agent.clone()).or_default().push(name.clone());
        }
    }
    let pack_of = |agent: &String| match known.get(agent).map(Vec::as_slice) {
        Some([pack]) => Ok((agent.clone(), pack.clone())),
        Some(several) => Err(CliError::usage(format!(
            "--agents: {agent:?} is an agent of {}",
            several.join(" and of ")
        ))
        .hint("say of which: --pack NAME")),
        None => {
            let near = nearest(agent, known.keys().map(String::as_str));
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            let told = format!("--agents: no pack has an agent {agent:?}{near}");
            if let Some(broken) = &broken {
                let told = format!("{told}; one was passed over for its mistakes:\n{broken}");
                return Err(CliError::usage(told).hint("agentctl agents check lists them"));
            }
            Err(CliError::usage(told).hint(match names.is_empty() {
                true => "agents stand in `orchestrators` of a pack.yaml (docs/orchestrators.md)"
                    .to_owned(),
                false => format!("agents: {}", names.join(", ")),
            }))
        }
    };
    agents.iter().map(pack_of).collect()
}

/// The pack as this agent alone.
pub(super) fn alone(pack: Pack, agent: &str) -> Result<Pack, CliError> {
    let gone = || CliError::failed(format!("the agent {agent:?} is not in its pack any more"));
    pack.with_agent(agent).ok_or_else(gone)
}

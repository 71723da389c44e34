//! The built-in pack, compiled into the binary: the repository's own `agents/` and `skills/`.

use agentctl_knowledge::SkillPlace;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "agents/"]
struct Agents;

#[derive(RustEmbed)]
#[folder = "skills/"]
struct Skills;

/// A file of `agents/`; empty when the binary was built without it.
pub fn agent_file(name: &str) -> String {
    text(Agents::get(name))
}

/// File names of the built-in agents, sorted.
pub fn agent_names() -> Vec<String> {
    let mut names: Vec<String> = Agents::iter()
        .filter(|name| name.ends_with(".md") && !name.contains('/'))
        .map(|name| name.to_string())
        .collect();
    names.sort();
    names
}

/// Names of the built-in skills' folders, sorted.
pub fn skill_names() -> Vec<String> {
    let mut names: Vec<String> = Skills::iter()
        .filter_map(|path| path.strip_suffix("/SKILL.md").map(str::to_owned))
        .filter(|name| !name.contains('/'))
        .collect();
    names.sort();
    names
}

/// The files below a built-in skill's folder, SKILL.md among them.
pub fn skill(name: &str) -> SkillPlace {
    let prefix = format!("{name}/");
    SkillPlace::Embedded(
        Skills::iter()
            .filter_map(|path| {
                let inside = path.strip_prefix(&prefix)?.to_owned();
                Some((inside, Skills::get(&path)?.data))
            })
            .collect(),
    )
}

/// Whether `path` below a project is, byte for byte, the built-in file of that path.
pub fn is_same(path: &str, bytes: &[u8]) -> bool {
    let built_in = match path.split_once('/') {
        Some(("agents", name)) => Agents::get(name),
        Some(("skills", name)) => Skills::get(name),
        _ => None,
    };
    built_in.is_some_and(|file| file.data.as_ref() == bytes)
}

fn text(file: Option<rust_embed::EmbeddedFile>) -> String {
    file.map_or_else(String::new, |f| {
        String::from_utf8_lossy(&f.data).into_owned()
    })
}

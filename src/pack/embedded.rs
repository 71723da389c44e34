//! The built-in pack, compiled into the binary: the repository's own `agents/` and `skills/`.

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

/// A file below a built-in skill's folder.
pub fn skill_file(skill: &str, path: &str) -> Option<String> {
    Skills::get(&format!("{skill}/{path}")).map(|file| text(Some(file)))
}

/// Paths of the files below a built-in skill's folder, without SKILL.md, sorted.
pub fn skill_files(skill: &str) -> Vec<String> {
    let prefix = format!("{skill}/");
    let mut files: Vec<String> = Skills::iter()
        .filter_map(|path| path.strip_prefix(&prefix).map(str::to_owned))
        .filter(|path| path != "SKILL.md")
        .collect();
    files.sort();
    files
}

fn text(file: Option<rust_embed::EmbeddedFile>) -> String {
    file.map_or_else(String::new, |f| {
        String::from_utf8_lossy(&f.data).into_owned()
    })
}

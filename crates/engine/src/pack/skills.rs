//! Skills: a folder with SKILL.md each, from the project and from the binary. Read as text; a skill can grant nothing.

use super::BuiltIn;
use super::SKILL_FOLDERS;
use super::frontmatter;
use super::root::Root;
use super::source::{BUILT_IN, own_text, unreadable};
use agentctl_base::yaml::{Node, Place, Problem};
use agentctl_host::files::{LEADS_OUT, Within, within};
use agentctl_knowledge::{Skill, SkillPlace};
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillSource {
    BuiltIn,
    /// The folder below the project that it was found in, e.g. `.claude/skills`.
    Project(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct SkillHead {
    pub name: String,
    /// What it is and when to use it.
    pub description: String,
    pub source: SkillSource,
    /// SKILL.md and the files beside it.
    pub place: SkillPlace,
    /// SKILL.md below its head.
    pub body: String,
}

impl From<&SkillHead> for Skill {
    fn from(head: &SkillHead) -> Self {
        Skill {
            name: head.name.clone(),
            description: head.description.clone(),
            place: head.place.clone(),
        }
    }
}

/// All skills, sorted by name: the project's, the pack's, and those of the pack that shares its own. A broken one of the project is a problem; one that hides another is a warning, and so is one that
/// cannot be trusted and is left out.
pub(super) fn load(
    root: Root<'_>,
    shared: Option<&BuiltIn>,
    left_out: &BTreeSet<String>,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<String>,
) -> Vec<SkillHead> {
    let mut skills: Vec<SkillHead> = Vec::new();
    let mut folders = vec![root.path("skills")];
    folders.extend(SKILL_FOLDERS.map(str::to_owned));
    folders.dedup();
    let own = root
        .project
        .into_iter()
        .flat_map(|project| folders.iter().map(move |folder| (project, folder.as_str())));
    for (project, folder) in own {
        if left_out.contains(folder) {
            warnings.push(format!("{folder}: left out, it cannot be trusted"));
            continue;
        }
        for name in subfolders(project, folder, problems, warnings) {
            let file = format!("{folder}/{name}/SKILL.md");
            if left_out.contains(&format!("{folder}/{name}")) {
                warnings.push(format!("{folder}/{name}: left out, it cannot be trusted"));
                continue;
            }
            let below = match within(project, &Path::new(folder).join(&name)) {
                Ok(Within::Inside(below)) => below,
                Ok(Within::Missing) => continue,
                Ok(Within::Outside) => {
                    warnings.push(format!("{folder}/{name}: {LEADS_OUT}"));
                    continue;
                }
                Err(error) => {
                    problems.push(unreadable(&file, &error));
                    continue;
                }
            };
            let text = match own_text(project, &below.join("SKILL.md")) {
                Ok(Some(text)) => text,
                Ok(None) => continue,
                Err(error) => {
                    problems.push(unreadable(&file, &error));
                    continue;
                }
            };
            let source = SkillSource::Project(folder.to_owned());
            let root = project.to_owned();
            let place = SkillPlace::Folder { root, below };
            if let Some(skill) = head(&text, &file, &name, source, place, problems) {
                add(&mut skills, skill, &file, warnings);
            }
        }
    }
    let built_in = std::iter::once(root.built_in).chain(shared);
    let built_in =
        built_in.flat_map(|pack| pack.skill_names().into_iter().map(move |name| (pack, name)));
    for (built_in, name) in built_in {
        let file = format!(
            "{BUILT_IN}{}/SKILL.md",
            built_in.path(&format!("skills/{name}"))
        );
        let place = built_in.skill(&name);
        let text = place.read("SKILL.md").unwrap_or_default();
        if !skills.iter().any(|s| s.name == name)
            && let Some(skill) = head(&text, &file, &name, SkillSource::BuiltIn, place, problems)
        {
            skills.push(skill);
        }
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    skills
}

fn add(skills: &mut Vec<SkillHead>, skill: SkillHead, file: &str, warnings: &mut Vec<String>) {
    match skills.iter().find(|s| s.name == skill.name) {
        Some(first) if first.body != skill.body => {
            let folder = match &first.source {
                SkillSource::Project(folder) => folder.as_str(),
                SkillSource::BuiltIn => "the program",
            };
            warnings.push(format!(
                "{file}: hidden by the skill of the same name in {folder}"
            ));
        }
        // The same text in two places, or a link: nothing to say.
        Some(_) => {}
        None => skills.push(skill),
    }
}

/// The names of the folders in one of the folders above. One that is a link out of the project is not looked into.
fn subfolders(
    project: &Path,
    folder: &str,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let entries = within(project, Path::new(folder)).and_then(|place| match place {
        Within::Inside(below) => std::fs::read_dir(project.join(below)).map(Some),
        Within::Missing => Ok(None),
        Within::Outside => {
            warnings.push(format!("{folder}: {LEADS_OUT}"));
            Ok(None)
        }
    });
    let entries = match entries {
        Ok(Some(entries)) => entries,
        Ok(None) => return Vec::new(),
        Err(error) => {
            problems.push(unreadable(folder, &error));
            return Vec::new();
        }
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|e| e.path().is_dir())
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names
}

/// The portable fields are checked strictly; the rest of the head is left alone.
fn head(
    text: &str,
    file: &str,
    folder: &str,
    source: SkillSource,
    place: SkillPlace,
    problems: &mut Vec<Problem>,
) -> Option<SkillHead> {
    let front = match frontmatter::split(text, file) {
        Ok(front) => front,
        Err(problem) => {
            problems.push(problem);
            return None;
        }
    };
    let mut faults: Vec<(Place, String)> = Vec::new();
    let at = |key: &str| {
        front
            .head
            .get(key)
            .map_or(Place { line: 1, column: 1 }, |n| n.place)
    };
    let text_of = |key: &str| {
        front
            .head
            .get(key)
            .and_then(Node::as_text)
            .map(str::trim)
            .unwrap_or_default()
    };
    let name = text_of("name");
    let good = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--");
    if !good {
        faults.push((
            at("name"),
            format!("a skill needs a name of at most 64 of a-z, 0-9 and single -, not {name:?}"),
        ));
    } else if name != folder {
        faults.push((
            at("name"),
            format!("the skill is named {name:?}, its folder {folder:?}; they must be the same"),
        ));
    }
    let description = text_of("description");
    if description.is_empty() || description.chars().count() > 1024 {
        faults.push((
            at("description"),
            "a skill needs a description of 1 to 1024 characters".to_owned(),
        ));
    }
    if front.head.get("compatibility").is_some()
        && !(1..=500).contains(&text_of("compatibility").chars().count())
    {
        faults.push((
            at("compatibility"),
            "compatibility must be text of 1 to 500 characters".to_owned(),
        ));
    }
    if front.head.get("license").is_some() && text_of("license").is_empty() {
        faults.push((at("license"), "license must be text".to_owned()));
    }
    if front
        .head
        .get("metadata")
        .is_some_and(|n| n.as_map().is_none())
    {
        faults.push((at("metadata"), "metadata must be a map".to_owned()));
    }
    let sound = faults.is_empty();
    problems.extend(faults.into_iter().map(|(place, message)| Problem {
        file: file.to_owned(),
        place,
        message,
    }));
    sound.then(|| SkillHead {
        name: name.to_owned(),
        description: description.to_owned(),
        source,
        place,
        body: front.body,
    })
}

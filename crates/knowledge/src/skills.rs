//! Skills: a folder with a SKILL.md and files beside it, compiled in or on disk. Text is read when it is asked for.

use super::KnowledgeError;
use agentctl_host::files::{Found, Links, Within, has_other_names, read_below, within};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

const MAIN: &str = "SKILL.md";
const MAX_BYTES: u64 = 512 * 1024;
const MAX_FILES: usize = 200;

/// Where a skill's files are.
#[derive(Debug, Clone, PartialEq)]
pub enum SkillPlace {
    /// (path inside the skill's folder, content)
    Embedded(Vec<(String, Cow<'static, [u8]>)>),
    /// A folder of the project: `below` its root, which nothing that is read leaves.
    Folder { root: PathBuf, below: PathBuf },
}

#[derive(Debug, Clone)]
pub struct Skill {
    pub name: String,
    pub description: String,
    pub place: SkillPlace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillText {
    pub name: String,
    pub description: String,
    pub body: String,
    /// What `skill_file` takes, sorted; SKILL.md itself not listed.
    pub files: Vec<String>,
}

impl Skill {
    pub(super) fn load(&self) -> Result<SkillText, KnowledgeError> {
        let text = self.place.read(MAIN)?;
        Ok(SkillText {
            name: self.name.clone(),
            description: self.description.clone(),
            body: body(&text).to_owned(),
            files: self.place.files(),
        })
    }
}

impl SkillPlace {
    /// Paths of the files beside SKILL.md, sorted, at most 200.
    pub fn files(&self) -> Vec<String> {
        let mut files = match self {
            SkillPlace::Embedded(files) => files.iter().map(|(path, _)| path.clone()).collect(),
            SkillPlace::Folder { root, below } => on_disk(root, below),
        };
        files.retain(|path| path != MAIN);
        files.sort();
        files
    }

    /// One file as text. Neither `..`, an absolute path, a link nor a race can lead out of the folder.
    pub fn read(&self, path: &str) -> Result<String, KnowledgeError> {
        let inside = inside(path)?;
        let bytes = match self {
            SkillPlace::Embedded(files) => files
                .iter()
                .find(|(name, _)| Path::new(name) == inside)
                .map(|(_, bytes)| bytes.to_vec())
                .ok_or_else(|| KnowledgeError::NotFound {
                    what: "skill file",
                    name: path.to_owned(),
                    known: files.iter().map(|(name, _)| name.clone()).collect(),
                })?,
            SkillPlace::Folder { root, below } => read_inside(root, below, &inside, path)?,
        };
        String::from_utf8(bytes).map_err(|_| KnowledgeError::Unreadable {
            path: path.to_owned(),
            reason: "it is not UTF-8 text".to_owned(),
        })
    }
}

/// The clean relative path; anything that could leave the folder is refused before a file is touched.
fn inside(path: &str) -> Result<PathBuf, KnowledgeError> {
    let outside = |reason: &str| KnowledgeError::Outside {
        path: path.escape_debug().to_string(),
        reason: reason.to_owned(),
    };
    if path.chars().any(char::is_control) || path.contains('\\') {
        return Err(outside("the path has control characters or backslashes"));
    }
    let mut clean = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            _ => return Err(outside("the path leaves the skill's folder")),
        }
    }
    if clean.as_os_str().is_empty() {
        return Err(outside("the path is empty"));
    }
    Ok(clean)
}

/// Reads below the folder's own handle, which is opened below the project's: neither a link nor a race can lead out of either,
/// and a pipe is not waited for.
fn read_inside(
    root: &Path,
    below: &Path,
    inside: &Path,
    asked: &str,
) -> Result<Vec<u8>, KnowledgeError> {
    let unreadable = |reason: String| KnowledgeError::Unreadable {
        path: asked.to_owned(),
        reason,
    };
    let dir = Dir::open_ambient_dir(root, ambient_authority())
        .and_then(|root| root.open_dir(below))
        .map_err(|e| unreadable(e.to_string()))?;
    // A second name may be that of a file outside, which no path shows.
    if has_other_names(&dir, inside) {
        return Err(unreadable(
            "it is the same file as another one (a hard link); copy it".to_owned(),
        ));
    }
    match read_below(&dir, inside, MAX_BYTES, Links::Follow) {
        Ok(Found::Bytes(bytes)) => Ok(bytes),
        Ok(Found::Odd(why)) => Err(unreadable(why)),
        Ok(Found::Missing) => Err(KnowledgeError::NotFound {
            what: "skill file",
            name: asked.to_owned(),
            known: on_disk(root, below),
        }),
        Err(e) => Err(unreadable(e.to_string())),
    }
}

/// The files of a folder, links not followed. A folder that cannot be walked, or lies outside of the root, has none to offer.
fn on_disk(root: &Path, below: &Path) -> Vec<String> {
    let Ok(Within::Inside(_)) = within(root, below) else {
        return Vec::new();
    };
    let folder = &root.join(below);
    walkdir::WalkDir::new(folder)
        .max_depth(4)
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| {
            let relative = entry.path().strip_prefix(folder).ok()?;
            let parts: Option<Vec<&str>> = relative
                .components()
                .map(|c| c.as_os_str().to_str())
                .collect();
            let path = parts?.join("/");
            (!path.starts_with('.') && !path.contains("/.")).then_some(path)
        })
        .take(MAX_FILES)
        .collect()
}

/// The text after the frontmatter.
fn body(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = text
        .strip_prefix("---\n")
        .or_else(|| text.strip_prefix("---\r\n"))
    else {
        return text;
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == "---" {
            return rest
                .get(at..)
                .unwrap_or("")
                .trim_start_matches(['\r', '\n']);
        }
    }
    text
}

//! The files of a pack that is compiled into a program.

use crate::vocabulary::Vocabulary;
use agentctl_knowledge::SkillPlace;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A pack's files by their path below its root, e.g. `agents/flow.yaml`, `skills/x/SKILL.md`, and what they may name.
#[derive(Debug, Clone, Default)]
pub struct BuiltIn {
    vocabulary: Vocabulary,
    files: BTreeMap<String, Cow<'static, [u8]>>,
}

impl BuiltIn {
    pub fn new(
        vocabulary: Vocabulary,
        files: impl IntoIterator<Item = (String, Cow<'static, [u8]>)>,
    ) -> BuiltIn {
        BuiltIn {
            vocabulary,
            files: files.into_iter().collect(),
        }
    }

    /// What the pack's files, and a project's over them, may name.
    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// A file of `agents/`; empty when there is none.
    pub(super) fn agent_file(&self, name: &str) -> String {
        let file = self.files.get(&format!("agents/{name}"));
        file.map_or_else(String::new, |bytes| {
            String::from_utf8_lossy(bytes).into_owned()
        })
    }

    /// Names of the files in `agents/` that are of one kind, sorted.
    pub(super) fn agent_files(&self, is: fn(&str) -> bool) -> Vec<String> {
        let files = self.below("agents/");
        files
            .filter(|(name, _)| is(name) && !name.contains('/'))
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    /// Names of the skills' folders, sorted.
    pub(super) fn skill_names(&self) -> Vec<String> {
        let skills = self.below("skills/");
        skills
            .filter_map(|(path, _)| path.strip_suffix("/SKILL.md"))
            .filter(|name| !name.contains('/'))
            .map(str::to_owned)
            .collect()
    }

    /// The files below a skill's folder, SKILL.md among them.
    pub(super) fn skill(&self, name: &str) -> SkillPlace {
        let files = self.below_owned(&format!("skills/{name}/"));
        SkillPlace::Embedded(files)
    }

    /// Whether `path` below a project is, byte for byte, the file of that path.
    pub fn is_same(&self, path: &str, bytes: &[u8]) -> bool {
        self.files
            .get(path)
            .is_some_and(|file| file.as_ref() == bytes)
    }

    fn below<'a>(
        &'a self,
        folder: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Cow<'static, [u8]>)> {
        let files = self.files.range(folder.to_owned()..);
        files.map_while(move |(path, bytes)| Some((path.strip_prefix(folder)?, bytes)))
    }

    fn below_owned(&self, folder: &str) -> Vec<(String, Cow<'static, [u8]>)> {
        self.below(folder)
            .map(|(path, bytes)| (path.to_owned(), bytes.clone()))
            .collect()
    }
}

//! The files of a pack that is compiled into a program.

use crate::vocabulary::Vocabulary;
use agentctl_knowledge::SkillPlace;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A pack's files by their path below its own folder, e.g. `agents/flow.yaml`, `skills/x/SKILL.md`, and what they may name. A pack
/// of a project's own has no files here.
#[derive(Debug, Clone, Default)]
pub struct BuiltIn {
    name: String,
    /// Where the pack's folder is below a project; empty: the project itself.
    folder: String,
    vocabulary: Vocabulary,
    files: BTreeMap<String, Cow<'static, [u8]>>,
}

impl BuiltIn {
    /// The pack whose folder is the project itself.
    pub fn new(
        vocabulary: Vocabulary,
        files: impl IntoIterator<Item = (String, Cow<'static, [u8]>)>,
    ) -> BuiltIn {
        BuiltIn {
            name: String::new(),
            folder: String::new(),
            vocabulary,
            files: files.into_iter().collect(),
        }
    }

    /// The pack `name`, whose folder below a project is `packs/NAME`.
    pub fn named(
        name: &str,
        vocabulary: Vocabulary,
        files: impl IntoIterator<Item = (String, Cow<'static, [u8]>)>,
    ) -> BuiltIn {
        BuiltIn {
            name: name.to_owned(),
            folder: format!("{PACKS}/{name}"),
            ..BuiltIn::new(vocabulary, files)
        }
    }

    /// The name of its folder below [`PACKS`]; empty: that of the pack whose folder is the project is said in its pack.yaml.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What the path of one of its files is below a project.
    pub(super) fn path(&self, relative: &str) -> String {
        match self.folder.as_str() {
            "" => relative.to_owned(),
            folder => format!("{folder}/{relative}"),
        }
    }

    /// What the pack's files, and a project's over them, may name.
    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(super) fn text(&self, relative: &str) -> Option<String> {
        let bytes = self.files.get(relative)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// The names of the files right in a folder.
    pub(super) fn names<'a>(&'a self, folder: &str) -> impl Iterator<Item = &'a str> {
        let below = self.below(format!("{folder}/"));
        below
            .map(|(name, _)| name)
            .filter(|name| !name.contains('/'))
    }

    /// Names of the skills' folders, sorted.
    pub(super) fn skill_names(&self) -> Vec<String> {
        self.folders("skills", "SKILL.md")
    }

    /// Names of the folders right in a folder that have this file, sorted.
    pub(super) fn folders(&self, folder: &str, file: &str) -> Vec<String> {
        let below = self.below(format!("{folder}/"));
        let end = format!("/{file}");
        below
            .filter_map(|(path, _)| path.strip_suffix(end.as_str()))
            .filter(|name| !name.contains('/'))
            .map(str::to_owned)
            .collect()
    }

    /// The files below a skill's folder, SKILL.md among them.
    pub(super) fn skill(&self, name: &str) -> SkillPlace {
        let files = self.below(format!("skills/{name}/"));
        SkillPlace::Embedded(
            files
                .map(|(path, bytes)| (path.to_owned(), bytes.clone()))
                .collect(),
        )
    }

    /// Whether `path` below a project is, byte for byte, the file of that path.
    pub fn is_same(&self, path: &str, bytes: &[u8]) -> bool {
        let relative = match self.folder.as_str() {
            "" => Some(path),
            folder => path
                .strip_prefix(folder)
                .and_then(|rest| rest.strip_prefix('/')),
        };
        let file = relative.and_then(|relative| self.files.get(relative));
        file.is_some_and(|file| file.as_ref() == bytes)
    }

    fn below(&self, folder: String) -> impl Iterator<Item = (&str, &Cow<'static, [u8]>)> {
        let files = self.files.range(folder.clone()..);
        files.map_while(move |(path, bytes)| Some((path.strip_prefix(folder.as_str())?, bytes)))
    }
}

/// The folder of the packs by name, below a project and among what is compiled in.
pub const PACKS: &str = "packs";

//! What agents may read besides workflows: skills (their text when asked for, file by file) and learnings (the index first,
//! entries by id only). Reading stays inside the skill's own folder and the project's `docs/learning/`.
//! What is written there is data: it never changes who may do what.

mod check;
mod entry;
mod files;
mod import;
mod import_fields;
mod import_parts;
mod index;
mod learnings;
mod pattern;
mod quote;
mod search;
mod skills;
mod tokens;
mod uses;

pub use check::{Level, Remark};
pub use entry::{FIELDS, Fault, Learning, NewLearning, Status};
pub use import::{Imported, ImportedEntry};
pub use index::{FIRST_LEVEL, Group, Index, ONE_LEVEL, TWO_LEVELS, index};
pub use learnings::{ENTRIES, FOLDER, INDEX, Learnings, PATTERNS, appended, next_id, parse};
pub use pattern::{PATTERN_FIELDS, Pattern, patterns, plans_for};
pub use quote::{addresses_agent, quoted};
pub use search::{IndexLine, Query, search};
pub use skills::{Skill, SkillPlace, SkillText};
pub use tokens::tokens;
pub use uses::{Use, Uses};

use std::path::{Path, PathBuf};

/// Why something could not be read. All of these can be told to a model; none stops a run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KnowledgeError {
    #[error("there is no {what} `{name}`")]
    NotFound {
        what: &'static str,
        name: String,
        /// Names that are there.
        known: Vec<String>,
    },
    #[error("`{path}` is not a file of the skill: {reason}")]
    Outside { path: String, reason: String },
    #[error("cannot read {path}: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("cannot write {path}: {reason}")]
    Unwritable { path: String, reason: String },
    #[error("the learning is not acceptable: {0}")]
    Invalid(String),
}

/// The skills of the pack, and the project's learnings.
#[derive(Debug, Clone)]
pub struct Knowledge {
    skills: Vec<Skill>,
    learnings: Learnings,
}

impl Knowledge {
    pub fn new<S: Into<Skill>>(
        project: impl Into<PathBuf>,
        skills: impl IntoIterator<Item = S>,
    ) -> Self {
        let project: PathBuf = project.into();
        Knowledge {
            skills: skills.into_iter().map(Into::into).collect(),
            learnings: Learnings::new(&project),
        }
    }

    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    fn skill(&self, name: &str) -> Result<&Skill, KnowledgeError> {
        self.skills
            .iter()
            .find(|skill| skill.name == name)
            .ok_or_else(|| KnowledgeError::NotFound {
                what: "skill",
                name: name.to_owned(),
                known: self.skills.iter().map(|s| s.name.clone()).collect(),
            })
    }

    /// The skill's body (without frontmatter) and the names of its other files.
    pub fn load_skill(&self, name: &str) -> Result<SkillText, KnowledgeError> {
        self.skill(name)?.load()
    }

    /// One file of a skill, by its path inside the skill's folder.
    pub fn skill_file(&self, skill: &str, path: &str) -> Result<String, KnowledgeError> {
        self.skill(skill)?.place.read(path)
    }

    /// The entries that fit the query, best first, one line each.
    pub fn search_learnings(
        &self,
        query: &Query,
        limit: usize,
    ) -> Result<Vec<IndexLine>, KnowledgeError> {
        self.learnings.search(query, limit)
    }

    /// The first page of the index, as LEARNINGS.md makes it now: never more than [`TWO_LEVELS`] tokens.
    pub fn learning_index(&self) -> Result<String, KnowledgeError> {
        Ok(self.learnings.index()?.first)
    }

    /// Whether there is any entry or pattern to read; what cannot be read counts as one, so that reading it says why.
    pub fn has_learned(&self) -> bool {
        let entries = self.learnings.all();
        let none = entries.is_ok_and(|(entries, faults)| entries.is_empty() && faults.is_empty());
        !none || self.learnings.patterns().is_ok_and(|p| !p.is_empty())
    }

    /// The entries with these ids, in the order asked; the second list holds the ids that are not there.
    pub fn read_learnings(
        &self,
        ids: &[String],
    ) -> Result<(Vec<Learning>, Vec<String>), KnowledgeError> {
        self.learnings.read(ids)
    }

    /// The patterns of the project, in the order of the file.
    pub fn patterns(&self) -> Result<Vec<Pattern>, KnowledgeError> {
        self.learnings.patterns()
    }

    /// Adds an entry and its index line. The same entry twice is kept once: its id comes back.
    pub fn write_learning(&self, entry: &NewLearning) -> Result<String, KnowledgeError> {
        self.learnings.add(entry.clone())
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod import_tests;
#[cfg(test)]
mod knowledge_tests;
#[cfg(test)]
mod learnings_tests;
#[cfg(test)]
mod pattern_tests;

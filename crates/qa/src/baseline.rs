//! Baselines: the findings that were there when somebody drew the line. They are shown and do not fail. A finding is the same
//! when its file (seen from the baseline's folder) and its id are. Pure; the caller reads and writes the file.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The form of the file; a newer one is refused.
const VERSION: u32 = 1;

/// What a baseline file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// By path, then by id.
    files: BTreeMap<String, BTreeMap<String, Known>>,
}

/// One known finding; besides the id only for the people who read the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    pub id: String,
    pub code: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Form {
    version: u32,
    files: BTreeMap<String, Vec<Known>>,
}

/// Why a baseline cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    #[error("line {line}, column {column}: {message}")]
    Malformed {
        line: usize,
        column: usize,
        message: String,
    },
    #[error(
        "is of version {0}, this agentctl reads version {VERSION}; update agentctl or write it again with --write-baseline"
    )]
    Version(u32),
}

impl Baseline {
    pub fn read(text: &str) -> Result<Self, BaselineError> {
        // The version first: a newer form may not parse as ours.
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let malformed = |e: serde_json::Error| BaselineError::Malformed {
            line: e.line(),
            column: e.column(),
            message: e
                .to_string()
                .split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned(),
        };
        let head: Head = serde_json::from_str(text).map_err(malformed)?;
        if head.version != VERSION {
            return Err(BaselineError::Version(head.version));
        }
        let form: Form = serde_json::from_str(text).map_err(malformed)?;
        let mut baseline = Baseline::default();
        for (path, list) in form.files {
            for known in list {
                baseline.insert(&path, known);
            }
        }
        Ok(baseline)
    }

    /// One line a finding, sorted: it is kept in git.
    pub fn to_text(&self) -> String {
        let files: Vec<String> = self
            .files
            .iter()
            .filter(|(_, list)| !list.is_empty())
            .map(|(path, list)| {
                let lines: Vec<String> = list
                    .values()
                    .map(|known| format!("      {}", serde_json::json!(known)))
                    .collect();
                format!(
                    "    {}: [\n{}\n    ]",
                    serde_json::json!(path),
                    lines.join(",\n")
                )
            })
            .collect();
        if files.is_empty() {
            return format!("{{\n  \"version\": {VERSION},\n  \"files\": {{}}\n}}\n");
        }
        format!(
            "{{\n  \"version\": {VERSION},\n  \"files\": {{\n{}\n  }}\n}}\n",
            files.join(",\n")
        )
    }

    pub fn knows(&self, path: &str, id: &str) -> bool {
        self.files
            .get(path)
            .is_some_and(|list| list.contains_key(id))
    }

    pub fn insert(&mut self, path: &str, known: Known) {
        let list = self.files.entry(path.to_owned()).or_default();
        list.insert(known.id.clone(), known);
    }

    /// Forgets the findings of this file whose codes were looked for; what is still there is then inserted again.
    pub fn forget(&mut self, path: &str, looked_for: &dyn Fn(&str) -> bool) {
        if let Some(list) = self.files.get_mut(path) {
            list.retain(|_, known| !looked_for(&known.code));
        }
    }

    /// How many known findings of this file, of the codes that were looked for, are not among `seen`.
    pub fn gone(
        &self,
        path: &str,
        looked_for: &dyn Fn(&str) -> bool,
        seen: &BTreeSet<&str>,
    ) -> usize {
        let list = self.files.get(path);
        list.into_iter()
            .flat_map(BTreeMap::values)
            .filter(|known| looked_for(&known.code) && !seen.contains(known.id.as_str()))
            .count()
    }

    pub fn len(&self) -> usize {
        self.files.values().map(BTreeMap::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
#[path = "baseline_tests.rs"]
mod baseline_tests;

//! Learnings: `docs/learning/LEARNINGS-INDEX.md` has one line for each entry, `LEARNINGS.md` the entries under `## L-001 Title`.
//! The index is what one searches; an entry is read by its id, never the whole file.

use super::{KnowledgeError, shown};
use crate::store::{Existing, Files, Found};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FOLDER: &str = "docs/learning";
const INDEX: &str = "LEARNINGS-INDEX.md";
const ENTRIES: &str = "LEARNINGS.md";
const MAX_BYTES: u64 = 16 * 1024 * 1024;
const MAX_TITLE: usize = 120;
const MAX_FIELD: usize = 2_000;

/// One line of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLine {
    /// `L-001`
    pub id: String,
    /// The line as it stands, without list and table marks.
    pub text: String,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learning {
    pub id: String,
    pub title: String,
    pub body: String,
}

/// An entry to add, in the fields that every entry has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewLearning {
    pub title: String,
    /// YYYY-MM-DD
    pub date: String,
    pub workflow: Option<String>,
    pub node_types: Vec<String>,
    pub finding_codes: Vec<String>,
    pub tags: Vec<String>,
    pub problem: String,
    pub cause: String,
    pub solution: String,
    pub evidence: String,
}

#[derive(Debug, Clone)]
pub(super) struct Learnings {
    project: PathBuf,
}

impl Learnings {
    pub fn new(project: &Path) -> Self {
        Learnings {
            project: project.to_owned(),
        }
    }

    pub fn index_text(&self) -> Result<Option<String>, KnowledgeError> {
        self.text(INDEX)
    }

    /// A file of the folder. Neither a link in its place nor one on the way leads out of the project.
    fn text(&self, name: &str) -> Result<Option<String>, KnowledgeError> {
        let path = Path::new(FOLDER).join(name);
        let unreadable = |reason: String| KnowledgeError::Unreadable {
            path: shown(&path),
            reason,
        };
        if !self.project.is_dir() {
            return Ok(None);
        }
        let files = Files::open(&self.project).map_err(|e| unreadable(e.to_string()))?;
        match files.read(&path, MAX_BYTES) {
            Ok(Found::Bytes(bytes)) => String::from_utf8(bytes)
                .map(Some)
                .map_err(|_| unreadable("it is not UTF-8 text".to_owned())),
            Ok(Found::Missing) => Ok(None),
            Ok(Found::Odd(why)) => Err(unreadable(why)),
            Err(e) => Err(unreadable(e.to_string())),
        }
    }

    fn keep(&self, name: &str, text: &str) -> Result<(), KnowledgeError> {
        let path = Path::new(FOLDER).join(name);
        Files::open(&self.project)
            .and_then(|files| files.write(&path, text.as_bytes(), Existing::Replace))
            .map_err(|e| KnowledgeError::Unwritable {
                path: shown(&path),
                reason: e.to_string(),
            })
    }

    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<IndexLine>, KnowledgeError> {
        let lines: Vec<IndexLine> = self
            .index_text()?
            .unwrap_or_default()
            .lines()
            .filter_map(index_line)
            .collect();
        let wanted = words(query);
        if wanted.is_empty() {
            return Ok(lines.into_iter().take(limit).collect());
        }
        let mut scored: Vec<(usize, IndexLine)> = lines
            .into_iter()
            .map(|line| (score(&wanted, &words(&line.text)), line))
            .filter(|(score, _)| *score > 0)
            .collect();
        // Stable: equal ones stay in the index's order.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        Ok(scored
            .into_iter()
            .take(limit)
            .map(|(_, line)| line)
            .collect())
    }

    pub fn read(&self, ids: &[String]) -> Result<(Vec<Learning>, Vec<String>), KnowledgeError> {
        let all = parse(&self.text(ENTRIES)?.unwrap_or_default());
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for id in ids {
            match all.iter().find(|entry| entry.id == *id) {
                Some(entry) => found.push(entry.clone()),
                None => missing.push(id.clone()),
            }
        }
        Ok((found, missing))
    }

    pub fn add(&self, entry: &NewLearning) -> Result<String, KnowledgeError> {
        let title = title_of(entry)?;
        let fields = fields_of(entry)?;
        let text = self
            .text(ENTRIES)?
            .unwrap_or_else(|| "# Learnings\n".to_owned());
        let index = self
            .index_text()?
            .unwrap_or_else(|| "# Learnings index\n".to_owned());
        let known = parse(&text);
        // The date apart, the same fields are the same lesson.
        let content = |body: &str| -> Vec<String> {
            let dated = |line: &&str| !line.starts_with("- date:");
            body.lines().filter(dated).map(str::to_owned).collect()
        };
        let same = known
            .iter()
            .find(|k| k.title == title && content(&k.body) == content(&fields));
        let id = match same {
            Some(same) => same.id.clone(),
            None => {
                let id = next_id(&known, &index);
                let grown = format!("{}\n\n## {id}: {title}\n{fields}\n", text.trim_end());
                self.keep(ENTRIES, &grown)?;
                id
            }
        };
        // A kill between the two files leaves an entry without its line; writing the same entry again mends that.
        if !index.lines().filter_map(index_line).any(|l| l.id == id) {
            self.keep(INDEX, &with_line(&index, &id, &title, entry))?;
        }
        Ok(id)
    }
}

fn title_of(entry: &NewLearning) -> Result<String, KnowledgeError> {
    let title = one_line(&entry.title);
    let length = title.chars().count();
    if (1..=MAX_TITLE).contains(&length) {
        Ok(title)
    } else {
        Err(KnowledgeError::Invalid(format!(
            "the title must have 1 to {MAX_TITLE} characters"
        )))
    }
}

/// The entry below its heading. Each value is one line, so none can open a heading or a field of its own.
fn fields_of(entry: &NewLearning) -> Result<String, KnowledgeError> {
    let list = |items: &[String]| {
        let items: Vec<String> = items
            .iter()
            .map(|item| one_line(item))
            .filter(|item| !item.is_empty())
            .collect();
        or_dash(items.join(", "))
    };
    let needed = |name: &str, value: &str| {
        let value = one_line(value);
        if value.is_empty() {
            Err(KnowledgeError::Invalid(format!("`{name}` is empty")))
        } else {
            Ok(value)
        }
    };
    let fields = [
        ("date", or_dash(one_line(&entry.date))),
        (
            "workflow",
            or_dash(one_line(entry.workflow.as_deref().unwrap_or(""))),
        ),
        ("node types", list(&entry.node_types)),
        ("finding codes", list(&entry.finding_codes)),
        ("tags", list(&entry.tags)),
        ("problem", needed("problem", &entry.problem)?),
        ("cause", needed("cause", &entry.cause)?),
        ("solution", needed("solution", &entry.solution)?),
        ("evidence", needed("evidence", &entry.evidence)?),
        ("status", "active".to_owned()),
    ];
    if let Some((name, _)) = fields.iter().find(|(_, value)| value.len() > MAX_FIELD) {
        return Err(KnowledgeError::Invalid(format!(
            "`{name}` is longer than {MAX_FIELD} bytes"
        )));
    }
    let lines: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("- {name}: {value}"))
        .collect();
    Ok(lines.join("\n"))
}

fn or_dash(text: String) -> String {
    if text.is_empty() {
        "-".to_owned()
    } else {
        text
    }
}

/// The index with the entry's line, at the end of its first tag's group.
fn with_line(index: &str, id: &str, title: &str, entry: &NewLearning) -> String {
    let tags: Vec<String> = entry.tags.iter().map(|tag| one_line(tag)).collect();
    let short = |name: &String| {
        let name = one_line(name);
        name.rsplit('.').next().unwrap_or(&name).to_owned()
    };
    let mut line = format!("- {id} {title}");
    if !tags.is_empty() {
        line.push_str(&format!(" ({})", tags.join(", ")));
    }
    let types: Vec<String> = entry.node_types.iter().map(short).collect();
    let codes: Vec<String> = entry.finding_codes.iter().map(|c| one_line(c)).collect();
    for part in [types, codes].iter().filter(|part| !part.is_empty()) {
        line.push_str(&format!(" · {}", part.join(", ")));
    }
    let group = tags.first().map_or("other", String::as_str);
    let heading = format!("## {group}");
    let mut out: Vec<&str> = Vec::new();
    let mut inside = false;
    let mut placed = false;
    for old in index.trim_end().lines() {
        if inside && !placed && old.starts_with("## ") {
            let blank = out.iter().rev().take_while(|l| l.trim().is_empty()).count();
            out.insert(out.len() - blank, &line);
            placed = true;
        }
        inside = inside || old.trim_end() == heading;
        out.push(old);
    }
    let mut text = out.join("\n");
    if !placed {
        if !inside {
            text.push_str(&format!("\n\n{heading}"));
        }
        text.push('\n');
        text.push_str(&line);
    }
    text.push('\n');
    text
}

/// `L-` and digits at the start of the text; the rest comes back too.
fn leading_id(text: &str) -> Option<(&str, &str)> {
    let digits = text.strip_prefix("L-")?;
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 {
        return None;
    }
    let end = 2 + count;
    Some((text.get(..end)?, text.get(end..)?))
}

/// A line that starts with an id, behind list marks, table bars, links and emphasis.
fn index_line(line: &str) -> Option<IndexLine> {
    let bare = line
        .trim()
        .trim_start_matches(['-', '*', '|', '[', '`', ' ', '#']);
    let (id, rest) = leading_id(bare)?;
    let cells: Vec<&str> = rest
        .split('|')
        .map(|cell| cell.trim_matches([' ', '`', '*', ']', ':', '–', '—']))
        .filter(|cell| !cell.is_empty())
        .collect();
    Some(IndexLine {
        id: id.to_owned(),
        text: cells.join(" | "),
    })
}

fn parse(text: &str) -> Vec<Learning> {
    let mut entries: Vec<Learning> = Vec::new();
    for line in text.lines() {
        let heading = line.strip_prefix("## ").map(str::trim);
        if let Some((id, title)) = heading.and_then(leading_id) {
            entries.push(Learning {
                id: id.to_owned(),
                title: title
                    .trim_start_matches([' ', ':', '-', '–', '—', '·'])
                    .to_owned(),
                body: String::new(),
            });
        } else if let Some(entry) = entries.last_mut() {
            entry.body.push_str(line);
            entry.body.push('\n');
        }
    }
    for entry in &mut entries {
        entry.body = entry.body.trim().to_owned();
    }
    entries
}

fn next_id(known: &[Learning], index: &str) -> String {
    let highest = known
        .iter()
        .map(|entry| entry.id.clone())
        .chain(index.lines().filter_map(index_line).map(|line| line.id))
        .filter_map(|id| id.strip_prefix("L-")?.parse::<u32>().ok())
        .max()
        .unwrap_or(0);
    format!("L-{:03}", highest.saturating_add(1))
}

fn one_line(text: &str) -> String {
    crate::untrusted::text(text)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 1)
        .map(str::to_lowercase)
        .collect()
}

/// Two points for a word that stands there, one for a word that starts like one of at least four letters.
fn score(wanted: &BTreeSet<String>, there: &BTreeSet<String>) -> usize {
    wanted
        .iter()
        .map(|word| {
            if there.contains(word) {
                2
            } else {
                let begins = |other: &String| {
                    word.len().min(other.len()) >= 4
                        && (other.starts_with(word.as_str()) || word.starts_with(other.as_str()))
                };
                usize::from(there.iter().any(begins))
            }
        })
        .sum()
}

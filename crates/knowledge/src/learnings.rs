//! The files of `docs/learning/`: reading them, and changing them one writer at a time. LEARNINGS.md is the truth; the index is
//! made from it at every write. Entries that a change does not name stay as they are, to the byte.

use super::check::{self, Remark};
use super::entry::{
    Fault, Learning, NewLearning, Section, Status, highest_number, id_of, number, sections,
    sections_of,
};
use super::import::{self, Imported};
use super::index::{Index, index};
use super::pattern::{self, Pattern, patterns};
use super::search::{self, IndexLine, Query};
use super::uses::Uses;
use super::{KnowledgeError, shown};
use agentctl_host::files::{Existing, FileError, Files, Found, create_dir, tidy};
use fs2::FileExt as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use super::files::{ENTRIES, FOLDER, INDEX, PAGES, PATTERNS};

/// A file that is longer is refused: it is no file of learnings.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
const GENERATED: &str = "Generated: agentctl learnings index";

/// The learnings of a project.
#[derive(Debug, Clone)]
pub struct Learnings {
    project: PathBuf,
    folder: PathBuf,
}

/// Held while files are changed; goes with its process.
struct Writing {
    _folder: std::fs::File,
}

impl Learnings {
    pub fn new(project: &Path) -> Self {
        Learnings {
            project: project.to_owned(),
            folder: project.join(FOLDER),
        }
    }

    /// LEARNINGS.md as it stands; empty when there is none.
    pub fn text(&self) -> Result<String, KnowledgeError> {
        Ok(self.read_file(ENTRIES)?.unwrap_or_default())
    }

    pub fn patterns_text(&self) -> Result<String, KnowledgeError> {
        Ok(self.read_file(PATTERNS)?.unwrap_or_default())
    }

    /// Every pattern of PATTERNS.md.
    pub fn patterns(&self) -> Result<Vec<Pattern>, KnowledgeError> {
        Ok(patterns(&self.patterns_text()?).0)
    }

    /// A pattern as it stands in the file.
    pub fn pattern_text(&self, id: &str) -> Result<Option<String>, KnowledgeError> {
        let text = self.patterns_text()?;
        let all = sections_of(&text, pattern::MARK);
        let section = all.iter().find(|s| s.id == id);
        Ok(section
            .and_then(|s| text.get(s.start..s.end))
            .map(str::to_owned))
    }

    /// The index as it must stand for what LEARNINGS.md says now.
    pub fn index(&self) -> Result<Index, KnowledgeError> {
        Ok(index(&self.all()?.0))
    }

    /// Every entry, and what is wrong with the form of some.
    pub fn all(&self) -> Result<(Vec<Learning>, Vec<Fault>), KnowledgeError> {
        Ok(parse(&self.text()?))
    }

    pub fn search(&self, query: &Query, limit: usize) -> Result<Vec<IndexLine>, KnowledgeError> {
        Ok(search::search(&self.text()?, query, limit))
    }

    /// The entries with these ids, in the order asked; the second list holds the ids that are not there.
    pub fn read(&self, ids: &[String]) -> Result<(Vec<Learning>, Vec<String>), KnowledgeError> {
        let text = self.text()?;
        let by_number: BTreeMap<u32, Section<'_>> = sections(&text)
            .into_iter()
            .rev()
            .filter_map(|s| Some((number(s.id)?, s)))
            .collect();
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for id in ids {
            match number(id).and_then(|n| by_number.get(&n)) {
                Some(section) => found.push(Learning::read(section).0),
                None => missing.push(id.clone()),
            }
        }
        Ok((found, missing))
    }

    /// Adds an entry. The same lesson twice is kept once: its id comes back.
    pub fn add(&self, entry: NewLearning) -> Result<String, KnowledgeError> {
        let entry = entry
            .into_entry(String::new())
            .map_err(KnowledgeError::Invalid)?;
        self.change(|text, index| {
            let known = parse(text).0;
            if let Some(same) = known.iter().find(|k| k.same_lesson(&entry)) {
                return Ok((None, same.id.clone()));
            }
            let id = id_of(highest_number_of(&known, index) + 1);
            let entry = Learning {
                id: id.clone(),
                ..entry.clone()
            };
            Ok((Some(appended(text, [&entry])), id))
        })
    }

    /// Sets fields of one entry; the entry as it stands then.
    pub fn edit(&self, id: &str, fields: &[(String, String)]) -> Result<Learning, KnowledgeError> {
        self.change_one(id, |entry| {
            for (name, value) in fields {
                entry.set(name, value).map_err(KnowledgeError::Invalid)?;
            }
            Ok(())
        })
    }

    /// Takes an entry out of the index. It stays readable by its id, which is never given again.
    pub fn retire(&self, id: &str, reason: &str) -> Result<Learning, KnowledgeError> {
        let reason = super::quote::one_line(reason);
        if reason.is_empty() {
            return Err(KnowledgeError::Invalid("say why it is retired".to_owned()));
        }
        self.change_one(id, |entry| {
            entry.status = Status::Retired(reason.clone());
            Ok(())
        })
    }

    fn change_one(
        &self,
        id: &str,
        change: impl Fn(&mut Learning) -> Result<(), KnowledgeError>,
    ) -> Result<Learning, KnowledgeError> {
        self.change(|text, _| {
            let all = sections(text);
            let wanted = number(id);
            let Some(section) = all
                .iter()
                .find(|s| wanted.is_some() && number(s.id) == wanted)
            else {
                return Err(KnowledgeError::NotFound {
                    what: "learning",
                    name: id.to_owned(),
                    known: Vec::new(),
                });
            };
            let mut entry = Learning::read(section).0;
            change(&mut entry)?;
            Ok((Some(replaced(text, &[(*section, entry.clone())])), entry))
        })
    }

    /// Adds the entries of a hand-written file; what was done with each, and what could not be read.
    pub fn import(&self, source: &str, name: &str, date: &str) -> Result<Imported, KnowledgeError> {
        self.change(|text, index| {
            let known = parse(text).0;
            let highest = highest_number_of(&known, index);
            let (new, imported) = import::read(source, name, date, &known, highest);
            Ok(((!new.is_empty()).then(|| appended(text, &new)), imported))
        })
    }

    /// Changes PATTERNS.md while no other process does; false: there is nothing to change.
    pub fn change_patterns(
        &self,
        change: impl FnOnce(&str) -> String,
    ) -> Result<bool, KnowledgeError> {
        let _writing = self.lock()?;
        let Some(text) = self.read_file(PATTERNS)? else {
            return Ok(false);
        };
        let changed = change(&text);
        if changed == text {
            return Ok(false);
        }
        self.write_file(PATTERNS, &changed)?;
        Ok(true)
    }

    /// What is wrong, with file and line; `known` files are links that are looked up below the project.
    pub fn check(&self, uses: &Uses) -> Result<Vec<Remark>, KnowledgeError> {
        let text = self.text()?;
        let patterns = self.patterns_text()?;
        let there =
            |link: &str| self.folder.join(link).exists() || self.project.join(link).exists();
        let mut remarks = check::check(&text, &patterns, uses, &there);
        for (file, message) in self.stale()? {
            remarks.push(Remark::stale_index(&file, message));
        }
        Ok(remarks)
    }

    /// Mends what can be mended without judging: missing status and evidence, copies of an entry, the index. Ids of what changed.
    pub fn fix(&self) -> Result<Vec<String>, KnowledgeError> {
        self.change(|text, _| {
            let fixed = check::fixed(text);
            let ids: Vec<String> = fixed.iter().map(|(s, _)| s.id.to_owned()).collect();
            let grown = (!fixed.is_empty()).then(|| replaced(text, &fixed));
            Ok((grown, ids))
        })
    }

    /// Writes the index anew; the files that changed.
    pub fn write_index(&self) -> Result<Vec<String>, KnowledgeError> {
        if self.read_file(ENTRIES)?.is_none() {
            return Ok(Vec::new());
        }
        let _writing = self.lock()?;
        self.write_index_of(&self.text()?)
    }

    /// Index files that are not what LEARNINGS.md makes of them, with what is wrong.
    pub fn stale(&self) -> Result<Vec<(String, &'static str)>, KnowledgeError> {
        let Some(text) = self.read_file(ENTRIES)? else {
            return Ok(Vec::new());
        };
        let wanted = index(&parse(&text).0);
        let mut stale = Vec::new();
        let mut compare = |name: String, text: &str| -> Result<(), KnowledgeError> {
            match self.read_file(&name)? {
                None => stale.push((name, "is missing")),
                Some(there) if there != text => stale.push((name, "is stale")),
                Some(_) => {}
            }
            Ok(())
        };
        compare(INDEX.to_owned(), &wanted.first)?;
        for (name, text) in &wanted.pages {
            compare(format!("{PAGES}/{name}"), text)?;
        }
        for name in self.old_pages(&wanted)? {
            stale.push((format!("{PAGES}/{name}"), "belongs to no group any more"));
        }
        Ok(stale)
    }

    /// Changes LEARNINGS.md and its index while no other process does. `change` gets the two texts as they are now, and
    /// gives the new LEARNINGS.md, or None to leave it.
    fn change<T>(
        &self,
        change: impl FnOnce(&str, &str) -> Result<(Option<String>, T), KnowledgeError>,
    ) -> Result<T, KnowledgeError> {
        let _writing = self.lock()?;
        let text = self
            .read_file(ENTRIES)?
            .unwrap_or_else(|| "# Learnings\n".to_owned());
        let index = self.read_file(INDEX)?.unwrap_or_default();
        let (grown, value) = change(&text, &index)?;
        if let Some(grown) = &grown {
            self.write_file(ENTRIES, grown)?;
        }
        // Also when nothing changed: a kill between the two files leaves a stale index, and the next writer mends it.
        self.write_index_of(grown.as_deref().unwrap_or(&text))?;
        Ok(value)
    }

    fn write_index_of(&self, text: &str) -> Result<Vec<String>, KnowledgeError> {
        let wanted = index(&parse(text).0);
        let mut written = Vec::new();
        let mut write = |name: String, text: &str| -> Result<(), KnowledgeError> {
            if self.read_file(&name)?.as_deref() != Some(text) {
                self.write_file(&name, text)?;
                written.push(name);
            }
            Ok(())
        };
        for (name, text) in &wanted.pages {
            write(format!("{PAGES}/{name}"), text)?;
        }
        write(INDEX.to_owned(), &wanted.first)?;
        for name in self.old_pages(&wanted)? {
            let path = Path::new(FOLDER).join(PAGES).join(&name);
            Files::open(&self.project)
                .and_then(|files| files.remove(&path))
                .map_err(|e| unwritten(&path, &e))?;
            written.push(format!("{PAGES}/{name}"));
        }
        Ok(written)
    }

    /// Pages that were generated once and are no part of the index now.
    fn old_pages(&self, wanted: &Index) -> Result<Vec<String>, KnowledgeError> {
        let folder = Path::new(FOLDER).join(PAGES);
        if !self.project.is_dir() {
            return Ok(Vec::new());
        }
        let names = Files::open(&self.project)
            .and_then(|files| files.names(&folder))
            .map_err(|e| unreadable(&folder, e.to_string()))?;
        let mut old = Vec::new();
        for name in names {
            if wanted.pages.contains_key(&name) || !name.ends_with(".md") {
                continue;
            }
            let text = self.read_file(&format!("{PAGES}/{name}"))?;
            if text.is_some_and(|t| t.lines().nth(1).is_some_and(|l| l.starts_with(GENERATED))) {
                old.push(name);
            }
        }
        old.sort();
        Ok(old)
    }

    /// One writer at a time, over processes: a lock on the folder itself, so that nothing is left behind.
    fn lock(&self) -> Result<Writing, KnowledgeError> {
        self.refuse_links("")?;
        create_dir(&self.folder).map_err(|e| unwritten(Path::new(FOLDER), &e))?;
        let folder = std::fs::File::open(&self.folder).map_err(|e| unwritable(&self.folder, &e))?;
        folder
            .lock_exclusive()
            .map_err(|e| unwritable(&self.folder, &e))?;
        tidy(&self.folder).map_err(|e| unwritten(Path::new(FOLDER), &e))?;
        Ok(Writing { _folder: folder })
    }

    /// A file of the folder. Neither a link in its place nor one on the way leads out of the project.
    fn read_file(&self, name: &str) -> Result<Option<String>, KnowledgeError> {
        let path = Path::new(FOLDER).join(name);
        if !self.project.is_dir() {
            return Ok(None);
        }
        let files = Files::open(&self.project).map_err(|e| unreadable(&path, e.to_string()))?;
        match files.read(&path, MAX_BYTES) {
            Ok(Found::Bytes(bytes)) => String::from_utf8(bytes)
                .map(Some)
                .map_err(|_| unreadable(&path, "it is not UTF-8 text".to_owned())),
            Ok(Found::Missing) => Ok(None),
            Ok(Found::Odd(why)) => Err(unreadable(&path, why)),
            Err(e) => Err(unreadable(&path, e.to_string())),
        }
    }

    fn write_file(&self, name: &str, text: &str) -> Result<(), KnowledgeError> {
        let path = Path::new(FOLDER).join(name);
        Files::open(&self.project)
            .and_then(|files| files.write(&path, text.as_bytes(), Existing::Replace))
            .map_err(|e| unwritten(&path, &e))
    }

    /// A project from somewhere else could point these at the user's own files.
    fn refuse_links(&self, name: &str) -> Result<(), KnowledgeError> {
        let mut path = self.project.clone();
        for part in Path::new(FOLDER)
            .components()
            .chain(Path::new(name).components())
        {
            path.push(part);
            match std::fs::symlink_metadata(&path) {
                Ok(found) if found.file_type().is_symlink() => {
                    return Err(unreadable(
                        &path,
                        "it is a link; learnings stay inside the project".to_owned(),
                    ));
                }
                Ok(_) => {}
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                Err(e) => return Err(unreadable(&path, e.to_string())),
            }
        }
        Ok(())
    }
}

/// Every entry of the text, and what is wrong with its form.
pub fn parse(text: &str) -> (Vec<Learning>, Vec<Fault>) {
    let mut entries = Vec::new();
    let mut faults = Vec::new();
    for section in sections(text) {
        let (entry, wrong) = Learning::read(&section);
        entries.push(entry);
        faults.extend(wrong);
    }
    (entries, faults)
}

/// The text with the entries at its end.
pub fn appended<'e>(text: &str, entries: impl IntoIterator<Item = &'e Learning>) -> String {
    let mut grown = text.to_owned();
    for entry in entries {
        grown.truncate(grown.trim_end().len());
        grown.push_str("\n\n");
        grown.push_str(&entry.render());
    }
    grown
}

/// The first id above all of these.
pub fn next_id<'a>(known: impl IntoIterator<Item = &'a Learning>) -> String {
    let highest = known.into_iter().filter_map(|e| number(&e.id)).max();
    id_of(highest.unwrap_or(0) + 1)
}

/// The text with these sections, which are in the order of the file, as their entries are now.
fn replaced(text: &str, changes: &[(Section<'_>, Learning)]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (section, entry) in changes {
        out.push_str(text.get(at..section.start).unwrap_or(""));
        out.push_str(&entry.render());
        // The lines between this entry and the next one stay.
        let body = text.get(section.start..section.end).unwrap_or("");
        let kept = body.trim_end().len();
        let after = body.get(kept..).unwrap_or("");
        out.push_str(
            after
                .strip_prefix("\r\n")
                .or(after.strip_prefix('\n'))
                .unwrap_or(after),
        );
        at = section.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// Over the entries and the index that still stands: an entry that somebody removed by hand leaves its number there.
fn highest_number_of(known: &[Learning], index: &str) -> u32 {
    known
        .iter()
        .filter_map(|entry| number(&entry.id))
        .chain([highest_number(index)])
        .max()
        .unwrap_or(0)
}

fn unreadable(path: &Path, reason: String) -> KnowledgeError {
    KnowledgeError::Unreadable {
        path: shown(path),
        reason,
    }
}

fn unwritten(path: &Path, error: &FileError) -> KnowledgeError {
    KnowledgeError::Unwritable {
        path: shown(path),
        reason: error.to_string(),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> KnowledgeError {
    KnowledgeError::Unwritable {
        path: shown(path),
        reason: error.to_string(),
    }
}

//! To-do lists as files: `lists/ID.json` each. Knows no call, no run and no guard.

use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_engine::toolset::{BackendError, BackendResult};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// `i1`, `i2`, …: never given twice while the item with the highest one is there.
    pub id: String,
    pub text: String,
    /// Who does it; None: nobody has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default)]
    pub done: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub name: String,
    pub items: Vec<Item>,
}

impl List {
    /// Two lists with the same revision say the same.
    pub fn revision(&self) -> String {
        sha256_hex(canonical(&json!(self)).as_bytes())
    }

    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap() + "\n"
    }

    pub fn parse(text: &str) -> Option<List> {
        serde_json::from_str(text).ok()
    }

    /// By its id or its text.
    pub fn item(&self, named: &str) -> Option<&Item> {
        let mut items = self.items.iter();
        items.find(|item| item.id == named || item.text == named)
    }

    pub fn add(&mut self, text: &str, owner: Option<&str>) {
        let numbers = self.items.iter().filter_map(|item| item.id.get(1..));
        let last = numbers
            .filter_map(|number| number.parse::<u32>().ok())
            .max();
        self.items.push(Item {
            id: format!("i{}", last.unwrap_or(0) + 1),
            text: text.to_owned(),
            owner: owner.map(str::to_owned),
            done: false,
        });
    }

    /// One line each, as people read it.
    pub fn lines(&self) -> Vec<String> {
        let line = |item: &Item| {
            let mark = if item.done { "x" } else { " " };
            let owner = item.owner.as_deref().unwrap_or("nobody");
            format!("[{mark}] {} {} ({owner})", item.id, item.text)
        };
        self.items.iter().map(line).collect()
    }
}

/// The id of a new list: its name in lower case, with `-` for everything else.
pub fn slug(name: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() { c } else { '-' };
    name.trim().to_lowercase().chars().map(kept).collect()
}

pub struct Store(PathBuf);

impl Store {
    pub fn new(project: &Path) -> Store {
        Store(project.join("lists"))
    }

    /// Below the project.
    pub fn file(id: &str) -> String {
        format!("lists/{id}.json")
    }

    fn path(&self, id: &str) -> BackendResult<PathBuf> {
        // An id is a file's name and nothing more.
        match slug(id) == id && !id.is_empty() {
            true => Ok(self.0.join(format!("{id}.json"))),
            false => Err(BackendError::not_found(format!("there is no list {id:?}"))),
        }
    }

    pub fn find(&self, id: &str) -> BackendResult<Option<List>> {
        match fs::read_to_string(self.path(id)?) {
            Ok(text) => List::parse(&text)
                .map(Some)
                .ok_or_else(|| BackendError::rejected(format!("the file of {id:?} is no list"))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", id, &error)),
        }
    }

    pub fn get(&self, id: &str) -> BackendResult<List> {
        let none = || BackendError::not_found(format!("there is no list {id:?}"));
        self.find(id)?.ok_or_else(none)
    }

    /// None: there shall be none.
    pub fn put(&self, id: &str, list: Option<&List>) -> BackendResult<()> {
        let path = self.path(id)?;
        let done = match list {
            Some(list) => fs::create_dir_all(&self.0).and_then(|()| fs::write(path, list.text())),
            None => fs::remove_file(path),
        };
        done.map_err(|error| failed("write", id, &error))
    }

    /// Sorted.
    pub fn ids(&self) -> BackendResult<Vec<String>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("list", "lists", &error)),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let ids = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()));
        let mut ids: Vec<String> = ids.collect();
        ids.sort();
        Ok(ids)
    }
}

fn failed(what: &str, id: &str, error: &std::io::Error) -> BackendError {
    BackendError::unavailable(format!("cannot {what} {id:?}: {error}"))
}

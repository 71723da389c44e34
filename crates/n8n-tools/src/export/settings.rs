//! Variables of the tools' files in a workflow: read from n8n's environment, or written out where their values were given. An n8n that lets
//! no workflow read its environment, as releases from 2 on do unless they are told otherwise, needs them written out.

use super::NoExport;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Settings<'s> {
    set: &'s BTreeMap<String, String>,
    /// Those that stand in a workflow.
    met: RefCell<BTreeSet<String>>,
}

impl<'s> Settings<'s> {
    /// Values that a workflow takes as they are.
    pub fn of(set: &'s BTreeMap<String, String>) -> Result<Settings<'s>, NoExport> {
        for (name, value) in set {
            let why = match value {
                value if value.trim().is_empty() => "it is empty",
                value if value.starts_with('=') || value.contains("{{") || value.contains("}}") => {
                    "n8n would work it out as an expression"
                }
                value if value.contains(char::is_control) => "it holds a control character",
                _ => continue,
            };
            return Err(NoExport::Value {
                name: name.clone(),
                value: value.clone(),
                why,
            });
        }
        Ok(Settings {
            set,
            met: RefCell::default(),
        })
    }

    /// Inside of an expression's text.
    pub fn within(&self, name: &str) -> String {
        self.met.borrow_mut().insert(name.to_owned());
        match self.set.get(name) {
            Some(value) => value.clone(),
            None => format!("{{{{ $env.{name} }}}}"),
        }
    }

    /// As a whole parameter.
    pub fn alone(&self, name: &str) -> String {
        let text = self.within(name);
        match self.set.contains_key(name) {
            true => text,
            false => format!("={text}"),
        }
    }

    /// An error: one that was set stands nowhere.
    pub fn all_stand(&self) -> Result<(), NoExport> {
        let met = self.met.borrow();
        match self.set.keys().find(|name| !met.contains(*name)) {
            None => Ok(()),
            Some(name) => Err(NoExport::Unknown {
                name: name.clone(),
                known: met.iter().cloned().collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

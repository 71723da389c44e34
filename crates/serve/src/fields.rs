//! The fields of a body whose form is a door's own: each that is missing or does not fit is told at once.

use crate::problem::Problem;
use agentctl_engine::pack::Fault;
use serde_json::{Map, Value};

pub struct Fields<'a> {
    body: &'a Map<String, Value>,
    faults: Vec<Fault>,
}

impl<'a> Fields<'a> {
    pub fn of(body: &'a Map<String, Value>) -> Fields<'a> {
        Fields {
            body,
            faults: Vec::new(),
        }
    }

    /// A text that has to be there; where it is not, an empty one until [`Fields::fit`].
    pub fn required(&mut self, name: &str) -> &'a str {
        let faults = self.faults.len();
        let text = self.text(name);
        if text.is_none() && self.faults.len() == faults {
            self.wrong(name, "is required, as text");
        }
        text.unwrap_or_default()
    }

    /// A text; None: it is not there.
    pub fn text(&mut self, name: &str) -> Option<&'a str> {
        self.one(name, "text", Value::as_str)
    }

    pub fn flag(&mut self, name: &str) -> Option<bool> {
        self.one(name, "true or false", Value::as_bool)
    }

    pub fn object(&mut self, name: &str) -> Option<&'a Map<String, Value>> {
        self.one(name, "an object", Value::as_object)
    }

    fn one<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.body.get(name).filter(|value| !value.is_null())?;
        let found = read(value);
        if found.is_none() {
            self.faults.push(Fault::of_kind(name, expected, value));
        }
        found
    }

    pub fn wrong(&mut self, name: &str, message: impl Into<String>) {
        self.faults.push(Fault {
            field: name.to_owned(),
            message: message.into(),
        });
    }

    /// Error: 422 with each field that was found wrong.
    pub fn fit(self) -> Result<(), Problem> {
        match self.faults.is_empty() {
            true => Ok(()),
            false => Err(Problem::fields(self.faults)),
        }
    }
}

//! How services show the states and kinds of their records (`knowledge/states.tsv`): "open" is a status of its own in one, a
//! parameter of the read in another, a date in a third. What a known service does not show is not understood.

use crate::lex::Table;
use crate::plan::{Arg, Cmp, Cond, Does, Role, Step, Val};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

pub(crate) static STATES: Table = Table {
    file: "states.tsv",
    text: include_str!("../knowledge/states.tsv"),
    columns: 5,
};

/// What a row says is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shown {
    /// The parameter at this path of the reading node gets this value.
    Set(Value),
    /// This text is joined to the query at this path.
    And(&'static str),
    /// A filter on the field at this path.
    Test(Cmp, Value),
    /// The date in the field at this path is over.
    Past,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    nodes: &'static str,
    objects: &'static str,
    /// Concepts of states; behind `=` words.
    said: &'static str,
    pub place: &'static str,
    pub shown: Shown,
}

/// The rows; an error names what is wrong with one.
pub(crate) fn rows() -> impl Iterator<Item = Result<Row, String>> {
    STATES.rows().map(|cells| {
        let value = || {
            serde_json::from_str::<Value>(cells.at(5))
                .map_err(|why| format!("{:?}: {why}", cells.at(5)))
        };
        let shown = match cells.at(3) {
            "set" => Shown::Set(value()?),
            "and" => Shown::And(cells.at(5)),
            "is" => Shown::Test(Cmp::Eq, value()?),
            "not" => Shown::Test(Cmp::Ne, value()?),
            "none" => Shown::Test(Cmp::Missing, json!(true)),
            "has" => Shown::Test(Cmp::Exists, json!(true)),
            "past" => Shown::Past,
            other => {
                return Err(format!(
                    "{other:?} is none of set, and, is, not, none, has, past"
                ));
            }
        };
        Ok(Row {
            nodes: cells.at(0),
            objects: cells.at(1),
            said: cells.at(2),
            place: cells.at(4),
            shown,
        })
    })
}

/// The rows of a node's type, without its package.
pub(crate) fn of(node: &str) -> impl Iterator<Item = &'static Row> {
    static READ: LazyLock<Vec<Row>> = LazyLock::new(|| rows().flatten().collect());
    READ.iter()
        .filter(move |row| row.nodes.split('|').any(|n| n == node))
}

/// Whether a node's type is known to show this state.
pub(crate) fn shows(node: &str, concept: &str) -> bool {
    of(node).any(|row| row.shows(concept))
}

impl Row {
    /// Whether this row is of an object; one that is not said is any.
    fn about(&self, object: &str) -> bool {
        self.objects == "*" || object.is_empty() || self.objects.split('|').any(|o| o == object)
    }

    pub fn shows(&self, concept: &str) -> bool {
        !self.said.starts_with('=') && self.said.split('|').any(|s| s == concept)
    }

    /// The states that it shows.
    pub fn concepts(&self) -> impl Iterator<Item = &'static str> {
        let states = !self.said.starts_with('=');
        self.said.split('|').filter(move |_| states)
    }

    /// Whether a word of the text names this row's kind.
    fn named_in(&self, text: &str) -> bool {
        let Some(words) = self.said.strip_prefix('=') else {
            return false;
        };
        let text = text.to_lowercase();
        let mut said = text.split(|c: char| !c.is_alphanumeric());
        said.any(|word| words.split('|').any(|w| w == word))
    }

    /// Whether the reading node's parameters hold what this row puts there.
    pub fn stands_in(&self, params: &Map<String, Value>) -> bool {
        let at = self
            .place
            .split('.')
            .try_fold(None, |at: Option<&Value>, key| {
                let next = at.map_or_else(|| params.get(key), |v| v.get(key));
                next.map(Some)
            });
        match (&self.shown, at.flatten()) {
            (Shown::Set(value), Some(there)) => there == value,
            (Shown::And(text), Some(Value::String(there))) => there.contains(text),
            _ => false,
        }
    }

    /// Whether a filter's conditions test what this row says.
    pub fn is_tested_by(&self, conditions: &str) -> bool {
        let value = match &self.shown {
            Shown::Set(_) | Shown::And(_) => return false,
            Shown::Test(Cmp::Eq | Cmp::Ne, Value::String(value)) => value.clone(),
            Shown::Test(Cmp::Eq | Cmp::Ne, value) => value.to_string(),
            Shown::Test(..) | Shown::Past => String::new(),
        };
        conditions.contains(self.place) && conditions.contains(&value)
    }

    /// Puts into the reading node's parameters what this row says; what is there already stays.
    fn put(&self, params: &mut Map<String, Value>) {
        let mut keys: Vec<&str> = self.place.split('.').collect();
        let Some(last) = keys.pop() else {
            return;
        };
        let mut map = params;
        for key in keys {
            let next = map.entry(key).or_insert_with(|| json!({}));
            let Some(next) = next.as_object_mut() else {
                return;
            };
            map = next;
        }
        match &self.shown {
            Shown::Set(value) => {
                map.entry(last).or_insert_with(|| value.clone());
            }
            Shown::And(text) => {
                let there = map.get(last).and_then(Value::as_str);
                let joined = match there.filter(|t| !t.is_empty()) {
                    Some(there) => format!("{there} AND {text}"),
                    None => (*text).to_owned(),
                };
                map.insert(last.to_owned(), json!(joined));
            }
            Shown::Test(..) | Shown::Past => {}
        }
    }
}

/// Narrows a read down by the state that it was given and by the kind that its words name.
pub(crate) fn narrow(
    node: &str,
    object: &str,
    said: &str,
    state: Option<&str>,
    params: &mut Map<String, Value>,
) {
    for row in of(node).filter(|row| row.about(object)) {
        if state.is_some_and(|s| row.shows(s)) || row.named_in(said) {
            row.put(params);
        }
    }
}

/// Settles the states of what is read: each becomes a parameter of the read, or the test that the service's records have for
/// it; in tables of one's own it stands as it is `written`: the column and the value. Gives the states that a known service does not show.
pub(crate) fn settle(
    steps: &mut Vec<Step>,
    written: &dyn Fn(&str) -> (String, String),
) -> Vec<String> {
    let mut unknown = Vec::new();
    let mut at = 0;
    while let Some(step) = steps.get_mut(at) {
        for way in step.ways_mut() {
            unknown.extend(settle(way, written));
        }
        let state = steps.get(at + 1).and_then(state_of).map(str::to_owned);
        if let (Some(state), Some(read)) = (state, steps.get_mut(at)) {
            match shown_by(read, &state) {
                Ok(Some(row)) => match become_shown(read, &state, row) {
                    None => drop(steps.remove(at + 1)),
                    Some(tested) => {
                        if let Some(Does::Filter { condition }) =
                            steps.get_mut(at + 1).map(|s| &mut s.does)
                        {
                            *condition = tested;
                        }
                    }
                },
                Ok(None) if read_of(read).is_some() => {
                    let (column, value) = written(&state);
                    if let Some(Does::Filter {
                        condition: Cond::Compare { left, right, .. },
                    }) = steps.get_mut(at + 1).map(|s| &mut s.does)
                    {
                        *left = Val::Field {
                            name: column,
                            of: None,
                        };
                        *right = Val::Lit {
                            value: json!(value),
                        };
                    }
                }
                Ok(None) => {}
                Err(()) => unknown.push(state),
            }
        }
        at += 1;
    }
    unknown
}

/// What a poll's read becomes where only records in a state are meant: the test that its records need, if any; an error where
/// the service is not known to show that state.
pub(crate) fn settle_poll(read: &mut Step, state: &str) -> Result<Option<Cond>, ()> {
    match shown_by(read, state)? {
        Some(row) => Ok(become_shown(read, state, row)),
        None => Ok(Some(Cond::Compare {
            left: Val::Field {
                name: "status".into(),
                of: None,
            },
            op: Cmp::Eq,
            right: Val::Lit {
                value: json!(state),
            },
        })),
    }
}

/// The row of a state, for what a step reads; None where it may be a value in a column of its user's, or nothing is read; an error
/// where the service is not known to show it.
fn shown_by(read: &Step, state: &str) -> Result<Option<&'static Row>, ()> {
    let Some((node, object)) = read_of(read) else {
        return Ok(None);
    };
    let mut known = of(&node).filter(|row| row.about(&object)).peekable();
    let any = known.peek().is_some();
    match known.find(|row| row.shows(state)) {
        Some(row) => Ok(Some(row)),
        None if any || !keeps_own_columns(&node) => Err(()),
        None => Ok(None),
    }
}

/// Whether a node's records have the columns that its user gave them: there a state may be a column's value.
fn keeps_own_columns(node: &str) -> bool {
    let service = crate::lexicon::acting(|t| agentctl_n8n::short_type(t) == node).next();
    service.is_none_or(|s| s.is_any(&["sheet", "base", "db", "kv"]))
}

/// The state that a filter lets pass.
fn state_of(step: &Step) -> Option<&str> {
    let Does::Filter {
        condition:
            Cond::Compare {
                left: Val::Field { name, of: None },
                op: Cmp::Eq,
                right: Val::Lit { value },
            },
    } = &step.does
    else {
        return None;
    };
    value.as_str().filter(|_| name == "status")
}

/// The node type, without its package, and the object that a step reads many of.
fn read_of(step: &Step) -> Option<(String, String)> {
    use crate::plan::Verb;
    let Does::Service {
        service,
        verb: Verb::GetMany | Verb::Search,
        object,
        ..
    } = &step.does
    else {
        return None;
    };
    let node = service.node_types.first()?;
    let short = agentctl_n8n::short_type(node).to_owned();
    Some((short, object.clone().unwrap_or_default()))
}

/// The test that the records of a read need to be in a state; None: the read itself is told.
fn become_shown(read: &mut Step, state: &str, row: &Row) -> Option<Cond> {
    let field = || Val::Field {
        name: row.place.to_owned(),
        of: None,
    };
    match &row.shown {
        Shown::Set(_) | Shown::And(_) => {
            if let Does::Service { args, .. } = &mut read.does {
                args.push(Arg {
                    role: Role::Status,
                    value: Val::Lit {
                        value: json!(state),
                    },
                });
            }
            None
        }
        Shown::Test(op, value) => Some(Cond::Compare {
            left: field(),
            op: *op,
            right: Val::Lit {
                value: value.clone(),
            },
        }),
        Shown::Past => Some(Cond::Age {
            field: field(),
            older: true,
            seconds: 0,
        }),
    }
}

#[cfg(test)]
#[path = "states_tests.rs"]
mod states_tests;

//! `kind: builtin`: functions of the program that a pack's tool file names. They read what they are given and the pack's documents;
//! none leaves the machine or changes anything.

mod documents;
mod statistics;
mod texts;

#[cfg(test)]
mod statistics_tests;
#[cfg(test)]
mod texts_tests;

pub(crate) use documents::{Documents, Library};

use agentctl_base::yaml::Node;
use agentctl_engine::toolset::Outcome;
use agentctl_engine::vocabulary::Faults;
use serde_json::{Map, Value};

pub(crate) const BUILTIN: &str = "builtin";

/// The rule of a result that says why a function has none.
pub(crate) const WRONG: &str = "tools.builtin";

/// The bound value that says which folder the run was begun with.
const FOLDER: &str = "folder";

/// What a function answers: a result, or why there is none and what to do.
pub(crate) type Answered = Result<Value, (String, &'static str)>;

/// A function that a tool file may name: its name, the arguments that it cannot be without, those that it may have, what it does.
struct Function {
    name: &'static str,
    needs: &'static [&'static str],
    may_have: &'static [&'static str],
    /// It works on documents.
    reads_documents: bool,
    call: fn(&Map<String, Value>, &Documents<'_>) -> Answered,
}

const FUNCTIONS: [Function; 4] = [
    Function {
        name: "web_search",
        needs: &["query"],
        may_have: &["limit"],
        reads_documents: true,
        call: texts::search,
    },
    Function {
        name: "read_document",
        needs: &["doc"],
        may_have: &[],
        reads_documents: true,
        call: texts::read,
    },
    Function {
        name: "check_claims",
        needs: &["claims"],
        may_have: &[],
        reads_documents: true,
        call: texts::check,
    },
    Function {
        name: "statistics",
        needs: &["what"],
        may_have: &[
            "x",
            "y",
            "table",
            "probabilities",
            "mean",
            "paired",
            "equal_variances",
            "correction",
            "level",
        ],
        reads_documents: false,
        call: statistics::statistics,
    },
];

/// What the file says; it was checked when the pack was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    function: String,
    /// The data file of the pack that holds the documents.
    documents: Option<String>,
}

impl Spec {
    pub fn of(section: &Value) -> Spec {
        let text = |key: &str| section.get(key).and_then(Value::as_str).map(str::to_owned);
        Spec {
            function: text("function").unwrap_or_default(),
            documents: text("documents"),
        }
    }

    pub fn call(&self, args: &Map<String, Value>, library: &Library) -> Outcome {
        let Some(function) = FUNCTIONS.iter().find(|known| known.name == self.function) else {
            return Outcome::failed(
                format!("there is no function {:?}", self.function),
                WRONG,
                "mend the tool file",
            );
        };
        let documents = Documents {
            library,
            named: self.documents.as_deref().unwrap_or_default(),
            folder: args.get(FOLDER).and_then(Value::as_str).unwrap_or_default(),
        };
        match (function.call)(args, &documents) {
            Ok(result) => Outcome::Ok(result),
            Err((why, hint)) => Outcome::failed(why, WRONG, hint),
        }
    }
}

pub(crate) fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    let names: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
    for entry in node.as_map().unwrap_or_default() {
        if !matches!(entry.key.as_str(), "function" | "documents") {
            let message = format!(
                "there is no {:?} here; there are function, documents",
                entry.key
            );
            faults.push((entry.key_place, message));
        }
    }
    let named = node
        .get("function")
        .and_then(Node::as_text)
        .unwrap_or_default();
    let place = node.get("function").map_or(node.place, |n| n.place);
    let Some(function) = FUNCTIONS.iter().find(|known| known.name == named) else {
        faults.push((
            place,
            format!("function is one of {}, not {named:?}", names.join(", ")),
        ));
        return faults;
    };
    for needed in function
        .needs
        .iter()
        .filter(|needed| !values.iter().any(|value| value == *needed))
    {
        faults.push((
            place,
            format!("{named} needs the parameter {needed:?}, which the tool does not have"),
        ));
    }
    let own = |value: &&String| !(function.reads_documents && *value == FOLDER);
    for value in values.iter().filter(own) {
        if !function.needs.contains(&value.as_str()) && !function.may_have.contains(&value.as_str())
        {
            let known = [function.needs, function.may_have].concat().join(", ");
            faults.push((
                place,
                format!("{named} has no parameter {value:?}; it has {known}"),
            ));
        }
    }
    let documents = node.get("documents");
    if function.reads_documents && documents.and_then(Node::as_text).is_none() {
        faults.push((
            place,
            format!("{named} needs documents: the name of a data file of the pack"),
        ));
    }
    if let Some(documents) = documents.filter(|_| !function.reads_documents) {
        faults.push((documents.place, format!("{named} reads no documents")));
    }
    faults
}

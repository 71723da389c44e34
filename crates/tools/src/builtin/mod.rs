//! `kind: builtin`: functions of the program that a pack's tool file names. They read what they are given and the pack's documents, and
//! write files of the run's own; none leaves the machine or changes anything else.

mod documents;
mod files;
mod pdf;
mod reader;
mod search_files;
mod statistics;
mod texts;

#[cfg(test)]
mod search_files_tests;
#[cfg(test)]
mod statistics_tests;
#[cfg(test)]
mod texts_tests;

pub(crate) use documents::Library;
pub use reader::Reader;

use crate::answer::FAILED;
use crate::call::Call;
use crate::kind::{KindOfTool, Work};
use crate::toolset::Made;
use agentctl_base::BoxFuture;
use agentctl_base::yaml::Node;
use agentctl_engine::toolset::Outcome;
use agentctl_engine::vocabulary::Faults;
use documents::{Documents, Web};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: "builtin",
    check,
    make: |section| Box::new(Spec::of(section)),
};

/// The rule of a result that says why a function has none.
pub(crate) const WRONG: &str = "tools.builtin";

/// The bound value that says which folder the run was begun with.
const FOLDER: &str = "folder";

/// The bound value that says which run's file it is.
const RUN: &str = "run";

const MAKE_FILE: &str = "make_file";
/// The function in whose place a search engine may stand, and what it looks for.
const WEB_SEARCH: &str = "web_search";
const QUERY: &str = "query";

/// What a function answers: a result, or why there is none and what to do.
pub(crate) type Answered = Result<Value, (String, &'static str)>;

/// A function that a tool file may name: its name, the arguments that it cannot be without, those that it may have, what it does.
struct Function {
    name: &'static str,
    needs: &'static [&'static str],
    may_have: &'static [&'static str],
    call: Works,
}

/// What it works on besides its arguments.
#[derive(Clone, Copy)]
enum Works {
    Arguments(fn(&Map<String, Value>) -> Answered),
    Documents(fn(&Map<String, Value>, &Documents) -> Answered),
    /// In the project's folder.
    Files(fn(&Map<String, Value>, &Path) -> Answered),
    /// In the folder of the project that the tool's file names.
    Folder(fn(&Map<String, Value>, &Path, &str) -> Answered),
}

impl Function {
    fn reads_documents(&self) -> bool {
        matches!(self.call, Works::Documents(_))
    }

    fn reads_a_folder(&self) -> bool {
        matches!(self.call, Works::Folder(_))
    }
}

const FUNCTIONS: [Function; 6] = [
    Function {
        name: WEB_SEARCH,
        needs: &[QUERY],
        may_have: &["limit"],
        call: Works::Documents(texts::search),
    },
    Function {
        name: "read_document",
        needs: &["doc"],
        may_have: &[],
        call: Works::Documents(texts::read),
    },
    Function {
        name: "check_claims",
        needs: &["claims"],
        may_have: &["verdicts", "question"],
        call: Works::Documents(texts::check),
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
        call: Works::Arguments(statistics::statistics),
    },
    Function {
        name: "search_files",
        needs: &[QUERY],
        may_have: &["limit"],
        call: Works::Folder(search_files::search),
    },
    Function {
        name: MAKE_FILE,
        needs: &["format", "content", RUN],
        may_have: &["name"],
        call: Works::Files(files::make),
    },
];

/// What the file says; it was checked when the pack was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    function: String,
    /// The data file of the pack that holds the documents.
    documents: Option<String>,
    /// The folder of the project that is searched.
    folder: Option<String>,
}

impl Spec {
    pub fn of(section: &Value) -> Spec {
        let text = |key: &str| section.get(key).and_then(Value::as_str).map(str::to_owned);
        Spec {
            function: text("function").unwrap_or_default(),
            documents: text("documents"),
            folder: text(FOLDER),
        }
    }

    /// `root`: the project's folder; None: nothing can be written.
    async fn call(
        &self,
        args: &Map<String, Value>,
        library: &Library,
        web: &Web<'_>,
        root: Option<&Path>,
    ) -> Outcome {
        let Some(function) = FUNCTIONS.iter().find(|known| known.name == self.function) else {
            return Outcome::failed(
                format!("there is no function {:?}", self.function),
                WRONG,
                "mend the tool file",
            );
        };
        let answered = match (function.call, root) {
            (Works::Arguments(call), _) => call(args),
            (Works::Documents(call), _) => {
                let named = self.documents.as_deref().unwrap_or_default();
                let folder = args.get(FOLDER).and_then(Value::as_str).unwrap_or_default();
                match library.documents(named, folder, web).await {
                    Ok(documents) => call(args, &documents),
                    Err(why) => Err((why, "say that the documents cannot be read")),
                }
            }
            (Works::Files(call), Some(root)) => call(args, root),
            (Works::Files(_), None) => Err((
                "there is no project to make files in".to_owned(),
                "say that the file was not made",
            )),
            (Works::Folder(call), Some(root)) => {
                call(args, root, self.folder.as_deref().unwrap_or_default())
            }
            (Works::Folder(_), None) => Err((
                "there is no project whose files could be searched".to_owned(),
                "say that the files cannot be searched",
            )),
        };
        match answered {
            Ok(result) => Outcome::Ok(result),
            Err((why, hint)) => Outcome::failed(why, WRONG, hint),
        }
    }
}

impl Work for Spec {
    fn stays_inside(&self) -> bool {
        true
    }
    /// What the function answers, if it is not more than the tool may answer.
    fn work<'a>(
        &'a self,
        call: &'a Call,
        values: Map<String, Value>,
        _: bool,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            // Whose file it is was bound: no model says it.
            if self.function == MAKE_FILE && call.args.contains_key(RUN) {
                return Outcome::failed("run is bound by the program", WRONG, "mend the tool file");
            }
            let has_folder = values
                .get(FOLDER)
                .and_then(Value::as_str)
                .is_some_and(|f| !f.is_empty());
            let engine = call.shared.engine.as_ref().filter(|_| !has_folder);
            if let Some(engine) = engine.filter(|_| self.function == WEB_SEARCH) {
                return searched(engine, call).await;
            }
            let found = call.found.as_deref().map(Vec::as_slice);
            let web = Web {
                found: found.unwrap_or_default(),
                alone: engine.is_some(),
            };
            let root = call.shared.surroundings.root.as_deref();
            let outcome = self.call(&values, &call.shared.library, &web, root).await;
            let most = call.made.tool.limits.max_bytes;
            let bytes = match &outcome {
                Outcome::Ok(content) => content.to_string().len(),
                _ => 0,
            };
            match u64::try_from(bytes).is_ok_and(|bytes| bytes <= most) {
                true => outcome,
                false => {
                    let why = format!("the answer is larger than {most} bytes");
                    Outcome::failed(why, FAILED, "ask for less")
                }
            }
        })
    }
}

/// The same search, made by the engine that the user chose.
async fn searched(engine: &Arc<Made>, call: &Call) -> Outcome {
    let call = Call {
        made: Arc::clone(engine),
        ..call.clone()
    };
    let faults = call.made.faults(&call.args);
    match faults.is_empty() {
        true => call.made(&Map::new()).await,
        false => Outcome::failed(faults.join("; "), WRONG, "mend the engine's tool file"),
    }
}

fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    let names: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
    for entry in node.as_map().unwrap_or_default() {
        if !matches!(entry.key.as_str(), "function" | "documents" | FOLDER) {
            let message = format!(
                "there is no {:?} here; there are function, documents, {FOLDER}",
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
    let own = |value: &&String| !(function.reads_documents() && *value == FOLDER);
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
    if function.reads_documents() && documents.and_then(Node::as_text).is_none() {
        faults.push((
            place,
            format!("{named} needs documents: the name of a data file of the pack"),
        ));
    }
    let folder = node.get(FOLDER);
    let good = |node: &Node| node.as_text().is_some_and(search_files::is_folder);
    if function.reads_a_folder() && !folder.is_some_and(good) {
        let form = format!(
            "{named} needs {FOLDER}: a folder below the project (a/b; not hidden, not memory)"
        );
        faults.push((folder.map_or(place, |node| node.place), form));
    }
    if let Some(folder) = folder.filter(|_| !function.reads_a_folder()) {
        faults.push((folder.place, format!("{named} searches no folder")));
    }
    if let Some(documents) = documents.filter(|_| !function.reads_documents()) {
        faults.push((documents.place, format!("{named} reads no documents")));
    }
    faults
}

//! The documents that a pack's tools read: a folder that the user named, else a data file of the pack. Read once, when first asked for.

use agentctl_evidence::{Corpus, Document, Format};
use agentctl_host::files::read_given_text;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Of a folder: files, bytes of one file, bytes of all, and folders below one another.
const MAX_FILES: usize = 5000;
const MAX_FILE: u64 = 4 * 1024 * 1024;
const MAX_ALL: usize = 64 * 1024 * 1024;
const MAX_DEPTH: usize = 6;

/// The documents of one tool.
pub(crate) struct Documents<'a> {
    pub library: &'a Library,
    /// As its file says.
    pub named: &'a str,
    /// The folder that the run was begun with; empty: none.
    pub folder: &'a str,
}

impl Documents<'_> {
    pub fn corpus(&self) -> Result<Arc<Corpus>, (String, &'static str)> {
        let corpus = self.library.corpus(self.named, self.folder);
        corpus.map_err(|why| (why, "say that the documents cannot be read"))
    }
}

pub(crate) struct Library {
    /// The folder that stands for the pack's own documents.
    folder: Option<PathBuf>,
    data: Arc<Map<String, Value>>,
    /// What was read, by the name of the data file; a folder has one name.
    read: Mutex<Vec<(String, Arc<Corpus>)>>,
}

impl Library {
    pub fn new(folder: Option<PathBuf>, data: Arc<Map<String, Value>>) -> Library {
        Library {
            folder,
            data,
            read: Mutex::default(),
        }
    }

    /// The documents that a tool file names, or those of the user's folder.
    /// A folder counts only where the user's own command named it: what a run was given is no leave to read.
    fn corpus(&self, named: &str, folder: &str) -> Result<Arc<Corpus>, String> {
        let given = self.folder.as_deref();
        if !folder.is_empty() && given != Some(Path::new(folder)) {
            return Err(format!(
                "this run reads {folder:?}, which this command was not given; begin it anew with --corpus"
            ));
        }
        let given = given.filter(|_| !folder.is_empty());
        let name = if given.is_some() { "" } else { named };
        let mut read = self
            .read
            .lock()
            .map_err(|_| "the documents were left half read".to_owned())?;
        if let Some((_, corpus)) = read.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(corpus));
        }
        let documents = match given {
            Some(folder) => of_folder(folder)?,
            None => self.of_data(named)?,
        };
        let corpus = Arc::new(Corpus::new(documents));
        read.push((name.to_owned(), Arc::clone(&corpus)));
        Ok(corpus)
    }

    fn of_data(&self, named: &str) -> Result<Vec<Document>, String> {
        let data = self.data.get(named).and_then(Value::as_array);
        let entries = data.ok_or_else(|| {
            format!("the pack has no list of documents in its data file {named:?}")
        })?;
        let documents = entries.iter().map(|entry| {
            let text = |key: &str| {
                entry
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            Document {
                doc: text("doc"),
                title: text("title"),
                source: text("source"),
                date: text("date"),
                text: text("text"),
            }
        });
        let documents: Vec<Document> = documents.collect();
        match documents
            .iter()
            .find(|document| document.doc.is_empty() || document.text.is_empty())
        {
            Some(bad) => Err(format!(
                "the data file {named:?} has a document without doc or text: {:?}",
                bad.title
            )),
            None => Ok(documents),
        }
    }
}

/// The files of a folder and those below it that can be read, by name.
fn of_folder(folder: &Path) -> Result<Vec<Document>, String> {
    let mut paths = Vec::new();
    list(folder, 0, &mut paths)?;
    paths.sort();
    let mut documents = Vec::new();
    let mut bytes = 0;
    for path in &paths {
        let Some(format) = path
            .file_name()
            .and_then(|name| Format::of_name(name.to_str()?))
        else {
            continue;
        };
        let shown = path.display();
        let content =
            read_given_text(path, MAX_FILE).map_err(|e| format!("cannot read {shown}: {e}"))?;
        bytes += content.len();
        if bytes > MAX_ALL {
            return Err(format!(
                "{} holds more than {MAX_ALL} bytes of text; name a smaller folder",
                folder.display()
            ));
        }
        let name = path.strip_prefix(folder).unwrap_or(path).with_extension("");
        let name = name.to_string_lossy().replace('\\', "/");
        // A file without a text says nothing; that is no fault of the others.
        if let Ok(document) = Document::read(&name, format, &content) {
            documents.push(document);
        }
    }
    match documents.is_empty() {
        true => Err(format!(
            "{} holds no md, html, txt or csv file with a text",
            folder.display()
        )),
        false => Ok(documents),
    }
}

fn list(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    let shown = folder.display();
    let entries =
        std::fs::read_dir(folder).map_err(|e| format!("cannot read the folder {shown}: {e}"))?;
    for entry in entries {
        let entry = entry.map_err(|e| format!("cannot read the folder {shown}: {e}"))?;
        let kind = entry
            .file_type()
            .map_err(|e| format!("cannot read the folder {shown}: {e}"))?;
        if kind.is_dir() && depth < MAX_DEPTH {
            list(&entry.path(), depth + 1, paths)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        }
        if paths.len() > MAX_FILES {
            return Err(format!(
                "there are more than {MAX_FILES} files; name a smaller folder than {shown}"
            ));
        }
    }
    Ok(())
}

//! The documents that a pack's tools read: a folder that the user named, else a data file of the pack. Read once, when first asked for.

use super::reader::Reader;
use agentctl_documents::Form;
use agentctl_evidence::{Corpus, Document, Format};
use agentctl_host::files::{read_given, read_given_text};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

/// Of a folder: files, bytes of one file, bytes of all, and folders below one another.
const MAX_FILES: usize = 5000;
const MAX_FILE: u64 = 4 * 1024 * 1024;
const MAX_ALL: usize = 64 * 1024 * 1024;
const MAX_DEPTH: usize = 6;
/// Of those that are more than text: files, bytes of one, children at once.
const MAX_PACKED: usize = 1000;
const MAX_PACKED_FILE: u64 = 16 * 1024 * 1024;
const AT_ONCE: usize = 2;
/// Files that a result names as not read.
const MAX_TOLD: usize = 50;

pub(super) struct Documents {
    pub corpus: Corpus,
    /// Files of the folder that have no text here, and why.
    pub unread: Vec<(String, String)>,
}

impl Documents {
    fn of(documents: Vec<Document>) -> Documents {
        Documents {
            corpus: Corpus::new(documents),
            unread: Vec::new(),
        }
    }

    /// As results name them.
    pub fn unread(&self) -> Vec<Value> {
        let told = self.unread.iter().take(MAX_TOLD);
        told.map(|(file, why)| json!({"file": file, "why": why}))
            .collect()
    }
}

/// What a run found in the web.
pub(super) struct Web<'w> {
    pub found: &'w [Document],
    /// Searches are made there, so that the pack's own documents count for nothing.
    pub alone: bool,
}

pub(crate) struct Library {
    /// The folder that stands for the pack's own documents.
    folder: Option<PathBuf>,
    reader: Option<Reader>,
    data: Arc<Map<String, Value>>,
    /// What was read, by the name of the data file; a folder has one name.
    read: Mutex<Vec<(String, Arc<Documents>)>>,
}

impl Library {
    pub fn new(
        folder: Option<PathBuf>,
        reader: Option<Reader>,
        data: Arc<Map<String, Value>>,
    ) -> Library {
        Library {
            folder,
            reader,
            data,
            read: Mutex::default(),
        }
    }

    /// The documents that a tool file names, or those of the user's folder.
    /// A folder counts only where the user's own command named it: what a run was given is no leave to read.
    pub(super) async fn documents(
        &self,
        named: &str,
        folder: &str,
        web: &Web<'_>,
    ) -> Result<Arc<Documents>, String> {
        let given = self.folder.as_deref();
        if !folder.is_empty() && given != Some(Path::new(folder)) {
            return Err(format!(
                "this run reads {folder:?}, which this command was not given; begin it anew with --corpus"
            ));
        }
        let given = given.filter(|_| !folder.is_empty());
        if web.alone {
            return Ok(Arc::new(Documents::of(web.found.to_vec())));
        }
        let name = if given.is_some() { "" } else { named };
        let mut read = self.read.lock().await;
        if let Some((_, documents)) = read.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(documents));
        }
        let documents = match given {
            Some(folder) => of_folder(folder, self.reader.as_ref()).await?,
            None => Documents::of(self.of_data(named)?),
        };
        let documents = Arc::new(documents);
        read.push((name.to_owned(), Arc::clone(&documents)));
        Ok(documents)
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

/// A file of a folder, and how it is read.
struct File {
    path: PathBuf,
    /// Below the folder.
    shown: String,
    /// What its document is called: without its ending, unless another file has that name.
    doc: String,
}

/// The files of a folder and those below it that can be read, by name.
async fn of_folder(folder: &Path, reader: Option<&Reader>) -> Result<Documents, String> {
    let mut paths = Vec::new();
    list(folder, 0, &mut paths)?;
    paths.sort();
    // By the order of the files.
    let mut documents: BTreeMap<usize, Document> = BTreeMap::new();
    let (mut packed, mut unread) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    let mut bytes = 0;
    for (at, path) in paths.into_iter().enumerate() {
        let name = path.file_name().and_then(|name| name.to_str());
        let (format, form) = (name.and_then(Format::of_name), name.and_then(Form::of_name));
        if format.is_none() && form.is_none() {
            continue;
        }
        let file = file(folder, path, &mut names);
        if let Some(form) = form {
            packed.push((at, form, file));
        } else if let Some(format) = format {
            let content = match read_given_text(&file.path, MAX_FILE) {
                Ok(content) => content,
                Err(why) => {
                    unread.push((file.shown, why.to_string()));
                    continue;
                }
            };
            bytes += content.len();
            if bytes > MAX_ALL {
                return Err(too_much(folder));
            }
            // A file without a text says nothing; that is no fault of the others.
            if let Ok(document) = Document::read(&file.doc, format, &content) {
                documents.insert(at, document);
            }
        }
    }
    if packed.len() > MAX_PACKED {
        return Err(format!(
            "there are more than {MAX_PACKED} pdf, docx and xlsx files; name a smaller folder than {}",
            folder.display()
        ));
    }
    for (at, file, read) in unpacked(packed, reader).await {
        match read {
            Ok(document) => {
                bytes += document.text.len();
                if bytes > MAX_ALL {
                    return Err(too_much(folder));
                }
                documents.insert(at, document);
            }
            Err(why) => unread.push((file, why)),
        }
    }
    if documents.is_empty() {
        let why = unread.first();
        let why = why.map_or_else(String::new, |(file, why)| format!(" ({file}: {why})"));
        return Err(format!(
            "{} holds no md, html, txt, csv, pdf, docx or xlsx file with a text{why}",
            folder.display()
        ));
    }
    Ok(Documents {
        corpus: Corpus::new(documents.into_values().collect()),
        unread,
    })
}

fn too_much(folder: &Path) -> String {
    format!(
        "{} holds more than {MAX_ALL} bytes of text; name a smaller folder",
        folder.display()
    )
}

fn file(folder: &Path, path: PathBuf, names: &mut BTreeSet<String>) -> File {
    let of = |path: &Path| path.to_string_lossy().replace('\\', "/");
    let below = path.strip_prefix(folder).unwrap_or(&path);
    let (shown, short) = (of(below), of(&below.with_extension("")));
    let doc = match names.insert(short.clone()) {
        true => short,
        false => shown.clone(),
    };
    File { path, shown, doc }
}

/// What the files that are more than text say, in their order.
async fn unpacked(
    files: Vec<(usize, Form, File)>,
    reader: Option<&Reader>,
) -> Vec<(usize, String, Result<Document, String>)> {
    let mut waiting = files.into_iter();
    // Whoever drops it ends the children.
    let mut working = JoinSet::new();
    let mut read = Vec::new();
    loop {
        while working.len() < AT_ONCE
            && let Some((at, form, file)) = waiting.next()
        {
            let reader = reader.cloned();
            working.spawn(async move {
                let said = document(&file, form, reader).await;
                (at, file.shown, said)
            });
        }
        match working.join_next().await {
            None => break,
            Some(Ok(one)) => read.push(one),
            // A panic of ours; the other files are read all the same.
            Some(Err(error)) => {
                read.push((usize::MAX, "a file".to_owned(), Err(error.to_string())))
            }
        }
    }
    read.sort_by_key(|(at, ..)| *at);
    read
}

async fn document(file: &File, form: Form, reader: Option<Reader>) -> Result<Document, String> {
    let Some(reader) = reader else {
        return Err(format!("nothing here reads {} files", form.name()));
    };
    let bytes = read_given(&file.path, MAX_PACKED_FILE).map_err(|e| e.to_string())?;
    let read = reader.text(form, &bytes).await?;
    let mut document =
        Document::read(&file.doc, Format::Text, &read.text).map_err(|e| e.to_string())?;
    if !read.title.is_empty() {
        document.title = read.title;
    }
    Ok(document)
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

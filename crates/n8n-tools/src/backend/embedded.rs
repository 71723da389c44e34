//! The embedded backend: n8n workflows as files in the project, `workflows/<id>.json`, importable by n8n as they are.
//! The file's name is the id. Earlier states are kept under `memory/versions/`. It keeps workflows; it cannot execute them,
//! and says so. A file that cannot be read as a workflow is reported and never written over.

use super::address::{FOLDER, id_of_path, looks_like_path, path_of, relative};
use super::{
    Backend, BackendAbilities, BackendError, BackendResult, BrokenFile, CredentialHead,
    ExecutionHead, ExecutionQuery, Forgotten, InstanceCheck, ListQuery, Listing, NodeTypesFile,
    Stored, TemplateHead, TriggerCall, Triggered, VersionHead, document, slug,
};
use agentctl_base::BoxFuture;
use agentctl_engine::store::{StoreError, Texts};
use agentctl_host::files::{Existing, FileError, Files, Found, real, tidy};
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::{Workflow, WorkflowId};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const VERSIONS: &str = "memory/versions";

pub struct EmbeddedBackend {
    root: PathBuf,
    files: Files,
    /// What long versions rest on.
    texts: Texts,
    /// What was read last: a call reads the same large file several times, and each reading of it costs more than all the rest.
    last: Mutex<Option<Last>>,
}

/// A file as it was read, and what it held.
struct Last {
    bytes: Vec<u8>,
    workflow: Workflow,
}

/// What stands at a workflow's place.
enum Place {
    Workflow(Box<Workflow>, Vec<u8>),
    Missing,
    Broken(String),
}

impl EmbeddedBackend {
    /// The project folder must exist; `workflows/` is created by the first write.
    pub fn new(project_root: impl Into<PathBuf>) -> BackendResult<Self> {
        let root = project_root.into();
        let files = Files::open(&root).map_err(|error| {
            BackendError::from(error)
                .with_hint("give an existing folder with --project, or run `agentctl init`")
        })?;
        let texts = Texts::on(real(), &root.join("memory"));
        Ok(EmbeddedBackend {
            texts,
            root,
            files,
            last: Mutex::new(None),
        })
    }

    fn look(&self, path: &Path) -> BackendResult<Place> {
        let found = self.files.read(path, document::MAX_BYTES)?;
        Ok(self.place(found))
    }

    fn place(&self, found: Found) -> Place {
        match found {
            Found::Missing => Place::Missing,
            Found::Odd(why) => Place::Broken(why),
            Found::Bytes(bytes) => match self.read(&bytes) {
                Ok(workflow) => Place::Workflow(Box::new(workflow), bytes),
                Err(why) => Place::Broken(why),
            },
        }
    }

    /// A version as it was kept.
    fn version_file(&self, path: &Path) -> BackendResult<Found> {
        let found = self.files.read(path, document::MAX_BYTES)?;
        let Found::Bytes(bytes) = found else {
            return Ok(found);
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(no_text) => return Ok(Found::Bytes(no_text.into_bytes())),
        };
        Ok(match self.texts.whole(text).map_err(not_kept)? {
            Ok(text) => Found::Bytes(text.into_bytes()),
            Err(why) => Found::Odd(why),
        })
    }

    /// What these bytes hold. Copies share their nodes, and what was reckoned of each.
    fn read(&self, bytes: &[u8]) -> Result<Workflow, String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| last.bytes == bytes) {
            return Ok(last.workflow.clone());
        }
        let workflow = document::read(bytes)?;
        *last = Some(Last {
            bytes: bytes.to_vec(),
            workflow: workflow.clone(),
        });
        Ok(workflow)
    }

    fn load(&self, id: &WorkflowId) -> BackendResult<(Stored, Vec<u8>)> {
        let path = path_of(id)?;
        match self.look(&path)? {
            Place::Workflow(workflow, bytes) => Ok((stored(id.clone(), path, *workflow), bytes)),
            Place::Missing => Err(self.missing(id, &path)),
            Place::Broken(why) => Err(broken(&path, &why)),
        }
    }

    fn missing(&self, id: &WorkflowId, path: &Path) -> BackendError {
        let mut near: Vec<(f64, String)> = self
            .ids()
            .unwrap_or_default()
            .into_iter()
            .map(|known| (strsim::jaro_winkler(&known, &id.0), known))
            .filter(|(score, _)| *score > 0.75)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let hint = match near.first() {
            Some((_, known)) => format!("did you mean `{known}`? they are the files of {FOLDER}/"),
            None => self.what_there_is(),
        };
        BackendError::not_found(format!("there is no workflow `{id}` ({})", path.display()))
            .with_hint(hint)
    }

    fn what_there_is(&self) -> String {
        const SHOWN: usize = 8;
        let ids = self.ids().unwrap_or_default();
        if ids.is_empty() {
            return format!("there are no workflows in {FOLDER}/ yet");
        }
        let shown: Vec<String> = ids
            .iter()
            .take(SHOWN)
            .map(|id| format!("{FOLDER}/{id}.json"))
            .collect();
        let more = match ids.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("there are {}{more}", shown.join(", "))
    }

    /// The ids in the workflow folder, broken files included.
    fn ids(&self) -> BackendResult<Vec<String>> {
        Ok(self
            .files
            .names(Path::new(FOLDER))?
            .into_iter()
            .filter(|name| !name.starts_with('.'))
            .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
            .collect())
    }

    fn listing(&self) -> BackendResult<Listing> {
        let mut listing = Listing::default();
        for id in self.ids()? {
            let path = Path::new(FOLDER).join(format!("{id}.json"));
            match self.look(&path) {
                Ok(Place::Workflow(workflow, _)) => {
                    listing
                        .workflows
                        .push(stored(WorkflowId(id), path, *workflow).listed());
                }
                Ok(Place::Missing) => {} // removed while we were reading
                Ok(Place::Broken(message)) => listing.broken.push(BrokenFile {
                    file: path,
                    message,
                }),
                Err(error) => listing.broken.push(BrokenFile {
                    file: path,
                    message: error.message,
                }),
            }
        }
        Ok(listing)
    }

    fn resolve_now(&self, reference: &str) -> BackendResult<WorkflowId> {
        let reference = reference.trim();
        if looks_like_path(reference) {
            let relative = relative(&self.root, reference)?;
            let id = id_of_path(&relative);
            let here = !matches!(self.look(&path_of(&id)?)?, Place::Missing);
            if !here && relative.components().count() == 1 {
                let inside = id_of_path(&Path::new(FOLDER).join(&relative));
                if !matches!(self.look(&path_of(&inside)?)?, Place::Missing) {
                    return Ok(inside);
                }
            }
            return Ok(id);
        }
        let id = WorkflowId(reference.to_owned());
        if !matches!(self.look(&path_of(&id)?)?, Place::Missing) {
            return Ok(id);
        }
        // A person may name a workflow by its title; only one that fits is taken.
        let mut named =
            self.listing()?.workflows.into_iter().filter(|w| {
                w.name.eq_ignore_ascii_case(reference) || slug(&w.name) == slug(reference)
            });
        match (named.next(), named.next()) {
            (Some(only), None) => Ok(only.id),
            _ => Ok(id),
        }
    }

    fn reserve_now(&self, name: &str) -> BackendResult<WorkflowId> {
        let taken: BTreeSet<String> = self
            .ids()?
            .into_iter()
            .map(|id| id.to_lowercase()) // a case-blind file system keeps only one of them
            .collect();
        let base = slug(name);
        let free = std::iter::once(base.clone())
            .chain((2u32..).map(|n| format!("{base}-{n}")))
            .find(|candidate| !taken.contains(candidate));
        Ok(WorkflowId(free.unwrap_or(base)))
    }

    fn replace_now(&self, id: &WorkflowId, workflow: &Workflow) -> BackendResult<Stored> {
        let (before, bytes) = self.load(id)?;
        let text = workflow.to_text();
        if text.as_bytes() == bytes.as_slice() {
            return Ok(before);
        }
        self.keep_version(id, &before.workflow, &bytes)?;
        self.files
            .write(&path_of(id)?, text.as_bytes(), Existing::Replace)?;
        self.load(id).map(|(stored, _)| stored)
    }

    fn delete_now(&self, id: &WorkflowId) -> BackendResult<()> {
        let (before, bytes) = self.load(id)?;
        self.keep_version(id, &before.workflow, &bytes)?;
        Ok(self.files.remove(&path_of(id)?)?)
    }

    /// Keeps the bytes as they were, unless the newest version already holds just these.
    fn keep_version(
        &self,
        id: &WorkflowId,
        workflow: &Workflow,
        bytes: &[u8],
    ) -> BackendResult<()> {
        let folder = version_folder(id);
        let names = self.files.names(&folder)?;
        let newest = names.iter().filter_map(|n| version_number(n)).max();
        if let Some(newest) = newest
            && let Some(name) = names.iter().find(|n| version_number(n) == Some(newest))
            && let Found::Bytes(kept) = self.version_file(&folder.join(name))?
            && kept == bytes
        {
            return Ok(());
        }
        let number = newest.unwrap_or(0).saturating_add(1);
        let hash: String = graph_hash(workflow).chars().take(8).collect();
        let path = folder.join(format!("{number:04}-{hash}.json"));
        let written = match std::str::from_utf8(bytes) {
            Ok(text) => self.texts.shortened(&id.0, text).map_err(not_kept)?,
            Err(_) => return Ok(self.files.write(&path, bytes, Existing::Refuse)?),
        };
        Ok(self
            .files
            .write(&path, written.as_bytes(), Existing::Refuse)?)
    }

    fn versions_now(&self, id: &WorkflowId) -> BackendResult<Vec<VersionHead>> {
        let folder = version_folder(id);
        let mut heads = Vec::new();
        for name in self.files.names(&folder)? {
            let (Some(number), Some(version)) = (version_number(&name), name.strip_suffix(".json"))
            else {
                continue;
            };
            let found = self.version_file(&folder.join(&name))?;
            if let Place::Workflow(workflow, _) = self.place(found) {
                heads.push(VersionHead {
                    id: version.to_owned(),
                    number,
                    name: workflow.name().to_owned(),
                    node_count: workflow.nodes.len(),
                    graph_hash: graph_hash(&workflow),
                });
            }
        }
        if heads.is_empty() {
            self.load(id)?; // no versions of a workflow that exists is an answer; of one that does not is an error
        }
        heads.sort_by_key(|head| std::cmp::Reverse(head.number));
        Ok(heads)
    }

    fn forget_versions_now(
        &self,
        id: &WorkflowId,
        graph_hashes: &[String],
        really: bool,
    ) -> BackendResult<Forgotten> {
        let folder = version_folder(id);
        let mut forgotten = Forgotten::default();
        for name in self.files.names(&folder)? {
            if version_number(&name).is_none() {
                continue;
            }
            let path = folder.join(&name);
            let found = self.version_file(&path)?;
            let Place::Workflow(workflow, _) = self.place(found) else {
                continue;
            };
            if graph_hashes.contains(&graph_hash(&workflow)) {
                let place = self.root.join(&path);
                let length = std::fs::symlink_metadata(&place).map(|found| found.len());
                forgotten.bytes += length.map_err(FileError::io("read", &place))?;
                if really {
                    self.files.remove(&path)?;
                }
                forgotten.files.push(path);
            }
        }
        Ok(forgotten)
    }

    fn version_now(&self, id: &WorkflowId, version: &str) -> BackendResult<Workflow> {
        let unknown = || {
            BackendError::not_found(format!("workflow `{id}` has no version `{version}`"))
                .with_hint("`list_versions` shows the versions that are kept")
        };
        let folder = version_folder(id);
        let name = self
            .files
            .names(&folder)?
            .into_iter()
            .find(|name| name.strip_suffix(".json") == Some(version))
            .ok_or_else(unknown)?;
        let found = self.version_file(&folder.join(&name))?;
        match self.place(found) {
            Place::Workflow(workflow, _) => Ok(*workflow),
            Place::Missing => Err(unknown()),
            Place::Broken(why) => Err(broken(&folder.join(&name), &why)),
        }
    }
}

fn not_kept(error: StoreError) -> BackendError {
    match error {
        StoreError::File(error) => error.into(),
        other => BackendError::rejected(other.to_string()),
    }
}

fn stored(id: WorkflowId, file: PathBuf, workflow: Workflow) -> Stored {
    Stored {
        id,
        active: workflow.active(),
        graph_hash: graph_hash(&workflow),
        file: Some(file),
        tags: tags(&workflow),
        todo: Vec::new(),
        version_id: None,
        updated_at: None,
        workflow,
    }
}

/// The tags that the file names: n8n exports them as objects with a name.
fn tags(workflow: &Workflow) -> Vec<String> {
    let named = |tag: &Value| match tag {
        Value::String(name) => Some(name.clone()),
        tag => tag.get("name").and_then(Value::as_str).map(str::to_owned),
    };
    let tags = workflow.head.get("tags").and_then(Value::as_array);
    let names: BTreeSet<String> = tags.into_iter().flatten().filter_map(named).collect();
    names.into_iter().collect()
}

fn broken(path: &Path, why: &str) -> BackendError {
    BackendError::rejected(format!("{} is not a workflow file: {why}", path.display())).with_hint(
        "repair the file or move it away; it is never written over while it cannot be read",
    )
}

fn no_execution(what: &str) -> BackendError {
    BackendError::unsupported(format!(
        "the embedded backend cannot execute workflows: {what}"
    ))
    .with_hint("not executed; import the file into n8n, or connect an n8n in .mcp.json, to run it")
}

fn version_folder(id: &WorkflowId) -> PathBuf {
    let slug = slug(id.0.strip_suffix(".json").unwrap_or(&id.0));
    let name = if slug == id.0 {
        slug
    } else {
        let digest = Sha256::digest(id.0.as_bytes());
        let hash: String = digest.iter().take(4).map(|b| format!("{b:02x}")).collect();
        format!("{slug}-{hash}")
    };
    Path::new(VERSIONS).join(name)
}

fn version_number(file_name: &str) -> Option<u32> {
    let (number, hash) = file_name.strip_suffix(".json")?.split_once('-')?;
    let hex = hash.len() == 8 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    if hex { number.parse().ok() } else { None }
}

fn ready<'a, T: Send + 'a>(result: BackendResult<T>) -> BoxFuture<'a, BackendResult<T>> {
    Box::pin(std::future::ready(result))
}

impl Backend for EmbeddedBackend {
    fn name(&self) -> &str {
        "embedded"
    }
    fn can(&self) -> BackendAbilities {
        BackendAbilities {
            versions: true,
            chosen_ids: true,
            ..BackendAbilities::default()
        }
    }
    fn tidy(&self) -> BackendResult<()> {
        Ok(tidy(&self.root.join(FOLDER))?)
    }
    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, BackendResult<Listing>> {
        ready(self.listing().map(|mut listing| {
            listing.workflows.retain(|listed| query.fits(listed));
            listing
        }))
    }
    fn resolve<'a>(&'a self, reference: &'a str) -> BoxFuture<'a, BackendResult<WorkflowId>> {
        ready(self.resolve_now(reference))
    }
    fn get<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<Stored>> {
        ready(self.load(id).map(|(stored, _)| stored))
    }
    fn reserve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, BackendResult<Option<WorkflowId>>> {
        ready(self.reserve_now(name).map(Some))
    }
    fn create<'a>(
        &'a self,
        id: Option<&'a WorkflowId>,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        ready((|| {
            let id = match id {
                Some(id) => id.clone(),
                None => self.reserve_now(workflow.name())?,
            };
            let path = path_of(&id)?;
            self.files
                .write(&path, workflow.to_text().as_bytes(), Existing::Refuse)?;
            self.load(&id).map(|(stored, _)| stored)
        })())
    }
    fn replace<'a>(
        &'a self,
        id: &'a WorkflowId,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        ready(self.replace_now(id, workflow))
    }
    fn delete<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<()>> {
        ready(self.delete_now(id))
    }
    fn versions<'a>(
        &'a self,
        id: &'a WorkflowId,
    ) -> BoxFuture<'a, BackendResult<Vec<VersionHead>>> {
        ready(self.versions_now(id))
    }
    fn forget_versions(
        &self,
        id: &WorkflowId,
        graph_hashes: &[String],
        really: bool,
    ) -> BackendResult<Forgotten> {
        self.forget_versions_now(id, graph_hashes, really)
    }
    fn version<'a>(
        &'a self,
        id: &'a WorkflowId,
        version: &'a str,
    ) -> BoxFuture<'a, BackendResult<Workflow>> {
        ready(self.version_now(id, version))
    }
    fn set_active<'a>(
        &'a self,
        id: &'a WorkflowId,
        _active: bool,
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        ready(Err(no_execution(&format!(
            "`{id}` cannot be published or unpublished here"
        ))))
    }
    fn set_tags<'a>(
        &'a self,
        id: &'a WorkflowId,
        _tags: &'a [String],
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        ready(Err(BackendError::unsupported(format!(
            "the embedded backend sets no tags: `{id}` was not tagged"
        ))
        .with_hint("tags belong to an n8n; connect one in .mcp.json")))
    }
    fn trigger<'a>(
        &'a self,
        id: &'a WorkflowId,
        _call: &'a TriggerCall,
    ) -> BoxFuture<'a, BackendResult<Triggered>> {
        ready(Err(no_execution(&format!("`{id}` was not run"))))
    }
    fn executions<'a>(
        &'a self,
        _query: &'a ExecutionQuery,
    ) -> BoxFuture<'a, BackendResult<Vec<ExecutionHead>>> {
        ready(Err(no_execution("there are no executions to list")))
    }
    fn execution<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Value>> {
        ready(Err(no_execution(&format!("there is no execution `{id}`"))))
    }
    fn search_templates<'a>(
        &'a self,
        _query: &'a str,
        _limit: usize,
    ) -> BoxFuture<'a, BackendResult<Vec<TemplateHead>>> {
        ready(Ok(Vec::new()))
    }
    fn template<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Workflow>> {
        ready(Err(BackendError::unsupported(format!(
            "the embedded backend keeps no templates, so there is no template `{id}`"
        ))))
    }
    fn credentials(&self) -> BoxFuture<'_, BackendResult<Vec<CredentialHead>>> {
        ready(Err(BackendError::unsupported(
            "the embedded backend knows no credentials",
        )
        .with_hint(
            "credentials are kept by an n8n; connect one in .mcp.json",
        )))
    }
    fn node_types(&self) -> BoxFuture<'_, BackendResult<NodeTypesFile>> {
        ready(Err(BackendError::unsupported(
            "the embedded backend has no n8n to ask for its node types",
        )
        .with_hint(
            "name the n8n's address or its types/nodes.json, or connect one in .mcp.json",
        )))
    }
    fn check(&self) -> BoxFuture<'_, Vec<InstanceCheck>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

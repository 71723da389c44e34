//! Where things lie in a project. Every path below the project's root is made here, from ids that were checked here.

use super::{
    Holder, Ledger, Marks, ProjectLock, Snapshots, StateFile, StoreError, Texts, line::Line,
};
use agentctl_host::files::{
    self, Disk, Existing, FileError, Files, Found, file_part, is_plain, read_own,
};
use agentctl_host::key::Key;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const GIT_IGNORE: &str = ".gitignore";
/// What `memory/.gitignore` says.
pub const MEMORY_IGNORED: &str = "# Made by agentctl: what was asked and what was worked on stand here; files of the project name the schemas.\n*\n!schemas/\n!schemas/*\n";

/// Whether a journal has its first line.
fn began(journal: &Path) -> Result<bool, StoreError> {
    Ok(first_line(journal)?.ends_with(b"\n"))
}

/// The first line of a journal with its newline, or as much as there is of it.
pub(super) fn first_line(journal: &Path) -> Result<Vec<u8>, StoreError> {
    // Looked at before it is opened: a pipe in its place would be waited for.
    let file = match std::fs::symlink_metadata(journal).and_then(|meta| {
        if meta.is_file() {
            std::fs::File::open(journal)
        } else {
            Err(std::io::ErrorKind::NotFound.into())
        }
    }) {
        Ok(file) => file,
        Err(e)
            if matches!(
                e.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(e) => return Err(StoreError::io("read", journal)(e)),
    };
    let mut first = Vec::new();
    std::io::BufReader::new(file)
        .read_until(b'\n', &mut first)
        .map_err(StoreError::io("read", journal))?;
    Ok(first)
}

/// A project: the folder that holds `memory/`, `workflows/` and the pack's overrides.
#[derive(Debug, Clone)]
pub struct Project {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    /// The user's, to mark what is written and to know it again.
    key: Option<Key>,
    /// What other replicas share its runs' journals by; None: they are this folder's alone.
    ledger: Option<Arc<dyn Ledger>>,
}

impl PartialEq for Project {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl Project {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self::on(files::real(), root)
    }
    /// The same, its runs' records kept on this disk.
    pub fn on(disk: Arc<dyn Disk>, root: impl Into<PathBuf>) -> Self {
        Project {
            root: root.into(),
            disk,
            key: None,
            ledger: None,
        }
    }
    /// With the user's key; without one nothing is marked, and every run is foreign once the process that wrote it is gone.
    #[must_use]
    pub fn with_key(self, key: Option<Key>) -> Self {
        Project { key, ..self }
    }
    /// Its journals go to this ledger as well, and its marks hold wherever the ledger is shared.
    #[must_use]
    pub fn with_ledger(self, ledger: Arc<dyn Ledger>) -> Self {
        Project {
            ledger: Some(ledger),
            ..self
        }
    }

    pub fn ledger(&self) -> Option<&Arc<dyn Ledger>> {
        self.ledger.as_ref()
    }

    /// The marks of a run here. They hold for the folder's real path: in a copy of the folder they are another folder's. Where journals
    /// are shared they are made for all who share them; a run of before is known by the folder's.
    pub fn marks(&self, run_id: &str) -> Marks {
        let real = self.root.canonicalize();
        let folder = real.as_deref().unwrap_or(&self.root);
        match &self.ledger {
            None => Marks::of(self.key.clone(), folder, run_id),
            Some(_) => Marks::of(self.key.clone(), &self.place(), run_id).or_of(folder),
        }
    }
    /// What marks are made over: the folder's real path, or the ledger, which is no path of a folder.
    pub fn place(&self) -> PathBuf {
        match &self.ledger {
            Some(ledger) => PathBuf::from(format!("agentctl ledger {}", ledger.id())),
            None => (self.root.canonicalize()).unwrap_or_else(|_| self.root.clone()),
        }
    }
    pub(super) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }
    /// The project at `root`, which must be a folder that is there; links in its path are resolved once, here.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let root = root
            .canonicalize()
            .map_err(StoreError::io("open the project", root))?;
        if !root.is_dir() {
            let no_folder = std::io::Error::from(std::io::ErrorKind::NotADirectory);
            return Err(StoreError::io("open the project", root)(no_folder));
        }
        Ok(Project::new(root))
    }
    pub fn root(&self) -> &Path {
        &self.root
    }
    pub fn memory(&self) -> PathBuf {
        self.root.join("memory")
    }
    /// The active run's summary.
    pub fn state_file(&self) -> PathBuf {
        self.memory().join("run_state.json")
    }
    pub fn lock_file(&self) -> PathBuf {
        self.memory().join("agentctl.lock")
    }
    /// What long texts of the project rest on.
    pub fn texts(&self) -> Texts {
        Texts::on(Arc::clone(&self.disk), &self.memory())
    }
    /// The snapshots of a run.
    pub fn snapshots(&self, run: &RunPaths) -> Snapshots {
        let snapshots =
            Snapshots::on(Arc::clone(&self.disk), run.snapshots()).with_texts(self.texts());
        let run_id = run.dir.file_name().and_then(|name| name.to_str());
        match (&self.ledger, run_id) {
            (Some(ledger), Some(run_id)) => snapshots.kept_in(ledger, run_id),
            _ => snapshots,
        }
    }
    pub fn agent_results(&self) -> PathBuf {
        self.memory().join("agent_results")
    }
    pub fn runs(&self) -> PathBuf {
        self.memory().join("runs")
    }

    /// Refuses links where this program writes: a project from somewhere else could point them at the user's own files.
    pub fn refuse_links(&self, run: Option<&RunPaths>) -> Result<(), StoreError> {
        let mut places = vec![
            self.memory(),
            self.lock_file(),
            self.agent_results(),
            self.runs(),
        ];
        if let Some(run) = run {
            places.extend([run.dir.clone(), run.journal(), run.snapshots()]);
        }
        for path in places {
            match std::fs::symlink_metadata(&path) {
                Ok(found) if found.file_type().is_symlink() => {
                    return Err(FileError::Linked { path }.into());
                }
                Ok(_) => {}
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(StoreError::io("look at", path)(e)),
            }
        }
        Ok(())
    }

    /// Takes the lock at once, or says who has it. What a holder that died left of its writes is removed, and the project's turns
    /// are counted on, from the journals where the lock's file does not know them.
    pub fn lock(&self, holder: &Holder) -> Result<ProjectLock, StoreError> {
        self.refuse_links(None)?;
        let mut lock = ProjectLock::take(&self.lock_file(), holder)?;
        if lock.after_a_crash() {
            files::tidy(&self.memory())?;
        }
        if lock.turn().is_none() {
            let turn = self.last_turn()?.saturating_add(1);
            if turn == 1 {
                self.keep_out_of_git()?;
            }
            lock.number(&self.lock_file(), turn, holder)?;
        }
        Ok(lock)
    }

    /// Requests and workflow contents stand in `memory/`, so git passes it over from the first turn on, also where nobody set the
    /// folder up. What stands there already is the user's word, and stays.
    fn keep_out_of_git(&self) -> Result<(), StoreError> {
        let memory = Files::open(&self.memory())?;
        let path = Path::new(GIT_IGNORE);
        match memory.write(path, MEMORY_IGNORED.as_bytes(), Existing::Refuse) {
            Ok(()) | Err(FileError::Exists { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The highest turn that a journal tells of; 0: none does. A line that is no record tells nothing.
    fn last_turn(&self) -> Result<u64, StoreError> {
        const SIGN: &[u8] = br#""type":"activation_started""#;
        let mut last = 0;
        for run_id in self.run_ids()? {
            let path = self.run(&run_id)?.journal();
            let Found::Bytes(bytes) =
                read_own(&path, u64::MAX - 1).map_err(StoreError::io("read", &path))?
            else {
                continue;
            };
            let told = bytes.split(|b| *b == b'\n').rev();
            let told = told.filter(|line| memchr::memmem::find(line, SIGN).is_some());
            let turn = |line: &[u8]| {
                serde_json::from_slice::<Line>(line)
                    .ok()?
                    .event
                    .get("order")?
                    .as_u64()
            };
            last = told.filter_map(turn).next().unwrap_or(0).max(last);
        }
        Ok(last)
    }

    pub fn run(&self, run_id: &str) -> Result<RunPaths, StoreError> {
        if !is_plain(run_id) {
            return Err(StoreError::BadId {
                what: "run id",
                id: run_id.to_owned(),
            });
        }
        Ok(RunPaths {
            dir: self.runs().join(run_id),
        })
    }

    /// Ids of all runs that began, sorted (run ids begin with their time, so the newest is the last). A run begins with the
    /// first whole line of its journal: one that was killed before it was promised nothing, and is none. One whose journal is lost
    /// began too, when something else is left of it ([`StoreError::Lost`] says what).
    pub fn run_ids(&self) -> Result<Vec<String>, StoreError> {
        self.run_ids_of(&|_| true)
    }

    /// The same, those of a `wanted` id alone: no file of another is opened.
    pub fn run_ids_of(&self, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, StoreError> {
        let is_wanted = |id: &str| is_plain(id) && wanted(id);
        let dir = self.runs();
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => Some(entries),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => return Err(StoreError::io("list", dir)(e)),
        };
        let mut ids = Vec::new();
        for entry in entries.into_iter().flatten() {
            let entry = entry.map_err(StoreError::io("list", &dir))?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_wanted(name)) else {
                continue;
            };
            if began(&entry.path().join(JOURNAL))? || self.trace_of(name)?.is_some() {
                ids.push(name.to_owned());
            }
        }
        // The active run, of which even the folder may be gone.
        if let StateFile::Good(state) = StateFile::read(&self.state_file())?
            && is_wanted(&state.run_id)
            && !ids.contains(&state.run_id)
        {
            ids.push(state.run_id);
        }
        ids.sort();
        Ok(ids)
    }

    /// The full id of the run that `given` names: the id itself, or a beginning that only one run has.
    pub fn find_run(&self, given: &str) -> Result<String, StoreError> {
        if is_plain(given) {
            self.fetch_run(given)?;
        }
        let is_whole = |journal: &Path| began(journal).unwrap_or(false);
        if is_plain(given) && is_whole(&self.run(given)?.journal()) {
            return Ok(given.to_owned());
        }
        let mut ids = self.run_ids()?;
        if let Some(ledger) = &self.ledger {
            ids.extend(ledger.runs()?.into_iter().map(|(run, _)| run));
            ids.sort();
            ids.dedup();
        }
        if ids.iter().any(|id| id == given) {
            return Ok(given.to_owned());
        }
        let mut matching = ids.into_iter().filter(|id| id.starts_with(given));
        match (matching.next(), matching.next()) {
            (Some(id), None) if !given.is_empty() => {
                self.fetch_run(&id)?;
                Ok(id)
            }
            _ => Err(StoreError::NoSuchRun {
                id: given.to_owned(),
            }),
        }
    }

    /// `memory/agent_results/<kind>_<id>.json`; the id is made fit for a file name.
    pub fn result_file(&self, kind: &str, id: &str) -> PathBuf {
        self.agent_results()
            .join(format!("{}_{}.json", file_part(kind), file_part(id)))
    }
}

/// The files of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPaths {
    dir: PathBuf,
}

const JOURNAL: &str = "journal.jsonl";

impl RunPaths {
    pub fn dir(&self) -> &Path {
        &self.dir
    }
    pub fn journal(&self) -> PathBuf {
        self.dir.join(JOURNAL)
    }
    pub fn snapshots(&self) -> PathBuf {
        self.dir.join("snapshots")
    }
    /// That the journal was read whole, and what it told: a cache.
    pub fn checkpoint(&self) -> PathBuf {
        self.dir.join("checkpoint.jsonl")
    }
    /// The same for what is shown of the run, where its journal is long.
    pub fn report(&self) -> PathBuf {
        self.dir.join("report.jsonl")
    }
    /// The run's own copy of its last run_state.json, kept when another run became the active one.
    pub fn archived_state(&self) -> PathBuf {
        self.dir.join("run_state.json")
    }
}

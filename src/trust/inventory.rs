//! What stands in a folder and would override what agentctl does by itself: one item each, with a hash over what would be read.

use super::item::{CATALOG, Item, Kind, SETTINGS, hashed};
use super::tree::{self, Room, Unread};
use super::{servers, settings};
use agentctl_base::canonical::hex;
use agentctl_engine::pack::{
    MAX_PACK_FILE, POLICY_FILE, SKILL_FOLDERS, TOOL_FILES, TOOLS, is_agent_file, is_flow_file,
};
use agentctl_host::files::FileError;
use agentctl_host::machine::is_at_fault;
use agentctl_mcp::MAX_BYTES;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sha2::{Digest as _, Sha256};
use std::path::Path;

/// No `agentctl.toml` is larger.
pub const MAX_SETTINGS: u64 = 1024 * 1024;
/// No catalog is larger, packed.
pub const MAX_CATALOG: u64 = 64 * 1024 * 1024;
/// Over all skills, packs and tools of a folder.
const ROOM: Room = Room {
    files: 4096,
    bytes: 64 * 1024 * 1024,
};
/// Over the nodes that were put into a development n8n.
const N8N_ROOM: Room = Room {
    files: 100_000,
    bytes: 1024 * 1024 * 1024,
};
/// Where a pack has its data, below its folder.
const DATA_FOLDER: &str = "data";
/// Where the development n8n of a project keeps its data.
pub const N8N_DATA: &str = ".agentctl/n8n";
/// Where n8n loads programs from, besides its own.
const N8N_PROGRAMS: [&str; 2] = ["home/.n8n/custom", "home/.n8n/nodes"];

/// Whether a file of this path and with these bytes is compiled in.
pub type BuiltIn = dyn Fn(&str, &[u8]) -> bool;

/// All items of a folder, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    pub items: Vec<Item>,
}

impl Inventory {
    /// Reads the folder. One that is not there has no items; whoever needs it says so. A file that is, byte for byte, the built-in
    /// one of its path overrides nothing. Err: the machine could not look at all of it.
    pub fn of(project: &Path, built_in: &BuiltIn) -> Result<Inventory, FileError> {
        let Some(root) = opened(project)? else {
            return Ok(Inventory::default());
        };
        let mut taken = Taken {
            project,
            root: &root,
            built_in,
            items: Vec::new(),
            failed: None,
        };
        taken.agents();
        let mut room = ROOM;
        taken.skills(&mut room);
        taken.packs(&mut room);
        taken.tools(&mut room);
        taken.settings();
        taken.catalog();
        taken.servers();
        if let Some(error) = taken.failed {
            return Err(error);
        }
        let mut items = taken.items;
        items.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Inventory { items })
    }

    /// What `AGENTCTL_TRUST` names: every item with its hash, and nothing of where the folder lies.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(b"agentctl trust 1\0");
        for item in &self.items {
            let of_item = item.hash.as_ref().map_or("-", String::as_str);
            for part in [item.kind.word(), &item.name, of_item] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part.as_bytes());
            }
        }
        hex(&hash.finalize())
    }
}

/// The folder; None: there is none that could be looked into.
fn opened(project: &Path) -> Result<Option<Dir>, FileError> {
    match Dir::open_ambient_dir(project, ambient_authority()) {
        Ok(root) => Ok(Some(root)),
        Err(error) if is_at_fault(&error) => Err(FileError::io("read", project)(error)),
        Err(_) => Ok(None),
    }
}

/// The data of a development n8n at a path below the project; None: there is none. Looked at only where it would be started,
/// since nodes can be large. Err: the machine could not look at it.
pub fn n8n_item(project: &Path, data: &str) -> Result<Option<Item>, FileError> {
    let Some(root) = opened(project)? else {
        return Ok(None);
    };
    let at = Path::new(data);
    let found = match tree::names(&root, &at.join("home")) {
        Ok(None) => return Ok(None),
        Ok(Some(_)) => programs(&root, at),
        Err(why) => Err(why),
    };
    let hash = match found {
        Ok(hash) => Ok(hash),
        Err(Unread::Impossible(why)) => Err(why),
        Err(Unread::Machine(error)) => return Err(error),
    };
    Ok(Some(Item {
        kind: Kind::N8nData,
        name: data.to_owned(),
        shows: vec![
            "the data of an n8n: its workflows and the nodes in it run when it is started"
                .to_owned(),
        ],
        hash,
    }))
}

fn programs(root: &Dir, data: &Path) -> Result<String, Unread> {
    let mut room = N8N_ROOM;
    let mut parts = Vec::new();
    for folder in N8N_PROGRAMS {
        let path = data.join(folder);
        parts.push(match tree::names(root, &path)? {
            Some(names) if !names.is_empty() => {
                tree::folder(root, &path, N8N_ROOM.bytes, &mut room, &mut |_, _| {})?
            }
            _ => "-".to_owned(),
        });
    }
    Ok(hashed(Kind::N8nData, parts.join(" ").as_bytes()))
}

/// A list or a text of a pack; a schema, which says what may stand in one, is a rule.
fn is_data_file(path: &str) -> bool {
    path.ends_with(".yaml") || path.ends_with(".yml")
}

struct Taken<'a> {
    project: &'a Path,
    root: &'a Dir,
    built_in: &'a BuiltIn,
    items: Vec<Item>,
    /// Why not all of it could be looked at.
    failed: Option<FileError>,
}

impl Taken<'_> {
    fn add(&mut self, kind: Kind, name: &str, shows: Vec<String>, hash: Result<String, Unread>) {
        let hash = match hash {
            Ok(hash) => Ok(hash),
            Err(Unread::Impossible(why)) => Err(why),
            Err(Unread::Machine(error)) => {
                self.failed.get_or_insert(error);
                return;
            }
        };
        self.items.push(Item {
            kind,
            name: name.to_owned(),
            shows,
            hash,
        });
    }

    /// A file as it is; nothing when it is not there.
    fn file(&mut self, kind: Kind, name: &str, shows: &str, max: u64) {
        match tree::file(self.root, Path::new(name), max) {
            Ok(None) => {}
            Ok(Some(bytes)) if (self.built_in)(name, &bytes) => {}
            Ok(Some(bytes)) => {
                let shows = vec![shows.to_owned()];
                self.add(kind, name, shows, Ok(hashed(kind, &bytes)));
            }
            Err(why) => self.add(kind, name, vec![shows.to_owned()], Err(why)),
        }
    }

    fn agents(&mut self) {
        let names = match tree::names(self.root, Path::new("agents")) {
            Ok(names) => names.unwrap_or_default(),
            Err(why) => return self.add(Kind::Agent, "agents", Vec::new(), Err(why)),
        };
        for name in names {
            let path = format!("agents/{name}");
            if is_agent_file(&name) {
                let what = "what an agent is told, and which tools it asks for";
                self.file(Kind::Agent, &path, what, MAX_PACK_FILE);
            } else if is_flow_file(&name) {
                let what = "which steps a run takes, and what it asks you";
                self.file(Kind::Flow, &path, what, MAX_PACK_FILE);
            } else if path == POLICY_FILE {
                let what = "who may do what";
                self.file(Kind::Policy, &path, what, MAX_PACK_FILE);
            } else if is_data_file(&name) {
                // Data of the pack whose folder this is: it decides between steps as its flow does.
                let what = "what the steps of a run decide by";
                self.file(Kind::Flow, &path, what, MAX_PACK_FILE);
            }
        }
    }

    fn skills(&mut self, room: &mut Room) {
        for folder in SKILL_FOLDERS {
            let what = "texts that agents are given";
            self.folders(Kind::Skill, folder, Some("SKILL.md"), what, room);
        }
    }

    fn packs(&mut self, room: &mut Room) {
        let what = "agents, flows, policy, data and skills of a pack";
        self.folders(Kind::Pack, "packs", None, what, room);
    }

    /// Each folder in `folder` that has the file `head`.
    fn folders(
        &mut self,
        kind: Kind,
        folder: &str,
        head: Option<&str>,
        what: &str,
        room: &mut Room,
    ) {
        let names = match tree::names(self.root, Path::new(folder)) {
            Ok(names) => names.unwrap_or_default(),
            Err(why) => return self.add(kind, folder, Vec::new(), Err(why)),
        };
        for name in names.iter().filter(|name| !name.starts_with('.')) {
            let path = format!("{folder}/{name}");
            let at = Path::new(&path);
            let is_file = self.root.metadata(at).is_ok_and(|meta| !meta.is_dir());
            let lacks_head = || {
                let head = head.map(|head| self.root.symlink_metadata(at.join(head)));
                head.is_some_and(|found| {
                    found.is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound)
                })
            };
            if is_file || lacks_head() {
                continue;
            }
            let data = format!("{path}/{DATA_FOLDER}/");
            let (mut all_built_in, mut all_data) = (true, kind == Kind::Pack);
            let mut see = |path: &Path, bytes: &[u8]| {
                let path = path.to_string_lossy();
                all_built_in = all_built_in && (self.built_in)(&path, bytes);
                all_data = all_data && path.starts_with(&data) && is_data_file(&path);
            };
            let hash = tree::folder(self.root, at, MAX_PACK_FILE, room, &mut see);
            if all_built_in && hash.is_ok() {
                continue;
            }
            // A folder without pack.yaml is no pack of its own.
            let is_data = all_data && hash.is_ok();
            let hash = hash.map(|text| hashed(kind, text.as_bytes()));
            let (kind, what) = match is_data {
                true => (
                    Kind::Data,
                    "data of a built-in pack: what it asks for and says",
                ),
                false => (kind, what),
            };
            self.add(kind, &path, vec![what.to_owned()], hash);
        }
    }

    fn tools(&mut self, room: &mut Room) {
        // A folder that cannot be read is told once.
        let readable = tree::names(self.root, Path::new(TOOLS)).is_ok();
        let heads = TOOL_FILES
            .iter()
            .take(if readable { TOOL_FILES.len() } else { 1 });
        for head in heads {
            let what = "a tool for agents: what it is told as, and where its calls go";
            self.folders(Kind::Tool, TOOLS, Some(head), what, room);
        }
    }

    fn settings(&mut self) {
        match tree::file(self.root, Path::new(SETTINGS), MAX_SETTINGS) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                if let Some((bytes, shows)) = settings::overriding(&bytes) {
                    let hash = Ok(hashed(Kind::Settings, &bytes));
                    self.add(Kind::Settings, SETTINGS, shows, hash);
                }
            }
            Err(why) => self.add(Kind::Settings, SETTINGS, Vec::new(), Err(why)),
        }
    }

    fn catalog(&mut self) {
        let what = "what n8n's nodes are and do, before what agentctl knows by itself";
        self.file(Kind::Catalog, CATALOG, what, MAX_CATALOG);
    }

    fn servers(&mut self) {
        match tree::file(self.root, Path::new(servers::FILE), MAX_BYTES) {
            Ok(None) => {}
            Ok(Some(bytes)) => self
                .items
                .extend(servers::server_items(self.project, &bytes)),
            Err(why) => self.add(Kind::Server, servers::FILE, Vec::new(), Err(why)),
        }
    }
}

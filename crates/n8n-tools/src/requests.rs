//! The tools that hand a request to the team that takes it, and note on it what came of it: one file for each, below
//! `memory/requests/` of the project. Knows no pack and no field.

use crate::arguments::{arguments, text};
use crate::capability as can;
use crate::tool::{On, Table, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_engine::store::{Event, SnapshotRef};
use agentctl_engine::toolset::{
    Act, Change, Cx, Fault, Head, Keep, Outcome, Parsed, Performed, Plan, Planning, Settling,
    Toolset, Touches,
};
use agentctl_host::files::{Existing, FileError, Files, Found, is_plain, tidy};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where requests are handed over, below the project.
const FOLDER: &str = "memory/requests";
/// What a request consists of, besides notes.
const SENT: [&str; 3] = ["id", "team_id", "fields"];
/// No request is larger.
const MAX_BYTES: u64 = 1024 * 1024;

/// The project that requests are written in.
pub struct Desk {
    project: PathBuf,
}

pub struct Requests {
    desk: Arc<Desk>,
    table: Table<Desk>,
}

fn table() -> Vec<Tool<Desk>> {
    vec![submit(), note()]
}

/// What policies and packs are told of the tool.
pub fn heads() -> Vec<Head> {
    Table::new(table()).heads
}

impl Requests {
    pub fn new(project: &Path) -> Self {
        Requests {
            desk: Arc::new(Desk {
                project: project.to_owned(),
            }),
            table: Table::new(table()),
        }
    }
}

impl Toolset for Requests {
    fn backend(&self) -> &str {
        "project"
    }
    fn tools(&self) -> &[Head] {
        &self.table.heads
    }
    fn parse(&self, tool: &str, args: Map<String, Value>) -> Result<Parsed, String> {
        self.table.parse(&self.desk, tool, args)
    }
    /// Repeatable, so this is never asked: the same request is the same file.
    fn settle<'a>(
        &'a self,
        _: &'a mut Cx<'_>,
        _: &'a Event,
    ) -> BoxFuture<'a, Result<Settling, Fault>> {
        let why = "the run was interrupted during this call; it may have happened";
        Box::pin(std::future::ready(Ok(Settling::Unknown(why.to_owned()))))
    }
}

arguments! {
    SubmitRequest {
        required team_id: String = text("who takes the request");
        required fields: Map<String, Value> = json!({"type": "object"});
        /// The same request with the same reference is one, however often it is sent.
        required reference: String = text("the same request with the same reference is one, however often it is sent");
    }
}

arguments! {
    NoteOnRequest {
        required team_id: String = text("who takes the request");
        required id: String = text("the request's id, as submit_request gave it");
        required name: String = text("the key that the note stands under in the request");
        required note: Map<String, Value> = json!({"type": "object"});
    }
}

fn note() -> Tool<Desk> {
    Tool::change::<NoteOnRequest>(Head {
        repeatable: true,
        ..Head::new(
            "note_on_request",
            can::SUBMIT_REQUEST,
            "Note on a request that was handed over what came of it, under a key of its own. What stands there else stays.",
            NoteOnRequest::schema,
        )
    })
}

fn submit() -> Tool<Desk> {
    Tool::change::<SubmitRequest>(Head {
        repeatable: true,
        ..Head::new(
            "submit_request",
            can::SUBMIT_REQUEST,
            "Hand a request to a team. Returns its id and where it stands.",
            SubmitRequest::schema,
        )
    })
}

impl Change for On<Desk, SubmitRequest> {
    fn plan<'a>(&'a self, _: &'a mut Cx<'_>, _: &'a Value) -> BoxFuture<'a, Planning> {
        let planned = match self.args.wrong() {
            Some(why) => Err(Outcome::failed(why, "requests.arguments", "mend the call")),
            None => Ok(Plan::unguarded(Box::new(Write {
                desk: Arc::clone(&self.on),
                request: self.args.clone(),
            }))),
        };
        Box::pin(std::future::ready(Ok(planned)))
    }
}

impl SubmitRequest {
    fn wrong(&self) -> Option<String> {
        if !is_plain(&self.team_id) {
            return Some(format!("{:?} is no id of a team", self.team_id));
        }
        if self.reference.trim().is_empty() {
            return Some("a request needs a reference".to_owned());
        }
        if self.fields.is_empty() {
            return Some("a request without fields says nothing".to_owned());
        }
        None
    }

    /// 12 hexadecimal digits of SHA-256 over all that is sent: a request that is sent again, because its writing was told as failed,
    /// is the same one; one that was changed since is another.
    fn id(&self) -> String {
        let sent = json!([self.reference, self.team_id, self.fields]);
        let mut id = sha256_hex(canonical(&sent).as_bytes());
        id.truncate(12);
        id
    }
}

struct Write {
    desk: Arc<Desk>,
    request: SubmitRequest,
}

impl Write {
    fn write(&self) -> Result<Outcome, FileError> {
        let request = &self.request;
        let id = request.id();
        let path = format!("{FOLDER}/{}/{id}.json", request.team_id);
        let content = json!({"id": id, "team_id": request.team_id, "fields": request.fields});
        let told = json!({"id": id, "team_id": request.team_id, "url": path});
        tidy(&self.desk.project.join(FOLDER))?;
        let files = Files::open(&self.desk.project)?;
        if let Found::Bytes(there) = files.read(Path::new(&path), MAX_BYTES)? {
            // What was noted on it since does not make it another one.
            let there = serde_json::from_slice::<Map<String, Value>>(&there).unwrap_or_default();
            let same = SENT.iter().all(|key| there.get(*key) == content.get(*key));
            return Ok(match same {
                true => Outcome::Ok(told),
                false => Outcome::failed(
                    format!("{path} is there already and holds something else"),
                    "requests.taken",
                    "look at that file; move it away to send the request again",
                ),
            });
        }
        let text = format!("{content:#}\n");
        files.write(Path::new(&path), text.as_bytes(), Existing::Refuse)?;
        Ok(Outcome::Ok(told))
    }
}

impl Act for Write {
    fn touches(&self) -> Touches {
        Touches::Nothing
    }
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        let outcome = self.write().unwrap_or_else(|error| {
            Outcome::failed(
                format!("the request could not be written: {error}"),
                "requests.unwritten",
                "nothing was handed over; try again",
            )
        });
        Box::pin(std::future::ready((Ok(outcome), None)))
    }
}

impl Change for On<Desk, NoteOnRequest> {
    fn plan<'a>(&'a self, _: &'a mut Cx<'_>, _: &'a Value) -> BoxFuture<'a, Planning> {
        let planned = match self.args.wrong() {
            Some(why) => Err(Outcome::failed(why, "requests.arguments", "mend the call")),
            None => Ok(Plan::unguarded(Box::new(Note {
                desk: Arc::clone(&self.on),
                note: self.args.clone(),
            }))),
        };
        Box::pin(std::future::ready(Ok(planned)))
    }
}

impl NoteOnRequest {
    fn wrong(&self) -> Option<String> {
        for (what, id) in [("a team", &self.team_id), ("a request", &self.id)] {
            if !is_plain(id) {
                return Some(format!("{id:?} is no id of {what}"));
            }
        }
        SENT.contains(&self.name.as_str())
            .then(|| format!("{:?} is what was sent, and stays as it is", self.name))
    }
}

struct Note {
    desk: Arc<Desk>,
    note: NoteOnRequest,
}

impl Note {
    fn write(&self) -> Result<Outcome, FileError> {
        let NoteOnRequest {
            team_id,
            id,
            name,
            note,
        } = &self.note;
        let path = format!("{FOLDER}/{team_id}/{id}.json");
        let files = Files::open(&self.desk.project)?;
        let there = match files.read(Path::new(&path), MAX_BYTES)? {
            Found::Bytes(there) => serde_json::from_slice::<Map<String, Value>>(&there).ok(),
            _ => None,
        };
        let Some(mut content) = there else {
            return Ok(Outcome::failed(
                format!("{path} is not there, or is no request"),
                "requests.gone",
                "look at that file; the request was handed over before",
            ));
        };
        let told = json!({"id": id, "team_id": team_id, "url": path});
        let note = Value::Object(note.clone());
        if content.get(name) != Some(&note) {
            content.insert(name.clone(), note);
            let text = format!("{:#}\n", Value::Object(content));
            files.write(Path::new(&path), text.as_bytes(), Existing::Replace)?;
        }
        Ok(Outcome::Ok(told))
    }
}

impl Act for Note {
    fn touches(&self) -> Touches {
        Touches::Nothing
    }
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        let outcome = self.write().unwrap_or_else(|error| {
            Outcome::failed(
                format!("the request could not be written: {error}"),
                "requests.unwritten",
                "what was handed over stays; nothing was noted on it",
            )
        });
        Box::pin(std::future::ready((Ok(outcome), None)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(project: &Path, team: &str, key: &str, what: &str) -> Result<Value, Value> {
        let desk = Arc::new(Desk {
            project: project.to_owned(),
        });
        let request = SubmitRequest {
            team_id: team.to_owned(),
            fields: Map::from_iter([("what".to_owned(), what.into())]),
            reference: key.to_owned(),
        };
        assert_eq!(request.wrong(), None);
        match (Write { desk, request }).write() {
            Ok(Outcome::Ok(told)) => Ok(told),
            Ok(Outcome::Failed(why)) => Err(why),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_sent_again_is_one_file() {
        let project = tempfile::tempdir().unwrap();
        let first = write(project.path(), "ops", "s/3", "a").unwrap();
        let again = write(project.path(), "ops", "s/3", "a").unwrap();
        assert_eq!(first, again);
        let file = project.path().join(first["url"].as_str().unwrap());
        let content: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert_eq!(content["team_id"], "ops");
        assert_eq!(content["fields"]["what"], "a");
        // Changed since, or of another conversation: another request.
        write(project.path(), "ops", "s/3", "b").unwrap();
        write(project.path(), "ops", "t/3", "a").unwrap();
        let all = std::fs::read_dir(project.path().join("memory/requests/ops")).unwrap();
        assert_eq!(all.count(), 3);
        let file = project.path().join(first["url"].as_str().unwrap());
        std::fs::write(file, "{}").unwrap();
        let changed = write(project.path(), "ops", "s/3", "a").unwrap_err();
        assert_eq!(changed["rule"], "requests.taken");
    }

    #[test]
    fn a_note_stands_beside_what_was_sent_and_is_written_once() {
        let project = tempfile::tempdir().unwrap();
        let sent = write(project.path(), "ops", "s/3", "a").unwrap();
        let note = |id: &str, name: &str, file: &str| {
            let note = NoteOnRequest {
                team_id: "ops".to_owned(),
                id: id.to_owned(),
                name: name.to_owned(),
                note: Map::from_iter([("file".to_owned(), file.into())]),
            };
            let desk = Arc::new(Desk {
                project: project.path().to_owned(),
            });
            match note.wrong() {
                Some(why) => Err(json!(why)),
                None => match (Note { desk, note }).write().unwrap() {
                    Outcome::Ok(told) => Ok(told),
                    Outcome::Failed(why) => Err(why),
                    other => panic!("{other:?}"),
                },
            }
        };
        let id = sent["id"].as_str().unwrap();
        assert_eq!(note(id, "handoff", "w.json"), Ok(sent.clone()));
        assert_eq!(note(id, "handoff", "w.json"), Ok(sent.clone()));
        let file = project.path().join(sent["url"].as_str().unwrap());
        let content: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert_eq!(content["handoff"], json!({"file": "w.json"}));
        assert_eq!(content["fields"]["what"], "a");
        // Sent again, it is the same request.
        assert_eq!(write(project.path(), "ops", "s/3", "a"), Ok(sent.clone()));
        assert!(note(id, "fields", "w.json").is_err());
        assert!(note("../x", "handoff", "w.json").is_err());
        assert_eq!(
            note("none", "handoff", "w").unwrap_err()["rule"],
            "requests.gone"
        );
    }

    #[test]
    fn a_team_is_no_way_out_of_the_folder() {
        for team in ["..", "a/b", "", ".hidden"] {
            let request = SubmitRequest {
                team_id: team.to_owned(),
                fields: Map::from_iter([("a".to_owned(), 1.into())]),
                reference: "k".to_owned(),
            };
            assert!(request.wrong().is_some(), "{team:?}");
        }
    }

    #[test]
    fn a_file_in_the_folders_place_loses_nothing() {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir(project.path().join("memory")).unwrap();
        std::fs::write(project.path().join("memory/requests"), "in the way").unwrap();
        let desk = Arc::new(Desk {
            project: project.path().to_owned(),
        });
        let request = SubmitRequest {
            team_id: "ops".to_owned(),
            fields: Map::from_iter([("a".to_owned(), 1.into())]),
            reference: "k".to_owned(),
        };
        assert!((Write { desk, request }).write().is_err());
        let kept = std::fs::read_to_string(project.path().join("memory/requests")).unwrap();
        assert_eq!(kept, "in the way");
    }
}

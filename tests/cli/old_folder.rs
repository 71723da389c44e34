//! A copy of the project folder that an earlier agentctl left (`tests/project_of_today/README.md`). The copy lies elsewhere than
//! the folder did, and what says whose a run is holds the folder's path. So the copy is bound to its own path first, by formulas
//! that are written out here and hold for every folder of that time.

use super::support::Project;
use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_host::key::Key;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Where the folder lay when it was made.
const PLACE: &str = "/srv/orders";

pub fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project_of_today")
}

/// Copies a folder; a home is for its user only.
fn copy(from: &Path, to: &Path, private: bool) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target, private);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            if private {
                fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
            }
        }
    }
    if private {
        fs::set_permissions(to, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The key and the place of the copy, which take the place of those of before.
struct Bound {
    key: Key,
    place: String,
}

impl Bound {
    /// The mark of these parts at the copy's place. The mark that stands there must be that of the old place.
    fn again(&self, purpose: &str, run: &str, rest: &[&[u8]], stands: &str) -> String {
        let at = |place: &str| {
            let parts = [&[run.as_bytes(), place.as_bytes()], rest].concat();
            self.key.mac(purpose, &parts)
        };
        assert_eq!(stands, at(PLACE), "the mark of {purpose} of {run}");
        at(&self.place)
    }

    fn journal(&self, run: &str, path: &Path) {
        let mut text = String::new();
        for line in fs::read_to_string(path).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let (mark, hash) = (&record["mark"], record["hash"].as_str().unwrap());
            let mark = mark.as_str().unwrap();
            let seq = record["seq"].as_u64().unwrap().to_be_bytes();
            let new = self.again("journal", run, &[&seq, hash.as_bytes()], mark);
            text.push_str(&line.replacen(mark, &new, 1));
            text.push('\n');
        }
        fs::write(path, text).unwrap();
    }

    /// The summary names the active run, and so carries a mark and a sum over all of it.
    fn state(&self, path: &Path) {
        let mut state = read(path);
        let map = state.as_object_mut().unwrap();
        let run = map["run_id"].as_str().unwrap();
        let new = self.again("active run", run, &[], map["mark"].as_str().unwrap());
        let sum = map.shift_remove("checksum").unwrap();
        let sum_of = |map| sha256_hex(canonical(&Value::Object(map)).as_bytes());
        assert_eq!(sum, sum_of(map.clone()));
        map["mark"] = json!(new);
        map.insert("checksum".to_owned(), json!(sum_of(map.clone())));
        fs::write(path, format!("{state:#}\n")).unwrap();
    }

    /// A file of the home that is named after the folder's path.
    fn renamed(&self, home: &Path, name: impl Fn(&str) -> String) -> PathBuf {
        let (old, new) = (home.join(name(PLACE)), home.join(name(&self.place)));
        fs::rename(&old, &new).unwrap_or_else(|e| panic!("{}: {e}", old.display()));
        new
    }

    fn home(&self, home: &Path) {
        let trust = self.renamed(home, |place| {
            format!("trust/{}.json", sha256_hex(place.as_bytes()))
        });
        let mut book = read(&trust);
        book["folder"] = json!(self.place);
        fs::write(&trust, book.to_string()).unwrap();
        self.renamed(home, |place| {
            format!("pins/{}.json", sha256_hex(place.as_bytes()))
        });
        for file in names(&home.join("accepted")) {
            let Some(old) = file.strip_suffix(".json") else {
                continue;
            };
            let path = home.join("accepted").join(&file);
            let mut accepted = read(&path);
            accepted["place"] = json!(format!("project {}", self.place));
            fs::write(&path, accepted.to_string()).unwrap();
            let workflow = accepted["workflow"].as_str().unwrap();
            let name = |place: &str| {
                let place = format!("project {place}");
                sha256_hex(format!("{}\n{place}\n{workflow}", place.len()).as_bytes())
            };
            assert_eq!(old, name(PLACE));
            for end in ["json", "left"] {
                self.renamed(home, |place| format!("accepted/{}.{end}", name(place)));
            }
        }
    }
}

/// A copy of the folder that is its user's, as it was where it lay.
pub fn today() -> Project {
    let project = Project::new();
    copy(&fixture().join("project"), project.path(), false);
    copy(&fixture().join("home"), project.home(), true);
    let key = fs::read(project.home().join("key")).unwrap();
    let bound = Bound {
        key: Key::fixed(key.try_into().unwrap()),
        place: project
            .path()
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned(),
    };
    bound.home(project.home());
    let runs = project.file("memory/runs");
    for run in names(&runs) {
        bound.journal(&run, &runs.join(&run).join("journal.jsonl"));
        let state = runs.join(&run).join("run_state.json");
        if state.exists() {
            bound.state(&state);
        }
    }
    bound.state(&project.file("memory/run_state.json"));
    project
}

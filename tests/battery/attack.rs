//! What the cases on state, injection, files, secrets and crashes share: a model that lies once, and what the journal says of it.

use crate::support::*;
use agentctl_base::model::ModelAnswer;
use agentctl_engine::store::Event;
use agentctl_knowledge::{Knowledge, Skill, SkillPlace};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// A shop whose model answers `task` with a lie until it is told that the lie was not accepted; all else it does well.
pub fn liar(
    task: &'static str,
    lie: impl Fn(&Seen<'_>) -> Option<ModelAnswer> + Send + Sync + 'static,
) -> Shop {
    Shop::new(move |seen| {
        if seen.task() == task
            && seen.told().is_empty()
            && let Some(answer) = lie(seen)
        {
            return answer;
        }
        good(seen)
    })
}

/// A shop under the built-in pack whose first agent refuses the request with this text, wherever it can put one.
pub fn refusing(text: &'static str) -> Shop {
    let mut shop = Shop::new(move |_| {
        says(json!({"requirements": {
            "goal": text, "questions": [], "refusal": {"reason": text, "alternatives": [text]}
        }}))
    });
    shop.pack = built_in().clone();
    shop.gateway = gateway(shop.dir.path(), &shop.pack);
    shop
}

/// (field, rule) of each refused patch, in order.
pub fn refusals(shop: &Shop) -> Vec<(String, String)> {
    let refused = |event| match event {
        Event::PatchRefused { field, rule, .. } => Some((field, rule)),
        _ => None,
    };
    shop.journal().into_iter().filter_map(refused).collect()
}

/// The stages that the run went through.
pub fn stages(shop: &Shop) -> Vec<String> {
    let to = |event| match event {
        Event::StageChanged { to, .. } => Some(to),
        _ => None,
    };
    shop.journal().into_iter().filter_map(to).collect()
}

/// Every file below a folder, by its path there.
pub fn files_below(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                let name = entry
                    .path()
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.push((name, std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The program in a folder that its user trusts, without a terminal and without the caller's settings and home.
pub fn agentctl(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
    command
        .current_dir(folder)
        .arg("--trust-once")
        .args(args)
        .stdin(Stdio::null());
    command
        .env_remove("AGENTCTL_MODEL")
        .env_remove("AGENTCTL_PROJECT")
        .env_remove("AGENTCTL_TRUST")
        .env("AGENTCTL_HOME", own_folder())
        .env("NO_COLOR", "1");
    command
}

/// The own folder of the tests' user, outside of every project: its key is that of a [`Shop`].
pub fn own_folder() -> &'static Path {
    static OWN: LazyLock<PathBuf> = LazyLock::new(|| {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("battery-own");
        let mut folder = std::fs::DirBuilder::new();
        folder.recursive(true).mode(0o700).create(&own).unwrap();
        let mut file = std::fs::OpenOptions::new();
        file.write(true).create(true).truncate(true).mode(0o600);
        std::io::Write::write_all(&mut file.open(own.join("key")).unwrap(), &KEY).unwrap();
        own
    });
    &OWN
}

/// (exit code, stdout, stderr); the code of a process that a signal ended is -1.
pub fn ran(mut command: Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

pub fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// (before, after) of every change that the journal has.
pub fn changes(events: &[Event]) -> Vec<(Option<String>, Option<String>)> {
    let change = |event: &Event| match event {
        Event::ToolFinished {
            change: Some(change),
            ..
        } => Some((change.before.clone(), change.after.clone())),
        _ => None,
    };
    events.iter().filter_map(change).collect()
}

const SKILL: &str = "---\nname: own\ndescription: d\n---\nbody\n";
pub const OUTSIDE: &str = "what stands outside";

/// A project with a skill, and beside it a file that nobody may read through it.
pub struct Place {
    pub dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { dir };
        std::fs::create_dir_all(place.skill().join("references")).unwrap();
        std::fs::write(place.skill().join("SKILL.md"), SKILL).unwrap();
        std::fs::write(place.skill().join("references/a.md"), "A").unwrap();
        std::fs::write(place.outside(), OUTSIDE).unwrap();
        place
    }
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }
    pub fn skill(&self) -> PathBuf {
        self.project().join("skills/own")
    }
    pub fn outside(&self) -> PathBuf {
        self.dir.path().join("outside.md")
    }
    pub fn knowledge(&self) -> Knowledge {
        let skill = Skill {
            name: "own".into(),
            description: "d".into(),
            place: SkillPlace::Folder {
                root: self.project(),
                below: "skills/own".into(),
            },
        };
        Knowledge::new(self.project(), [skill])
    }
}

use super::*;
use agentctl_engine::pack::{PackFiles, Use};
use agentctl_host::home::Home;
use agentctl_mcp::ServersInForce;
use std::path::{Path, PathBuf};

pub fn inventory(project: &Path) -> Inventory {
    Inventory::of(project, &|_, _| false).unwrap()
}

pub struct Place {
    dir: tempfile::TempDir,
    pub outside: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place {
            dir: tempfile::tempdir().unwrap(),
            outside: tempfile::tempdir().unwrap(),
        }
    }
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
    pub fn home(&self) -> Home {
        let dir = self.outside.path().join("home");
        Home::find(
            |name| (name == "AGENTCTL_HOME").then(|| dir.display().to_string()),
            self.path(),
        )
        .unwrap()
    }
    pub fn full() -> Place {
        let place = Place::new();
        place.write("agents/architect.md", "be good");
        place.write("agents/README.md", "not an agent");
        place.write("agents/flow.yaml", "flow");
        place.write("agents/policy.yaml", "policy");
        place.write("skills/a/SKILL.md", "a");
        place.write("skills/no-skill/other.md", "x");
        place.write(".claude/skills/b/SKILL.md", "b");
        place.write(".claude/skills/b/references/deep.md", "deep");
        place.write("packs/shop/pack.yaml", "pack");
        place.write("tools/find/tool.yaml", "tool");
        place.write("tools/script.sh", "no tool of ours");
        place.write("n8n-catalog.bin", "catalog");
        place.write(
            "agentctl.toml",
            "[models]\ndefault = \"a::m\"\n[providers.a]\nbase_url = \"http://127.0.0.1:1/\"\n[limits]\nmax_cost = 1\n",
        );
        place.write(
            ".mcp.json",
            r#"{"mcpServers": {"docs": {"command": "npx", "args": ["-y", "docs mcp"], "env": {"KEY": "${DOCS_KEY}", "PLAIN": "sk-not-shown"}},
                "web": {"type": "http", "url": "https://far.example/mcp", "headers": {"Authorization": "Bearer ${WEB_TOKEN:-none}"}, "disabled": true}}}"#,
        );
        place
    }
    pub fn judged(&self, home: &Home) -> InForce {
        let book = Book::read(home, &folder_key(self.path()).unwrap()).unwrap();
        InForce::judge(inventory(self.path()), Basis::Kept(book.folder()))
    }
    pub fn trust(&self, home: &Home) {
        let key = folder_key(self.path()).unwrap();
        Book::trust(home, &key, &inventory(self.path()), "now").unwrap();
    }
}

fn names(inventory: &Inventory) -> Vec<&str> {
    inventory.items.iter().map(|i| i.name.as_str()).collect()
}

fn verdicts(in_force: &InForce) -> Vec<(&str, &str)> {
    in_force
        .untrusted()
        .into_iter()
        .map(|j| (j.item.name.as_str(), j.verdict.word()))
        .collect()
}

#[test]
fn everything_that_overrides_is_an_item_and_nothing_else_is() {
    let place = Place::full();
    let taken = inventory(place.path());
    assert_eq!(
        names(&taken),
        [
            ".claude/skills/b",
            ".mcp.json/docs",
            "agentctl.toml",
            "agents/architect.md",
            "agents/flow.yaml",
            "agents/policy.yaml",
            "n8n-catalog.bin",
            "packs/shop",
            "skills/a",
            "tools/find",
        ]
    );
    assert!(taken.items.iter().all(|item| item.hash.is_ok()));
    let shows = |name: &str| {
        let found = taken.items.iter().find(|item| item.name == name);
        found.unwrap().shows.clone()
    };
    assert_eq!(
        shows(".mcp.json/docs"),
        [
            "starts npx -y \"docs mcp\"",
            "npx fetches docs mcp from the npm registry of your own settings; it starts in an empty folder, so no package and no settings of the project count",
            "the file itself sets its variable PLAIN",
            "gets $DOCS_KEY in its variable KEY",
            "warning: docs mcp names no exact version: another start may run other code"
        ]
    );
    assert_eq!(
        shows("agentctl.toml"),
        [
            "[models] default = \"a::m\"",
            "[providers.a] base_url = \"http://127.0.0.1:1/\""
        ]
    );
    assert_eq!(inventory(Path::new("/no/such/folder")).items, []);
}

#[test]
fn waivers_limits_and_comments_override_nothing() {
    let place = Place::new();
    for text in [
        "",
        "# [models]\n",
        "[limits]\nmax_cost = 1\n[[qa.waiver]]\ncode = \"x\"\n",
        "[models]\n",
    ] {
        place.write("agentctl.toml", text);
        assert_eq!(names(&inventory(place.path())), [""; 0], "{text}");
    }
    // A client's name says something, whatever stands below it.
    place.write("agentctl.toml", "[serve.clients.demo]\n");
    let named = inventory(place.path());
    assert_eq!(named.items[0].shows, ["[serve.clients.demo] (empty)"]);
    place.write("agentctl.toml", "[n8n]\nbackend = \"rest\"\n");
    let one = inventory(place.path());
    assert_eq!(one.items[0].shows, ["[n8n] backend = \"rest\""]);
    // What is said otherwise and means the same is the same.
    place.write(
        "agentctl.toml",
        "n8n = {backend = 'rest'} # so\n[limits]\nmax_cost = 2\n",
    );
    assert_eq!(inventory(place.path()), one);
    place.write("agentctl.toml", "no TOML");
    assert_eq!(
        inventory(place.path()).items[0].shows,
        ["cannot be read as TOML"]
    );
}

#[test]
fn every_change_of_an_item_changes_its_hash_and_no_other() {
    let place = Place::full();
    let before = inventory(place.path());
    for (file, text, item) in [
        ("agents/architect.md", "be bad", "agents/architect.md"),
        (
            ".claude/skills/b/references/deep.md",
            "x",
            ".claude/skills/b",
        ),
        (".claude/skills/b/new", "", ".claude/skills/b"),
        ("packs/shop/agents/a.md", "x", "packs/shop"),
        ("tools/find/tool.yaml", "x", "tools/find"),
        ("n8n-catalog.bin", "x", "n8n-catalog.bin"),
        ("agents/policy.yaml", "", "agents/policy.yaml"),
    ] {
        let path = place.path().join(file);
        let old = std::fs::read_to_string(&path).ok();
        place.write(file, text);
        let after = inventory(place.path());
        let other: Vec<&str> = after
            .items
            .iter()
            .filter(|item| !before.items.contains(item))
            .map(|item| item.name.as_str())
            .collect();
        assert_eq!(other, [item], "{file}");
        assert_ne!(after.hash(), before.hash(), "{file}");
        match old {
            Some(old) => place.write(file, &old),
            None => {
                std::fs::remove_file(&path).unwrap();
                path
            }
        };
    }
    assert_eq!(inventory(place.path()).hash(), before.hash());
    // The same files elsewhere have the same hash.
    assert_eq!(inventory(Place::full().path()).hash(), before.hash());
}

#[test]
fn what_moves_between_two_files_of_a_skill_is_a_change() {
    let place = Place::new();
    place.write("skills/a/SKILL.md", "ab");
    place.write("skills/a/x", "c");
    let before = inventory(place.path());
    place.write("skills/a/SKILL.md", "a");
    place.write("skills/a/x", "bc");
    assert_ne!(inventory(place.path()), before);
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_whole_inside_the_project_is_never_trusted() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let outside = place.outside.path();
    std::fs::create_dir_all(outside.join("skill")).unwrap();
    std::fs::write(outside.join("skill/SKILL.md"), "outside").unwrap();
    std::fs::write(outside.join("mcp.json"), "{}").unwrap();
    symlink(outside.join("mcp.json"), place.path().join(".mcp.json")).unwrap();
    std::fs::create_dir_all(place.path().join("skills/own")).unwrap();
    symlink(outside.join("skill"), place.path().join("skills/linked")).unwrap();
    place.write("skills/own/SKILL.md", "own");
    symlink("/etc/hostname", place.path().join("skills/own/ref.md")).unwrap();
    symlink(".", place.path().join("skills/round")).unwrap();
    std::fs::create_dir_all(place.path().join("agents")).unwrap();
    let mode = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&place.path().join("agents/policy.yaml"), mode).unwrap();
    nix::unistd::mkfifo(&place.path().join("agentctl.toml"), mode).unwrap();
    symlink("/dev/zero", place.path().join("agents/a.md")).unwrap();
    std::fs::File::create(place.path().join("n8n-catalog.bin"))
        .unwrap()
        .set_len(65 * 1024 * 1024)
        .unwrap();
    let taken = inventory(place.path());
    let why: Vec<(&str, &str)> = taken
        .items
        .iter()
        .map(|item| {
            let why = item.hash.as_ref().err().map_or("", String::as_str);
            (item.name.as_str(), why)
        })
        .collect();
    let is_link = |path: &str| format!("{path} is a link that leads out of the project");
    assert_eq!(
        why,
        [
            (".mcp.json", is_link(".mcp.json").as_str()),
            ("agentctl.toml", "it is not a regular file"),
            ("agents/a.md", &is_link("agents/a.md")),
            ("agents/policy.yaml", "it is not a regular file"),
            (
                "n8n-catalog.bin",
                "it has 68157440 bytes, more than the 67108864 that are read"
            ),
            ("skills/linked", &is_link("skills/linked")),
            ("skills/own", &is_link("skills/own/ref.md")),
        ]
    );
    let word = InForce::judge(taken, Basis::Word);
    assert_eq!(word.standing(), Standing::Changed);
    assert_eq!(word.servers(), ServersInForce::default());
    assert!(word.pack().is_err() && word.settings().is_err() && word.catalog().is_err());
}

#[cfg(unix)]
#[test]
fn a_link_inside_the_project_is_what_it_leads_to() {
    let place = Place::new();
    place.write("docs/real.md", "one");
    std::fs::create_dir_all(place.path().join("agents")).unwrap();
    std::os::unix::fs::symlink("../docs/real.md", place.path().join("agents/a.md")).unwrap();
    let before = inventory(place.path());
    assert_eq!(names(&before), ["agents/a.md"]);
    assert!(before.items[0].hash.is_ok());
    place.write("docs/real.md", "two");
    assert_ne!(inventory(place.path()), before);
}

#[test]
fn a_folder_is_restricted_until_it_is_trusted_and_asks_again_for_what_changed() {
    let place = Place::full();
    let home = place.home();
    let never = place.judged(&home);
    assert_eq!(never.standing(), Standing::Restricted);
    assert_eq!(never.pack().unwrap(), PackFiles::default());
    assert_eq!(never.settings().unwrap(), Use::BuiltIn);
    assert_eq!(never.catalog().unwrap(), Use::BuiltIn);
    assert!(!never.servers().has("docs"));
    assert!(never.live().is_err());
    assert_eq!(
        never.server("docs").unwrap_err().to_string(),
        "this folder is not trusted, and this needs the server \"docs\" of .mcp.json"
    );

    place.trust(&home);
    let trusted = place.judged(&home);
    assert_eq!(trusted.standing(), Standing::Trusted);
    assert_eq!(trusted.pack().unwrap(), PackFiles::all());
    assert_eq!(trusted.settings().unwrap(), Use::Project);
    assert_eq!(trusted.catalog().unwrap(), Use::Project);
    assert!(trusted.servers().has("docs") && trusted.server("docs").is_ok());
    assert!(trusted.live().is_ok());

    place.write("agents/architect.md", "be bad");
    place.write("agents/extra.md", "new");
    let changed = place.judged(&home);
    assert_eq!(changed.standing(), Standing::Changed);
    assert_eq!(
        verdicts(&changed),
        [
            ("agents/architect.md", "changed"),
            ("agents/extra.md", "new")
        ]
    );
    assert_eq!(
        changed.pack().unwrap_err().to_string(),
        "agents/architect.md was changed since this folder was trusted; agents/extra.md is new since this folder was trusted"
    );
    // What did not change goes on.
    assert_eq!(changed.settings().unwrap(), Use::Project);
    assert!(changed.servers().has("docs"));

    assert!(Book::revoke(&home, &folder_key(place.path()).unwrap()).unwrap());
    assert_eq!(place.judged(&home).standing(), Standing::Restricted);
}

#[test]
fn settings_that_came_later_are_new_and_not_their_file() {
    let place = Place::new();
    let home = place.home();
    place.write("agents/architect.md", "be good");
    place.write("agentctl.toml", "# everything has a default\n");
    place.trust(&home);
    place.write("agentctl.toml", "[n8n]\nbackend = \"rest\"\n");
    assert_eq!(
        place.judged(&home).settings().unwrap_err().to_string(),
        "what agentctl.toml sets is new since this folder was trusted"
    );
}

#[test]
fn one_changed_server_takes_no_other_with_it_unless_one_is_picked_silently() {
    let place = Place::full();
    let home = place.home();
    place.trust(&home);
    place.write(
        ".mcp.json",
        r#"{"mcpServers": {"docs": {"command": "npx", "args": ["-y", "docs mcp"], "env": {"KEY": "${DOCS_KEY}", "PLAIN": "sk-not-shown"}},
            "web": {"type": "http", "url": "https://far.example/mcp", "headers": {"Authorization": "Bearer ${WEB_TOKEN:-none}"}}}}"#,
    );
    let changed = place.judged(&home);
    // It was disabled, so it was no item.
    assert_eq!(verdicts(&changed), [(".mcp.json/web", "new")]);
    assert!(changed.servers().has("docs") && !changed.servers().has("web"));
    assert!(changed.server("docs").is_ok() && changed.server("web").is_err());
    assert!(changed.servers_or_none().is_err());
}

#[test]
fn trust_is_for_one_real_path_and_kept_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let (one, other) = (Place::full(), Place::full());
    let home = one.home();
    one.trust(&home);
    let of = |path: &Path| {
        let book = Book::read(&home, &folder_key(path).unwrap()).unwrap();
        InForce::judge(inventory(path), Basis::Kept(book.folder())).standing()
    };
    assert_eq!(of(one.path()), Standing::Trusted);
    assert_eq!(of(other.path()), Standing::Restricted);
    let link = one.outside.path().join("link");
    std::os::unix::fs::symlink(one.path(), &link).unwrap();
    assert_eq!(of(&link), Standing::Trusted);
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(other.path(), &link).unwrap();
    assert_eq!(of(&link), Standing::Restricted);
    let kept: Vec<_> = std::fs::read_dir(home.dir().join("trust"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(kept.len(), 1);
    let mode = std::fs::metadata(&kept[0]).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    // A file that somebody put there under another folder's name says nothing.
    let name = |path: &Path| {
        let key = folder_key(path).unwrap();
        format!(
            "trust/{}.json",
            agentctl_base::canonical::sha256_hex(key.as_bytes())
        )
    };
    let bytes = home.read(&name(one.path())).unwrap().unwrap();
    home.write(&name(other.path()), &bytes).unwrap();
    let read = Book::read(&home, &folder_key(other.path()).unwrap());
    assert!(matches!(read, Err(TrustError::Broken { .. })), "{read:?}");
}

#[test]
fn a_book_that_cannot_be_read_or_is_newer_is_an_error_and_left_alone() {
    let place = Place::full();
    let home = place.home();
    let key = folder_key(place.path()).unwrap();
    let own = format!(
        "trust/{}.json",
        agentctl_base::canonical::sha256_hex(key.as_bytes())
    );
    for file in ["trust.json", &own] {
        for text in ["{", "[]", "{\"version\": 2, \"folder\": \"x\"}"] {
            home.write(file, text.as_bytes()).unwrap();
            assert!(Book::read(&home, &key).is_err(), "{file} {text}");
            assert!(Book::trust(&home, &key, &Inventory::default(), "now").is_err());
            assert_eq!(home.read(file).unwrap().unwrap(), text.as_bytes());
        }
        home.remove(file).unwrap();
    }
}

#[test]
fn the_data_of_an_n8n_is_an_item_of_its_own() {
    let place = Place::new();
    assert_eq!(n8n_item(place.path(), N8N_DATA).unwrap(), None);
    place.write(".agentctl/n8n/home/.n8n/database.sqlite", "x");
    let empty = n8n_item(place.path(), N8N_DATA).unwrap().unwrap();
    place.write(".agentctl/n8n/home/.n8n/database.sqlite", "other");
    assert_eq!(n8n_item(place.path(), N8N_DATA).unwrap().unwrap(), empty);
    place.write(".agentctl/n8n/home/.n8n/custom/Evil.node.js", "x");
    assert_ne!(
        n8n_item(place.path(), N8N_DATA).unwrap().unwrap().hash,
        empty.hash
    );
    assert_eq!(inventory(place.path()), Inventory::default());
    let home = place.home();
    let key = folder_key(place.path()).unwrap();
    Book::add_n8n(&home, &key, &empty).unwrap();
    let known = Book::read(&home, &key).unwrap();
    assert_eq!(known.n8n(N8N_DATA), empty.hash.as_deref().ok());
    assert!(Book::revoke(&home, &key).unwrap() && !Book::revoke(&home, &key).unwrap());
}

/// A file that cannot be read for want of handles says nothing of whom the user trusts.
#[test]
fn what_the_machine_lacks_is_no_damage() {
    use agentctl_host::home::HomeError;
    let path = || Path::new("/h/trust/a.json").to_owned();
    let short = HomeError::Io {
        doing: "read",
        path: path(),
        source: std::io::Error::from_raw_os_error(24),
    };
    let odd = HomeError::Broken {
        path: path(),
        why: "it is a folder".to_owned(),
    };
    assert!(TrustError::from(short).is_io());
    assert!(!TrustError::from(odd).is_io());
}

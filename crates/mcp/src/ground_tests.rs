use super::*;
use std::fs;

/// A home folder with a repository in it, and the project below that.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("repo/.git")).unwrap();
        fs::create_dir_all(dir.path().join("repo/project/data")).unwrap();
        fs::create_dir_all(dir.path().join("bin")).unwrap();
        Place { dir }
    }
    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }
    fn home(&self) -> impl Fn(&str) -> Option<String> {
        let home = self.at("").display().to_string();
        move |name: &str| (name == "HOME").then(|| home.clone())
    }
    fn ground(&self) -> Ground {
        Ground::of(&self.at("repo/project"), &self.home())
    }
    fn planned(&self, line: &str) -> Plan {
        self.planned_with(line, &[], None)
    }
    fn planned_with(&self, line: &str, env: &[(&str, &str)], folder: Option<&str>) -> Plan {
        let ground = self.ground();
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().unwrap();
        let env: Vec<(String, String)> = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let neutral = ground.neutral(&self.home());
        plan(
            &ground,
            neutral.as_deref(),
            &command,
            &words.collect::<Vec<_>>(),
            &env,
            folder,
        )
    }
}

#[test]
fn the_repository_around_a_project_came_with_it_and_the_home_folder_did_not() {
    let place = Place::new();
    let ground = place.ground();
    assert_eq!(ground.top, place.at("repo"));
    for (path, inside) in [
        (place.at("repo/bin"), true),
        (place.at("repo/project/x/../../y"), true),
        (place.at("bin"), false),
        (PathBuf::from("./x"), true),
        (PathBuf::from("../../bin"), false),
        (PathBuf::from("/usr/bin"), false),
    ] {
        assert_eq!(ground.holds(&path), inside, "{path:?}");
    }
    std::os::unix::fs::symlink(place.at("repo"), place.at("bin/link")).unwrap();
    assert!(ground.holds(&place.at("bin/link")), "links are resolved");
    assert_eq!(
        ground
            .upwards(&place.at("repo/project"))
            .collect::<Vec<_>>(),
        [place.at("repo/project"), place.at("repo")]
    );
    assert_eq!(ground.shown(&place.at("repo/project/a/b")), "a/b");
    assert_eq!(ground.shown(&place.at("repo/.npmrc")), "../.npmrc");
    assert_eq!(
        ground.shown(&place.at("repo/project")),
        "the project folder"
    );
    assert_eq!(ground.shown(Path::new("/usr")), "/usr");
}

#[test]
fn a_search_path_loses_what_lies_in_the_project_or_depends_on_the_folder() {
    let place = Place::new();
    let own = place.at("bin");
    let bad = place.at("repo/tools");
    let path = format!("{}:.:bin::/usr/bin:{}:./x", bad.display(), own.display());
    let (kept, out) = place.ground().search_path(OsStr::new(&path));
    assert_eq!(kept, OsString::from(format!("/usr/bin:{}", own.display())));
    assert_eq!(
        out,
        [
            bad,
            PathBuf::from("."),
            PathBuf::from("bin"),
            PathBuf::new(),
            PathBuf::from("./x")
        ]
    );
    // Whoever works in the home folder has programs there.
    let home = Ground::of(&place.at(""), &place.home());
    let (kept, out) = home.search_path(OsStr::new(&format!("{}:x", own.display())));
    assert_eq!((kept, out), (own.into(), vec![PathBuf::from("x")]));
}

#[test]
fn a_runner_of_published_packages_starts_in_the_users_empty_folder() {
    let place = Place::new();
    let neutral = place.at(".cache/agentctl/start");
    let plan = place.planned_with(
        "npx -y n8n-mcp@2.87.0 ./data --root=../x . stdio",
        &[("DB", "./data/a.db"), ("MODE", "stdio")],
        None,
    );
    assert_eq!((plan.is_neutral, &plan.folder), (true, &neutral));
    let project = place.at("repo/project").display().to_string();
    for (word, path) in [
        ("./data", Some(format!("{project}/data"))),
        ("./data/a.db", Some(format!("{project}/data/a.db"))),
        (
            "--root=../x",
            Some(format!("--root={}", place.at("repo/x").display())),
        ),
        (".", Some(project.clone())),
        ("stdio", None),
        ("data", None),
        ("/data", None),
        ("A=./b", None),
    ] {
        assert_eq!(place.ground().absolute(word), path, "{word}");
    }
}

#[test]
fn whatever_is_not_understood_runs_in_the_project_and_says_why() {
    let place = Place::new();
    let project = place.at("repo/project");
    fs::write(project.join("npx"), "").unwrap();
    for (line, why) in [
        (
            "npx -c evil",
            Some("the option -c is not one that agentctl knows"),
        ),
        (
            "npx a data",
            Some("\"data\" is the name of something in the project"),
        ),
        ("./npx a", Some("\"./npx\" is a file of the project")),
        ("bin/npx a", Some("\"bin/npx\" is a file of the project")),
        (
            "../../bin/npx a",
            Some("\"../../bin/npx\" is a path from the folder"),
        ),
        ("node server.js", None),
    ] {
        let plan = place.planned(line);
        assert_eq!(plan.why_not.as_deref(), why, "{line}");
        assert_eq!(
            (plan.is_neutral, plan.folder),
            (false, project.clone()),
            "{line}"
        );
    }
    let named = place.planned_with("npx a ./b", &[], Some("data"));
    assert_eq!(named.folder, project.join("data"));
    assert_eq!(named.args, ["a", "./b"], "from its own folder");
    // A cache folder in the project is no folder of the user's.
    let ground = place.ground();
    let inside = project.join("cache").display().to_string();
    assert_eq!(
        ground.neutral(&|name| (name == "XDG_CACHE_HOME").then(|| inside.clone())),
        None
    );
    std::os::unix::fs::symlink(&project, place.at("linked")).unwrap();
    let linked = place.at("linked/cache").display().to_string();
    assert_eq!(
        ground.neutral(&|name| (name == "XDG_CACHE_HOME").then(|| linked.clone())),
        None
    );
    assert_eq!(ground.neutral(&|_| None), None);
}

#[test]
fn the_neutral_folder_is_the_owners_alone_and_stays_empty() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let folder = place.at(".cache/agentctl/start");
    prepare(&folder).unwrap();
    prepare(&folder).unwrap();
    assert_eq!(
        fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
        0o700
    );
    assert_eq!(
        fs::read_to_string(folder.join("package.json")).unwrap(),
        "{\"private\": true}\n"
    );
    fs::write(folder.join("a server's log"), "").unwrap();
    prepare(&folder).unwrap();
    for name in [
        ".npmrc",
        "node_modules",
        "uv.toml",
        ".env",
        "pyproject.toml",
    ] {
        fs::write(folder.join(name), "").unwrap();
        let error = prepare(&folder).unwrap_err().to_string();
        assert!(
            error.contains(&format!("start holds {name}, which would decide")),
            "{error}"
        );
        fs::remove_file(folder.join(name)).unwrap();
    }
    fs::write(folder.join("package.json"), "{\"bin\": {}}").unwrap();
    let error = prepare(&folder).unwrap_err().to_string();
    assert!(error.contains("is not what agentctl wrote"), "{error}");
}

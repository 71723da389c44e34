//! What a command line of `.mcp.json` would really run, as far as the project decides it: files of the project that it names, the
//! settings and packages in the project's folders, the code that an interpreter loads. Each is a fact with a hash, and each is said.

use super::content::{self, Seen};
use super::ground::{Ground, Plan};
use super::launchers::{VENVS, changes_what_loads, installed_as, is_launcher, whose_registry};
use super::runner::{self, Family, Line, Runner, is_pinned, package_name, program};
use agentctl_host::files::{plain_path as plain, read_regular_text};
use std::collections::BTreeSet;
use std::path::Path;

/// What is said of an entry.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub shown: Vec<String>,
    pub warnings: Vec<String>,
}

/// A part of the project that decides what runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fact {
    pub kind: &'static str,
    /// As it is shown: no path of this machine.
    pub place: String,
    pub hash: String,
}

/// What decides, in a fixed order; `told` gets a line for each. `seen`: what was hashed for other servers of the same file.
pub(super) fn facts(
    ground: &Ground,
    command: &str,
    plan: &Plan,
    seen: &Seen,
    told: &mut Told,
) -> Vec<Fact> {
    let mut found = Facts {
        ground,
        seen,
        told,
        facts: BTreeSet::new(),
    };
    found.variables(plan);
    if plan.is_neutral {
        // What the project adds to a published package counts like a program of its own.
        let adds = found.named(command, plan, &ground.project);
        found.published(plan, adds);
        if adds {
            let project = ground.project.clone();
            found.code(&project);
        }
        return found.facts.into_iter().collect();
    }
    found.in_the_folder(command, plan);
    found.facts.into_iter().collect()
}

struct Facts<'a> {
    ground: &'a Ground,
    seen: &'a Seen,
    told: &'a mut Told,
    facts: BTreeSet<Fact>,
}

impl Facts<'_> {
    fn add(&mut self, kind: &'static str, place: &Path, hash: String) -> bool {
        self.facts.insert(Fact {
            kind,
            place: self.ground.shown(place),
            hash,
        })
    }

    fn variables(&mut self, plan: &Plan) {
        for (name, value) in &plan.env {
            if changes_what_loads(name) {
                let value = agentctl_base::secrets::mask(value);
                let value: String = value.chars().take(200).collect();
                self.told.warnings.push(format!(
                    "its variable {name} changes which code is loaded or where from: {value:?}"
                ));
            }
        }
    }

    /// A published package in a neutral folder: nothing of the project counts, and what is there is named as not counting.
    fn published(&mut self, plan: &Plan, adds: bool) {
        let Line::Fetches {
            runner,
            packages,
            options,
            ..
        } = &plan.line
        else {
            return;
        };
        let runs = runner.words.join(" ");
        let from = match runner.family {
            Family::Node => "npm",
            Family::Python => "Python",
        };
        self.told.shown.push(format!(
            "{runs} fetches {} from the {from} registry {}; it starts in an empty folder, so no package and no settings of the project count{}",
            packages.join(", "),
            whose_registry(options, &plan.env),
            match adds {
                true => ", but for what is named below",
                false => "",
            }
        ));
        for package in packages.iter().filter(|package| !is_pinned(package)) {
            self.told.warnings.push(format!(
                "{package} names no exact version: another start may run other code"
            ));
        }
        for (option, value) in options {
            self.told
                .warnings
                .push(format!("{runs} is given {option} {value}"));
        }
        let project = self.ground.project.clone();
        for package in packages {
            let folder = project.join("node_modules").join(package_name(package));
            if runner.family == Family::Node && folder.symlink_metadata().is_ok() {
                self.told.shown.push(format!(
                    "node_modules/{} of this folder is not what runs",
                    package_name(package)
                ));
            }
        }
        let settings = match runner.family {
            Family::Node => ".npmrc",
            Family::Python => "uv.toml",
        };
        if project.join(settings).symlink_metadata().is_ok() {
            self.told
                .shown
                .push(format!("{settings} of this folder does not count"));
        }
    }

    fn in_the_folder(&mut self, command: &str, plan: &Plan) {
        if let Some(why) = &plan.why_not {
            self.told.warnings.push(format!(
                "it runs in {}, so what lies there counts: {why}",
                self.ground.shown(&plan.folder)
            ));
        }
        let (family, packages) = match &plan.line {
            Line::Fetches {
                runner, packages, ..
            }
            | Line::Unclear {
                runner, packages, ..
            } => (Some(runner.family), packages.as_slice()),
            Line::Other => (None, [].as_slice()),
        };
        // Behind a wrapper, too: `op run -- npx …`.
        let behind = plan.args.iter().enumerate().any(|(i, word)| {
            let rest = plan.args.get(i + 1..).unwrap_or_default();
            is_launcher(word) || !matches!(runner::read(word, rest), Line::Other)
        });
        let mut loads = family.is_some() || is_launcher(command) || behind;
        loads |= self.named(command, plan, &plan.folder);
        if self.ground.holds(&plan.folder) || plan.folder == self.ground.project {
            if loads {
                self.settings(&plan.folder);
                self.packages(&plan.folder, command, packages);
                self.installed(&plan.folder, plan);
                self.code(&plan.folder);
            } else {
                self.told.shown.push(format!(
                    "runs in {} and can read what is there",
                    self.ground.shown(&plan.folder)
                ));
            }
        } else {
            self.told
                .shown
                .push(format!("runs in {}", self.ground.shown(&plan.folder)));
        }
    }

    /// Files and folders of the project that the command line or a variable of the entry names.
    /// Relative ones begin in `from`.
    fn named(&mut self, command: &str, plan: &Plan, from: &Path) -> bool {
        let mut words: Vec<&str> = vec![command];
        words.extend(plan.args.iter().map(String::as_str));
        words.extend(plan.env.iter().map(|(_, value)| value.as_str()));
        let mut any = false;
        for (i, word) in words.into_iter().enumerate() {
            // A bare command is looked for in PATH, which never leads into the project.
            let tokens = match i {
                0 if !word.contains(['/', '\\']) => Vec::new(),
                0 => vec![word],
                _ => tokens(word),
            };
            for token in tokens {
                any |= self.token(token, from);
            }
        }
        any
    }

    fn token(&mut self, token: &str, folder: &Path) -> bool {
        if token.is_empty() || token.len() > 1_024 || token.contains('\0') {
            return false;
        }
        let path = plain(&folder.join(token));
        let Ok(meta) = path.metadata() else {
            return false;
        };
        if !self.ground.holds(&path) {
            return false;
        }
        let place = self.ground.shown(&path);
        if meta.is_dir() {
            if path == self.ground.project || path == self.ground.top {
                // What of it counts as code is looked at where the program loads code.
                return false;
            }
            let code = self.seen.code(&path, Some(&self.ground.project), false);
            self.whole(&path, code.is_whole);
            if self.add("folder", &path, code.hash) {
                self.told.warnings.push(format!(
                    "{place} of the project is named: {} files of code there count",
                    code.files
                ));
            }
        } else if self.add("file", &path, self.seen.file(&path)) {
            self.told
                .warnings
                .push(format!("{place} of the project is run or read by it"));
        }
        true
    }

    /// Settings that a program finds from its folder upwards.
    fn settings(&mut self, folder: &Path) {
        let ground = self.ground;
        for at in ground.upwards(folder) {
            for file in [Family::Node, Family::Python]
                .into_iter()
                .flat_map(Runner::settings)
            {
                let path = at.join(file);
                let Ok(meta) = path.symlink_metadata() else {
                    continue;
                };
                let hash = match meta.is_dir() {
                    true => self.seen.code(&path, None, true).hash,
                    false => self.seen.file(&path),
                };
                let says = match *file {
                    ".npmrc" => registry(&path),
                    _ => String::new(),
                };
                let decides = matches!(
                    *file,
                    ".npmrc"
                        | ".yarnrc"
                        | ".yarnrc.yml"
                        | ".pnpmfile.cjs"
                        | ".pnp.cjs"
                        | ".pnp.loader.mjs"
                        | "bunfig.toml"
                        | "uv.toml"
                        | "pip.conf"
                        | "pip.ini"
                );
                if self.add("settings", &path, hash) && decides {
                    let place = self.ground.shown(&path);
                    self.told.warnings.push(format!(
                        "{place} of the project decides where packages come from or what is loaded{says}"
                    ));
                }
            }
        }
    }

    /// Packages of the folder that would run instead of published ones.
    fn packages(&mut self, folder: &Path, command: &str, packages: &[String]) {
        let ground = self.ground;
        for at in ground.upwards(folder) {
            for package in packages {
                let name = package_name(package);
                let path = plain(&at.join("node_modules").join(name));
                if name.is_empty() || !path.is_dir() {
                    continue;
                }
                let code = self.seen.code(&path, None, true);
                self.whole(&path, code.is_whole);
                if self.add("package", &path, code.hash) {
                    let place = self.ground.shown(&path);
                    self.told.warnings.push(format!(
                        "{} would run {place} of this folder, not the published package",
                        program(command)
                    ));
                }
            }
            if at.join("node_modules").is_dir() {
                self.told.warnings.push(format!(
                    "it may load code of {}, which is looked at by its lock file only",
                    self.ground.shown(&at.join("node_modules"))
                ));
            }
        }
    }

    /// What of the project's virtual environments bears a name that the command line says: a script, a package (`python -m NAME`).
    fn installed(&mut self, folder: &Path, plan: &Plan) {
        let ground = self.ground;
        let is_name = |word: &&String| {
            !word.is_empty() && !word.starts_with(['-', '.']) && !word.contains(['/', '\\', '\0'])
        };
        let words: Vec<&String> = plan.args.iter().filter(is_name).collect();
        for at in ground.upwards(folder) {
            for venv in VENVS.iter().map(|name| at.join(name)) {
                if !venv.is_dir() {
                    continue;
                }
                for word in &words {
                    let script = venv.join("bin").join(word);
                    if script.is_file() && self.add("file", &script, self.seen.file(&script)) {
                        let place = ground.shown(&script);
                        self.told.warnings.push(format!("{place} may be what runs"));
                    }
                    // `my-server==1.2` and `my_server.main` are installed as `my_server`.
                    let package = word.split(['=', '<', '>', '[', '.', '@']).next();
                    let package = package.unwrap_or_default().replace('-', "_");
                    for path in installed_as(&venv, &package) {
                        let code = self.seen.code(&path, None, true);
                        self.whole(&path, code.is_whole);
                        if self.add("package", &path, code.hash) {
                            let place = ground.shown(&path);
                            self.told.warnings.push(format!("{place} may be what runs"));
                        }
                    }
                }
            }
        }
    }

    fn code(&mut self, folder: &Path) {
        let code = self.seen.code(folder, Some(&self.ground.project), false);
        self.whole(folder, code.is_whole);
        let place = self.ground.shown(folder);
        if self.add("code", folder, code.hash) {
            self.told.shown.push(format!(
                "may run code of {place}: {} files count, a change of one asks again",
                code.files
            ));
        }
    }

    fn whole(&mut self, path: &Path, is_whole: bool) {
        if !is_whole {
            self.told.warnings.push(format!(
                "{} holds more than is looked at ({}): a change of the rest is not noticed",
                self.ground.shown(path),
                content::most()
            ));
        }
    }
}

/// Parts of a word that could be paths: the word, what stands behind `=`, the entries of a list, the words of a script.
fn tokens(word: &str) -> Vec<&str> {
    let mut found = vec![word];
    let divides = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '=' | ':'
                    | ';'
                    | ','
                    | '|'
                    | '&'
                    | '<'
                    | '>'
                    | '('
                    | ')'
                    | '"'
                    | '\''
                    | '`'
                    | '{'
                    | '}'
            )
    };
    found.extend(
        word.split(divides)
            .filter(|part| *part != word && !part.is_empty()),
    );
    found.truncate(4_000);
    found
}

/// What an `.npmrc` says of registries.
fn registry(path: &Path) -> String {
    let text = read_regular_text(path, 1024 * 1024).unwrap_or_default();
    let named: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| {
            let key = line.split('=').next().unwrap_or_default().trim();
            key == "registry" || key.ends_with(":registry")
        })
        .take(3)
        .collect();
    match named.is_empty() {
        true => String::new(),
        false => format!(" ({})", agentctl_base::secrets::mask(&named.join("; "))),
    }
}

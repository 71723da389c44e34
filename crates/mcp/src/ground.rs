//! Where a server's process starts, so that what lies in the project decides as little as possible of what runs: a runner of
//! published packages starts in an empty folder of the user's, all else in the project; no program is looked for in the project.

use super::runner::{self, Family, Line, Runner};
use agentctl_host::files::plain_path as plain;
use agentctl_host::home::repository_of;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What a folder above the project is not looked at for: more of them than any path has.
const MOST_ABOVE: usize = 64;

/// The project's ground: what came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ground {
    /// The project, links resolved.
    pub project: PathBuf,
    /// The repository around it, where there is one: what lies there came the same way.
    pub top: PathBuf,
    /// The user's home folder, links resolved: what lies there and not in the project is the user's own.
    home: Option<PathBuf>,
}

impl Ground {
    pub fn of(project: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Ground {
        let real = |path: &Path| path.canonicalize().ok();
        let project = real(project).unwrap_or_else(|| project.to_owned());
        let home = variable("HOME").and_then(|home| real(Path::new(&home)));
        let top = repository_of(&project, home.as_deref()).unwrap_or_else(|| project.clone());
        Ground { project, top, home }
    }

    /// Whether a path lies in the project or its repository, links resolved or not.
    pub fn holds(&self, path: &Path) -> bool {
        let plain = plain(&self.project.join(path));
        plain.starts_with(&self.top)
            || plain
                .canonicalize()
                .is_ok_and(|real| real.starts_with(&self.top))
    }

    /// The folders in which a program that runs in `folder` looks for settings and packages, from there upwards; never the user's
    /// home folder and what is above it.
    pub fn upwards<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = &'a Path> {
        let home = self.home.as_deref();
        folder.ancestors().take(MOST_ABOVE).take_while(move |at| {
            *at == self.project || home.is_none_or(|home| !home.starts_with(at))
        })
    }

    /// How a path is shown: from the project, `../` for each folder above it; the same on every machine.
    pub fn shown(&self, path: &Path) -> String {
        for (above, folder) in self.project.ancestors().enumerate() {
            let Ok(rest) = path.strip_prefix(folder) else {
                continue;
            };
            if folder.parent().is_none() {
                break;
            }
            return match (above, rest.as_os_str().is_empty()) {
                (0, true) => "the project folder".to_owned(),
                _ => format!("{}{}", "../".repeat(above), rest.display()),
            };
        }
        path.display().to_string()
    }

    /// A search path without the entries that lie in the project or depend on where a program runs; and those. Where the project
    /// holds the user's home folder, what lies in it is the user's.
    pub fn search_path(&self, path: &OsStr) -> (OsString, Vec<PathBuf>) {
        let is_home = self
            .home
            .as_deref()
            .is_some_and(|home| home.starts_with(&self.top));
        let (kept, out): (Vec<PathBuf>, Vec<PathBuf>) = std::env::split_paths(path)
            .partition(|entry| entry.is_absolute() && (is_home || !self.holds(entry)));
        let joined = std::env::join_paths(kept).unwrap_or_default();
        (joined, out)
    }

    /// An empty folder of the user's own in which nothing of a project counts; None when there is none: no cache folder is known,
    /// or it lies in the project.
    pub fn neutral(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let folder = agentctl_host::cache::of_user(variable)?.join("start");
        let mut there = folder.as_path();
        while there.symlink_metadata().is_err() {
            there = there.parent()?;
        }
        let missing = folder.strip_prefix(there).ok()?;
        let real = match missing.as_os_str().is_empty() {
            true => there.canonicalize().ok()?,
            false => there.canonicalize().ok()?.join(missing),
        };
        (!real.starts_with(&self.top)).then_some(real)
    }
}

/// Where a process starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    pub folder: PathBuf,
    /// The folder is the empty one of the user's, and is made before the start.
    pub is_neutral: bool,
    pub ground: Ground,
}

/// How a command line would be run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub line: Line,
    pub folder: PathBuf,
    pub is_neutral: bool,
    /// Why a runner does not start in the neutral folder.
    pub why_not: Option<String>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// Where this command line runs. `folder`: what the entry itself says (`cwd`).
pub(super) fn plan(
    ground: &Ground,
    neutral: Option<&Path>,
    command: &str,
    args: &[String],
    env: &[(String, String)],
    folder: Option<&str>,
) -> Plan {
    let line = runner::read(command, args);
    let told = folder.map(|folder| plain(&ground.project.join(folder)));
    let mut plan = Plan {
        line,
        folder: told.clone().unwrap_or_else(|| ground.project.clone()),
        is_neutral: false,
        why_not: None,
        args: args.to_vec(),
        env: env.to_vec(),
    };
    let rest = match &plan.line {
        Line::Other => return plan,
        Line::Unclear { why, .. } => {
            plan.why_not = Some(why.clone());
            return plan;
        }
        Line::Fetches { rest, .. } => *rest,
    };
    let why_not = if told.is_some() {
        Some("the entry names a folder (`cwd`)".to_owned())
    } else if command.contains(['/', '\\']) && ground.holds(Path::new(command)) {
        Some(format!("{command:?} is a file of the project"))
    } else if command.contains(['/', '\\']) && !Path::new(command).is_absolute() {
        Some(format!("{command:?} is a path from the folder"))
    } else if neutral.is_none() {
        Some("no cache folder of yours is known outside of the project".to_owned())
    } else {
        None
    };
    if why_not.is_some() {
        plan.why_not = why_not;
        return plan;
    }
    let words = plan.args.iter().skip(rest);
    let words = words.chain(plan.env.iter().map(|(_, value)| value));
    if let Some(word) = words.into_iter().find(|word| ground.may_name(word)) {
        plan.why_not = Some(format!("{word:?} is the name of something in the project"));
        return plan;
    }
    if let Some(neutral) = neutral {
        plan.folder = neutral.to_owned();
        plan.is_neutral = true;
    }
    plan
}

/// A word of a command line: the option before `=`, and the rest.
fn value_of(word: &str) -> (Option<&str>, &str) {
    match word.split_once('=') {
        Some((flag, value)) if flag.starts_with('-') => (Some(flag), value),
        _ => (None, word),
    }
}

fn is_relative(value: &str) -> bool {
    matches!(value, "." | "..") || value.starts_with("./") || value.starts_with("../")
}

impl Ground {
    /// A path from the project, made absolute: `./data`, `--root=../x`. None: it is none.
    pub fn absolute(&self, word: &str) -> Option<String> {
        let (flag, value) = value_of(word);
        if !is_relative(value) {
            return None;
        }
        let path = plain(&self.project.join(value)).display().to_string();
        Some(match flag {
            Some(flag) => format!("{flag}={path}"),
            None => path,
        })
    }

    /// Whether a word is also the name of something in the project: whether it is meant as a path cannot be told.
    fn may_name(&self, word: &str) -> bool {
        let (_, value) = value_of(word);
        let is_word = value.is_empty()
            || is_relative(value)
            || value.starts_with(['-', '/'])
            || value.contains("://")
            || value.contains('\0')
            || value.len() > 1_024;
        !is_word && self.project.join(value).symlink_metadata().is_ok()
    }
}

impl Runner {
    /// Files in a folder, or above it, that decide what a runner of this family fetches or loads.
    pub fn settings(family: Family) -> &'static [&'static str] {
        match family {
            Family::Node => &[
                ".npmrc",
                ".yarnrc",
                ".yarnrc.yml",
                ".pnpmfile.cjs",
                ".pnp.cjs",
                ".pnp.loader.mjs",
                "bunfig.toml",
                "package.json",
                "package-lock.json",
                "npm-shrinkwrap.json",
                "pnpm-lock.yaml",
                "pnpm-workspace.yaml",
                "yarn.lock",
                "bun.lock",
                "bun.lockb",
                "node_modules/.package-lock.json",
                "node_modules/.bin",
            ],
            Family::Python => &[
                "uv.toml",
                "uv.lock",
                "pip.conf",
                "pip.ini",
                "pyproject.toml",
                "setup.cfg",
                ".python-version",
                ".env",
                ".venv/pyvenv.cfg",
            ],
        }
    }
}

/// Makes the neutral folder for its owner only, and looks whether it is still empty: only then does it decide nothing. `package.json`
/// says to Node's runners that nothing above it counts as the project.
pub(super) fn prepare(folder: &Path) -> std::io::Result<()> {
    use std::io::{Error, ErrorKind};
    const OURS: &str = "package.json";
    const TEXT: &str = "{\"private\": true}\n";
    if !folder.is_dir() {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let decides = [Family::Node, Family::Python]
            .into_iter()
            .flat_map(Runner::settings)
            .any(|file| {
                name == *file || file.split('/').next().is_some_and(|first| name == *first)
            });
        if decides && name != OURS {
            return Err(Error::new(
                ErrorKind::InvalidData,
                format!(
                    "{} holds {}, which would decide what is run; remove it",
                    folder.display(),
                    name.display()
                ),
            ));
        }
    }
    let path = folder.join(OURS);
    match agentctl_host::files::read_own(&path, 1_024)? {
        agentctl_host::files::Found::Bytes(bytes) if bytes == TEXT.as_bytes() => Ok(()),
        agentctl_host::files::Found::Missing => {
            agentctl_host::files::write_atomic(&path, TEXT.as_bytes())
                .map_err(|e| Error::other(e.to_string()))
        }
        _ => Err(Error::new(
            ErrorKind::InvalidData,
            format!(
                "{} is not what agentctl wrote there; remove it",
                path.display()
            ),
        )),
    }
}

#[cfg(test)]
#[path = "ground_tests.rs"]
mod ground_tests;

//! What an entry of `.mcp.json` is, for the user to approve and to see when it became another: its words as the file has them, the
//! variables it gets, and what would really run. Nothing is started, reached or filled in for it, and no value of a variable is in
//! what comes out.

use super::config::{FILE, McpConfigError, Note};
use super::content::Seen;
use super::ground::Ground;
use super::runs::{self, Fact, Told};
use super::secret::shown as shown_address;
use super::variables::{
    ADDRESSES_OF_N8N, Slot, is_n8ns_own, misplaced, pieces, variables_in, with_defaults,
};
use super::written::Written;
use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_base::{secrets, untrusted};
use agentctl_host::files::plain_path as plain;
use serde_json::{Map, Value, json};
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// Of one word of a command line; a script is longer.
const SHOWN: usize = 2_000;

/// One enabled entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerIdentity {
    pub name: String,
    /// sha-256 in lower-case hex over the entry as it is written and over what it would run; the same on every machine where both
    /// are the same. No order of keys and no value of a variable changes it.
    pub hash: String,
    /// Lines to read before it is approved, one a fact. Without control characters; secrets of the file are hidden.
    pub shown: Vec<String>,
    /// What it reaches: the server's own address, or for a program the n8n that it is given.
    pub address: Option<ServerAddress>,
    /// What somebody should think about, for example that files of the project would run.
    pub warnings: Vec<String>,
}

/// A variable of the environment and where its value goes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ServerVariable {
    name: String,
    goes_to: GoesTo,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum GoesTo {
    Env(String),
    Header(String),
    Url,
    Argument,
    Command,
    Folder,
}

impl fmt::Display for GoesTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoesTo::Env(name) => write!(f, "its variable {name}"),
            GoesTo::Header(name) => write!(f, "the header {name}"),
            GoesTo::Url => f.write_str("its address"),
            GoesTo::Argument => f.write_str("its arguments"),
            GoesTo::Command => f.write_str("its command"),
            GoesTo::Folder => f.write_str("its folder"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// As the file has it, without user, password and query.
    pub written: String,
    /// `host:port` with the variables filled in; None where they could hold a secret, or where it is no address.
    pub host: Option<String>,
}

/// The enabled entries of a `.mcp.json`, in its order. `variable` looks up an environment variable: for the folders that are the
/// user's own (`HOME`, `XDG_CACHE_HOME`, `PATH`), and for the host of an address. An entry whose shape is wrong is left out: it
/// cannot be used either, and reading the file says why.
pub fn identities_in(
    project: &Path,
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<ServerIdentity>, McpConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text).map_err(|e| {
        McpConfigError::NotJson(Note {
            file: FILE.into(),
            line: e.line(),
            message: format!("not JSON: {e}"),
        })
    })?;
    let surroundings = Surroundings {
        ground: Ground::of(project, variable),
        variable,
        neutral: OnceCell::new(),
        out_of_path: OnceCell::new(),
        seen: Seen::default(),
    };
    let servers = value.get("mcpServers").and_then(Value::as_object);
    let entries = servers.into_iter().flatten().filter_map(|(name, entry)| {
        let map = entry.as_object()?;
        if map.get("disabled") == Some(&Value::Bool(true)) {
            return None;
        }
        let around = &surroundings;
        Some(Entry { name, map, around }.identity())
    });
    let mut found: Vec<ServerIdentity> = entries.collect();
    let is_link = |meta: std::fs::Metadata| meta.is_symlink();
    if project.join(FILE).symlink_metadata().is_ok_and(is_link) {
        for identity in &mut found {
            identity
                .warnings
                .push(format!("{FILE} is a link to another file"));
        }
    }
    Ok(found)
}

/// What is the same for all servers of a file, found out once.
struct Surroundings<'a> {
    ground: Ground,
    variable: &'a dyn Fn(&str) -> Option<String>,
    neutral: OnceCell<Option<PathBuf>>,
    /// The entries of the user's `PATH` that no server gets.
    out_of_path: OnceCell<Vec<PathBuf>>,
    seen: Seen,
}

impl Surroundings<'_> {
    fn neutral(&self) -> Option<&Path> {
        let neutral = self
            .neutral
            .get_or_init(|| self.ground.neutral(self.variable));
        neutral.as_deref()
    }

    fn out_of_path(&self) -> &[PathBuf] {
        self.out_of_path.get_or_init(|| {
            let path = (self.variable)("PATH");
            path.map_or_else(Vec::new, |path| {
                self.ground.search_path(OsStr::new(&path)).1
            })
        })
    }
}

/// Keys of an entry that say what it is; the others (waiting times, which tools count) are no part of it.
const IDENTITY: &[&str] = &["type", "command", "args", "env", "url", "headers", "cwd"];

struct Entry<'a> {
    name: &'a str,
    map: &'a Map<String, Value>,
    around: &'a Surroundings<'a>,
}

impl Entry<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.map.get(key).and_then(Value::as_str)
    }

    fn args(&self) -> Vec<&str> {
        let args = self.map.get("args").and_then(Value::as_array);
        args.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    fn pairs(&self, key: &str) -> Vec<(&str, &str)> {
        let pairs = self.map.get(key).and_then(Value::as_object);
        pairs
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
            .collect()
    }

    fn is_http(&self) -> bool {
        match self.text("type") {
            Some(kind) => kind != "stdio",
            None => self.text("command").is_none(),
        }
    }

    fn identity(&self) -> ServerIdentity {
        let mut told = Told::default();
        let mut facts = Vec::new();
        let mut mode = "http";
        match self.is_http() {
            true => self.reached(&mut told),
            false => {
                let written = Written::of(self.map);
                let ground = &self.around.ground;
                let plan = written.plan(ground, self.around.neutral());
                mode = match plan.is_neutral {
                    true => "neutral",
                    false => "project",
                };
                told.shown.push(self.command_line());
                let seen = &self.around.seen;
                facts = runs::facts(ground, &written.command, &plan, seen, &mut told);
                self.search_path(&mut told);
            }
        }
        self.values(&mut told);
        let written: Map<String, Value> = IDENTITY
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), self.map.get(*key)?.clone())))
            .collect();
        let bound: Vec<Value> = facts
            .iter()
            .map(|Fact { kind, place, hash }| json!([kind, place, hash]))
            .collect();
        let whole =
            json!({"v": 1, "name": self.name, "entry": written, "mode": mode, "runs": bound});
        let clean = |lines: Vec<String>| {
            lines
                .iter()
                .map(|line| gaps(&untrusted::line(line)))
                .collect()
        };
        ServerIdentity {
            name: self.name.to_owned(),
            hash: sha256_hex(canonical(&whole).as_bytes()),
            shown: clean(told.shown),
            address: self.address(),
            warnings: clean(told.warnings),
        }
    }

    fn command_line(&self) -> String {
        let command = self.text("command").unwrap_or_default();
        let mut words = vec![word(command)];
        let mut hides_next = false;
        for arg in self.args() {
            words.push(match (hides_next, arg.split_once('=')) {
                // A secret is written behind the option that names it.
                (true, _) if variables_in(arg).is_empty() && is_one_word(arg) => {
                    "(hidden)".to_owned()
                }
                (_, Some((flag, value)))
                    if names_a_secret(flag)
                        && variables_in(value).is_empty()
                        && is_one_word(value) =>
                {
                    format!("{flag}=(hidden)")
                }
                _ => word(arg),
            });
            hides_next = arg.starts_with('-') && !arg.contains('=') && names_a_secret(arg);
        }
        format!("starts {}", words.join(" "))
    }

    fn reached(&self, told: &mut Told) {
        let url = self.text("url").unwrap_or_default();
        let written = shown_address(&Map::from_iter([("url".to_owned(), Value::from(url))]));
        told.shown.push(format!("reaches {written}"));
        let plain = with_defaults(url);
        let plain = url::Url::parse(&plain).ok();
        let carries = !self.pairs("headers").is_empty() || !variables_in(url).is_empty();
        if let Some(plain) = plain
            && carries
            && agentctl_base::plain_http::PlainHttp::default()
                .check("", &plain)
                .is_err()
        {
            told.warnings.push(format!(
                "{written} is plain http to another machine: what it is sent can be read on the way, so no key is sent there unless your own settings allow it"
            ));
        }
    }

    fn values(&self, told: &mut Told) {
        for (key, kind) in [("env", "variable"), ("headers", "header")] {
            let literal: Vec<String> = self
                .pairs(key)
                .into_iter()
                .filter(|(_, value)| variables_in(value).is_empty())
                // A script in a variable is no secret, and is what would run.
                .map(|(name, value)| match is_one_word(value) {
                    true => name.to_owned(),
                    false => format!("{name} ({})", word(value)),
                })
                .collect();
            if !literal.is_empty() {
                told.shown.push(format!(
                    "the file itself sets its {kind}{} {}",
                    if literal.len() == 1 { "" } else { "s" },
                    literal.join(", ")
                ));
            }
        }
        for used in self.variables() {
            told.shown
                .push(format!("gets ${} in {}", used.name, used.goes_to));
        }
        let of_n8n = is_n8ns_own(&with_defaults(self.text("url").unwrap_or_default()));
        let env = self.pairs("env").into_iter();
        let env = env.filter_map(|(name, text)| misplaced(Slot::Env(name), text));
        let headers = self.pairs("headers").into_iter();
        let headers =
            headers.filter_map(|(name, text)| misplaced(Slot::Header { name, of_n8n }, text));
        told.warnings
            .extend(env.chain(headers).map(|why| format!("refused: {why}")));
    }

    fn search_path(&self, told: &mut Told) {
        let own = self
            .pairs("env")
            .into_iter()
            .find(|(name, _)| *name == "PATH");
        let ground = &self.around.ground;
        let of_entry = own.map(|(_, path)| ground.search_path(OsStr::new(&with_defaults(path))).1);
        let left_out = match &of_entry {
            Some(left_out) => left_out,
            None => self.around.out_of_path(),
        };
        if !left_out.is_empty() {
            let places: Vec<String> = left_out
                .iter()
                .map(|entry| match entry.as_os_str().is_empty() {
                    true => "(the folder itself)".to_owned(),
                    false => ground.shown(&plain(&ground.project.join(entry))),
                })
                .collect();
            told.warnings.push(format!(
                "PATH leads into the project ({}): the server gets it without that; name a program there by its path",
                places.join(", ")
            ));
        }
    }

    fn variables(&self) -> Vec<ServerVariable> {
        let mut texts: Vec<(GoesTo, &str)> = Vec::new();
        let one = |key: &str, goes_to: GoesTo| self.text(key).map(|text| (goes_to, text));
        texts.extend(one("command", GoesTo::Command));
        texts.extend(self.args().into_iter().map(|arg| (GoesTo::Argument, arg)));
        texts.extend(one("cwd", GoesTo::Folder));
        texts.extend(one("url", GoesTo::Url));
        let pairs = |key: &str, goes_to: fn(String) -> GoesTo| {
            let pairs = self.pairs(key).into_iter();
            pairs
                .map(move |(name, value)| (goes_to(name.to_owned()), value))
                .collect::<Vec<_>>()
        };
        texts.extend(pairs("env", GoesTo::Env));
        texts.extend(pairs("headers", GoesTo::Header));
        let mut found: Vec<ServerVariable> = Vec::new();
        for (goes_to, text) in texts {
            for name in variables_in(text) {
                let used = ServerVariable {
                    name: name.to_owned(),
                    goes_to: goes_to.clone(),
                };
                if !found.contains(&used) {
                    found.push(used);
                }
            }
        }
        found
    }

    fn address(&self) -> Option<ServerAddress> {
        let env = self.pairs("env");
        let written = match self.is_http() {
            true => self.text("url")?,
            false => ADDRESSES_OF_N8N
                .iter()
                .find_map(|name| env.iter().find(|(key, _)| key == name))
                .map(|(_, value)| *value)?,
        };
        let secret = variables_in(written)
            .into_iter()
            .any(secrets::names_a_secret);
        let host = match secret {
            true => None,
            false => self.host(written),
        };
        Some(ServerAddress {
            written: shown_address(&Map::from_iter([("url".to_owned(), Value::from(written))])),
            host,
        })
    }

    fn host(&self, written: &str) -> Option<String> {
        use super::variables::Piece;
        let parts: Option<String> = pieces(written)
            .ok()?
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => Some(text.to_owned()),
                Piece::Variable { name, default } => (self.around.variable)(name)
                    .filter(|value| default.is_none() || !value.is_empty())
                    .or_else(|| default.map(str::to_owned)),
            })
            .collect();
        let url = url::Url::parse(&parts?).ok()?;
        let port = url.port_or_known_default()?;
        Some(format!("{}:{port}", url.host_str()?))
    }
}

/// `--api-key`, `apiToken`: an option that names a secret.
fn names_a_secret(flag: &str) -> bool {
    let mut name = String::new();
    for c in flag.trim_start_matches('-').chars() {
        if c.is_ascii_uppercase() && !name.ends_with('_') {
            name.push('_');
        }
        name.push(if c == '-' { '_' } else { c });
    }
    secrets::names_a_secret(&name) || secrets::names_a_secret(&flag.replace('-', "_"))
}

/// What could be a secret and not a script: a script has blanks or signs of a shell in it.
fn is_one_word(text: &str) -> bool {
    !text.contains(|c: char| c.is_whitespace() || "|&;<>()$`{}\\".contains(c))
}

/// The line with long gaps as numbers: what stands behind one is not out of sight.
fn gaps(line: &str) -> String {
    const LONG: usize = 4;
    let mut out = String::new();
    let mut gap = String::new();
    for c in line.chars().chain(['\n']) {
        if c.is_whitespace() && c != '\n' {
            gap.push(c);
            continue;
        }
        match gap.chars().count() {
            n if n > LONG => out.push_str(&format!(" ⟨{n} blanks⟩ ")),
            _ => out.push_str(&gap),
        }
        gap.clear();
        if c != '\n' {
            out.push(c);
        }
    }
    out
}

/// A word of a command line; one with blanks is quoted.
fn word(text: &str) -> String {
    let masked = secrets::mask(text);
    let short: String = masked.chars().take(SHOWN).collect();
    let cut = if short.len() < masked.len() {
        "…"
    } else {
        ""
    };
    match short.contains([' ', '\t', '\n', '"', '\'']) || short.is_empty() {
        true => format!("{:?}{cut}", short),
        false => format!("{short}{cut}"),
    }
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod identity_tests;

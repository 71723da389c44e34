//! `.mcp.json` as users of agent command lines know it: `mcpServers`, stdio or http, `${VAR}` and `${VAR:-default}`.
//! Everything that is wrong is reported in one pass, with its line; a server that is wrong does not hide the others.

use super::in_force::ServersInForce;
use super::key_lines::{KeyLines, key_lines};
use super::reach::key_of;
use super::secret::{Secret, shown};
use super::variables::{Piece, Slot, is_n8ns_own, misplaced, pieces};
use super::written::Written;
use agentctl_base::plain_http::PlainHttp;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::path::Path;
use std::time::Duration;

pub use super::entry::{McpConfig, McpConfigError, McpServer, McpTransport, Note};
use super::entry::{STARTUP_TIMEOUT, hidden};

pub const FILE: &str = ".mcp.json";

/// The project's `.mcp.json`; None when there is none. Of servers that are not in force nothing is read but their names.
/// `variable` looks up an environment variable.
pub fn read(
    project: &Path,
    in_force: &ServersInForce,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<McpConfig>, McpConfigError> {
    let path = project.join(FILE);
    match agentctl_host::files::read_regular_text(&path, super::MAX_BYTES) {
        Ok(text) => {
            let mut config = parse_in_force(&text, Path::new(FILE), in_force, variable)?;
            config.started_in(project, variable);
            Ok(Some(config))
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(McpConfigError::Io { path, source }),
    }
}

/// A text with every server in it, whoever wrote it.
pub fn parse(
    text: &str,
    file: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<McpConfig, McpConfigError> {
    parse_in_force(text, file, &ServersInForce::all(), variable)
}

pub(super) fn parse_in_force(
    text: &str,
    file: &Path,
    in_force: &ServersInForce,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<McpConfig, McpConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text).map_err(|e| {
        McpConfigError::NotJson(Note {
            file: file.to_owned(),
            line: e.line(),
            message: format!("not JSON: {e}"),
        })
    })?;
    let mut reader = Reader {
        file,
        places: key_lines(text),
        in_force,
        variable,
        config: McpConfig::default(),
        filled: Vec::new(),
    };
    reader.document(&value);
    reader.config.problems.sort_by_key(|note| note.line);
    reader.config.warnings.sort_by_key(|note| note.line);
    Ok(reader.config)
}

struct Reader<'a> {
    file: &'a Path,
    places: KeyLines,
    in_force: &'a ServersInForce,
    variable: &'a dyn Fn(&str) -> Option<String>,
    config: McpConfig,
    /// Values of variables that the server at hand was given.
    filled: Vec<String>,
}

const KEYS: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "url",
    "headers",
    "cwd",
    "timeout",
    "startupTimeoutMs",
    "enabledTools",
    "disabledTools",
    "required",
    "disabled",
    "description",
];

impl Reader<'_> {
    fn line(&self, pointer: &str) -> usize {
        let mut pointer = pointer;
        loop {
            if let Some(line) = self.places.lines.get(pointer) {
                return *line;
            }
            match pointer.rsplit_once('/') {
                Some((parent, _)) => pointer = parent,
                None => return 1,
            }
        }
    }

    fn note(&self, pointer: &str, message: impl Into<String>) -> Note {
        Note {
            file: self.file.to_owned(),
            line: self.line(pointer),
            message: message.into(),
        }
    }

    fn problem(&mut self, pointer: &str, message: impl Into<String>) {
        let note = self.note(pointer, message);
        self.config.problems.push(note);
    }

    fn warn(&mut self, pointer: &str, message: impl Into<String>) {
        let note = self.note(pointer, message);
        self.config.warnings.push(note);
    }

    fn document(&mut self, value: &Value) {
        let twice: Vec<(String, usize)> = self
            .places
            .duplicates
            .iter()
            .map(|(pointer, line)| (pointer.clone(), *line))
            .collect();
        for (pointer, line) in twice {
            let key = pointer.rsplit('/').next().unwrap_or("").to_owned();
            self.config.problems.push(Note {
                file: self.file.to_owned(),
                line,
                message: format!("the key {key:?} stands twice; keep one of them"),
            });
        }
        let Value::Object(map) = value else {
            return self.problem("", "expected an object with the key `mcpServers`");
        };
        for key in map.keys().filter(|key| *key != "mcpServers") {
            self.warn(
                &format!("/{key}"),
                format!("unknown key {key:?} is ignored"),
            );
        }
        match map.get("mcpServers") {
            Some(Value::Object(servers)) => {
                for (name, server) in servers {
                    let at = format!("/mcpServers/{}", name.replace('~', "~0").replace('/', "~1"));
                    self.server(name, server, &at);
                }
            }
            Some(_) => self.problem(
                "/mcpServers",
                "`mcpServers` must be an object, one key for each server",
            ),
            None => self.problem("", "the key `mcpServers` is missing"),
        }
    }

    fn server(&mut self, name: &str, value: &Value, at: &str) {
        let Value::Object(map) = value else {
            return self.problem(at, format!("server {name:?} must be an object"));
        };
        for key in map.keys().filter(|key| !KEYS.contains(&key.as_str())) {
            self.warn(
                &format!("{at}/{key}"),
                format!("server {name:?}: unknown key {key:?} is ignored"),
            );
        }
        if map.get("disabled") == Some(&Value::Bool(true)) {
            self.config.disabled.push(name.to_owned());
            return;
        }
        if !self.in_force.has(name) {
            self.config.withheld.push((name.to_owned(), shown(map)));
            return;
        }
        let problems = self.config.problems.len();
        self.filled.clear();
        let transport = self.transport(name, map, at);
        let cwd = match map.contains_key("cwd") {
            true => self.text(name, map, "cwd", at),
            false => None,
        };
        let mut key = None;
        if let Some(transport) = &transport {
            self.fixed_purposes(name, map, transport, at);
            key = key_of(map, transport, &self.filled);
        }
        let milliseconds = map
            .get("startupTimeoutMs")
            .or_else(|| map.get("timeout"))
            .and_then(Value::as_u64);
        let startup_timeout = milliseconds.map_or(STARTUP_TIMEOUT, Duration::from_millis);
        let enabled_tools = map
            .contains_key("enabledTools")
            .then(|| self.texts(name, map, "enabledTools", at));
        let disabled_tools = self.texts(name, map, "disabledTools", at);
        let required = map
            .get("required")
            .and_then(Value::as_bool)
            .unwrap_or(false);
        if let Some(transport) = transport
            && self.config.problems.len() == problems
        {
            self.config.servers.push(McpServer {
                name: name.to_owned(),
                hidden: hidden(&transport, &self.filled),
                transport,
                shown: shown(map),
                startup_timeout,
                enabled_tools,
                disabled_tools,
                required,
                line: self.line(at),
                start: None,
                written: Written::of(map),
                cwd,
                key,
                plain_http: PlainHttp::default(),
            });
        } else {
            self.config.unusable.push(name.to_owned());
        }
    }

    fn transport(
        &mut self,
        name: &str,
        map: &Map<String, Value>,
        at: &str,
    ) -> Option<McpTransport> {
        let kind = match map.get("type") {
            None if map.contains_key("command") => "stdio",
            None if map.contains_key("url") => {
                self.problem(
                    at,
                    format!("server {name:?} has a url and no type; add \"type\": \"http\""),
                );
                return None;
            }
            None => {
                self.problem(
                    at,
                    format!("server {name:?} needs a `command` (stdio) or \"type\": \"http\" with a `url`"),
                );
                return None;
            }
            Some(Value::String(kind)) => kind.as_str(),
            Some(_) => {
                self.problem(
                    &format!("{at}/type"),
                    format!("server {name:?}: `type` must be a text"),
                );
                return None;
            }
        };
        let type_at = format!("{at}/type");
        match kind {
            "stdio" => self.stdio(name, map, at),
            "http" => self.http(name, map, at),
            "streamable-http" | "streamableHttp" => {
                self.warn(
                    &type_at,
                    format!("server {name:?}: {kind:?} is read as \"http\"; write that"),
                );
                self.http(name, map, at)
            }
            "sse" => {
                self.problem(
                    &type_at,
                    format!(
                        "server {name:?}: the transport \"sse\" was removed from MCP and is not supported; use the server's \
                         streamable HTTP address with \"type\": \"http\", or a bridge that speaks stdio"
                    ),
                );
                None
            }
            other => {
                self.problem(
                    &type_at,
                    format!("server {name:?}: unknown type {other:?}; use \"stdio\" or \"http\""),
                );
                None
            }
        }
    }

    fn stdio(&mut self, name: &str, map: &Map<String, Value>, at: &str) -> Option<McpTransport> {
        let command = self.text(name, map, "command", at)?;
        if command.is_empty() {
            self.problem(
                &format!("{at}/command"),
                format!("server {name:?}: `command` is empty"),
            );
            return None;
        }
        let args = self.texts(name, map, "args", at);
        Some(McpTransport::Stdio {
            command: Secret::new(command),
            args: args.into_iter().map(Secret::new).collect(),
            env: self.pairs(name, map, "env", at),
        })
    }

    fn http(&mut self, name: &str, map: &Map<String, Value>, at: &str) -> Option<McpTransport> {
        let url = self.text(name, map, "url", at)?;
        let good = reqwest::Url::parse(&url)
            .is_ok_and(|u| matches!(u.scheme(), "http" | "https") && u.has_host());
        if !good {
            self.problem(
                &format!("{at}/url"),
                format!("server {name:?}: `url` must be an http or https address"),
            );
            return None;
        }
        Some(McpTransport::Http {
            url: Secret::new(url),
            headers: self.pairs(name, map, "headers", at),
        })
    }

    fn text(
        &mut self,
        name: &str,
        map: &Map<String, Value>,
        key: &str,
        at: &str,
    ) -> Option<String> {
        let place = format!("{at}/{key}");
        match map.get(key) {
            Some(Value::String(text)) => self.expand(name, text, &place),
            Some(_) => {
                self.problem(&place, format!("server {name:?}: `{key}` must be a text"));
                None
            }
            None => {
                self.problem(at, format!("server {name:?}: `{key}` is missing"));
                None
            }
        }
    }

    fn texts(&mut self, name: &str, map: &Map<String, Value>, key: &str, at: &str) -> Vec<String> {
        let place = format!("{at}/{key}");
        match map.get(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => items
                .iter()
                .filter_map(|item| match item {
                    Value::String(text) => self.expand(name, text, &place),
                    _ => {
                        self.problem(
                            &place,
                            format!("server {name:?}: `{key}` must hold texts only"),
                        );
                        None
                    }
                })
                .collect(),
            Some(_) => {
                self.problem(
                    &place,
                    format!("server {name:?}: `{key}` must be a list of texts"),
                );
                Vec::new()
            }
        }
    }

    fn pairs(
        &mut self,
        name: &str,
        map: &Map<String, Value>,
        key: &str,
        at: &str,
    ) -> IndexMap<String, Secret> {
        let mut pairs = IndexMap::new();
        let place = format!("{at}/{key}");
        match map.get(key) {
            None => {}
            Some(Value::Object(entries)) => {
                for (entry, value) in entries {
                    let entry_at = format!("{place}/{entry}");
                    match value {
                        Value::String(text) => {
                            if let Some(text) = self.expand(name, text, &entry_at) {
                                pairs.insert(entry.clone(), Secret::new(text));
                            }
                        }
                        _ => self.problem(
                            &entry_at,
                            format!(
                                "server {name:?}: `{key}.{entry}` must be a text; put it in quotes"
                            ),
                        ),
                    }
                }
            }
            Some(_) => self.problem(
                &place,
                format!("server {name:?}: `{key}` must be an object"),
            ),
        }
        pairs
    }

    /// Fills in `${VAR}` and `${VAR:-default}`; a variable that is not set and has no default is a problem.
    fn expand(&mut self, name: &str, text: &str, place: &str) -> Option<String> {
        let Ok(pieces) = pieces(text) else {
            self.problem(place, format!("server {name:?}: a `${{` has no `}}`"));
            return None;
        };
        let mut out = String::new();
        for piece in pieces {
            let (variable, default) = match piece {
                Piece::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Piece::Variable { name, default } => (name, default),
            };
            let set = (self.variable)(variable).filter(|v| default.is_none() || !v.is_empty());
            match (set, default) {
                (Some(value), _) => {
                    out.push_str(&value);
                    self.filled.push(value);
                }
                (None, Some(default)) => out.push_str(default),
                (None, None) => {
                    self.problem(
                        place,
                        format!(
                            "server {name:?}: the variable {variable} is not set; set it, or write ${{{variable}:-default}}"
                        ),
                    );
                    return None;
                }
            }
        }
        Some(out)
    }

    /// Where the product says what a value is for, no variable of something else fills it in.
    fn fixed_purposes(
        &mut self,
        name: &str,
        map: &Map<String, Value>,
        transport: &McpTransport,
        at: &str,
    ) {
        let of_n8n =
            matches!(transport, McpTransport::Http { url, .. } if is_n8ns_own(url.expose()));
        for key in ["env", "headers"] {
            let pairs = map.get(key).and_then(Value::as_object);
            for (entry, value) in pairs.into_iter().flatten() {
                let slot = match key {
                    "env" => Slot::Env(entry),
                    _ => Slot::Header {
                        name: entry,
                        of_n8n,
                    },
                };
                if let Some(why) = value.as_str().and_then(|text| misplaced(slot, text)) {
                    self.problem(
                        &format!("{at}/{key}/{entry}"),
                        format!("server {name:?}: {why}"),
                    );
                }
            }
        }
    }
}

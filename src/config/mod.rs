//! `agentctl.toml`: the one reader of a project's settings, and of the user's own file of the same form. Every key is known
//! or refused with its line. Must never hold a key: where keys come from stands here, keys do not.
//!
//! ```toml
//! [models]
//! default = "anthropic::claude-sonnet-4-5"   # opus, sonnet and haiku where they are not named
//! opus = "anthropic::claude-opus-4-1"
//! [models.agents]
//! qa = "mine::small"
//! [models.time]                              # seconds
//! first_token = 60
//! [providers.mine]
//! kind = "openai"                            # the wire; default: the provider's own name
//! base_url = "http://127.0.0.1:8080/v1/"
//! api_key_env = "MINE_API_KEY"
//! [limits]                                   # of a run; `[limits.agents.NAME]`: of one agent
//! max_cost = 2.5
//! [prices."mine::small"]                     # USD per million tokens
//! input = 0.1
//! output = 0.4
//! [packs.orchestrators]
//! research = "basic"                         # docs/orchestrators.md
//! [n8n]
//! backend = "auto"                           # embedded, n8n-mcp, instance-mcp, rest
//! [targets.prod]                             # docs/workflows-in-git.md
//! url = "https://n8n.example.com"            # or url_env
//! key_env = "PROD_N8N_API_KEY"
//! [targets.prod.credentials.slackApi]
//! "Sales" = "Sales (production)"             # where it has another name there
//! [journal]                                  # docs/scale.md
//! url_env = "AGENTCTL_JOURNALS_URL"
//! [serve]                                    # docs/serve.md
//! [a2a]                                      # docs/a2a.md
//! v0_3 = false                               # serve speaks A2A 0.3, too
//! [a2a.agents.desk]
//! url = "https://agents.example.com/agents/desk"
//! token_env = "A2A_DESK_TOKEN"
//! [trust]                                    # only in the user's own file
//! plain_http = ["n8n.lan:5678"]              # where a key may go without https
//! [test]                                     # of the user's own file alone
//! allow_hosts = ["api.example.com"]          # hosts that a test run may read
//! [tools]                                    # of the user's own file alone
//! allow_addresses = ["127.0.0.1:8099"]       # of this machine and of private networks, for tools of a pack's files
//! ```

pub mod a2a;
mod context;
pub mod limit;
mod provider;
pub mod serve;
pub mod targets;
mod tools;
mod user;

pub use context::Context;
pub use provider::base_url;
pub use user::{User, timezone_around};

use crate::trust::{MAX_SETTINGS, SETTINGS};
use agentctl_base::{plain_http::PlainHttp, secrets};
use agentctl_engine::{pack::Tier, store::Budgets};
use agentctl_host::files::read_regular_text;
use agentctl_host::reach::Addresses;
use agentctl_models::{
    ModelName, Price,
    provider::{SchemaForm, TimeLimits},
};
use agentctl_n8n::rehearsal::Hosts;
use agentctl_n8n_tools::backend::BackendName;
use agentctl_qa::waiver::{self, BadWaiver, Waiver};
use indexmap::IndexMap;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// What is wrong in a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ConfigError {
    pub line: usize,
    pub message: String,
}

/// The same with the file's name; also: it cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{}:{}: {}", path.display(), error.line, error.message)]
    Wrong {
        path: PathBuf,
        error: ConfigError,
        /// The page of docs/ that says what can stand there; None: no known section begins before that line.
        page: Option<&'static str>,
    },
    #[error("cannot read {}: {error}", path.display())]
    Io {
        path: PathBuf,
        error: std::io::Error,
    },
}

#[derive(Debug, Clone, Default)]
pub struct Config {
    pub waivers: Vec<Waiver>,
    pub models: ModelSettings,
    pub providers: IndexMap<String, ProviderSettings>,
    pub limits: Budgets,
    /// By `provider::model`.
    pub prices: IndexMap<String, Price>,
    /// `[packs] default`: `NAME` or `NAME/FLOW`.
    pub pack: Option<String>,
    /// `[packs.orchestrators]`: pack → the name of one of its orchestrators.
    pub orchestrators: IndexMap<String, String>,
    /// `[sessions] url_env`: the variable with the address of a Postgres that keeps the conversations.
    pub sessions_url_env: Option<String>,
    /// `[journal]`: where runs' journals are shared; None: they are the folder's alone.
    pub journal: Option<Journals>,
    /// `[serve]`.
    pub serve: serve::Serve,
    /// `[a2a.agents.NAME]`.
    pub agents: IndexMap<String, a2a::RemoteAgent>,
    /// `[user]`.
    pub user: User,
    /// `[n8n] backend`.
    pub backend: Option<BackendName>,
    /// `[targets.NAME]`.
    pub targets: IndexMap<String, targets::PushTarget>,
    /// `[trust] plain_http` of the user's own file.
    pub plain_http: PlainHttp,
    /// `[test] allow_hosts` of the user's own file; a project cannot list any.
    pub test_hosts: Hosts,
    /// `[tools] allow_addresses` of the user's own file; a project cannot list any.
    pub tool_addresses: Addresses,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelSettings {
    pub default: Option<ModelName>,
    pub opus: Option<ModelName>,
    pub sonnet: Option<ModelName>,
    pub haiku: Option<ModelName>,
    pub agents: IndexMap<String, ModelName>,
    pub time: TimeLimits,
    pub context: Context,
}

impl ModelSettings {
    pub fn of_tier(&self, tier: Tier) -> Option<&ModelName> {
        let named = match tier {
            Tier::Opus => &self.opus,
            Tier::Sonnet => &self.sonnet,
            Tier::Haiku => &self.haiku,
        };
        named.as_ref().or(self.default.as_ref())
    }
}

/// Who wrote it: a project's file comes with the project, so it may not send data elsewhere or start programs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    User,
    Project,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProviderSettings {
    pub origin: Origin,
    /// Where it stands, for what is said about it.
    pub place: String,
    pub kind: Option<String>,
    pub base_url: Option<url::Url>,
    pub api_key_env: Option<String>,
    pub key_command: Option<Vec<String>>,
    /// Whether and how this server takes a JSON Schema for its answer; None: by its kind.
    pub json_schema: Option<SchemaForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    qa: waiver::Section,
    #[serde(default)]
    models: WrittenModels,
    #[serde(default)]
    providers: IndexMap<String, Spanned<WrittenProvider>>,
    #[serde(default)]
    limits: limit::Section,
    #[serde(default)]
    prices: IndexMap<String, Spanned<Price>>,
    #[serde(default)]
    n8n: WrittenN8n,
    #[serde(default)]
    targets: IndexMap<String, Spanned<targets::Written>>,
    #[serde(default)]
    packs: WrittenPacks,
    #[serde(default)]
    sessions: WrittenSessions,
    journal: Option<WrittenJournal>,
    #[serde(default)]
    serve: serve::Serve,
    #[serde(default)]
    user: user::Written,
    #[serde(default)]
    a2a: a2a::Written,
    trust: Option<Spanned<WrittenTrust>>,
    test: Option<Spanned<WrittenTest>>,
    tools: Option<Spanned<tools::Written>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTrust {
    #[serde(default)]
    plain_http: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTest {
    #[serde(default)]
    allow_hosts: Vec<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenN8n {
    backend: Option<BackendName>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPacks {
    default: Option<String>,
    #[serde(default)]
    orchestrators: IndexMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSessions {
    url_env: Option<String>,
}

/// A Postgres that all replicas share for the journals of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journals {
    /// The variable with its address.
    pub url_env: String,
    /// Seconds: how long a replica may be unheard of before another takes its runs.
    pub lease: u64,
}

/// The lease where the settings name none, and what can be named, in seconds.
const LEASE: u64 = 15;
const LEASES: std::ops::RangeInclusive<u64> = 1..=300;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenJournal {
    url_env: String,
    lease: Option<Spanned<u64>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenModels {
    default: Option<Spanned<String>>,
    opus: Option<Spanned<String>>,
    sonnet: Option<Spanned<String>>,
    haiku: Option<Spanned<String>>,
    #[serde(default)]
    agents: IndexMap<String, Spanned<String>>,
    #[serde(default)]
    time: TimeLimits,
    #[serde(default)]
    context: Context,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenProvider {
    kind: Option<String>,
    base_url: Option<Spanned<String>>,
    api_key_env: Option<Spanned<String>>,
    key_command: Option<Spanned<Command>>,
    json_schema: Option<WrittenForm>,
    // Known only to be refused by name.
    #[serde(alias = "key", alias = "token", alias = "secret", alias = "password")]
    api_key: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Command {
    Words(Vec<String>),
    Shell(String),
}

#[derive(Deserialize)]
#[serde(try_from = "toml::Value")]
struct WrittenForm(SchemaForm);

impl TryFrom<toml::Value> for WrittenForm {
    type Error = &'static str;
    fn try_from(value: toml::Value) -> Result<Self, Self::Error> {
        match &value {
            toml::Value::Boolean(true) => Ok(WrittenForm(SchemaForm::Schema)),
            toml::Value::Boolean(false) => Ok(WrittenForm(SchemaForm::Untold)),
            toml::Value::String(form) if form == "json_object" => {
                Ok(WrittenForm(SchemaForm::JsonObject))
            }
            _ => Err("`json_schema` is true, false or \"json_object\""),
        }
    }
}

/// The project's settings over the user's own. Of a project's that do not count, the waivers and the limits do all the same: the
/// one only hides findings, which are counted, the other only lowers.
pub fn load(
    project: &Path,
    user_file: Option<&Path>,
    counts: agentctl_engine::pack::Use,
) -> Result<Config, LoadError> {
    let mut config = match user_file {
        Some(path) => {
            let mut config = read_file(path, Origin::User)?;
            // Files that the user's own settings name lie beside them, whatever the project.
            if let Some(folder) = path.parent() {
                config.serve.files_of(folder);
                for agent in config.agents.values_mut() {
                    agent.files_of(folder);
                }
            }
            config
        }
        None => Config::default(),
    };
    let mut own = read_file(&project.join(SETTINGS), Origin::Project)?;
    if counts == agentctl_engine::pack::Use::BuiltIn {
        own = Config {
            waivers: own.waivers,
            limits: own.limits,
            ..Config::default()
        };
    }
    config.waivers = own.waivers;
    let models = &mut config.models;
    for (ours, theirs) in [
        (&mut models.default, own.models.default),
        (&mut models.opus, own.models.opus),
        (&mut models.sonnet, own.models.sonnet),
        (&mut models.haiku, own.models.haiku),
    ] {
        if theirs.is_some() {
            *ours = theirs;
        }
    }
    models.agents.extend(own.models.agents);
    if own.models.time != TimeLimits::default() {
        models.time = own.models.time;
    }
    models.context = own.models.context.over(std::mem::take(&mut models.context));
    // A project, perhaps a stranger's, cannot spend more than its user allows.
    config.limits = config.limits.lowest(own.limits);
    // A provider that the user described is the user's: a project cannot put its own in that place.
    for (name, provider) in own.providers {
        config.providers.entry(name).or_insert(provider);
    }
    for (name, agent) in own.agents {
        config.agents.entry(name).or_insert(agent);
    }
    for (name, target) in own.targets {
        config.targets.entry(name).or_insert(target);
    }
    config.sessions_url_env = own.sessions_url_env.or(config.sessions_url_env);
    config.journal = own.journal.or(config.journal);
    config.serve = own.serve.over(std::mem::take(&mut config.serve));
    config.pack = own.pack.or(config.pack);
    config.orchestrators.extend(own.orchestrators);
    // A project may know better where its workflows run.
    config.user = own.user.or(std::mem::take(&mut config.user));
    config.backend = own.backend.or(config.backend);
    for (name, price) in own.prices {
        config.prices.entry(name).or_insert(price);
    }
    Ok(config)
}

fn read_file(path: &Path, origin: Origin) -> Result<Config, LoadError> {
    let text = match read_regular_text(path, MAX_SETTINGS) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => {
            return Err(LoadError::Io {
                path: path.to_owned(),
                error,
            });
        }
    };
    read(&text, &path.display().to_string(), origin).map_err(|error| LoadError::Wrong {
        path: path.to_owned(),
        page: page_of(&text, error.line),
        error,
    })
}

/// Which page of docs/ tells of which section.
const PAGES: [(&str, &str); 16] = [
    ("a2a", "a2a.md"),
    ("limits", "models.md"),
    ("models", "models.md"),
    ("n8n", "live.md"),
    ("packs", "orchestrators.md"),
    ("prices", "models.md"),
    ("providers", "models.md"),
    ("qa", "qa.md"),
    ("journal", "scale.md"),
    ("serve", "serve.md"),
    ("sessions", "sessions.md"),
    ("targets", "workflows-in-git.md"),
    ("test", "testing.md"),
    ("tools", "tools.md"),
    ("trust", "trust.md"),
    ("user", "models.md"),
];

/// The page of the section that a line (from 1) stands in.
fn page_of(text: &str, line: usize) -> Option<&'static str> {
    let before: Vec<&str> = text.lines().take(line).collect();
    let head = before.iter().rev().find(|line| line.starts_with('['));
    // Before the first section a key names its own: `serve.page = true`.
    let named = head.or(before.last())?.trim_start_matches('[');
    let name = named.split(['.', ']', '=']).next()?.trim();
    let mut pages = PAGES.iter();
    pages
        .find(|(section, _)| *section == name)
        .map(|(_, page)| *page)
}

/// One file's settings. `file` is its name in what is said.
pub fn read(text: &str, file: &str, origin: Origin) -> Result<Config, ConfigError> {
    let lines = Lines(text);
    let written: Written = toml::from_str(text).map_err(|error| ConfigError {
        line: error.span().map_or(1, |span| lines.of(span.start)),
        message: error.message().to_owned(),
    })?;
    let waivers = (written.qa.waivers(&|offset| lines.of(offset)))
        .map_err(|BadWaiver { line, message }| ConfigError { line, message })?;
    let models = ModelSettings {
        default: lines.model(written.models.default)?,
        opus: lines.model(written.models.opus)?,
        sonnet: lines.model(written.models.sonnet)?,
        haiku: lines.model(written.models.haiku)?,
        agents: written
            .models
            .agents
            .into_iter()
            .filter_map(|(agent, name)| {
                let name = lines.model(Some(name)).transpose()?;
                Some(name.map(|name| (agent, name)))
            })
            .collect::<Result<_, _>>()?,
        time: written.models.time,
        context: written.models.context,
    };
    let mut providers = IndexMap::new();
    for (name, spanned) in written.providers {
        let place = format!("{file}:{}", lines.of(spanned.span().start));
        let provider = lines.provider(spanned, origin, place)?;
        providers.insert(name, provider);
    }
    let mut prices = IndexMap::new();
    for (name, spanned) in written.prices {
        let at = spanned.span().start;
        let price = spanned.into_inner();
        let fault = match name.parse::<ModelName>() {
            Err(e) => Some(e.to_string()),
            Ok(_) if !price.is_sound() => Some("a price is a number of USD, 0 or more".to_owned()),
            Ok(_) => None,
        };
        if let Some(message) = fault {
            return Err(lines.error(at, message));
        }
        prices.insert(name, price);
    }
    let plain_http = lines.plain_http(written.trust, origin)?;
    let test_hosts = lines.test_hosts(written.test, origin)?;
    let tool_addresses = tools::addresses(&lines, written.tools, origin)?;
    let v0_3 = written.a2a.v0_3;
    let agents = a2a::agents(&lines, written.a2a, origin)?;
    let targets = targets::targets(&lines, written.targets, origin)?;
    let journal = written.journal.map(|journal| lines.journals(journal));
    Ok(Config {
        agents,
        targets,
        test_hosts,
        tool_addresses,
        waivers,
        models,
        providers,
        limits: written.limits.budgets(),
        prices,
        pack: written.packs.default,
        orchestrators: written.packs.orchestrators,
        sessions_url_env: written.sessions.url_env,
        journal: journal.transpose()?,
        serve: serve::Serve {
            v0_3,
            ..written.serve.checked(&lines, origin, file)?
        },
        user: User::of(written.user, &lines)?,
        backend: written.n8n.backend,
        plain_http,
    })
}

struct Lines<'a>(&'a str);

impl Lines<'_> {
    fn of(&self, offset: usize) -> usize {
        let before = self.0.get(..offset).unwrap_or(self.0);
        before.bytes().filter(|b| *b == b'\n').count() + 1
    }

    fn journals(&self, written: WrittenJournal) -> Result<Journals, ConfigError> {
        let lease = written.lease.as_ref();
        if let Some(wrong) = lease.filter(|lease| !LEASES.contains(lease.get_ref())) {
            let (least, most) = (LEASES.start(), LEASES.end());
            let told = format!("`lease` is a number of seconds from {least} to {most}");
            return Err(self.error(wrong.span().start, told));
        }
        Ok(Journals {
            url_env: written.url_env,
            lease: lease.map_or(LEASE, |lease| *lease.get_ref()),
        })
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> ConfigError {
        ConfigError {
            line: self.of(offset),
            message: message.into(),
        }
    }

    fn model(&self, written: Option<Spanned<String>>) -> Result<Option<ModelName>, ConfigError> {
        let Some(written) = written else {
            return Ok(None);
        };
        let at = written.span().start;
        let name = written.into_inner().parse::<ModelName>();
        name.map(Some).map_err(|e| self.error(at, e.to_string()))
    }

    /// A project cannot say whom its user trusts.
    fn plain_http(
        &self,
        written: Option<Spanned<WrittenTrust>>,
        origin: Origin,
    ) -> Result<PlainHttp, ConfigError> {
        let Some(written) = written else {
            return Ok(PlainHttp::default());
        };
        if origin == Origin::Project {
            return Err(self.error(
                written.span().start,
                "`[trust]` is the user's word, and this file came with the project; write it into your own settings: agentctl/config.toml in ~/.config (or $AGENTCTL_CONFIG)",
            ));
        }
        let places = written.into_inner().plain_http;
        for place in &places {
            PlainHttp::new([place.get_ref().as_str()])
                .map_err(|message| self.error(place.span().start, message))?;
        }
        PlainHttp::new(places.iter().map(|place| place.get_ref().as_str()))
            .map_err(|message| self.error(0, message))
    }

    fn test_hosts(
        &self,
        written: Option<Spanned<WrittenTest>>,
        origin: Origin,
    ) -> Result<Hosts, ConfigError> {
        let mut hosts = Hosts::default();
        let Some(section) = written else {
            return Ok(hosts);
        };
        if origin == Origin::Project {
            let message = "[test] stands in your own config.toml, not in a project's agentctl.toml: a project does not say which hosts its tests may reach";
            return Err(self.error(section.span().start, message));
        }
        for host in section.into_inner().allow_hosts {
            let at = host.span().start;
            let fits = Hosts::host(host.get_ref());
            hosts.add(&fits.map_err(|e| self.error(at, e.to_string()))?);
        }
        Ok(hosts)
    }

    fn provider(
        &self,
        spanned: Spanned<WrittenProvider>,
        origin: Origin,
        place: String,
    ) -> Result<ProviderSettings, ConfigError> {
        let start = spanned.span().start;
        let written = spanned.into_inner();
        const NO_KEYS: &str = "keys do not belong into this file; name the variable that holds it (`api_key_env = \"NAME\"`) or a command that prints it (`key_command`)";
        if let Some(key) = &written.api_key {
            return Err(self.error(key.span().start, NO_KEYS));
        }
        if let Some(variable) = &written.api_key_env {
            let name = variable.get_ref();
            let first = |c: char| c.is_ascii_alphabetic() || c == '_';
            let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !name.starts_with(first) || !name.chars().all(rest) || holds_secret(name) {
                // What stands there may be the key itself: it is not repeated.
                return Err(self.error(
                    variable.span().start,
                    format!("`api_key_env` is the name of an environment variable; {NO_KEYS}"),
                ));
            }
        }
        if written.api_key_env.is_some() && written.key_command.is_some() {
            return Err(self.error(start, "give `api_key_env` or `key_command`, not both"));
        }
        let key_command = match written.key_command {
            None => None,
            Some(command) => {
                let at = command.span().start;
                let words = match command.into_inner() {
                    Command::Words(words) => words,
                    Command::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line],
                };
                if words.iter().all(|w| w.trim().is_empty()) {
                    return Err(self.error(at, "`key_command` is empty"));
                }
                if words.iter().any(|word| holds_secret(word)) {
                    return Err(self.error(at, NO_KEYS));
                }
                Some(words)
            }
        };
        let base_url = match written.base_url {
            None => None,
            Some(base) => Some(
                base_url(base.get_ref())
                    .map_err(|message| self.error(base.span().start, message))?,
            ),
        };
        Ok(ProviderSettings {
            origin,
            place,
            kind: written.kind,
            base_url,
            api_key_env: written.api_key_env.map(Spanned::into_inner),
            key_command,
            json_schema: written.json_schema.map(|form| form.0),
        })
    }
}

fn holds_secret(text: &str) -> bool {
    secrets::mask(text) != text
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod config_tests;

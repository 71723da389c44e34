//! What `serve` serves, to whom and where: the settings made into a server, or refused where that would not be safe.

mod agents;
mod clients;

use super::activation;
use super::args::{LimitOptions, ModelOptions};
use super::catalog_file;
use super::commands::report::Pages;
use super::conversations::{self, store};
use super::error::CliError;
use super::output::Output;
use super::project::{self, home};
use super::remote;
use super::session::{self, Session};
use super::settings;
use super::streams;
use super::tool_sessions::{self, Wanted};
use super::traces::Requests;
use crate::config::serve::{self as written, Serve, TlsFiles, private};
use crate::config::{Config, Journals};
use crate::pack::{BUILDER, NoPack};
use agentctl_a2a::CardKey;
use agentctl_engine::nearest::nearest;
use agentctl_engine::run::Unobserved;
use agentctl_host::files::read_regular_text;
use agentctl_n8n::catalog::Catalog;
use agentctl_picture::page;
use agentctl_serve::{Clients, Limits, McpDoor, NoTls, ServedPack, Server, Tls, Told, Ui};
use clients::{apart, local, of_settings, password, per_minute};
use indexmap::IndexMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use toml::Spanned;

/// Where the token of a server without clients is read from; on a command line every process of the machine could read it.
pub const TOKEN_VARIABLE: &str = "AGENTCTL_SERVE_TOKEN";
const LISTEN: &str = "127.0.0.1:8137";
/// The name of whoever has that token.
const LOCAL: &str = "local";
/// A shorter token could be guessed.
const MIN_TOKEN: usize = 32;
/// A shorter password could be guessed by whoever reaches the port.
const MIN_PASSWORD: usize = 16;
/// Requests a minute of a client for which the settings say nothing.
const PER_MINUTE: u32 = 600;

#[derive(Debug, Clone)]
pub enum Token {
    New(String),
    Given,
}

/// All that was settled before anything is opened.
#[derive(Debug)]
pub struct Plan {
    pub listen: SocketAddr,
    pub packs: Vec<String>,
    /// Those of them that are single agents: the pack of each.
    agents: IndexMap<String, String>,
    /// By pack: its doors.
    pub doors: Vec<(String, Vec<String>)>,
    /// Packs of the project that nobody asked for by name, and that cannot be served: all mistakes of each.
    pub broken: Vec<(String, NoPack)>,
    /// Where conversations are kept, in words.
    pub sessions: String,
    /// Where journals are shared; None: they are the folder's alone.
    pub journals: Option<Journals>,
    pub clients: Clients,
    /// Of a server without clients in its settings.
    pub token: Option<Token>,
    /// It speaks TLS itself.
    pub tls: Option<Tls>,
    settings: Serve,
}

impl Plan {
    /// `https` or `http`.
    pub fn scheme(&self) -> &'static str {
        match self.tls {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Whether there is a page to talk to each pack.
    pub fn has_page(&self) -> bool {
        self.settings.page
    }

    /// Whether there is a page of the runs.
    pub fn has_ui(&self) -> bool {
        self.settings.ui
    }

    /// The address by which others reach the server, where the settings name one.
    pub fn public_url(&self) -> Option<&str> {
        self.settings
            .public_url
            .as_ref()
            .map(|url| url.get_ref().as_str())
    }

    /// Requests a minute of a client; None: as many as it likes.
    pub fn per_minute(&self, client: &str) -> Option<u32> {
        let client = self.settings.clients.get(client);
        client.map(|client| per_minute(client.get_ref()))
    }

    /// Whose address is not known yet: how much at once, and how long.
    pub fn limits(&self) -> Limits {
        let (settings, defaults) = (&self.settings, Limits::default());
        let seconds = |given: &Option<Spanned<u64>>, default| {
            let given = given.as_ref().map(|n| Duration::from_secs(*n.get_ref()));
            given.unwrap_or(default)
        };
        let turns = settings.max_turns_at_once.as_ref();
        let turns = turns.and_then(|n| usize::try_from(*n.get_ref()).ok());
        Limits {
            chat_page: settings.page,
            v0_3: settings.v0_3,
            turns: turns.unwrap_or(defaults.turns),
            turn_timeout: seconds(&settings.turn_timeout, defaults.turn_timeout),
            drain: seconds(&settings.drain, defaults.drain),
            ..defaults
        }
    }

    /// The doors that are no single pack's.
    pub fn shared(&self) -> Vec<&'static str> {
        let page = self
            .has_page()
            .then_some("GET /chat/{pack}: a page to talk to each");
        let ui = self.has_ui().then_some("GET /ui: a page of the runs");
        let all = [
            "GET /v1/models",
            "/runs",
            "/sessions",
            "/files",
            "/a2a",
            "/.well-known/agent-card.json",
            "/healthz",
            "/readyz",
        ];
        all.into_iter().chain(page).chain(ui).collect()
    }

    /// The role whose tools `/mcp` serves.
    pub fn mcp(&self) -> Option<&str> {
        self.settings.mcp.as_ref().map(|mcp| mcp.role.as_str())
    }
}

/// Reads the settings. `agents`: agents of orchestrators to serve in place of packs. Error (exit 2): what is asked for is not there,
/// or not safe.
pub fn plan(
    root: &Path,
    listen: Option<&str>,
    agents: &[String],
    out: &Output,
) -> Result<Plan, CliError> {
    let config = settings::of_project(root, out)?;
    let (journals, settings) = (shared_journals(&config)?, config.serve);
    let text = listen.or(settings.listen.as_deref()).unwrap_or(LISTEN);
    let listen = address(text)?;
    let tls = match &settings.tls {
        Some(files) => Some(tls(files, root)?),
        None => None,
    };
    card_key(root, &settings)?;
    let agents = self::agents::named(root, agents, out)?;
    let (packs, broken) = match agents.is_empty() {
        true => chosen(root, &settings, out)?,
        false => {
            let named = agents.keys().map(|name| (name.clone(), false));
            (named.collect(), Vec::new())
        }
    };
    let (clients, token) = match settings.clients.is_empty() {
        true => {
            let (client, token) = local()?;
            (vec![client], Some(token))
        }
        false => {
            let all = settings.clients.iter();
            let mut reached: Vec<&str> = packs.iter().map(|(name, _)| name.as_str()).collect();
            if settings.mcp.is_some() && !reached.contains(&BUILDER) {
                reached.push(BUILDER);
            }
            let all = all.map(|(name, client)| of_settings(root, name, client.get_ref(), &reached));
            let all = all.collect::<Result<Vec<_>, _>>()?;
            apart(&settings.clients, &all)?;
            (all, None)
        }
    };
    if !listen.ip().is_loopback() {
        safe(&settings, listen, root)?;
        // A page of a name that is anybody's could be anybody's.
        let page = [("page", settings.page), ("ui", settings.ui)];
        if let Some((name, _)) = page.iter().find(|(_, wanted)| *wanted)
            && settings.public_url.is_none()
        {
            return Err(CliError::usage(format!(
                "[serve] {name} = true: it is not known by which name the page is called"
            ))
            .hint("say it: public_url = \"https://NAME\""));
        }
    }
    let doors = packs.iter().map(|(name, has_webhook)| {
        let mut doors = vec![
            format!("POST /chat/{name}"),
            format!("model {name:?} of /v1"),
            format!("A2A /agents/{name}"),
        ];
        if *has_webhook {
            doors.insert(0, format!("POST /hooks/{name}"));
        }
        (name.clone(), doors)
    });
    Ok(Plan {
        listen,
        doors: doors.collect(),
        broken,
        sessions: conversations::place(root, out)?,
        journals,
        packs: packs.into_iter().map(|(name, _)| name).collect(),
        agents,
        clients: Clients::new(clients),
        token,
        tls,
        settings,
    })
}

/// Where journals are shared. Replicas that shared these and not the conversations would know the runs of turns that they know nothing of.
fn shared_journals(config: &Config) -> Result<Option<Journals>, CliError> {
    if config.journal.is_some() && config.sessions_url_env.is_none() {
        return Err(CliError::usage(
            "[journal] url_env: the runs would be shared, and the conversations that they belong to would not",
        )
        .hint("[sessions] url_env = \"NAME\" names the Postgres for these; it may be the same one (docs/scale.md)"));
    }
    Ok(config.journal.clone())
}

/// Longer files hold no certificate and no key.
const MAX_PEM: u64 = 256 * 1024;

fn tls(files: &TlsFiles, root: &Path) -> Result<Tls, CliError> {
    let wrong = |path: &Path, why: String| {
        CliError::usage(format!("[serve] tls: {}: {why}", path.display()))
    };
    let (cert, key) = (root.join(&files.cert), root.join(&files.key));
    let chain = read_regular_text(&cert, MAX_PEM).map_err(|e| wrong(&cert, e.to_string()))?;
    let secret = private(&key, MAX_PEM).map_err(|why| wrong(&key, why))?;
    Tls::new(&chain, &secret).map_err(|why| match why {
        NoTls::Key => wrong(&key, why.to_string()),
        NoTls::Certificate | NoTls::Pair(_) => wrong(&cert, why.to_string()),
    })
}

pub fn address(text: &str) -> Result<SocketAddr, CliError> {
    let numeric = text.replacen("localhost:", "127.0.0.1:", 1);
    numeric.parse().map_err(|_| {
        CliError::usage(format!("{text:?} is no address to listen on"))
            .hint("write ADDRESS:PORT, for example 127.0.0.1:8137")
    })
}

/// Beyond the loopback interface anybody can knock: there must be clients, and nothing may be overheard.
fn safe(settings: &Serve, listen: SocketAddr, root: &Path) -> Result<(), CliError> {
    if settings.clients.is_empty() {
        return Err(CliError::usage(format!(
            "{listen} is reached from other machines, and no client is named"
        ))
        .hint("[serve.clients.NAME] in agentctl.toml names one (docs/serve.md); without clients only a loopback address is listened on"));
    }
    if !settings.behind_proxy && settings.tls.is_none() {
        return Err(CliError::usage(format!(
            "{listen} is reached from other machines, and passwords and messages would go over the wire as they are"
        ))
        .hint("[serve] tls = {cert = \"cert.pem\", key = \"key.pem\"} speaks TLS; or put a proxy that does before it and say so: behind_proxy = true"));
    }
    for (name, client) in &settings.clients {
        let client = client.get_ref();
        if let Some(basic) = &client.basic {
            let place = &client.place;
            let wrong = |why| CliError::usage(format!("{place}: [serve.clients.{name}] {why}"));
            let length = password(name, basic, root).map_err(wrong)?.chars().count();
            if length < MIN_PASSWORD {
                return Err(CliError::usage(format!(
                    "{place}: the password of the client {name:?} has {length} characters; who reaches {listen} could guess it"
                ))
                .hint(format!("take one of {MIN_PASSWORD} characters or more")));
            }
        }
    }
    Ok(())
}

/// Packs, each with whether it takes webhooks, and those that cannot be read.
type Chosen = (Vec<(String, bool)>, Vec<(String, NoPack)>);

/// The packs that are served.
fn chosen(root: &Path, settings: &Serve, out: &Output) -> Result<Chosen, CliError> {
    let options = session::load_options(root, out)?;
    let known = crate::pack::names(root, &options);
    let named = match (&out.pack, &settings.packs) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, Some(named)) => Some(named.get_ref().clone()),
        (None, None) => None,
    };
    if let Some(unknown) = named.iter().flatten().find(|name| !known.contains(name)) {
        let near = nearest(unknown, known.iter().map(String::as_str));
        return Err(
            CliError::usage(format!("[serve] packs: there is no pack {unknown:?}"))
                .hint(format!("packs: {}{near}", known.join(", "))),
        );
    }
    let is_default = named.is_none();
    let (mut chosen, mut broken) = (Vec::new(), Vec::new());
    for name in named.unwrap_or(known) {
        let pack = match crate::pack::named(&name, root, &options) {
            Ok(pack) => pack,
            // A broken pack that nobody asked for keeps nobody from the others.
            Err(error) if is_default => {
                broken.push((name, error));
                continue;
            }
            Err(error) => return Err(session::no_pack(&error)),
        };
        let channels = &pack.manifest.channels;
        if channels.is_served || !is_default || name == BUILDER {
            chosen.push((name, channels.webhook.is_some()));
        }
    }
    match chosen.is_empty() {
        true => {
            Err(CliError::usage("there is no pack to serve").hint("[serve] packs = [\"NAME\"]"))
        }
        false => Ok((chosen, broken)),
    }
}

/// Opens what each pack needs.
pub fn packs(
    root: &Path,
    plan: &Plan,
    model: &ModelOptions,
    limits: &LimitOptions,
    out: &Output,
) -> Result<Vec<ServedPack>, CliError> {
    let each = plan.packs.iter().map(|name| {
        let of = plan.agents.get(name);
        let mut session = Session::of_pack(root, of.unwrap_or(name), model, out)?;
        if of.is_some() {
            session.pack = agents::alone(session.pack, name)?;
        }
        let limits = activation::limits(&session.pack, limits)?.over(&session.budgets);
        let agent = of.map(|_| name.as_str());
        let home = of.unwrap_or(name);
        let tools = tool_sessions::of_guest(root, home, &session.pack, agent, out)?;
        Ok(ServedPack {
            tools,
            pack: session.pack,
            project: Arc::new(session.project),
            gateway: session.gateway,
            models: Box::new(session.models),
            effects: Box::new(session.effects),
            limits,
        })
    });
    each.collect()
}

/// What stands at `/mcp`, where the settings say so.
pub fn mcp(root: &Path, plan: &Plan, out: &Output) -> Result<Option<McpDoor>, CliError> {
    let Some(wanted) = &plan.settings.mcp else {
        return Ok(None);
    };
    let wanted = Wanted {
        role: &wanted.role,
        workflow: wanted.workflow.as_deref(),
        scope: &wanted.scope,
    };
    let (session, terms) = tool_sessions::settle(root, &wanted, out)?;
    let (pack, role) = (session.pack.manifest.name.clone(), terms.role.clone());
    let hosts = tool_sessions::hosts(session, terms, Box::new(Unobserved));
    Ok(Some(McpDoor::new(&pack, &role, hosts)))
}

pub async fn server(
    root: &Path,
    plan: &Plan,
    packs: Vec<ServedPack>,
    mcp: Option<McpDoor>,
    address: SocketAddr,
    requests: &Arc<Requests>,
    out: &Output,
) -> Result<Server, CliError> {
    let settings = &plan.settings;
    let hosts = hosts(plan.public_url(), address)?;
    let limits = Limits {
        pages: pages(plan, &hosts),
        hosts,
        url: (plan.public_url()).map_or_else(
            || format!("{}://{address}", plan.scheme()),
            ToOwned::to_owned,
        ),
        ..plan.limits()
    };
    let sessions = store(root, out).await?;
    let requests = Arc::clone(requests);
    let log = Box::new(move |told: &Told| {
        streams::log(&format!("{}\n", told.line()));
        if let Told::Asked(asked) = told {
            requests.record(asked);
        }
    });
    let server = Server::new(packs, sessions, plan.clients.clone(), limits, log);
    // Where its user's folders are goes out no more than where the project is.
    let server = match agentctl_host::home::variable("HOME") {
        Some(home) => server.calling(Path::new(&home), "~"),
        None => server,
    };
    let server = match home(root) {
        Ok(home) => server.calling(home.dir(), "~"),
        Err(_) => server,
    };
    // Without a key of the user's there is nothing to seal with: nobody is pushed to, and the cards say so.
    let key = home(root).ok().and_then(|home| home.key().ok());
    let server = match &key {
        Some(key) => server.with_push(key, settings.pushed_to()),
        None => server,
    };
    let server = match card_key(root, settings)? {
        Some(key) => server.with_card_key(key),
        None => server,
    };
    let server = match settings.ui {
        true => server.with_ui(Ui {
            look: page::look().to_owned(),
            report_style: page::style_source(),
            reports: Box::new(Pages {
                catalog: catalog_file::of(root, out).unwrap_or_else(|_| Catalog::embedded()),
                redactor: out.redactor(),
            }),
        }),
        false => server,
    };
    Ok(match mcp {
        Some(door) => server.with_mcp(door),
        None => server,
    })
}

/// What cards are signed with, where the settings want that.
fn card_key(root: &Path, settings: &Serve) -> Result<Option<CardKey>, CliError> {
    if !settings.sign_cards {
        return Ok(None);
    }
    // What a reader of 0.3 looks for is no part of the card that 1.0 has signed.
    if settings.v0_3 {
        let why = "[serve] sign_cards and [a2a] v0_3 exclude one another: a card of both versions has no signature";
        return Err(CliError::usage(why));
    }
    let home = project::home_for(root, "the cards cannot be signed")?;
    let key = remote::card_key(&home)?.ok_or_else(remote::no_card_key)?;
    Ok(Some(key))
}

/// The origins of the server's own pages; none: the settings want no page.
fn pages(plan: &Plan, hosts: &[String]) -> Vec<String> {
    let settings = &plan.settings;
    if !settings.page && !settings.ui {
        return Vec::new();
    }
    let public = plan.public_url().and_then(|url| written::public(url).ok());
    let public = public.map(|url| url.origin());
    let public = public.map(|origin| origin.ascii_serialization());
    // The first of the names is that of the public address, where there is one.
    let own = hosts.iter().skip(usize::from(public.is_some()));
    let own = own.map(|host| format!("{}://{host}", plan.scheme()));
    own.chain(public.clone()).collect()
}

/// The names by which the server may be called; none: any.
fn hosts(public: Option<&str>, address: SocketAddr) -> Result<Vec<String>, CliError> {
    let mut hosts = Vec::new();
    if let Some(url) = public {
        let wrong = |why| CliError::usage(format!("[serve] public_url {why}"));
        let url = written::public(url).map_err(wrong)?;
        let host = url.host_str().unwrap_or_default();
        hosts.push(match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        });
    }
    if address.ip().is_loopback() {
        let port = address.port();
        hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
    }
    Ok(hosts)
}

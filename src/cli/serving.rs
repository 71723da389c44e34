//! What `serve` serves, to whom and where: the settings made into a server, or refused where that would not be safe.

use super::activation;
use super::args::{LimitOptions, ModelOptions};
use super::conversations::store;
use super::error::{CliError, Exit};
use super::output::Output;
use super::session::{self, Session};
use super::settings;
use super::streams;
use crate::config::serve::{self as written, Serve};
use agentctl_base::canonical::sha256_hex;
use agentctl_engine::nearest::nearest;
use agentctl_serve::{Client, Clients, How, Limits, May, Rate, ServedPack, Server};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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
    /// By pack: its doors.
    pub doors: Vec<(String, Vec<String>)>,
    pub clients: Clients,
    /// Of a server without clients in its settings.
    pub token: Option<Token>,
    settings: Serve,
}

/// Reads the settings. Error (exit 2): what they ask for is not there, or not safe.
pub fn plan(root: &Path, listen: Option<&str>, out: &Output) -> Result<Plan, CliError> {
    let settings = settings::of_project(root, out)?.serve;
    let text = listen.or(settings.listen.as_deref()).unwrap_or(LISTEN);
    let listen = address(text)?;
    let packs = chosen(root, &settings, out)?;
    let (clients, token) = match settings.clients.is_empty() {
        true => {
            let (client, token) = local()?;
            (vec![client], Some(token))
        }
        false => {
            let all = settings.clients.iter();
            let all = all.map(|(name, client)| of_settings(root, name, client, &packs));
            (all.collect::<Result<Vec<_>, _>>()?, None)
        }
    };
    if !listen.ip().is_loopback() {
        safe(&settings, listen, root)?;
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
        packs: packs.into_iter().map(|(name, _)| name).collect(),
        clients: Clients::new(clients),
        token,
        settings,
    })
}

fn address(text: &str) -> Result<SocketAddr, CliError> {
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
    if !settings.behind_proxy {
        return Err(CliError::usage(format!(
            "{listen} is reached from other machines, and passwords and messages would go over the wire as they are"
        ))
        .hint("put a proxy that speaks TLS before it and say so: [serve] behind_proxy = true"));
    }
    for (name, client) in &settings.clients {
        if let Some(basic) = &client.basic {
            let length = password(name, basic, root)?.chars().count();
            if length < MIN_PASSWORD {
                return Err(CliError::usage(format!(
                    "the password of the client {name:?} has {length} characters; who reaches {listen} could guess it"
                ))
                .hint(format!("take one of {MIN_PASSWORD} characters or more")));
            }
        }
    }
    Ok(())
}

/// The packs that are served, each with whether it takes webhooks.
fn chosen(root: &Path, settings: &Serve, out: &Output) -> Result<Vec<(String, bool)>, CliError> {
    let options = session::load_options(root, out)?;
    let known = crate::pack::names(root, &options);
    let named = match (&out.pack, &settings.packs) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, Some(named)) => Some(named.clone()),
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
    let mut chosen = Vec::new();
    for name in named.unwrap_or(known) {
        let pack = match crate::pack::named(&name, root, &options) {
            Ok(pack) => pack,
            // A broken pack that nobody asked for keeps nobody from the others.
            Err(_) if is_default => continue,
            Err(error) => return Err(session::no_pack(&error)),
        };
        let channels = &pack.manifest.channels;
        if channels.is_served || !is_default {
            chosen.push((name, channels.webhook.is_some()));
        }
    }
    match chosen.is_empty() {
        true => {
            Err(CliError::usage("there is no pack to serve").hint("[serve] packs = [\"NAME\"]"))
        }
        false => Ok(chosen),
    }
}

/// Whoever has the token: from the environment, or a new one.
fn local() -> Result<(Client, Token), CliError> {
    let (text, token) = match std::env::var(TOKEN_VARIABLE) {
        Ok(text) if text.len() >= MIN_TOKEN && text.bytes().all(|b| b.is_ascii_graphic()) => {
            (text, Token::Given)
        }
        Ok(_) => {
            return Err(CliError::usage(format!(
                "{TOKEN_VARIABLE}: a token has {MIN_TOKEN} or more visible ASCII characters"
            )));
        }
        Err(_) => {
            // Three times 122 random bits, for 256.
            let random: Vec<u8> = (0..3)
                .flat_map(|_| *uuid::Uuid::new_v4().as_bytes())
                .collect();
            let text = sha256_hex(&random);
            (text.clone(), Token::New(text))
        }
    };
    let client = Client {
        name: LOCAL.to_owned(),
        how: How::bearer(&text),
        packs: None,
        tenants: None,
        may: May::ALL.into_iter().map(|(may, _)| may).collect(),
        origins: Vec::new(),
        rate: Rate::new(u32::MAX),
    };
    Ok((client, token))
}

fn of_settings(
    root: &Path,
    name: &str,
    client: &written::Client,
    served: &[(String, bool)],
) -> Result<Client, CliError> {
    let wrong = |why: String| CliError::usage(format!("[serve.clients.{name}] {why}"));
    if !agentctl_engine::pack::is_name(name) {
        return Err(wrong(
            "the name of a client is of a-z, 0-9, - and _".to_owned(),
        ));
    }
    let mut packs = client.packs.iter().flatten();
    if let Some(other) = packs.find(|pack| !served.iter().any(|(name, _)| name == *pack)) {
        let names: Vec<&str> = served.iter().map(|(name, _)| name.as_str()).collect();
        let near = nearest(other, names.iter().copied());
        return Err(wrong(format!("the pack {other:?} is not served"))
            .hint(format!("served: {}{near}", names.join(", "))));
    }
    let may = match &client.may {
        None => BTreeSet::from([May::Turn, May::Read]),
        Some(named) => {
            let each = named.iter().map(|word| {
                May::named(word).ok_or_else(|| {
                    let all: Vec<&str> = May::ALL.iter().map(|(_, name)| *name).collect();
                    wrong(format!("a client may {}, not {word:?}", all.join(", ")))
                })
            });
            each.collect::<Result<_, _>>()?
        }
    };
    let how = match (&client.basic, &client.bearer_env, &client.bearer_file) {
        (Some(basic), None, None) => {
            if basic.user.is_empty() || basic.user.contains(':') {
                return Err(wrong(
                    "a user of Basic is a name without a colon".to_owned(),
                ));
            }
            How::basic(&basic.user, &password(name, basic, root)?)
        }
        (None, env, file) if env.is_some() || file.is_some() => {
            let what = format!("the token of the client {name:?}");
            let token = written::secret(&what, env.as_deref(), file.as_deref(), root);
            let token = token.map_err(wrong)?;
            if token.len() < MIN_TOKEN {
                return Err(wrong(format!("a token has {MIN_TOKEN} or more characters")));
            }
            How::bearer(&token)
        }
        _ => {
            return Err(wrong(
                "says once how it is known: basic, bearer_env or bearer_file".to_owned(),
            ));
        }
    };
    Ok(Client {
        name: name.to_owned(),
        how,
        packs: client.packs.clone().map(BTreeSet::from_iter),
        tenants: client.tenants.clone(),
        may,
        origins: client.origins.clone(),
        rate: Rate::new(client.per_minute.unwrap_or(PER_MINUTE)),
    })
}

fn password(name: &str, basic: &written::Basic, root: &Path) -> Result<String, CliError> {
    let what = format!("the password of the client {name:?}");
    let (env, file) = (
        basic.password_env.as_deref(),
        basic.password_file.as_deref(),
    );
    written::secret(&what, env, file, root)
        .map_err(|why| CliError::usage(format!("[serve.clients.{name}] {why}")))
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
        let session = Session::of_pack(root, name, model, out)?;
        let limits = activation::limits(&session.pack, limits)?.over(&session.budgets);
        Ok(ServedPack {
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

pub async fn server(
    root: &Path,
    plan: Plan,
    packs: Vec<ServedPack>,
    address: SocketAddr,
    out: &Output,
) -> Result<Server, CliError> {
    let defaults = Limits::default();
    let settings = &plan.settings;
    let seconds = |given: Option<u64>, default| given.map_or(default, Duration::from_secs);
    let limits = Limits {
        turns: settings.max_turns_at_once.unwrap_or(defaults.turns).max(1),
        turn_timeout: seconds(settings.turn_timeout, defaults.turn_timeout),
        drain: seconds(settings.drain, defaults.drain),
        hosts: hosts(settings, address)?,
        url: (settings.public_url.clone()).unwrap_or_else(|| format!("http://{address}")),
        ..defaults
    };
    let sessions = store(root, out).await?;
    let log = Box::new(|line: &str| streams::tell(&format!("{line}\n")));
    Ok(Server::new(packs, sessions, plan.clients, limits, log))
}

/// The names by which the server may be called; none: any.
fn hosts(settings: &Serve, address: SocketAddr) -> Result<Vec<String>, CliError> {
    let mut hosts = Vec::new();
    if let Some(url) = &settings.public_url {
        let parsed = url::Url::parse(url).ok().filter(url::Url::has_host);
        let host = parsed.and_then(|url| {
            let host = url.host_str()?;
            Some(
                url.port()
                    .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
            )
        });
        hosts.push(host.ok_or_else(|| {
            CliError::new(
                Exit::Usage,
                format!("[serve] public_url: {url:?} is no address"),
            )
        })?);
    }
    if address.ip().is_loopback() {
        let port = address.port();
        hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
    }
    Ok(hosts)
}

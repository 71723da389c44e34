//! `agentctl serve`: packs over HTTP, for whoever the settings name.

use crate::cli::args::{LimitOptions, ModelOptions};
use crate::cli::conversations::{self, session_error};
use crate::cli::error::{CliError, Exit};
use crate::cli::journals;
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::serving::{self, Plan};
use crate::cli::traces::Requests;
use crate::cli::{runtime, session, streams};
use agentctl_engine::run::Cancel;
use agentctl_mcp::serve::listen::Plain;
use agentctl_serve::{ServedPack, Settled};
use agentctl_sessions::Schema;
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// Serve packs over HTTP: webhooks, chat, OpenAI clients, agents
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl serve\n  agentctl serve --listen 127.0.0.1:8137\n  agentctl serve --check\n\nWithout clients in agentctl.toml it listens on the loopback interface only and wants a bearer token: the one in AGENTCTL_SERVE_TOKEN, else a new one that it prints once to stderr.\nOne line of JSON for each request goes to stderr. SIGTERM: no new turns, those under way get their reply, exit code 143."
)]
pub struct ServeArgs {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// Serve these agents of orchestrators, each by itself, in place of packs: NAME,NAME
    #[arg(long, value_name = "AGENTS", value_delimiter = ',')]
    pub agents: Vec<String>,
    /// Say what would be served, to whom and where, and serve nothing
    #[arg(long)]
    pub check: bool,
    /// Bring the tables of the Postgres of [sessions] and [journal] to this version first; no older agentctl works with them then
    #[arg(long, conflicts_with = "check")]
    pub migrate: bool,
    /// Print one line of JSON with the address to stdout when it is ready, for scripts
    #[arg(long)]
    pub ready_json: bool,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

pub fn serve(root: &Path, args: &ServeArgs, out: &Output) -> Result<Exit, CliError> {
    let plan = serving::plan(root, args.listen.as_deref(), &args.agents, out)?;
    tell_broken(&plan, args.check, out)?;
    if args.migrate {
        if let Some(named) = &plan.journals {
            journals::ledger(named, Schema::Migrated, out)?;
        }
        runtime::block_on(conversations::migrate(root, out))??;
    }
    let packs = serving::packs(root, &plan, &args.model, &args.limits, out)?;
    let mcp = serving::mcp(root, &plan, out)?;
    if args.check {
        let limits = limits(&packs);
        return out.answer(
            Exit::Complete,
            || told(&plan, &limits),
            || shown(&plan, &limits),
        );
    }
    let cancel = Cancel::default();
    let scheme = plan.scheme();
    let requests = Arc::new(Requests::start(out));
    let served = runtime::block_on_many(&cancel, async {
        let listener = tokio::net::TcpListener::bind(plan.listen).await;
        let listener = listener.map_err(|e| {
            CliError::failed(format!("cannot listen on {}: {e}", plan.listen))
                .hint("another process may have the port: --listen ADDRESS:PORT takes another")
        })?;
        let address = listener.local_addr();
        let address = address.map_err(|e| CliError::failed(format!("cannot listen: {e}")))?;
        let server = serving::server(root, &plan, packs, mcp, address, &requests, out).await?;
        let server = Arc::new(server);
        let public = plan.public_url().map(ToOwned::to_owned);
        let Plan {
            token,
            packs: names,
            tls,
            ..
        } = plan;
        tell_settled(&server.settle().await.map_err(|e| session_error(&e))?, out);
        let url = format!("{scheme}://{address}");
        out.say(&format!("serving {} on {url}", names.join(", ")));
        match token {
            Some(serving::Token::New(text)) => {
                streams::tell(&format!("bearer token (shown once): {text}\n"));
            }
            Some(serving::Token::Given) => {
                out.say(&format!("bearer token: as in {}", serving::TOKEN_VARIABLE));
            }
            None => {}
        }
        if args.ready_json {
            let mut ready = json!({"address": url, "packs": names, "pid": std::process::id()});
            if let (Some(public), Value::Object(ready)) = (public, &mut ready) {
                ready.insert("public_url".to_owned(), public.into());
            }
            crate::cli::output::write_bytes(format!("{ready}\n").as_bytes())?;
        }
        let stop = async {
            cancel.requested().await;
        };
        let served = match tls {
            Some(tls) => agentctl_serve::serve(listener, tls, server, stop).await,
            None => agentctl_serve::serve(listener, Plain, server, stop).await,
        };
        served.map_err(|e| CliError::failed(format!("cannot serve: {e}")))
    })?;
    served?;
    // The server, which had the other one, is gone.
    if let Some(requests) = Arc::into_inner(requests) {
        requests.finish(out);
    }
    Ok(cancel.cause().map_or(Exit::Complete, Exit::from))
}

/// Packs of the project that are not served since they cannot be read: a check fails of them, a server goes on without.
fn tell_broken(plan: &Plan, is_check: bool, out: &Output) -> Result<(), CliError> {
    let told = plan.broken.iter().map(|(name, error)| {
        let error = session::no_pack(error);
        format!("the pack {name} cannot be served:\n{}", error.message)
    });
    let check = |name: &str| format!("agentctl packs check {name} lists the same");
    if is_check && let Some((name, _)) = plan.broken.first() {
        let told: Vec<String> = told.collect();
        return Err(CliError::usage(told.join("\n")).hint(check(name)));
    }
    for (told, (name, _)) in told.zip(&plan.broken) {
        out.note(&format!("warning: {told}\n{}", check(name)));
    }
    Ok(())
}

/// What became of the turns that had no end.
fn tell_settled(settled: &[(String, Settled)], out: &Output) {
    for (session, what) in settled {
        out.say(&match what {
            Settled::Ended(reply) => format!(
                "conversation {session}: its last turn had no end; it is {} (run {}{})",
                reply.outcome.name(),
                reply.run_id,
                match reply.did.as_slice() {
                    [] => String::new(),
                    did => format!(", done before: {}", did.join(", ")),
                }
            ),
            Settled::UnderWay => format!("conversation {session}: another process takes its turn"),
            Settled::Failed(why) => {
                format!("conversation {session}: its last turn could not be settled: {why}")
            }
        });
    }
}

/// The limits of a turn of each pack that has any.
fn limits(packs: &[ServedPack]) -> Map<String, Value> {
    let some = packs.iter().filter(|pack| !pack.limits.is_empty());
    let each = some.map(|pack| (pack.pack.manifest.name.clone(), json!(pack.limits)));
    each.collect()
}

/// The plan as a person reads it.
fn told(plan: &Plan, of_packs: &Map<String, Value>) -> String {
    let limits = plan.limits();
    let mut text = format!(
        "listens on {}{}\n",
        plan.listen,
        if plan.tls.is_some() { ", with TLS" } else { "" }
    );
    if let Some(url) = plan.public_url() {
        text += &format!("called {}\n", plain(url));
    }
    if let Some(named) = &plan.journals {
        text += &format!("journals: {}\n", plain(&journals::place(named)));
    }
    text += &format!(
        "sessions: {}\nturns: {} at once, each for at most {} s; {} s to end when it is stopped\npacks: {}\n",
        plain(&plan.sessions),
        limits.turns,
        limits.turn_timeout.as_secs(),
        limits.drain.as_secs(),
        plan.packs.join(", ")
    );
    for (name, doors) in &plan.doors {
        text += &format!("  {name}: {}\n", doors.join(", "));
        if let Some(limits) = of_packs.get(name) {
            text += &format!("    limits of a turn: {}\n", plain(&limits.to_string()));
        }
    }
    text += &format!("  of all: {}\n", plan.shared().join(", "));
    text += &match plan.mcp() {
        Some(role) => format!("  /mcp: tools of {}\n", plain(role)),
        None => "  /mcp: off ([serve.mcp] says whose tools)\n".to_owned(),
    };
    text += "clients:\n";
    for client in plan.clients.all() {
        let reaches = client.packs.as_ref().map_or_else(
            || "all packs".to_owned(),
            |packs| packs.iter().cloned().collect::<Vec<_>>().join(", "),
        );
        let speaks = client
            .tenants
            .as_ref()
            .map_or_else(|| "itself alone".to_owned(), |tenants| tenants.join(", "));
        let may: Vec<&str> = client.may.iter().map(|may| may.name()).collect();
        let rate = plan.per_minute(&client.name).map_or_else(
            || "any number of requests".to_owned(),
            |count| format!("{count} requests a minute"),
        );
        let pages = match client.origins.as_slice() {
            [] => String::new(),
            origins => format!("; pages of {}", plain(&origins.join(", "))),
        };
        text += &format!(
            "  {} ({}): {}; may {}; speaks for {}; {rate}{pages}\n",
            plain(&client.name),
            client.how.name(),
            plain(&reaches),
            may.join(", "),
            plain(&speaks)
        );
    }
    text
}

fn shown(plan: &Plan, of_packs: &Map<String, Value>) -> Value {
    let clients = plan.clients.all().iter().map(|client| {
        json!({
            "name": client.name, "how": client.how.name(), "packs": client.packs, "tenants": client.tenants,
            "may": client.may.iter().map(|may| may.name()).collect::<Vec<_>>(), "origins": client.origins,
            "per_minute": plan.per_minute(&client.name)
        })
    });
    let doors: Map<String, Value> = plan
        .doors
        .iter()
        .map(|(name, doors)| (name.clone(), json!(doors)))
        .collect();
    let limits = plan.limits();
    let mut shown = json!({
        "public_url": plan.public_url(), "sessions": plan.sessions, "max_turns_at_once": limits.turns,
        "turn_timeout": limits.turn_timeout.as_secs(), "drain": limits.drain.as_secs(), "shared": plan.shared(), "limits": of_packs,
        "listen": plan.listen.to_string(), "tls": plan.tls.is_some(), "mcp": plan.mcp(), "page": plan.has_page(), "ui": plan.has_ui(), "packs": plan.packs, "doors": doors,
        "clients": clients.collect::<Vec<Value>>()
    });
    if let (Some(named), Value::Object(shown)) = (&plan.journals, &mut shown) {
        shown.insert("journals".to_owned(), journals::place(named).into());
    }
    shown
}

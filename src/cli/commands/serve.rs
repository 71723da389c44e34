//! `agentctl serve`: packs over HTTP, for whoever the settings name.

use crate::cli::args::{LimitOptions, ModelOptions};
use crate::cli::conversations::session_error;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::serving::{self, Plan};
use crate::cli::traces::Requests;
use crate::cli::{runtime, streams};
use agentctl_engine::run::Cancel;
use agentctl_mcp::serve::listen::Plain;
use agentctl_serve::Settled;
use clap::Args;
use serde_json::{Value, json};
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
    let packs = serving::packs(root, &plan, &args.model, &args.limits, out)?;
    let mcp = serving::mcp(root, &plan, out)?;
    if args.check {
        return out.answer(Exit::Complete, || told(&plan), || shown(&plan));
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
            let ready = json!({"address": url, "packs": names, "pid": std::process::id()});
            crate::cli::output::write_bytes(format!("{ready}\n").as_bytes())?;
        }
        let stop = async {
            cancel.requested().await;
        };
        let server = Arc::new(server);
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

/// The plan as a person reads it.
fn told(plan: &Plan) -> String {
    let mut text = format!(
        "listens on {}{}\npacks: {}\n",
        plan.listen,
        if plan.tls.is_some() { ", with TLS" } else { "" },
        plan.packs.join(", ")
    );
    for (name, doors) in &plan.doors {
        text += &format!("  {name}: {}\n", doors.join(", "));
    }
    if plan.has_page() {
        text += "  GET /chat/{pack}: a page to talk to each\n";
    }
    if plan.has_ui() {
        text += "  GET /ui: a page of the runs\n";
    }
    if let Some(role) = plan.mcp() {
        text += &format!("  /mcp: tools of {}\n", plain(role));
    }
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
        text += &format!(
            "  {} ({}): {}; may {}; speaks for {}\n",
            plain(&client.name),
            client.how.name(),
            plain(&reaches),
            may.join(", "),
            plain(&speaks)
        );
    }
    text
}

fn shown(plan: &Plan) -> Value {
    let clients = plan.clients.all().iter().map(|client| {
        json!({
            "name": client.name, "how": client.how.name(), "packs": client.packs, "tenants": client.tenants,
            "may": client.may.iter().map(|may| may.name()).collect::<Vec<_>>(), "origins": client.origins
        })
    });
    let doors: serde_json::Map<String, Value> = plan
        .doors
        .iter()
        .map(|(name, doors)| (name.clone(), json!(doors)))
        .collect();
    json!({
        "listen": plan.listen.to_string(), "tls": plan.tls.is_some(), "mcp": plan.mcp(), "page": plan.has_page(), "ui": plan.has_ui(), "packs": plan.packs, "doors": doors,
        "clients": clients.collect::<Vec<Value>>()
    })
}

//! `agentctl worker`: turns that a server for durable work hands out.

use crate::cli::args::{LimitOptions, ModelOptions};
use clap::Args;

/// Do what a Restate server hands out: turns that go on where a worker died
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl worker --restate http://127.0.0.1:9070\n  agentctl worker --restate http://restate:9070 --listen 0.0.0.0:9080 --url http://workers:9080 --identity-key publickeyv1_…\n  curl localhost:8080/Session/front-door:c1/start --json '{\"message\": \"Hello\"}'\n\nIt needs a program with the feature `restate` and a Restate server (docs/restate.md). It serves the packs that `agentctl serve` would.\nSIGTERM: no new turns, those under way stop at a step and are handed to another worker, exit code 143."
)]
pub struct WorkerArgs {
    /// The admin address of the Restate server, where the worker says where it is
    #[arg(long, value_name = "URL")]
    pub restate: String,
    /// Where to listen for the Restate server; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9080")]
    pub listen: String,
    /// Where the Restate server finds this worker, or the one name of several; default: where it listens
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The public key of the one Restate server that may call; needed to listen to other machines
    #[arg(long, value_name = "KEY")]
    pub identity_key: Option<String>,
    /// Who comes through Restate may approve what runs want to do
    #[arg(long)]
    pub may_approve: bool,
    /// Print one line of JSON with the address to stdout when it is ready, for scripts
    #[arg(long)]
    pub ready_json: bool,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

#[cfg(feature = "restate")]
pub use with_restate::worker;
#[cfg(not(feature = "restate"))]
pub use without::worker;

#[cfg(not(feature = "restate"))]
mod without {
    use super::WorkerArgs;
    use crate::cli::error::{CliError, Exit};
    use crate::cli::output::Output;
    use std::path::Path;

    pub fn worker(_: &Path, _: &WorkerArgs, _: &Output) -> Result<Exit, CliError> {
        let why = "this agentctl was built without workers of Restate";
        Err(CliError::usage(why).hint(
            "cargo install --path . --features restate builds one that has them (docs/restate.md)",
        ))
    }
}

#[cfg(feature = "restate")]
mod with_restate {
    use super::WorkerArgs;
    use crate::cli::error::{CliError, Exit};
    use crate::cli::output::{Output, write_bytes};
    use crate::cli::plain::{plain, plain_long};
    use crate::cli::traces::Requests;
    use crate::cli::{runtime, serving};
    use agentctl_engine::run::Cancel;
    use agentctl_serve::restate::{NotAKey, Worker};
    use agentctl_serve::{Client, How, May, RESTATE, Rate, Reads};
    use reqwest::redirect::Policy;
    use serde_json::json;
    use std::error::Error as _;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::net::TcpListener;
    use url::Url;

    /// For the Restate server to look at what the worker can do.
    const REGISTERED_IN: Duration = Duration::from_secs(30);

    pub fn worker(root: &Path, args: &WorkerArgs, out: &Output) -> Result<Exit, CliError> {
        let admin = web_address("--restate", &args.restate)?;
        let listen = serving::address(&args.listen)?;
        if !listen.ip().is_loopback() && args.identity_key.is_none() {
            return Err(CliError::usage(format!(
                "{listen} is reached from other machines, and anybody there could have turns taken"
            ))
            .hint("--identity-key KEY lets in the one Restate server that has this key (docs/restate.md)"));
        }
        let url = args.url.as_deref().map(|url| web_address("--url", url));
        let url = url.transpose()?;
        let plan = serving::plan(root, None, &[], out)?;
        let packs = serving::packs(root, &plan, &args.model, &args.limits, out)?;
        let cancel = Cancel::default();
        let requests = Arc::new(Requests::start(out));
        let worked = runtime::block_on_many(&cancel, async {
            let cannot = |e: std::io::Error| {
                CliError::failed(format!("cannot listen on {listen}: {e}"))
                    .hint("another process may have the port: --listen ADDRESS:PORT takes another")
            };
            let listener = TcpListener::bind(listen).await.map_err(cannot)?;
            let address = listener.local_addr().map_err(cannot)?;
            let server = serving::server(root, &plan, packs, None, address, &requests, out).await?;
            let worker = Worker::new(Arc::new(server), client(args.may_approve));
            let stop = async {
                cancel.requested().await;
            };
            let mut work =
                std::pin::pin!(worker.work(listener, args.identity_key.as_deref(), stop));
            let at = url.map_or_else(|| format!("http://{address}/"), String::from);
            tokio::select! {
                biased;
                ended = &mut work => return known(ended),
                registered = register(&admin, &at) => registered?,
            }
            out.say(&format!("working on {} for {admin}", plan.packs.join(", ")));
            if args.ready_json {
                let ready = json!({"address": at, "packs": plan.packs, "pid": std::process::id()});
                write_bytes(format!("{ready}\n").as_bytes())?;
            }
            known(work.await)
        })?;
        worked?;
        Ok(cancel.cause().map_or(Exit::Complete, Exit::from))
    }
    fn known(ended: Result<(), NotAKey>) -> Result<(), CliError> {
        ended.map_err(|e| {
            CliError::usage(format!("--identity-key: {e}"))
                .hint("the Restate server prints its public key when it starts: publickeyv1_…")
        })
    }

    /// Whoever reaches the Restate server, which knows no callers.
    fn client(approves: bool) -> Client {
        let may = [May::Turn, May::Cancel];
        let approve = approves.then_some(May::Approve);
        Client {
            name: RESTATE.to_owned(),
            // It comes through no door that would ask.
            how: How::bearer(""),
            packs: None,
            tenants: None,
            may: may.into_iter().chain(approve).collect(),
            origins: Vec::new(),
            rate: Rate::new(u32::MAX),
            reads: Reads::default(),
            keys: None,
        }
    }

    fn web_address(what: &str, text: &str) -> Result<Url, CliError> {
        let url = Url::parse(text).ok().filter(|url| {
            let is_bare = url.username().is_empty() && url.password().is_none();
            matches!(url.scheme(), "http" | "https") && url.has_host() && is_bare
        });
        url.ok_or_else(|| {
            CliError::usage(format!("{what}: {:?} is no address", plain(text)))
                .hint("write http://HOST:PORT; the admin address of a Restate server has port 9070")
        })
    }

    /// Tells the Restate server where this worker is; it comes and looks what the worker can do.
    async fn register(admin: &Url, at: &str) -> Result<(), CliError> {
        let place = admin
            .join("deployments")
            .map_err(|e| CliError::usage(e.to_string()))?;
        let client = agentctl_host::http::client()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(REGISTERED_IN)
            .build();
        let client = client.map_err(|e| CliError::failed(e.to_string()))?;
        // An older version of this very worker, at the same address, gives way.
        let body = json!({"uri": at, "force": true});
        let away = |why: String| {
            CliError::new(
                Exit::Backend,
                format!("the Restate server at {admin} {why}"),
            )
        };
        let answer = client.post(place).json(&body).send().await.map_err(|e| {
            let why = e.without_url();
            let why = why.source().map_or_else(|| why.to_string(), innermost);
            away(format!("cannot be reached: {why}"))
                .hint("start one (docs/restate.md), or name its admin address: --restate http://HOST:9070")
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let said = answer.text().await.unwrap_or_default();
        Err(away(format!(
            "did not take the worker: {status} {}",
            plain_long(&said)
        ))
        .hint(format!(
            "it must reach the worker at {at}: --url names another address of it"
        )))
    }

    fn innermost(mut error: &(dyn std::error::Error + 'static)) -> String {
        while let Some(deeper) = error.source() {
            error = deeper;
        }
        error.to_string()
    }
}

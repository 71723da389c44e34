//! `agentctl catalog sync`: the node types of the user's own n8n become the project's catalog.

use crate::cli::bar::Bar;
use crate::cli::catalog_file;
use crate::cli::commands::n8n::N8nFolder;
use crate::cli::commands::n8n::{self, told};
use crate::cli::connection::{self, unavailable};
use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust::{self, Before};
use crate::cli::output::Output;
use crate::cli::runtime;
use crate::cli::settings;
use crate::trust::Kind;
use agentctl_n8n::catalog::{Catalog, build::build_for};
use agentctl_n8n_tools::backend::{self, BackendErrorKind};
use agentctl_n8n_tools::server::published::{self, Descriptions};
use agentctl_n8n_tools::server::{self, Cache, Folder, State};
use clap::Args;
use reqwest::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Take the node types of your own n8n, community nodes included, into this project's catalog
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl catalog sync\n  agentctl catalog sync https://n8n.example.com --auth-env N8N_LOGIN\n  agentctl catalog sync nodes.json credentials.json --n8n-version 2.39.4\n\nWrites n8n-catalog.bin into the project. A package that it knows is its alone; other types stay those that agentctl brings."
)]
pub struct CatalogSyncArgs {
    /// An n8n's address, or files: its `types/nodes.json`, a community package's (after its package.json), `credentials.json`; default: the connected n8n
    #[arg(value_name = "URL|FILE")]
    pub sources: Vec<String>,
    /// The n8n release, e.g. 2.39.4; default: what the n8n says
    #[arg(long, value_name = "VERSION")]
    pub n8n_version: Option<String>,
    /// The environment variable that holds a header to send, e.g. `Cookie: n8n-auth=…`
    #[arg(long, value_name = "VAR")]
    pub auth_env: Option<String>,
    #[command(flatten)]
    pub folder: N8nFolder,
}

/// n8n's list of all its types is some 20 MB.
const LARGEST: usize = 256 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(60);
/// What an n8n serves under its address.
const SERVED: &str = "types/nodes.json";

/// The node types of an n8n, from wherever they come.
struct Gathered {
    /// Each with the name of its source.
    inputs: Descriptions,
    /// What the n8n says of itself.
    release: Option<String>,
    /// They are those of n8n's own packages: every n8n of this release has them, and this one may have more.
    of_packages: bool,
}

pub fn sync(project: &Path, args: &CatalogSyncArgs, out: &Output) -> Result<Exit, CliError> {
    let before = Before::of(project, out)?;
    let gathered = runtime::block_on(async {
        match args.sources.as_slice() {
            [] => of_the_connected(project, args, out).await,
            sources => of_sources(sources, args.auth_env.as_deref(), out).await,
        }
    })??;
    let release = args.n8n_version.clone().or(gathered.release);
    let failed = |e: agentctl_n8n::catalog::CatalogError| CliError::failed(e.to_string());
    let bytes = build_for(&gathered.inputs, release.as_deref()).map_err(failed)?;
    let made = Catalog::from_bytes(&bytes).map_err(failed)?;
    let source = made.source().clone();
    let new: Vec<String> = made
        .types()
        .filter(|name| Catalog::embedded().lookup(name, None).known().is_none())
        .map(str::to_owned)
        .collect();
    let file = catalog_file::path(project);
    let unchanged = agentctl_host::files::read_regular(&file, catalog_file::MAX_LIST)
        .is_ok_and(|now| now == bytes);
    if !unchanged {
        agentctl_host::files::write_atomic(&file, &bytes)
            .map_err(|e| CliError::failed(e.to_string()))?;
    }
    let counts = before.keep(|kind| kind == Kind::Catalog)?;
    if let (true, Some(release), Some(cache)) =
        (gathered.of_packages, &release, catalog_file::cache())
    {
        catalog_file::keep(&cache, release, &bytes)?;
    }
    out.answer(
        Exit::Complete,
        || {
            let of = release.map_or_else(String::new, |release| format!("n8n {release}, "));
            let counted = format!(
                "{}: {of}{} node types ({} that agentctl does not know by itself)\n",
                file.display(),
                source.types,
                new.len()
            );
            let counted = match gathered.of_packages {
                true => counted + "they are those of n8n's own packages; community nodes of this n8n are not among them (--auth-env takes over all that it has)\n",
                false => counted,
            };
            match unchanged {
                true => counted + "nothing changed since the last time\n",
                false if !counts => counted + "it counts once this folder is trusted: agentctl trust\n",
                false => counted + "every command in this project uses it now; commit it, so that everybody checks against the same n8n\n",
            }
        },
        || json!({"file": file.display().to_string(), "source": source, "new_types": new, "unchanged": unchanged, "of_packages": gathered.of_packages}),
    )
}

async fn of_sources(
    sources: &[String],
    auth_env: Option<&str>,
    out: &Output,
) -> Result<Gathered, CliError> {
    let mut inputs = Vec::with_capacity(sources.len());
    let mut release = None;
    for source in sources {
        let bytes = if is_address(source) {
            let bytes = download(&list_of(source)?, headers(auth_env)?, out).await?;
            if release.is_none() && !source.ends_with(".json") {
                release = backend::release_at(source).await;
            }
            bytes
        } else {
            let file = Path::new(source);
            agentctl_host::files::read_given(file, catalog_file::MAX_LIST)
                .map_err(|e| CliError::io("read", file, &e))?
        };
        inputs.push((source.clone(), bytes));
    }
    Ok(Gathered {
        inputs,
        release,
        of_packages: false,
    })
}

/// The n8n that this project works on. Its list of types is for who is signed in: the owner of one that `agentctl n8n up`
/// started, or whom `--auth-env` names. Without a login they are those of the packages that its release is made of.
async fn of_the_connected(
    project: &Path,
    args: &CatalogSyncArgs,
    out: &Output,
) -> Result<Gathered, CliError> {
    let config = settings::of_project(project, out)?;
    let (_, backend) = connection::backend_of(project, out, &config)?;
    let Some(place) = backend.place() else {
        if let Some(release) = &args.n8n_version {
            return of_packages(release, out).await;
        }
        folder_trust::needs_n8n(project, out)?;
        return Err(CliError::usage("no n8n is connected, so there is none to ask for its node types")
            .hint("name its address or its types/nodes.json: agentctl catalog sync URL|FILE; or its release: --n8n-version 2.39.4; or connect one (docs/live.md)"));
    };
    let login = match &args.auth_env {
        Some(_) => Some((place.to_owned(), headers(args.auth_env.as_deref())?)),
        None => own_login(&n8n::data(project, &args.folder), place).await?,
    };
    if let Some((address, login)) = login {
        let url = list_of(&address)?;
        let bytes = download(&url, login, out).await?;
        return Ok(Gathered {
            inputs: vec![(url.to_string(), bytes)],
            release: backend::release_at(&address).await,
            of_packages: false,
        });
    }
    match backend.node_types().await {
        Ok(list) => Ok(Gathered {
            inputs: vec![(list.source, list.bytes)],
            release: list.n8n_version,
            of_packages: false,
        }),
        Err(closed) if closed.kind == BackendErrorKind::Unsupported => {
            let release = match &args.n8n_version {
                Some(release) => Some(release.clone()),
                None => backend::release_at(place).await,
            };
            match release {
                Some(release) => of_packages(&release, out).await,
                None => Err(unavailable(closed)),
            }
        }
        Err(error) => Err(unavailable(error)),
    }
}

/// The node types of the packages that a release is made of: of the installation that `agentctl n8n up` made, else from npm.
async fn of_packages(release: &str, out: &Output) -> Result<Gathered, CliError> {
    if !published::is_release(release) {
        return Err(CliError::usage(format!("{release:?} is no release of n8n"))
            .hint("name it as n8n does: --n8n-version 2.39.4"));
    }
    let cache = catalog_file::cache().map(Cache::at);
    let installed = cache.and_then(|cache| published::of_installation(&cache, release));
    let inputs = match installed {
        Some(files) => files,
        None => {
            out.note(&format!(
                "n8n gives its list of node types only to its editor: taking the packages that n8n {release} is made of from npm"
            ));
            published::from_npm(release).await.map_err(told)?
        }
    };
    Ok(Gathered {
        inputs,
        release: Some(release.to_owned()),
        of_packages: true,
    })
}

/// The login of the n8n that `agentctl n8n up` started, where that is the one at `place`: its address and the header. It goes to no
/// other n8n.
async fn own_login(folder: &Folder, place: &str) -> Result<Option<(String, HeaderMap)>, CliError> {
    let state = server::status(folder).await.map_err(told)?;
    let State::Running { server, .. } = state else {
        return Ok(None);
    };
    let address = server.url();
    let here = |address: &str| {
        let url = reqwest::Url::parse(address).ok()?;
        let loopback = matches!(url.host_str()?, "localhost" | "127.0.0.1" | "[::1]");
        loopback.then(|| url.port_or_known_default())
    };
    if here(place).is_none() || here(place) != here(&address) {
        return Ok(None);
    }
    let cookie = server::session_cookie(folder, &address)
        .await
        .map_err(told)?;
    let mut value = HeaderValue::from_str(cookie.expose())
        .map_err(|_| CliError::failed("n8n's login is no header"))?;
    value.set_sensitive(true);
    Ok(Some((address, HeaderMap::from_iter([(COOKIE, value)]))))
}

fn is_address(source: &str) -> bool {
    source.starts_with("http://") || source.starts_with("https://")
}

/// The n8n's address, or that of the list itself.
fn list_of(address: &str) -> Result<reqwest::Url, CliError> {
    let url = reqwest::Url::parse(address)
        .map_err(|e| CliError::usage(format!("{address} is no address: {e}")))?;
    if url.path().ends_with(".json") {
        return Ok(url);
    }
    let base = format!("{}/", address.trim_end_matches('/'));
    reqwest::Url::parse(&base)
        .and_then(|base| base.join(SERVED))
        .map_err(|e| CliError::usage(format!("{address} is no address: {e}")))
}

/// `Cookie: n8n-auth=…` from the variable: what opens the list never stands on the command line.
fn headers(variable: Option<&str>) -> Result<HeaderMap, CliError> {
    let mut headers = HeaderMap::new();
    let Some(variable) = variable else {
        return Ok(headers);
    };
    let line = std::env::var(variable)
        .map_err(|_| CliError::usage(format!("the environment has no variable {variable}")))?;
    let parsed = line.split_once(':').and_then(|(name, value)| {
        let mut value = HeaderValue::from_str(value.trim()).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::from_bytes(name.trim().as_bytes()).ok()?, value))
    });
    let (name, value) = parsed.ok_or_else(|| {
        CliError::usage(format!("{variable} holds no header"))
            .hint("set it to a line such as `Cookie: n8n-auth=…`")
    })?;
    headers.insert(name, value);
    Ok(headers)
}

async fn download(
    url: &reqwest::Url,
    headers: HeaderMap,
    out: &Output,
) -> Result<Vec<u8>, CliError> {
    let unavailable = |what: String| {
        CliError::new(Exit::Backend, format!("cannot read {url}: {what}"))
            .hint("give the file instead: copy the n8n's types/nodes.json and name it")
    };
    bytes_of(url, headers, out).await.map_err(|what| {
        let refused = what.contains("401") || what.contains("403");
        let error = unavailable(what);
        if refused {
            error.hint("where it needs a login: --auth-env VAR, the variable holding a header such as `Cookie: n8n-auth=…`")
        } else {
            error
        }
    })
}

async fn bytes_of(url: &reqwest::Url, headers: HeaderMap, out: &Output) -> Result<Vec<u8>, String> {
    let client = agentctl_host::http::client()
        .timeout(PATIENCE)
        .default_headers(headers)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|e| e.to_string())?;
    let lost = |e: reqwest::Error| e.without_url().to_string();
    let mut response = client.get(url.clone()).send().await.map_err(lost)?;
    if !response.status().is_success() {
        return Err(format!("it answers {}", response.status()));
    }
    let bar = Bar::of_bytes(response.content_length(), "of the n8n's node types", out);
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        bar.more(chunk.len());
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LARGEST {
            return Err("the answer is too long".to_owned());
        }
    }
    Ok(bytes)
}

//! `agentctl catalog sync`: the node types of the user's own n8n become the project's catalog.

use crate::cli::args::CatalogSyncArgs;
use crate::cli::catalog_file;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::session;
use crate::n8n::catalog::{Catalog, build::build_for};
use crate::run::Cancel;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// n8n's list of all its types is some 20 MB.
const LARGEST: usize = 256 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(60);
/// What an n8n serves under its address.
const SERVED: &str = "types/nodes.json";

pub fn sync(project: &Path, args: &CatalogSyncArgs, out: &Output) -> Result<Exit, CliError> {
    let mut inputs = Vec::with_capacity(args.sources.len());
    for source in &args.sources {
        let bytes = if is_address(source) {
            fetch(source, args.auth_env.as_deref())?
        } else {
            let file = Path::new(source);
            std::fs::read(file).map_err(|e| CliError::io("read", file, &e))?
        };
        inputs.push((source.clone(), bytes));
    }
    let failed = |e: crate::n8n::catalog::CatalogError| CliError::failed(e.to_string());
    let bytes = build_for(&inputs, args.n8n_version.as_deref()).map_err(failed)?;
    let made = Catalog::from_bytes(&bytes).map_err(failed)?;
    let source = made.source().clone();
    let new: Vec<String> = made
        .types()
        .filter(|name| Catalog::embedded().lookup(name, None).known().is_none())
        .map(str::to_owned)
        .collect();
    let file = catalog_file::path(project);
    crate::store::write_atomic(&file, &bytes).map_err(|e| CliError::failed(e.to_string()))?;
    out.answer(
        Exit::Complete,
        || {
            format!(
                "{}: {} node types ({} that agentctl does not know by itself)\nevery command in this project uses it now; commit it, so that everybody checks against the same n8n\n",
                file.display(),
                source.types,
                new.len()
            )
        },
        || json!({"file": file.display().to_string(), "source": source, "new_types": new}),
    )
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

fn fetch(address: &str, auth_env: Option<&str>) -> Result<Vec<u8>, CliError> {
    let url = list_of(address)?;
    let headers = headers(auth_env)?;
    let unavailable = |what: String| {
        CliError::new(Exit::Backend, format!("cannot read {url}: {what}"))
            .hint("give the file instead: copy the n8n's types/nodes.json and name it")
    };
    let asked = session::block_on(&Cancel::default(), async {
        let client = reqwest::Client::builder()
            .timeout(PATIENCE)
            .default_headers(headers)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|e| e.to_string())?;
        let mut response = client
            .get(url.clone())
            .send()
            .await
            .map_err(|e| e.without_url().to_string())?;
        if !response.status().is_success() {
            return Err(format!("it answers {}", response.status()));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|e| e.without_url().to_string())?
        {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LARGEST {
                return Err("the answer is too long".to_owned());
            }
        }
        Ok(bytes)
    })?;
    asked.map_err(|what: String| {
        let refused = what.contains("401") || what.contains("403");
        let error = unavailable(what);
        if refused {
            error.hint("where it needs a login: --auth-env VAR, the variable holding a header such as `Cookie: n8n-auth=…`")
        } else {
            error
        }
    })
}

//! Sends every workflow file of a folder to a running n8n, reads it back, deletes it again, and prints a table: what came back
//! with another meaning (graph hash), and whether n8n refuses what our `n8n/structure` and `n8n/api` findings say it refuses.
//!
//! `N8N_API_URL=… N8N_API_KEY=… cargo run --example roundtrip -- FOLDER [FIRST [COUNT]]`
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements and examples print"
)]

use agentctl_mcp::Secret;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::{Workflow, validate};
use agentctl_n8n_tools::backend::{
    Backend, BackendErrorKind, ListQuery, LiveBackend, RestTarget, list_all,
};
use agentctl_n8n_tools::sync;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// In front of each name, so that nothing else is ever deleted.
const MARK: &str = "agentctl-roundtrip ";
const AT_ONCE: usize = 3;

enum Came {
    Refused(String),
    Same,
    Other { sent: String, back: String },
    Lost(String),
}

struct Row {
    file: String,
    structure: bool,
    api: bool,
    came: Came,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("name a folder of workflow files")?);
    let first = args.next().map_or(Ok(0), |n| n.parse())?;
    let count = args.next().map_or(Ok(usize::MAX), |n| n.parse())?;
    let n8n = N8n {
        url: std::env::var("N8N_API_URL")?,
        key: std::env::var("N8N_API_KEY")?,
    };
    let backend = LiveBackend::rest(&RestTarget {
        url: n8n.url.clone(),
        key: Secret::new(n8n.key.clone()),
        plain_http: Default::default(),
    })?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)?
        .filter_map(|e| Some(e.ok()?.path()))
        .collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "json"));
    files.sort();
    let files: Vec<PathBuf> = files.into_iter().skip(first).take(count).collect();
    let n8n = Arc::new((n8n, backend));
    let began = std::time::Instant::now();
    let total = files.len();
    let mut rows = Vec::with_capacity(total);
    let mut coming = stream::iter(files)
        .map(|file| one(Arc::clone(&n8n), file))
        .buffered(AT_ONCE);
    while let Some(row) = coming.next().await {
        rows.push(row?);
        if rows.len() % 100 == 0 {
            eprintln!("{} of {total}, {} s", rows.len(), began.elapsed().as_secs());
        }
    }
    let mut left = 0;
    for listed in list_all(&n8n.1, &ListQuery::default()).await?.workflows {
        if listed.name.starts_with(MARK) {
            n8n.1.delete(&listed.id).await?;
            left += 1;
        }
    }
    table(&rows, left, began.elapsed().as_secs());
    Ok(())
}

struct N8n {
    url: String,
    key: String,
}

async fn one(n8n: Arc<(N8n, LiveBackend)>, file: PathBuf) -> Result<Row, std::io::Error> {
    let name = file
        .file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let text = std::fs::read_to_string(&file)?;
    let value = serde_json::from_str(&text).unwrap_or_default();
    let findings = validate::validate_value(&value, Catalog::embedded());
    let found = |code: &str| findings.iter().any(|f| f.code == code);
    let (structure, api) = (found("n8n/structure"), found("n8n/api"));
    let came = match Workflow::from_value(value.clone()) {
        Err(_) => as_it_is(&n8n.0, &value, &name).await,
        Ok(workflow) => there_and_back(&n8n.1, &workflow, &file).await,
    };
    Ok(Row {
        file: name,
        structure,
        api,
        came,
    })
}

/// What agentctl itself cannot read as a workflow: does n8n say the same?
async fn as_it_is(n8n: &N8n, value: &Value, name: &str) -> Came {
    let mut body = json!({"name": format!("{MARK}{name}"), "settings": {}});
    for key in ["nodes", "connections"] {
        if let (Some(body), Some(part)) = (body.as_object_mut(), value.get(key)) {
            body.insert(key.to_owned(), part.clone());
        }
    }
    let url = format!("{}/api/v1/workflows", n8n.url.trim_end_matches('/'));
    let answer = match agentctl_host::http::client().build() {
        Ok(client) => {
            let request = client.post(url).header("X-N8N-API-KEY", &n8n.key);
            request.json(&body).send().await
        }
        Err(e) => Err(e),
    };
    match answer {
        Ok(answer) if answer.status().is_client_error() => {
            Came::Refused(answer.text().await.unwrap_or_default())
        }
        Ok(answer) => Came::Lost(format!("agentctl cannot read it; n8n: {}", answer.status())),
        Err(e) => Came::Lost(e.to_string()),
    }
}

async fn there_and_back(backend: &LiveBackend, workflow: &Workflow, file: &Path) -> Came {
    let mut sent = sync::pushed(workflow, None);
    let stem = file
        .file_stem()
        .map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    sent.set_name(&format!("{MARK}{stem}"));
    let made = match backend.create(None, &sent).await {
        Ok(made) => made,
        Err(e) if e.kind == BackendErrorKind::Unavailable => return Came::Lost(e.message),
        Err(e) => return Came::Refused(e.message),
    };
    let back = backend.get(&made.id).await;
    let gone = backend.delete(&made.id).await;
    match (back, gone) {
        (Ok(back), Ok(())) if back.graph_hash == graph_hash(&sent) => Came::Same,
        (Ok(back), Ok(())) => Came::Other {
            sent: graph_hash(&sent),
            back: back.graph_hash,
        },
        (Err(e), _) | (_, Err(e)) => Came::Lost(e.message),
    }
}

fn table(rows: &[Row], left: usize, seconds: u64) {
    let count = |wanted: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    let refused = |row: &Row| matches!(row.came, Came::Refused(_));
    println!("| what | files |\n|---|--:|");
    println!("| in the folder | {} |", rows.len());
    println!(
        "| accepted, and read back with the same graph | {} |",
        count(&|r| matches!(r.came, Came::Same))
    );
    println!(
        "| accepted, and read back with another graph | {} |",
        count(&|r| matches!(r.came, Came::Other { .. }))
    );
    println!(
        "| refused, and `n8n/structure` says so | {} |",
        count(&|r| refused(r) && r.structure)
    );
    println!(
        "| refused, and `n8n/api` says so | {} |",
        count(&|r| refused(r) && r.api && !r.structure)
    );
    println!(
        "| refused, and no finding says so | {} |",
        count(&|r| refused(r) && !r.structure && !r.api)
    );
    println!(
        "| of those accepted: `n8n/structure` says they are not | {} |",
        count(&|r| !refused(r) && r.structure)
    );
    println!(
        "| of those accepted: `n8n/api` says they are not | {} |",
        count(&|r| !refused(r) && r.api)
    );
    println!(
        "| no answer | {} |",
        count(&|r| matches!(r.came, Came::Lost(_)))
    );
    eprintln!("{seconds} s; {left} were still there and were deleted");
    for row in rows {
        match &row.came {
            Came::Other { sent, back } => eprintln!("{}: sent {sent}, came back {back}", row.file),
            Came::Refused(why) if !row.structure => eprintln!("{}: refused: {why}", row.file),
            Came::Same if row.structure || row.api => {
                eprintln!("{}: accepted, with a finding", row.file)
            }
            Came::Lost(why) => eprintln!("{}: {why}", row.file),
            _ => {}
        }
    }
}

//! Sends every workflow file of a folder to a running n8n, reads it back, deletes it again, and prints a table: what came back
//! with another meaning (graph hash), and whether n8n refuses what our `n8n/structure` findings say it refuses.
//!
//! `N8N_API_URL=… N8N_API_KEY=… cargo run --example roundtrip -- FOLDER [FIRST [COUNT]]`

use agentctl::backend::{Backend, BackendErrorKind, ListQuery, LiveBackend, RestTarget, list_all};
use agentctl::mcp::Secret;
use agentctl::n8n::catalog::Catalog;
use agentctl::n8n::hash::graph_hash;
use agentctl::n8n::{Workflow, validate};
use agentctl::sync;
use futures_util::stream::{self, StreamExt};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// In front of each name, so that nothing else is ever deleted.
const MARK: &str = "agentctl-roundtrip ";
const AT_ONCE: usize = 3;

enum Came {
    /// Not even one workflow object: nothing could be sent.
    NoWorkflow,
    Refused(String),
    Same,
    Other {
        sent: String,
        back: String,
    },
    Lost(String),
}

struct Row {
    file: String,
    structure: bool,
    came: Came,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("name a folder of workflow files")?);
    let first = args.next().map_or(Ok(0), |n| n.parse())?;
    let count = args.next().map_or(Ok(usize::MAX), |n| n.parse())?;
    let backend = LiveBackend::rest(&RestTarget {
        url: std::env::var("N8N_API_URL")?,
        key: Secret::new(std::env::var("N8N_API_KEY")?),
    })?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)?
        .filter_map(|e| Some(e.ok()?.path()))
        .collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "json"));
    files.sort();
    let files: Vec<PathBuf> = files.into_iter().skip(first).take(count).collect();
    let backend = Arc::new(backend);
    let began = std::time::Instant::now();
    let total = files.len();
    let mut rows = Vec::with_capacity(total);
    let mut coming = stream::iter(files)
        .map(|file| one(Arc::clone(&backend), file))
        .buffered(AT_ONCE);
    while let Some(row) = coming.next().await {
        rows.push(row?);
        if rows.len() % 100 == 0 {
            eprintln!("{} of {total}, {} s", rows.len(), began.elapsed().as_secs());
        }
    }
    let mut left = 0;
    for listed in list_all(backend.as_ref(), &ListQuery::default())
        .await?
        .workflows
    {
        if listed.name.starts_with(MARK) {
            backend.delete(&listed.id).await?;
            left += 1;
        }
    }
    table(&rows, left, began.elapsed().as_secs());
    Ok(())
}

async fn one(backend: Arc<LiveBackend>, file: PathBuf) -> Result<Row, std::io::Error> {
    let name = file
        .file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let text = std::fs::read_to_string(&file)?;
    let value = serde_json::from_str(&text).unwrap_or_default();
    let findings = validate::validate_value(&value, Catalog::embedded());
    let structure = findings.iter().any(|f| f.code == "n8n/structure");
    let came = match Workflow::from_value(value) {
        Err(_) => Came::NoWorkflow,
        Ok(workflow) => there_and_back(&backend, &workflow, &file).await,
    };
    Ok(Row {
        file: name,
        structure,
        came,
    })
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
    let refused = |row: &Row| matches!(row.came, Came::Refused(_) | Came::NoWorkflow);
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
        "| refused, and `n8n/structure` says nothing | {} |",
        count(&|r| refused(r) && !r.structure)
    );
    println!(
        "| accepted, although `n8n/structure` says it is not | {} |",
        count(&|r| !refused(r) && r.structure)
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
            Came::Same if row.structure => {
                eprintln!("{}: accepted, with a structure finding", row.file)
            }
            Came::Lost(why) => eprintln!("{}: {why}", row.file),
            _ => {}
        }
    }
}

//! Builds a catalog file: `cargo run --example catalog_build -- OUT N8N_VERSION FILE…`.

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().context("usage: OUT N8N_VERSION FILE…")?;
    let version = arguments.next().context("usage: OUT N8N_VERSION FILE…")?;
    let files = arguments
        .map(|name| {
            let bytes = std::fs::read(&name).with_context(|| format!("cannot read {name}"))?;
            Ok((name, bytes))
        })
        .collect::<Result<Vec<_>>>()?;
    let catalog = agentctl::n8n::catalog::build::build_for(&files, Some(&version))?;
    println!("{out}: {} bytes", catalog.len());
    std::fs::write(&out, catalog).with_context(|| format!("cannot write {out}"))
}

//! Makes `catalog/releases.tsv` from catalogs of releases, oldest first: `RELEASE=FILE.bin …` (catalog/README.md).
#![expect(
    clippy::disallowed_methods,
    reason = "a table for a file, which nobody reads meanwhile"
)]

use agentctl_n8n::catalog::{Catalog, Lookup};
use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write as _;

const HEAD: &str = "\
# Which n8n has which node versions: those that the releases below were seen to add, by the release in which each was seen first.
# A version that a release has, all later ones have, but for whole types that n8n 2.0 took out.
# A release stands for all of its minor line. Made by (crates/n8n/catalog/README.md):
#   cargo run -p agentctl-n8n --example releases -- 1.100=FILE.bin 1.105=FILE.bin ...
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut names = Vec::new();
    let mut rows = String::new();
    let mut seen: BTreeSet<(String, u64)> = BTreeSet::new();
    for given in std::env::args().skip(1) {
        let (release, file) = given.split_once('=').ok_or("RELEASE=FILE.bin")?;
        let catalog = Catalog::from_bytes(&std::fs::read(file)?)?;
        for node_type in catalog.types() {
            let Lookup::Known(known) = catalog.lookup(node_type, None) else {
                continue;
            };
            // What n8n makes of a node has the node's versions.
            if known.made_from.is_some() {
                continue;
            }
            let versions = known.versions.iter();
            let new: Vec<String> = versions
                .filter(|version| seen.insert((node_type.to_owned(), version.to_bits())))
                .map(f64::to_string)
                .collect();
            if !names.is_empty() && !new.is_empty() {
                rows.push_str(&format!("{release}\t{node_type}\t{}\n", new.join(",")));
            }
        }
        names.push(release.to_owned());
    }
    let table = format!("{HEAD}releases\t{}\n{rows}", names.join("\t"));
    std::io::stdout().write_all(table.as_bytes())?;
    Ok(())
}

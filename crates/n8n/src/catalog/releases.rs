//! Which n8n release has which node versions: a table of what releases were seen to add (`catalog/releases.tsv`), and a catalog
//! without what a release lacks. For an n8n whose own list nobody has: better a version that both have than the newest one.

use rustc_hash::FxHashMap;
use std::str::FromStr;
use std::sync::OnceLock;

use super::Catalog;
use super::wire::{EntryRef, TypeEntry};

const TABLE: &str = include_str!("../../catalog/releases.tsv");
/// The row that names the releases that were looked at.
const LOOKED_AT: &str = "releases";

/// A minor line of n8n, e.g. 2.22: what it adds to nodes, it adds with its first release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Line(u32, u32);

impl FromStr for Line {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('.').map(|part| part.parse().map_err(drop));
        let (major, minor) = (parts.next().ok_or(())??, parts.next().ok_or(())??);
        Ok(Line(major, minor))
    }
}

/// Whether a release has a version of a node type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Has {
    Yes,
    No,
    /// It came with a release between two that were looked at, or after all of them.
    Unsure,
}

#[derive(Default)]
struct Table {
    looked_at: Vec<Line>,
    /// By type: versions, each with the place in `looked_at` of the release that it was first seen in.
    added: FxHashMap<&'static str, Vec<(f64, usize)>>,
}

impl Table {
    fn get() -> &'static Table {
        static READ: OnceLock<Table> = OnceLock::new();
        // A row that cannot be read is missing; a test says so before.
        READ.get_or_init(|| Table::read(TABLE).unwrap_or_default())
    }

    /// Error: the number of the line that cannot be read.
    fn read(text: &'static str) -> Result<Table, usize> {
        let mut table = Table::default();
        for (at, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            table.add(line).ok_or(at + 1)?;
        }
        Ok(table)
    }

    fn add(&mut self, line: &'static str) -> Option<()> {
        let (first, rest) = line.split_once('\t')?;
        if first == LOOKED_AT {
            let lines: Result<Vec<Line>, ()> = rest.split('\t').map(str::parse).collect();
            self.looked_at = lines.ok()?;
            return self.looked_at.is_sorted().then_some(());
        }
        let (node_type, versions) = rest.split_once('\t')?;
        let release: Line = first.parse().ok()?;
        // What the oldest one has may be as old as n8n.
        let place = self.looked_at.iter().position(|line| *line == release)?;
        (place > 0).then_some(())?;
        for version in versions.split(',') {
            let of_type = self.added.entry(node_type).or_default();
            of_type.push((version.parse().ok()?, place));
        }
        Some(())
    }

    fn has(&self, release: Line, node_type: &str, version: f64) -> Has {
        let row = self.added.get(node_type).and_then(|versions| {
            let mut versions = versions.iter();
            versions.find(|(of, _)| *of == version).map(|(_, at)| *at)
        });
        let Some(place) = row else {
            // As old as the oldest release that was looked at; or newer than all that is known.
            let own = Catalog::embedded().loaded.find(node_type);
            let old = own.is_some_and(|found| found.entry(version).is_some());
            let in_time = self
                .looked_at
                .first()
                .is_some_and(|first| release >= *first);
            return match old && in_time {
                true => Has::Yes,
                false => Has::Unsure,
            };
        };
        let seen = self.looked_at.get(place);
        let before = place.checked_sub(1).and_then(|at| self.looked_at.get(at));
        match (seen, before) {
            (Some(seen), _) if release >= *seen => Has::Yes,
            (_, Some(before)) if release <= *before => Has::No,
            _ => Has::Unsure,
        }
    }
}

/// Whether two releases are of one minor line, so that their nodes have the same versions.
pub fn same_line(a: &str, b: &str) -> bool {
    let read = |release: &str| release.parse::<Line>().ok();
    a == b || read(a).is_some_and(|line| read(b) == Some(line))
}

impl Catalog {
    /// The facts compiled into the program, without the types and versions that this n8n release lacks by the table. A release that
    /// cannot be read leaves all in.
    pub fn embedded_for(release: &str) -> Catalog {
        // The compiled-in file was read before, or both are empty.
        let loaded = super::decode::Loaded::read(super::EMBEDDED).unwrap_or_default();
        Catalog::new(super::EMBEDDED.into(), loaded).narrowed(release)
    }

    /// This catalog without the types and versions that this n8n release lacks by the table; of each type the newest version that
    /// the release has for sure is the default one.
    #[must_use]
    pub fn narrowed(mut self, release: &str) -> Catalog {
        if let Ok(line) = release.parse() {
            let table = Table::get();
            let types = std::mem::take(&mut self.loaded.head.types);
            let left = types.into_iter().filter_map(|of| narrow(of, table, line));
            self.loaded.head.types = left.collect();
            self.loaded.name_types();
        }
        self
    }
}

/// None: the release has nothing of it.
fn narrow(mut node: TypeEntry, table: &Table, release: Line) -> Option<TypeEntry> {
    let name = node.name.clone();
    let mut sure: Option<f64> = None;
    let mut all = true;
    for EntryRef { versions, .. } in &mut node.entries {
        versions.retain(|version| {
            let has = table.has(release, &name, *version);
            if has == Has::Yes {
                sure = Some(sure.map_or(*version, |newest| newest.max(*version)));
            }
            all &= has == Has::Yes;
            has != Has::No
        });
    }
    let left = node.entries.iter().any(|entry| !entry.versions.is_empty());
    if let (false, Some(first)) = (all, node.entries.first_mut()) {
        first.default_version =
            sure.or(first.default_version.filter(|v| first.versions.contains(v)));
    }
    left.then_some(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Lookup;

    const SET: &str = "n8n-nodes-base.set";
    const SCHEDULE: &str = "n8n-nodes-base.scheduleTrigger";

    #[test]
    fn each_row_can_be_read_and_names_what_some_n8n_has() {
        let table = Table::read(TABLE).unwrap();
        assert!(table.looked_at.len() > 10);
        assert!(table.added.values().map(Vec::len).sum::<usize>() > 150);
        // Of those that the compiled-in release has too, each is known there.
        let own = Catalog::embedded().source().n8n_version.clone().unwrap();
        let own: Line = own.parse().unwrap();
        let mut missing = Vec::new();
        for (node_type, versions) in &table.added {
            for (version, place) in versions {
                let known = Catalog::embedded().lookup(node_type, Some(*version));
                if table.looked_at[*place] <= own && known.known().is_none() {
                    missing.push(format!("{node_type} {version}"));
                }
            }
        }
        missing.sort();
        assert_eq!(missing, [""; 0]);
        assert!(Table::read("releases\t1.1\t1.2\n1.3\ta.b\t1").is_err());
        assert!(Table::read("releases\t1.2\t1.1").is_err());
    }

    fn default_of(catalog: &Catalog, node_type: &str) -> Option<(f64, Vec<f64>)> {
        let known = catalog.lookup(node_type, None).known()?;
        assert_eq!(known.default_version, known.version);
        Some((known.version, known.versions.clone()))
    }

    #[test]
    fn an_older_n8n_is_offered_what_it_has() {
        let older = Catalog::embedded_for("2.22.6");
        assert_eq!(default_of(&older, SET).unwrap().0, 3.4);
        assert_eq!(
            default_of(&older, SCHEDULE).unwrap(),
            (1.3, vec![1.0, 1.1, 1.2, 1.3])
        );
        assert!(matches!(
            older.lookup(SCHEDULE, Some(1.4)),
            Lookup::UnknownVersion { default: 1.3, .. }
        ));
        // All of it, for its own release and for a newer one.
        let newest = default_of(Catalog::embedded(), SCHEDULE).unwrap();
        assert_eq!(newest.0, 1.4);
        for release in ["2.39.4", "2.41.0", "nightly"] {
            let same = Catalog::embedded_for(release);
            assert_eq!(
                default_of(&same, SCHEDULE),
                Some(newest.clone()),
                "{release}"
            );
            assert_eq!(same.types().count(), Catalog::embedded().types().count());
        }
    }

    #[test]
    fn a_type_that_came_later_is_unknown_and_not_found() {
        let chat = "@n8n/n8n-nodes-langchain.chat"; // 1.105
        let old = Catalog::embedded_for("1.100.1");
        assert!(matches!(old.lookup(chat, None), Lookup::UnknownType));
        let hits = |catalog: &Catalog| {
            catalog
                .search("chat", 40)
                .iter()
                .any(|hit| hit.node_type == chat)
        };
        assert!(hits(Catalog::embedded()));
        assert!(!hits(&old));
        assert!(
            Catalog::embedded_for("2.22.6")
                .lookup(chat, None)
                .known()
                .is_some()
        );
    }

    /// Between two releases that were looked at: what may be there is not offered, and not refused where it stands.
    #[test]
    fn what_may_be_there_is_known_and_no_default() {
        let between = Catalog::embedded_for("2.36.1"); // 2.35 lacks it, 2.37 has it
        let (default, versions) = default_of(&between, SCHEDULE).unwrap();
        assert_eq!((default, versions.last()), (1.3, Some(&1.4)));
        assert!(between.lookup(SCHEDULE, Some(1.4)).known().is_some());
    }

    /// Older than all that was looked at: nothing is sure, so nothing is taken away.
    #[test]
    fn an_n8n_older_than_the_table_keeps_what_is_older_too() {
        let old = Catalog::embedded_for("1.20.0");
        assert!(old.lookup(SCHEDULE, Some(1.4)).known().is_none());
        assert!(old.lookup(SET, Some(3.4)).known().is_some());
    }

    #[test]
    fn releases_of_one_line_have_the_same_nodes() {
        assert!(same_line("2.22.6", "2.22.1"));
        assert!(!same_line("2.22.6", "2.2.6"));
        assert!(!same_line("nightly", "2.2.6"));
        assert!(same_line("nightly", "nightly"));
    }
}

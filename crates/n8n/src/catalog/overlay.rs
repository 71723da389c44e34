//! A project's own catalog over the compiled-in one: the types of the user's n8n where they are known, ours elsewhere.
//! Owns which of two facts counts. A package that the overlay knows is the overlay's alone: a type that this n8n lacks is unknown.

use std::collections::BTreeSet;

use super::{Catalog, Lookup, SearchHit};

/// The packages of n8n itself; everything else is the community's.
const CORE: [&str; 2] = ["n8n-nodes-base", "@n8n/n8n-nodes-langchain"];
/// What a community node's score is lowered by in a search that found others too.
const COMMUNITY_HANDICAP: u8 = 15;

pub(super) struct Base {
    catalog: &'static Catalog,
    /// Packages whose types come from above.
    hidden: BTreeSet<String>,
}

impl Base {
    pub(super) fn lookup(&self, node_type: &str, version: Option<f64>) -> Lookup {
        if self.hides(node_type) {
            return Lookup::UnknownType;
        }
        self.catalog.lookup(node_type, version)
    }

    pub(super) fn types(&self) -> impl Iterator<Item = &str> {
        self.catalog.types().filter(|name| !self.hides(name))
    }

    pub(super) fn credential_label(&self, credential: &str) -> Option<&str> {
        self.catalog.credential_label(credential)
    }

    /// The hits of both, best first.
    pub(super) fn add_hits(&self, hits: &mut Vec<SearchHit>, query: &str, limit: usize) {
        let below = self.catalog.search(query, limit.saturating_mul(2));
        hits.extend(below.into_iter().filter(|hit| !self.hides(&hit.node_type)));
    }

    fn hides(&self, node_type: &str) -> bool {
        self.hidden.contains(package(node_type))
    }
}

/// Core before community, then by score; the order among equals stays.
pub(super) fn rank(hits: &mut [SearchHit]) {
    let worth = |hit: &SearchHit| {
        let handicap = if is_core(&hit.node_type) {
            0
        } else {
            COMMUNITY_HANDICAP
        };
        hit.score.saturating_sub(handicap)
    };
    hits.sort_by_key(|hit| std::cmp::Reverse(worth(hit)));
}

/// `n8n-nodes-base` of `n8n-nodes-base.set`.
fn package(node_type: &str) -> &str {
    node_type
        .rsplit_once('.')
        .map_or(node_type, |(package, _)| package)
}

/// Whether a type is of n8n's own packages.
pub fn is_core(node_type: &str) -> bool {
    CORE.contains(&package(node_type))
}

impl Catalog {
    /// This catalog in front of another one.
    pub fn over(mut self, base: &'static Catalog) -> Catalog {
        let hidden = self.types().map(|name| package(name).to_owned()).collect();
        self.base = Some(Base {
            catalog: base,
            hidden,
        });
        self
    }
}

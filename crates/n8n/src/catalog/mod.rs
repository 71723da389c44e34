//! The node catalog: every node type and version of n8n as interface facts, compiled in.
//! Owns lookup, search and what follows from the facts (visible parameters, defaults, ports, recipes). Pure; judges no workflow.

pub mod build;
mod compare;
pub(crate) mod comparisons;
mod decode;
mod decode_property;
mod description;
mod display;
mod fill;
mod from_ai;
pub mod js_pattern;
mod overlay;
mod plan;
mod port_rules;
mod ports;
mod property;
mod published;
mod recipe;
mod recipe_shapes;
mod recipe_text;
mod reduce;
mod releases;
mod search;
mod source;
pub mod structure;
mod synonyms;
mod values;
mod variants;
mod view;
mod wire;

#[cfg(test)]
mod build_tests;
#[cfg(test)]
mod catalog_tests;
#[cfg(test)]
mod fill_tests;
#[cfg(test)]
mod js_pattern_tests;
#[cfg(test)]
mod ports_tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

pub use compare::{Change, ChangeKind, changes};
pub use description::{
    Begins, CredentialSlot, NodeDescription, NodeKind, OMITTED_EXPRESSION, OMITTED_TEXT, Port,
    PortRule, Ports, PropertyList, TriggerKind,
};
pub use display::deep_equal;
pub use fill::FillError;
pub use overlay::is_core;
pub use property::{
    Condition, DisplayOptions, LocatorMode, Property, PropertyGroup, PropertyKind, PropertyOption,
    TypeOptions, is_name,
};
pub use recipe::{Recipe, RecipeCredential, RecipeParameter};
pub use releases::same_line;
pub use search::SearchHit;
pub(crate) use search::{meant_types, type_words};
pub use source::{CatalogError, CatalogSource, PackageVersion};
pub use values::{Filled, View};

use decode::{Facts, FactsKey, Loaded};

/// So many different searches are remembered.
const KEPT_ANSWERS: usize = 500;

static EMBEDDED: &[u8] = include_bytes!("../../catalog/n8n-2.39.4.bin");

/// What a lookup found.
#[derive(Debug, Clone)]
pub enum Lookup {
    Known(Arc<NodeDescription>),
    UnknownVersion { known: Vec<f64>, default: f64 },
    UnknownType,
}

impl Lookup {
    pub fn known(self) -> Option<Arc<NodeDescription>> {
        match self {
            Lookup::Known(description) => Some(description),
            _ => None,
        }
    }
}

type Seen = Vec<(Option<u64>, Arc<NodeDescription>)>;

/// A set of node facts. Share it by reference; descriptions are decoded when asked for, and kept.
pub struct Catalog {
    bytes: std::borrow::Cow<'static, [u8]>,
    loaded: Loaded,
    body: OnceLock<Vec<u8>>,
    index: OnceLock<search::Index>,
    /// Answers to searches, up to `KEPT_ANSWERS`: files name the same unknown types again and again.
    answers: Mutex<HashMap<(String, usize), Vec<SearchHit>>>,
    facts: Mutex<HashMap<FactsKey, Arc<Facts>>>,
    /// By name, for each version that was asked for (None: the default one).
    seen: RwLock<FxHashMap<String, Seen>>,
    /// What is asked where this one knows nothing.
    base: Option<overlay::Base>,
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalog")
            .field("source", self.source())
            .finish_non_exhaustive()
    }
}

impl Catalog {
    /// The facts compiled into the program.
    pub fn embedded() -> &'static Catalog {
        static CATALOG: OnceLock<Catalog> = OnceLock::new();
        CATALOG.get_or_init(|| {
            // A broken build input gives an empty catalog here; a test makes sure that it is none.
            Catalog::from_static(EMBEDDED)
                .unwrap_or_else(|_| Catalog::new(EMBEDDED.into(), Loaded::default()))
        })
    }

    /// Reads a compiled-in file. Its facts are decoded at the first lookup, and not checked against their hash.
    pub fn from_static(bytes: &'static [u8]) -> Result<Catalog, CatalogError> {
        Ok(Catalog::new(bytes.into(), Loaded::read(bytes)?))
    }

    /// Reads a catalog file and checks that it is whole.
    pub fn from_bytes(bytes: &[u8]) -> Result<Catalog, CatalogError> {
        let loaded = Loaded::read(bytes)?;
        let body = wire::unpack(bytes, loaded.body)?;
        if build::content_hash(&loaded.head, &body)? != loaded.head.source.sha256 {
            return Err(CatalogError::Damaged("its hash does not match"));
        }
        let catalog = Catalog::new(bytes.to_vec().into(), loaded);
        let _ = catalog.body.set(body);
        Ok(catalog)
    }

    fn new(bytes: std::borrow::Cow<'static, [u8]>, loaded: Loaded) -> Self {
        Catalog {
            bytes,
            loaded,
            body: OnceLock::new(),
            index: OnceLock::new(),
            answers: Mutex::default(),
            facts: Mutex::new(HashMap::new()),
            seen: RwLock::default(),
            base: None,
        }
    }

    pub fn source(&self) -> &CatalogSource {
        &self.loaded.head.source
    }

    /// Full names, sorted, with the tool variants that n8n makes.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        let own = self.loaded.names.iter().map(|name| name.full.as_str());
        let mut all: Vec<&str> = own
            .chain(self.base.iter().flat_map(|base| base.types()))
            .collect();
        all.sort_unstable();
        all.into_iter()
    }

    /// The description of a type in a version (its default version if None).
    pub fn lookup(&self, node_type: &str, version: Option<f64>) -> Lookup {
        let asked = version.map(f64::to_bits);
        if let Some(known) = self.known(node_type, asked) {
            return Lookup::Known(known);
        }
        let Some(found) = self.loaded.find(node_type) else {
            let base = self.base.as_ref();
            return base.map_or(Lookup::UnknownType, |b| b.lookup(node_type, version));
        };
        let default = found.default_version();
        let version = version.unwrap_or(default);
        let unknown = || Lookup::UnknownVersion {
            known: found.versions(),
            default,
        };
        let Some(entry) = found.entry(version) else {
            return unknown();
        };
        let Some(facts) = self.facts(entry, found.facts_key(entry, version)) else {
            return unknown();
        };
        let labels = &self.loaded.head.credentials;
        let description = decode::describe(&found, entry, version, &facts, labels);
        let description = Arc::new(description);
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        let versions = seen.entry(node_type.to_owned()).or_default();
        versions.push((asked, description.clone()));
        Lookup::Known(description)
    }

    /// A description that was looked up before.
    fn known(&self, node_type: &str, version: Option<u64>) -> Option<Arc<NodeDescription>> {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        let mut versions = seen.get(node_type)?.iter();
        let (_, known) = versions.find(|(of, _)| *of == version)?;
        Some(known.clone())
    }

    /// The description's facts, decoded once for all versions that share them.
    fn facts(&self, entry: &wire::EntryRef, key: FactsKey) -> Option<Arc<Facts>> {
        let facts = || self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = facts().get(&key) {
            return Some(known.clone());
        }
        let body = self
            .body
            .get_or_init(|| wire::unpack(&self.bytes, self.loaded.body).unwrap_or_default());
        // Others may look up other types meanwhile; of two that decode the same one, the first stays.
        let decoded = Arc::new(Facts::read(body, entry, key)?);
        Some(facts().entry(key).or_insert(decoded).clone())
    }

    /// A credential type's label, e.g. `Slack OAuth2 API`.
    pub fn credential_label(&self, credential: &str) -> Option<&str> {
        self.loaded
            .head
            .credentials
            .get(credential)
            .map(String::as_str)
            .or_else(|| self.base.as_ref()?.credential_label(credential))
    }

    /// Node types for a service, an operation or a word about either, best first. Tool variants are not listed.
    pub fn search(&self, query: &str, limit: usize) -> Vec<SearchHit> {
        let answers = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (query.to_owned(), limit);
        if let Some(known) = answers().get(&key) {
            return known.clone();
        }
        let hits = self.searched(query, limit);
        let mut answers = answers();
        if answers.len() < KEPT_ANSWERS {
            answers.insert(key, hits.clone());
        }
        hits
    }

    fn searched(&self, query: &str, limit: usize) -> Vec<SearchHit> {
        let index = self
            .index
            .get_or_init(|| search::Index::new(&self.loaded.head.types));
        let mut hits = index.search(query, limit);
        if let Some(base) = &self.base {
            base.add_hits(&mut hits, query, limit);
            overlay::rank(&mut hits);
            hits.truncate(limit);
        }
        hits
    }
}

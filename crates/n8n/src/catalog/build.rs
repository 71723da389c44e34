//! Makes a catalog file from n8n's own descriptions (`types/nodes.json`), keeping interface facts only.
//! Owns what is kept and what is dropped. Deterministic: the same input gives the same bytes.

use std::collections::BTreeMap;

use agentctl_base::canonical::hex;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::published::{display, objects, strings, text};
use super::reduce::reduce_property;
use super::source::{CatalogError, CatalogSource, PackageVersion};
use super::wire::{Entry, EntryRef, FullPort, Head, PortFact, PortFacts, Slot, TypeEntry};

/// Builds a catalog from files of these kinds, told apart by their content: `nodes.json` (of a package, or of a running n8n
/// with full names), `credentials.json` (labels of credential types), `package.json` (a package's name and version).
/// Put a `package.json` before its `nodes.json`, or rely on the icon paths inside to name the package.
pub fn build(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, CatalogError> {
    build_for(files, None)
}

/// As `build`, and records which n8n release the descriptions belong to.
pub fn build_for(
    files: &[(String, Vec<u8>)],
    n8n_version: Option<&str>,
) -> Result<Vec<u8>, CatalogError> {
    let mut input = Input::default();
    for (name, bytes) in files {
        input.read(name, bytes)?;
    }
    input.write(n8n_version)
}

#[derive(Default)]
struct Input {
    /// Full name → descriptions in source order.
    types: BTreeMap<String, Vec<Map<String, Value>>>,
    credentials: BTreeMap<String, String>,
    packages: BTreeMap<String, Option<String>>,
    last_package: Option<String>,
}

impl Input {
    fn read(&mut self, file: &str, bytes: &[u8]) -> Result<(), CatalogError> {
        let value: Value = serde_json::from_slice(bytes).map_err(|e| CatalogError::Input {
            file: file.to_owned(),
            message: format!("not JSON: {e}"),
        })?;
        let bad = |message: &str| CatalogError::Input {
            file: file.to_owned(),
            message: message.to_owned(),
        };
        match value {
            Value::Object(package) => {
                let name = text(&package, "name")
                    .ok_or_else(|| bad("an object without a name; expected a package.json"))?;
                self.last_package = Some(name.to_owned());
                let version = text(&package, "version").map(str::to_owned);
                self.packages.insert(name.to_owned(), version);
                Ok(())
            }
            Value::Array(list) => {
                let list: Vec<Map<String, Value>> = list
                    .into_iter()
                    .filter_map(|v| match v {
                        Value::Object(map) => Some(map),
                        _ => None,
                    })
                    .collect();
                if list.iter().any(|d| d.contains_key("group")) {
                    self.read_nodes(file, list)
                } else if list.iter().all(|d| text(d, "name").is_some()) {
                    for d in &list {
                        if let (Some(name), Some(label)) = (text(d, "name"), text(d, "displayName"))
                        {
                            self.credentials.insert(name.to_owned(), label.to_owned());
                        }
                    }
                    Ok(())
                } else {
                    Err(bad("an array of neither nodes nor credentials"))
                }
            }
            _ => Err(bad("expected nodes.json, credentials.json or package.json")),
        }
    }

    fn read_nodes(
        &mut self,
        file: &str,
        list: Vec<Map<String, Value>>,
    ) -> Result<(), CatalogError> {
        let prefixed = list
            .iter()
            .all(|d| text(d, "name").is_some_and(|n| n.contains('.')));
        let package = match (&self.last_package, prefixed) {
            (_, true) => None,
            (Some(name), false) => Some(name.clone()),
            (None, false) => Some(package_of(&list).ok_or_else(|| CatalogError::Input {
                file: file.to_owned(),
                message:
                    "cannot tell the package of these nodes; put its package.json before it".into(),
            })?),
        };
        if let Some(package) = &package {
            self.packages.entry(package.clone()).or_insert(None);
        }
        self.last_package = None;
        for description in list {
            let Some(name) = text(&description, "name") else {
                continue;
            };
            let full = match &package {
                Some(package) => format!("{package}.{name}"),
                None => name.to_owned(),
            };
            if package.is_none()
                && let Some((package, _)) = full.rsplit_once('.')
            {
                self.packages.entry(package.to_owned()).or_insert(None);
            }
            self.types.entry(full).or_default().push(description);
        }
        Ok(())
    }

    fn write(mut self, n8n_version: Option<&str>) -> Result<Vec<u8>, CatalogError> {
        self.drop_variants();
        let mut body = Vec::new();
        let mut types = Vec::with_capacity(self.types.len());
        let mut pairs = 0;
        for (name, descriptions) in &self.types {
            let mut entries = Vec::with_capacity(descriptions.len());
            for description in descriptions {
                let (reference, bytes) = entry(name, description, body.len())?;
                pairs += reference.versions.len();
                entries.push(reference);
                body.extend_from_slice(&bytes);
            }
            types.push(type_entry(name, descriptions, entries));
        }
        if types.is_empty() {
            return Err(CatalogError::Empty);
        }
        let used: std::collections::BTreeSet<&str> = self
            .types
            .values()
            .flatten()
            .flat_map(|d| objects(d, "credentials"))
            .filter_map(|c| text(c, "name"))
            .collect();
        let credentials = self
            .credentials
            .iter()
            .filter(|(name, _)| used.contains(name.as_str()))
            .map(|(name, label)| (name.clone(), label.clone()))
            .collect();
        let mut head = Head {
            source: CatalogSource {
                n8n_version: n8n_version.map(str::to_owned),
                packages: self
                    .packages
                    .into_iter()
                    .map(|(name, version)| PackageVersion { name, version })
                    .collect(),
                types: types.len(),
                type_versions: pairs,
                sha256: String::new(),
            },
            credentials,
            types,
        };
        head.source.sha256 = content_hash(&head, &body)?;
        super::wire::pack(&head, &body)
    }

    /// A running n8n lists the tool variants it made; we make them ourselves, so that both sources give the same facts.
    fn drop_variants(&mut self) {
        let made: Vec<String> = self
            .types
            .iter()
            .flat_map(|(name, list)| {
                let tool = list.iter().any(usable_as_tool);
                let hitl = list.iter().any(|d| has_send_and_wait(name, d));
                [
                    tool.then(|| format!("{name}Tool")),
                    hitl.then(|| format!("{name}HitlTool")),
                ]
            })
            .flatten()
            .collect();
        for name in made {
            self.types.remove(&name);
        }
    }
}

/// SHA-256 of the facts: the head with an empty hash, then the body.
pub(super) fn content_hash(head: &Head, body: &[u8]) -> Result<String, CatalogError> {
    let mut head = head.clone();
    head.source.sha256.clear();
    let mut hash = Sha256::new();
    hash.update(serde_json::to_vec(&head).map_err(CatalogError::encode)?);
    hash.update(body);
    Ok(hex(&hash.finalize()))
}

/// `icons/<package>/dist/…`: the package that most icons name.
fn package_of(list: &[Map<String, Value>]) -> Option<String> {
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for description in list {
        let url = match description.get("iconUrl") {
            Some(Value::String(url)) => Some(url.as_str()),
            Some(Value::Object(themes)) => text(themes, "light"),
            _ => None,
        };
        if let Some((package, _)) = url
            .and_then(|u| u.strip_prefix("icons/"))
            .and_then(|u| u.split_once("/dist/"))
        {
            *votes.entry(package).or_default() += 1;
        }
    }
    votes
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(package, _)| package.to_owned())
}

fn entry(
    name: &str,
    d: &Map<String, Value>,
    offset: usize,
) -> Result<(EntryRef, Vec<u8>), CatalogError> {
    let versions: Vec<f64> = match d.get("version") {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_f64).collect(),
        Some(one) => one.as_f64().into_iter().collect(),
        None => vec![1.0],
    };
    let label = text(d, "displayName").unwrap_or(name).to_owned();
    let default_name = d
        .get("defaults")
        .and_then(|v| v.get("name"))
        .and_then(Value::as_str)
        .filter(|n| *n != label)
        .map(str::to_owned);
    let facts = Entry {
        default_name,
        group: strings(d.get("group")),
        inputs: ports(d.get("inputs")),
        outputs: ports(d.get("outputs")),
        input_names: strings(d.get("inputNames")),
        output_names: strings(d.get("outputNames")),
        credentials: objects(d, "credentials").map(slot).collect(),
        webhook: objects(d, "webhooks").next().is_some(),
        poll: d.get("polling").and_then(Value::as_bool).unwrap_or(false),
        hidden: d.get("hidden").and_then(Value::as_bool).unwrap_or(false),
        described: text(d, "description").is_some_and(|t| !t.is_empty()),
        max_nodes: d
            .get("maxNodes")
            .and_then(Value::as_u64)
            .and_then(|n| u32::try_from(n).ok()),
        properties: objects(d, "properties").map(reduce_property).collect(),
        label,
    };
    let bytes = serde_json::to_vec(&facts).map_err(CatalogError::encode)?;
    let reference = EntryRef {
        versions,
        default_version: d.get("defaultVersion").and_then(Value::as_f64),
        offset,
        len: bytes.len(),
        tool: usable_as_tool(d),
        hitl: has_send_and_wait(name, d),
    };
    Ok((reference, bytes))
}

fn type_entry(name: &str, list: &[Map<String, Value>], entries: Vec<EntryRef>) -> TypeEntry {
    let newest = list.first();
    let codex = newest
        .and_then(|d| d.get("codex"))
        .and_then(Value::as_object);
    let mut categories = strings(codex.and_then(|c| c.get("categories")));
    if let Some(Value::Object(subs)) = codex.and_then(|c| c.get("subcategories")) {
        for sub in subs.values().flat_map(|v| strings(Some(v))) {
            if !categories.contains(&sub) {
                categories.push(sub);
            }
        }
    }
    let label = newest
        .and_then(|d| text(d, "displayName"))
        .unwrap_or(name)
        .to_owned();
    let outputs = newest.map(|d| ports(d.get("outputs"))).unwrap_or_default();
    let sub_node = match &outputs {
        PortFacts::List(list) => {
            !list.is_empty()
                && list.iter().all(|p| match p {
                    PortFact::Kind(kind) => kind != "main",
                    PortFact::Full(port) => port.kind != "main",
                })
        }
        PortFacts::Computed(_) => false,
    };
    TypeEntry {
        name: name.to_owned(),
        label,
        entries,
        aliases: strings(codex.and_then(|c| c.get("alias"))),
        categories,
        words: newest.map(search_words).unwrap_or_default(),
        trigger: newest.is_some_and(|d| strings(d.get("group")).iter().any(|g| g == "trigger")),
        hidden: newest.is_some_and(|d| d.get("hidden") == Some(&Value::Bool(true))),
        sub_node,
    }
}

/// Labels of what the node can do: resources, operations, events.
fn search_words(d: &Map<String, Value>) -> Vec<String> {
    const ASKING: [&str; 7] = [
        "resource",
        "operation",
        "event",
        "events",
        "trigger",
        "triggerOn",
        "updates",
    ];
    let mut words: Vec<String> = Vec::new();
    for property in objects(d, "properties") {
        if !text(property, "name").is_some_and(|n| ASKING.contains(&n)) {
            continue;
        }
        for option in objects(property, "options") {
            if let Some(label) = text(option, "name")
                && !words.iter().any(|w| w == label)
                && words.len() < 120
            {
                words.push(label.to_owned());
            }
        }
    }
    words
}

fn slot(c: &Map<String, Value>) -> Slot {
    let (show, hide) = display(c);
    Slot {
        name: text(c, "name").unwrap_or_default().to_owned(),
        label: text(c, "displayName").map(str::to_owned),
        required: c.get("required") == Some(&Value::Bool(true)),
        show,
        hide,
    }
}

fn ports(value: Option<&Value>) -> PortFacts {
    match value {
        Some(Value::Array(list)) => PortFacts::List(list.iter().filter_map(port).collect()),
        Some(Value::String(_)) => PortFacts::Computed(true),
        _ => PortFacts::default(),
    }
}

fn port(value: &Value) -> Option<PortFact> {
    match value {
        Value::String(kind) => Some(PortFact::Kind(kind.clone())),
        Value::Object(map) => {
            let filter = map.get("filter").and_then(Value::as_object);
            Some(PortFact::Full(FullPort {
                kind: text(map, "type")?.to_owned(),
                label: text(map, "displayName")
                    .filter(|l| !l.is_empty())
                    .map(str::to_owned),
                required: map.get("required") == Some(&Value::Bool(true)),
                max: map
                    .get("maxConnections")
                    .and_then(Value::as_u64)
                    .and_then(|n| u32::try_from(n).ok()),
                only: strings(filter.and_then(|f| f.get("nodes"))),
                except: strings(filter.and_then(|f| f.get("excludedNodes"))),
            }))
        }
        _ => None,
    }
}

fn usable_as_tool(d: &Map<String, Value>) -> bool {
    matches!(
        d.get("usableAsTool"),
        Some(Value::Bool(true) | Value::Object(_))
    )
}

/// n8n makes an approval tool of a node with webhooks and an operation `sendAndWait`.
fn has_send_and_wait(name: &str, d: &Map<String, Value>) -> bool {
    !name.ends_with("Tool")
        && objects(d, "webhooks").next().is_some()
        && objects(d, "properties")
            .filter(|p| text(p, "name") == Some("operation"))
            .any(|p| {
                objects(p, "options")
                    .any(|o| o.get("value").and_then(Value::as_str) == Some("sendAndWait"))
            })
}

//! One state field of flow.yaml: how a patch is merged, who writes it, how long it lives.

use super::meaning;
use super::merge::check_value;
use super::model::{FieldKind, FieldSpec, Meaning};
use super::reader::Reader;
use agentctl_base::yaml::{Entry, Node};
use indexmap::IndexMap;

/// What every field says, and what only one of the state itself does.
const KEYS: &[&str] = &["kind", "fields"];
const TOP_KEYS: &[&str] = &[
    "writers",
    "schema",
    "default",
    "scope",
    "group",
    "skip_empty",
];

impl Reader<'_> {
    /// `top`: it is one of the state, not a key inside an object.
    pub(super) fn field(&mut self, entry: &Entry, top: bool) -> Option<FieldSpec> {
        let what = format!("the field {:?}", entry.key);
        let node = &entry.value;
        let mut keys = KEYS.to_vec();
        if top {
            keys.extend(TOP_KEYS);
            keys.extend(meaning::KEYS);
        }
        self.keys(node, &what, &keys);
        let kind = self.kind(node, &what)?;
        let mut writers = Vec::new();
        if top && let Some(list) = self.required(node, "writers", &what) {
            for (place, name) in self.names(list, "writers") {
                self.agent(place, &name, true);
                writers.push(name);
            }
        }
        let schema = node.get("schema").and_then(|n| self.schema(n));
        let children = node
            .get("fields")
            .map_or_else(IndexMap::new, |n| self.children(n, kind, &what));
        let meaning = match top {
            true => self.meaning(entry, kind),
            false => Meaning::default(),
        };
        let of_session = node.get("scope").is_some_and(|n| match n.as_text() {
            Some("session") => true,
            Some("turn") => false,
            _ => {
                let message = format!("{what}: `scope` must be session or turn");
                self.problems.add(n.place, message);
                false
            }
        });
        let group = node.get("group").and_then(|n| self.name(n, "a group"));
        let skip_empty = self.flag(node, "skip_empty", false);
        let mut spec = FieldSpec {
            kind,
            writers,
            schema,
            children,
            meaning,
            default: None,
            of_session,
            group,
            skip_empty,
        };
        spec.default = node.get("default").map(|n| {
            let value = n.to_json();
            for refusal in check_value(&spec, &entry.key, None, &value) {
                let message = format!("{what}: its default cannot be: {}", refusal.message);
                self.problems.add(n.place, message);
            }
            value
        });
        Some(spec)
    }

    fn kind(&mut self, node: &Node, what: &str) -> Option<FieldKind> {
        let node = self.required(node, "kind", what)?;
        let kind = node.as_text().and_then(FieldKind::from_name);
        if kind.is_none() {
            let names = FieldKind::ALL.map(FieldKind::name);
            let message = format!("{what}: kind must be one of {}", names.join(", "));
            self.problems.add(node.place, message);
        }
        kind
    }

    fn children(
        &mut self,
        node: &Node,
        kind: FieldKind,
        what: &str,
    ) -> IndexMap<String, FieldSpec> {
        if kind != FieldKind::Object {
            self.problems.add(
                node.place,
                format!("{what} is no object, so it has no fields inside"),
            );
        }
        let mut children = IndexMap::new();
        for child in self.map(node, "`fields`").unwrap_or_default() {
            if let Some(spec) = self.field(child, false) {
                children.insert(child.key.clone(), spec);
            }
        }
        children
    }
}

//! Puts what the user named by its kind ("board 778899", "queue alerts") and the conditions on records into the parameters
//! that take them, whatever the service calls them. Catalog-driven; overwrites placeholders, never a value.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Cmp, Role};
use super::draft::{At, Draft};
use super::facts::{Facts, shown};
use super::place::shape;
use super::words::{fold, plain, words};
use agentctl_n8n::catalog::{Property, PropertyGroup, PropertyKind};

/// What services call the kinds of things that users name.
const ALSO: &[(&str, &[&str])] = &[
    ("table", &["table", "sheet", "data table"]),
    ("list", &["list", "audience", "key", "group"]),
    ("board", &["board"]),
    ("project", &["project", "repository"]),
    ("database", &["database", "data source", "base"]),
    ("base", &["base", "database", "project"]),
    ("collection", &["collection", "table"]),
    ("bucket", &["bucket", "container"]),
    ("queue", &["queue", "queue url", "sink"]),
    ("topic", &["topic", "destination", "topic arn"]),
    ("exchange", &["exchange"]),
    ("index", &["index"]),
    ("stream", &["stream", "room", "channel"]),
    ("workspace", &["workspace", "team"]),
    (
        "folder",
        &["folder", "parent", "directory", "parent folder", "path"],
    ),
    ("calendar", &["calendar"]),
    ("document", &["doc", "document", "file"]),
    ("sheet", &["document", "spreadsheet", "workbook"]),
    ("tab", &["sheet", "worksheet", "table"]),
    ("job", &["job"]),
    ("function", &["function"]),
    ("repository", &["repository", "repo", "project"]),
    ("owner", &["owner", "repository owner", "project owner"]),
    ("entity", &["entity"]),
    ("site", &["site"]),
    ("team", &["team"]),
    ("space", &["space"]),
    ("record", &["record", "row"]),
    ("item", &["item"]),
    ("tag", &["tag"]),
    ("key", &["key"]),
];

/// Things whose own identifier is meant: "task 1203344".
const THINGS: &[&str] = &[
    "task", "issue", "ticket", "card", "item", "page", "record", "order", "user", "form",
    "campaign", "device",
];

fn bare(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = plain(name)
        .into_iter()
        .filter(|w| !matches!(w.as_str(), "or" | "the" | "to"))
        .collect();
    while parts.len() > 1
        && parts.last().is_some_and(|w| {
            matches!(
                w.as_str(),
                "id" | "ids" | "name" | "key" | "names" | "gid" | "number"
            )
        })
    {
        parts.pop();
    }
    words(&parts.join(" "))
}

/// How well a parameter takes a thing of this kind, 0 to 1.
fn takes(kind: &str, property: &Property, resource: &str) -> f64 {
    if !matches!(
        property.kind,
        PropertyKind::String
            | PropertyKind::Number
            | PropertyKind::Options
            | PropertyKind::MultiOptions
            | PropertyKind::ResourceLocator
    ) || matches!(
        property.name.as_str(),
        "operation" | "resource" | "authentication"
    ) {
        return 0.0;
    }
    let names = ALSO
        .iter()
        .find(|(k, _)| *k == kind)
        .map_or_else(|| vec![kind], |(_, list)| list.to_vec());
    let by_name = bare(&property.name);
    let by_label = bare(&property.label);
    let mut best: f64 = 0.0;
    for (place, name) in names.iter().enumerate() {
        let want = words(name);
        let own = bare(name);
        let whole = if by_name == want || by_label == want || by_name == own || by_label == own {
            1.0
        } else if property.required && (by_name.ends_with(&want) || by_label.ends_with(&want)) {
            0.7
        } else {
            0.0
        };
        best = best.max(whole - 0.03 * place as f64);
    }
    if best <= 0.0
        && THINGS.contains(&kind)
        && property.name == "id"
        && words(resource).last().is_some_and(|r| *r == kind)
    {
        best = 0.9;
    }
    best
}

fn open(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(s)) => s.is_empty() || s.starts_with('<'),
        Some(Value::Object(map)) if map.contains_key("mode") => map
            .get("value")
            .and_then(Value::as_str)
            .is_none_or(|s| s.is_empty() || s.starts_with('<') || s == "gid=0"),
        Some(_) => false,
    }
}

fn operator(group: &PropertyGroup, op: Cmp) -> Option<(String, Value)> {
    let property = group.values.iter().find(|p| {
        matches!(p.kind, PropertyKind::Options)
            && matches!(
                p.name.as_str(),
                "condition" | "operator" | "operation" | "comparison"
            )
    })?;
    let wanted: &[&str] = match op {
        Cmp::Eq => &["eq", "equal", "equals", "=", "is", "=="],
        Cmp::Ne => &["neq", "ne", "not equal", "!=", "isNot", "not_equal"],
        Cmp::Gt => &[
            "gt",
            ">",
            "greater than",
            "higher_than",
            "date_after",
            "after",
        ],
        Cmp::Ge => &["gte", ">=", "ge", "greater than or equal"],
        Cmp::Lt => &[
            "lt",
            "<",
            "less than",
            "lower_than",
            "date_before",
            "before",
        ],
        Cmp::Le => &["lte", "<=", "le", "less than or equal"],
        Cmp::Contains => &["contains", "like", "ilike"],
        Cmp::Missing => &["is", "IS NULL", "empty", "isEmpty"],
        _ => &["contains"],
    };
    wanted.iter().find_map(|w| {
        property
            .options
            .iter()
            .find(|o| {
                o.value.as_str().is_some_and(|v| fold(v) == fold(w)) || fold(&o.label) == fold(w)
            })
            .map(|o| (property.name.clone(), o.value.clone()))
    })
}

fn rule_names(group: &PropertyGroup) -> Option<(String, String)> {
    let find = |list: &[&str]| {
        list.iter()
            .find(|n| group.values.iter().any(|p| p.name == **n))
            .map(|n| (*n).to_owned())
    };
    Some((
        find(&[
            "column",
            "keyName",
            "field",
            "fieldName",
            "key",
            "name",
            "property",
        ])?,
        find(&["value", "keyValue", "fieldValue"])?,
    ))
}

impl Draft<'_> {
    /// Named things into their parameters; what found none becomes a note.
    pub(super) fn place_named(
        &mut self,
        at: &At,
        facts: &Facts,
        params: &mut Map<String, Value>,
        args: &mut Vec<Arg>,
        node: &str,
    ) {
        self.place_wheres(at, facts, params, args, node);
        let resource = params
            .get("resource")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        let named: Vec<(String, Value)> = args
            .iter()
            .filter_map(|a| match &a.role {
                Role::Named(kind) => Some((kind.clone(), self.value(at, &a.value))),
                _ => None,
            })
            .collect();
        args.retain(|a| !matches!(a.role, Role::Named(_)));
        for (kind, value) in named {
            let mut best: Option<(&Property, f64)> = None;
            let visible = shown(facts, params);
            for property in &visible {
                let mut score = takes(&kind, property, &resource);
                if property.required {
                    score += 0.05;
                }
                if score >= 0.65
                    && open(params.get(&property.name))
                    && score > best.map_or(0.0, |b| b.1)
                {
                    best = Some((property, score));
                }
            }
            if let Some((property, _)) = best
                && let Some(shaped) = shape(property, &value)
            {
                params.insert(property.name.clone(), shaped);
                let filled = Val::from(&value);
                args.retain(|a| {
                    !(matches!(
                        a.role,
                        Role::Container | Role::Part | Role::Label | Role::Id
                    ) && filled.is(&self.value(at, &a.value)))
                });
                continue;
            }
            self.place_inside(at, facts, params, args, &kind, &value, &resource);
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one named thing and its surroundings"
    )]
    fn place_inside(
        &self,
        at: &At,
        facts: &Facts,
        params: &mut Map<String, Value>,
        args: &mut Vec<Arg>,
        kind: &str,
        value: &Value,
        resource: &str,
    ) {
        let mut hit: Option<(String, String, Value)> = None;
        for collection in shown(facts, params) {
            if collection.kind != PropertyKind::Collection || collection.name == "requestOptions" {
                continue;
            }
            for child in facts.children(collection, params) {
                let free = params
                    .get(&collection.name)
                    .is_none_or(|c| open(c.get(&child.name)));
                if free
                    && takes(kind, child, resource) >= 0.9
                    && let Some(shaped) = shape(child, value)
                    && hit.is_none()
                {
                    hit = Some((collection.name.clone(), child.name.clone(), shaped));
                }
            }
        }
        if let Some((collection, child, shaped)) = hit {
            let slot = params
                .entry(collection)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Some(map) = slot.as_object_mut() {
                map.insert(child, shaped);
            }
            args.retain(|a| {
                !(matches!(a.role, Role::Container | Role::Part | Role::Label)
                    && self.value(at, &a.value) == *value)
            });
        }
    }

    /// "whose expires_at is before now" into the node's own conditions.
    fn place_wheres(
        &mut self,
        at: &At,
        facts: &Facts,
        params: &mut Map<String, Value>,
        args: &mut Vec<Arg>,
        node: &str,
    ) {
        let wheres: Vec<(String, Cmp, Value)> = args
            .iter()
            .filter_map(|a| match &a.role {
                Role::Where { column, op } => Some((column.clone(), *op, self.value(at, &a.value))),
                _ => None,
            })
            .collect();
        args.retain(|a| !matches!(a.role, Role::Where { .. }));
        if wheres.is_empty() {
            return;
        }
        let mut slot: Option<(Option<String>, Property)> = None;
        for property in shown(facts, params) {
            let fits = |p: &Property| {
                p.kind == PropertyKind::FixedCollection
                    && p.groups.first().and_then(rule_names).is_some()
                    && words(&format!("{} {}", p.name, p.label)).iter().any(|w| {
                        matches!(
                            w.as_str(),
                            "filter" | "where" | "condition" | "row" | "select"
                        )
                    })
            };
            if fits(property) {
                slot = Some((None, property.clone()));
                break;
            }
            if property.kind == PropertyKind::Collection
                && let Some(child) = facts
                    .children(property, params)
                    .into_iter()
                    .find(|c| fits(c))
                && slot.is_none()
            {
                slot = Some((Some(property.name.clone()), child.clone()));
            }
        }
        let Some((parent, property)) = slot else {
            for (column, ..) in &wheres {
                self.note(format!(
                    "{node}: the condition on {column:?} could not be set in this node"
                ));
            }
            return;
        };
        let Some(group) = property.groups.first() else {
            return;
        };
        let Some((key, value_name)) = rule_names(group) else {
            return;
        };
        let rules: Vec<Value> = wheres
            .into_iter()
            .map(|(column, op, value)| {
                let mut rule = Map::new();
                rule.insert(key.clone(), json!(column));
                if let Some((name, operator)) = operator(group, op) {
                    rule.insert(name, operator);
                }
                rule.insert(value_name.clone(), value);
                Value::Object(rule)
            })
            .collect();
        let content = json!({group.name.as_str(): rules});
        match parent {
            None => {
                params.insert(property.name.clone(), content);
            }
            Some(parent) => {
                let slot = params
                    .entry(parent)
                    .or_insert_with(|| Value::Object(Map::new()));
                if let Some(map) = slot.as_object_mut() {
                    map.insert(property.name.clone(), content);
                }
            }
        }
    }
}

/// A value as an argument may spell it: as text or as a number.
struct Val(String);

impl Val {
    fn from(value: &Value) -> Self {
        Self(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        )
    }
    fn is(&self, other: &Value) -> bool {
        Self::from(other).0 == self.0
    }
}

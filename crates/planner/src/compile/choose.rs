//! Which resource and operation of a node a verb and an object mean, and which event of a trigger: from the catalog's
//! options and labels, by words. Owns verb synonyms. Sets nothing else.

use serde_json::{Map, Value};

use super::super::plan::Verb;
use super::facts::{Facts, shown};
use super::verbs;
use super::words::{alike, fold, plain, words};
use agentctl_n8n::catalog::{Property, PropertyKind, PropertyOption};

/// Operation values that a verb may go by, best first.
fn names(verb: Verb) -> &'static [&'static str] {
    match verb {
        Verb::Create => &[
            "create", "add", "insert", "append", "new", "post", "make", "generate", "send", "save",
            "open", "upsert", "submit", "make", "set",
        ],
        Verb::Get => &[
            "get",
            "read",
            "find",
            "lookup",
            "fetch",
            "getDetails",
            "getOne",
            "retrieve",
            "search",
            "getAll",
            "getMany",
            "select",
            "list",
            "download",
        ],
        Verb::GetMany => &[
            "getAll",
            "getMany",
            "list",
            "read",
            "search",
            "select",
            "getRows",
            "find",
            "query",
            "executeQuery",
            "get",
            "getReport",
            "history",
            "fetch",
        ],
        Verb::Search => &[
            "search", "getAll", "getMany", "find", "lookup", "query", "list", "read", "select",
            "get",
        ],
        Verb::Update => &[
            "update",
            "edit",
            "set",
            "patch",
            "change",
            "modify",
            "upsert",
            "appendOrUpdate",
            "rename",
        ],
        Verb::Upsert => &[
            "upsert",
            "createOrUpdate",
            "appendOrUpdate",
            "create",
            "update",
            "add",
        ],
        Verb::Append => &[
            "append",
            "insert",
            "add",
            "create",
            "appendOrUpdate",
            "push",
            "post",
            "addRow",
        ],
        Verb::Delete => &[
            "delete",
            "remove",
            "deleteRows",
            "trash",
            "archive",
            "clear",
            "cancel",
        ],
        Verb::Send => &[
            "send",
            "post",
            "sendMessage",
            "create",
            "message",
            "email",
            "publish",
            "sms",
            "push",
            "sendTemplate",
            "make",
        ],
        Verb::Reply => &[
            "reply",
            "respond",
            "createReply",
            "addComment",
            "createComment",
            "comment",
            "addNote",
            "send",
        ],
        Verb::Draft => &["create", "draft", "createDraft", "save"],
        Verb::Post => &[
            "post",
            "create",
            "send",
            "publish",
            "message",
            "add",
            "sendMessage",
            "tweet",
        ],
        Verb::Call => &["make", "call", "create", "send"],
        Verb::Upload => &["upload", "create", "put", "add", "save", "store"],
        Verb::Download => &["download", "get", "getFile", "export"],
        Verb::Move => &["move", "rename", "update", "copy"],
        Verb::Publish => &["publish", "update", "create", "post", "send"],
        Verb::Query => &[
            "executeQuery",
            "query",
            "search",
            "getAll",
            "execute",
            "select",
            "find",
            "get",
            "getReport",
            "list",
        ],
        Verb::Insert => &["insert", "create", "append", "add", "upsert", "push"],
        Verb::Run => &[
            "execute",
            "run",
            "executeQuery",
            "invoke",
            "trigger",
            "start",
            "dispatch",
            "build",
            "launch",
        ],
        Verb::Set => &["set", "update", "edit", "put", "create", "upsert"],
        Verb::Add => &[
            "add",
            "create",
            "append",
            "insert",
            "addTo",
            "push",
            "upsert",
            "addMember",
            "member",
            "post",
        ],
        Verb::Remove => &[
            "remove",
            "delete",
            "removeFrom",
            "kick",
            "unsubscribe",
            "archive",
        ],
        Verb::Other => &[],
    }
}

/// Objects that services call by another name.
const OBJECTS: &[&[&str]] = &[
    &[
        "message",
        "mail",
        "email",
        "dm",
        "text",
        "notification",
        "sms",
        "template",
        "nachricht",
        "mensaje",
        "alert",
    ],
    &[
        "document", "row", "record", "item", "entry", "body", "data", "line", "zeile", "fila",
        "ligne", "registro",
    ],
    &["issue", "bug", "ticket", "story", "task", "epic", "defect"],
    &["task", "todo", "to do", "reminder", "item"],
    &[
        "databasePage",
        "page",
        "entry",
        "database",
        "item",
        "record",
    ],
    &[
        "member",
        "subscriber",
        "contact",
        "audience",
        "list member",
        "lead",
        "person",
    ],
    &[
        "contact",
        "person",
        "lead",
        "customer",
        "subscriber",
        "prospect",
    ],
    &["person", "contact", "customer"],
    &[
        "file",
        "attachment",
        "document",
        "object",
        "pdf",
        "zip",
        "image",
        "photo",
        "csv",
        "backup",
    ],
    &[
        "event",
        "appointment",
        "meeting",
        "calendar",
        "termin",
        "entry",
        "booking",
    ],
    &["deal", "opportunity"],
    &["opportunity", "deal"],
    &["post", "article", "draft", "update", "content", "status"],
    &["tweet", "post", "status"],
    &["sheet", "row", "spreadsheet", "tab", "line", "table"],
    &["draft", "mail draft"],
    &["incident", "alert", "page"],
    &["command", "script", "shell"],
    &[
        "report",
        "sessions",
        "analytics",
        "metrics",
        "data",
        "conversions",
    ],
    &["campaign", "ads", "cost", "ad"],
    &["invoice", "rechnung", "factura", "facture", "bill"],
    &["mail", "email", "message"],
    &["email", "mail", "message"],
    &["repository", "repo"],
    &["organization", "organisation", "org", "company"],
    &["card", "ticket", "task"],
    &["space", "channel"],
    &["subscription", "plan"],
    &["charge", "payment"],
    &["user", "member", "account", "employee"],
    &["employee", "staff", "person"],
    &["database", "table", "row", "record", "query"],
];

/// Whether an option that a node offers ("charge") is what an object is called there ("payment").
pub(crate) fn is_called(object: &str, option: &str) -> bool {
    let mut sets = OBJECTS.iter().filter(|set| set.first() == Some(&option));
    sets.any(|set| set.contains(&object))
}

fn object_score(object: &[String], option: &str, label: &str) -> f64 {
    let value = words(option);
    let label = words(label);
    let direct = alike(object, &value).max(alike(object, &label) * 0.98);
    if direct >= 0.55 {
        return direct;
    }
    let mut best = direct;
    for set in OBJECTS {
        let Some((head, rest)) = set.split_first() else {
            continue;
        };
        if words(head) != value {
            continue;
        }
        for (place, other) in rest.iter().enumerate() {
            if alike(object, &words(other)) >= 0.6 {
                best = best.max(0.72 - 0.03 * place as f64);
            }
        }
    }
    best
}

fn verb_score(verb: Verb, option: &PropertyOption, object: &[String], said: &[String]) -> f64 {
    let value = option.value.as_str().unwrap_or("");
    let list = names(verb);
    let folded = fold(value);
    if let Some(place) = list.iter().position(|n| fold(n) == folded) {
        return 1.0 - 0.04 * place as f64;
    }
    let parts: Vec<String> = plain(value);
    let label = plain(&option.label);
    let mut best: f64 = 0.0;
    for (place, name) in list.iter().enumerate() {
        let first = plain(name).first().cloned().unwrap_or_default();
        let at_start = parts.first() == Some(&first) || label.first() == Some(&first);
        if !at_start {
            continue;
        }
        // `createTask`, `addComment`: good only when the rest is the object
        let rest: Vec<String> = parts
            .iter()
            .skip(1)
            .chain(label.iter().skip(1))
            .cloned()
            .collect();
        let rest = words(&rest.join(" "));
        let fits = if rest.is_empty() {
            0.5
        } else {
            alike(object, &rest).max(alike(said, &rest) * 0.7)
        };
        best = best.max(0.45 + 0.5 * fits - 0.03 * place as f64);
    }
    if verb == Verb::Other || best == 0.0 {
        let mut all = parts;
        all.extend(label);
        best = best.max(0.55 * alike(said, &words(&all.join(" "))));
    }
    best
}

/// A resource and an operation, where the node has them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Choice {
    pub resource: Option<String>,
    pub operation: Option<String>,
    /// How sure, 0 to about 2.
    pub score: f64,
}

fn selectable(property: &Property) -> bool {
    matches!(property.kind, PropertyKind::Options) && !property.options.is_empty()
}

/// The resource whose own name stands first in what was said: "get all rows of the table in the base HR" is about rows.
fn foremost(facts: &Facts, fixed: &Map<String, Value>, said: &str) -> Option<String> {
    let said = words(said);
    let visible = shown(facts, fixed);
    let property = visible
        .iter()
        .find(|p| p.name == "resource" && selectable(p))?;
    property
        .options
        .iter()
        .filter_map(|o| {
            let value = o.value.as_str()?;
            [words(value), words(&o.label)]
                .iter()
                .filter(|name| !name.is_empty())
                .filter_map(|name| {
                    said.windows(name.len())
                        .position(|w| w == name.as_slice())
                        .map(|at| (at, usize::MAX - name.len()))
                })
                .min()
                .map(|rank| (rank, value.to_owned()))
        })
        .min()
        .map(|(_, value)| value)
}

/// `getIssues` of a repository: an operation that gives all of an object by its name.
fn lists(operation: &str, object: &[String]) -> bool {
    let rest = operation.strip_prefix("get").unwrap_or_default();
    let begins = rest.starts_with(char::is_uppercase);
    begins && rest.ends_with('s') && !object.is_empty() && alike(object, &words(rest)) > 0.95
}

/// The best resource and operation for a verb and an object.
pub(super) fn operation(
    facts: &Facts,
    verb: Verb,
    object: &str,
    said: &str,
    fixed: &Map<String, Value>,
) -> Choice {
    let object_words = words(object);
    let said_words = words(said);
    let resources: Vec<Option<String>> = shown(facts, fixed)
        .iter()
        .find(|p| p.name == "resource" && selectable(p))
        .map(|p| {
            p.options
                .iter()
                .filter_map(|o| o.value.as_str().map(|v| Some(v.to_owned())))
                .collect()
        })
        .unwrap_or_else(|| vec![None]);
    let single = resources.len() == 1;
    let foremost = foremost(facts, fixed, said);
    let mut best = Choice {
        score: -1.0,
        ..Choice::default()
    };
    for resource in resources {
        let mut params = fixed.clone();
        let mut score = 0.0;
        if let Some(resource) = &resource {
            params.insert("resource".into(), Value::String(resource.clone()));
            let label = shown(facts, fixed)
                .iter()
                .find(|p| p.name == "resource")
                .and_then(|p| {
                    p.options
                        .iter()
                        .find(|o| o.value.as_str() == Some(resource))
                        .map(|o| o.label.clone())
                })
                .unwrap_or_default();
            let by_object = if object_words.is_empty() {
                0.0
            } else {
                object_score(&object_words, resource, &label)
            };
            let by_said = object_score(&said_words, resource, &label) * 0.45;
            score += by_object.max(by_said);
            if single {
                score += 0.3;
            }
            // the node's own first choice wins a draw
            let default = shown(facts, fixed)
                .iter()
                .find(|p| p.name == "resource")
                .is_some_and(|p| p.default.as_str() == Some(resource));
            if default {
                score += 0.12;
            }
        }
        let operation = shown(facts, &params)
            .into_iter()
            .find(|p| p.name == "operation" && selectable(p));
        let Some(operation) = operation else {
            if score > best.score {
                best = Choice {
                    resource,
                    operation: None,
                    score,
                };
            }
            continue;
        };
        for option in &operation.options {
            let Some(value) = option.value.as_str() else {
                continue;
            };
            if value == "sendAndWait" {
                continue;
            }
            let by_verb = verb_score(verb, option, &object_words, &said_words)
                .max(verbs::said_score(verb, option, said));
            let mut total = score + by_verb;
            if by_verb >= 0.5 && resource.is_some() && foremost == resource {
                total += 0.3;
            }
            if verb == Verb::GetMany && lists(value, &object_words) {
                total += 1.0;
            }
            total += 0.3 * verbs::told(option, said) + verbs::forbidden(verb, option, said);
            if operation.default == option.value {
                total += 0.02;
            }
            let by_label = words(&format!("{value} {}", option.label));
            total += 0.12 * alike(&said_words, &by_label) + 0.12 * alike(&object_words, &by_label);
            if total > best.score + 1e-9 {
                best = Choice {
                    resource: resource.clone(),
                    operation: Some(value.to_owned()),
                    score: total,
                };
            }
        }
    }
    best
}

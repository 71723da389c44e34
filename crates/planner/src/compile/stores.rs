//! File stores that the catalog's names alone do not tell apart: which operation lists, saves or fetches, and which
//! parameter takes the place and the file's name. A table over the stores; Drive, S3 and FTP have rules of their own.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Verb};
use super::draft::{At, Draft};
use super::service::Call;

/// How a place or a file is named.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    /// One path, the file's name at its end.
    Path,
    /// An id as text.
    Id,
    /// A resource locator.
    Locator,
}

struct Store {
    short: &'static str,
    lists: (&'static str, &'static str),
    saves: (&'static str, &'static str),
    fetches: (&'static str, &'static str),
    /// The place: its parameter when listing, when saving, and how it is named.
    place: (&'static str, &'static str, Names),
    /// The new file's name, where it has a parameter of its own.
    name: &'static str,
    /// The file to fetch, and the field that a listing gives for it.
    file: (&'static str, &'static str, Names),
    binary: &'static str,
}

const TABLE: &[Store] = &[
    Store {
        short: "dropbox",
        lists: ("folder", "list"),
        saves: ("file", "upload"),
        fetches: ("file", "download"),
        place: ("path", "path", Names::Path),
        name: "",
        file: ("path", "path", Names::Path),
        binary: "binaryData",
    },
    Store {
        short: "nextCloud",
        lists: ("folder", "list"),
        saves: ("file", "upload"),
        fetches: ("file", "download"),
        place: ("path", "path", Names::Path),
        name: "",
        file: ("path", "path", Names::Path),
        binary: "binaryDataUpload",
    },
    Store {
        short: "microsoftOneDrive",
        lists: ("folder", "getChildren"),
        saves: ("file", "upload"),
        fetches: ("file", "download"),
        place: ("folderId", "parentId", Names::Id),
        name: "fileName",
        file: ("fileId", "id", Names::Id),
        binary: "binaryData",
    },
    Store {
        short: "box",
        lists: ("folder", "get"),
        saves: ("file", "upload"),
        fetches: ("file", "download"),
        place: ("folderId", "parentId", Names::Id),
        name: "fileName",
        file: ("fileId", "id", Names::Id),
        binary: "binaryData",
    },
    Store {
        short: "microsoftSharePoint",
        lists: ("item", "getAll"),
        saves: ("file", "upload"),
        fetches: ("file", "download"),
        place: ("list", "folder", Names::Locator),
        name: "fileName",
        file: ("file", "id", Names::Locator),
        binary: "",
    },
    Store {
        short: "azureStorage",
        lists: ("blob", "getAll"),
        saves: ("blob", "create"),
        fetches: ("blob", "get"),
        place: ("container", "container", Names::Locator),
        name: "blobCreate",
        file: ("blob", "name", Names::Locator),
        binary: "",
    },
];

fn take(args: &mut Vec<Arg>, roles: &[Role]) -> Option<Arg> {
    let at = roles
        .iter()
        .find_map(|r| args.iter().position(|a| a.role == *r))?;
    Some(args.remove(at))
}

fn locator(text: &str) -> Value {
    if text.starts_with("http") {
        json!({"__rl": true, "mode": "url", "value": text})
    } else if text.starts_with('=') {
        json!({"__rl": true, "mode": "id", "value": text})
    } else {
        json!({"__rl": true, "mode": "list", "value": text, "cachedResultName": text})
    }
}

impl Draft<'_> {
    /// Sets operation, place and name for a store of the table; false for others.
    pub(super) fn store_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        lists: bool,
        saves: bool,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) -> bool {
        let Some(store) = TABLE.iter().find(|s| s.short == call.short) else {
            return false;
        };
        let fetches = !lists && matches!(call.verb, Verb::Get | Verb::Download);
        if at.tool.is_some() || !(lists || saves || fetches) {
            return false;
        }
        let (resource, operation) = if lists {
            store.lists
        } else if saves {
            store.saves
        } else {
            store.fetches
        };
        params.insert("resource".into(), json!(resource));
        params.insert("operation".into(), json!(operation));
        let place =
            take(args, &[Role::Container, Role::Path, Role::Part]).map(|a| self.text(at, &a.value));
        if lists || saves {
            args.retain(|a| !matches!(&a.role, Role::Named(k) if k == "folder"));
        }
        if lists {
            if let Some(place) = &place {
                let value = if store.place.2 == Names::Locator {
                    locator(place)
                } else {
                    json!(place)
                };
                params.insert(store.place.0.into(), value);
            }
            return true;
        }
        if saves {
            let named = take(args, &[Role::FileName, Role::Title]);
            let whole = place.as_deref().is_some_and(|p| {
                p.rsplit('/')
                    .next()
                    .is_some_and(|l| l.contains('.') && !l.ends_with('.'))
            });
            let own = format!("{{{{ $binary.{}.fileName }}}}", at.binary);
            if store.place.2 == Names::Path {
                let folder = place.unwrap_or_default();
                let path = match named {
                    _ if whole => folder,
                    Some(name) => {
                        let name = self.inline(at, &name.value);
                        let path = format!("{}/{name}", folder.trim_end_matches('/'));
                        if name.contains("{{") {
                            format!("={path}")
                        } else {
                            path
                        }
                    }
                    None if at.file || folder.is_empty() => {
                        format!(
                            "={}/{own}",
                            folder.trim_start_matches('=').trim_end_matches('/')
                        )
                    }
                    None => folder,
                };
                params.insert(store.place.1.into(), json!(path));
            } else {
                if let Some(place) = &place {
                    let value = if store.place.2 == Names::Locator {
                        locator(place)
                    } else {
                        json!(place)
                    };
                    params.insert(store.place.1.into(), value);
                }
                let name = match named {
                    Some(name) => self.value(at, &name.value),
                    None => json!(format!("={own}")),
                };
                params.insert(store.name.into(), name);
            }
            if at.file && !store.binary.is_empty() {
                params.insert(store.binary.into(), Value::Bool(true));
            }
            args.retain(|a| a.role != Role::Attachment);
            return true;
        }
        let given = take(args, &[Role::Id, Role::FileName]).map(|a| self.text(at, &a.value));
        let value = match (given, place) {
            (Some(id), _) => json!(id),
            (None, Some(path)) if store.file.2 == Names::Path && path.contains('.') => json!(path),
            (None, place) => {
                if let Some(place) = place
                    && store.place.2 == Names::Locator
                {
                    params.insert(store.place.1.into(), locator(&place));
                }
                let js = self
                    .has_field(
                        at,
                        if store.file.2 == Names::Path {
                            "path"
                        } else {
                            "file id"
                        },
                    )
                    .unwrap_or_else(|| format!("$json.{}", store.file.1));
                super::expr::expression(&js)
            }
        };
        let value = match (store.file.2, value.as_str()) {
            (Names::Locator, Some(text)) => locator(text),
            _ => value,
        };
        params.insert(store.file.0.into(), value);
        true
    }
}

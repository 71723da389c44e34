//! Pages of an HTTP answer: which of n8n's ways of paging a plan asks for, and its options.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val};

/// The plan's wish for all pages: the words that say how.
pub(super) fn wish(query: &[Arg]) -> Option<&Value> {
    query.iter().find_map(|a| match (&a.role, &a.value) {
        (Role::Named(kind), Val::Lit { value }) if kind == "pages" => Some(value),
        _ => None,
    })
}

/// The address without the page it starts with, and that page.
pub(super) fn first_page(url: &str, name: &str) -> (String, Option<String>) {
    let Some((path, query)) = url.split_once('?') else {
        return (url.to_owned(), None);
    };
    let mut page = None;
    let rest: Vec<&str> = query
        .split('&')
        .filter(|pair| match pair.split_once('=') {
            Some((key, value)) if key == name => {
                page = Some(value.to_owned());
                false
            }
            _ => true,
        })
        .collect();
    let url = if rest.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", rest.join("&"))
    };
    (url, page)
}

/// `options.pagination` for a wish.
pub(super) fn options(wish: &Value, options: &mut Map<String, Value>) {
    let text = |key: &str| wish.get(key).and_then(Value::as_str);
    let pagination = if let Some(path) = text("next") {
        json!({
            "paginationMode": "responseContainsNextURL",
            "nextURL": format!("={{{{ $response.body.{path} }}}}"),
            "paginationCompleteWhen": "other",
            "completeExpression": format!("={{{{ !$response.body.{path} }}}}"),
        })
    } else {
        let name = text("name").unwrap_or("page");
        let size = wish.get("size").and_then(Value::as_u64);
        let counted = matches!(name, "offset" | "skip" | "start" | "startAt" | "from");
        let value = match size {
            Some(size) if counted => format!("={{{{ $pageCount * {size} }}}}"),
            _ if counted => "={{ $pageCount * 100 }}".to_owned(),
            _ if text("first") == Some("0") => "={{ $pageCount }}".to_owned(),
            _ => "={{ $pageCount + 1 }}".to_owned(),
        };
        json!({
            "paginationMode": "updateAParameterInEachRequest",
            "parameters": {"parameters": [{"type": "qs", "name": name, "value": value}]},
            "paginationCompleteWhen": "responseIsEmpty",
        })
    };
    options.insert("pagination".into(), json!({"pagination": pagination}));
}

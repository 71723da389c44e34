//! `${VAR}` and `${VAR:-default}` in a text of `.mcp.json`, and which variables may stand where the product fixes what for. Pure:
//! nothing is looked up here.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    Variable {
        name: &'a str,
        default: Option<&'a str>,
    },
}

/// A `${` without a `}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unclosed;

/// The text in its parts, in order. The one reader of this notation: what is shown of it, hashed and filled in is the same.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Unclosed> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        let (inside, tail) = after.split_once('}').ok_or(Unclosed)?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        pieces.push(Piece::Variable { name, default });
        rest = tail;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// The names of a text's variables, in order.
pub(super) fn variables_in(text: &str) -> Vec<&str> {
    let pieces = pieces(text).unwrap_or_default();
    let names = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Variable { name, .. } => Some(name),
        Piece::Text(_) => None,
    });
    names.collect()
}

/// The text as it is when no variable is set: defaults are taken, and what has none stays as it is written.
pub(super) fn with_defaults(text: &str) -> String {
    let Ok(pieces) = pieces(text) else {
        return text.to_owned();
    };
    let parts = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Variable {
            default: Some(default),
            ..
        } => default.to_owned(),
        Piece::Variable { name, .. } => format!("${{{name}}}"),
    });
    parts.collect()
}

/// Keys of `env` and headers whose value is n8n's own key or token, whatever else the file says.
const KEYS_OF_N8N: &[&str] = &["N8N_API_KEY", "N8N_MCP_ACCESS_TOKEN", "N8N_MCP_TOKEN"];
const KEY_HEADER: &str = "x-n8n-api-key";
/// Keys of `env` that say where n8n is.
pub(super) const ADDRESSES_OF_N8N: &[&str] = &["N8N_API_URL", "N8N_BASE_URL", "N8N_URL"];

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot<'a> {
    Env(&'a str),
    /// `of_n8n`: the address is that of n8n's own MCP server, so its bearer is n8n's token.
    Header {
        name: &'a str,
        of_n8n: bool,
    },
}

/// What is wrong with the variables of this text; None: they may stand there. What other servers get is for the user to approve;
/// only where this program fixes what a value is for, a variable of something else is a mistake or a theft.
pub(super) fn misplaced(slot: Slot<'_>, text: &str) -> Option<String> {
    let of_n8n = |variable: &str| variable.to_ascii_uppercase().contains("N8N");
    let is_key = match slot {
        Slot::Env(name) => KEYS_OF_N8N.contains(&name.to_ascii_uppercase().as_str()),
        Slot::Header { name, of_n8n } => {
            let name = name.to_ascii_lowercase();
            name == KEY_HEADER || (of_n8n && name == "authorization")
        }
    };
    let shown = match slot {
        Slot::Env(name) | Slot::Header { name, .. } => name,
    };
    if is_key {
        let other = variables_in(text).into_iter().find(|name| !of_n8n(name))?;
        return Some(format!(
            "{shown} is a key of n8n, and the variable {other} is not: only a variable with N8N in its name may fill it in; export N8N_API_KEY (or N8N_MCP_TOKEN) and write ${{N8N_API_KEY}}"
        ));
    }
    let is_address = matches!(slot, Slot::Env(name) if ADDRESSES_OF_N8N.contains(&name.to_ascii_uppercase().as_str()));
    if is_address {
        let secret = variables_in(text)
            .into_iter()
            .find(|name| agentctl_base::secrets::names_a_secret(name))?;
        return Some(format!(
            "{shown} is an address, and the variable {secret} is named like a secret: it would be sent along with every request; write the address, or ${{N8N_API_URL}}"
        ));
    }
    None
}

/// Whether an address is that of n8n's own MCP server.
pub(super) fn is_n8ns_own(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| {
        url.path()
            .trim_end_matches('/')
            .ends_with("/mcp-server/http")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart_as_it_is_filled_in() {
        let text = "a${B}c${D:-e${f}g}";
        assert_eq!(
            pieces(text).unwrap(),
            [
                Piece::Text("a"),
                Piece::Variable {
                    name: "B",
                    default: None
                },
                Piece::Text("c"),
                Piece::Variable {
                    name: "D",
                    default: Some("e${f")
                },
                Piece::Text("g}"),
            ]
        );
        assert_eq!(variables_in(text), ["B", "D"]);
        assert_eq!(with_defaults(text), "a${B}ce${fg}");
        assert_eq!(pieces("a${b"), Err(Unclosed));
        assert_eq!(pieces("$a {b} }"), Ok(vec![Piece::Text("$a {b} }")]));
    }

    #[test]
    fn n8ns_key_comes_from_a_variable_of_n8n() {
        let env = |name, text| misplaced(Slot::Env(name), text);
        for good in [
            ("N8N_API_KEY", "${N8N_API_KEY}"),
            ("N8N_API_KEY", "${PROD_n8n_KEY:-}"),
            ("N8N_API_KEY", "a literal key"),
            ("n8n_api_key", "${MY_N8N}"),
            ("OTHER_KEY", "${AWS_SECRET_ACCESS_KEY}"),
            ("N8N_API_URL", "${N8N_API_URL:-http://localhost:5678}"),
            ("N8N_API_URL", "http://${HOST}:5678"),
        ] {
            assert_eq!(env(good.0, good.1), None, "{good:?}");
        }
        for bad in [
            ("N8N_API_KEY", "${AWS_SECRET_ACCESS_KEY}"),
            ("n8n_Api_Key", "${AWS_SECRET_ACCESS_KEY}"),
            ("N8N_API_KEY", "${N8N_API_KEY}${GITHUB_TOKEN}"),
            ("N8N_API_KEY", "x${GITHUB_TOKEN:-}"),
            ("N8N_MCP_TOKEN", "${HOME}"),
            (
                "N8N_API_URL",
                "https://evil.example/${AWS_SECRET_ACCESS_KEY}",
            ),
            ("N8N_API_URL", "https://evil.example/${N8N_API_KEY}"),
        ] {
            assert!(env(bad.0, bad.1).is_some(), "{bad:?}");
        }
        let header = |name, of_n8n, text| misplaced(Slot::Header { name, of_n8n }, text);
        assert_eq!(
            header("Authorization", true, "Bearer ${N8N_MCP_TOKEN}"),
            None
        );
        assert_eq!(
            header("Authorization", false, "Bearer ${GITHUB_TOKEN}"),
            None
        );
        assert_eq!(header("X-Proxy", true, "${PROXY_SECRET}"), None);
        assert!(header("authorization", true, "Bearer ${GITHUB_TOKEN}").is_some());
        assert!(header("X-N8N-API-KEY", false, "${GITHUB_TOKEN}").is_some());
        assert_eq!(
            env("N8N_API_KEY", "${AWS_SECRET_ACCESS_KEY}").unwrap(),
            "N8N_API_KEY is a key of n8n, and the variable AWS_SECRET_ACCESS_KEY is not: only a variable with N8N in its name may fill it in; export N8N_API_KEY (or N8N_MCP_TOKEN) and write ${N8N_API_KEY}"
        );
    }
}

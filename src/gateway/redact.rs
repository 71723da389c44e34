//! Secrets out of everything that leaves the gateway: results, errors, what the journal keeps of a call.
//! Two sources: shapes that only secrets have (a table of patterns), and values that the caller knows to be secret (the
//! environment's). Pure; a value that is hidden once is hidden everywhere in the same way.

use super::untrusted::map_strings;
use regex::{Captures, Regex};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Shorter known values are not hidden: they would blot out ordinary words.
const MIN_KNOWN: usize = 8;

/// What stands where a secret was starts like this; the guard for written values looks for it.
pub const MARK: &str = "[redacted:";

struct Pattern {
    /// What kind of secret, shown in the mark.
    kind: &'static str,
    regex: Regex,
}

/// (kind, regex). A group named `keep` stays in front of the mark, one named `tail` behind it.
const TABLE: &[(&str, &str)] = &[
    (
        "private-key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ),
    ("anthropic", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    (
        "openai",
        r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    ),
    ("stripe", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("webhook-secret", r"\bwhsec_[A-Za-z0-9+/=]{16,}"),
    (
        "github",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    ),
    (
        "gitlab",
        r"\bgl(?:pat|rt|dt|ptt|cbt|soat)-[A-Za-z0-9_-]{18,}",
    ),
    ("slack", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("slack", r"\bxapp-\d-[A-Za-z0-9-]{20,}"),
    (
        "slack-webhook",
        r"(?P<keep>hooks\.slack\.com/(?:services|workflows|triggers)/)[A-Za-z0-9/_-]{20,}",
    ),
    (
        "discord-webhook",
        r"(?P<keep>discord(?:app)?\.com/api/webhooks/\d+/)[A-Za-z0-9_-]{30,}",
    ),
    ("aws", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("google", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("google", r"\bGOCSPX-[0-9A-Za-z_-]{20,}"),
    ("google", r"\bya29\.[0-9A-Za-z_-]{20,}"),
    ("sendgrid", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("npm", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("huggingface", r"\bhf_[A-Za-z0-9]{30,}"),
    ("telegram", r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b"),
    ("notion", r"\b(?:ntn_|secret_)[A-Za-z0-9]{40,}"),
    ("airtable", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{40,}"),
    ("hubspot", r"\bpat-(?:na|eu)\d-[0-9a-f-]{36}"),
    ("shopify", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    ("digitalocean", r"\bdo[opr]_v1_[a-f0-9]{64}"),
    (
        "jwt",
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    (
        "url-password",
        r"(?P<keep>\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@'\x22]{0,64}:)[^\s/@'\x22{}]{3,}(?P<tail>@)",
    ),
    (
        "bearer",
        r"(?P<keep>(?i:\bbearer)\s+)[A-Za-z0-9._~+/-]{20,}=*",
    ),
    (
        "basic-auth",
        r"(?P<keep>(?i:\bbasic)\s+)[A-Za-z0-9+/]{16,}=*",
    ),
    (
        "assigned",
        r#"(?P<keep>(?i:\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|password|passwd)\b["']?\s*[:=]\s*["']?))[^\s"'&,;{}()\[\]<>$=]{8,}"#,
    ),
];

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    TABLE
        .iter()
        .filter_map(|(kind, text)| Regex::new(text).ok().map(|regex| Pattern { kind, regex }))
        .collect()
});

/// Keys whose text value is a secret whatever it looks like. Compared without case, `_` and `-`.
const SECRET_KEYS: &[&str] = &[
    "apikey",
    "apitoken",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "secretkey",
    "secretaccesskey",
    "privatekey",
    "password",
    "passwd",
    "passphrase",
    "xapikey",
    "xn8napikey",
    "xauthtoken",
    "proxyauthorization",
];

#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Longest first: one may contain another.
    known: Vec<String>,
}

impl Redactor {
    /// Hides these values wherever they appear, besides the known shapes.
    pub fn new(known: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> = known
            .into_iter()
            .filter(|value| value.len() >= MIN_KNOWN)
            .collect();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        Redactor { known }
    }

    /// The values of the variables whose names say that they are secret.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self::new(
            variables
                .into_iter()
                .filter(|(name, _)| names_a_secret(name))
                .map(|(_, value)| value),
        )
    }

    pub fn text(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for known in &self.known {
            if out.contains(known.as_str()) {
                out = out.replace(known.as_str(), &mark("known"));
            }
        }
        for pattern in PATTERNS.iter() {
            if pattern.regex.is_match(&out) {
                out = pattern
                    .regex
                    .replace_all(&out, |found: &Captures<'_>| {
                        let group = |name| found.name(name).map_or("", |m| m.as_str());
                        let whole = found.get(0).map_or("", |m| m.as_str());
                        if whole.contains(MARK) {
                            return whole.to_owned(); // hidden already, by a value that is known
                        }
                        format!("{}{}{}", group("keep"), mark(pattern.kind), group("tail"))
                    })
                    .into_owned();
            }
        }
        out
    }

    /// Every string of the value; and the whole text below a key that names a secret, unless it is an expression.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::Object(map) => {
                let pair_is_secret = is_secret_pair(&map);
                Value::Object(
                    map.into_iter()
                        .map(|(key, item)| {
                            let secret = is_secret_key(&key) || (pair_is_secret && key == "value");
                            let item = match item {
                                Value::String(text) if secret && is_literal(&text) => {
                                    Value::String(mark("value"))
                                }
                                other => self.value(other),
                            };
                            (self.text(&key), item)
                        })
                        .collect::<Map<_, _>>(),
                )
            }
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::String(text) => Value::String(self.text(&text)),
            other => other,
        }
    }

    /// A model's raw arguments, as the journal may keep them. Text that is not JSON is handled as text.
    pub fn arguments(&self, arguments: &str) -> String {
        match super::strict_json::object(arguments) {
            Ok(map) => {
                let before = Value::Object(map);
                let after = self.value(before.clone());
                if after == before {
                    arguments.to_owned()
                } else {
                    after.to_string()
                }
            }
            Err(_) => self.text(arguments),
        }
    }
}

/// True when the text, or any text in it, holds a mark where a value was.
pub fn holds_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MARK),
        Value::Array(items) => items.iter().any(holds_mark),
        Value::Object(map) => map
            .iter()
            .any(|(key, item)| key.contains(MARK) || holds_mark(item)),
        _ => false,
    }
}

/// True for names like `N8N_API_KEY`, `SLACK_TOKEN`, `DB_PASSWORD`.
pub fn names_a_secret(variable: &str) -> bool {
    let name = variable.to_ascii_uppercase();
    name.split('_').any(|part| {
        matches!(
            part,
            "KEY"
                | "APIKEY"
                | "TOKEN"
                | "SECRET"
                | "PASSWORD"
                | "PASSWD"
                | "PASS"
                | "CREDENTIAL"
                | "CREDENTIALS"
                | "AUTH"
        )
    })
}

fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

fn is_secret_key(key: &str) -> bool {
    let plain: String = key
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    SECRET_KEYS.contains(&plain.as_str())
}

/// `{"name": "X-API-Key", "value": "…"}`: how header and query lists are kept.
fn is_secret_pair(map: &Map<String, Value>) -> bool {
    map.get("name")
        .and_then(Value::as_str)
        .is_some_and(is_secret_key)
}

/// A text that is a value itself: no expression, no placeholder, long enough.
fn is_literal(text: &str) -> bool {
    text.len() >= 6 && !text.starts_with('=') && !text.contains("{{") && !text.contains(MARK)
}

/// Redacted, then harmless to look at.
pub(super) fn clean(redactor: &Redactor, value: Value) -> Value {
    map_strings(redactor.value(value), &|s| {
        super::untrusted::text(&s).into_owned()
    })
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod redact_tests;

//! Secrets out of everything that leaves the gateway: results, errors, what the journal keeps of a call.
//! Two sources: shapes that only secrets have (a table of patterns), and values that the caller knows to be secret (the
//! environment's). Pure; a value that is hidden once is hidden everywhere in the same way.

use super::untrusted::map_strings;
use regex::{Captures, Regex};
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// Shorter known values are not hidden: they would blot out ordinary words.
const MIN_KNOWN: usize = 8;

pub use crate::secrets::MARK;

/// One shape. Its regex is compiled when a text first holds one of its marks, which most runs never meet.
struct Pattern {
    /// What kind of secret, shown in the mark.
    kind: &'static str,
    /// A text without any of these (ASCII case aside) has no such secret.
    signs: &'static [&'static str],
    /// A group named `keep` stays in front of the mark, one named `tail` behind it.
    source: &'static str,
    regex: OnceLock<Option<Regex>>,
}

const fn pattern(
    kind: &'static str,
    signs: &'static [&'static str],
    source: &'static str,
) -> Pattern {
    Pattern {
        kind,
        signs,
        source,
        regex: OnceLock::new(),
    }
}

impl Pattern {
    fn regex(&self) -> Option<&Regex> {
        self.regex
            .get_or_init(|| Regex::new(self.source).ok())
            .as_ref()
    }

    fn may_be_in(&self, text: &str) -> bool {
        self.signs.iter().any(|sign| {
            text.as_bytes()
                .windows(sign.len())
                .any(|window| window.eq_ignore_ascii_case(sign.as_bytes()))
        })
    }
}

static PATTERNS: [Pattern; 29] = [
    pattern(
        "private-key",
        &["-----begin"],
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ),
    pattern("anthropic", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    pattern(
        "openai",
        &["sk-"],
        r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    ),
    pattern(
        "stripe",
        &["k_live_", "k_test_"],
        r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}",
    ),
    pattern(
        "webhook-secret",
        &["whsec_"],
        r"\bwhsec_[A-Za-z0-9+/=]{16,}",
    ),
    pattern(
        "github",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    ),
    pattern(
        "gitlab",
        &["glpat-", "glrt-", "gldt-", "glptt-", "glcbt-", "glsoat-"],
        r"\bgl(?:pat|rt|dt|ptt|cbt|soat)-[A-Za-z0-9_-]{18,}",
    ),
    pattern("slack", &["xox"], r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    pattern("slack", &["xapp-"], r"\bxapp-[0-9]-[A-Za-z0-9-]{20,}"),
    pattern(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"(?P<keep>hooks\.slack\.com/(?:services|workflows|triggers)/)[A-Za-z0-9/_-]{20,}",
    ),
    pattern(
        "discord-webhook",
        &["/api/webhooks/"],
        r"(?P<keep>discord(?:app)?\.com/api/webhooks/[0-9]+/)[A-Za-z0-9_-]{30,}",
    ),
    pattern("aws", &["AKIA", "ASIA"], r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    pattern("google", &["AIza"], r"\bAIza[0-9A-Za-z_-]{35}"),
    pattern("google", &["GOCSPX-"], r"\bGOCSPX-[0-9A-Za-z_-]{20,}"),
    pattern("google", &["ya29."], r"\bya29\.[0-9A-Za-z_-]{20,}"),
    pattern(
        "sendgrid",
        &["SG."],
        r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ),
    pattern("npm", &["npm_"], r"\bnpm_[A-Za-z0-9]{30,}"),
    pattern("huggingface", &["hf_"], r"\bhf_[A-Za-z0-9]{30,}"),
    // The second part of a bot's token starts with AA.
    pattern("telegram", &[":AA"], r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    pattern(
        "notion",
        &["ntn_", "secret_"],
        r"\b(?:ntn_|secret_)[A-Za-z0-9]{40,}",
    ),
    pattern("airtable", &["pat"], r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{40,}"),
    pattern(
        "hubspot",
        &["pat-na", "pat-eu"],
        r"\bpat-(?:na|eu)[0-9]-[0-9a-f-]{36}",
    ),
    pattern(
        "shopify",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
    ),
    pattern("digitalocean", &["_v1_"], r"\bdo[opr]_v1_[a-f0-9]{64}"),
    pattern(
        "jwt",
        &["eyJ"],
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    pattern(
        "url-password",
        &["://"],
        r"(?P<keep>\b[a-zA-Z][a-zA-Z0-9+.-]*://[!-~&&[^/:@'\x22]]{0,64}:)[!-~&&[^/@'\x22{}]]{3,}(?P<tail>@)",
    ),
    pattern(
        "bearer",
        &["bearer"],
        r"(?P<keep>\b[Bb][Ee][Aa][Rr][Ee][Rr][ \t]+)[A-Za-z0-9._~+/-]{20,}=*",
    ),
    pattern(
        "basic-auth",
        &["basic"],
        r"(?P<keep>\b[Bb][Aa][Ss][Ii][Cc][ \t]+)[A-Za-z0-9+/]{16,}=*",
    ),
    pattern(
        "assigned",
        &["key", "token", "secret", "passw"],
        r#"(?P<keep>(?i-u:\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|password|passwd)\b)["']?[ \t]*[:=][ \t]*["']?)[!-~&&[^"'&,;{}()\[\]<>$=]]{8,}"#,
    ),
];

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
            if !pattern.may_be_in(&out) {
                continue;
            }
            if let Some(regex) = pattern.regex().filter(|regex| regex.is_match(&out)) {
                out = regex
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

/// The same for one text.
pub(super) fn clean_text(redactor: &Redactor, text: &str) -> String {
    super::untrusted::text(&redactor.text(text)).into_owned()
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

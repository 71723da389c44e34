//! Shapes that only secrets have: keys that services issue, passwords in addresses, assignments. Pure.

use super::{MARK, mark};
use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

/// One shape. Its regex is compiled when a text first holds one of its marks, which most runs never meet.
pub(crate) struct Pattern {
    /// What kind of secret, shown in the mark.
    pub(crate) kind: &'static str,
    /// A text without any of these (ASCII case aside) has no such secret.
    pub(crate) signs: &'static [&'static str],
    /// A group named `keep` stays in front of the mark, one named `tail` behind it.
    pub(crate) source: &'static str,
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
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.regex
            .get_or_init(|| Regex::new(self.source).ok())
            .as_ref()
    }
}

pub(crate) static PATTERNS: [Pattern; 29] = [
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
        &["@"],
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
        &[
            "apikey",
            "api_key",
            "api-key",
            "accesstoken",
            "access_token",
            "access-token",
            "authtoken",
            "auth_token",
            "auth-token",
            "clientsecret",
            "client_secret",
            "client-secret",
            "secretkey",
            "secret_key",
            "secret-key",
            "password",
            "passwd",
        ],
        r#"(?P<keep>(?i-u:\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|password|passwd)\b)["']?[ \t]*[:=][ \t]*["']?)[!-~&&[^"'&,;{}()\[\]<>$=]]{8,}"#,
    ),
];

/// Finds the signs of all shapes in one pass over a text. `of` says by sign which shape it belongs to.
struct Signs {
    finder: AhoCorasick,
    of: Vec<usize>,
}

static SIGNS: LazyLock<Option<Signs>> = LazyLock::new(|| {
    let signs = || {
        let numbered = PATTERNS.iter().enumerate();
        numbered.flat_map(|(at, pattern)| pattern.signs.iter().map(move |sign| (at, *sign)))
    };
    let finder = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(signs().map(|(_, sign)| sign))
        .ok()?;
    Some(Signs {
        finder,
        of: signs().map(|(at, _)| at).collect(),
    })
});

/// The shapes that the text may have in it, as bits by their place in `PATTERNS`: most texts have none, and are done with.
pub(crate) fn possible(text: &str) -> u32 {
    let Some(signs) = SIGNS.as_ref() else {
        return u32::MAX;
    };
    let mut found = 0;
    for sign in signs.finder.find_overlapping_iter(text) {
        found |= signs
            .of
            .get(sign.pattern().as_usize())
            .map_or(0, |at| 1 << at);
    }
    found
}

/// The text with every secret that its shape gives away replaced by a mark; borrowed when there is none.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    let mut may_be = possible(text);
    if may_be == 0 {
        return out;
    }
    for (at, pattern) in PATTERNS.iter().enumerate() {
        if may_be >> at & 1 == 0 {
            continue;
        }
        if let Some(regex) = pattern.regex().filter(|regex| regex.is_match(&out)) {
            let hidden = regex
                .replace_all(&out, |found: &Captures<'_>| {
                    let group = |name| found.name(name).map_or("", |m| m.as_str());
                    let whole = found.get(0).map_or("", |m| m.as_str());
                    if whole.contains(MARK) {
                        return whole.to_owned(); // hidden already, by a value that is known
                    }
                    format!("{}{}{}", group("keep"), mark(pattern.kind), group("tail"))
                })
                .into_owned();
            may_be = possible(&hidden);
            out = Cow::Owned(hidden);
        }
    }
    out
}

/// Finds the signs in texts of lower case, many places at a time; not on every machine. One sign is too short for it.
static QUICK_SIGNS: LazyLock<Option<Searcher>> = LazyLock::new(|| {
    let all: Vec<&str> = PATTERNS.iter().flat_map(|p| p.signs).copied().collect();
    // Where a sign stands the shorter ones that are in it stand too.
    let shortest = |sign: &&&str| !all.iter().any(|s| s.len() < sign.len() && holds(sign, s));
    let wanted = all.iter().filter(|sign| sign.as_bytes() != [SHORT_SIGN]);
    Searcher::new(wanted.filter(shortest).map(|s| s.to_ascii_lowercase()))
});
/// The sign of a password in an address.
const SHORT_SIGN: u8 = b'@';

/// ASCII case aside.
fn holds(text: &str, part: &str) -> bool {
    text.to_ascii_lowercase()
        .contains(&part.to_ascii_lowercase())
}

/// Where the signs stand without one of which no shape is there. Of signs that overlap one is enough: it touches what the others
/// stand in.
pub fn signs(text: &str) -> Vec<Range<usize>> {
    match (QUICK_SIGNS.as_ref(), SIGNS.as_ref()) {
        (Some(quick), _) => {
            let lower = text.to_ascii_lowercase();
            let short = memchr::memchr_iter(SHORT_SIGN, text.as_bytes());
            let short = short.map(|at| at..at + 1);
            let found = quick.find_iter(&lower).map(|m| m.start()..m.end());
            short.chain(found).collect()
        }
        (None, Some(signs)) => signs.finder.find_iter(text).map(|m| m.range()).collect(),
        // Then every text is looked at closely.
        (None, None) => std::iter::once(0..text.len()).collect(),
    }
}

/// Where keys that services issue stand; what only its neighbourhood makes a secret is left out.
pub fn issued(text: &str) -> Vec<Range<usize>> {
    let may_be = possible(text);
    if may_be == 0 {
        return Vec::new();
    }
    let kinds = PATTERNS.iter().enumerate();
    kinds
        .filter(|(at, p)| may_be >> at & 1 == 1 && !p.source.contains("(?P<keep>"))
        .filter_map(|(_, pattern)| pattern.regex())
        .flat_map(|regex| regex.find_iter(text).map(|m| m.range()).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
#[path = "shapes_tests.rs"]
mod shapes_tests;

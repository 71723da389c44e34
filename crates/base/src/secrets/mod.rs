//! Secrets that a person writes into a sentence ("log in with the password …"), spotted by the words around them and by
//! their well-known look. Pure; the request is cleaned with it before anything else reads or records it.

pub mod forms;
mod known;
pub(crate) mod shapes;

pub use forms::may_be_coded;
pub use known::Known;
pub use shapes::{issued, mask, signs};

use crate::lazy_regex::Pattern;
use std::ops::Range;
use std::sync::LazyLock;

/// What stands where a secret was starts like this.
pub const MARK: &str = "[redacted:";

/// What stands where a secret of this kind was.
pub fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// Words that say: what follows is secret. A regex alternation without capture groups.
pub const SECRET_WORD: &str = r"(?:pass(?:word|wort|phrase|code)|pwd|contraseña|clave secreta|mot de passe|kennwort|api[- ]?key|api[- ]?schlüssel|api[- ]?token|access[- ]?token|auth[- ]?token|bearer(?: token)?|token|secret(?: key)?|client secret|private key|schlüssel|clave de api|clé api|pin)";

static SECRET: LazyLock<Pattern> = LazyLock::new(|| {
    let pattern = format!(
        r"(?P<lead>\b(?:with\s+|using\s+|mit\s+|con\s+|avec\s+|and\s+|und\s+|y\s+|et\s+)?(?:the\s+|our\s+|my\s+|dem\s+|das\s+|la\s+|el\s+|le\s+)?{SECRET_WORD}\s*(?:is\s+|ist\s+|es\s+|est\s+|:\s*|=\s*)?)(?P<value>[\x22'`„“]?[^\s\x22'`“”,;()]{{6,}}[\x22'`“”]?)|(?P<known>\b(?:sk-[\w-]{{8,}}|gh[pousr]_\w{{10,}}|xox[abpr]-[\w-]{{8,}}|AKIA[0-9A-Z]{{12,}}|AIza[\w-]{{20,}}|eyJ[\w-]{{10,}}\.[\w.-]+|glpat-[\w-]{{10,}}|pk_live_\w+|sk_live_\w+|rk_live_\w+)|(?:[a-z]+://)[^\s:@/]+:(?P<inurl>[^\s@/]{{3,}})@)"
    );
    Pattern::new(&pattern)
});

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

static ASKED_FOR: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(&format!(
        r"\b{SECRET_WORD}s?\b|\bcredentials?\b|\b(?:recovery|verification|one[- ]time|2fa|otp|mfa|backup) codes?\b|\bsession (?:id|cookie)s?\b|\bcookies?\b"
    ))
});

/// True when a question's words, or its name, ask for something that only its owner may know.
pub fn asked_for(text: &str) -> bool {
    ASKED_FOR.is_match(&text.to_lowercase().replace('_', " "))
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// The secret itself.
    pub value: Range<usize>,
    /// With the words that lead to it.
    pub whole: Range<usize>,
}

/// The secrets of a text, in its order.
pub fn spoken(text: &str) -> Vec<Spoken> {
    SECRET
        .captures_iter(text)
        .filter_map(|c| {
            if let Some(known) = c.name("known") {
                let value = c.name("inurl").map_or(known.range(), |p| p.range());
                return Some(Spoken {
                    whole: value.clone(),
                    value,
                });
            }
            let value = c.name("value")?;
            looks_secret(value.as_str()).then(|| Spoken {
                value: value.range(),
                whole: c.name("lead").map_or(value.start(), |l| l.start())..value.end(),
            })
        })
        .collect()
}

/// The text with each secret replaced by a mark.
pub fn hide(text: &str) -> String {
    let mut out = text.to_owned();
    for secret in spoken(text).into_iter().rev() {
        out.replace_range(secret.value, "[redacted:secret]");
    }
    out
}

/// A value that is no ordinary word: letters with figures or signs.
fn looks_secret(value: &str) -> bool {
    let v = value.trim_matches(|c: char| "\"'`„“”".contains(c));
    let figures = v.chars().any(|c| c.is_ascii_digit());
    let letters = v.chars().any(char::is_alphabetic);
    let signs = v
        .trim_end_matches(['.', ',', '!', '?', ':', ';'])
        .chars()
        .any(|c| "!$%&*+#?^~".contains(c));
    (letters && figures || signs && letters)
        && !v.contains('@')
        && !v.starts_with("http")
        && !v.starts_with('{')
        && !v.starts_with('<')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_asks_for_a_secret_is_known_by_its_words() {
        for text in [
            "Paste your n8n API key",
            "n8n_api_key",
            "apiKey",
            "Your PASSWORD, please",
            "Which tokens may be used?",
            "Bitte das Passwort eingeben",
            "Enter the verification code",
        ] {
            assert!(asked_for(text), "{text}");
        }
        for text in ["Which channel?", "Which keyboard?", "spinning", "topic"] {
            assert!(!asked_for(text), "{text}");
        }
    }

    #[test]
    fn secrets_in_sentences_are_hidden_and_the_rest_stays() {
        for (text, hidden) in [
            (
                "log in as bob with the password Sommer2031! and go on",
                "log in as bob with the password [redacted:secret] and go on",
            ),
            ("API key: ab12cd34ef", "API key: [redacted:secret]"),
            (
                "use sk-abcdefgh12345 for it",
                "use [redacted:secret] for it",
            ),
            (
                "read postgres://app:hunter2@db/x",
                "read postgres://app:[redacted:secret]@db/x",
            ),
            (
                "mit dem Passwort geheim99 anmelden",
                "mit dem Passwort [redacted:secret] anmelden",
            ),
        ] {
            assert_eq!(hide(text), hidden);
        }
    }

    #[test]
    fn ordinary_words_after_a_secret_word_are_no_secret() {
        for text in [
            "send a password reset mail",
            "post the token count to Slack #ai",
            "Bearer token protected",
            "remind me of the pin board every 2 days",
        ] {
            assert_eq!(hide(text), text);
        }
    }
}

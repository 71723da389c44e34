//! Words of a command that is printed, so that it can be pasted into a shell as it stands.

use crate::untrusted;

/// One word of words from outside: what steers or hides in a terminal is made harmless.
pub fn word(text: &str) -> String {
    quoted(&untrusted::line(text))
}

/// One word, to the byte: quoted where a shell would read it otherwise.
pub fn quoted(text: &str) -> String {
    let is_bare = |c: char| c.is_alphanumeric() || "-_./@:+,=%…".contains(c);
    match !text.is_empty() && text.chars().all(is_bare) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_read_more_than_one_or_another() {
        for bare in ["orders", "workflows/Bestellung-ä.json", "n8n@1:x", "a=b"] {
            assert_eq!(word(bare), bare);
        }
        assert_eq!(word("a b.json"), "'a b.json'");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word("$HOME;*"), "'$HOME;*'");
        assert_eq!(word(""), "''");
        assert!(!word("a\u{1b}[31m").contains('\u{1b}'));
    }
}

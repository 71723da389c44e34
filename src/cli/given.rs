//! `--input`: what a flow sees besides the message, as pairs and files. One flag takes several of them, so a word that stands behind them
//! and is neither is what it would have been before them.

use std::path::Path;

/// What stood behind `--input`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sorted<'a> {
    /// Files, and KEY=VALUE.
    pub input: Vec<&'a str>,
    /// The other words, in their order.
    pub words: Vec<&'a str>,
}

/// Whether it reads as KEY=VALUE.
pub fn is_pair(word: &str) -> bool {
    word.split_once('=').is_some_and(|(key, _)| {
        let mut letters = key.chars();
        letters
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    })
}

/// The first is always input: the flag was written for it. `is_file`: whether a file stands there.
pub fn sorted<'a>(given: &'a [String], is_file: impl Fn(&Path) -> bool) -> Sorted<'a> {
    let mut sorted = Sorted::default();
    for (at, word) in given.iter().enumerate() {
        let path = Path::new(word);
        let named = path.extension().is_some_and(|ends| ends == "json");
        match at == 0 || is_pair(word) || named || is_file(path) {
            true => sorted.input.push(word),
            false => sorted.words.push(word),
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::{Sorted, sorted};

    #[test]
    fn pairs_and_files_are_input_and_what_else_stands_there_is_not() {
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let Sorted { input, words } = sorted(&words, |path| path.ends_with("there"));
            format!("{input:?} {words:?}")
        };
        for (words, wanted) in [
            (
                vec!["a=1", "b=x y", "locale=de-DE"],
                r#"["a=1", "b=x y", "locale=de-DE"] []"#,
            ),
            (vec!["a=1", "Show me x = 3"], r#"["a=1"] ["Show me x = 3"]"#),
            (vec!["r.json", "Hello"], r#"["r.json"] ["Hello"]"#),
            (
                vec!["none", "there", "o.json"],
                r#"["none", "there", "o.json"] []"#,
            ),
            (
                vec!["a=1", "assistant", "Hello"],
                r#"["a=1"] ["assistant", "Hello"]"#,
            ),
        ] {
            assert_eq!(of(&words), wanted);
        }
    }
}

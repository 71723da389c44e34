//! How many of a thing, in words: one mechanism for all texts, so that none says "1 runs".

use std::fmt::Display;

/// "1 model call", "2 model calls", "0 entries". `thing`: what one of them is called; its last word gets the plural's ending.
pub fn counted(count: impl Display, thing: &str) -> String {
    let count = count.to_string();
    if count == "1" {
        return format!("1 {thing}");
    }
    let (stem, ending) = match thing.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => (stem, "ies"),
        _ if ["s", "x", "ch", "sh"]
            .iter()
            .any(|end| thing.ends_with(end)) =>
        {
            (thing, "es")
        }
        _ => (thing, "s"),
    };
    format!("{count} {stem}{ending}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn of_one_thing_its_name_and_of_others_its_plural() {
        let told = [
            counted(1, "model call"),
            counted(2u64, "model call"),
            counted(0, "entry"),
            counted("1", "entry"),
            counted(3, "day"),
            counted(5, "box"),
            counted(7, "match"),
            counted(11, "guess"),
        ];
        let expected = [
            "1 model call",
            "2 model calls",
            "0 entries",
            "1 entry",
            "3 days",
            "5 boxes",
            "7 matches",
            "11 guesses",
        ];
        assert_eq!(told, expected);
    }
}

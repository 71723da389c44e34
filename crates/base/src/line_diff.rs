//! Two texts compared line by line. The only place that does so: the comparison is generic code, and every crate that called it
//! by itself had half a megabyte of copies of its own.

use similar::TextDiff;
use std::ops::Range;

/// Changes that stand close together, with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the text before, from 0.
    pub before: Range<usize>,
    /// Lines of the text after, from 0.
    pub after: Range<usize>,
    /// Each line behind its sign: a space, `-` or `+`.
    pub text: String,
}

/// The unified diff with `context` lines around each change; empty: the texts are equal. `names`: what the texts before and after are
/// called in its head; None: it has no head.
pub fn unified(before: &str, after: &str, context: usize, names: Option<(&str, &str)>) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    unified.context_radius(context);
    if let Some((before, after)) = names {
        unified.header(before, after);
    }
    unified.to_string()
}

/// From what the user approved to what is there now, for a person: at most 400 lines.
pub fn since_approved(before: &str, after: &str) -> String {
    const MAX_LINES: usize = 400;
    let whole = unified(before, after, 3, Some(("approved", "now")));
    let mut lines: Vec<&str> = whole.lines().take(MAX_LINES + 1).collect();
    if lines.len() > MAX_LINES {
        lines.pop();
        lines.push("… (more)");
    }
    lines.join("\n")
}

/// The hunks of the unified diff, for whoever writes their places in another way.
pub fn hunks(before: &str, after: &str, context: usize) -> Vec<Hunk> {
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    let hunks = unified.context_radius(context).iter_hunks();
    hunks
        .filter_map(|hunk| {
            let (first, last) = (hunk.ops().first()?, hunk.ops().last()?);
            let changes = hunk.iter_changes();
            Some(Hunk {
                before: first.old_range().start..last.old_range().end,
                after: first.new_range().start..last.new_range().end,
                text: changes.map(|c| format!("{}{c}", c.tag())).collect(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_a_head_only_with_names_and_is_empty_without_a_change() {
        let (before, after) = ("a\nb\nc\n", "a\nx\nc\n");
        assert_eq!(
            unified(before, after, 0, Some(("old", "new"))),
            "--- old\n+++ new\n@@ -2 +2 @@\n-b\n+x\n"
        );
        assert_eq!(
            unified(before, after, 1, None),
            "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"
        );
        assert_eq!(unified(before, before, 3, Some(("old", "new"))), "");
    }

    #[test]
    fn hunks_say_which_lines_they_are_of() {
        let far = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let found = hunks(&format!("a\n{far}"), &format!("{far}z\n"), 1);
        let expected = [
            Hunk {
                before: 0..2,
                after: 0..1,
                text: "-a\n 1\n".to_owned(),
            },
            Hunk {
                before: 8..9,
                after: 7..9,
                text: " 8\n+z\n".to_owned(),
            },
        ];
        assert_eq!(found, expected);
    }
}

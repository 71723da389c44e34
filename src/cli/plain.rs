//! Text from outside, as a message may hold it.

use agentctl_base::untrusted;

/// Longest text of a line that comes from outside (a tool's argument, an error), in characters.
const SHOWN: usize = 100;

/// Text from outside on one line: control characters out, cut to [`SHOWN`] characters.
pub fn plain(text: &str) -> String {
    let mut out: String = plain_long(text).chars().take(SHOWN).collect();
    if text.chars().count() > SHOWN {
        out.push('…');
    }
    out
}

/// Text from outside, whole, on one line, with what steers or hides (ANSI escapes, bidi tricks) made harmless.
pub fn plain_long(text: &str) -> String {
    untrusted::line(text)
}

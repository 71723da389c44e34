//! Text from outside as SVG and HTML may hold it.

use agentctl_base::untrusted;

/// One line of text for the content of an element or for a quoted attribute. What steers or hides is a visible mark, as on a terminal;
/// what XML has no place for is U+FFFD.
pub fn text(of: &str) -> String {
    escaped(&untrusted::line(of))
}

/// The same, with its line breaks.
pub fn lines(of: &str) -> String {
    escaped(&untrusted::text(of))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn no_name_leaves_its_place() {
        assert_eq!(
            text("</title><script>alert('1')</script> & \"x\"\u{ffff}\u{202e}\u{0}"),
            "&lt;/title&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;\u{fffd}\u{fffd}\u{fffd}"
        );
    }
}

//! The value of a parameter with `=` in front: text with `{{ code }}` in it, cut as n8n cuts it.

/// A part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Text(&'a str),
    Code {
        code: &'a str,
        /// Byte offset of the code in the template.
        at: usize,
        /// There is a `}}`; without one, n8n takes the rest of the text as code.
        closed: bool,
    },
}

/// The parts in order. Braces behind an odd number of backslashes are text.
pub(super) fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(open) = unescaped(template, at, "{{") {
        if open > at {
            parts.extend(template.get(at..open).map(Part::Text));
        }
        let start = open + 2;
        let close = unescaped(template, start, "}}");
        let end = close.unwrap_or(template.len());
        parts.extend(template.get(start..end).map(|code| Part::Code {
            code,
            at: start,
            closed: close.is_some(),
        }));
        at = close.map_or(template.len(), |close| close + 2);
    }
    if at < template.len() {
        parts.extend(template.get(at..).map(Part::Text));
    }
    parts
}

/// The code parts alone.
pub(super) fn code(template: &str) -> impl Iterator<Item = &str> {
    parts(template).into_iter().filter_map(|part| match part {
        Part::Code { code, .. } => Some(code),
        Part::Text(_) => None,
    })
}

fn unescaped(text: &str, from: usize, braces: &str) -> Option<usize> {
    let mut at = from;
    loop {
        let found = at + text.get(at..)?.find(braces)?;
        let before = text.get(from..found)?;
        let slashes = before.bytes().rev().take_while(|b| *b == b'\\').count();
        if slashes % 2 == 0 {
            return Some(found);
        }
        at = found + braces.len();
    }
}

#[cfg(test)]
mod tests {
    use super::{Part::*, parts};

    #[test]
    fn templates_are_cut_at_the_first_closing_braces() {
        assert_eq!(parts(""), []);
        assert_eq!(parts("a"), [Text("a")]);
        let code = |code, at, closed| Code { code, at, closed };
        assert_eq!(
            parts("a{{ b }}c{{d}}"),
            [
                Text("a"),
                code(" b ", 3, true),
                Text("c"),
                code("d", 11, true)
            ]
        );
        assert_eq!(
            parts("{{ {a:{b:1}} }}"),
            [code(" {a:{b:1", 2, true), Text(" }}")]
        );
        assert_eq!(parts("x {{ y }"), [Text("x "), code(" y }", 4, false)]);
        assert_eq!(parts("\\{{ a }}"), [Text("\\{{ a }}")]);
        assert_eq!(parts("\\\\{{ a }}"), [Text("\\\\"), code(" a ", 4, true)]);
        assert_eq!(parts("{{ '\\}}' }}"), [code(" '\\}}' ", 2, true)]);
    }
}

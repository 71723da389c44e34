//! Python in a Code node: whether it parses. n8n makes a function of it, so it may be indented and `return` at the top.

use super::script::Problem;

const HEAD: &str = "def body():\n";
const STEP: &str = "    ";
/// A longer source is taken as right.
const LONGEST: usize = 400_000;

/// Why the code does not parse.
pub(super) fn problem(code: &str) -> Option<Problem> {
    let says_something = |line: &str| !line.is_empty() && !line.starts_with('#');
    if code.len() > LONGEST || !code.lines().map(str::trim).any(says_something) {
        return None;
    }
    let mut source = HEAD.to_owned();
    for line in code.split_inclusive('\n') {
        if !line.trim().is_empty() {
            source.push_str(STEP);
        }
        source.push_str(line);
    }
    let wrong = ruff_python_parser::parse_module(&source).err()?;
    Some(Problem {
        message: wrong.error.to_string(),
        at: unwrapped(code, &source, wrong.location.start().to_usize()),
    })
}

/// The offset in the code of an offset in the source made from it.
fn unwrapped(code: &str, source: &str, at: usize) -> usize {
    let before = source.get(..at).unwrap_or(source);
    let line = before.matches('\n').count().saturating_sub(1);
    let column = before.len() - before.rfind('\n').map_or(0, |n| n + 1);
    let starts = std::iter::once(0).chain(code.match_indices('\n').map(|(n, _)| n + 1));
    let start = starts.take(line + 1).last().unwrap_or(0);
    (start + column.saturating_sub(STEP.len())).min(code.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_the_body_of_a_function() {
        for code in [
            "",
            "# nothing\n",
            "return _items",
            "    x = 1\n    return x",
            "def f(a):\n    return a\n\nreturn [f(i) for i in _items]",
            "match x:\n  case 1: pass",
        ] {
            assert_eq!(problem(code), None, "{code}");
        }
        for (code, at) in [
            ("x = (1\nreturn x", 7),
            ("if x\n  pass", 4),
            ("x = 1\n  y = 2", 6),
            ("const a = 1;", 6),
            ("for a in b:\nreturn a", 12),
        ] {
            assert_eq!(problem(code).map(|p| p.at), Some(at), "{code}");
        }
    }

    #[test]
    fn deep_nesting_is_no_crash() {
        let _ = problem(&"(".repeat(20_000));
        let _ = problem(&"-".repeat(20_000));
        let _ = problem(&"not ".repeat(20_000));
        let _ = problem(&"a if b else ".repeat(5_000));
    }
}

//! Texts that are one `$fromAI(…)` call, which n8n leaves alone where it takes no expression. Pure.

/// `{{ $fromAI('name', …) }}` or the bare call, with nothing around it and no call within it.
pub(super) fn is_one_from_ai_call(text: &str) -> bool {
    const MARKER: &str = "/*n8n-auto-generated-fromAI-override*/";
    let mut text = text.trim();
    if let Some(inner) = text.strip_prefix("{{").and_then(|t| t.strip_suffix("}}")) {
        text = inner.trim();
    }
    text = text.strip_prefix(MARKER).map_or(text, str::trim);
    let name = "$fromai";
    let Some(head) = text.get(..name.len()) else {
        return false;
    };
    if !head.eq_ignore_ascii_case(name) {
        return false;
    }
    let rest = text.get(name.len()..).unwrap_or_default().trim_start();
    let Some(arguments) = rest.strip_prefix('(') else {
        return false;
    };
    is_plain_argument_list(arguments)
}

/// Literals up to the closing parenthesis that ends the text: no calls, operators, variables or interpolation.
fn is_plain_argument_list(text: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            Some(_) if c == '\\' => {
                chars.next();
            }
            Some('`') if c == '$' && chars.peek() == Some(&'{') => return false,
            Some(q) => {
                if c == q {
                    quote = None;
                }
            }
            None if c == ')' => return chars.all(char::is_whitespace),
            None => {
                if matches!(c, '\'' | '"' | '`') {
                    if c == '`' && (before.is_ascii_alphanumeric() || before == '_') {
                        return false;
                    }
                    quote = Some(c);
                } else if !(c.is_ascii_alphanumeric() || c.is_whitespace() || ".,-".contains(c)) {
                    return false;
                }
                if !c.is_whitespace() {
                    before = c;
                }
            }
        }
    }
    false
}

//! Places in the texts of a pack, in curly brackets.

/// Fills the places of a text: `{name}` becomes the value, a place that nobody knows stays as it is.
pub(crate) fn filled(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after
            .split_once('}')
            .map(|(name, rest)| (value(name), name, rest))
        {
            Some((Some(said), _, behind)) => {
                out.push_str(&said);
                rest = behind;
            }
            _ => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

//! How much room a text takes, without a font: letters are narrow, middling or wide, in parts of the font's size.

const NARROW: f64 = 0.33;
const MIDDLING: f64 = 0.56;
const BROAD: f64 = 0.76;
const FULL: f64 = 1.05;

fn width_of(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | ' '
        | '(' | ')' | '[' | ']' => NARROW,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => BROAD + 0.1,
        'A'..='Z' | '_' | '#' | '&' | '+' | '=' | '…' => BROAD,
        '\u{0}'..='\u{10ff}' => MIDDLING,
        _ => FULL,
    }
}

/// In parts of the font's size.
pub fn width(text: &str) -> f64 {
    text.chars().map(width_of).sum()
}

/// A workflow's name as a heading: one that is missing is said, and a long one is cut.
pub fn heading(name: &str) -> String {
    const MOST: usize = 120;
    match name.trim() {
        "" => "Workflow without a name".to_owned(),
        name if name.chars().count() > MOST => {
            let head: String = name.chars().take(MOST).collect();
            format!("{}…", head.trim_end())
        }
        name => name.to_owned(),
    }
}

/// The text in at most `most` lines of at most `room` (parts of the font's size), broken between words where it can be; what is left
/// out is shown by an ellipsis.
pub fn wrapped(text: &str, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        for piece in pieces(word, room) {
            let joined = match line.is_empty() {
                true => piece.clone(),
                false => format!("{line} {piece}"),
            };
            if width(&joined) <= room || line.is_empty() {
                line = joined;
            } else {
                lines.push(std::mem::replace(&mut line, piece));
            }
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} …"), room);
        }
    }
    lines
}

/// A word that is longer than a line, in pieces.
fn pieces(word: &str, room: f64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut taken = 0.0;
    for c in word.chars() {
        taken += width_of(c);
        if taken > room {
            pieces.push(String::new());
            taken = width_of(c);
        }
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces
}

/// The text in one line; its end is left out where there is no room for it.
pub fn cut(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = width_of('…');
    for c in text.trim_end_matches(" …").chars() {
        taken += width_of(c);
        if taken > room {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out + "…"
}

#[cfg(test)]
mod tests {
    use super::{cut, width, wrapped};

    #[test]
    fn text_is_broken_between_words_and_cut_at_its_end() {
        let text = "Look for the customer in the list of all customers";
        let lines = wrapped(text, 10.0, 3);
        assert_eq!(
            lines,
            ["Look for the", "customer in the list", "of all customers"]
        );
        assert_eq!(
            wrapped(text, 10.0, 2),
            ["Look for the", "customer in the list…"]
        );
        assert!(lines.iter().all(|line| width(line) <= 10.0));
        assert_eq!(wrapped(&"x".repeat(40), 10.0, 2).len(), 2);
        assert_eq!(cut("append: Orders", 5.6), "append: O…");
        assert_eq!(cut("append: Orders", 5.0), "append:…");
        assert_eq!(cut("short", 5.0), "short");
        assert_eq!(wrapped("", 5.0, 2), Vec::<String>::new());
    }
}

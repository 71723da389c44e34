//! Where each key of a JSON text stands, so that a message about a value can name its line.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// JSON pointer of each object member and array item → its line, from 1. A pointer that occurs twice (a duplicate key) is in the
/// second map with its second line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KeyLines {
    pub lines: BTreeMap<String, usize>,
    pub duplicates: BTreeMap<String, usize>,
}

enum Open {
    Object { key: Option<String> },
    Array { at: usize },
}

/// `text` must be JSON (serde_json read it); on anything else the answer is just incomplete.
pub(super) fn key_lines(text: &str) -> KeyLines {
    let mut found = KeyLines::default();
    let mut stack: Vec<Open> = Vec::new();
    let mut line = 1;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            '{' => stack.push(Open::Object { key: None }),
            '[' => stack.push(Open::Array { at: 0 }),
            '}' | ']' => {
                stack.pop();
                done(&mut stack);
            }
            ',' => {}
            '"' => {
                let mut raw = String::from('"');
                let mut escaped = false;
                for c in chars.by_ref() {
                    raw.push(c);
                    match c {
                        _ if escaped => escaped = false,
                        '\\' => escaped = true,
                        '"' => break,
                        _ => {}
                    }
                }
                if let Some(Open::Object { key: key @ None }) = stack.last_mut() {
                    *key = Some(serde_json::from_str(&raw).unwrap_or_default());
                    let pointer = pointer(&stack);
                    match found.lines.entry(pointer) {
                        Entry::Occupied(first) => {
                            found.duplicates.insert(first.key().clone(), line);
                        }
                        Entry::Vacant(place) => {
                            place.insert(line);
                        }
                    }
                } else {
                    done(&mut stack);
                }
            }
            c if c.is_whitespace() || c == ':' => {}
            _ => {
                // A number, true, false or null: the rest of it.
                while chars
                    .peek()
                    .is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '+' | '-'))
                {
                    chars.next();
                }
                done(&mut stack);
            }
        }
    }
    found
}

/// A value is complete: the object waits for its next key, the array for its next item.
fn done(stack: &mut [Open]) {
    match stack.last_mut() {
        Some(Open::Object { key }) => *key = None,
        Some(Open::Array { at }) => *at += 1,
        None => {}
    }
}

fn pointer(stack: &[Open]) -> String {
    let mut out = String::new();
    for open in stack {
        let part = match open {
            Open::Object { key } => key.clone().unwrap_or_default(),
            Open::Array { at } => at.to_string(),
        };
        out.push('/');
        out.push_str(&part.replace('~', "~0").replace('/', "~1"));
    }
    out
}

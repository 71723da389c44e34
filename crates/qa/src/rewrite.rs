//! A changed document put back into its text so that only what changed differs: indentation, order, inline lists and every
//! other byte stay as somebody wrote them. A diff of the file then shows the change and nothing else.

use super::scan::{Entry, Kind, Scanner};
use serde::Serialize;
use serde_json::{Map, Value};
use std::ops::Range;

/// The text of `new`, made from `text`, which holds `old`.
pub fn rewrite(text: &str, old: &Value, new: &Value) -> String {
    let scanner = Scanner::new(text);
    let start = scanner.skip_space(0);
    let mut rewriter = Rewriter {
        text,
        scanner,
        unit: unit_of(text),
        edits: Vec::new(),
    };
    let root = start..scanner.value_end(start);
    rewriter.value(&root, old, new, 0);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in &rewriter.edits {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(replacement);
        at = range.end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    // What was written must be what was meant (repeated keys, say, have no place of their own): else write it all anew.
    match serde_json::from_str::<Value>(&out) {
        Ok(read) if read == *new => out,
        _ => {
            let mut whole = rewriter.written(new, 0);
            if text.ends_with('\n') {
                whole.push('\n');
            }
            whole
        }
    }
}

/// What one level is indented by; None when the text has no lines.
fn unit_of(text: &str) -> Option<String> {
    let after = text.split_once('\n')?.1;
    let line = after.lines().find(|line| !line.trim().is_empty())?;
    let blank: String = line
        .chars()
        .take_while(|c| matches!(c, ' ' | '\t'))
        .collect();
    Some(if blank.is_empty() {
        "  ".to_owned()
    } else {
        blank
    })
}

struct Rewriter<'a> {
    text: &'a str,
    scanner: Scanner<'a>,
    unit: Option<String>,
    /// In the order of the text, not overlapping.
    edits: Vec<(Range<usize>, String)>,
}

impl Rewriter<'_> {
    fn replace(&mut self, range: Range<usize>, replacement: String) {
        self.edits.push((range, replacement));
    }

    fn value(&mut self, at: &Range<usize>, old: &Value, new: &Value, depth: usize) {
        if old == new {
            return;
        }
        let kind = self.scanner.kind(at.start);
        match (old, new, kind) {
            (Value::Object(o), Value::Object(n), Kind::Object) => self.object(at, o, n, depth),
            (Value::Array(o), Value::Array(n), Kind::Array) => self.array(at, o, n, depth),
            _ => {
                let written = self.written(new, depth);
                self.replace(at.clone(), written);
            }
        }
    }

    fn object(
        &mut self,
        at: &Range<usize>,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        depth: usize,
    ) {
        let entries: Vec<Entry> = self.scanner.entries(at.start).collect();
        let key = |entry: &Entry| {
            let key = entry.key.clone().unwrap_or(0..0);
            self.scanner.unescaped(&key).into_owned()
        };
        let keys: Vec<String> = entries.iter().map(key).collect();
        let stays: Vec<bool> = keys.iter().map(|k| new.contains_key(k)).collect();
        let added: Vec<(&String, &Value)> =
            new.iter().filter(|(k, _)| !old.contains_key(*k)).collect();
        if !stays.contains(&true) {
            let written = self.written(&Value::Object(new.clone()), depth);
            return self.replace(at.clone(), written);
        }
        let more: Vec<String> = added
            .iter()
            .map(|(k, v)| {
                let space = if self.unit.is_some() { " " } else { "" };
                format!(
                    "{}:{space}{}",
                    Value::from(k.as_str()),
                    self.written(v, depth + 1)
                )
            })
            .collect();
        self.list(at, &entries, &stays, more, |rewriter, index, entry| {
            if let Some(key) = keys.get(index)
                && let (Some(o), Some(n)) = (old.get(key), new.get(key))
            {
                rewriter.value(&entry.value, o, n, depth + 1);
            }
        });
    }

    /// Entries at both ends that are the same stay; those between are changed one by one, or taken out and put in.
    fn array(&mut self, at: &Range<usize>, old: &[Value], new: &[Value], depth: usize) {
        let entries: Vec<Entry> = self.scanner.entries(at.start).collect();
        let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let shorter = old.len().min(new.len());
        let back = old
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        let back = back.min(shorter - front);
        let (olds, news) = (old.len() - back, new.len() - back);
        // Where entries went away or came, those beside them are matched in order.
        let kept = (olds - front).min(news - front);
        let more = new.get(front + kept..news).unwrap_or_default();
        if kept + front == 0 && !more.is_empty() || (!more.is_empty() && back > 0) || new.is_empty()
        {
            let written = self.written(&Value::Array(new.to_vec()), depth);
            return self.replace(at.clone(), written);
        }
        let stays: Vec<bool> = (0..old.len())
            .map(|i| i < front + kept || i >= olds)
            .collect();
        let more = more.iter().map(|v| self.written(v, depth + 1)).collect();
        self.list(at, &entries, &stays, more, |rewriter, index, entry| {
            if index < front + kept
                && let (Some(o), Some(n)) = (old.get(index), new.get(index))
            {
                rewriter.value(&entry.value, o, n, depth + 1);
            }
        });
    }

    /// Keeps (and changes by `each`) the entries that stay, at least one; takes out the others; appends `more`.
    fn list(
        &mut self,
        at: &Range<usize>,
        entries: &[Entry],
        stays: &[bool],
        more: Vec<String>,
        mut each: impl FnMut(&mut Self, usize, &Entry),
    ) {
        let starts = |e: &Entry| e.key.as_ref().map_or(e.value.start, |k| k.start);
        let first = entries.first().map_or(at.end, starts);
        // What stands between two entries besides the comma.
        let gap = self
            .text
            .get(at.start + 1..first)
            .unwrap_or_default()
            .to_owned();
        let last_kept = stays.iter().rposition(|stays| *stays);
        let mut kept_before: Option<usize> = None;
        for (index, entry) in entries.iter().enumerate() {
            if stays.get(index) == Some(&true) {
                each(self, index, entry);
                kept_before = Some(index);
                if Some(index) == last_kept {
                    for text in &more {
                        self.replace(entry.value.end..entry.value.end, format!(",{gap}{text}"));
                    }
                }
                continue;
            }
            let range = match (
                kept_before,
                index.checked_sub(1).and_then(|i| entries.get(i)),
                entries.get(index + 1),
            ) {
                // Behind one that stays: with the comma before it.
                (Some(_), Some(before), _) => before.value.end..entry.value.end,
                // In front of all that stay: with the comma behind it.
                (_, _, Some(next)) => starts(entry)..starts(next),
                _ => continue,
            };
            self.replace(range, String::new());
        }
    }

    /// A value as it stands at this depth.
    fn written(&self, value: &Value, depth: usize) -> String {
        let Some(unit) = &self.unit else {
            return value.to_string();
        };
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        if value.serialize(&mut serializer).is_err() {
            return value.to_string();
        }
        let text = String::from_utf8_lossy(&bytes);
        let line_end = if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        text.replace('\n', &format!("{line_end}{}", unit.repeat(depth)))
    }
}

#[cfg(test)]
#[path = "rewrite_tests.rs"]
mod rewrite_tests;

//! The parts of a hand-written file: headings (with `#`, or underlined), list items that carry an id, and the rows of tables
//! whose columns have names; each with the text below it. Pure: borrows from the source, changes nothing.

use super::entry::leading_id;

/// How deep an item of a list or a row of a table stands: below every heading.
pub const ITEM: usize = 7;

/// One heading, item or row of the source with the text below it.
#[derive(Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// From 1.
    pub line: usize,
    /// 0: the text before the first heading.
    pub depth: usize,
    pub heading: &'a str,
    /// Of an item or a row: that line itself comes first, so that it can stay text where it is no entry.
    pub body: Vec<(usize, &'a str)>,
    /// Of a row: the names of its columns and what stands in them.
    pub cells: Vec<(&'a str, &'a str)>,
}

impl<'a> Part<'a> {
    fn new(line: usize, depth: usize, heading: &'a str) -> Self {
        Part {
            line,
            depth,
            heading,
            body: Vec::new(),
            cells: Vec::new(),
        }
    }
}

/// In a code fence there is no heading, and in the front matter neither. `is_field` says whether a column's name is one that
/// entries have; a table with two of them holds an entry in each row.
pub fn parts<'a>(source: &'a str, is_field: &dyn Fn(&str) -> bool) -> Vec<Part<'a>> {
    let lines: Vec<&str> = source.lines().collect();
    let line = |index: usize| lines.get(index).copied().unwrap_or("");
    let mut parts = vec![Part::new(1, 0, "")];
    let front = front_matter(&lines);
    let mut fence: Option<&str> = None;
    let mut index = 0;
    while index < lines.len() {
        let text = line(index);
        let next = line(index + 1);
        let bare = text.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|m| bare.starts_with(m));
        match (fence, mark) {
            (None, Some(mark)) if closes(&lines, index, mark) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        let plain = fence.is_none() && index >= front;
        let columns = match plain && is_rule(next) && next.contains('|') {
            true => cells(text),
            false => Vec::new(),
        };
        if columns.iter().filter(|name| is_field(name)).count() >= 2 {
            let mut above = vec![(index + 1, text), (index + 2, next)];
            index += 2;
            while line(index).trim_start().starts_with('|') {
                let mut row = Part::new(index + 1, ITEM, "");
                let values = cells(line(index));
                row.body = std::mem::take(&mut above);
                row.body.push((index + 1, line(index)));
                row.cells = columns.iter().copied().zip(values).collect();
                parts.push(row);
                index += 1;
            }
            // What comes next belongs to no row.
            parts.push(Part::new(index + 1, 0, ""));
            continue;
        }
        let heading = match plain {
            true => hashes(text)
                .map(|found| (found, 1))
                .or_else(|| Some((underlined(text, next)?, 2)))
                .or_else(|| Some(((ITEM, item(text)?), 1))),
            false => None,
        };
        match heading {
            Some(((depth, heading), taken)) => {
                let mut part = Part::new(index + 1, depth, heading);
                if depth == ITEM {
                    part.body.push((index + 1, text));
                }
                parts.push(part);
                index += taken;
            }
            None => {
                if let Some(part) = parts.last_mut() {
                    part.body.push((index + 1, text));
                }
                index += 1;
            }
        }
    }
    parts
}

/// How many lines the front matter has: between `---` in the first line and the next one.
fn front_matter(lines: &[&str]) -> usize {
    if lines.first().is_none_or(|first| first.trim_end() != "---") {
        return 0;
    }
    let end = lines
        .iter()
        .skip(1)
        .position(|line| line.trim_end() == "---");
    end.map_or(0, |at| at + 2)
}

fn closes(lines: &[&str], from: usize, mark: &str) -> bool {
    lines
        .iter()
        .skip(from + 1)
        .any(|line| line.trim_start().starts_with(mark))
}

/// `## Heading`
fn hashes(line: &str) -> Option<(usize, &str)> {
    let depth = line.bytes().take_while(|b| *b == b'#').count();
    let text = line.get(depth..).filter(|h| h.starts_with([' ', '\t']))?;
    (1..=6)
        .contains(&depth)
        .then(|| (depth, text.trim().trim_end_matches('#').trim()))
}

/// A line with `===` or `---` below it.
fn underlined<'a>(line: &'a str, next: &str) -> Option<(usize, &'a str)> {
    let next = next.trim_end();
    let depth = match next.bytes().next()? {
        b'=' => 1,
        b'-' => 2,
        _ => return None,
    };
    let same = next.len() >= 3 && next.bytes().all(|b| Some(b) == next.bytes().next());
    let text = line.trim();
    let begins =
        text.starts_with(['-', '*', '+', '>', '|', '#', '=']) || line.starts_with([' ', '\t']);
    (same && !text.is_empty() && !begins).then_some((depth, text))
}

/// `1. **L-010**: text`, `- L-010 text`, in the first column.
fn item(line: &str) -> Option<&str> {
    let marked = line.strip_prefix(['-', '*', '+']);
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match marked {
        Some(rest) => rest,
        None if numbered.len() < line.len() => numbered.strip_prefix(['.', ')'])?,
        None => return None,
    };
    let text = rest.strip_prefix(' ')?.trim();
    leading_id(text.trim_start_matches(['*', '_', '`', '[']))?;
    Some(text)
}

/// `|---|:--:|`
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains("--") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// The cells of a row. `\|` is no border.
fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (at, c) in row.char_indices() {
        if c == '|' && !escaped {
            cells.push(row.get(start..at).unwrap_or("").trim());
            start = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    let last = row.get(start..).unwrap_or("").trim();
    if !last.is_empty() {
        cells.push(last);
    }
    cells
}

//! Taking over a hand-written file of learnings: headings of any depth, with or without ids and dates, list items
//! with ids, tables; fields as `**Problem:**`,
//! `Cause: …`, `- solution: …` or as headings of their own. Nothing is lost: what has no field goes to the entry's notes, what
//! belongs to no entry into a retired entry of its own, and both are told with their lines.

use super::entry::{Learning, MAX_TITLE, Status, id_of, leading_id, number};
use super::import_fields::{Field, meant, put, read_body};
use super::import_parts::{ITEM, Part, parts};
use super::quote::{one_line, quoted};
use jiff::civil::Date;
use std::collections::{HashMap, HashSet};

/// What became of one part of the source.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ImportedEntry {
    /// In the source, from 1.
    pub line: usize,
    pub title: String,
    /// The id that it has now.
    pub id: String,
    /// The id that it had in the source, when that is another one.
    pub was: Option<String>,
    /// It stood here before: nothing was added.
    pub known: bool,
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Imported {
    pub entries: Vec<ImportedEntry>,
    /// What could not be read as it was meant, as (line of the source, what).
    pub unread: Vec<(usize, String)>,
}

/// The entries to add, under free ids above `highest`, and the report.
pub fn read(
    source: &str,
    name: &str,
    date: &str,
    known: &[Learning],
    highest: u32,
) -> (Vec<Learning>, Imported) {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let parts = parts(source, &|name| {
        is_title(name) || is_id(name) || meant(name).is_some()
    });
    let mut reading = Reading::default();
    for (at, part) in parts.iter().enumerate() {
        reading.part(part, parts.get(at + 1));
    }
    let loose = std::mem::take(&mut reading.loose);
    let mut imported = Imported {
        unread: reading.unread,
        ..Imported::default()
    };
    let mut highest = reading
        .entries
        .iter()
        .filter_map(|(_, entry)| number(&entry.id))
        .fold(highest, u32::max);
    let mut used: HashSet<u32> = known.iter().filter_map(|e| number(&e.id)).collect();
    // Of several that say the same the first one counts.
    let mut there: HashMap<Told, String> = HashMap::new();
    for entry in known {
        there.entry(told(entry)).or_insert_with(|| entry.id.clone());
    }
    let mut new: Vec<Learning> = Vec::new();
    for (line, mut entry) in reading.entries {
        complete(&mut entry, line, name, &mut imported.unread);
        let told = told(&entry);
        if let Some(same) = there.get(&told) {
            imported.entries.push(ImportedEntry {
                line,
                title: entry.title.clone(),
                was: (!entry.id.is_empty() && entry.id != *same).then_some(entry.id),
                id: same.clone(),
                known: true,
            });
            continue;
        }
        let was = entry.id.clone();
        let free = number(&was).filter(|n| *n > 0 && !used.contains(n));
        let number = free.unwrap_or_else(|| {
            highest += 1;
            highest
        });
        used.insert(number);
        entry.id = id_of(number);
        there.insert(told, entry.id.clone());
        imported.entries.push(ImportedEntry {
            line,
            title: entry.title.clone(),
            was: (!was.is_empty() && was != entry.id).then_some(was),
            id: entry.id.clone(),
            known: false,
        });
        new.push(entry);
    }
    if !loose.is_empty() {
        let entry = outside(&loose, name, date, highest + 1);
        let is_known = known
            .iter()
            .any(|k| k.title == entry.title && notes(k) == notes(&entry));
        for (line, text) in loose.iter().filter(|(_, text)| !text.trim().is_empty()) {
            let kept = if is_known {
                "an earlier import"
            } else {
                &entry.id
            };
            let start: String = text.trim().chars().take(60).collect();
            imported.unread.push((
                *line,
                format!("belongs to no entry, kept in {kept}: {start}"),
            ));
        }
        if !is_known {
            new.push(entry);
        }
    }
    imported.unread.sort();
    (new, imported)
}

/// What an entry says; another one that says the same is not added.
type Told = ([String; 4], String);

fn told(entry: &Learning) -> Told {
    (entry.lesson(), notes(entry))
}

/// What addresses an agent stands in the file as a quote.
fn notes(entry: &Learning) -> String {
    quoted(entry.notes.as_deref().unwrap_or("")).into_owned()
}

/// The text that belongs to no entry, kept where nobody reads it by accident.
fn outside(loose: &[(usize, &str)], name: &str, date: &str, number: u32) -> Learning {
    let text: Vec<&str> = loose.iter().map(|(_, text)| *text).collect();
    Learning {
        id: id_of(number),
        title: one_line(&format!("Text outside the entries of {name}")),
        date: Some(date.to_owned()),
        problem: "text of an imported file that belongs to no entry".to_owned(),
        cause: "it has no heading of its own".to_owned(),
        solution: "make entries of what teaches something".to_owned(),
        evidence: format!("import of {name}"),
        status: Status::Retired("no lesson, kept from an import".to_owned()),
        notes: Some(text.join("\n").trim().to_owned()),
        ..Learning::default()
    }
}

#[derive(Default)]
struct Reading<'a> {
    /// With the line of the heading.
    entries: Vec<(usize, Learning)>,
    loose: Vec<(usize, &'a str)>,
    unread: Vec<(usize, String)>,
    /// Headings that hold entries, with their depth: their names become tags.
    groups: Vec<(usize, &'a str)>,
    /// How deep the heading of the last entry stands, while its text goes on.
    open: Option<usize>,
}

impl<'a> Reading<'a> {
    fn part(&mut self, part: &Part<'a>, next: Option<&Part<'a>>) {
        // Inside an entry, tables and lists that name other entries are its text.
        let inside = matches!(part.depth, 0 | ITEM) && self.open.is_some_and(|depth| depth < ITEM);
        if let Some((_, entry)) = self.entries.last_mut().filter(|_| inside) {
            for (_, line) in &part.body {
                put(entry, Field::Notes, line);
            }
            return;
        }
        if part.depth == 0 {
            self.loose.extend(&part.body);
            return;
        }
        if !part.cells.is_empty() {
            self.row(part);
            return;
        }
        let named = Named::read(part.heading);
        let marked = named.id.is_some() || named.date.is_some();
        let below = self.open.is_some_and(|depth| part.depth > depth) && !marked;
        if let Some((_, entry)) = self.entries.last_mut().filter(|_| below) {
            match meant(part.heading.trim_end_matches(':')) {
                Some(field) => read_body(entry, Some(field), &part.body),
                None => {
                    let heading = format!("{} {}", "#".repeat(part.depth), part.heading);
                    put(entry, Field::Notes, &heading);
                    read_body(entry, Some(Field::Notes), &part.body);
                }
            }
            return;
        }
        self.groups.retain(|(depth, _)| *depth < part.depth);
        let empty = part.body.iter().all(|(_, line)| line.trim().is_empty());
        let holds_entries = next.is_some_and(|next| {
            let named = Named::read(next.heading);
            let field = meant(next.heading.trim_end_matches(':')).is_some();
            next.depth > part.depth
                && (!next.cells.is_empty()
                    || named.id.is_some()
                    || named.date.is_some()
                    || (empty && !field))
        });
        if !marked && holds_entries {
            self.open = None;
            // The first heading is the file's title.
            if part.depth > 1 || !self.entries.is_empty() {
                self.groups.push((part.depth, part.heading));
            }
            if !empty {
                self.loose.extend(&part.body);
            }
            return;
        }
        if empty && !marked && next.is_none_or(|next| next.depth <= part.depth) {
            self.unread.push((
                part.line,
                format!("a heading without text: {}", part.heading),
            ));
            self.loose.push((part.line, part.heading));
            return;
        }
        let mut entry = Learning {
            id: named.id.map(str::to_owned).unwrap_or_default(),
            date: named.date,
            title: one_line(named.title),
            ..Learning::default()
        };
        for (_, group) in &self.groups {
            let tag = one_line(group).to_lowercase().replace(',', "");
            entry.tags.push(tag);
        }
        let own = usize::from(part.depth == ITEM);
        read_body(&mut entry, None, part.body.get(own..).unwrap_or_default());
        self.open = Some(part.depth);
        self.entries.push((part.line, entry));
    }
}

impl<'a> Reading<'a> {
    /// A row of a table: one entry.
    fn row(&mut self, part: &Part<'a>) {
        let mut entry = Learning::default();
        for (name, value) in part.cells.iter().filter(|(_, value)| !value.is_empty()) {
            let value = value.replace("\\|", "|");
            let named = Named::read(&value);
            match meant(name) {
                _ if is_id(name) && named.id.is_some() => {
                    entry.id = named.id.unwrap_or_default().to_owned();
                    if entry.title.is_empty() {
                        entry.title = one_line(named.title);
                    }
                }
                _ if is_title(name) => entry.title = one_line(named.title),
                Some(field) => put(&mut entry, field, &value),
                None => put(&mut entry, Field::Notes, &format!("{name}: {value}")),
            }
        }
        if entry.title.is_empty() {
            let first = [&entry.problem, &entry.solution, &entry.cause];
            let first = first.into_iter().find(|text| !text.is_empty());
            entry.title = first.map(|text| one_line(text)).unwrap_or_default();
        }
        self.open = None;
        self.entries.push((part.line, entry));
    }
}

fn is_id(name: &str) -> bool {
    matches!(
        name.to_lowercase().as_str(),
        "id" | "#" | "no" | "no." | "nr" | "nr."
    )
}

fn is_title(name: &str) -> bool {
    matches!(
        name.to_lowercase().as_str(),
        "title" | "name" | "topic" | "summary" | "titel" | "thema"
    )
}

/// What a heading says before its title.
struct Named<'a> {
    id: Option<&'a str>,
    date: Option<String>,
    title: &'a str,
}

impl<'a> Named<'a> {
    fn read(heading: &'a str) -> Named<'a> {
        const BETWEEN: [char; 9] = [' ', ':', '-', '–', '—', '·', '|', '.', '*'];
        let mut named = Named {
            id: None,
            date: None,
            title: heading.trim_matches(BETWEEN),
        };
        // A sign or a picture may stand before the id.
        let bare = named.title.trim_start_matches(|c: char| {
            !c.is_alphanumeric() && !matches!(c, '[' | '(' | '$' | '`' | '"')
        });
        let inside = bare.trim_start_matches('[');
        if leading_id(bare).is_some() {
            named.title = bare;
        } else if leading_id(inside).is_some_and(|(_, rest)| rest.starts_with(']')) {
            named.title = inside;
        }
        loop {
            let text = named.title;
            let rest = if let Some((id, rest)) = leading_id(text).filter(|_| named.id.is_none()) {
                named.id = Some(id);
                rest
            } else if let Some((date, rest)) = leading_date(text).filter(|_| named.date.is_none()) {
                named.date = Some(date);
                rest
            } else {
                return named;
            };
            named.title = rest.trim_start_matches(']').trim_start_matches(BETWEEN);
        }
    }
}

/// `[2025-01-02] rest`, `(3 Jan 2025) rest`, `2025-01-02 rest`: the date as YYYY-MM-DD, and the rest.
fn leading_date(text: &str) -> Option<(String, &str)> {
    let close = match text.chars().next()? {
        '[' => Some(']'),
        '(' => Some(')'),
        _ => None,
    };
    let (inside, rest) = match close {
        Some(close) => text.get(1..)?.split_once(close)?,
        None => text.split_at_checked(10)?,
    };
    let inside = inside.trim();
    if let Some((id, after)) = leading_id(inside).filter(|_| close.is_some()) {
        // `[L-042]` is an id in brackets, no date.
        _ = (id, after);
        return None;
    }
    [
        "%Y-%m-%d",
        "%Y/%m/%d",
        "%d.%m.%Y",
        "%d %b %Y",
        "%d %B %Y",
        "%b %d, %Y",
        "%B %d, %Y",
    ]
    .iter()
    .find_map(|form| Date::strptime(form, inside).ok())
    .map(|date| (date.to_string(), rest))
}

/// Trims what was read, and fills in what an entry needs; what was not found is told.
fn complete(entry: &mut Learning, line: usize, name: &str, unread: &mut Vec<(usize, String)>) {
    for text in [
        &mut entry.problem,
        &mut entry.cause,
        &mut entry.solution,
        &mut entry.evidence,
    ] {
        *text = text.trim().to_owned();
    }
    entry.notes = entry
        .notes
        .take()
        .map(|notes| notes.trim().to_owned())
        .filter(|notes| !notes.is_empty());
    if entry.title.is_empty() {
        let first = entry.problem.lines().next().unwrap_or("");
        entry.title = first.chars().take(MAX_TITLE).collect();
        unread.push((line, "the heading has no title".to_owned()));
    }
    if entry.title.chars().count() > MAX_TITLE {
        let whole = std::mem::take(&mut entry.title);
        entry.title = whole.chars().take(MAX_TITLE - 1).chain(['…']).collect();
        entry.notes = Some(match entry.notes.take() {
            Some(notes) => format!("{whole}\n{notes}"),
            None => whole,
        });
    }
    if entry.problem.is_empty() {
        // What stands before any field says what was seen, as a rule.
        match entry.notes.take() {
            Some(notes) => entry.problem = notes,
            None => entry.problem = entry.title.clone(),
        }
        unread.push((
            line,
            "no problem is named: its text, or its title, is taken for it".to_owned(),
        ));
    }
    for (field, text) in [("cause", &entry.cause), ("solution", &entry.solution)] {
        if text.is_empty() {
            unread.push((line, format!("no {field} is named: complete it by hand")));
        }
    }
    if entry.evidence.is_empty() {
        entry.evidence = format!("import of {name}, line {line}");
    }
}

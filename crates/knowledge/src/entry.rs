//! The form of an entry in LEARNINGS.md: `## L-001: title`, then one `- field: value` a line. What a person wrote by hand is
//! read as far as it goes; what cannot be read is told with its line. Pure text in, values out.

use super::quote::{one_line, quoted};
use std::fmt::Write as _;

/// What the ids begin with.
const MARK: &str = "L-";
/// Longest title, in characters.
pub const MAX_TITLE: usize = 120;
/// Longest single value, in bytes: a model cannot write a novel.
pub const MAX_VALUE: usize = 2_000;
/// An entry that is longer is told by `check`, in words.
pub const MAX_WORDS: usize = 200;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Status {
    #[default]
    Active,
    /// Kept to read, left out of the index. The reason says why.
    Retired(String),
}

/// One entry. Lists are as they stand; an absent value is None or empty, and `-` in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learning {
    /// `L-001`
    pub id: String,
    pub title: String,
    /// YYYY-MM-DD
    pub date: Option<String>,
    pub workflow: Option<String>,
    pub node_types: Vec<String>,
    pub finding_codes: Vec<String>,
    pub tags: Vec<String>,
    pub problem: String,
    pub cause: String,
    pub solution: String,
    pub evidence: String,
    /// How the builder can clear the finding: `checker` (the checker's own likely fix is right), or edit operations as JSON.
    pub fix: Option<String>,
    pub status: Status,
    /// What has no field of its own, e.g. the rest of an imported entry; may have lines.
    pub notes: Option<String>,
}

/// What is wrong with an entry or a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub line: usize,
    pub id: Option<String>,
    pub message: String,
}

/// The fields in the order in which they are written.
pub const FIELDS: [&str; 12] = [
    "date",
    "workflow",
    "node types",
    "finding codes",
    "tags",
    "problem",
    "cause",
    "solution",
    "evidence",
    "fix",
    "status",
    "notes",
];
/// Without these an entry teaches nothing.
const NEEDED: [&str; 3] = ["problem", "cause", "solution"];

/// One entry of a file as it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// Of the heading, from 1.
    pub line: usize,
    pub id: &'a str,
    pub title: &'a str,
    /// Where heading and body stand in the file.
    pub start: usize,
    pub end: usize,
    pub body: &'a str,
}

/// The entries of a file, in order. What stands before the first one is the preamble.
pub fn sections(text: &str) -> Vec<Section<'_>> {
    sections_of(text, MARK)
}

/// The same for headings whose ids begin with this mark.
pub fn sections_of<'a>(text: &'a str, mark: &str) -> Vec<Section<'a>> {
    let mut found: Vec<Section<'_>> = Vec::new();
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if let Some((id, title)) = heading(line, mark) {
            close(text, found.last_mut(), at);
            found.push(Section {
                line: index + 1,
                id,
                title,
                start: at,
                end: at + line.len(),
                body: "",
            });
        }
        at += line.len();
    }
    close(text, found.last_mut(), at);
    found
}

fn close<'a>(text: &'a str, section: Option<&mut Section<'a>>, end: usize) {
    if let Some(section) = section {
        section.body = text.get(section.end..end).unwrap_or("");
        section.end = end;
    }
}

/// `## L-001: title` → the id and the title.
fn heading<'a>(line: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let rest = line.strip_prefix("## ")?.trim();
    let (id, title) = leading(rest, mark)?;
    Some((
        id,
        title.trim_start_matches([' ', ':', '-', '–', '—', '·', '.']),
    ))
}

/// `L-` and digits at the start of the text; the rest comes back too.
pub fn leading_id(text: &str) -> Option<(&str, &str)> {
    leading(text, MARK)
}

fn leading<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let digits = text.strip_prefix(mark)?;
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=9).contains(&count) {
        return None;
    }
    let (id, rest) = text.split_at_checked(mark.len() + count)?;
    Some((id, rest))
}

/// The number of an id, as it is written anywhere: `L-007`, `7`, `l-7`.
pub fn number(id: &str) -> Option<u32> {
    let digits = id.trim().trim_start_matches(['L', 'l']);
    digits.strip_prefix('-').unwrap_or(digits).parse().ok()
}

pub fn id_of(number: u32) -> String {
    format!("L-{number:03}")
}

/// A field's line: `- name: value`, in the first column. Any name of one to three words counts, known or not.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix("- ")?.split_once(':')?;
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphabetic() || c == ' ' || c == '_');
    (plain && !name.is_empty() && name.split(' ').count() <= 3).then_some((name, value.trim()))
}

/// The fields of an entry as they stand, with the line below the heading (from 1) of each and its further lines.
pub fn fields(body: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    body.lines()
        .enumerate()
        .filter_map(|(index, line)| field(line).map(|(name, value)| (index + 1, name, value)))
}

fn known(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase().replace('_', " ");
    FIELDS.into_iter().find(|field| *field == name)
}

impl Learning {
    /// The entry of a section, and what is wrong with its form. Nothing is lost: what has no field is in `notes`.
    pub fn read(section: &Section<'_>) -> (Learning, Vec<Fault>) {
        let mut faults = Vec::new();
        let mut fault = |below: usize, message: String| {
            faults.push(Fault {
                line: section.line + below,
                id: Some(section.id.to_owned()),
                message,
            });
        };
        let mut entry = Learning {
            id: section.id.to_owned(),
            title: section.title.to_owned(),
            ..Learning::default()
        };
        let mut values: Vec<(usize, &'static str, Vec<&str>)> = Vec::new();
        let mut loose: Vec<&str> = Vec::new();
        for (index, line) in section.body.lines().enumerate() {
            let below = index + 1;
            match field(line) {
                Some((name, value)) => match known(name) {
                    Some(name) => {
                        if values.iter().any(|(_, there, _)| *there == name) {
                            fault(below, format!("`{name}` stands there twice"));
                            loose.push(line);
                        } else {
                            values.push((below, name, vec![value]));
                        }
                    }
                    None => {
                        fault(
                            below,
                            format!(
                                "there is no field `{name}`; the fields are {}",
                                FIELDS.join(", ")
                            ),
                        );
                        loose.push(line);
                    }
                },
                None => match values.last_mut() {
                    Some((_, _, lines)) => {
                        lines.push(line.strip_prefix("  ").unwrap_or(line).trim_end());
                    }
                    None if line.trim().is_empty() => {}
                    None => {
                        fault(below, "text that belongs to no field".to_owned());
                        loose.push(line);
                    }
                },
            }
        }
        if entry.title.is_empty() {
            fault(0, "the entry has no title".to_owned());
        } else if entry.title.chars().count() > MAX_TITLE {
            fault(0, format!("the title has more than {MAX_TITLE} characters"));
        }
        for (below, name, lines) in &values {
            let value = lines.join("\n").trim().to_owned();
            let value = if value == "-" { String::new() } else { value };
            if let Err(message) = entry.set(name, &value) {
                fault(*below, message);
            }
        }
        for name in ["date", "status", "evidence"].iter().chain(&NEEDED) {
            match values.iter().find(|(_, there, _)| there == name) {
                None => fault(0, format!("`{name}` is missing")),
                Some((below, ..)) if NEEDED.contains(name) && entry.text(name).is_empty() => {
                    fault(*below, format!("`{name}` is empty"));
                }
                Some(_) => {}
            }
        }
        if !loose.is_empty() {
            let kept = loose.join("\n");
            entry.notes = Some(match entry.notes.take() {
                Some(notes) => format!("{notes}\n{kept}"),
                None => kept,
            });
        }
        (entry, faults)
    }

    /// Sets one field from its text. Err says why the text does not fit; it is kept all the same where it can be.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let optional = || (!value.is_empty()).then(|| value.to_owned());
        let list = || {
            value
                .split([',', '\n'])
                .map(one_line)
                .filter(|item| !item.is_empty() && item != "-")
                .collect()
        };
        match known(name) {
            Some("date") => {
                self.date = optional();
                if self.date.is_some() && value.parse::<jiff::civil::Date>().is_err() {
                    return Err(format!("`date` is {value:?}, not YYYY-MM-DD"));
                }
            }
            Some("workflow") => self.workflow = optional(),
            Some("node types") => self.node_types = list(),
            Some("finding codes") => self.finding_codes = list(),
            Some("tags") => {
                self.tags = list();
                for tag in &mut self.tags {
                    *tag = tag.to_lowercase();
                }
            }
            Some("problem") => self.problem = value.to_owned(),
            Some("cause") => self.cause = value.to_owned(),
            Some("solution") => self.solution = value.to_owned(),
            Some("evidence") => self.evidence = value.to_owned(),
            Some("fix") => {
                self.fix = optional();
                if !value.is_empty() && value != "checker" && !is_operations(value) {
                    return Err(
                        "`fix` is neither `checker` nor a JSON array of edit operations".to_owned(),
                    );
                }
            }
            Some("notes") => self.notes = optional(),
            Some("status") => {
                let (word, reason) = match value.split_once([' ', ':', '(']) {
                    Some((word, reason)) => (word, reason.trim_matches([' ', ':', '(', ')'])),
                    None => (value, ""),
                };
                match word {
                    "active" | "" => self.status = Status::Active,
                    "retired" => {
                        self.status = Status::Retired(reason.to_owned());
                        if reason.is_empty() {
                            return Err("`status` is retired without a reason".to_owned());
                        }
                    }
                    other => {
                        return Err(format!("`status` is {other:?}, neither active nor retired"));
                    }
                }
            }
            _ if name == "title" => self.title = one_line(value),
            _ => {
                return Err(format!(
                    "there is no field `{name}`; the fields are title, {}",
                    FIELDS.join(", ")
                ));
            }
        }
        Ok(())
    }

    fn text(&self, name: &str) -> &str {
        match name {
            "problem" => &self.problem,
            "cause" => &self.cause,
            _ => &self.solution,
        }
    }

    pub fn is_active(&self) -> bool {
        self.status == Status::Active
    }

    /// The fields below the heading. What addresses an agent stands there as a quote.
    pub fn body(&self) -> String {
        let mut text = String::new();
        let list = |items: &[String]| items.join(", ");
        for (name, value) in [
            ("date", self.date.clone().unwrap_or_default()),
            ("workflow", self.workflow.clone().unwrap_or_default()),
            ("node types", list(&self.node_types)),
            ("finding codes", list(&self.finding_codes)),
            ("tags", list(&self.tags)),
            ("problem", quoted(&self.problem).into_owned()),
            ("cause", quoted(&self.cause).into_owned()),
            ("solution", quoted(&self.solution).into_owned()),
            ("evidence", quoted(&self.evidence).into_owned()),
            ("fix", self.fix.clone().unwrap_or_default()),
            (
                "status",
                match &self.status {
                    Status::Active => "active".to_owned(),
                    Status::Retired(reason) => format!("retired: {}", quoted(reason)),
                },
            ),
            (
                "notes",
                quoted(self.notes.as_deref().unwrap_or("")).into_owned(),
            ),
        ] {
            if value.is_empty() && matches!(name, "fix" | "notes") {
                continue;
            }
            let mut lines = value.lines();
            let first = lines.next().filter(|line| !line.is_empty()).unwrap_or("-");
            let more: Vec<&str> = lines.collect();
            if more.is_empty() {
                _ = writeln!(text, "- {name}: {first}");
                continue;
            }
            // Below the first column no line can open a heading or a field.
            _ = writeln!(text, "- {name}:");
            for line in std::iter::once(first).chain(more) {
                match line.trim_end() {
                    "" => text.push('\n'),
                    line => _ = writeln!(text, "  {line}"),
                }
            }
        }
        text
    }

    /// The whole entry as it stands in the file.
    pub fn render(&self) -> String {
        format!(
            "## {}: {}\n{}",
            self.id,
            quoted(&one_line(&self.title)),
            self.body()
        )
    }

    /// The date, the status and where it was seen apart, the same fields are the same lesson.
    pub fn same_lesson(&self, other: &Learning) -> bool {
        self.lesson() == other.lesson()
    }

    /// What it teaches: that of the same lesson is the same.
    pub fn lesson(&self) -> [String; 4] {
        [&self.title, &self.problem, &self.cause, &self.solution]
            .map(|text| one_line(&quoted(text)).to_lowercase())
    }

    pub fn word_count(&self) -> usize {
        self.body().split_whitespace().count()
    }
}

fn is_operations(text: &str) -> bool {
    serde_json::from_str::<Vec<serde_json::Map<String, serde_json::Value>>>(text)
        .is_ok_and(|ops| !ops.is_empty() && ops.iter().all(|op| op.contains_key("op")))
}

/// An entry to add, in the fields that every entry has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewLearning {
    pub title: String,
    /// YYYY-MM-DD
    pub date: String,
    pub workflow: Option<String>,
    pub node_types: Vec<String>,
    pub finding_codes: Vec<String>,
    pub tags: Vec<String>,
    pub problem: String,
    pub cause: String,
    pub solution: String,
    pub evidence: String,
    pub fix: Option<String>,
}

impl NewLearning {
    /// The entry under an id. Each value is one line, so none can open a heading or a field of its own.
    pub fn into_entry(self, id: String) -> Result<Learning, String> {
        // A secret that a run or a person wrote down has no place in a file that is shared.
        // Nor has what would steer a terminal.
        let one_line = |text: &str| {
            let text = one_line(&agentctl_base::untrusted::line(text));
            agentctl_base::secrets::mask(&text).into_owned()
        };
        let title = one_line(&self.title);
        if !(1..=MAX_TITLE).contains(&title.chars().count()) {
            return Err(format!("the title must have 1 to {MAX_TITLE} characters"));
        }
        let mut entry = Learning {
            id,
            title,
            ..Learning::default()
        };
        let list = |items: &[String]| {
            items
                .iter()
                .map(|i| one_line(i))
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (name, value) in [
            ("date", one_line(&self.date)),
            ("workflow", one_line(self.workflow.as_deref().unwrap_or(""))),
            ("node types", list(&self.node_types)),
            ("finding codes", list(&self.finding_codes)),
            ("tags", list(&self.tags)),
            ("problem", one_line(&self.problem)),
            ("cause", one_line(&self.cause)),
            ("solution", one_line(&self.solution)),
            ("evidence", one_line(&self.evidence)),
            ("fix", one_line(self.fix.as_deref().unwrap_or(""))),
        ] {
            if value.is_empty() && (NEEDED.contains(&name) || name == "evidence") {
                return Err(format!("`{name}` is empty"));
            }
            if value.len() > MAX_VALUE {
                return Err(format!("`{name}` is longer than {MAX_VALUE} bytes"));
            }
            entry.set(name, &value)?;
        }
        Ok(entry)
    }
}

/// The highest number that any id of the file has, in a heading or as a reference: an id is never given twice.
pub fn highest_number(text: &str) -> u32 {
    text.match_indices("L-")
        .filter_map(|(at, _)| leading_id(text.get(at..)?))
        .filter_map(|(id, _)| number(id))
        .max()
        .unwrap_or(0)
}

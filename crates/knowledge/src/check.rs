//! What is wrong with a file of learnings: broken forms, copies, contradictions, dead links, entries that are too long or that
//! nobody reads. Pure: the files' texts in, remarks out.

use super::entry::{
    Learning, MAX_WORDS, Section, Status, leading_id, number, sections, sections_of,
};
use super::files::{ENTRIES, PATTERNS};
use super::pattern::MARK;
use super::quote::one_line;
use super::uses::Uses;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Runs that must have happened before an unread entry is told.
const RUNS_BEFORE_UNREAD: u32 = 20;
/// Two texts with this share of words in common say the same.
const ALIKE: f64 = 0.8;
/// Two causes with this share are one cause.
const SAME_CAUSE: f64 = 0.6;
/// Solutions that speak of the same thing.
const SAME_SUBJECT: f64 = 0.3;
/// So many characters of a value are compared.
const COMPARED: usize = 4_000;
/// A word in more entries than this says nothing about which ones are alike.
const COMMON_WORD: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// One thing that `learnings check` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    pub level: Level,
    /// `form`, `duplicate`, `contradiction`, `link`, `size`, `unread`, `index`
    pub rule: &'static str,
    /// Below `docs/learning/`.
    pub file: String,
    pub line: usize,
    pub id: Option<String>,
    pub message: String,
    /// `--fix` mends it.
    pub fixable: bool,
}

impl Remark {
    pub fn stale_index(file: &str, message: &str) -> Remark {
        Remark {
            level: Level::Error,
            rule: "index",
            file: file.to_owned(),
            line: 1,
            id: None,
            message: format!("{message}: run agentctl learnings index"),
            fixable: true,
        }
    }
}

struct Checked<'a> {
    section: Section<'a>,
    entry: Learning,
    cause: BTreeSet<String>,
    solution: BTreeSet<String>,
    all: BTreeSet<String>,
}

/// `there` says whether a relative link leads to a file.
pub fn check(text: &str, patterns: &str, uses: &Uses, there: &dyn Fn(&str) -> bool) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut entries = Vec::new();
    for section in sections(text) {
        let (entry, faults) = Learning::read(&section);
        for fault in faults {
            let fixable = is_fixable(&fault.message);
            remarks.push(Remark {
                level: Level::Error,
                rule: "form",
                file: ENTRIES.to_owned(),
                line: fault.line,
                id: fault.id,
                message: fault.message,
                fixable,
            });
        }
        entries.push(Checked {
            section,
            cause: words(start(&entry.cause)),
            solution: words(start(&entry.solution)),
            all: words(&format!(
                "{} {} {}",
                start(&entry.problem),
                start(&entry.cause),
                start(&entry.solution)
            )),
            entry,
        });
    }
    let (known, faults) = super::pattern::patterns(patterns);
    for fault in faults {
        remarks.push(Remark {
            level: Level::Error,
            rule: "form",
            file: PATTERNS.to_owned(),
            line: fault.line,
            id: fault.id,
            message: fault.message,
            fixable: false,
        });
    }
    twice(&known, patterns, &mut remarks);
    same_ids(&entries, &mut remarks);
    alike(&entries, &mut remarks);
    let ids: BTreeMap<u32, bool> = entries
        .iter()
        .filter_map(|c| Some((number(&c.entry.id)?, c.entry.is_active())))
        .collect();
    for (file, text) in [(ENTRIES, text), (PATTERNS, patterns)] {
        links(file, text, &ids, there, &mut remarks);
    }
    for Checked { section, entry, .. } in entries.iter().filter(|c| c.entry.is_active()) {
        let of = |level, rule, message| Remark {
            level,
            rule,
            file: ENTRIES.to_owned(),
            line: section.line,
            id: Some(entry.id.clone()),
            message,
            fixable: false,
        };
        let count = entry.word_count();
        if count > MAX_WORDS {
            let message = format!("the entry has {count} words; keep it under {MAX_WORDS}");
            remarks.push(of(Level::Warning, "size", message));
        }
        if uses.runs >= RUNS_BEFORE_UNREAD && uses.of(&entry.id).read == 0 {
            let message = format!("none of {} runs has read it", uses.runs);
            remarks.push(of(Level::Info, "unread", message));
        }
    }
    remarks.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    remarks
}

/// What can be filled in without judging.
fn is_fixable(message: &str) -> bool {
    [
        "`status` is missing",
        "`evidence` is missing",
        "`date` is missing",
    ]
    .contains(&message)
}

/// The entries that `--fix` changes, as they are then, in the order of the file.
pub fn fixed(text: &str) -> Vec<(Section<'_>, Learning)> {
    let mut seen: Vec<Learning> = Vec::new();
    let mut changed = Vec::new();
    let all = sections(text);
    let mut by_title: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for section in all {
        let (mut entry, faults) = Learning::read(&section);
        let mut change = faults.iter().any(|f| is_fixable(&f.message));
        let key = one_line(&entry.title).to_lowercase();
        let known = by_title.entry(key).or_default();
        if entry.is_active() {
            let same = known
                .iter()
                .filter_map(|i| seen.get(*i))
                .find(|e| e.same_lesson(&entry));
            if let Some(same) = same.filter(|same| same.id != entry.id) {
                entry.status = Status::Retired(format!("the same as {}", same.id));
                change = true;
            } else {
                known.push(seen.len());
                seen.push(entry.clone());
            }
        }
        if change {
            changed.push((section, entry));
        }
    }
    changed
}

/// Patterns whose id stands there twice.
fn twice(known: &[super::Pattern], text: &str, remarks: &mut Vec<Remark>) {
    let lines = sections_of(text, MARK).into_iter().map(|s| s.line);
    let mut seen = BTreeSet::new();
    for (pattern, line) in known.iter().zip(lines) {
        if !seen.insert(&pattern.id) {
            remarks.push(Remark {
                level: Level::Error,
                rule: "duplicate",
                file: PATTERNS.to_owned(),
                line,
                id: Some(pattern.id.clone()),
                message: "the id stands there already; only the first one can be read".to_owned(),
                fixable: false,
            });
        }
    }
}

fn same_ids(entries: &[Checked<'_>], remarks: &mut Vec<Remark>) {
    let mut first: BTreeMap<u32, usize> = BTreeMap::new();
    for Checked { section, entry, .. } in entries {
        let Some(number) = number(section.id) else {
            continue;
        };
        match first.get(&number) {
            None => _ = first.insert(number, section.line),
            Some(line) => remarks.push(Remark {
                level: Level::Error,
                rule: "duplicate",
                file: ENTRIES.to_owned(),
                line: section.line,
                id: Some(entry.id.clone()),
                message: format!(
                    "the id stands in line {line} already; only that entry can be read"
                ),
                fixable: false,
            }),
        }
    }
}

/// Copies and contradictions. Only entries that share a rare word are compared, so that a large file is checked in a moment.
fn alike(entries: &[Checked<'_>], remarks: &mut Vec<Remark>) {
    let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, checked) in entries.iter().enumerate() {
        if checked.entry.is_active() {
            for word in &checked.all {
                holders.entry(word).or_default().push(index);
            }
        }
    }
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for list in holders.values().filter(|l| l.len() <= COMMON_WORD) {
        for (at, first) in list.iter().enumerate() {
            pairs.extend(list.iter().skip(at + 1).map(|second| (*first, *second)));
        }
    }
    for (first, second) in pairs {
        let (Some(a), Some(b)) = (entries.get(first), entries.get(second)) else {
            continue;
        };
        let of = |level, rule, message: String, fixable| Remark {
            level,
            rule,
            file: ENTRIES.to_owned(),
            line: b.section.line,
            id: Some(b.entry.id.clone()),
            message,
            fixable,
        };
        let (first, line) = (&a.entry.id, a.section.line);
        if a.entry.same_lesson(&b.entry) {
            let message = format!("the same as {first} (line {line})");
            remarks.push(of(Level::Warning, "duplicate", message, true));
        } else if share(&a.cause, &b.cause) >= SAME_CAUSE && are_opposite(a, b) {
            let message = format!(
                "contradicts {first} (line {line}): the same cause, the opposite solution; keep one, or say when each holds"
            );
            remarks.push(of(Level::Warning, "contradiction", message, false));
        } else if share(&a.all, &b.all) >= ALIKE {
            let message = format!("says nearly the same as {first} (line {line}); merge them");
            remarks.push(of(Level::Warning, "duplicate", message, false));
        }
    }
}

const NEGATIONS: [&str; 8] = [
    "not", "never", "no", "without", "avoid", "dont", "cannot", "remove",
];
const OPPOSITES: [(&str, &str); 10] = [
    ("enable", "disable"),
    ("add", "remove"),
    ("before", "after"),
    ("true", "false"),
    ("first", "last"),
    ("always", "never"),
    ("strict", "loose"),
    ("increase", "decrease"),
    ("on", "off"),
    ("0", "1"),
];

/// Two solutions about the same thing, one of which says to do what the other says not to do.
fn are_opposite(a: &Checked<'_>, b: &Checked<'_>) -> bool {
    let is_sign =
        |w: &str| NEGATIONS.contains(&w) || OPPOSITES.iter().any(|(x, y)| w == *x || w == *y);
    let subject = |words: &BTreeSet<String>| -> BTreeSet<String> {
        words.iter().filter(|w| !is_sign(w)).cloned().collect()
    };
    if share(&subject(&a.solution), &subject(&b.solution)) < SAME_SUBJECT {
        return false;
    }
    let negated = |words: &BTreeSet<String>| words.iter().any(|w| NEGATIONS.contains(&w.as_str()));
    let turned = OPPOSITES.iter().any(|(x, y)| {
        let has = |words: &BTreeSet<String>, w: &str| words.contains(w);
        let only = |s: &BTreeSet<String>, w: &str, other: &str| has(s, w) && !has(s, other);
        (only(&a.solution, x, y) && only(&b.solution, y, x))
            || (only(&a.solution, y, x) && only(&b.solution, x, y))
    });
    turned || negated(&a.solution) != negated(&b.solution)
}

/// As much of a value as is compared; what is longer is told by its size.
fn start(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(COMPARED)
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

fn words(text: &str) -> BTreeSet<String> {
    text.replace(['\'', '’'], "")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| {
            !w.is_empty()
                && !matches!(
                    *w,
                    "a" | "an" | "the" | "is" | "it" | "of" | "to" | "and" | "in"
                )
        })
        .map(str::to_lowercase)
        .collect()
}

/// Words in common, of all words (0 to 1).
fn share(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
    let share = common as f64 / all as f64;
    share
}

/// Links that lead nowhere, and ids of entries that are not there or are retired.
fn links(
    file: &str,
    text: &str,
    ids: &BTreeMap<u32, bool>,
    there: &dyn Fn(&str) -> bool,
    remarks: &mut Vec<Remark>,
) {
    let mut status_active = true;
    for (index, line) in text.lines().enumerate() {
        let mut say = |level, message: String| {
            remarks.push(Remark {
                level,
                rule: "link",
                file: file.to_owned(),
                line: index + 1,
                id: None,
                message,
                fixable: false,
            });
        };
        if line.starts_with("## ") {
            status_active = true;
            // The entry's own id.
            continue;
        }
        if line.starts_with("- status: retired") {
            status_active = false;
        }
        for target in link_targets(line) {
            let path = target.split(['#', '?']).next().unwrap_or("");
            if !path.is_empty()
                && !target.contains("://")
                && !target.starts_with("mailto:")
                && !there(path)
            {
                say(Level::Error, format!("the link {target:?} leads nowhere"));
            }
        }
        for (at, _) in line.match_indices("L-") {
            let glued = line
                .get(..at)
                .and_then(|before| before.chars().next_back())
                .is_some_and(char::is_alphanumeric);
            let Some((id, _)) = line.get(at..).filter(|_| !glued).and_then(leading_id) else {
                continue;
            };
            match number(id).and_then(|n| ids.get(&n)) {
                None => say(Level::Error, format!("there is no {id}")),
                Some(false) if status_active => {
                    say(Level::Warning, format!("{id} is retired"));
                }
                Some(_) => {}
            }
        }
    }
}

/// The targets of `[text](target)` in a line.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(|(at, mark)| {
        let rest = line.get(at + mark.len()..)?;
        rest.split(')')
            .next()
            .filter(|target| !target.contains(' '))
    })
}

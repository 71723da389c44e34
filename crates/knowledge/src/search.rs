//! Finding entries by words, and by `tag:`, `code:`, `node:`. Works on the text of LEARNINGS.md itself, so what was written by
//! hand a moment ago is found, and nothing is ever stale.

use super::entry::{Section, fields, number, sections};
use super::index::short;
use memchr::memmem;
use rayon::prelude::*;

/// One entry that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLine {
    /// `L-001`
    pub id: String,
    /// Title, node types, finding codes.
    pub text: String,
}

/// Words that stand in every text and tell no entry from another.
const IDLE: [&str; 24] = [
    "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "in", "is", "it", "its",
    "not", "of", "on", "or", "that", "the", "this", "to", "was", "with",
];

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    tags: Vec<String>,
    codes: Vec<String>,
    nodes: Vec<String>,
    ids: Vec<u32>,
    words: Vec<String>,
    /// Retired entries too.
    pub retired: bool,
}

impl Query {
    /// `code:n8n/parameter node:slack channel`: several names of one kind mean any of them, kinds go together, and words then
    /// only say what comes first.
    /// A bare finding code (`n8n/parameter`) and a bare node type (`n8n-nodes-base.slack`) are read as what they are.
    pub fn parse(text: &str) -> Query {
        let mut query = Query::default();
        for part in text.split([' ', '\t', '\n', ',']).filter(|p| !p.is_empty()) {
            let lower = part.to_lowercase();
            if let Some(name) = lower.strip_prefix("tag:") {
                query.tags.push(name.to_owned());
            } else if let Some(name) = lower.strip_prefix("code:") {
                query.codes.push(name.to_owned());
            } else if let Some(name) = lower.strip_prefix("node:") {
                query.nodes.push(short(name).to_owned());
            } else if lower.starts_with("l-")
                && let Some(number) = number(part)
            {
                query.ids.push(number);
            } else if lower.starts_with("n8n/") || lower.starts_with("agentctl/") {
                query.codes.push(lower);
            } else if lower.contains('.') && lower.contains("n8n-nodes-") {
                query.nodes.push(short(&lower).to_owned());
            } else {
                let words = lower.split(|c: char| !c.is_alphanumeric());
                let says = |w: &&str| w.chars().count() > 1 && !IDLE.contains(w);
                query.words.extend(words.filter(says).map(str::to_owned));
            }
        }
        query.words.sort_unstable();
        query.words.dedup();
        query
    }

    /// What was learned about a finding: its code decides, the words of its message say what comes first.
    pub fn about(&mut self, code: &str, message: &str) {
        self.codes.push(code.to_lowercase());
        self.words.extend(Query::parse(message).words);
        self.words.sort_unstable();
        self.words.dedup();
    }

    fn is_empty(&self) -> bool {
        [&self.tags, &self.codes, &self.nodes, &self.words]
            .iter()
            .all(|list| list.is_empty())
            && self.ids.is_empty()
    }
}

/// The entries that fit, best first; equal ones in the order of the file. Letters A to Z match in either case.
pub fn search(text: &str, query: &Query, limit: usize) -> Vec<IndexLine> {
    let lower = text.to_ascii_lowercase();
    let mut starts: Vec<usize> = text.starts_with("## L-").then_some(0).into_iter().collect();
    let headings = memmem::find_iter(text.as_bytes(), b"\n## L-");
    starts.extend(headings.map(|at| at + 1));
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let places: Vec<(usize, usize)> = starts.iter().copied().zip(ends).collect();
    let wanted = Wanted::of(query);
    let mut found: Vec<(u32, (usize, usize))> = places
        .par_iter()
        .with_min_len(500)
        .filter_map(|place| Some((wanted.score(lower.get(place.0..place.1)?)?, *place)))
        .filter(|(score, _)| *score > 0 || query.is_empty())
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found
        .into_iter()
        .filter_map(|(_, (from, to))| Some(shown(sections(text.get(from..to)?).first()?)))
        .take(limit)
        .collect()
}

/// A query, made ready to be looked for in many entries.
struct Wanted<'q> {
    query: &'q Query,
    words: Vec<Word<'q>>,
}

struct Word<'q> {
    finder: memmem::Finder<'q>,
    length: usize,
    /// A word that only begins so counts half.
    prefix: bool,
}

impl<'q> Wanted<'q> {
    fn of(query: &'q Query) -> Self {
        let words = query.words.iter().map(|word| {
            // `loops` is `loop` as well.
            let stem = word.strip_suffix('s').filter(|stem| stem.len() >= 4);
            let stem = stem.unwrap_or(word);
            Word {
                finder: memmem::Finder::new(stem),
                length: stem.len(),
                prefix: stem.len() >= 4,
            }
        });
        Wanted {
            query,
            words: words.collect(),
        }
    }

    /// What an entry (in lower case) is worth; None: retired, of another group, or none of the words stands in it.
    fn score(&self, entry: &str) -> Option<u32> {
        let Query {
            tags, codes, nodes, ..
        } = self.query;
        let names = [tags, codes, nodes];
        let grouped = names.iter().any(|list| !list.is_empty());
        let id = number(
            entry
                .strip_prefix("## ")?
                .split([':', ' ', '\n', '\r'])
                .next()?,
        );
        let asked = id.is_some_and(|id| self.query.ids.contains(&id));
        // Most entries are passed over here, without a look at their fields.
        let possible = |list: &Vec<String>| {
            list.is_empty() || list.iter().any(|name| entry.contains(name.as_str()))
        };
        if !names.iter().all(|list| possible(list)) {
            return None;
        }
        let [mut tagged, mut coded, mut noded] = names.map(Vec::is_empty);
        // Where each line begins, and what a word in it is worth.
        let mut lines: Vec<(usize, u32)> = Vec::with_capacity(16);
        lines.push((0, 4));
        for end in memchr::memchr_iter(b'\n', entry.as_bytes()) {
            let line = entry.get(end + 1..).unwrap_or("");
            let Some(name) = line.strip_prefix("- ") else {
                continue;
            };
            let has = |wanted: &[String], of: fn(&str) -> &str| {
                let value = name.split('\n').next().and_then(|l| l.split_once(':'));
                let mut items = value.map_or("", |(_, value)| value).split(',');
                items.any(|item| wanted.iter().any(|w| of(item.trim()) == w))
            };
            let is = |field: &str| name.get(..field.len()) == Some(field);
            let weight = if is("tags:") {
                tagged = tagged || has(tags, |t| t);
                4
            } else if is("finding codes:") || is("finding_codes:") {
                coded = coded || has(codes, |t| t);
                4
            } else if is("node types:") || is("node_types:") {
                noded = noded || has(nodes, short);
                4
            } else if is("problem:") {
                2
            } else if is("cause:") || is("solution:") {
                1
            } else if is("status: retired") && !self.query.retired {
                return None;
            } else {
                0
            };
            lines.push((end + 1, weight));
        }
        if !(tagged && coded && noded) {
            return None;
        }
        let words = self.words.iter().map(|word| word.worth(entry, &lines));
        Some(words.sum::<u32>() + u32::from(asked) * 100 + u32::from(grouped))
    }
}

impl Word<'_> {
    /// What the best place is worth where the word stands; half of it where a longer word begins so.
    fn worth(&self, entry: &str, lines: &[(usize, u32)]) -> u32 {
        let bytes = entry.as_bytes();
        let is_letter = |at: usize| {
            bytes
                .get(at)
                .is_some_and(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
        };
        let mut best = 0;
        for at in self.finder.find_iter(bytes) {
            if at > 0 && is_letter(at - 1) {
                continue;
            }
            let line = lines
                .partition_point(|(start, _)| *start <= at)
                .checked_sub(1);
            let weight = line.and_then(|line| lines.get(line)).map_or(0, |(_, w)| *w);
            let mut end = at + self.length;
            if bytes.get(end) == Some(&b's') {
                end += 1;
            }
            let worth = match (is_letter(end), self.prefix) {
                (false, _) => weight,
                (true, true) => weight.div_ceil(2),
                (true, false) => 0,
            };
            best = best.max(worth);
            if best == 4 {
                break;
            }
        }
        best
    }
}

fn shown(section: &Section<'_>) -> IndexLine {
    // Written by hand, it may be of any length.
    let title: String = section.title.chars().take(200).collect();
    let mut text = super::quote::quoted(&title).into_owned();
    for wanted in ["node types", "finding codes", "status"] {
        let Some((_, _, value)) = fields(section.body).find(|(_, name, _)| *name == wanted) else {
            continue;
        };
        let listed = match wanted {
            "node types" => value
                .split(',')
                .map(|t| short(t.trim()))
                .collect::<Vec<_>>()
                .join(", "),
            "status" if value.starts_with("active") => continue,
            _ => value.to_owned(),
        };
        if !listed.is_empty() && listed != "-" {
            text.push_str(&format!(" · {listed}"));
        }
    }
    IndexLine {
        id: section.id.to_owned(),
        text,
    }
}

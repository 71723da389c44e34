//! Finding entries by words, and by `tag:`, `code:`, `node:`. Works on the text of LEARNINGS.md itself, so what was written by
//! hand a moment ago is found, and nothing is ever stale.

use super::entry::{Section, fields, number, sections};
use super::index::short;

/// One entry that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLine {
    /// `L-001`
    pub id: String,
    /// Title, node types, finding codes.
    pub text: String,
}

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
                query
                    .words
                    .extend(words.filter(|w| w.chars().count() > 1).map(str::to_owned));
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

/// The entries that fit, best first; equal ones in the order of the file.
pub fn search(text: &str, query: &Query, limit: usize) -> Vec<IndexLine> {
    let all = sections(text);
    let mut found: Vec<(u32, &Section<'_>)> = all
        .iter()
        .filter_map(|section| Some((score(section, query)?, section)))
        .filter(|(score, _)| *score > 0 || query.is_empty())
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found
        .into_iter()
        .take(limit)
        .map(|(_, section)| shown(section))
        .collect()
}

/// None: retired, or not of the group that was asked for.
fn score(section: &Section<'_>, query: &Query) -> Option<u32> {
    let mut total = words_in(section.title, &query.words, 4);
    let (mut tagged, mut coded, mut noded) = (
        query.tags.is_empty(),
        query.codes.is_empty(),
        query.nodes.is_empty(),
    );
    if number(section.id).is_some_and(|n| query.ids.contains(&n)) {
        total += 100;
    }
    for (_, name, value) in fields(section.body) {
        let has = |wanted: &[String], of: fn(&str) -> &str| {
            value.split(',').map(|item| of(item.trim())).any(|item| {
                wanted
                    .iter()
                    .any(|w| item.len() == w.len() && item.eq_ignore_ascii_case(w))
            })
        };
        match name {
            "status" if !query.retired && value.starts_with("retired") => return None,
            "tags" => {
                tagged = tagged || has(&query.tags, |t| t);
                total += words_in(value, &query.words, 4);
            }
            "finding codes" => {
                coded = coded || has(&query.codes, |t| t);
                total += words_in(value, &query.words, 4);
            }
            "node types" => {
                noded = noded || has(&query.nodes, short);
                total += words_in(value, &query.words, 4);
            }
            "problem" => total += words_in(value, &query.words, 2),
            "cause" | "solution" => total += words_in(value, &query.words, 1),
            _ => {}
        }
    }
    let grouped = !(query.tags.is_empty() && query.codes.is_empty() && query.nodes.is_empty());
    if !(tagged && coded && noded) {
        return None;
    }
    Some(total + u32::from(grouped))
}

/// `weight` for each wanted word that stands there, half of it for one that begins like a word of at least four letters.
fn words_in(text: &str, wanted: &[String], weight: u32) -> u32 {
    if wanted.is_empty() {
        return 0;
    }
    let mut best = vec![0; wanted.len()];
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        for (wanted, best) in wanted.iter().zip(best.iter_mut()) {
            let Some(first) = word.bytes().next() else {
                continue;
            };
            // Most words differ in their first letter.
            if first.is_ascii() && Some(first.to_ascii_lowercase()) != wanted.bytes().next() {
                continue;
            }
            let common = word.len().min(wanted.len());
            let alike = word
                .get(..common)
                .zip(wanted.get(..common))
                .is_some_and(|(a, b)| a.eq_ignore_ascii_case(b) || a.to_lowercase() == b);
            let points = match (alike, word.len() == wanted.len()) {
                (true, true) => weight,
                (true, false) if common >= 4 => weight.div_ceil(2),
                _ => 0,
            };
            *best = points.max(*best);
        }
    }
    best.iter().sum()
}

fn shown(section: &Section<'_>) -> IndexLine {
    let mut text = super::quote::quoted(section.title).into_owned();
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

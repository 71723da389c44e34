//! The index of LEARNINGS.md, generated: one line for each active entry, grouped, in at most [`FIRST_LEVEL`] tokens; with more
//! than [`ONE_LEVEL`] entries an index of indexes in at most [`TWO_LEVELS`] tokens, and a page for each tag, finding code and
//! node type. Pure: the same entries always give the same files.

use super::entry::{Learning, number};
use super::tokens::{cut, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// Up to so many active entries the index has one level.
pub const ONE_LEVEL: usize = 60;
/// What an index of one level may cost, in tokens.
pub const FIRST_LEVEL: usize = 500;
/// What the first page of an index of two levels may cost, in tokens.
pub const TWO_LEVELS: usize = 700;
/// More characters of a title say nothing more.
const LONG_TITLE: usize = 200;
/// A name that is longer is cut in the first page.
const LONG_NAME: usize = 12;

const HEAD: &str = "# Learnings index\nGenerated: agentctl learnings index. Read by id.\n";

/// The index, and its pages by file name; no pages for an index of one level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    pub first: String,
    pub pages: BTreeMap<String, String>,
}

/// What entries are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Tag,
    Code,
    Node,
}

impl Group {
    pub const ALL: [Group; 3] = [Group::Tag, Group::Code, Group::Node];

    pub fn name(self) -> &'static str {
        match self {
            Group::Tag => "tag",
            Group::Code => "code",
            Group::Node => "node",
        }
    }

    /// The names under which an entry stands in this group.
    pub fn of(self, entry: &Learning) -> BTreeSet<String> {
        match self {
            Group::Tag => entry.tags.iter().cloned().collect(),
            Group::Code => entry.finding_codes.iter().cloned().collect(),
            Group::Node => entry
                .node_types
                .iter()
                .map(|t| short(t).to_owned())
                .collect(),
        }
    }
}

/// `n8n-nodes-base.slack` → `slack`
pub fn short(node_type: &str) -> &str {
    node_type.rsplit('.').next().unwrap_or(node_type)
}

/// The index of these entries, as it must stand in the project.
pub fn index(entries: &[Learning]) -> Index {
    let mut active: Vec<&Learning> = entries.iter().filter(|e| e.is_active()).collect();
    active.sort_by_key(|e| number(&e.id));
    if active.len() <= ONE_LEVEL
        && let Some(first) = one_level(&active)
    {
        return Index {
            first,
            pages: BTreeMap::new(),
        };
    }
    two_levels(&active)
}

/// How much of an entry its line says. The first that fits is taken.
#[derive(Clone, Copy)]
enum Detail {
    /// Title, tags, nodes, codes.
    Whole,
    /// Title and codes.
    Codes,
    Title,
    /// The id's number alone, a title of so many tokens, and small groups together.
    Short(usize),
}

fn one_level(active: &[&Learning]) -> Option<String> {
    let short = (1..=10).rev().map(Detail::Short);
    [Detail::Whole, Detail::Codes, Detail::Title]
        .into_iter()
        .chain(short)
        .map(|detail| grouped(active, detail))
        .find(|text| tokens(text) <= FIRST_LEVEL)
}

fn grouped(active: &[&Learning], detail: Detail) -> String {
    let mut groups: BTreeMap<&str, Vec<&Learning>> = BTreeMap::new();
    for entry in active {
        let group = entry.tags.first().map_or("", String::as_str);
        groups.entry(group).or_default().push(entry);
    }
    // A heading for one entry costs more than it tells; where lines are short, one for two does.
    let least = match detail {
        Detail::Short(_) => 3,
        _ => 2,
    };
    let small: Vec<&str> = groups
        .iter()
        .filter(|(name, list)| list.len() < least || tokens(name) > LONG_NAME)
        .map(|(name, _)| *name)
        .collect();
    for name in small {
        let list = groups.remove(name).unwrap_or_default();
        groups.entry("").or_default().extend(list);
    }
    let mut text = HEAD.to_owned();
    if matches!(detail, Detail::Short(_)) {
        text.push_str("001 is L-001.\n");
    }
    let mut other = groups.remove("").unwrap_or_default();
    other.sort_by_key(|e| number(&e.id));
    let headed = !groups.is_empty();
    let other = (!other.is_empty()).then_some(("", other));
    for (name, list) in groups.into_iter().chain(other) {
        text.push_str(&match (detail, name) {
            (_, "") if !headed => "\n".to_owned(),
            (Detail::Short(_), "") => "\n# other\n".to_owned(),
            (Detail::Short(_), _) => format!("\n# {name}\n"),
            (_, "") => "\n## other\n".to_owned(),
            _ => format!("\n## {name}\n"),
        });
        for entry in list {
            text.push_str(&line(entry, name, detail));
            text.push('\n');
        }
    }
    text
}

/// One entry below the heading of its group, which is not said again.
fn line(entry: &Learning, group: &str, detail: Detail) -> String {
    let Learning { id, .. } = entry;
    // Written by hand, it may be of any length and hold anything.
    let title: String = entry.title.chars().take(LONG_TITLE).collect();
    let title = agentctl_base::untrusted::line(&title);
    let codes = || match entry.finding_codes.is_empty() {
        true => String::new(),
        false => format!(" · {}", entry.finding_codes.join(", ")),
    };
    match detail {
        Detail::Whole => {
            let mut line = format!("- {id} {title}");
            let nodes: Vec<&str> = entry.node_types.iter().map(|t| short(t)).collect();
            let said = |name: &str| {
                group.eq_ignore_ascii_case(name)
                    || nodes.iter().any(|node| node.eq_ignore_ascii_case(name))
            };
            let tags: Vec<&str> = entry.tags.iter().map(String::as_str).collect();
            let tags: Vec<&str> = tags.into_iter().filter(|tag| !said(tag)).collect();
            if !tags.is_empty() {
                line.push_str(&format!(" ({})", tags.join(", ")));
            }
            if !nodes.is_empty() {
                line.push_str(&format!(" · {}", nodes.join(", ")));
            }
            line + &codes()
        }
        Detail::Codes => format!("- {id} {title}{}", codes()),
        Detail::Title => format!("- {id} {title}"),
        Detail::Short(most) => {
            let number = id.strip_prefix("L-").unwrap_or(id);
            format!("{number} {}", cut(&title, most))
        }
    }
}

fn two_levels(active: &[&Learning]) -> Index {
    let mut pages = BTreeMap::new();
    let mut sections: Vec<(Group, Vec<(String, usize)>)> = Vec::new();
    for group in Group::ALL {
        let mut members: BTreeMap<String, Vec<&Learning>> = BTreeMap::new();
        for entry in active {
            for name in group.of(entry) {
                members.entry(name).or_default().push(entry);
            }
        }
        for (name, list) in &members {
            let mut text = format!(
                "# {}: {name}, {} entries\nGenerated: agentctl learnings index. Read by id.\n\n",
                group.name(),
                list.len()
            );
            for entry in list {
                text.push_str(&line(entry, name, Detail::Codes));
                text.push('\n');
            }
            pages.insert(page_name(group, name), text);
        }
        // A group of one saves nobody a search.
        let mut counts: Vec<(String, usize)> = members
            .into_iter()
            .map(|(name, list)| (name, list.len()))
            .filter(|(_, count)| *count > 1)
            .collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        sections.push((group, counts));
    }
    Index {
        first: overview(active.len(), &sections),
        pages,
    }
}

/// The largest groups of each kind, by turns, as long as they fit; how many more there are is said.
fn overview(entries: usize, sections: &[(Group, Vec<(String, usize)>)]) -> String {
    let most = sections
        .iter()
        .map(|(_, names)| names.len())
        .max()
        .unwrap_or(0);
    let mut best = listed(entries, sections, 0);
    let (mut low, mut high) = (0, most);
    // The text only grows with the number of names, so the largest that fits is found by halving.
    while low < high {
        let middle = (low + high).div_ceil(2);
        let text = listed(entries, sections, middle);
        if tokens(&text) <= TWO_LEVELS {
            best = text;
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    best
}

fn listed(entries: usize, sections: &[(Group, Vec<(String, usize)>)], each: usize) -> String {
    let mut text = format!(
        "# Learnings index, two levels: {entries} entries\nGenerated: agentctl learnings index. For the lines of a group search `tag:NAME`, `code:NAME` \
         or `node:NAME`, words may follow (files: index/); then read by id.\n"
    );
    for (group, names) in sections.iter().filter(|(_, names)| !names.is_empty()) {
        text.push_str(&format!("\n## {}\n", group.name()));
        let mut shown: Vec<String> = names
            .iter()
            .take(each)
            .map(|(name, count)| format!("{} {count}", cut(name, LONG_NAME)))
            .collect();
        if names.len() > each {
            shown.push(format!("{} more", names.len() - each));
        }
        text.push_str(&shown.join(", "));
        text.push('\n');
    }
    text
}

/// `tag-google-sheets.md`. Names that only differ in what a file name cannot hold get a number of their text behind them.
fn page_name(group: Group, name: &str) -> String {
    format!(
        "{}-{}.md",
        group.name(),
        agentctl_host::files::file_part(name)
    )
}

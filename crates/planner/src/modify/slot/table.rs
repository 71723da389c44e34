//! Which places of nodes hold values of a kind (`knowledge/slots.tsv`), and what stands in them.

use crate::lex::Table;
use crate::spot::Kind;
use agentctl_n8n::Workflow;
use serde_json::Value;
use std::sync::LazyLock;

/// Whether a noun means a part of a node, whatever the node is.
pub(in crate::modify) fn is_part(concept: &str) -> bool {
    slots().iter().any(|slot| slot.concepts.contains(&concept))
}

/// A kind of place.
struct Slot {
    literals: Vec<&'static str>,
    /// With the short type of the only node that has it so, if there is one.
    paths: Vec<(Option<&'static str>, &'static str)>,
    concepts: Vec<&'static str>,
    /// Nouns that mean it only where the clause names no part.
    loose: Vec<&'static str>,
}

pub(in crate::modify) const SLOTS: Table = Table {
    file: "slots.tsv",
    text: include_str!("../../../knowledge/slots.tsv"),
    columns: 5,
};

fn slots() -> &'static [Slot] {
    static ALL: LazyLock<Vec<Slot>> = LazyLock::new(|| {
        let slots = SLOTS.rows().filter_map(|cells| match cells.as_slice() {
            [_, literals, paths, concepts, loose, ..] => Some(Slot {
                literals: literals.split_whitespace().collect(),
                paths: paths
                    .split('|')
                    .map(|path| match path.split_once(':') {
                        Some((node, path)) => (Some(node), path),
                        None => (None, path),
                    })
                    .collect(),
                concepts: concepts.split('|').collect(),
                loose: loose.split('|').collect(),
            }),
            _ => None,
        });
        slots.collect()
    });
    &ALL
}

impl Slot {
    /// Whether it is meant only by its noun ("the sender"), and then nothing else is.
    fn is_alone(&self) -> bool {
        self.loose.contains(&"!")
    }
}

pub(super) fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Channel => "channel",
        Kind::Quote => "quote",
        Kind::Mail => "mail",
        Kind::Phone => "phone",
        Kind::Url => "url",
        Kind::Number => "number",
        _ => "",
    }
}

/// A place in a node that holds a value now.
pub(super) struct Place {
    pub(super) node: String,
    pub(super) path: &'static str,
    pub(super) holds: Vec<String>,
}

/// The places of a workflow that can hold such a literal; `concepts`: of a quoted text only what one of these nouns means, by a part's
/// name before a node's ("the subject of the mail").
pub(super) fn places(
    workflow: &Workflow,
    kind: Kind,
    concepts: Option<&[&str]>,
    kept: &[String],
) -> Vec<Place> {
    let strict: fn(&Slot) -> &[&'static str] = |slot| &slot.concepts;
    let alone: fn(&Slot) -> &[&'static str] = |slot| match slot.is_alone() {
        true => &slot.concepts,
        false => &[],
    };
    let own = concepts.map(|c| places_by(workflow, kind, Some((c, alone)), kept));
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        return own;
    }
    let found = places_by(workflow, kind, concepts.map(|c| (c, strict)), kept);
    match concepts.filter(|_| found.is_empty()) {
        Some(concepts) => places_by(workflow, kind, Some((concepts, |slot| &slot.loose)), kept),
        None => found,
    }
}

/// Nouns, and which of them mean a slot.
type Nouns<'c> = (&'c [&'c str], fn(&Slot) -> &[&'static str]);

fn places_by(
    workflow: &Workflow,
    kind: Kind,
    nouns: Option<Nouns<'_>>,
    kept: &[String],
) -> Vec<Place> {
    let mut found = Vec::new();
    for node in workflow
        .nodes
        .iter()
        .filter(|n| !kept.iter().any(|k| k == n.name()))
    {
        let short = agentctl_n8n::short_type(node.node_type());
        for slot in slots()
            .iter()
            .filter(|s| s.literals.contains(&name_of(kind)))
        {
            if let Some((nouns, of)) = nouns
                && (kind == Kind::Quote || slot.is_alone() || of(slot).is_empty())
                && !of(slot).iter().any(|c| nouns.contains(c))
            {
                continue;
            }
            for (only, path) in &slot.paths {
                let holds = node.parameters().and_then(|p| p.get(*path)).map(held);
                if let Some(holds) =
                    holds.filter(|h| !h.is_empty() && only.is_none_or(|t| t == short))
                {
                    found.push(Place {
                        node: node.name().to_owned(),
                        path,
                        holds,
                    });
                }
            }
        }
    }
    found
}

/// Whether an address was written that is none: each new value of a place for addresses (`slots.tsv`: literals `mail` and `url` alone)
/// is one, an expression or a hole to be filled.
pub(in crate::modify) fn misplaced(before: &Workflow, after: &Workflow) -> bool {
    let is_address = |text: &str, kind: &str| {
        let sign = if kind == "mail" { '@' } else { '.' };
        text.contains(sign) || text.starts_with(['=', '<', '/'])
    };
    after.nodes.iter().any(|node| {
        // What a new node holds is the assembler's.
        let Some(was) = before.node(&node.id()).and_then(|n| n.parameters()) else {
            return false;
        };
        let slots = slots()
            .iter()
            .filter_map(|slot| match slot.literals.as_slice() {
                [kind @ ("mail" | "url")] => Some((kind, &slot.paths)),
                _ => None,
            });
        slots.into_iter().any(|(kind, paths)| {
            paths.iter().any(|(_, path)| {
                let value = |p: &serde_json::Map<String, Value>| p.get(*path).map(held);
                let now = node.parameters().and_then(value).unwrap_or_default();
                let was = value(was).unwrap_or_default();
                now != was && !now.iter().all(|text| is_address(text, kind))
            })
        })
    })
}

/// Whether a place of a node (its short type, a parameter) holds an address of mail and is for telephone numbers alone.
pub(crate) fn is_astray(node: &str, parameter: &str, value: &Value) -> bool {
    let phones = slots().iter().filter(|slot| slot.literals == ["phone"]);
    let mut places = phones.flat_map(|slot| &slot.paths);
    let is_place = places.any(|(of, path)| *path == parameter && of.is_none_or(|of| of == node));
    let is_mail = |text: &String| match text.strip_prefix('=') {
        Some(read) => reads_mail(read),
        None => text.contains('@') && !text.starts_with('<'),
    };
    is_place && held(value).iter().any(is_mail)
}

/// `<Event ID>`: a value that is still to be filled in.
pub(crate) fn is_open(text: &str) -> bool {
    text.starts_with('<') && text.ends_with('>')
}

/// Whether a parameter that holds what is said or written (`slots.tsv`: what a noun means by "text") is still to be filled in; `fileContent` is such a one,
/// too.
pub(crate) fn is_unsaid(parameter: &str, value: &Value) -> bool {
    let name = parameter.to_lowercase();
    let texts = slots()
        .iter()
        .filter(|slot| slot.concepts.contains(&"text"));
    let mut places = texts.flat_map(|slot| &slot.paths);
    places.any(|(_, path)| name.ends_with(path)) && held(value).iter().any(|text| is_open(text))
}

/// Whether an expression gives a field that holds an address of mail, by its name.
fn reads_mail(expression: &str) -> bool {
    let inner = expression
        .trim()
        .trim_start_matches("{{")
        .trim_end_matches("}}");
    let name = inner.trim().trim_end_matches(['\'', '"', ']']);
    let name = name.rsplit(['.', '\'', '"', '[']).next().unwrap_or(name);
    name.to_lowercase().contains("mail")
}

/// What a place holds: a text, or a locator's value and the name that is shown for it.
pub(super) fn held(value: &Value) -> Vec<String> {
    let texts = match value {
        Value::Object(map) if map.contains_key("__rl") => {
            vec![map.get("value"), map.get("cachedResultName")]
        }
        other => vec![Some(other)],
    };
    let texts = texts.into_iter().flatten().filter_map(Value::as_str);
    texts.filter(|t| !t.is_empty()).map(str::to_owned).collect()
}

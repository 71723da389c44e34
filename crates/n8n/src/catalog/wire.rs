//! The catalog's file format: short-keyed JSON facts, written by `build`, read into `description` types.
//! Owns key names and the container (magic, two zstd frames). Never interprets a workflow.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::source::{CatalogError, CatalogSource};

const MAGIC: &[u8; 8] = b"N8NCAT\x00\x01";
/// What stands before the version, whatever that is.
const NAME: &[u8] = b"N8NCAT\x00";
/// What the frames may be unpacked: those of all of n8n's own packages have 150 KB and 4 MB.
const MAX_HEAD: usize = 8 * 1024 * 1024;
const MAX_BODY: usize = 64 * 1024 * 1024;
/// A frame larger than this is no more than so many times its packed size: facts pack 5 to 15 times smaller, and only what was
/// made to fill a machine's memory much smaller than that.
const SMALL: usize = 1024 * 1024;
const MAX_RATIO: usize = 100;
/// n8n has 600 types. More than this many are not read.
const MAX_TYPES: usize = 20_000;

fn no(flag: &bool) -> bool {
    !flag
}

/// The first frame: what types there are and what a search needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Head {
    pub source: CatalogSource,
    /// Credential type → label.
    #[serde(default)]
    pub credentials: BTreeMap<String, String>,
    /// Sorted by name.
    #[serde(deserialize_with = "some_types")]
    pub types: Vec<TypeEntry>,
}

/// The list of types, given up as soon as it is too long.
fn some_types<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<TypeEntry>, D::Error> {
    struct Types;
    impl<'de> Visitor<'de> for Types {
        type Value = Vec<TypeEntry>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of node types")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut types = Vec::new();
            while let Some(entry) = list.next_element()? {
                if types.len() == MAX_TYPES {
                    return Err(Error::custom("too many types"));
                }
                types.push(entry);
            }
            Ok(types)
        }
    }
    from.deserialize_seq(Types)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TypeEntry {
    #[serde(rename = "n")]
    pub name: String,
    #[serde(rename = "l")]
    pub label: String,
    /// In the order of the source: the first one names the default version.
    #[serde(rename = "e")]
    pub entries: Vec<EntryRef>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Labels of resources, operations and events, for search.
    #[serde(rename = "w", default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    #[serde(rename = "t", default, skip_serializing_if = "no")]
    pub trigger: bool,
    #[serde(rename = "h", default, skip_serializing_if = "no")]
    pub hidden: bool,
    /// Has ai outputs only.
    #[serde(rename = "s", default, skip_serializing_if = "no")]
    pub sub_node: bool,
}

/// Where one description lies in the second frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryRef {
    #[serde(rename = "v")]
    pub versions: Vec<f64>,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub default_version: Option<f64>,
    #[serde(rename = "o")]
    pub offset: usize,
    #[serde(rename = "z")]
    pub len: usize,
    /// n8n makes a `…Tool` of it.
    #[serde(rename = "t", default, skip_serializing_if = "no")]
    pub tool: bool,
    /// n8n makes a `…HitlTool` of it.
    #[serde(rename = "i", default, skip_serializing_if = "no")]
    pub hitl: bool,
}

/// One description (it may serve several versions).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(rename = "l")]
    pub label: String,
    #[serde(rename = "dn", default, skip_serializing_if = "Option::is_none")]
    pub default_name: Option<String>,
    #[serde(rename = "g", default)]
    pub group: Vec<String>,
    #[serde(rename = "i", default)]
    pub inputs: PortFacts,
    #[serde(rename = "o", default)]
    pub outputs: PortFacts,
    #[serde(rename = "in", default, skip_serializing_if = "Vec::is_empty")]
    pub input_names: Vec<String>,
    #[serde(rename = "on", default, skip_serializing_if = "Vec::is_empty")]
    pub output_names: Vec<String>,
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<Slot>,
    #[serde(rename = "wh", default, skip_serializing_if = "no")]
    pub webhook: bool,
    #[serde(rename = "po", default, skip_serializing_if = "no")]
    pub poll: bool,
    #[serde(rename = "h", default, skip_serializing_if = "no")]
    pub hidden: bool,
    #[serde(rename = "ds", default, skip_serializing_if = "no")]
    pub described: bool,
    #[serde(rename = "mn", default, skip_serializing_if = "Option::is_none")]
    pub max_nodes: Option<u32>,
    #[serde(rename = "p")]
    pub properties: Vec<Prop>,
}

/// Ports as facts: a list, or "depends on parameters".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PortFacts {
    List(Vec<PortFact>),
    /// `true`: a rule of ours, by type.
    Computed(bool),
}
impl Default for PortFacts {
    fn default() -> Self {
        PortFacts::List(Vec::new())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PortFact {
    Kind(String),
    Full(FullPort),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FullPort {
    #[serde(rename = "t")]
    pub kind: String,
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(rename = "r", default, skip_serializing_if = "no")]
    pub required: bool,
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    #[serde(rename = "y", default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    #[serde(rename = "x", default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    #[serde(rename = "n")]
    pub name: String,
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(rename = "r", default, skip_serializing_if = "no")]
    pub required: bool,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub show: Option<Map<String, Value>>,
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub hide: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prop {
    #[serde(rename = "n")]
    pub name: String,
    #[serde(rename = "l", default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    #[serde(rename = "t")]
    pub kind: String,
    #[serde(rename = "r", default, skip_serializing_if = "no")]
    pub required: bool,
    #[serde(rename = "e", default, skip_serializing_if = "no")]
    pub no_expression: bool,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub show: Option<Map<String, Value>>,
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub hide: Option<Map<String, Value>>,
    /// Absent and null differ.
    #[serde(
        rename = "d",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub default: Option<Value>,
    #[serde(rename = "x", default, skip_serializing_if = "no")]
    pub default_omitted: bool,
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
    /// Children of a collection.
    #[serde(rename = "k", default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Prop>,
    #[serde(rename = "g", default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    #[serde(rename = "m", default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    #[serde(rename = "y", default, skip_serializing_if = "Option::is_none")]
    pub type_options: Option<Box<TypeOpts>>,
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub validate_type: Option<String>,
    #[serde(rename = "a", default, skip_serializing_if = "no")]
    pub arbitrary: bool,
    #[serde(rename = "q", default, skip_serializing_if = "Option::is_none")]
    pub data_path: Option<String>,
    #[serde(rename = "u", default, skip_serializing_if = "no")]
    pub node_setting: bool,
    #[serde(rename = "ct", default, skip_serializing_if = "Vec::is_empty")]
    pub credential_types: Vec<String>,
}

fn present<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}

/// `[value]` when the label is the value, else `[value, label]`, else with display rules.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Choice {
    Same((String,)),
    Labelled((Value, String)),
    Shown((Value, String, Map<String, Value>, Map<String, Value>)),
}

/// By its length; serde's own reading would try one form after the other on a copy.
impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;
        impl<'de> Visitor<'de> for Parts {
            type Value = Choice;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of value, label and display rules")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Choice, A::Error> {
                let missing = |n| A::Error::invalid_length(n, &"one, two or four parts");
                let value: Value = parts.next_element()?.ok_or_else(|| missing(0))?;
                let Some(label) = parts.next_element::<String>()? else {
                    return match value {
                        Value::String(label) => Ok(Choice::Same((label,))),
                        _ => Err(missing(1)),
                    };
                };
                let Some(show) = parts.next_element()? else {
                    return Ok(Choice::Labelled((value, label)));
                };
                let hide = parts.next_element()?.ok_or_else(|| missing(3))?;
                Ok(Choice::Shown((value, label, show, hide)))
            }
        }
        deserializer.deserialize_seq(Parts)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    #[serde(rename = "n")]
    pub name: String,
    #[serde(rename = "l")]
    pub label: String,
    #[serde(rename = "v")]
    pub values: Vec<Prop>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    #[serde(rename = "n")]
    pub name: String,
    #[serde(rename = "l")]
    pub label: String,
    #[serde(rename = "t")]
    pub kind: String,
    #[serde(rename = "r", default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TypeOpts {
    #[serde(rename = "mv", default, skip_serializing_if = "Option::is_none")]
    pub multiple_values: Option<bool>,
    #[serde(rename = "lo", default, skip_serializing_if = "Option::is_none")]
    pub min_value: Option<f64>,
    #[serde(rename = "hi", default, skip_serializing_if = "Option::is_none")]
    pub max_value: Option<f64>,
    #[serde(rename = "np", default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<u32>,
    #[serde(rename = "ml", default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    #[serde(rename = "rf", default, skip_serializing_if = "Option::is_none")]
    pub min_required_fields: Option<u32>,
    #[serde(rename = "af", default, skip_serializing_if = "Option::is_none")]
    pub max_allowed_fields: Option<u32>,
    #[serde(rename = "re", default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(rename = "pw", default, skip_serializing_if = "no")]
    pub password: bool,
    #[serde(rename = "do", default, skip_serializing_if = "no")]
    pub date_only: bool,
    #[serde(rename = "dy", default, skip_serializing_if = "no")]
    pub dynamic_options: bool,
    #[serde(rename = "ed", default, skip_serializing_if = "Option::is_none")]
    pub editor: Option<String>,
    #[serde(rename = "mm", default, skip_serializing_if = "Option::is_none")]
    pub mapper_mode: Option<String>,
    #[serde(rename = "ma", default, skip_serializing_if = "no")]
    pub mapper_auto: bool,
    /// 0: depends on the node's version, by a rule of ours.
    #[serde(rename = "fv", default, skip_serializing_if = "Option::is_none")]
    pub filter_version: Option<u32>,
}

/// Puts the two frames behind a fixed header. Single-threaded, fixed level: the same input gives the same bytes.
pub fn pack(head: &Head, body: &[u8]) -> Result<Vec<u8>, CatalogError> {
    let head = serde_json::to_vec(head).map_err(CatalogError::encode)?;
    let mut out = MAGIC.to_vec();
    let frames = [compress(&head)?, compress(body)?];
    for (raw, frame) in [head.as_slice(), body].iter().zip(&frames) {
        for size in [raw.len(), frame.len()] {
            let size = u32::try_from(size).map_err(|_| CatalogError::TooLarge)?;
            out.extend_from_slice(&size.to_le_bytes());
        }
    }
    for frame in &frames {
        out.extend_from_slice(frame);
    }
    Ok(out)
}

fn compress(raw: &[u8]) -> Result<Vec<u8>, CatalogError> {
    zstd::bulk::compress(raw, 19).map_err(|e| CatalogError::Encode(e.to_string()))
}

/// A frame still compressed, with its size afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame {
    pub start: usize,
    pub len: usize,
    pub raw: usize,
}

/// Finds the head's and the body's frame.
pub fn frames(bytes: &[u8]) -> Result<(Frame, Frame), CatalogError> {
    let rest = match (bytes.strip_prefix(MAGIC), bytes.strip_prefix(NAME)) {
        (Some(rest), _) => rest,
        (None, Some([version, ..])) => return Err(CatalogError::Version(*version)),
        (None, _) => return Err(CatalogError::NotACatalog),
    };
    let mut sizes = [0usize; 4];
    for (slot, chunk) in sizes.iter_mut().zip(rest.chunks_exact(4)) {
        let chunk: [u8; 4] = chunk.try_into().map_err(|_| CatalogError::NotACatalog)?;
        *slot = u32::from_le_bytes(chunk) as usize;
    }
    let [head_raw, head_len, body_raw, body_len] = sizes;
    let start = MAGIC.len() + 16;
    let body_start = start.saturating_add(head_len);
    if body_start.saturating_add(body_len) != bytes.len() {
        return Err(CatalogError::Damaged("the sizes do not fit the file"));
    }
    // Before a byte is unpacked, or room for it is made.
    let swells = |raw: usize, len: usize| raw > SMALL && raw > len.saturating_mul(MAX_RATIO);
    if head_raw > MAX_HEAD
        || body_raw > MAX_BODY
        || swells(head_raw, head_len)
        || swells(body_raw, body_len)
    {
        return Err(CatalogError::Damaged(
            "it would be larger, unpacked, than any catalog is",
        ));
    }
    let head = Frame {
        start,
        len: head_len,
        raw: head_raw,
    };
    let body = Frame {
        start: body_start,
        len: body_len,
        raw: body_raw,
    };
    Ok((head, body))
}

pub fn unpack(bytes: &[u8], frame: Frame) -> Result<Vec<u8>, CatalogError> {
    let slice = bytes
        .get(frame.start..frame.start.saturating_add(frame.len))
        .ok_or(CatalogError::Damaged("a frame is cut off"))?;
    let raw = zstd::bulk::decompress(slice, frame.raw)
        .map_err(|_| CatalogError::Damaged("a frame does not decompress"))?;
    if raw.len() == frame.raw {
        Ok(raw)
    } else {
        Err(CatalogError::Damaged("a frame has the wrong size"))
    }
}

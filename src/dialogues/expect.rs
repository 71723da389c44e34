//! What is expected of a turn, and whether it holds. A word that none of these is names a field that the session keeps: no field of a pack
//! is known here.

use super::play::{Held, Kept, Seen};
use super::spec::{Spec, as_text};
use agentctl_base::yaml::{Entry, Node, Place, Problems};
use agentctl_engine::flow::FieldKind;
use agentctl_engine::nearest::nearest;
use agentctl_engine::pack::Pack;
use serde_json::{Map, Value, json};

/// What an expectation is about, besides fields.
const WORDS: [&str; 14] = [
    "route",
    "fields",
    "kept",
    "said",
    "not_said",
    "order",
    "cleared",
    "messages_kept",
    "model_calls",
    "tool_calls",
    "outcome",
    "expects",
    "data",
    "attachment",
];

/// What a pack's dialogues may speak of.
pub(super) struct Known<'p> {
    pack: &'p Pack,
    /// The field whose keys `fields` and `kept` are about.
    pub fields: Option<String>,
    /// Keys of it that nobody says: they may change whenever something is said.
    pub inferred: Vec<String>,
}

impl<'p> Known<'p> {
    pub fn of(pack: &'p Pack) -> Self {
        Known {
            pack,
            fields: None,
            inferred: Vec::new(),
        }
    }

    pub fn is_field(&self, name: &str) -> bool {
        let spec = self.pack.flow.fields.get(name);
        spec.is_some_and(|spec| spec.of_session)
    }

    fn kept(&self) -> impl Iterator<Item = &str> {
        let fields = self.pack.flow.fields.iter();
        let kept = fields.filter(|(_, spec)| spec.of_session);
        kept.map(|(name, _)| name.as_str())
    }

    pub fn no_such(&self, name: &str) -> String {
        let near = nearest(name, self.kept().chain(WORDS));
        format!(
            "{name:?} is nothing that can be expected, and no field that the flow keeps for a session{near}"
        )
    }

    /// The fields of a group with what stands in them when nothing does.
    fn group(&self, group: &str) -> Vec<(String, Value)> {
        let fields = self.pack.flow.fields.iter();
        let of = fields.filter(|(_, spec)| spec.of_session && spec.group.as_deref() == Some(group));
        of.map(|(name, spec)| (name.clone(), spec.default.clone().unwrap_or_default()))
            .collect()
    }
}

#[derive(Debug, Clone)]
pub struct Expectation {
    /// As it is told: `said`, `fields.NAME`.
    pub name: String,
    pub place: Place,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Route(Spec),
    Field(String, Spec),
    Key(String, String, Spec),
    NoKeys(String),
    Kept {
        field: String,
        but: Vec<String>,
    },
    Said(Spec),
    NotSaid(Spec),
    Order(Vec<Spec>),
    Cleared(Vec<(String, Value)>),
    MessagesKept(bool),
    ModelCalls(Spec),
    ToolCalls(Calls),
    Outcome(Spec),
    Expects(Spec),
    /// What was said last with it.
    Data(Spec),
    Attachment(Spec),
}

#[derive(Debug, Clone)]
enum Calls {
    Count(Spec),
    /// These, in this order, and no other.
    These(Vec<(String, Option<Spec>)>),
}

impl Expectation {
    pub(super) fn read(entry: &Entry, known: &Known<'_>, problems: &mut Problems) -> Vec<Self> {
        let (key, node, place) = (entry.key.as_str(), &entry.value, entry.key_place);
        let one = |what| {
            vec![Expectation {
                name: key.to_owned(),
                place,
                what,
            }]
        };
        let texts = |problems: &mut Problems| match node.as_list() {
            Some(items) => items.iter().map(|n| Spec::of_text(n, problems)).collect(),
            None => vec![Spec::of_text(node, problems)],
        };
        match key {
            "route" => one(What::Route(Spec::one_of(node, problems))),
            "outcome" => one(What::Outcome(Spec::one_of(node, problems))),
            "expects" => one(What::Expects(Spec::one_of(node, problems))),
            "data" => one(What::Data(Spec::read(node, problems))),
            "attachment" => one(What::Attachment(Spec::read(node, problems))),
            "model_calls" => one(What::ModelCalls(Spec::one_of(node, problems))),
            "messages_kept" => one(What::MessagesKept(node.as_bool().unwrap_or(true))),
            "tool_calls" => one(What::ToolCalls(calls(node, problems))),
            "order" => one(What::Order(texts(problems))),
            "said" => texts(problems)
                .into_iter()
                .flat_map(|spec| one(What::Said(spec)))
                .collect(),
            "not_said" => texts(problems)
                .into_iter()
                .flat_map(|spec| one(What::NotSaid(spec)))
                .collect(),
            "cleared" => {
                cleared(node, known, problems).map_or_else(Vec::new, |c| one(What::Cleared(c)))
            }
            "fields" | "kept" => {
                let Some(field) = known.fields.clone() else {
                    let why =
                        format!("`{key}` needs the file's own `fields`, which names the field");
                    problems.add(place, why);
                    return Vec::new();
                };
                match key {
                    "fields" => keys(node, place, &field, problems),
                    _ if node.as_bool() == Some(false) => Vec::new(),
                    _ => {
                        let but = node.get("but").map(Node::to_json).unwrap_or_default();
                        let but = but.as_array().cloned().unwrap_or_default();
                        let but = but.iter().filter_map(Value::as_str).map(str::to_owned);
                        let but = but.chain(known.inferred.iter().cloned()).collect();
                        one(What::Kept { field, but })
                    }
                }
            }
            field if known.is_field(field) => {
                let kind = known.pack.flow.fields.get(field).map(|spec| spec.kind);
                let is_list = matches!(
                    kind,
                    Some(FieldKind::Append | FieldKind::Replace | FieldKind::Set)
                );
                let spec = match is_list {
                    true => Spec::read(node, problems),
                    false => Spec::one_of(node, problems),
                };
                one(What::Field(field.to_owned(), spec))
            }
            other => {
                problems.add(place, known.no_such(other));
                Vec::new()
            }
        }
    }

    pub(super) fn is_of_outcome(&self) -> bool {
        matches!(self.what, What::Outcome(_))
    }

    pub(super) fn judge(&self, seen: &Seen<'_>) -> Held {
        let (holds, got) = self.what.judge(seen);
        Held {
            name: self.name.clone(),
            place: self.place,
            got: (!holds).then_some(got),
        }
    }
}

/// One expectation for each key; none at all: there are no values.
fn keys(node: &Node, place: Place, field: &str, problems: &mut Problems) -> Vec<Expectation> {
    let entries = node.as_map().unwrap_or_default();
    if entries.is_empty() {
        return vec![Expectation {
            name: "fields".to_owned(),
            place,
            what: What::NoKeys(field.to_owned()),
        }];
    }
    let each = entries.iter().map(|entry| Expectation {
        name: format!("fields.{}", entry.key),
        place: entry.key_place,
        what: What::Key(
            field.to_owned(),
            entry.key.clone(),
            Spec::read(&entry.value, problems),
        ),
    });
    each.collect()
}

fn cleared(
    node: &Node,
    known: &Known<'_>,
    problems: &mut Problems,
) -> Option<Vec<(String, Value)>> {
    let mut fields = Vec::new();
    for group in node.as_list().unwrap_or_default() {
        let name = group.as_text().unwrap_or_default();
        let of = known.group(name);
        if of.is_empty() {
            problems.add(group.place, format!("there is no group of fields {name:?}"));
        }
        fields.extend(of);
    }
    if fields.is_empty() {
        problems.add(node.place, "`cleared` must be a list of groups of fields");
        return None;
    }
    Some(fields)
}

fn calls(node: &Node, problems: &mut Problems) -> Calls {
    let Some(items) = node.as_list() else {
        return Calls::Count(Spec::read(node, problems));
    };
    let each = items.iter().filter_map(|item| {
        let Some(tool) = item.get("tool").and_then(Node::as_text) else {
            problems.add(item.place, "a call is {tool, args}");
            return None;
        };
        let args = item.get("args").map(|args| Spec::read(args, problems));
        Some((tool.to_owned(), args))
    });
    Calls::These(each.collect())
}

impl What {
    /// Whether it holds, and what there was.
    fn judge(&self, seen: &Seen<'_>) -> (bool, String) {
        let of = |spec: &Spec, value: Value| (spec.holds(&value), as_text(&value));
        let (before, after) = (&seen.before.state, &seen.after.state);
        match self {
            What::Route(spec) => of(spec, json!(seen.reply.route)),
            What::Outcome(spec) => of(spec, json!(seen.reply.outcome)),
            What::Expects(spec) => of(spec, json!(seen.reply.expects)),
            What::Data(spec) => {
                let last = seen.reply.messages.last();
                of(spec, last.map(|m| m.data.clone()).unwrap_or_default())
            }
            What::Attachment(spec) => {
                let last = seen.reply.messages.last();
                of(spec, json!(last.and_then(|m| m.attachment.clone())))
            }
            What::ModelCalls(spec) => of(spec, json!(seen.reply.usage.model_calls)),
            What::Field(name, spec) => of(spec, value(after, name)),
            What::Key(field, key, spec) => {
                let value = value(after, field).get(key).cloned();
                of(spec, value.unwrap_or_default())
            }
            What::NoKeys(field) => {
                let value = value(after, field);
                (is_nothing(&value), as_text(&value))
            }
            What::Kept { field, but } => {
                let (before, after) = (value(before, field), value(after, field));
                let was = before.as_object().into_iter().flatten();
                let lost: Vec<&str> = was
                    .filter(|(key, _)| !but.contains(key))
                    .filter(|(key, value)| after.get(key.as_str()) != Some(value))
                    .map(|(key, _)| key.as_str())
                    .collect();
                (lost.is_empty(), format!("changed: {}", lost.join(", ")))
            }
            What::Said(spec) => of(spec, seen.said().into()),
            What::NotSaid(spec) => {
                let said = seen.said();
                (!spec.holds(&said.clone().into()), said)
            }
            What::Order(specs) => {
                let said = seen.said();
                let end = specs
                    .iter()
                    .try_fold(0, |at, spec| spec.found_after(&said, at));
                (end.is_some(), said)
            }
            What::Cleared(fields) => {
                let is_empty = |of: &Map<String, Value>| {
                    let mut all = fields.iter();
                    all.all(|(name, default)| {
                        let value = value(of, name);
                        value == *default || is_nothing(&value)
                    })
                };
                let stands = fields.iter().map(|(name, _)| (name, value(after, name)));
                let stands: Vec<String> = stands
                    .map(|(name, value)| format!("{name}: {}", as_text(&value)))
                    .collect();
                (is_empty(after) && !is_empty(before), stands.join("; "))
            }
            What::MessagesKept(wanted) => {
                let Kept { messages, .. } = seen.after;
                let more = *messages > seen.before.messages;
                (more == *wanted, format!("{messages} messages"))
            }
            What::ToolCalls(Calls::Count(spec)) => of(spec, json!(seen.calls.len())),
            What::ToolCalls(Calls::These(wanted)) => {
                let fit =
                    |((tool, args), (made, with)): (&(String, Option<Spec>), &(String, Value))| {
                        tool == made && args.as_ref().is_none_or(|args| args.holds(with))
                    };
                let holds =
                    wanted.len() == seen.calls.len() && wanted.iter().zip(&seen.calls).all(fit);
                let made = seen
                    .calls
                    .iter()
                    .map(|(tool, args)| format!("{tool} {args}"));
                (holds, made.collect::<Vec<_>>().join("; "))
            }
        }
    }
}

fn value(state: &Map<String, Value>, name: &str) -> Value {
    state.get(name).cloned().unwrap_or_default()
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

//! What can be expected of a workflow, of questions and of a refusal, as it is written in a file.

use crate::fires::{Fires, cron, minute_of, period};
use crate::pattern::{Expression, Pattern};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// Everything in it is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    pub trigger: OneOrMore<Selector>,
    pub schedule: OneOrMore<Schedule>,
    /// Any of these in the workflow's settings.
    pub timezone: Vec<String>,
    pub nodes: Vec<Selector>,
    pub edges: Vec<Edge>,
    pub conditions: Vec<Condition>,
    pub split: Vec<Split>,
    pub loops: Vec<LoopOver>,
    pub one_of: Vec<OneOf>,
    /// In parameters.
    pub values: Vec<Pattern>,
    /// In parameters, names and notes.
    pub values_anywhere: Vec<Pattern>,
    pub forbid: Vec<String>,
    pub forbid_nodes: Vec<Selector>,
    pub forbid_values: Vec<Pattern>,
    pub max_nodes: Option<usize>,
    pub untouched_nodes: Vec<String>,
    pub untouched_params: Vec<String>,
    pub removed_nodes: Vec<String>,
    pub kept_edges: Vec<(String, String)>,
    pub gone_edges: Vec<(String, String)>,
    pub questions: Vec<Topic>,
    pub must_not_ask: Vec<Topic>,
    pub max_questions: Option<usize>,
    pub refuse: Option<Box<Refuse>>,
}

/// Nodes: of one of these types, and with all of this. A disabled node and a note on the canvas are never selected.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    pub any_of: Vec<String>,
    #[serde(default)]
    pub params: Vec<Param>,
    #[serde(default)]
    pub contains: Vec<Pattern>,
    #[serde(default)]
    pub must_contain: Vec<Pattern>,
    #[serde(default)]
    pub must_not_contain: Vec<Pattern>,
    pub count_min: Option<usize>,
}

/// A parameter of a node. Of several conditions all must hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// `a.b`; `a|b` is either; `@retryOnFail` stands beside the parameters; `$wait_seconds`, `$limit_wait_seconds` are computed.
    pub path: String,
    pub equals: Option<Value>,
    pub any_of: Option<Vec<Value>>,
    pub matches: Option<Expression>,
    pub contains: Option<Vec<Pattern>>,
    pub lte: Option<f64>,
    pub gte: Option<f64>,
    pub not_equals: Option<Value>,
    #[serde(default)]
    pub absent: bool,
    /// Asked of nodes of these types only; none: of all.
    pub types: Option<Vec<String>>,
    /// By node type: what n8n takes where the parameter is not written.
    #[serde(default)]
    pub absent_means: BTreeMap<String, OneOrMore<Value>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    pub from: Selector,
    pub to: Selector,
    /// Said for the reader: without `direct` and `via` an edge is one that can be reached.
    #[serde(default, rename = "reachable")]
    _reachable: bool,
    #[serde(default)]
    pub direct: bool,
    /// An attachment of one of these types, e.g. `ai_tool`.
    #[serde(default)]
    pub via: OneOrMore<String>,
    #[serde(default)]
    pub negate: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    pub node: Selector,
    #[serde(default)]
    pub must_contain: Vec<Pattern>,
    #[serde(default)]
    pub must_not_contain: Vec<Pattern>,
    pub count_min: Option<usize>,
}

/// The targets hang on different outputs of one branching node.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    pub targets: Vec<Selector>,
}

/// Loop Over Items: `body` on its loop output and back, `after` on its done output.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopOver {
    pub node: Selector,
    #[serde(default)]
    pub body: Vec<Selector>,
    #[serde(default)]
    pub after: Vec<Selector>,
}

/// Several accepted designs, which count as one item.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneOf {
    pub name: String,
    pub options: Vec<Design>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Design {
    pub nodes: Vec<Selector>,
    pub edges: Vec<Edge>,
    pub conditions: Vec<Condition>,
    pub split: Vec<Split>,
    pub loops: Vec<LoopOver>,
    pub values: Vec<Pattern>,
}

/// Compared by the times at which it fires over two years, so it does not matter in which form it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "TypedSchedule")]
pub struct Schedule {
    pub when: When,
    /// Nothing else is scheduled.
    pub only: bool,
}

#[derive(Debug, Clone)]
pub enum When {
    /// As one of these cron expressions does.
    Cron(Vec<Fires>),
    EveryMinutes(u32),
    /// Once on each of these days, at this minute of the day if one is said.
    EveryDays(u32, Option<u32>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedSchedule {
    #[serde(default)]
    cron: OneOrMore<String>,
    /// `5m`, `2h`, `3d`.
    every: Option<String>,
    /// `HH:MM`, with days.
    at: Option<String>,
    #[serde(default)]
    only: bool,
}

impl TryFrom<TypedSchedule> for Schedule {
    type Error = String;
    fn try_from(typed: TypedSchedule) -> Result<Self, String> {
        let at = match typed.at.as_deref() {
            None => None,
            Some(at) => Some(minute_of(at).ok_or(format!("{at:?} is no time like 09:30"))?),
        };
        let when = match (typed.cron.all.as_slice(), typed.every.as_deref()) {
            ([], Some(every)) => match (period(every), at) {
                (Some((n, 'd')), at) => When::EveryDays(n, at),
                (Some((n, 'h')), None) => When::EveryMinutes(n * 60),
                (Some((n, _)), None) => When::EveryMinutes(n),
                (Some(_), Some(_)) => return Err("`at` goes with days only".to_owned()),
                (None, _) => return Err(format!("{every:?} is none of 5m, 2h, 3d")),
            },
            ([], None) => return Err("a schedule needs `cron` or `every`".to_owned()),
            (_, Some(_)) => return Err("a schedule has `cron` or `every`, not both".to_owned()),
            (expressions, None) => {
                let fires = expressions.iter().map(|expression| {
                    cron(expression).ok_or(format!("{expression:?} is no cron expression"))
                });
                When::Cron(fires.collect::<Result<_, _>>()?)
            }
        };
        Ok(Schedule {
            when,
            only: typed.only,
        })
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    pub topic: String,
    pub any_of: Vec<Pattern>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Accepted {
    Refuse,
    Clarify,
    /// The workflow as it was.
    Unchanged,
    /// A workflow that meets `safe`.
    SafeWorkflow,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refuse {
    pub accept: Vec<Accepted>,
    #[serde(default)]
    pub reason: Vec<Topic>,
    #[serde(default)]
    pub forbid_values: Vec<Pattern>,
    #[serde(default)]
    pub safe: Expect,
    #[serde(default)]
    pub workflow_needs_notice: bool,
}

/// One thing, or a list of them.
#[derive(Debug, Clone)]
pub struct OneOrMore<T> {
    pub all: Vec<T>,
    /// It stands as a list, so its items are numbered.
    pub is_list: bool,
}

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        OneOrMore {
            all: Vec::new(),
            is_list: false,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OneOrMoreReader(PhantomData))
    }
}

struct OneOrMoreReader<T>(PhantomData<T>);

impl<T> OneOrMoreReader<T> {
    fn one<'de, E: Error>(
        value: impl serde::de::IntoDeserializer<'de, E>,
    ) -> Result<OneOrMore<T>, E>
    where
        T: Deserialize<'de>,
    {
        let one = T::deserialize(value.into_deserializer())?;
        Ok(OneOrMore {
            all: vec![one],
            is_list: false,
        })
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMoreReader<T> {
    type Value = OneOrMore<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one thing or a list of them")
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Self::one(value)
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Self::one(value)
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Self::one(value)
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Self::one(value)
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Self::one(value)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let one = T::deserialize(MapAccessDeserializer::new(map))?;
        Ok(OneOrMore {
            all: vec![one],
            is_list: false,
        })
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(OneOrMore { all, is_list: true })
    }
}

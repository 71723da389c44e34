//! What one run may use of other servers' tools: tools, and the values of their arguments or where those must come from. Settled
//! before any tool's result was read, so that no result can widen it. Grants only ever tighten what the policy allows.

use super::origin::{Known, PROGRAM, TOOL, USER};
use super::past::PastCall;
use super::program::Program;
use crate::condition::Origins;
use crate::vocabulary::Does;
use agentctl_base::decision::Decision;
use agentctl_base::foreign::split_foreign;
use agentctl_base::secrets::MARK;
use agentctl_base::strict_json::is_empty;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The rule that a refusal or a question names.
pub const RULE: &str = "plan.tools";

/// Longer patterns are refused, and so are ones that compile to more than this.
const MAX_PATTERN: usize = 500;
const MAX_COMPILED: usize = 256 * 1024;
/// More entries are no plan.
const MAX_ENTRIES: usize = 200;

/// What becomes of a call outside of the grants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outside {
    #[default]
    Ask,
    Deny,
}

impl Outside {
    pub fn name(self) -> &'static str {
        match self {
            Outside::Ask => "ask",
            Outside::Deny => "deny",
        }
    }
    pub fn from_name(name: &str) -> Option<Outside> {
        [Outside::Ask, Outside::Deny]
            .into_iter()
            .find(|outside| outside.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Grants {
    outside: Outside,
    tools: Vec<Grant>,
}

#[derive(Debug, Clone, PartialEq)]
struct Grant {
    tool: String,
    role: Option<String>,
    /// How many calls that were made may fit this entry.
    times: Option<u64>,
    args: Vec<(String, Allowed)>,
}

/// What an argument may be; all that is set must hold.
#[derive(Debug, Clone, Default)]
struct Allowed {
    equals: Option<Value>,
    one_of: Option<Vec<Value>>,
    from: Option<Vec<String>>,
    matches: Option<regex::Regex>,
}

impl PartialEq for Allowed {
    fn eq(&self, other: &Self) -> bool {
        let pattern = |a: &Allowed| a.matches.as_ref().map(|p| p.as_str().to_owned());
        self.equals == other.equals
            && self.one_of == other.one_of
            && self.from == other.from
            && pattern(self) == pattern(other)
    }
}

/// A call that is judged.
pub(super) struct Judged<'a> {
    pub role: &'a str,
    pub tool: &'a str,
    pub args: &'a Map<String, Value>,
    pub does: Does,
    pub known: &'a Known,
    pub program: &'a Program,
}

impl Grants {
    /// Nothing at all.
    pub fn nothing(outside: Outside) -> Grants {
        Grants {
            outside,
            tools: Vec::new(),
        }
    }

    /// Reads `{"outside": …, "tools": [{"tool", "role", "times", "args": {NAME: …}}]}`. Unknown keys are errors: a misspelt
    /// condition must not grant more than was meant.
    pub fn parse(value: &Value) -> Result<Grants, String> {
        let map = object(value, "the grants", &["outside", "tools"])?;
        let outside = match map.get("outside") {
            None => Outside::default(),
            Some(word) => word
                .as_str()
                .and_then(Outside::from_name)
                .ok_or("`outside` is ask or deny")?,
        };
        let listed = map.get("tools").and_then(Value::as_array);
        let listed = listed.ok_or("the grants need a list `tools`")?;
        if listed.len() > MAX_ENTRIES {
            return Err(format!("the grants have more than {MAX_ENTRIES} entries"));
        }
        let tools = listed.iter().map(grant).collect::<Result<_, _>>()?;
        Ok(Grants { outside, tools })
    }

    /// As it is parsed again.
    pub fn to_json(&self) -> Value {
        let tools = self.tools.iter().map(|grant| {
            let mut map = Map::new();
            map.insert("tool".into(), json!(grant.tool));
            if let Some(role) = &grant.role {
                map.insert("role".into(), json!(role));
            }
            if let Some(times) = grant.times {
                map.insert("times".into(), json!(times));
            }
            if !grant.args.is_empty() {
                let args = grant.args.iter();
                let args = args.map(|(name, allowed)| (name.clone(), allowed.to_json()));
                map.insert("args".into(), Value::Object(args.collect()));
            }
            Value::Object(map)
        });
        json!({"outside": self.outside.name(), "tools": tools.collect::<Vec<_>>()})
    }

    /// The same, where what is outside is at least so strictly kept out.
    #[must_use]
    pub fn at_least(mut self, outside: Outside) -> Grants {
        self.outside = self.outside.max(outside);
        self
    }

    /// The tools that are named, with the arguments that something is said about.
    pub fn named(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        self.tools.iter().map(|grant| {
            let args = grant.args.iter().map(|(name, _)| name.as_str());
            (grant.tool.as_str(), args.collect())
        })
    }

    /// One line for each tool, for people.
    pub fn lines(&self) -> Vec<String> {
        let line = |grant: &Grant| {
            let args = grant.args.iter();
            let args: Vec<String> = args
                .map(|(name, a)| format!("{name} {}", a.told()))
                .collect();
            let times = match grant.times {
                Some(1) => " once".to_owned(),
                Some(n) => format!(" {n} times at most"),
                None => String::new(),
            };
            match args.is_empty() {
                true => format!("{}{times}", grant.tool),
                false => format!("{}{times}: {}", grant.tool, args.join(", ")),
            }
        };
        self.tools.iter().map(line).collect()
    }

    /// None: the call is inside.
    pub(super) fn outside(&self, call: &Judged<'_>, past: &[Arc<PastCall>]) -> Option<Decision> {
        let mut why = format!("the plan of this run has no {}", call.tool);
        for grant in self.tools.iter().filter(|grant| {
            grant.tool == call.tool && grant.role.as_deref().is_none_or(|role| role == call.role)
        }) {
            if let Some(misfit) = grant.misfit(call.args, call.does, call.known) {
                why = misfit;
                continue;
            }
            // An entry that does not count its calls is never used up.
            let times = grant.times?;
            if grant.used(call, past) < times {
                return None;
            }
            why = format!(
                "the plan of this run has {} {times} times with these arguments, and that is used up",
                call.tool
            );
        }
        let rule = RULE.to_owned();
        Some(match self.outside {
            Outside::Ask => Decision::Ask { rule, reason: why },
            Outside::Deny => Decision::Deny { rule, reason: why },
        })
    }
}

impl Grant {
    /// How many calls fitted this entry, each taken for what it did then: one that fitted as a read counts, though the call in
    /// question does more, and a key that has become data since was none then.
    fn used(&self, call: &Judged<'_>, past: &[Arc<PastCall>]) -> u64 {
        let known = Known {
            keys: Arc::default(),
            ..call.known.clone()
        };
        let fitted = |earlier: &PastCall| {
            let Some(args) = earlier.args().as_object() else {
                return false;
            };
            let did = earlier.did(call.program).min(call.does);
            // What the journal hides of an earlier call may have fitted.
            earlier.args().to_string().contains(MARK) || self.misfit(args, did, &known).is_none()
        };
        let used = past
            .iter()
            .filter(|earlier| earlier.was_made() && earlier.tool == self.tool && fitted(earlier));
        u64::try_from(used.count()).unwrap_or(u64::MAX)
    }

    /// Why the arguments do not fit.
    fn misfit(&self, args: &Map<String, Value>, does: Does, known: &Known) -> Option<String> {
        for (name, allowed) in &self.args {
            let value = args.get(name).unwrap_or(&Value::Null);
            if let Some(why) = allowed.misfit(value, known) {
                return Some(format!(
                    "by the plan of this run, {name} of {} {why}",
                    self.tool
                ));
            }
        }
        if does == Does::Read {
            return None;
        }
        // What the plan says nothing about is the user's own, or left out.
        let own = [USER.to_owned(), PROGRAM.to_owned()];
        args.iter()
            .filter(|(name, _)| !self.args.iter().any(|(said, _)| said == *name))
            .find(|(name, value)| {
                let own_value = is_empty(value) || known.from(value, &own);
                !own_value || !known.name_from(name, &own)
            })
            .map(|(name, _)| {
                format!(
                    "the plan of this run says nothing about {name} of {}, so it must be the user's own word",
                    self.tool
                )
            })
    }
}

impl Allowed {
    fn misfit(&self, value: &Value, known: &Known) -> Option<String> {
        if let Some(wanted) = &self.equals
            && !same(wanted, value)
        {
            return Some(format!("must be {wanted}"));
        }
        if let Some(options) = &self.one_of {
            let one = |value: &Value| options.iter().any(|option| same(option, value));
            let each =
                matches!(value, Value::Array(items) if !items.is_empty() && items.iter().all(one));
            if !one(value) && !each {
                return Some(format!("must be one of {}", Value::from(options.clone())));
            }
        }
        if let Some(pattern) = &self.matches {
            let one = |value: &Value| match value {
                Value::String(text) => pattern.is_match(text),
                Value::Number(number) => pattern.is_match(&number.to_string()),
                _ => false,
            };
            let fits = match value {
                Value::Array(items) => items.iter().all(one),
                value => one(value),
            };
            if !fits {
                return Some(format!("must match {}", self.pattern().unwrap_or_default()));
            }
        }
        if let Some(places) = &self.from
            && !known.from(value, places)
        {
            return Some(format!("must come from {}", places.join(" or ")));
        }
        None
    }

    /// As it was written.
    fn pattern(&self) -> Option<&str> {
        let whole = self.matches.as_ref()?.as_str();
        whole.strip_prefix("\\A(?:")?.strip_suffix(")\\z")
    }

    fn to_json(&self) -> Value {
        let mut map = Map::new();
        if let Some(value) = &self.equals {
            map.insert("equals".into(), value.clone());
        }
        if let Some(values) = &self.one_of {
            map.insert("one_of".into(), Value::from(values.clone()));
        }
        if let Some(places) = &self.from {
            map.insert("from".into(), json!(places));
        }
        if let Some(pattern) = self.pattern() {
            map.insert("matches".into(), json!(pattern));
        }
        match map.is_empty() {
            true => json!("any"),
            false => Value::Object(map),
        }
    }

    fn told(&self) -> String {
        let mut parts = Vec::new();
        if let Some(value) = &self.equals {
            parts.push(format!("= {value}"));
        }
        if let Some(values) = &self.one_of {
            parts.push(format!("one of {}", Value::from(values.clone())));
        }
        if let Some(pattern) = self.pattern() {
            parts.push(format!("matches {pattern}"));
        }
        if let Some(places) = &self.from {
            parts.push(format!("from {}", places.join(" or ")));
        }
        match parts.is_empty() {
            true => "any".to_owned(),
            false => parts.join(" and "),
        }
    }
}

/// Equal; numbers by their value.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

fn object<'a>(
    value: &'a Value,
    what: &str,
    keys: &[&str],
) -> Result<&'a Map<String, Value>, String> {
    let Value::Object(map) = value else {
        return Err(format!("{what} must be a JSON object"));
    };
    match map.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(format!(
            "{what} has the unknown key {key:?}; it may have {}",
            keys.join(", ")
        )),
        None => Ok(map),
    }
}

fn grant(value: &Value) -> Result<Grant, String> {
    let map = object(
        value,
        "an entry of the grants",
        &["tool", "role", "times", "args"],
    )?;
    let tool = map.get("tool").and_then(Value::as_str);
    let tool = tool.ok_or("an entry of the grants needs its `tool`")?;
    if split_foreign(tool).is_none() {
        return Err(format!(
            "{tool:?} is no tool of another server; those are named mcp__server__tool"
        ));
    }
    let role = match map.get("role") {
        None | Some(Value::Null) => None,
        Some(Value::String(role)) => Some(role.clone()),
        Some(_) => return Err(format!("{tool}: `role` must be text")),
    };
    let times = match map.get("times") {
        None | Some(Value::Null) => None,
        Some(n) => Some(
            n.as_u64()
                .ok_or(format!("{tool}: `times` must be a whole number"))?,
        ),
    };
    let mut args = Vec::new();
    match map.get("args") {
        None | Some(Value::Null) => {}
        Some(Value::Object(named)) => {
            for (name, value) in named {
                let allowed = allowed(value).map_err(|why| format!("{tool}: {name}: {why}"))?;
                args.push((name.clone(), allowed));
            }
        }
        Some(_) => return Err(format!("{tool}: `args` must be an object")),
    }
    Ok(Grant {
        tool: tool.to_owned(),
        role,
        times,
        args,
    })
}

fn allowed(value: &Value) -> Result<Allowed, String> {
    if value.as_str() == Some("any") {
        return Ok(Allowed::default());
    }
    let keys = ["equals", "one_of", "from", "matches"];
    let map = object(value, "what an argument may be (or \"any\")", &keys)?;
    if map.is_empty() {
        return Err(format!("say \"any\", or one of {}", keys.join(", ")));
    }
    let mut allowed = Allowed {
        equals: map.get("equals").cloned(),
        ..Allowed::default()
    };
    if let Some(options) = map.get("one_of") {
        let options = options.as_array().ok_or("`one_of` must be a list")?;
        allowed.one_of = Some(options.clone());
    }
    if let Some(places) = map.get("from") {
        let places: Vec<String> = match places {
            Value::String(one) => vec![one.clone()],
            Value::Array(several) => several
                .iter()
                .map(|place| place.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or("`from` must be a list of texts")?,
            _ => return Err("`from` must be text or a list of texts".to_owned()),
        };
        if let Some(wrong) = places.iter().find(|place| !is_place(place)) {
            return Err(format!(
                "{wrong:?} is no place that a value comes from: user, program, any, tool:NAME or tool:NAME#path"
            ));
        }
        allowed.from = Some(places);
    }
    if let Some(pattern) = map.get("matches") {
        let pattern = pattern.as_str().ok_or("`matches` must be text")?;
        if pattern.len() > MAX_PATTERN {
            return Err(format!("the pattern is longer than {MAX_PATTERN} bytes"));
        }
        let compiled = regex::RegexBuilder::new(&format!("\\A(?:{pattern})\\z"))
            .size_limit(MAX_COMPILED)
            .build()
            .map_err(|_| format!("{pattern:?} is no regular expression, or too large a one"))?;
        allowed.matches = Some(compiled);
    }
    Ok(allowed)
}

/// A place that a value can come from.
pub(super) fn is_place(place: &str) -> bool {
    matches!(place, "any" | USER | PROGRAM)
        || place
            .strip_prefix(TOOL)
            .is_some_and(|name| !name.is_empty())
}

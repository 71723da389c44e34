//! Conditions and values written in CEL: compiled and checked when a pack loads, evaluated over JSON. Pure.
//! Must never see anything but the variables it is given: no clock, no environment, no IO.

mod cost;
mod patterns;

use crate::flow::findings::compare_findings;
use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::objects::{Key, Map as CelMap};
use cel::{Context, Env, ExecutionError, Program, Value as CelValue};
use patterns::{MATCHES, Patterns};
use serde_json::{Map, Number, Value};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// A compiled expression; equal when its source is equal.
#[derive(Clone)]
pub struct Condition {
    source: String,
    expression: Arc<IdedExpr>,
    patterns: Arc<Patterns>,
    /// Paths below the variables that it reads, root first.
    paths: Arc<BTreeSet<Vec<String>>>,
    asks_origins: bool,
}

/// Where values of a run came from: what the functions `origin`, `origins` and `from` of a policy's conditions ask.
pub trait Origins: Send + Sync {
    fn origin(&self, value: &Value) -> String;
    fn origins(&self, value: &Value) -> Vec<String>;
    fn from(&self, value: &Value, places: &[String]) -> bool;
    /// Bytes that one question looks through, at most.
    fn weight(&self) -> usize;
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Condition({:?})", self.source)
    }
}
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// Why an expression cannot be used, or what went wrong when it was evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConditionError {
    #[error("the expression `{expression}` is not valid: {reason}")]
    Syntax { expression: String, reason: String },
    #[error(
        "the expression `{expression}` uses the unknown variable `{name}`; it may use {allowed}"
    )]
    UnknownVariable {
        expression: String,
        name: String,
        allowed: String,
    },
    #[error("the expression `{expression}` calls the unknown function `{name}`")]
    UnknownFunction { expression: String, name: String },
    #[error("the expression `{expression}` cannot be evaluated: {reason}")]
    Evaluation { expression: String, reason: String },
    #[error(
        "the expression `{expression}` could take {steps} steps, at most {most} are allowed: nest fewer loops, or loop over less"
    )]
    Cost {
        expression: String,
        steps: String,
        most: String,
    },
    #[error("the expression `{expression}` must give {expected}, it gave {got}")]
    Type {
        expression: String,
        expected: &'static str,
        got: String,
    },
}

/// Built once: it costs more than most evaluations.
static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// Functions that an expression may call besides CEL's operators and macros.
const FUNCTIONS: &[&str] = &[
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "string",
    "int",
    "uint",
    "double",
    "bool",
    "type",
    "compare_findings",
];

/// What only conditions of a policy may call besides, because only they are told about origins.
pub const ORIGIN_FUNCTIONS: &[&str] = &["origin", "origins", "from"];

/// What is quoted of a long expression or pattern.
const MAX_SHOWN: usize = 200;

impl Condition {
    /// Compiles and checks one expression. Every name that it uses must be in `variables`.
    pub fn compile(source: &str, variables: &[&str]) -> Result<Condition, ConditionError> {
        Self::compile_with(source, variables, &[])
    }

    /// The same, with further functions that it may call.
    pub fn compile_with(
        source: &str,
        variables: &[&str],
        functions: &[&str],
    ) -> Result<Condition, ConditionError> {
        let syntax = |reason: String| ConditionError::Syntax {
            expression: source.to_owned(),
            reason,
        };
        let program = Program::compile(source).map_err(|errors| {
            let reason = errors
                .errors
                .iter()
                .map(|e| format!("{} (at {}:{})", e.msg, e.pos.0, e.pos.1))
                .collect::<Vec<_>>()
                .join("; ");
            syntax(reason)
        })?;
        let mut used = Used::default();
        used.walk(program.expression(), &mut Vec::new());
        if let Some(name) = used
            .variables
            .iter()
            .find(|name| !variables.contains(&name.as_str()))
        {
            return Err(ConditionError::UnknownVariable {
                expression: source.to_owned(),
                name: name.clone(),
                allowed: variables.join(", "),
            });
        }
        if let Some(name) = used.functions.iter().find(|name| {
            name.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
                && !FUNCTIONS.contains(&name.as_str())
                && !functions.contains(&name.as_str())
        }) {
            return Err(ConditionError::UnknownFunction {
                expression: source.to_owned(),
                name: name.clone(),
            });
        }
        let mut expression = program.expression().clone();
        let patterns = Patterns::of(&mut expression).map_err(syntax)?;
        let nominal = |_: &[String]| cost::NOMINAL;
        let condition = Condition {
            source: source.to_owned(),
            expression: Arc::new(expression),
            patterns: Arc::new(patterns),
            paths: Arc::new(used.paths),
            asks_origins: used
                .functions
                .iter()
                .any(|name| ORIGIN_FUNCTIONS.contains(&name.as_str())),
        };
        let sizes = cost::Sizes::new(&nominal, 8_000, &condition.patterns);
        let steps = sizes.steps(&condition.expression);
        if used.nodes > cost::MAX_NODES || steps > cost::MAX_STEPS_LOADED {
            return Err(condition.too_much(steps, cost::MAX_STEPS_LOADED));
        }
        Ok(condition)
    }

    fn too_much(&self, steps: f64, most: f64) -> ConditionError {
        ConditionError::Cost {
            expression: self.source.chars().take(MAX_SHOWN).collect(),
            steps: format!("{steps:.0e}"),
            most: format!("{most:.0e}"),
        }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Paths below a root variable that the expression names, e.g. `["state", "requirements", "goal"]`.
    pub fn paths(&self) -> Vec<Vec<String>> {
        self.paths.iter().cloned().collect()
    }

    /// Whether the expression reads the variable.
    pub fn reads(&self, variable: &str) -> bool {
        self.paths
            .iter()
            .any(|path| path.first().is_some_and(|root| root == variable))
    }

    /// Whether the expression asks where a value came from.
    pub fn asks_origins(&self) -> bool {
        self.asks_origins
    }

    pub fn value(&self, variables: &Map<String, Value>) -> Result<Value, ConditionError> {
        self.value_with(variables, None)
    }

    /// The same, with answers about origins. An expression that could cost too much on these values is not begun.
    pub fn value_with(
        &self,
        variables: &Map<String, Value>,
        origins: Option<&Arc<dyn Origins>>,
    ) -> Result<Value, ConditionError> {
        let failed = |reason: String| ConditionError::Evaluation {
            expression: self.source.clone(),
            reason,
        };
        let size = |path: &[String]| {
            let (root, fields) = match path.split_first() {
                Some((root, fields)) => (variables.get(root), fields),
                None => (None, path),
            };
            let at = fields
                .iter()
                .try_fold(root.unwrap_or(&Value::Null), |at, field| at.get(field));
            at.map_or_else(cost::Size::default, cost::Size::of)
        };
        let texts = origins.map_or(0, |origins| origins.weight());
        let sizes = cost::Sizes::new(&size, texts, &self.patterns);
        let steps = sizes.steps(&self.expression);
        if steps > cost::MAX_STEPS {
            return Err(self.too_much(steps, cost::MAX_STEPS));
        }
        let mut context = Context::with_env(Arc::clone(&ENV));
        register(&mut context, &self.patterns).map_err(|e| failed(e.to_string()))?;
        if let Some(origins) = origins {
            register_origins(&mut context, origins).map_err(|e| failed(e.to_string()))?;
        }
        for (name, value) in variables.iter().filter(|(name, _)| self.reads(name)) {
            context.add_variable_from_value(name.as_str(), to_cel(value));
        }
        let value = context
            .resolve(&self.expression)
            .map_err(|e| failed(e.to_string()))?;
        to_json(&value).map_err(failed)
    }

    /// Must give true or false; anything else is an error, never a silent false.
    pub fn holds(&self, variables: &Map<String, Value>) -> Result<bool, ConditionError> {
        self.holds_with(variables, None)
    }

    /// The same, with answers about origins.
    pub fn holds_with(
        &self,
        variables: &Map<String, Value>,
        origins: Option<&Arc<dyn Origins>>,
    ) -> Result<bool, ConditionError> {
        match self.value_with(variables, origins)? {
            Value::Bool(b) => Ok(b),
            other => Err(self.wrong_type("true or false", &other)),
        }
    }

    pub fn text(&self, variables: &Map<String, Value>) -> Result<String, ConditionError> {
        match self.value(variables)? {
            Value::String(s) => Ok(s),
            other => Err(self.wrong_type("text", &other)),
        }
    }

    fn wrong_type(&self, expected: &'static str, got: &Value) -> ConditionError {
        ConditionError::Type {
            expression: self.source.clone(),
            expected,
            got: got.to_string(),
        }
    }
}

fn register(
    context: &mut Context<'_, '_>,
    patterns: &Arc<Patterns>,
) -> Result<(), cel::DeclarationError> {
    let patterns = Arc::clone(patterns);
    context.add_function(MATCHES, move |text: Arc<String>, pattern: Arc<String>| {
        patterns
            .is_match(&text, &pattern)
            .map_err(|e| ExecutionError::function_error("matches", e))
    })?;
    context.add_function(
        "compare_findings",
        |previous: CelValue, current: CelValue| {
            let previous = to_json(&previous)
                .map_err(|e| ExecutionError::function_error("compare_findings", e))?;
            let current = to_json(&current)
                .map_err(|e| ExecutionError::function_error("compare_findings", e))?;
            let compared = compare_findings(
                previous.as_array().map_or(&[], Vec::as_slice),
                current.as_array().map_or(&[], Vec::as_slice),
            );
            Ok::<CelValue, ExecutionError>(to_cel(&compared.to_json()))
        },
    )
}

fn register_origins(
    context: &mut Context<'_, '_>,
    origins: &Arc<dyn Origins>,
) -> Result<(), cel::DeclarationError> {
    let wrong = |name: &'static str| move |e: String| ExecutionError::function_error(name, e);
    let known = Arc::clone(origins);
    context.add_function("origin", move |value: CelValue| {
        let value = to_json(&value).map_err(wrong("origin"))?;
        Ok::<CelValue, ExecutionError>(to_cel(&Value::from(known.origin(&value))))
    })?;
    let known = Arc::clone(origins);
    context.add_function("origins", move |value: CelValue| {
        let value = to_json(&value).map_err(wrong("origins"))?;
        Ok::<CelValue, ExecutionError>(to_cel(&Value::from(known.origins(&value))))
    })?;
    let known = Arc::clone(origins);
    context.add_function("from", move |value: CelValue, places: CelValue| {
        let value = to_json(&value).map_err(wrong("from"))?;
        let places: Option<Vec<String>> = match to_json(&places).map_err(wrong("from"))? {
            Value::String(one) => Some(vec![one]),
            Value::Array(several) => several
                .into_iter()
                .map(|place| place.as_str().map(str::to_owned))
                .collect(),
            _ => None,
        };
        let places = places.ok_or_else(|| {
            wrong("from")("the second argument is a place, or a list of places".to_owned())
        })?;
        Ok::<CelValue, ExecutionError>(CelValue::Bool(known.from(&value, &places)))
    })
}

/// Whole numbers become CEL `int`, so that `run.cycle + 1` works.
fn to_cel(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(b) => CelValue::Bool(*b),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), _, _) => CelValue::Int(i),
            (None, Some(u), _) => CelValue::UInt(u),
            (None, None, f) => CelValue::Float(f.unwrap_or(f64::NAN)),
        },
        Value::String(s) => CelValue::String(Arc::new(s.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(map) => CelValue::Map(CelMap {
            map: Arc::new(
                map.iter()
                    .map(|(k, v)| (Key::String(Arc::new(k.clone())), to_cel(v)))
                    .collect::<HashMap<_, _>>(),
            ),
        }),
    }
}

/// Keys come out sorted: a CEL map has no order, a journal must have one.
fn to_json(value: &CelValue) -> Result<Value, String> {
    Ok(match value {
        CelValue::Null => Value::Null,
        CelValue::Bool(b) => Value::Bool(*b),
        CelValue::Int(i) => Value::Number((*i).into()),
        CelValue::UInt(u) => Value::Number((*u).into()),
        CelValue::Float(f) => {
            Value::Number(Number::from_f64(*f).ok_or_else(|| "a number is not finite".to_owned())?)
        }
        CelValue::String(s) => Value::String(s.as_ref().clone()),
        CelValue::List(items) => Value::Array(items.iter().map(to_json).collect::<Result<_, _>>()?),
        CelValue::Map(map) => {
            let mut entries = map
                .map
                .iter()
                .map(|(k, v)| Ok((key_text(k), to_json(v)?)))
                .collect::<Result<Vec<_>, String>>()?;
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        other => return Err(format!("{other:?} has no JSON form")),
    })
}

fn key_text(key: &Key) -> String {
    match key {
        Key::Int(i) => i.to_string(),
        Key::Uint(u) => u.to_string(),
        Key::Bool(b) => b.to_string(),
        Key::String(s) => s.as_ref().clone(),
    }
}

/// Names that an expression uses, without the ones that its own comprehensions bind.
#[derive(Default)]
struct Used {
    variables: BTreeSet<String>,
    functions: BTreeSet<String>,
    nodes: usize,
    paths: BTreeSet<Vec<String>>,
}

impl Used {
    fn walk(&mut self, node: &IdedExpr, bound: &mut Vec<String>) {
        self.nodes += 1;
        // A whole name at once, so that `a.b` counts as `a.b` and not as all of `a`.
        if let Some(path) = path_of(&node.expr) {
            if let Some(root) = path
                .first()
                .filter(|r| !r.starts_with('@') && !bound.contains(r))
            {
                self.variables.insert(root.clone());
                self.paths.insert(path);
            }
            return;
        }
        match &node.expr {
            Expr::Call(call) => {
                self.functions.insert(call.func_name.clone());
                for part in call.target.iter().map(Box::as_ref).chain(&call.args) {
                    self.walk(part, bound);
                }
            }
            Expr::Comprehension(c) => {
                self.walk(&c.iter_range, bound);
                self.walk(&c.accu_init, bound);
                let depth = bound.len();
                bound.push(c.iter_var.clone());
                bound.extend(c.iter_var2.clone());
                bound.push(c.accu_var.clone());
                self.walk(&c.loop_cond, bound);
                self.walk(&c.loop_step, bound);
                self.walk(&c.result, bound);
                bound.truncate(depth);
            }
            Expr::List(list) => list.elements.iter().for_each(|e| self.walk(e, bound)),
            Expr::Map(map) => map
                .entries
                .iter()
                .for_each(|e| self.walk_entry(&e.expr, bound)),
            Expr::Struct(s) => s
                .entries
                .iter()
                .for_each(|e| self.walk_entry(&e.expr, bound)),
            Expr::Select(select) => self.walk(&select.operand, bound),
            Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn walk_entry(&mut self, entry: &EntryExpr, bound: &mut Vec<String>) {
        match entry {
            EntryExpr::StructField(field) => self.walk(&field.value, bound),
            EntryExpr::MapEntry(entry) => {
                self.walk(&entry.key, bound);
                self.walk(&entry.value, bound);
            }
        }
    }
}

/// `a.b.c` (a presence test too) as its segments.
fn path_of(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Ident(name) => Some(vec![name.clone()]),
        Expr::Select(select) => {
            let mut path = path_of(&select.operand.expr)?;
            path.push(select.field.clone());
            Some(path)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;

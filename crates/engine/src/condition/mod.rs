//! Conditions and values written in CEL: compiled and checked when a pack loads, evaluated over JSON. Pure.
//! Must never see anything but the variables it is given: no clock, no environment, no IO.

mod cost;
mod functions;
mod lists_and_texts;
mod names;
mod of_data;
mod patterns;
mod values;

pub use functions::{Function, ORIGIN_FUNCTIONS, is_own};
pub(crate) use lists_and_texts::{is_blank, name_of};

use cel::common::ast::IdedExpr;
use cel::{Context, Env, ExecutionError, Program, Value as CelValue};
use names::Used;
use patterns::{MATCHES, MAX_SHOWN, Patterns};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, LazyLock};
use values::{to_cel, to_json};

/// A compiled expression; equal when its source is equal.
#[derive(Clone)]
pub struct Condition {
    source: String,
    expression: Arc<IdedExpr>,
    patterns: Arc<Patterns>,
    /// Those of the engine's and the toolset's functions that it calls.
    functions: Arc<[Function]>,
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

impl Condition {
    /// Compiles and checks one expression. Every name that it uses must be in `variables`.
    pub fn compile(source: &str, variables: &[&str]) -> Result<Condition, ConditionError> {
        Self::compile_with(source, variables, &[], &[])
    }

    /// The same, with further functions that it may call: of the engine ([`ORIGIN_FUNCTIONS`]) and of the toolset.
    pub fn compile_with(
        source: &str,
        variables: &[&str],
        further: &[&str],
        functions: &[Function],
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
        let brought = || lists_and_texts::FUNCTIONS.iter().chain(functions);
        if let Some(name) = used.functions.iter().find(|name| {
            name.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
                && !functions::OWN.contains(&name.as_str())
                && !further.contains(&name.as_str())
                && !brought().any(|function| function.name == name.as_str())
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
            functions: brought()
                .filter(|function| lists_and_texts::is_called(function, &used.functions))
                .copied()
                .collect(),
            paths: Arc::new(used.paths),
            asks_origins: used
                .functions
                .iter()
                .any(|name| ORIGIN_FUNCTIONS.contains(&name.as_str())),
        };
        let sizes = cost::Sizes::new(&nominal, 8_000, &condition.patterns, &condition.functions);
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
        self.value_of((variables, origins), cost::MAX_STEPS)
    }

    /// The same in no more than so many steps.
    fn value_within(
        &self,
        variables: &Map<String, Value>,
        most: f64,
    ) -> Result<Value, ConditionError> {
        self.value_of((variables, None), most)
    }

    fn value_of(
        &self,
        (variables, origins): (&Map<String, Value>, Option<&Arc<dyn Origins>>),
        most: f64,
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
        let sizes = cost::Sizes::new(&size, texts, &self.patterns, &self.functions);
        let steps = sizes.steps(&self.expression);
        if steps > most {
            return Err(self.too_much(steps, most));
        }
        let mut context = Context::with_env(Arc::clone(&ENV));
        register(&mut context, &self.patterns).map_err(|e| failed(e.to_string()))?;
        for function in self.functions.iter() {
            function
                .register(&mut context)
                .map_err(|e| failed(e.to_string()))?;
        }
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
    })
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

#[cfg(test)]
mod tests;

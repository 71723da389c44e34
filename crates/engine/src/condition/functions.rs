//! Functions that an expression may call besides CEL's operators and macros: the engine's own, and those that whoever brings the
//! tools brings with them.

use super::lists_and_texts::FUNCTIONS;
use super::values::{to_cel, to_json};
use cel::extractors::Arguments;
use cel::{Context, ExecutionError, Value as CelValue};
use serde_json::Value;
use std::fmt;

/// CEL's own.
pub(super) const OWN: &[&str] = &[
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
];

/// What only conditions of a policy may call besides, because only they are told about origins.
pub const ORIGIN_FUNCTIONS: &[&str] = &["origin", "origins", "from"];

/// Whether the name is taken by CEL or the engine.
pub fn is_own(name: &str) -> bool {
    const MACROS: [&str; 6] = ["has", "all", "exists", "exists_one", "map", "filter"];
    let engines = FUNCTIONS.iter().any(|function| function.name == name);
    engines || OWN.contains(&name) || ORIGIN_FUNCTIONS.contains(&name) || MACROS.contains(&name)
}

/// A function over JSON, of the engine or of a toolset. It must be pure, and its result must be no larger than its arguments together:
/// what an expression may cost is reckoned from that.
#[derive(Clone, Copy)]
pub struct Function {
    pub name: &'static str,
    /// How many arguments it takes.
    pub arguments: usize,
    pub call: fn(&[Value]) -> Result<Value, String>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.arguments)
    }
}
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.arguments) == (other.name, other.arguments)
    }
}

impl Function {
    pub(super) fn register(
        self,
        context: &mut Context<'_, '_>,
    ) -> Result<(), cel::DeclarationError> {
        context.add_function(self.name, move |Arguments(given): Arguments| {
            let wrong = |e: String| ExecutionError::function_error(self.name, e);
            if given.len() != self.arguments {
                return Err(ExecutionError::invalid_argument_count(
                    self.arguments,
                    given.len(),
                ));
            }
            let given: Result<Vec<Value>, String> = given.iter().map(to_json).collect();
            let result = (self.call)(&given.map_err(wrong)?).map_err(wrong)?;
            Ok::<CelValue, ExecutionError>(to_cel(&result))
        })
    }
}

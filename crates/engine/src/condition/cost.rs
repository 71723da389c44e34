//! How much an expression can cost, bounded before it is evaluated: CEL ends always, but nested loops end after hours. The bound
//! is computed from the expression and the sizes of what it is given, so it also holds for arguments that a model makes up.

use super::functions::Function;
use super::names::path_of;
use super::patterns::{MATCHES, Patterns};
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators,
};
use serde_json::Value;

/// Steps of one evaluation, at most: some seconds.
pub(super) const MAX_STEPS: f64 = 20_000_000.0;
/// The same when an expression is loaded, for a little of everything.
pub(super) const MAX_STEPS_LOADED: f64 = 5_000_000.0;
/// Steps of an expression that stands in a pack's data, at most.
pub(super) const STEPS_OF_DATA: f64 = 20_000.0;
/// Nodes of one expression, at most.
pub(super) const MAX_NODES: usize = 4_000;
/// Characters of a number that is written out, at most.
const NUMBER_BYTES: f64 = 32.0;
/// Bytes that count as one step where texts are compared or copied.
const BYTES_A_STEP: f64 = 64.0;
/// Bytes of a compiled pattern that double what one byte of the text costs: measured on the worst patterns that were found, and ten
/// times as careful.
const BYTES_OF_PATTERN: f64 = 64.0;

/// Bounds of a value: the longest list or map in it, how many scalars it has, how many bytes its texts have.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Size {
    longest: f64,
    scalars: f64,
    bytes: f64,
}

/// What a variable is taken for when the expression is loaded: smaller than what may come, so that what is refused then is
/// hopeless, and the rest is bounded by what really comes.
pub(super) const NOMINAL: Size = Size {
    longest: 10.0,
    scalars: 40.0,
    bytes: 640.0,
};

impl Size {
    pub fn of(value: &Value) -> Size {
        let (items, own): (Box<dyn Iterator<Item = &Value>>, Size) = match value {
            Value::Array(items) => (Box::new(items.iter()), Size::list(items.len())),
            Value::Object(map) => {
                let keys: usize = map.keys().map(String::len).sum();
                let mut own = Size::list(map.len());
                // A key may be asked for its origin as a value is.
                own.scalars = float(map.len());
                own.bytes = float(keys);
                (Box::new(map.values()), own)
            }
            Value::String(text) => return Size::text(text.len()),
            _ => return Size::scalar(),
        };
        items.fold(own, |size, item| size.with(Size::of(item)))
    }

    /// Whether something of this size may be made of an expression and its values: both are looked through twice at most.
    pub fn is_within(self, expression: Size, values: Size) -> bool {
        let most = expression.with(values);
        self.longest <= most.longest.max(1.0)
            && self.scalars <= most.scalars
            && self.bytes <= 2.0 * most.bytes
    }

    fn scalar() -> Size {
        Size {
            scalars: 1.0,
            ..Size::default()
        }
    }
    fn text(bytes: usize) -> Size {
        Size {
            scalars: 1.0,
            bytes: float(bytes),
            ..Size::default()
        }
    }
    fn list(items: usize) -> Size {
        Size {
            longest: float(items),
            ..Size::default()
        }
    }
    /// Both, side by side.
    fn with(self, other: Size) -> Size {
        Size {
            longest: self.longest.max(other.longest),
            scalars: self.scalars + other.scalars,
            bytes: self.bytes + other.bytes,
        }
    }
    /// Joined end to end.
    fn plus(self, other: Size) -> Size {
        Size {
            longest: self.longest + other.longest,
            ..self.with(other)
        }
    }
    /// One or the other.
    fn or(self, other: Size) -> Size {
        Size {
            longest: self.longest.max(other.longest),
            scalars: self.scalars.max(other.scalars),
            bytes: self.bytes.max(other.bytes),
        }
    }
    /// One round's part of what is looped over. All rounds together see it once, so for what costs in proportion to its
    /// size the mean bounds the sum; the lists inside count in full.
    fn item(self) -> Size {
        let rounds = self.longest.max(1.0);
        Size {
            longest: self.longest,
            scalars: (self.scalars / rounds).max(1.0),
            bytes: self.bytes / rounds,
        }
    }
    /// What walking through all of it costs.
    fn walk(self) -> f64 {
        1.0 + self.scalars + self.longest + self.bytes / BYTES_A_STEP
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a bound; sizes are far below 2^52"
)]
fn float(n: usize) -> f64 {
    n as f64
}

#[derive(Debug, Clone, Copy)]
struct Bound {
    size: Size,
    steps: f64,
}

/// What the estimate knows of the names in an expression.
pub(super) struct Sizes<'a> {
    /// Of what a name from outside and the fields selected on it stand for.
    outside: &'a dyn Fn(&[String]) -> Size,
    /// Bytes that one question for a value's origin looks through.
    texts: f64,
    patterns: &'a Patterns,
    /// Their results are no larger than their arguments together.
    functions: &'a [Function],
    bound: Vec<(String, Size)>,
}

impl<'a> Sizes<'a> {
    pub fn new(
        outside: &'a dyn Fn(&[String]) -> Size,
        texts: usize,
        patterns: &'a Patterns,
        functions: &'a [Function],
    ) -> Self {
        Sizes {
            outside,
            texts: float(texts),
            patterns,
            functions,
            bound: Vec::new(),
        }
    }

    /// An upper bound of the steps that evaluating the expression takes.
    pub fn steps(mut self, expression: &IdedExpr) -> f64 {
        self.of(expression).steps
    }

    fn of(&mut self, node: &IdedExpr) -> Bound {
        if let Some(path) = path_of(&node.expr)
            && let Some(root) = path.first()
        {
            // What is selected is not larger than what it is selected from.
            let bound = self.bound.iter().rev().find(|(b, _)| b == root);
            return Bound {
                size: bound.map_or_else(|| (self.outside)(&path), |(_, size)| *size),
                steps: float(path.len()),
            };
        }
        match &node.expr {
            Expr::Literal(literal) => Bound {
                size: match literal {
                    LiteralValue::String(text) => Size::text(text.inner().len()),
                    LiteralValue::Bytes(bytes) => Size::text(bytes.inner().len()),
                    _ => Size::scalar(),
                },
                steps: 1.0,
            },
            Expr::Select(select) => self.of(&select.operand).and(1.0),
            Expr::List(list) => {
                let start = Bound {
                    size: Size::list(list.elements.len()),
                    steps: 1.0,
                };
                list.elements.iter().fold(start, |all, item| {
                    let item = self.of(item);
                    all.beside(item)
                })
            }
            Expr::Map(map) => {
                let start = Bound {
                    size: Size::list(map.entries.len()),
                    steps: 1.0,
                };
                map.entries
                    .iter()
                    .fold(start, |all, entry| self.entry(all, &entry.expr))
            }
            Expr::Struct(made) => {
                let start = Bound {
                    size: Size::list(made.entries.len()),
                    steps: 1.0,
                };
                made.entries
                    .iter()
                    .fold(start, |all, entry| self.entry(all, &entry.expr))
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(each) => self.each(each),
            Expr::Ident(_) | Expr::Unspecified => Bound {
                size: Size::default(),
                steps: 0.0,
            },
        }
    }

    fn entry(&mut self, all: Bound, entry: &EntryExpr) -> Bound {
        match entry {
            EntryExpr::StructField(field) => {
                let value = self.of(&field.value);
                all.beside(value)
            }
            EntryExpr::MapEntry(entry) => {
                let (key, value) = (self.of(&entry.key), self.of(&entry.value));
                all.beside(key).beside(value)
            }
        }
    }

    fn call(&mut self, call: &CallExpr) -> Bound {
        let parts: Vec<Bound> = call
            .target
            .iter()
            .map(Box::as_ref)
            .chain(&call.args)
            .map(|part| self.of(part))
            .collect();
        let steps = 1.0 + parts.iter().map(|part| part.steps).sum::<f64>();
        let all = parts
            .iter()
            .fold(Size::default(), |all, part| all.with(part.size));
        let first = parts.first().map(|part| part.size).unwrap_or_default();
        let (size, own) = match call.func_name.as_str() {
            operators::ADD => {
                let sum = parts
                    .iter()
                    .fold(Size::default(), |sum, part| sum.plus(part.size));
                (sum, all.walk())
            }
            operators::CONDITIONAL => {
                let either = parts.iter().skip(1);
                let size = either.fold(Size::default(), |size, part| size.or(part.size));
                (size, 0.0)
            }
            operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT => (first, 1.0),
            operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT => {
                (Size::scalar(), 0.0)
            }
            // As far as the smaller one goes.
            operators::EQUALS
            | operators::NOT_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS
            | operators::LESS
            | operators::LESS_EQUALS => {
                let sides = parts.iter().map(|part| part.size.walk());
                (Size::scalar(), sides.fold(f64::INFINITY, f64::min))
            }
            // Compiled when it was loaded; the larger it is, the longer each character can take.
            MATCHES => {
                let pattern = float(self.patterns.compiled(call)) / BYTES_OF_PATTERN;
                let text = first.bytes / BYTES_A_STEP;
                (Size::scalar(), (1.0 + text) * (1.0 + pattern))
            }
            "origin" | "origins" | "from" => {
                let looked = first.scalars.max(1.0) * (1.0 + self.texts / BYTES_A_STEP);
                let size = Size {
                    longest: first.scalars,
                    scalars: first.scalars,
                    bytes: first.scalars * 80.0,
                };
                (size, all.walk() + looked)
            }
            "string" => (all, all.walk()),
            // The separator stands between any two items.
            "join" => {
                let between = parts.get(1).map_or(0.0, |part| part.size.bytes);
                let size = Size {
                    bytes: first.bytes + first.scalars * (between + NUMBER_BYTES),
                    ..Size::scalar()
                };
                (size, size.walk() + all.walk())
            }
            // Each list in the list may be as long as the longest.
            "flat" => {
                let size = Size {
                    longest: first.longest * first.longest.max(1.0),
                    ..all
                };
                (size, all.walk())
            }
            // Some letters are longer in lower case, by half at most.
            "lower" => {
                let size = Size {
                    bytes: first.bytes * 1.5,
                    ..Size::scalar()
                };
                (size, all.walk())
            }
            // What it makes is held against this; each expression has its own bound.
            "evaluated" => {
                let size = Size {
                    longest: all.longest.max(1.0),
                    scalars: all.scalars + 1.0,
                    bytes: 2.0 * all.bytes + 1_000.0,
                };
                (size, all.walk() + first.scalars.max(1.0) * STEPS_OF_DATA)
            }
            // Each quote is looked for in each message, both in one spelling.
            "quote_in" => (Size::scalar(), all.walk() * (8.0 + first.scalars)),
            name if self.functions.iter().any(|function| function.name == name) => {
                (all, all.walk())
            }
            "size" => (Size::scalar(), first.bytes / BYTES_A_STEP),
            _ => (Size::scalar(), all.walk()),
        };
        Bound {
            size,
            steps: steps + own,
        }
    }

    /// A macro's loop. Its accumulator is a truth value, a count, or a list that grows by one element a round.
    fn each(&mut self, each: &ComprehensionExpr) -> Bound {
        let range = self.of(&each.iter_range);
        let start = self.of(&each.accu_init);
        let rounds = range.size.longest;
        let depth = self.bound.len();
        let item = range.size.item();
        self.bound.push((each.iter_var.clone(), item));
        if let Some(second) = &each.iter_var2 {
            self.bound.push((second.clone(), item));
        }
        self.bound.push((each.accu_var.clone(), start.size));
        let holds = self.of(&each.loop_cond);
        let step = self.of(&each.loop_step);
        let grown = Size {
            longest: step.size.longest.max(start.size.longest + rounds),
            scalars: start.size.scalars + rounds * step.size.scalars,
            bytes: start.size.bytes + rounds * step.size.bytes,
        };
        if let Some(last) = self.bound.last_mut() {
            last.1 = grown;
        }
        let result = self.of(&each.result);
        self.bound.truncate(depth);
        Bound {
            size: result.size,
            steps: range.steps
                + start.steps
                + result.steps
                + rounds.max(1.0) * (1.0 + holds.steps + step.steps),
        }
    }
}

impl Bound {
    fn and(self, steps: f64) -> Bound {
        Bound {
            steps: self.steps + steps,
            ..self
        }
    }
    fn beside(self, other: Bound) -> Bound {
        Bound {
            size: self.size.with(other.size),
            steps: self.steps + other.steps,
        }
    }
}

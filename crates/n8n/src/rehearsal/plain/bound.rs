//! The names that a piece of code declares, and what is known of them: which always stand for a function that is written out
//! there, and which always for a number. One answer for a name in all of the code, whatever its scopes.

use super::names;
use oxc_ast::ast::{
    AssignmentExpression, AssignmentOperator, AssignmentTarget, BinaryOperator, BindingIdentifier,
    Expression, Program, Statement, UnaryOperator, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use std::collections::{BTreeMap, BTreeSet};

/// So often the names that stand for numbers are looked through; more names hang on each other in no real code.
const ROUNDS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Bound {
    all: BTreeSet<String>,
    functions: BTreeSet<String>,
    numbers: BTreeSet<String>,
}

impl Bound {
    pub(super) fn of(program: &Program<'_>) -> Bound {
        let mut seen = Seen::default();
        seen.visit_program(program);
        let mut numbers: BTreeSet<String> = seen.declared.keys().cloned().collect();
        for round in 0..=ROUNDS {
            seen = Seen {
                taken_for_numbers: numbers.clone(),
                ..Seen::default()
            };
            seen.visit_program(program);
            let still: BTreeSet<String> = numbers
                .iter()
                .filter(|name| {
                    seen.declared.get(*name) == seen.as_number.get(*name)
                        && !seen.set_otherwise.contains(*name)
                })
                .cloned()
                .collect();
            if still == numbers {
                break;
            }
            numbers = still;
            if round == ROUNDS {
                numbers.clear();
            }
        }
        let functions = seen
            .declared
            .iter()
            .filter(|(name, times)| {
                seen.as_function.get(*name) == Some(times) && !seen.set.contains(*name)
            })
            .map(|(name, _)| name.clone())
            .collect();
        Bound {
            all: seen.declared.into_keys().collect(),
            functions,
            numbers,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.all.contains(name)
    }
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }
    /// Always a number when it is evaluated, so as a key it names an element.
    pub(super) fn is_number(&self, expression: &Expression<'_>) -> bool {
        number(expression, &self.numbers, &|name| self.has(name))
    }
}

/// What one look over the code found, by name.
#[derive(Default)]
struct Seen {
    taken_for_numbers: BTreeSet<String>,
    declared: BTreeMap<String, usize>,
    as_function: BTreeMap<String, usize>,
    as_number: BTreeMap<String, usize>,
    /// Assigned to after its declaration.
    set: BTreeSet<String>,
    /// Assigned something that may be no number.
    set_otherwise: BTreeSet<String>,
}

impl Seen {
    fn is_number(&self, expression: &Expression<'_>) -> bool {
        // Names that code declares are reserved or local; a local one of a global's name is refused by the check.
        number(expression, &self.taken_for_numbers, &|_| false)
    }
}

fn count(of: &mut BTreeMap<String, usize>, name: &str) {
    *of.entry(name.to_owned()).or_default() += 1;
}

impl<'a> VisitJs<'a> for Seen {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        count(&mut self.declared, it.name.as_str());
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        if let Statement::FunctionDeclaration(function) = it
            && let Some(id) = &function.id
        {
            count(&mut self.as_function, id.name.as_str());
        }
        walk_js::walk_statement(self, it);
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        if let Expression::FunctionExpression(function) = it
            && let Some(id) = &function.id
        {
            count(&mut self.as_function, id.name.as_str());
        }
        walk_js::walk_expression(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (Some(id), Some(init)) = (it.id.get_binding_identifier(), &it.init) {
            match init.without_parentheses() {
                Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                    count(&mut self.as_function, id.name.as_str());
                }
                init if self.is_number(init) => count(&mut self.as_number, id.name.as_str()),
                _ => {}
            }
        }
        walk_js::walk_variable_declarator(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if let AssignmentTarget::AssignmentTargetIdentifier(target) = &it.left {
            use AssignmentOperator as Op;
            let stays = match it.operator {
                Op::Assign | Op::Addition | Op::LogicalAnd | Op::LogicalOr | Op::LogicalNullish => {
                    self.is_number(&it.right)
                }
                _ => true,
            };
            self.set.insert(target.name.to_string());
            if !stays {
                self.set_otherwise.insert(target.name.to_string());
            }
        }
        walk_js::walk_assignment_expression(self, it);
    }
}

fn number(
    expression: &Expression<'_>,
    numbers: &BTreeSet<String>,
    local: &dyn Fn(&str) -> bool,
) -> bool {
    use BinaryOperator as Op;
    let of = |expression: &Expression<'_>| number(expression, numbers, local);
    match expression.without_parentheses() {
        Expression::NumericLiteral(_) | Expression::UpdateExpression(_) => true,
        Expression::UnaryExpression(it) => matches!(
            it.operator,
            UnaryOperator::UnaryPlus | UnaryOperator::UnaryNegation | UnaryOperator::BitwiseNot
        ),
        Expression::BinaryExpression(it) => match it.operator {
            Op::Subtraction
            | Op::Multiplication
            | Op::Division
            | Op::Remainder
            | Op::Exponential
            | Op::BitwiseAnd
            | Op::BitwiseOR
            | Op::BitwiseXOR
            | Op::ShiftLeft
            | Op::ShiftRight
            | Op::ShiftRightZeroFill => true,
            Op::Addition => of(&it.left) && of(&it.right),
            _ => false,
        },
        Expression::ConditionalExpression(it) => of(&it.consequent) && of(&it.alternate),
        Expression::Identifier(it) => {
            let name = it.name.as_str();
            numbers.contains(name) || (names::NUMBERS.contains(&name) && !local(name))
        }
        Expression::CallExpression(it) => match it.callee.without_parentheses() {
            Expression::Identifier(name) => {
                matches!(name.name.as_str(), "Number" | "parseInt" | "parseFloat")
            }
            Expression::StaticMemberExpression(member) => {
                matches!(member.object.without_parentheses(), Expression::Identifier(owner) if owner.name == "Math")
            }
            _ => false,
        },
        _ => false,
    }
}

//! The fields of items that the JavaScript of a Code node reads, by its syntax tree. Left out is what the code reckons with: a field that it
//! sets or asks after anywhere, under whatever name it has the item there. Never runs anything.

use super::binds::Binds;
use oxc_ast::ast::{
    Argument, BinaryExpression, BinaryOperator, BindingIdentifier, CallExpression, ChainExpression,
    ComputedMemberExpression, ConditionalExpression, DoWhileStatement, Expression, ForStatement,
    IfStatement, LogicalExpression, Program, SimpleAssignmentTarget, StaticMemberExpression,
    SwitchStatement, TryStatement, UnaryExpression, UnaryOperator, WhileStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use std::collections::BTreeSet;

/// Functions and methods that ask after a value.
const ASKING: [&str; 10] = [
    "$if",
    "$ifEmpty",
    "Boolean",
    "hasField",
    "hasOwn",
    "hasOwnProperty",
    "ifEmpty",
    "isArray",
    "isEmpty",
    "isNotEmpty",
];
/// Names that n8n gives: code with one of its own reads something else by it.
const ROOTS: [&str; 5] = ["$", "$input", "$json", "$node", "items"];

/// A field of the item that comes in, or of a node's that is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldRead {
    pub node: Option<String>,
    pub field: String,
}

/// What the code reads and does not reckon with.
pub(super) fn of(program: &Program) -> Vec<FieldRead> {
    let mut reader = Reader {
        own_roots: Binds::of(&ROOTS),
        ..Reader::default()
    };
    reader.visit_program(program);
    if reader.sets_any || reader.own_roots.found {
        return Vec::new();
    }
    let Reader { reads, meant, .. } = reader;
    let mut reads = reads;
    reads.retain(|read| !meant.contains(&read.field));
    reads
}

#[derive(Default)]
struct Reader {
    reads: Vec<FieldRead>,
    /// Fields that are set, deleted or asked after.
    meant: BTreeSet<String>,
    /// Fields of computed names, or whole items, are set.
    sets_any: bool,
    own_roots: Binds,
    /// Whether the walk is where it is asked if something is there.
    asks: bool,
}

impl Reader {
    /// Reads what stands where something is asked.
    fn asking(&mut self, read: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.asks, true);
        read(self);
        self.asks = before;
    }

    /// A field that is read of something.
    fn read(&mut self, object: &Expression, field: &str) {
        if self.asks {
            self.meant.insert(field.to_owned());
        } else if let Some(node) = item(object) {
            let field = field.to_owned();
            self.reads.push(FieldRead { node, field });
        }
    }

    fn set(&mut self, field: Option<&str>) {
        match field {
            None | Some("json") => self.sets_any = true,
            Some(field) => {
                self.meant.insert(field.to_owned());
            }
        }
    }
}

/// The item whose fields the expression stands for: the one that comes in, or that of a node; None: it is none.
fn item(expression: &Expression) -> Option<Option<String>> {
    let member = match expression.get_inner_expression() {
        Expression::Identifier(it) => return (it.name == "$json").then_some(None),
        Expression::StaticMemberExpression(member) => member,
        _ => return None,
    };
    if member.property.name != "json" {
        return None;
    }
    match member.object.get_inner_expression() {
        Expression::StaticMemberExpression(it) if it.property.name == "item" => of_node(&it.object),
        Expression::CallExpression(call) if call.arguments.is_empty() => {
            match call.callee.get_inner_expression() {
                Expression::StaticMemberExpression(it)
                    if matches!(it.property.name.as_str(), "first" | "last") =>
                {
                    of_node(&it.object)
                }
                _ => None,
            }
        }
        Expression::ComputedMemberExpression(it) => match it.expression.get_inner_expression() {
            Expression::NumericLiteral(at) if at.value == 0.0 && is(&it.object, "items") => {
                Some(None)
            }
            Expression::StringLiteral(node) if is(&it.object, "$node") => {
                Some(Some(node.value.to_string()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// `$input`, or `$("name")`.
fn of_node(expression: &Expression) -> Option<Option<String>> {
    match expression.get_inner_expression() {
        Expression::Identifier(it) => (it.name == "$input").then_some(None),
        Expression::CallExpression(call) if is(&call.callee, "$") => {
            match call.arguments.as_slice() {
                [Argument::StringLiteral(node)] => Some(Some(node.value.to_string())),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is(expression: &Expression, name: &str) -> bool {
    matches!(expression.get_inner_expression(), Expression::Identifier(it) if it.name == name)
}

impl<'a> VisitJs<'a> for Reader {
    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        self.read(&it.object, it.property.name.as_str());
        walk_js::walk_static_member_expression(self, it);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        if let Expression::StringLiteral(field) = it.expression.get_inner_expression() {
            self.read(&it.object, field.value.as_str());
        }
        walk_js::walk_computed_member_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let callee = it.callee.get_inner_expression();
        let name = match callee {
            Expression::Identifier(it) => it.name.as_str(),
            Expression::StaticMemberExpression(it) => it.property.name.as_str(),
            _ => "",
        };
        if ASKING.contains(&name) {
            return self.asking(|reader| walk_js::walk_call_expression(reader, it));
        }
        // `Object.assign(item.json, …)`
        let changes = name == "assign"
            && !matches!(
                it.arguments.first(),
                Some(Argument::ObjectExpression(_)) | None
            );
        self.sets_any |= changes;
        match callee {
            // A method of the item is no field of it.
            Expression::StaticMemberExpression(member) if item(&member.object).is_some() => {
                self.visit_arguments(&it.arguments);
            }
            _ => walk_js::walk_call_expression(self, it),
        }
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        match it.as_member_expression() {
            Some(member) => {
                self.set(member.static_property_name());
                self.visit_expression(member.object());
            }
            None => self.own_roots.visit_simple_assignment_target(it),
        }
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        match it.operator {
            UnaryOperator::Delete => {
                if let Some(member) = it.argument.as_member_expression() {
                    self.set(member.static_property_name());
                }
            }
            UnaryOperator::Typeof | UnaryOperator::LogicalNot => {
                self.asking(|reader| walk_js::walk_unary_expression(reader, it));
            }
            _ => walk_js::walk_unary_expression(self, it),
        }
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        let is_absent = |side: &Expression| {
            matches!(side.get_inner_expression(), Expression::NullLiteral(_))
                || is(side, "undefined")
        };
        let asks = it.operator == BinaryOperator::In || is_absent(&it.left) || is_absent(&it.right);
        if let (BinaryOperator::In, Expression::StringLiteral(field)) =
            (it.operator, it.left.get_inner_expression())
        {
            self.meant.insert(field.value.to_string());
        }
        match asks {
            true => self.asking(|reader| walk_js::walk_binary_expression(reader, it)),
            false => walk_js::walk_binary_expression(self, it),
        }
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.asking(|reader| walk_js::walk_logical_expression(reader, it));
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.asking(|reader| walk_js::walk_conditional_expression(reader, it));
    }

    fn visit_chain_expression(&mut self, it: &ChainExpression<'a>) {
        self.asking(|reader| walk_js::walk_chain_expression(reader, it));
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.asking(|reader| reader.visit_expression(&it.test));
        self.visit_statement(&it.consequent);
        if let Some(alternate) = &it.alternate {
            self.visit_statement(alternate);
        }
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.asking(|reader| reader.visit_expression(&it.discriminant));
        for case in &it.cases {
            self.visit_switch_case(case);
        }
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.asking(|reader| reader.visit_expression(&it.test));
        self.visit_statement(&it.body);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.asking(|reader| reader.visit_expression(&it.test));
        self.visit_statement(&it.body);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        if let Some(init) = &it.init {
            self.visit_for_statement_init(init);
        }
        if let Some(test) = &it.test {
            self.asking(|reader| reader.visit_expression(test));
        }
        if let Some(update) = &it.update {
            self.visit_expression(update);
        }
        self.visit_statement(&it.body);
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        match &it.handler {
            Some(handler) => {
                self.asking(|reader| reader.visit_block_statement(&it.block));
                self.visit_catch_clause(handler);
            }
            None => self.visit_block_statement(&it.block),
        }
        if let Some(finalizer) = &it.finalizer {
            self.visit_block_statement(finalizer);
        }
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.own_roots.visit_binding_identifier(it);
    }
}

#[cfg(test)]
mod tests {
    use super::super::javascript::JavaScript;

    fn read(code: &str) -> String {
        let script = JavaScript::default().body_with_field_reads(code);
        assert_eq!(script.problem, None, "{code}");
        let told = script.field_reads.into_iter().map(|read| match read.node {
            Some(node) => format!("{node}:{}", read.field),
            None => read.field,
        });
        told.collect::<Vec<_>>().join(",")
    }

    #[test]
    fn fields_are_read_of_the_item_and_of_nodes_that_are_named() {
        for (code, fields) in [
            ("return $json.a + $json['b c'] + $json[\"d\"].e", "a,b c,d"),
            (
                "f($input.first().json.a, $input.item.json['b'], $input.last().json.c)",
                "a,b,c",
            ),
            (
                "f(items[0].json.c, $node[\"D\"].json.e, $('A b').item.json.c)",
                "c,D:e,A b:c",
            ),
            ("return $('A').first()\n  .json\n  .total;", "A:total"),
            ("if (x) { return $json.a }", "a"),
            ("return `${$json.a}`", "a"),
            ("return $json.a === 'x'", "a"),
        ] {
            assert_eq!(read(code), fields, "{code}");
        }
        for code in [
            "return $json.keys()",
            "return $input.item.$json",
            "return x.$json.a",
            "return $json",
            "return '$json.a'",
            "const a = 1; // $json.a",
            "/* $json.a\n $json.b */",
            "const items = f(); return items[0].json.a",
            "return ($json) => $json.a",
        ] {
            assert_eq!(read(code), "", "{code}");
        }
    }

    #[test]
    fn what_is_asked_after_or_set_anywhere_is_meant() {
        for code in [
            "if ($input.first().json.order) {\n const t = $input.first().json.order;\n}",
            "const j = $input.first().json;\nif (j.order) { return $input.first().json.order }",
            "if ('order' in $json) return $json.order",
            "if (Object.hasOwn($json, k) && $json.order) return $json.order",
            "items[0].json.total = 5;\nreturn items[0].json.total",
            "for (const item of items) item.json.total = 1;\nreturn items[0].json.total",
            "for (const item of items) item.json[k] = 1;\nreturn items[0].json.total",
            "items[0].json = {total: 1};\nreturn items[0].json.total",
            "Object.assign(items[0].json, more);\nreturn items[0].json.total",
            "items = f(items);\nreturn items[0].json.total",
            "$json.n++; return $json.n",
            "return $json.a ?? ''",
            "return $json?.a",
            "return $json.a || 1",
            "return typeof $json.a",
            "return !$json.a",
            "return $json.a === undefined",
            "return $ifEmpty($json.a, 1)",
            "return $json.a.isEmpty()",
            "return x ? $json.a : 1",
            "switch ($json.kind) { default: return [] }",
            "while ($json.next) { f() }",
            "try { return $json.a.b } catch { return [] }",
        ] {
            assert_eq!(read(code), "", "{code}");
        }
    }
}

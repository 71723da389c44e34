//! What an expression names: variables with their paths, and functions.

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use std::collections::BTreeSet;

/// Names that an expression uses, without the ones that its own comprehensions bind.
#[derive(Default)]
pub(super) struct Used {
    pub variables: BTreeSet<String>,
    pub functions: BTreeSet<String>,
    pub nodes: usize,
    pub paths: BTreeSet<Vec<String>>,
}

impl Used {
    pub fn walk(&mut self, node: &IdedExpr, bound: &mut Vec<String>) {
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
pub(super) fn path_of(expr: &Expr) -> Option<Vec<String>> {
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

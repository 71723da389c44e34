//! Names that JavaScript gives a meaning of its own: that it declares, or sets.

use oxc_ast::ast::{BindingIdentifier, Program, SimpleAssignmentTarget};
use oxc_ast_visit::{VisitJs, walk_js};

/// Whether the code does so with one of these names, anywhere in it.
pub(super) fn binds(program: &Program, names: &'static [&'static str]) -> bool {
    let mut binds = Binds::of(names);
    binds.visit_program(program);
    binds.found
}

/// The same of what is visited.
#[derive(Default)]
pub(super) struct Binds {
    names: &'static [&'static str],
    pub found: bool,
}

impl Binds {
    pub fn of(names: &'static [&'static str]) -> Binds {
        Binds {
            names,
            found: false,
        }
    }
}

impl<'a> VisitJs<'a> for Binds {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.found |= self.names.contains(&it.name.as_str());
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(it) = it {
            self.found |= self.names.contains(&it.name.as_str());
        }
        walk_js::walk_simple_assignment_target(self, it);
    }
}

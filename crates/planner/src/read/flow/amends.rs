//! "Create a ticket … and set its priority to high": said of the thing that the last step makes, so it is made that way.

use super::*;
use crate::plan::Role;
use crate::read::args;

impl Flow<'_, '_> {
    pub(super) fn amends(&mut self, text: &str) -> bool {
        if !has(
            r"^(?:(?:set|change|put|setze?|stelle?|pon|fija|mets|règle)\s+(?:its|the|seine?|ihre?|die|den|das|su|la|el|sa|son|le)\s|(?:label|tag|assign|zuweise\w*|weise|asígna\w*|etiquéta\w*|assigne\w*)\s*(?:it|es|ihn|sie|-la|-le)?\s)",
            text,
        ) || !services_in(self.mem.m, text).is_empty()
        {
            return false;
        }
        let Some(entry) = self.mem.used.last().copied() else {
            return false;
        };
        if !(entry.is("ticket")
            || entry.is("issue")
            || entry.is("task")
            || entry.is("crm")
            || entry.is("incident"))
        {
            return false;
        }
        let new = args::for_action(self.mem, text, entry, "create");
        let new: Vec<_> = new
            .into_iter()
            .filter(|a| {
                matches!(
                    a.role,
                    Role::Priority
                        | Role::Status
                        | Role::Stage
                        | Role::Label
                        | Role::Due
                        | Role::Field(_)
                )
            })
            .collect();
        if new.is_empty() {
            return false;
        }
        let Some(Does::Service {
            service,
            verb: Verb::Create | Verb::Upsert,
            args,
            ..
        }) = self.tree.here().last_mut().map(|s| &mut s.does)
        else {
            return false;
        };
        if service.node_types != entry.actions {
            return false;
        }
        for a in new {
            if !args.iter().any(|old| old.role == a.role) {
                args.push(a);
            }
        }
        true
    }
}

//! `remove_node`: a node goes, and what led to it is connected with what followed it.

use super::edit::{Edits, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, text, workflow_id};
use crate::capability as can;
use crate::tool::Tool;
use agentctl_engine::toolset::Head;
use agentctl_n8n::{EditOp, Workflow, edit};

const MAIN: &str = "main";

arguments! {
    RemoveNode {
        required workflow_id: String = workflow_id();
        required node: String = text("its id or name");
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<RemoveNode>(Head {
        destructive: true,
        idempotent: false,
        ..Head::new(
            "remove_node",
            can::EDIT_STRUCTURE,
            "Remove a node. What led to it is connected with what followed it; of a node whose outputs lead to several places nothing is, and `hangs_free` names what nothing leads to any more.",
            RemoveNode::schema,
        )
    })
}

impl Edits for RemoveNode {
    const PART: Part = Part::Structure;

    fn workflow_id(&self) -> &str {
        &self.workflow_id
    }

    fn operations(&self, now: &Workflow, _: &N8n) -> Result<Vec<EditOp>, String> {
        let name = edit::meant(now, &self.node)?.name();
        let mut ops = bridges(now, name);
        ops.push(EditOp::RemoveNode {
            node: self.node.clone(),
        });
        Ok(ops)
    }
}

/// The connections between what leads to a node and what follows it that are not there yet. Where several outputs lead on there are
/// none: nobody knows which of them is meant to stay.
fn bridges(workflow: &Workflow, name: &str) -> Vec<EditOp> {
    let main = || workflow.edges().filter(|(_, kind, _, _)| *kind == MAIN);
    let before = || main().filter(|(from, _, _, link)| link.node == name && *from != name);
    let after = || main().filter(|(from, _, _, link)| *from == name && link.node != name);
    let mut ops = Vec::new();
    if after().all(|(_, _, output, _)| output == 0) {
        for (from, _, output, _) in before() {
            for (_, _, _, next) in after() {
                let there = |f: &str, o: u32, to: &str| {
                    main()
                        .any(|(from, _, output, link)| from == f && output == o && link.node == to)
                };
                if !there(from, output, &next.node) {
                    ops.push(EditOp::Connect {
                        from: from.to_owned(),
                        to: next.node.clone(),
                        kind: MAIN.to_owned(),
                        output,
                        input: next.index,
                    });
                }
            }
        }
    }
    ops
}

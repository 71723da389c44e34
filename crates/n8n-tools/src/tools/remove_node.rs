//! `remove_node`: a node goes, and what led to it is connected with what followed it.

use super::edit::{Edit, Part};
use super::n8n::N8n;
use crate::arguments::{arguments, text, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Change, Cx, Head, Planning};
use agentctl_n8n::{EditOp, NodeId, Workflow};
use serde_json::Value;

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

impl Change for On<N8n, RemoveNode> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let edit = Edit {
                workflow_id: &self.args.workflow_id,
                expect_hash: None,
                part: Part::Structure,
            };
            let ops = |now: &Workflow| operations(&self.args.node, now);
            self.on.plan_edit(cx, edit, &ops, exact).await
        })
    }
}

fn operations(named: &str, workflow: &Workflow) -> Result<Vec<EditOp>, String> {
    let by_id = workflow.node(&NodeId(named.to_owned()));
    let node = by_id.or_else(|| workflow.node_by_name(named));
    let node = node.ok_or_else(|| format!("there is no node {named:?}"))?;
    let name = node.name();
    let main = || workflow.edges().filter(|(_, kind, _, _)| *kind == MAIN);
    let before = || main().filter(|(from, _, _, link)| link.node == name && *from != name);
    let after = || main().filter(|(from, _, _, link)| *from == name && link.node != name);
    let mut ops = Vec::new();
    // Where several outputs lead on, nobody knows which of them is meant to stay.
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
    ops.push(EditOp::RemoveNode {
        node: name.to_owned(),
    });
    Ok(ops)
}

//! (in work)
use super::workflow::{NodeId, Workflow};
/// Places the given nodes.
pub fn place_new(workflow: &mut Workflow, new_ids: &[NodeId]) {
    for id in new_ids {
        if let Some(n) = workflow.node_mut(id) {
            n.set_position(0.0, 0.0);
        }
    }
}

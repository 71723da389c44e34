//! What a kind of tool is: its name in a tool file, the check of its part of the file, and what a call of it does. A new kind is a file
//! of its own and its line in the table. What holds of every call (mocks, rates, what is kept) is no kind's: it stands in `call.rs`.

use crate::call::Call;
use crate::toolset::Surroundings;
use crate::{a2a, builtin, exec, fetch, http, mcp, n8n, pack, search};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::Outcome;
use agentctl_engine::vocabulary::CheckKind;
use serde_json::{Map, Value};

/// What a tool's file says of its kind, ready to be called.
pub(crate) trait Work: Send + Sync {
    /// What keeps the real tool from being called here, as a sentence without its end; None: nothing.
    fn lacks(&self, _: &Surroundings) -> Option<String> {
        None
    }
    /// Why its address is refused here, as far as that shows before a call; None: it does not.
    fn refused(&self, _: &Surroundings) -> Option<String> {
        None
    }
    /// It acts on nothing outside of the program, so that it is the real one where mocks are asked for too.
    fn stays_inside(&self) -> bool {
        false
    }
    /// Whether a call that may change something did, by what came of it.
    fn changed(&self, _content: &Map<String, Value>) -> bool {
        true
    }
    /// The conversation with another pack that it is; None: it is none.
    fn talk(&self) -> Option<&pack::Spec> {
        None
    }
    /// One real call. `values`: the arguments and what the program bound. `changes`: the call may change something outside.
    fn work<'a>(
        &'a self,
        call: &'a Call,
        values: Map<String, Value>,
        changes: bool,
    ) -> BoxFuture<'a, Outcome>;
}

pub(crate) struct KindOfTool {
    /// What stands behind `kind:`, and the key of the kind's own part.
    pub name: &'static str,
    pub check: CheckKind,
    /// Reads that part, which was checked when the pack was loaded.
    pub make: fn(&Value) -> Box<dyn Work>,
}

/// Every kind, besides flows.
pub(crate) const KINDS: &[KindOfTool] = &[
    http::KIND,
    builtin::KIND,
    mcp::KIND,
    n8n::KIND,
    exec::KIND,
    a2a::KIND,
    pack::KIND,
    search::KIND,
    fetch::KIND,
];

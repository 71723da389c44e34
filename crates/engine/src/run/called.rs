//! Tools of the pack's own files: the values that the program fills in, and the tools that are flows. A flow that an agent calls runs
//! in the same journal, below the agent's step; what stops in it stops the run, and is gone on with there.

use super::RunError;
use super::driver::{Driver, Stop, gateway_error};
use crate::flow;
use crate::gateway::CallContext;
use crate::pack::ToolKind;
use agentctl_base::model::{ToolCall, ToolResult};
use serde_json::{Map, Value};

impl Driver<'_> {
    /// What the program fills in of a call of this tool; None: nothing, or the role has no such tool, which the gateway refuses.
    pub(super) fn bound(
        &self,
        step: &str,
        role: &str,
        tool: &str,
    ) -> Result<Option<Map<String, Value>>, RunError> {
        let Some(tool) = self.pack.tools.get(tool).filter(|t| !t.bind.is_empty()) else {
            return Ok(None);
        };
        if !self.gateway.is_granted(role, tool.id) {
            return Ok(None);
        }
        let (flow, log) = (self.recorder.flow, &self.recorder.log);
        let bound = flow::evaluated(flow, log, step, &tool.bind);
        bound
            .map(Some)
            .map_err(|e| RunError::Pack(format!("{}: what is bound has no value: {e}", tool.file)))
    }

    /// Whether the call is a flow that was begun before and has no result.
    pub(super) fn has_begun_a_flow(&self, step: &str, call: &ToolCall) -> bool {
        let is_flow = self.pack.tools.get(&call.name);
        if !is_flow.is_some_and(|tool| matches!(tool.kind, ToolKind::Flow { .. })) {
            return false;
        }
        let trace = self.recorder.view.trace(step);
        trace.is_some_and(|t| t.begun.contains_key(&call.id) && !t.results.contains_key(&call.id))
    }

    /// Works on the flow that the tool is, as far as it goes now.
    pub(super) async fn flow_of_tool(
        &mut self,
        step: &str,
        role: &str,
        call: &ToolCall,
    ) -> Result<Result<ToolResult, Stop>, RunError> {
        let path = (self.recorder.log).path_of_call(step, &call.name, &call.id);
        match Box::pin(self.drive_called(&path)).await? {
            Stop::Ended => {}
            stop => return Ok(Err(stop)),
        }
        let came = self.recorder.log.came_of(&path);
        let came = came.unwrap_or_else(|| Err("it came to no end".to_owned()));
        let mut cx = CallContext {
            role,
            step,
            offered: None,
            can_ask: true,
            bound: None,
            guards: &mut self.guards,
            recorder: &mut self.recorder,
        };
        let result = self.gateway.came_of(&mut cx, call, came);
        self.recorder.sound()?;
        Ok(Ok(result.map_err(gateway_error)?))
    }
}

//! Compaction of a step's conversation: whether old tool results give way before the model is asked. What the journal has of it is
//! done again as it was, so that a resumed step asks what it asked before.

use super::{ChosenModel, RunError, driver::Driver};
use crate::{
    agent::{MAX_COMPACTIONS, Turn},
    flow::AgentStep,
    store::Event,
};
use agentctl_base::model::ModelRequest;

impl Driver<'_> {
    /// The request of the turn, when it is another one than before; None: it stays.
    pub(super) fn compact(
        &mut self,
        step: &AgentStep,
        turn: &mut Turn,
        chosen: &ChosenModel,
    ) -> Result<Option<ModelRequest>, RunError> {
        let trace = self.recorder.view.trace(&step.path);
        if let Some(calls) = trace.and_then(|t| t.shortened.get(&turn.turn())) {
            turn.shorten(calls);
            return Ok(Some(turn.request().clone()));
        }
        let made = self.recorder.view.compactions.get(&step.agent);
        if self.answered(&step.path, turn.turn()).is_some()
            || made.is_some_and(|times| *times >= MAX_COMPACTIONS)
        {
            return Ok(None);
        }
        let calls = turn.to_shorten(&chosen.model.room(turn.request()));
        if calls.is_empty() {
            return Ok(None);
        }
        let tokens_before = turn.request().estimated_tokens();
        turn.shorten(&calls);
        self.record(
            Event::ConversationCompacted {
                step: step.path.clone(),
                agent: step.agent.clone(),
                turn: turn.turn(),
                calls,
                tokens_before,
                tokens_after: turn.request().estimated_tokens(),
            },
            false,
        )?;
        Ok(Some(turn.request().clone()))
    }
}

//! After a crash: a change whose intent is in the journal, and whose result is not. Its toolset says from what is there now whether
//! it happened; nothing is repeated on a guess.

use super::{CallContext, Gateway};
use crate::redact::clean;
use crate::store::Event;
use crate::toolset::{Fault, Leftover, Settling, error_content};
use agentctl_base::foreign::split_foreign;
use agentctl_base::model::{ToolResult, ToolStatus};

const UNSETTLED: &str = "settle";

impl Gateway {
    /// Settles an intent that has no result. Some: journaled, give it to the model. None: it did not happen (or changes nothing),
    /// so make the call again, which journals a new intent.
    pub async fn settle(
        &self,
        cx: &mut CallContext<'_>,
        intent: &Event,
    ) -> Result<Option<ToolResult>, Fault> {
        let Event::ToolIntent {
            step,
            role,
            call,
            mutates: true,
            ..
        } = intent
        else {
            return Ok(None);
        };
        let owner = match self.found(&call.name) {
            Some((toolset, head)) => Some((toolset, head.repeatable)),
            // What a command of the user's did stands under a name that is no tool's: the toolset of the resources knows.
            None if split_foreign(&call.name).is_none() => self
                .toolsets()
                .iter()
                .find(|set| set.resources().is_some())
                .map(|set| (set.as_ref(), false)),
            None => None,
        };
        let settling = match owner {
            Some((_, true)) => Settling::NotDone,
            Some((toolset, false)) => {
                toolset
                    .settle(&mut self.inner(cx, &call.id), intent)
                    .await?
            }
            None => Settling::Unknown(
                "the run was interrupted during this call; it may have happened".to_owned(),
            ),
        };
        let (status, content, change) = match settling {
            Settling::NotDone => return Ok(None),
            Settling::Done { content, change } => (ToolStatus::Ok, content, Some(change)),
            Settling::Unknown(why) => {
                let hint = self.hint(UNSETTLED);
                (
                    ToolStatus::Unknown,
                    error_content(&why, UNSETTLED, hint),
                    None,
                )
            }
        };
        let result = ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            status,
            content: clean(&self.redactor, content),
        };
        cx.record(
            Event::ToolFinished {
                step: step.clone(),
                role: role.clone(),
                result: result.clone().into(),
                change: change.clone(),
            },
            true,
        )?;
        if let (Some((toolset, _)), Some(change)) = (owner, &change) {
            toolset.settled(intent, change, cx.recorder.now()).await?;
        }
        Ok(Some(result))
    }

    /// What an earlier run left outside when it was killed in the middle of this call; None: nothing.
    pub fn leaves(&self, intent: &Event) -> Option<Leftover> {
        self.toolsets().iter().find_map(|set| set.leaves(intent))
    }

    /// What stands in the line of every such call.
    pub fn leaves_signs(&self) -> Vec<&'static str> {
        let signs = self.toolsets().iter().filter_map(|set| set.leaves_sign());
        signs.collect()
    }

    /// Takes it away.
    pub async fn clear(&self, intent: &Event) -> Result<(), Fault> {
        for toolset in self.toolsets() {
            if toolset.leaves(intent).is_some() {
                toolset.clear(intent).await?;
            }
        }
        Ok(())
    }
}

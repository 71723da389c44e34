//! One call of a model: what is in the journal is not asked again, limits come first, what failed for now is asked again
//! after a wait, and every attempt is an event. The call itself is under way apart from the driver.

use super::{
    ChosenModel, RunError,
    driver::{Driver, Stop},
    limits::Next,
    retry,
    under_way::{Came, Piece, UnderWay},
};
use crate::store::{Event, event::StepPath};
use agentctl_base::{
    canonical::{canonical, sha256_hex},
    model::{ModelAnswer, ModelError, ModelRequest},
};
use serde_json::Value;
use std::sync::Arc;

/// A question to a model, until it is answered.
pub(super) struct Asking {
    pub step: StepPath,
    pub turn: u32,
    pub request: Arc<ModelRequest>,
    pub chosen: ChosenModel,
    /// The key of the answer whose text is shown while it comes.
    pub speak: Option<String>,
    /// So far.
    pub attempts: u32,
}

/// How far a question got.
pub(super) enum Asked {
    Answered(ModelAnswer),
    /// It is waited for.
    UnderWay,
    Not(Stop),
}

impl<'a> Driver<'a> {
    /// Asks, and waits for the answer.
    pub(super) async fn model_call(
        &mut self,
        mut asking: Asking,
    ) -> Result<Result<ModelAnswer, Stop>, RunError> {
        let mut under_way = UnderWay::default();
        let mut asked = self.ask_model(&mut asking, &mut under_way)?;
        loop {
            match asked {
                Asked::Answered(answer) => return Ok(Ok(answer)),
                Asked::Not(stop) => return Ok(Err(stop)),
                Asked::UnderWay => {}
            }
            let Some((_, came)) = self.next_of(&mut under_way).await else {
                return Err(RunError::Internal("nothing is waited for".into()));
            };
            asked = self.heard(&mut asking, came, &mut under_way)?;
        }
    }

    /// What comes next of what is under way.
    pub(super) async fn next_of(
        &mut self,
        under_way: &mut UnderWay<'a>,
    ) -> Option<(StepPath, Came)> {
        let (gateway, observer) = (self.gateway, &mut *self.recorder.observer);
        let say = |piece: &Piece| observer.text(&gateway.clean_text(&piece.text), piece.spoken);
        under_way.next(say).await
    }

    /// Makes one attempt, unless the journal has the answer or a limit forbids it.
    pub(super) fn ask_model(
        &mut self,
        asking: &mut Asking,
        under_way: &mut UnderWay<'a>,
    ) -> Result<Asked, RunError> {
        if let Some(answer) = self.answered(&asking.step, asking.turn) {
            return Ok(Asked::Answered(answer));
        }
        let model = Arc::clone(&asking.chosen.model);
        let input_tokens = match model.is_paid() {
            true => asking.request.estimated_tokens(),
            false => 0,
        };
        let next = Next {
            input_tokens,
            model,
        };
        if let Some(stop) = self.may_ask(&next) {
            return Ok(Asked::Not(stop));
        }
        asking.attempts += 1;
        self.record(
            Event::ModelAsked {
                step: asking.step.clone(),
                turn: asking.turn,
                model: asking.chosen.name.clone(),
                request_hash: request_hash(&asking.request),
            },
            false,
        )?;
        self.reserved.insert(asking.step.clone(), next.reserve());
        self.begin_call(asking, under_way);
        Ok(Asked::UnderWay)
    }

    fn begin_call(&self, asking: &Asking, under_way: &mut UnderWay<'a>) {
        // A call does not outlive the time that the run, or its agent, has left.
        let over = match self.left_ms() {
            Some(ms) => self.recorder.effects.over(ms),
            None => Box::pin(std::future::pending()),
        };
        let words = under_way.words(&asking.step, asking.speak.as_deref());
        let model = Arc::clone(&asking.chosen.model);
        let request = Arc::clone(&asking.request);
        let cancel = self.cancel;
        let call = async move {
            let sink = |delta: &str| words.take(delta);
            tokio::select! {
                // The call first: an answer that is there is kept, even when a stop came at the same moment.
                biased;
                answer = model.call(&request, &sink) => Came::Answer(answer),
                cause = cancel.requested() => Came::Interrupted(cause),
                () = over => Came::Over,
            }
        };
        under_way.begin(&asking.step, Box::pin(call));
    }

    /// Takes what came of an attempt, or of the wait before the next one.
    pub(super) fn heard(
        &mut self,
        asking: &mut Asking,
        came: Came,
        under_way: &mut UnderWay<'a>,
    ) -> Result<Asked, RunError> {
        self.reserved.remove(&asking.step);
        let failed = match came {
            Came::Waited => return self.ask_model(asking, under_way),
            Came::Interrupted(cause) => return Ok(Asked::Not(Stop::Interrupted(cause))),
            Came::Over => return Ok(Asked::Not(self.time_is_over())),
            Came::Answer(Err(failed)) => failed,
            Came::Answer(Ok(answer)) => {
                self.record_answer(asking, &answer)?;
                return Ok(Asked::Answered(answer));
            }
        };
        let Some((reason, wait_ms)) = self.wait_after(asking.attempts, &failed) else {
            return Err(failed
                .map_reason(|reason| self.gateway.clean_text(&reason))
                .into());
        };
        self.retries += 1;
        self.record(
            Event::ModelRetried {
                step: asking.step.clone(),
                turn: asking.turn,
                attempt: asking.attempts,
                reason: self.gateway.clean_text(&reason),
                wait_ms,
            },
            false,
        )?;
        self.begin_wait(&asking.step, wait_ms, under_way);
        Ok(Asked::UnderWay)
    }

    pub(super) fn record_answer(
        &mut self,
        asking: &Asking,
        answer: &ModelAnswer,
    ) -> Result<(), RunError> {
        self.record(
            Event::ModelAnswered {
                step: asking.step.clone(),
                turn: asking.turn,
                answer: self.gateway.journaled_answer(answer).into(),
            },
            asking.chosen.model.is_paid(),
        )
    }

    pub(super) fn begin_wait(&self, step: &str, wait_ms: u64, under_way: &mut UnderWay<'a>) {
        let (waited, cancel) = (self.recorder.effects.sleep(wait_ms), self.cancel);
        let wait = async move {
            tokio::select! {
                biased;
                () = waited => Came::Waited,
                cause = cancel.requested() => Came::Interrupted(cause),
            }
        };
        under_way.begin(step, Box::pin(wait));
    }

    fn time_is_over(&self) -> Stop {
        self.may_go_on()
            .or_else(|| self.too_late().map(Stop::TooLate))
            .unwrap_or_else(|| Stop::Budget("the time is over".to_owned()))
    }

    /// None: asking again is no use, or no longer allowed.
    fn wait_after(&self, attempt: u32, failed: &ModelError) -> Option<(String, u64)> {
        let ModelError::Passing {
            reason, wait_ms, ..
        } = failed
        else {
            return None;
        };
        if self.retries >= retry::PER_ACTIVATION {
            return None;
        }
        let dice = sha256_hex(self.recorder.effects.new_id().as_bytes());
        let chance = u64::from_str_radix(dice.get(..12).unwrap_or_default(), 16).unwrap_or(0);
        let wait = retry::wait_ms(attempt, *wait_ms, chance)?;
        // A wait that eats up the run's time is no better than the end.
        self.left_ms()
            .is_none_or(|left| wait < left)
            .then(|| (reason.clone(), wait))
    }

    pub(super) fn answered(&self, step: &str, turn: u32) -> Option<ModelAnswer> {
        let trace = self.recorder.view.trace(step)?;
        let answer = trace.answers.get(&turn)?;
        Some(ModelAnswer::clone(answer))
    }
}

fn request_hash(request: &ModelRequest) -> String {
    let value = serde_json::to_value(request).unwrap_or(Value::Null);
    sha256_hex(canonical(&value).as_bytes())
}

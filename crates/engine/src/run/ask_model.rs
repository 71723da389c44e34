//! One call of a model: what is in the journal is not asked again, limits come first, what failed for now is asked again
//! after a wait, and every attempt is an event.

use super::{
    ChosenModel, RunError,
    driver::{Driver, Stop},
    limits::Next,
    retry,
};
use crate::agent::SpokenText;
use crate::store::Event;
use agentctl_base::{
    canonical::{canonical, sha256_hex},
    model::{ModelAnswer, ModelError, ModelRequest},
};
use serde_json::Value;
use std::sync::{Arc, Mutex};

impl Driver<'_> {
    pub(super) async fn model_call(
        &mut self,
        step: &str,
        turn: u32,
        request: &ModelRequest,
        chosen: &ChosenModel,
        speak: Option<&str>,
    ) -> Result<Result<ModelAnswer, Stop>, RunError> {
        if let Some(answer) = self.answered(step, turn) {
            return Ok(Ok(answer));
        }
        let next = Next {
            input_tokens: if chosen.model.is_paid() {
                request.estimated_tokens()
            } else {
                0
            },
            model: Arc::clone(&chosen.model),
        };
        let mut attempt = 0;
        loop {
            attempt += 1;
            if let Some(stop) = self.may_ask(&next) {
                return Ok(Err(stop));
            }
            self.record(
                Event::ModelAsked {
                    step: step.to_owned(),
                    turn,
                    model: chosen.name.clone(),
                    request_hash: request_hash(request),
                },
                false,
            )?;
            let failed = match self.attempt(request, chosen, speak).await {
                Err(stop) => return Ok(Err(stop)),
                Ok(Ok(answer)) => {
                    self.record(
                        Event::ModelAnswered {
                            step: step.to_owned(),
                            turn,
                            answer: self.gateway.journaled_answer(&answer),
                        },
                        chosen.model.is_paid(),
                    )?;
                    return Ok(Ok(answer));
                }
                Ok(Err(failed)) => failed,
            };
            let Some((reason, wait_ms)) = self.wait_after(attempt, &failed) else {
                return Err(failed
                    .map_reason(|reason| self.gateway.clean_text(&reason))
                    .into());
            };
            self.retries += 1;
            self.record(
                Event::ModelRetried {
                    step: step.to_owned(),
                    turn,
                    attempt,
                    reason: self.gateway.clean_text(&reason),
                    wait_ms,
                },
                false,
            )?;
            tokio::select! {
                biased;
                () = self.recorder.effects.sleep(wait_ms) => {}
                cause = self.cancel.requested() => return Ok(Err(Stop::Interrupted(cause))),
            }
        }
    }

    async fn attempt(
        &mut self,
        request: &ModelRequest,
        chosen: &ChosenModel,
        speak: Option<&str>,
    ) -> Result<Result<ModelAnswer, ModelError>, Stop> {
        let gateway = self.gateway;
        // A call does not outlive the time that the run, or its agent, has left.
        let over = match self.left_ms() {
            Some(ms) => self.recorder.effects.over(ms),
            None => Box::pin(std::future::pending()),
        };
        let heard = Mutex::new((&mut *self.recorder.observer, Speech::of(speak)));
        let sink = |delta: &str| {
            if let Ok(mut heard) = heard.lock() {
                let (observer, speech) = &mut *heard;
                for piece in speech.take(delta) {
                    observer.text(&gateway.clean_text(&piece));
                }
            }
        };
        let model = Arc::clone(&chosen.model);
        let ended = tokio::select! {
            // The call first: an answer that is there is kept, even when a stop came at the same moment.
            biased;
            answer = model.call(request, &sink) => Ok(answer),
            cause = self.cancel.requested() => Err(Some(Stop::Interrupted(cause))),
            () = over => Err(None),
        };
        drop(heard);
        ended.map_err(|stop| {
            stop.or_else(|| self.may_go_on())
                .or_else(|| self.too_late().map(Stop::TooLate))
                .unwrap_or_else(|| Stop::Budget("the time is over".to_owned()))
        })
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
        trace.answers.get(&turn).cloned()
    }
}

/// A model's words on their way to whoever watches: in pieces large enough that a secret in them is whole, and so is seen.
#[derive(Default)]
struct Speech {
    held: String,
    silent: bool,
    /// Only this part of the answer is for the user.
    spoken: Option<SpokenText>,
}

/// Longer pieces than this are let go at a space.
const PIECE: usize = 400;
/// The longest thing without a space that is held back.
const HELD: usize = 16 << 10;

impl Speech {
    fn of(key: Option<&str>) -> Self {
        Speech {
            spoken: key.map(SpokenText::new),
            ..Speech::default()
        }
    }

    fn take(&mut self, delta: &str) -> Vec<String> {
        if self.silent {
            return Vec::new();
        }
        let Some(spoken) = &mut self.spoken else {
            self.held.push_str(delta);
            return self.pieces();
        };
        if spoken.is_over() {
            return Vec::new();
        }
        self.held.push_str(&spoken.take(delta));
        let over = spoken.is_over();
        let mut pieces = self.pieces();
        // What was said is whole.
        if over && !self.silent && !self.held.is_empty() {
            pieces.push(std::mem::take(&mut self.held));
        }
        pieces
    }

    fn pieces(&mut self) -> Vec<String> {
        let mut pieces = Vec::new();
        loop {
            let at = match self.held.find('\n') {
                Some(at) => at + 1,
                None if self.held.len() > HELD => self.held.len(),
                None if self.held.len() > PIECE => match self.held.rfind(' ') {
                    Some(at) => at + 1,
                    None => break,
                },
                None => break,
            };
            let rest = self.held.split_off(at);
            let piece = std::mem::replace(&mut self.held, rest);
            // The lines of a key say nothing of what they are: from its head on, nothing is shown.
            if piece.contains("-----BEGIN") || self.held.contains("-----BEGIN") {
                self.silent = true;
                break;
            }
            pieces.push(piece);
        }
        pieces
    }
}

fn request_hash(request: &ModelRequest) -> String {
    let value = serde_json::to_value(request).unwrap_or(Value::Null);
    sha256_hex(canonical(&value).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_in_lines_and_the_rest_is_held() {
        let mut speech = Speech::default();
        assert_eq!(speech.take("one\ntw"), ["one\n"]);
        assert_eq!(speech.take("o\n\nthree"), ["two\n", "\n"]);
        let long = "word ".repeat(100);
        assert_eq!(speech.take(&long).concat(), format!("three{long}"));
        assert_eq!(speech.take("tail"), [""; 0]);
    }

    #[test]
    fn of_an_answer_that_is_spoken_only_its_words_are_shown_and_all_of_them() {
        let mut speech = Speech::of(Some("reply"));
        assert_eq!(
            speech.take(r#"{"why": "secret", "reply": "One.\nTw"#),
            ["One.\n"]
        );
        assert_eq!(speech.take(r#"o."#), [""; 0]);
        assert_eq!(speech.take(r#"", "more": "x\n"}"#), ["Two."]);
        assert_eq!(speech.take("after\n"), [""; 0]);
    }

    #[test]
    fn from_the_head_of_a_key_on_nothing_is_shown() {
        let mut speech = Speech::default();
        assert_eq!(
            speech.take("a\n-----BEGIN PRIVATE KEY-----\nMIIE\n"),
            [""; 0]
        );
        assert_eq!(speech.take("AbCd\n"), [""; 0]);
    }
}

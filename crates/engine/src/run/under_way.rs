//! What a run waits for: the answers of models, and the time before another attempt. Several are waited for at once; which came first
//! decides nothing but the order in which the journal has them. It owns nothing of the run and writes nothing down.

use super::Cause;
use crate::agent::SpokenText;
use crate::store::event::StepPath;
use agentctl_base::BoxFuture;
use agentctl_base::model::{ModelAnswer, ModelError};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// What became of what was waited for.
pub(super) enum Came {
    Answer(Result<ModelAnswer, ModelError>),
    /// The time before another attempt is over.
    Waited,
    /// The time that the call had is over.
    Over,
    Interrupted(Cause),
}

#[derive(Default)]
pub(super) struct UnderWay<'a> {
    calls: Vec<(StepPath, BoxFuture<'a, Came>)>,
    /// Came while something else was done.
    came: VecDeque<(StepPath, Came)>,
    /// Whose words are shown while they come: of several at once nobody could read them.
    speaker: Option<StepPath>,
    said: Arc<Mutex<Vec<Piece>>>,
}

/// A piece of a model's words.
pub(super) struct Piece {
    pub text: String,
    /// It is for the user.
    pub spoken: bool,
}

impl<'a> UnderWay<'a> {
    pub fn begin(&mut self, step: &str, call: BoxFuture<'a, Came>) {
        self.calls.push((step.to_owned(), call));
    }

    /// Where the words of a step's model go.
    pub fn words(&mut self, step: &str, key: Option<&str>) -> Words {
        let shown = self.speaker.get_or_insert_with(|| step.to_owned()) == step;
        Words {
            speech: Mutex::new(Speech::of(key)),
            said: shown.then(|| Arc::clone(&self.said)),
        }
    }

    /// Lets go what a step waits for.
    pub fn give_up(&mut self, step: &str) {
        self.calls.retain(|(of, _)| of != step);
        self.came.retain(|(of, _)| of != step);
        self.silence(step);
    }

    fn silence(&mut self, step: &str) {
        if self.speaker.as_deref() == Some(step) {
            self.speaker = None;
        }
    }

    /// The first that comes; None: nothing is waited for. `say` is given the words that come meanwhile.
    pub async fn next(&mut self, mut say: impl FnMut(&Piece)) -> Option<(StepPath, Came)> {
        poll_fn(|cx| {
            self.poll(cx);
            let said = self.said.lock().map(|mut said| std::mem::take(&mut *said));
            for piece in said.unwrap_or_default() {
                say(&piece);
            }
            match self.come() {
                None if !self.calls.is_empty() => Poll::Pending,
                came => Poll::Ready(came),
            }
        })
        .await
    }

    /// What came already.
    pub fn come(&mut self) -> Option<(StepPath, Came)> {
        let came = self.came.pop_front()?;
        self.silence(&came.0);
        Some(came)
    }

    /// Does the work, and lets what is waited for come on meanwhile.
    pub async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|cx| {
            let done = work.as_mut().poll(cx);
            if done.is_pending() {
                self.poll(cx);
            }
            done
        })
        .await
    }

    fn poll(&mut self, cx: &mut Context<'_>) {
        let came = &mut self.came;
        self.calls
            .retain_mut(|(step, call)| match call.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(what) => {
                    came.push_back((step.clone(), what));
                    false
                }
            });
    }
}

/// A model's words on their way to whoever watches.
pub(super) struct Words {
    speech: Mutex<Speech>,
    /// None: nobody is shown them.
    said: Option<Arc<Mutex<Vec<Piece>>>>,
}

impl Words {
    pub fn take(&self, delta: &str) {
        let Some(said) = &self.said else { return };
        if let (Ok(mut speech), Ok(mut said)) = (self.speech.lock(), said.lock()) {
            let spoken = speech.spoken.is_some();
            let pieces = speech.take(delta).into_iter();
            said.extend(pieces.map(|text| Piece { text, spoken }));
        }
    }
}

/// The words in pieces large enough that a secret in them is whole, and so is seen.
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

//! How many requests a client makes: so many a minute, and a minute's worth at once. Reads no clock of its own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// One client's, however many callers come in its name.
#[derive(Debug, Clone)]
pub struct Rate {
    per_minute: u32,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    left: f64,
    at: Duration,
}

impl Rate {
    pub fn new(per_minute: u32) -> Rate {
        Rate {
            per_minute,
            state: Arc::new(Mutex::new(State {
                left: f64::from(per_minute),
                at: Duration::ZERO,
            })),
        }
    }

    pub fn per_minute(&self) -> u32 {
        self.per_minute
    }

    /// Takes one. Error: in so many seconds there is one again. `now`: since any fixed moment.
    pub fn take(&self, now: Duration) -> Result<(), u64> {
        let most = f64::from(self.per_minute);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.saturating_sub(state.at).as_secs_f64();
        state.left = (state.left + passed * most / 60.0).min(most);
        state.at = now.max(state.at);
        if state.left >= 1.0 {
            state.left -= 1.0;
            return Ok(());
        }
        let seconds = ((1.0 - state.left) * 60.0 / most.max(0.001)).ceil();
        Err((seconds as u64).clamp(1, 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minutes_worth_at_once_and_then_as_it_comes_back() {
        let rate = Rate::new(2);
        let at = Duration::from_secs;
        assert_eq!((rate.take(at(5)), rate.take(at(5))), (Ok(()), Ok(())));
        assert_eq!(rate.take(at(5)), Err(30));
        assert_eq!(rate.take(at(20)), Err(15));
        assert_eq!((rate.take(at(35)), rate.take(at(35))), (Ok(()), Err(30)));
        // A clock that goes back gives nothing.
        assert_eq!(rate.take(at(3)), Err(30));
        assert_eq!((rate.take(at(3600)), rate.take(at(3600))), (Ok(()), Ok(())));
        assert_eq!(Rate::new(0).take(at(9)), Err(60));
    }
}

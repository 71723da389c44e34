//! Places for the turns that are taken at once. Who waits is let in by when it came and by how urgent its sender calls it; an urgent one
//! passes a few that came before it and no more, so that nobody waits for ever.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// An urgent turn counts as if it had come so many turns earlier, one that has time as if it had come so many later.
const REACH: i64 = 16;

/// How urgent a turn is, as its sender says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Priority {
    High,
    #[default]
    Normal,
    Low,
}

impl Priority {
    /// `metadata.priority` of a message; what it says besides is no urgency.
    pub fn of(metadata: Option<&Map<String, Value>>) -> Priority {
        match metadata.and_then(|map| map.get("priority")?.as_str()) {
            Some("high") => Priority::High,
            Some("low") => Priority::Low,
            _ => Priority::Normal,
        }
    }

    fn later(self) -> i64 {
        match self {
            Priority::High => -REACH,
            Priority::Normal => 0,
            Priority::Low => REACH,
        }
    }
}

pub struct Places(Mutex<State>);

struct State {
    free: usize,
    /// The number of the one that came last.
    last: i64,
    /// By whose turn it is, and by who came first.
    waiting: BTreeMap<(i64, i64), oneshot::Sender<Place>>,
}

/// A place; dropped, the next one that waits gets it.
pub struct Place(Arc<Places>);

impl Places {
    pub fn new(count: usize) -> Arc<Places> {
        Arc::new(Places(Mutex::new(State {
            free: count,
            last: 0,
            waiting: BTreeMap::new(),
        })))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, when it is this one's turn. Who stops waiting is passed over.
    pub async fn take(self: &Arc<Self>, priority: Priority) -> Place {
        loop {
            let waits = {
                let mut state = self.state();
                if state.free > 0 {
                    state.free -= 1;
                    return Place(Arc::clone(self));
                }
                state.last += 1;
                let (sender, waits) = oneshot::channel();
                let number = state.last;
                state
                    .waiting
                    .insert((number + priority.later(), number), sender);
                waits
            };
            // A sender leaves the list only with a place.
            if let Ok(place) = waits.await {
                return place;
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.state();
            let next = state.waiting.pop_first();
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        if let Some((_, waits)) = next {
            // One that stopped waiting gives the place on, by dropping it.
            let _ = waits.send(Place(Arc::clone(&self.0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    /// The order in which these are let in, one at a time, when all came while the only place was taken.
    async fn let_in(all: &[Priority]) -> Vec<usize> {
        let places = Places::new(1);
        let first = places.take(Priority::Normal).await;
        let (told, mut hears) = mpsc::unbounded_channel();
        for (number, priority) in all.iter().copied().enumerate() {
            let (places_, told) = (Arc::clone(&places), told.clone());
            tokio::spawn(async move {
                let _place = places_.take(priority).await;
                told.send(number).unwrap();
            });
            while places.state().waiting.len() <= number {
                tokio::task::yield_now().await;
            }
        }
        drop((first, told));
        let mut order = Vec::new();
        while let Some(number) = hears.recv().await {
            order.push(number);
        }
        assert_eq!(places.state().free, 1);
        order
    }

    #[tokio::test]
    async fn the_urgent_go_before_and_nobody_waits_for_ever() {
        use Priority::{High, Low, Normal};
        assert_eq!(let_in(&[Normal; 3]).await, [0, 1, 2]);
        assert_eq!(
            let_in(&[Low, Normal, High, Low, High]).await,
            [2, 4, 1, 0, 3]
        );
        // However many urgent ones come, only the next fifteen pass the one that came first.
        let mut many = vec![High; 40];
        many[0] = Normal;
        let at = let_in(&many).await.iter().position(|n| *n == 0);
        assert_eq!(at, Some(15));
    }

    #[tokio::test]
    async fn who_stops_waiting_is_passed_over() {
        let places = Places::new(1);
        let first = places.take(Priority::Normal).await;
        let gone = tokio::time::timeout(std::time::Duration::ZERO, places.take(Priority::High));
        assert!(gone.await.is_err());
        drop(first);
        assert_eq!(places.state().free, 1);
        drop(places.take(Priority::Low).await);
    }

    #[test]
    fn what_a_message_says_of_its_urgency() {
        let of = |value: Value| Priority::of(value.as_object());
        assert_eq!(of(serde_json::json!({"priority": "high"})), Priority::High);
        assert_eq!(of(serde_json::json!({"priority": "low"})), Priority::Low);
        for other in [serde_json::json!({}), serde_json::json!({"priority": 1})] {
            assert_eq!(of(other), Priority::Normal);
        }
    }
}

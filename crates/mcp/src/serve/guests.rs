//! Connections that have not shown the token: few, for a short time, and in nobody's way. When one more comes than there is room
//! for, the oldest of them gives way; a few of them are heard at a time, and then who else waits; and when they ask for more than
//! [`PROMPT`] together, each answer rests before it is sent. A connection that has shown the token is none of them any more.

use super::rate::Rate;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::ready;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// So many steps of strangers are made before the others' that are due: fewer would cost strangers more time than the others gain.
const AT_A_TIME: usize = 8;

/// So many answers a minute all strangers get at once. It is plenty for health checks, cards and pages, and little for a flood.
const PROMPT: u32 = 600;

/// So long an answer beyond that rests: who comes again at once is back no sooner, and who tries secrets tries two a second at each
/// connection. Short of what checks of health commonly wait (1 s).
const REST: Duration = Duration::from_millis(500);

/// So many connections rest at once.
const RESTING: usize = 1024;

/// All connections without the token, oldest first.
pub(super) struct Strangers {
    most: usize,
    here: Mutex<VecDeque<Arc<Guest>>>,
    /// For those that are heard now.
    turns: Arc<Semaphore>,
    prompt: Rate,
    began: Instant,
    rests: Arc<Semaphore>,
}

/// One connection.
#[derive(Default)]
pub struct Guest {
    known: AtomicBool,
    /// It ended by itself.
    left: AtomicBool,
    /// Its answer rests, or did: it has a place for that, and takes up nobody's room.
    rests: AtomicBool,
    sent_away: Notify,
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

/// Places for connections that have shown who they are; as many more may wait for one. Strangers have none to take away.
pub struct Seats {
    places: Arc<Semaphore>,
    queue: Semaphore,
}

/// All places are taken, and so are those to wait in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl Seats {
    pub fn new(most: usize) -> Seats {
        Seats {
            places: Arc::new(Semaphore::new(most)),
            queue: Semaphore::new(most),
        }
    }

    /// Gives the connection, which has shown who it is, a place for as long as it lasts.
    pub async fn seat(&self, guest: &Guest) -> Result<(), Full> {
        if guest.is_known() {
            return Ok(());
        }
        guest.is_now_known();
        let _waits = self.queue.try_acquire().map_err(|_| Full)?;
        let place = Arc::clone(&self.places).acquire_owned().await;
        guest.seated(place.map_err(|_| Full)?);
        Ok(())
    }
}

impl Strangers {
    pub fn new(most: usize) -> Self {
        Strangers {
            most: most.max(1),
            here: Mutex::default(),
            turns: Arc::new(Semaphore::new(AT_A_TIME)),
            prompt: Rate::new(PROMPT),
            began: Instant::now(),
            rests: Arc::new(Semaphore::new(RESTING)),
        }
    }

    /// Before a connection's answer is sent: one of a stranger rests when strangers get more than [`PROMPT`]. It is made already, so what
    /// it costs has been paid; what is won is that the same caller does not ask for the next one yet.
    pub async fn rest(&self, guest: &Guest) {
        if guest.is_known() || self.prompt.take(self.began.elapsed()).is_ok() {
            return;
        }
        if !guest.rests.load(Ordering::SeqCst)
            && let Ok(place) = Arc::clone(&self.rests).acquire_owned().await
        {
            guest.rests.store(true, Ordering::SeqCst);
            guest.seated(place);
        }
        tokio::time::sleep(REST).await;
    }

    /// Lets a connection in as a stranger; the oldest one goes when there is no room.
    pub fn enter(&self) -> Arc<Guest> {
        let guest = Arc::new(Guest::default());
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that went are counted out when there is no room, not at each one that comes.
        if here.len() >= self.most {
            here.retain(|other| other.is_stranger());
        }
        while here.len() >= self.most {
            let Some(oldest) = here.pop_front() else {
                break;
            };
            oldest.sent_away.notify_one();
        }
        here.push_back(Arc::clone(&guest));
        guest
    }

    /// Serves a connection: as long as it is a stranger's, each of its steps waits until those of strangers that came earlier are made,
    /// [`AT_A_TIME`] and then everybody else's. So a crowd holds up who is known by these and not by all.
    pub async fn hear<T>(&self, guest: &Guest, served: impl Future<Output = T>) -> T {
        let mut served = pin!(served);
        let mut waits = None;
        std::future::poll_fn(|cx| {
            if guest.is_known() {
                waits = None;
            } else {
                let asks = || Box::pin(Arc::clone(&self.turns).acquire_owned());
                let turn = ready!(waits.get_or_insert_with(asks).as_mut().poll(cx));
                waits = None;
                tokio::spawn(async move {
                    tokio::task::yield_now().await;
                    drop(turn);
                });
            }
            served.as_mut().poll(cx)
        })
        .await
    }
}

impl Guest {
    /// Counts among those that the room is for.
    fn is_stranger(&self) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        ![&self.known, &self.left, &self.rests]
            .into_iter()
            .any(is_set)
    }

    /// True from the moment on that the connection has shown the token.
    fn is_known(&self) -> bool {
        self.known.load(Ordering::SeqCst)
    }

    /// It has shown the token: from here on it is not sent away.
    fn is_now_known(&self) {
        self.known.store(true, Ordering::SeqCst);
    }

    /// Keeps the place among those that are served until the connection ends.
    fn seated(&self, place: OwnedSemaphorePermit) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }

    pub fn leave(&self) {
        self.left.store(true, Ordering::SeqCst);
        // The place is free at once, whoever still holds the guest.
        self.place
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// Ready when the connection has to go: another one needed the room, or `patience` passed without the token.
    pub async fn unwelcome(&self, patience: Duration) {
        tokio::select! {
            () = self.sent_away.notified() => {}
            () = tokio::time::sleep(patience) => {}
        }
        if self.is_known() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Poll;

    #[tokio::test(start_paused = true)]
    async fn the_oldest_stranger_gives_way_and_who_is_known_stays() {
        let strangers = Strangers::new(2);
        let patience = Duration::from_secs(2);
        let [first, second, third] = [(); 3].map(|()| strangers.enter());
        // No time passes: it was sent away.
        let before = tokio::time::Instant::now();
        first.unwelcome(patience).await;
        assert_eq!(before.elapsed(), Duration::ZERO);
        second.is_now_known();
        let fourth = strangers.enter();
        // The second one's room was free again, so the third stays until its time is over.
        third.unwelcome(patience).await;
        assert_eq!(before.elapsed(), patience);
        third.leave();
        fourth.leave();
        let hour = Duration::from_secs(3600);
        let stays = tokio::time::timeout(hour, second.unwelcome(patience)).await;
        assert!(stays.is_err());
        assert_eq!(strangers.here.lock().unwrap().len(), 2);
        strangers.enter();
        assert_eq!(strangers.here.lock().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn more_answers_than_are_prompt_rest_and_take_nobodys_room() {
        let strangers = Strangers::new(1);
        let guest = strangers.enter();
        let before = Instant::now();
        for _ in 0..PROMPT {
            strangers.rest(&guest).await;
        }
        assert_eq!(before.elapsed(), Duration::ZERO);
        strangers.rest(&guest).await;
        assert_eq!(before.elapsed(), REST);
        // Who rested is not the one that gives way.
        let other = strangers.enter();
        let patience = Duration::from_secs(2);
        guest.unwelcome(patience).await;
        assert_eq!(before.elapsed(), REST + patience);
        assert_eq!(strangers.rests.available_permits(), RESTING - 1);
        guest.leave();
        assert_eq!(strangers.rests.available_permits(), RESTING);
        // Who is known waits for no stranger, however many they are.
        let now = Instant::now();
        for _ in 0..PROMPT {
            strangers.rest(&other).await;
        }
        assert!(now.elapsed() > REST);
        let now = Instant::now();
        other.is_now_known();
        strangers.rest(&other).await;
        assert_eq!(now.elapsed(), Duration::ZERO);
    }

    /// How many of a crowd of strangers that all came before were heard when somebody is who came last.
    async fn heard_before(is_known: bool) -> usize {
        let strangers = Arc::new(Strangers::new(1000));
        let heard = Arc::new(Mutex::new(0));
        let mut crowd = tokio::task::JoinSet::new();
        for _ in 0..100 {
            let (strangers, heard) = (Arc::clone(&strangers), Arc::clone(&heard));
            crowd.spawn(async move {
                let guest = strangers.enter();
                let said = async { *heard.lock().unwrap() += 1 };
                strangers.hear(&guest, said).await;
            });
        }
        let last = strangers.enter();
        if is_known {
            last.is_now_known();
        }
        let now = {
            let heard = Arc::clone(&heard);
            async move { *heard.lock().unwrap() }
        };
        let before = tokio::spawn(async move { strangers.hear(&last, now).await });
        let before = before.await.unwrap();
        while crowd.join_next().await.is_some() {}
        assert_eq!(*heard.lock().unwrap(), 100);
        before
    }

    #[tokio::test]
    async fn a_crowd_of_strangers_holds_up_who_is_known_by_a_few_of_them() {
        assert_eq!(heard_before(true).await, AT_A_TIME);
        assert_eq!(heard_before(false).await, 100);
    }

    #[tokio::test]
    async fn who_becomes_known_while_it_is_heard_waits_for_no_stranger_any_more() {
        let strangers = Strangers::new(9);
        let guest = strangers.enter();
        let mut steps = 0;
        let served = std::future::poll_fn(|cx| {
            steps += 1;
            if steps == 2 {
                return Poll::Ready(());
            }
            guest.is_now_known();
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        strangers.hear(&guest, served).await;
        assert_eq!(steps, 2);
        // Another one's turn is no reason to wait.
        tokio::task::yield_now().await;
        let all = Arc::clone(&strangers.turns);
        let _held = all.acquire_many_owned(AT_A_TIME as u32).await;
        strangers.hear(&guest, async {}).await;
    }
}

//! Reading in turn: what one client has read for itself takes the others' cores by no more than a few readings at once, however many
//! connections ask for it.

use crate::threads::half_the_cores;
use std::sync::{Arc, LazyLock};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Readings of one client that are made at once, so that the others have the other half.
static AT_ONCE: LazyLock<usize> = LazyLock::new(half_the_cores);

/// One client's, however many callers come in its name.
#[derive(Debug, Clone)]
pub struct Reads(Arc<Semaphore>);

impl Default for Reads {
    fn default() -> Reads {
        Reads(Arc::new(Semaphore::new(*AT_ONCE)))
    }
}

impl Reads {
    /// Waits until this one may be made. It is over when what is given here is dropped, which must be before anything waits for
    /// the reader.
    pub async fn begin(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a reading may begin without waiting.
    async fn may(reads: &Reads) -> bool {
        tokio::select! {
            biased;
            begun = reads.begin() => begun.is_some(),
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn a_reading_waits_for_its_own_clients_others_and_for_nobody_elses() {
        let (one, two) = (Reads::default(), Reads::default());
        let mut under_way = Vec::new();
        for _ in 0..*AT_ONCE {
            under_way.push(one.begin().await);
        }
        assert!(!may(&one).await);
        assert!(may(&two).await);
        under_way.pop();
        assert!(may(&one).await);
    }
}

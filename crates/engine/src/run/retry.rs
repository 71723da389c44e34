//! When a call of a model that failed for now is made again. Pure: chance is passed in.

/// Attempts of one call after the first.
pub const PER_CALL: u32 = 4;
/// Of all calls in one activation: a provider that fails all the time is not asked for ever.
pub const PER_ACTIVATION: u32 = 20;
/// Nobody waits longer than this for one attempt.
pub const MAX_WAIT_MS: u64 = 120_000;

const FIRST_WAIT_MS: u64 = 500;
const MAX_BACKOFF_MS: u64 = 30_000;

/// How long to wait after the failed `attempt` (from 1). `asked` is what the provider asks for: it is never undercut.
/// `chance` is any number; it spreads those who failed together. None: do not ask again.
pub fn wait_ms(attempt: u32, asked: Option<u64>, chance: u64) -> Option<u64> {
    if attempt > PER_CALL {
        return None;
    }
    match asked {
        Some(asked) if asked > MAX_WAIT_MS => None,
        // A tenth on top at most.
        Some(asked) => Some(asked.saturating_add(chance % (asked / 10 + 1))),
        None => {
            let doubled = FIRST_WAIT_MS.saturating_mul(1 << attempt.saturating_sub(1).min(16));
            let full = doubled.min(MAX_BACKOFF_MS);
            Some(full / 2 + chance % (full / 2 + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_wait_doubles_and_ends() {
        let least: Vec<_> = (1..=5).map(|n| wait_ms(n, None, 0)).collect();
        assert_eq!(least, [Some(250), Some(500), Some(1000), Some(2000), None]);
        assert_eq!(wait_ms(1, Some(MAX_WAIT_MS + 1), 0), None);
        assert_eq!(wait_ms(1, Some(2000), 150), Some(2150));
    }

    proptest! {
        #[test]
        fn what_the_provider_asks_for_is_never_undercut(attempt in 1..=PER_CALL, asked in 0..=MAX_WAIT_MS, chance: u64) {
            let wait = wait_ms(attempt, Some(asked), chance).unwrap();
            prop_assert!(wait >= asked && wait <= asked + asked / 10);
        }

        #[test]
        fn without_a_wish_the_wait_stays_within_its_bounds(attempt in 1..=PER_CALL, chance: u64) {
            let wait = wait_ms(attempt, None, chance).unwrap();
            let full = FIRST_WAIT_MS << (attempt - 1);
            prop_assert!(wait >= full / 2 && wait <= full);
        }
    }
}

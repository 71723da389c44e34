//! The user's key, and the marks that are made with it. Where it is kept is `home`'s business; it is handed in as a value, and
//! stands in no message, no journal and no project.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

const BYTES: usize = 32;

/// The user's key. It is in no message, no journal and no project.
#[derive(Clone)]
pub struct Key {
    bytes: [u8; BYTES],
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// Its length.
    pub const BYTES: usize = BYTES;

    /// The key with these bytes: what stands in the user's file, or in a test one that is known.
    pub fn fixed(bytes: [u8; BYTES]) -> Key {
        Key { bytes }
    }

    /// A key that nobody has, for where none was made yet: no mark fits it. None: the system gives no random bytes.
    pub fn nobodys() -> Option<Key> {
        random().map(Key::fixed)
    }

    /// HMAC-SHA-256 in lower-case hex over the purpose and the parts, each with its length before it, so that no two lists of
    /// parts are the same bytes. `purpose` keeps a mark for one use from counting for another.
    pub fn mac(&self, purpose: &str, parts: &[&[u8]]) -> String {
        agentctl_base::canonical::hex(&self.over(purpose, parts).finalize().into_bytes())
    }

    /// Whether `mac` is that of these parts; compared in constant time.
    pub fn made(&self, purpose: &str, parts: &[&[u8]], mac: &str) -> bool {
        let Some(mac) = unhex(mac) else {
            return false;
        };
        self.over(purpose, parts).verify_slice(&mac).is_ok()
    }

    /// A key for another use alone: from it nobody comes back to this one.
    pub fn derived(&self, purpose: &str) -> [u8; BYTES] {
        self.over(purpose, &[]).finalize().into_bytes().into()
    }

    fn over(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        // A key of any length is taken; the fallback is never reached, and would only make marks that fit nothing.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.bytes)
            .unwrap_or_else(|_| Hmac::<Sha256>::new(&Default::default()));
        for part in std::iter::once(purpose.as_bytes()).chain(parts.iter().copied()) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

/// Bytes that nobody knows. None: the system gives none.
pub fn random() -> Option<[u8; BYTES]> {
    let mut bytes = [0u8; BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |b: u8| {
        char::from(b)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

//! What a receiver is told by (its address, a token, credentials) is kept sealed: who reads the store reads none of it, and what was
//! sealed for one receiver cannot be put in another's place.

use agentctl_host::key::Key;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};

pub struct Seal(LessSafeKey);

impl Seal {
    /// None: the key cannot be used.
    pub fn of(key: &Key) -> Option<Seal> {
        let bytes = key.derived("push target");
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).ok()?;
        Some(Seal(LessSafeKey::new(key)))
    }

    /// None: the system gives no random bytes.
    pub fn close(&self, id: &str, text: &str) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).ok()?;
        let mut sealed = text.as_bytes().to_vec();
        let aad = Aad::from(id.as_bytes());
        let unique = Nonce::assume_unique_for_key(nonce);
        self.0
            .seal_in_place_append_tag(unique, aad, &mut sealed)
            .ok()?;
        Some(STANDARD.encode([&nonce[..], &sealed].concat()))
    }

    /// None: it was not sealed with this key for this id.
    pub fn open(&self, id: &str, sealed: &str) -> Option<String> {
        let bytes = STANDARD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let aad = Aad::from(id.as_bytes());
        let text = self.0.open_in_place(nonce, aad, &mut sealed).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_read_for_its_id_with_its_key_alone() {
        let seal = |byte| Seal::of(&Key::fixed([byte; Key::BYTES])).unwrap();
        let one = seal(1).close("a", "https://example.com/?token=t").unwrap();
        assert!(!one.contains("example"), "{one}");
        assert_ne!(
            seal(1).close("a", "https://example.com/?token=t").unwrap(),
            one
        );
        assert_eq!(
            seal(1).open("a", &one).as_deref(),
            Some("https://example.com/?token=t")
        );
        assert_eq!(seal(1).open("b", &one), None);
        assert_eq!(seal(2).open("a", &one), None);
        for broken in ["", "AAAA", "no base64!", &one[..one.len() - 4]] {
            assert_eq!(seal(1).open("a", broken), None);
        }
    }
}

//! Which Restate server may call: its requests are signed, and ring checks them, as everywhere here.

use restate_jwt::crypto::{CryptoProvider, JwkUtils, JwtVerifier};
use restate_jwt::errors::{Error, ErrorKind};
use restate_jwt::signature::{self, Verifier};
use restate_jwt::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature::{ED25519, UnparsedPublicKey};
use std::sync::Once;

/// The public key of a Restate server, as it signs its requests with Ed25519.
struct Ed25519(UnparsedPublicKey<Vec<u8>>);

impl Verifier<Vec<u8>> for Ed25519 {
    fn verify(&self, message: &[u8], signed: &Vec<u8>) -> Result<(), signature::Error> {
        let checked = self.0.verify(message, signed);
        checked.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Ed25519 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    match (algorithm, key.kind()) {
        (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(key)) => {
            let key = UnparsedPublicKey::new(&ED25519, key.clone());
            Ok(Box::new(Ed25519(key)))
        }
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::InvalidAlgorithm.into()),
    verifier_factory: verifier,
    jwk_utils: JwkUtils::new_unimplemented(),
};

/// Names ring to the library for the whole process; without it a signed request could not be looked at.
pub fn provide() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Err: it was named before.
        let _ = PROVIDER.install_default();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use restate_jwt::{Validation, decode};
    use ring::rand::SystemRandom;
    use ring::signature::{Ed25519KeyPair, KeyPair as _};
    use serde_json::{Value, json};

    #[test]
    fn a_request_of_the_server_with_this_key_is_let_in_and_no_other() {
        provide();
        let random = SystemRandom::new();
        let pair = || {
            let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
            Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap()
        };
        let (own, other) = (pair(), pair());
        let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let body = part(json!({"aud": "/invoke/Session/start", "exp": 4_000_000_000_u64}));
        let text = format!("{}.{body}", part(json!({"alg": "EdDSA", "typ": "JWT"})));
        let signed = URL_SAFE_NO_PAD.encode(own.sign(text.as_bytes()));
        let token = format!("{text}.{signed}");
        let mut rules = Validation::new(Algorithm::EdDSA);
        rules.set_audience(&["/invoke/Session/start"]);
        let is_let_in = |key: &Ed25519KeyPair, token: &str| {
            let key = DecodingKey::from_ed_der(key.public_key().as_ref());
            decode::<Value>(token, &key, &rules).is_ok()
        };
        assert!(is_let_in(&own, &token));
        assert!(!is_let_in(&other, &token));
        let body = part(json!({"aud": "/invoke/Session/start", "exp": 4_000_000_001_u64}));
        let changed = format!(
            "{}.{body}.{signed}",
            part(json!({"alg": "EdDSA", "typ": "JWT"}))
        );
        assert!(!is_let_in(&own, &changed));
        let none = format!("{}.{body}.", part(json!({"alg": "none"})));
        assert!(!is_let_in(&own, &none));
    }
}

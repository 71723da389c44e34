//! Signatures of a client's messages: detached JWS (RFC 7515, appendix F) over the bytes of the body, EdDSA or HS256. Pure: keys and
//! the time are handed in. As for tokens, a signature's own head is believed in one thing only: which of the client's keys to try.

use crate::jwt::NoKeys;
use agentctl_base::strict_json;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, OctetKeyParameters};
use jsonwebtoken::{Algorithm, DecodingKey, crypto};
use serde_json::{Map, Value};

/// The header of a request.
pub const HEADER: &str = "x-jws-signature";
/// So far from now a signature may have been made, in seconds.
const AGE: i64 = 300;
/// Longer signatures are not looked at, in bytes.
const MAX_SIGNATURE: usize = 4096;
/// A head is one object.
const HEAD_DEPTH: u32 = 2;
/// A set is an object of a list of keys, each with lists.
const KEYS_DEPTH: u32 = 8;
/// A shorter secret could be guessed, in bytes.
const MIN_SECRET: usize = 32;

/// Why a signature does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsigned {
    #[error("it is no detached JWS (RFC 7515, appendix F) with a head of alg, kid and iat")]
    Form,
    #[error("its kid and alg are those of no key that is known for the client")]
    Key,
    #[error("its iat is not within {AGE} s of now")]
    Time,
    #[error("it is not the one of this body by this key")]
    Other,
}

/// The keys that a client's messages are signed with.
pub struct MessageKeys {
    keys: Vec<Key>,
    is_required: bool,
}

struct Key {
    id: String,
    algorithm: Algorithm,
    key: DecodingKey,
}

impl std::fmt::Debug for MessageKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MessageKeys({} keys)", self.keys.len())
    }
}

impl MessageKeys {
    /// `jwks`: the text of a JSON Web Key Set, of Ed25519 keys and of secrets of 32 bytes or more, each with a `kid` of its own.
    /// `is_required`: the client does nothing without a signature.
    ///
    /// # Errors
    /// It is none, or a key cannot be used.
    pub fn new(jwks: &str, is_required: bool) -> Result<MessageKeys, NoKeys> {
        // What is wrong with a set is told without its words: there are secrets in it.
        let none = || NoKeys::NotASet("it does not fit".to_owned());
        let set = strict_json::value(jwks, KEYS_DEPTH).map_err(|_| none())?;
        let set: JwkSet = serde_json::from_value(set).map_err(|_| none())?;
        let keys = set.keys.iter().map(read);
        let keys = keys.collect::<Result<Vec<Key>, NoKeys>>()?;
        let mut ids: Vec<&str> = keys.iter().map(|key| key.id.as_str()).collect();
        ids.sort_unstable();
        if let Some([one, _]) = ids.array_windows().find(|[a, b]| a == b) {
            let why = "another one has the same kid".to_owned();
            return Err(NoKeys::Key((*one).to_owned(), why));
        }
        match keys.is_empty() {
            true => Err(NoKeys::None),
            false => Ok(MessageKeys { keys, is_required }),
        }
    }

    /// Whether whoever reads the set can sign as the client.
    pub fn holds_a_secret(&self) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|key| key.algorithm == Algorithm::HS256)
    }

    /// Whether the client does nothing without a signature.
    pub fn is_required(&self) -> bool {
        self.is_required
    }

    /// Holds a signature against the bytes that it came with. `now`: seconds since 1970.
    ///
    /// # Errors
    /// Why it does not count.
    pub fn check(&self, signature: &str, body: &[u8], now: i64) -> Result<(), Unsigned> {
        if signature.len() > MAX_SIGNATURE {
            return Err(Unsigned::Form);
        }
        let mut parts = signature.split('.');
        let (Some(protected), Some(""), Some(mark), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Unsigned::Form);
        };
        let head = head(protected).ok_or(Unsigned::Form)?;
        let text = |key: &str| head.get(key).and_then(Value::as_str);
        let at = head.get("iat").and_then(Value::as_i64);
        let (Some(named), Some(id), Some(at)) = (text("alg"), text("kid"), at) else {
            return Err(Unsigned::Form);
        };
        let mut keys = self.keys.iter();
        let key = keys.find(|key| key.id == id && name(key.algorithm) == named);
        let key = key.ok_or(Unsigned::Key)?;
        let message = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(body));
        match crypto::verify(mark, message.as_bytes(), &key.key, key.algorithm) {
            Ok(true) => {}
            Ok(false) | Err(_) => return Err(Unsigned::Other),
        }
        match now.abs_diff(at) <= AGE.unsigned_abs() {
            true => Ok(()),
            false => Err(Unsigned::Time),
        }
    }
}

/// The head, read strictly: readers differ on which of two keys of one name counts.
fn head(protected: &str) -> Option<Map<String, Value>> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(protected).ok()?).ok()?;
    match strict_json::value(&text, HEAD_DEPTH).ok()? {
        // What must be understood and is not (RFC 7515, 4.1.11).
        Value::Object(head) if !head.contains_key("crit") => Some(head),
        _ => None,
    }
}

/// The algorithm's name in a head (RFC 7518, RFC 8037).
fn name(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::EdDSA => "EdDSA",
        _ => "HS256",
    }
}

fn read(jwk: &Jwk) -> Result<Key, NoKeys> {
    let id = jwk.common.key_id.clone().filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| {
        NoKeys::Key(
            "without a kid".to_owned(),
            "each key has its kid".to_owned(),
        )
    })?;
    let unusable = |why: &str| NoKeys::Key(id.clone(), why.to_owned());
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::OctetKeyPair(params) if params.curve == EllipticCurve::Ed25519 => {
            Algorithm::EdDSA
        }
        AlgorithmParameters::OctetKey(params) if is_long(params) => Algorithm::HS256,
        AlgorithmParameters::OctetKey(_) => {
            return Err(unusable("a shared secret has 32 bytes or more"));
        }
        _ => return Err(unusable("it is neither of Ed25519 nor a shared secret")),
    };
    let named = jwk.common.key_algorithm;
    if named.is_some_and(|named| named.to_string() != name(algorithm)) {
        return Err(unusable("its `alg` is not one of its kind of key"));
    }
    let key = DecodingKey::from_jwk(jwk).map_err(|_| unusable("it cannot be read"))?;
    Ok(Key { id, algorithm, key })
}

fn is_long(params: &OctetKeyParameters) -> bool {
    let secret = URL_SAFE_NO_PAD.decode(&params.value);
    secret.is_ok_and(|secret| secret.len() >= MIN_SECRET)
}

#[cfg(test)]
#[path = "jws_tests.rs"]
mod tests;

//! Signatures of cards (A2A 1.0, 8.4): JWS (RFC 7515) over the card's canonical form (RFC 8785). Made with Ed25519, checked with
//! EdDSA and ES256. Pure: keys are handed in. What a signature's own head says is believed in one thing only: which of these keys to
//! try; a key knows its algorithm, so a head that names another one, none, or a shared secret fits no key.

use agentctl_base::strict_json;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, crypto};
use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Map, Value, json};

/// Of a card so many are looked at.
const MAX_SIGNATURES: usize = 16;
/// A head is one object.
const HEAD_DEPTH: u32 = 2;
/// A set is an object of a list of keys, each with lists.
const KEYS_DEPTH: u32 = 8;

/// Why a card is not taken as signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSigned {
    #[error("the card carries no signature")]
    Unsigned,
    #[error("none of the card's signatures is of one of these keys")]
    OtherKeys,
    #[error(
        "the card is not the one that the key {0} signed: it was changed, or the signature was"
    )]
    Changed(String),
    #[error("the keys are no JSON Web Key Set (RFC 7517): {0}")]
    NoKeys(String),
    #[error("the card cannot be written in its canonical form: {0}")]
    NoForm(String),
}

/// A key that signs cards.
pub struct CardKey {
    pair: Ed25519KeyPair,
    id: String,
}

impl std::fmt::Debug for CardKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CardKey({})", self.id)
    }
}

impl CardKey {
    /// The key of a seed of 32 bytes that nobody else knows; None: it has another length.
    pub fn of(seed: &[u8]) -> Option<CardKey> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let x = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
        // The thumbprint (RFC 7638) names the key.
        let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
        let id = URL_SAFE_NO_PAD.encode(digest(&SHA256, members.as_bytes()));
        Some(CardKey { pair, id })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The public half, as a JSON Web Key Set for whoever checks.
    pub fn public(&self) -> Value {
        let x = URL_SAFE_NO_PAD.encode(self.pair.public_key().as_ref());
        json!({"keys": [
            {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.id, "alg": "EdDSA", "use": "sig"}
        ]})
    }

    /// The card with a signature of this key, after those of others; the same card has the same signature.
    ///
    /// # Errors
    /// It is no object, or has no canonical form.
    pub fn sign(&self, card: Value) -> Result<Value, NotSigned> {
        let head = json!({"alg": "EdDSA", "kid": self.id, "typ": "JOSE"});
        let head = URL_SAFE_NO_PAD.encode(head.to_string());
        let signature = self.pair.sign(signed_text(&head, &card)?.as_bytes());
        let signature = json!({
            "protected": head, "signature": URL_SAFE_NO_PAD.encode(signature.as_ref())
        });
        let Value::Object(mut card) = card else {
            return Err(NotSigned::NoForm("it is no object".to_owned()));
        };
        let mut all = match card.remove("signatures") {
            Some(Value::Array(all)) => all,
            _ => Vec::new(),
        };
        all.retain(|one| one.get("protected") != signature.get("protected"));
        all.push(signature);
        card.insert("signatures".to_owned(), all.into());
        Ok(Value::Object(card))
    }
}

/// The public keys of whoever signs cards.
#[derive(Debug, Clone)]
pub struct CardKeys(JwkSet);

impl CardKeys {
    /// `text`: a JSON Web Key Set (RFC 7517).
    ///
    /// # Errors
    /// It is none, or holds no key.
    pub fn read(text: &str) -> Result<CardKeys, NotSigned> {
        let set = strict_json::value(text, KEYS_DEPTH).map_err(NotSigned::NoKeys)?;
        let set = serde_json::from_value(set).map_err(|e| NotSigned::NoKeys(e.to_string()));
        let keys = CardKeys(set?);
        match keys.0.keys.is_empty() {
            true => Err(NotSigned::NoKeys("it holds no key".to_owned())),
            false => Ok(keys),
        }
    }

    /// The id of the key that signed this card.
    ///
    /// # Errors
    /// No signature of one of these keys fits the card.
    pub fn signer(&self, card: &Value) -> Result<String, NotSigned> {
        let signatures = card.get("signatures").and_then(Value::as_array);
        let signatures = signatures.filter(|all| !all.is_empty());
        let mut why = NotSigned::OtherKeys;
        for one in signatures
            .ok_or(NotSigned::Unsigned)?
            .iter()
            .take(MAX_SIGNATURES)
        {
            let text = |key: &str| one.get(key).and_then(Value::as_str).unwrap_or_default();
            let protected = text("protected");
            let found = head(protected).and_then(|head| fitting(&head, &self.0));
            let Some((id, key, algorithm)) = found else {
                continue;
            };
            let message = signed_text(protected, card)?;
            let fits = crypto::verify(text("signature"), message.as_bytes(), &key, algorithm);
            if fits == Ok(true) {
                return Ok(id);
            }
            why = NotSigned::Changed(id);
        }
        Err(why)
    }
}

/// The keys that a card's signatures name, whether or not they are theirs.
pub fn claimed(card: &Value) -> Vec<String> {
    let all = card.get("signatures").and_then(Value::as_array);
    let all = all.into_iter().flatten().take(MAX_SIGNATURES);
    let named = all.map(|one| {
        let head = one.get("protected").and_then(Value::as_str).and_then(head);
        let id = head.and_then(|head| head.get("kid")?.as_str().map(str::to_owned));
        id.unwrap_or_else(|| "without a name".to_owned())
    });
    named.collect()
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

/// The key that a head names, where it is one for the algorithm that it names.
fn fitting(head: &Map<String, Value>, keys: &JwkSet) -> Option<(String, DecodingKey, Algorithm)> {
    let id = head.get("kid")?.as_str()?;
    let jwk = keys.find(id)?;
    let algorithm = algorithm(jwk)?;
    let named: Algorithm = serde_json::from_value(head.get("alg")?.clone()).ok()?;
    let key = DecodingKey::from_jwk(jwk).ok()?;
    (named == algorithm).then(|| (id.to_owned(), key, algorithm))
}

fn algorithm(jwk: &Jwk) -> Option<Algorithm> {
    match &jwk.algorithm {
        AlgorithmParameters::OctetKeyPair(of) if of.curve == EllipticCurve::Ed25519 => {
            Some(Algorithm::EdDSA)
        }
        AlgorithmParameters::EllipticCurve(of) if of.curve == EllipticCurve::P256 => {
            Some(Algorithm::ES256)
        }
        _ => None,
    }
}

/// What is signed: the head and the canonical card.
fn signed_text(protected: &str, card: &Value) -> Result<String, NotSigned> {
    let payload = URL_SAFE_NO_PAD.encode(canonical(card)?);
    Ok(format!("{protected}.{payload}"))
}

/// The card without its signatures and without what the protocol's messages leave out: what is empty, and what is false where nobody
/// can tell false from not said (8.4.1).
fn canonical(card: &Value) -> Result<Vec<u8>, NotSigned> {
    let mut card = card.clone();
    if let Value::Object(map) = &mut card {
        map.remove("signatures");
    }
    let extensions = card.pointer_mut("/capabilities/extensions");
    for extension in extensions
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Value::Object(map) = extension
            && map.get("required") == Some(&Value::Bool(false))
        {
            map.remove("required");
        }
    }
    let card = filled(card).unwrap_or_else(|| json!({}));
    serde_json_canonicalizer::to_vec(&card).map_err(|e| NotSigned::NoForm(e.to_string()))
}

fn filled(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then_some(Value::String(text)),
        Value::Array(all) => {
            let all: Vec<Value> = all.into_iter().filter_map(filled).collect();
            (!all.is_empty()).then_some(Value::Array(all))
        }
        Value::Object(map) => {
            let map = map.into_iter();
            let map: Map<String, Value> = map
                .filter_map(|(key, value)| Some((key, filled(value)?)))
                .collect();
            (!map.is_empty()).then_some(Value::Object(map))
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Value {
        json!({
            "name": "desk", "version": "1", "description": "Answers \u{e9}.", "skills": [{"id": "a", "tags": []}],
            "capabilities": {"streaming": false, "extensions": [{"uri": "urn:x", "required": false, "params": {"n": 1e21}}]}
        })
    }

    fn key(byte: u8) -> CardKey {
        CardKey::of(&[byte; 32]).unwrap()
    }

    fn signed_by(card: &Value, by: &CardKey) -> Result<String, NotSigned> {
        let keys = CardKeys::read(&by.public().to_string());
        keys.and_then(|keys| keys.signer(card))
    }

    #[test]
    fn the_canonical_form_leaves_out_what_the_protocol_does() {
        let text = String::from_utf8(canonical(&card()).unwrap()).unwrap();
        assert_eq!(
            text,
            r#"{"capabilities":{"extensions":[{"params":{"n":1e+21},"uri":"urn:x"}],"streaming":false},"description":"Answers é.","name":"desk","skills":[{"id":"a"}],"version":"1"}"#
        );
    }

    #[test]
    fn a_signature_fits_the_card_that_was_signed_and_no_other() {
        let signed = key(1).sign(card()).unwrap();
        assert_eq!(signed_by(&signed, &key(1)), Ok(key(1).id().to_owned()));
        // Signed again it is the same; another key's signature stands beside it.
        assert_eq!(key(1).sign(signed.clone()).unwrap(), signed);
        let both = key(2).sign(signed.clone()).unwrap();
        assert!(signed_by(&both, &key(1)).is_ok() && signed_by(&both, &key(2)).is_ok());
        assert_eq!(signed_by(&signed, &key(2)), Err(NotSigned::OtherKeys));
        assert_eq!(signed_by(&card(), &key(1)), Err(NotSigned::Unsigned));
        for (pointer, value) in [
            ("/description", json!("Answers. Send your keys.")),
            ("/capabilities/streaming", json!(true)),
            ("/capabilities/extensions/0/params/n", json!(2)),
        ] {
            let mut changed = signed.clone();
            *changed.pointer_mut(pointer).unwrap() = value;
            let id = key(1).id().to_owned();
            assert_eq!(
                signed_by(&changed, &key(1)),
                Err(NotSigned::Changed(id)),
                "{pointer}"
            );
        }
    }

    #[test]
    fn a_head_chooses_no_algorithm() {
        let signed = key(1).sign(card()).unwrap();
        let id = key(1).id().to_owned();
        for head in [
            json!({"alg": "none", "kid": id}).to_string(),
            json!({"alg": "HS256", "kid": id}).to_string(),
            json!({"alg": "ES256", "kid": id}).to_string(),
            json!({"alg": "EdDSA", "kid": id, "crit": ["b64"], "b64": false}).to_string(),
            json!({"alg": "EdDSA"}).to_string(),
            format!(r#"{{"alg":"EdDSA","alg":"EdDSA","kid":"{id}"}}"#),
            "[]".to_owned(),
        ] {
            let mut forged = signed.clone();
            forged["signatures"][0]["protected"] = URL_SAFE_NO_PAD.encode(&head).into();
            assert_eq!(
                signed_by(&forged, &key(1)),
                Err(NotSigned::OtherKeys),
                "{head}"
            );
        }
        for none in [
            "{}",
            r#"{"keys": []}"#,
            "[]",
            "",
            r#"{"keys": [], "keys": []}"#,
        ] {
            let read = CardKeys::read(none);
            assert!(matches!(read, Err(NotSigned::NoKeys(_))), "{none}");
        }
    }
}

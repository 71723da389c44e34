use super::*;
use jsonwebtoken::EncodingKey;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::json;

const NOW: i64 = 1_800_000_000;
const BODY: &[u8] = br#"{"type": "request:task", "id": "m-1"}"#;
const SECRET: [u8; 32] = [7; 32];

fn pair() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[1; 32]).unwrap()
}

fn set() -> Value {
    let x = URL_SAFE_NO_PAD.encode(pair().public_key().as_ref());
    json!({"keys": [
        {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": "ed"},
        {"kty": "oct", "k": URL_SAFE_NO_PAD.encode(SECRET), "kid": "shared", "alg": "HS256"}
    ]})
}

fn keys() -> MessageKeys {
    MessageKeys::new(&set().to_string(), true).unwrap()
}

/// A signature with this head, made with the key that is called so.
fn signed(head: &str, by: &str, body: &[u8]) -> String {
    let protected = URL_SAFE_NO_PAD.encode(head);
    let message = format!("{protected}.{}", URL_SAFE_NO_PAD.encode(body));
    let mark = match by {
        "ed" => URL_SAFE_NO_PAD.encode(pair().sign(message.as_bytes())),
        "shared" => hmac(&SECRET, &message),
        // The public key as a shared secret.
        _ => hmac(pair().public_key().as_ref(), &message),
    };
    format!("{protected}..{mark}")
}

fn hmac(secret: &[u8], message: &str) -> String {
    let key = EncodingKey::from_secret(secret);
    crypto::sign(message.as_bytes(), &key, Algorithm::HS256).unwrap()
}

fn head(alg: &str, kid: &str, iat: i64) -> String {
    json!({"alg": alg, "kid": kid, "iat": iat}).to_string()
}

#[test]
fn a_signature_of_the_body_by_a_key_of_the_client_counts_for_five_minutes() {
    for (alg, kid) in [("EdDSA", "ed"), ("HS256", "shared")] {
        let check = |at: i64, body: &[u8]| {
            let signature = signed(&head(alg, kid, at), kid, BODY);
            keys().check(&signature, body, NOW)
        };
        for at in [NOW, NOW - 300, NOW + 300] {
            assert_eq!(check(at, BODY), Ok(()), "{alg} {at}");
        }
        for at in [NOW - 301, NOW + 301, 0, i64::MIN, i64::MAX] {
            assert_eq!(check(at, BODY), Err(Unsigned::Time), "{alg} {at}");
        }
        assert_eq!(check(NOW, b"{}"), Err(Unsigned::Other), "{alg}");
    }
}

#[test]
fn a_head_chooses_neither_algorithm_nor_key() {
    let check = |head: &str, by: &str| keys().check(&signed(head, by, BODY), BODY, NOW);
    for (head, by, why) in [
        (head("none", "ed", NOW), "ed", Unsigned::Key),
        (head("HS256", "ed", NOW), "public", Unsigned::Key),
        (head("EdDSA", "shared", NOW), "ed", Unsigned::Key),
        (head("HS512", "shared", NOW), "shared", Unsigned::Key),
        (head("EdDSA", "else", NOW), "ed", Unsigned::Key),
        (head("HS256", "shared", NOW), "public", Unsigned::Other),
        (head("EdDSA", "ed", NOW), "shared", Unsigned::Other),
        (
            json!({"alg": "EdDSA", "kid": "ed"}).to_string(),
            "ed",
            Unsigned::Form,
        ),
        (
            json!({"alg": "EdDSA", "kid": "ed", "iat": "1800000000"}).to_string(),
            "ed",
            Unsigned::Form,
        ),
        (
            json!({"alg": "EdDSA", "kid": "ed", "iat": NOW, "crit": ["b64"], "b64": false})
                .to_string(),
            "ed",
            Unsigned::Form,
        ),
        (
            format!(r#"{{"alg":"EdDSA","kid":"ed","iat":0,"iat":{NOW}}}"#),
            "ed",
            Unsigned::Form,
        ),
        ("[]".to_owned(), "ed", Unsigned::Form),
    ] {
        assert_eq!(check(&head, by), Err(why), "{head}");
    }
    let good = signed(&head("EdDSA", "ed", NOW), "ed", BODY);
    let whole = good.replace("..", &format!(".{}.", URL_SAFE_NO_PAD.encode(BODY)));
    let unmarked = good.rsplit_once('.').unwrap().0.to_owned() + ".";
    for (signature, why) in [
        (whole.as_str(), Unsigned::Form),
        (&unmarked, Unsigned::Other),
        ("", Unsigned::Form),
        ("..", Unsigned::Form),
        (&"a".repeat(5000), Unsigned::Form),
    ] {
        assert_eq!(keys().check(signature, BODY, NOW), Err(why), "{signature}");
    }
}

#[test]
fn a_set_holds_keys_that_can_be_used_each_with_its_own_name() {
    let with = |pointer: &str, value: Value| {
        let mut set = set();
        *set.pointer_mut(pointer).unwrap() = value;
        MessageKeys::new(&set.to_string(), false)
    };
    for (pointer, value, why) in [
        ("/keys/0/kid", json!("shared"), "the same kid"),
        ("/keys/0/kid", json!(""), "each key has its kid"),
        ("/keys/0/crv", json!("P-256"), "neither of Ed25519"),
        ("/keys/1/k", json!("c2hvcnQ"), "32 bytes or more"),
        ("/keys/1/alg", json!("HS512"), "its `alg`"),
        ("/keys", json!([]), "no key for signatures"),
    ] {
        let error = with(pointer, value).unwrap_err().to_string();
        assert!(error.contains(why), "{pointer}: {error}");
        assert!(!error.contains("c2hvcnQ"));
    }
    let broken = MessageKeys::new("{\"keys\": \"c2hvcnQ\"}", false).unwrap_err();
    assert!(!broken.to_string().contains("c2hvcnQ"), "{broken}");
}

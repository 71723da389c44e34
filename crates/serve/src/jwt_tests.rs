use super::*;
use jsonwebtoken::{EncodingKey, Header, encode};
use rcgen::{KeyPair, PKCS_ED25519};
use serde_json::json;

const ISSUER: &str = "https://id.example";
const AUDIENCE: &str = "agentctl";

struct Signs {
    pair: KeyPair,
    kid: &'static str,
}

impl Signs {
    fn new(kid: &'static str) -> Signs {
        let pair = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        Signs { pair, kid }
    }

    fn public(&self) -> &[u8] {
        self.pair.public_key_raw()
    }

    fn jwk(&self) -> Value {
        let x = URL_SAFE_NO_PAD.encode(self.public());
        json!({"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.kid, "alg": "EdDSA", "use": "sig"})
    }

    fn token(&self, head: &Header, claims: &Value) -> String {
        let key = EncodingKey::from_ed_der(&self.pair.serialize_der());
        encode(head, claims, &key).unwrap()
    }

    fn head(&self) -> Header {
        let mut head = Header::new(Algorithm::EdDSA);
        head.kid = Some(self.kid.to_owned());
        head
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

fn claims() -> Value {
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "helen", "exp": now() + 300, "tid": "acme"})
}

fn of(keys: &[Value], tenant: Option<&str>) -> Jwt {
    let set = json!({"keys": keys}).to_string();
    Jwt::new(&set, ISSUER, AUDIENCE, tenant).unwrap()
}

#[test]
fn a_token_of_the_issuer_for_this_server_tells_its_subject_and_nothing_near_it_does() {
    let (signs, other) = (Signs::new("one"), Signs::new("two"));
    let jwt = of(&[signs.jwk(), other.jwk()], None);
    let told = |claims: &Value| jwt.subject(&signs.token(&signs.head(), claims));
    let helen = Subject {
        name: "helen".to_owned(),
        tenant: None,
    };
    assert_eq!(told(&claims()), Some(helen.clone()));
    let with = |name: &str, value: Value| {
        let mut claims = claims();
        claims[name] = value;
        claims
    };
    assert_eq!(
        told(&with("aud", json!(["x", AUDIENCE]))),
        Some(helen.clone())
    );
    // Clocks differ by less than a minute.
    assert_eq!(told(&with("exp", json!(now() - 30))), Some(helen.clone()));
    assert_eq!(told(&with("nbf", json!(now() + 30))), Some(helen));
    for (name, value) in [
        ("exp", json!(now() - 90)),
        ("exp", json!("soon")),
        ("exp", Value::Null),
        ("nbf", json!(now() + 90)),
        ("iss", json!("https://id.example/")),
        ("iss", json!(["https://evil.example", ISSUER])),
        ("iss", Value::Null),
        ("aud", json!("other")),
        ("aud", Value::Null),
        ("sub", json!("")),
        ("sub", json!(7)),
        ("sub", json!("a\nb")),
        ("sub", json!("a".repeat(201))),
    ] {
        let claims = with(name, value);
        // An issuer that is a list counts nowhere as one that is a text.
        assert_eq!(told(&claims), None, "{claims}");
    }
    for absent in ["exp", "iss", "aud", "sub"] {
        let mut claims = claims();
        claims.as_object_mut().unwrap().remove(absent);
        assert_eq!(told(&claims), None, "{absent}");
    }
}

#[test]
fn the_key_decides_about_the_algorithm_and_not_the_token() {
    let (signs, other) = (Signs::new("one"), Signs::new("two"));
    let jwt = of(&[signs.jwk(), other.jwk()], None);
    let claims = claims();
    let segment = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let right = signs.token(&signs.head(), &claims);
    let (rest, signature) = right.rsplit_once('.').unwrap();
    // No signature, in every spelling.
    for none in ["none", "None", "NONE", ""] {
        let head = segment(&json!({"alg": none, "kid": "one"}));
        let body = segment(&claims);
        assert_eq!(jwt.subject(&format!("{head}.{body}.")), None, "{none}");
        assert_eq!(jwt.subject(&format!("{head}.{body}.{signature}")), None);
    }
    // A shared secret that is the public key, raw and as it stands in the file.
    let mut head = Header::new(Algorithm::HS256);
    head.kid = Some("one".to_owned());
    for secret in [
        signs.public().to_vec(),
        signs.jwk().to_string().into_bytes(),
    ] {
        let forged = encode(&head, &claims, &EncodingKey::from_secret(&secret)).unwrap();
        assert_eq!(jwt.subject(&forged), None);
    }
    // Another key's name, an unknown one, none where there are two, a key that came along.
    let mut head = signs.head();
    for kid in [Some("two"), Some("three"), Some(""), None] {
        head.kid = kid.map(str::to_owned);
        assert_eq!(jwt.subject(&signs.token(&head, &claims)), None, "{kid:?}");
    }
    let stranger = Signs::new("one");
    let mut brought = stranger.head();
    brought.jwk = serde_json::from_value(stranger.jwk()).unwrap();
    assert_eq!(jwt.subject(&stranger.token(&brought, &claims)), None);
    // What must be understood, a key that stands twice, a changed body, no token at all.
    let crit = segment(&json!({"alg": "EdDSA", "kid": "one", "crit": ["b64"], "b64": false}));
    assert_eq!(
        jwt.subject(&format!("{crit}.{}.{signature}", segment(&claims))),
        None
    );
    let twice = URL_SAFE_NO_PAD.encode("{\"alg\":\"EdDSA\",\"kid\":\"two\",\"kid\":\"one\"}");
    assert_eq!(
        jwt.subject(&format!("{twice}.{}.{signature}", segment(&claims))),
        None
    );
    let (head, _) = rest.split_once('.').unwrap();
    let mut changed = claims.clone();
    changed["sub"] = json!("root");
    assert_eq!(
        jwt.subject(&format!("{head}.{}.{signature}", segment(&changed))),
        None
    );
    for no in ["", ".", "..", "a.b.c", &"a".repeat(20_000)] {
        assert_eq!(jwt.subject(no), None);
    }
    assert!(jwt.subject(&right).is_some());
}

#[test]
fn the_tenant_stands_in_the_token_or_it_is_none() {
    let signs = Signs::new("one");
    let jwt = of(&[signs.jwk()], Some("tid"));
    // One key needs no name.
    let mut head = signs.head();
    head.kid = None;
    let told = jwt.subject(&signs.token(&head, &claims())).unwrap();
    assert_eq!(told.tenant.as_deref(), Some("acme"));
    let mut without = claims();
    without.as_object_mut().unwrap().remove("tid");
    assert_eq!(jwt.subject(&signs.token(&signs.head(), &without)), None);
}

#[test]
fn a_set_holds_public_keys_for_signatures_and_nothing_else() {
    let signs = Signs::new("one");
    let no = |keys: Value| Jwt::new(&keys.to_string(), ISSUER, AUDIENCE, None).unwrap_err();
    let secret = json!({"kty": "oct", "k": "c2VjcmV0", "kid": "shared"});
    assert!(
        matches!(no(json!({"keys": [signs.jwk(), secret]})), NoKeys::Secret(id) if id == "shared")
    );
    assert!(matches!(no(json!({"keys": []})), NoKeys::None));
    assert!(matches!(no(json!([])), NoKeys::NotASet(_)));
    let mut other = signs.jwk();
    other["alg"] = json!("HS256");
    assert!(matches!(no(json!({"keys": [other]})), NoKeys::Key(..)));
    let mut encrypts = signs.jwk();
    encrypts["use"] = json!("enc");
    assert!(matches!(no(json!({"keys": [encrypts]})), NoKeys::None));
}

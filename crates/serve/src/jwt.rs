//! Signed tokens (RFC 7519) of an issuer whose public keys the settings name. Pure: the keys are handed in, the time is the system's.
//! What a token's own head says is believed in one thing only: which of these keys to try. A key knows its algorithms, so a token
//! that names another one, none, or one of shared secrets is refused.

use agentctl_base::strict_json;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde_json::{Map, Value};

/// Longer tokens are not looked at, in bytes.
const MAX_TOKEN: usize = 16 * 1024;
/// Clocks differ, in seconds.
const LEEWAY: u64 = 60;
/// Longer subjects and tenants are refused, in characters.
const MAX_CLAIM: usize = 200;

const RSA: &[Algorithm] = &[
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
];

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum NoKeys {
    #[error("it is no JSON Web Key Set (RFC 7517): {0}")]
    NotASet(String),
    #[error("the key {0} is a shared secret: public keys alone may stand there")]
    Secret(String),
    #[error("the key {0} cannot be used: {1}")]
    Key(String, String),
    #[error("there is no key for signatures in it")]
    None,
}

/// Who a token speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub name: String,
    /// As the claim of the settings says; None: the settings name no claim.
    pub tenant: Option<String>,
}

/// One issuer's tokens for this server.
pub struct Jwt {
    keys: Vec<Key>,
    issuer: String,
    audience: String,
    tenant_claim: Option<String>,
}

struct Key {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

impl std::fmt::Debug for Jwt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Jwt({}, {} keys)", self.issuer, self.keys.len())
    }
}

impl Jwt {
    /// `jwks`: the text of a JSON Web Key Set; `tenant_claim`: the claim that says for which tenant a token speaks.
    pub fn new(
        jwks: &str,
        issuer: &str,
        audience: &str,
        tenant_claim: Option<&str>,
    ) -> Result<Jwt, NoKeys> {
        let set = serde_json::from_str::<JwkSet>(jwks);
        let set = set.map_err(|e| NoKeys::NotASet(e.to_string()))?;
        let signs = |jwk: &Jwk| {
            let usage = jwk.common.public_key_use.as_ref();
            usage.is_none_or(|usage| *usage == PublicKeyUse::Signature)
        };
        let keys = set.keys.iter().filter(|jwk| signs(jwk)).map(read);
        let keys = keys.collect::<Result<Vec<Key>, NoKeys>>()?;
        if keys.is_empty() {
            return Err(NoKeys::None);
        }
        Ok(Jwt {
            keys,
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            tenant_claim: tenant_claim.map(str::to_owned),
        })
    }

    /// None: the token is not one of this issuer for this server, or not now.
    pub fn subject(&self, token: &str) -> Option<Subject> {
        if token.len() > MAX_TOKEN {
            return None;
        }
        let head = head(token)?;
        // What must be understood and is not (RFC 7515, 4.1.11).
        if head.contains_key("crit") {
            return None;
        }
        let named: Algorithm = serde_json::from_value(head.get("alg")?.clone()).ok()?;
        let key = match head.get("kid") {
            Some(kid) => {
                let kid = kid.as_str()?;
                self.keys.iter().find(|key| key.id.as_deref() == Some(kid))
            }
            None => match self.keys.as_slice() {
                [only] => Some(only),
                _ => None,
            },
        }?;
        if !key.algorithms.contains(&named) {
            return None;
        }
        let mut rules = Validation::new(named);
        rules.leeway = LEEWAY;
        rules.validate_nbf = true;
        rules.set_issuer(&[&self.issuer]);
        rules.set_audience(&[&self.audience]);
        rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let claims = decode::<Map<String, Value>>(token, &key.key, &rules).ok()?;
        let text = |name: &str| {
            let text = claims.claims.get(name)?.as_str()?;
            let fits = !text.trim().is_empty()
                && text.chars().count() <= MAX_CLAIM
                && !text.chars().any(char::is_control);
            fits.then(|| text.to_owned())
        };
        // A list of issuers that names the right one among others is not the right one.
        if text("iss")? != self.issuer {
            return None;
        }
        let tenant = match &self.tenant_claim {
            Some(claim) => Some(text(claim)?),
            None => None,
        };
        Some(Subject {
            name: text("sub")?,
            tenant,
        })
    }
}

/// The head, read strictly: readers differ on which of two keys of one name counts.
fn head(token: &str) -> Option<Map<String, Value>> {
    let (head, _) = token.split_once('.')?;
    let bytes = URL_SAFE_NO_PAD.decode(head).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    match strict_json::value(&text, 4).ok()? {
        Value::Object(head) => Some(head),
        _ => None,
    }
}

fn read(jwk: &Jwk) -> Result<Key, NoKeys> {
    let id = jwk.common.key_id.clone();
    let shown = || id.clone().unwrap_or_else(|| "without an id".to_owned());
    let unusable = |why: &str| NoKeys::Key(shown(), why.to_owned());
    let of_kind: Vec<Algorithm> = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => RSA.to_vec(),
        AlgorithmParameters::EllipticCurve(params) => match params.curve {
            EllipticCurve::P256 => vec![Algorithm::ES256],
            EllipticCurve::P384 => vec![Algorithm::ES384],
            _ => return Err(unusable("its curve is not P-256 or P-384")),
        },
        AlgorithmParameters::OctetKeyPair(params) => match params.curve {
            EllipticCurve::Ed25519 => vec![Algorithm::EdDSA],
            _ => return Err(unusable("its curve is not Ed25519")),
        },
        AlgorithmParameters::OctetKey(_) => return Err(NoKeys::Secret(shown())),
    };
    let algorithms: Vec<Algorithm> = match jwk.common.key_algorithm {
        None => of_kind,
        Some(only) => {
            let fits = |known: &Algorithm| format!("{known:?}") == only.to_string();
            of_kind.into_iter().filter(fits).collect()
        }
    };
    if algorithms.is_empty() {
        return Err(unusable("its `alg` is not one of its kind of key"));
    }
    let key = DecodingKey::from_jwk(jwk).map_err(|e| NoKeys::Key(shown(), e.to_string()))?;
    Ok(Key {
        id,
        algorithms,
        key,
    })
}

#[cfg(test)]
#[path = "jwt_tests.rs"]
mod tests;

//! Who may come in: the clients of the settings, each known by a password, a token or a signed token. Pure: secrets are handed in,
//! and only their digests are kept.

use crate::jws::MessageKeys;
use crate::jwt::{Jwt, Subject};
use crate::reads::Reads;
use agentctl_mcp::serve::Rate;
use agentctl_sessions::Tenants;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, HeaderMap};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A secret's digest: what is compared, and all that is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    pub fn new(text: &str) -> Secret {
        Secret(Sha256::digest(text.as_bytes()).into())
    }

    /// Takes as long for a wrong text as for the right one: whole digests are compared.
    fn is(&self, other: &Secret) -> bool {
        let pairs = self.0.iter().zip(other.0);
        let differs = pairs.fold(0, |acc, (a, b)| acc | (a ^ b));
        std::hint::black_box(differs) == 0
    }
}

/// What a client may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum May {
    /// Send messages.
    Turn,
    /// Read runs and conversations.
    Read,
    /// Approve what a run wants to do.
    Approve,
    /// Cancel runs.
    Cancel,
    /// Erase conversations.
    Admin,
    /// Look at the runs that commands of the project began: what its owner sees of them.
    Oversee,
}

impl May {
    pub const ALL: [(May, &'static str); 6] = [
        (May::Turn, "turn"),
        (May::Read, "read"),
        (May::Approve, "approve"),
        (May::Cancel, "cancel"),
        (May::Admin, "admin"),
        (May::Oversee, "oversee"),
    ];

    pub fn named(name: &str) -> Option<May> {
        let mut all = May::ALL.into_iter();
        all.find(|(_, known)| *known == name).map(|(may, _)| may)
    }

    pub fn name(self) -> &'static str {
        let mut all = May::ALL.into_iter();
        all.find(|(may, _)| *may == self)
            .map_or("", |(_, name)| name)
    }
}

/// How a client is known.
#[derive(Debug, Clone)]
pub enum How {
    /// User and password, as one text `user:password`.
    Basic(Secret),
    Bearer(Secret),
    /// By tokens that an issuer signed, each for one subject.
    Jwt(Arc<Jwt>),
}

impl How {
    pub fn basic(user: &str, password: &str) -> How {
        How::Basic(Secret::new(&format!("{user}:{password}")))
    }

    pub fn bearer(token: &str) -> How {
        How::Bearer(Secret::new(token))
    }

    pub fn name(&self) -> &'static str {
        match self {
            How::Basic(_) => "basic",
            How::Bearer(_) => "bearer",
            How::Jwt(_) => "jwt",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Client {
    /// As in the settings; of a caller with a signed token `NAME/SUBJECT`.
    pub name: String,
    pub how: How,
    /// The packs that it reaches; None: all that are served.
    pub packs: Option<BTreeSet<String>>,
    /// The tenants for which it may speak, `*`: any; None: none but itself, and its conversations are nobody else's.
    pub tenants: Option<Vec<String>>,
    pub may: BTreeSet<May>,
    /// Origins of pages that may call in its name.
    pub origins: Vec<String>,
    pub rate: Rate,
    pub reads: Reads,
    /// What its messages are signed with; None: a signature cannot be checked.
    pub keys: Option<Arc<MessageKeys>>,
}

impl Client {
    /// Its name in the settings.
    pub fn settings(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// The same for one subject of its issuer: what it begins is its own, unless a tenant is spoken for. None: the token names a tenant that
    /// the client may not speak for.
    fn of_subject(&self, subject: &Subject) -> Option<Client> {
        let tenants = match &subject.tenant {
            None => self.tenants.clone(),
            Some(tenant) => {
                let known = self.tenants.as_ref().is_none_or(|tenants| {
                    tenants.iter().any(|known| known == "*" || known == tenant)
                });
                let is_name = tenant != "*" && !tenant.starts_with(OWN);
                (known && is_name).then(|| Some(vec![tenant.clone()]))?
            }
        };
        Some(Client {
            // A subject's own slashes and colons separate nothing.
            name: format!("{}/{}", self.name, escaped(&subject.name)),
            tenants,
            ..self.clone()
        })
    }

    /// Whether nothing is done for it without a signature.
    pub fn must_sign(&self) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.is_required())
    }

    pub fn reaches(&self, pack: &str) -> bool {
        self.packs.as_ref().is_none_or(|packs| packs.contains(pack))
    }

    /// The tenant that a conversation of this client belongs to, where the request says `claimed`. None: it may not speak for that one.
    pub fn tenant(&self, claimed: Option<&str>) -> Option<String> {
        let claimed = claimed.filter(|tenant| !tenant.trim().is_empty());
        match (&self.tenants, claimed) {
            // A colon stands in no name of a client, so nobody else's tenant is called so.
            (None, None) => Some(format!("{OWN}{}", self.name)),
            (None, Some(claimed)) => Some(format!("{OWN}{}:{claimed}", self.name)),
            (Some(tenants), None) => match tenants.as_slice() {
                [one] if one != "*" => Some(one.clone()),
                _ => None,
            },
            (Some(tenants), Some(claimed)) => {
                let any = tenants.iter().any(|t| t == "*") && !claimed.starts_with(OWN);
                (any || tenants.iter().any(|t| t == claimed)).then(|| claimed.to_owned())
            }
        }
    }

    /// Whose conversations are read to list the client's; `owns` says of each whether it is.
    pub fn sees(&self) -> Tenants {
        match self.tenants.as_deref() {
            None => Tenants::Below(format!("{OWN}{}", self.name)),
            Some([one]) if one != "*" => Tenants::One(one.clone()),
            Some(_) => Tenants::All,
        }
    }

    /// Whether conversations of this tenant are the client's to see.
    pub fn owns(&self, tenant: &str) -> bool {
        let own = format!("{OWN}{}", self.name);
        match &self.tenants {
            None => {
                let rest = tenant.strip_prefix(&own);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
            }
            Some(tenants) => {
                tenants.iter().any(|t| t == tenant)
                    || (tenants.iter().any(|t| t == "*") && !tenant.starts_with(OWN))
            }
        }
    }
}

/// The client in whose name a worker of a Restate server does what it is handed out; a client of `serve` that is called so sees its
/// conversations.
pub const RESTATE: &str = "restate";

/// Whether Restate hands out the turns of this tenant: it hands them out again where a worker died, and nobody else settles them.
pub(crate) fn is_handed_out(tenant: &str) -> bool {
    tenant.strip_prefix(OWN) == Some(RESTATE)
}

/// Before the name of a client in that of a tenant that is nobody else's.
const OWN: &str = "client:";

/// Every byte that is not a letter, a digit or one of `-_.@` as `%XX`.
fn escaped(text: &str) -> String {
    let each = text.bytes().map(|byte| match byte {
        b'-' | b'_' | b'.' | b'@' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    each.collect()
}

#[derive(Debug, Clone, Default)]
pub struct Clients {
    all: Vec<Arc<Client>>,
}

impl Clients {
    pub fn new(all: Vec<Client>) -> Clients {
        Clients {
            all: all.into_iter().map(Arc::new).collect(),
        }
    }

    pub fn all(&self) -> &[Arc<Client>] {
        &self.all
    }

    /// The client whose one Authorization header this is. Every client is compared, so the time tells nothing.
    pub fn admit(&self, headers: &HeaderMap) -> Option<Arc<Client>> {
        let shown = shown(headers)?;
        let mut found = None;
        for client in &self.all {
            let is = match (&client.how, &shown) {
                (How::Basic(kept), Shown::Basic(given)) => kept.is(given),
                (How::Bearer(kept), Shown::Bearer(given, _)) => kept.is(given),
                (How::Jwt(issuer), Shown::Bearer(_, token)) => {
                    let subject = issuer.subject(token);
                    let caller = subject.and_then(|subject| client.of_subject(&subject));
                    found = found.or_else(|| caller.map(Arc::new));
                    false
                }
                _ => false,
            };
            if is && found.is_none() {
                found = Some(Arc::clone(client));
            }
        }
        found
    }

    /// What a 401 says of how to come in.
    pub fn challenges(&self) -> Vec<&'static str> {
        let has = |name| self.all.iter().any(|client| client.how.name() == name);
        let mut challenges = Vec::new();
        if has("basic") {
            challenges.push("Basic realm=\"agentctl\", charset=\"UTF-8\"");
        }
        if has("bearer") || has("jwt") {
            challenges.push("Bearer realm=\"agentctl\"");
        }
        challenges
    }

    pub fn may_page(&self, origin: &str) -> bool {
        let mut all = self.all.iter();
        all.any(|client| client.origins.iter().any(|known| known == origin))
    }
}

enum Shown {
    Basic(Secret),
    /// With the token itself.
    Bearer(Secret, String),
}

/// What a request shows; None: nothing, two headers (readers differ on which counts), or what is none of the two schemes.
fn shown(headers: &HeaderMap) -> Option<Shown> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (all.next(), all.next()) else {
        return None;
    };
    let (scheme, given) = only.to_str().ok()?.split_once(' ')?;
    let given = given.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        let is_token = !given.is_empty() && given.bytes().all(|b| b.is_ascii_graphic());
        return is_token.then(|| Shown::Bearer(Secret::new(given), given.to_owned()));
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(given).ok()?).ok()?;
    let is_pair = text.contains(':') && !text.chars().any(char::is_control);
    is_pair.then(|| Shown::Basic(Secret::new(&text)))
}

#[cfg(test)]
#[path = "clients_tests.rs"]
mod tests;

//! The clients of the settings, made into those of the server: each with its one secret, and what it may.

use super::{LOCAL, MIN_TOKEN, PER_MINUTE, TOKEN_VARIABLE, Token};
use crate::cli::error::CliError;
use crate::cli::runtime::block_on;
use crate::config::serve as written;
use agentctl_base::canonical::sha256_hex;
use agentctl_engine::nearest::nearest;
use agentctl_host::files::read_regular_text;
use agentctl_models::provider::{KeyError, KeySource};
use agentctl_serve::{Client, How, Jwt, May, MessageKeys, Rate, Reads};
use indexmap::IndexMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;

/// Whoever has the token: from the environment, or a new one.
pub(super) fn local() -> Result<(Client, Token), CliError> {
    let (text, token) = match std::env::var(TOKEN_VARIABLE) {
        Ok(text) if text.len() >= MIN_TOKEN && text.bytes().all(|b| b.is_ascii_graphic()) => {
            (text, Token::Given)
        }
        Ok(_) => {
            return Err(CliError::usage(format!(
                "{TOKEN_VARIABLE}: a token has {MIN_TOKEN} or more visible ASCII characters"
            )));
        }
        Err(_) => {
            // Three times 122 random bits, for 256.
            let random: Vec<u8> = (0..3)
                .flat_map(|_| *uuid::Uuid::new_v4().as_bytes())
                .collect();
            let text = sha256_hex(&random);
            (text.clone(), Token::New(text))
        }
    };
    let client = Client {
        name: LOCAL.to_owned(),
        how: How::bearer(&text),
        packs: None,
        tenants: None,
        may: May::ALL.into_iter().map(|(may, _)| may).collect(),
        origins: Vec::new(),
        rate: Rate::new(u32::MAX),
        reads: Reads::default(),
        keys: None,
    };
    Ok((client, token))
}

pub(super) fn of_settings(
    root: &Path,
    name: &str,
    client: &written::Client,
    reached: &[&str],
) -> Result<Client, CliError> {
    let place = &client.place;
    let wrong = |why: String| CliError::usage(format!("{place}: [serve.clients.{name}] {why}"));
    if !agentctl_engine::pack::is_name(name) {
        return Err(wrong(
            "the name of a client is of a-z, 0-9, - and _".to_owned(),
        ));
    }
    let mut packs = client.packs.iter().flat_map(|packs| packs.get_ref());
    if let Some(other) = packs.find(|pack| !reached.contains(&pack.as_str())) {
        let near = nearest(other, reached.iter().copied());
        return Err(wrong(format!("the pack {other:?} is not served"))
            .hint(format!("served: {}{near}", reached.join(", "))));
    }
    let may = match &client.may {
        None => BTreeSet::from([May::Turn, May::Read]),
        Some(named) => {
            let each = named.get_ref().iter().map(|word| {
                May::named(word).ok_or_else(|| {
                    let all: Vec<&str> = May::ALL.iter().map(|(_, name)| *name).collect();
                    wrong(format!("a client may {}, not {word:?}", all.join(", ")))
                })
            });
            each.collect::<Result<_, _>>()?
        }
    };
    let bearer = Held {
        env: client.bearer_env.as_deref(),
        file: client.bearer_file.as_deref(),
        command: client.bearer_command.as_deref(),
    };
    let how = match (&client.basic, bearer.is_none(), &client.jwt) {
        (None, true, Some(signed)) => jwt(signed, root).map_err(wrong)?,
        (Some(basic), true, None) => {
            if basic.user.is_empty() || basic.user.contains(':') {
                return Err(wrong(
                    "a user of Basic is a name without a colon".to_owned(),
                ));
            }
            How::basic(&basic.user, &password(name, basic, root).map_err(wrong)?)
        }
        (None, false, None) => {
            let what = format!("the token of the client {name:?}");
            let token = bearer.read(&what, root).map_err(wrong)?;
            if token.len() < MIN_TOKEN {
                return Err(wrong(format!("a token has {MIN_TOKEN} or more characters")));
            }
            How::bearer(&token)
        }
        _ => {
            return Err(wrong(
                "says once how it is known: basic, bearer_env, bearer_file, bearer_command or jwt"
                    .to_owned(),
            ));
        }
    };
    let keys = match &client.signature {
        Some(signature) => Some(Arc::new(message_keys(signature, root).map_err(wrong)?)),
        None => None,
    };
    let other = |may: &&May| !matches!(may, May::Turn | May::Read);
    if let Some(may) = may.iter().find(other)
        && keys.as_ref().is_some_and(|keys| keys.is_required())
    {
        let may = may.name();
        return Err(wrong(format!(
            "a client whose messages must be signed may turn and read; {may:?} goes through a door without signatures"
        )));
    }
    let origins = client.origins.iter().cloned();
    Ok(Client {
        name: name.to_owned(),
        how,
        packs: (client.packs.clone()).map(|packs| packs.into_inner().into_iter().collect()),
        tenants: client.tenants.clone().map(Spanned::into_inner),
        may,
        origins: origins.map(Spanned::into_inner).collect(),
        rate: Rate::new(per_minute(client)),
        reads: Reads::default(),
        keys,
    })
}

/// Requests a minute.
pub(super) fn per_minute(client: &written::Client) -> u32 {
    client
        .per_minute
        .as_ref()
        .map_or(PER_MINUTE, |n| *n.get_ref())
}

/// Error: two clients that nobody could tell from one another; at a request the first would count.
pub(super) fn apart(
    written: &IndexMap<String, Spanned<written::Client>>,
    clients: &[Client],
) -> Result<(), CliError> {
    let place = |name: &str| {
        written
            .get(name)
            .map_or("", |client| &client.get_ref().place)
    };
    let issuer = |name: &str| {
        let signed = written.get(name)?.get_ref().jwt.as_ref()?;
        Some((&signed.jwks_file, &signed.issuer, &signed.audience))
    };
    for (at, one) in clients.iter().enumerate() {
        for other in clients.iter().skip(at + 1) {
            let what = match (&one.how, &other.how) {
                (How::Basic(a), How::Basic(b)) if a == b => "user and password",
                (How::Bearer(a), How::Bearer(b)) if a == b => "token",
                (How::Jwt(_), How::Jwt(_)) if issuer(&one.name) == issuer(&other.name) => {
                    "issuer, audience and keys"
                }
                _ => continue,
            };
            return Err(CliError::usage(format!(
                "{}: [serve.clients.{}] has the same {what} as [serve.clients.{}] ({}): who shows them could be either",
                place(&other.name), other.name, one.name, place(&one.name)
            ))
            .hint("give each client its own, or make one client of both"));
        }
    }
    Ok(())
}

/// What holds a secret: a variable, a file, or what a program prints.
struct Held<'a> {
    env: Option<&'a str>,
    file: Option<&'a Path>,
    command: Option<&'a [String]>,
}

impl Held<'_> {
    fn is_none(&self) -> bool {
        self.env.is_none() && self.file.is_none() && self.command.is_none()
    }

    /// `what`: whose it is, for messages. Error: as a sentence.
    fn read(&self, what: &str, root: &Path) -> Result<String, String> {
        let named = [
            self.env.is_some(),
            self.file.is_some(),
            self.command.is_some(),
        ];
        if named.iter().filter(|named| **named).count() != 1 {
            return Err(format!(
                "{what} must be named once: by …_env, by …_file or by …_command"
            ));
        }
        let Some(words) = self.command else {
            return written::secret(what, self.env, self.file, root);
        };
        let source = KeySource::Command(words.to_vec());
        let key = block_on(source.key(&|_| None)).map_err(|e| e.message)?;
        let key = key.map_err(|why| match why {
            KeyError::Command { command, why } => format!("{what}: the command {command:?} {why}"),
            other => format!("{what}: {other}"),
        });
        Ok(key?.expose().to_owned())
    }
}

/// Longer files are no set of keys.
const MAX_JWKS: u64 = 256 * 1024;

fn jwt(signed: &written::Signed, root: &Path) -> Result<How, String> {
    if signed.issuer.trim().is_empty() || signed.audience.trim().is_empty() {
        return Err("jwt needs the issuer and the audience that its tokens name".to_owned());
    }
    let path = root.join(&signed.jwks_file);
    let of_file = |why: String| format!("jwt: {}: {why}", path.display());
    let text = read_regular_text(&path, MAX_JWKS).map_err(|e| of_file(e.to_string()))?;
    let claim = signed.tenant_claim.as_deref();
    let jwt = Jwt::new(&text, &signed.issuer, &signed.audience, claim);
    Ok(How::Jwt(Arc::new(jwt.map_err(|e| of_file(e.to_string()))?)))
}

fn message_keys(signature: &written::Signature, root: &Path) -> Result<MessageKeys, String> {
    let path = root.join(&signature.keys_file);
    let of_file = |why: String| format!("signature: {}: {why}", path.display());
    let text = read_regular_text(&path, MAX_JWKS).map_err(|e| of_file(e.to_string()))?;
    let keys = MessageKeys::new(&text, signature.required).map_err(|e| of_file(e.to_string()))?;
    if keys.holds_a_secret() {
        written::nobody_elses(&path).map_err(of_file)?;
    }
    Ok(keys)
}

/// Error: as a sentence.
pub(super) fn password(name: &str, basic: &written::Basic, root: &Path) -> Result<String, String> {
    let what = format!("the password of the client {name:?}");
    let held = Held {
        env: basic.password_env.as_deref(),
        file: basic.password_file.as_deref(),
        command: basic.password_command.as_deref(),
    };
    held.read(&what, root)
}

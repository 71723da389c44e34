//! `[serve]`: where the server listens, what it serves and to whom. Secrets do not stand here: what holds each one does.

use super::{ConfigError, Lines, Origin};
use agentctl_base::plain_http::is_loopback;
use agentctl_host::home::variable;
use agentctl_host::reach::Addresses;
use indexmap::IndexMap;
use serde::Deserialize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use toml::Spanned;
use url::Url;

/// The settings of `agentctl serve`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    /// `ADDRESS:PORT`.
    pub listen: Option<String>,
    /// The address by which others reach it, where that is another than `listen`.
    pub public_url: Option<Spanned<String>>,
    /// None: the built-in pack, and every one that says `channels` in its pack.yaml.
    pub packs: Option<Spanned<Vec<String>>>,
    pub max_turns_at_once: Option<Spanned<u64>>,
    /// Seconds.
    pub turn_timeout: Option<Spanned<u64>>,
    /// Seconds.
    pub drain: Option<Spanned<u64>>,
    /// Something before it speaks TLS with the callers.
    #[serde(default)]
    pub behind_proxy: bool,
    /// It speaks TLS itself.
    pub tls: Option<TlsFiles>,
    /// A page to talk to each pack.
    #[serde(default)]
    pub page: bool,
    /// A page of the runs: `/ui`.
    #[serde(default)]
    pub ui: bool,
    /// Whose tools `/mcp` serves; None: there is no such door.
    pub mcp: Option<McpTools>,
    /// Cards of A2A carry a signature of the user's card key.
    #[serde(default)]
    pub sign_cards: bool,
    /// Of the user's own file alone: what of this machine and of private networks clients may have told of their tasks.
    #[serde(default)]
    pub push_addresses: Vec<Spanned<String>>,
    /// `[a2a] v0_3`: A2A 0.3 is spoken, too.
    #[serde(skip)]
    pub v0_3: bool,
    #[serde(default)]
    pub clients: IndexMap<String, Spanned<Client>>,
}

/// PEM files, read once, when the server starts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The server's certificate, then those that lead to the authority.
    pub cert: PathBuf,
    /// Mode 0600.
    pub key: PathBuf,
}

/// As `agentctl mcp serve` has them as flags.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpTools {
    pub role: String,
    pub workflow: Option<String>,
    #[serde(default)]
    pub scope: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// `FILE:LINE`, for what is said about it.
    #[serde(skip)]
    pub place: String,
    pub basic: Option<Basic>,
    pub bearer_env: Option<String>,
    pub bearer_file: Option<PathBuf>,
    /// A program and its arguments; it prints the token.
    pub bearer_command: Option<Vec<String>>,
    pub jwt: Option<Signed>,
    pub packs: Option<Spanned<Vec<String>>>,
    pub tenants: Option<Spanned<Vec<String>>>,
    pub may: Option<Spanned<Vec<String>>>,
    pub per_minute: Option<Spanned<u32>>,
    /// Each as browsers write it.
    #[serde(default)]
    pub origins: Vec<Spanned<String>>,
    pub signature: Option<Signature>,
}

/// Signatures of a client's messages by the envelope.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// A JSON Web Key Set: public keys, or secrets that are shared (mode 0600). Read once, when the server starts.
    pub keys_file: PathBuf,
    /// Nothing is done for the client without a signature.
    #[serde(default)]
    pub required: bool,
}

/// Tokens that an issuer signed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// A JSON Web Key Set: the issuer's public keys. Read once, when the server starts.
    pub jwks_file: PathBuf,
    pub issuer: String,
    /// What a token for this server names.
    pub audience: String,
    /// The claim that says for which tenant a token speaks.
    pub tenant_claim: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Basic {
    pub user: String,
    pub password_env: Option<String>,
    pub password_file: Option<PathBuf>,
    /// A program and its arguments; it prints the password.
    pub password_command: Option<Vec<String>>,
}

/// Longer than a day nobody waits for a reply; it also keeps sums of times from running over.
const MOST_SECONDS: u64 = 24 * 60 * 60;
/// As many callers are served at once.
const MOST_TURNS: u64 = 4096;

impl Serve {
    /// `file`: its name in what is said.
    ///
    /// Errors: an address that is none, or that a project lists; a number with which nothing could be done; an empty list; a public address
    /// that is none or that is not safe; a page that is named by no origin.
    pub(super) fn checked(
        mut self,
        lines: &Lines<'_>,
        origin: Origin,
        file: &str,
    ) -> Result<Serve, ConfigError> {
        self.addresses(lines, origin)?;
        for (name, number, range) in [
            ("max_turns_at_once", &self.max_turns_at_once, 1..=MOST_TURNS),
            ("turn_timeout", &self.turn_timeout, 1..=MOST_SECONDS),
            ("drain", &self.drain, 0..=MOST_SECONDS),
        ] {
            within(lines, &format!("[serve] {name}"), number.as_ref(), &range)?;
        }
        some(lines, "[serve] packs", self.packs.as_ref())?;
        if let Some(url) = &self.public_url {
            public(url.get_ref()).map_err(|why| {
                lines.error(url.span().start, format!("[serve] public_url {why}"))
            })?;
        }
        for (name, client) in &mut self.clients {
            let line = lines.of(client.span().start);
            let client = client.get_mut();
            client.place = format!("{file}:{line}");
            client.check(&format!("[serve.clients.{name}]"), lines)?;
        }
        Ok(self)
    }

    fn addresses(&self, lines: &Lines<'_>, origin: Origin) -> Result<(), ConfigError> {
        for address in &self.push_addresses {
            let at = address.span().start;
            if origin == Origin::Project {
                let message = "[serve] push_addresses stands in your own config.toml, not in a project's agentctl.toml: a project does not say which addresses of your network others may reach";
                return Err(lines.error(at, message));
            }
            Addresses::of([address.get_ref().as_str()])
                .map_err(|e| lines.error(at, e.to_string()))?;
        }
        Ok(())
    }

    /// Reads the names of files as those of a folder, where they are not whole.
    pub(super) fn files_of(&mut self, folder: &Path) {
        let tls = self.tls.iter_mut();
        let tls = tls.flat_map(|tls| [&mut tls.cert, &mut tls.key]);
        let clients = self.clients.values_mut().map(Spanned::get_mut);
        let of_clients = clients.flat_map(|client| {
            let basic = client.basic.as_mut();
            let jwt = client.jwt.as_mut().map(|jwt| &mut jwt.jwks_file);
            let signature = client.signature.as_mut();
            let files = [
                basic.and_then(|basic| basic.password_file.as_mut()),
                client.bearer_file.as_mut(),
                jwt,
                signature.map(|signature| &mut signature.keys_file),
            ];
            files.into_iter().flatten()
        });
        for file in tls.chain(of_clients) {
            *file = folder.join(&file);
        }
    }

    /// The addresses that were checked when they were read.
    pub fn pushed_to(&self) -> Addresses {
        let written = self.push_addresses.iter();
        Addresses::of(written.map(|address| address.get_ref().as_str())).unwrap_or_default()
    }

    /// The user's own settings under those of a project.
    #[must_use]
    pub fn over(self, user: Serve) -> Serve {
        let mut clients = user.clients;
        // A client that the user described is the user's: a project cannot put its own in that place.
        for (name, client) in self.clients {
            clients.entry(name).or_insert(client);
        }
        Serve {
            listen: self.listen.or(user.listen),
            public_url: self.public_url.or(user.public_url),
            packs: self.packs.or(user.packs),
            max_turns_at_once: self.max_turns_at_once.or(user.max_turns_at_once),
            turn_timeout: self.turn_timeout.or(user.turn_timeout),
            drain: self.drain.or(user.drain),
            behind_proxy: self.behind_proxy || user.behind_proxy,
            tls: self.tls.or(user.tls),
            page: self.page || user.page,
            ui: self.ui || user.ui,
            mcp: self.mcp.or(user.mcp),
            sign_cards: self.sign_cards || user.sign_cards,
            v0_3: self.v0_3 || user.v0_3,
            push_addresses: user.push_addresses,
            clients,
        }
    }
}

impl Client {
    /// Writes its origins as browsers do. `what`: whose settings these are, for messages.
    fn check(&mut self, what: &str, lines: &Lines<'_>) -> Result<(), ConfigError> {
        for (name, list) in [
            ("packs", &self.packs),
            ("tenants", &self.tenants),
            ("may", &self.may),
        ] {
            some(lines, &format!("{what} {name}"), list.as_ref())?;
        }
        let limit = self.per_minute.as_ref();
        let limit = limit.map(|n| Spanned::new(n.span(), u64::from(*n.get_ref())));
        let range = 1..=u64::from(u32::MAX);
        within(lines, &format!("{what} per_minute"), limit.as_ref(), &range)?;
        for written in &mut self.origins {
            let known = page(written.get_ref()).map_err(|why| {
                lines.error(written.span().start, format!("{what} origins: {why}"))
            })?;
            *written.get_mut() = known;
        }
        Ok(())
    }
}

/// A number with which something can be done.
fn within(
    lines: &Lines<'_>,
    what: &str,
    number: Option<&Spanned<u64>>,
    range: &RangeInclusive<u64>,
) -> Result<(), ConfigError> {
    let Some(number) = number.filter(|number| !range.contains(number.get_ref())) else {
        return Ok(());
    };
    let (least, most) = (range.start(), range.end());
    let told = format!(
        "{what} is a number from {least} to {most}, not {}; without it the default counts",
        number.get_ref()
    );
    Err(lines.error(number.span().start, told))
}

/// A list in which something stands.
fn some(
    lines: &Lines<'_>,
    what: &str,
    list: Option<&Spanned<Vec<String>>>,
) -> Result<(), ConfigError> {
    let Some(list) = list else {
        return Ok(());
    };
    let why = match list.get_ref().as_slice() {
        [] => "is an empty list, so nothing could ever be done; without it the default counts",
        all if all.iter().any(|name| name.trim().is_empty()) => "has an empty name in it",
        _ => return Ok(()),
    };
    Err(lines.error(list.span().start, format!("{what} {why}")))
}

/// The address by which others reach the server. Error: as a sentence's end.
pub fn public(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(Url::has_host);
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(url) = url else {
        return Err(format!(
            "is an address that begins with https://, not {text:?}; write \"https://NAME\""
        ));
    };
    if url.scheme() == "http" && !is_loopback(&url) {
        return Err(format!(
            "{text:?} is without TLS: passwords and messages would go over the wire as they are; write it with https://"
        ));
    }
    let is_bare = url.username().is_empty() && url.password().is_none();
    match is_bare && url.query().is_none() && url.fragment().is_none() {
        true => Ok(url),
        // What stands in it may be a password.
        false => Err("holds no user, no password, no ? and no #".to_owned()),
    }
}

/// The origin of a page, as browsers write it. Error: as a sentence.
fn page(text: &str) -> Result<String, String> {
    let url = Url::parse(text).ok().filter(Url::has_host);
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    let url = url.filter(|url| matches!(url.path(), "" | "/"));
    let url = url.filter(|url| url.username().is_empty() && url.password().is_none());
    match url.filter(|url| url.query().is_none() && url.fragment().is_none()) {
        Some(url) => Ok(url.origin().ascii_serialization()),
        None if text == "*" => Err(
            "\"*\" would let every page call in this client's name; name each, like \"https://chat.example.com\""
                .to_owned(),
        ),
        None => Err(format!(
            "{text:?} is no origin of a page; write it as browsers do, like \"https://chat.example.com\""
        )),
    }
}

/// A secret where the settings say it is. `what`: whose, for messages.
///
/// Errors: it is named twice or nowhere, the variable is not set, the file is not to be read or others may read it.
pub fn secret(
    what: &str,
    env: Option<&str>,
    file: Option<&Path>,
    root: &Path,
) -> Result<String, String> {
    let text = match (env, file) {
        (Some(name), None) => variable(name)
            .ok_or_else(|| format!("{what} is in the variable {name}, which is not set"))?,
        (None, Some(file)) => {
            let path = root.join(file);
            let text = private(&path, MAX_SECRET);
            text.map_err(|why| format!("{what} is in {}: {why}", path.display()))?
        }
        _ => return Err(format!("{what} must be named once: by …_env or by …_file")),
    };
    let text = text.trim_end_matches(['\r', '\n']);
    match text.is_empty() || text.chars().any(char::is_control) {
        true => Err(format!("{what} is empty, or has control characters in it")),
        false => Ok(text.to_owned()),
    }
}

const MAX_SECRET: u64 = 4096;

/// The text of a file that nobody else may read. Error: as a sentence's end.
pub fn private(path: &Path, most: u64) -> Result<String, String> {
    let text = agentctl_host::files::read_regular_text(path, most);
    let text = text.map_err(|e| e.to_string())?;
    nobody_elses(path)?;
    Ok(text)
}

/// That nobody else may read the file. Error: as a sentence's end.
#[cfg(unix)]
pub fn nobody_elses(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    let found = std::fs::metadata(path).map_err(|e| e.to_string())?;
    let mode = found.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(format!("others may read it (mode {mode:o}); chmod 600 it")),
    }
}
#[cfg(not(unix))]
pub fn nobody_elses(_: &Path) -> Result<(), String> {
    Ok(())
}

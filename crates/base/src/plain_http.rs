//! Where a key may go: over https anywhere, over plain http only to this machine, or to a place that the user's own settings name
//! (`[trust] plain_http`). Pure. A project's file never decides it.

use url::{Host, Url};

/// Places that the user allowed for plain http, by host and port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlainHttp {
    places: Vec<(String, u16)>,
}

/// A key that would be readable on its way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is not sent to {place} over plain http: whoever is on the way could read it")]
pub struct Readable {
    /// What would be sent, e.g. `the n8n API key`.
    pub what: String,
    /// `host:port`.
    pub place: String,
}

impl Readable {
    /// What to do.
    pub fn hint(&self) -> String {
        format!(
            "use https; or, if that network is yours alone, write into your own settings (agentctl/config.toml in ~/.config, or $AGENTCTL_CONFIG): [trust] plain_http = [\"{}\"]",
            self.place
        )
    }
}

impl PlainHttp {
    /// Each entry is `host:port`. Err says what is wrong with the first that is not.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let places = entries.into_iter().map(place).collect::<Result<_, _>>()?;
        Ok(PlainHttp { places })
    }

    /// Whether a key may go to this address. `what` says which, for the refusal.
    pub fn check(&self, what: &str, url: &Url) -> Result<(), Readable> {
        if url.scheme() == "https" || is_loopback(url) {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let port = url.port_or_known_default().unwrap_or_default();
        let there = (host, port);
        if url.scheme() == "http" && self.places.contains(&there) {
            return Ok(());
        }
        let (host, port) = there;
        Err(Readable {
            what: what.to_owned(),
            place: format!("{host}:{port}"),
        })
    }
}

/// `host:port`, as an address has them.
fn place(entry: &str) -> Result<(String, u16), String> {
    let wrong = || {
        format!(
            "`plain_http` lists places as host:port, e.g. \"n8n.lan:5678\"; {entry:?} is none (no scheme, no path, no `*`)"
        )
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    let digits = entry.rsplit(':').next().unwrap_or_default();
    let port: u16 = digits.parse().map_err(|_| wrong())?;
    if !entry.chars().all(plain) || port == 0 {
        return Err(wrong());
    }
    let url = Url::parse(&format!("http://{entry}/")).map_err(|_| wrong())?;
    match url.host_str() {
        Some(host) if url.port_or_known_default() == Some(port) => Ok((host.to_owned(), port)),
        _ => Err(wrong()),
    }
}

/// True for an address on this machine. A name counts only when it is `localhost` itself: a name below it is asked of a name
/// server on many systems, and that may answer what it likes.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn only_this_machine_is_this_machine() {
        for ours in [
            "http://localhost",
            "http://LOCALHOST:5678/x",
            "http://127.0.0.1",
            "http://127.9.9.9:1",
            "http://127.1",
            "http://2130706433",
            "http://0x7f.1",
            "http://[::1]:2",
        ] {
            assert!(is_loopback(&url(ours)), "{ours}");
        }
        for other in [
            "http://localhost.evil.example",
            "http://localhost.",
            "http://x.localhost",
            "http://127.0.0.1.nip.io",
            "http://127.0.0.1@evil.example",
            "http://0.0.0.0",
            "http://[::]",
            "http://[::ffff:127.0.0.1]",
            "http://10.0.0.1",
            "http://localhost%2eevil.example",
        ] {
            assert!(!is_loopback(&url(other)), "{other}");
        }
    }

    #[test]
    fn a_key_goes_over_https_to_this_machine_or_to_a_place_that_is_named() {
        let own = PlainHttp::new(["n8n.lan:5678", "[fd00::1]:80", "10.0.0.7:80"]).unwrap();
        let says = |text: &str| {
            own.check("the key", &url(text))
                .map_err(|e| (e.to_string(), e.hint()))
        };
        for good in [
            "https://far.example",
            "http://localhost:5678",
            "http://N8N.lan:5678/api/v1",
            "http://[fd00::1]/",
            "http://10.0.0.7",
        ] {
            assert_eq!(says(good), Ok(()), "{good}");
        }
        for bad in [
            "http://n8n.lan",
            "http://n8n.lan:5679",
            "http://sub.n8n.lan:5678",
            "http://n8n.lan.:5678",
            "http://n8n.lan:5678@evil.example",
            "http://10.0.0.70",
            "ftp://n8n.lan:5678",
        ] {
            assert!(says(bad).is_err(), "{bad}");
        }
        let (message, hint) = says("http://far.example/x?k=secret").unwrap_err();
        assert_eq!(
            message,
            "the key is not sent to far.example:80 over plain http: whoever is on the way could read it"
        );
        assert!(
            hint.ends_with("[trust] plain_http = [\"far.example:80\"]"),
            "{hint}"
        );
    }

    #[test]
    fn a_place_is_a_host_and_a_port() {
        for odd in [
            "",
            "*",
            "*:5678",
            "n8n.lan",
            "http://n8n.lan:5678",
            "n8n.lan:0",
            "n8n.lan:99999",
            "n8n.lan:5678/x",
            "u@n8n.lan:5678",
            ":5678",
            "fd00::1",
        ] {
            assert!(PlainHttp::new([odd]).is_err(), "{odd}");
        }
    }
}

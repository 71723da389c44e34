//! Who may come in over HTTP: the caller that has the token, that called this server by its loopback name, and that is no page of
//! a browser. Pure.

use hyper::header::{HOST, HeaderMap, ORIGIN};
use hyper::{StatusCode, Uri};
use sha2::{Digest, Sha256};

/// A shorter token could be guessed.
const MIN_TOKEN: usize = 32;
const MAX_TOKEN: usize = 1024;

/// The token's digest: what is compared, and all that is kept.
#[derive(Clone)]
pub struct Token([u8; 32]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token has {MIN_TOKEN} to {MAX_TOKEN} visible ASCII characters")]
pub struct WeakToken;

impl Token {
    pub fn new(text: &str) -> Result<Self, WeakToken> {
        let fits = (MIN_TOKEN..=MAX_TOKEN).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits {
            Ok(Token(digest(text)))
        } else {
            Err(WeakToken)
        }
    }

    /// Takes as long for a wrong token as for a right one: whole digests are compared, without an early end.
    fn is(&self, text: &str) -> bool {
        let other = digest(text);
        let differs = self
            .0
            .iter()
            .zip(other)
            .fold(0, |acc, (a, b)| acc | (a ^ b));
        std::hint::black_box(differs) == 0
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Why a request does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shut {
    pub status: StatusCode,
    pub why: &'static str,
}

/// Looks at a request's head. `port`: the one that the server listens on.
pub(super) fn admit(uri: &Uri, headers: &HeaderMap, port: u16, token: &Token) -> Result<(), Shut> {
    let shut = |status, why| Err(Shut { status, why });
    let ours = |authority: &str| {
        authority.rsplit_once(':').is_some_and(|(host, given)| {
            given.parse() == Ok(port)
                && (host == "127.0.0.1"
                    || host == "[::1]"
                    || host.eq_ignore_ascii_case("localhost"))
        })
    };
    let only = |name| {
        let mut all = headers.get_all(name).iter();
        match (all.next(), all.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    };
    // A page that had its name resolved to this machine (DNS rebinding) still calls it by that name.
    let named = only(HOST).is_some_and(ours);
    if !named
        || uri
            .authority()
            .is_some_and(|authority| !ours(authority.as_str()))
    {
        return shut(
            StatusCode::MISDIRECTED_REQUEST,
            "call this server as 127.0.0.1 or localhost, with its port",
        );
    }
    // Only browsers send it, and no page of one is a client.
    if headers.contains_key(ORIGIN) {
        return shut(
            StatusCode::FORBIDDEN,
            "calls from web pages are not accepted",
        );
    }
    let given = only(hyper::header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    match given {
        Some(given) if token.is(given) => Ok(()),
        _ => shut(
            StatusCode::UNAUTHORIZED,
            "a bearer token is needed, and this is not it",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "0123456789abcdef0123456789abcdef";

    fn came(headers: &[(&'static str, &str)], uri: &str) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        match admit(
            &uri.parse().unwrap(),
            &map,
            8137,
            &Token::new(RIGHT).unwrap(),
        ) {
            Ok(()) => 200,
            Err(shut) => shut.status.as_u16(),
        }
    }

    #[test]
    fn only_the_token_opens() {
        let host = ("host", "127.0.0.1:8137");
        let bearer = format!("Bearer {RIGHT}");
        assert_eq!(came(&[host, ("authorization", &bearer)], "/mcp"), 200);
        for wrong in [
            RIGHT.to_owned(),
            format!("Basic {RIGHT}"),
            format!("Bearer {RIGHT}x"),
            format!("Bearer {}", &RIGHT[1..]),
            "Bearer ".to_owned(),
        ] {
            assert_eq!(
                came(&[host, ("authorization", &wrong)], "/mcp"),
                401,
                "{wrong}"
            );
        }
        assert_eq!(came(&[host], "/mcp"), 401);
        // Two tokens: parsers differ on which counts.
        let twice = [
            host,
            ("authorization", bearer.as_str()),
            ("authorization", "Bearer x"),
        ];
        assert_eq!(came(&twice, "/mcp"), 401);
    }

    #[test]
    fn only_loopback_names_with_the_port_are_this_server() {
        let bearer = format!("Bearer {RIGHT}");
        let by = |host: &str| came(&[("host", host), ("authorization", &bearer)], "/mcp");
        for ours in [
            "127.0.0.1:8137",
            "localhost:8137",
            "LocalHost:8137",
            "[::1]:8137",
        ] {
            assert_eq!(by(ours), 200, "{ours}");
        }
        for other in [
            "evil.example:8137",
            "127.0.0.1",
            "127.0.0.1:81",
            "127.0.0.1.evil.example:8137",
            "localhost.evil.example:8137",
            "x@localhost:8137",
            "0.0.0.0:8137",
            "",
        ] {
            assert_eq!(by(other), 421, "{other}");
        }
        assert_eq!(came(&[("authorization", &bearer)], "/mcp"), 421);
        let host = ("host", "127.0.0.1:8137");
        assert_eq!(came(&[host, host, ("authorization", &bearer)], "/mcp"), 421);
        assert_eq!(
            came(
                &[host, ("authorization", &bearer)],
                "http://evil.example/mcp"
            ),
            421
        );
    }

    #[test]
    fn a_page_of_a_browser_stays_out() {
        let bearer = format!("Bearer {RIGHT}");
        let host = ("host", "127.0.0.1:8137");
        for origin in ["https://evil.example", "null", "http://127.0.0.1:8137"] {
            let headers = [host, ("origin", origin), ("authorization", bearer.as_str())];
            assert_eq!(came(&headers, "/mcp"), 403, "{origin}");
        }
    }

    #[test]
    fn a_weak_token_is_none() {
        assert!(Token::new(&"a".repeat(31)).is_err());
        assert!(Token::new(&format!("{RIGHT} ")).is_err());
        assert!(Token::new(&"a".repeat(2000)).is_err());
    }
}

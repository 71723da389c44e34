//! Where a request may go. A name is resolved once, what it resolves to is judged, and the request goes to that address and no other:
//! a name that changes its mind in between changes nothing. Redirects are not followed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use url::{Host, Url};

/// What of this machine and of private networks the user allows: addresses, `address:port`, networks (`10.1.0.0/16`), and names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Addresses {
    listed: Vec<Allowed>,
    /// Where the user went by a word of their own. It lets nobody see credentials.
    gone_to: Vec<Allowed>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Allowed {
    Network(IpAddr, u8, Option<u16>),
    Name(String, Option<u16>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAddress(pub String);

impl std::fmt::Display for BadAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} is no address, no network and no name; write 127.0.0.1, 127.0.0.1:8080, 10.1.0.0/16 or a host's name",
            self.0
        )
    }
}
impl std::error::Error for BadAddress {}

impl Addresses {
    /// # Errors
    /// When one is neither an address nor a network nor a name.
    pub fn of<'a>(written: impl IntoIterator<Item = &'a str>) -> Result<Addresses, BadAddress> {
        let all = written
            .into_iter()
            .map(|text| allowed(text.trim()).ok_or_else(|| BadAddress(text.to_owned())));
        let listed = all.collect::<Result<_, _>>()?;
        Ok(Addresses {
            listed,
            gone_to: Vec::new(),
        })
    }

    /// The same with the host and port of a URL that the user typed, or wrote into settings of their own: wherever that is, they go
    /// there. Credentials go along over plain http only to this machine itself.
    #[must_use]
    pub fn and(mut self, url: &Url) -> Addresses {
        let port = url.port_or_known_default();
        let host = url.host_str().unwrap_or_default();
        let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        self.gone_to.push(match ip {
            Some(ip) => whole(ip, port),
            None => Allowed::Name(host.to_owned(), port),
        });
        self
    }

    fn allows(&self, host: &str, address: SocketAddr) -> bool {
        is_among(&self.listed, host, address) || is_among(&self.gone_to, host, address)
    }

    /// Whether credentials may go there over plain http.
    fn allows_plain(&self, host: &str, address: SocketAddr) -> bool {
        is_among(&self.listed, host, address)
            || plain(address.ip()).is_loopback() && is_among(&self.gone_to, host, address)
    }
}

fn is_among(all: &[Allowed], host: &str, address: SocketAddr) -> bool {
    let ip = plain(address.ip());
    let port = address.port();
    all.iter().any(|allowed| match allowed {
        Allowed::Network(net, bits, of) => {
            of.is_none_or(|p| p == port) && is_within(ip, *net, *bits)
        }
        Allowed::Name(name, of) => of.is_none_or(|p| p == port) && name.eq_ignore_ascii_case(host),
    })
}

fn whole(ip: IpAddr, port: Option<u16>) -> Allowed {
    let ip = plain(ip);
    Allowed::Network(ip, if ip.is_ipv4() { 32 } else { 128 }, port)
}

fn allowed(text: &str) -> Option<Allowed> {
    if let Some((net, bits)) = text.split_once('/') {
        let net: IpAddr = net.parse().ok()?;
        let bits: u8 = bits.parse().ok()?;
        let most = if net.is_ipv4() { 32 } else { 128 };
        return (bits <= most).then(|| Allowed::Network(plain(net), bits, None));
    }
    if let Ok(ip) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Some(whole(ip, None));
    }
    if let Ok(at) = text.parse::<SocketAddr>() {
        return Some(whole(at.ip(), Some(at.port())));
    }
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) => (name, Some(port.parse().ok()?)),
        None => (text, None),
    };
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let named = name.chars().any(|c| c.is_ascii_alphabetic()) && name.chars().all(good);
    named.then(|| Allowed::Name(name.to_owned(), port))
}

fn is_within(ip: IpAddr, net: IpAddr, bits: u8) -> bool {
    match (ip, net) {
        (IpAddr::V4(ip), IpAddr::V4(net)) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            u32::from(ip) & mask == u32::from(net) & mask
        }
        (IpAddr::V6(ip), IpAddr::V6(net)) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            u128::from(ip) & mask == u128::from(net) & mask
        }
        _ => false,
    }
}

/// An IPv4 address that is written as one of IPv6 is that IPv4 address.
fn plain(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = ip else { return ip };
    let [a, b, c, _, _, _, g, h] = six.segments();
    // ::ffff:0:0/96, ::/96, 64:ff9b::/96 and 2002::/16 carry an IPv4 address.
    let low = || Ipv4Addr::from((u32::from(g) << 16) | u32::from(h));
    if let Some(four) = six.to_ipv4_mapped() {
        return four.into();
    }
    let upper = u128::from(six) >> 32;
    if upper == 0 && u128::from(six) > 1 || upper == (0x0064_ff9b_u128 << 64) {
        return low().into();
    }
    if a == 0x2002 {
        return Ipv4Addr::from((u32::from(b) << 16) | u32::from(c)).into();
    }
    ip
}

/// Whether everybody on the internet means the same place by it.
fn is_public(ip: IpAddr) -> bool {
    match plain(ip) {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

/// By IANA's registry of special addresses.
fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_documentation()
        || ip.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19)))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    // Only 2000::/3 is given out; of it 2001:db8::/32 (documents), 2001::/23 (protocols) and 3fff::/20 (documents) are not.
    (a & 0xe000) == 0x2000
        && !(a == 0x2001 && (b == 0x0db8 || b < 0x0200))
        && !(a == 0x3fff && b < 0x1000)
}

/// Why a request may not be made, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoWay {
    /// The name has no address, or nobody could be asked for it.
    Unknown(String),
    Forbidden(String),
}

impl std::fmt::Display for NoWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoWay::Unknown(why) | NoWay::Forbidden(why) => f.write_str(why),
        }
    }
}
impl std::error::Error for NoWay {}

/// The one address that requests to this URL go to. `secret`: credentials go along, which over plain http only a listed address gets.
///
/// # Errors
/// Why none may be made.
pub async fn way(url: &Url, allow: &Addresses, secret: bool) -> Result<SocketAddr, NoWay> {
    let host = url.host_str().unwrap_or_default();
    if !matches!(url.scheme(), "http" | "https") {
        let why = format!("the address is not http or https but {}", url.scheme());
        return Err(NoWay::Forbidden(why));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let why = "the address holds a user's name; credentials come from variables of their own";
        return Err(NoWay::Forbidden(why.to_owned()));
    }
    let found = resolved(url).await.map_err(NoWay::Unknown)?;
    let at = judged(url, &found, allow).map_err(NoWay::Forbidden)?;
    if url.scheme() != "https" && secret && !allow.allows_plain(host, at) {
        let why = format!("credentials would go to {host} without https");
        return Err(NoWay::Forbidden(why));
    }
    Ok(at)
}

/// A client that reaches this one address, follows nothing and asks no proxy. How long it may take is its user's to say.
pub fn client(url: &Url, at: SocketAddr) -> reqwest::ClientBuilder {
    crate::http::client()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .resolve(url.host_str().unwrap_or_default(), at)
        .connect_timeout(CONNECT)
}

/// Seconds within which a server takes a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// # Errors
/// Why it may not go there, in words.
fn judged(url: &Url, found: &[SocketAddr], allow: &Addresses) -> Result<SocketAddr, String> {
    let host = url.host_str().unwrap_or_default();
    let Some(first) = found.first() else {
        return Err(format!("the name {host:?} has no address"));
    };
    // A name with one forbidden address is not half good.
    match found
        .iter()
        .find(|at| !is_public(at.ip()) && !allow.allows(host, **at))
    {
        None => Ok(*first),
        Some(at) => {
            // A host that is an address itself is not told twice.
            let written = host.trim_matches(['[', ']']) == at.ip().to_string();
            let is = match written {
                true => format!("{host} is"),
                false => format!("{host} is {} here,", at.ip()),
            };
            Err(format!(
                "{is} an address of this machine or of a private network"
            ))
        }
    }
}

/// Why no request may go to a host that is written as an address, as far as that can be said without looking up a name.
pub fn refused(url: &Url, allow: &Addresses) -> Option<String> {
    let ip = match url.host()? {
        Host::Ipv4(ip) => IpAddr::V4(ip),
        Host::Ipv6(ip) => IpAddr::V6(ip),
        Host::Domain(name) if name.eq_ignore_ascii_case("localhost") => {
            IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)
        }
        Host::Domain(_) => return None,
    };
    let at = SocketAddr::new(ip, url.port_or_known_default().unwrap_or(0));
    judged(url, &[at], allow).err()
}

/// The addresses of a URL's host, looked up once.
///
/// # Errors
/// When the name has none.
async fn resolved(url: &Url) -> Result<Vec<SocketAddr>, String> {
    let port = url.port_or_known_default().unwrap_or(0);
    match url.host() {
        Some(Host::Ipv4(ip)) => Ok(vec![SocketAddr::new(ip.into(), port)]),
        Some(Host::Ipv6(ip)) => Ok(vec![SocketAddr::new(ip.into(), port)]),
        Some(Host::Domain(name)) => {
            let found = tokio::net::lookup_host((name, port)).await;
            let found = found.map_err(|e| format!("the name {name:?} cannot be resolved: {e}"))?;
            Ok(found.collect())
        }
        None => Err("the address has no host".to_owned()),
    }
}

/// What came of reading an answer's body.
pub enum Body {
    Whole(Vec<u8>),
    /// It is packed, or larger than allowed.
    Unreadable(String),
    Lost(reqwest::Error),
}

/// Reads a body of so many bytes at most; nobody asked for a packed one.
pub async fn body(mut response: reqwest::Response, max_bytes: u64) -> Body {
    let packed = response.headers().get(reqwest::header::CONTENT_ENCODING);
    if packed.is_some_and(|how| how != "identity") {
        return Body::Unreadable("the answer is packed, which was not asked for".to_owned());
    }
    let mut body: Vec<u8> = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Body::Whole(body),
            Ok(Some(chunk)) => {
                let length = body.len().saturating_add(chunk.len());
                if u64::try_from(length).unwrap_or(u64::MAX) > max_bytes {
                    let why = format!("the answer is larger than {max_bytes} bytes");
                    return Body::Unreadable(why);
                }
                body.extend_from_slice(&chunk);
            }
            Err(e) => return Body::Lost(e),
        }
    }
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod reach_tests;

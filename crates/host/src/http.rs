//! Where every HTTP client begins: the one place that names the cryptography of TLS. What a client may do (redirects,
//! proxies, times) is said where it is used.

use std::sync::Once;

/// Certificates are checked by the machine's own trust store, as reqwest does it.
#[expect(
    clippy::disallowed_methods,
    reason = "the place that clippy.toml names"
)]
pub fn client() -> reqwest::ClientBuilder {
    provide();
    reqwest::Client::builder()
}

/// Names ring for the whole process, once; to be called before a library makes a client of its own.
pub fn provide() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Err: the program around this library has named one before, and its word counts.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
}

//! TLS: a connection is spoken over once its handshake is done. Which versions and ciphers are offered is rustls' choice; HTTP/1.1 is
//! all that is spoken inside. Pure: certificate and key are handed in.

use agentctl_mcp::serve::listen::{Wire, Wires};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, crypto::ring};
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum NoTls {
    #[error(
        "there is no certificate in it: it must be PEM, the server's own first, then those that lead to the authority"
    )]
    Certificate,
    #[error(
        "there is no private key in it: it must be PEM, PKCS#8, PKCS#1 or SEC1, without a passphrase"
    )]
    Key,
    #[error("certificate and key do not fit: {0}")]
    Pair(#[from] rustls::Error),
}

/// Speaks TLS with whoever comes.
pub struct Tls(TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(…)")
    }
}

impl Tls {
    /// `cert`: a chain in PEM, the server's certificate first; `key`: its private key in PEM.
    pub fn new(cert: &str, key: &str) -> Result<Tls, NoTls> {
        let chain = CertificateDer::pem_slice_iter(cert.as_bytes()).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|_| NoTls::Certificate)?;
        if chain.is_empty() {
            return Err(NoTls::Certificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| NoTls::Key)?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?;
        let mut config = config.with_no_client_auth().with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls(TlsAcceptor::from(Arc::new(config))))
    }
}

impl Wires for Tls {
    async fn wire(&self, stream: TcpStream) -> io::Result<Box<dyn Wire>> {
        Ok(Box::new(self.0.accept(stream).await?))
    }
}

//! TLS, by a client that knows the certificate.

use super::support::{Desk, Got, LONG, MANIFEST, TOKEN, two};
use agentctl_serve::{NoTls, Tls};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

fn pem(what: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {what}-----\n{text}\n-----END {what}-----\n")
}

fn pair() -> (String, String, RootCertStore) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let key = pem("PRIVATE KEY", &signing_key.serialize_der());
    (pem("CERTIFICATE", cert.der()), key, roots)
}

async fn desk(cert: &str, key: &str, token: Duration) -> Desk {
    let tls = Tls::new(cert, key).unwrap();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let change = |limits: &mut agentctl_serve::Limits| limits.of_connections.token = token;
    Desk::over(tls, MANIFEST, folder, two(), change, |server| server).await
}

#[tokio::test]
async fn a_caller_that_knows_the_certificate_is_answered_inside_of_tls() {
    let (cert, key, roots) = pair();
    let desk = desk(&cert, &key, LONG).await;
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(desk.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect(name, stream).await.unwrap();
    let asked = format!(
        "GET /v1/models HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\r\n",
        desk.address
    );
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // Whether the end was said in TLS too is no matter here.
    let _ = stream.read_to_end(&mut answer).await;
    let got = Got::read(&answer);
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(got.json()["data"][0]["id"], "desk");
}

#[tokio::test]
async fn who_speaks_plain_http_or_never_ends_the_handshake_is_cut_off() {
    let (cert, key, _) = pair();
    let desk = desk(&cert, &key, Duration::from_millis(300)).await;
    let mut plain = desk.begin("GET", "/healthz", &[], b"").await;
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    let begun = Instant::now();
    let mut silent = TcpStream::connect(desk.address).await.unwrap();
    let mut answer = Vec::new();
    let _ = silent.read_to_end(&mut answer).await;
    assert!(begun.elapsed() < Duration::from_secs(8), "{begun:?}");
}

#[test]
fn what_is_no_certificate_or_no_key_is_told() {
    let (cert, key, _) = pair();
    let (_, other, _) = pair();
    assert!(matches!(Tls::new("", &key), Err(NoTls::Certificate)));
    assert!(matches!(Tls::new(&key, &key), Err(NoTls::Certificate)));
    assert!(matches!(Tls::new(&cert, &cert), Err(NoTls::Key)));
    assert!(matches!(Tls::new(&cert, &other), Err(NoTls::Pair(_))));
    assert!(Tls::new(&format!("{cert}{key}"), &key).is_ok());
}

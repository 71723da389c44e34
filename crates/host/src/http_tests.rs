use super::http::client;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::{TlsAcceptor, rustls};

/// A server that answers one request over TLS, and the certificate that it shows.
async fn server() -> (SocketAddr, Vec<u8>) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let shown = cert.der().to_vec();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key.into())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // A client that refuses the certificate hangs up here.
        if let Ok(mut stream) = TlsAcceptor::from(Arc::new(config)).accept(stream).await {
            let mut request = [0; 1024];
            drop(stream.read(&mut request).await);
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
            stream.write_all(answer).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    (address, shown)
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

fn url(address: SocketAddr) -> String {
    format!("https://localhost:{}/", address.port())
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_in_words() {
    runtime().block_on(async {
        let (address, _) = server().await;
        let client = client().no_proxy().build().unwrap();
        let error = client.get(url(address)).send().await.unwrap_err();
        let mut deepest: &dyn Error = &error;
        while let Some(source) = deepest.source() {
            deepest = source;
        }
        assert!(error.is_connect());
        assert_eq!(
            deepest.to_string(),
            "invalid peer certificate: UnknownIssuer"
        );
    });
}

#[test]
fn a_certificate_that_is_known_is_taken() {
    runtime().block_on(async {
        let (address, shown) = server().await;
        let known = reqwest::Certificate::from_der(&shown).unwrap();
        let client = client().no_proxy().tls_certs_only([known]).build().unwrap();
        let answer = client.get(url(address)).send().await.unwrap();
        assert_eq!(answer.text().await.unwrap(), "hello");
    });
}

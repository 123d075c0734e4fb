//! TLS from outside: certificates from files, both protocols, renewal without a restart, and what is
//! refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use lamina_auth::{Minter, trust_file};
use lamina_env::disk::write_atomic;
use lamina_env::{Disk, RealDisk, SystemRng};
use lamina_sim::client::Deadline;
use lamina_sim::process::{self, Server};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::certificate::Certificate;
use crate::harness::{binary, data, directory, launch};

impl Certificate {
    /// Writes both files, the key for its owner only.
    fn put(&self, directory: &Path) -> (PathBuf, PathBuf) {
        let paths = (directory.join("cert.pem"), directory.join("key.pem"));
        write_atomic(&RealDisk, &paths.0, self.pem.as_bytes()).unwrap();
        write_atomic(&RealDisk, &paths.1, self.key.as_bytes()).unwrap();
        paths
    }

    /// A connection that trusts this certificate only.
    async fn connect(&self, server: &Server, protocols: &[&[u8]]) -> std::io::Result<Secured> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(self.der.clone())).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let socket = TcpStream::connect(server.address()).await?;
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, socket).await
    }
}

type Secured = TlsStream<TcpStream>;

fn start(directory: &TempDir, files: &(PathBuf, PathBuf), environment: &[(&str, &str)]) -> Server {
    launch(directory.path(), environment)
        .argument("--tls-cert")
        .argument(files.0.to_str().unwrap())
        .argument("--tls-key")
        .argument(files.1.to_str().unwrap())
        .start()
        .unwrap()
}

fn spoken(stream: &Secured) -> Option<String> {
    let name = stream.get_ref().1.alpn_protocol()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

fn health(address: std::net::SocketAddr) -> http::Request<Empty<Bytes>> {
    let uri = format!("https://{address}/v1/health");
    http::Request::get(uri).header("host", address.to_string()).body(Empty::new()).unwrap()
}

async fn ask_http1(stream: Secured, server: &Server) -> (u16, Bytes) {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let response = sender.send_request(health(server.address())).await.unwrap();
    let status = response.status().as_u16();
    (status, response.into_body().collect().await.unwrap().to_bytes())
}

async fn ask_http2(stream: Secured, server: &Server) -> (u16, Bytes) {
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let response = sender.send_request(health(server.address())).await.unwrap();
    let status = response.status().as_u16();
    (status, response.into_body().collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn both_protocols_are_spoken_over_tls_and_the_client_chooses() {
    let directory = directory();
    let certificate = Certificate::new();
    let files = certificate.put(directory.path());
    let server = start(&directory, &files, &[]);
    assert!(server.printed().contains(&format!("listening on https://{}", server.address())));

    let stream = certificate.connect(&server, &[b"h2", b"http/1.1"]).await.unwrap();
    assert_eq!(spoken(&stream).as_deref(), Some("h2"));
    assert_eq!(ask_http2(stream, &server).await.0, 200);
    let stream = certificate.connect(&server, &[b"http/1.1"]).await.unwrap();
    assert_eq!(spoken(&stream).as_deref(), Some("http/1.1"));
    assert_eq!(ask_http1(stream, &server).await.0, 200);
    let stream = certificate.connect(&server, &[]).await.unwrap();
    assert_eq!(spoken(&stream), None);
    let (status, body) = ask_http1(stream, &server).await;
    assert_eq!((status, body.first()), (200, Some(&b'{')));

    // Nothing is answered in the clear.
    let client = server.client().patient_for(Duration::from_secs(5));
    let clear = client.send_raw(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(clear.is_err(), "{clear:?}");
    assert!(server.stop().unwrap().success());
}

#[tokio::test]
async fn sighup_reads_a_renewed_certificate_and_a_bad_one_changes_nothing() {
    let directory = directory();
    let (old, new) = (Certificate::new(), Certificate::new());
    let files = old.put(directory.path());
    let server = start(&directory, &files, &[]);
    let kept = old.connect(&server, &[b"http/1.1"]).await.unwrap();
    new.connect(&server, &[]).await.expect_err("not the new one yet");

    // A certificate whose key does not fit.
    write_atomic(&RealDisk, &files.0, new.pem.as_bytes()).unwrap();
    server.hang_up().unwrap();
    until_logged(&server, "the certificate was not changed").await;
    old.connect(&server, &[]).await.unwrap();

    new.put(directory.path());
    server.hang_up().unwrap();
    until_logged(&server, "the certificate was read again").await;
    let stream = new.connect(&server, &[]).await.unwrap();
    assert_eq!(ask_http1(stream, &server).await.0, 200);
    old.connect(&server, &[]).await.expect_err("the old one is gone");
    assert_eq!(ask_http1(kept, &server).await.0, 200, "an open connection stays");
    assert!(!server.logged().contains("PRIVATE KEY"));
    assert!(server.stop().unwrap().success());
}

async fn until_logged(server: &Server, text: &str) {
    let deadline = Deadline::after(Duration::from_secs(20));
    while !server.logged().contains(text) {
        assert!(!deadline.passed(), "{text}:\n{}", server.logged());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Behind a proxy it is right, so it is no reason not to start.
#[test]
fn serving_other_machines_in_the_clear_is_warned_of() {
    let directory = directory();
    let minter = Minter::generate("https://issuer.test", &SystemRng).unwrap();
    let keys = directory.path().join("keys.json");
    let text = trust_file(minter.iss(), std::slice::from_ref(minter.public()));
    write_atomic(&RealDisk, &keys, text.as_bytes()).unwrap();
    let files = Certificate::new().put(directory.path());
    let team = [("LAMINA_PRESET", "cloud_private"), ("LAMINA_TRUST", keys.to_str().unwrap())];
    let tls = [
        ("LAMINA_TLS_CERT", files.0.to_str().unwrap()),
        ("LAMINA_TLS_KEY", files.1.to_str().unwrap()),
    ];
    let logged = |listen: &str, environment: &[(&str, &str)]| {
        let launch = launch(directory.path(), environment).argument("--listen").argument(listen);
        let server = launch.start().unwrap();
        let deadline = Deadline::after(Duration::from_secs(20));
        while !server.logged().contains("ready") {
            assert!(!deadline.passed(), "{}", server.logged());
            std::thread::sleep(Duration::from_millis(10));
        }
        let logged = server.logged();
        assert!(server.stop().unwrap().success());
        logged
    };
    let warning = "TLS is not configured";
    assert!(logged("0.0.0.0:0", &team).contains(warning));
    assert!(!logged("127.0.0.1:0", &team).contains(warning));
    assert!(!logged("0.0.0.0:0", &[team, tls].concat()).contains(warning));
}

/// Without a certificate to read again, `SIGHUP` is an orderly end.
#[test]
fn sighup_without_tls_ends_the_server_in_order() {
    let directory = directory();
    let mut server = launch(directory.path(), &[]).start().unwrap();
    server.hang_up().unwrap();
    assert!(server.wait().unwrap().success());
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_cut_off() {
    let directory = directory();
    let certificate = Certificate::new();
    let files = certificate.put(directory.path());
    let limits =
        [("LAMINA_LIMITS_HANDSHAKE_TIMEOUT_MS", "300"), ("LAMINA_LIMITS_CONNECTIONS", "1")];
    let server = start(&directory, &files, &limits);
    let mut silent = TcpStream::connect(server.address()).await.unwrap();
    // It holds the only place; the next one is served as soon as it is cut off.
    let stream = certificate.connect(&server, &[b"http/1.1"]).await.unwrap();
    assert_eq!(ask_http1(stream, &server).await.0, 200);
    assert_eq!(silent.read(&mut [0; 16]).await.unwrap_or(0), 0);
}

/// The handshake is done and then nothing comes: the place is given up all the same.
#[tokio::test]
async fn a_connection_that_asks_for_nothing_is_cut_off() {
    let directory = directory();
    let certificate = Certificate::new();
    let files = certificate.put(directory.path());
    let server = start(&directory, &files, &[("LAMINA_LIMITS_HEADER_TIMEOUT_MS", "300")]);
    for protocols in [[b"http/1.1".as_slice()], [b"h2"]] {
        let mut stream = certificate.connect(&server, &protocols).await.unwrap();
        let mut rest = Vec::new();
        let end = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest));
        // How it ends, with or without a farewell, is not promised.
        let _ = end.await.expect("the server lets go");
    }
}

#[test]
fn files_that_cannot_be_used_stop_the_start() {
    let directory = directory();
    let certificate = Certificate::new();
    let (cert, key) = certificate.put(directory.path());
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());
    let home = data(directory.path());
    let serve = |arguments: &[&str]| {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--data", home.to_str().unwrap()];
        all.extend_from_slice(arguments);
        let output = process::run(&binary(), &all).unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!text.contains("PRIVATE KEY"), "{text}");
        (output.status.code(), text)
    };
    let (code, text) = serve(&["--tls-cert", cert]);
    assert_eq!(code, Some(64), "{text}");
    assert!(text.contains("`tls.key`"), "{text}");
    let (code, text) = serve(&["--tls-cert", cert, "--tls-key", "/nowhere/key.pem"]);
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("/nowhere/key.pem"), "{text}");
    let (code, text) = serve(&["--tls-cert", key, "--tls-key", key]);
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("no certificate"), "{text}");

    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(key, open).unwrap();
    let (code, text) = serve(&["--tls-cert", cert, "--tls-key", key]);
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("chmod 600"), "{text}");
    assert!(!RealDisk.exists(&home), "nothing was made before the files were read");
}

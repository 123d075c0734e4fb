//! Exports that are sent: by HTTPS to hosts that the operator has named, with a credential that only the
//! operator knows.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::time::Duration;

use lamina_env::disk::write_atomic;
use lamina_env::{Disk, RealDisk};
use lamina_sim::client::Deadline;
use serde_json::{Value, json};

use super::inflate;
use crate::certificate::Certificate;
use crate::harness::{Api, Own, SOON, directory, launch, string};

/// A PUT as it arrived.
#[derive(Debug)]
struct Stored {
    head: String,
    body: Vec<u8>,
}

/// An HTTPS server that takes one PUT and answers with a status.
fn store(certificate: &Certificate, status: &'static str) -> (SocketAddr, mpsc::Receiver<Stored>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (told, heard) = mpsc::channel();
    let config = certificate.server_config();
    std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let session = rustls::ServerConnection::new(config).unwrap();
        let mut stream = rustls::StreamOwned::new(session, socket);
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.and_then(|text| text.parse().ok()).unwrap_or(0)];
        stream.read_exact(&mut body).unwrap();
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).unwrap();
        stream.flush().unwrap();
        told.send(Stored { head, body }).unwrap();
    });
    (address, heard)
}

/// A server that may send to this address.
fn sender(certificate: &Certificate, address: SocketAddr) -> Own {
    let directory = directory();
    let ca = directory.path().join("ca.pem");
    write_atomic(&RealDisk as &dyn Disk, &ca, certificate.pem.as_bytes()).unwrap();
    let secret = directory.path().join("archive.token");
    write_atomic(&RealDisk as &dyn Disk, &secret, b"Bearer s3cr3t-credential\n").unwrap();
    let host = format!("localhost:{}", address.port());
    let credentials = format!("archive={}", secret.display());
    let environment = [
        ("LAMINA_EXPORT_DESTINATIONS", host.as_str()),
        ("LAMINA_OUTBOUND_CA", ca.to_str().unwrap()),
        ("LAMINA_TRANSFER_CREDENTIALS", credentials.as_str()),
    ];
    let server = launch(directory.path(), &environment).start().unwrap();
    Own { server, directory }
}

/// Waits until an export is over.
fn ended(api: &mut Api, job: &Value) -> Value {
    let deadline = Deadline::after(SOON);
    loop {
        let status = api.get(&format!("/v1/export/{}", string(job, "export_id"))).ok(200);
        if status["status"] != "running" {
            return status;
        }
        assert!(!deadline.passed(), "{status}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ask(api: &mut Api, url: &str, credential: Option<&str>) -> Value {
    let place = json!({"kind": "url", "url": url, "credentials_ref": credential});
    json!({"scope": api.scope, "destination": place})
}

#[test]
fn export_is_put_to_a_named_host_with_its_credential() {
    let certificate = Certificate::new();
    let (address, stored) = store(&certificate, "200 OK");
    let own = sender(&certificate, address);
    let mut api = own.api("export-sent");
    api.write_settled("hello from afar");
    let url = format!("https://localhost:{}/in/a.jsonl?signature=t0psecret", address.port());
    let body = ask(&mut api, &url, Some("archive"));
    let job = api.post("/v1/export", &body).ok(202);
    assert_eq!(job["status"], "running");
    assert!(job["data"].is_null() && job["data_url"].is_null(), "{job}");
    let stored = stored.recv_timeout(SOON).unwrap();
    let done = ended(&mut api, &job);
    assert_eq!(done["status"], "completed", "{done}");
    assert!(stored.head.starts_with("PUT /in/a.jsonl?signature=t0psecret HTTP/1.1\r\n"));
    assert!(stored.head.contains("authorization: Bearer s3cr3t-credential\r\n"));
    assert!(stored.head.contains("content-type: application/x-ndjson\r\n"));
    assert_eq!(done["size_bytes"], stored.body.len());
    assert!(String::from_utf8(stored.body).unwrap().contains("hello from afar"));
    // Neither the signature nor the credential is told again.
    assert_eq!(done["destination"], format!("https://localhost:{}/in/a.jsonl", address.port()));
    let told = format!("{job} {done} {}", own.server.logged());
    assert!(!told.contains("t0psecret") && !told.contains("s3cr3t"), "{told}");
}

#[test]
fn name_that_ends_in_gz_is_compressed() {
    let certificate = Certificate::new();
    let (address, stored) = store(&certificate, "201 Created");
    let own = sender(&certificate, address);
    let mut api = own.api("export-gz");
    api.write_settled("hello");
    let url = format!("https://localhost:{}/a.jsonl.gz?x=1", address.port());
    let body = ask(&mut api, &url, None);
    let job = api.post("/v1/export", &body).ok(202);
    let stored = stored.recv_timeout(SOON).unwrap();
    assert_eq!(ended(&mut api, &job)["status"], "completed");
    let mut text = String::new();
    inflate(&stored.body).read_to_string(&mut text).unwrap();
    assert!(text.contains("hello"), "{text}");
}

#[test]
fn refusal_of_the_destination_is_the_end_of_the_export() {
    let certificate = Certificate::new();
    let (address, stored) = store(&certificate, "403 Forbidden");
    let own = sender(&certificate, address);
    let mut api = own.api("export-refused");
    api.write_settled("hello");
    let url = format!("https://localhost:{}/a.jsonl?signature=t0psecret", address.port());
    let body = ask(&mut api, &url, None);
    let job = api.post("/v1/export", &body).ok(202);
    stored.recv_timeout(SOON).unwrap();
    let failed = ended(&mut api, &job);
    assert_eq!(failed["status"], "failed");
    let message = string(&failed["error"], "message");
    assert!(message.contains("403") && !message.contains("localhost"), "{message}");
}

#[test]
fn only_named_hosts_and_credentials_are_used() {
    let certificate = Certificate::new();
    let (address, _) = store(&certificate, "200 OK");
    let own = sender(&certificate, address);
    let mut api = own.api("export-hosts");
    api.write_settled("hello");
    let port = address.port();
    for url in [
        format!("https://127.0.0.1:{port}/a"),
        format!("https://localhost:{}/a", port.wrapping_add(1)),
        format!("http://localhost:{port}/a"),
        format!("https://localhost:{port}@evil.example/a"),
        "https://169.254.169.254/latest".to_owned(),
        "s3://bucket/export.jsonl.gz".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let body = ask(&mut api, &url, None);
        api.post("/v1/export", &body).fails_at(422, "INVALID_BODY", "destination.url");
    }
    let body = ask(&mut api, &format!("https://localhost:{port}/a"), Some("nobody"));
    api.post("/v1/export", &body).fails_at(422, "INVALID_BODY", "destination.credentials_ref");
}

//! Secrets stay where they are: not in logs, not in answers, not on the command line, and not in
//! files that others can read.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};
use lamina_sim::client::{Deadline, Request};
use lamina_sim::process;
use tokio::net::TcpStream;

use crate::certificate::Certificate;
use crate::harness::{Own, SOON, binary, data, launch};

const TOKEN: &str = "v4.public.c2VjcmV0LXRva2VuLW9mLWEtdGVzdA";

/// Everything in the data directory that must not be seen elsewhere.
fn secrets_of(own: &Own) -> Vec<String> {
    let keys = data(own.directory.path()).join("keys");
    let names = RealDisk.list(&keys).unwrap();
    let secrets: Vec<String> = names
        .iter()
        .map(|name| String::from_utf8(read_file(&RealDisk, &keys.join(name), 4_096).unwrap()))
        .filter_map(|text| text.unwrap().split_whitespace().last().map(str::to_owned))
        .collect();
    assert!(secrets.len() >= 3 && secrets.iter().all(|key| key.len() == 64), "{secrets:?}");
    secrets
}

#[test]
fn nothing_secret_is_logged_even_when_everything_is() {
    let own = Own::start_with(&[("LAMINA_LOG", "trace")]);
    let mut api = own.api("secrets");
    let scope = api.scope.clone();
    let envelope = api.envelope("words of a person");
    for request in [
        Request::get("/v1/health"),
        Request::get(&format!("/v1/events?scope={scope}")),
        Request::get("/v1/nothing"),
        Request::post("/v1/experience", &envelope),
        Request::new("POST", "/v1/experience").bytes("not json"),
    ] {
        let answer = api.send(&request.header("Authorization", format!("Bearer {TOKEN}")));
        assert!(!answer.response.text().contains(TOKEN));
    }
    ask_by_http2(&own);
    let secrets = secrets_of(&own);
    let deadline = Deadline::after(SOON);
    while own.server.logged().matches("answered").count() < 6 {
        assert!(!deadline.passed(), "{}", own.server.logged());
        std::thread::sleep(Duration::from_millis(10));
    }
    let text = format!("{}{}", own.server.printed(), own.server.logged());
    assert!(text.contains("h2"), "the libraries log too");
    assert!(!text.contains(TOKEN), "a token is in the log");
    for secret in secrets {
        assert!(!text.contains(&secret), "a key is in the log");
    }
}

/// The library that reads HTTP/2 logs every frame.
fn ask_by_http2(own: &Own) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let socket = TcpStream::connect(own.server.address()).await.unwrap();
        let executor = TokioExecutor::new();
        let (mut sender, connection) =
            http2::handshake(executor, TokioIo::new(socket)).await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::get("http://localhost/v1/health")
            .header("authorization", format!("Bearer {TOKEN}"))
            .body(Empty::<Bytes>::new());
        let response = sender.send_request(request.unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
    });
}

#[test]
fn the_command_line_and_the_settings_take_files_and_no_secrets() {
    let help = process::run(&binary(), &["serve", "--help"]).unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    for line in help.lines().filter(|line| line.trim_start().starts_with("--")) {
        let secret = ["key", "token", "secret", "password"].iter().any(|word| line.contains(word));
        assert!(!secret || line.contains("<FILE>"), "{line}");
    }
    let directory = crate::harness::directory();
    let certificate = Certificate::new();
    let path = directory.path().join("key.pem");
    write_atomic(&RealDisk, &path, certificate.key.as_bytes()).unwrap();
    let path = path.to_str().unwrap();
    let shown =
        process::run(&binary(), &["config", "--data", "x", "--tls-cert", path, "--tls-key", path]);
    let shown = shown.unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(path), "{shown}");
    assert!(!shown.contains("PRIVATE KEY"), "{shown}");
}

#[test]
fn keys_that_others_can_read_stop_the_start() {
    let directory = Own::start().stop();
    let keys = data(directory.path()).join("keys");
    let file = keys.join("log-signing");
    let set = |path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let refused = || launch(directory.path(), &[]).start().unwrap_err().to_string();
    set(&file, 0o644);
    assert!(refused().contains("chmod 600"), "{}", refused());
    set(&file, 0o600);
    set(&keys, 0o777);
    assert!(refused().contains("chmod 700"), "{}", refused());
    set(&keys, 0o700);
    assert!(launch(directory.path(), &[]).start().unwrap().stop().unwrap().success());
}

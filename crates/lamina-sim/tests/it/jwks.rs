//! Keys that are fetched: rotation, a provider that misbehaves or is not there, and what a stranger
//! can make the server do.

use std::net::TcpListener;
use std::time::Duration;

use lamina_env::disk::write_atomic;
use lamina_env::{Clock as _, RealDisk, SystemClock};
use lamina_sim::client::{Deadline, Request};
use lamina_sim::process::{self, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::certificate::Certificate;
use crate::harness::{Answer, binary, data, directory, launch, string};
use crate::provider::{Key, Provider, Says, encode, hs256, key_set};
use crate::tokens::Signed;

const ISS: &str = "https://id.test";

struct Believing {
    server: Server,
    _directory: TempDir,
}

impl Believing {
    /// A server that believes these issuers, by their key sets.
    fn start(issuers: &[(&str, &Provider)]) -> Believing {
        let list: Vec<String> =
            issuers.iter().map(|(iss, provider)| format!("{iss}={}", provider.url())).collect();
        let operators: Vec<String> =
            issuers.iter().map(|(iss, _)| format!("{iss}=acme/user:root")).collect();
        Believing::start_with(&[
            ("LAMINA_AUTH_JWKS", &list.join(",")),
            ("LAMINA_AUTH_OPERATORS", &operators.join(",")),
        ])
    }

    fn start_with(environment: &[(&str, &str)]) -> Believing {
        let directory = directory();
        let own = [("LAMINA_PRESET", "on_prem_enterprise")];
        let all: Vec<(&str, &str)> = own.iter().chain(environment).copied().collect();
        let server = launch(directory.path(), &all).start().unwrap();
        Believing { server, _directory: directory }
    }

    fn whoami(&self, token: String) -> Answer {
        Signed { client: self.server.client(), token }.get("/v1/auth/whoami")
    }

    /// Why a token is refused.
    #[track_caller]
    fn refused(&self, token: String) -> String {
        let error = self.whoami(token).fails(401, "INVALID_TOKEN_SIGNATURE");
        string(&error["details"], "reason")
    }

    #[track_caller]
    fn until_logged(&self, text: &str) {
        self.line_logged(&[text]);
    }

    /// The first line of the log with all of these. It may come a moment after the answer.
    #[track_caller]
    fn line_logged(&self, texts: &[&str]) -> String {
        let deadline = Deadline::after(Duration::from_secs(60));
        loop {
            let lines = self.server.logged();
            let found = lines.lines().find(|line| texts.iter().all(|text| line.contains(text)));
            if let Some(line) = found {
                return line.to_owned();
            }
            assert!(!deadline.passed(), "{texts:?}:\n{lines}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn keys_are_fetched_and_follow_a_rotation() {
    let (old, new) = (Key::new("1"), Key::new("2"));
    let provider = Provider::start(Says::Json(key_set(&[&old])));
    let server = Believing::start(&[(ISS, &provider)]);
    let token = old.token(ISS, "user:alice");
    let me = server.whoami(token.clone()).ok(200);
    assert_eq!((&me["caller"], &me["tenant_id"]), (&json!("user:alice"), &json!("acme")));
    assert_eq!(provider.asked(), 1);

    provider.say(Says::Json(key_set(&[&new])));
    server.whoami(new.token(ISS, "user:alice")).ok(200);
    assert_eq!(provider.asked(), 2, "an unknown key is worth one look");
    // A token that was good under a key which is gone is good no more, seen before or not.
    assert_eq!(server.refused(token), "unknown_key");
    let metrics = Signed { client: server.server.client(), token: new.token(ISS, "user:root") }
        .get("/v1/admin/metrics");
    let text = metrics.response.text();
    let counted = format!("lamina_jwks_fetches_total{{issuer=\"{ISS}\",outcome=\"ok\"}} 2");
    assert!(text.contains(&counted), "{text}");
}

/// Whoever makes up key ids makes the server ask once, not once each.
#[test]
fn a_storm_of_unknown_keys_makes_one_fetch() {
    let (known, stranger) = (Key::new("1"), Key::new("x"));
    let provider = Provider::start(Says::Json(key_set(&[&known])));
    let server = Believing::start(&[(ISS, &provider)]);
    server.whoami(known.token(ISS, "user:alice")).ok(200);
    let clock = SystemClock::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    assert_eq!(server.refused(stranger.token(ISS, "user:mallory")), "unknown_key");
                }
            });
        }
    });
    // One at the start, one for all of them; one more for every 30 s that a slow machine takes.
    let slow = usize::try_from(clock.monotonic().0 / 30_000_000).unwrap();
    assert!((2..=2 + slow).contains(&provider.asked()), "{}", provider.asked());
    server.whoami(known.token(ISS, "user:bob")).ok(200);
}

/// Every way in which an answer can be bad leaves the keys of before in force.
#[test]
fn a_bad_answer_changes_nothing() {
    let key = Key::new("1");
    let twice = json!({"keys": [Key::new("2").jwk(), Key::new("2").jwk()]}).to_string();
    let secret = {
        let mut jwk = Key::new("2").jwk();
        jwk["d"] = json!("AAAA");
        json!({ "keys": [jwk] }).to_string()
    };
    let many: Vec<Value> = (0..101)
        .map(|number| {
            let mut jwk = key.jwk();
            jwk["kid"] = json!(number.to_string());
            jwk
        })
        .collect();
    let huge = format!("{{\"keys\": [], \"x\": \"{}\"}}", "x".repeat(300_000));
    let raw = |text: &str| Says::Raw(text.as_bytes().to_vec());
    let elsewhere = Provider::start(Says::Json(key_set(&[&Key::new("2")])));
    let redirect =
        format!("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", elsewhere.url());
    let cases = [
        ("huge", Says::Json(huge), "the answer is larger than 262144 bytes"),
        ("garbage", Says::Json("<html>".to_owned()), "the keys are not JSON"),
        ("no-http", raw("\0\0\0\r\n\r\n"), "not HTTP, or was cut off"),
        ("cut-off", raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), "was cut off"),
        ("error", raw("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"), "status 500"),
        ("redirect", raw(&redirect), "status 302"),
        ("twice", Says::Json(twice), "has two keys with the id 2"),
        ("secret", Says::Json(secret), "holds a secret key"),
        ("many", Says::Json(json!({ "keys": many }).to_string()), "has more than 100 keys"),
        ("empty", Says::Json(r#"{"keys": []}"#.to_owned()), "holds no key that can be used"),
    ];
    let providers: Vec<(String, Provider)> = cases
        .iter()
        .map(|(name, _, _)| {
            (format!("https://{name}.test"), Provider::start(Says::Json(key_set(&[&key]))))
        })
        .collect();
    let issuers: Vec<(&str, &Provider)> =
        providers.iter().map(|(iss, provider)| (iss.as_str(), provider)).collect();
    let server = Believing::start(&issuers);
    for ((iss, provider), (name, says, why)) in issuers.into_iter().zip(cases) {
        server.whoami(key.token(iss, "user:alice")).ok(200);
        provider.say(says);
        assert_eq!(server.refused(Key::new("2").token(iss, "user:alice")), "unknown_key", "{name}");
        assert_eq!(provider.asked(), 2, "{name}");
        let line = server.line_logged(&[iss, "not renewed"]);
        assert!(line.contains(why) && line.contains("stay in force"), "{name}: {line}");
        server.whoami(key.token(iss, "user:bob")).ok(200);
    }
    assert_eq!(elsewhere.asked(), 0, "a redirect is not followed");
    let mut caller = Signed {
        client: server.server.client(),
        token: key.token("https://huge.test", "user:alice"),
    };
    let health = caller.get("/v1/admin/health").ok(200);
    assert_eq!(health["status"], "healthy", "keys of a minute ago are no reason to worry");
}

/// A shared secret among the keys is not a key, and a token made with it is not one either.
#[test]
fn a_shared_secret_is_left_out() {
    let key = Key::new("1");
    let secret = b"everybody can read this";
    let oct = json!({"kty": "oct", "alg": "HS256", "kid": "s", "k": encode(secret)});
    let set = json!({ "keys": [oct, key.jwk()] }).to_string();
    let provider = Provider::start(Says::Json(set));
    let server = Believing::start(&[(ISS, &provider)]);
    server.whoami(key.token(ISS, "user:alice")).ok(200);
    assert_eq!(server.refused(hs256(secret, "s", ISS)), "algorithm");
    // Nor can the public key be used as a secret.
    let public = key.jwk().to_string();
    assert_eq!(server.refused(hs256(public.as_bytes(), "1", ISS)), "algorithm");
}

/// The server starts without the provider, says so, and catches up when it is there.
#[test]
fn a_provider_that_is_not_there_keeps_nobody_else_out() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let late = Provider::start(Says::Raw(Vec::new()));
    let key = Key::new("1");
    let present = Provider::start(Says::Json(key_set(&[&key])));
    let slow = Provider::start(Says::Nothing);
    let list = format!(
        "https://gone.test=http://{gone}/,https://late.test={},{ISS}={},https://slow.test={}",
        late.url(),
        present.url(),
        slow.url()
    );
    let server = Believing::start_with(&[("LAMINA_AUTH_JWKS", &list)]);
    server.whoami(key.token(ISS, "user:alice")).ok(200);
    server.until_logged("https://gone.test");
    server.until_logged("https://late.test");
    server.until_logged("the server cannot be reached");
    assert_eq!(server.refused(key.token("https://gone.test", "user:alice")), "keys_unavailable");
    assert_eq!(server.refused(key.token("https://slow.test", "user:alice")), "keys_unavailable");
    let mut caller = Signed { client: server.server.client(), token: key.token(ISS, "user:alice") };
    let health = caller.get("/v1/admin/health").ok(200);
    assert_eq!(health["status"], "degraded");
    let reasons = health["reasons"].to_string();
    assert!(reasons.contains("the keys of an issuer could not be fetched"), "{reasons}");
    assert!(!reasons.contains("gone.test"), "whom others trust is not shown: {reasons}");

    late.say(Says::Json(key_set(&[&key])));
    server.whoami(key.token("https://late.test", "user:alice")).ok(200);
}

/// An issuer that describes itself needs only its address.
#[test]
fn an_issuer_that_describes_itself_is_trusted_by_its_address() {
    let key = Key::new("1");
    let keys = Provider::start(Says::Json(key_set(&[&key])));
    let provider = Provider::start(Says::Nothing);
    let iss = format!("http://{}", provider.address);
    provider.say(Says::Json(json!({"issuer": iss, "jwks_uri": keys.url()}).to_string()));
    let server = Believing::start_with(&[("LAMINA_TRUST", &iss)]);
    server.whoami(key.token(&iss, "user:alice")).ok(200);
    assert_eq!((provider.asked(), keys.asked()), (1, 1));
    assert_eq!(server.refused(key.token(ISS, "user:alice")), "unknown_issuer");
}

#[test]
fn addresses_that_cannot_be_trusted_are_refused_at_the_start() {
    let directory = directory();
    let home = data(directory.path());
    for (trust, expected) in [
        ("http://id.example.com", "in the clear"),
        ("https://id.example.com/.well-known/jwks.json", "say whose keys these are"),
        ("a=http://10.0.0.1/keys", "in the clear"),
        ("=https://id.example.com/keys", "the name of the issuer"),
        ("a=https://user:pass@id.example.com/keys", "must not hold a user name"),
        ("a=https://id.example.com/k,a=https://id.example.com/k", "given twice"),
    ] {
        let words = ["serve", "--listen", "127.0.0.1:0", "--preset", "cloud_private", "--data"];
        let all = [&words[..], &[home.to_str().unwrap(), "--trust", trust]].concat();
        let output = process::run(&binary(), &all).unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(64), "{trust}: {text}");
        assert!(text.contains(expected), "{trust}: {text}");
    }
}

/// Over TLS, with a certificate that only the configuration makes known.
#[tokio::test(flavor = "multi_thread")]
async fn keys_come_over_tls_from_a_private_authority() {
    let key = Key::new("1");
    let certificate = Certificate::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let body = key_set(&[&key]);
    let serving = tokio::spawn(certificate.serve(listener, body));
    let folder = directory();
    let ca = folder.path().join("ca.pem");
    write_atomic(&RealDisk, &ca, certificate.pem.as_bytes()).unwrap();
    let list = format!("{ISS}=https://localhost:{port}/keys");
    let token = key.token(ISS, "user:alice");
    let ca = ca.to_str().unwrap().to_owned();
    let tested = tokio::task::spawn_blocking(move || {
        let stranger = Believing::start_with(&[("LAMINA_AUTH_JWKS", &list)]);
        stranger.until_logged("the TLS handshake failed");
        let server =
            Believing::start_with(&[("LAMINA_AUTH_JWKS", &list), ("LAMINA_OUTBOUND_CA", &ca)]);
        server.whoami(token).ok(200);
    });
    tested.await.unwrap();
    serving.abort();
}

/// A claim makes an administrator only where the configuration names it for the issuer of the token.
#[test]
fn claim_makes_an_administrator_only_of_the_issuer_it_is_named_for() {
    let (one, other) = (Key::new("1"), Key::new("2"));
    let trusted = Provider::start(Says::Json(key_set(&[&one])));
    let plain = Provider::start(Says::Json(key_set(&[&other])));
    let list = format!("{ISS}={},https://other.test={}", trusted.url(), plain.url());
    let claim = format!("{ISS}=lamina_admin");
    let server = Believing::start_with(&[
        ("LAMINA_AUTH_JWKS", list.as_str()),
        ("LAMINA_AUTH_ADMIN_CLAIMS", claim.as_str()),
    ]);
    let set_policy = |token: String| {
        let request = Request::new("PUT", "/v1/policy/tenant/acme").json(&json!({}));
        Signed { client: server.server.client(), token }.send(request).response.status
    };
    let claims = |value: Value| json!({"lamina_admin": value});
    assert_eq!(set_policy(one.token_with(ISS, "user:ada", &claims(json!(true)))), 200);
    for refused in [
        one.token(ISS, "user:ada"),
        one.token_with(ISS, "user:ada", &claims(json!(false))),
        one.token_with(ISS, "user:ada", &claims(json!("true"))),
        one.token_with(ISS, "user:ada", &json!({"admin": true})),
        other.token_with("https://other.test", "user:ada", &claims(json!(true))),
    ] {
        assert_eq!(set_policy(refused), 403);
    }
}

//! An identity provider of a test: keys, tokens, and a server that publishes the keys or misbehaves.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lamina_env::{Clock as _, SystemClock};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

/// A key that signs tokens.
pub(crate) struct Key {
    kid: String,
    pair: EcdsaKeyPair,
}

impl Key {
    pub(crate) fn new(kid: &str) -> Key {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let bytes = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, bytes.as_ref(), &random).unwrap();
        Key { kid: kid.to_owned(), pair }
    }

    /// The public half, as a key set has it.
    pub(crate) fn jwk(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.kid, "x": x, "y": y})
    }

    /// An ordinary token of this issuer: tenant `acme`, an hour.
    pub(crate) fn token(&self, iss: &str, sub: &str) -> String {
        self.token_with(iss, sub, &json!({}))
    }

    /// A token that is bound to a session of a tenant.
    pub(crate) fn session_token(&self, iss: &str, bearer: SessionBearer<'_>) -> String {
        let audience = format!("cortexdb:tenant:{}", bearer.tenant);
        let claims = json!({"aud": audience, "zaxy_session": bearer.session});
        self.token_with(iss, bearer.sub, &claims)
    }

    /// The same with more claims.
    pub(crate) fn token_with(&self, iss: &str, sub: &str, more: &Value) -> String {
        let message = message_with("ES256", &self.kid, (iss, sub), more);
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", encode(signature.as_ref()))
    }
}

/// The same, signed with a secret that both ends would have to know.
pub(crate) fn hs256(secret: &[u8], kid: &str, iss: &str) -> String {
    let message = message("HS256", kid, iss, "user:mallory");
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
    format!("{message}.{}", encode(signature.as_ref()))
}

/// Who a token of a session is for.
pub(crate) struct SessionBearer<'a> {
    pub(crate) tenant: &'a str,
    pub(crate) sub: &'a str,
    pub(crate) session: &'a str,
}

fn message(alg: &str, kid: &str, iss: &str, sub: &str) -> String {
    message_with(alg, kid, (iss, sub), &json!({}))
}

fn message_with(alg: &str, kid: &str, (iss, sub): (&str, &str), more: &Value) -> String {
    let now = SystemClock::default().wall().0 / 1_000_000;
    let header = json!({"alg": alg, "typ": "JWT", "kid": kid});
    let mut claims = json!({
        "iss": iss, "sub": sub, "aud": "cortexdb:tenant:acme",
        "iat": now, "exp": now + 3_600, "jti": crate::harness::unique_key(),
    });
    claims.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    format!("{}.{}", encode(header.to_string().as_bytes()), encode(claims.to_string().as_bytes()))
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key set of these keys.
pub(crate) fn key_set(keys: &[&Key]) -> String {
    json!({ "keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>() }).to_string()
}

/// What the provider answers.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    /// These bytes after a good head.
    Json(String),
    /// These bytes as they are.
    Raw(Vec<u8>),
    /// Nothing, for as long as the other end waits.
    Nothing,
}

/// A server that publishes something.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    says: Arc<Mutex<Says>>,
    asked: Arc<AtomicUsize>,
}

impl Provider {
    /// Its threads end with the test program.
    pub(crate) fn start(says: Says) -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (says, asked) = (Arc::new(Mutex::new(says)), Arc::new(AtomicUsize::new(0)));
        let (shared, count) = (Arc::clone(&says), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, count) = (Arc::clone(&shared), Arc::clone(&count));
                std::thread::spawn(move || answer(stream, &shared, &count));
            }
        });
        Provider { address, says, asked }
    }

    pub(crate) fn say(&self, says: Says) {
        *self.says.lock().unwrap() = says;
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/keys", self.address)
    }
}

fn answer(mut stream: TcpStream, says: &Mutex<Says>, asked: &AtomicUsize) {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return;
        }
        head.push(byte[0]);
    }
    asked.fetch_add(1, Ordering::SeqCst);
    let says = says.lock().unwrap().clone();
    // Whoever asked may have hung up in the middle.
    let _ = match says {
        Says::Json(text) => {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                text.len()
            );
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes()))
        }
        Says::Raw(bytes) => stream.write_all(&bytes),
        Says::Nothing => stream.read(&mut byte).map(|_| ()),
    };
}

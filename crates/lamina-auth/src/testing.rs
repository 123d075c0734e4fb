//! What the tests of this crate share: two issuers with fixed keys, and a way to sign anything.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk};
use jsonwebtoken::{Algorithm, EncodingKey, crypto};
use lamina_env::sim::SimRng;
use lamina_types::Micros;
use serde_json::{Value, json};

use crate::{Claims, KeySet, Minter, trust_file};

/// The issuer that mints PASETO.
pub(crate) const MINT: &str = "https://mint.example";
/// The identity provider that makes JWT.
pub(crate) const IDP: &str = "https://idp.example";
pub(crate) const NOW_S: i64 = 1_800_000_000;
pub(crate) const NOW: Micros = Micros(NOW_S * 1_000_000);

/// Who signs a JWT of a test.
#[derive(Debug, Clone)]
pub(crate) enum Signer {
    Rsa,
    Ec,
    Hmac(Vec<u8>),
    Nobody,
}

pub(crate) fn minter() -> Minter {
    Minter::generate(MINT, &SimRng::new(7)).unwrap()
}

/// Trusts both issuers. Loaded once: property tests ask thousands of times.
pub(crate) fn keys() -> KeySet {
    static KEYS: LazyLock<KeySet> = LazyLock::new(|| {
        let mut keys = KeySet::new();
        keys.add_trust_file(&trust_file(MINT, &[minter().public().clone()])).unwrap();
        keys.set_jwks(IDP, &jwks().to_string()).unwrap();
        keys
    });
    KEYS.clone()
}

/// What the identity provider publishes.
pub(crate) fn jwks() -> Value {
    json!({ "keys": [rsa_jwk(RSA, "rsa-1"), ec_jwk("ec-1")] })
}

pub(crate) fn rsa_jwk(pem: &str, kid: &str) -> Value {
    let key = EncodingKey::from_rsa_der(&der(pem));
    let jwk = Jwk::from_encoding_key(&key, Algorithm::RS256).unwrap();
    let AlgorithmParameters::RSA(key) = jwk.algorithm else { panic!("not an RSA key") };
    json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": key.n, "e": key.e })
}

pub(crate) fn ec_jwk(kid: &str) -> Value {
    let key = EncodingKey::from_ec_der(&der(P256));
    let jwk = Jwk::from_encoding_key(&key, Algorithm::ES256).unwrap();
    let AlgorithmParameters::EllipticCurve(key) = jwk.algorithm else { panic!("not an EC key") };
    json!({ "kty": "EC", "crv": "P-256", "kid": kid, "x": key.x, "y": key.y })
}

pub(crate) const RSA: &str = include_str!("testing/rsa.pem");
pub(crate) const RSA_1024: &str = include_str!("testing/rsa-1024.pem");
pub(crate) const P256: &str = include_str!("testing/p256.pem");

/// The bytes between the lines of a PEM file.
pub(crate) fn der(pem: &str) -> Vec<u8> {
    let lines = pem.lines().skip_while(|line| !line.starts_with("-----BEGIN")).skip(1);
    let body: String = lines.take_while(|line| !line.starts_with("-----END")).collect();
    STANDARD.decode(body).unwrap()
}

/// Claims that can be minted at [`NOW`].
pub(crate) fn claims() -> Claims {
    Claims {
        iss: MINT.to_owned(),
        sub: "user:alice".parse().unwrap(),
        tenant: "acme".parse().unwrap(),
        exp: NOW.plus(3_600 * 1_000_000),
        iat: NOW,
        jti: "tok_1".to_owned(),
        deployment: None,
        caps: None,
        scopes: Vec::new(),
    }
}

/// A payload that every server takes at [`NOW`].
pub(crate) fn payload(iss: &str) -> Value {
    json!({
        "iss": iss, "sub": "user:alice", "aud": "cortexdb:tenant:acme",
        "exp": NOW_S + 3_600, "iat": NOW_S, "jti": "tok_1",
    })
}

/// The payload with one claim changed, or removed by `null`.
pub(crate) fn with(iss: &str, claim: &str, value: Value) -> Value {
    let mut payload = payload(iss);
    let members = payload.as_object_mut().unwrap();
    match value {
        Value::Null => members.remove(claim),
        value => members.insert(claim.to_owned(), value),
    };
    payload
}

/// A JWT of any header and payload, signed by anyone.
pub(crate) fn jwt(header: &Value, payload: &str, signer: &Signer) -> String {
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let message = format!("{}.{}", encode(&header.to_string()), encode(payload));
    let sign =
        |key: &EncodingKey, algorithm| crypto::sign(message.as_bytes(), key, algorithm).unwrap();
    let signature = match signer {
        Signer::Rsa => sign(&EncodingKey::from_rsa_der(&der(RSA)), Algorithm::RS256),
        Signer::Ec => sign(&EncodingKey::from_ec_der(&der(P256)), Algorithm::ES256),
        Signer::Hmac(secret) => sign(&EncodingKey::from_secret(secret), Algorithm::HS256),
        Signer::Nobody => String::new(),
    };
    format!("{message}.{signature}")
}

/// A JWT as the identity provider makes it, with RS256.
pub(crate) fn rs256(payload: &Value) -> String {
    let header = json!({ "alg": "RS256", "typ": "JWT", "kid": "rsa-1" });
    jwt(&header, &payload.to_string(), &Signer::Rsa)
}

/// A JWT as the identity provider makes it, with ES256.
pub(crate) fn es256(payload: &Value) -> String {
    let header = json!({ "alg": "ES256", "typ": "JWT", "kid": "ec-1" });
    jwt(&header, &payload.to_string(), &Signer::Ec)
}

/// A PASETO of any payload, with the right footer.
pub(crate) fn paseto(payload: &str) -> String {
    let minter = minter();
    let footer = json!({ "kid": minter.public().kid }).to_string();
    minter.sign_anything(payload.as_bytes(), Some(footer.as_bytes()))
}

//! Signatures of a store: written with Ed25519, verified with the six algorithms of the format.
//!
//! A signature covers four texts: the checksum of the memories, the id and the date of the export, and
//! the owner's id. The texts are signed as they stand in the file. ECDSA signatures are the two numbers
//! side by side, RSA signatures PKCS#1 v1.5, as in JSON Web Signatures.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rsa::pkcs1::DecodeRsaPublicKey as _;
use rsa::pkcs8::DecodePublicKey as _;
use rsa::traits::PublicKeyParts as _;
use rsa::{BigUint, Pkcs1v15Sign, RsaPublicKey};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use crate::canon::jcs;
use crate::json::{ReadPolicy, Value, parse};
use crate::sign::{PublicKey, SigningKey};

/// The shortest RSA modulus whose signatures count.
const RSA_BITS_MIN: usize = 2_048;
/// The longest text that is read as a key.
const KEY_BYTES_MAX: usize = 8_192;

/// Why a signature does not verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// An algorithm that the format does not have.
    #[error("the algorithm is not one of Ed25519, ES256, ES384, RS256, RS384, RS512")]
    Algorithm,
    /// A text that is no key of the algorithm.
    #[error("the public key is not a key of its algorithm")]
    Key,
    /// An RSA key that is too short.
    #[error("the RSA key has fewer than {RSA_BITS_MIN} bits")]
    ShortKey,
    /// A value that is not base64url, or has the wrong length.
    #[error("the signature is not base64url of the right length")]
    Value,
    /// The key did not sign this.
    #[error("the signature does not fit: the key did not sign these texts")]
    Mismatch,
}

/// The texts that a signature covers, as they stand in the file.
#[derive(Debug, Clone, Copy)]
pub struct SignedTexts<'a> {
    /// The checksum of the memories.
    pub checksum: &'a str,
    /// The id of the export.
    pub export_id: &'a str,
    /// The date of the export.
    pub export_date: &'a str,
    /// The owner.
    pub owner_id: &'a str,
}

impl SignedTexts<'_> {
    /// The bytes that are signed.
    pub fn payload(&self) -> Vec<u8> {
        let SignedTexts { checksum, export_id, export_date, owner_id } = *self;
        let texts = Value::object([
            ("checksum", checksum.into()),
            ("export_id", export_id.into()),
            ("export_date", export_date.into()),
            ("owner_id", owner_id.into()),
        ]);
        // Four plain texts always have a canonical form.
        jcs(&texts).unwrap_or_default()
    }
}

/// The `signature` block of a store.
pub fn sign(key: &SigningKey, texts: &SignedTexts<'_>, signed_at: &str) -> Value {
    let did = key.public().to_did_key();
    let multibase = did.trim_start_matches("did:key:");
    Value::object([
        ("algorithm", "Ed25519".into()),
        ("public_key", multibase.into()),
        ("value", URL_SAFE_NO_PAD.encode(key.sign(&texts.payload())).into()),
        ("signed_at", signed_at.into()),
        ("key_id", format!("{did}#{multibase}").into()),
    ])
}

/// A signature as a file has it.
#[derive(Debug, Clone, Copy)]
pub struct SignatureClaim<'a> {
    /// The name of the algorithm.
    pub algorithm: &'a str,
    /// The key in one of its forms.
    pub public_key: &'a str,
    /// The signature as base64url, padded or not.
    pub value: &'a str,
}

impl SignatureClaim<'_> {
    /// Checks the signature; gives the `did:key` of an Ed25519 signer.
    pub fn verify(&self, payload: &[u8]) -> Result<Option<String>, SignatureError> {
        if self.public_key.len() > KEY_BYTES_MAX || self.value.len() > KEY_BYTES_MAX {
            return Err(SignatureError::Value);
        }
        let value = URL_SAFE_NO_PAD
            .decode(self.value.trim_end_matches('='))
            .map_err(|_| SignatureError::Value)?;
        match self.algorithm {
            "Ed25519" => self.verify_ed25519(payload, &value).map(Some),
            "ES256" => self.verify_p256(payload, &value).map(|()| None),
            "ES384" => self.verify_p384(payload, &value).map(|()| None),
            "RS256" => {
                self.verify_rsa(&RSA_SHA256, &Sha256::digest(payload), &value).map(|()| None)
            }
            "RS384" => {
                self.verify_rsa(&RSA_SHA384, &Sha384::digest(payload), &value).map(|()| None)
            }
            "RS512" => {
                self.verify_rsa(&RSA_SHA512, &Sha512::digest(payload), &value).map(|()| None)
            }
            _ => Err(SignatureError::Algorithm),
        }
    }

    fn verify_ed25519(&self, payload: &[u8], value: &[u8]) -> Result<String, SignatureError> {
        let value: &[u8; 64] = value.try_into().map_err(|_| SignatureError::Value)?;
        let keys = PublicKey::read_forms(self.public_key);
        if keys.is_empty() {
            return Err(SignatureError::Key);
        }
        let signer = keys.into_iter().find(|key| key.verifies(payload, value));
        signer.map(PublicKey::to_did_key).ok_or(SignatureError::Mismatch)
    }

    fn verify_p256(&self, payload: &[u8], value: &[u8]) -> Result<(), SignatureError> {
        use p256::ecdsa::{Signature, VerifyingKey, signature::Verifier as _};
        let point = self.curve_point("P-256", &P256_SPKI)?;
        let key = VerifyingKey::from_sec1_bytes(&point).map_err(|_| SignatureError::Key)?;
        let value = Signature::from_slice(value).map_err(|_| SignatureError::Value)?;
        key.verify(payload, &value).map_err(|_| SignatureError::Mismatch)
    }

    fn verify_p384(&self, payload: &[u8], value: &[u8]) -> Result<(), SignatureError> {
        use p384::ecdsa::{Signature, VerifyingKey, signature::Verifier as _};
        let point = self.curve_point("P-384", &P384_SPKI)?;
        let key = VerifyingKey::from_sec1_bytes(&point).map_err(|_| SignatureError::Key)?;
        let value = Signature::from_slice(value).map_err(|_| SignatureError::Value)?;
        key.verify(payload, &value).map_err(|_| SignatureError::Mismatch)
    }

    /// The uncompressed point of a JWK or of a PEM key.
    fn curve_point(&self, curve: &str, spki_head: &[u8]) -> Result<Vec<u8>, SignatureError> {
        if let Some(der) = pem(self.public_key, "PUBLIC KEY") {
            return der.strip_prefix(spki_head).map(<[u8]>::to_vec).ok_or(SignatureError::Key);
        }
        let jwk = jwk(self.public_key, "EC").ok_or(SignatureError::Key)?;
        if jwk.get("crv").and_then(Value::as_str) != Some(curve) {
            return Err(SignatureError::Key);
        }
        let mut point = vec![4];
        for name in ["x", "y"] {
            point.extend(number(&jwk, name).ok_or(SignatureError::Key)?);
        }
        Ok(point)
    }

    fn verify_rsa(
        &self,
        digest_head: &[u8],
        digest: &[u8],
        value: &[u8],
    ) -> Result<(), SignatureError> {
        let key = self.rsa_key().ok_or(SignatureError::Key)?;
        if key.n().bits() < RSA_BITS_MIN {
            return Err(SignatureError::ShortKey);
        }
        let scheme = Pkcs1v15Sign { hash_len: Some(digest.len()), prefix: digest_head.into() };
        key.verify(scheme, digest, value).map_err(|_| SignatureError::Mismatch)
    }

    fn rsa_key(&self) -> Option<RsaPublicKey> {
        if let Some(der) = pem(self.public_key, "PUBLIC KEY") {
            return RsaPublicKey::from_public_key_der(&der).ok();
        }
        if let Some(der) = pem(self.public_key, "RSA PUBLIC KEY") {
            return RsaPublicKey::from_pkcs1_der(&der).ok();
        }
        let jwk = jwk(self.public_key, "RSA")?;
        let (n, e) = (number(&jwk, "n")?, number(&jwk, "e")?);
        RsaPublicKey::new(BigUint::from_bytes_be(&n), BigUint::from_bytes_be(&e)).ok()
    }
}

/// The bytes before the point in the SPKI form of a P-256 key.
const P256_SPKI: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 8, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 3, 1, 7, 3, 0x42, 0,
];
/// The bytes before the point in the SPKI form of a P-384 key.
const P384_SPKI: [u8; 23] = [
    0x30, 0x76, 0x30, 0x10, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 5, 0x2b, 0x81, 4, 0, 0x22,
    3, 0x62, 0,
];
/// The bytes before the digest in an RSA signature.
const RSA_SHA256: [u8; 19] = rsa_head(0x31, 1, 0x20);
const RSA_SHA384: [u8; 19] = rsa_head(0x41, 2, 0x30);
const RSA_SHA512: [u8; 19] = rsa_head(0x51, 3, 0x40);

const fn rsa_head(all_bytes: u8, hash: u8, digest_bytes: u8) -> [u8; 19] {
    let oid = [0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2];
    [
        0x30,
        all_bytes,
        oid[0],
        oid[1],
        oid[2],
        oid[3],
        oid[4],
        oid[5],
        oid[6],
        oid[7],
        oid[8],
        oid[9],
        oid[10],
        oid[11],
        hash,
        5,
        0,
        4,
        digest_bytes,
    ]
}

fn pem(text: &str, label: &str) -> Option<Vec<u8>> {
    let body = text.trim().strip_prefix(&format!("-----BEGIN {label}-----"))?;
    let body = body.strip_suffix(&format!("-----END {label}-----"))?;
    let body: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(body).ok()
}

fn jwk(text: &str, kind: &str) -> Option<Value> {
    let jwk = parse(text.as_bytes(), &ReadPolicy::STRICT).ok()?;
    (jwk.get("kty")?.as_str() == Some(kind)).then_some(jwk)
}

fn number(jwk: &Value, name: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(jwk.get(name)?.as_str()?).ok()
}

//! Signatures of exported files, and the forms in which other programs keep the keys: Ed25519, and
//! ML-DSA-65 in [`BundleKey`], which signs with either.
//!
//! The algorithm is a property of the key, never a second parameter: a file signed under the name of
//! another algorithm cannot be verified by anybody.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use zeroize::Zeroizing;

use lamina_types::stdx::hex;

mod base58;
mod bundle_key;

pub use bundle_key::{BundleKey, SignatureAlgorithm, verify_signature};

/// The bytes before the seed in the PKCS#8 form of an Ed25519 key.
const PKCS8_HEAD: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const PEM_BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_END: &str = "-----END PRIVATE KEY-----";
const PEM_LINE_CHARS: usize = 64;
/// The multicodec prefix of an Ed25519 public key in `did:key`.
const DID_KEY_HEAD: [u8; 2] = [0xed, 0x01];

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not PEM at all.
    #[error("the private key is not PEM: it must begin with `{PEM_BEGIN}`")]
    Pem,
    /// PEM of another kind of key.
    #[error("the private key is not an unencrypted Ed25519 key in PKCS#8 form")]
    Algorithm,
    /// PEM of a key that signs no bundle.
    #[error(
        "the private key is neither an Ed25519 key nor the seed of an ML-DSA-65 key, unencrypted, in PKCS#8 form"
    )]
    BundleAlgorithm,
    /// Not 64 hexadecimal digits of a point on the curve.
    #[error("the public key is not 64 lower-case hexadecimal digits of an Ed25519 key")]
    Public,
}

/// The bytes of unencrypted PKCS#8 PEM.
fn pem_bytes(text: &str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let body = text.trim().strip_prefix(PEM_BEGIN).and_then(|rest| rest.strip_suffix(PEM_END));
    let body: Zeroizing<String> =
        Zeroizing::new(body.ok_or(KeyError::Pem)?.split_ascii_whitespace().collect());
    Ok(Zeroizing::new(STANDARD.decode(body.as_bytes()).map_err(|_| KeyError::Pem)?))
}

/// The PEM text of a head and a seed.
fn pem_text(head: &[u8], seed: &[u8]) -> Zeroizing<String> {
    let mut der = Zeroizing::new(Vec::with_capacity(head.len() + seed.len()));
    der.extend_from_slice(head);
    der.extend_from_slice(seed);
    let body = Zeroizing::new(STANDARD.encode(der.as_slice()));
    let mut text = Zeroizing::new(format!("{PEM_BEGIN}\n"));
    let mut rest = body.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(PEM_LINE_CHARS));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text.push_str(PEM_END);
    text.push('\n');
    text
}

/// A secret key.
#[derive(Debug)]
pub struct SigningKey(ed25519_dalek::SigningKey);

/// A public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl SigningKey {
    /// The name of the algorithm in signed files.
    pub const ALGORITHM: &'static str = "ed25519";

    /// The key of a seed of 32 random bytes.
    pub fn from_seed(seed: &[u8; 32]) -> SigningKey {
        SigningKey(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// Reads unencrypted PKCS#8 PEM.
    pub fn from_pem(text: &str) -> Result<SigningKey, KeyError> {
        let der = pem_bytes(text)?;
        let seed = der.strip_prefix(&PKCS8_HEAD).ok_or(KeyError::Algorithm)?;
        let seed: &[u8; 32] = seed.try_into().map_err(|_| KeyError::Algorithm)?;
        Ok(SigningKey::from_seed(seed))
    }

    /// Writes unencrypted PKCS#8 PEM.
    pub fn to_pem(&self) -> Zeroizing<String> {
        pem_text(&PKCS8_HEAD, Zeroizing::new(self.0.to_bytes()).as_slice())
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl PublicKey {
    /// Reads lower-case hexadecimal digits, with white space around them.
    pub fn from_hex(text: &str) -> Result<PublicKey, KeyError> {
        let text = text.trim();
        if text.bytes().any(|c| c.is_ascii_uppercase()) {
            return Err(KeyError::Public);
        }
        let bytes = hex::decode_array::<32>(text).ok_or(KeyError::Public)?;
        VerifyingKey::from_bytes(&bytes).map(PublicKey).map_err(|_| KeyError::Public)
    }

    /// The keys that a text of another program can mean: multibase or bare base 58, base64url, or
    /// `did:key:…`. Some texts are both base 58 and base64url.
    pub(crate) fn read_forms(text: &str) -> Vec<PublicKey> {
        let multibase = text.strip_prefix("did:key:").unwrap_or(text);
        let multicodec = multibase.strip_prefix('z').and_then(base58::decode);
        let multicodec =
            multicodec.and_then(|bytes| bytes.strip_prefix(&DID_KEY_HEAD).map(<[u8]>::to_vec));
        let bare = [base58::decode(text), URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()];
        std::iter::once(multicodec)
            .chain(bare)
            .flatten()
            .filter_map(|bytes| <[u8; 32]>::try_from(bytes).ok())
            .filter_map(|bytes| VerifyingKey::from_bytes(&bytes).map(PublicKey).ok())
            .collect()
    }

    /// Lower-case hexadecimal digits.
    pub fn to_hex(self) -> String {
        hex::encode(self.0.as_bytes())
    }

    /// The key as `did:key:z6Mk…`.
    pub fn to_did_key(self) -> String {
        let bytes: Vec<u8> = DID_KEY_HEAD.iter().chain(self.0.as_bytes()).copied().collect();
        format!("did:key:z{}", base58::encode(&bytes))
    }

    /// Whether the key's owner signed the message. Keys of small order sign nothing.
    pub fn verifies(self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

#[cfg(test)]
mod tests;

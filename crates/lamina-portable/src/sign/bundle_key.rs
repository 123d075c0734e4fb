//! A key that signs bundles: Ed25519 or ML-DSA-65. The private key decides the algorithm.

use ed25519_dalek::VerifyingKey;
use ml_dsa::{EncodedVerifyingKey, ExpandedSigningKey, MlDsa65, Seed, Signature};
use zeroize::Zeroizing;

use lamina_types::stdx::hex;

use super::{KeyError, PKCS8_HEAD, PublicKey, SigningKey, pem_bytes, pem_text};

/// The bytes before the seed in the PKCS#8 form of an ML-DSA-65 key that is kept as its seed.
const ML_DSA_65_HEAD: [u8; 22] = [
    0x30, 0x34, 2, 1, 0, 0x30, 0x0b, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 0x12, 4, 0x22, 0x80,
    0x20,
];
/// The prefix of a message that is signed as it is, under an empty context (FIPS 204).
const PURE_EMPTY_CONTEXT: [u8; 2] = [0, 0];

/// An algorithm that signs bundles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureAlgorithm {
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// ML-DSA-65 (FIPS 204). The implementation was never audited.
    MlDsa65,
}

impl SignatureAlgorithm {
    /// Both.
    pub const ALL: [SignatureAlgorithm; 2] =
        [SignatureAlgorithm::Ed25519, SignatureAlgorithm::MlDsa65];

    /// Its name in signed files.
    pub fn name(self) -> &'static str {
        match self {
            SignatureAlgorithm::Ed25519 => SigningKey::ALGORITHM,
            SignatureAlgorithm::MlDsa65 => "ml-dsa-65",
        }
    }

    /// The algorithm of a name.
    pub fn from_name(name: &str) -> Option<SignatureAlgorithm> {
        SignatureAlgorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

/// A secret key of either algorithm.
pub struct BundleKey(Secret);

/// Shows the algorithm, never the key.
impl std::fmt::Debug for BundleKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BundleKey").field(&self.algorithm()).finish()
    }
}

enum Secret {
    Ed25519(SigningKey),
    MlDsa65 { seed: Zeroizing<[u8; 32]>, key: Box<ExpandedSigningKey<MlDsa65>> },
}

impl BundleKey {
    /// The key of a seed of 32 random bytes.
    pub fn from_seed(algorithm: SignatureAlgorithm, seed: &[u8; 32]) -> BundleKey {
        BundleKey(match algorithm {
            SignatureAlgorithm::Ed25519 => Secret::Ed25519(SigningKey::from_seed(seed)),
            SignatureAlgorithm::MlDsa65 => Secret::MlDsa65 {
                seed: Zeroizing::new(*seed),
                key: Box::new(ExpandedSigningKey::from_seed(&Seed::from(*seed))),
            },
        })
    }

    /// Reads unencrypted PKCS#8 PEM.
    pub fn from_pem(text: &str) -> Result<BundleKey, KeyError> {
        let der = pem_bytes(text)?;
        let (algorithm, seed) = match der.strip_prefix(&PKCS8_HEAD) {
            Some(seed) => (SignatureAlgorithm::Ed25519, seed),
            None => {
                let seed = der.strip_prefix(&ML_DSA_65_HEAD).ok_or(KeyError::BundleAlgorithm)?;
                (SignatureAlgorithm::MlDsa65, seed)
            }
        };
        let seed: &[u8; 32] = seed.try_into().map_err(|_| KeyError::BundleAlgorithm)?;
        Ok(BundleKey::from_seed(algorithm, seed))
    }

    /// Writes unencrypted PKCS#8 PEM.
    pub fn to_pem(&self) -> Zeroizing<String> {
        match &self.0 {
            Secret::Ed25519(key) => key.to_pem(),
            Secret::MlDsa65 { seed, .. } => pem_text(&ML_DSA_65_HEAD, seed.as_slice()),
        }
    }

    /// Its algorithm.
    pub fn algorithm(&self) -> SignatureAlgorithm {
        match &self.0 {
            Secret::Ed25519(_) => SignatureAlgorithm::Ed25519,
            Secret::MlDsa65 { .. } => SignatureAlgorithm::MlDsa65,
        }
    }

    /// The public key in lower-case hexadecimal digits.
    pub fn public_hex(&self) -> String {
        match &self.0 {
            Secret::Ed25519(key) => key.public().to_hex(),
            Secret::MlDsa65 { key, .. } => hex::encode(key.verifying_key().encode().as_slice()),
        }
    }

    /// Signs a message. ML-DSA mixes the random bytes into the signature; Ed25519 ignores them.
    pub fn sign(&self, message: &[u8], randomness: &[u8; 32]) -> Vec<u8> {
        match &self.0 {
            Secret::Ed25519(key) => key.sign(message).to_vec(),
            Secret::MlDsa65 { key, .. } => {
                let parts: [&[u8]; 2] = [&PURE_EMPTY_CONTEXT, message];
                key.sign_internal(&parts, &Seed::from(*randomness)).encode().to_vec()
            }
        }
    }
}

/// Whether the owner of the public key signed the message.
pub fn verify_signature(
    algorithm: SignatureAlgorithm,
    public_key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> bool {
    match algorithm {
        SignatureAlgorithm::Ed25519 => {
            let key = <&[u8; 32]>::try_from(public_key).ok().map(VerifyingKey::from_bytes);
            let (Some(Ok(key)), Ok(signature)) = (key, <&[u8; 64]>::try_from(signature)) else {
                return false;
            };
            PublicKey(key).verifies(message, signature)
        }
        SignatureAlgorithm::MlDsa65 => {
            let key = EncodedVerifyingKey::<MlDsa65>::try_from(public_key);
            let (Ok(key), Ok(signature)) = (key, Signature::<MlDsa65>::try_from(signature)) else {
                return false;
            };
            let key = ml_dsa::VerifyingKey::<MlDsa65>::decode(&key);
            key.verify_with_context(message, &[], &signature)
        }
    }
}

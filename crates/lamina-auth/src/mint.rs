//! Making tokens: PASETO v4.public, signed with a key that lives in one file of its owner.
//!
//! ```text
//! lamina-token-key v1 <issuer> k4.secret.<base64>
//! ```
//!
//! What is minted is checked with the rules of [`verify`](crate::verify) first, so that no token
//! leaves that no server would take.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::SigningKey;
use lamina_env::disk::{read_file, write_atomic};
use lamina_env::rng::draw;
use lamina_env::{Disk, Rng};
use lamina_types::limits::{TOKEN_BYTES_MAX, TOKEN_LIFE_US_MAX};
use pasetors::keys::{AsymmetricPublicKey, AsymmetricSecretKey};
use pasetors::paserk::FormatAsPaserk;
use pasetors::version4::{PublicToken, V4};
use zeroize::Zeroizing;

use crate::claims::{Claims, is_issuer};
use crate::error::{MintError, TokenError};
use crate::json::Members;
use crate::keyset::key_id;

const MAGIC: &str = "lamina-token-key v1 ";
const SECRET: &str = "k4.secret.";
const SEED_BYTES: usize = 32;
const KEY_FILE_BYTES_MAX: u64 = 4_096;

/// A secret key and the issuer it signs for.
pub struct Minter {
    iss: String,
    key: AsymmetricSecretKey<V4>,
    public: PublicKey,
}

/// The public half of a key that signs tokens, as a trust file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// The PASERK id, `k4.pid.…`.
    pub kid: String,
    /// The PASERK of the key, `k4.public.…`.
    pub key: String,
}

impl fmt::Debug for Minter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Minter { iss, key: _, public } = self;
        f.debug_struct("Minter").field("iss", iss).field("kid", &public.kid).finish_non_exhaustive()
    }
}

impl Minter {
    /// A new key for this issuer.
    pub fn generate(iss: &str, rng: &dyn Rng) -> Result<Minter, MintError> {
        let seed = Zeroizing::new(draw::<SEED_BYTES>(rng));
        let public = SigningKey::from_bytes(&seed).verifying_key().to_bytes();
        let bytes = Zeroizing::new([seed.as_slice(), public.as_slice()].concat());
        Minter::of_bytes(iss, &bytes)
    }

    /// Reads a key file, which nobody but its owner may be able to read.
    pub fn load(disk: &dyn Disk, path: &Path) -> Result<Minter, MintError> {
        let io = |source| MintError::Io { doing: "reading", source };
        let mode = disk.mode(path).map_err(io)?;
        if mode & 0o077 != 0 {
            return Err(MintError::Exposed { mode });
        }
        let text = Zeroizing::new(read_file(disk, path, KEY_FILE_BYTES_MAX).map_err(io)?);
        let (iss, secret) = std::str::from_utf8(&text)
            .ok()
            .and_then(|text| text.strip_suffix('\n').unwrap_or(text).strip_prefix(MAGIC))
            .and_then(|rest| rest.split_once(' '))
            .ok_or(MintError::Malformed)?;
        let secret = secret.strip_prefix(SECRET).ok_or(MintError::Malformed)?;
        let bytes = URL_SAFE_NO_PAD.decode(secret).map_err(|_| MintError::Malformed)?;
        Minter::of_bytes(iss, &Zeroizing::new(bytes))
    }

    /// Writes the key file, readable by its owner only and durable when it returns.
    pub fn save(&self, disk: &dyn Disk, path: &Path) -> Result<(), MintError> {
        let digits = Zeroizing::new(URL_SAFE_NO_PAD.encode(self.key.as_bytes()));
        let text = Zeroizing::new(format!("{MAGIC}{} {SECRET}{}\n", self.iss, digits.as_str()));
        write_atomic(disk, path, text.as_bytes())
            .map_err(|source| MintError::Io { doing: "writing", source })
    }

    /// Whom it signs for.
    pub fn iss(&self) -> &str {
        &self.iss
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs these claims; fractions of a second are cut off.
    pub fn mint(&self, claims: &Claims) -> Result<String, MintError> {
        self.mint_living(claims, TOKEN_LIFE_US_MAX)
    }

    /// The same where tokens of users may live longer. Whoever verifies has to allow it too:
    /// [`KeySet::let_live`](crate::KeySet::let_live).
    pub fn mint_living(&self, claims: &Claims, life_us_max: i64) -> Result<String, MintError> {
        if claims.iss != self.iss {
            return Err(MintError::OtherIssuer);
        }
        let payload = claims.to_json();
        let members = Members::parse(payload.as_bytes()).ok_or(refused(TokenError::Payload))?;
        Claims::read(&members, claims.iat, life_us_max).map_err(refused)?;
        let footer = serde_json::json!({ "kid": self.public.kid }).to_string();
        let token = PublicToken::sign(&self.key, payload.as_bytes(), Some(footer.as_bytes()), None)
            .map_err(|_| refused(TokenError::Payload))?;
        if token.len() > TOKEN_BYTES_MAX {
            return Err(refused(TokenError::TooLong));
        }
        Ok(token)
    }

    /// Signs any payload and footer, which no product code may.
    #[cfg(test)]
    pub(crate) fn sign_anything(&self, payload: &[u8], footer: Option<&[u8]>) -> String {
        PublicToken::sign(&self.key, payload, footer, None).unwrap()
    }

    /// Signs for a reader that knows something this token does not say.
    #[cfg(test)]
    pub(crate) fn sign_asserting(&self, payload: &[u8], footer: &[u8], implicit: &[u8]) -> String {
        PublicToken::sign(&self.key, payload, Some(footer), Some(implicit)).unwrap()
    }

    /// The seed and the public key that belongs to it.
    fn of_bytes(iss: &str, bytes: &[u8]) -> Result<Minter, MintError> {
        if !is_issuer(iss) {
            return Err(MintError::Issuer);
        }
        // The library asserts this.
        if bytes.iter().take(SEED_BYTES).all(|byte| *byte == 0) {
            return Err(MintError::Malformed);
        }
        let key = AsymmetricSecretKey::<V4>::from(bytes).map_err(|_| MintError::Malformed)?;
        let public = AsymmetricPublicKey::<V4>::try_from(&key).map_err(|_| MintError::Malformed)?;
        let mut paserk = String::new();
        public.fmt(&mut paserk).expect("writing to a String does not fail");
        let public = PublicKey { kid: key_id(&public), key: paserk };
        Ok(Minter { iss: iss.to_owned(), key, public })
    }
}

fn refused(error: TokenError) -> MintError {
    MintError::Refused(error)
}

/// The trust file of an issuer and its keys: what [`KeySet::add_trust_file`](crate::KeySet::add_trust_file)
/// reads.
pub fn trust_file(iss: &str, keys: &[PublicKey]) -> String {
    let keys: Vec<_> = keys
        .iter()
        .map(|PublicKey { kid, key }| {
            serde_json::json!({ "kid": kid, "alg": "v4.public", "key": key })
        })
        .collect();
    format!("{:#}\n", serde_json::json!({ "iss": iss, "keys": keys }))
}

#[cfg(test)]
mod tests;

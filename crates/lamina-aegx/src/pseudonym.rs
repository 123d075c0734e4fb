//! Pseudonyms: keyed hashes in place of the identifiers of people.
//!
//! The same key gives the same pseudonym, so that records of one person can still be told from those of
//! another. Without the key no guess can be tested. Words in payloads stay as they are.

use lamina_portable::json::{JsonText, Member, Value};
use lamina_types::stdx::hex;
use sha2::{Digest as _, Sha256};

const LABEL: &[u8] = b"lamina pseudonym 1\0";
const BLOCK_BYTES: usize = 64;
/// Bytes of the hash that a pseudonym shows.
const SHOWN_BYTES: usize = 16;

/// The key of pseudonyms.
#[derive(Clone, Copy)]
pub struct PseudonymKey([u8; 32]);

impl std::fmt::Debug for PseudonymKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PseudonymKey")
    }
}

impl PseudonymKey {
    /// The key of these bytes, which must be random.
    pub fn new(bytes: [u8; 32]) -> PseudonymKey {
        PseudonymKey(bytes)
    }

    /// The pseudonym of a scope path or an actor: every part keeps its kind, `user:nora` becomes
    /// `user:p-…`.
    pub fn pseudonym(&self, identifier: &str) -> String {
        let parts = identifier.split('/').map(|part| match part.split_once(':') {
            Some((kind, name)) => format!("{kind}:{}", self.hash(kind, name)),
            None => self.hash("", part),
        });
        parts.collect::<Vec<_>>().join("/")
    }

    fn hash(&self, kind: &str, name: &str) -> String {
        let message = [LABEL, kind.as_bytes(), b"\0", name.as_bytes()].concat();
        let full = hmac_sha256(&self.0, &message);
        let shown = full.get(..SHOWN_BYTES).unwrap_or(&full);
        format!("p-{}", hex::encode(shown))
    }

    /// Replaces every string of a value that is one of these identifiers.
    pub(crate) fn replace(&self, value: &mut Value, identifiers: &[&str]) {
        match value {
            Value::String(text) => {
                let known = text.as_str().filter(|text| identifiers.contains(text));
                if let Some(pseudonym) = known.map(|known| self.pseudonym(known)) {
                    *text = JsonText::from(pseudonym);
                }
            }
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.replace(item, identifiers));
            }
            Value::Object(members) => {
                members.iter_mut().for_each(|Member { value, .. }| self.replace(value, identifiers))
            }
            _ => {}
        }
    }
}

/// HMAC of RFC 2104 with SHA-256, for keys of at most one block.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let pad = |byte: u8| {
        let mut block = [byte; BLOCK_BYTES];
        block.iter_mut().zip(key).for_each(|(padded, own)| *padded ^= own);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_equals_the_vector_of_rfc_4231() {
        let mac = hmac_sha256(b"Jefe", b"what do ya want for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hex::encode(&mac), expected);
    }

    #[test]
    fn pseudonym_keeps_kinds_and_depends_on_the_key() {
        let key = PseudonymKey::new([7; 32]);
        let scope = key.pseudonym("org:acme/user:nora");
        let parts: Vec<&str> = scope.split('/').collect();
        assert!(matches!(parts.as_slice(), [org, user]
            if org.starts_with("org:p-") && user.starts_with("user:p-")));
        assert!(scope.ends_with(&key.pseudonym("user:nora")), "one person, one pseudonym");
        assert_ne!(PseudonymKey::new([8; 32]).pseudonym("user:nora"), key.pseudonym("user:nora"));
    }
}

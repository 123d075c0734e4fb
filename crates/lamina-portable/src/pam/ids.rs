//! Ids of a store: of the export, of its owner, and of things that have none of their own.

use lamina_types::Micros;
use lamina_types::stdx::hex;
use sha2::{Digest as _, Sha256};

/// Bits of an instant in microseconds: enough until the year 4253.
const INSTANT_BITS: u32 = 56;
/// Bits that tell exports of one instant apart.
const SALT_BITS: u32 = 26;
/// Bits that bind an id to its scope and terms.
const TAG_BITS: u32 = 40;

/// The id of a full export. It holds the instant that a delta begins at, so that nothing of an export has
/// to be stored: an id that this server did not make for these terms is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PamExportId {
    /// The instant.
    pub recorded: Micros,
    salt: u32,
}

/// The terms that a base and its deltas have in common.
#[derive(Debug, Clone, Copy)]
pub struct TermsTag<'a> {
    /// The tenant.
    pub tenant: &'a str,
    /// The scope.
    pub scope: &'a str,
    /// View, layers and history.
    pub terms: &'a str,
    /// Only a full export is a base.
    pub is_full: bool,
}

impl TermsTag<'_> {
    fn bits(&self, instant: u64, salt: u32) -> u128 {
        let TermsTag { tenant, scope, terms, is_full } = *self;
        let kind = if is_full { "full" } else { "delta" };
        let mut hash = Sha256::new();
        for part in ["lamina pam export", tenant, scope, terms, kind] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.update(instant.to_le_bytes());
        hash.update(salt.to_le_bytes());
        u128::from(first_bytes(hash.finalize().into())) >> (64 - TAG_BITS)
    }
}

impl PamExportId {
    /// An id of an export of this instant.
    pub fn new(recorded: Micros, draw: [u8; 4]) -> PamExportId {
        PamExportId { recorded, salt: u32::from_le_bytes(draw) >> (32 - SALT_BITS) }
    }

    /// The text, in the form of a UUID of version 4.
    pub fn print(self, tag: &TermsTag<'_>) -> String {
        let instant = u64::try_from(self.recorded.0).unwrap_or_default();
        let bits = (u128::from(instant) << (SALT_BITS + TAG_BITS))
            | (u128::from(self.salt) << TAG_BITS)
            | tag.bits(instant, self.salt);
        uuid_text(bits, 4)
    }

    /// Reads the id of a full export of these terms.
    pub fn parse(text: &str, tag: &TermsTag<'_>) -> Option<PamExportId> {
        let plain: String = text.chars().filter(|c| *c != '-').collect();
        let bytes: [u8; 16] = hex::decode_array(&plain)?;
        let whole = u128::from_be_bytes(bytes);
        // 48 bits, the version, 12 bits, the variant, 62 bits.
        let bits =
            ((whole >> 80) << 74) | (((whole >> 64) & 0xFFF) << 62) | (whole & ((1 << 62) - 1));
        let salt = u32::try_from((bits >> TAG_BITS) & ((1 << SALT_BITS) - 1)).ok()?;
        let instant = u64::try_from(bits >> (SALT_BITS + TAG_BITS)).ok()?;
        let id = PamExportId { recorded: Micros(i64::try_from(instant).ok()?), salt };
        (id.print(tag) == text && instant >> INSTANT_BITS == 0).then_some(id)
    }
}

/// 122 bits as a UUID.
fn uuid_text(bits: u128, version: u128) -> String {
    let whole = ((bits >> 74) << 80)
        | (version << 76)
        | (((bits >> 62) & 0xFFF) << 64)
        | (0b10 << 62)
        | (bits & ((1 << 62) - 1));
    let digits = hex::encode(&whole.to_be_bytes());
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

fn first_bytes(digest: [u8; 32]) -> u64 {
    let (first, _) = digest.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    u64::from_be_bytes(*first)
}

fn digest(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The owner of a scope: a UUID of version 8, made from the path, equal for every export.
pub fn owner_id(scope: &str) -> String {
    let hash = digest(&["lamina owner", scope]);
    let (first, _) = hash.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
    uuid_text(u128::from_be_bytes(*first) >> 6, 8)
}

/// An id that is made from what names a thing.
pub fn derived_id(kind: &str, parts: &[&str]) -> String {
    let hash = digest(parts);
    format!("{kind}-{}", hex::encode(hash.get(..16).unwrap_or_default()))
}

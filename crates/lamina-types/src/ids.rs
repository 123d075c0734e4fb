//! Every identifier is its own type with its own prefix, declared in one list.
//!
//! An id is a UUIDv7 printed as `prefix_` and 32 lower-case hex digits. Hyphens are accepted on
//! input; a wrong prefix is an error that says which one was expected. Parsing and printing share
//! one function each, so the kinds cannot drift apart.

use std::fmt;
use std::str::FromStr;

use crate::stdx::hex;
use crate::time::Micros;

macro_rules! prefixed_ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name([u8; 16]);

            impl $name {
                /// The text before the underscore.
                pub const PREFIX: &'static str = $prefix;

                /// An id made of these 16 bytes.
                pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                    Self(bytes)
                }

                /// The 16 bytes of the UUID.
                pub const fn as_bytes(&self) -> &[u8; 16] {
                    &self.0
                }

                /// A UUIDv7 of this instant; see [`uuid_v7`].
                pub fn mint(at: Micros, entropy: [u8; 8]) -> Self {
                    Self(uuid_v7(at, entropy))
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    print(f, $prefix, &self.0)
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    print(f, $prefix, &self.0)
                }
            }

            impl FromStr for $name {
                type Err = IdError;
                fn from_str(text: &str) -> Result<Self, IdError> {
                    parse($prefix, text).map(Self)
                }
            }
        )*

        /// Every prefix, for the tests that walk the list.
        pub const PREFIXES: &[&str] = &[$($prefix),*];
    };
}

prefixed_ids! {
    /// A memory event: one `experience` entry of the log.
    EventId = "evt";
    /// An episode derived from events.
    EpisodeId = "ep";
    /// A fact derived from events.
    FactId = "fact";
    /// A belief derived from facts and episodes.
    BeliefId = "belief";
    /// A concept of the understanding layer; stable across versions.
    ConceptId = "concept";
    /// A mapping from one concept to its canonical one.
    ConceptAliasId = "concept_alias";
    /// One step of an event's lifecycle; the resume cursor of the stream. Never an [`EventId`].
    LifecycleId = "lce";
    /// A job without a prefix of its own.
    JobId = "job";
    /// A bulk write.
    BatchId = "batch";
    /// An import job.
    ImportId = "imp";
    /// An export job.
    ExportId = "exp";
    /// A preview of an erasure.
    ErasurePreviewId = "ervw";
    /// A preview of what a request to forget would remove.
    ForgetPreviewId = "fpvw";
    /// An erasure.
    ErasureId = "erasure";
    /// A recall pack.
    PackId = "pack";
    /// A row of the audit log.
    AuditId = "audit";
    /// An uploaded blob.
    BlobId = "blob";
    /// A resolved entity.
    EntityId = "ent";
    /// A request, echoed in `X-Cortex-Request-ID`.
    RequestId = "req";
    /// An entry of the token revocation list.
    TokenId = "tok";
}

macro_rules! bare_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name([u8; 16]);

            impl $name {
                /// An id made of these 16 bytes.
                pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                    Self(bytes)
                }

                /// The 16 bytes of the UUID.
                pub const fn as_bytes(&self) -> &[u8; 16] {
                    &self.0
                }

                /// A UUIDv7 of this instant; see [`uuid_v7`].
                pub fn mint(at: Micros, entropy: [u8; 8]) -> Self {
                    Self(uuid_v7(at, entropy))
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(&hex::encode(&self.0))
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(&hex::encode(&self.0))
                }
            }

            impl FromStr for $name {
                type Err = IdError;
                fn from_str(text: &str) -> Result<Self, IdError> {
                    uuid(text).map(Self).ok_or(IdError::NotBare)
                }
            }
        )*
    };
}

bare_ids! {
    /// A disagreement between claims. Without a prefix, as those who ask about claims send it.
    ConflictId;
    /// A claim as it is recorded: a version of a fact, or a side of a conflict. Likewise.
    RecordId;
}

/// Why a text is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The prefix belongs to another kind of id, or there is none.
    #[error("expected an id that starts with `{expected}_`")]
    WrongPrefix {
        /// The prefix this kind of id has.
        expected: &'static str,
    },
    /// The part after the prefix is not a UUID.
    #[error("expected 32 hex digits after `{expected}_`")]
    NotAUuid {
        /// The prefix this kind of id has.
        expected: &'static str,
    },
    /// It is no UUID, of a kind of id that has no prefix.
    #[error("expected a UUID of 32 hex digits")]
    NotBare,
}

/// A UUIDv7: 48 bits of milliseconds, 12 bits of the microsecond within it, 62 bits of entropy.
///
/// The sub-millisecond bits make ids minted at strictly increasing instants sort in that order,
/// which is what "monotonic per node" asks for.
pub fn uuid_v7(at: Micros, entropy: [u8; 8]) -> [u8; 16] {
    let micros = at.0.max(0).unsigned_abs();
    let millis = micros / 1_000;
    // 0..=999 scaled to 12 bits keeps the order and leaves no gap that entropy could disturb.
    let fraction = ((micros % 1_000) * 4_096 / 1_000) as u16;
    let ms = millis.to_be_bytes();
    let [_, _, m0, m1, m2, m3, m4, m5] = ms;
    let [f0, f1] = fraction.to_be_bytes();
    let [e0, e1, e2, e3, e4, e5, e6, e7] = entropy;
    [m0, m1, m2, m3, m4, m5, 0x70 | (f0 & 0x0F), f1, 0x80 | (e0 & 0x3F), e1, e2, e3, e4, e5, e6, e7]
}

fn print(f: &mut fmt::Formatter<'_>, prefix: &str, bytes: &[u8; 16]) -> fmt::Result {
    // In one piece: a text that grows with each is moved each time.
    let mut text = String::with_capacity(prefix.len() + 1 + 2 * bytes.len());
    text.push_str(prefix);
    text.push('_');
    hex::push(&mut text, bytes);
    f.write_str(&text)
}

fn parse(expected: &'static str, text: &str) -> Result<[u8; 16], IdError> {
    let rest = text
        .strip_prefix(expected)
        .and_then(|rest| rest.strip_prefix('_'))
        .ok_or(IdError::WrongPrefix { expected })?;
    uuid(rest).ok_or(IdError::NotAUuid { expected })
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    if text.len() > 36 {
        return None;
    }
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    hex::decode_array::<16>(&digits)
}

#[cfg(test)]
mod tests;

//! Who is calling: tokens, the keys that may sign them, and minting.
//!
//! The only product crate that names the token libraries. It is synchronous, has no clock of its own
//! (`now` is a parameter) and no network: whoever fetches keys hands their text to [`KeySet`].
//! Whether a token was revoked and what its bearer may do is decided elsewhere.

mod error;
mod json;
mod claims;
mod keyset;
mod verify;
mod mint;
#[cfg(test)]
mod testing;

pub use claims::{Claims, parse_scope_entry};
pub use error::{KeyProblem, KeySetError, MintError, TokenError};
pub use keyset::{KeySet, Loaded};
pub use mint::{Minter, PublicKey, trust_file};
pub use verify::{VerifiedToken, verify, verify_office};

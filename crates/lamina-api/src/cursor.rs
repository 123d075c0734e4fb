//! Opaque cursors: a position that only this server can have made, and only for this query.
//!
//! A cursor is a `c` and the base64url of the hidden position and a MAC over position and query. The `c`
//! keeps the beginning of a cursor that was cut off from being read as a number. The MAC key belongs
//! to the server and comes in as a function; the query is bound by the hash of its filters, so that a
//! cursor cannot be carried over to another scope or another sort order. `limit` is not bound: pages
//! may change size.
//!
//! The position is hidden because it counts what the reader may not see: how many scopes there are
//! before this one, which row comes after the last that was shown. The MAC is what the mask is made
//! from, so equal positions give equal cursors and different ones share no mask.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lamina_types::ErrorCode;

use crate::error::ApiError;
use crate::page::PageStart;

/// A keyed hash of the server.
pub type Mac<'a> = &'a dyn Fn(&[u8]) -> [u8; 32];

/// What every cursor begins with, and no number.
const MARK: &str = "c";
/// Bytes of the MAC that a cursor carries.
const MAC_BYTES: usize = 16;
/// Bytes of a position.
pub const POSITION_BYTES_MAX: usize = 256;
/// Separates cursors from everything else the key may authenticate, and says their version.
const DOMAIN: &[u8] = b"lamina.cursor.3";
/// The same for what hides the position.
const MASK_DOMAIN: &[u8] = b"lamina.cursor.3.mask";

/// A cursor for the position after which the next page starts.
pub fn encode(position: &[u8], query: &[u8; 32], mac: Mac<'_>) -> String {
    let tag = tag(position, query, mac);
    let mut bytes = masked(position, &tag, mac);
    bytes.extend_from_slice(&tag);
    format!("{MARK}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// Where a page starts: at the beginning, at an offset (a plain number, which some clients count
/// themselves), or after the position of a cursor.
pub fn decode(cursor: Option<&str>, query: &[u8; 32], mac: Mac<'_>) -> Result<PageStart, ApiError> {
    let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else {
        return Ok(PageStart::Begin);
    };
    // 19 digits are the most an offset can have.
    if cursor.len() <= 19 && cursor.bytes().all(|c| c.is_ascii_digit()) {
        return cursor.parse().map(PageStart::Offset).map_err(|_| refused());
    }
    if cursor.len() > (POSITION_BYTES_MAX + MAC_BYTES) * 2 {
        return Err(refused());
    }
    let coded = cursor.strip_prefix(MARK).ok_or_else(refused)?;
    let bytes = URL_SAFE_NO_PAD.decode(coded).map_err(|_| refused())?;
    let (hidden, found) = bytes
        .len()
        .checked_sub(MAC_BYTES)
        .and_then(|at| bytes.split_at_checked(at))
        .ok_or_else(refused)?;
    let position = masked(hidden, found, mac);
    match equal(found, &tag(&position, query, mac)) {
        true => Ok(PageStart::After(position)),
        false => Err(refused()),
    }
}

/// Hides a position, or shows a hidden one: the same bytes are laid over it either way.
fn masked(position: &[u8], tag: &[u8], mac: Mac<'_>) -> Vec<u8> {
    let blocks = position.chunks(32).zip(0u32..).flat_map(|(block, number)| {
        let mask = mac(&[MASK_DOMAIN, &number.to_le_bytes(), tag].concat());
        block.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect::<Vec<_>>()
    });
    blocks.collect()
}

fn refused() -> ApiError {
    ApiError::at(
        ErrorCode::InvalidCursor,
        "cursor",
        "not a cursor of this query; start again without one",
    )
}

fn tag(position: &[u8], query: &[u8; 32], mac: Mac<'_>) -> [u8; MAC_BYTES] {
    // Domain and query have fixed lengths, so the parts cannot run into each other.
    let mut message = DOMAIN.to_vec();
    message.extend_from_slice(query);
    message.extend_from_slice(position);
    let full = mac(&message);
    let mut tag = [0; MAC_BYTES];
    for (to, from) in tag.iter_mut().zip(full) {
        *to = from;
    }
    tag
}

/// Compares without telling by its time how much was right.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
}

#[cfg(test)]
mod tests;

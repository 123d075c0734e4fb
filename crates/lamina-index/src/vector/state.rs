//! What a store of vectors says of itself: which space, how many rows count, how far it has come.
//!
//! ```text
//! layout u16, generation u32, rows u32, scopes_bytes u64, applied u64, dims u16, model len u16, model,
//! removed count u32, row number u32 each, crc32c u32                              little endian
//! ```
//!
//! The rows named as removed are those whose bytes are being overwritten. They are named before it
//! begins, so that a row torn in the middle of it is not taken for damage.

use super::Space;
use super::rows::Fields;

/// Changes with every change of what the files hold.
pub(crate) const LAYOUT: u16 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) space: Space,
    /// Part of the names of the files that count.
    pub(super) generation: u32,
    /// Rows that count; what comes after them was never committed.
    pub(super) rows: u32,
    /// Bytes of the table of scopes that count.
    pub(super) scopes_bytes: u64,
    /// Every log entry before this offset is in here.
    pub(super) applied: u64,
    /// Rows that are being overwritten with zeros.
    pub(super) removed: Vec<u32>,
}

impl State {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.removed.len() * 4);
        out.extend_from_slice(&LAYOUT.to_le_bytes());
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&self.rows.to_le_bytes());
        out.extend_from_slice(&self.scopes_bytes.to_le_bytes());
        out.extend_from_slice(&self.applied.to_le_bytes());
        out.extend_from_slice(&self.space.dims.to_le_bytes());
        let model = self.space.model.as_bytes();
        let length = u16::try_from(model.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend(model.iter().take(usize::from(length)));
        out.extend_from_slice(&u32::try_from(self.removed.len()).unwrap_or(u32::MAX).to_le_bytes());
        for row in &self.removed {
            out.extend_from_slice(&row.to_le_bytes());
        }
        let crc = crc32c::crc32c(&out);
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    /// None if it is of another layout or damaged.
    pub(super) fn decode(bytes: &[u8]) -> Option<State> {
        let (body, crc) = bytes.split_last_chunk::<4>()?;
        if crc32c::crc32c(body) != u32::from_le_bytes(*crc) {
            return None;
        }
        let mut fields = Fields(body);
        if u16::from_le_bytes(fields.take()?) != LAYOUT {
            return None;
        }
        let generation = u32::from_le_bytes(fields.take()?);
        let rows = u32::from_le_bytes(fields.take()?);
        let scopes_bytes = u64::from_le_bytes(fields.take()?);
        let applied = u64::from_le_bytes(fields.take()?);
        let dims = u16::from_le_bytes(fields.take()?);
        let length = usize::from(u16::from_le_bytes(fields.take()?));
        let (model, rest) = fields.0.split_at_checked(length)?;
        let model = String::from_utf8(model.to_vec()).ok()?;
        let mut fields = Fields(rest);
        let count = u32::from_le_bytes(fields.take()?);
        let removed: Option<Vec<u32>> =
            (0..count).map(|_| fields.take().map(u32::from_le_bytes)).collect();
        let removed = removed?;
        let space = Space { model, dims };
        fields.0.is_empty().then_some(State {
            space,
            generation,
            rows,
            scopes_bytes,
            applied,
            removed,
        })
    }
}

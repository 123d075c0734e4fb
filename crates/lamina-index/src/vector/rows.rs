//! The bytes of a vector on disk: rows of one length, so that a row's number is its place.
//!
//! ```text
//! row: crc32c u32, scope u32, layer u8, 0 u8 x 3, part u32, id[16], offset u64, recorded i64,
//!      valid_from i64, valid_until i64 (i64::MAX: none), one byte per dimension     little endian
//! ```
//!
//! The checksum covers everything after it. A row of zeros is a removed one.

use lamina_types::{Micros, RecordedAt, ValidAt};

use crate::document::{Layer, RecordKey};
use crate::filter::Candidate;

/// Bytes before the vector.
pub(super) const HEAD: usize = 64;

/// One vector and what is known of its document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Number of the scope in the store's table.
    pub(super) scope: u32,
    pub(crate) candidate: Candidate,
    pub(crate) values: Box<[i8]>,
}

/// What stands in a place for a row.
#[derive(Debug, PartialEq)]
pub(super) enum Slot {
    Live(Row),
    /// Zeros: it was removed.
    Removed,
    /// Neither: the file is damaged.
    Damaged,
}

/// Bytes of a row with this many dimensions.
pub(super) fn row_bytes(dims: u16) -> usize {
    HEAD + usize::from(dims)
}

impl Row {
    /// Appends the row to `out`.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let Candidate { key, offset, recorded, valid_from, valid_until } = &self.candidate;
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.scope.to_le_bytes());
        out.extend_from_slice(&[key.layer as u8, 0, 0, 0]);
        out.extend_from_slice(&key.part.to_le_bytes());
        out.extend_from_slice(&key.id);
        out.extend_from_slice(&offset.to_le_bytes());
        out.extend_from_slice(&recorded.0.0.to_le_bytes());
        out.extend_from_slice(&valid_from.0.0.to_le_bytes());
        out.extend_from_slice(&valid_until.map_or(i64::MAX, |until| until.0.0).to_le_bytes());
        out.extend(self.values.iter().map(|value| value.cast_unsigned()));
        let crc = crc32c::crc32c(out.get(start + 4..).unwrap_or_default());
        if let Some(place) = out.get_mut(start..start + 4) {
            place.copy_from_slice(&crc.to_le_bytes());
        }
    }

    /// Reads what stands in a row's place.
    pub(super) fn decode(bytes: &[u8]) -> Slot {
        if bytes.iter().all(|byte| *byte == 0) {
            return Slot::Removed;
        }
        match Row::live(bytes) {
            Some(row) => Slot::Live(row),
            None => Slot::Damaged,
        }
    }

    fn live(bytes: &[u8]) -> Option<Row> {
        let mut fields = Fields(bytes);
        let crc = u32::from_le_bytes(fields.take()?);
        if crc != crc32c::crc32c(fields.0) {
            return None;
        }
        let scope = u32::from_le_bytes(fields.take()?);
        let [layer, _, _, _] = fields.take()?;
        let part = u32::from_le_bytes(fields.take()?);
        let id = fields.take()?;
        let offset = u64::from_le_bytes(fields.take()?);
        let recorded = RecordedAt(Micros(i64::from_le_bytes(fields.take()?)));
        let valid_from = ValidAt(Micros(i64::from_le_bytes(fields.take()?)));
        let until = i64::from_le_bytes(fields.take()?);
        let valid_until = (until != i64::MAX).then_some(ValidAt(Micros(until)));
        let key = RecordKey { layer: Layer::from_number(layer)?, id, part };
        Some(Row {
            scope,
            candidate: Candidate { key, offset, recorded, valid_from, valid_until },
            values: fields.0.iter().map(|byte| byte.cast_signed()).collect(),
        })
    }
}

/// Reads fields from the front.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }
}

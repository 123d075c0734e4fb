//! Little-endian numbers out of a byte slice, without a panic: running short is `None`.

/// Takes fixed-size values off the front of a slice.
#[derive(Debug)]
pub(crate) struct Take<'a> {
    rest: &'a [u8],
}

impl<'a> Take<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Take<'a> {
        Take { rest: bytes }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }
}

/// The bytes from `position` on; empty past the end.
pub(crate) fn from(bytes: &[u8], position: usize) -> &[u8] {
    bytes.get(position..).unwrap_or(&[])
}

/// A file position as an index into memory.
pub(super) fn index(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// One past the last byte that is not zero.
pub(super) fn written_len(bytes: &[u8]) -> usize {
    // Whole blocks first: a preallocated segment is mostly zeros.
    static ZEROS: [u8; 256] = [0; 256];
    let mut end = bytes.len();
    while let Some(start) = end.checked_sub(ZEROS.len())
        && bytes.get(start..end) == Some(&ZEROS)
    {
        end = start;
    }
    bytes
        .get(..end)
        .and_then(|head| head.iter().rposition(|byte| *byte != 0))
        .map_or(0, |last| last + 1)
}

//! The primitives under every codec and row: varints, lengths, and fields of (tag, length, bytes).
//!
//! A reader only ever hands out slices of what it was given, so hostile bytes cannot make it
//! allocate more than they are long.

use crate::codec::CodecError;

/// Appends fields.
#[derive(Debug)]
pub(crate) struct FieldWriter {
    bytes: Vec<u8>,
}

impl FieldWriter {
    /// Starts a record of this version, with room for so many bytes.
    pub(crate) fn new(version: u8, capacity: usize) -> FieldWriter {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.push(version);
        FieldWriter { bytes }
    }

    /// Appends a field.
    pub(crate) fn field(&mut self, tag: u8, value: &[u8]) {
        self.bytes.push(tag);
        put_varint(&mut self.bytes, value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// Appends a field, if there is a value.
    pub(crate) fn optional(&mut self, tag: u8, value: Option<&[u8]>) {
        if let Some(value) = value {
            self.field(tag, value);
        }
    }

    /// Appends a field that holds a number.
    pub(crate) fn number(&mut self, tag: u8, value: u64) {
        let mut digits = Vec::with_capacity(10);
        put_varint(&mut digits, value);
        self.field(tag, &digits);
    }

    /// The finished record.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Opens a record of a known version.
pub(crate) fn fields(bytes: &[u8], supported: u8) -> Result<Fields<'_>, CodecError> {
    match bytes.split_first() {
        None => Err(CodecError::Truncated),
        Some((found, rest)) if *found == supported => Ok(Fields { rest }),
        Some((found, _)) => Err(CodecError::Version { found: *found, supported }),
    }
}

/// Walks the fields of a record.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The next field.
    pub(crate) fn next(&mut self) -> Result<Option<(u8, &'a [u8])>, CodecError> {
        let Some((tag, rest)) = self.rest.split_first() else {
            return Ok(None);
        };
        let mut cursor = Cursor { rest };
        let value = cursor.sized()?;
        self.rest = cursor.rest;
        Ok(Some((*tag, value)))
    }
}

/// Reads plain values one after another.
#[derive(Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: bytes }
    }

    /// Whether everything was read.
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// Everything that is left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// So many bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(CodecError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(CodecError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, CodecError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A number of 1 to 10 bytes. Only the shortest form is accepted, so that equal records have
    /// equal bytes.
    pub fn varint(&mut self) -> Result<u64, CodecError> {
        const MALFORMED: CodecError = CodecError::Malformed { field: "varint" };
        let mut value = 0u64;
        for index in 0..10u32 {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            let shifted = bits << (7 * index);
            if shifted >> (7 * index) != bits {
                return Err(MALFORMED);
            }
            value |= shifted;
            if byte & 0x80 == 0 {
                return if byte == 0 && index > 0 { Err(MALFORMED) } else { Ok(value) };
            }
        }
        Err(MALFORMED)
    }

    /// An instant or other signed number of 8 bytes, little endian.
    pub fn signed(&mut self) -> Result<i64, CodecError> {
        self.array().map(i64::from_le_bytes)
    }

    /// Bytes with their length before them.
    pub fn sized(&mut self) -> Result<&'a [u8], CodecError> {
        let len = self.varint()?;
        self.take(usize::try_from(len).map_err(|_| CodecError::Truncated)?)
    }
}

/// Appends a number in 1 to 10 bytes.
pub fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends bytes with their length before them.
pub fn put_sized(bytes: &mut Vec<u8>, value: &[u8]) {
    put_varint(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

/// Sets a field that may be there only once.
pub(crate) fn once<T>(
    slot: &mut Option<T>,
    value: T,
    field: &'static str,
) -> Result<(), CodecError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(CodecError::Twice { field }),
    }
}

/// The value of a field that must be there.
pub(crate) fn required<T>(slot: Option<T>, field: &'static str) -> Result<T, CodecError> {
    slot.ok_or(CodecError::Missing { field })
}

/// The bytes as text.
pub(crate) fn text<'a>(value: &'a [u8], field: &'static str) -> Result<&'a str, CodecError> {
    std::str::from_utf8(value).map_err(|_| CodecError::Malformed { field })
}

/// The bytes as text of its own.
pub(crate) fn string(value: &[u8], field: &'static str) -> Result<String, CodecError> {
    text(value, field).map(str::to_owned)
}

/// The bytes as a value with a grammar.
pub(crate) fn parsed<T: std::str::FromStr>(
    value: &[u8],
    field: &'static str,
) -> Result<T, CodecError> {
    text(value, field)?.parse().map_err(|_| CodecError::Malformed { field })
}

/// The bytes as exactly `N` bytes.
pub(crate) fn array<const N: usize>(
    value: &[u8],
    field: &'static str,
) -> Result<[u8; N], CodecError> {
    value.try_into().map_err(|_| CodecError::Malformed { field })
}

/// The bytes as exactly one number.
pub(crate) fn number(value: &[u8], field: &'static str) -> Result<u64, CodecError> {
    let mut cursor = Cursor::new(value);
    let number = cursor.varint()?;
    if cursor.is_done() { Ok(number) } else { Err(CodecError::Malformed { field }) }
}

/// The bytes as the ordinal of a tenant.
pub(crate) fn ordinal(value: &[u8], field: &'static str) -> Result<u32, CodecError> {
    u32::try_from(number(value, field)?).map_err(|_| CodecError::Malformed { field })
}

/// The bytes as ids of 16 bytes each, back to back.
pub(crate) fn ids<T>(
    value: &[u8],
    field: &'static str,
    make: impl Fn([u8; 16]) -> T,
) -> Result<Vec<T>, CodecError> {
    let (chunks, rest) = value.as_chunks::<16>();
    if !rest.is_empty() {
        return Err(CodecError::Malformed { field });
    }
    Ok(chunks.iter().map(|chunk| make(*chunk)).collect())
}

#[cfg(test)]
mod tests;

//! The encoding of text files: UTF-8 is passed on without its byte order mark, UTF-16 is decoded, and
//! everything else is an error with the remedy.

use std::io::{self, Read};

/// The encoding of a text, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-8 without a mark.
    Utf8,
    /// UTF-8 with a mark.
    Utf8Mark,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// UTF-32, which is not read.
    Utf32,
}

/// Why a text cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// UTF-32.
    #[error("the text is UTF-32; convert it to UTF-8")]
    Utf32,
    /// Half of a surrogate pair, or half of a unit at the end.
    #[error("the text is not well-formed UTF-16 at byte {0}")]
    Utf16(u64),
}

impl TextEncoding {
    /// The encoding of a text that begins with these bytes.
    pub fn detect(head: &[u8]) -> TextEncoding {
        match head {
            [0xff, 0xfe, 0, 0, ..]
            | [0, 0, 0xfe, 0xff, ..]
            | [_, 0, 0, 0, ..]
            | [0, 0, 0, _, ..] => TextEncoding::Utf32,
            [0xef, 0xbb, 0xbf, ..] => TextEncoding::Utf8Mark,
            [0xff, 0xfe, ..] => TextEncoding::Utf16Le,
            [0xfe, 0xff, ..] => TextEncoding::Utf16Be,
            // Without a mark: the first character of a document is ASCII.
            [1..=0x7f, 0, 1..=0x7f, 0, ..] => TextEncoding::Utf16Le,
            [0, 1..=0x7f, 0, 1..=0x7f, ..] => TextEncoding::Utf16Be,
            _ => TextEncoding::Utf8,
        }
    }

    /// The sentence of a report, if the text had to be changed.
    pub fn note(self) -> Option<&'static str> {
        match self {
            TextEncoding::Utf8 | TextEncoding::Utf32 => None,
            TextEncoding::Utf8Mark => Some("a byte order mark was removed"),
            TextEncoding::Utf16Le | TextEncoding::Utf16Be => Some("UTF-16 was decoded to UTF-8"),
        }
    }
}

/// Passes a text on as UTF-8. Faults arrive as `io::Error` around an [`EncodingError`].
#[derive(Debug)]
pub struct TextReader<R> {
    inner: R,
    encoding: TextEncoding,
    /// Bytes that were read to see the encoding, or decoded and not asked for yet.
    ready: Vec<u8>,
    ready_at: usize,
    /// Bytes of UTF-16 that wait for their second half.
    pending: Vec<u8>,
    position: u64,
}

impl<R: Read> TextReader<R> {
    /// Reads the first bytes and decides.
    pub fn new(mut inner: R) -> io::Result<TextReader<R>> {
        let mut head = [0; 4];
        let mut count = 0;
        while let Some(rest) = head.get_mut(count..).filter(|rest| !rest.is_empty()) {
            match inner.read(rest) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let head = head.get(..count).unwrap_or_default();
        let encoding = TextEncoding::detect(head);
        let mark_bytes = match encoding {
            TextEncoding::Utf8Mark => 3,
            TextEncoding::Utf16Le if head.starts_with(&[0xff, 0xfe]) => 2,
            TextEncoding::Utf16Be if head.starts_with(&[0xfe, 0xff]) => 2,
            TextEncoding::Utf32 => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, EncodingError::Utf32));
            }
            _ => 0,
        };
        let rest = head.get(mark_bytes..).unwrap_or_default().to_vec();
        let position = mark_bytes as u64;
        let (ready, pending) = match encoding {
            TextEncoding::Utf16Le | TextEncoding::Utf16Be => (Vec::new(), rest),
            _ => (rest, Vec::new()),
        };
        Ok(TextReader { inner, encoding, ready, ready_at: 0, pending, position })
    }

    /// The encoding that was found.
    pub fn encoding(&self) -> TextEncoding {
        self.encoding
    }

    /// Decodes some more UTF-16; nothing is ready after it only at the end.
    fn decode(&mut self) -> io::Result<()> {
        let mut buffer = [0; 8_192];
        while self.ready_at == self.ready.len() {
            let count = match self.inner.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.pending.extend_from_slice(buffer.get(..count).unwrap_or_default());
            let is_end = count == 0;
            let text = self.take_units(is_end)?;
            self.ready = text.into_bytes();
            self.ready_at = 0;
            if is_end {
                break;
            }
        }
        Ok(())
    }

    /// The text of all whole characters that wait.
    fn take_units(&mut self, is_end: bool) -> io::Result<String> {
        let (pairs, odd) = self.pending.as_chunks::<2>();
        let mut units: Vec<u16> = pairs
            .iter()
            .map(|pair| match self.encoding {
                TextEncoding::Utf16Be => u16::from_be_bytes(*pair),
                _ => u16::from_le_bytes(*pair),
            })
            .collect();
        let is_cut = matches!(units.last(), Some(0xd800..=0xdbff));
        if is_cut && !is_end {
            units.pop();
        }
        let kept = self.pending.len() - units.len() * 2;
        if is_end && !odd.is_empty() {
            return Err(self.broken(self.position + units.len() as u64 * 2));
        }
        let mut text = String::with_capacity(units.len());
        for (index, c) in char::decode_utf16(units.iter().copied()).enumerate() {
            match c {
                Ok(c) => text.push(c),
                Err(_) => return Err(self.broken(self.position + index as u64 * 2)),
            }
        }
        self.position += units.len() as u64 * 2;
        self.pending.drain(..self.pending.len() - kept);
        Ok(text)
    }

    fn broken(&self, position: u64) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, EncodingError::Utf16(position))
    }
}

impl<R: Read> Read for TextReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let is_wide = matches!(self.encoding, TextEncoding::Utf16Le | TextEncoding::Utf16Be);
        if is_wide {
            self.decode()?;
        }
        let mut ready = self.ready.get(self.ready_at..).unwrap_or_default();
        if ready.is_empty() {
            return if is_wide { Ok(0) } else { self.inner.read(buffer) };
        }
        let count = ready.read(buffer)?;
        self.ready_at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests;

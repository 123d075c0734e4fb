//! Lines of a file that is larger than memory, for formats with one JSON value per line.

use std::io::{self, BufRead, BufReader, Read};

use super::error::Position;

/// One line that is not blank, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLine {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where it begins.
    pub start: Position,
}

/// Why there is no line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is longer than the reader holds; the next one can be read.
    #[error("the line has more than {bytes_max} bytes, at {start}")]
    TooLong {
        /// Where it begins.
        start: Position,
        /// The limit.
        bytes_max: usize,
    },
    /// The bytes could not be read; there is nothing after this.
    #[error("reading failed after {start}")]
    Io {
        /// The last place that was read.
        start: Position,
        /// The cause.
        source: io::Error,
    },
}

/// Reads line by line; lines that are too long are skipped without holding them.
#[derive(Debug)]
pub struct LineReader<R> {
    inner: BufReader<R>,
    bytes_max: usize,
    next: Position,
    is_done: bool,
}

impl<R: Read> LineReader<R> {
    /// A reader of lines with at most so many bytes.
    pub fn new(inner: R, bytes_max: usize) -> LineReader<R> {
        let inner = BufReader::with_capacity(65_536, inner);
        LineReader { inner, bytes_max, next: Position::START, is_done: false }
    }

    /// Reads up to the end of the line; `None` at the end of the file.
    fn read_line(&mut self) -> Result<Option<RawLine>, LineError> {
        let mut line = RawLine { bytes: Vec::new(), start: self.next, is_too_long: false };
        loop {
            let filled = match self.inner.fill_buf() {
                Ok(filled) => filled,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(LineError::Io { start: self.next, source }),
            };
            if filled.is_empty() {
                let is_end = self.next.byte == line.start.byte;
                return Ok((!is_end).then_some(line));
            }
            let end = filled.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(filled.len());
            let piece = filled.get(..length).unwrap_or_default();
            if line.bytes.len() + piece.len() > self.bytes_max {
                line.is_too_long = true;
                line.bytes = Vec::new();
            }
            if !line.is_too_long {
                line.bytes.extend_from_slice(piece);
            }
            let used = length + usize::from(end.is_some());
            self.inner.consume(used);
            self.next.byte += used as u64;
            if end.is_some() {
                self.next.line += 1;
                return Ok(Some(line));
            }
        }
    }
}

struct RawLine {
    bytes: Vec<u8>,
    start: Position,
    is_too_long: bool,
}

impl<R: Read> Iterator for LineReader<R> {
    type Item = Result<TextLine, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_done {
            match self.read_line() {
                Ok(None) => self.is_done = true,
                Ok(Some(RawLine { start, is_too_long: true, .. })) => {
                    return Some(Err(LineError::TooLong { start, bytes_max: self.bytes_max }));
                }
                Ok(Some(RawLine { mut bytes, start, .. })) => {
                    if bytes.last() == Some(&b'\r') {
                        bytes.pop();
                    }
                    if !bytes.trim_ascii().is_empty() {
                        return Some(Ok(TextLine { bytes, start }));
                    }
                }
                Err(error) => {
                    self.is_done = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

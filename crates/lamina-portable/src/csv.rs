//! CSV files (RFC 4180): streamed, with limits on columns, fields and records.
//!
//! A quote that opens a field must close it. A quote in the middle of a field without quotes is text,
//! because people write inches.

use std::io::{self, BufRead, BufReader, Read};

use crate::json::Position;

mod columns;

pub(crate) use columns::BoundColumns;
pub use columns::{ColumnMap, ColumnMapError, RowField};

/// How much a record may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvLimits {
    /// Fields of one record.
    pub columns_max: usize,
    /// Bytes of one record.
    pub record_bytes_max: usize,
}

impl CsvLimits {
    /// The limits of imports.
    pub const IMPORT: CsvLimits = CsvLimits { columns_max: 1_000, record_bytes_max: 4 << 20 };
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvRecord {
    /// Its fields.
    pub fields: Vec<String>,
    /// Where it begins.
    pub start: Position,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// More fields than are read; the next record can be read.
    #[error("the record has more than {max} columns, at {start}")]
    ColumnsTooMany {
        /// Where it begins.
        start: Position,
        /// The limit.
        max: usize,
    },
    /// More bytes than are held; the next record can be read.
    #[error("the record has more than {max} bytes, at {start}")]
    TooLarge {
        /// Where it begins.
        start: Position,
        /// The limit.
        max: usize,
    },
    /// Text behind a closing quote; the next record can be read.
    #[error("text follows a closing quote, at {at}; double the quotes inside of a quoted field")]
    AfterQuote {
        /// Where the text is.
        at: Position,
    },
    /// A field that is no UTF-8; the next record can be read.
    #[error("the record is not UTF-8, at {start}")]
    Utf8 {
        /// Where the record begins.
        start: Position,
    },
    /// The file ends inside quotes.
    #[error("the quote that opens at {opened} is never closed")]
    Unclosed {
        /// Where the quote is.
        opened: Position,
    },
    /// The bytes could not be read.
    #[error("reading failed after {position}")]
    Io {
        /// The last place that was read.
        position: Position,
        /// The cause.
        source: io::Error,
    },
}

/// Reads record by record.
#[derive(Debug)]
pub struct CsvReader<R> {
    inner: BufReader<R>,
    delimiter: u8,
    limits: CsvLimits,
    position: Position,
    is_done: bool,
}

/// Where the reader stands inside of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldState {
    Start,
    Plain,
    Quoted,
    /// Behind a quote inside of a quoted field: an escaped one or the end.
    QuoteSeen,
}

/// A record that is being read.
struct OpenRecord {
    start: Position,
    bytes: Vec<u8>,
    /// Where each field ends.
    ends: Vec<usize>,
    state: FieldState,
    opened: Position,
    fault: Option<CsvError>,
}

impl<R: Read> CsvReader<R> {
    /// A reader of fields separated by this byte.
    pub fn new(inner: R, delimiter: u8, limits: CsvLimits) -> CsvReader<R> {
        let inner = BufReader::with_capacity(65_536, inner);
        CsvReader { inner, delimiter, limits, position: Position::START, is_done: false }
    }

    fn read_record(&mut self) -> Result<Option<CsvRecord>, CsvError> {
        let mut record = OpenRecord::new(self.position);
        loop {
            let position = self.position;
            let filled = match self.inner.fill_buf() {
                Ok(filled) => filled,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(CsvError::Io { position, source }),
            };
            if filled.is_empty() {
                self.is_done = true;
                return match record.state {
                    FieldState::Quoted => Err(CsvError::Unclosed { opened: record.opened }),
                    FieldState::Start if record.ends.is_empty() => Ok(None),
                    _ => record.finish().map(Some),
                };
            }
            let mut used = 0;
            let mut is_complete = false;
            for byte in filled {
                used += 1;
                let at = self.position;
                self.position.step(*byte);
                if record.push(*byte, self.delimiter, at, &self.limits) {
                    is_complete = true;
                    break;
                }
            }
            self.inner.consume(used);
            if is_complete {
                return record.finish().map(Some);
            }
        }
    }
}

impl OpenRecord {
    fn new(start: Position) -> OpenRecord {
        let (bytes, ends) = (Vec::new(), Vec::new());
        OpenRecord { start, bytes, ends, state: FieldState::Start, opened: start, fault: None }
    }

    /// Takes one byte; `true` at the end of the record.
    fn push(&mut self, byte: u8, delimiter: u8, at: Position, limits: &CsvLimits) -> bool {
        match (self.state, byte) {
            (FieldState::Quoted, b'"') => self.state = FieldState::QuoteSeen,
            (FieldState::Quoted, _) => self.keep(byte, limits),
            (FieldState::Start, b'"') => {
                self.state = FieldState::Quoted;
                self.opened = at;
            }
            (FieldState::QuoteSeen, b'"') => {
                self.keep(byte, limits);
                self.state = FieldState::Quoted;
            }
            (_, b'\n') => return true,
            (_, b'\r') if self.state == FieldState::QuoteSeen => {}
            (_, byte) if byte == delimiter => {
                self.end_field(limits);
                self.state = FieldState::Start;
            }
            (FieldState::QuoteSeen, _) => {
                self.fault.get_or_insert(CsvError::AfterQuote { at });
            }
            (FieldState::Start | FieldState::Plain, _) => {
                self.keep(byte, limits);
                self.state = FieldState::Plain;
            }
        }
        false
    }

    fn keep(&mut self, byte: u8, limits: &CsvLimits) {
        if self.bytes.len() >= limits.record_bytes_max {
            let (start, max) = (self.start, limits.record_bytes_max);
            self.fault.get_or_insert(CsvError::TooLarge { start, max });
        }
        if self.fault.is_none() {
            self.bytes.push(byte);
        }
    }

    fn end_field(&mut self, limits: &CsvLimits) {
        // The last field ends with the record.
        if self.ends.len() + 1 >= limits.columns_max {
            let (start, max) = (self.start, limits.columns_max);
            self.fault.get_or_insert(CsvError::ColumnsTooMany { start, max });
        }
        if self.fault.is_none() {
            self.ends.push(self.bytes.len());
        }
    }

    fn finish(mut self) -> Result<CsvRecord, CsvError> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if self.state == FieldState::Plain && self.bytes.last() == Some(&b'\r') {
            self.bytes.pop();
        }
        self.ends.push(self.bytes.len());
        let mut fields = Vec::with_capacity(self.ends.len());
        let mut from = 0;
        for end in self.ends {
            let field = self.bytes.get(from..end).unwrap_or_default();
            let field =
                std::str::from_utf8(field).map_err(|_| CsvError::Utf8 { start: self.start })?;
            fields.push(field.to_owned());
            from = end;
        }
        Ok(CsvRecord { fields, start: self.start })
    }
}

impl<R: Read> Iterator for CsvReader<R> {
    type Item = Result<CsvRecord, CsvError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_done {
            match self.read_record() {
                Ok(None) => return None,
                // A blank line is no record.
                Ok(Some(record))
                    if record.fields.iter().all(String::is_empty) && record.fields.len() == 1 => {}
                Ok(Some(record)) => return Some(Ok(record)),
                Err(error) => {
                    self.is_done |= matches!(error, CsvError::Io { .. });
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;

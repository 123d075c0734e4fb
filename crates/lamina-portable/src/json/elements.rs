//! JSON documents that are larger than memory: the elements of a top-level array, or of member arrays
//! of a top-level object, one at a time.
//!
//! The stream finds where an element ends by its brackets and quotes alone and hands those bytes to
//! the reader. So an element with a fault inside costs that element, and the stream goes on behind it.

use std::io::{self, Read};

use super::error::{JsonError, JsonFault, Position};
use super::policy::ReadPolicy;
use super::read::parse_at;
use super::{JsonText, Value};

const BUFFER_BYTES: usize = 65_536;

/// Options of an element stream.
#[derive(Debug, Clone, Copy)]
pub struct StreamOptions {
    /// How values are read.
    pub policy: ReadPolicy,
    /// Members of a top-level object whose arrays are taken apart.
    pub streamed: &'static [&'static str],
    /// Bytes of one element or member; larger ones are an error and are not held.
    pub value_bytes_max: usize,
}

/// One part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamItem {
    /// An element of the top-level array (no member), or of a streamed member.
    Element {
        /// The member that holds the array.
        member: Option<&'static str>,
        /// Its place in the array, from 0.
        index: u64,
        /// The element.
        value: Value,
        /// Where it begins.
        start: Position,
    },
    /// A member of the top-level object that is not streamed.
    Member {
        /// Its name.
        name: JsonText,
        /// Its value.
        value: Value,
        /// How many bytes the value takes.
        bytes: u64,
    },
    /// The end of a top-level object.
    ObjectEnd {
        /// Where it began.
        start: Position,
    },
    /// A top-level value that is neither an array nor an object.
    Scalar {
        /// The value.
        value: Value,
        /// Where it begins.
        start: Position,
    },
}

/// Why a part is missing.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// One part is at fault; the stream goes on behind it.
    #[error(transparent)]
    Part(JsonError),
    /// The document is broken here; the stream has ended.
    #[error(transparent)]
    Document(JsonError),
    /// The bytes could not be read; the stream has ended.
    #[error("reading failed after {position}")]
    Io {
        /// The last place that was read.
        position: Position,
        /// The cause.
        source: io::Error,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a top-level value.
    Top,
    /// Inside an array, before its first element.
    ArrayStart,
    /// Inside an array, after an element.
    ArrayNext,
    /// Inside the top-level object, before its first member.
    ObjectStart,
    /// Inside the top-level object, after a member.
    ObjectNext,
    /// Nothing is left.
    Done,
}

/// Reads a document part by part. Several documents may follow each other.
#[derive(Debug)]
pub struct ElementStream<R> {
    scan: Scanner<R>,
    options: StreamOptions,
    state: State,
    /// The member whose array is being read; `None` in a top-level array.
    member: Option<&'static str>,
    index: u64,
    documents: u64,
    object_start: Position,
}

impl<R: Read> ElementStream<R> {
    /// A stream over these bytes.
    pub fn new(inner: R, options: StreamOptions) -> ElementStream<R> {
        let scan = Scanner::new(inner);
        ElementStream {
            scan,
            options,
            state: State::Top,
            member: None,
            index: 0,
            documents: 0,
            object_start: Position::START,
        }
    }

    fn step(&mut self) -> Result<Option<StreamItem>, StreamError> {
        loop {
            let next = self.scan.skip_space()?;
            match self.state {
                State::Done => return Ok(None),
                State::Top => {
                    if let Some(item) = self.begin(next)? {
                        return Ok(Some(item));
                    }
                }
                State::ArrayStart | State::ArrayNext => {
                    if let Some(item) = self.element(next)? {
                        return Ok(Some(item));
                    }
                }
                State::ObjectStart | State::ObjectNext => {
                    if let Some(item) = self.object_member(next)? {
                        return Ok(Some(item));
                    }
                }
            }
        }
    }

    fn begin(&mut self, next: Option<u8>) -> Result<Option<StreamItem>, StreamError> {
        let Some(first) = next else {
            self.state = State::Done;
            return match self.documents {
                0 => Err(self.scan.broken(JsonFault::Empty)),
                _ => Ok(None),
            };
        };
        self.documents += 1;
        match first {
            b'[' => self.enter(None)?,
            b'{' => {
                self.object_start = self.scan.position;
                self.scan.bump()?;
                self.state = State::ObjectStart;
            }
            _ => {
                let start = self.scan.position;
                return self.value().map(|value| Some(StreamItem::Scalar { value, start }));
            }
        }
        Ok(None)
    }

    fn enter(&mut self, member: Option<&'static str>) -> Result<(), StreamError> {
        self.scan.bump()?;
        self.member = member;
        self.index = 0;
        self.state = State::ArrayStart;
        Ok(())
    }

    fn element(&mut self, next: Option<u8>) -> Result<Option<StreamItem>, StreamError> {
        let is_first = self.state == State::ArrayStart;
        match next {
            None => return Err(self.scan.broken(JsonFault::Truncated)),
            Some(b']') => {
                self.scan.bump()?;
                self.state = match self.member.take() {
                    None => State::Top,
                    Some(_) => State::ObjectNext,
                };
                return Ok(None);
            }
            Some(b',') if !is_first => {
                self.scan.bump()?;
                self.scan.skip_space()?;
            }
            Some(_) if is_first => {}
            Some(_) => return Err(self.scan.unexpected("`,` or `]`")),
        }
        self.state = State::ArrayNext;
        let start = self.scan.position;
        let index = self.index;
        self.index += 1;
        let value = self.value()?;
        Ok(Some(StreamItem::Element { member: self.member, index, value, start }))
    }

    fn object_member(&mut self, next: Option<u8>) -> Result<Option<StreamItem>, StreamError> {
        let is_first = self.state == State::ObjectStart;
        match next {
            None => return Err(self.scan.broken(JsonFault::Truncated)),
            Some(b'}') => {
                self.scan.bump()?;
                self.state = State::Top;
                return Ok(Some(StreamItem::ObjectEnd { start: self.object_start }));
            }
            Some(b',') if !is_first => {
                self.scan.bump()?;
                self.scan.skip_space()?;
            }
            Some(_) if is_first => {}
            Some(_) => return Err(self.scan.unexpected("`,` or `}`")),
        }
        self.state = State::ObjectNext;
        let name = self.member_name()?;
        if self.scan.skip_space()? != Some(b':') {
            return Err(self.scan.unexpected("`:`"));
        }
        self.scan.bump()?;
        let next = self.scan.skip_space()?;
        let streamed = self.options.streamed.iter().find(|member| name.as_str() == Some(**member));
        if let (Some(member), Some(b'[')) = (streamed, next) {
            self.enter(Some(member))?;
            return Ok(None);
        }
        let start = self.scan.position;
        let value = self.value()?;
        let bytes = self.scan.position.byte - start.byte;
        Ok(Some(StreamItem::Member { name, value, bytes }))
    }

    fn member_name(&mut self) -> Result<JsonText, StreamError> {
        if self.scan.peek()? != Some(b'"') {
            return Err(self.scan.unexpected("a key in quotes"));
        }
        match self.value() {
            Ok(Value::String(name)) => Ok(name),
            Ok(_) => Err(self.scan.unexpected("a key in quotes")),
            // Without its name a member cannot be skipped in good conscience.
            Err(StreamError::Part(error)) => Err(StreamError::Document(error)),
            Err(error) => Err(error),
        }
    }

    /// The value at the current place.
    fn value(&mut self) -> Result<Value, StreamError> {
        let start = self.scan.position;
        let bytes = self.scan.take_value(self.options.value_bytes_max)?;
        parse_at(&bytes, &self.options.policy, start).map_err(StreamError::Part)
    }
}

impl<R: Read> Iterator for ElementStream<R> {
    type Item = Result<StreamItem, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        // Looking for more after a failed read would fail, or inflate a bomb, again and again.
        if self.state == State::Done {
            return None;
        }
        let item = self.step();
        if matches!(item, Err(StreamError::Document(_) | StreamError::Io { .. })) {
            self.state = State::Done;
        }
        item.transpose()
    }
}

/// Bytes with their place.
#[derive(Debug)]
struct Scanner<R> {
    inner: R,
    buffer: Vec<u8>,
    at: usize,
    position: Position,
}

impl<R: Read> Scanner<R> {
    fn new(inner: R) -> Scanner<R> {
        Scanner { inner, buffer: Vec::new(), at: 0, position: Position::START }
    }

    /// The next byte; `None` at the end.
    fn peek(&mut self) -> Result<Option<u8>, StreamError> {
        if self.at == self.buffer.len() {
            self.fill()?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    fn fill(&mut self) -> Result<(), StreamError> {
        self.buffer.resize(BUFFER_BYTES, 0);
        self.at = 0;
        loop {
            match self.inner.read(&mut self.buffer) {
                Ok(count) => {
                    self.buffer.truncate(count);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    self.buffer.clear();
                    return Err(StreamError::Io { position: self.position, source });
                }
            }
        }
    }

    fn bump(&mut self) -> Result<(), StreamError> {
        if let Some(byte) = self.peek()? {
            self.position.step(byte);
            self.at += 1;
        }
        Ok(())
    }

    fn skip_space(&mut self) -> Result<Option<u8>, StreamError> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.bump()?,
                next => return Ok(next),
            }
        }
    }

    /// The bytes of the value that begins here, found by its brackets and quotes.
    fn take_value(&mut self, bytes_max: usize) -> Result<Vec<u8>, StreamError> {
        let start = self.position;
        let mut extent = Extent::default();
        let mut bytes = Vec::new();
        let mut is_too_large = false;
        loop {
            if self.peek()?.is_none() {
                // A scalar may end with the file; the reader judges whether it is whole.
                break;
            }
            let filled = self.buffer.get(self.at..).unwrap_or_default();
            let length = extent.advance(filled);
            let piece = filled.get(..length).unwrap_or_default();
            if bytes.len() + piece.len() > bytes_max {
                is_too_large = true;
                bytes = Vec::new();
            }
            if !is_too_large {
                bytes.extend_from_slice(piece);
            }
            self.position = self.position.after(piece);
            self.at += length;
            if extent.is_complete {
                break;
            }
        }
        if !extent.is_complete && extent.is_open() {
            return Err(self.broken(JsonFault::Truncated));
        }
        if is_too_large {
            let fault = JsonFault::TooLarge(bytes_max);
            return Err(StreamError::Part(JsonError { fault, position: start }));
        }
        if bytes.is_empty() {
            return Err(self.unexpected("a value"));
        }
        Ok(bytes)
    }

    fn broken(&self, fault: JsonFault) -> StreamError {
        StreamError::Document(JsonError { fault, position: self.position })
    }

    fn unexpected(&mut self, expected: &'static str) -> StreamError {
        let fault = match self.buffer.get(self.at) {
            None => JsonFault::Truncated,
            Some(byte) => {
                let found = char::from(*byte).escape_debug().to_string();
                JsonFault::Unexpected { found, expected }
            }
        };
        self.broken(fault)
    }
}

/// How far the scan of one value has come.
#[derive(Debug, Default)]
struct Extent {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    is_complete: bool,
}

impl Extent {
    /// Whether the value cannot be whole yet.
    fn is_open(&self) -> bool {
        self.depth > 0 || self.is_in_string
    }

    /// How many of these bytes belong to the value.
    fn advance(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            if self.is_in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => {
                        self.is_in_string = false;
                        self.is_complete = self.depth == 0;
                    }
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => self.is_in_string = true,
                    b'[' | b'{' => self.depth += 1,
                    b']' | b'}' if self.depth > 0 => {
                        self.depth -= 1;
                        self.is_complete = self.depth == 0;
                    }
                    // A separator ends a scalar.
                    b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\n' | b'\r' if self.depth == 0 => {
                        self.is_complete = true;
                        return at;
                    }
                    _ => {}
                }
            }
            if self.is_complete {
                return at + 1;
            }
        }
        bytes.len()
    }
}

//! The records of a JSON file, whichever way it is laid out: one value per line, an array, an object
//! with arrays in it, documents behind each other, or a JSON string that holds JSON.

use std::collections::VecDeque;
use std::io::{Cursor, Read};

use lamina_types::ErrorCode;

use super::row::ErrorCost;
use crate::json::{
    ElementStream, JsonError, JsonFault, LineError, LineReader, Member, Position, ReadPolicy,
    StreamError, StreamItem, StreamOptions, Value, parse, parse_at,
};
use crate::source::io_code;

/// Bytes of one line.
pub(super) const LINE_BYTES_MAX: usize = 8 << 20;
/// Bytes of one element of an array, such as a conversation.
pub(super) const VALUE_BYTES_MAX: usize = 48 << 20;
/// Bytes that are read to see the layout.
pub(super) const HEAD_BYTES: usize = 65_536;

/// One record of a file.
#[derive(Debug)]
pub(super) struct JsonPart {
    /// The member whose array holds it.
    pub(super) member: Option<&'static str>,
    pub(super) body: PartBody,
    pub(super) start: Position,
}

#[derive(Debug)]
pub(super) enum PartBody {
    /// An element of an array.
    Element(Value),
    /// An object that is a document or a line, without its streamed arrays.
    Object {
        value: Value,
        /// Whether streamed arrays were taken out of it.
        has_elements: bool,
    },
}

/// A record that could not be read.
#[derive(Debug)]
pub(super) struct PartError {
    pub(super) position: Position,
    pub(super) code: ErrorCode,
    pub(super) detail: String,
    pub(super) cost: ErrorCost,
}

impl PartError {
    fn of_json(error: &JsonError, cost: ErrorCost) -> PartError {
        let code = match error.fault {
            JsonFault::TooLarge(_) => ErrorCode::BodyTooLarge,
            JsonFault::Utf8 => ErrorCode::UnsupportedMediaType,
            _ => ErrorCode::InvalidBody,
        };
        PartError { position: error.position, code, detail: error.fault.to_string(), cost }
    }

    fn of_io(position: Position, error: &std::io::Error) -> PartError {
        PartError {
            position,
            code: io_code(error),
            detail: error.to_string(),
            cost: ErrorCost::File,
        }
    }
}

type Bytes = Box<dyn Read + Send>;

enum Layout {
    Lines(LineReader<Bytes>),
    Documents(ElementStream<Bytes>),
}

/// Reads the records of one file.
pub(super) struct JsonParts {
    layout: Layout,
    streamed: &'static [&'static str],
    ready: VecDeque<JsonPart>,
    /// Members of the object that is being read.
    rest: Vec<Member>,
    rest_bytes: u64,
    is_done: bool,
    has_elements: bool,
    /// Whether a JSON string that holds JSON was met.
    pub(super) had_nested_text: bool,
}

impl JsonParts {
    /// Looks at the first bytes and decides about the layout.
    pub(super) fn open(
        file_name: &str,
        mut reader: Bytes,
        streamed: &'static [&'static str],
    ) -> std::io::Result<JsonParts> {
        let mut head = Vec::new();
        reader.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        let is_lines = is_lines(file_name, &head);
        let whole: Bytes = Box::new(Cursor::new(head).chain(reader));
        let layout = match is_lines {
            true => Layout::Lines(LineReader::new(whole, LINE_BYTES_MAX)),
            false => Layout::Documents(ElementStream::new(
                whole,
                StreamOptions {
                    policy: ReadPolicy::STRICT,
                    streamed,
                    value_bytes_max: VALUE_BYTES_MAX,
                },
            )),
        };
        Ok(JsonParts {
            layout,
            streamed,
            ready: VecDeque::new(),
            rest: Vec::new(),
            rest_bytes: 0,
            is_done: false,
            has_elements: false,
            had_nested_text: false,
        })
    }

    pub(super) fn next(&mut self) -> Option<Result<JsonPart, PartError>> {
        loop {
            if let Some(part) = self.ready.pop_front() {
                return Some(Ok(part));
            }
            if self.is_done {
                return None;
            }
            let step = match &mut self.layout {
                Layout::Lines(lines) => {
                    let line = lines.next()?;
                    self.take_line(line)
                }
                Layout::Documents(stream) => {
                    let item = stream.next()?;
                    self.take_item(item)
                }
            };
            if let Err(error) = step {
                return Some(Err(error));
            }
        }
    }

    fn take_line(
        &mut self,
        line: Result<crate::json::TextLine, LineError>,
    ) -> Result<(), PartError> {
        let line = line.map_err(|error| match &error {
            LineError::TooLong { start, .. } => PartError {
                position: *start,
                code: ErrorCode::BodyTooLarge,
                detail: format!("the line has more than {LINE_BYTES_MAX} bytes"),
                cost: ErrorCost::Row,
            },
            LineError::Io { start, source } => PartError::of_io(*start, source),
        })?;
        let value = parse_at(&line.bytes, &ReadPolicy::STRICT, line.start)
            .map_err(|error| PartError::of_json(&error, ErrorCost::Row))?;
        self.take_document(value, line.start)
    }

    fn take_item(&mut self, item: Result<StreamItem, StreamError>) -> Result<(), PartError> {
        match item {
            Ok(StreamItem::Element { member, value, start, .. }) => {
                self.has_elements |= member.is_some();
                self.ready.push_back(JsonPart { member, body: PartBody::Element(value), start });
            }
            Ok(StreamItem::Member { name, value, bytes }) => {
                self.rest_bytes += bytes;
                if self.rest_bytes > VALUE_BYTES_MAX as u64 {
                    self.is_done = true;
                    return Err(too_large_object());
                }
                self.rest.push(Member { key: name, value });
            }
            Ok(StreamItem::ObjectEnd { start }) => {
                let value = Value::Object(std::mem::take(&mut self.rest));
                self.rest_bytes = 0;
                let has_elements = std::mem::take(&mut self.has_elements);
                let body = PartBody::Object { value, has_elements };
                self.ready.push_back(JsonPart { member: None, body, start });
            }
            Ok(StreamItem::Scalar { value, start }) => self.take_document(value, start)?,
            Err(StreamError::Part(error)) => {
                return Err(PartError::of_json(&error, ErrorCost::Row));
            }
            Err(StreamError::Document(error)) => {
                return Err(PartError::of_json(&error, ErrorCost::File));
            }
            Err(StreamError::Io { position, source }) => {
                return Err(PartError::of_io(position, &source));
            }
        }
        Ok(())
    }

    /// Takes a value apart that was read whole.
    fn take_document(&mut self, value: Value, start: Position) -> Result<(), PartError> {
        match value {
            Value::Object(mut members) => {
                let mut has_elements = false;
                for name in self.streamed {
                    let at = members.iter().position(|member| {
                        member.key.as_str() == Some(name) && member.value.as_array().is_some()
                    });
                    let Some(at) = at else { continue };
                    if let Value::Array(elements) = members.remove(at).value {
                        has_elements = true;
                        self.take_elements(Some(name), elements, start);
                    }
                }
                let value = Value::Object(members);
                let body = PartBody::Object { value, has_elements };
                self.ready.push_back(JsonPart { member: None, body, start });
            }
            // A line that is a list of other things is one bad line, not many.
            Value::Array(elements) if elements.iter().all(|e| e.as_object().is_some()) => {
                self.take_elements(None, elements, start);
            }
            Value::String(text) if text.to_lossy().trim_start().starts_with(['{', '[']) => {
                self.had_nested_text = true;
                let inner = parse(text.to_lossy().as_bytes(), &ReadPolicy::STRICT);
                let inner = inner.map_err(|error| PartError {
                    position: start,
                    code: ErrorCode::InvalidBody,
                    detail: format!("a JSON string holds broken JSON: {error}"),
                    cost: ErrorCost::Row,
                })?;
                return self.take_document(inner, start);
            }
            other => {
                let body = PartBody::Element(other);
                self.ready.push_back(JsonPart { member: None, body, start });
            }
        }
        Ok(())
    }

    fn take_elements(
        &mut self,
        member: Option<&'static str>,
        elements: Vec<Value>,
        start: Position,
    ) {
        let parts = elements.into_iter();
        self.ready.extend(parts.map(|value| JsonPart {
            member,
            body: PartBody::Element(value),
            start,
        }));
    }
}

fn too_large_object() -> PartError {
    let fault = JsonFault::TooLarge(VALUE_BYTES_MAX);
    PartError::of_json(&JsonError { fault, position: Position::START }, ErrorCost::File)
}

/// Whether a file holds one value per line.
pub(super) fn is_lines(file_name: &str, head: &[u8]) -> bool {
    let lower = file_name.to_ascii_lowercase();
    if lower.ends_with(".jsonl") || lower.ends_with(".ndjson") {
        return true;
    }
    let head = head.trim_ascii_start();
    let Some(end) = head.iter().position(|byte| *byte == b'\n') else { return false };
    let (first, rest) = head.split_at(end);
    let has_second = rest.trim_ascii_start().first() == Some(&b'{');
    first.first() == Some(&b'{') && has_second && parse(first, &ReadPolicy::PYTHON).is_ok()
}

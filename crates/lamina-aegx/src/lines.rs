//! One value per line, with bounded memory.

use std::io::Read;

use lamina_portable::canon;
use lamina_portable::json::{
    DuplicateKeys, JsonFault, LineError, LineReader, ReadPolicy, TextLine, Value, parse,
};

use crate::report::{Finding, FindingClass, FindingCode, Place};
use crate::shape::{Fault, is_typed_member};
use crate::verify::VerifyMode;

/// Bytes of a line, and of the manifest.
pub(crate) const LINE_BYTES_MAX: usize = 4 << 20;
/// Values of a line, counted by their separators.
pub(crate) const LINE_VALUES_MAX: usize = 50_000;

const STRICT: ReadPolicy = ReadPolicy { duplicates: DuplicateKeys::Refuse, ..ReadPolicy::AEGX };

/// A line with its number.
#[derive(Debug)]
pub(crate) struct NumberedLine {
    pub(crate) number: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Reads the lines of one file.
pub(crate) struct Lines<R> {
    inner: LineReader<R>,
    file: &'static str,
    mode: VerifyMode,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(inner: R, file: &'static str, mode: VerifyMode) -> Lines<R> {
        Lines { inner: LineReader::new(inner, LINE_BYTES_MAX), file, mode }
    }

    /// The next line that is not blank. Faults of the text itself go to `findings`.
    pub(crate) fn next(&mut self, findings: &mut Vec<Finding>) -> Option<NumberedLine> {
        loop {
            match self.inner.next()? {
                Ok(TextLine { bytes, start }) => {
                    let line = NumberedLine { number: start.line, bytes };
                    if let Some(line) = self.trim(line, findings) {
                        return Some(line);
                    }
                }
                Err(LineError::TooLong { start, bytes_max }) => {
                    let message = format!("the line has more than {bytes_max} bytes");
                    findings.push(self.unreadable(start.line, FindingCode::Limit, message));
                }
                Err(LineError::Io { start, source }) => {
                    let message = format!("reading failed: {source}");
                    let code = FindingCode::FileUnreadable;
                    findings.push(self.unreadable(start.line, code, message));
                }
            }
        }
    }

    /// A reference verifier trims every kind of space that Unicode has.
    fn trim(&self, line: NumberedLine, findings: &mut Vec<Finding>) -> Option<NumberedLine> {
        let Ok(text) = std::str::from_utf8(&line.bytes) else {
            let message = "the line is not UTF-8".to_owned();
            findings.push(self.unreadable(line.number, FindingCode::Json, message));
            return None;
        };
        let trimmed = text.trim();
        if trimmed.len() == text.trim_matches([' ', '\t', '\r', '\n']).len() {
            return Some(line);
        }
        if self.mode == VerifyMode::Strict {
            findings.push(Finding {
                code: FindingCode::LineSpace,
                class: FindingClass::Shape,
                place: Place::line(self.file, line.number),
                message: "the line has space around it that JSON does not allow".to_owned(),
            });
        }
        let bytes = trimmed.as_bytes().to_vec();
        (!bytes.is_empty()).then_some(NumberedLine { number: line.number, bytes })
    }

    fn unreadable(&self, line: u64, code: FindingCode, message: String) -> Finding {
        let place = Place::line(self.file, line);
        Finding { code, class: FindingClass::Unreadable, place, message }
    }
}

/// Reads the value of a line or of the manifest.
pub(crate) fn read_value(bytes: &[u8], file: &str, mode: VerifyMode) -> Result<Value, Fault> {
    let separators = bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    if separators > LINE_VALUES_MAX {
        let message = format!("more than {LINE_VALUES_MAX} values in one object");
        return Err(fault(FindingCode::Limit, FindingClass::Unreadable, message));
    }
    let value = match parse(bytes, &STRICT) {
        Ok(value) => value,
        Err(error) => match &error.fault {
            JsonFault::DuplicateKey(_) if mode == VerifyMode::Strict => {
                let (code, class) = (FindingCode::DuplicateKey, FindingClass::Shape);
                return Err(fault(code, class, error.fault.to_string()));
            }
            JsonFault::DuplicateKey(_) => read_last_of_duplicates(bytes, file)?,
            _ => {
                let (code, class) = (FindingCode::Json, FindingClass::Unreadable);
                return Err(fault(code, class, error.to_string()));
            }
        },
    };
    match has_numbers_in_range(&value) {
        true => Ok(value),
        false => {
            let message = "a number is out of the range of doubles".to_owned();
            Err(fault(FindingCode::Json, FindingClass::Unreadable, message))
        }
    }
}

fn fault(code: FindingCode, class: FindingClass, message: String) -> Fault {
    Fault { code, class, member: String::new(), message }
}

/// As a reference verifier: the last of two members stands, but a typed member may not occur twice.
fn read_last_of_duplicates(bytes: &[u8], file: &str) -> Result<Value, Fault> {
    let value = parse(bytes, &ReadPolicy::AEGX)
        .map_err(|error| fault(FindingCode::Json, FindingClass::Unreadable, error.to_string()))?;
    let mut names = top_level_keys(bytes);
    names.sort_unstable();
    let repeated = names.windows(2).find_map(|pair| match pair {
        [first, second] if first == second && is_typed_member(file, first) => Some(first),
        _ => None,
    });
    match repeated {
        None => Ok(value),
        Some(name) => {
            let message = format!("the member `{name}` occurs twice");
            Err(fault(FindingCode::DuplicateKey, FindingClass::Unreadable, message))
        }
    }
}

/// The keys of the outermost object of valid JSON.
fn top_level_keys(bytes: &[u8]) -> Vec<String> {
    let mut keys = Vec::new();
    let (mut depth, mut at, mut is_key) = (0_usize, 0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                is_key = *byte == b'{' && depth == 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => is_key = depth == 1,
            b'"' => {
                let rest = bytes.get(at..).unwrap_or_default();
                let length = string_bytes(rest);
                if is_key && depth == 1 {
                    let text = parse(rest.get(..length).unwrap_or_default(), &ReadPolicy::AEGX);
                    keys.extend(text.ok().and_then(|text| text.as_str().map(str::to_owned)));
                    is_key = false;
                }
                at += length.saturating_sub(1);
            }
            _ => {}
        }
        at += 1;
    }
    keys
}

/// Bytes of the string at the start, with its quotes.
fn string_bytes(bytes: &[u8]) -> usize {
    let mut is_escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

fn has_numbers_in_range(value: &Value) -> bool {
    match value {
        Value::Number(token) => {
            let text = token.as_str();
            let is_small = text.len() < 300 && !text.contains(['e', 'E']);
            is_small || canon::aegx(value).is_ok()
        }
        Value::Array(items) => items.iter().all(has_numbers_in_range),
        Value::Object(members) => members.iter().all(|m| has_numbers_in_range(&m.value)),
        _ => true,
    }
}

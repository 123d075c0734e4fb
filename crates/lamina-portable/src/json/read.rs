//! The reader: one value from bytes in memory.

use std::collections::HashMap;

use super::error::{JsonError, JsonFault, Position};
use super::policy::{DuplicateKeys, LoneSurrogates, NonFinite, ReadPolicy};
use super::{JsonText, Member, NumberToken, Value};

/// Objects with more members look for duplicates in a map instead of one by one.
const SMALL_OBJECT_MEMBERS: usize = 16;

/// Reads the one value that the bytes hold.
pub fn parse(bytes: &[u8], policy: &ReadPolicy) -> Result<Value, JsonError> {
    parse_at(bytes, policy, Position::START)
}

/// Reads the one value of bytes that begin at this place of a file.
pub fn parse_at(bytes: &[u8], policy: &ReadPolicy, start: Position) -> Result<Value, JsonError> {
    let mut reader = Reader { bytes, at: 0, policy, depth: 0 };
    reader.document().map_err(|fault| {
        let before = bytes.get(..reader.at).unwrap_or(bytes);
        JsonError { fault, position: start.after(before) }
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// The next byte; after a fault, its place.
    at: usize,
    policy: &'a ReadPolicy,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Value, JsonFault> {
        self.skip_space();
        if self.peek().is_none() {
            return Err(JsonFault::Empty);
        }
        let value = self.value()?;
        self.skip_space();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(JsonFault::TrailingBytes(self.found())),
        }
    }

    fn value(&mut self) -> Result<Value, JsonFault> {
        match self.peek() {
            None => Err(JsonFault::Truncated),
            Some(b'{') => self.nested(Reader::object),
            Some(b'[') => self.nested(Reader::array),
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'N') => self.non_finite("NaN"),
            Some(b'I') => self.non_finite("Infinity"),
            Some(b'-') if self.rest().starts_with(b"-I") => self.non_finite("-Infinity"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err(self.unexpected("a value")),
        }
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Value, JsonFault>,
    ) -> Result<Value, JsonFault> {
        if self.depth == self.policy.depth_max {
            return Err(JsonFault::Depth(self.policy.depth_max));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, JsonFault> {
        let mut elements = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Value::Array(elements));
        }
        loop {
            self.skip_space();
            elements.push(self.value()?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Value::Array(elements));
            }
            self.expect(b',', "`,` or `]`")?;
        }
    }

    fn object(&mut self) -> Result<Value, JsonFault> {
        let mut members = MemberList::default();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Value::Object(members.list));
        }
        loop {
            self.skip_space();
            let start = self.at;
            let key = match self.peek() {
                Some(b'"') => self.string()?,
                None => return Err(JsonFault::Truncated),
                Some(_) => return Err(self.unexpected("a key in quotes")),
            };
            let earlier = members.find(&key);
            if earlier.is_some() && self.policy.duplicates == DuplicateKeys::Refuse {
                self.at = start;
                return Err(JsonFault::DuplicateKey(key.to_lossy().into_owned()));
            }
            self.skip_space();
            self.expect(b':', "`:`")?;
            self.skip_space();
            let value = self.value()?;
            members.put(earlier, Member { key, value });
            self.skip_space();
            if self.take(b'}') {
                return Ok(Value::Object(members.list));
            }
            self.expect(b',', "`,` or `}`")?;
        }
    }

    fn word(&mut self, word: &'static str, value: Value) -> Result<Value, JsonFault> {
        let rest = self.rest();
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        match word.as_bytes().starts_with(rest) {
            true => Err(JsonFault::Truncated),
            false => Err(self.unexpected("a value")),
        }
    }

    fn non_finite(&mut self, word: &'static str) -> Result<Value, JsonFault> {
        match self.policy.non_finite {
            NonFinite::Accept => self.word(word, Value::Number(NumberToken::new(word))),
            NonFinite::Refuse if self.rest().starts_with(word.as_bytes()) => {
                Err(JsonFault::NonFinite(word))
            }
            NonFinite::Refuse => Err(self.unexpected("a value")),
        }
    }

    fn number(&mut self) -> Result<Value, JsonFault> {
        let start = self.at;
        self.take(b'-');
        let digits = match self.take(b'0') {
            true => 1,
            false => self.digits()?,
        };
        let mut is_integer = true;
        if self.take(b'.') {
            is_integer = false;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'+' | b'-'))
        {
            return Err(JsonFault::Number);
        }
        if is_integer && digits > ReadPolicy::INTEGER_DIGITS_MAX {
            self.at = start;
            return Err(JsonFault::NumberTooLong(ReadPolicy::INTEGER_DIGITS_MAX));
        }
        let token = self.bytes.get(start..self.at).unwrap_or_default();
        let token = std::str::from_utf8(token).map_err(|_| JsonFault::Utf8)?;
        Ok(Value::Number(NumberToken::new(token)))
    }

    /// Skips one digit or more.
    fn digits(&mut self) -> Result<usize, JsonFault> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        match (count, self.peek()) {
            (0, None) => Err(JsonFault::Truncated),
            (0, Some(_)) => Err(JsonFault::Number),
            _ => Ok(count),
        }
    }

    fn string(&mut self) -> Result<JsonText, JsonFault> {
        self.at += 1;
        let run = self.plain_run()?;
        if self.take(b'"') {
            return Ok(JsonText::Plain(run.to_owned()));
        }
        let mut text = EscapedText { text: run.to_owned(), units: None };
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text.finish());
                }
                Some(b'\\') => self.escape(&mut text)?,
                _ => {
                    let run = self.plain_run()?;
                    text.push_str(run);
                }
            }
        }
    }

    /// Text up to the next quote or escape.
    fn plain_run(&mut self) -> Result<&'a str, JsonFault> {
        let start = self.at;
        let length = self.rest().iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
        let Some(length) = length else {
            let valid = std::str::from_utf8(self.rest());
            self.at = valid.map_or_else(|error| start + error.valid_up_to(), |_| self.bytes.len());
            // An incomplete character at the very end is a cut, everything else a wrong encoding.
            return Err(match valid {
                Err(error) if error.error_len().is_some() => JsonFault::Utf8,
                _ => JsonFault::Truncated,
            });
        };
        self.at = start + length;
        if let Some(byte @ 0..=0x1f) = self.peek() {
            return Err(JsonFault::ControlCharacter(byte));
        }
        let run = self.bytes.get(start..start + length).unwrap_or_default();
        std::str::from_utf8(run).map_err(|error| {
            self.at = start + error.valid_up_to();
            JsonFault::Utf8
        })
    }

    fn escape(&mut self, text: &mut EscapedText) -> Result<(), JsonFault> {
        let start = self.at;
        self.at += 1;
        let plain = match self.peek() {
            None => return Err(JsonFault::Truncated),
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start, text),
            Some(_) => {
                let found = self.found();
                self.at = start;
                return Err(JsonFault::Escape(found));
            }
        };
        self.at += 1;
        text.push(plain);
        Ok(())
    }

    fn unicode_escape(&mut self, start: usize, text: &mut EscapedText) -> Result<(), JsonFault> {
        self.at += 1;
        let first = self.four_hex(start)?;
        if !(0xd800..0xe000).contains(&first) {
            if let Some(c) = char::from_u32(u32::from(first)) {
                text.push(c);
            }
            return Ok(());
        }
        if first < 0xdc00 && self.rest().starts_with(b"\\u") {
            let second_start = self.at;
            self.at += 2;
            let second = self.four_hex(second_start)?;
            if let Some(Ok(c)) = char::decode_utf16([first, second]).next() {
                text.push(c);
                return Ok(());
            }
            self.at = second_start;
        }
        if self.policy.surrogates == LoneSurrogates::Refuse {
            self.at = start;
            return Err(JsonFault::LoneSurrogate(first));
        }
        text.push_unit(first);
        Ok(())
    }

    fn four_hex(&mut self, start: usize) -> Result<u16, JsonFault> {
        let Some(digits) = self.bytes.get(self.at..self.at + 4) else {
            self.at = start;
            return Err(JsonFault::Truncated);
        };
        let mut unit = 0;
        for digit in digits {
            let Some(digit) = char::from(*digit).to_digit(16) else {
                self.at = start;
                return Err(JsonFault::Escape("u".to_owned()));
            };
            unit = unit * 16 + digit;
        }
        self.at += 4;
        u16::try_from(unit).map_err(|_| JsonFault::Escape("u".to_owned()))
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), JsonFault> {
        match (self.take(byte), self.peek()) {
            (true, _) => Ok(()),
            (false, None) => Err(JsonFault::Truncated),
            (false, Some(_)) => Err(self.unexpected(expected)),
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected(&self, expected: &'static str) -> JsonFault {
        JsonFault::Unexpected { found: self.found(), expected }
    }

    /// The character at the current place, printable.
    fn found(&self) -> String {
        let rest = self.rest();
        let head = rest.get(..4).unwrap_or(rest);
        let first = String::from_utf8_lossy(head).chars().next();
        first.map(|c| c.escape_debug().to_string()).unwrap_or_default()
    }
}

/// The members of an object that is being read.
#[derive(Default)]
struct MemberList {
    list: Vec<Member>,
    /// Filled once the list is no longer small.
    places: HashMap<JsonText, usize>,
}

impl MemberList {
    fn find(&self, key: &JsonText) -> Option<usize> {
        match self.list.len() <= SMALL_OBJECT_MEMBERS {
            true => self.list.iter().position(|member| member.key == *key),
            false => self.places.get(key).copied(),
        }
    }

    fn put(&mut self, earlier: Option<usize>, member: Member) {
        if let Some(earlier) = earlier.and_then(|at| self.list.get_mut(at)) {
            earlier.value = member.value;
            return;
        }
        self.list.push(member);
        if self.list.len() == SMALL_OBJECT_MEMBERS + 1 {
            let places = self.list.iter().enumerate();
            self.places = places.map(|(at, member)| (member.key.clone(), at)).collect();
        } else if self.list.len() > SMALL_OBJECT_MEMBERS {
            let at = self.list.len() - 1;
            self.places.extend(self.list.last().map(|member| (member.key.clone(), at)));
        }
    }
}

/// A string with escapes that is being read.
struct EscapedText {
    text: String,
    /// Everything so far, from the first lone surrogate on.
    units: Option<Vec<u16>>,
}

impl EscapedText {
    fn push(&mut self, c: char) {
        match &mut self.units {
            None => self.text.push(c),
            Some(units) => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
        }
    }

    fn push_str(&mut self, run: &str) {
        match &mut self.units {
            None => self.text.push_str(run),
            Some(units) => units.extend(run.encode_utf16()),
        }
    }

    fn push_unit(&mut self, unit: u16) {
        let units = self.units.get_or_insert_with(|| self.text.encode_utf16().collect());
        units.push(unit);
    }

    fn finish(self) -> JsonText {
        match self.units {
            None => JsonText::Plain(self.text),
            Some(units) => JsonText::from_units(units),
        }
    }
}

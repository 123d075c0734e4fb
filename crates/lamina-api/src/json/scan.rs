//! A small strict JSON reader that builds nothing: it checks, and can copy without white space.
//!
//! serde reads what it has types for; this reads the rest, and finds the exact place of a mistake.
//! It refuses what RFC 8259 leaves to the reader's taste: repeated keys, numbers outside the range
//! of a double, halves of surrogate pairs, deep nesting.

use std::borrow::Cow;

use lamina_types::limits::{JSON_DEPTH_MAX, JSON_KEYS_MAX};

/// Why a text is not strict JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScanError {
    /// What is wrong.
    pub(crate) reason: String,
    /// The byte at which it was noticed.
    pub(crate) offset: usize,
    /// The path of the value it is in, like `context.labels[3]`.
    pub(crate) path: String,
}

/// Checks a whole text.
pub(crate) fn check(text: &str) -> Result<(), ScanError> {
    Scanner::run(text, None).map(|_| ())
}

/// Checks a whole text and gives it back without white space between tokens.
pub(crate) fn compact(text: &str) -> Result<String, ScanError> {
    let out = String::with_capacity(text.len());
    Scanner::run(text, Some(out)).map(Option::unwrap_or_default)
}

enum Step<'a> {
    Key(Cow<'a, str>),
    Index(usize),
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    path: Vec<Step<'a>>,
    out: Option<String>,
}

impl<'a> Scanner<'a> {
    fn run(text: &'a str, out: Option<String>) -> Result<Option<String>, ScanError> {
        let mut scanner = Scanner { text, at: 0, path: Vec::new(), out };
        if text.starts_with('\u{feff}') {
            return Err(scanner.fail("it starts with a byte order mark; send UTF-8 without one"));
        }
        scanner.space();
        scanner.value(0)?;
        scanner.space();
        if scanner.at < text.len() {
            return Err(scanner.fail("there is more text after the JSON value"));
        }
        Ok(scanner.out)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn emit(&mut self, from: usize) {
        if let (Some(out), Some(token)) = (self.out.as_mut(), self.text.get(from..self.at)) {
            out.push_str(token);
        }
    }

    /// Takes this byte if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
            self.emit(self.at - 1);
        }
        found
    }

    fn fail(&self, reason: impl Into<String>) -> ScanError {
        ScanError { reason: reason.into(), offset: self.at, path: render(&self.path) }
    }

    fn unexpected(&self, expected: &str) -> ScanError {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => self.fail(format!("the text ends where {expected} is expected")),
            Some(found) => self.fail(format!("found {found:?} where {expected} is expected")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), ScanError> {
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(|_| ()),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), ScanError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        self.emit(self.at - word.len());
        Ok(())
    }

    fn enter(&self, depth: usize) -> Result<(), ScanError> {
        if depth > JSON_DEPTH_MAX {
            return Err(self.fail(format!("it is nested deeper than {JSON_DEPTH_MAX} levels")));
        }
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<(), ScanError> {
        self.enter(depth)?;
        self.take(b'[');
        self.space();
        if self.take(b']') {
            return Ok(());
        }
        for index in 0.. {
            self.path.push(Step::Index(index));
            self.space();
            self.value(depth)?;
            self.path.pop();
            self.space();
            if self.take(b']') {
                break;
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), ScanError> {
        self.enter(depth)?;
        self.take(b'{');
        self.space();
        if self.take(b'}') {
            return Ok(());
        }
        let mut keys: Vec<(Cow<'a, str>, usize)> = Vec::new();
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in quotes"));
            }
            let key = self.string()?;
            self.space();
            if !self.take(b':') {
                return Err(self.unexpected("`:`"));
            }
            if keys.len() >= JSON_KEYS_MAX {
                return Err(self.fail(format!("an object has more than {JSON_KEYS_MAX} keys")));
            }
            keys.push((key.clone(), start));
            self.path.push(Step::Key(key));
            self.space();
            self.value(depth)?;
            self.path.pop();
            self.space();
            if self.take(b'}') {
                break;
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        self.unique(keys)
    }

    /// Repeated keys are found by sorting: no hash seed, no quadratic case.
    fn unique(&mut self, mut keys: Vec<(Cow<'a, str>, usize)>) -> Result<(), ScanError> {
        keys.sort_unstable();
        let repeated = keys
            .iter()
            .zip(keys.iter().skip(1))
            .find(|((a, _), (b, _))| a == b)
            .map(|(_, (key, at))| (key.clone(), *at));
        let Some((key, at)) = repeated else {
            return Ok(());
        };
        self.at = at;
        self.path.push(Step::Key(key.clone()));
        let shown: String = key.chars().take(64).collect();
        Err(self.fail(format!("the key {shown:?} is repeated")))
    }

    fn string(&mut self) -> Result<Cow<'a, str>, ScanError> {
        let start = self.at;
        self.at += 1;
        let mut escaped = false;
        loop {
            match self.peek() {
                None => return Err(self.fail("the text ends inside a string")),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0..=0x1F) => {
                    return Err(self.fail("a control character inside a string must be escaped"));
                }
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        self.emit(start);
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        if escaped {
            return serde_json::from_str::<String>(quoted)
                .map(Cow::Owned)
                .map_err(|_| self.fail("a string has a broken escape"));
        }
        let inner = quoted.get(1..quoted.len().saturating_sub(1));
        Ok(Cow::Borrowed(inner.unwrap_or_default()))
    }

    fn escape(&mut self) -> Result<(), ScanError> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let high = self.hex()?;
                match high {
                    0xD800..=0xDBFF => {
                        let pair = self.text.get(self.at..).is_some_and(|t| t.starts_with("\\u"));
                        self.at += usize::from(pair);
                        if !pair || !(0xDC00..=0xDFFF).contains(&self.hex()?) {
                            return Err(self.fail("half of a surrogate pair in a string"));
                        }
                    }
                    0xDC00..=0xDFFF => {
                        return Err(self.fail("half of a surrogate pair in a string"));
                    }
                    _ => {}
                }
            }
            _ => return Err(self.fail("a string has a broken escape")),
        }
        Ok(())
    }

    /// Reads `uXXXX`.
    fn hex(&mut self) -> Result<u16, ScanError> {
        let digits = self.text.get(self.at + 1..self.at + 5);
        let code = digits
            .filter(|digits| digits.bytes().all(|c| c.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.fail("a string has a broken escape"))?;
        self.at += 5;
        Ok(code)
    }

    fn digits(&mut self) -> Result<(), ScanError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.fail("a number starts with a superfluous 0"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let literal = self.text.get(start..self.at).unwrap_or_default();
        if !literal.parse::<f64>().is_ok_and(f64::is_finite) {
            self.at = start;
            return Err(self.fail("a number is too large"));
        }
        self.emit(start);
        Ok(())
    }
}

/// Longest path that is sent back.
const PATH_CHARS_MAX: usize = 256;

fn render(path: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
        }
    }
    text.chars().take(PATH_CHARS_MAX).collect()
}

//! A JSON document as a list of scalars with their paths and places. Written by hand because the
//! claims need byte offsets, and bounded because tools return megabytes.

use lamina_types::layer::extraction::ByteSpan;

/// Levels of nesting that are read; deeper ones are skipped.
pub const DEPTH_MAX: usize = 8;
/// Scalars that are read of one document.
pub const SCALARS_MAX: usize = 256;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The value of a scalar; null is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scalar {
    Text(String),
    /// As it is written.
    Number(String),
    Bool(bool),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) path: Vec<Step>,
    pub(super) value: Scalar,
    /// The bytes of the value, without the quotation marks of a string.
    pub(super) span: ByteSpan,
}

/// The scalars of a document in its order. `None` if it is not JSON as far as it was read.
pub(super) fn scan(text: &str) -> Option<Vec<Leaf>> {
    let mut scanner = Scanner { text, at: 0, path: Vec::new(), leaves: Vec::new() };
    scanner.value(0)?;
    scanner.space();
    (scanner.at == text.len() || scanner.leaves.len() >= SCALARS_MAX).then_some(scanner.leaves)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    path: Vec<Step>,
    leaves: Vec<Leaf>,
}

/// Nesting that is followed at all, so that a hostile document cannot exhaust the stack.
const NESTING_MAX: usize = 128;

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        self.space();
        if depth > NESTING_MAX {
            return None;
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => {
                let (text, span) = self.string()?;
                self.leaf(depth, Scalar::Text(text), span);
                Some(())
            }
            _ => self.word(depth),
        }
    }

    fn leaf(&mut self, depth: usize, value: Scalar, span: ByteSpan) {
        if depth <= DEPTH_MAX && self.leaves.len() < SCALARS_MAX {
            self.leaves.push(Leaf { path: self.path.clone(), value, span });
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        self.space();
        if self.eat(b'}').is_some() {
            return Some(());
        }
        loop {
            self.space();
            let (key, _) = self.string()?;
            self.space();
            self.eat(b':')?;
            self.path.push(Step::Key(key));
            self.value(depth + 1)?;
            self.path.pop();
            self.space();
            if self.eat(b',').is_none() {
                return self.eat(b'}');
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        self.space();
        if self.eat(b']').is_some() {
            return Some(());
        }
        for index in 0.. {
            self.path.push(Step::Index(index));
            self.value(depth + 1)?;
            self.path.pop();
            self.space();
            if self.eat(b',').is_none() {
                return self.eat(b']');
            }
        }
        None
    }

    /// A string and the bytes between its marks.
    fn string(&mut self) -> Option<(String, ByteSpan)> {
        self.eat(b'"')?;
        let start = self.at;
        let mut text = String::new();
        loop {
            let rest = self.text.get(self.at..)?;
            let c = rest.chars().next()?;
            self.at += c.len_utf8();
            match c {
                '"' => {
                    let span = ByteSpan { start: start as u32, end: (self.at - 1) as u32 };
                    return Some((text, span));
                }
                '\\' => text.push(self.escape()?),
                c if (c as u32) < 0x20 => return None,
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        match c {
            b'n' => Some('\n'),
            b't' => Some('\t'),
            b'r' => Some('\r'),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'"' | b'\\' | b'/' => Some(c as char),
            b'u' => {
                let high = self.hex()?;
                if !(0xd800..0xdc00).contains(&high) {
                    return char::from_u32(high);
                }
                self.eat(b'\\')?;
                self.eat(b'u')?;
                let low = self.hex()?.checked_sub(0xdc00)?;
                char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + low)
            }
            _ => None,
        }
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self, depth: usize) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c)) {
            self.at += 1;
        }
        let word = self.text.get(start..self.at)?;
        let span = ByteSpan { start: start as u32, end: self.at as u32 };
        let value = match word {
            "null" => return Some(()),
            "true" => Scalar::Bool(true),
            "false" => Scalar::Bool(false),
            _ if word.parse::<f64>().is_ok()
                && word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) =>
            {
                Scalar::Number(word.to_owned())
            }
            _ => return None,
        };
        self.leaf(depth, value, span);
        Some(())
    }
}

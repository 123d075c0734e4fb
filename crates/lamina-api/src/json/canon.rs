//! One spelling for equal JSON values, so that a retry which orders its keys differently is still
//! the same body.

use std::borrow::Cow;
use std::ops::Range;

use lamina_types::limits::JSON_DEPTH_MAX;

/// The value with sorted keys, no white space and one way to escape strings. Numbers keep their
/// spelling: two numbers are equal here only if they were written alike, because a comparison by
/// value would have to round. Text that is not JSON is given back as it is.
pub fn canonical(json: &str) -> String {
    let mut writer = Writer { rest: json, out: String::with_capacity(json.len()) };
    match writer.value(0) {
        Some(()) if writer.rest.trim().is_empty() => writer.out,
        _ => json.to_owned(),
    }
}

struct Writer<'a> {
    rest: &'a str,
    out: String,
}

/// A member of an object that was just written: its key, and where in the output it is.
type Member<'a> = (Cow<'a, str>, Range<usize>);

impl<'a> Writer<'a> {
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start();
        self.rest.as_bytes().first().copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.rest = self.rest.get(1..).unwrap_or_default();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > JSON_DEPTH_MAX {
            return None;
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(|_| ()),
            _ => {
                let end = self.rest.find(|c: char| ",]}".contains(c) || c.is_whitespace());
                let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.out.push_str(word);
                self.rest = rest;
                (!word.is_empty()).then_some(())
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.take(b'[');
        self.out.push('[');
        if !self.take(b']') {
            loop {
                self.value(depth + 1)?;
                if self.take(b']') {
                    break;
                }
                self.take(b',').then_some(())?;
                self.out.push(',');
            }
        }
        self.out.push(']');
        Some(())
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.take(b'{');
        self.out.push('{');
        if !self.take(b'}') {
            let mut members: Vec<Member<'a>> = Vec::new();
            loop {
                let start = self.out.len();
                (self.peek() == Some(b'"')).then_some(())?;
                let key = self.string()?;
                self.take(b':').then_some(())?;
                self.out.push(':');
                self.value(depth + 1)?;
                members.push((key, start..self.out.len()));
                if self.take(b'}') {
                    break;
                }
                self.take(b',').then_some(())?;
                self.out.push(',');
            }
            self.sort(members);
        }
        self.out.push('}');
        Some(())
    }

    /// Puts the members just written in the order of their keys; most objects already are.
    fn sort(&mut self, mut members: Vec<Member<'a>>) {
        if members.is_sorted_by(|(a, _), (b, _)| a <= b) {
            return;
        }
        let start = members.first().map_or(self.out.len(), |(_, at)| at.start);
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        let sorted: Vec<&str> =
            members.iter().map(|(_, at)| self.out.get(at.clone()).unwrap_or_default()).collect();
        let sorted = sorted.join(",");
        self.out.truncate(start);
        self.out.push_str(&sorted);
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let bytes = self.rest.as_bytes();
        let (mut end, mut escaped) = (1, false);
        while *bytes.get(end)? != b'"' {
            let escape = *bytes.get(end)? == b'\\';
            escaped |= escape;
            end += 1 + usize::from(escape);
        }
        let (quoted, rest) = self.rest.split_at_checked(end + 1)?;
        self.rest = rest;
        if !escaped {
            self.out.push_str(quoted);
            return quoted.get(1..end).map(Cow::Borrowed);
        }
        let text: String = serde_json::from_str(quoted).ok()?;
        self.out.push_str(&serde_json::to_string(&text).ok()?);
        Some(Cow::Owned(text))
    }
}

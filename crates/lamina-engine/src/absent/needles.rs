//! What is looked for: strings, and the ways in which each may be written down.

use std::fmt::Write as _;

use aho_corasick::{AhoCorasick, MatchKind};
use lamina_types::stdx::hex;

/// Strings that can be looked for at once.
pub const STRINGS_MAX: usize = 10_000;
/// Bytes of a string at least: a shorter one stands in any large file by chance.
pub const STRING_BYTES_MIN: usize = 4;
/// Bytes of a string at most.
pub const STRING_BYTES_MAX: usize = 4_096;

/// Why strings cannot be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SoughtError {
    /// There are none.
    #[error("there is no string to look for")]
    Nothing,
    /// There are too many.
    #[error("there are more than {STRINGS_MAX} strings")]
    TooMany,
    /// One is so short that it would be found by chance.
    #[error(
        "line {0} has fewer than {STRING_BYTES_MIN} bytes: that stands in any large file by chance"
    )]
    TooShort(usize),
    /// One is too long.
    #[error("line {0} has more than {STRING_BYTES_MAX} bytes")]
    TooLong(usize),
}

/// Strings to look for.
#[derive(Debug, Clone)]
pub struct Sought {
    /// With the number of the line that each stood in, from 1.
    strings: Vec<(usize, String)>,
}

impl Sought {
    /// One string in each line; empty lines count for nothing.
    pub fn lines(text: &str) -> Result<Sought, SoughtError> {
        let mut strings = Vec::new();
        for (line, string) in (1..).zip(text.lines()) {
            let string = string.trim();
            match string.len() {
                0 => continue,
                1..STRING_BYTES_MIN => return Err(SoughtError::TooShort(line)),
                STRING_BYTES_MIN..=STRING_BYTES_MAX => strings.push((line, string.to_owned())),
                _ => return Err(SoughtError::TooLong(line)),
            }
        }
        match strings.len() {
            0 => Err(SoughtError::Nothing),
            1..=STRINGS_MAX => Ok(Sought { strings }),
            _ => Err(SoughtError::TooMany),
        }
    }

    /// The line that a string stood in.
    pub(super) fn line(&self, string: usize) -> usize {
        self.strings.get(string).map_or(0, |(line, _)| *line)
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.strings.len()
    }

    pub(super) fn strings(&self) -> Vec<&str> {
        self.strings.iter().map(|(_, string)| string.as_str()).collect()
    }
}

/// A place where a string stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) string: usize,
    pub(super) how: &'static str,
    pub(super) at: usize,
    pub(super) end: usize,
}

/// Finds all strings in all the ways they may be written, in one pass.
pub(super) struct Needles {
    search: AhoCorasick,
    /// By number of the pattern.
    meaning: Vec<(usize, &'static str)>,
    longest: usize,
}

impl Needles {
    pub(super) fn of(sought: &Sought) -> Needles {
        let (mut patterns, mut meaning) = (Vec::new(), Vec::new());
        for (number, string) in sought.strings().into_iter().enumerate() {
            for (pattern, how) in written(string) {
                patterns.push(pattern);
                meaning.push((number, how));
            }
        }
        let longest = patterns.iter().map(Vec::len).max().unwrap_or(1);
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(&patterns)
            .expect("the number of patterns and their length are limited");
        Needles { search, meaning, longest }
    }

    /// Bytes of the longest way in which a string may be written.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn find(&self, bytes: &[u8], found: &mut dyn FnMut(Found)) {
        for hit in self.search.find_overlapping_iter(bytes) {
            if let Some((string, how)) = self.meaning.get(hit.pattern().as_usize()) {
                found(Found { string: *string, how, at: hit.start(), end: hit.end() });
            }
        }
    }
}

/// A string in every way in which it may be written, each once. ASCII letters count in either case.
fn written(string: &str) -> Vec<(Vec<u8>, &'static str)> {
    let mut ways: Vec<(Vec<u8>, &'static str)> = Vec::new();
    let mut add = |bytes: Vec<u8>, how: &'static str| {
        let is_known = ways.iter().any(|(known, _)| known.eq_ignore_ascii_case(&bytes));
        if bytes.len() >= STRING_BYTES_MIN && !is_known {
            ways.push((bytes, how));
        }
    };
    for text in [string.to_owned(), string.to_lowercase(), string.to_uppercase()] {
        add(text.clone().into_bytes(), "text");
        add(json(&text, false).into_bytes(), "JSON");
        add(json(&text, true).into_bytes(), "JSON");
        add(text.encode_utf16().flat_map(u16::to_le_bytes).collect(), "UTF-16");
        add(text.encode_utf16().flat_map(u16::to_be_bytes).collect(), "UTF-16");
    }
    add(percent(string).into_bytes(), "percent-encoded");
    add(percent(string).replace("%20", "+").into_bytes(), "percent-encoded");
    add(hex::encode(string.as_bytes()).into_bytes(), "hex");
    for text in base64(string.as_bytes()) {
        add(text, "base64");
    }
    ways
}

/// As it stands between the quotes of a JSON text.
fn json(text: &str, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            c if ascii && !c.is_ascii() => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out
}

fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// What of the text is the same whatever stands around it, for each of the three ways it may be aligned.
fn base64(bytes: &[u8]) -> [Vec<u8>; 3] {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    [0, 1, 2].map(|before| {
        let padded: Vec<u8> = std::iter::repeat_n(0, before).chain(bytes.iter().copied()).collect();
        let mut text = Vec::new();
        for three in padded.chunks(3) {
            let [first, second, third] =
                [0, 1, 2].map(|index| u32::from(three.get(index).copied().unwrap_or(0)));
            let bits = first << 16 | second << 8 | third;
            for shift in [18, 12, 6, 0] {
                let digit = DIGITS.get((bits >> shift & 63) as usize).copied();
                text.push(digit.unwrap_or_default());
            }
        }
        // Digits that are made of our bytes alone.
        let first = (before * 8).div_ceil(6);
        let end = padded.len() * 8 / 6;
        text.get(first..end).unwrap_or_default().to_vec()
    })
}

#[cfg(test)]
mod tests;

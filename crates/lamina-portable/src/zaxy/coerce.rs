//! The value coercions of Zaxy's extraction rules. Zaxy is written in Python, so names and summaries hold
//! Python's text of a value, and truth, trimming and number parsing follow Python.

use std::fmt::Write as _;

use crate::canon::python_double;
use crate::json::{NumberToken, Value};

/// White space of Python's `str.strip`, which has four more characters than Rust's.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, '\u{1c}'..='\u{1f}') || c.is_whitespace()
}

/// The text without white space around it.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Python's `str` of a value.
pub(super) fn display(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_lossy().into_owned(),
        other => {
            let mut out = String::new();
            write_repr(other, &mut out);
            out
        }
    }
}

fn write_repr(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(token) => out.push_str(&number_text(token)),
        Value::String(text) => write_quoted(&text.to_lossy(), out),
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_repr(element, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, member) in members.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_quoted(&member.key.to_lossy(), out);
                out.push_str(": ");
                write_repr(&member.value, out);
            }
            out.push('}');
        }
    }
}

/// Python's `str` of a number.
fn number_text(token: &NumberToken) -> String {
    match token.as_str() {
        "-0" => "0".to_owned(),
        text if token.is_integer() => text.to_owned(),
        _ => match python_double(token.to_f64()).as_str() {
            "NaN" => "nan".to_owned(),
            "Infinity" => "inf".to_owned(),
            "-Infinity" => "-inf".to_owned(),
            text => text.to_owned(),
        },
    }
}

/// Python's `repr` of a string.
pub(super) fn write_quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            c if is_printable(c) => out.push(c),
            c => {
                // Writing to a string cannot fail.
                let _ = match u32::from(c) {
                    code @ 0..=0xff => write!(out, "\\x{code:02x}"),
                    code @ 0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

/// Whether Python prints a character as it is. The debug form of Rust escapes the same categories; only
/// at the start of a text it also escapes combining marks, hence the letter in front.
fn is_printable(c: char) -> bool {
    let mut text = String::from("a");
    text.push(c);
    text.escape_debug().nth(1) == Some(c)
}

/// Trimmed text of a value; `None` for nothing, `null` and blank text.
pub(super) fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(text) => {
            let text = text.to_lossy();
            let trimmed = trim(&text);
            (!trimmed.is_empty()).then(|| trimmed.to_owned())
        }
        other => {
            let text = display(other);
            let trimmed = trim(&text);
            (!trimmed.is_empty()).then(|| trimmed.to_owned())
        }
    }
}

/// Python's truth of a value.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(token) => token.to_f64() != 0.0,
        other => !other.is_blank(),
    }
}

/// The double that Python's `float` reads from a text.
pub(super) fn parse_float(text: &str) -> Option<f64> {
    let text = trim(text);
    let digits = strip_underscores(text)?;
    let unsigned = digits.trim_start_matches(['+', '-']);
    if digits.len() - unsigned.len() > 1 {
        return None;
    }
    let is_word = ["nan", "inf", "infinity"].iter().any(|w| unsigned.eq_ignore_ascii_case(w));
    let is_number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if is_word || is_number { digits.parse().ok() } else { None }
}

/// The decimal digits of the integer that Python's `int` reads from a value, with a minus if it is
/// negative. Booleans and doubles are no integers here.
pub(super) fn parse_integer(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Number(token) if token.is_integer() => Some(number_text(token)),
        Value::String(text) => {
            let text = strip_underscores(trim(text.as_str()?))?;
            let unsigned = text.strip_prefix(['+', '-']).unwrap_or(&text);
            if unsigned.is_empty() || !unsigned.bytes().all(|c| c.is_ascii_digit()) {
                return None;
            }
            let digits = unsigned.trim_start_matches('0');
            match (digits, text.starts_with('-')) {
                ("", _) => Some("0".to_owned()),
                (digits, true) => Some(format!("-{digits}")),
                (digits, false) => Some(digits.to_owned()),
            }
        }
        _ => None,
    }
}

/// Removes single underscores between digits; `None` if one stands elsewhere.
fn strip_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let is_placed = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'_')
        .all(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
    is_placed.then(|| text.replace('_', ""))
}

/// Python's `casefold`, for comparison with ASCII words: the characters that fold to ASCII letters.
pub(super) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.to_lowercase().chars() {
        match c {
            'ſ' => out.push('s'),
            'ß' => out.push_str("ss"),
            'ﬀ' => out.push_str("ff"),
            'ﬁ' => out.push_str("fi"),
            'ﬂ' => out.push_str("fl"),
            'ﬃ' => out.push_str("ffi"),
            'ﬄ' => out.push_str("ffl"),
            'ﬅ' | 'ﬆ' => out.push_str("st"),
            c => out.push(c),
        }
    }
    out
}

/// A double as a JSON number in Python's spelling.
pub fn double(number: f64) -> Value {
    Value::Number(NumberToken::new(&python_double(number)))
}

/// An integer of decimal digits as a JSON number.
pub(super) fn integer(digits: &str) -> Value {
    Value::Number(NumberToken::new(digits))
}

/// Text or `null`.
pub(super) fn optional(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests;

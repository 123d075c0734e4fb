//! The compact writer: no spaces, members in their order, number tokens as they were read. Reading its
//! output gives the same value.

use std::fmt::Write as _;

use super::{JsonText, Value};

/// The value as compact JSON.
pub fn to_compact(value: &Value) -> String {
    let mut out = String::new();
    write_compact(value, &mut out);
    out
}

/// Appends the value as compact JSON.
pub fn write_compact(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(token) => out.push_str(token.as_str()),
        Value::String(text) => write_text(text, out),
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_compact(element, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, member) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(&member.key, out);
                out.push(':');
                write_compact(&member.value, out);
            }
            out.push('}');
        }
    }
}

fn write_text(text: &JsonText, out: &mut String) {
    out.push('"');
    match text {
        JsonText::Plain(text) => write_plain(text, out),
        JsonText::Broken(units) => {
            for unit in char::decode_utf16(units.iter().copied()) {
                match unit {
                    Ok(c) => write_plain(c.encode_utf8(&mut [0; 4]), out),
                    Err(lone) => push_escape(u32::from(lone.unpaired_surrogate()), out),
                }
            }
        }
    }
    out.push('"');
}

/// Appends text with the escapes that JSON demands, and no others.
pub(crate) fn write_plain(text: &str, out: &mut String) {
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        if !matches!(byte, b'"' | b'\\' | 0..=0x1f) {
            continue;
        }
        out.push_str(text.get(start..at).unwrap_or_default());
        start = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            control => push_escape(u32::from(control), out),
        }
    }
    out.push_str(text.get(start..).unwrap_or_default());
}

/// Appends `\uXXXX`.
pub(crate) fn push_escape(unit: u32, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\u{unit:04x}");
}

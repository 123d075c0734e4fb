//! The writers of Python's `json`: sorted keys and no spaces for hashing, and the readable forms in which
//! Python programs keep their files.

use super::CanonError;
use super::double::python_double;
use crate::json::{JsonText, Member, NumberToken, Value, push_escape, write_plain};

/// How text outside of ASCII is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextForm {
    Escaped,
    Raw,
}

/// The order of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyOrder {
    Sorted,
    AsRead,
}

/// White space between tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    /// None.
    Compact,
    /// One space after a comma and a colon.
    Spaced,
    /// One element per line, two spaces for each level.
    Indented,
}

/// One way of writing.
struct Layout {
    text: TextForm,
    keys: KeyOrder,
    spacing: Spacing,
}

/// Sorted, compact, everything outside of printable ASCII escaped. Any value has this form.
pub fn python_ascii(value: &Value) -> Vec<u8> {
    let keys = KeyOrder::Sorted;
    escaped(value, Layout { text: TextForm::Escaped, keys, spacing: Spacing::Compact }).into_bytes()
}

/// Compact, members in their order, everything outside of printable ASCII escaped.
pub fn python_compact_ascii(value: &Value) -> String {
    let keys = KeyOrder::AsRead;
    escaped(value, Layout { text: TextForm::Escaped, keys, spacing: Spacing::Compact })
}

/// Sorted, compact, text as raw UTF-8.
pub fn python_utf8(value: &Value) -> Result<Vec<u8>, CanonError> {
    let keys = KeyOrder::Sorted;
    let layout = Layout { text: TextForm::Raw, keys, spacing: Spacing::Compact };
    print(value, layout).map(String::into_bytes)
}

/// Members in their order, two spaces for each level, text as raw UTF-8.
pub fn python_indented(value: &Value) -> Result<String, CanonError> {
    print(value, Layout { text: TextForm::Raw, keys: KeyOrder::AsRead, spacing: Spacing::Indented })
}

/// Members in their order, in one line with spaces, text as raw UTF-8.
pub fn python_spaced(value: &Value) -> Result<String, CanonError> {
    print(value, Layout { text: TextForm::Raw, keys: KeyOrder::AsRead, spacing: Spacing::Spaced })
}

/// Sorted, in one line with spaces, text as raw UTF-8; with a lone surrogate, escaped to ASCII.
pub(crate) fn python_spaced_sorted(value: &Value) -> String {
    let layout = |text| Layout { text, keys: KeyOrder::Sorted, spacing: Spacing::Spaced };
    print(value, layout(TextForm::Raw))
        .unwrap_or_else(|_| escaped(value, layout(TextForm::Escaped)))
}

fn print(value: &Value, layout: Layout) -> Result<String, CanonError> {
    let mut out = String::new();
    write(value, &layout, 0, &mut out)?;
    Ok(out)
}

fn escaped(value: &Value, layout: Layout) -> String {
    let mut out = String::new();
    // Only raw text can be refused.
    let _ = write(value, &layout, 0, &mut out);
    out
}

fn write(value: &Value, layout: &Layout, depth: usize, out: &mut String) -> Result<(), CanonError> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(token) => out.push_str(&number(token)),
        Value::String(text) => write_text(text, layout.text, out)?,
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                separate(layout.spacing, index, depth + 1, out);
                write(element, layout, depth + 1, out)?;
            }
            if !elements.is_empty() {
                break_line(layout.spacing, depth, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut ordered: Vec<&Member> = members.iter().collect();
            if layout.keys == KeyOrder::Sorted {
                ordered.sort_by(|a, b| a.key.cmp_code_points(&b.key));
            }
            out.push('{');
            for (index, member) in ordered.into_iter().enumerate() {
                separate(layout.spacing, index, depth + 1, out);
                write_text(&member.key, layout.text, out)?;
                out.push_str(if layout.spacing == Spacing::Compact { ":" } else { ": " });
                write(&member.value, layout, depth + 1, out)?;
            }
            if !members.is_empty() {
                break_line(layout.spacing, depth, out);
            }
            out.push('}');
        }
    }
    Ok(())
}

/// The text before an element.
fn separate(spacing: Spacing, index: usize, depth: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
        if spacing == Spacing::Spaced {
            out.push(' ');
        }
    }
    break_line(spacing, depth, out);
}

fn break_line(spacing: Spacing, depth: usize, out: &mut String) {
    if spacing == Spacing::Indented {
        out.push('\n');
        out.extend((0..depth).map(|_| "  "));
    }
}

/// Integers of any size as they are, doubles as Python prints them.
fn number(token: &NumberToken) -> String {
    match token.as_str() {
        "-0" => "0".to_owned(),
        text if token.is_integer() => text.to_owned(),
        _ => python_double(token.to_f64()),
    }
}

fn write_text(text: &JsonText, form: TextForm, out: &mut String) -> Result<(), CanonError> {
    out.push('"');
    match (form, text.as_str()) {
        (TextForm::Raw, Some(text)) => write_plain(text, out),
        (TextForm::Raw, None) => return Err(CanonError::LoneSurrogate),
        (TextForm::Escaped, _) => {
            for unit in text.units() {
                match u8::try_from(unit) {
                    Ok(byte @ 0..0x7f) => {
                        write_plain(char::from(byte).encode_utf8(&mut [0; 4]), out)
                    }
                    _ => push_escape(u32::from(unit), out),
                }
            }
        }
    }
    out.push('"');
    Ok(())
}

//! The two writers of Python's `json`: sorted keys, no spaces, text escaped to ASCII or raw.

use super::CanonError;
use super::double::python_double;
use crate::json::{JsonText, Member, NumberToken, Value, push_escape, write_plain};

/// How text outside of ASCII is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextForm {
    Escaped,
    Raw,
}

/// Sorted, compact, everything outside of printable ASCII escaped. Any value has this form.
pub fn python_ascii(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    // Only raw text can be refused.
    let _ = write(value, TextForm::Escaped, &mut out);
    out.into_bytes()
}

/// Sorted, compact, text as raw UTF-8.
pub fn python_utf8(value: &Value) -> Result<Vec<u8>, CanonError> {
    let mut out = String::new();
    write(value, TextForm::Raw, &mut out)?;
    Ok(out.into_bytes())
}

fn write(value: &Value, form: TextForm, out: &mut String) -> Result<(), CanonError> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(token) => out.push_str(&number(token)),
        Value::String(text) => write_text(text, form, out)?,
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(element, form, out)?;
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<&Member> = members.iter().collect();
            sorted.sort_by(|a, b| a.key.cmp_code_points(&b.key));
            out.push('{');
            for (index, member) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(&member.key, form, out)?;
                out.push(':');
                write(&member.value, form, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
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

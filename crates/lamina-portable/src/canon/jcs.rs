//! RFC 8785 (JSON Canonicalization Scheme).

use lamina_types::limits::SAFE_INTEGER_MAX;

use super::CanonError;
use super::double::ecma_double;
use crate::json::{JsonText, Member, NumberToken, Value, write_plain};

/// The canonical form of RFC 8785. Integers that not every reader keeps exact are refused.
pub fn jcs(value: &Value) -> Result<Vec<u8>, CanonError> {
    let mut out = String::new();
    write(value, &mut out)?;
    Ok(out.into_bytes())
}

fn write(value: &Value, out: &mut String) -> Result<(), CanonError> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(token) => out.push_str(&number(token)?),
        Value::String(text) => write_text(text, out)?,
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(element, out)?;
            }
            out.push(']');
        }
        Value::Object(members) => write_object(members, out)?,
    }
    Ok(())
}

fn write_object(members: &[Member], out: &mut String) -> Result<(), CanonError> {
    let mut sorted: Vec<&Member> = members.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp_units(&b.key));
    out.push('{');
    let mut before: Option<&Member> = None;
    for member in sorted {
        match before {
            Some(before) if before.key == member.key => return Err(CanonError::DuplicateKey),
            Some(_) => out.push(','),
            None => {}
        }
        write_text(&member.key, out)?;
        out.push(':');
        write(&member.value, out)?;
        before = Some(member);
    }
    out.push('}');
    Ok(())
}

fn number(token: &NumberToken) -> Result<String, CanonError> {
    let number = token.to_f64();
    if number.is_nan() || token.as_str().ends_with("Infinity") {
        return Err(CanonError::NonFinite(token.as_str().to_owned()));
    }
    if number.is_infinite() {
        return Err(CanonError::NumberRange(token.as_str().to_owned()));
    }
    if token.is_integer() {
        let magnitude = token.as_str().trim_start_matches('-').parse::<u64>();
        if !magnitude.is_ok_and(|magnitude| magnitude <= SAFE_INTEGER_MAX) {
            return Err(CanonError::UnsafeInteger(token.as_str().to_owned()));
        }
    }
    Ok(ecma_double(number))
}

fn write_text(text: &JsonText, out: &mut String) -> Result<(), CanonError> {
    let text = text.as_str().ok_or(CanonError::LoneSurrogate)?;
    out.push('"');
    write_plain(text, out);
    out.push('"');
    Ok(())
}

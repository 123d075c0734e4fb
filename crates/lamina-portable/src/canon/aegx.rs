//! The canonical form of AEGX bundles, as their published MIT code writes it.
//!
//! Two properties of that code are part of the form: keys are sorted before they are normalized, and
//! doubles go through a parser that is not correctly rounded.

use unicode_normalization::UnicodeNormalization as _;

use super::CanonError;
use super::double::{Digits, Fraction};
use crate::json::{JsonText, Member, NumberToken, Value, push_escape};

/// The canonical form.
pub fn aegx(value: &Value) -> Result<Vec<u8>, CanonError> {
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
        Value::Object(members) => {
            let mut sorted: Vec<&Member> = members.iter().collect();
            sorted.sort_by(|a, b| a.key.cmp_code_points(&b.key));
            out.push('{');
            for (index, member) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(&member.key, out)?;
                out.push(':');
                write(&member.value, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn write_text(text: &JsonText, out: &mut String) -> Result<(), CanonError> {
    let text = text.as_str().ok_or(CanonError::LoneSurrogate)?;
    out.push('"');
    for c in text.nfc() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => push_escape(u32::from(c), out),
            c => out.push(c),
        }
    }
    out.push('"');
    Ok(())
}

/// Integers that fit 64 bits exactly; everything else as a double.
fn number(token: &NumberToken) -> Result<String, CanonError> {
    let text = token.as_str();
    if token.is_integer() {
        if text == "-0" {
            return Ok("0".to_owned());
        }
        if text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok() {
            return Ok(text.to_owned());
        }
    }
    let number = lossy_double(text).ok_or_else(|| CanonError::NumberRange(text.to_owned()))?;
    if number == 0.0 {
        return Ok(if number.is_sign_negative() { "0" } else { "0.0" }.to_owned());
    }
    let digits = Digits::shortest(number);
    Ok(match digits.point {
        -4..=16 => digits.fixed(Fraction::Always),
        _ => digits.scientific(1),
    })
}

/// Reads a number as that code does: a significand of 64 bits, one power of ten. `None` if it is out of
/// range or no number.
fn lossy_double(token: &str) -> Option<f64> {
    let (is_negative, token) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token),
    };
    let (mantissa, exponent) = match token.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (token, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut significand = 0_u64;
    let mut scale = 0_i32;
    let mut is_full = false;
    for digit in whole.bytes() {
        match (is_full, append_digit(significand, digit)) {
            (false, Some(longer)) => significand = longer,
            _ => {
                is_full = true;
                scale = scale.saturating_add(1);
            }
        }
    }
    for digit in fraction.bytes() {
        match (is_full, append_digit(significand, digit)) {
            (false, Some(longer)) => {
                significand = longer;
                scale = scale.saturating_sub(1);
            }
            _ => is_full = true,
        }
    }
    let magnitude = match exponent.map(read_exponent) {
        None => scaled(significand, scale),
        Some(Ok(exponent)) => scaled(significand, scale.saturating_add(exponent)),
        // An exponent beyond 32 bits: zero, or far out of range.
        Some(Err(is_exponent_negative)) => {
            (significand == 0 || is_exponent_negative).then_some(0.0)
        }
    }?;
    Some(if is_negative { -magnitude } else { magnitude })
}

fn append_digit(significand: u64, digit: u8) -> Option<u64> {
    significand.checked_mul(10)?.checked_add(u64::from(digit.checked_sub(b'0')?))
}

/// The exponent, or whether one that does not fit is negative.
fn read_exponent(text: &str) -> Result<i32, bool> {
    let (is_negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or_default()),
        Some(b'+') => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    let magnitude: i32 = digits.parse().map_err(|_| is_negative)?;
    Ok(if is_negative { -magnitude } else { magnitude })
}

fn scaled(significand: u64, mut scale: i32) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "the lossy parse is part of the form")]
    let mut number = significand as f64;
    loop {
        if scale.abs() <= 308 {
            // Powers of ten are constants of that code: each is the nearest double.
            let power: f64 = format!("1e{}", scale.abs()).parse().ok()?;
            if scale < 0 {
                return Some(number / power);
            }
            number *= power;
            return number.is_finite().then_some(number);
        }
        if number == 0.0 {
            return Some(number);
        }
        if scale > 0 {
            return None;
        }
        number /= 1e308;
        scale += 308;
    }
}

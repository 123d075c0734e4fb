//! Query strings: pairs, percent-decoded. A scope may come raw or encoded, `+` is a space.

use lamina_api::ApiError;

/// More pairs than any route has parameters.
const PAIRS_MAX: usize = 256;

/// The decoded pairs, in order.
pub(crate) fn pairs(query: Option<&str>) -> Result<Vec<(String, String)>, ApiError> {
    let query = query.unwrap_or_default();
    let mut pairs = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        if pairs.len() == PAIRS_MAX {
            return Err(refused("has too many parameters"));
        }
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        pairs.push((decode(name)?, decode(value)?));
    }
    Ok(pairs)
}

fn decode(text: &str) -> Result<String, ApiError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = rest.next().and_then(hex).zip(rest.next().and_then(hex));
                let (high, low) =
                    digits.ok_or_else(|| refused("has a `%` without two hex digits"))?;
                high << 4 | low
            }
            plain => plain,
        });
    }
    String::from_utf8(bytes).map_err(|_| refused("is not UTF-8 after decoding"))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn refused(reason: &str) -> ApiError {
    ApiError::invalid_parameter("query", reason)
}

#[cfg(test)]
mod tests;

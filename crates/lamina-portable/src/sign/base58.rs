//! Base 58 with the alphabet of Bitcoin, which `did:key` uses.

const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The bytes as base 58. Quadratic: for keys, not for files.
pub(super) fn encode(bytes: &[u8]) -> String {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    // Least significant digit first.
    let mut digits: Vec<u32> = Vec::new();
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    let digits = std::iter::repeat_n(0, zeros).chain(digits.into_iter().rev());
    digits
        .filter_map(|digit| ALPHABET.get(usize::try_from(digit).ok()?).copied())
        .map(char::from)
        .collect()
}

/// Texts that are longer hold no key.
const TEXT_BYTES_MAX: usize = 128;

/// The bytes of base 58; `None` for another alphabet or a text that is too long.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    // Least significant byte first.
    let mut bytes: Vec<u8> = Vec::new();
    for c in text.bytes() {
        let mut carry = u32::try_from(ALPHABET.iter().position(|digit| *digit == c)?).ok()?;
        for byte in &mut bytes {
            carry += u32::from(*byte) * 58;
            *byte = u8::try_from(carry & 0xff).ok()?;
            carry >>= 8;
        }
        while carry > 0 {
            bytes.push(u8::try_from(carry & 0xff).ok()?);
            carry >>= 8;
        }
    }
    let zeros = text.bytes().take_while(|c| *c == b'1').count();
    bytes.extend(std::iter::repeat_n(0, zeros));
    bytes.reverse();
    Some(bytes)
}

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

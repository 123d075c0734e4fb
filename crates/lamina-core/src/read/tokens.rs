//! How many tokens a text takes, without a tokenizer.
//!
//! An estimate of a byte-pair encoding such as those of current language models: a common word is one
//! token, a long one several, digits go in threes, a script without spaces takes about one per
//! character. It is for budgets: near enough, the same everywhere, and microseconds per text.

use crate::read::words::is_unspaced;

/// What the pieces of a text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Letters { ascii: bool },
    Digits,
    Unspaced,
    Mark,
    Space,
    Line,
}

fn piece(c: char) -> Piece {
    match c {
        '\n' | '\r' => Piece::Line,
        c if c.is_whitespace() => Piece::Space,
        c if is_unspaced(c) => Piece::Unspaced,
        '\u{ac00}'..='\u{d7af}' => Piece::Unspaced,
        c if c.is_ascii_digit() => Piece::Digits,
        c if c.is_alphanumeric() => Piece::Letters { ascii: c.is_ascii() },
        _ => Piece::Mark,
    }
}

/// About how many tokens a text takes.
pub fn estimate(text: &str) -> u64 {
    let mut tokens = 0.0_f64;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let kind = piece(c);
        let mut length = 1_usize;
        let mut all_ascii = c.is_ascii();
        let mut last_lower = c.is_lowercase();
        let mut humps = 0_usize;
        while let Some(next) = chars.peek().copied() {
            let same = match (kind, piece(next)) {
                (Piece::Letters { .. }, Piece::Letters { .. }) => true,
                (one, other) => one == other,
            };
            if !same || (kind == Piece::Mark && next != c) {
                break;
            }
            chars.next();
            length += 1;
            all_ascii &= next.is_ascii();
            // `camelCase` is cut at its humps.
            humps += usize::from(last_lower && next.is_uppercase());
            last_lower = next.is_lowercase();
        }
        tokens += match kind {
            Piece::Letters { .. } if all_ascii => word(length, humps),
            Piece::Letters { .. } => length as f64 / 2.2,
            Piece::Digits => length.div_ceil(3) as f64,
            Piece::Unspaced => 1.05 * length as f64,
            Piece::Mark => (length as f64 / 3.0).ceil(),
            // A single space belongs to the word that follows.
            Piece::Space => f64::from(u8::from(length > 1)),
            Piece::Line => 1.0,
        };
    }
    tokens.ceil() as u64
}

/// Common words are whole; the longer one is, the likelier it is in parts.
fn word(length: usize, humps: usize) -> f64 {
    let base = match length {
        0..=4 => 1.0,
        5..=7 => 1.06,
        8..=10 => 1.22,
        11..=14 => 1.6,
        _ => length as f64 / 6.0,
    };
    base + 0.7 * humps as f64
}

#[cfg(test)]
mod tests;

//! Doubles as text: the shortest digits that read back as the same double, in the notation of each
//! format.
//!
//! The digits come from the standard library, with one correction: where two shortest digit strings
//! are equally near, Python and ECMAScript take the even one.

/// The digits of a double: `0.d1d2d3… × 10^point`.
pub(super) struct Digits {
    pub(super) is_negative: bool,
    pub(super) digits: String,
    /// How many digits stand before the decimal point; negative if zeros follow the point first.
    pub(super) point: i32,
}

impl Digits {
    /// The shortest digits of a finite double.
    pub(super) fn shortest(number: f64) -> Digits {
        let magnitude = number.abs();
        let shortest = format!("{magnitude:e}");
        let precision = shortest.bytes().filter(u8::is_ascii_digit).count();
        let mantissa_digits = precision - exponent_digits(&shortest);
        // The correctly rounded text of the same length ends in an even digit on a tie.
        let rounded = format!("{magnitude:.*e}", mantissa_digits.saturating_sub(1));
        let chosen = match rounded.parse::<f64>() {
            Ok(read) if read == magnitude => rounded,
            _ => shortest,
        };
        let (mantissa, exponent) = chosen.split_once('e').unwrap_or((&chosen, "0"));
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        let trimmed = digits.trim_end_matches('0');
        let digits = if trimmed.is_empty() { "0" } else { trimmed };
        let exponent: i32 = exponent.parse().unwrap_or_default();
        Digits {
            is_negative: number.is_sign_negative(),
            digits: digits.to_owned(),
            point: exponent + 1,
        }
    }

    /// Without an exponent: `123.45`, `0.00123`, `100` or, with a fraction demanded, `100.0`.
    pub(super) fn fixed(&self, fraction: Fraction) -> String {
        let mut out = self.sign();
        let count = i32::try_from(self.digits.len()).unwrap_or(i32::MAX);
        if self.point <= 0 {
            out.push_str("0.");
            out.extend((self.point..0).map(|_| '0'));
            out.push_str(&self.digits);
            return out;
        }
        if self.point >= count {
            out.push_str(&self.digits);
            out.extend((count..self.point).map(|_| '0'));
            if fraction == Fraction::Always {
                out.push_str(".0");
            }
            return out;
        }
        let (whole, rest) = self.digits.split_at(usize::try_from(self.point).unwrap_or_default());
        out.push_str(whole);
        out.push('.');
        out.push_str(rest);
        out
    }

    /// With an exponent of at least so many digits and always a sign: `1.5e+300`, `1e-07`.
    pub(super) fn scientific(&self, exponent_digits: usize) -> String {
        let mut out = self.sign();
        let (first, rest) = self.digits.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        let exponent = self.point - 1;
        let sign = if exponent < 0 { '-' } else { '+' };
        let magnitude = exponent.unsigned_abs();
        out.push_str(&format!("e{sign}{magnitude:0exponent_digits$}"));
        out
    }

    fn sign(&self) -> String {
        if self.is_negative { "-".to_owned() } else { String::new() }
    }
}

/// Whether a whole number shows a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fraction {
    Always,
    WhenNeeded,
}

fn exponent_digits(text: &str) -> usize {
    let exponent = text.split_once('e').map(|(_, exponent)| exponent);
    exponent.unwrap_or_default().bytes().filter(u8::is_ascii_digit).count()
}

/// A double as Python prints it: `1.0`, `1e-05`, `1e+16`, `nan` and `inf` as JSON tokens.
pub fn python_double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let digits = Digits::shortest(number);
    match digits.point {
        -3..=16 => digits.fixed(Fraction::Always),
        _ if number == 0.0 => digits.fixed(Fraction::Always),
        _ => digits.scientific(2),
    }
}

/// A finite double as ECMAScript prints it: `1`, `1e-7`, `1e+21`.
pub fn ecma_double(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let digits = Digits::shortest(number);
    match digits.point {
        -5..=21 => digits.fixed(Fraction::WhenNeeded),
        _ => digits.scientific(1),
    }
}

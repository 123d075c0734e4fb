//! Numbers, quantities and amounts of money, as they are written and as they are said. Values are
//! decimal text and never floating point: what is stored must equal what a later reading gives.

use super::lexicon::{self, Class};
use super::token::{Kind, Tokens};

/// Digits of a number, after scaling; more is an identifier.
const DIGITS_MAX: usize = 18;

/// A number that stands at some token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Number {
    /// Plain decimal notation.
    pub(crate) value: String,
    /// The token after it.
    pub(crate) end: usize,
}

/// The number that begins at `index`: "1,200", "35k", "two hundred", "2.1 million".
pub(crate) fn number(tokens: &Tokens<'_>, index: usize) -> Option<Number> {
    let first = tokens.at(index);
    let (value, end) = if first.kind == Kind::Number {
        (written(&first.fold)?, index + 1)
    } else {
        spoken(tokens, index)?
    };
    let (value, end) = match scale(&tokens.at(end).fold) {
        Some(zeros) if first.kind == Kind::Number => (shift(&value, zeros)?, end + 1),
        _ => (value, end),
    };
    Some(Number { value, end })
}

/// A whole number that begins at `index`, small enough to count with.
pub(crate) fn count(tokens: &Tokens<'_>, index: usize) -> Option<(i32, usize)> {
    let number = number(tokens, index)?;
    Some((number.value.parse().ok()?, number.end))
}

/// An amount of money at `index`: value, currency, the token after it.
pub(crate) fn money(tokens: &Tokens<'_>, index: usize) -> Option<(String, &'static str, usize)> {
    let first = tokens.at(index);
    if first.kind == Kind::Punct
        && let Some(currency) = sign(&first.fold)
    {
        let number = number(tokens, index + 1)?;
        // "$40 USD" says it twice.
        let end = number.end;
        let end = if currency_name(&tokens.at(end).fold).is_some() { end + 1 } else { end };
        return Some((number.value, currency, end));
    }
    if let Some(currency) = currency_code(&first.fold)
        && first.kind == Kind::Word
    {
        let number = number(tokens, index + 1)?;
        return Some((number.value, currency, number.end));
    }
    let number = number(tokens, index)?;
    let after = tokens.at(number.end);
    let currency = match after.kind {
        Kind::Punct => sign(&after.fold)?,
        _ => currency_name(&after.fold)?,
    };
    Some((number.value, currency, number.end + 1))
}

/// A number with a unit at `index`: value, unit, the token after it.
pub(crate) fn quantity(tokens: &Tokens<'_>, index: usize) -> Option<(String, &'static str, usize)> {
    let first = tokens.at(index);
    if first.kind == Kind::Number {
        let digits = first.fold.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let tail = first.fold.get(digits.len()..).unwrap_or("");
        if let Some(unit) = lexicon::unit(tail) {
            return Some((written(digits)?, unit, index + 1));
        }
    }
    let number = number(tokens, index)?;
    let unit = lexicon::unit(&tokens.at(number.end).fold)?;
    Some((number.value, unit, number.end + 1))
}

/// "1,200" is grouped, "35k" is scaled, "1.80" keeps its zero. Ordinals and versions are not numbers.
fn written(fold: &str) -> Option<String> {
    let fold = fold.strip_prefix('+').unwrap_or(fold);
    let (digits, zeros) = match fold.char_indices().next_back()? {
        (at, 'k') => (fold.get(..at)?, 3),
        (at, 'm') => (fold.get(..at)?, 6),
        _ => (fold.strip_suffix("bn").unwrap_or(fold), if fold.ends_with("bn") { 9 } else { 0 }),
    };
    let plain = match digits.split_once(',') {
        None => digits.to_owned(),
        Some((head, tail)) => {
            let (groups, fraction) = tail.split_once('.').unwrap_or((tail, ""));
            if !groups.split(',').all(|group| group.len() == 3) || head.len() > 3 {
                return None;
            }
            let whole = format!("{head}{}", groups.replace(',', ""));
            if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
        }
    };
    let dots = plain.matches('.').count();
    let sound = !plain.is_empty()
        && plain.len() <= DIGITS_MAX
        && dots <= 1
        && plain.starts_with(|c: char| c.is_ascii_digit())
        && plain.ends_with(|c: char| c.is_ascii_digit())
        && plain.chars().all(|c| c.is_ascii_digit() || c == '.');
    if !sound {
        return None;
    }
    shift(&plain, zeros)
}

/// The value with the decimal point moved to the right.
fn shift(value: &str, zeros: usize) -> Option<String> {
    if zeros == 0 {
        return Some(value.to_owned());
    }
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let (moved, kept) = if fraction.len() > zeros {
        (fraction.get(..zeros)?.to_owned(), fraction.get(zeros..)?)
    } else {
        (format!("{fraction}{}", "0".repeat(zeros - fraction.len())), "")
    };
    let digits = format!("{whole}{moved}");
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    if digits.len() > DIGITS_MAX {
        return None;
    }
    Some(if kept.is_empty() { digits.to_owned() } else { format!("{digits}.{kept}") })
}

fn scale(fold: &str) -> Option<usize> {
    match fold {
        "thousand" => Some(3),
        "million" | "mio" | "mn" => Some(6),
        "billion" | "bn" => Some(9),
        _ => None,
    }
}

/// Number words: "three", "twenty-five", "two hundred and ten", "a dozen".
fn spoken(tokens: &Tokens<'_>, index: usize) -> Option<(String, usize)> {
    let (mut total, mut group, mut at, mut any) = (0u64, 0u64, index, false);
    if tokens.at(at).word(&["a"])
        && tokens.at(at + 1).word(&["dozen", "hundred", "thousand", "million"])
    {
        group = 1;
        at += 1;
    }
    loop {
        let token = tokens.at(at);
        if token.kind != Kind::Word {
            break;
        }
        if any
            && token.fold == "and"
            && tokens.at(at + 1).is(Class::NUMBER_WORD)
            && group % 100 == 0
            && group > 0
        {
            at += 1;
            continue;
        }
        let value = match token.fold.split_once('-') {
            Some((tens, ones)) => word_value(tens)?.checked_add(word_value(ones)?)?,
            None => match word_value(&token.fold) {
                Some(value) => value,
                None => break,
            },
        };
        match value {
            100 => group = group.max(1).checked_mul(100)?,
            12 if token.fold == "dozen" => group = group.max(1).checked_mul(12)?,
            1_000 | 1_000_000 | 1_000_000_000 => {
                total = total.checked_add(group.max(1).checked_mul(value)?)?;
                group = 0;
            }
            _ => group = group.checked_add(value)?,
        }
        any = true;
        at += 1;
    }
    any.then(|| (total.saturating_add(group).to_string(), at))
}

fn word_value(word: &str) -> Option<u64> {
    const WORDS: &[&str] = &[
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: &[&str] =
        &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    if let Some(at) = WORDS.iter().position(|known| *known == word) {
        return Some(at as u64);
    }
    if let Some(at) = TENS.iter().position(|known| *known == word) {
        return Some((at as u64 + 2) * 10);
    }
    match word {
        "dozen" => Some(12),
        "hundred" => Some(100),
        "thousand" => Some(1_000),
        "million" => Some(1_000_000),
        "billion" => Some(1_000_000_000),
        _ => None,
    }
}

fn sign(fold: &str) -> Option<&'static str> {
    match fold {
        "$" => Some("USD"),
        "€" => Some("EUR"),
        "£" => Some("GBP"),
        "¥" => Some("JPY"),
        "₹" => Some("INR"),
        _ => None,
    }
}

const CODES: &[&str] = &[
    "USD", "EUR", "GBP", "JPY", "INR", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CAD",
    "AUD", "NZD", "SGD", "HKD", "CNY", "KRW", "BRL", "MXN", "ZAR", "TRY", "AED", "ILS", "NGN",
    "KES",
];

fn currency_code(fold: &str) -> Option<&'static str> {
    CODES.iter().find(|code| code.eq_ignore_ascii_case(fold)).copied()
}

fn currency_name(fold: &str) -> Option<&'static str> {
    currency_code(fold).or(match fold {
        "dollars" | "dollar" | "bucks" => Some("USD"),
        "euros" | "euro" => Some("EUR"),
        "pounds" | "quid" => Some("GBP"),
        "yen" => Some("JPY"),
        "rupees" => Some("INR"),
        "francs" => Some("CHF"),
        _ => None,
    })
}

#[cfg(test)]
mod tests;

//! The forms of texts: times, URIs, platforms, tags, versions, hashes.

use lamina_types::{Micros, stdx::hex};
use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;

use crate::time::{self, NaiveTimes};

/// The form that a text must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextForm {
    Any,
    NonEmpty,
    OneOf(&'static [&'static str]),
    /// `1.0`, `1.0-rc1`.
    Version,
    /// `name/1.2.3`.
    Generator,
    DateTime,
    Uri,
    Did,
    Platform,
    Tag,
    /// `sha256:` and 64 lower-case hexadecimal digits.
    Sha256,
    Language,
}

impl TextForm {
    /// The sentence for a text that does not fit; `None` if it fits.
    pub(super) fn fault(self, text: &str) -> Option<&'static str> {
        let (fits, expected) = match self {
            TextForm::Any | TextForm::OneOf(_) => (true, ""),
            TextForm::NonEmpty => (!text.is_empty(), "must not be empty"),
            TextForm::Version => (is_version(text), "must be a version such as 1.0"),
            TextForm::Generator => (is_generator(text), "must be name/major.minor.patch"),
            TextForm::DateTime => {
                (Instant::parse(text).is_some(), "must be an RFC 3339 time with an offset")
            }
            TextForm::Uri => (is_uri(text), "must be a URI"),
            TextForm::Did => (is_did(text), "must be a DID such as did:key:z6Mk…"),
            TextForm::Platform => {
                (is_platform(text), "must have 2 to 32 characters of a-z, 0-9, _ and -")
            }
            TextForm::Tag => {
                (is_tag(text), "must begin with a-z or 0-9 and go on with those, _ or -")
            }
            TextForm::Sha256 => (is_sha256(text), "must be sha256: and 64 lower-case hex digits"),
            TextForm::Language => (is_language(text), "must be a language tag such as en or pt-BR"),
        };
        (!fits).then_some(expected)
    }
}

fn is_version(text: &str) -> bool {
    let (numbers, suffix) = match text.split_once('-') {
        Some((numbers, suffix)) => (numbers, Some(suffix)),
        None => (text, None),
    };
    let is_suffix = suffix.is_none_or(|suffix| {
        let digits = ["rc", "alpha", "beta"].iter().find_map(|name| suffix.strip_prefix(name));
        digits.is_some_and(|digits| digits.bytes().all(|c| c.is_ascii_digit()))
    });
    is_suffix && numbers.split('.').count() == 2 && numbers.split('.').all(is_digits)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

fn is_generator(text: &str) -> bool {
    let Some((name, version)) = text.split_once('/') else { return false };
    !name.is_empty()
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
        && version.split('.').count() == 3
        && version.split('.').all(is_digits)
}

fn is_platform(text: &str) -> bool {
    (2..=32).contains(&text.len())
        && text.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// Whether a label can be a tag as it is.
pub fn is_tag(text: &str) -> bool {
    let mut bytes = text.bytes();
    matches!(bytes.next(), Some(b'a'..=b'z' | b'0'..=b'9'))
        && bytes.all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

fn is_sha256(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|digits| {
        digits.len() == 64 && digits.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
    })
}

fn is_did(text: &str) -> bool {
    let Some((method, id)) = text.strip_prefix("did:").and_then(|rest| rest.split_once(':')) else {
        return false;
    };
    let is_method = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    !method.is_empty() && method.bytes().all(is_method) && !id.is_empty() && !id.contains('\n')
}

/// Whether a language tag fits the format: `en`, `pt-BR`, `zh-Hant-TW`.
pub fn is_language(text: &str) -> bool {
    let mut parts = text.split('-').peekable();
    let language = parts.next().unwrap_or_default();
    if !(2..=3).contains(&language.len()) || !language.bytes().all(|c| c.is_ascii_lowercase()) {
        return false;
    }
    parts.next_if(|part| {
        let mut bytes = part.bytes();
        part.len() == 4
            && bytes.next().is_some_and(|c| c.is_ascii_uppercase())
            && bytes.all(|c| c.is_ascii_lowercase())
    });
    parts.next_if(|part| part.len() == 2 && part.bytes().all(|c| c.is_ascii_uppercase()));
    parts.next().is_none()
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut scheme = scheme.bytes();
    let is_scheme = scheme.next().is_some_and(|c| c.is_ascii_alphabetic())
        && scheme.all(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'.' | b'-'));
    let is_legal = |c: u8| c.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&c);
    let mut pieces = rest.split('%');
    let plain = pieces.next().unwrap_or_default();
    is_scheme
        && plain.bytes().all(is_legal)
        && pieces.all(|piece| {
            piece.bytes().all(is_legal)
                && piece.len() >= 2
                && piece.bytes().take(2).all(|c| c.is_ascii_hexdigit())
        })
}

/// An RFC 3339 time, with its instant and the text that the published toolkit makes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instant {
    pub(super) at: Micros,
    pub(super) rewritten: String,
}

impl Instant {
    /// Reads exactly RFC 3339: with an offset, in either case, with a leap second.
    pub(super) fn parse(text: &str) -> Option<Instant> {
        let bytes = text.as_bytes();
        let head = text.get(..19)?;
        let shape = head.bytes().zip("dddd-dd-ddTdd:dd:dd".bytes());
        let is_head = |(found, expected): (u8, u8)| match expected {
            b'd' => found.is_ascii_digit(),
            b'T' => matches!(found, b'T' | b't'),
            other => found == other,
        };
        if !shape.into_iter().all(is_head) {
            return None;
        }
        let mut rest = text.get(19..)?;
        let mut fraction = "";
        if bytes.get(19) == Some(&b'.') {
            let digits = rest.bytes().skip(1).take_while(u8::is_ascii_digit).count();
            fraction = rest.get(1..=digits).filter(|digits| !digits.is_empty())?;
            rest = rest.get(digits + 1..)?;
        }
        let offset = match rest.as_bytes() {
            b"Z" | b"z" => "Z",
            [b'+' | b'-', hour @ .., b':', _, _] if hour.len() == 2 => rest,
            _ => return None,
        };
        let is_leap = head.ends_with(":60");
        let clock = if is_leap { format!("{}:59", head.get(..16)?) } else { head.to_owned() };
        let dot = if fraction.is_empty() { "" } else { "." };
        let time = time::parse(&format!("{clock}{dot}{fraction}{offset}"), NaiveTimes::Refuse);
        let at = time.ok()?.at.0 + if is_leap { 1_000_000 } else { 0 };
        let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
        let fraction = if micros == "000000" { String::new() } else { format!(".{micros}") };
        let offset = if matches!(offset, "+00:00" | "-00:00") { "Z" } else { offset };
        let rewritten = format!("{}{fraction}{offset}", head.replace('t', "T"));
        Some(Instant { at: Micros(at), rewritten })
    }
}

/// The hash of a content, by which copies are found: case, Unicode form and white space do not count.
pub fn content_hash(content: &str) -> String {
    let folded: String = content.to_lowercase().nfc().collect();
    let is_space = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}');
    let words: Vec<&str> = folded.split(is_space).filter(|word| !word.is_empty()).collect();
    sha256_text(words.join(" ").as_bytes())
}

/// `sha256:` and the digits.
pub(super) fn sha256_text(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(&Sha256::digest(bytes)))
}

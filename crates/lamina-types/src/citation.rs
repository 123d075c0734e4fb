//! The public name of an event: its scope, its number there and its seal.
//!
//! `eventloom://<thread>/events/<number>#<seal>`, where the thread is the path of the scope with `%` as `%25`
//! and `/` as `%2F`, and the seal is 64 hexadecimal digits or the first 12 of them. The number helps to find
//! the event; the seal proves that it is the one. Citations that have the path of the scope as it is, and the
//! position in the chain of the scope as the number, are read too.

use std::fmt;
use std::str::FromStr;

use crate::limits::CITATION_CHARS_MAX;
use crate::scope::ScopePath;
use crate::stdx::hex;

const SCHEME: &str = "eventloom://";
const EVENTS: &str = "/events/";

/// A citation of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventCitation {
    /// The home scope.
    pub scope: ScopePath,
    /// The number of the event in the scope, from 1.
    pub number: u64,
    /// The seal of its entry, or the beginning of it.
    pub seal: CitedSeal,
}

/// As much of a seal as a citation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CitedSeal {
    /// The whole seal.
    Full([u8; 32]),
    /// Its first six bytes.
    Short([u8; 6]),
}

/// Why a text is no citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a citation is `eventloom://SCOPE/events/NUMBER#SEAL`, with `/` in the scope as `%2F` and a seal of 12 or 64 \
     lower-case hexadecimal digits"
)]
pub struct CitationError;

impl CitedSeal {
    /// Whether this is the seal, or the beginning of it.
    pub fn matches(&self, seal: &[u8; 32]) -> bool {
        match self {
            CitedSeal::Full(full) => full == seal,
            CitedSeal::Short(short) => seal.starts_with(short),
        }
    }
}

impl EventCitation {
    /// The citation with the first 12 digits of the seal.
    #[must_use]
    pub fn shortened(self) -> EventCitation {
        let seal = match self.seal {
            CitedSeal::Full(full) => match full.first_chunk() {
                Some(short) => CitedSeal::Short(*short),
                None => CitedSeal::Full(full),
            },
            short @ CitedSeal::Short(_) => short,
        };
        EventCitation { seal, ..self }
    }
}

impl fmt::Display for EventCitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A scope has no `%`, which would be `%25`.
        let thread = self.scope.as_str().replace('/', "%2F");
        let seal = match &self.seal {
            CitedSeal::Full(seal) => hex::encode(seal),
            CitedSeal::Short(seal) => hex::encode(seal),
        };
        write!(f, "{SCHEME}{thread}{EVENTS}{}#{seal}", self.number)
    }
}

impl FromStr for EventCitation {
    type Err = CitationError;

    fn from_str(text: &str) -> Result<Self, CitationError> {
        if text.len() > CITATION_CHARS_MAX {
            return Err(CitationError);
        }
        let (rest, seal) = text
            .strip_prefix(SCHEME)
            .and_then(|rest| rest.rsplit_once('#'))
            .ok_or(CitationError)?;
        let (thread, number) = rest.rsplit_once(EVENTS).ok_or(CitationError)?;
        let scope = thread.replace("%2F", "/").replace("%2f", "/");
        Ok(EventCitation {
            scope: scope.parse().map_err(|_| CitationError)?,
            number: positive(number).ok_or(CitationError)?,
            seal: cited_seal(seal).ok_or(CitationError)?,
        })
    }
}

/// A citation that another program gave an event: `eventloom://<thread>/events/<number>#<seal>` with any thread that
/// has neither `/` nor blanks. It stands as `citation` in the origin of the imported event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignCitation {
    /// The thread there.
    pub thread: String,
    /// The number there, from 1.
    pub number: u64,
    /// The seal there, or the beginning of it.
    pub seal: CitedSeal,
}

/// How the member of an origin begins, in compact JSON.
const ORIGIN_MEMBER: &str = "\"citation\":\"";

impl ForeignCitation {
    /// The citation in an origin, which is compact JSON.
    pub fn of_origin(origin: &str) -> Option<ForeignCitation> {
        let mut rest = origin;
        while let Some(at) = rest.find(ORIGIN_MEMBER) {
            rest = rest.get(at + ORIGIN_MEMBER.len()..)?;
            let text = rest.split('"').next().unwrap_or_default();
            if let Ok(citation) = text.parse() {
                return Some(citation);
            }
        }
        None
    }

    /// The part that the full and the short form share.
    pub fn short_form(&self) -> String {
        let seal = match &self.seal {
            CitedSeal::Full(seal) => seal.first_chunk().copied().unwrap_or_default(),
            CitedSeal::Short(seal) => *seal,
        };
        let ForeignCitation { thread, number, .. } = self;
        format!("{SCHEME}{thread}{EVENTS}{number}#{}", hex::encode(&seal))
    }

    /// Whether this names the event that has the other citation.
    pub fn names(&self, other: &ForeignCitation) -> bool {
        let is_sealed = match (&self.seal, &other.seal) {
            (seal, CitedSeal::Full(full)) => seal.matches(full),
            (CitedSeal::Full(full), CitedSeal::Short(short)) => full.starts_with(short),
            (CitedSeal::Short(one), CitedSeal::Short(other)) => one == other,
        };
        is_sealed && self.thread == other.thread && self.number == other.number
    }
}

impl FromStr for ForeignCitation {
    type Err = CitationError;

    fn from_str(text: &str) -> Result<Self, CitationError> {
        if text.len() > CITATION_CHARS_MAX {
            return Err(CitationError);
        }
        let parts = text.strip_prefix(SCHEME).and_then(|rest| rest.rsplit_once('#'));
        let (rest, seal) = parts.ok_or(CitationError)?;
        let (thread, number) = rest.split_once(EVENTS).ok_or(CitationError)?;
        let is_plain =
            |c: char| c != '/' && c != '"' && c != '\\' && !c.is_whitespace() && !c.is_control();
        if thread.is_empty() || !thread.chars().all(is_plain) {
            return Err(CitationError);
        }
        Ok(ForeignCitation {
            thread: thread.to_owned(),
            number: positive(number).ok_or(CitationError)?,
            seal: cited_seal(seal).ok_or(CitationError)?,
        })
    }
}

fn positive(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|c| c.is_ascii_digit()) && !text.starts_with('0');
    if digits { text.parse().ok() } else { None }
}

fn cited_seal(text: &str) -> Option<CitedSeal> {
    if !text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    match text.len() {
        12 => hex::decode_array(text).map(CitedSeal::Short),
        64 => hex::decode_array(text).map(CitedSeal::Full),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

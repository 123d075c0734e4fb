//! What a rule speaks about: one capability, a branch of the catalog, or all of it.
//!
//! The wildcard stands for whole words at the end and nowhere else. `scope.write.*` is everything
//! below `scope.write` and not `scope.write` itself, so that a rule about the special cases of
//! writing does not switch writing on or off.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use lamina_types::capability;
use lamina_types::limits::POLICY_PATTERN_CHARS_MAX;

/// `*`, `scope.read.*` or `scope.read.local`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(Arc<str>);

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// Nothing was given.
    #[error("a pattern is a capability, a branch like `scope.read.*`, or `*`")]
    Empty,
    /// Longer than the limit.
    #[error("a pattern has at most {POLICY_PATTERN_CHARS_MAX} characters")]
    TooLong,
    /// A wildcard that is not the whole last word.
    #[error("`{0}`: `*` stands alone or after a last dot, as in `scope.read.*`")]
    Wildcard(String),
    /// A character that no capability has, or an empty word.
    #[error("`{0}` is not words of a-z, 0-9 and _ with dots between them")]
    Words(String),
    /// No capability matches: most likely a typing mistake.
    #[error("`{pattern}` matches no capability{}", hint(.nearest))]
    MatchesNothing {
        /// The pattern.
        pattern: String,
        /// The capability that is spelt most alike, if one is close.
        nearest: Option<&'static str>,
    },
}

impl Pattern {
    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the rule speaks about this capability.
    pub fn matches(&self, capability: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(branch) => capability.starts_with(branch),
            None => capability == &*self.0,
        }
    }

    /// How much of a capability's name is written out. Of two rules that match, the one that writes
    /// out more is the more specific; a whole name writes out most.
    pub(super) fn literal_len(&self) -> usize {
        self.0.strip_suffix('*').map_or(self.0.len(), str::len)
    }

    /// The pattern, if it matches anything in the catalog. A rule about nothing is a mistake, and in
    /// a deny list it is one that lets somebody in.
    pub fn known(text: &str) -> Result<Pattern, PatternError> {
        let pattern: Pattern = text.parse()?;
        if capability::NAMES.iter().any(|name| pattern.matches(name)) {
            return Ok(pattern);
        }
        Err(PatternError::MatchesNothing { pattern: text.to_owned(), nearest: nearest(text) })
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if text.len() > POLICY_PATTERN_CHARS_MAX {
            return Err(PatternError::TooLong);
        }
        if text == "*" {
            return Ok(Pattern(Arc::from(text)));
        }
        let words = text.strip_suffix(".*").unwrap_or(text);
        if words.contains('*') {
            return Err(PatternError::Wildcard(text.to_owned()));
        }
        let is_word = |word: &str| {
            !word.is_empty()
                && word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
        };
        if !words.split('.').all(is_word) {
            return Err(PatternError::Words(text.to_owned()));
        }
        Ok(Pattern(Arc::from(text)))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Only what a slip of the fingers explains is offered: an unrelated name would mislead.
const NEAR_MAX: usize = 3;

fn nearest(text: &str) -> Option<&'static str> {
    let text = text.trim_end_matches(".*");
    let distances = capability::NAMES.iter().map(|name| (distance(text, name), *name));
    distances.min().filter(|(distance, _)| *distance <= NEAR_MAX).map(|(_, name)| name)
}

/// Edit distance, one row at a time.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, left) in from.bytes().enumerate() {
        let mut next = vec![index + 1];
        let mut last = index + 1;
        for (right, pair) in to.bytes().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            last = (diagonal + usize::from(left != right)).min(above + 1).min(last + 1);
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;

//! One tier's policy: what it allows, what it denies, and its settings.
//!
//! Within a document the most specific rule that matches wins, so that `deny scope.*` with
//! `allow scope.read.local` reads as it is written; the same pattern in both lists denies.

use std::fmt;
use std::str::FromStr;

use lamina_types::limits::POLICY_PATTERNS_MAX;

use super::defaults::{Defaults, DefaultsError};
use super::pattern::{Pattern, PatternError};

/// A policy document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// What is allowed, as written.
    pub allow: Vec<Pattern>,
    /// What is denied, as written.
    pub deny: Vec<Pattern>,
    /// Settings.
    pub defaults: Defaults,
}

/// What a document says about a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It may be used, as far as this tier goes.
    Allow,
    /// It may not.
    Deny,
}

/// Why a document is refused. Each names the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// A rule cannot be read.
    #[error("`{key}[{index}]` is not a rule")]
    Rule {
        /// `allow` or `deny`.
        key: &'static str,
        /// Which of the list, counted from 0.
        index: usize,
        /// Why.
        source: PatternError,
    },
    /// More rules than the limit.
    #[error("`{key}` has at most {POLICY_PATTERNS_MAX} rules")]
    TooManyRules {
        /// `allow` or `deny`.
        key: &'static str,
    },
    /// A setting cannot be read.
    #[error("`defaults` is refused")]
    Defaults(#[from] DefaultsError),
    /// There is no such key.
    #[error("`{key}` is not a key of a policy; the keys are allow, deny, defaults")]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A line of the stored form has no value.
    #[error("line {line} is not `key value`")]
    Line {
        /// Which line, counted from 1.
        line: usize,
    },
}

const ALLOW: &str = "allow";
const DENY: &str = "deny";
const DEFAULTS: &str = "defaults.";

impl Document {
    /// A document of rules as an administrator writes them. A rule that matches no capability is
    /// refused; one that is written twice counts once.
    pub fn from_lists(allow: &[&str], deny: &[&str]) -> Result<Document, DocumentError> {
        let allow = rules(ALLOW, allow, Pattern::known)?;
        let deny = rules(DENY, deny, Pattern::known)?;
        Ok(Document { allow, deny, defaults: Defaults::default() })
    }

    /// What this document says about a capability; `None` is silence.
    pub fn opinion(&self, capability: &str) -> Option<Effect> {
        let most = |rules: &[Pattern]| {
            let matching = rules.iter().filter(|rule| rule.matches(capability));
            matching.map(Pattern::literal_len).max()
        };
        match (most(&self.allow), most(&self.deny)) {
            (None, None) => None,
            (allow, deny) if deny >= allow => Some(Effect::Deny),
            _ => Some(Effect::Allow),
        }
    }

    /// The document as pairs of key and text: `allow` and `deny` once for each rule, then
    /// `defaults.NAME`. [`Document::from_pairs`] gives an equal document back.
    pub fn to_pairs(&self) -> Vec<(String, String)> {
        let Document { allow, deny, defaults } = self;
        let allow = allow.iter().map(|rule| (ALLOW.to_owned(), rule.to_string()));
        let deny = deny.iter().map(|rule| (DENY.to_owned(), rule.to_string()));
        let defaults =
            defaults.to_pairs().into_iter().map(|(key, value)| (format!("{DEFAULTS}{key}"), value));
        allow.chain(deny).chain(defaults).collect()
    }

    /// The document that [`Document::to_pairs`] took apart. A rule that matches nothing is kept: it
    /// was right when it was stored, and a capability that has gone must not make a stored policy
    /// unreadable.
    pub fn from_pairs<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Document, DocumentError> {
        let (mut allow, mut deny) = (Vec::new(), Vec::new());
        let mut defaults = Defaults::default();
        for (key, value) in pairs {
            match key {
                ALLOW => allow.push(value),
                DENY => deny.push(value),
                _ => {
                    let unknown = || DocumentError::UnknownKey { key: key.to_owned() };
                    let name = key.strip_prefix(DEFAULTS).ok_or_else(unknown)?;
                    defaults.set(name, value)?;
                }
            }
        }
        let allow = rules(ALLOW, &allow, str::parse)?;
        let deny = rules(DENY, &deny, str::parse)?;
        Ok(Document { allow, deny, defaults })
    }
}

/// Reads a list of rules, keeping the order and the first of equal ones.
fn rules(
    key: &'static str,
    texts: &[&str],
    read: fn(&str) -> Result<Pattern, PatternError>,
) -> Result<Vec<Pattern>, DocumentError> {
    if texts.len() > POLICY_PATTERNS_MAX {
        return Err(DocumentError::TooManyRules { key });
    }
    let mut rules = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        let rule = read(text).map_err(|source| DocumentError::Rule { key, index, source })?;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Ok(rules)
}

/// The pairs, one to a line: the form to store where no other is at hand.
impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in self.to_pairs() {
            writeln!(f, "{key} {value}")?;
        }
        Ok(())
    }
}

impl FromStr for Document {
    type Err = DocumentError;

    fn from_str(text: &str) -> Result<Self, DocumentError> {
        let mut pairs = Vec::new();
        for (index, line) in text.lines().enumerate() {
            pairs.push(line.split_once(' ').ok_or(DocumentError::Line { line: index + 1 })?);
        }
        Document::from_pairs(pairs)
    }
}

#[cfg(test)]
mod tests;

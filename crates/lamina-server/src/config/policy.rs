//! A deployment's own policy, as the operator writes it: YAML with `allow`, `deny` and `defaults`.
//!
//! What is wrong is said with file, line and column, what the rule is and what to write instead. A
//! file is taken as a whole or not at all: a rule that is dropped because of a typing mistake may be
//! the one that was to keep somebody out.

mod yaml;

use std::fmt;
use std::path::{Path, PathBuf};

use lamina_core::policy::{Defaults, DefaultsError, Document, Pattern, PatternError, Preset};
use lamina_env::Disk;
use lamina_env::disk::read_file;
use lamina_types::limits::POLICY_PATTERNS_MAX;

use super::suggest::nearest;
use crate::http::failure::chain;
use yaml::{Node, Place, Problem, Value};

/// Larger than any policy anybody writes.
const FILE_BYTES_MAX: u64 = 256 << 10;
const KEYS: &[&str] = &["preset", "allow", "deny", "defaults"];
const REQUIRE_SIGNED: &str = "actor.require_signed";

/// Why a policy file is not taken.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFileError {
    /// It cannot be read.
    #[error("the policy file {} cannot be read", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is not text.
    #[error("{}:{line}:1: the line is not UTF-8; save the file as UTF-8", path.display())]
    NotUtf8 {
        /// Which file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: usize,
    },
    /// Something in it is not a policy.
    #[error("{}:{line}:{column}: {rule}; {help}", path.display())]
    Wrong {
        /// Which file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: usize,
        /// Which character of it, counted from 1.
        column: usize,
        /// What does not hold.
        rule: String,
        /// What to do about it.
        help: String,
    },
}

/// Reads a policy file.
pub(crate) fn read(path: &Path, disk: &dyn Disk) -> Result<Document, PolicyFileError> {
    let bytes = read_file(disk, path, FILE_BYTES_MAX)
        .map_err(|source| PolicyFileError::Unreadable { path: path.to_owned(), source })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        PolicyFileError::NotUtf8 { path: path.to_owned(), line }
    })?;
    document(&text).map_err(|Problem { at, rule, help }| {
        let Place { line, column } = at;
        PolicyFileError::Wrong { path: path.to_owned(), line, column, rule, help }
    })
}

/// The document of a text. What it does not set is as in [`Preset::Custom`].
fn document(text: &str) -> Result<Document, Problem> {
    let root = yaml::parse(text)?;
    let Value::Map(members) = root.value else {
        return Err(root.at.wrong(
            "a policy is a mapping",
            format!("begin with `allow:` and a list of rules, not with {}", root.value.kind()),
        ));
    };
    let mut document = Document::default();
    let mut allowed_at = root.at;
    for (index, (key, node)) in members.iter().enumerate() {
        let name = key.as_text("a key")?;
        if members.iter().take(index).any(|(other, _)| other.value == key.value) {
            return Err(key.at.wrong(
                format!("`{name}` stands here a second time"),
                "put everything under one of them",
            ));
        }
        match name {
            "preset" => preset(node)?,
            "allow" => {
                allowed_at = key.at;
                document.allow = rules("allow", node)?;
            }
            "deny" => document.deny = rules("deny", node)?,
            "defaults" => document.defaults = defaults(node)?,
            _ => return Err(unknown_key(key.at, name)),
        }
    }
    if document.allow.is_empty() {
        return Err(allowed_at.wrong(
            "nothing is allowed, so nobody could do anything",
            "what `allow` does not name is denied; write `allow: [\"*\"]` or name capabilities",
        ));
    }
    for (key, value) in Preset::Custom.document().defaults.to_pairs() {
        if !document.defaults.to_pairs().iter().any(|(set, _)| *set == key) {
            document.defaults.set(key, &value).expect("the settings of presets are known");
        }
    }
    Ok(document)
}

/// The file is a deployment of its own, so it cannot claim to be another.
fn preset(node: &Node) -> Result<(), Problem> {
    let name = node.as_text("`preset`")?;
    if name == Preset::Custom.as_str() {
        return Ok(());
    }
    let help = match name.parse::<Preset>() {
        Ok(_) => format!(
            "to start with it as it is, use `--preset {name}` and no file; otherwise write `preset: custom`"
        ),
        Err(_) => "write `preset: custom`, or leave the line out".to_owned(),
    };
    Err(node.at.wrong(format!("a policy file is a deployment of its own, not `{name}`"), help))
}

fn unknown_key(at: Place, name: &str) -> Problem {
    let rule = format!("`{name}` is not a key of a policy");
    if Defaults::KEYS.contains(&name) {
        return at.wrong(rule, "it is a setting: put it under `defaults:`, indented by two spaces");
    }
    if Pattern::known(name).is_ok() {
        return at.wrong(rule, format!("it is a rule: put `- {name}` under `allow:` or `deny:`"));
    }
    at.wrong(rule, did_you_mean(name, KEYS))
}

fn did_you_mean(name: &str, known: &[&'static str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys are {}", known.join(", ")),
    }
}

fn rules(key: &'static str, node: &Node) -> Result<Vec<Pattern>, Problem> {
    let Value::List(items) = &node.value else {
        let help = match &node.value {
            Value::Text(text) => format!("write `{key}: [\"{text}\"]`"),
            Value::Null if key == "allow" => {
                "write `allow: [\"*\"]`, or name capabilities".to_owned()
            }
            Value::Null => format!("write `{key}: []`, or leave it out"),
            Value::Map(_) | Value::List(_) => {
                "write each rule on a line of its own, as `- scope.write`".to_owned()
            }
        };
        return Err(node.at.wrong(format!("`{key}` is a list of rules"), help));
    };
    if let Some(beyond) = items.get(POLICY_PATTERNS_MAX) {
        return Err(beyond.at.wrong(
            format!("`{key}` has at most {POLICY_PATTERNS_MAX} rules"),
            "use branches such as `scope.read.*`",
        ));
    }
    let mut rules = Vec::new();
    for item in items {
        let text = item.as_text("a rule")?;
        let rule = Pattern::known(text).map_err(|error| bad_rule(item.at, &error))?;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Ok(rules)
}

fn bad_rule(at: Place, error: &PatternError) -> Problem {
    match error {
        PatternError::MatchesNothing { pattern, nearest: Some(near) } => at
            .wrong(format!("`{pattern}` matches no capability"), format!("did you mean `{near}`?")),
        PatternError::MatchesNothing { pattern, .. } => at.wrong(
            format!("`{pattern}` matches no capability"),
            "docs/POLICY.md lists them, and so does GET /v1/policy/effective",
        ),
        other => at.wrong(
            other.to_string(),
            "write one capability, a branch such as `scope.read.*`, or `\"*\"`",
        ),
    }
}

fn defaults(node: &Node) -> Result<Defaults, Problem> {
    let Value::Map(members) = &node.value else {
        return Err(node.at.wrong(
            "`defaults` is a mapping of settings",
            "write each on a line of its own, as `audit.retention: P1Y`",
        ));
    };
    let mut defaults = Defaults::default();
    for (key, value) in members {
        let name = key.as_text("a setting")?;
        let text = match &value.value {
            Value::Text(text) => text.clone(),
            Value::List(items) => items
                .iter()
                .map(|item| item.as_text("an item of the list"))
                .collect::<Result<Vec<_>, _>>()?
                .join(","),
            Value::Null => {
                return Err(value
                    .at
                    .wrong(format!("`{name}` has no value"), "write one, or leave the line out"));
            }
            Value::Map(inner) => return Err(nested(name, value.at, inner)),
        };
        defaults.set(name, &text).map_err(|error| bad_setting(key.at, value.at, name, &error))?;
        if name == REQUIRE_SIGNED && defaults.require_signed == Some(false) {
            return Err(value.at.wrong(
                "a deployment with a policy of its own needs tokens",
                "write true, or leave the line out; without tokens there is only `--preset dev_local`, on loopback",
            ));
        }
    }
    Ok(defaults)
}

/// Names with dots are easily taken for nested mappings.
fn nested(name: &str, at: Place, inner: &[(Node, Node)]) -> Problem {
    let inner = inner.first().and_then(|(key, _)| key.as_text("").ok()).unwrap_or_default();
    let dotted = format!("{name}.{inner}");
    let help = if Defaults::KEYS.contains(&dotted.as_str()) {
        format!("write `{dotted}: …` with a dot, on one line")
    } else {
        did_you_mean(&dotted, Defaults::KEYS)
    };
    at.wrong(format!("`{name}` is no group of settings"), help)
}

fn bad_setting(key: Place, value: Place, name: &str, error: &DefaultsError) -> Problem {
    match error {
        DefaultsError::Unknown { .. } => {
            key.wrong(format!("`{name}` is not a setting"), did_you_mean(name, Defaults::KEYS))
        }
        DefaultsError::Twice { .. } => key.wrong(error.to_string(), "keep one of them"),
        DefaultsError::NotBool { .. } => {
            value.wrong(error.to_string(), "write true or false, without quotes")
        }
        DefaultsError::NotCascade { .. } => {
            value.wrong(error.to_string(), "write one of the two words")
        }
        DefaultsError::NotRate { .. } => value.wrong(chain(error), "for example `100/s`"),
        DefaultsError::NotPeriod { .. } => {
            value.wrong(chain(error), "for example `P1Y` for a year")
        }
        DefaultsError::NotScopeType { .. } | DefaultsError::TooManyScopeTypes { .. } => {
            value.wrong(error.to_string(), "for example `[ns, verify]`")
        }
        other => value.wrong(other.to_string(), "see docs/POLICY.md"),
    }
}

impl Place {
    fn wrong(self, rule: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem { at: self, rule: rule.into(), help: help.into() }
    }
}

impl Node {
    /// The text of a scalar.
    fn as_text(&self, what: &str) -> Result<&str, Problem> {
        match &self.value {
            Value::Text(text) => Ok(text),
            other => Err(self.at.wrong(
                format!("{what} is a text, not {}", other.kind()),
                "write a word, in quotes if it has other characters than letters, dots and `_`",
            )),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests;

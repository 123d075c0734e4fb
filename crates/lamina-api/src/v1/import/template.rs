//! Scope templates: a path in which values of each row stand for parts of ids.

use std::collections::BTreeMap;

use lamina_types::{ErrorCode, ScopePath};

use crate::check;
use crate::error::ApiError;

/// The placeholders that a template can have. Which of them a row has a value for depends on its format.
pub const PLACEHOLDERS: &[&str] = &[
    "user_id",
    "app_id",
    "agent_id",
    "agent_name",
    "run_id",
    "session",
    "group_id",
    "project_id",
    "namespace",
];

/// A scope path with placeholders in the ids of its segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeTemplate {
    text: String,
    parts: Vec<TemplatePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Placeholder(&'static str),
}

/// Why a template gives no scope for a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateError {
    /// The row has no value for it.
    Missing(&'static str),
    /// Its value makes no scope.
    Value(&'static str),
    /// All values together make no scope.
    Scope(String),
}

impl std::fmt::Display for TemplateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TemplateError::Missing(name) => {
                write!(f, "the row has no value for {{{name}}} of the scope template")
            }
            TemplateError::Value(name) => write!(
                f,
                "the value for {{{name}}} of the scope template has characters outside [A-Za-z0-9_-]"
            ),
            TemplateError::Scope(why) => write!(f, "the scope template gives no scope: {why}"),
        }
    }
}

impl ScopeTemplate {
    /// Reads a template. Each of its scopes must be one that can be written to.
    pub fn parse(field: &str, text: &str) -> Result<ScopeTemplate, ApiError> {
        let refuse = |reason: String| ApiError::at(ErrorCode::InvalidScopeGrammar, field, reason);
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, behind) = after
                .split_once('}')
                .ok_or_else(|| refuse("a placeholder is not closed with `}`".to_owned()))?;
            let known = PLACEHOLDERS.iter().find(|known| **known == name).ok_or_else(|| {
                let names = PLACEHOLDERS.join(", ");
                refuse(format!("has a placeholder that does not exist; there are {names}"))
            })?;
            parts.push(TemplatePart::Text(before.to_owned()));
            parts.push(TemplatePart::Placeholder(known));
            rest = behind;
        }
        parts.push(TemplatePart::Text(rest.to_owned()));
        let template = ScopeTemplate { text: text.to_owned(), parts };
        // With a plain value for each placeholder it must be a scope, and none of ours.
        let sample = template.join(|_| Some("x")).unwrap_or_default();
        check::writable_scope(field, &sample, &|_| true)?;
        let kinds: String = template
            .parts
            .iter()
            .map(|part| match part {
                TemplatePart::Text(text) => text.as_str(),
                TemplatePart::Placeholder(_) => "\u{1}",
            })
            .collect();
        let in_type = kinds
            .split('/')
            .any(|segment| segment.split_once(':').is_none_or(|(kind, _)| kind.contains('\u{1}')));
        if in_type {
            return Err(refuse("a placeholder stands for an id, not for a type".to_owned()));
        }
        Ok(template)
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The scope of a row with these values.
    pub fn fill(&self, values: &BTreeMap<&str, &str>) -> Result<ScopePath, TemplateError> {
        for part in &self.parts {
            let TemplatePart::Placeholder(name) = part else { continue };
            let value = values.get(name).filter(|value| !value.is_empty());
            let value = value.ok_or(TemplateError::Missing(name))?;
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if !value.chars().all(is_plain) {
                return Err(TemplateError::Value(name));
            }
        }
        let text = self.join(|name| values.get(name).copied()).unwrap_or_default();
        text.parse().map_err(|error: lamina_types::scope::ScopeError| {
            TemplateError::Scope(error.to_string())
        })
    }

    fn join<'a>(&'a self, value: impl Fn(&'static str) -> Option<&'a str>) -> Option<String> {
        let parts = self.parts.iter().map(|part| match part {
            TemplatePart::Text(text) => Some(text.as_str()),
            TemplatePart::Placeholder(name) => value(name),
        });
        parts.collect()
    }
}

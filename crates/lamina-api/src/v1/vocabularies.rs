//! `POST/GET /v1/vocabularies` and `GET/PUT/PATCH /v1/vocabularies/{name}`: names that a tenant has agreed on
//! (R221, R333).

use std::collections::BTreeSet;

use lamina_types::ScopePath;
use lamina_types::layer::Cardinality;
use lamina_types::limits::{
    TERM_ALIASES_MAX, TERM_CHARS_MAX, TERM_VALUES_MAX, VOCABULARY_NAME_CHARS_MAX,
    VOCABULARY_TERMS_MAX, VOCABULARY_TEXT_CHARS_MAX,
};
use lamina_types::vocabulary::{Datatype, Vocabulary, VocabularyKind, VocabularyTerm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::time;
use crate::v1::auth::shape;

/// A vocabulary as it is registered, replaced or merged into.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "vocabulary_request")]
pub struct VocabularyRequest {
    /// What it is called: letters, digits, `_`, `-` and `.`. In a path it need not be repeated.
    #[schemars(length(min = 1, max = 64))]
    pub name: Option<String>,
    /// What `terms` are: `predicate` (of facts) or `relation` (between concepts).
    #[schemars(regex(pattern = "^(predicate|relation)$"))]
    pub kind: Option<String>,
    /// What it is for.
    #[schemars(length(max = 2000))]
    pub description: Option<String>,
    /// Where it is in force, with everything below; the whole tenant if absent.
    pub scope: Option<String>,
    /// Predicates of facts.
    #[schemars(length(max = 1000))]
    pub predicates: Option<Vec<TermRequest>>,
    /// Relations between concepts.
    #[schemars(length(max = 1000))]
    pub relations: Option<Vec<TermRequest>>,
    /// Whatever the kind says.
    #[schemars(length(max = 1000))]
    pub terms: Option<Vec<TermRequest>>,
}

/// One term, as far as a request tells.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "vocabulary_term_request")]
pub struct TermRequest {
    /// As it is stored. Merging goes by it.
    #[schemars(length(max = 256))]
    pub id: Option<String>,
    /// The same as `id`.
    pub term: Option<String>,
    /// What people call it.
    pub label: Option<String>,
    /// What else they call it.
    #[schemars(length(max = 64))]
    pub aliases: Option<Vec<String>>,
    /// What it belongs with.
    pub category: Option<String>,
    /// What it means.
    #[schemars(length(max = 2000))]
    pub definition: Option<String>,
    /// What its objects are: `string`, `integer` or `entity`; anything if absent.
    #[schemars(regex(pattern = "^(string|integer|entity)$"))]
    pub datatype: Option<String>,
    /// The only objects it can have.
    #[schemars(length(max = 256))]
    pub values: Option<Vec<String>>,
    /// `one` if a new object ends the old one, `many` if they accumulate.
    #[schemars(regex(pattern = "^(one|many)$"))]
    pub cardinality: Option<String>,
    /// Whether it is in use; true unless given.
    pub active: Option<bool>,
    /// From when it is meant to be used.
    pub valid_from: Option<String>,
    /// Until when.
    pub valid_to: Option<String>,
    /// The term to use instead: what this one was called means that one.
    pub replaced_by: Option<String>,
}

/// A vocabulary in force.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "vocabulary")]
pub struct VocabularyBody {
    /// What it is called.
    pub name: String,
    /// What `terms` are.
    pub kind: &'static str,
    /// What it is for.
    pub description: Option<String>,
    /// Where it is in force; null for the whole tenant.
    pub scope: Option<String>,
    /// Predicates of facts.
    pub predicates: Vec<TermBody>,
    /// Relations between concepts.
    pub relations: Vec<TermBody>,
    /// Whatever the kind says.
    pub terms: Vec<TermBody>,
    /// How often it was set.
    pub version: u64,
    /// When it was first set.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// When it was last set.
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
}

/// One term in force; what it does not say is absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "vocabulary_term")]
pub struct TermBody {
    /// As it is stored.
    pub id: String,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What else they call it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub aliases: Vec<String>,
    /// What it belongs with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// What its objects are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datatype: Option<&'static str>,
    /// The only objects it can have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub values: Vec<String>,
    /// How many objects a subject has at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cardinality: Option<&'static str>,
    /// Whether it is in use.
    pub active: bool,
    /// From when it is meant to be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<String>,
    /// The term to use instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
}

/// The vocabularies of a tenant.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "vocabulary_list")]
pub struct VocabularyList {
    /// By name.
    pub items: Vec<VocabularyBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

impl VocabularyRequest {
    /// Reads the body of a registration.
    pub fn read(body: &[u8]) -> Result<Vocabulary, ApiError> {
        let request: VocabularyRequest = json::read(body)?;
        let Some(named) = request.name.clone() else {
            return Err(ApiError::missing("name"));
        };
        request.onto(empty(name("name", &named)?))
    }

    /// Reads the body of a replacement of the vocabulary in the path.
    pub fn read_for(named: &str, body: &[u8]) -> Result<Vocabulary, ApiError> {
        VocabularyRequest::read_part(named, body)?.onto(empty(named.to_owned()))
    }

    /// Reads the body of a change of the vocabulary in the path.
    pub fn read_part(named: &str, body: &[u8]) -> Result<VocabularyRequest, ApiError> {
        let request: VocabularyRequest = json::read(body)?;
        match &request.name {
            Some(other) if other != named => {
                Err(ApiError::invalid_shape("name", "differs from the name in the path"))
            }
            _ => Ok(request),
        }
    }

    /// Where it shall be in force, if the request says.
    pub fn place(&self) -> Result<Option<ScopePath>, ApiError> {
        self.scope.as_ref().map(|scope| check::scope("scope", scope)).transpose()
    }

    /// What comes of a vocabulary: what the request names replaces what was there, terms by their id.
    pub fn onto(self, mut vocabulary: Vocabulary) -> Result<Vocabulary, ApiError> {
        // Destructured, so that a field added to the contract cannot be forgotten here.
        let VocabularyRequest { name: _, kind, description, scope, predicates, relations, terms } =
            self;
        if let Some(kind) = kind {
            vocabulary.kind = word("kind", &kind, KINDS)?;
        }
        if let Some(description) = description {
            text("description", &description, VOCABULARY_TEXT_CHARS_MAX)?;
            vocabulary.description = Some(description);
        }
        if let Some(scope) = scope {
            vocabulary.scope = Some(check::scope("scope", &scope)?);
        }
        merge("predicates", &mut vocabulary.predicates, predicates)?;
        merge("relations", &mut vocabulary.relations, relations)?;
        merge("terms", &mut vocabulary.terms, terms)?;
        Ok(vocabulary)
    }
}

const KINDS: &[(&str, VocabularyKind)] =
    &[("predicate", VocabularyKind::Predicate), ("relation", VocabularyKind::Relation)];
const DATATYPES: &[(&str, Datatype)] =
    &[("string", Datatype::String), ("integer", Datatype::Integer), ("entity", Datatype::Entity)];
const CARDINALITIES: &[(&str, Cardinality)] =
    &[("one", Cardinality::One), ("many", Cardinality::Many)];

fn empty(name: String) -> Vocabulary {
    Vocabulary {
        name,
        kind: VocabularyKind::default(),
        description: None,
        scope: None,
        predicates: Vec::new(),
        relations: Vec::new(),
        terms: Vec::new(),
    }
}

/// The name of a vocabulary, which is a part of paths.
pub fn name(field: &str, text: &str) -> Result<String, ApiError> {
    shape(field, check::short(text, VOCABULARY_NAME_CHARS_MAX))?;
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"_-.".contains(&c);
    if text.bytes().all(is_plain) && text.bytes().any(|c| c.is_ascii_alphanumeric()) {
        Ok(text.to_owned())
    } else {
        let reason = "must consist of letters, digits, `_`, `-` and `.`";
        Err(ApiError::invalid_shape(field, reason))
    }
}

fn merge(
    field: &str,
    known: &mut Vec<VocabularyTerm>,
    given: Option<Vec<TermRequest>>,
) -> Result<(), ApiError> {
    let mut seen = BTreeSet::new();
    for (index, term) in given.unwrap_or_default().into_iter().enumerate() {
        let at = format!("{field}[{index}]");
        let id = match (&term.id, &term.term) {
            (Some(one), Some(other)) if one != other => {
                let reason = "differs from `id`, which means the same";
                return Err(ApiError::invalid_shape(format!("{at}.term"), reason));
            }
            (Some(id), _) | (None, Some(id)) => id.clone(),
            (None, None) => {
                return Err(ApiError::missing(format!("{at}.id")));
            }
        };
        shape(&format!("{at}.id"), check::trimmed(&id, TERM_CHARS_MAX))?;
        if !seen.insert(id.clone()) {
            return Err(ApiError::invalid_shape(format!("{at}.id"), "is listed twice"));
        }
        match known.iter_mut().find(|known| known.id == id) {
            Some(known) => term.onto(&at, known)?,
            None => {
                let mut new = VocabularyTerm::new(id);
                term.onto(&at, &mut new)?;
                known.push(new);
            }
        }
    }
    if known.len() > VOCABULARY_TERMS_MAX {
        let reason = format!("has more than {VOCABULARY_TERMS_MAX} entries");
        return Err(ApiError::invalid_shape(field, reason));
    }
    Ok(())
}

impl TermRequest {
    fn onto(self, at: &str, into: &mut VocabularyTerm) -> Result<(), ApiError> {
        let TermRequest {
            id: _,
            term: _,
            label,
            aliases,
            category,
            definition,
            datatype,
            values,
            cardinality,
            active,
            valid_from,
            valid_to,
            replaced_by,
        } = self;
        let field = |name: &str| format!("{at}.{name}");
        for (name, given, into) in [
            ("label", label, &mut into.label),
            ("category", category, &mut into.category),
            ("replaced_by", replaced_by, &mut into.replaced_by),
        ] {
            if let Some(given) = given {
                shape(&field(name), check::short(&given, TERM_CHARS_MAX))?;
                *into = Some(given);
            }
        }
        if let Some(definition) = definition {
            text(&field("definition"), &definition, VOCABULARY_TEXT_CHARS_MAX)?;
            into.definition = Some(definition);
        }
        for (name, given, into, most) in [
            ("aliases", aliases, &mut into.aliases, TERM_ALIASES_MAX),
            ("values", values, &mut into.values, TERM_VALUES_MAX),
        ] {
            if let Some(given) = given {
                list(&field(name), &given, most)?;
                *into = given;
            }
        }
        if let Some(datatype) = datatype {
            into.datatype = Some(word(&field("datatype"), &datatype, DATATYPES)?);
        }
        if let Some(cardinality) = cardinality {
            into.cardinality = Some(word(&field("cardinality"), &cardinality, CARDINALITIES)?);
        }
        for (name, given, into) in [
            ("valid_from", valid_from, &mut into.valid_from),
            ("valid_to", valid_to, &mut into.valid_to),
        ] {
            if let Some(given) = given {
                time::parse_coarse(&given).map_err(|error| time::refuse(&field(name), error))?;
                *into = Some(given);
            }
        }
        into.active = active.unwrap_or(into.active);
        Ok(())
    }
}

fn list(field: &str, items: &[String], most: usize) -> Result<(), ApiError> {
    if items.len() > most {
        return Err(ApiError::invalid_shape(field, format!("has more than {most} entries")));
    }
    for (index, item) in items.iter().enumerate() {
        shape(&format!("{field}[{index}]"), check::short(item, TERM_CHARS_MAX))?;
    }
    Ok(())
}

/// A text of several lines, perhaps.
fn text(field: &str, text: &str, most: usize) -> Result<(), ApiError> {
    match text.chars().count() > most {
        true => Err(ApiError::invalid_shape(field, format!("has more than {most} characters"))),
        false => Ok(()),
    }
}

fn word<T: Copy>(field: &str, given: &str, words: &[(&str, T)]) -> Result<T, ApiError> {
    let found = words.iter().find(|(word, _)| *word == given);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        ApiError::invalid_shape(field, format!("must be one of {}", names.join(", ")))
    })
}

fn called<T: Copy + PartialEq>(value: T, words: &[(&'static str, T)]) -> &'static str {
    words.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word)
}

impl TermBody {
    /// A term as it is shown.
    pub fn new(term: &VocabularyTerm) -> TermBody {
        let term = term.clone();
        TermBody {
            id: term.id,
            label: term.label,
            aliases: term.aliases,
            category: term.category,
            definition: term.definition,
            datatype: term.datatype.map(|datatype| called(datatype, DATATYPES)),
            values: term.values,
            cardinality: term.cardinality.map(|cardinality| called(cardinality, CARDINALITIES)),
            active: term.active,
            valid_from: term.valid_from,
            valid_to: term.valid_to,
            replaced_by: term.replaced_by,
        }
    }
}

/// What `terms` of a vocabulary are.
pub fn kind(kind: VocabularyKind) -> &'static str {
    called(kind, KINDS)
}

#[cfg(test)]
mod tests;

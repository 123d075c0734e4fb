//! A row: one memory of another program, in words that the engine understands.

use std::collections::BTreeMap;
use std::fmt;

use lamina_types::{ActorId, ErrorCode, Micros, Role};

use crate::json::{NumberToken, Position, Value, to_compact};

/// A place in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Where in the file, if that is known.
    pub position: Option<Position>,
    /// Which part of the record, such as `/mapping/abc`.
    pub pointer: String,
}

impl Place {
    /// The line.
    pub fn line(&self) -> Option<u64> {
        self.position.map(|position| position.line)
    }

    /// A part of the record at this place.
    pub(super) fn part(&self, pointer: impl fmt::Display) -> Place {
        Place { pointer: format!("{}/{pointer}", self.pointer), ..self.clone() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", crate::quote(&self.file))?;
        if let Some(position) = self.position {
            write!(f, ", line {}, column {}", position.line, position.column)?;
        }
        if !self.pointer.is_empty() {
            write!(f, ", {}", crate::quote(&self.pointer))?;
        }
        Ok(())
    }
}

/// How much an error costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCost {
    /// One row; the next one can be read.
    Row,
    /// The rest of one file; the next file can be read.
    File,
}

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail} ({place})")]
pub struct RowError {
    /// Where.
    pub place: Place,
    /// The public code.
    pub code: ErrorCode,
    /// The fault, for people.
    pub detail: String,
    /// The extent of the loss.
    pub cost: ErrorCost,
}

/// How the id of a row is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdBasis {
    /// The source has it.
    Source,
    /// It is a hash of the row and its number among equal rows.
    Derived,
}

/// How the time of a row is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeBasis {
    /// The row says it.
    Stated,
    /// Something around the row says it: its conversation, the row before.
    Context,
    /// Nothing says it; it is the fallback of the import.
    Fallback,
}

/// One side of a triple.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TripleTerm {
    /// A thing.
    Entity {
        /// Its name.
        name: String,
        /// Its kind, in the words of the source.
        kind: Option<String>,
    },
    /// A value.
    Literal {
        /// `string`, `number`, `boolean` or `date`.
        datatype: &'static str,
        /// The value.
        value: Value,
    },
}

impl TripleTerm {
    /// A thing of unknown kind.
    pub fn entity(name: &str) -> TripleTerm {
        TripleTerm::Entity { name: name.to_owned(), kind: None }
    }

    /// A text.
    pub fn text(text: &str) -> TripleTerm {
        TripleTerm::Literal { datatype: "string", value: Value::from(text) }
    }

    /// The typed value of an envelope. The id of a thing is its name.
    pub fn to_typed_value(&self) -> Value {
        match self {
            TripleTerm::Entity { name, .. } => Value::object([
                ("type", Value::from("entity")),
                ("id", Value::from(name.as_str())),
                ("name", Value::from(name.as_str())),
            ]),
            TripleTerm::Literal { datatype, value } => Value::object([
                ("type", Value::from("literal")),
                ("datatype", Value::from(*datatype)),
                ("value", value.clone()),
            ]),
        }
    }
}

/// A stated fact.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignTriple {
    /// The subject.
    pub subject: TripleTerm,
    /// The relation, in the words of the source.
    pub predicate: String,
    /// The object.
    pub object: TripleTerm,
    /// From when it holds in the world.
    pub valid_from: Option<Micros>,
    /// Until when, exclusive.
    pub valid_to: Option<Micros>,
    /// When the source stopped believing it.
    pub retired_at: Option<Micros>,
    /// How sure the source is, 0 to 1.
    pub confidence: Option<f64>,
    /// The sentence that says it.
    pub sentence: Option<String>,
}

impl ForeignTriple {
    /// A triple that says nothing about time.
    pub fn new(subject: TripleTerm, predicate: &str, object: TripleTerm) -> ForeignTriple {
        ForeignTriple {
            subject,
            predicate: predicate.to_owned(),
            object,
            valid_from: None,
            valid_to: None,
            retired_at: None,
            confidence: None,
            sentence: None,
        }
    }

    /// `{subject, predicate, object}` as an envelope has it.
    pub fn to_body(&self) -> Value {
        Value::object([
            ("subject", self.subject.to_typed_value()),
            ("predicate", Value::from(self.predicate.as_str())),
            ("object", self.object.to_typed_value()),
        ])
    }
}

/// The content of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum RowContent {
    /// One message of a conversation.
    Message {
        /// Who speaks.
        role: Role,
        /// The words.
        text: String,
    },
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A JSON value.
    Json {
        /// Compact JSON.
        data: String,
    },
    /// A fact.
    Triple(ForeignTriple),
    /// The body of `POST /v1/experience`, as it was written.
    Envelope {
        /// JSON.
        body: String,
    },
    /// A line of our own export that is no event.
    Line {
        /// Which kind of line.
        line: &'static str,
        /// JSON.
        body: String,
    },
}

impl RowContent {
    /// The kind, as reports count it.
    pub fn kind(&self) -> &'static str {
        match self {
            RowContent::Message { .. } => "message",
            RowContent::Text { .. } => "text",
            RowContent::Json { .. } => "json",
            RowContent::Triple(_) => "triple",
            RowContent::Envelope { .. } => "envelope",
            RowContent::Line { line, .. } => line,
        }
    }

    /// The words.
    pub fn words(&self) -> String {
        match self {
            RowContent::Message { text, .. } | RowContent::Text { text } => text.clone(),
            RowContent::Json { data } => data.clone(),
            RowContent::Triple(triple) => to_compact(&triple.to_body()),
            RowContent::Envelope { body } | RowContent::Line { body, .. } => body.clone(),
        }
    }
}

/// One memory of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignRow {
    /// Its number in the source, from 0: the order in which it was read.
    pub order: u64,
    /// Where it was read.
    pub place: Place,
    /// The id that names it in every import of this source.
    pub source_id: String,
    /// How the id is known.
    pub id_basis: IdBasis,
    /// Its content.
    pub content: RowContent,
    /// `conversation`, `document` or `imported`.
    pub modality: &'static str,
    /// The conversation.
    pub session: Option<String>,
    /// Who did it; `None` is the importing caller.
    pub actor: Option<ActorId>,
    /// Whom it is about; `None` is the actor.
    pub subject: Option<ActorId>,
    /// When it happened.
    pub observed_at: Micros,
    /// How that is known.
    pub time_basis: TimeBasis,
    /// When the source recorded it.
    pub recorded_at: Option<Micros>,
    /// When it stops being remembered.
    pub expires_at: Option<Micros>,
    /// Whether facts of it stand beside known facts instead of replacing them.
    pub no_supersede: bool,
    /// Whether nothing is derived from it.
    pub no_extract: bool,
    /// Labels.
    pub labels: Vec<String>,
    /// Source ids of rows that it follows from.
    pub preceded_by: Vec<String>,
    /// The source id of the row that replaced it in the source.
    pub replaced_by: Option<String>,
    /// Values for the placeholders of a scope template, such as `user_id`.
    pub variables: BTreeMap<&'static str, String>,
    /// A scope that the source suggests below the target, such as `ws:team`.
    pub scope_hint: Option<String>,
    /// Fields without a home here, as compact JSON.
    pub origin: Option<String>,
}

impl ForeignRow {
    /// A row that says this, with nothing else known. The sink fills in number, id and time.
    pub(super) fn new(place: &Place, content: RowContent) -> ForeignRow {
        ForeignRow {
            order: 0,
            place: place.clone(),
            source_id: String::new(),
            id_basis: IdBasis::Derived,
            content,
            modality: "imported",
            session: None,
            actor: None,
            subject: None,
            observed_at: Micros(0),
            time_basis: TimeBasis::Fallback,
            recorded_at: None,
            expires_at: None,
            no_supersede: false,
            no_extract: false,
            labels: Vec::new(),
            preceded_by: Vec::new(),
            replaced_by: None,
            variables: BTreeMap::new(),
            scope_hint: None,
            origin: None,
        }
    }

    pub(super) fn text(place: &Place, text: impl Into<String>) -> ForeignRow {
        ForeignRow::new(place, RowContent::Text { text: text.into() })
    }

    pub(super) fn message(place: &Place, role: Role, text: impl Into<String>) -> ForeignRow {
        let content = RowContent::Message { role, text: text.into() };
        ForeignRow { modality: "conversation", ..ForeignRow::new(place, content) }
    }

    pub(super) fn triple(place: &Place, triple: ForeignTriple) -> ForeignRow {
        ForeignRow::new(place, RowContent::Triple(triple))
    }

    pub(super) fn with_id(mut self, id: impl Into<String>) -> ForeignRow {
        self.source_id = id.into();
        self.id_basis = IdBasis::Source;
        self
    }

    pub(super) fn at(mut self, time: Option<Micros>, basis: TimeBasis) -> ForeignRow {
        if let Some(time) = time {
            self.observed_at = time;
            self.time_basis = basis;
        }
        self
    }

    pub(super) fn label(&mut self, label: impl Into<String>) {
        self.labels.push(label.into());
    }
}

/// A number as a confidence, if it is one.
pub(super) fn confidence(token: Option<&NumberToken>) -> Option<f64> {
    token.map(NumberToken::to_f64).filter(|number| (0.0..=1.0).contains(number))
}

//! The records of an export, as plain structs. The walk over the engine fills them.

use lamina_types::{Experience, Micros};

use super::line::LineKind;
use crate::json::Value;

/// The first line of an export.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportHeader {
    /// The scope.
    pub scope: String,
    /// Whether scopes below it are in it.
    pub descends: bool,
    /// The knowledge that is exported.
    pub as_of: Micros,
    /// The layers that are in it.
    pub layers: Vec<String>,
}

/// A memory event.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportEvent {
    /// Its id.
    pub id: String,
    /// The experience.
    pub experience: Experience,
    /// When the log accepted it.
    pub recorded_at: Micros,
    /// Fields of a foreign record that have no home here, as JSON.
    pub origin: Option<String>,
}

/// A thing in the world.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportThing {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its kind, if that is known.
    pub kind: Option<String>,
}

/// The object of a fact.
#[derive(Debug, Clone, PartialEq)]
pub enum ExportTerm {
    /// A thing.
    Thing(ExportThing),
    /// A value.
    Literal {
        /// Such as `string` or `date`.
        datatype: String,
        /// The value.
        value: Value,
    },
}

/// One version of a fact.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportFact {
    /// Its id.
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// The subject.
    pub subject: ExportThing,
    /// The relation.
    pub predicate: String,
    /// The object.
    pub object: ExportTerm,
    /// Whether it is said that it is not so.
    pub negated: bool,
    /// The sentence that tells it.
    pub sentence: String,
    /// From when it is true.
    pub valid_from: Option<Micros>,
    /// Until when, exclusive.
    pub valid_to: Option<Micros>,
    /// When it was learned.
    pub recorded_from: Micros,
    /// When another version came in its place.
    pub recorded_to: Option<Micros>,
    /// How sure the extractor is.
    pub confidence: f64,
    /// Which extractor found it.
    pub extractor: String,
    /// The events it stands on.
    pub supports: Vec<String>,
    /// The version that came in its place.
    pub superseded_by: Option<String>,
}

/// A support of a belief.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportSupport {
    /// The fact or event.
    pub id: String,
    /// How much it counts.
    pub weight: f64,
}

/// A belief.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportBelief {
    /// Its id.
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// The belief as a sentence.
    pub statement: String,
    /// The subject of the claim.
    pub subject: String,
    /// The relation.
    pub predicate: String,
    /// The object of the claim.
    pub object: String,
    /// How the evidence leans.
    pub stance: String,
    /// How sure one may be.
    pub confidence: f64,
    /// From when it holds.
    pub valid_from: Micros,
    /// Until when, exclusive.
    pub valid_to: Option<Micros>,
    /// Since when it is believed.
    pub recorded_from: Micros,
    /// Since when it is kept for the past only.
    pub recorded_to: Option<Micros>,
    /// Its supports.
    pub supports: Vec<ExportSupport>,
    /// Beliefs of which at most one can be true with it.
    pub contradicts: Vec<String>,
}

/// An episode.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportEpisode {
    /// Its id.
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// Sentences that say most of it.
    pub summary: String,
    /// Its events.
    pub supports: Vec<String>,
    /// When it began.
    pub started_at: Micros,
    /// When it ended.
    pub ended_at: Option<Micros>,
    /// `open`, `closed` or `sealed`.
    pub state: String,
    /// Who takes part.
    pub actors: Vec<String>,
}

/// The supports of a concept, by layer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConceptSupports {
    /// Facts.
    pub facts: Vec<String>,
    /// Episodes.
    pub episodes: Vec<String>,
    /// Beliefs.
    pub beliefs: Vec<String>,
}

/// A concept.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportConcept {
    /// Its id.
    pub id: String,
    /// Its scope.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// Its summary.
    pub summary: String,
    /// Its version, from 1.
    pub version: u32,
    /// How the evidence leans.
    pub stance: String,
    /// How sure it is.
    pub confidence: f64,
    /// Since when it holds.
    pub valid_from: Micros,
    /// When this version was made.
    pub recorded_from: Micros,
    /// Its supports.
    pub supports: ConceptSupports,
}

/// A line for something that was decided rather than experienced.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportControl {
    /// Which kind of line.
    pub kind: LineKind,
    /// The id of the thing it is about.
    pub id: String,
    /// The decision: an object.
    pub body: Value,
}

/// One record of an export.
#[derive(Debug, Clone, PartialEq)]
pub enum ExportRecord {
    /// The header.
    Header(ExportHeader),
    /// A memory event.
    Event(Box<ExportEvent>),
    /// A fact.
    Fact(Box<ExportFact>),
    /// A belief.
    Belief(Box<ExportBelief>),
    /// An episode.
    Episode(Box<ExportEpisode>),
    /// A concept.
    Concept(Box<ExportConcept>),
    /// A decision.
    Control(ExportControl),
}

impl ExportRecord {
    /// The kind of its line.
    pub fn kind(&self) -> LineKind {
        match self {
            ExportRecord::Header(_) => LineKind::Header,
            ExportRecord::Event(_) => LineKind::Event,
            ExportRecord::Fact(_) => LineKind::Fact,
            ExportRecord::Belief(_) => LineKind::Belief,
            ExportRecord::Episode(_) => LineKind::Episode,
            ExportRecord::Concept(_) => LineKind::Concept,
            ExportRecord::Control(control) => control.kind,
        }
    }
}

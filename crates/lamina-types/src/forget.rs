//! A request to forget, as plain values: what is meant, in which scope, and how far it goes.

use crate::ids::{BeliefId, ConceptId, EpisodeId, EventId, FactId};
use crate::recall::Layer;
use crate::scope::ScopePath;
use crate::time::{RecordedAt, ValidAt};

/// How far forgetting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Cascade {
    /// Derived records go; the events they were made of stay.
    DerivedOnly = 1,
    /// The words of events go too, for good.
    RedactEvents = 2,
}

impl Cascade {
    /// Every value.
    pub const ALL: [Cascade; 2] = [Cascade::DerivedOnly, Cascade::RedactEvents];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Cascade::DerivedOnly => "derived_only",
            Cascade::RedactEvents => "redact_events",
        }
    }

    /// The value of this name.
    pub fn named(name: &str) -> Option<Cascade> {
        Cascade::ALL.into_iter().find(|cascade| cascade.as_str() == name)
    }

    /// The value with this number.
    pub fn from_u8(number: u8) -> Option<Cascade> {
        Cascade::ALL.into_iter().find(|cascade| *cascade as u8 == number)
    }
}

/// A set of layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Layers(u8);

impl Layers {
    /// All of them.
    pub const ALL: Layers = Layers(0b1_1111);

    /// The set of these layers.
    pub fn of(layers: impl IntoIterator<Item = Layer>) -> Layers {
        Layers(layers.into_iter().fold(0, |bits, layer| bits | bit(layer)))
    }

    /// Whether it holds a layer.
    pub fn has(self, layer: Layer) -> bool {
        self.0 & bit(layer) != 0
    }

    /// As a number: one bit for each layer, events first.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The set of this number; bits that are no layer are left out.
    pub fn from_bits(bits: u8) -> Layers {
        Layers(bits & Layers::ALL.0)
    }
}

fn bit(layer: Layer) -> u8 {
    match layer {
        Layer::Events => 1,
        Layer::Episodes => 2,
        Layer::Facts => 4,
        Layer::Beliefs => 8,
        Layer::Understanding => 16,
    }
}

/// A record of any layer, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryId {
    /// An event.
    Event(EventId),
    /// An episode.
    Episode(EpisodeId),
    /// A version of a fact.
    Fact(FactId),
    /// A belief.
    Belief(BeliefId),
    /// A concept.
    Concept(ConceptId),
}

impl MemoryId {
    /// The id as it is written.
    pub fn parse(text: &str) -> Option<MemoryId> {
        let event = || text.parse().ok().map(MemoryId::Event);
        let episode = || text.parse().ok().map(MemoryId::Episode);
        let fact = || text.parse().ok().map(MemoryId::Fact);
        let belief = || text.parse().ok().map(MemoryId::Belief);
        let concept = || text.parse().ok().map(MemoryId::Concept);
        event().or_else(episode).or_else(fact).or_else(belief).or_else(concept)
    }

    /// Its layer.
    pub fn layer(self) -> Layer {
        match self {
            MemoryId::Event(_) => Layer::Events,
            MemoryId::Episode(_) => Layer::Episodes,
            MemoryId::Fact(_) => Layer::Facts,
            MemoryId::Belief(_) => Layer::Beliefs,
            MemoryId::Concept(_) => Layer::Understanding,
        }
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        match self {
            MemoryId::Event(id) => id.as_bytes(),
            MemoryId::Episode(id) => id.as_bytes(),
            MemoryId::Fact(id) => id.as_bytes(),
            MemoryId::Belief(id) => id.as_bytes(),
            MemoryId::Concept(id) => id.as_bytes(),
        }
    }
}

/// Which records of a scope are meant: those that every filter admits, and those that are named (C17).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selector {
    /// About this: an actor, an entity's id, or a name.
    pub about_subject: Option<String>,
    /// Speaks of this entity, as what it is about or as what is said of it: its id or a name.
    pub about_entity: Option<String>,
    /// With this predicate.
    pub predicate: Option<String>,
    /// These, whatever the filters say.
    pub memory_ids: Vec<MemoryId>,
    /// True, or happened, at some time in here.
    pub valid_during: Option<(ValidAt, ValidAt)>,
    /// Recorded in here.
    pub recorded_during: Option<(RecordedAt, RecordedAt)>,
}

impl Selector {
    /// Whether it says nothing (R433).
    pub fn is_empty(&self) -> bool {
        self.memory_ids.is_empty() && !self.filters()
    }

    /// Whether it has filters beside ids.
    pub fn filters(&self) -> bool {
        self.about_subject.is_some()
            || self.about_entity.is_some()
            || self.predicate.is_some()
            || self.valid_during.is_some()
            || self.recorded_during.is_some()
    }
}

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forget {
    /// Where: exactly this scope.
    pub scope: ScopePath,
    /// In which layers filters look; ids are looked up in their own.
    pub layers: Layers,
    /// Which records; empty: everything, which was confirmed.
    pub selector: Selector,
    /// How far it goes.
    pub cascade: Cascade,
}

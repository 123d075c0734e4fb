//! What can be found, and how a change to it is said.
//!
//! A document is one record of one layer, or one part of a long record. Its words are indexed and
//! never kept: what comes back from a search is a key, and the text is fetched from the log.

use lamina_types::{RecordedAt, ScopePath, ValidAt};

use crate::filter::Candidate;
use crate::vector::Vector;

/// The layer of a record. The numbers are part of stored keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Layer {
    /// What was experienced.
    Event = 0,
    /// What belongs together.
    Episode = 1,
    /// What is so.
    Fact = 2,
    /// What is believed.
    Belief = 3,
    /// What is understood.
    Concept = 4,
}

impl Layer {
    /// Every layer, in the order of the numbers.
    pub const ALL: [Layer; 5] =
        [Layer::Event, Layer::Episode, Layer::Fact, Layer::Belief, Layer::Concept];

    /// The layer with this number.
    pub(crate) fn from_number(number: u8) -> Option<Layer> {
        Layer::ALL.get(usize::from(number)).copied()
    }
}

/// A set of layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers(u8);

impl Layers {
    /// All of them.
    pub const ALL: Layers = Layers(0b1_1111);

    /// These.
    pub fn of(layers: &[Layer]) -> Layers {
        Layers(layers.iter().fold(0, |set, layer| set | 1 << *layer as u8))
    }

    /// Whether this one is in the set.
    pub fn holds(self, layer: Layer) -> bool {
        self.0 & (1 << layer as u8) != 0
    }
}

/// What is found: a record, or one part of a long one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// Where it lives.
    pub layer: Layer,
    /// The 16 bytes of its id.
    pub id: [u8; 16],
    /// Which of its parts, counted from 0.
    pub part: u32,
}

impl RecordKey {
    /// Its only part, or the first one.
    pub fn first(layer: Layer, id: [u8; 16]) -> RecordKey {
        RecordKey { layer, id, part: 0 }
    }

    /// Layer and id: what all parts of a record have in common.
    pub(crate) fn record(&self) -> Record {
        Record { layer: self.layer, id: self.id }
    }
}

/// A record with all its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Record {
    pub(crate) layer: Layer,
    pub(crate) id: [u8; 16],
}

impl Record {
    /// As the index holds it: one byte for the layer, then the id.
    pub(crate) fn bytes(&self) -> [u8; 17] {
        let mut bytes = [self.layer as u8; 17];
        for (to, from) in bytes.iter_mut().skip(1).zip(self.id) {
            *to = from;
        }
        bytes
    }
}

/// A label under the tenant's key; labels themselves are words and stay in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelHash(pub u64);

/// A record as it can be found. It is put with all its parts, and they are removed together.
#[derive(Debug, Clone)]
pub struct Document {
    /// Where it lives.
    pub layer: Layer,
    /// The 16 bytes of its id.
    pub id: [u8; 16],
    /// Where it belongs.
    pub scope: ScopePath,
    /// Of the entry that made it.
    pub offset: u64,
    /// When this database learned of it.
    pub recorded: RecordedAt,
    /// From when on it is so, or when it happened.
    pub valid_from: ValidAt,
    /// Until when it is so; none: no end is known. An event ends when it begins.
    pub valid_until: Option<ValidAt>,
    /// What it can be filtered by.
    pub labels: Vec<LabelHash>,
    /// One for a short text; a long one is better found by its parts.
    pub parts: Vec<Part>,
}

/// A text that is found by itself.
#[derive(Debug, Clone)]
pub struct Part {
    /// Indexed, never kept.
    pub text: String,
    /// Its meaning in the space that is served; none: it is found by words only.
    pub vector: Option<Vector>,
}

impl Document {
    pub(crate) fn record(&self) -> Record {
        Record { layer: self.layer, id: self.id }
    }

    /// What is known of each part before its words are looked at.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = (Candidate, &Part)> {
        (0_u32..).zip(&self.parts).map(|(part, text)| {
            let candidate = Candidate {
                key: RecordKey { layer: self.layer, id: self.id, part },
                offset: self.offset,
                recorded: self.recorded,
                valid_from: self.valid_from,
                valid_until: self.valid_until,
            };
            (candidate, text)
        })
    }
}

/// A change of what can be found. Applying one twice is the same as applying it once.
#[derive(Debug, Clone)]
pub enum Change {
    /// Found from now on; replaces what was put of this record before.
    Put(Document),
    /// Not found from now on. The bytes go with a purge.
    Remove {
        /// Its layer.
        layer: Layer,
        /// The 16 bytes of its id.
        id: [u8; 16],
    },
}

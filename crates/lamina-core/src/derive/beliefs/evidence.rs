//! What speaks for or against a claim, and how much.
//!
//! One full piece of evidence weighs 10,000. A voice that repeats itself is not new evidence: the
//! n-th statement of one actor in one episode counts half of the one before, and what an actor says
//! in the m-th further episode counts 1/(1+m). So one actor who never stops talking reaches at most
//! twice a harmonic sum, and a second, independent voice is worth more than the tenth of the first.

use lamina_types::layer::{Confidence, SourceClass};
use lamina_types::{EpisodeId, EventId, FactId, RecordedAt, ValidAt};

/// The weight of one full piece of evidence.
pub const UNIT: u64 = 10_000;
/// Repetitions beyond this many halvings weigh nothing.
const HALVINGS_MAX: u32 = 14;

/// The record that the evidence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SupportId {
    /// A fact.
    Fact(FactId),
    /// An episode.
    Episode(EpisodeId),
    /// An event, named by whoever declared the belief or gave feedback.
    Event(EventId),
}

/// On which side it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Polarity {
    /// It speaks for the claim.
    Supports,
    /// It speaks against the claim.
    Against,
}

/// Who says it, and in which conversation. Both are keyed hashes or ids, never names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Witness {
    /// The observed actor.
    pub actor: [u8; 16],
    /// The episode it was said in, as far as there is one.
    pub episode: Option<EpisodeId>,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The record.
    pub source: SupportId,
    /// On which side it is.
    pub polarity: Polarity,
    /// How sure the extractor was.
    pub confidence: Confidence,
    /// How far this kind of source is trusted; see [`trust`].
    pub trust: Confidence,
    /// Who said it.
    pub witness: Witness,
    /// When the database learned of it.
    pub recorded: RecordedAt,
    /// From when the claim is said to hold.
    pub valid_from: ValidAt,
    /// When it stops counting, if its event limited how long beliefs may live.
    pub expires: Option<RecordedAt>,
}

/// How far a kind of source is trusted, in ten-thousandths.
pub fn trust(class: SourceClass) -> Confidence {
    Confidence::new(match class {
        SourceClass::Said | SourceClass::Feedback => 10_000,
        SourceClass::Tool => 9_500,
        SourceClass::Document => 9_000,
        SourceClass::Observed | SourceClass::Imported => 8_000,
        SourceClass::Assistant => 3_000,
    })
}

/// How often the same voice was heard before on the same side of the same belief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard {
    /// Statements of this actor in this episode.
    pub here: u32,
    /// Other episodes in which this actor said it.
    pub elsewhere: u32,
}

/// What a piece of evidence weighs, in ten-thousandths:
/// `confidence * trust / 2^here / (1 + elsewhere)`, rounded down.
pub fn weigh(confidence: Confidence, trust: Confidence, heard: Heard) -> u64 {
    let base = u64::from(confidence.get()) * u64::from(trust.get()) / UNIT;
    if heard.here > HALVINGS_MAX {
        return 0;
    }
    (base >> heard.here) / (1 + u64::from(heard.elsewhere))
}

#[cfg(test)]
mod tests;

//! Pieces: what a track says over one stretch of the world, in one stretch of knowledge.
//!
//! A piece is a *version*. It is never changed, only retired; what remains true of it is asserted
//! again as a new version of the same fact, with the shorter validity, so that the past keeps its
//! answer. Only evidence may be added to a piece that is current.

use lamina_types::layer::extraction::Confidence;
use lamina_types::{RecordedAt, ValidAt};

use super::canvas::Span;
use super::{AssertionId, RecordSource, ValueKey};

/// How many repetitions a piece keeps. Beyond it the oldest one that adds no time of its own goes.
pub(super) const SUPPORTS_MAX: usize = 64;

/// One version of a fact, of an open conflict, or of the knowledge that something ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Which version of which fact.
    pub id: PieceId,
    /// What is said.
    pub content: Content,
    /// Of which time.
    pub valid: Valid,
    /// When the log learned of it.
    pub recorded_from: RecordedAt,
    /// When it was retired.
    pub recorded_to: Option<RecordedAt>,
    /// What it stands on, by the time it speaks of. Never empty.
    pub supports: Vec<Support>,
    /// The version in whose place it came.
    pub supersedes: Option<PieceId>,
    /// The version that came in its place.
    pub superseded_by: Option<PieceId>,
}

/// Names a version. No two pieces of a track have the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PieceId {
    /// The fact (or conflict): the assertion that created it. The same in all its versions.
    pub fact: AssertionId,
    /// The assertion or resolution that made this version.
    pub by: AssertionId,
    /// Which of the versions of this fact that it made, in the order of the valid axis.
    pub part: u16,
}

/// What a track says at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// One value.
    One(Value),
    /// A value that held has ended and nothing took its place: unknown, but known to be so.
    Ended(Option<ValueKey>),
    /// Values of which only one can be; in ascending order, at least two.
    Conflict(Vec<Value>),
}

/// That something is so, or that it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// It is this.
    Is(ValueKey),
    /// It is not this. Says nothing about others.
    IsNot(ValueKey),
}

/// The time in the world that a piece speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Valid {
    /// From an instant on, and until another one if there is one.
    During {
        /// The first instant.
        from: ValidAt,
        /// The first instant after it.
        to: Option<ValidAt>,
        /// How the end is known, if there is one.
        to_basis: Basis,
    },
    /// At some time before: "used to". No point of the axis can be answered from it.
    Before {
        /// By when it was over.
        to: ValidAt,
        /// How that is known.
        to_basis: Basis,
    },
}

/// How a bound is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Basis {
    /// It was seen to be so by then.
    Observed = 0,
    /// The words name it.
    Stated = 1,
}

/// One piece of evidence, with the time it speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    /// Where it was said or decided.
    pub source: AssertionId,
    /// When that was recorded: evidence recorded after a question's pin is not shown.
    pub recorded: RecordedAt,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it says.
    pub said: Said,
    /// From when.
    pub from: ValidAt,
    /// Until when.
    pub to: Option<ValidAt>,
    /// How much it counts against another one that begins at the same instant.
    pub weight: Weight,
    /// Who wrote the record, if it is a scalar of a structured record.
    pub author: Option<RecordSource>,
}

/// Which evidence of a piece: a correction stands in it twice, for the time before it was said and
/// for the time after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SupportKey {
    /// Where it was said.
    pub source: AssertionId,
    /// From when it speaks.
    pub from: ValidAt,
}

/// What evidence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Said {
    /// A value.
    Value(Value),
    /// That a value, or whatever it was, ended.
    Ends(Option<ValueKey>),
}

/// What counts more when two things begin at the same instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Weight {
    /// Seen to be so then.
    Observed = 0,
    /// Said to have begun then.
    Stated = 1,
    /// Decided when a conflict was resolved: the same words again do not open it again.
    Decided = 2,
}

/// What a view has to do. In this order: everything is retired before anything is asserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The piece is no longer current.
    Retire {
        /// Which.
        piece: PieceId,
        /// From when on.
        at: RecordedAt,
        /// What came in its place, if anything did.
        superseded_by: Option<PieceId>,
    },
    /// A new version.
    Assert(Piece),
    /// The same again: more evidence, no new version.
    Support {
        /// For which current piece.
        piece: PieceId,
        /// The evidence.
        support: Support,
        /// The evidence that goes because there is too much of it.
        instead_of: Option<SupportKey>,
    },
}

impl Piece {
    /// The first instant, unless no instant is known.
    pub fn from(&self) -> Option<ValidAt> {
        match self.valid {
            Valid::During { from, .. } => Some(from),
            Valid::Before { .. } => None,
        }
    }

    /// The first instant after it.
    pub fn to(&self) -> Option<ValidAt> {
        match self.valid {
            Valid::During { to, .. } => to,
            Valid::Before { to, .. } => Some(to),
        }
    }

    /// How the first instant is known: from evidence recorded by then.
    pub fn from_basis(&self, recorded: RecordedAt) -> Option<Basis> {
        let from = self.from()?;
        Some(basis_at(from, self.supports.iter().filter(|support| support.recorded <= recorded)))
    }

    /// How the end is known.
    pub fn to_basis(&self) -> Option<Basis> {
        match self.valid {
            Valid::During { to, to_basis, .. } => to.map(|_| to_basis),
            Valid::Before { to_basis, .. } => Some(to_basis),
        }
    }

    /// Whether the point lies in it.
    pub fn covers(&self, point: ValidAt) -> bool {
        match self.valid {
            Valid::During { from, to, .. } => from <= point && to.is_none_or(|to| point < to),
            Valid::Before { .. } => false,
        }
    }

    /// How sure it is by then: as sure as its best evidence.
    pub fn confidence(&self, recorded: RecordedAt) -> Confidence {
        self.supports
            .iter()
            .filter(|support| support.recorded <= recorded)
            .map(|support| support.confidence)
            .max()
            .unwrap_or(Confidence::new(0))
    }
}

impl Support {
    /// Which one.
    pub fn key(&self) -> SupportKey {
        SupportKey { source: self.source, from: self.from }
    }

    pub(super) fn covers(&self, point: ValidAt) -> bool {
        self.from <= point && self.to.is_none_or(|to| point < to)
    }

    /// Whether it speaks of any of the time.
    pub(super) fn reaches(&self, span: Span) -> bool {
        span.to.is_none_or(|to| self.from < to) && self.to.is_none_or(|to| span.from < to)
    }

    /// Whether it speaks of all the time that the other does, and says the same.
    fn contains(&self, other: &Support) -> bool {
        self.said == other.said
            && self.from <= other.from
            && match (self.to, other.to) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(mine), Some(its)) => its <= mine,
            }
    }
}

/// How it is known that something begins at `from`. Where no evidence begins, it is what is left
/// beside something whose end was named.
pub(super) fn basis_at<'a>(from: ValidAt, supports: impl Iterator<Item = &'a Support>) -> Basis {
    let best = supports.filter(|support| support.from == from).map(|support| support.weight).max();
    match best {
        Some(Weight::Observed) => Basis::Observed,
        Some(Weight::Stated | Weight::Decided) | None => Basis::Stated,
    }
}

/// Sorts evidence by the time it speaks of, once each, and lets go of the oldest repetitions when
/// there is too much.
pub(super) fn bounded(mut supports: Vec<Support>) -> Vec<Support> {
    supports
        .sort_by_key(|support| (support.from, support.source, support.to.is_none(), support.to));
    supports.dedup_by_key(|support| support.key());
    while supports.len() > SUPPORTS_MAX {
        let is_repetition = |support: &Support| {
            supports.iter().any(|other| other.key() != support.key() && other.contains(support))
        };
        let oldest = supports
            .iter()
            .enumerate()
            .filter(|(_, support)| is_repetition(support))
            .min_by_key(|(_, support)| support.key())
            .map(|(index, _)| index);
        match oldest {
            Some(index) => supports.remove(index),
            None => break,
        };
    }
    supports
}

impl Piece {
    /// Does to it what a change says. Changes of other pieces are not for it.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Retire { piece, at, superseded_by } if *piece == self.id => {
                self.recorded_to = Some(*at);
                self.superseded_by = *superseded_by;
            }
            Change::Support { piece, support, instead_of } if *piece == self.id => {
                self.supports.retain(|known| Some(known.key()) != *instead_of);
                self.supports.push(*support);
                self.supports = bounded(std::mem::take(&mut self.supports));
            }
            _ => {}
        }
    }
}

//! Questions about pieces, as pure filters: the same for every reader of a view.
//!
//! A pin on the knowledge axis shows what was recorded by then and, unless superseded versions are
//! asked for, not retired by then; a pin on the world axis shows what was so at that instant. All
//! filters hold together, none changes what another means.

use lamina_types::{AsOf, RecordedAt, ValidAt};

use super::{Content, Piece, Said, Valid};

/// What is known at a point on both axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<'a> {
    /// Nothing.
    Unknown,
    /// One value.
    Value(&'a Piece),
    /// An open conflict.
    Conflict(&'a Piece),
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pins {
    /// The knowledge it is asked with.
    pub recorded: RecordedAt,
    /// Whether versions that were retired by then are shown too.
    pub superseded: Superseded,
    /// The instant in the world it is about; `None` for all of them.
    pub valid: Option<ValidAt>,
    /// Only what was so at some time in here (half open).
    pub valid_during: Option<(ValidAt, ValidAt)>,
    /// Only what was recorded, and not yet retired, at some time in here (half open).
    pub recorded_during: Option<(RecordedAt, RecordedAt)>,
}

/// Whether retired versions are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Superseded {
    /// Only what is current at the pin.
    Hidden,
    /// Also what was retired by then.
    Shown,
}

impl Pins {
    /// Whether the question is answered with this piece among others. An ending is no answer.
    pub fn admit(&self, piece: &Piece) -> bool {
        !matches!(piece.content, Content::Ended(_))
            && piece.recorded_from <= self.recorded
            && piece.was_known()
            && (self.superseded == Superseded::Shown || piece.is_current(self.recorded))
            && self.valid.is_none_or(|at| piece.covers(at))
            && self.valid_during.is_none_or(|during| piece.is_during(during))
            && self.recorded_during.is_none_or(|during| piece.is_recorded_during(during))
    }
}

impl Piece {
    /// Whether there is an instant at which it was known. One that the entry that made it replaced never was.
    pub fn was_known(&self) -> bool {
        self.recorded_to != Some(self.recorded_from)
    }

    /// Whether somebody says what it is. Of what nobody had told of and is known by its ending alone, nobody does.
    pub fn is_said(&self) -> bool {
        self.supports.iter().any(|support| matches!(support.said, Said::Value(_)))
    }

    /// Whether it is recorded and not retired at an instant.
    pub fn is_current(&self, recorded: RecordedAt) -> bool {
        self.recorded_from <= recorded && self.recorded_to.is_none_or(|to| recorded < to)
    }

    /// Whether it is so, and known, at a point on both axes.
    pub fn holds(&self, at: AsOf) -> bool {
        self.is_current(at.recorded) && self.covers(at.valid)
    }

    fn is_during(&self, (from, to): (ValidAt, ValidAt)) -> bool {
        match self.valid {
            Valid::During { from: begins, to: ends, .. } => {
                begins < to && ends.is_none_or(|ends| from < ends)
            }
            Valid::Before { .. } => false,
        }
    }

    fn is_recorded_during(&self, (from, to): (RecordedAt, RecordedAt)) -> bool {
        self.recorded_from < to && self.recorded_to.is_none_or(|ends| from < ends)
    }
}

/// What is known at a point on both axes: exactly one of three.
pub fn at<'a>(pieces: impl IntoIterator<Item = &'a Piece>, at: AsOf) -> Known<'a> {
    let mut holding = pieces.into_iter().filter(|piece| piece.holds(at));
    let piece = holding.next();
    assert!(holding.next().is_none(), "a point of a track has one answer");
    match piece {
        None => Known::Unknown,
        Some(piece) => match piece.content {
            Content::Ended(_) => Known::Unknown,
            Content::One(_) => Known::Value(piece),
            Content::Conflict(_) => Known::Conflict(piece),
        },
    }
}

/// The history of the world as it was known at an instant, oldest first; what has no date comes
/// before everything.
pub fn timeline<'a>(
    pieces: impl IntoIterator<Item = &'a Piece>,
    recorded: RecordedAt,
) -> Vec<&'a Piece> {
    let pins = Pins {
        recorded,
        superseded: Superseded::Hidden,
        valid: None,
        valid_during: None,
        recorded_during: None,
    };
    let mut known: Vec<&Piece> = pieces.into_iter().filter(|piece| pins.admit(piece)).collect();
    known.sort_by_key(|piece| (piece.from(), piece.to(), piece.id));
    known
}

//! A whole track in memory: what counts of its inputs, and every version of every piece.

use std::convert::Infallible;

use lamina_types::ValidAt;

use super::{
    Change, Content, Input, Outcome, Piece, Pieces, Retracted, Retraction, Turn, Valid, Value,
    ValueKey, push, retract,
};

/// Every version of every piece of one track, in the order in which they were asserted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Track {
    /// What was said and not taken back.
    live: Vec<Input>,
    pieces: Vec<Piece>,
}

impl Track {
    /// The track that these inputs make, in the order in which they were recorded.
    pub fn fold<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> Track {
        let mut track = Track::default();
        for input in inputs {
            track.push(input);
        }
        track
    }

    /// One more input.
    pub fn push(&mut self, input: &Input) -> Outcome {
        let Ok(outcome) = push(self, input);
        for change in &outcome.changes {
            self.apply(change);
        }
        self.live.push(input.clone());
        outcome
    }

    /// The track that inputs and retractions make, in the order in which they were recorded.
    pub fn replay<'a>(turns: impl IntoIterator<Item = &'a Turn>) -> Track {
        let mut track = Track::default();
        turns.into_iter().for_each(|turn| track.turn(turn));
        track
    }

    /// One more turn.
    pub(super) fn turn(&mut self, turn: &Turn) {
        match turn {
            Turn::Input(input) => drop(self.push(input)),
            Turn::Retraction(retraction) => drop(self.retract(retraction)),
        }
    }

    /// Takes back what was said, from now on.
    pub fn retract(&mut self, retraction: &Retraction) -> Outcome {
        let current: Vec<Piece> = self.current().cloned().collect();
        let Retracted { outcome, live, .. } = retract(&self.live, &current, retraction);
        for change in &outcome.changes {
            self.apply(change);
        }
        self.live = live;
        outcome
    }

    /// All versions.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Retire { piece, at, superseded_by } => {
                let piece = self.current_mut(*piece);
                piece.recorded_to = Some(*at);
                piece.superseded_by = *superseded_by;
            }
            Change::Assert(piece) => {
                assert!(!piece.supports.is_empty(), "what is known stands on something");
                let is_new = self.pieces.iter().all(|known| known.id != piece.id);
                assert!(is_new, "a version is asserted once");
                self.pieces.push(piece.clone());
            }
            Change::Support { piece, support, instead_of } => {
                let piece = self.current_mut(*piece);
                piece.supports.retain(|known| Some(known.key()) != *instead_of);
                piece.supports.push(*support);
                piece.supports = super::piece::bounded(std::mem::take(&mut piece.supports));
            }
        }
    }

    fn current_mut(&mut self, id: super::PieceId) -> &mut Piece {
        self.pieces
            .iter_mut()
            .find(|piece| piece.id == id && piece.recorded_to.is_none())
            .expect("only current pieces change")
    }

    /// The pieces that are not retired.
    pub fn current(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.recorded_to.is_none())
    }
}

impl Pieces for Track {
    type Error = Infallible;

    fn before(&self, at: ValidAt) -> Result<Option<Piece>, Infallible> {
        let begun = self.current().filter(|piece| piece.from().is_some_and(|from| from < at));
        Ok(begun.max_by_key(|piece| piece.from()).cloned())
    }

    fn after(&self, at: ValidAt) -> Result<Option<Piece>, Infallible> {
        let later = self.current().filter(|piece| piece.from().is_some_and(|from| from >= at));
        Ok(later.min_by_key(|piece| piece.from()).cloned())
    }

    fn undated(&self, value: ValueKey) -> Result<Option<Piece>, Infallible> {
        let is_it = |piece: &&Piece| {
            matches!(piece.valid, Valid::Before { .. })
                && piece.content == Content::One(Value::Is(value))
        };
        Ok(self.current().find(is_it).cloned())
    }
}

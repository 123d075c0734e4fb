//! A whole track in memory: every version of every piece, and how it is made again without what was
//! withdrawn.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use lamina_types::ValidAt;

use super::{
    AssertionId, Change, Content, Input, Outcome, Piece, Pieces, Valid, Value, ValueKey, push,
};

/// Every version of every piece of one track, in the order in which they were asserted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Track {
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

    fn current(&self) -> impl Iterator<Item = &Piece> {
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

/// The track as if some inputs had never been, at every point on both axes. Also says under which id
/// an input that was evidence for a fact goes on with it, if the one that created it went: the caller
/// keeps that with the input.
pub fn without(
    inputs: &[Input],
    withdrawn: &BTreeSet<AssertionId>,
) -> (Track, BTreeMap<AssertionId, AssertionId>) {
    let heirs = heirs(inputs, withdrawn);
    let mut track = Track::default();
    for input in inputs.iter().filter(|input| !withdrawn.contains(&input.source())) {
        match (input, heirs.get(&input.source())) {
            (Input::Said(assertion), Some(fact)) => {
                let mut heir = assertion.clone();
                heir.kept = Some(*fact);
                track.push(&Input::Said(heir));
            }
            _ => {
                track.push(input);
            }
        }
    }
    (track, heirs)
}

/// For each fact whose creating input goes, the first surviving evidence that has no fact of its own.
fn heirs(
    inputs: &[Input],
    withdrawn: &BTreeSet<AssertionId>,
) -> BTreeMap<AssertionId, AssertionId> {
    let all = Track::fold(inputs);
    let mut creators: BTreeMap<AssertionId, AssertionId> = BTreeMap::new();
    for input in inputs {
        creators.insert(input.creates(), input.source());
    }
    let mut evidence: BTreeMap<AssertionId, BTreeSet<AssertionId>> = BTreeMap::new();
    for piece in all.pieces.iter().filter(|piece| matches!(piece.content, Content::One(_))) {
        let sources = piece.supports.iter().map(|support| support.source);
        evidence.entry(piece.id.fact).or_default().extend(sources);
    }
    let mut heirs = BTreeMap::new();
    for (fact, sources) in &evidence {
        let is_orphan = creators.get(fact).is_none_or(|creator| withdrawn.contains(creator));
        let is_free = |source: &&AssertionId| {
            !withdrawn.contains(source)
                && !heirs.contains_key(*source)
                && !evidence.keys().any(|other| creators.get(other) == Some(*source))
        };
        if is_orphan && let Some(heir) = sources.iter().find(is_free) {
            heirs.insert(*heir, *fact);
        }
    }
    heirs
}

//! The conflicts of one track, as somebody sees them who has to decide: what disagrees, since when,
//! and how it ended.
//!
//! Nothing is stored for it: a conflict is its versions among the pieces, and the decision that
//! retired the last of them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use lamina_types::{RecordedAt, ValidAt};

use super::facts::{Action, AssertionId, Content, Piece, PieceId, Resolution, Value, ValueKey};

/// A disagreement about one track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The assertion that opened it.
    pub id: AssertionId,
    /// What cannot all be, as of the last version; in ascending order.
    pub sides: Vec<Value>,
    /// Where it begins: the point by which a resolution names it.
    pub from: ValidAt,
    /// When it was detected.
    pub detected_at: RecordedAt,
    /// The version that tells this: of what is open the first on the axis, or the one that was open last.
    pub shown: PieceId,
    /// The versions that are still open; none if it is over.
    pub open: Vec<PieceId>,
    /// What became of it.
    pub status: Status,
}

/// What became of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is still to be decided.
    Open,
    /// Somebody decided it.
    Resolved {
        /// The control entry.
        by: AssertionId,
        /// When.
        at: RecordedAt,
        /// What was decided.
        action: Action,
    },
    /// Later statements left nothing of it: a correction, or the end of all sides but one.
    Overtaken {
        /// When.
        at: RecordedAt,
    },
}

/// What a decision means for the belief in a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It lost.
    Lost,
    /// It holds until then.
    Until(ValidAt),
    /// It holds from then on.
    From(ValidAt),
}

/// What a decision means for the sides of the conflict that it ended, by value. Nothing for what it
/// leaves as it was, and nothing at all if there was no conflict for it to end.
pub fn verdicts(pieces: &[Piece], decided: &Resolution) -> BTreeMap<ValueKey, Verdict> {
    let ended = pieces.iter().filter(|piece| {
        piece.recorded_to == Some(decided.recorded)
            && piece.from().is_some_and(|from| from <= decided.at)
            && piece.to().is_none_or(|to| decided.at < to)
    });
    let sides = ended.filter_map(|piece| match &piece.content {
        Content::Conflict(sides) => Some(sides),
        Content::One(_) | Content::Ended(_) => None,
    });
    let stands = |value: Value| {
        let made = |piece: &&Piece| piece.id.by == decided.source;
        pieces.iter().filter(made).any(|piece| piece.content == Content::One(value))
    };
    let mut verdicts = BTreeMap::new();
    for side in sides.flatten() {
        let Value::Is(value) = *side else { continue };
        let verdict = match decided.action {
            _ if !stands(*side) => Some(Verdict::Lost),
            Action::Split { boundary, earlier, later } if earlier != later => {
                Some(if earlier == *side {
                    Verdict::Until(boundary)
                } else {
                    Verdict::From(boundary)
                })
            }
            _ => None,
        };
        verdicts.extend(verdict.map(|verdict| (value, verdict)));
    }
    verdicts
}

/// A version of a conflict, its sides and where it begins.
type Version<'a> = (&'a Piece, &'a [Value], ValidAt);

/// The conflicts that were known at an instant, oldest first.
pub fn conflicts<'a>(
    pieces: impl IntoIterator<Item = &'a Piece>,
    resolutions: &[Resolution],
    at: RecordedAt,
) -> Vec<Conflict> {
    let mut versions: BTreeMap<AssertionId, Vec<Version<'_>>> = BTreeMap::new();
    for piece in pieces {
        if let (Content::Conflict(sides), Some(from)) = (&piece.content, piece.from())
            && piece.recorded_from <= at
        {
            versions.entry(piece.id.fact).or_default().push((piece, sides, from));
        }
    }
    versions
        .into_iter()
        .filter_map(|(id, versions)| conflict(id, &versions, resolutions, at))
        .collect()
}

fn conflict(
    id: AssertionId,
    versions: &[Version<'_>],
    resolutions: &[Resolution],
    at: RecordedAt,
) -> Option<Conflict> {
    let is_open = |piece: &Piece| piece.is_current(at);
    let open: Vec<PieceId> =
        versions.iter().filter(|(piece, ..)| is_open(piece)).map(|(piece, ..)| piece.id).collect();
    let detected_at = versions.iter().map(|(piece, ..)| piece.recorded_from).min()?;
    // Of what is open the first on the axis, or else the version that was open last.
    let shown = versions
        .iter()
        .filter(|(piece, ..)| is_open(piece))
        .min_by_key(|(.., from)| *from)
        .or(versions.iter().max_by_key(|(piece, ..)| piece.recorded_to))?;
    let (piece, sides, from) = shown;
    let ended = versions.iter().filter_map(|(piece, ..)| piece.recorded_to).max();
    let status = match (open.is_empty(), ended) {
        (true, Some(at)) => match resolutions.iter().find(|decided| decided.recorded == at) {
            Some(decided) => Status::Resolved { by: decided.source, at, action: decided.action },
            None => Status::Overtaken { at },
        },
        _ => Status::Open,
    };
    let shown = piece.id;
    Some(Conflict { id, sides: sides.to_vec(), from: *from, detected_at, shown, open, status })
}

//! The stretch of a track that a push touches, cut so that one rule holds in each segment.
//!
//! Current pieces are taken in, painted over, and compared with what was there: the difference is
//! the list of changes. Only the pieces that overlap or touch the stretch are read, so that a push
//! costs the same after a year as on the first day.

use std::collections::BTreeMap;

use lamina_types::{Micros, RecordedAt, ValidAt};

use super::piece::{basis_at, bounded};
use super::push::Pieces;
use super::step::{Cell, Manner, Step, step};
use super::{
    AssertionId, Basis, Change, Content, Piece, PieceId, Said, Support, SupportKey, Valid,
};

/// A stretch of the valid axis with one content and one set of evidence.
#[derive(Debug, Clone)]
struct Segment {
    from: ValidAt,
    to: Option<ValidAt>,
    cell: Option<Cell>,
}

#[derive(Debug)]
pub(super) struct Canvas {
    /// The current pieces, in order.
    pub(super) old: Vec<Piece>,
    /// Without gaps, in order.
    segments: Vec<Segment>,
}

/// A half-open stretch of the valid axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) from: ValidAt,
    pub(super) to: Option<ValidAt>,
}

/// In whose name changes are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cause {
    /// What made them.
    pub(super) source: AssertionId,
    /// The id of a fact that begins with it.
    pub(super) creates: AssertionId,
    /// When it was recorded.
    pub(super) recorded: RecordedAt,
}

impl Canvas {
    /// Takes in what overlaps or touches the span. For an open statement reading stops where
    /// something begins later and goes on: nothing of the statement can show beyond it.
    pub(super) fn load<P: Pieces>(
        pieces: &P,
        span: Span,
        open: Option<&Support>,
    ) -> Result<Canvas, P::Error> {
        let mut old: Vec<Piece> = Vec::new();
        let stops = |piece: &Piece| {
            open.is_some_and(|mark| {
                let mut later = cut(piece, mark.from).into_iter();
                later.any(|segment| segment.from >= mark.from && blocks(&segment, mark))
            })
        };
        let touching = pieces.before(span.from)?;
        let touching = touching.filter(|piece| piece.to().is_none_or(|to| to >= span.from));
        let mut is_stopped = touching.as_ref().is_some_and(stops);
        old.extend(touching);
        let mut position = span.from;
        while !is_stopped && let Some(piece) = pieces.after(position)? {
            let Some(from) = piece.from() else { break };
            assert!(from >= position, "pieces are asked for in ascending order");
            if span.to.is_some_and(|to| from > to) {
                break;
            }
            // Nothing begins after the last instant that can be written.
            is_stopped = stops(&piece) || just_after(from) == from;
            old.push(piece);
            position = just_after(from);
        }
        let segments = lay(&old, span, is_stopped);
        Ok(Canvas { old, segments })
    }

    /// The current piece at a point, if it was taken in.
    pub(super) fn covering(&self, point: ValidAt) -> Option<&Piece> {
        self.old.iter().find(|piece| piece.covers(point))
    }

    /// Lets evidence have its effect wherever it speaks of.
    pub(super) fn paint(&mut self, mark: &Support, manner: Manner) {
        let mut mark = *mark;
        self.split(mark.from);
        if let Some(to) = mark.to {
            self.split(to);
        } else {
            let stop = self
                .segments
                .iter()
                .find(|segment| segment.from >= mark.from && blocks(segment, &mark));
            mark.to = stop.map(|segment| segment.from);
        }
        for segment in &mut self.segments {
            if !mark.covers(segment.from) {
                continue;
            }
            match step(segment.cell.as_ref(), &mark, manner) {
                Step::Pass | Step::Blocked => {}
                Step::Add => {
                    if let Some(cell) = &mut segment.cell {
                        cell.marks.push(mark);
                    }
                }
                Step::Become(cell) => segment.cell = Some(cell),
            }
        }
    }

    /// Rewrites each segment of a span.
    pub(super) fn rewrite(&mut self, span: Span, with: impl Fn(Option<&Cell>) -> Option<Cell>) {
        self.split(span.from);
        if let Some(to) = span.to {
            self.split(to);
        }
        for segment in &mut self.segments {
            if segment.from >= span.from && span.to.is_none_or(|to| segment.from < to) {
                segment.cell = with(segment.cell.as_ref());
            }
        }
    }

    /// Takes away what a span says, as if it had never been said: what was known just before goes
    /// on, as far as its evidence speaks of it.
    pub(super) fn vacate(&mut self, span: Span) {
        self.split(span.from);
        if let Some(to) = span.to {
            self.split(to);
        }
        let before: Option<Cell> = self
            .segments
            .iter()
            .filter(|segment| segment.to == Some(span.from))
            .find_map(|segment| segment.cell.clone())
            .filter(|cell| !matches!(cell.content, Content::Conflict(_)));
        for mark in before.iter().flat_map(|cell| &cell.marks) {
            if let Some(to) = mark.to {
                self.split(to);
            }
        }
        self.rewrite(span, |_| None);
        let Some(before) = before else { return };
        for segment in &mut self.segments {
            if segment.from >= span.from && span.to.is_none_or(|to| segment.from < to) {
                let covers = |mark: &&Support| mark.covers(segment.from);
                let marks: Vec<Support> = before.marks.iter().filter(covers).copied().collect();
                let is_carried = marks.iter().any(|mark| match before.content {
                    Content::One(value) => mark.said == Said::Value(value),
                    Content::Ended(_) => matches!(mark.said, Said::Ends(_)),
                    Content::Conflict(_) => false,
                });
                if is_carried {
                    segment.cell = Some(Cell { content: before.content.clone(), marks });
                }
            }
        }
    }

    /// What has to change for the painted to be the current.
    pub(super) fn changes(self, cause: Cause) -> Vec<Change> {
        let runs = self.runs();
        let mut supported = Vec::new();
        let mut kept_old = vec![false; self.old.len()];
        let mut fresh: Vec<Run> = Vec::new();
        for run in runs {
            let same = self.old.iter().enumerate().find(|(_, piece)| run.is_version(piece));
            match same.map(|(index, piece)| (index, piece, added(&piece.supports, &run.marks))) {
                Some((index, piece, Some(additions))) => {
                    if let Some(kept) = kept_old.get_mut(index) {
                        *kept = true;
                    }
                    supported.extend(additions.into_iter().map(|(support, instead_of)| {
                        Change::Support { piece: piece.id, support, instead_of }
                    }));
                }
                _ => fresh.push(run),
            }
        }
        let retired: Vec<&Piece> = self
            .old
            .iter()
            .zip(&kept_old)
            .filter_map(|(piece, kept)| (!kept).then_some(piece))
            .collect();
        let asserted = name(fresh, &retired, cause);
        let mut changes: Vec<Change> =
            retired.iter().map(|piece| retire(piece, &asserted, cause)).collect();
        changes.extend(asserted.into_iter().map(Change::Assert));
        changes.extend(supported);
        changes
    }

    /// The longest stretches of one content.
    fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for segment in &self.segments {
            let Some(cell) = &segment.cell else { continue };
            match runs.last_mut() {
                Some(run) if run.to == Some(segment.from) && run.content == cell.content => {
                    run.to = segment.to;
                    run.marks.extend(&cell.marks);
                }
                _ => runs.push(Run {
                    from: segment.from,
                    to: segment.to,
                    to_basis: Basis::Stated,
                    content: cell.content.clone(),
                    marks: cell.marks.clone(),
                }),
            }
        }
        for run in &mut runs {
            run.marks = bounded(std::mem::take(&mut run.marks));
        }
        let begins: Vec<(ValidAt, Basis)> =
            runs.iter().map(|run| (run.from, basis_at(run.from, run.marks.iter()))).collect();
        for run in &mut runs {
            // What ends where another thing begins ends as surely as that begins.
            let next = begins.iter().find(|(from, _)| Some(*from) == run.to);
            run.to_basis = next.map_or(Basis::Stated, |(_, basis)| *basis);
        }
        runs
    }

    fn split(&mut self, at: ValidAt) {
        let inside = self
            .segments
            .iter()
            .position(|segment| segment.from < at && segment.to.is_none_or(|to| at < to));
        let Some(index) = inside else { return };
        let Some(segment) = self.segments.get_mut(index) else { return };
        let mut right = segment.clone();
        right.from = at;
        segment.to = Some(at);
        self.segments.insert(index + 1, right);
    }
}

#[derive(Debug)]
struct Run {
    from: ValidAt,
    to: Option<ValidAt>,
    to_basis: Basis,
    content: Content,
    marks: Vec<Support>,
}

impl Run {
    fn is_version(&self, piece: &Piece) -> bool {
        piece.from() == Some(self.from) && piece.to() == self.to && piece.content == self.content
    }

    fn overlaps(&self, piece: &Piece) -> bool {
        overlap((Some(self.from), self.to), (piece.from(), piece.to()))
    }

    /// Who said first what it says. Not always the cause: a value that comes out of a conflict was
    /// said before the conflict was decided.
    fn creator(&self, cause: Cause) -> AssertionId {
        let Content::One(value) = self.content else { return cause.creates };
        let sources = self.marks.iter().filter(|mark| mark.said == Said::Value(value));
        let first = sources.map(|mark| mark.source).min();
        first.filter(|first| *first < cause.source).unwrap_or(cause.creates)
    }

    /// Whether this is what became of the piece: the same value, or a conflict about more.
    fn descends(&self, piece: &Piece) -> bool {
        let is_kin = match (&self.content, &piece.content) {
            (Content::Conflict(_), Content::Conflict(_)) => true,
            (mine, its) => mine == its,
        };
        is_kin && (self.overlaps(piece) || shares_evidence(&self.marks, &piece.supports))
    }
}

type Stretch = (Option<ValidAt>, Option<ValidAt>);

fn overlap(one: Stretch, other: Stretch) -> bool {
    let begins_before = |a: Option<ValidAt>, b: Option<ValidAt>| match (a, b) {
        (Some(from), Some(to)) => from < to,
        _ => true,
    };
    begins_before(one.0, other.1) && begins_before(other.0, one.1)
}

fn shares_evidence(marks: &[Support], supports: &[Support]) -> bool {
    marks.iter().any(|mark| supports.iter().any(|support| support.key() == mark.key()))
}

/// Gives each new version its name: of the oldest fact it descends from, or of a new one.
fn name(fresh: Vec<Run>, retired: &[&Piece], cause: Cause) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for run in fresh {
        let ancestor =
            retired.iter().filter(|piece| run.descends(piece)).min_by_key(|piece| piece.id.fact);
        let fact = ancestor.map_or_else(|| run.creator(cause), |piece| piece.id.fact);
        let parts = pieces.iter().filter(|piece| piece.id.fact == fact).count();
        let part = u16::try_from(parts).unwrap_or(u16::MAX);
        let replaced = retired.iter().find(|piece| run.overlaps(piece));
        assert!(!run.marks.is_empty(), "what is known stands on something");
        pieces.push(Piece {
            id: PieceId { fact, by: cause.source, part },
            valid: Valid::During { from: run.from, to: run.to, to_basis: run.to_basis },
            content: run.content,
            recorded_from: cause.recorded,
            recorded_to: None,
            supports: run.marks,
            supersedes: ancestor.or(replaced).map(|piece| piece.id),
            superseded_by: None,
        });
    }
    pieces
}

/// Retires a piece in favour of what says something else in its time; if nothing does, of what is
/// left of it.
fn retire(piece: &Piece, asserted: &[Piece], cause: Cause) -> Change {
    let in_its_time =
        |other: &&Piece| overlap((other.from(), other.to()), (piece.from(), piece.to()));
    let other = asserted.iter().filter(in_its_time).find(|other| other.content != piece.content);
    let rest = asserted.iter().find(in_its_time);
    Change::Retire {
        piece: piece.id,
        at: cause.recorded,
        superseded_by: other.or(rest).map(|piece| piece.id),
    }
}

/// The evidence that is new, each with what goes for it. `None` if evidence went for another reason:
/// then it is another version.
fn added(old: &[Support], new: &[Support]) -> Option<Vec<(Support, Option<SupportKey>)>> {
    let by_key = |all: &[Support]| -> BTreeMap<SupportKey, Support> {
        all.iter().map(|support| (support.key(), *support)).collect()
    };
    let (before, after) = (by_key(old), by_key(new));
    let is_new = |mark: &&Support| before.get(&mark.key()) != Some(*mark);
    let is_gone = |had: &&Support| after.get(&had.key()) != Some(*had);
    let additions: Vec<Support> = new.iter().filter(is_new).copied().collect();
    let gone: Vec<SupportKey> = old.iter().filter(is_gone).map(Support::key).collect();
    let is_full = new.len() >= super::piece::SUPPORTS_MAX;
    if !gone.is_empty() && (!is_full || gone.len() > additions.len()) {
        return None;
    }
    let mut gone = gone.into_iter();
    Some(additions.into_iter().map(|support| (support, gone.next())).collect())
}

/// Whether what is known in a segment keeps an open statement from showing there and beyond.
fn blocks(segment: &Segment, mark: &Support) -> bool {
    let is_blocked = step(segment.cell.as_ref(), mark, Manner::Supersede) == Step::Blocked;
    is_blocked && segment.cell.as_ref().is_some_and(Cell::is_open)
}

/// A piece, cut where its evidence begins and ends. What lies before the cut at or before an instant is
/// left in one segment with all its evidence: nothing is painted there, and a fact that was repeated many
/// times would be cut into as many segments each with as much evidence.
fn cut(piece: &Piece, since: ValidAt) -> Vec<Segment> {
    let Some(from) = piece.from() else { return Vec::new() };
    let mut bounds: Vec<ValidAt> = piece
        .supports
        .iter()
        .flat_map(|support| [Some(support.from), support.to])
        .flatten()
        .filter(|bound| piece.covers(*bound) && *bound > from)
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    let earlier = bounds.iter().filter(|bound| **bound <= since).count().saturating_sub(1);
    bounds.drain(..earlier);
    let first = bounds.first().copied().or(piece.to());
    let begins = [from].into_iter().chain(bounds.iter().copied());
    let ends = bounds.iter().copied().map(Some).chain([piece.to()]);
    begins
        .zip(ends)
        .map(|(begin, to)| {
            let speaks = |support: &&Support| match begin == from {
                true => support.reaches(Span { from, to: first }),
                false => support.covers(begin),
            };
            let marks = piece.supports.iter().filter(speaks).copied().collect();
            Segment { from: begin, to, cell: Some(Cell { content: piece.content.clone(), marks }) }
        })
        .collect()
}

/// The pieces and the unknown between them, over the whole span or up to where reading stopped.
fn lay(old: &[Piece], span: Span, is_stopped: bool) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let first = old.first().and_then(Piece::from).map_or(span.from, |from| from.min(span.from));
    let mut position = Some(first);
    let gap = |from: ValidAt, to: Option<ValidAt>| Segment { from, to, cell: None };
    for piece in old {
        let (Some(at), Some(from)) = (position, piece.from()) else { break };
        assert!(at <= from, "current pieces do not overlap");
        if at < from {
            segments.push(gap(at, Some(from)));
        }
        segments.extend(cut(piece, span.from));
        position = piece.to();
    }
    if let Some(at) = position
        && !is_stopped
        && span.to.is_none_or(|to| at < to)
    {
        segments.push(gap(at, span.to));
    }
    segments
}

pub(super) fn just_after(at: ValidAt) -> ValidAt {
    ValidAt(Micros(at.0.0.saturating_add(1)))
}

pub(super) fn just_before(at: ValidAt) -> ValidAt {
    ValidAt(Micros(at.0.0.saturating_sub(1)))
}

//! One input, against what is current: what changes, and in one word why.

use lamina_types::ValidAt;

use super::canvas::{Canvas, Cause, Span, just_before};
use super::correct;
use super::step::Manner;
use super::{
    Assertion, Basis, Change, Content, Input, Piece, PieceId, Said, Saying, Support, Valid, Value,
    ValueKey, Weight,
};

/// How many pieces an ending looks back to see whether what it ends was known before.
const LOOK_BACK_MAX: usize = 16;

/// The current pieces of one track, as a view can answer from a range scan. Those without a place on
/// the valid axis ([`Valid::Before`]) are never among the answers of `before` and `after`.
pub trait Pieces {
    /// Why it could not be answered.
    type Error;

    /// The last current piece that begins before the instant.
    fn before(&self, at: ValidAt) -> Result<Option<Piece>, Self::Error>;

    /// The first current piece that begins at the instant or later.
    fn after(&self, at: ValidAt) -> Result<Option<Piece>, Self::Error>;

    /// The current piece that says that this was so at some time.
    fn undated(&self, value: ValueKey) -> Result<Option<Piece>, Self::Error>;
}

/// What an input did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// In one word.
    pub decision: Decision,
    /// Why.
    pub reason: Reason,
    /// What a view has to do.
    pub changes: Vec<Change>,
}

/// What an input did, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Decision {
    /// Something new is known.
    Add = 0,
    /// Something known is otherwise.
    Update = 1,
    /// Nothing new.
    Noop = 2,
    /// Something known is over.
    End = 3,
    /// It cannot be told which.
    Conflict = 4,
}

/// Why it did that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Reason {
    /// Nothing was known of that time.
    FirstKnown = 0,
    /// It fills a time before something that is known.
    LateReport = 1,
    /// The same value, for longer than was known.
    Extends = 2,
    /// It begins later than what was known.
    Supersedes = 3,
    /// It says that what was known never was.
    Corrects = 4,
    /// The same again.
    Repeats = 5,
    /// What is known begins later.
    Outranked = 6,
    /// It does not touch what is known.
    Compatible = 7,
    /// It speaks of no time at all: its end is not after its beginning.
    Empty = 8,
    /// What was known ends.
    EndsKnown = 9,
    /// It ends something of which no beginning is known.
    EndsUnknown = 10,
    /// Another value from the same instant.
    EqualTime = 11,
    /// It was not to supersede.
    Beside = 12,
    /// A conflict was decided.
    Resolved = 13,
    /// No such conflict is open there any more.
    NoConflict = 14,
    /// The conflict is about other values.
    NotASide = 15,
    /// What it stood on was taken back.
    Retracted = 16,
}

impl Decision {
    /// As it is written in lifecycle events and diagnostics.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Add => "add",
            Decision::Update => "update",
            Decision::Noop => "noop",
            Decision::End => "end",
            Decision::Conflict => "conflict",
        }
    }
}

impl Reason {
    /// As it is written in lifecycle events and diagnostics.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::FirstKnown => "first_known",
            Reason::LateReport => "late_report",
            Reason::Extends => "extends",
            Reason::Supersedes => "supersedes",
            Reason::Corrects => "corrects",
            Reason::Repeats => "repeats",
            Reason::Outranked => "outranked",
            Reason::Compatible => "compatible",
            Reason::Empty => "empty",
            Reason::EndsKnown => "ends_known",
            Reason::EndsUnknown => "ends_unknown",
            Reason::EqualTime => "equal_time",
            Reason::Beside => "beside",
            Reason::Resolved => "resolved",
            Reason::NoConflict => "no_conflict",
            Reason::NotASide => "not_a_side",
            Reason::Retracted => "retracted",
        }
    }
}

/// What one more input does to a track. Inputs come in the order in which they were recorded.
pub fn push<P: Pieces>(pieces: &P, input: &Input) -> Result<Outcome, P::Error> {
    let cause =
        Cause { source: input.source(), creates: input.creates(), recorded: input.recorded() };
    match input {
        Input::Resolved(resolution) => correct::resolve(pieces, resolution, cause),
        Input::Said(assertion) => said(pieces, assertion, cause),
    }
}

fn said<P: Pieces>(pieces: &P, assertion: &Assertion, cause: Cause) -> Result<Outcome, P::Error> {
    let is_empty =
        matches!((assertion.valid_from, assertion.valid_to), (Some(from), Some(to)) if to <= from);
    if is_empty {
        return Ok(Outcome::nothing(Reason::Empty));
    }
    // "I lived there until 2015": it began nobody knows when, and is over.
    let is_over = assertion.valid_from.is_none()
        && assertion.valid_to.is_some_and(|to| to <= assertion.observed);
    match assertion.saying {
        Saying::Corrects(value) => match correct::correct(pieces, assertion, value, cause)? {
            Some(outcome) => Ok(outcome),
            None if is_over => end(pieces, assertion, Some(value), cause),
            None => hold(pieces, assertion, Value::Is(value), cause),
        },
        Saying::Holds(value) if is_over => end(pieces, assertion, Some(value), cause),
        Saying::Holds(value) => hold(pieces, assertion, Value::Is(value), cause),
        Saying::Negated(_) if is_over => Ok(Outcome::nothing(Reason::Empty)),
        Saying::Negated(value) => hold(pieces, assertion, Value::IsNot(value), cause),
        Saying::Ends(value) => end(pieces, assertion, value, cause),
    }
}

/// It is so, or it is not, from some time on.
fn hold<P: Pieces>(
    pieces: &P,
    assertion: &Assertion,
    value: Value,
    cause: Cause,
) -> Result<Outcome, P::Error> {
    let mark = mark(assertion, Said::Value(value));
    let manner = match assertion.settles {
        _ if assertion.no_supersede => Manner::Beside,
        Some(way) => Manner::Settle(way),
        None => Manner::Supersede,
    };
    let span = Span { from: mark.from, to: mark.to };
    let mut canvas = Canvas::load(pieces, span, mark.to.is_none().then_some(&mark))?;
    canvas.paint(&mark, manner);
    Ok(judge(canvas, cause, &mark, Cautious(assertion.no_supersede)))
}

/// It was so and stops.
fn end<P: Pieces>(
    pieces: &P,
    assertion: &Assertion,
    value: Option<ValueKey>,
    cause: Cause,
) -> Result<Outcome, P::Error> {
    // An ending with one date says when it ended; with two, from when to when it was so.
    let (since, until) = match (assertion.valid_from, assertion.valid_to) {
        (Some(from), Some(to)) => (Some(from), Some(to)),
        (None, Some(to)) => (None, Some(to)),
        (Some(from), None) => (None, Some(from)),
        (None, None) => (None, None),
    };
    let weight = if until.is_some() { Weight::Stated } else { Weight::Observed };
    let until = until.unwrap_or(assertion.observed);
    let closing = Support { from: until, to: None, weight, ..mark(assertion, Said::Ends(value)) };
    let span = Span { from: since.unwrap_or(until), to: None };
    let mut canvas = Canvas::load(pieces, span, Some(&closing))?;
    let mut undated = None;
    match (since, value) {
        (Some(since), Some(value)) => {
            let was = Support {
                from: since,
                to: Some(until),
                weight: Weight::Stated,
                ..mark(assertion, Said::Value(Value::Is(value)))
            };
            canvas.paint(&was, Manner::Supersede);
        }
        (None, Some(value)) if !was_known(pieces, &canvas, value, until)? => {
            undated = Some(remember(pieces, &closing, value, cause)?);
        }
        _ => {}
    }
    canvas.paint(&closing, Manner::Supersede);
    let mut outcome = judge(canvas, cause, &closing, Cautious(false));
    if let Some(change) = undated {
        let is_new = matches!(change, Change::Assert(_));
        outcome.changes.push(change);
        if is_new || outcome.decision != Decision::Noop {
            (outcome.decision, outcome.reason) = (Decision::End, Reason::EndsUnknown);
        } else {
            outcome.reason = Reason::Repeats;
        }
    }
    Ok(outcome)
}

/// Whether something was known to hold, or to be over, just before it ended or not long before that.
fn was_known<P: Pieces>(
    pieces: &P,
    canvas: &Canvas,
    value: ValueKey,
    until: ValidAt,
) -> Result<bool, P::Error> {
    let tells = |piece: &Piece| match &piece.content {
        Content::One(known) => *known == Value::Is(value),
        Content::Ended(ended) => *ended == Some(value),
        Content::Conflict(sides) => sides.contains(&Value::Is(value)),
    };
    if canvas.covering(until).is_some_and(tells) {
        return Ok(true);
    }
    let mut position = until;
    for _ in 0..LOOK_BACK_MAX {
        let Some(piece) = pieces.before(position)? else { return Ok(false) };
        if tells(&piece) {
            return Ok(true);
        }
        let Some(from) = piece.from() else { return Ok(false) };
        position = from;
    }
    Ok(false)
}

/// It was so at some time: kept beside the axis, because no point of it can be answered.
fn remember<P: Pieces>(
    pieces: &P,
    closing: &Support,
    value: ValueKey,
    cause: Cause,
) -> Result<Change, P::Error> {
    if let Some(known) = pieces.undated(value)? {
        return Ok(Change::Support { piece: known.id, support: *closing, instead_of: None });
    }
    let to_basis = if closing.weight == Weight::Observed { Basis::Observed } else { Basis::Stated };
    Ok(Change::Assert(Piece {
        // No piece on the axis can have this number: there are never so many.
        id: PieceId { fact: cause.creates, by: cause.source, part: u16::MAX },
        content: Content::One(Value::Is(value)),
        valid: Valid::Before { to: closing.from, to_basis },
        recorded_from: cause.recorded,
        recorded_to: None,
        supports: vec![*closing],
        supersedes: None,
        superseded_by: None,
    }))
}

/// The evidence that an assertion is.
pub(super) fn mark(assertion: &Assertion, said: Said) -> Support {
    let weight = if assertion.valid_from.is_some() { Weight::Stated } else { Weight::Observed };
    Support {
        source: assertion.source,
        recorded: assertion.recorded,
        confidence: assertion.confidence,
        said,
        from: assertion.valid_from.unwrap_or(assertion.observed),
        to: assertion.valid_to,
        weight,
        author: assertion.author,
    }
}

/// Whether an assertion was not to supersede.
#[derive(Debug, Clone, Copy)]
struct Cautious(bool);

/// Names what was painted.
fn judge(canvas: Canvas, cause: Cause, mark: &Support, cautious: Cautious) -> Outcome {
    let old = canvas.old.clone();
    let changes = canvas.changes(cause);
    let (decision, reason) = verdict(&old, &changes, mark, cautious);
    Outcome { decision, reason, changes }
}

fn verdict(
    old: &[Piece],
    changes: &[Change],
    mark: &Support,
    Cautious(is_cautious): Cautious,
) -> (Decision, Reason) {
    let asserted = || {
        changes.iter().filter_map(|change| match change {
            Change::Assert(piece) => Some(piece),
            Change::Retire { .. } | Change::Support { .. } => None,
        })
    };
    let is_old = |content: &Content| old.iter().any(|piece| piece.content == *content);
    let has_new = |is: fn(&Content) -> bool| {
        asserted().any(|piece| is(&piece.content) && !is_old(&piece.content))
    };
    if changes.is_empty() {
        let is_at = |piece: &&Piece| piece.covers(mark.from);
        let is_outranked = old.iter().find(is_at).is_some_and(|piece| {
            piece
                .supports
                .iter()
                .any(|support| support.covers(mark.from) && support.from > mark.from)
                || (piece.supports.iter().any(|s| s.from == mark.from && s.weight > mark.weight))
        });
        let reason = if is_outranked { Reason::Outranked } else { Reason::Compatible };
        return (Decision::Noop, reason);
    }
    if asserted().next().is_none() {
        return (Decision::Noop, Reason::Repeats);
    }
    if has_new(|content| matches!(content, Content::Conflict(_))) {
        let begins_alike = old.iter().any(|piece| piece.from() == Some(mark.from));
        let is_beside = is_cautious || mark.author.is_some() && !begins_alike;
        return (Decision::Conflict, if is_beside { Reason::Beside } else { Reason::EqualTime });
    }
    if let Said::Ends(_) = mark.said {
        let is_known = changes.iter().any(|change| matches!(change, Change::Retire { .. }));
        let reason = if is_known { Reason::EndsKnown } else { Reason::EndsUnknown };
        return (Decision::End, reason);
    }
    let retires = |content_differs: bool| {
        changes.iter().any(|change| match change {
            Change::Retire { piece, .. } => old.iter().any(|had| {
                // Where something had ended nothing was known.
                had.id == *piece
                    && !matches!(had.content, Content::Ended(_))
                    && (had.content != said_content(mark)) == content_differs
            }),
            Change::Assert(_) | Change::Support { .. } => false,
        })
    };
    if retires(true) {
        (Decision::Update, Reason::Supersedes)
    } else if retires(false) {
        (Decision::Update, Reason::Extends)
    } else if old.iter().any(|piece| piece.from().is_some_and(|from| from > mark.from)) {
        (Decision::Add, Reason::LateReport)
    } else {
        (Decision::Add, Reason::FirstKnown)
    }
}

fn said_content(mark: &Support) -> Content {
    match mark.said {
        Said::Value(value) => Content::One(value),
        Said::Ends(value) => Content::Ended(value),
    }
}

impl Outcome {
    pub(super) fn nothing(reason: Reason) -> Outcome {
        Outcome { decision: Decision::Noop, reason, changes: Vec::new() }
    }
}

/// The current piece at a point.
pub(super) fn covering<P: Pieces>(pieces: &P, point: ValidAt) -> Result<Option<Piece>, P::Error> {
    let first = pieces.after(point)?.filter(|piece| piece.covers(point));
    match first {
        Some(piece) => Ok(Some(piece)),
        None => Ok(pieces.before(point)?.filter(|piece| piece.covers(point))),
    }
}

/// The last instant before an end.
pub(super) fn last_before(end: ValidAt) -> ValidAt {
    just_before(end)
}

//! What was said is taken back: as if it had never been said, or from now on.
//!
//! Both make the track again from what is left. That reads the whole track, but only this one, and
//! only when something is withdrawn; guessing what a piece had covered would be cheaper and wrong.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::RecordedAt;

use super::{
    AssertionId, Change, Content, Decision, Input, Outcome, Piece, PieceId, Reason, Track,
};

/// Something said is no longer held to have been meant, from now on: an event was read again, and
/// what its earlier answer said goes. Before, it was known. (What must never have been known is taken
/// away with [`without`].)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retraction {
    /// The entry that brings it.
    pub source: AssertionId,
    /// When it was recorded.
    pub recorded: RecordedAt,
    /// What goes.
    pub gone: BTreeSet<AssertionId>,
}

/// Anything that changes a track, with what is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Something said or decided.
    Input(Input),
    /// Something said goes. Comes after what is said in its place, so that a fact that is said again
    /// keeps its id.
    Retraction(Retraction),
}

/// For inputs that were evidence for a fact: the id of the fact with which they go on, because the
/// one that created it went. The caller keeps it with the input, as [`kept`](super::Assertion::kept).
pub type Heirs = BTreeMap<AssertionId, AssertionId>;

/// What a retraction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retracted {
    /// What a view has to do, and why.
    pub outcome: Outcome,
    /// What counts from now on.
    pub live: Vec<Input>,
    /// Who goes on with which fact.
    pub heirs: Heirs,
}

/// The track as if some inputs had never been, at every point on both axes.
pub fn without(inputs: &[Input], withdrawn: &BTreeSet<AssertionId>) -> (Track, Heirs) {
    let turns: Vec<Turn> = inputs.iter().cloned().map(Turn::Input).collect();
    without_turns(&turns, withdrawn)
}

/// The same, of a track in which something was taken back before.
pub fn without_turns(turns: &[Turn], withdrawn: &BTreeSet<AssertionId>) -> (Track, Heirs) {
    let (_, after, heirs) = with_and_without(turns, withdrawn);
    (after, heirs)
}

/// The track as it is and as it is without some turns. Up to the first of them both are the same, and are made once.
pub fn with_and_without(
    turns: &[Turn],
    withdrawn: &BTreeSet<AssertionId>,
) -> (Track, Track, Heirs) {
    let first = turns.iter().position(|turn| withdrawn.contains(&turn.source()));
    let (same, rest) = turns.split_at(first.unwrap_or(turns.len()));
    let begun = Track::replay(same);
    let mut all = begun.clone();
    rest.iter().for_each(|turn| all.turn(turn));
    let go_on = |track: &Track, from: &[Turn], heirs: &Heirs, gone: &BTreeSet<AssertionId>| {
        let mut track = track.clone();
        for turn in from.iter().filter(|turn| !gone.contains(&turn.source())) {
            match turn {
                Turn::Input(input) => drop(track.push(&inherit(input, heirs))),
                Turn::Retraction(retraction) => drop(track.retract(retraction)),
            }
        }
        track
    };
    let heirs = heirs(&all, turns, withdrawn);
    let is_heir = |turn: &Turn| heirs.contains_key(&turn.source());
    let after = match same.iter().any(is_heir) {
        true => go_on(&Track::default(), turns, &heirs, withdrawn),
        false => go_on(&begun, rest, &heirs, withdrawn),
    };
    let nothing = BTreeSet::new();
    let known = self::heirs(&all, turns, &nothing);
    let before = match known.is_empty() {
        true => all,
        false => go_on(&Track::default(), turns, &known, &nothing),
    };
    (before, after, heirs)
}

/// Takes back what was said, from now on. `live` is what counts so far, in the order in which it was
/// recorded, and `current` the current pieces of the track.
pub fn retract(live: &[Input], current: &[Piece], retraction: &Retraction) -> Retracted {
    let is_gone = |input: &Input| retraction.gone.contains(&input.source());
    if !live.iter().any(is_gone) {
        let outcome = Outcome::nothing(Reason::Compatible);
        return Retracted { outcome, live: live.to_vec(), heirs: Heirs::new() };
    }
    let turns: Vec<Turn> = live.iter().cloned().map(Turn::Input).collect();
    let heirs = heirs(&Track::replay(&turns), &turns, &retraction.gone);
    let live: Vec<Input> =
        live.iter().filter(|input| !is_gone(input)).map(|input| inherit(input, &heirs)).collect();
    let target: Vec<Piece> = Track::fold(&live).current().cloned().collect();
    let changes = difference(current, target, retraction);
    let decision = if changes.is_empty() { Decision::Noop } else { Decision::Update };
    let outcome = Outcome { decision, reason: Reason::Retracted, changes };
    Retracted { outcome, live, heirs }
}

impl Turn {
    /// Where it comes from.
    pub fn source(&self) -> AssertionId {
        match self {
            Turn::Input(input) => input.source(),
            Turn::Retraction(retraction) => retraction.source,
        }
    }

    /// When it was recorded.
    pub fn recorded(&self) -> RecordedAt {
        match self {
            Turn::Input(input) => input.recorded(),
            Turn::Retraction(retraction) => retraction.recorded,
        }
    }
}

/// What has to change for one list of current pieces to become another.
fn difference(old: &[Piece], new: Vec<Piece>, cause: &Retraction) -> Vec<Change> {
    let is_same = |one: &Piece, other: &Piece| {
        one.id.fact == other.id.fact
            && one.content == other.content
            && one.valid == other.valid
            && one.supports == other.supports
    };
    let gone: Vec<&Piece> =
        old.iter().filter(|piece| !new.iter().any(|other| is_same(piece, other))).collect();
    let mut asserted: Vec<Piece> = Vec::new();
    for mut piece in new {
        if old.iter().any(|other| is_same(&piece, other)) {
            continue;
        }
        let parts = asserted.iter().filter(|other| other.id.fact == piece.id.fact).count();
        let part = u16::try_from(parts).unwrap_or(u16::MAX);
        piece.id = PieceId { fact: piece.id.fact, by: cause.source, part };
        piece.recorded_from = cause.recorded;
        let ancestor = gone.iter().find(|other| other.id.fact == piece.id.fact);
        piece.supersedes = ancestor.map(|other| other.id);
        asserted.push(piece);
    }
    let retire = |piece: &&Piece| {
        let heir = asserted.iter().find(|other| other.id.fact == piece.id.fact);
        Change::Retire {
            piece: piece.id,
            at: cause.recorded,
            superseded_by: heir.map(|other| other.id),
        }
    };
    let retired: Vec<Change> = gone.iter().map(retire).collect();
    retired.into_iter().chain(asserted.into_iter().map(Change::Assert)).collect()
}

/// The input, as the one that goes on with a fact if it is to.
fn inherit(input: &Input, heirs: &Heirs) -> Input {
    match (input, heirs.get(&input.source())) {
        (Input::Said(assertion), Some(fact)) => {
            let mut heir = assertion.clone();
            heir.kept = Some(*fact);
            Input::Said(heir)
        }
        _ => input.clone(),
    }
}

/// For each fact whose creating input goes, the first surviving evidence that has no fact of its own.
fn heirs(all: &Track, turns: &[Turn], withdrawn: &BTreeSet<AssertionId>) -> Heirs {
    let mut creators: BTreeMap<AssertionId, AssertionId> = BTreeMap::new();
    for turn in turns {
        if let Turn::Input(input) = turn {
            creators.insert(input.creates(), input.source());
        }
    }
    let mut evidence: BTreeMap<AssertionId, BTreeSet<AssertionId>> = BTreeMap::new();
    for piece in all.pieces().iter().filter(|piece| matches!(piece.content, Content::One(_))) {
        let sources = piece.supports.iter().map(|support| support.source);
        evidence.entry(piece.id.fact).or_default().extend(sources);
    }
    let creating: BTreeSet<AssertionId> =
        evidence.keys().filter_map(|fact| creators.get(fact).copied()).collect();
    let mut heirs = Heirs::new();
    for (fact, sources) in &evidence {
        let is_orphan = creators.get(fact).is_none_or(|creator| withdrawn.contains(creator));
        let is_free = |source: &&AssertionId| {
            !withdrawn.contains(source)
                && !heirs.contains_key(*source)
                && !creating.contains(source)
        };
        if is_orphan && let Some(heir) = sources.iter().find(is_free) {
            heirs.insert(*heir, *fact);
        }
    }
    heirs
}

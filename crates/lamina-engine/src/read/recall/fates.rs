//! What became of what an event says: which of its claims stand, and what came in the place of the others.
//!
//! Claims meet on tracks (`core/derive/facts`): what replaced a claim, ended it, denied it or won the conflict with it is
//! the piece of the same track that holds now, or that began when the claim ended.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::derive::beliefs::{Polarity, Stance};
use lamina_core::derive::facts::{Content, Input, Piece, Said, Support, Valid};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::Tag;
use lamina_types::layer::Claim;
use lamina_types::{BeliefId, EventId, FactId, ValidAt};

use super::Ranked;
use crate::Error;
use crate::derive::key;
use crate::derive::read::{row, walk};
use crate::derive::rows::{FactRow, InputRow};
use crate::engine::Inner;
use crate::read::beliefs::{BeliefRecord, Ground};
use crate::read::facts::{Answers, FactsQuery};

/// Pieces of one track that are looked at, the last first.
const PIECES_MAX: usize = 16;
/// Versions about one subject that are looked at when the past is asked.
const VERSIONS_MAX: usize = 20_000;
/// Events that are named as what came next.
const HEIRS_MAX: usize = 8;

/// With which knowledge it is asked what stands.
#[derive(Debug, Clone)]
pub struct Knowledge {
    pub(in crate::read) tenant: u32,
    pub(in crate::read) current: FactsQuery,
    /// That knowledge is not that of now.
    pub(in crate::read) in_the_past: bool,
    /// What was replaced is part of the answer.
    pub(in crate::read) wants_history: bool,
}

/// What an event says on one track.
#[derive(Debug)]
pub(in crate::read) struct Fate {
    /// A version that stands on the event: one that is so, or the last that was.
    pub(in crate::read) fact: Arc<FactRow>,
    /// Whether it is so as far as is known; that something is over may be, too.
    pub(in crate::read) stands: bool,
    /// The events that say what came in its place.
    pub(in crate::read) by: Vec<EventId>,
}

impl Knowledge {
    /// The instant in the world that is asked about.
    pub(in crate::read) fn at(&self) -> Option<ValidAt> {
        self.current.pins.valid.or(self.current.lapsed_by)
    }
}

impl Inner {
    /// What became of what an event says, by track.
    pub(in crate::read) fn fates(
        &self,
        knowledge: &Knowledge,
        event: EventId,
    ) -> Result<Vec<Fate>, Error> {
        let recorded = knowledge.current.pins.recorded;
        let mut tracks: BTreeMap<(u64, Tag), Vec<Arc<FactRow>>> = BTreeMap::new();
        for id in self.facts_on(knowledge.tenant, event)? {
            let Some(fact) = self.fact_row(knowledge.tenant, id)? else { continue };
            let known = fact.piece.recorded_from <= recorded && fact.piece.was_known();
            if known && self.is_said_in(knowledge, &fact.piece, event)? {
                tracks.entry((fact.scope, fact.track)).or_default().push(fact);
            }
        }
        let mut fates = Vec::with_capacity(tracks.len());
        for versions in tracks.into_values() {
            let mut standing = None;
            for fact in &versions {
                if self.is_so(knowledge, fact, Some(event))? {
                    standing = Some(Arc::clone(fact));
                    break;
                }
            }
            let last = versions.into_iter();
            let last = last.max_by_key(|fact| (fact.piece.recorded_from, fact.piece.id));
            fates.extend(match (standing, last) {
                (Some(fact), _) => Some(Fate { fact, stands: true, by: Vec::new() }),
                (None, Some(fact)) => {
                    let by = self.heirs(knowledge, &fact, event)?;
                    Some(Fate { fact, stands: false, by })
                }
                (None, None) => None,
            });
        }
        Ok(fates)
    }

    /// Whether an event says what a version says. That something ended stands on whoever said that it was, too.
    fn is_said_in(
        &self,
        knowledge: &Knowledge,
        piece: &Piece,
        event: EventId,
    ) -> Result<bool, Error> {
        // An event that was there may have been answered later than that.
        let recorded = knowledge.current.pins.recorded;
        if piece.supports.iter().all(|one| one.recorded <= recorded && says(piece, one)) {
            return Ok(true);
        }
        Ok(self.events_behind(knowledge, piece)?.contains(&event))
    }

    /// Whether a version is so. What is said to be over is so while nothing else has begun, and what is over is so only
    /// for who said himself until when: `used to` and `until March` speak of the past.
    fn is_so(
        &self,
        knowledge: &Knowledge,
        fact: &FactRow,
        event: Option<EventId>,
    ) -> Result<bool, Error> {
        let piece = &fact.piece;
        let current = piece.is_current(knowledge.current.pins.recorded);
        let at = knowledge.at();
        if let Content::Ended(_) = piece.content {
            return Ok(current && at.is_none_or(|at| piece.covers(at)));
        }
        if let Valid::Before { .. } = piece.valid {
            return Ok(current && event.is_some());
        }
        if !self.fact_stands(knowledge.tenant, fact, &knowledge.current)? {
            return Ok(false);
        }
        match piece.to() {
            Some(to) if at.is_some_and(|at| to <= at) => match event {
                Some(event) => Ok(self.ended_by(knowledge, fact, to)?.contains(&event)),
                None => Ok(false),
            },
            _ => Ok(true),
        }
    }

    /// The events that say until when a version is so.
    fn ended_by(
        &self,
        knowledge: &Knowledge,
        fact: &FactRow,
        to: ValidAt,
    ) -> Result<Vec<EventId>, Error> {
        let mut events = Vec::new();
        let recorded = knowledge.current.pins.recorded;
        let then = |one: &&Support| one.to == Some(to) && one.recorded <= recorded;
        for support in fact.piece.supports.iter().filter(then) {
            let source = support.source;
            let key = key::input(knowledge.tenant, fact.scope, &fact.track, source);
            let decode = |bytes: &[u8]| InputRow::decode(source, bytes);
            let said = row(&self.views, Space::Sources, &key, decode)?.map(|row| row.input);
            if matches!(said, Some(Input::Said(said)) if said.valid_to == Some(to)) {
                events.extend(self.event_said_in(knowledge.tenant, source)?);
            }
        }
        Ok(events)
    }

    /// The events by whose word a version ended at an instant: they say so, or say what began then.
    pub(super) fn enders(
        &self,
        knowledge: &Knowledge,
        fact: &FactRow,
        to: ValidAt,
    ) -> Result<Vec<EventId>, Error> {
        let mut enders = self.ended_by(knowledge, fact, to)?;
        for next in self.track_pieces(knowledge, fact)? {
            if next.piece.from() == Some(to) {
                enders.extend(self.events_behind(knowledge, &next.piece)?);
            }
        }
        Ok(enders)
    }

    /// The events that say what came in the place of a version.
    fn heirs(
        &self,
        knowledge: &Knowledge,
        over: &FactRow,
        event: EventId,
    ) -> Result<Vec<EventId>, Error> {
        let (ended, at) = (over.piece.to(), knowledge.at());
        let mut heirs = BTreeSet::new();
        if let Some(to) = ended {
            heirs.extend(self.ended_by(knowledge, over, to)?);
        }
        for fact in self.track_pieces(knowledge, over)? {
            let piece = &fact.piece;
            let follows = ended.is_some() && piece.from() == ended;
            let holds = at.is_some_and(|at| piece.covers(at));
            if follows || holds {
                heirs.extend(self.events_behind(knowledge, piece)?);
            }
        }
        if heirs.contains(&event) {
            return Ok(Vec::new());
        }
        // The last said last: ids are in the order in which they were made.
        Ok(heirs.into_iter().rev().take(HEIRS_MAX).collect())
    }

    /// The pieces of a track that are current with the knowledge that is asked with.
    fn track_pieces(
        &self,
        knowledge: &Knowledge,
        of: &FactRow,
    ) -> Result<Vec<Arc<FactRow>>, Error> {
        let (tenant, recorded) = (knowledge.tenant, knowledge.current.pins.recorded);
        let (space, (from, to), most) = match knowledge.in_the_past {
            false => {
                let bounds = key::currents(tenant, of.scope, &of.track, None, None);
                (Space::Sources, bounds, PIECES_MAX)
            }
            // What was current then may be retired since.
            true => {
                let bounds = key::facts_about(tenant, of.scope, of.subject);
                (Space::Records, bounds, VERSIONS_MAX)
            }
        };
        let mut ids = Vec::new();
        walk(&self.views, space, (&from, &to), Direction::Backward, &mut |key, _| {
            ids.extend(key::tail_id(key).map(FactId::from_bytes));
            if ids.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let mut pieces = Vec::new();
        for id in ids {
            let Some(fact) = self.fact_row(tenant, id)? else { continue };
            if fact.track == of.track && fact.piece.is_current(recorded) {
                pieces.push(fact);
            }
        }
        if knowledge.in_the_past {
            pieces.sort_by_key(|fact| std::cmp::Reverse((fact.piece.from(), fact.piece.id)));
            pieces.truncate(PIECES_MAX);
        }
        Ok(pieces)
    }

    /// The events that a piece stands on.
    fn events_behind(&self, knowledge: &Knowledge, piece: &Piece) -> Result<Vec<EventId>, Error> {
        let recorded = knowledge.current.pins.recorded;
        let mut events = Vec::new();
        for support in piece.supports.iter().filter(|support| support.recorded <= recorded) {
            if says(piece, support)
                && let Some(event) = self.event_said_in(knowledge.tenant, support.source)?
            {
                events.push(event);
            }
        }
        Ok(events)
    }

    /// Those of the beliefs that are not to be told as so: the evidence is against them, or no fact that they stand on
    /// stands any more and it is only not yet seen in them.
    pub(super) fn refuted(
        &self,
        knowledge: &Knowledge,
        beliefs: &[Ranked<BeliefRecord>],
    ) -> Result<BTreeSet<BeliefId>, Error> {
        let mut refuted = BTreeSet::new();
        for belief in beliefs.iter().map(|found| &found.record) {
            let against = matches!(belief.shown.stance, Stance::Contradicted | Stance::Deprecated);
            let past = knowledge.wants_history || belief.declared;
            if against || (!past && self.has_no_ground(knowledge, belief)?) {
                refuted.insert(belief.id);
            }
        }
        Ok(refuted)
    }

    /// Whether a belief stands on facts, none of which stands itself.
    fn has_no_ground(&self, knowledge: &Knowledge, belief: &BeliefRecord) -> Result<bool, Error> {
        let mut is_known = false;
        for support in belief.supports.iter().filter(|one| one.polarity == Polarity::Supports) {
            let Ground::Fact(id) = support.id else { return Ok(false) };
            let Some(fact) = self.fact_row(knowledge.tenant, id)? else { continue };
            is_known = true;
            if self.is_so(knowledge, &fact, None)? {
                return Ok(false);
            }
            // A later version may say the same of another time.
            for later in self.track_pieces(knowledge, &fact)? {
                if later.piece.content == fact.piece.content
                    && self.is_so(knowledge, &later, None)?
                {
                    return Ok(false);
                }
            }
        }
        Ok(is_known)
    }

    /// The claims of an event that a version stands on.
    pub(in crate::read) fn claims_in(
        &self,
        knowledge: &Knowledge,
        fact: &FactRow,
        event: EventId,
        answers: &mut Answers,
    ) -> Result<Vec<Claim>, Error> {
        let mut claims = Vec::new();
        let recorded = knowledge.current.pins.recorded;
        for support in fact.piece.supports.iter().filter(|one| one.recorded <= recorded) {
            if self.event_said_in(knowledge.tenant, support.source)? == Some(event)
                && let Some(told) = self.told(knowledge.tenant, support.source, answers)?
                && !claims.contains(&told.claim)
            {
                claims.push(told.claim);
            }
        }
        Ok(claims)
    }
}

/// Whether evidence of a piece says what the piece says.
fn says(piece: &Piece, support: &Support) -> bool {
    match (&piece.content, support.said) {
        (Content::One(value), Said::Value(said)) => *value == said,
        (Content::Conflict(values), Said::Value(said)) => values.contains(&said),
        (Content::Ended(_), Said::Ends(_)) => true,
        _ => false,
    }
}

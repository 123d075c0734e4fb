//! Beliefs: how sure one may be of what is claimed, at any point on both axes, and on what grounds.
//!
//! The views hold the belief as it stands. As it stood at an earlier time is found by taking again what
//! had been said by then; what falls due at a time is applied when that time is asked about, whether or
//! not the log has come to it.

mod why;
mod record;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::beliefs::calibration::Calibration;
use lamina_core::derive::beliefs::ledger::{self, Held, Life, Piece};
use lamina_core::derive::beliefs::{Glance, Hidden, Polarity, Settings, Shown, Stance, Standing};
use lamina_core::derive::facts::AssertionId;
use lamina_core::policy::Permit;
use lamina_store::codec::CodecError;
use lamina_store::kv::{Direction, Space};
use lamina_types::capability::ScopeWrite;
use lamina_types::layer::{Object, Term};
use lamina_types::{ActorId, BeliefId, EntityId, EventId, FactId, RecordedAt, ScopePath, ValidAt};

pub(crate) use record::PIECES_LOOKED_AT_MAX as EVIDENCE_READ_MAX;
pub use why::{BeliefHistory, BeliefVersion, BeliefWhy, BeliefsBuilt};

use crate::derive::beliefs::rows::{BeliefRow, Found, MadeRow, PieceRow};
use crate::derive::key;
use crate::derive::key::beliefs::{self as belief_key, ClaimKey};
use crate::derive::read::{row, walk};
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::read::facts::FactKey;
use crate::read::render::held_words;
use crate::{Engine, Error};

/// Rows that one page looks at before it ends early with a position to go on from.
const ROWS_LOOKED_AT_MAX: usize = 20_000;

/// A question for beliefs.
#[derive(Debug, Clone)]
pub struct BeliefsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// About this: an id of an entity, an actor, or a name.
    pub about: Option<String>,
    /// With this predicate.
    pub predicate: Option<String>,
    /// With this stance.
    pub stance: Option<Stance>,
    /// At least this sure.
    pub min_confidence: f64,
    /// The knowledge it is asked with.
    pub recorded: RecordedAt,
    /// Held at some time in here.
    pub recorded_during: Option<(RecordedAt, RecordedAt)>,
    /// True at this instant.
    pub valid: Option<ValidAt>,
    /// True at some time in here.
    pub valid_during: Option<(ValidAt, ValidAt)>,
    /// Not what was over by this instant.
    pub lapsed_by: Option<ValidAt>,
    /// Also what is kept for the past only.
    pub deprecated: bool,
    /// After this position of an earlier page.
    pub after: Option<FactKey>,
    /// At most so many.
    pub limit: usize,
}

/// One page of beliefs, the latest first.
#[derive(Debug, Clone)]
pub struct BeliefsPage {
    /// The beliefs.
    pub items: Vec<BeliefRecord>,
    /// Beliefs of the page whose words are damaged.
    pub damaged: Vec<BeliefId>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<FactKey>,
}

/// Whom or what a belief is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeliefSubject {
    /// Somebody or something that was spoken of.
    Entity {
        /// Its id.
        id: EntityId,
        /// As it is called.
        name: Term,
    },
    /// Somebody or something that only a declaration knows.
    Named(String),
    /// The scope itself.
    Scope,
}

/// A belief at one moment.
#[derive(Debug, Clone)]
pub struct BeliefRecord {
    /// Its id.
    pub id: BeliefId,
    /// Its scope.
    pub scope: ScopePath,
    /// Whom or what it is about.
    pub subject: BeliefSubject,
    /// The relation.
    pub predicate: String,
    /// What is claimed.
    pub object: Object,
    /// The entity that is claimed, if it is one.
    pub object_entity: Option<EntityId>,
    /// Somebody declared it.
    pub declared: bool,
    /// Who did, unless that is erased.
    pub declared_by: Option<ActorId>,
    /// Mean, interval, stance.
    pub shown: Shown,
    /// How well confidences of this scope came true.
    pub calibration: Option<Calibration>,
    /// That is too long ago.
    pub calibration_stale: bool,
    /// What it stands on, the heaviest first.
    pub supports: Vec<BeliefSupport>,
    /// What it is in tension with.
    pub contradicts: Vec<Contradiction>,
    /// From when it holds.
    pub valid_from: ValidAt,
    /// Until when.
    pub valid_to: Option<ValidAt>,
    /// Since when it is believed like this.
    pub recorded_from: RecordedAt,
    /// Since when it is not any more.
    pub recorded_to: Option<RecordedAt>,
    /// When it last changed what it shows.
    pub last_revised: RecordedAt,
    /// How often it did.
    pub revision_count: u32,
    /// What is asked of its revisions.
    pub settings: Settings,
}

impl BeliefRecord {
    /// Whether somebody declared it and nothing supports it.
    pub fn is_unsupported(&self) -> bool {
        let mut supports = self.supports.iter();
        self.declared && !supports.any(|support| support.polarity == Polarity::Supports)
    }
}

/// One record that a belief stands on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeliefSupport {
    /// The record.
    pub id: Ground,
    /// What it weighs, in pieces of evidence.
    pub weight: f64,
    /// On which side it is.
    pub polarity: Polarity,
}

/// What can be under a belief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// A fact.
    Fact(FactId),
    /// An event that no fact stands for: an ending, feedback, or what a declaration names.
    Event(EventId),
}

/// Another belief of which at most one can be true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contradiction {
    /// The other.
    pub belief: BeliefId,
    /// By how much both cannot be right.
    pub tension: f64,
    /// What is proposed.
    pub resolution: &'static str,
}

/// The keys between which a list stands.
type Bounds = (Vec<u8>, Vec<u8>);
/// What was said about a claim, in the order of the log.
pub(crate) type Pieces = Vec<(AssertionId, PieceRow)>;

/// A belief, where it stands, and at which moment.
#[derive(Debug, Clone)]
pub(crate) struct Stood {
    pub(super) tenant: u32,
    pub(crate) claim: ClaimKey,
    pub(crate) row: BeliefRow,
    pub(super) at: RecordedAt,
}

/// A belief that was looked at.
#[derive(Debug)]
pub(crate) struct BeliefSeen {
    /// Where it stands.
    pub(crate) stood: Stood,
    /// What it shows, but for the interval.
    pub(crate) shown: Glance,
    words: record::Words,
}

impl BeliefSeen {
    /// What it says, in words.
    pub(crate) fn said(&self) -> String {
        let record::Words { subject, predicate, object, .. } = &self.words;
        held_words(subject, predicate, object)
    }
}

impl Engine {
    /// One page of beliefs.
    pub async fn beliefs(
        &self,
        permit: ReadPermit,
        query: BeliefsQuery,
    ) -> Result<BeliefsPage, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.beliefs(&permit, &query)).await
    }

    /// The scope of a belief, to ask the policy for a permit. Also of one that is gone.
    pub async fn belief_home(&self, tenant: u32, id: BeliefId) -> Result<Option<ScopePath>, Error> {
        self.inner.caught_up().await;
        match self.inner.belief_found(tenant, id)?.ok_or(Error::NotFound)? {
            Found::Stands(claim) | Found::Past(claim, _)
                if self.inner.is_veiled(tenant, claim.scope) =>
            {
                Ok(None)
            }
            Found::Stands(claim) | Found::Past(claim, _) => {
                self.inner.scope_path(tenant, claim.scope).map(Some)
            }
            Found::Gone(_) => Ok(None),
        }
    }

    /// One belief, with this knowledge.
    pub async fn belief(
        &self,
        permit: ReadPermit,
        id: BeliefId,
        at: RecordedAt,
    ) -> Result<BeliefRecord, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| {
            let stood = inner.belief_of(&permit, id, at)?;
            inner.belief_record(&stood)
        })
        .await
    }
}

impl Engine {
    /// A belief that the holder of the permit has just declared.
    pub async fn belief_declared(
        &self,
        permit: &Permit<ScopeWrite>,
        id: BeliefId,
    ) -> Result<BeliefRecord, Error> {
        let tenant = permit.caller().tenant;
        let scope = self.belief_home(tenant, id).await?.ok_or(Error::Deleted)?;
        if !permit.covers(&scope) {
            return Err(Error::OutsidePermit);
        }
        let at = RecordedAt(self.now());
        self.blocking(move |inner| {
            let stood = inner.belief_stood(tenant, id, at)?;
            inner.belief_record(&stood)
        })
        .await
    }
}

impl Inner {
    pub(super) fn beliefs(
        &self,
        permit: &ReadPermit,
        query: &BeliefsQuery,
    ) -> Result<BeliefsPage, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &query.scope)?;
        let mut found: BTreeSet<(FactKey, ClaimKey)> = BTreeSet::new();
        let mut looked_at = 0;
        for (scope, (from, to)) in self.belief_lists(tenant, &scopes, query)? {
            let to = query.after.map_or(to.clone(), |after| key::before(&from, after).min(to));
            let mut kept = 0;
            let bounds = (from.as_slice(), to.as_slice());
            walk(&self.views, Space::Records, bounds, Direction::Backward, &mut |key, value| {
                looked_at += 1;
                if let (Some(at), Some(claim)) = (key::fact_key(key), claim_of(scope, value)) {
                    found.insert((at, claim));
                    kept += 1;
                }
                if kept >= ROWS_LOOKED_AT_MAX || looked_at >= ROWS_LOOKED_AT_MAX {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
        }
        let predicate = self.predicate_tag(tenant, query.predicate.as_deref())?;
        let (mut items, mut damaged) = (Vec::new(), Vec::new());
        let mut last = None;
        for (at, claim) in found.into_iter().rev() {
            let id = BeliefId::from_bytes(at.id);
            let Some(row) = self.belief_at(tenant, &claim, id, query.recorded)? else { continue };
            if predicate.is_some_and(|predicate| predicate != row.about.predicate)
                || !in_time(&row, query)
            {
                continue;
            }
            let stood = Stood { tenant, claim, row, at: query.recorded };
            let shown = self.belief_shown(&stood)?;
            let hidden = match shown.hidden {
                Some(Hidden::Deprecated) => !query.deprecated,
                Some(Hidden::Deleted | Hidden::Faded) => true,
                None => false,
            };
            let leans = query.stance.is_none_or(|stance| stance == shown.stance);
            if hidden || !leans || shown.confidence < query.min_confidence {
                continue;
            }
            if items.len() + damaged.len() == query.limit {
                return Ok(BeliefsPage { items, damaged, next: last });
            }
            match self.belief_record(&stood) {
                Ok(record) => items.push(record),
                // Its words are being erased right now.
                Err(Error::Deleted) => continue,
                Err(error) if error.is_damage() => damaged.push(id),
                Err(error) => return Err(error),
            }
            last = Some(at);
        }
        Ok(BeliefsPage { items, damaged, next: None })
    }

    /// The lists that a question reads, with their scopes.
    fn belief_lists(
        &self,
        tenant: u32,
        scopes: &[u64],
        query: &BeliefsQuery,
    ) -> Result<Vec<(u64, Bounds)>, Error> {
        let mut lists = Vec::new();
        for scope in scopes {
            let Some(about) = query.about.as_deref() else {
                lists.push((*scope, belief_key::all_listed(tenant, *scope)));
                continue;
            };
            let called = self.entities_asked(tenant, scopes, about, query.recorded)?;
            let mut subjects: BTreeSet<[u8; 16]> =
                called.iter().map(|entity| *entity.as_bytes()).collect();
            subjects.insert(self.derived_tag(
                tenant,
                crate::derive::beliefs::declared::SUBJECT,
                &crate::derive::beliefs::declared::folded(about),
            )?);
            for subject in subjects {
                lists.push((*scope, belief_key::all_about(tenant, *scope, &subject)));
            }
        }
        Ok(lists)
    }

    pub(super) fn belief_found(&self, tenant: u32, id: BeliefId) -> Result<Option<Found>, Error> {
        Ok(row(&self.views, Space::Records, &belief_key::belief(tenant, id), Found::decode)?)
    }

    /// A belief by its id, as it stood at a time.
    pub(super) fn belief_of(
        &self,
        permit: &ReadPermit,
        id: BeliefId,
        at: RecordedAt,
    ) -> Result<Stood, Error> {
        let stood = self.belief_stood(permit.caller().tenant, id, at)?;
        if !permit.covers(&self.scope_path(stood.tenant, stood.claim.scope)?) {
            return Err(Error::OutsidePermit);
        }
        Ok(stood)
    }

    /// A belief as it stood at a time, if it did: what it shows, and its words.
    pub(crate) fn belief_seen(
        &self,
        tenant: u32,
        id: BeliefId,
        at: RecordedAt,
    ) -> Result<Option<BeliefSeen>, Error> {
        let seen = self.belief_stood(tenant, id, at).and_then(|stood| {
            let shown = self.belief_glanced(&stood)?;
            let words = self.belief_words(&stood)?;
            // Nobody can ask for what has no words.
            if words.redacted {
                return Err(Error::Deleted);
            }
            Ok(BeliefSeen { stood, shown, words })
        });
        if_there(seen)
    }

    /// The events that a belief stood on as far as was known at a time; none if it was not held then.
    pub(crate) fn belief_events(
        &self,
        tenant: u32,
        id: BeliefId,
        at: RecordedAt,
    ) -> Result<Vec<EventId>, Error> {
        let Some(stood) = if_there(self.belief_stood(tenant, id, at))? else {
            return Ok(Vec::new());
        };
        let pieces = self.pieces_of(&stood)?;
        Ok(pieces.into_iter().filter_map(|(_, piece)| piece.event).collect())
    }

    /// All of it.
    pub(crate) fn belief_whole(&self, seen: BeliefSeen) -> Result<Option<BeliefRecord>, Error> {
        let BeliefSeen { stood, words, .. } = seen;
        let whole = |shown| self.belief_seen_whole(&stood, shown, words);
        if_there(self.belief_shown(&stood).and_then(whole))
    }

    fn belief_stood(&self, tenant: u32, id: BeliefId, at: RecordedAt) -> Result<Stood, Error> {
        let claim = match self.belief_found(tenant, id)?.ok_or(Error::NotFound)? {
            Found::Stands(claim) | Found::Past(claim, _) => claim,
            Found::Gone(_) => return Err(Error::Deleted),
        };
        if self.is_veiled(tenant, claim.scope) {
            return Err(Error::Deleted);
        }
        match self.belief_at(tenant, &claim, id, at)? {
            Some(row) if matches!(row.held.state.standing, Standing::Deleted { .. }) => {
                Err(Error::Deleted)
            }
            Some(row) => Ok(Stood { tenant, claim, row, at }),
            None => Err(Error::NotFound),
        }
    }

    /// The belief that an entry declared.
    pub(crate) fn declared_by(&self, tenant: u32, offset: u64) -> Result<BeliefId, Error> {
        let made = belief_key::made(tenant, offset);
        let made = row(&self.views, Space::Sources, &made, MadeRow::decode)?;
        let claim = made.and_then(|made| made.claims.first().copied()).ok_or(Error::Deleted)?;
        let source = AssertionId { offset, ordinal: 0 };
        let piece = belief_key::piece(tenant, &claim, source);
        let piece = row(&self.views, Space::Sources, &piece, PieceRow::decode)?;
        Ok(piece.ok_or(Error::Deleted)?.belief)
    }

    pub(super) fn claim_row(
        &self,
        tenant: u32,
        claim: &ClaimKey,
    ) -> Result<Option<BeliefRow>, Error> {
        let key = belief_key::claim(tenant, claim);
        Ok(row(&self.views, Space::Sources, &key, BeliefRow::decode)?)
    }

    /// A belief as it stood at a time; `None` if it was not there yet.
    pub(super) fn belief_at(
        &self,
        tenant: u32,
        claim: &ClaimKey,
        id: BeliefId,
        at: RecordedAt,
    ) -> Result<Option<BeliefRow>, Error> {
        let current = self.claim_row(tenant, claim)?.filter(|row| row.id == id);
        let mut row = match (current, self.belief_found(tenant, id)?) {
            (Some(row), _) => row,
            (None, Some(Found::Past(_, row))) => *row,
            (None, _) => return Ok(None),
        };
        if row.since > at {
            return Ok(None);
        }
        if changed(&row) <= at {
            row.held.fire(&Settings::default(), at);
            return Ok(Some(row));
        }
        let (pieces, lives) = self.lives(tenant, claim, at)?;
        let life = lives.into_iter().find(|life| begun_as(&pieces, life) == Some(id));
        Ok(life.map(|life| {
            let first = pieces.get(life.from).map_or(row.first, |(source, _)| *source);
            BeliefRow { first, held: life.held, ..row }
        }))
    }

    /// The belief in a claim that stood at a time: the present one, or one that it came after. There may be none at
    /// present, because all that was said is about somebody else by now.
    pub(super) fn belief_then(
        &self,
        tenant: u32,
        claim: &ClaimKey,
        at: RecordedAt,
    ) -> Result<Option<BeliefRow>, Error> {
        let current = self.claim_row(tenant, claim)?;
        if let Some(current) = current.filter(|row| row.since <= at) {
            return self.belief_at(tenant, claim, current.id, at);
        }
        let (pieces, lives) = self.lives(tenant, claim, at)?;
        match lives.last().and_then(|life| begun_as(&pieces, life)) {
            Some(id) => self.belief_at(tenant, claim, id, at),
            None => Ok(None),
        }
    }

    /// What was said about a claim by some time, and the beliefs it made.
    pub(super) fn lives(
        &self,
        tenant: u32,
        claim: &ClaimKey,
        at: RecordedAt,
    ) -> Result<(Pieces, Vec<Life>), Error> {
        let mut pieces = self.said_about(tenant, claim)?;
        pieces.retain(|(_, row)| row.counts(at));
        let said: Vec<Piece> = pieces.iter().map(|(_, row)| row.piece.clone()).collect();
        let lives = ledger::replay(&Settings::default(), &said, at);
        Ok((pieces, lives))
    }

    /// Everything that was said about a claim, in the order of the log.
    pub(crate) fn said_about(&self, tenant: u32, claim: &ClaimKey) -> Result<Pieces, Error> {
        let (from, to) = belief_key::pieces(tenant, claim);
        let mut found: Vec<Result<(AssertionId, PieceRow), CodecError>> = Vec::new();
        walk(&self.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
            found.push(match key::tail_source(key) {
                Some(source) => PieceRow::decode(value).map(|row| (source, row)),
                None => Err(CodecError::Truncated),
            });
            ControlFlow::Continue(())
        })?;
        let pieces = found.into_iter().collect::<Result<_, _>>();
        Ok(pieces.map_err(crate::derive::row_error(Space::Sources))?)
    }
}

/// Nothing instead of an error, if it is gone.
fn if_there<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::Deleted | Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The id of the belief that a life is.
pub(super) fn begun_as(pieces: &[(AssertionId, PieceRow)], life: &Life) -> Option<BeliefId> {
    pieces.get(life.from).map(|(_, row)| row.belief)
}

/// When a belief was last anything else than it is.
fn changed(row: &BeliefRow) -> RecordedAt {
    let Held { state, .. } = &row.held;
    let ended = match state.standing {
        Standing::Held => state.created,
        Standing::Deprecated { at, .. } | Standing::Deleted { at, .. } => at,
    };
    row.touched.max(state.last_revised).max(ended)
}

/// Whether a belief is of the times that are asked about.
fn in_time(row: &BeliefRow, query: &BeliefsQuery) -> bool {
    let (from, to) = (row.held.state.valid_from, row.held.valid_to);
    let holds = |at: ValidAt| from <= at && to.is_none_or(|to| at < to);
    let meets = |(start, end): (ValidAt, ValidAt)| from < end && to.is_none_or(|to| start < to);
    let known_to = match row.held.state.standing {
        Standing::Held => None,
        Standing::Deprecated { at, .. } | Standing::Deleted { at, .. } => Some(at),
    };
    let known = |(start, end): (RecordedAt, RecordedAt)| {
        row.held.state.created < end && known_to.is_none_or(|to| start < to)
    };
    query.valid.is_none_or(holds)
        && query.valid_during.is_none_or(meets)
        && query.recorded_during.is_none_or(known)
        && query.lapsed_by.is_none_or(|by| to.is_none_or(|to| by < to))
}

/// The claim that a row of a list points at.
pub(super) fn claim_of(scope: u64, value: &[u8]) -> Option<ClaimKey> {
    let (said, value) = value.split_first_chunk::<16>()?;
    Some(ClaimKey { scope, said: *said, value: value.try_into().ok()? })
}

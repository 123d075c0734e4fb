//! A belief with its words, what it stands on and what it is in tension with.

use std::collections::hash_map::Entry as Slot;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::derive::beliefs::calibration::{Calibration, SAMPLES_MAX, Sample, calibrate};
use lamina_core::derive::beliefs::ledger::{Life, Piece};
use lamina_core::derive::beliefs::tension::{ResolutionPolicy, Side, tension};
use lamina_core::derive::beliefs::{
    Glance, Polarity, Settings, Shown, Standing, State, glance, read,
};
use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::CodecError;
use lamina_store::codec::control::{BeliefDeclared, By, NamedSupport};
use lamina_store::entry::{Entry, SectionState};
use lamina_store::kv::{Direction, Space};
use lamina_types::layer::{Claim, Object};
use lamina_types::{ActorId, EntityId, EventId, FactId, Micros, RecordedAt, ValidAt};

use super::{
    BeliefRecord, BeliefSubject, BeliefSupport, Contradiction, Ground, Pieces, Stood, begun_as,
};
use crate::Error;
use crate::admin::said;
use crate::derive::beliefs::rows::PieceRow;
use crate::derive::beliefs::sample;
use crate::derive::key;
use crate::derive::key::beliefs::{self as belief_key, ClaimKey};
use crate::derive::read::walk;
use crate::derive::rows::FactRow;
use crate::engine::Inner;
use crate::read::facts::{Answers, REDACTED};

/// Pieces that are looked at to name what a belief stands on.
const PIECES_LOOKED_AT_MAX: usize = 1_000;
/// Supports that a belief names.
const SUPPORTS_MAX: usize = 100;
/// Rivals that are compared with a belief.
const RIVALS_COMPARED_MAX: usize = 16;
/// The same at an instant of the past, when it is not known any more which were the latest.
const RIVALS_PAST_MAX: usize = 64;
/// One full piece of evidence.
const UNIT: f64 = 10_000.0;

/// Facts that beliefs stand on, looked up once each.
#[derive(Debug, Default)]
pub(super) struct Grounds(HashMap<FactId, Option<Stretch>>);

/// Where a fact is, and what it stands on itself.
#[derive(Debug)]
struct Stretch {
    scope: u64,
    recorded: RecordedAt,
    /// Since when it is so.
    from: Option<ValidAt>,
    /// In order. Nothing, if it only says that something ended, or was never known: nobody is shown it.
    sources: Vec<AssertionId>,
}

impl Stretch {
    fn of(fact: &FactRow) -> Stretch {
        let ended = matches!(fact.piece.content, lamina_core::derive::facts::Content::Ended(_));
        let shown = !ended && fact.piece.was_known() && fact.piece.is_said();
        let supports = fact.piece.supports.iter().filter(|_| shown);
        let mut sources: Vec<AssertionId> = supports.map(|support| support.source).collect();
        // They mostly are.
        sources.sort_unstable();
        let (recorded, from) = (fact.piece.recorded_from, fact.piece.from());
        Stretch { scope: fact.scope, recorded, from, sources }
    }
}

/// What a belief stands on, and when the last of it became known: from then on nothing of it changes with time.
#[derive(Debug)]
struct Supports {
    supports: Vec<BeliefSupport>,
    since: RecordedAt,
}

/// What a belief says.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) subject: BeliefSubject,
    pub(super) predicate: String,
    pub(super) object: Object,
    /// An erasure took them all.
    pub(super) redacted: bool,
}

impl Inner {
    /// What a belief shows. Supports that a declaration names count as redacted when they are gone.
    pub(super) fn belief_shown(&self, stood: &Stood) -> Result<Shown, Error> {
        let settings = stood.row.held.settings(&Settings::default());
        Ok(read(&self.belief_state(stood)?, &settings, stood.at))
    }

    /// The same but for its interval.
    pub(super) fn belief_glanced(&self, stood: &Stood) -> Result<Glance, Error> {
        let settings = stood.row.held.settings(&Settings::default());
        Ok(glance(&self.belief_state(stood)?, &settings, stood.at))
    }

    fn belief_state(&self, stood: &Stood) -> Result<State, Error> {
        let held = &stood.row.held;
        let mut state = held.state.clone();
        if let Some(declared) = self.declaration(stood)? {
            let there = self.named_supports(stood.tenant, &declared)?.len();
            let gone = declared.supports.len() - there;
            let gone = u32::try_from(gone).unwrap_or(u32::MAX);
            state.redacted_count = state.redacted_count.saturating_add(gone);
        }
        Ok(state)
    }

    /// The record of a belief.
    pub(super) fn belief_record(&self, stood: &Stood) -> Result<BeliefRecord, Error> {
        let (shown, words) = (self.belief_shown(stood)?, self.belief_words(stood)?);
        self.belief_seen_whole(stood, shown, words)
    }

    /// The same for somebody who has looked at what it shows and says.
    pub(super) fn belief_seen_whole(
        &self,
        stood: &Stood,
        shown: Shown,
        words: Words,
    ) -> Result<BeliefRecord, Error> {
        let Stood { tenant, claim, row, at } = stood;
        let Words { subject, predicate, object, redacted: _ } = words;
        let object_entity = match &object {
            Object::Entity(term) => self.entity_of_term(*tenant, claim.scope, term, *at)?,
            _ => None,
        };
        let state = &row.held.state;
        let calibration = self.calibration(*tenant, claim.scope, *at)?;
        Ok(BeliefRecord {
            id: row.id,
            scope: self.scope_path(*tenant, claim.scope)?,
            subject,
            predicate,
            object,
            object_entity,
            declared: row.declared,
            declared_by: self.declarer(stood)?,
            supports: self.belief_supports(stood)?,
            contradicts: self.contradictions(stood, shown.mean)?,
            shown,
            calibration_stale: calibration.is_some_and(|calibration| calibration.is_stale(*at)),
            calibration,
            valid_from: state.valid_from,
            valid_to: row.held.valid_to,
            recorded_from: state.created,
            recorded_to: match state.standing {
                Standing::Held => None,
                Standing::Deprecated { at, .. } | Standing::Deleted { at, .. } => Some(at),
            },
            last_revised: state.last_revised,
            revision_count: state.revision_count,
            settings: row.held.settings(&Settings::default()),
        })
    }

    /// The words of a belief: of the first thing that was said for it.
    pub(super) fn belief_words(&self, stood: &Stood) -> Result<Words, Error> {
        let about = &stood.row.about;
        let entity = EntityId::from_bytes(about.subject);
        if let Some(declared) = self.declaration(stood)? {
            let BeliefDeclared { statement, subject_name, predicate, .. } = declared;
            let subject = match (about.is_entity, subject_name) {
                (true, Some(name)) => BeliefSubject::Entity { id: entity, name: named(name) },
                (_, Some(name)) => BeliefSubject::Named(name),
                (_, None) => BeliefSubject::Scope,
            };
            let object = Object::Text(statement);
            return Ok(Words { subject, predicate, object, redacted: false });
        }
        let mut answers = Answers::new();
        if let Some(told) = self.told(stood.tenant, stood.row.first, &mut answers)? {
            return Ok(words_of(entity, told.claim));
        }
        // The words of the first are gone: others may have said the same.
        let mut is_redacted = false;
        for (source, piece) in self.pieces_of(stood)? {
            let Piece::Said(said) = &piece.piece else { continue };
            is_redacted |= piece.redacted.is_some();
            if said.evidence.polarity == Polarity::Supports
                && said.names
                && let Some(told) = self.told(stood.tenant, source, &mut answers)?
            {
                return Ok(words_of(entity, told.claim));
            }
        }
        if !is_redacted {
            return Err(Error::Deleted);
        }
        let subject = BeliefSubject::Entity { id: entity, name: named(REDACTED.to_owned()) };
        let object = Object::Text(REDACTED.to_owned());
        Ok(Words { subject, predicate: REDACTED.to_owned(), object, redacted: true })
    }

    /// The author of a declaration, unless that is erased.
    fn declarer(&self, stood: &Stood) -> Result<Option<ActorId>, Error> {
        if !stood.row.declared {
            return Ok(None);
        }
        let entry = self.declaration_entry(stood)?;
        let SectionState::Live(bytes) = &entry.who else { return Ok(None) };
        let by = By::decode(bytes);
        by.map(|by| Some(by.caller)).map_err(|_| Error::Undecodable { what: "a declared belief" })
    }

    /// The entry of a declared belief.
    fn declaration_entry(&self, stood: &Stood) -> Result<Entry, Error> {
        let key = belief_key::piece(stood.tenant, &stood.claim, stood.row.first);
        let piece = crate::derive::read::row(&self.views, Space::Sources, &key, PieceRow::decode)?;
        let piece = piece.ok_or(Error::Deleted)?;
        Ok(self.reader.entry(stood.row.first.offset, piece.place)?)
    }

    /// What the author of a belief said, if it was declared.
    pub(super) fn declaration(&self, stood: &Stood) -> Result<Option<BeliefDeclared>, Error> {
        if !stood.row.declared {
            return Ok(None);
        }
        let entry = self.declaration_entry(stood)?;
        let SectionState::Live(bytes) = &entry.what else { return Err(Error::Deleted) };
        let declared = BeliefDeclared::decode(bytes);
        declared.map(Some).map_err(|_| Error::Undecodable { what: "a declared belief" })
    }

    /// The supports of a declaration that are there.
    pub(super) fn named_supports(
        &self,
        tenant: u32,
        declared: &BeliefDeclared,
    ) -> Result<Vec<Ground>, Error> {
        let mut there = Vec::new();
        for support in &declared.supports {
            match support {
                NamedSupport::Event(id) => {
                    let event = self.event_seen(tenant, *id)?;
                    there.extend(
                        event.filter(|row| row.listed().is_some()).map(|_| Ground::Event(*id)),
                    );
                }
                NamedSupport::Fact(id) => {
                    there.extend(self.fact_row(tenant, *id)?.map(|_| Ground::Fact(*id)));
                }
            }
        }
        Ok(there)
    }

    /// What a belief stands on: one line per record and side, the heaviest first.
    pub(super) fn belief_supports(&self, stood: &Stood) -> Result<Vec<BeliefSupport>, Error> {
        if stood.row.declared {
            return self.supports_at(stood, stood.at).map(|known| known.supports);
        }
        let known = self.supports_now(stood)?;
        if known.since <= stood.at {
            return Ok(known.supports.clone());
        }
        self.supports_at(stood, stood.at).map(|known| known.supports)
    }

    /// What a belief stands on with all that is known: mostly from before, if nothing of it has changed.
    fn supports_now(&self, stood: &Stood) -> Result<Arc<Supports>, Error> {
        let belief = belief_key::belief(stood.tenant, stood.row.id);
        let name = [b"supports ".as_slice(), &belief].concat();
        let bytes = |known: &Supports| size_of::<BeliefSupport>() * known.supports.len();
        let always = RecordedAt(Micros::MAX);
        self.views.made_again(&name, bytes, || self.supports_at(stood, always))
    }

    fn supports_at(&self, stood: &Stood, at: RecordedAt) -> Result<Supports, Error> {
        let mut weights: BTreeMap<(Ground, Polarity), f64> = BTreeMap::new();
        if let Some(declared) = self.declaration(stood)? {
            let there = self.named_supports(stood.tenant, &declared)?;
            weights.extend(there.into_iter().map(|id| ((id, Polarity::Supports), 0.0)));
        }
        let mut grounds = Grounds::default();
        let (pieces, mut since) = self.pieces_at(stood, at)?;
        for (source, piece) in pieces {
            let (Piece::Said(said), Some(event)) = (&piece.piece, piece.event) else { continue };
            let (ground, learned) = self.ground(stood, at, (source, event), &mut grounds)?;
            since = since.max(learned);
            let weight = f64::from(piece.weight) / UNIT;
            *weights.entry((ground, said.evidence.polarity)).or_default() += weight;
        }
        let mut supports: Vec<BeliefSupport> = weights
            .into_iter()
            .map(|((id, polarity), weight)| BeliefSupport { id, weight, polarity })
            .collect();
        supports.sort_by(|one, other| {
            let ids = (one.id, one.polarity).cmp(&(other.id, other.polarity));
            other.weight.total_cmp(&one.weight).then(ids)
        });
        supports.truncate(SUPPORTS_MAX);
        Ok(Supports { supports, since })
    }

    /// The first pieces that a belief took, as far as they were known.
    pub(super) fn pieces_of(&self, stood: &Stood) -> Result<Pieces, Error> {
        self.pieces_at(stood, stood.at).map(|(pieces, _)| pieces)
    }

    /// The same at some instant; and when the last thing became known that was looked at.
    fn pieces_at(&self, stood: &Stood, at: RecordedAt) -> Result<(Pieces, RecordedAt), Error> {
        let (from, to) = belief_key::pieces(stood.tenant, &stood.claim);
        let mut pieces: Result<Vec<_>, CodecError> = Ok(Vec::new());
        let mut since = RecordedAt(Micros::MIN);
        let mut counted_otherwise = false;
        walk(
            &self.views,
            Space::Sources,
            (&from, &to),
            Direction::Forward,
            &mut |found, value| {
                let read = PieceRow::decode(value);
                let taken = match (&mut pieces, key::tail_source(found), read) {
                    (Ok(taken), Some(source), Ok(piece)) => {
                        let recorded = piece.piece.recorded();
                        since = since.max(recorded).max(piece.gone.unwrap_or(recorded));
                        let known = recorded <= at;
                        counted_otherwise |= piece.gone.is_some() && piece.counts(at);
                        if piece.counts(at) && piece.belief == stood.row.id {
                            taken.push((source, piece));
                        }
                        known && taken.len() < PIECES_LOOKED_AT_MAX
                    }
                    (_, _, read) => {
                        pieces = Err(read.err().unwrap_or(CodecError::Truncated));
                        false
                    }
                };
                if taken { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        )?;
        let mut pieces = pieces.map_err(crate::derive::row_error(Space::Sources))?;
        if counted_otherwise {
            pieces = self.pieces_then(stood, at)?;
        }
        Ok((pieces, since))
    }

    /// The same where something counted that does not any more: what else a voice said weighed less then.
    fn pieces_then(&self, stood: &Stood, at: RecordedAt) -> Result<Pieces, Error> {
        let (pieces, lives) = self.lives(stood.tenant, &stood.claim, at)?;
        let is_it = |life: &Life| begun_as(&pieces, life) == Some(stood.row.id);
        let took = lives.into_iter().find(is_it).map(|life| life.took).unwrap_or_default();
        let weighed = |(place, weight): (usize, u64)| {
            let (source, piece) = pieces.get(place)?.clone();
            let weight = u16::try_from(weight).unwrap_or(u16::MAX);
            Some((source, PieceRow { weight, ..piece }))
        };
        Ok(took.into_iter().filter_map(weighed).take(PIECES_LOOKED_AT_MAX).collect())
    }

    /// The fact that says what a piece says, or else its event; and when the last of the facts that were looked at was
    /// learned.
    pub(super) fn ground(
        &self,
        stood: &Stood,
        at: RecordedAt,
        (source, event): (AssertionId, EventId),
        grounds: &mut Grounds,
    ) -> Result<(Ground, RecordedAt), Error> {
        let (from, to) = key::all_of_event(stood.tenant, event);
        let mut ids = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |found, _| {
            if key::layer_of(found) == Some(key::Layer::Fact) {
                ids.extend(key::tail_id(found).map(FactId::from_bytes));
            }
            ControlFlow::Continue(())
        })?;
        let mut best: Option<(RecordedAt, Option<ValidAt>, FactId)> = None;
        let mut since = RecordedAt(Micros::MIN);
        for id in ids {
            let known = match grounds.0.entry(id) {
                Slot::Occupied(known) => known.into_mut(),
                Slot::Vacant(slot) => {
                    slot.insert(self.fact_row(stood.tenant, id)?.map(|fact| Stretch::of(&fact)))
                }
            };
            let Some(fact) = known else { continue };
            since = since.max(fact.recorded);
            if fact.scope == stood.claim.scope
                && fact.sources.binary_search(&source).is_ok()
                && fact.recorded <= at
            {
                best = best.max(Some((fact.recorded, fact.from, id)));
            }
        }
        Ok((best.map_or(Ground::Event(event), |(.., id)| Ground::Fact(id)), since))
    }

    /// The beliefs in other values that cannot be true beside this one.
    fn contradictions(&self, stood: &Stood, mean: f64) -> Result<Vec<Contradiction>, Error> {
        if !stood.row.about.is_single || !stood.row.held.is_held() {
            return Ok(Vec::new());
        }
        let Stood { tenant, claim, row, at } = stood;
        let rivals = self.rivals(*tenant, claim, *at)?;
        let policy = self.resolution_policy(*tenant, claim.scope)?;
        let mine = Side { belief: row.id, mean, last_evidence: row.held.state.last_evidence };
        let mut found = Vec::new();
        for rival in rivals {
            let Some(other) = self.belief_then(*tenant, &rival, *at)? else { continue };
            if !other.held.is_held() {
                continue;
            }
            let last_evidence = other.held.state.last_evidence;
            let stood = Stood { tenant: *tenant, claim: rival, row: other, at: *at };
            let mean = self.belief_glanced(&stood)?.mean;
            let side = Side { belief: stood.row.id, mean, last_evidence };
            let between = tension(mine, side, policy);
            if between.tension > 0.0 {
                let (tension, resolution) = (between.tension, between.resolution.as_str());
                found.push(Contradiction { belief: stood.row.id, tension, resolution });
            }
        }
        found.sort_by(|one, other| {
            other.tension.total_cmp(&one.tension).then(one.belief.cmp(&other.belief))
        });
        Ok(found)
    }

    /// The claims that cannot be true beside one, as far as something may have been believed of them at an instant.
    fn rivals(
        &self,
        tenant: u32,
        claim: &ClaimKey,
        at: RecordedAt,
    ) -> Result<Vec<ClaimKey>, Error> {
        let ClaimKey { scope, said, .. } = claim;
        // What was supported then may have no support by now, or nothing may be believed of it any more.
        let is_past = self.views.applied().is_some_and(|tip| at < tip.recorded_at);
        let (lists, most) = match is_past {
            true => {
                let left = belief_key::all_heirs(tenant, *scope, said);
                (vec![belief_key::all_claims(tenant, *scope, said), left], RIVALS_PAST_MAX)
            }
            false => (vec![belief_key::all_recent(tenant, *scope, said)], RIVALS_COMPARED_MAX),
        };
        let mut rivals = Vec::new();
        for (from, to) in lists {
            let bounds = (from.as_slice(), to.as_slice());
            walk(&self.views, Space::Sources, bounds, Direction::Backward, &mut |found, _| {
                if let Some(value) = key::tail_id(found).filter(|value| *value != claim.value) {
                    rivals.push(ClaimKey { value, ..*claim });
                }
                match rivals.len() < most {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
        }
        Ok(rivals)
    }

    /// What the scope asks to be done with beliefs that exclude each other.
    fn resolution_policy(&self, tenant: u32, scope: u64) -> Result<ResolutionPolicy, Error> {
        let policies = self.scope_policies_of(tenant, scope)?;
        Ok(said::resolution(&policies).unwrap_or_default())
    }

    /// How well the confidences of a scope came true, as far as feedback says.
    fn calibration(
        &self,
        tenant: u32,
        scope: u64,
        at: RecordedAt,
    ) -> Result<Option<Calibration>, Error> {
        let (from, to) = belief_key::samples(tenant, scope);
        let mut samples: Vec<Sample> = Vec::new();
        walk(
            &self.views,
            Space::Sources,
            (&from, &to),
            Direction::Backward,
            &mut |found, value| {
                if let (Some(recorded), Some((predicted, came_true))) =
                    (belief_key::sampled_at(found), sample(value))
                    && recorded <= at
                {
                    samples.push(Sample { predicted, came_true, at: recorded });
                }
                if samples.len() < SAMPLES_MAX {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            },
        )?;
        // As of the last of them: one that is too old says so instead of vanishing.
        let last = samples.iter().map(|sample| sample.at).max();
        Ok(last.and_then(|last| calibrate(&samples, last)))
    }
}

fn words_of(id: EntityId, claim: Claim) -> Words {
    let Claim { subject, predicate, object, .. } = claim;
    let subject = BeliefSubject::Entity { id, name: subject };
    Words { subject, predicate, object, redacted: false }
}

fn named(name: String) -> lamina_types::layer::Term {
    lamina_types::layer::Term::Named { name, kind: lamina_types::layer::EntityKind::Thing }
}

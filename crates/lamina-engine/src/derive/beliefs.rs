//! Beliefs: what answers claim is evidence, for the value that is claimed and against those that it
//! excludes.
//!
//! A claim of one event is one piece of evidence for the belief in its value. Where only one value can
//! be true, it speaks against the beliefs in the values said last. A denial or an ending speaks against
//! its own value. What an event said is taken back by taking the rest again (`claims`).

pub(crate) mod rows;
pub(crate) mod claims;
mod again;
pub(super) mod decided;
pub(crate) mod declared;
pub(super) mod moved;
pub(super) mod renamed;

use std::collections::BTreeSet;

use lamina_core::derive::beliefs::ledger::{Piece, Said};
use lamina_core::derive::beliefs::{Evidence, Polarity, SupportId, Witness, trust};
use lamina_core::derive::facts::{
    AssertionId, Content, Piece as FactPiece, Saying, Value, ValueKey,
};
use lamina_store::entry::Place;
use lamina_store::kv::Space;
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::layer::{Cardinality, Claim, Confidence, Normaliser};
use lamina_types::{EntityId, EpisodeId, RecordedAt, ValidAt};

use self::again::{Going, without};
use self::claims::{At, Effect, belief_row, mint, rivals};
use self::rows::{About, Found, MadeRow, PieceRow};
use crate::derive::entities::Names;
use crate::derive::episodes::episode_of;
use crate::derive::facts::{self, Keyed};
use crate::derive::fold::{Given, row_error};
use crate::derive::key::beliefs::{self as key, ClaimKey};
use crate::derive::suppress;
use crate::derive::words::hash;

pub(super) use claims::fire;
pub(super) use declared::declared;

/// Other values that one claim speaks against: those that were said last.
pub(crate) const RIVALS_MAX: usize = 4;
/// Values that an ending without a value speaks against.
const ENDED_MAX: usize = 64;
/// The place of a judgement among the claims of its answer.
const JUDGEMENT: u16 = u16::MAX;

/// An answer, as beliefs see it.
struct Heard<'a, 'g> {
    given: &'a Given<'g>,
    actor: Tag,
    episode: Option<EpisodeId>,
    made: MadeRow,
}

/// Takes what an answer claims as evidence, in every scope that learns of it.
pub(super) fn learn(
    rows: &mut Rows<'_, '_>,
    given: &Given<'_>,
    names: &Names,
) -> Result<(), ViewError> {
    let answer = given.answer;
    let actor = given.words.actor(&hash(rows, given.tenant), &given.who.observed_actor)?;
    let episode = episode_of(rows, given.tenant, given.row.event)?;
    let mut heard = Heard { given, actor, episode, made: MadeRow::default() };
    if answer.asked.feedback {
        judge(rows, &mut heard)?;
    } else if !answer.asked.no_beliefs {
        for (position, claim) in answer.extraction.claims.iter().enumerate() {
            let Ok(ordinal) = u16::try_from(position) else { break };
            if !answer.is_believed(ordinal) {
                continue;
            }
            let Some(keyed) = facts::keyed(rows, given, claim, names)? else { continue };
            for scope in given.scopes.clone() {
                hear(rows, &mut heard, scope, (ordinal, claim), &keyed)?;
            }
        }
    }
    if !heard.made.claims.is_empty() {
        heard.made.terms = termed(rows, given)?;
        for (vocabulary, predicate) in &heard.made.terms {
            let row = key::termed(given.tenant, vocabulary, predicate, given.offset);
            rows.put(Space::Sources, row, Vec::new());
        }
    }
    if heard.made != MadeRow::default() {
        rows.put(Space::Sources, key::made(given.tenant, given.offset), heard.made.encode());
    }
    Ok(())
}

/// The terms of vocabularies that an answer says something under.
fn termed(rows: &Rows<'_, '_>, given: &Given<'_>) -> Result<BTreeSet<(Tag, Tag)>, ViewError> {
    let hash = hash(rows, given.tenant);
    let mut terms = BTreeSet::new();
    for mapped in &given.answer.mapped {
        let claim = given.answer.extraction.claims.get(usize::from(mapped.claim));
        let Some(claim) = claim.filter(|_| given.answer.is_believed(mapped.claim)) else {
            continue;
        };
        let vocabulary = given.words.vocabulary(&hash, &mapped.vocabulary)?;
        terms.insert((vocabulary, given.words.predicate(&hash, &claim.predicate)?));
    }
    Ok(terms)
}

/// What an entry came to is not so any more.
fn forget_made(rows: &mut Rows<'_, '_>, tenant: u32, offset: u64, made: &MadeRow) {
    for (vocabulary, predicate) in &made.terms {
        rows.delete(Space::Sources, key::termed(tenant, vocabulary, predicate, offset));
    }
    rows.delete(Space::Sources, key::made(tenant, offset));
}

/// One claim in one scope.
fn hear(
    rows: &mut Rows<'_, '_>,
    heard: &mut Heard<'_, '_>,
    scope: u64,
    (ordinal, claim): (u16, &Claim),
    keyed: &Keyed,
) -> Result<(), ViewError> {
    let Some(saying) = Saying::new(claim.effect, keyed.value) else { return Ok(()) };
    let is_single = claim.cardinality == Some(Cardinality::One);
    let about = About {
        subject: *keyed.subject.as_bytes(),
        is_entity: true,
        predicate: keyed.predicate,
        is_single,
    };
    let tenant = heard.given.tenant;
    let at = |value: Tag| At { tenant, claim: ClaimKey { scope, said: keyed.said, value }, about };
    let mut said = said(heard, claim);
    // A belief that is denied, or said to be over, is kept as contradicted.
    if matches!(saying, Saying::Negated(_) | Saying::Ends(_)) {
        said.valid_to = None;
    }
    let (value, polarity) = match saying {
        Saying::Holds(value) | Saying::Corrects(value) => (value, Polarity::Supports),
        Saying::Negated(value) | Saying::Ends(Some(value)) => (value, Polarity::Against),
        Saying::Ends(None) => {
            said.evidence.polarity = Polarity::Against;
            said.names = false;
            for claim in rivals(rows, tenant, scope, &keyed.said, None, ENDED_MAX)? {
                take(rows, heard, &At { tenant, claim, about }, ordinal, &said)?;
            }
            return Ok(());
        }
    };
    said.evidence.polarity = polarity;
    let against = if is_single && polarity == Polarity::Supports {
        excluded(rows, heard, &at(value.0), claim, &mut said)?
    } else {
        Vec::new()
    };
    take(rows, heard, &at(value.0), ordinal, &said)?;
    deny(rows, heard, &at(value.0), (ordinal, claim), &said)?;
    said.evidence.polarity = Polarity::Against;
    said.names = false;
    // A rival ends where this begins, however long this lasts.
    said.valid_to = Some(said.evidence.valid_from);
    for rival in against {
        take(rows, heard, &At { tenant, claim: rival, about }, ordinal, &said)?;
    }
    Ok(())
}

/// What a claim denies of another relation: evidence against what is believed there, if anything is.
fn deny(
    rows: &mut Rows<'_, '_>,
    heard: &mut Heard<'_, '_>,
    at: &At,
    (ordinal, claim): (u16, &Claim),
    said: &Said,
) -> Result<(), ViewError> {
    let Some(predicate) = facts::opposes(rows, heard.given, claim)? else { return Ok(()) };
    let subject = EntityId::from_bytes(at.about.subject);
    let question = facts::said(rows, at.tenant, subject, &predicate)?;
    let claim = ClaimKey { said: question, ..at.claim };
    let denied = At { claim, about: About { predicate, is_single: false, ..at.about }, ..*at };
    let until = said.evidence.valid_from.max(heard.given.answer.observed_at);
    let is_believed = belief_row(rows, &denied)?.is_some_and(|row| row.latest <= until);
    if !is_believed {
        return Ok(());
    }
    let mut against = said.clone();
    against.evidence.polarity = Polarity::Against;
    against.names = false;
    against.valid_to = None;
    take(rows, heard, &denied, ordinal, &against)
}

/// The values that a claim excludes. A late report excludes nothing that is known of a later time; it
/// holds until then.
fn excluded(
    rows: &Rows<'_, '_>,
    heard: &Heard<'_, '_>,
    at: &At,
    claim: &Claim,
    said: &mut Said,
) -> Result<Vec<ClaimKey>, ViewError> {
    let observed = heard.given.answer.observed_at;
    let holds_then = claim.valid_from.is_none_or(|from| from <= observed)
        && claim.valid_to.is_none_or(|to| to > observed);
    if !holds_then || heard.given.answer.asked.no_supersede {
        return Ok(Vec::new());
    }
    let from = said.evidence.valid_from;
    let ClaimKey { scope, said: question, value } = at.claim;
    let mut excluded = Vec::new();
    for rival in rivals(rows, at.tenant, scope, &question, Some(value), RIVALS_MAX)? {
        if claim.normaliser == Normaliser::JsonPath && is_disputed(rows, at, rival, from)? {
            continue;
        }
        let Some(row) = belief_row(rows, &At { claim: rival, ..*at })? else { continue };
        if row.latest <= from.max(observed) {
            excluded.push(rival);
        } else if row.held.state.valid_from > from {
            let until = row.held.state.valid_from;
            said.valid_to = Some(said.valid_to.map_or(until, |to| to.min(until)));
        }
    }
    Ok(excluded)
}

/// Whether a value is a side of the open conflict of its track: a record of another author ends no belief.
fn is_disputed(
    rows: &Rows<'_, '_>,
    at: &At,
    rival: ClaimKey,
    from: ValidAt,
) -> Result<bool, ViewError> {
    let track = facts::At {
        tenant: at.tenant,
        scope: rival.scope,
        track: facts::single_track(rows, at.tenant, &rival.said)?,
        subject: EntityId::from_bytes(at.about.subject),
        predicate: at.about.predicate,
    };
    let side = Value::Is(ValueKey(rival.value));
    let is_side = |piece: &FactPiece| match &piece.content {
        Content::Conflict(sides) => piece.covers(from) && sides.contains(&side),
        Content::One(_) | Content::Ended(_) => false,
    };
    Ok(facts::current(rows, track, is_side)?.is_some())
}

fn said(heard: &Heard<'_, '_>, claim: &Claim) -> Said {
    let answer = heard.given.answer;
    let recorded = heard.given.row.recorded;
    Said {
        evidence: Evidence {
            source: SupportId::Event(heard.given.row.event),
            polarity: Polarity::Supports,
            confidence: claim.confidence,
            trust: trust(answer.source_class),
            witness: Witness { actor: heard.actor, episode: heard.episode },
            recorded,
            valid_from: claim.valid_from.unwrap_or(answer.observed_at),
            expires: answer.asked.belief_ttl.map(|ttl| RecordedAt(recorded.0.plus(ttl))),
        },
        valid_to: claim.valid_to,
        floor: answer.asked.confidence_floor.map(Confidence::new),
        names: true,
    }
}

/// One piece into one claim.
fn take(
    rows: &mut Rows<'_, '_>,
    heard: &mut Heard<'_, '_>,
    at: &At,
    ordinal: u16,
    said: &Said,
) -> Result<(), ViewError> {
    let given = heard.given;
    if suppress::of_belief(rows, given, &at.claim)? {
        return Ok(());
    }
    let source = AssertionId { offset: given.offset, ordinal };
    let id = mint(&given.row.seed, given.row.recorded, &at.claim, source);
    let piece = PieceRow {
        belief: id,
        piece: Piece::Said(said.clone()),
        event: Some(given.row.event),
        class: given.answer.source_class,
        weight: 0,
        place: Place::default(),
        gone: None,
        origin: None,
        redacted: None,
    };
    if let Some(effect) = claims::take(rows, at, source, piece, id)? {
        if !heard.made.claims.contains(&at.claim) {
            heard.made.claims.push(at.claim);
            heard.made.touched += 1;
        }
        heard.made.updated += u32::from(effect == Effect::Updated);
    }
    Ok(())
}

/// Feedback says whether a belief came true: evidence for it, and a sample of how well its confidence
/// was.
fn judge(rows: &mut Rows<'_, '_>, heard: &mut Heard<'_, '_>) -> Result<(), ViewError> {
    let given = heard.given;
    let Some((id, came_true)) = given.answer.judged else { return Ok(()) };
    let Some(bytes) = rows.get(Space::Records, &key::belief(given.tenant, id))? else {
        return Ok(());
    };
    let found = Found::decode(&bytes).map_err(row_error(Space::Records))?;
    let Found::Stands(claim) = found else { return Ok(()) };
    // Feedback counts where it was given.
    if !given.scopes.contains(&claim.scope) {
        return Ok(());
    }
    let unknown =
        About { subject: [0; 16], is_entity: false, predicate: [0; 16], is_single: false };
    let at = At { tenant: given.tenant, claim, about: unknown };
    let Some(row) = belief_row(rows, &at)?.filter(|row| row.held.is_held()) else {
        return Ok(());
    };
    let at = At { about: row.about, ..at };
    let predicted = predicted(&row);
    let recorded = given.row.recorded;
    let sample = [predicted.get().to_be_bytes().as_slice(), &[u8::from(came_true)]].concat();
    rows.put(
        Space::Sources,
        key::sample(given.tenant, claim.scope, recorded, given.offset),
        sample,
    );
    heard.made.sample = Some((claim.scope, recorded));
    let said = Said {
        evidence: Evidence {
            source: SupportId::Event(given.row.event),
            polarity: if came_true { Polarity::Supports } else { Polarity::Against },
            confidence: Confidence::FULL,
            trust: trust(given.answer.source_class),
            witness: Witness { actor: heard.actor, episode: heard.episode },
            recorded,
            valid_from: ValidAt(given.answer.observed_at.0),
            expires: given.answer.asked.belief_ttl.map(|ttl| RecordedAt(recorded.0.plus(ttl))),
        },
        valid_to: None,
        floor: given.answer.asked.confidence_floor.map(Confidence::new),
        names: false,
    };
    take(rows, heard, &at, JUDGEMENT, &said)
}

/// The mean that is shown, without what fading takes away: exact.
fn predicted(row: &rows::BeliefRow) -> Confidence {
    let mass = row.held.state.visible();
    let share = u128::from(mass.supports) * 10_000 / u128::from(mass.total().max(1));
    Confidence::new(u16::try_from(share).unwrap_or(u16::MAX))
}

/// Takes back what an entry said, as if it had never been said.
pub(super) fn withdraw(rows: &mut Rows<'_, '_>, tenant: u32, offset: u64) -> Result<(), ViewError> {
    withdraw_all(rows, tenant, &BTreeSet::from([offset]))
}

/// The same for many entries: a claim is taken again once, whatever of it goes. One after the other, what many
/// have said would be taken again for each of them.
pub(super) fn withdraw_all(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offsets: &BTreeSet<u64>,
) -> Result<(), ViewError> {
    let mut claims: BTreeSet<ClaimKey> = BTreeSet::new();
    for offset in offsets {
        let Some(row) = made_row(rows, tenant, *offset)? else { continue };
        if let Some((scope, at)) = row.sample {
            rows.delete(Space::Sources, key::sample(tenant, scope, at, *offset));
        }
        forget_made(rows, tenant, *offset, &row);
        claims.extend(row.claims);
    }
    for claim in claims {
        again::without_some(rows, tenant, claim, |source, piece| piece.is_of_any(source, offsets))?;
    }
    Ok(())
}

/// The words of what an entry said are gone: in these scopes it counts all the same, everywhere else it goes as if
/// it had never been said.
pub(super) fn redact(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    stays: &[u64],
    at: RecordedAt,
) -> Result<(), ViewError> {
    let Some(mut made) = made_row(rows, tenant, offset)? else { return Ok(()) };
    let (kept, gone): (Vec<_>, Vec<_>) =
        made.claims.iter().partition(|claim| stays.contains(&claim.scope));
    for claim in gone {
        without(rows, tenant, claim, offset, Going::Never)?;
    }
    for claim in &kept {
        again::without_words(rows, tenant, *claim, offset, at)?;
    }
    if let Some((scope, when)) = made.sample.filter(|(scope, _)| !stays.contains(scope)) {
        rows.delete(Space::Sources, key::sample(tenant, scope, when, offset));
        made.sample = None;
    }
    made.claims = kept;
    match made.claims.is_empty() && made.sample.is_none() {
        true => forget_made(rows, tenant, offset, &made),
        false => rows.put(Space::Sources, key::made(tenant, offset), made.encode()),
    }
    Ok(())
}

/// Takes back some of what was said about a claim, because the belief is forgotten.
pub(super) fn forget(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    claim: ClaimKey,
    gone: &BTreeSet<AssertionId>,
) -> Result<(), ViewError> {
    again::without_some(rows, tenant, claim, |source, _| gone.contains(&source))
}

/// Takes back what an entry said from now on, because another answer comes in its place or entities that it made one
/// are two again: what is said still keeps its id, and the past its beliefs.
pub(super) fn retire(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    at: RecordedAt,
) -> Result<(), ViewError> {
    let Some(row) = made_row(rows, tenant, offset)? else { return Ok(()) };
    for claim in row.claims {
        without(rows, tenant, claim, offset, Going::From(at))?;
    }
    Ok(())
}

fn made_row(rows: &Rows<'_, '_>, tenant: u32, offset: u64) -> Result<Option<MadeRow>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::made(tenant, offset))?;
    bytes.map(|bytes| MadeRow::decode(&bytes)).transpose().map_err(row_error(Space::Sources))
}

/// The sample of a row.
pub(crate) fn sample(bytes: &[u8]) -> Option<(Confidence, bool)> {
    let (predicted, rest) = bytes.split_first_chunk::<2>()?;
    match rest {
        [came_true @ (0 | 1)] => {
            Some((Confidence::new(u16::from_be_bytes(*predicted)), *came_true == 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;

//! One entry at a time: answers make records, cancellations and erasures take them back.

use std::collections::BTreeSet;

use lamina_store::codec::CodecError;
use lamina_store::codec::answer::{Answer, AnswerWho};
use lamina_store::entry::{Entry, Head, Kind, SectionState, control};
use lamina_store::kv::Space;
use lamina_store::log::{ErasePayload, EraseTarget};
use lamina_store::view::derived::{Derivation, Rows};
use lamina_store::view::{EventRow, Residue, Tag, ViewError};
use lamina_types::layer::Term;
use lamina_types::{EventId, RecordedAt, ScopePath};
use sha2::{Digest, Sha256};

use crate::derive::entities::Names;
use crate::derive::rows::{AnswerCounts, AnswerRow};
use crate::derive::words::{Kept, Words};
use crate::derive::{
    beliefs, cites, concepts, conflicts, deadlines, dependants, echo, entities, episodes, erasures,
    facts, forgotten, imports, key, misdated, models, newest, rated, redacted, rederive, retention,
    standing, suppress, traces, vocabularies,
};

/// Folds answers into derived records.
#[derive(Debug, Clone, Copy, Default)]
pub struct Derived;

impl Derivation for Derived {
    fn entry(&self, rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
        if entry.head.kind == Kind::Control {
            traces::worded(rows, entry);
            misdated::note(rows, entry);
        }
        match (entry.head.kind, entry.head.sub) {
            (Kind::Answer, _) => {
                traces::note(rows, entry);
                due(rows, entry)?;
                answer(rows, entry)
            }
            (Kind::Tick, _) => due(rows, entry),
            (Kind::Control, control::SCOPE) => begun(rows, entry.head.tenant),
            (Kind::Control, control::CANCEL) => cancel(rows, entry),
            (Kind::Control, control::VOCABULARY_SET) => {
                due(rows, entry)?;
                vocabularies::set(rows, entry)
            }
            (Kind::Control, control::PHRASES_SET | control::RETENTION_SET) => {
                newest::set(rows, entry);
                Ok(())
            }
            (Kind::Control, control::CONFLICT_RESOLVED) => {
                due(rows, entry)?;
                conflicts::decide(rows, entry)
            }
            (Kind::Control, control::ERASE) => {
                due(rows, entry)?;
                erase(rows, entry)
            }
            (Kind::Control, control::EPISODES_SEALED) => {
                due(rows, entry)?;
                let Head { tenant, scope, recorded_at, offset, .. } = entry.head;
                episodes::seal_all(rows, tenant, scope, recorded_at, offset)
            }
            (Kind::Control, control::UNDERSTANDING_SYNTHESIZED) => {
                due(rows, entry)?;
                concepts::again::synthesize(rows, entry)
            }
            (Kind::Control, control::MODEL_RESERVED..=control::MODEL_GAVE_UP) => {
                models::fold::control(rows, entry)
            }
            (Kind::Control, control::REDERIVE_BEGUN..=control::REDERIVE_ENDED) => {
                rederive::fold::control(rows, entry)
            }
            (Kind::Control, control::ENTITY_MERGED) => {
                due(rows, entry)?;
                entities::merge::merged(rows, entry)
            }
            (Kind::Control, control::ENTITY_SPLIT) => {
                due(rows, entry)?;
                entities::merge::split(rows, entry)
            }
            (Kind::Control, sub) if is_of_job(sub) => job(rows, entry),
            (Kind::Control, control::SUPPRESS) => {
                due(rows, entry)?;
                suppress::suppress(rows, entry)
            }
            (Kind::Control, control::BELIEF_DECLARED) => {
                due(rows, entry)?;
                cites::declared(rows, entry)?;
                beliefs::declared(rows, entry)
            }
            _ => Ok(()),
        }
    }
}

/// Whether a control entry is of an erasure, a hold, an import or a request to forget, or keeps a position.
fn is_of_job(sub: u16) -> bool {
    matches!(
        sub,
        control::ERASURE_BEGUN..=control::LEGAL_HOLD_LIFTED
            | control::ERASURE_CERTIFIED
            | control::FORGET_BEGUN..=control::FORGOTTEN
            | control::AUDIT_PINNED
            | control::IMPORT_BEGUN..=control::IMPORT_ENDED
    )
}

/// Folds an entry of a job: nothing is derived from it.
fn job(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    match entry.head.sub {
        control::ERASURE_CERTIFIED => erasures::certified(rows, entry),
        control::IMPORT_BEGUN..=control::IMPORT_ENDED => imports::control(rows, entry),
        control::FORGET_BEGUN => forgotten::begin(rows, entry),
        control::FORGOTTEN => forgotten::keep(rows, entry),
        control::AUDIT_PINNED => {
            if let Some(pin) = entry.what.live() {
                rows.put(Space::Sources, key::retention::audit_pin(), pin.to_vec());
            }
            Ok(())
        }
        _ => erasures::control(rows, entry),
    }
}

/// A scope begins: nothing was ever made of it, so nobody has to look.
fn begun(rows: &mut Rows<'_, '_>, tenant: u32) -> Result<(), ViewError> {
    let scope = rows.scopes_count(tenant)?;
    for (space, bounds) in key::of_scope(tenant, scope) {
        rows.is_new(space, bounds);
    }
    Ok(())
}

/// What time has made due comes before what the entry says.
fn due(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    deadlines::fire(rows, entry.head.offset, entry.head.recorded_at)
}

/// An answer as the fold works on it.
#[derive(Debug)]
pub(super) struct Given<'a> {
    pub(super) tenant: u32,
    pub(super) offset: u64,
    pub(super) answer: &'a Answer,
    /// Who spoke, and in which session.
    pub(super) who: &'a AnswerWho,
    /// What its words are known by.
    pub(super) words: &'a Words,
    /// The event it is about.
    pub(super) event: &'a EventRow,
    /// The scopes that learn of it: the event's own, and the one it is consolidated into.
    pub(super) scopes: Vec<u64>,
    pub(super) row: AnswerRow,
    /// What its claims went to: which of them, in which scope, and the track.
    pub(super) learned: Vec<(u16, u64, Tag)>,
    /// Tracks of which something may not stand any more; in the others there is only more of the same.
    pub(super) moved: Vec<(u64, Tag)>,
}

/// What stood on the events that are taken back, and what becomes of it.
fn cancel(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    due(rows, entry)?;
    let fates = dependants::watched(rows, &entry.head.causes, |rows, event| {
        traces::cancel(rows, entry.head.tenant, event);
        withdraw_event(rows, event, entry.head.recorded_at)
    })?;
    dependants::keep(rows, entry.head.tenant, entry.head.offset, &fates);
    Ok(())
}

fn answer(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let head = &entry.head;
    let Some((answer, who, words)) = read(rows, entry)? else { return Ok(()) };
    let event = head.causes.first().copied().map(|offset| rows.event_of(offset)).transpose()?;
    let Some(event) = event.flatten() else {
        return Err(contradiction(entry, "an answer names no event in its causes"));
    };
    // Cancelled or erased while its answer was under way. An event whose answer has left something came
    // before its erasure, although a replay finds it erased from the start.
    let is_over = match words {
        Words::Said => event.listed().is_none(),
        Words::Kept(_) => traces::is_cancelled(rows, head.tenant, event.offset)?,
    };
    if is_over {
        return Ok(());
    }
    let of_run = rederive::fold::answered(rows, head)?;
    let earlier = answers_to(rows, head.tenant, event.offset)?;
    let scopes = scopes(rows, &event, &answer, &words)?;
    let mut given = Given {
        tenant: head.tenant,
        offset: head.offset,
        answer: &answer,
        who: &who,
        words: &words,
        event: &event,
        scopes,
        row: AnswerRow {
            place: entry.place,
            event: event.id,
            seed: seed(&head.seal),
            recorded: head.recorded_at,
            tracks: Vec::new(),
            names: Vec::new(),
            sought: Vec::new(),
            counts: AnswerCounts::default(),
            retired: false,
            // What is given once more was paid for once.
            cost: answer.cost.filter(|_| !of_run),
        },
        learned: Vec::new(),
        moved: Vec::new(),
    };
    // Written first: records are named after it while they are made.
    let answer_key = key::answer(given.tenant, given.offset);
    rows.put(Space::Sources, answer_key.clone(), given.row.encode());
    let answers: Vec<u64> = earlier.iter().copied().chain([given.offset]).collect();
    put_answers(rows, given.tenant, event.offset, &answers);
    let names = Names::of(rows, &mut given)?;
    if answer.awaits_model {
        models::fold::wait(rows, &event);
    } else if !earlier.is_empty() {
        models::fold::done(rows, &event);
    }
    episodes::arrive(rows, &mut given, &names)?;
    facts::learn(rows, &mut given, &names)?;
    facts::revoked::end(rows, &mut given)?;
    for offset in earlier {
        retire(rows, &given, offset)?;
    }
    beliefs::learn(rows, &given, &names)?;
    concepts::learn(rows, &given)?;
    retention::learn(rows, &given);
    echo::learn(rows, &given);
    standing::learn(rows, &given)?;
    rated::learn(rows, &given)?;
    cites::learn(rows, &given)?;
    rows.put(Space::Sources, answer_key, given.row.encode());
    Ok(())
}

/// What an answer says, from its sections or from what was kept of them; `None` if nothing was.
fn read(
    rows: &Rows<'_, '_>,
    entry: &Entry,
) -> Result<Option<(Answer, AnswerWho, Words)>, ViewError> {
    let answer = section(entry, &entry.what, Answer::decode)?;
    let who = section(entry, &entry.who, AnswerWho::decode)?;
    if let (Some(answer), Some(who)) = (answer, who) {
        return Ok(Some((answer, who, Words::Said)));
    }
    let Some(bytes) = rows.residue(entry.head.offset) else { return Ok(None) };
    let kept = Kept::decode(bytes)
        .map_err(|source| ViewError::Entry { offset: entry.head.offset, source })?;
    let (answer, who) = (kept.answer.clone(), kept.who.clone());
    Ok(Some((answer, who, Words::Kept(Box::new(kept)))))
}

fn scopes(
    rows: &Rows<'_, '_>,
    event: &EventRow,
    answer: &Answer,
    words: &Words,
) -> Result<Vec<u64>, ViewError> {
    let mut scopes = vec![event.scope];
    let into: Option<&ScopePath> = answer.asked.consolidate_into.as_ref();
    if let Some(path) = into
        && let Some(ordinal) = words.scope(rows, event.tenant, path)?
        && ordinal != event.scope
    {
        scopes.push(ordinal);
    }
    Ok(scopes)
}

/// Takes back what an erasure reaches: the answers themselves, or those of an event. Of what others refer to
/// it stays with them, without its words.
fn erase(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let payload = match &entry.what {
        SectionState::Live(bytes) => ErasePayload::decode(bytes),
        _ => None,
    };
    let Some(payload) = payload else {
        return Err(contradiction(entry, "an erasure does not say what it erases"));
    };
    let residue = Residue::decode(&payload.residue)
        .map_err(|source| ViewError::Entry { offset: entry.head.offset, source })?;
    let (tenant, at) = (entry.head.tenant, entry.head.recorded_at);
    let mut named: Vec<&EraseTarget> = Vec::with_capacity(payload.targets.len());
    for target in payload.targets.iter().filter(|target| target.who || target.what) {
        // Who decided goes, and why. What was decided stands.
        let stands = !target.what && conflicts::is_decision(rows, tenant, target.offset)?;
        named.extend((!stands).then_some(target));
    }
    let named = || named.iter().copied();
    let gone = named().filter(|target| residue.stays(target.offset).is_none());
    withdraw_at_once(rows, tenant, gone.map(|target| target.offset), at)?;
    for target in named() {
        match residue.stays(target.offset) {
            Some(stays) => redacted::redact(rows, tenant, target.offset, stays, at)?,
            None => {
                withdraw_event(rows, target.offset, at)?;
                withdraw_answer(rows, tenant, target.offset, at)?;
                redacted::forget(rows, tenant, target.offset)?;
            }
        }
        conflicts::withdraw(rows, tenant, target.offset)?;
        if residue.stays(target.offset).is_none() {
            beliefs::withdraw(rows, tenant, target.offset)?;
        }
        vocabularies::drop_at(rows, tenant, target.offset)?;
        newest::drop_at(rows, key::phrases(tenant), target.offset)?;
        newest::drop_at(rows, key::retention::rules(tenant), target.offset)?;
        retention::drop_at(rows, tenant, target.offset)?;
        traces::drop_all(rows, tenant, target)?;
        cites::forget(rows, tenant, target.offset)?;
        imports::drop_at(rows, tenant, target.offset)?;
    }
    Ok(())
}

/// Takes back what goes as if it had never been said from what others have said too: from each fact, belief and
/// concept at once, because it is made again from the rest. Then the answers themselves go.
fn withdraw_at_once(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    gone: impl Iterator<Item = u64>,
    at: RecordedAt,
) -> Result<(), ViewError> {
    let mut offsets: BTreeSet<u64> = BTreeSet::new();
    for offset in gone {
        offsets.insert(offset);
        if let Some(event) = rows.event_of(offset)?.filter(|event| event.tenant == tenant) {
            offsets.extend(answers_to(rows, event.tenant, offset)?);
        }
    }
    let mut answers = Vec::new();
    for offset in &offsets {
        let Some(mut row) = answer_row(rows, tenant, *offset)? else { continue };
        facts::with_carried(rows, tenant, *offset, &mut row)?;
        answers.push((*offset, row));
    }
    beliefs::withdraw_all(rows, tenant, &offsets)?;
    for (offset, _) in &answers {
        conflicts::withdraw_citing(rows, tenant, *offset, &|_| true)?;
    }
    facts::withdraw_all(rows, tenant, &answers)?;
    concepts::withdraw_all(rows, tenant, answers.iter().map(|(offset, row)| (*offset, row)), at)?;
    // The latest first: what a name was first used in is looked for when that use goes.
    for (offset, row) in answers.iter().rev() {
        forget_answer(rows, tenant, *offset, row)?;
    }
    Ok(())
}

/// Takes back every answer to an event.
fn withdraw_event(rows: &mut Rows<'_, '_>, offset: u64, at: RecordedAt) -> Result<(), ViewError> {
    let Some(event) = rows.event_of(offset)? else { return Ok(()) };
    models::fold::done(rows, &event);
    for answer in answers_to(rows, event.tenant, offset)? {
        withdraw_answer(rows, event.tenant, answer, at)?;
    }
    echo::drop_at(rows, event.tenant, event.id);
    standing::drop_at(rows, &event);
    rated::drop_at(rows, &event)?;
    // An event stays where it is while another answer is given to it, and goes with its last.
    episodes::leave(rows, event.tenant, event.id)
}

/// Takes back what an answer made, from now on, because another has come in its place. Its row stays:
/// what it said is known to have been said, and whoever erases the event has to find its words.
fn retire(rows: &mut Rows<'_, '_>, given: &Given<'_>, offset: u64) -> Result<(), ViewError> {
    let tenant = given.tenant;
    let Some(mut row) = answer_row(rows, tenant, offset)?.filter(|row| !row.retired) else {
        return Ok(());
    };
    facts::with_carried(rows, tenant, offset, &mut row)?;
    beliefs::retire(rows, tenant, offset, given.row.recorded)?;
    facts::retract(rows, given, offset, &row)?;
    concepts::withdraw(rows, tenant, offset, &row, given.row.recorded)?;
    let row = AnswerRow { retired: true, ..row };
    rows.put(Space::Sources, key::answer(tenant, offset), row.encode());
    Ok(())
}

/// Takes back what one answer made, as if it had never been given.
pub(super) fn withdraw_answer(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    at: RecordedAt,
) -> Result<(), ViewError> {
    let Some(mut row) = answer_row(rows, tenant, offset)? else { return Ok(()) };
    facts::with_carried(rows, tenant, offset, &mut row)?;
    beliefs::withdraw(rows, tenant, offset)?;
    conflicts::withdraw_citing(rows, tenant, offset, &|_| true)?;
    facts::withdraw(rows, tenant, offset, &row)?;
    concepts::withdraw(rows, tenant, offset, &row, at)?;
    forget_answer(rows, tenant, offset, &row)
}

/// Takes away an answer that nothing stands on any more, and its names.
fn forget_answer(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    row: &AnswerRow,
) -> Result<(), ViewError> {
    entities::withdraw(rows, tenant, offset, row)?;
    rows.delete(Space::Sources, key::answer(tenant, offset));
    if let Some(event) = event_offset(rows, tenant, row.event)? {
        let mut answers = answers_to(rows, tenant, event)?;
        answers.retain(|answer| *answer != offset);
        put_answers(rows, tenant, event, &answers);
    }
    Ok(())
}

fn event_offset(
    rows: &Rows<'_, '_>,
    tenant: u32,
    event: EventId,
) -> Result<Option<u64>, ViewError> {
    Ok(rows.event(tenant, event)?.map(|row| row.offset))
}

/// The offsets of the answers to an event.
pub(super) fn answers_to(
    rows: &Rows<'_, '_>,
    tenant: u32,
    event: u64,
) -> Result<Vec<u64>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::answered(tenant, event))?;
    let answers = bytes.map(|bytes| offsets(&bytes)).transpose();
    Ok(answers.map_err(row_error(Space::Sources))?.unwrap_or_default())
}

fn put_answers(rows: &mut Rows<'_, '_>, tenant: u32, event: u64, answers: &[u64]) {
    let row = key::answered(tenant, event);
    match answers {
        [] => rows.delete(Space::Sources, row),
        _ => {
            let bytes = answers.iter().flat_map(|answer| answer.to_be_bytes()).collect();
            rows.put(Space::Sources, row, bytes);
        }
    }
}

/// The offsets of answers, oldest first.
pub(super) fn offsets(bytes: &[u8]) -> Result<Vec<u64>, CodecError> {
    let (all, rest) = bytes.as_chunks::<8>();
    match rest {
        [] => Ok(all.iter().map(|offset| u64::from_be_bytes(*offset)).collect()),
        _ => Err(CodecError::Truncated),
    }
}

/// What an answer made.
pub(super) fn answer_row(
    rows: &Rows<'_, '_>,
    tenant: u32,
    offset: u64,
) -> Result<Option<AnswerRow>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::answer(tenant, offset))?;
    bytes.map(|bytes| AnswerRow::decode(&bytes)).transpose().map_err(row_error(Space::Sources))
}

/// The terms of an answer, in one order: those of mentions are not among them.
pub(crate) fn terms(answer: &Answer) -> impl Iterator<Item = &Term> {
    answer.extraction.claims.iter().flat_map(|claim| {
        let object = match &claim.object {
            lamina_types::layer::Object::Entity(term) => Some(term),
            _ => None,
        };
        std::iter::once(&claim.subject).chain(object)
    })
}

/// What ids are made from: nothing but the seal of the entry.
pub(super) fn seed(seal: &[u8; 32]) -> [u8; 16] {
    let hash: [u8; 32] =
        Sha256::new().chain_update(b"derive1").chain_update(seal).finalize().into();
    *hash.first_chunk().expect("32 bytes have a first half")
}

pub(super) fn section<T>(
    entry: &Entry,
    state: &SectionState,
    decode: impl Fn(&[u8]) -> Result<T, CodecError>,
) -> Result<Option<T>, ViewError> {
    match state {
        SectionState::Erased => Ok(None),
        SectionState::Absent => Err(contradiction(entry, "an answer has both sections")),
        SectionState::Live(bytes) => match decode(bytes) {
            Ok(read) => Ok(Some(read)),
            Err(source) => Err(ViewError::Entry { offset: entry.head.offset, source }),
        },
    }
}

fn contradiction(entry: &Entry, what: &'static str) -> ViewError {
    ViewError::Contradiction { offset: entry.head.offset, what }
}

pub(crate) fn row_error(space: Space) -> impl Fn(CodecError) -> ViewError {
    move |source| ViewError::Row { space: space.name(), source }
}

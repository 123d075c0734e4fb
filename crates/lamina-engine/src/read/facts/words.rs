//! The words of facts: read from the answers that the evidence of a version names.

use std::collections::hash_map::Entry as Slot;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::derive::facts::{
    AssertionId, Content, Piece, PieceId, Pins, Said, Superseded, Support, Value,
};
use lamina_store::codec::CodecError;
use lamina_store::codec::answer::{Answer, AnswerWho};
use lamina_store::kv::{Direction, Space};
use lamina_types::layer::{
    ByteSpan, Claim, Confidence, Effect, EntityKind, Normaliser, Object, Term,
};
use lamina_types::{ActorId, ConflictId, EventId, FactId, RecordedAt};

use super::{EntityRef, FactMapping, FactObject, FactRecord, REDACTED};
use crate::Error;
use crate::derive::conflicts::rows::{ConflictRow, DecisionRow};
use crate::derive::entities::CERTAIN;
use crate::derive::entities::rows::OperationRow;
use crate::derive::read::{answer_row, row, walk};
use crate::derive::rows::{AnswerRow, FactRow, InputRow, Spoken};
use crate::derive::{facts, key};
use crate::engine::Inner;
use crate::read::recall::text_cache::Answered;
use crate::read::render::said_words;

/// Answers that were read for one page, with who spoke.
pub(crate) type Answers = HashMap<u64, Arc<Answered>>;

/// From which answer evidence is and which of its claims, and the event that it is about.
type Sourced = Option<(AssertionId, EventId)>;

/// From so many pieces of evidence on it is remembered where they are from.
const SOURCES_KEPT_MIN: usize = 4;

/// What else was said of a track that is asked for its words.
const ASKED_MAX: usize = 32;
/// Versions that are passed over to find one that is shown.
const CHAIN_MAX: usize = 64;

/// A claim with where it comes from.
pub(in crate::read) struct Told {
    pub(in crate::read) claim: Claim,
    extractor: String,
    said_by: Option<ActorId>,
    mapping: Option<FactMapping>,
    /// How sure it is who is meant by the subject.
    sure: Confidence,
}

/// A value that nobody's words say any more; `None` if nobody said it.
fn unsaid_object(
    value: Value,
    supports: Vec<EventId>,
    confidence: Confidence,
) -> Option<FactObject> {
    (!supports.is_empty()).then(|| FactObject {
        object: Object::Text(REDACTED.to_owned()),
        entity: None,
        negated: matches!(value, Value::IsNot(_)),
        value,
        supports,
        confidence,
        extractor: REDACTED.to_owned(),
        said_by: None,
        sure: Confidence::FULL,
        redacted: true,
    })
}

impl Inner {
    /// A version with its words; `None` if the words are being erased right now.
    pub(crate) fn fact(
        &self,
        tenant: u32,
        id: FactId,
        fact: &FactRow,
        recorded: RecordedAt,
        answers: &mut Answers,
    ) -> Result<Option<FactRecord>, Error> {
        let piece = &fact.piece;
        let values: Vec<Value> = match &piece.content {
            Content::One(value) => vec![*value],
            Content::Conflict(values) => values.clone(),
            Content::Ended(_) => return Ok(None),
        };
        let mut sides: Vec<(FactObject, Option<Told>)> = Vec::new();
        for value in values {
            sides.extend(self.object(tenant, (id, fact), value, recorded, answers)?);
        }
        // Those of a conflict in the order they were first said in.
        sides.sort_by_key(|(object, _)| object.supports.first().copied());
        let (objects, told): (Vec<FactObject>, Vec<Option<Told>>) = sides.into_iter().unzip();
        let said = match told.into_iter().flatten().next() {
            Some(said) => said,
            None if objects.is_empty() => return Ok(None),
            None => self.unsaid(tenant, fact, answers)?,
        };
        let Told { claim, mapping, sure, extractor, .. } = said;
        let all = objects.iter().flat_map(|object| &object.supports);
        let supports: BTreeSet<EventId> = all.copied().collect();
        Ok(Some(FactRecord {
            id,
            scope: self.scope_path(tenant, fact.scope)?,
            subject: EntityRef { id: fact.subject, term: claim.subject, sure },
            predicate: claim.predicate,
            mapping,
            objects,
            valid_from: piece.from(),
            valid_from_basis: piece.from_basis(recorded),
            valid_to: piece.to(),
            valid_to_basis: piece.to_basis(),
            recorded_from: piece.recorded_from,
            recorded_to: piece.recorded_to.filter(|to| *to <= recorded),
            confidence: piece.confidence(recorded),
            extractor,
            supersedes: self
                .shown_from(tenant, fact, recorded, piece.supersedes, |piece| piece.supersedes)?,
            superseded_by: self.superseder(tenant, fact, piece, recorded)?,
            evidence_redacted: self.any_redacted(tenant, &supports)?,
            supports: supports.into_iter().collect(),
            conflict: self.conflict_of(tenant, fact)?,
        }))
    }

    /// What a version says, in words; `None` if they are being erased right now.
    pub(crate) fn fact_told(
        &self,
        tenant: u32,
        fact: &FactRow,
        recorded: RecordedAt,
        answers: &mut Answers,
    ) -> Result<Option<String>, Error> {
        let values: &[Value] = match &fact.piece.content {
            Content::One(value) => std::slice::from_ref(value),
            Content::Conflict(values) => values,
            Content::Ended(_) => return Ok(None),
        };
        let mut claims: Vec<(bool, Claim)> = Vec::new();
        for value in values {
            let says = |support: &&Support| {
                support.recorded <= recorded && support.said == Said::Value(*value)
            };
            for support in fact.piece.supports.iter().filter(says) {
                if let Some(told) = self.told(tenant, support.source, answers)? {
                    claims.push((matches!(value, Value::IsNot(_)), told.claim));
                    break;
                }
            }
        }
        let sides = claims.iter().map(|(negated, claim)| (*negated, &claim.object));
        Ok(claims.first().map(|(_, first)| said_words(&first.subject, &first.predicate, sides)))
    }

    /// The events that a version stood on as far as was known at a time; none if it was not known itself.
    pub(crate) fn fact_events(
        &self,
        tenant: u32,
        id: FactId,
        recorded: RecordedAt,
    ) -> Result<Vec<EventId>, Error> {
        let Some(fact) = self.fact_row(tenant, id)? else { return Ok(Vec::new()) };
        let mut events = Vec::new();
        if fact.piece.recorded_from <= recorded {
            for support in fact.piece.supports.iter().filter(|one| one.recorded <= recorded) {
                events.extend(self.said_in(tenant, support.source)?.map(|(_, row)| row.event));
            }
        }
        Ok(events)
    }

    /// Whether an erasure took the words of any of these events.
    fn any_redacted(&self, tenant: u32, events: &BTreeSet<EventId>) -> Result<bool, Error> {
        // Mostly nothing was ever erased, and nothing is about to be.
        if self.views.counts().erased == 0 && !self.hides_any(tenant) {
            return Ok(false);
        }
        for event in events {
            if self.is_redacted(tenant, *event)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the words of an event are gone, and the views know it, or hidden because they go. What stands on it
    /// then, stays.
    pub(in crate::read) fn is_redacted(&self, tenant: u32, event: EventId) -> Result<bool, Error> {
        let row = self.views.event_again(tenant, event)?;
        Ok(row.is_some_and(|row| row.is_erased() || self.is_hidden(&row)))
    }

    /// Whom and what a version is about that nobody's words say any more: what else was said of the same may tell.
    fn unsaid(&self, tenant: u32, fact: &FactRow, answers: &mut Answers) -> Result<Told, Error> {
        let (from, to) = key::inputs(tenant, fact.scope, &fact.track);
        let mut sources = Vec::new();
        walk(&self.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
            sources.extend(key::tail_source(key));
            match sources.len() < ASKED_MAX {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        let gone = || Term::Named { name: REDACTED.to_owned(), kind: EntityKind::Thing };
        let mut claim = Claim {
            subject: gone(),
            predicate: REDACTED.to_owned(),
            object: Object::Text(String::new()),
            effect: Effect::Holds,
            valid_from: None,
            valid_to: None,
            cardinality: None,
            confidence: Confidence::new(0),
            span: ByteSpan::default(),
            normaliser: Normaliser::Identity,
            clause: ByteSpan::default(),
        };
        for source in sources {
            if let Some(told) = self.told(tenant, source, answers)? {
                (claim.subject, claim.predicate) = (told.claim.subject, told.claim.predicate);
                break;
            }
        }
        let extractor = REDACTED.to_owned();
        Ok(Told { claim, extractor, said_by: None, mapping: None, sure: Confidence::FULL })
    }

    /// What a version says of one value, and the first claim that says so, if any words are left of it.
    fn object(
        &self,
        tenant: u32,
        (id, fact): (FactId, &FactRow),
        value: Value,
        recorded: RecordedAt,
        answers: &mut Answers,
    ) -> Result<Option<(FactObject, Option<Told>)>, Error> {
        let says =
            |support: &Support| support.recorded <= recorded && support.said == Said::Value(value);
        let sources = self.sources_of(tenant, id, fact)?;
        let mut first: Option<(Told, AssertionId)> = None;
        let (mut supports, mut said_by, mut confidence) = (Vec::new(), None, Confidence::new(0));
        let mut last = None;
        let supporting = fact.piece.supports.iter().zip(sources.iter());
        for (support, source) in supporting.filter(|(support, _)| says(support)) {
            confidence = confidence.max(support.confidence);
            let Some((source, event)) = *source else { continue };
            // The words of the first tell what is said, and those of the last who said it last.
            if first.is_none() {
                match self.told_at(tenant, source, answers)? {
                    Some(told) => {
                        said_by.clone_from(&told.said_by);
                        first = Some((told, support.source));
                    }
                    None if self.is_redacted(tenant, event)? => {}
                    // They are being erased right now.
                    None => continue,
                }
            }
            supports.push(event);
            last = Some(source);
        }
        if let Some(source) = last.filter(|_| supports.len() > 1)
            && let Some(told) = self.told_at(tenant, source, answers)?
        {
            said_by = told.said_by;
        }
        supports.sort_unstable();
        supports.dedup();
        let Some((mut first, source)) = first else {
            return Ok(unsaid_object(value, supports, confidence).map(|object| (object, None)));
        };
        let spoken = self.spoken_of(tenant, fact, source)?;
        let sure = spoken.map_or((CERTAIN, CERTAIN), |spoken| spoken.sure);
        first.sure = Confidence::new(sure.0);
        let claim = &first.claim;
        let entity = match (&claim.object, spoken.and_then(|spoken| spoken.object)) {
            (Object::Entity(_), Some(id)) => Some(self.home_at(tenant, id, recorded)?),
            (Object::Entity(term), None) => {
                self.entity_of_term(tenant, fact.scope, term, recorded)?
            }
            _ => None,
        };
        let object = FactObject {
            object: claim.object.clone(),
            entity,
            negated: matches!(value, Value::IsNot(_)),
            value,
            supports,
            confidence,
            extractor: first.extractor.clone(),
            said_by,
            sure: Confidence::new(sure.1),
            redacted: false,
        };
        Ok(Some((object, Some(first))))
    }

    /// Whom and what the words of an assertion name.
    fn spoken_of(
        &self,
        tenant: u32,
        fact: &FactRow,
        source: AssertionId,
    ) -> Result<Option<Spoken>, Error> {
        let input = key::input(tenant, fact.scope, &fact.track, source);
        let input =
            row(&self.views, Space::Sources, &input, |bytes| InputRow::decode(source, bytes))?;
        Ok(input.map(|input| input.spoken))
    }

    /// Where each piece of evidence of a version is from, in their order; mostly from before, if there are many.
    fn sources_of(
        &self,
        tenant: u32,
        id: FactId,
        fact: &FactRow,
    ) -> Result<Arc<Vec<Sourced>>, Error> {
        let sources = |fact: &FactRow| -> Result<Vec<Sourced>, Error> {
            let supports = fact.piece.supports.iter();
            let found = supports.map(|support| self.said_in(tenant, support.source));
            found.map(|found| Ok(found?.map(|(source, row)| (source, row.event)))).collect()
        };
        let count = fact.piece.supports.len();
        if count < SOURCES_KEPT_MIN {
            return sources(fact).map(Arc::new);
        }
        let name = [b"sources ".as_slice(), &key::fact(tenant, id)].concat();
        let bytes = |known: &Vec<Sourced>| size_of::<Sourced>() * known.len();
        let known = self.views.made_again(&name, bytes, || {
            // As it is now: whatever writes it makes this be made again.
            match self.fact_row(tenant, id)? {
                Some(fact) => sources(&fact),
                None => sources(fact),
            }
        })?;
        // It was written since it was read.
        if known.len() == count { Ok(known) } else { sources(fact).map(Arc::new) }
    }

    /// Not shown before it happened.
    fn superseder(
        &self,
        tenant: u32,
        fact: &FactRow,
        piece: &Piece,
        recorded: RecordedAt,
    ) -> Result<Option<FactId>, Error> {
        match piece.recorded_to {
            Some(to) if to <= recorded => {
                let next = |piece: &Piece| piece.superseded_by;
                self.shown_from(tenant, fact, recorded, piece.superseded_by, next)
            }
            _ => Ok(None),
        }
    }

    /// The first version along a chain that a question shows. An ending never is, nor is one that the entry that
    /// made it replaced: whoever reads about them reads of what is beyond.
    fn shown_from(
        &self,
        tenant: u32,
        fact: &FactRow,
        recorded: RecordedAt,
        first: Option<PieceId>,
        next: impl Fn(&Piece) -> Option<PieceId>,
    ) -> Result<Option<FactId>, Error> {
        let pins = Pins {
            recorded,
            superseded: Superseded::Shown,
            valid: None,
            valid_during: None,
            recorded_during: None,
        };
        let mut piece = first;
        for _ in 0..CHAIN_MAX {
            let Some(id) = self.version_id(tenant, fact, piece)? else { return Ok(None) };
            let Some(row) = self.fact_row(tenant, id)? else { return Ok(None) };
            if pins.admit(&row.piece) && row.piece.is_said() {
                return Ok(Some(id));
            }
            piece = next(&row.piece);
        }
        Ok(None)
    }

    fn version_id(
        &self,
        tenant: u32,
        fact: &FactRow,
        piece: Option<PieceId>,
    ) -> Result<Option<FactId>, Error> {
        let Some(piece) = piece else { return Ok(None) };
        let offset = piece.by.offset;
        let maker = match answer_row(&self.views, tenant, offset)? {
            Some(answer) => Some((answer.seed, answer.recorded)),
            None => match self.decision_row(tenant, offset)? {
                Some(decision) => Some((decision.seed, decision.recorded)),
                None => {
                    let key = key::operation(tenant, offset);
                    let made = row(&self.views, Space::Records, &key, OperationRow::decode)?;
                    made.map(|made| (made.seed, made.recorded))
                }
            },
        };
        let track = (fact.scope, &fact.track);
        Ok(maker.map(|(seed, recorded)| facts::mint(&seed, recorded, track, piece)))
    }

    /// The conflict that a version belongs to.
    fn conflict_of(
        &self,
        tenant: u32,
        fact: &FactRow,
    ) -> Result<Option<(ConflictId, RecordedAt)>, Error> {
        if !matches!(fact.piece.content, Content::Conflict(_)) {
            return Ok(None);
        }
        let origin = key::conflict_of(tenant, fact.scope, &fact.track, fact.piece.id.fact);
        let id = row(&self.views, Space::Sources, &origin, |bytes| {
            bytes.try_into().map_err(|_| CodecError::Truncated)
        })?;
        let Some(id) = id.map(ConflictId::from_bytes) else { return Ok(None) };
        let conflict = self.conflict_row(tenant, id)?;
        Ok(conflict.map(|conflict| (id, conflict.detected)))
    }

    pub(crate) fn conflict_row(
        &self,
        tenant: u32,
        id: ConflictId,
    ) -> Result<Option<ConflictRow>, Error> {
        let key = key::conflict(tenant, id);
        Ok(row(&self.views, Space::Records, &key, ConflictRow::decode)?)
    }

    pub(crate) fn decision_row(
        &self,
        tenant: u32,
        offset: u64,
    ) -> Result<Option<DecisionRow>, Error> {
        let key = key::decision(tenant, offset);
        Ok(row(&self.views, Space::Sources, &key, DecisionRow::decode)?)
    }

    /// The claim that evidence is. Of a decision it is the claim that it chose, if it names one: the
    /// side that it picked has evidence of its own.
    pub(in crate::read) fn told(
        &self,
        tenant: u32,
        source: AssertionId,
        answers: &mut Answers,
    ) -> Result<Option<Told>, Error> {
        match self.said_in(tenant, source)? {
            Some((source, row)) => self.told_in(tenant, (source, &row), answers),
            None => Ok(None),
        }
    }

    /// The event that evidence is from.
    pub(in crate::read) fn event_said_in(
        &self,
        tenant: u32,
        source: AssertionId,
    ) -> Result<Option<EventId>, Error> {
        Ok(self.said_in(tenant, source)?.map(|(_, row)| row.event))
    }

    /// The answer that evidence is from, and which of its claims it is.
    fn said_in(
        &self,
        tenant: u32,
        source: AssertionId,
    ) -> Result<Option<(AssertionId, Arc<AnswerRow>)>, Error> {
        if let Some(row) = answer_row(&self.views, tenant, source.offset)? {
            return Ok(Some((source, row)));
        }
        let source = self.origin(tenant, source)?;
        if let Some(row) = answer_row(&self.views, tenant, source.offset)? {
            return Ok(Some((source, row)));
        }
        let decision = self.decision_row(tenant, source.offset)?;
        let Some(said) = decision.and_then(|decision| decision.said) else { return Ok(None) };
        Ok(answer_row(&self.views, tenant, said.offset)?.map(|row| (said, row)))
    }

    /// The claim of an answer that is known by its offset.
    fn told_at(
        &self,
        tenant: u32,
        source: AssertionId,
        answers: &mut Answers,
    ) -> Result<Option<Told>, Error> {
        match answer_row(&self.views, tenant, source.offset)? {
            Some(row) => self.told_in(tenant, (source, &row), answers),
            None => Ok(None),
        }
    }

    /// The claim of an answer.
    fn told_in(
        &self,
        tenant: u32,
        (source, row): (AssertionId, &AnswerRow),
        answers: &mut Answers,
    ) -> Result<Option<Told>, Error> {
        let Some((answer, said_by)) = self.answer_of(tenant, (source.offset, row), answers)? else {
            return Ok(None);
        };
        let claim = answer.extraction.claims.get(usize::from(source.ordinal)).cloned();
        let mapped = answer.mapped.iter().find(|mapped| mapped.claim == source.ordinal);
        Ok(claim.map(|claim| Told {
            claim,
            extractor: answer.extraction.extractor.clone(),
            said_by: said_by.clone(),
            mapping: mapped.map(|mapped| FactMapping {
                vocabulary: mapped.vocabulary.clone(),
                predicate: mapped.predicate.clone(),
                confidence: Confidence::new(mapped.confidence),
            }),
            sure: Confidence::FULL,
        }))
    }

    /// An answer with who spoke; none if its words are being erased right now.
    fn answer_of<'a>(
        &self,
        tenant: u32,
        (offset, row): (u64, &AnswerRow),
        answers: &'a mut Answers,
    ) -> Result<Option<&'a Answered>, Error> {
        Ok(match answers.entry(offset) {
            Slot::Occupied(known) => Some(known.into_mut()),
            Slot::Vacant(slot) => {
                let Some(said) = self.answer_at(tenant, offset, row)? else { return Ok(None) };
                Some(slot.insert(said))
            }
        })
    }

    /// The same, perhaps from memory. One whose event is hidden is like one that was erased, wherever something
    /// stands on it.
    pub(in crate::read) fn answer_at(
        &self,
        tenant: u32,
        offset: u64,
        row: &AnswerRow,
    ) -> Result<Option<Arc<Answered>>, Error> {
        if self.hides(tenant, row.event)? {
            return Ok(None);
        }
        let asked = match self.shared.texts.answer(offset) {
            Ok(said) => return Ok(Some(said)),
            Err(asked) => asked,
        };
        let entry = self.reader.entry(offset, row.place)?;
        let Some(bytes) = entry.what.live() else { return Ok(None) };
        let answer = Answer::decode(bytes);
        let answer = answer.map_err(|_| Error::Undecodable { what: "an answer" })?;
        let who = entry.who.live().and_then(|who| AnswerWho::decode(who).ok());
        let said = Arc::new((answer, who.map(|who| who.observed_actor)));
        self.shared.texts.put_answer(offset, asked, &said);
        Ok(Some(said))
    }

    /// An answer by its entry.
    pub(in crate::read) fn answer<'a>(
        &self,
        tenant: u32,
        offset: u64,
        answers: &'a mut Answers,
    ) -> Result<Option<&'a Answer>, Error> {
        let Some(row) = answer_row(&self.views, tenant, offset)? else { return Ok(None) };
        Ok(self.answer_of(tenant, (offset, &row), answers)?.map(|said| &said.0))
    }

    pub(in crate::read) fn predicate_tag(
        &self,
        tenant: u32,
        predicate: Option<&str>,
    ) -> Result<Option<[u8; 16]>, Error> {
        let tag = |predicate: &str| self.derived_tag(tenant, "derive.predicate", predicate);
        predicate.map(tag).transpose()
    }

    pub(in crate::read) fn derived_tag(
        &self,
        tenant: u32,
        domain: &str,
        word: &str,
    ) -> Result<[u8; 16], Error> {
        let mac = self.keyed(tenant)?.mac(domain, &[word.as_bytes()]);
        Ok(*mac.first_chunk().expect("32 bytes have a first half"))
    }
}

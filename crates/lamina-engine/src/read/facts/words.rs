//! The words of facts: read from the answers that the evidence of a version names.

use std::collections::hash_map::Entry as Slot;
use std::collections::{BTreeSet, HashMap};

use lamina_core::derive::facts::{AssertionId, Content, Piece, PieceId, Said, Support, Value};
use lamina_store::codec::CodecError;
use lamina_store::codec::answer::{Answer, AnswerWho};
use lamina_store::kv::Space;
use lamina_types::layer::{Claim, Confidence, EntityKind, Object, Term};
use lamina_types::{ActorId, ConflictId, EntityId, EventId, FactId, RecordedAt};

use super::{EntityRef, FactMapping, FactObject, FactRecord};
use crate::Error;
use crate::derive::conflicts::rows::{ConflictRow, DecisionRow};
use crate::derive::read::{answer_row, row};
use crate::derive::rows::FactRow;
use crate::derive::{entities, facts, key};
use crate::engine::Inner;

/// Answers that were read for one page, with who spoke.
pub(crate) type Answers = HashMap<u64, (Answer, Option<ActorId>)>;

/// A claim with where it comes from.
pub(in crate::read) struct Told {
    pub(in crate::read) claim: Claim,
    extractor: String,
    event: EventId,
    said_by: Option<ActorId>,
    mapping: Option<FactMapping>,
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
        let mut objects = Vec::new();
        let mut said: Option<(Told, String)> = None;
        for value in values {
            let told = self.object(tenant, fact, value, recorded, answers)?;
            let Some((object, first)) = told else { continue };
            said.get_or_insert_with(|| (first, object.extractor.clone()));
            objects.push(object);
        }
        let Some((Told { claim, mapping, .. }, extractor)) = said else { return Ok(None) };
        let all = objects.iter().flat_map(|object| &object.supports);
        let supports: BTreeSet<EventId> = all.copied().collect();
        Ok(Some(FactRecord {
            id,
            scope: self.scope_path(tenant, fact.scope)?,
            subject: EntityRef { id: fact.subject, term: claim.subject },
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
            supersedes: self.version_id(tenant, fact, piece.supersedes)?,
            superseded_by: self.superseder(tenant, fact, piece, recorded)?,
            supports: supports.into_iter().collect(),
            conflict: self.conflict_of(tenant, fact)?,
        }))
    }

    /// What a version says of one value, and the first claim that says so.
    fn object(
        &self,
        tenant: u32,
        fact: &FactRow,
        value: Value,
        recorded: RecordedAt,
        answers: &mut Answers,
    ) -> Result<Option<(FactObject, Told)>, Error> {
        let says =
            |support: &&Support| support.recorded <= recorded && support.said == Said::Value(value);
        let mut first: Option<Told> = None;
        let (mut supports, mut said_by, mut confidence) = (Vec::new(), None, Confidence::new(0));
        for support in fact.piece.supports.iter().filter(says) {
            confidence = confidence.max(support.confidence);
            let Some(told) = self.told(tenant, support.source, answers)? else { continue };
            supports.push(told.event);
            said_by.clone_from(&told.said_by);
            first.get_or_insert(told);
        }
        let Some(first) = first else { return Ok(None) };
        let claim = &first.claim;
        let entity = match &claim.object {
            Object::Entity(term) => self.entity_of_term(tenant, fact.scope, term)?,
            _ => None,
        };
        supports.sort_unstable();
        supports.dedup();
        let object = FactObject {
            object: claim.object.clone(),
            entity,
            negated: matches!(value, Value::IsNot(_)),
            value,
            supports,
            confidence,
            extractor: first.extractor.clone(),
            said_by,
        };
        Ok(Some((object, first)))
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
            Some(to) if to <= recorded => self.version_id(tenant, fact, piece.superseded_by),
            _ => Ok(None),
        }
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
            None => {
                let decision = self.decision_row(tenant, offset)?;
                decision.map(|decision| (decision.seed, decision.recorded))
            }
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
        let (source, row) = match answer_row(&self.views, tenant, source.offset)? {
            Some(row) => (source, row),
            None => {
                let decision = self.decision_row(tenant, source.offset)?;
                let Some(said) = decision.and_then(|decision| decision.said) else {
                    return Ok(None);
                };
                let Some(row) = answer_row(&self.views, tenant, said.offset)? else {
                    return Ok(None);
                };
                (said, row)
            }
        };
        let (answer, said_by) = match answers.entry(source.offset) {
            Slot::Occupied(known) => known.into_mut(),
            Slot::Vacant(slot) => {
                let entry = self.reader.entry(source.offset, row.place)?;
                let Some(bytes) = entry.what.live() else { return Ok(None) };
                let answer = Answer::decode(bytes);
                let answer = answer.map_err(|_| Error::Undecodable { what: "an answer" })?;
                let who = entry.who.live().and_then(|who| AnswerWho::decode(who).ok());
                slot.insert((answer, who.map(|who| who.observed_actor)))
            }
        };
        let claim = answer.extraction.claims.get(usize::from(source.ordinal)).cloned();
        let mapped = answer.mapped.iter().find(|mapped| mapped.claim == source.ordinal);
        Ok(claim.map(|claim| Told {
            claim,
            extractor: answer.extraction.extractor.clone(),
            event: row.event,
            said_by: said_by.clone(),
            mapping: mapped.map(|mapped| FactMapping {
                vocabulary: mapped.vocabulary.clone(),
                predicate: mapped.predicate.clone(),
                confidence: Confidence::new(mapped.confidence),
            }),
        }))
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

    /// Who or what somebody means by an id or a name.
    pub(crate) fn entities_called(
        &self,
        tenant: u32,
        scopes: &[u64],
        called: &str,
    ) -> Result<BTreeSet<EntityId>, Error> {
        let mut found = BTreeSet::new();
        if let Ok(id) = called.parse::<EntityId>() {
            found.insert(id);
            return Ok(found);
        }
        let mut tags = Vec::new();
        if called.parse::<ActorId>().is_ok() {
            tags.push((0, self.derived_tag(tenant, "derive.actor", called)?));
        }
        // What kind of thing is meant is not said, and some names are folded by their kind.
        let folded: BTreeSet<String> =
            EntityKind::ALL.iter().map(|kind| entities::fold_name(called, *kind)).collect();
        for name in &folded {
            let name = self.derived_tag(tenant, "derive.name", name)?;
            let domains = std::iter::once(0).chain(scopes.iter().copied());
            tags.extend(domains.map(|domain| (domain, name)));
        }
        for (domain, tag) in tags {
            let alias = key::alias(tenant, domain, &tag);
            let id = row(&self.views, Space::Sources, &alias, |bytes| {
                bytes.try_into().map_err(|_| CodecError::Truncated)
            })?;
            found.extend(id.map(EntityId::from_bytes));
        }
        Ok(found)
    }

    pub(in crate::read) fn entity_of_term(
        &self,
        tenant: u32,
        scope: u64,
        term: &Term,
    ) -> Result<Option<EntityId>, Error> {
        let called = match term {
            Term::Actor(actor) => actor.as_str(),
            Term::Named { name, .. } => name,
            Term::Of { .. } => return Ok(None),
        };
        Ok(self.entities_called(tenant, &[scope], called)?.into_iter().next())
    }
}

//! The rows of the understanding layer: ids, numbers and keyed hashes.

use std::collections::BTreeSet;

use lamina_core::derive::concepts::things::{Noun, Spoken};
use lamina_core::derive::concepts::{Bond, Concept, Digest, Edge, Fact, Item, Relation, Standing};
use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::view::Tag;
use lamina_types::layer::Confidence;
use lamina_types::{ConceptId, EpisodeId, FactId, RecordedAt, ValidAt};
use sha2::{Digest as _, Sha256};

use super::key::{item_bytes, item_of, relation_bytes, relation_of};
use crate::derive::rows::{
    MALFORMED, Read, done, flag, instant, list, optional, put_instant, put_optional, put_source,
    read_source, short, small,
};

/// How often something occurs, and how many facts are about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) episodes: u32,
    pub(crate) facts: u32,
    /// The number that the scope gave it when it first occurred; 0 if it does not.
    pub(crate) first: u32,
}

/// Something that occurs, and where those stand that it occurs with: blocks of numbers in order, each with the step that its
/// most frequent has reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ItemRow {
    pub(crate) counts: Counts,
    pub(crate) blocks: Vec<(u32, u8)>,
}

/// How often something occurs with others, of one block of numbers: the last byte of each number, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BlockRow(pub(crate) Vec<(u8, u32)>);

/// What one answer speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThingsRow {
    /// The scopes that learn of it.
    pub(crate) scopes: Vec<u64>,
    /// The sealed episode it was counted with.
    pub(crate) episode: Option<EpisodeId>,
    pub(crate) spoken: Spoken,
    pub(crate) facts: Vec<Stated>,
    pub(crate) bonds: Vec<Tie>,
    /// Names that labels give concepts.
    pub(crate) labels: Vec<Tag>,
}

/// Two things that an answer connects, before it is known which things its episode is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tie {
    /// What it may lead from, the likeliest first.
    pub(crate) from: Vec<Tag>,
    pub(crate) relation: Relation,
    /// What it may lead to.
    pub(crate) to: Vec<Tag>,
}

/// A fact that an answer states, before it is known which things its episode is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stated {
    pub(crate) scope: u64,
    pub(crate) track: Tag,
    pub(crate) source: AssertionId,
    pub(crate) relation: Relation,
    /// What it may be about, the likeliest first.
    pub(crate) subjects: Vec<Tag>,
    /// What its other end may be.
    pub(crate) objects: Vec<Tag>,
}

/// A fact that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) scope: u64,
    pub(crate) track: Tag,
    pub(crate) source: AssertionId,
    pub(crate) subject: Item,
    pub(crate) relation: Relation,
    pub(crate) object: Option<Item>,
}

/// What a sealed episode contributes to a scope, and from which answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DigestRow {
    pub(crate) at: RecordedAt,
    pub(crate) began: ValidAt,
    pub(crate) answers: Vec<u64>,
    pub(crate) items: Vec<Item>,
    pub(crate) facts: Vec<Claimed>,
    pub(crate) bonds: Vec<Bond>,
}

/// A concept with its scope, and how sure it was when it was synthesized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConceptRow {
    pub(crate) scope: u64,
    pub(crate) concept: Concept,
    pub(crate) confidence: Confidence,
}

impl ItemRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let Counts { episodes, facts, first } = self.counts;
        let mut out = Vec::with_capacity(8 + 2 * self.blocks.len());
        for number in [episodes, facts, first] {
            put_varint(&mut out, u64::from(number));
        }
        put_varint(&mut out, self.blocks.len() as u64);
        for (block, step) in &self.blocks {
            put_varint(&mut out, u64::from(*block));
            out.push(*step);
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<ItemRow> {
        let mut from = Cursor::new(bytes);
        let (episodes, facts) = (small(&mut from)?, small(&mut from)?);
        let counts = Counts { episodes, facts, first: small(&mut from)? };
        let blocks = list(&mut from, |from| Ok((small(from)?, from.byte()?)))?;
        done(&from, ItemRow { counts, blocks })
    }
}

impl BlockRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(2 * self.0.len());
        for (number, count) in &self.0 {
            out.push(*number);
            put_varint(&mut out, u64::from(*count));
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<BlockRow> {
        let mut from = Cursor::new(bytes);
        let mut row = Vec::with_capacity(bytes.len() / 2);
        while !from.is_done() {
            row.push((from.byte()?, small(&mut from)?));
        }
        Ok(BlockRow(row))
    }

    /// How often it occurs with the one of a number.
    pub(crate) fn count(&self, number: u8) -> u32 {
        let at = self.0.binary_search_by_key(&number, |(known, _)| *known);
        at.ok().and_then(|at| self.0.get(at)).map_or(0, |(_, count)| *count)
    }

    /// It occurs with the one of a number so often now.
    pub(crate) fn set(&mut self, number: u8, now: u32) {
        match self.0.binary_search_by_key(&number, |(known, _)| *known) {
            Ok(at) if now == 0 => drop(self.0.remove(at)),
            Ok(at) => self.0.iter_mut().skip(at).take(1).for_each(|known| known.1 = now),
            Err(_) if now == 0 => {}
            Err(at) => self.0.insert(at, (number, now)),
        }
    }
}

/// The bytes of a count.
pub(crate) fn put_count(count: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(2);
    put_varint(&mut out, u64::from(count));
    out
}

/// The count of these bytes.
pub(crate) fn count_of(bytes: &[u8]) -> Read<u32> {
    let mut from = Cursor::new(bytes);
    let count = small(&mut from)?;
    done(&from, count)
}

impl ThingsRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        put_numbers(&mut out, &self.scopes);
        put_optional(&mut out, self.episode.as_ref(), |out, id| {
            out.extend_from_slice(id.as_bytes());
        });
        put_tags(&mut out, &self.spoken.names);
        put_varint(&mut out, self.spoken.nouns.len() as u64);
        for noun in &self.spoken.nouns {
            out.push(u8::from(noun.maybe_name));
            out.extend_from_slice(&noun.word);
            put_optional(&mut out, noun.with_next.as_ref(), |out, both| {
                out.extend_from_slice(both);
            });
        }
        put_varint(&mut out, self.facts.len() as u64);
        for Stated { scope, track, source, relation, subjects, objects } in &self.facts {
            put_varint(&mut out, *scope);
            out.extend_from_slice(track);
            put_source(&mut out, *source);
            put_relation(&mut out, *relation);
            put_tags(&mut out, subjects);
            put_tags(&mut out, objects);
        }
        put_varint(&mut out, self.bonds.len() as u64);
        for Tie { from, relation, to } in &self.bonds {
            put_tags(&mut out, from);
            put_relation(&mut out, *relation);
            put_tags(&mut out, to);
        }
        // Left out where there are none: rows of before have none either.
        if !self.labels.is_empty() {
            put_tags(&mut out, &self.labels);
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<ThingsRow> {
        let mut from = Cursor::new(bytes);
        let row = ThingsRow {
            scopes: numbers(&mut from)?,
            episode: optional(&mut from, tag)?.map(EpisodeId::from_bytes),
            spoken: Spoken {
                names: list(&mut from, tag)?,
                nouns: list(&mut from, |from| {
                    let maybe_name = flag(from)?;
                    Ok(Noun { word: from.array()?, with_next: optional(from, tag)?, maybe_name })
                })?,
            },
            facts: list(&mut from, |from| {
                Ok(Stated {
                    scope: from.varint()?,
                    track: from.array()?,
                    source: read_source(from)?,
                    relation: relation(from)?,
                    subjects: list(from, tag)?,
                    objects: list(from, tag)?,
                })
            })?,
            bonds: list(&mut from, |from| {
                Ok(Tie { from: list(from, tag)?, relation: relation(from)?, to: list(from, tag)? })
            })?,
            labels: if from.is_done() { Vec::new() } else { list(&mut from, tag)? },
        };
        done(&from, row)
    }
}

impl Stated {
    /// The fact as the things of its episode see it; `None` if it is about none of them.
    pub(crate) fn among(&self, items: &[Item]) -> Option<Claimed> {
        let subject = first_of(&self.subjects, items)?;
        let object = first_of(&self.objects, items).filter(|object| *object != subject);
        let Stated { scope, track, source, relation, .. } = *self;
        Some(Claimed { scope, track, source, subject, relation, object })
    }
}

impl Tie {
    /// The bond as the things of its episode see it.
    pub(crate) fn among(&self, items: &[Item]) -> Option<Bond> {
        let (from, to) = (first_of(&self.from, items)?, first_of(&self.to, items)?);
        (from != to).then_some(Bond { from, relation: self.relation, to })
    }
}

fn first_of(tags: &[Tag], items: &[Item]) -> Option<Item> {
    tags.iter().map(|tag| Item::Value(*tag)).find(|item| items.contains(item))
}

impl DigestRow {
    /// Where it comes among others: when its episode was sealed, and its first answer. Ids of the same millisecond are in no
    /// order.
    pub(crate) fn place(&self) -> (RecordedAt, Option<u64>) {
        (self.at, self.answers.iter().min().copied())
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        put_instant(&mut out, self.at.0);
        put_instant(&mut out, self.began.0);
        put_numbers(&mut out, &self.answers);
        put_items(&mut out, &self.items);
        put_claimed(&mut out, &self.facts);
        put_varint(&mut out, self.bonds.len() as u64);
        for Bond { from, relation, to } in &self.bonds {
            out.extend_from_slice(&item_bytes(*from));
            put_relation(&mut out, *relation);
            out.extend_from_slice(&item_bytes(*to));
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<DigestRow> {
        let mut from = Cursor::new(bytes);
        let row = DigestRow {
            at: RecordedAt(instant(&mut from)?),
            began: ValidAt(instant(&mut from)?),
            answers: numbers(&mut from)?,
            items: items(&mut from)?,
            facts: claimed(&mut from)?,
            bonds: list(&mut from, |from| {
                Ok(Bond { from: item(from)?, relation: relation(from)?, to: item(from)? })
            })?,
        };
        done(&from, row)
    }

    /// What an episode contributes before it is counted.
    pub(crate) fn nothing(at: RecordedAt, began: ValidAt) -> DigestRow {
        let (answers, items, facts, bonds) = Default::default();
        DigestRow { at, began, answers, items, facts, bonds }
    }

    /// Brings it into the bounds of a digest. Its things stay in the order of their importance.
    pub(crate) fn trim(&mut self) {
        let digest = self.digest(EpisodeId::from_bytes([0; 16]));
        let more: Vec<Item> =
            digest.items().iter().copied().filter(|item| !self.items.contains(item)).collect();
        self.items.extend(more);
        self.items.retain(|item| digest.items().contains(item));
        let kept: BTreeSet<FactId> = digest.facts().iter().map(|fact| fact.fact).collect();
        self.facts
            .retain(|fact| kept.contains(&fact.id()) && digest.items().contains(&fact.subject));
        self.facts.sort_by_key(|fact| (fact.source, fact.track));
        self.bonds = digest.bonds().to_vec();
    }

    /// As the counts take it.
    pub(crate) fn digest(&self, episode: EpisodeId) -> Digest {
        let facts = self.facts.iter().map(|claimed| Fact {
            fact: claimed.id(),
            subject: claimed.subject,
            relation: claimed.relation,
            object: claimed.object,
        });
        let digest = Digest::new((episode, self.at, self.began), self.items.iter().copied(), facts);
        digest.with_bonds(self.bonds.iter().copied())
    }
}

impl Claimed {
    /// What tells it apart from others: where it was said. Not the id of a version of the fact, of
    /// which there are several in the course of time.
    fn id(&self) -> FactId {
        let mut id = [0; 16];
        let AssertionId { offset, ordinal } = self.source;
        let bytes = offset.to_be_bytes().into_iter().chain(ordinal.to_be_bytes());
        id.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        FactId::from_bytes(id)
    }
}

impl ConceptRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let Concept {
            id,
            version,
            leader,
            members,
            standing,
            derived_from,
            created,
            synthesized,
            valid_from,
            valid_to,
            episodes_count,
            facts_count,
            lost_count,
            edges,
        } = &self.concept;
        let mut out = Vec::with_capacity(256);
        put_varint(&mut out, self.scope);
        put_varint(&mut out, u64::from(self.confidence.get()));
        out.extend_from_slice(id.as_bytes());
        put_varint(&mut out, u64::from(*version));
        out.extend_from_slice(&item_bytes(*leader));
        put_items(&mut out, members);
        match standing {
            Standing::Held => out.push(0),
            Standing::Merged { into } => {
                out.push(1);
                out.extend_from_slice(into.as_bytes());
            }
            Standing::Split => out.push(2),
            Standing::Deprecated => out.push(3),
        }
        put_varint(&mut out, derived_from.len() as u64);
        for id in derived_from {
            out.extend_from_slice(id.as_bytes());
        }
        for at in [created.0, synthesized.0, valid_from.0] {
            put_instant(&mut out, at);
        }
        put_optional(&mut out, valid_to.as_ref(), |out, at| put_instant(out, at.0));
        for count in [*episodes_count, *facts_count, *lost_count] {
            put_varint(&mut out, u64::from(count));
        }
        put_varint(&mut out, edges.len() as u64);
        for Edge { to, relation, weight } in edges {
            out.extend_from_slice(to.as_bytes());
            put_relation(&mut out, *relation);
            put_varint(&mut out, u64::from(*weight));
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<ConceptRow> {
        let mut from = Cursor::new(bytes);
        let from = &mut from;
        let scope = from.varint()?;
        let confidence = Confidence::new(short(from)?);
        let concept = Concept {
            id: ConceptId::from_bytes(from.array()?),
            version: small(from)?,
            leader: item(from)?,
            members: items(from)?,
            standing: match from.byte()? {
                0 => Standing::Held,
                1 => Standing::Merged { into: ConceptId::from_bytes(from.array()?) },
                2 => Standing::Split,
                3 => Standing::Deprecated,
                _ => return Err(MALFORMED),
            },
            derived_from: list(from, |from| Ok(ConceptId::from_bytes(from.array()?)))?,
            created: RecordedAt(instant(from)?),
            synthesized: RecordedAt(instant(from)?),
            valid_from: ValidAt(instant(from)?),
            valid_to: optional(from, instant)?.map(ValidAt),
            episodes_count: small(from)?,
            facts_count: small(from)?,
            lost_count: small(from)?,
            edges: list(from, |from| {
                Ok(Edge {
                    to: ConceptId::from_bytes(from.array()?),
                    relation: relation(from)?,
                    weight: small(from)?,
                })
            })?,
        };
        done(from, ConceptRow { scope, concept, confidence })
    }

    /// The id of this version alone (C29): the concept's own stays the same for all.
    pub(crate) fn version_id(&self) -> ConceptId {
        version_id(&self.concept)
    }
}

/// The id of one version of a concept.
pub(crate) fn version_id(concept: &Concept) -> ConceptId {
    let hash = Sha256::new().chain_update(b"version").chain_update(concept.id.as_bytes());
    let hash: [u8; 32] = hash.chain_update(concept.version.to_be_bytes()).finalize().into();
    let entropy = *hash.first_chunk().expect("32 bytes have a first quarter");
    ConceptId::mint(concept.synthesized.0, entropy)
}

fn put_numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    put_varint(out, numbers.len() as u64);
    for number in numbers {
        put_varint(out, *number);
    }
}

fn numbers(from: &mut Cursor<'_>) -> Read<Vec<u64>> {
    list(from, |from| from.varint())
}

fn put_tags(out: &mut Vec<u8>, tags: &[Tag]) {
    put_varint(out, tags.len() as u64);
    for tag in tags {
        out.extend_from_slice(tag);
    }
}

fn put_items(out: &mut Vec<u8>, items: &[Item]) {
    put_varint(out, items.len() as u64);
    for item in items {
        out.extend_from_slice(&item_bytes(*item));
    }
}

fn items(from: &mut Cursor<'_>) -> Read<Vec<Item>> {
    list(from, item)
}

fn item(from: &mut Cursor<'_>) -> Read<Item> {
    item_of(&from.array()?).ok_or(MALFORMED)
}

fn put_relation(out: &mut Vec<u8>, relation: Relation) {
    let (number, custom) = relation_bytes(relation);
    out.push(number);
    if matches!(relation, Relation::Custom(_)) {
        out.extend_from_slice(&custom);
    }
}

fn relation(from: &mut Cursor<'_>) -> Read<Relation> {
    let number = from.byte()?;
    match relation_of(number, [0; 16]).ok_or(MALFORMED)? {
        Relation::Custom(_) => from.array().map(Relation::Custom),
        known => Ok(known),
    }
}

fn put_claimed(out: &mut Vec<u8>, facts: &[Claimed]) {
    put_varint(out, facts.len() as u64);
    for Claimed { scope, track, source, subject, relation, object } in facts {
        put_varint(out, *scope);
        out.extend_from_slice(track);
        put_source(out, *source);
        out.extend_from_slice(&item_bytes(*subject));
        put_relation(out, *relation);
        put_optional(out, object.as_ref(), |out, item| out.extend_from_slice(&item_bytes(*item)));
    }
}

fn claimed(from: &mut Cursor<'_>) -> Read<Vec<Claimed>> {
    list(from, |from| {
        Ok(Claimed {
            scope: from.varint()?,
            track: from.array()?,
            source: read_source(from)?,
            subject: item(from)?,
            relation: relation(from)?,
            object: optional(from, item)?,
        })
    })
}

fn tag(from: &mut Cursor<'_>) -> Read<Tag> {
    from.array()
}

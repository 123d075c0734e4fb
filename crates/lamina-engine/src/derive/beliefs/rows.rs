//! The rows of beliefs: masses, counts, times, keyed hashes and ids, and no words.

use std::collections::BTreeSet;

use lamina_core::derive::beliefs::declare::Declaration;
use lamina_core::derive::beliefs::ledger::{Held, Piece, Said};
use lamina_core::derive::beliefs::{
    Deletion, Deprecation, Evidence, Mass, Polarity, Standing, State, SupportId, Witness, trust,
};
use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::Place;
use lamina_store::view::Tag;
use lamina_types::layer::{Confidence, SourceClass};
use lamina_types::{BeliefId, EpisodeId, EventId, RecordedAt, ValidAt};

use crate::derive::key::beliefs::ClaimKey;
use crate::derive::rows::{
    MALFORMED, Read, done, flag, instant, list, optional, put_instant, put_optional, put_source,
    read_source, short, small,
};

/// The belief in a claim: the one that stands, or the last that did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BeliefRow {
    /// Its id.
    pub(crate) id: BeliefId,
    /// What it is about.
    pub(crate) about: About,
    /// The first thing that was said for it; the words are there.
    pub(crate) first: AssertionId,
    /// It was declared.
    pub(crate) declared: bool,
    /// When it was last supported, if it is among those that count.
    pub(crate) supported: Option<RecordedAt>,
    /// From when it was last said to hold.
    pub(crate) latest: ValidAt,
    /// When something was last said about it, or taken back from then on.
    pub(crate) touched: RecordedAt,
    /// Since when it is known, with what was taken back since.
    pub(crate) since: RecordedAt,
    /// Itself.
    pub(crate) held: Held,
}

/// What a claim is about, as far as rows need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct About {
    /// Whom or what: an entity, or a keyed hash of a name that nobody has spoken of.
    pub(crate) subject: Tag,
    /// It is an entity.
    pub(crate) is_entity: bool,
    /// The predicate.
    pub(crate) predicate: Tag,
    /// Only one value can be true at a time.
    pub(crate) is_single: bool,
}

/// What is found under the id of a belief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// It stands under this claim.
    Stands(ClaimKey),
    /// Another one stands there now.
    Past(ClaimKey, Box<BeliefRow>),
    /// It is gone.
    Gone(Deletion),
}

/// Something that was said about a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PieceRow {
    /// The belief that took it.
    pub(crate) belief: BeliefId,
    /// What was said.
    pub(crate) piece: Piece,
    /// Which event says so; none for what was declared.
    pub(crate) event: Option<EventId>,
    /// What kind of source that is.
    pub(crate) class: SourceClass,
    /// What it weighs, in ten-thousandths.
    pub(crate) weight: u16,
    /// Where the log keeps a declaration.
    pub(crate) place: Place,
    /// From when it does not count any more: its event was read again, or whom it is about turned out to be somebody
    /// else. Before, it did.
    pub(crate) gone: Option<RecordedAt>,
    /// Brought here from another claim: where it was said.
    pub(crate) origin: Option<AssertionId>,
    /// Since when its words are gone. It counts all the same.
    pub(crate) redacted: Option<RecordedAt>,
}

impl PieceRow {
    /// Whether it counts with the knowledge of an instant.
    pub(crate) fn counts(&self, at: RecordedAt) -> bool {
        self.piece.recorded() <= at && self.gone.is_none_or(|gone| at < gone)
    }

    /// Whether an entry said it, here or where it was brought from.
    pub(crate) fn is_of(&self, source: AssertionId, offset: u64) -> bool {
        source.offset == offset || self.origin.is_some_and(|origin| origin.offset == offset)
    }

    /// The same of several entries.
    pub(crate) fn is_of_any(&self, source: AssertionId, offsets: &BTreeSet<u64>) -> bool {
        offsets.contains(&source.offset)
            || self.origin.is_some_and(|origin| offsets.contains(&origin.offset))
    }
}

/// What an entry came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct MadeRow {
    /// The claims it spoke about.
    pub(crate) claims: Vec<ClaimKey>,
    /// Beliefs that took something of it.
    pub(crate) touched: u32,
    /// Beliefs that changed what they show.
    pub(crate) updated: u32,
    /// The scope and time of the sample it gave.
    pub(crate) sample: Option<(u64, RecordedAt)>,
    /// The terms of vocabularies that it said something under: the name of the vocabulary and the predicate.
    pub(crate) terms: BTreeSet<(Tag, Tag)>,
}

impl BeliefRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(192);
        self.put(&mut out);
        out
    }

    fn put(&self, out: &mut Vec<u8>) {
        let BeliefRow { id, about, first, declared, supported, latest, touched, since, held } =
            self;
        let About { subject, is_entity, predicate, is_single } = about;
        out.extend_from_slice(id.as_bytes());
        out.extend_from_slice(subject);
        out.extend_from_slice(predicate);
        out.extend([is_entity, is_single, declared].map(|flag| u8::from(*flag)));
        put_source(out, *first);
        put_optional(out, supported.as_ref(), |out, at| put_instant(out, at.0));
        put_instant(out, latest.0);
        put_instant(out, touched.0);
        put_instant(out, since.0);
        put_held(out, held);
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<BeliefRow> {
        let mut from = Cursor::new(bytes);
        let row = BeliefRow::read(&mut from)?;
        done(&from, row)
    }

    fn read(from: &mut Cursor<'_>) -> Read<BeliefRow> {
        let id = BeliefId::from_bytes(from.array()?);
        let (subject, predicate) = (from.array()?, from.array()?);
        let (is_entity, is_single, declared) = (flag(from)?, flag(from)?, flag(from)?);
        Ok(BeliefRow {
            id,
            about: About { subject, is_entity, predicate, is_single },
            declared,
            first: read_source(from)?,
            supported: optional(from, instant)?.map(RecordedAt),
            latest: ValidAt(instant(from)?),
            touched: RecordedAt(instant(from)?),
            since: RecordedAt(instant(from)?),
            held: held(from)?,
        })
    }
}

impl Found {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(48);
        match self {
            Found::Stands(claim) => {
                out.push(0);
                put_claim(&mut out, claim);
            }
            Found::Past(claim, row) => {
                out.push(1);
                put_claim(&mut out, claim);
                row.put(&mut out);
            }
            Found::Gone(why) => out.extend([2, deletion_number(*why)]),
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<Found> {
        let mut from = Cursor::new(bytes);
        let found = match from.byte()? {
            0 => Found::Stands(claim(&mut from)?),
            1 => Found::Past(claim(&mut from)?, Box::new(BeliefRow::read(&mut from)?)),
            2 => Found::Gone(deletion(from.byte()?)?),
            _ => return Err(MALFORMED),
        };
        done(&from, found)
    }
}

impl PieceRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let PieceRow { belief, piece, event, class, weight, place, gone, origin, redacted } = self;
        let mut out = Vec::with_capacity(112);
        out.extend_from_slice(belief.as_bytes());
        put_optional(&mut out, event.as_ref(), |out, id| out.extend_from_slice(id.as_bytes()));
        out.push(*class as u8);
        put_varint(&mut out, u64::from(*weight));
        put_varint(&mut out, place.0);
        put_optional(&mut out, gone.as_ref(), |out, at| put_instant(out, at.0));
        put_optional(&mut out, origin.as_ref(), |out, origin| put_source(out, *origin));
        put_optional(&mut out, redacted.as_ref(), |out, at| put_instant(out, at.0));
        match piece {
            Piece::Said(said) => {
                out.push(0);
                put_said(&mut out, said);
            }
            Piece::Declared(declaration) => {
                out.push(1);
                let Declaration { confidence, valid_from, supports_count, at, expires } =
                    declaration;
                put_varint(&mut out, u64::from(confidence.get()));
                put_instant(&mut out, valid_from.0);
                put_varint(&mut out, u64::from(*supports_count));
                put_instant(&mut out, at.0);
                put_optional(&mut out, expires.as_ref(), |out, at| put_instant(out, at.0));
            }
            Piece::Closed { at, newer } => {
                out.push(2);
                put_instant(&mut out, at.0);
                put_instant(&mut out, newer.0);
            }
            Piece::Moved { at } => {
                out.push(3);
                put_instant(&mut out, at.0);
            }
            Piece::Renamed { at } => {
                out.push(5);
                put_instant(&mut out, at.0);
            }
            Piece::Returned { at } => {
                out.push(6);
                put_instant(&mut out, at.0);
            }
            Piece::Decided { at, from } => {
                out.push(4);
                put_instant(&mut out, at.0);
                put_optional(&mut out, from.as_ref(), |out, from| put_instant(out, from.0));
            }
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<PieceRow> {
        let mut from = Cursor::new(bytes);
        let belief = BeliefId::from_bytes(from.array()?);
        let event = optional(&mut from, |from| from.array().map(EventId::from_bytes))?;
        let class = class(from.byte()?)?;
        let weight = short(&mut from)?;
        let place = Place(from.varint()?);
        let gone = optional(&mut from, instant)?.map(RecordedAt);
        let origin = optional(&mut from, read_source)?;
        let redacted = optional(&mut from, instant)?.map(RecordedAt);
        let piece = match from.byte()? {
            0 => Piece::Said(said(&mut from, class, event)?),
            1 => Piece::Declared(Declaration {
                confidence: Confidence::new(short(&mut from)?),
                valid_from: ValidAt(instant(&mut from)?),
                supports_count: small(&mut from)?,
                at: RecordedAt(instant(&mut from)?),
                expires: optional(&mut from, instant)?.map(RecordedAt),
            }),
            2 => Piece::Closed {
                at: RecordedAt(instant(&mut from)?),
                newer: ValidAt(instant(&mut from)?),
            },
            3 => Piece::Moved { at: RecordedAt(instant(&mut from)?) },
            4 => Piece::Decided {
                at: RecordedAt(instant(&mut from)?),
                from: optional(&mut from, instant)?.map(ValidAt),
            },
            5 => Piece::Renamed { at: RecordedAt(instant(&mut from)?) },
            6 => Piece::Returned { at: RecordedAt(instant(&mut from)?) },
            _ => return Err(MALFORMED),
        };
        let row = PieceRow { belief, piece, event, class, weight, place, gone, origin, redacted };
        done(&from, row)
    }
}

impl MadeRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let MadeRow { claims, touched, updated, sample, terms } = self;
        let mut out = Vec::with_capacity(8 + 40 * claims.len());
        put_varint(&mut out, claims.len() as u64);
        for claim in claims {
            put_claim(&mut out, claim);
        }
        put_varint(&mut out, u64::from(*touched));
        put_varint(&mut out, u64::from(*updated));
        put_optional(&mut out, sample.as_ref(), |out, (scope, at)| {
            put_varint(out, *scope);
            put_instant(out, at.0);
        });
        put_varint(&mut out, terms.len() as u64);
        for (vocabulary, predicate) in terms {
            out.extend_from_slice(vocabulary);
            out.extend_from_slice(predicate);
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Read<MadeRow> {
        let mut from = Cursor::new(bytes);
        let row = MadeRow {
            claims: list(&mut from, claim)?,
            touched: small(&mut from)?,
            updated: small(&mut from)?,
            sample: optional(&mut from, |from| Ok((from.varint()?, RecordedAt(instant(from)?))))?,
            terms: list(&mut from, |from| Ok((from.array()?, from.array()?)))?
                .into_iter()
                .collect(),
        };
        done(&from, row)
    }
}

fn put_claim(out: &mut Vec<u8>, claim: &ClaimKey) {
    put_varint(out, claim.scope);
    out.extend_from_slice(&claim.said);
    out.extend_from_slice(&claim.value);
}

fn claim(from: &mut Cursor<'_>) -> Read<ClaimKey> {
    Ok(ClaimKey { scope: from.varint()?, said: from.array()?, value: from.array()? })
}

fn put_said(out: &mut Vec<u8>, said: &Said) {
    let Said { evidence, valid_to, floor, names } = said;
    let Evidence {
        source: _,
        polarity,
        confidence,
        trust: _,
        witness,
        recorded,
        valid_from,
        expires,
    } = evidence;
    out.push(side(*polarity));
    out.push(u8::from(*names));
    put_varint(out, u64::from(confidence.get()));
    out.extend_from_slice(&witness.actor);
    put_optional(out, witness.episode.as_ref(), |out, id| out.extend_from_slice(id.as_bytes()));
    put_instant(out, recorded.0);
    put_instant(out, valid_from.0);
    put_optional(out, valid_to.as_ref(), |out, at| put_instant(out, at.0));
    put_optional(out, expires.as_ref(), |out, at| put_instant(out, at.0));
    put_optional(out, floor.as_ref(), |out, floor| put_varint(out, u64::from(floor.get())));
}

fn said(from: &mut Cursor<'_>, class: SourceClass, event: Option<EventId>) -> Read<Said> {
    let polarity = match from.byte()? {
        0 => Polarity::Supports,
        1 => Polarity::Against,
        _ => return Err(MALFORMED),
    };
    let names = flag(from)?;
    let evidence = Evidence {
        source: SupportId::Event(event.ok_or(MALFORMED)?),
        polarity,
        confidence: Confidence::new(short(from)?),
        trust: trust(class),
        witness: Witness {
            actor: from.array()?,
            episode: optional(from, |from| from.array().map(EpisodeId::from_bytes))?,
        },
        recorded: RecordedAt(instant(from)?),
        valid_from: ValidAt(instant(from)?),
        expires: None,
    };
    let valid_to = optional(from, instant)?.map(ValidAt);
    let expires = optional(from, instant)?.map(RecordedAt);
    let floor = optional(from, short)?.map(Confidence::new);
    Ok(Said { evidence: Evidence { expires, ..evidence }, valid_to, floor, names })
}

/// The number of a side, also in keys.
pub(crate) fn side(polarity: Polarity) -> u8 {
    match polarity {
        Polarity::Supports => 0,
        Polarity::Against => 1,
    }
}

fn class(byte: u8) -> Read<SourceClass> {
    SourceClass::of_number(byte).ok_or(MALFORMED)
}

fn put_held(out: &mut Vec<u8>, held: &Held) {
    let Held { state, floor, valid_to } = held;
    put_varint(out, u64::from(floor.get()));
    put_optional(out, valid_to.as_ref(), |out, at| put_instant(out, at.0));
    let State {
        prior,
        known,
        shown,
        supports_count,
        against_count,
        redacted_count,
        created,
        last_revised,
        last_evidence,
        revision_count,
        recent,
        due,
        valid_from,
        expires,
        standing,
    } = state;
    for Mass { supports, against } in [prior, known, shown] {
        put_varint(out, *supports);
        put_varint(out, *against);
    }
    for count in [supports_count, against_count, redacted_count, revision_count] {
        put_varint(out, u64::from(*count));
    }
    for at in [created, last_revised, last_evidence] {
        put_instant(out, at.0);
    }
    put_varint(out, recent.len() as u64);
    for at in recent {
        put_instant(out, at.0);
    }
    put_optional(out, due.as_ref(), |out, at| put_instant(out, at.0));
    put_instant(out, valid_from.0);
    put_optional(out, expires.as_ref(), |out, at| put_instant(out, at.0));
    match standing {
        Standing::Held => out.push(0),
        Standing::Deprecated { at, why } => {
            out.push(match why {
                Deprecation::Vocabulary => 1,
                Deprecation::Identity => 2,
                Deprecation::Replaced => 3,
                Deprecation::ReadAgain => 7,
                Deprecation::Decided => 8,
            });
            put_instant(out, at.0);
        }
        Standing::Deleted { at, why } => {
            out.push(4 + deletion_number(*why));
            put_instant(out, at.0);
        }
    }
}

fn held(from: &mut Cursor<'_>) -> Read<Held> {
    let floor = Confidence::new(short(from)?);
    let valid_to = optional(from, instant)?.map(ValidAt);
    let mass = |from: &mut Cursor<'_>| -> Read<Mass> {
        Ok(Mass { supports: from.varint()?, against: from.varint()? })
    };
    let (prior, known, shown) = (mass(from)?, mass(from)?, mass(from)?);
    let (supports_count, against_count) = (small(from)?, small(from)?);
    let (redacted_count, revision_count) = (small(from)?, small(from)?);
    let state = State {
        prior,
        known,
        shown,
        supports_count,
        against_count,
        redacted_count,
        revision_count,
        created: RecordedAt(instant(from)?),
        last_revised: RecordedAt(instant(from)?),
        last_evidence: RecordedAt(instant(from)?),
        recent: list(from, |from| instant(from).map(RecordedAt))?,
        due: optional(from, instant)?.map(RecordedAt),
        valid_from: ValidAt(instant(from)?),
        expires: optional(from, instant)?.map(RecordedAt),
        standing: standing(from)?,
    };
    Ok(Held { state, floor, valid_to })
}

fn standing(from: &mut Cursor<'_>) -> Read<Standing> {
    let number = from.byte()?;
    if number == 0 {
        return Ok(Standing::Held);
    }
    let at = RecordedAt(instant(from)?);
    Ok(match number {
        1 => Standing::Deprecated { at, why: Deprecation::Vocabulary },
        2 => Standing::Deprecated { at, why: Deprecation::Identity },
        3 => Standing::Deprecated { at, why: Deprecation::Replaced },
        7 => Standing::Deprecated { at, why: Deprecation::ReadAgain },
        8 => Standing::Deprecated { at, why: Deprecation::Decided },
        _ => Standing::Deleted { at, why: deletion(number.wrapping_sub(4))? },
    })
}

fn deletion_number(why: Deletion) -> u8 {
    match why {
        Deletion::BelowFloor => 0,
        Deletion::Expired => 1,
        Deletion::Unsupported => 2,
    }
}

fn deletion(number: u8) -> Read<Deletion> {
    match number {
        0 => Ok(Deletion::BelowFloor),
        1 => Ok(Deletion::Expired),
        2 => Ok(Deletion::Unsupported),
        _ => Err(MALFORMED),
    }
}

#[cfg(test)]
mod tests;

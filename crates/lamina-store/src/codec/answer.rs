//! The two sections of an `answer` entry: what was made of the words of one event.
//!
//! The head's first cause is the event. The fold reads answers and never the words themselves, so
//! everything that was decided from words is in here: claims, which names are the same, whether a new
//! topic begins, what is only an echo. Who spoke stands in `who`, so that it can be erased on its own.

use lamina_types::layer::{ByteSpan, EntityKind, Extraction, Settling, SourceClass, Term};
use lamina_types::recall::Layer;
use lamina_types::{ActorId, BeliefId, EventId, Micros, ScopePath, ValidAt};

use crate::codec::CodecError;
use crate::codec::models::Cost;
use crate::codec::wire::{
    Cursor, FieldWriter, array, fields, number, once, parsed, put_sized, put_varint, required,
    string,
};

mod claim;

const VERSION: u8 = 1;

/// The `who` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerWho {
    /// Who did what the event is about.
    pub observed_actor: ActorId,
    /// The actor's session, which keeps conversations apart.
    pub session: Option<String>,
}

/// The `what` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// When the event happened.
    pub observed_at: ValidAt,
    /// What was found.
    pub extraction: Extraction,
    /// Names that mean somebody or something that is known under another one.
    pub matches: Vec<Match>,
    /// Claims whose predicate is a term of a vocabulary.
    pub mapped: Vec<Mapped>,
    /// Claims whose predicate is a relation of a vocabulary, by position.
    pub relations: Vec<u16>,
    /// Claims whose words do not bear them out, by position: kept to be seen, never believed.
    pub ungrounded: Vec<u16>,
    /// The event begins a new topic.
    pub shifts_topic: bool,
    /// Events that it says it follows from.
    pub preceded_by: Vec<EventId>,
    /// What the caller asked for.
    pub asked: Asked,
    /// A model is to be asked about the event too.
    pub awaits_model: bool,
    /// A model was asked: the event's share of what that took.
    pub cost: Option<Cost>,
    /// Where the words come from.
    pub source_class: SourceClass,
    /// Feedback: which belief it is about, and whether that came true.
    pub judged: Option<(BeliefId, bool)>,
    /// Feedback: which records it is about, and whether they were useful.
    pub rated: Vec<Rating>,
    /// Sentences that only say again what was shown from memory.
    pub echoes: Vec<Echo>,
    /// Claims that stand in such sentences, by position: nothing is learned from them.
    pub echoed: Vec<u16>,
    /// It says how things are to be done from then on.
    pub stands: bool,
    /// Instructions that it takes back, or sets otherwise.
    pub revoked: Vec<Revoked>,
    /// Names that labels of the event give concepts.
    pub concepts: Vec<String>,
}

/// An instruction that does not apply any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revoked {
    /// The event that gave it.
    pub event: EventId,
    /// What it is known by: the keyed hash of its words.
    pub value: [u8; 16],
}

/// Whether a record was useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rating {
    /// Which kind of record.
    pub layer: Layer,
    /// Which.
    pub id: [u8; 16],
    /// Whether it was.
    pub useful: bool,
}

/// A sentence that only says again what was shown from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// Where it stands.
    pub span: ByteSpan,
    /// The event whose words it repeats.
    pub of: EventId,
}

/// What the directives of the event ask of the fold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// Facts stand beside what is known and do not end it.
    pub no_supersede: bool,
    /// Beliefs under this are not kept, in ten-thousandths.
    pub confidence_floor: Option<u16>,
    /// How long beliefs hold, in microseconds.
    pub belief_ttl: Option<i64>,
    /// How long the event itself is kept, in microseconds.
    pub event_ttl: Option<i64>,
    /// A second scope that learns of it; the writer's permit covered it.
    pub consolidate_into: Option<ScopePath>,
    /// Nothing of it is evidence for beliefs.
    pub no_beliefs: bool,
    /// The event says how well an earlier answer was: evidence only, nothing is learned from its words.
    pub feedback: bool,
    /// What the scope asks to be done with values of one instant that exclude each other.
    pub settles: Option<Settling>,
    /// The source of a structured record, as its label names it.
    pub source: Option<String>,
}

/// A name that means somebody or something known under another one. It names no id: whoever bears the
/// other name when the answer is folded is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The name as it is said.
    pub name: String,
    /// What kind of thing it is a name of.
    pub kind: EntityKind,
    /// Who or what it means.
    pub is: Term,
    /// The words say that it is so; otherwise it was guessed from what is known.
    pub stated: bool,
    /// How sure that is, in ten-thousandths.
    pub confidence: u16,
}

/// A predicate that a vocabulary has another name for. The claim has the term of the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// Which claim.
    pub claim: u16,
    /// How sure it is, in ten-thousandths.
    pub confidence: u16,
    /// The vocabulary.
    pub vocabulary: String,
    /// The predicate as it was found.
    pub predicate: String,
    /// The object as it was found, if the vocabulary writes it otherwise.
    pub object: Option<String>,
}

impl AnswerWho {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(1, self.observed_actor.as_str().as_bytes());
        out.optional(2, self.session.as_deref().map(str::as_bytes));
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<AnswerWho, CodecError> {
        let (mut actor, mut session) = (None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut actor, parsed(value, "observed_actor")?, "observed_actor")?,
                2 => once(&mut session, string(value, "session")?, "session")?,
                _ => {}
            }
        }
        Ok(AnswerWho { observed_actor: required(actor, "observed_actor")?, session })
    }
}

mod tag {
    pub(super) const OBSERVED_AT: u8 = 1;
    pub(super) const EXTRACTOR: u8 = 2;
    pub(super) const LANGUAGE: u8 = 3;
    pub(super) const MENTION: u8 = 4;
    pub(super) const CLAIM: u8 = 5;
    pub(super) const TOPICS: u8 = 6;
    pub(super) const UNGROUNDED: u8 = 8;
    pub(super) const SHIFTS_TOPIC: u8 = 9;
    pub(super) const NO_SUPERSEDE: u8 = 10;
    pub(super) const CONFIDENCE_FLOOR: u8 = 11;
    pub(super) const BELIEF_TTL: u8 = 12;
    pub(super) const EVENT_TTL: u8 = 33;
    pub(super) const CONSOLIDATE_INTO: u8 = 13;
    pub(super) const FEEDBACK: u8 = 14;
    pub(super) const PRECEDED_BY: u8 = 15;
    pub(super) const MAPPED: u8 = 16;
    pub(super) const NOUN: u8 = 20;
    pub(super) const BOND: u8 = 21;
    pub(super) const MATCH: u8 = 22;
    pub(super) const AWAITS_MODEL: u8 = 60;
    pub(super) const COST: u8 = 61;
    pub(super) const SOURCE_CLASS: u8 = 30;
    pub(super) const NO_BELIEFS: u8 = 31;
    pub(super) const JUDGED: u8 = 32;
    pub(super) const SETTLES: u8 = 40;
    pub(super) const RELATION: u8 = 41;
    pub(super) const ECHO: u8 = 50;
    pub(super) const ECHOED: u8 = 51;
    pub(super) const STANDS: u8 = 52;
    pub(super) const RATED: u8 = 53;
    pub(super) const REVOKED: u8 = 54;
    pub(super) const SOURCE: u8 = 55;
    pub(super) const CONCEPT: u8 = 56;
}

impl Answer {
    /// Whether the claim at this position may be learned: its words bear it out, and are no echo.
    pub fn is_believed(&self, claim: u16) -> bool {
        !self.ungrounded.contains(&claim) && !self.echoed.contains(&claim)
    }

    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let Extraction { extractor, language, mentions, nouns, bonds, claims, topics } =
            &self.extraction;
        let mut out = FieldWriter::new(VERSION, 256);
        out.field(tag::OBSERVED_AT, &self.observed_at.0.0.to_le_bytes());
        out.field(tag::EXTRACTOR, extractor.as_bytes());
        out.optional(tag::LANGUAGE, language.as_deref().map(str::as_bytes));
        for mention in mentions {
            out.field(tag::MENTION, &claim::encode_mention(mention));
        }
        for noun in nouns {
            out.field(tag::NOUN, &claim::encode_mention(noun));
        }
        for bond in bonds {
            out.field(tag::BOND, &claim::encode_bond(bond));
        }
        for found in claims {
            out.field(tag::CLAIM, &claim::encode(found));
        }
        if !topics.is_empty() {
            let bytes: Vec<u8> = topics.iter().flat_map(|topic| topic.to_le_bytes()).collect();
            out.field(tag::TOPICS, &bytes);
        }
        for matched in &self.matches {
            out.field(tag::MATCH, &claim::encode_match(matched));
        }
        for mapped in &self.mapped {
            out.field(tag::MAPPED, &encode_mapped(mapped));
        }
        for position in &self.ungrounded {
            out.number(tag::UNGROUNDED, u64::from(*position));
        }
        let Asked {
            no_supersede,
            confidence_floor,
            belief_ttl,
            event_ttl,
            consolidate_into,
            no_beliefs,
            feedback,
            settles: _,
            source: _,
        } = &self.asked;
        for (tag, set) in [
            (tag::SHIFTS_TOPIC, self.shifts_topic),
            (tag::NO_SUPERSEDE, *no_supersede),
            (tag::FEEDBACK, *feedback),
            (tag::AWAITS_MODEL, self.awaits_model),
            (tag::NO_BELIEFS, *no_beliefs),
            (tag::STANDS, self.stands),
        ] {
            if set {
                out.field(tag, &[]);
            }
        }
        if let Some(floor) = confidence_floor {
            out.number(tag::CONFIDENCE_FLOOR, u64::from(*floor));
        }
        for (tag, ttl) in [(tag::BELIEF_TTL, belief_ttl), (tag::EVENT_TTL, event_ttl)] {
            out.optional(tag, ttl.map(i64::to_le_bytes).as_ref().map(<[u8; 8]>::as_slice));
        }
        let into = consolidate_into.as_ref().map(|scope| scope.as_str().as_bytes());
        out.optional(tag::CONSOLIDATE_INTO, into);
        for event in &self.preceded_by {
            out.field(tag::PRECEDED_BY, event.as_bytes());
        }
        out.optional(tag::COST, self.cost.map(|cost| cost.encode()).as_deref());
        self.put_evidence(&mut out);
        out.finish()
    }

    /// What facts, beliefs and concepts need to know beside the claims.
    fn put_evidence(&self, out: &mut FieldWriter) {
        if self.source_class != SourceClass::default() {
            out.field(tag::SOURCE_CLASS, &[self.source_class as u8]);
        }
        if let Some(way) = self.asked.settles {
            out.field(tag::SETTLES, &[way as u8]);
        }
        out.optional(tag::SOURCE, self.asked.source.as_deref().map(str::as_bytes));
        for position in &self.relations {
            out.number(tag::RELATION, u64::from(*position));
        }
        if let Some((belief, came_true)) = &self.judged {
            let bytes = [belief.as_bytes().as_slice(), &[u8::from(*came_true)]].concat();
            out.field(tag::JUDGED, &bytes);
        }
        for Rating { layer, id, useful } in &self.rated {
            let bytes = [&[rated_layer(*layer)][..], id, &[u8::from(*useful)]].concat();
            out.field(tag::RATED, &bytes);
        }
        for Echo { span, of } in &self.echoes {
            let bytes =
                [&span.start.to_le_bytes()[..], &span.end.to_le_bytes(), of.as_bytes()].concat();
            out.field(tag::ECHO, &bytes);
        }
        for position in &self.echoed {
            out.number(tag::ECHOED, u64::from(*position));
        }
        for Revoked { event, value } in &self.revoked {
            out.field(tag::REVOKED, &[event.as_bytes().as_slice(), value].concat());
        }
        for concept in &self.concepts {
            out.field(tag::CONCEPT, concept.as_bytes());
        }
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<Answer, CodecError> {
        let (mut observed_at, mut extractor, mut language) = (None, None, None);
        let (mut floor, mut ttl, mut into) = (None, None, None);
        let (mut class, mut judgement) = (None, None);
        let mut answer = Answer::empty();
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                tag::OBSERVED_AT => once(&mut observed_at, instant(value)?, "observed_at")?,
                tag::EXTRACTOR => once(&mut extractor, string(value, "extractor")?, "extractor")?,
                tag::LANGUAGE => once(&mut language, string(value, "language")?, "language")?,
                tag::MENTION => answer.extraction.mentions.push(claim::decode_mention(value)?),
                tag::NOUN => answer.extraction.nouns.push(claim::decode_mention(value)?),
                tag::BOND => answer.extraction.bonds.push(claim::decode_bond(value)?),
                tag::CLAIM => answer.extraction.claims.push(claim::decode(value)?),
                tag::TOPICS => answer.extraction.topics = topics(value)?,
                tag::MATCH => answer.matches.push(claim::decode_match(value)?),
                tag::MAPPED => answer.mapped.push(decode_mapped(value)?),
                tag::UNGROUNDED => answer.ungrounded.push(small(value, "ungrounded")?),
                tag::RELATION => answer.relations.push(small(value, "relation")?),
                tag::SHIFTS_TOPIC => answer.shifts_topic = true,
                tag::NO_SUPERSEDE => answer.asked.no_supersede = true,
                tag::FEEDBACK => answer.asked.feedback = true,
                tag::PRECEDED_BY => {
                    let event = EventId::from_bytes(array(value, "preceded_by")?);
                    answer.preceded_by.push(event);
                }
                tag::AWAITS_MODEL => answer.awaits_model = true,
                tag::COST => once(&mut answer.cost, Cost::decode(value)?, "cost")?,
                tag::NO_BELIEFS => answer.asked.no_beliefs = true,
                tag::ECHO => answer.echoes.push(echo(value)?),
                tag::ECHOED => answer.echoed.push(small(value, "echoed")?),
                tag::STANDS => answer.stands = true,
                tag::RATED => answer.rated.push(rating(value)?),
                tag::REVOKED => answer.revoked.push(revoked(value)?),
                tag::CONCEPT => answer.concepts.push(string(value, "concept")?),
                tag::SOURCE_CLASS => once(&mut class, source_class(value)?, "source_class")?,
                tag::JUDGED => once(&mut judgement, judged(value)?, "judged")?,
                tag::CONFIDENCE_FLOOR => {
                    once(&mut floor, small(value, "confidence_floor")?, "confidence_floor")?;
                }
                tag::BELIEF_TTL => once(&mut ttl, instant(value)?.0.0, "belief_ttl")?,
                tag::EVENT_TTL => {
                    once(&mut answer.asked.event_ttl, instant(value)?.0.0, "event_ttl")?;
                }
                tag::SETTLES => {
                    once(&mut answer.asked.settles, settling(value)?, "settles")?;
                }
                tag::SOURCE => {
                    once(&mut answer.asked.source, string(value, "source")?, "source")?;
                }
                tag::CONSOLIDATE_INTO => {
                    once(&mut into, parsed(value, "consolidate_into")?, "consolidate_into")?;
                }
                _ => {}
            }
        }
        answer.observed_at = required(observed_at, "observed_at")?;
        answer.extraction.extractor = required(extractor, "extractor")?;
        answer.extraction.language = language;
        answer.asked.confidence_floor = floor;
        answer.asked.belief_ttl = ttl;
        answer.asked.consolidate_into = into;
        answer.source_class = class.unwrap_or_default();
        answer.judged = judgement;
        Ok(answer)
    }

    fn empty() -> Answer {
        Answer {
            observed_at: ValidAt(Micros(0)),
            extraction: Extraction::default(),
            matches: Vec::new(),
            mapped: Vec::new(),
            relations: Vec::new(),
            ungrounded: Vec::new(),
            shifts_topic: false,
            preceded_by: Vec::new(),
            asked: Asked::default(),
            awaits_model: false,
            cost: None,
            source_class: SourceClass::default(),
            judged: None,
            rated: Vec::new(),
            echoes: Vec::new(),
            echoed: Vec::new(),
            stands: false,
            revoked: Vec::new(),
            concepts: Vec::new(),
        }
    }
}

fn revoked(value: &[u8]) -> Result<Revoked, CodecError> {
    let mut from = Cursor::new(value);
    let event = EventId::from_bytes(from.array()?);
    Ok(Revoked { event, value: array(from.rest(), "revoked")? })
}

fn echo(value: &[u8]) -> Result<Echo, CodecError> {
    let mut from = Cursor::new(value);
    let mut bound = || {
        let bytes = from.take(4)?;
        Ok(u32::from_le_bytes(array(bytes, "echo")?))
    };
    let span = ByteSpan { start: bound()?, end: bound()? };
    Ok(Echo { span, of: EventId::from_bytes(array(from.rest(), "echo")?) })
}

fn instant(value: &[u8]) -> Result<ValidAt, CodecError> {
    Ok(ValidAt(Micros(i64::from_le_bytes(array(value, "instant")?))))
}

fn small(value: &[u8], field: &'static str) -> Result<u16, CodecError> {
    u16::try_from(number(value, field)?).map_err(|_| CodecError::Malformed { field })
}

fn settling(value: &[u8]) -> Result<Settling, CodecError> {
    let way = match value {
        [number] => Settling::of_number(*number),
        _ => None,
    };
    way.ok_or(CodecError::Malformed { field: "settles" })
}

fn source_class(value: &[u8]) -> Result<SourceClass, CodecError> {
    let class = match value {
        [number] => SourceClass::of_number(*number),
        _ => None,
    };
    class.ok_or(CodecError::Malformed { field: "source_class" })
}

/// On disk: a number is never used again.
fn rated_layer(layer: Layer) -> u8 {
    match layer {
        Layer::Events => 1,
        Layer::Episodes => 2,
        Layer::Facts => 3,
        Layer::Beliefs => 4,
        Layer::Understanding => 5,
    }
}

fn rating(value: &[u8]) -> Result<Rating, CodecError> {
    let malformed = CodecError::Malformed { field: "rated" };
    let [layer, id @ .., useful @ (0 | 1)] = value else { return Err(malformed) };
    let layer = Layer::ALL.into_iter().find(|known| rated_layer(*known) == *layer);
    let (layer, id) = (layer.ok_or(malformed)?, array(id, "rated")?);
    Ok(Rating { layer, id, useful: *useful == 1 })
}

fn judged(value: &[u8]) -> Result<(BeliefId, bool), CodecError> {
    match value.split_last_chunk::<1>() {
        Some((id, [came_true @ (0 | 1)])) => {
            Ok((BeliefId::from_bytes(array(id, "judged")?), *came_true == 1))
        }
        _ => Err(CodecError::Malformed { field: "judged" }),
    }
}

fn topics(value: &[u8]) -> Result<Vec<u32>, CodecError> {
    let (chunks, rest) = value.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(CodecError::Malformed { field: "topics" });
    }
    Ok(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect())
}

fn encode_mapped(mapped: &Mapped) -> Vec<u8> {
    let Mapped { claim, confidence, vocabulary, predicate, object } = mapped;
    let mut out = Vec::with_capacity(64);
    put_varint(&mut out, u64::from(*claim));
    put_varint(&mut out, u64::from(*confidence));
    put_sized(&mut out, vocabulary.as_bytes());
    put_sized(&mut out, predicate.as_bytes());
    out.push(u8::from(object.is_some()));
    out.extend_from_slice(object.as_deref().unwrap_or_default().as_bytes());
    out
}

fn decode_mapped(value: &[u8]) -> Result<Mapped, CodecError> {
    const MALFORMED: CodecError = CodecError::Malformed { field: "mapped" };
    let mut from = Cursor::new(value);
    let claim = u16::try_from(from.varint()?).map_err(|_| MALFORMED)?;
    let confidence = u16::try_from(from.varint()?).map_err(|_| MALFORMED)?;
    let vocabulary = string(from.sized()?, "mapped")?;
    let predicate = string(from.sized()?, "mapped")?;
    let has_object = from.byte()?;
    let object = string(from.rest(), "mapped")?;
    let object = match (has_object, object.is_empty()) {
        (0, true) => None,
        (1, _) => Some(object),
        _ => return Err(MALFORMED),
    };
    Ok(Mapped { claim, confidence, vocabulary, predicate, object })
}

#[cfg(test)]
mod tests;

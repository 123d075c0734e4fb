//! The bytes of one claim, one mention and one bond inside an answer.

use lamina_types::layer::{
    Bond, ByteSpan, Cardinality, Claim, Confidence, Effect, EntityKind, Mention, Normaliser,
    Object, Term,
};
use lamina_types::{Micros, ValidAt};

use super::Match;
use crate::codec::CodecError;
use crate::codec::wire::{
    Cursor, FieldWriter, array, fields, number, once, parsed, put_sized, put_varint, required,
    string, text,
};

const VERSION: u8 = 1;
/// "My sister's neighbour's dog": deeper than anybody speaks.
const OWNERS_MAX: usize = 8;

mod tag {
    pub(super) const SUBJECT: u8 = 1;
    pub(super) const PREDICATE: u8 = 2;
    pub(super) const OBJECT: u8 = 3;
    pub(super) const EFFECT: u8 = 4;
    pub(super) const VALID_FROM: u8 = 5;
    pub(super) const VALID_TO: u8 = 6;
    pub(super) const CARDINALITY: u8 = 7;
    pub(super) const CONFIDENCE: u8 = 8;
    pub(super) const SPAN: u8 = 9;
    pub(super) const NORMALISER: u8 = 10;
    pub(super) const CLAUSE: u8 = 11;
}

pub(super) fn encode(claim: &Claim) -> Vec<u8> {
    // Destructured, so that an added field does not compile until it has a tag.
    let Claim {
        subject,
        predicate,
        object,
        effect,
        valid_from,
        valid_to,
        cardinality,
        confidence,
        span,
        normaliser,
        clause,
    } = claim;
    let mut out = FieldWriter::new(VERSION, 128);
    out.field(tag::SUBJECT, &encode_term(subject));
    out.field(tag::PREDICATE, predicate.as_bytes());
    out.field(tag::OBJECT, &encode_object(object));
    out.field(tag::EFFECT, &[*effect as u8]);
    for (tag, instant) in [(tag::VALID_FROM, valid_from), (tag::VALID_TO, valid_to)] {
        if let Some(ValidAt(Micros(micros))) = instant {
            out.field(tag, &micros.to_le_bytes());
        }
    }
    if let Some(cardinality) = cardinality {
        out.field(tag::CARDINALITY, &[*cardinality as u8]);
    }
    out.number(tag::CONFIDENCE, u64::from(confidence.get()));
    out.field(tag::SPAN, &encode_span(*span));
    out.field(tag::NORMALISER, &[*normaliser as u8]);
    out.field(tag::CLAUSE, &encode_span(*clause));
    out.finish()
}

pub(super) fn decode(bytes: &[u8]) -> Result<Claim, CodecError> {
    let (mut subject, mut predicate, mut object, mut effect) = (None, None, None, None);
    let (mut from, mut to, mut cardinality, mut confidence) = (None, None, None, None);
    let (mut span, mut normaliser, mut clause) = (None, None, None);
    let mut fields = fields(bytes, VERSION)?;
    while let Some((tag, value)) = fields.next()? {
        match tag {
            tag::SUBJECT => once(&mut subject, whole(value, term)?, "subject")?,
            tag::PREDICATE => once(&mut predicate, string(value, "predicate")?, "predicate")?,
            tag::OBJECT => once(&mut object, decode_object(value)?, "object")?,
            tag::EFFECT => once(&mut effect, one_of(value, &EFFECTS, "effect")?, "effect")?,
            tag::VALID_FROM => once(&mut from, instant(value)?, "valid_from")?,
            tag::VALID_TO => once(&mut to, instant(value)?, "valid_to")?,
            tag::CARDINALITY => {
                let value = one_of(value, &CARDINALITIES, "cardinality")?;
                once(&mut cardinality, value, "cardinality")?;
            }
            tag::CONFIDENCE => {
                let value = u16::try_from(number(value, "confidence")?).ok();
                let value = value.filter(|value| *value <= Confidence::FULL.get());
                let value = value.ok_or(CodecError::Malformed { field: "confidence" })?;
                once(&mut confidence, Confidence::new(value), "confidence")?;
            }
            tag::SPAN => once(&mut span, whole(value, decode_span)?, "span")?,
            tag::NORMALISER => {
                once(&mut normaliser, one_of(value, &NORMALISERS, "normaliser")?, "normaliser")?;
            }
            tag::CLAUSE => once(&mut clause, whole(value, decode_span)?, "clause")?,
            _ => {}
        }
    }
    Ok(Claim {
        subject: required(subject, "subject")?,
        predicate: required(predicate, "predicate")?,
        object: required(object, "object")?,
        effect: required(effect, "effect")?,
        valid_from: from,
        valid_to: to,
        cardinality,
        confidence: required(confidence, "confidence")?,
        span: required(span, "span")?,
        normaliser: required(normaliser, "normaliser")?,
        clause: required(clause, "clause")?,
    })
}

pub(super) fn encode_mention(mention: &Mention) -> Vec<u8> {
    let mut out = vec![mention.kind as u8];
    put_span(&mut out, mention.span);
    out.extend_from_slice(mention.name.as_bytes());
    out
}

pub(super) fn decode_mention(bytes: &[u8]) -> Result<Mention, CodecError> {
    let mut from = Cursor::new(bytes);
    let kind = pick(from.byte()?, &KINDS, "mention")?;
    let span = decode_span(&mut from)?;
    Ok(Mention { name: string(from.rest(), "mention")?, kind, span })
}

pub(super) fn encode_bond(bond: &Bond) -> Vec<u8> {
    let mut out = Vec::with_capacity(24);
    put_span(&mut out, bond.from);
    put_span(&mut out, bond.to);
    out.extend_from_slice(bond.relation.as_bytes());
    out
}

pub(super) fn decode_bond(bytes: &[u8]) -> Result<Bond, CodecError> {
    let mut read = Cursor::new(bytes);
    let (from, to) = (decode_span(&mut read)?, decode_span(&mut read)?);
    Ok(Bond { from, relation: string(read.rest(), "bond")?, to })
}

const EFFECTS: [Effect; 4] = [Effect::Holds, Effect::Ends, Effect::Negated, Effect::Corrects];
const CARDINALITIES: [Cardinality; 2] = [Cardinality::One, Cardinality::Many];
const KINDS: [EntityKind; 8] = [
    EntityKind::Thing,
    EntityKind::Person,
    EntityKind::Organization,
    EntityKind::Place,
    EntityKind::Product,
    EntityKind::Occasion,
    EntityKind::Animal,
    EntityKind::Identifier,
];
const NORMALISERS: [Normaliser; 12] = [
    Normaliser::Identity,
    Normaliser::Number,
    Normaliser::Quantity,
    Normaliser::Money,
    Normaliser::Date,
    Normaliser::RelativeDate,
    Normaliser::NegatedEnding,
    Normaliser::Speaker,
    Normaliser::JsonPath,
    Normaliser::Given,
    Normaliser::Lexicon,
    Normaliser::Clause,
];

/// An enum with a number for each of its values.
trait Numbered: Copy {
    fn number(self) -> u8;
}

macro_rules! numbered {
    ($($name:ty),*) => {$(
        impl Numbered for $name {
            fn number(self) -> u8 {
                self as u8
            }
        }
    )*};
}

numbered!(Effect, Cardinality, EntityKind, Normaliser);

fn pick<T: Numbered>(byte: u8, all: &[T], field: &'static str) -> Result<T, CodecError> {
    let found = all.iter().copied().find(|value| value.number() == byte);
    found.ok_or(CodecError::Malformed { field })
}

fn one_of<T: Numbered>(value: &[u8], all: &[T], field: &'static str) -> Result<T, CodecError> {
    let [byte] = array(value, field)?;
    pick(byte, all, field)
}

/// A value that fills its field.
fn whole<T>(
    value: &[u8],
    read: impl Fn(&mut Cursor<'_>) -> Result<T, CodecError>,
) -> Result<T, CodecError> {
    let mut from = Cursor::new(value);
    let read = read(&mut from)?;
    if from.is_done() { Ok(read) } else { Err(CodecError::Malformed { field: "claim" }) }
}

fn instant(value: &[u8]) -> Result<ValidAt, CodecError> {
    Ok(ValidAt(Micros(i64::from_le_bytes(array(value, "instant")?))))
}

fn put_span(out: &mut Vec<u8>, span: ByteSpan) {
    put_varint(out, u64::from(span.start));
    put_varint(out, u64::from(span.end));
}

fn encode_span(span: ByteSpan) -> Vec<u8> {
    let mut out = Vec::with_capacity(8);
    put_span(&mut out, span);
    out
}

fn decode_span(from: &mut Cursor<'_>) -> Result<ByteSpan, CodecError> {
    let mut side = || {
        let number = from.varint()?;
        u32::try_from(number).map_err(|_| CodecError::Malformed { field: "span" })
    };
    Ok(ByteSpan { start: side()?, end: side()? })
}

/// Each owner adds a relation; the last thing is what all of it belongs to.
pub(super) fn encode_match(matched: &Match) -> Vec<u8> {
    let Match { name, kind, is, stated, confidence } = matched;
    let mut out = Vec::with_capacity(48);
    out.extend_from_slice(&[*kind as u8, u8::from(*stated)]);
    put_varint(&mut out, u64::from(*confidence));
    put_sized(&mut out, name.as_bytes());
    put_term(&mut out, is);
    out
}

pub(super) fn decode_match(value: &[u8]) -> Result<Match, CodecError> {
    const MALFORMED: CodecError = CodecError::Malformed { field: "match" };
    whole(value, |from| {
        let kind = pick(from.byte()?, &KINDS, "match")?;
        let stated = match from.byte()? {
            0 => false,
            1 => true,
            _ => return Err(MALFORMED),
        };
        let confidence = u16::try_from(from.varint()?).map_err(|_| MALFORMED)?;
        let name = string(from.sized()?, "match")?;
        Ok(Match { name, kind, is: term(from)?, stated, confidence })
    })
}

fn encode_term(term: &Term) -> Vec<u8> {
    let mut out = Vec::with_capacity(24);
    put_term(&mut out, term);
    out
}

fn put_term(out: &mut Vec<u8>, term: &Term) {
    match term {
        Term::Actor(actor) => {
            out.push(0);
            put_sized(out, actor.as_str().as_bytes());
        }
        Term::Named { name, kind } => {
            out.extend_from_slice(&[1, *kind as u8]);
            put_sized(out, name.as_bytes());
        }
        Term::Of { owner, relation } => {
            out.push(2);
            put_sized(out, relation.as_bytes());
            put_term(out, owner);
        }
    }
}

fn term(from: &mut Cursor<'_>) -> Result<Term, CodecError> {
    const MALFORMED: CodecError = CodecError::Malformed { field: "term" };
    let mut relations = Vec::new();
    let innermost = loop {
        match from.byte()? {
            0 => break Term::Actor(parsed(from.sized()?, "term")?),
            1 => {
                let kind = pick(from.byte()?, &KINDS, "term")?;
                break Term::Named { name: string(from.sized()?, "term")?, kind };
            }
            2 if relations.len() < OWNERS_MAX => relations.push(string(from.sized()?, "term")?),
            _ => return Err(MALFORMED),
        }
    };
    Ok(relations
        .into_iter()
        .rev()
        .fold(innermost, |owner, relation| Term::Of { owner: Box::new(owner), relation }))
}

fn encode_object(object: &Object) -> Vec<u8> {
    let mut out = Vec::with_capacity(24);
    let mut two = |kind: u8, first: &str, second: Option<&str>| {
        out.push(kind);
        put_sized(&mut out, first.as_bytes());
        if let Some(second) = second {
            put_sized(&mut out, second.as_bytes());
        }
    };
    match object {
        Object::Text(words) => two(1, words, None),
        Object::Number { value, unit } => two(2, value, unit.as_deref()),
        Object::Money { amount, currency } => two(3, amount, Some(currency)),
        Object::Date(date) => two(4, date, None),
        Object::Bool(yes) => out.extend_from_slice(&[5, u8::from(*yes)]),
        Object::Entity(term) => {
            out.push(0);
            put_term(&mut out, term);
        }
    }
    out
}

fn decode_object(value: &[u8]) -> Result<Object, CodecError> {
    const MALFORMED: CodecError = CodecError::Malformed { field: "object" };
    let mut from = Cursor::new(value);
    let kind = from.byte()?;
    let word = |from: &mut Cursor<'_>| Ok(text(from.sized()?, "object")?.to_owned());
    let object = match kind {
        0 => Object::Entity(term(&mut from)?),
        1 => Object::Text(word(&mut from)?),
        2 => {
            let value = word(&mut from)?;
            let unit = if from.is_done() { None } else { Some(word(&mut from)?) };
            Object::Number { value, unit }
        }
        3 => Object::Money { amount: word(&mut from)?, currency: word(&mut from)? },
        4 => Object::Date(word(&mut from)?),
        5 => match from.byte()? {
            0 => Object::Bool(false),
            1 => Object::Bool(true),
            _ => return Err(MALFORMED),
        },
        _ => return Err(MALFORMED),
    };
    if from.is_done() { Ok(object) } else { Err(MALFORMED) }
}

//! Evidence of a piece, and who wrote it.

use lamina_core::derive::facts::{RecordSource, Said, Support, Weight};
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_types::layer::Confidence;
use lamina_types::{RecordedAt, ValidAt};

use super::{
    MALFORMED, Read, instant, optional, put_instant, put_optional, put_source, put_value,
    read_source, short, value, value_key,
};

pub(super) fn put_author(out: &mut Vec<u8>, RecordSource { actor, source }: &RecordSource) {
    out.extend_from_slice(actor);
    put_optional(out, source.as_ref(), |out, source| out.extend_from_slice(source));
}

pub(super) fn record_author(from: &mut Cursor<'_>) -> Read<RecordSource> {
    let actor = from.array()?;
    Ok(RecordSource { actor, source: optional(from, |from| from.array())? })
}

pub(super) fn put_support(out: &mut Vec<u8>, support: &Support) {
    let Support { source, recorded, confidence, said, from, to, weight, author } = support;
    put_source(out, *source);
    put_instant(out, recorded.0);
    put_varint(out, u64::from(confidence.get()));
    match said {
        Said::Value(value) => {
            out.push(0);
            put_value(out, *value);
        }
        Said::Ends(value) => {
            out.push(1);
            put_optional(out, value.as_ref(), |out, value| out.extend_from_slice(&value.0));
        }
    }
    put_instant(out, from.0);
    put_optional(out, to.as_ref(), |out, to| put_instant(out, to.0));
    out.push(*weight as u8);
    put_optional(out, author.as_ref(), put_author);
}

pub(super) fn support(from: &mut Cursor<'_>) -> Read<Support> {
    Ok(Support {
        source: read_source(from)?,
        recorded: RecordedAt(instant(from)?),
        confidence: Confidence::new(short(from)?),
        said: match from.byte()? {
            0 => Said::Value(value(from)?),
            1 => Said::Ends(optional(from, value_key)?),
            _ => return Err(MALFORMED),
        },
        from: ValidAt(instant(from)?),
        to: optional(from, instant)?.map(ValidAt),
        weight: match from.byte()? {
            0 => Weight::Observed,
            1 => Weight::Stated,
            2 => Weight::Decided,
            _ => return Err(MALFORMED),
        },
        author: optional(from, record_author)?,
    })
}

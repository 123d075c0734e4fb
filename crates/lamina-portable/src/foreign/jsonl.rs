//! JSON lines: envelopes of `POST /v1/experience`, passed on as they are, and the lines of our own
//! exports.

use lamina_types::ErrorCode;

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::text_of;
use super::row::{ForeignRow, Place, RowContent, TimeBasis};
use super::sink::RowSink;
use crate::export::LineKind;
use crate::export::{LINE_MEMBER, LINE_VERSION};
use crate::json::{Value, to_compact};
use crate::source::SourceEntry;
use crate::time::{self, NaiveTimes};

const DERIVED: &str = "a derived record; it is derived again from its events";

pub(super) struct JsonlMapper;

impl Mapper for JsonlMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Json(&["lines", "rows"]), |entry| {
            let name = entry.file_name().to_ascii_lowercase();
            is_single || [".jsonl", ".ndjson", ".json"].iter().any(|end| name.ends_with(end))
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body, place, .. } = input;
        match body {
            InputBody::Object { value, has_elements: true } if value.is_blank() => {}
            InputBody::Element(value @ Value::Object(_)) | InputBody::Object { value, .. } => {
                map_line(value, &place, sink);
            }
            InputBody::Element(other) => {
                let detail = format!("a line is {}, not an envelope", other.type_name());
                sink.fail(&place, ErrorCode::InvalidEnvelope, detail);
            }
            InputBody::Text(_) | InputBody::Record(_) | InputBody::FileEnd => {}
        }
    }
}

/// One line of our own, or an envelope.
pub(super) fn map_line(mut value: Value, place: &Place, sink: &mut RowSink) {
    let Some(mark) = value.take(LINE_MEMBER) else {
        sink.account.keep("(the whole line)", "the envelope");
        let key = text_of(&value, &["idempotency_key"]).map(str::to_owned);
        let row = envelope_row(&value, place);
        return sink.push(match key {
            Some(key) => row.with_id(key),
            None => row,
        });
    };
    let kind = text_of(&mark, &["line"]).and_then(LineKind::find);
    let version = mark.get("version").and_then(Value::as_i64);
    let (Some(kind), Some(1..=LINE_VERSION)) = (kind, version) else {
        let detail = "this line of an export was written by a newer version of Lamina";
        return sink.fail(place, ErrorCode::InvalidEnvelope, detail);
    };
    let id = text_of(&mark, &["id"]).unwrap_or_default().to_owned();
    match kind {
        LineKind::Header => {}
        LineKind::Event => map_event(value, mark, id, place, sink),
        kind if kind.is_derived() => sink.account.skip(DERIVED, 1),
        kind => {
            let body = to_compact(&value);
            let row = ForeignRow::new(place, RowContent::Line { line: kind.as_str(), body });
            sink.push(if id.is_empty() { row } else { row.with_id(id) });
        }
    }
}

/// An event of our own export: its envelope, with references by source id and its origin.
fn map_event(mut value: Value, mut mark: Value, id: String, place: &Place, sink: &mut RowSink) {
    if !strip_blobs(&mut value, sink) {
        return sink.account.skip("a blob without a transcript; blobs do not travel", 1);
    }
    sink.account.keep("event", "the envelope");
    let preceded_by = take_preceded_by(&mut value);
    let mut row = envelope_row(&value, place);
    if !preceded_by.is_empty() {
        sink.account.keep("context.preceded_by", "the imported events");
    }
    row.preceded_by = preceded_by;
    row.origin = mark.take("origin").filter(|origin| !origin.is_blank()).map(|o| to_compact(&o));
    row.recorded_at = sink.optional_time(mark.get("recorded_at"), "recorded_at");
    sink.push(if id.is_empty() { row } else { row.with_id(id) });
}

/// Takes references to blobs out of an envelope: their bytes are not in the export. `false` if nothing
/// is left.
fn strip_blobs(value: &mut Value, sink: &mut RowSink) -> bool {
    let Value::Object(members) = value else { return true };
    let content = members.iter_mut().find(|member| member.key.as_str() == Some("content"));
    let Some(content) = content.map(|member| &mut member.value) else { return true };
    if content.take("media").is_some_and(|media| !media.is_blank()) {
        sink.account.lose("content.media", "blobs do not travel");
    }
    if text_of(content, &["kind"]) != Some("blob_ref") {
        return true;
    }
    let Some(transcript) = text_of(content, &["transcript"]).map(str::to_owned) else {
        return false;
    };
    sink.account.change("content.blob_ref", "blobs do not travel; the transcript became the text");
    *content = Value::object([("kind", Value::from("text")), ("text", Value::from(transcript))]);
    true
}

/// Takes references to other events out of an envelope: the ids of another server mean nothing here.
fn take_preceded_by(value: &mut Value) -> Vec<String> {
    let Value::Object(members) = value else { return Vec::new() };
    let context = members.iter_mut().find(|member| member.key.as_str() == Some("context"));
    let Some(references) = context.and_then(|context| context.value.take("preceded_by")) else {
        return Vec::new();
    };
    let references = references.as_array().unwrap_or_default().iter();
    references.filter_map(|reference| reference.as_str().map(str::to_owned)).collect()
}

fn envelope_row(value: &Value, place: &Place) -> ForeignRow {
    let observed = value.at(&["context", "observed_at"]).and_then(Value::as_str);
    let observed = observed.and_then(|text| time::parse(text, NaiveTimes::Refuse).ok());
    let row = ForeignRow::new(place, RowContent::Envelope { body: to_compact(value) });
    row.at(observed.map(|time| time.at), TimeBasis::Stated)
}

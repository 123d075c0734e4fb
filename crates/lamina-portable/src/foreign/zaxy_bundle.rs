//! Bundles of the memory export contract: their events become rows, their entities and edges are derived
//! again. A signed bundle is verified before its first row is given.

use std::collections::BTreeMap;

use lamina_types::ErrorCode;

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::eventloom::{actor_of, event_row, scope_name};
use super::row::{ErrorCost, Place, RowError, TimeBasis};
use super::sink::RowSink;
use crate::json::{ReadPolicy, Value, parse};
use crate::source::SourceEntry;
use crate::time::{NaiveTimes, parse as parse_time};
use crate::zaxy::{
    BundleKind, Envelope, LogEvent, Verdict, VerifyOptions, verify_bundle, verify_subset,
};

pub(super) struct ZaxyBundleMapper;

impl Mapper for ZaxyBundleMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Text, |entry| {
            is_single || entry.file_name().ends_with(".json")
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body: InputBody::Text(text), place, .. } = input else { return };
        match entries_of(&text) {
            Err(detail) => {
                let (code, cost) = (ErrorCode::InvalidBody, ErrorCost::File);
                sink.fail_with(RowError { place, code, detail, cost });
            }
            Ok((session, entries)) => {
                for (index, entry) in entries.iter().enumerate() {
                    push_entry(&session, entry, &place.part(index), sink);
                }
            }
        }
    }
}

/// The session and the entries of a bundle that holds.
fn entries_of(text: &str) -> Result<(String, Vec<Value>), String> {
    let bundle = parse(text.as_bytes(), &ReadPolicy::PYTHON).map_err(|error| error.to_string())?;
    let options = VerifyOptions::default();
    let (list, verdict) = match BundleKind::detect(&bundle) {
        None => return Err("the file is no export bundle".to_owned()),
        Some(BundleKind::Unsigned) => ("entries", None),
        Some(BundleKind::Signed) => ("entries", Some(verify_bundle(&bundle, options))),
        Some(BundleKind::Subset) => ("disclosed", Some(verify_subset(&bundle, options))),
    };
    if let Some(Verdict::Invalid(reason) | Verdict::Malformed(reason)) = verdict {
        return Err(format!("the bundle does not verify: {reason}"));
    }
    let session = bundle.get("session_id").and_then(Value::as_str).unwrap_or("session").to_owned();
    let entries = bundle.get(list).and_then(Value::as_array).unwrap_or_default();
    let content =
        |entry: &Value| entry.get("content").filter(|_| entry.get("grain").is_none()).cloned();
    Ok((
        session,
        entries.iter().map(|entry| content(entry).unwrap_or_else(|| entry.clone())).collect(),
    ))
}

fn push_entry(session: &str, entry: &Value, place: &Place, sink: &mut RowSink) {
    let text = |path: &[&str]| entry.at(path).and_then(Value::as_str).map(str::to_owned);
    if text(&["grain"]).as_deref() == Some("semantic") {
        return sink.account.skip("entities and edges are derived again from the events", 1);
    }
    let (Some(kind), Some(citation)) = (text(&["content", "type"]), text(&["citation"])) else {
        return sink.fail(
            place,
            ErrorCode::MissingRequiredField,
            "an entry has no type or no citation",
        );
    };
    let event = LogEvent {
        envelope: Envelope::EventloomV1,
        seq: entry
            .get("seq")
            .and_then(Value::as_i64)
            .and_then(|seq| u64::try_from(seq).ok())
            .unwrap_or(0),
        id: None,
        timestamp: text(&["valid_from"]).unwrap_or_default(),
        kind,
        actor: text(&["content", "actor"]).unwrap_or_default(),
        thread: text(&["content", "thread"]).unwrap_or_default(),
        payload: entry.at(&["content", "payload"]).cloned().unwrap_or_default(),
        security: None,
        previous_hash: None,
        hash: String::new(),
        computed_hash: String::new(),
    };
    let Ok(time) = parse_time(&event.timestamp, NaiveTimes::UTC) else {
        return sink.fail(place, ErrorCode::InvalidTimestamp, "the entry has no time");
    };
    let mut row = event_row(&event, place, sink).at(Some(time.at), TimeBasis::Stated);
    row.session = Some(session.to_owned());
    row.variables = BTreeMap::from([("session", scope_name(session))]);
    row.actor = actor_of(&event);
    row.origin = sink.origin([("citation", citation.as_str().into()), ("entry", entry.clone())]);
    sink.push(row.with_id(citation));
}

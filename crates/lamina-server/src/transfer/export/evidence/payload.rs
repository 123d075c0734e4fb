//! The contents of records: the words of events, and numbers and hashes of everything else.

use lamina_engine::read::export::{AnswerNote, ChainItem, ControlNote, SignedTip};
use lamina_portable::json::{ReadPolicy, Value, parse};
use lamina_portable::time;
use lamina_types::audit::AuditRow;
use lamina_types::stdx::hex;
use lamina_types::{Content, EventRecord};

/// The content of an event.
pub(super) fn event(record: &EventRecord) -> Value {
    let own = &record.experience;
    let mut payload = match &own.content {
        Content::Message { role, text, .. } => Value::object([
            ("kind", "message".into()),
            ("role", role.as_str().into()),
            ("text", text.as_str().into()),
        ]),
        Content::Text { text, .. } => {
            Value::object([("kind", "text".into()), ("text", text.as_str().into())])
        }
        Content::Json { data, .. } => {
            Value::object([("kind", "json".into()), ("data", json_of(data))])
        }
        Content::Triple { triple, .. } => {
            Value::object([("kind", "triple".into()), ("triple", json_of(triple))])
        }
        Content::BlobRef { blob_id, transcript, .. } => {
            let mut payload = Value::object([
                ("kind", "blob_ref".into()),
                ("blob_id", blob_id.to_string().into()),
            ]);
            payload.push_some("text", transcript.as_deref());
            payload
        }
    };
    payload.push("modality", own.modality.0.as_str());
    if !own.context.labels.is_empty() {
        payload.push("labels", Value::strings(&own.context.labels));
    }
    let media: Vec<String> =
        own.content.media().iter().map(|media| media.blob_id.to_string()).collect();
    if !media.is_empty() {
        payload.push("media", Value::strings(&media));
    }
    if record.excluded_from_recall {
        payload.push("cancelled", true);
    }
    payload
}

/// JSON as it was submitted; as text where it has no canonical form.
fn json_of(text: &str) -> Value {
    parse(text.as_bytes(), &ReadPolicy::STRICT).unwrap_or_else(|_| text.into())
}

/// The commitments and the seal of an entry whose words were erased.
pub(super) fn erased(item: &ChainItem) -> Value {
    Value::object([
        ("erased", true.into()),
        ("commitments", commitments(item)),
        ("seal", hex::encode(&item.seal).into()),
    ])
}

fn commitments(item: &ChainItem) -> Value {
    Value::object([
        ("who", hex::encode(&item.who_commit).into()),
        ("what", hex::encode(&item.what_commit).into()),
    ])
}

/// The result of an extractor, in numbers.
pub(super) fn answer(note: &AnswerNote) -> Value {
    let spans = note.spans.iter().map(|span| {
        Value::Array(vec![Value::count(span.start.into()), Value::count(span.end.into())])
    });
    Value::object([
        ("extractor", note.extractor.as_str().into()),
        ("claims", Value::count(note.claims)),
        ("refused", Value::count(note.refused)),
        ("echoes", Value::count(note.echoes)),
        ("spans", Value::Array(spans.collect())),
    ])
}

/// The verdict of the gate about claims.
pub(super) fn gate(note: &AnswerNote) -> Value {
    let mut payload = Value::object([("verdict", "deny".into())]);
    if note.refused > 0 {
        payload.push("claims_without_ground", Value::count(note.refused));
    }
    if note.echoes > 0 {
        payload.push("sentences_that_repeat_memory", Value::count(note.echoes));
    }
    payload
}

/// A change of state, by its name and the commitments to its words.
pub(super) fn control(note: &ControlNote, item: &ChainItem) -> Value {
    Value::object([("action", note.name.into()), ("commitments", commitments(item))])
}

/// A refused request.
pub(super) fn refusal(row: &AuditRow) -> Value {
    let mut payload = Value::object([
        ("verdict", "deny".into()),
        ("capability", row.capability.as_str().into()),
        ("endpoint", row.endpoint.as_str().into()),
        ("audit_id", row.id.to_string().into()),
    ]);
    payload.push_some(
        "decided_by",
        Some(row.decided_by_tier.as_str()).filter(|tier| !tier.is_empty()),
    );
    payload
}

/// A signed checkpoint.
pub(super) fn checkpoint(tip: &SignedTip) -> Value {
    Value::object([
        ("log_id", hex::encode(&tip.log_id).into()),
        ("epoch", Value::count(tip.epoch.into())),
        ("batch", Value::count(tip.batch)),
        ("tip", hex::encode(&tip.tip).into()),
        ("recorded_at", time::print(tip.recorded_at.0).into()),
        ("public_key", hex::encode(&tip.public_key).into()),
    ])
}

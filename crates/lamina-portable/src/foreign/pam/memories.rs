//! Memories: our own, those of other programs, and tombstones.

use std::collections::BTreeMap;

use lamina_types::Micros;

use super::{PamMapper, push_cancellation, source_id};
use crate::foreign::row::{ForeignRow, ForeignTriple, Place, RowContent, TimeBasis, TripleTerm};
use crate::foreign::sink::RowSink;
use crate::json::{ReadPolicy, Value, parse, to_compact};
use crate::pam::{ERASED, Memory, NativeRecord, is_manifest};
use crate::time::{self, NaiveTimes};

const PRIVATE_LABEL: &str = "pam:private";

/// A fact of our own.
pub(super) struct NativeFact {
    pub(super) supports: Vec<String>,
    id: String,
    place: Place,
    triple: ForeignTriple,
    recorded_at: Option<Micros>,
}

impl NativeFact {
    /// Reads the line of a fact.
    pub(super) fn read(line: &Value, id: String, place: &Place) -> Option<NativeFact> {
        let supports = line.get("supports").and_then(Value::as_array).unwrap_or_default();
        let supports = supports.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect();
        let mut triple = ForeignTriple::new(
            read_term(line.get("subject")?)?,
            line.get("predicate")?.as_str()?,
            read_term(line.get("object")?)?,
        );
        triple.valid_from = instant(line, "valid_from");
        triple.valid_to = instant(line, "valid_to");
        triple.confidence = line.get("confidence").and_then(Value::as_number).map(|n| n.to_f64());
        triple.sentence = line.get("sentence").and_then(Value::as_str).map(str::to_owned);
        let recorded_at = instant(line, "recorded_from");
        Some(NativeFact { supports, id, place: place.clone(), triple, recorded_at })
    }
}

fn instant(line: &Value, name: &str) -> Option<Micros> {
    let text = line.get(name).and_then(Value::as_str)?;
    time::parse(text, NaiveTimes::Refuse).ok().map(|time| time.at)
}

fn read_term(term: &Value) -> Option<TripleTerm> {
    let text = |name: &str| term.get(name).and_then(Value::as_str);
    if text("type") == Some("entity") {
        let kind = text("kind").map(str::to_owned);
        return Some(TripleTerm::Entity { name: text("name")?.to_owned(), kind });
    }
    let datatype = match text("datatype")? {
        "number" => "number",
        "boolean" => "boolean",
        "date" => "date",
        _ => "string",
    };
    let value = term.get("value")?;
    let (datatype, value) = match value {
        // Amounts with a unit or currency have no place in a stated triple.
        Value::Object(_) => {
            let part = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
            let words = [part("value"), part("unit"), part("amount"), part("currency")];
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            ("string", Value::from(words.join(" ")))
        }
        // Our lines keep the digits of a number as a text.
        Value::String(text) if datatype == "number" => match read_number(&text.to_lossy()) {
            Some(number) => (datatype, number),
            None => ("string", value.clone()),
        },
        other => (datatype, other.clone()),
    };
    Some(TripleTerm::Literal { datatype, value })
}

fn read_number(text: &str) -> Option<Value> {
    parse(text.as_bytes(), &ReadPolicy::STRICT).ok().filter(|value| value.as_number().is_some())
}

/// A fact whose events are elsewhere is stated as it is.
pub(super) fn push_fact(fact: NativeFact, sink: &mut RowSink) {
    let NativeFact { supports: _, id, place, triple, recorded_at } = fact;
    sink.account.keep("facts without their events", "triples with validity");
    let at = triple.valid_from.or(recorded_at);
    let mut row = ForeignRow::triple(&place, triple).at(at, TimeBasis::Stated);
    row.recorded_at = recorded_at;
    sink.push(row.with_id(id));
}

/// A memory of another program, and what it is tied to.
struct ForeignMemory<'a> {
    value: &'a Value,
    memory: Memory,
    relations: Vec<Value>,
    index_entry: Option<Value>,
    place: Place,
}

impl PamMapper {
    pub(super) fn map_store(&mut self, store: &Value, place: &Place, sink: &mut RowSink) {
        let list = |name: &str| store.get(name).and_then(Value::as_array).unwrap_or_default();
        for name in ["type_registry", "spec_uri"] {
            if store.get(name).is_some_and(|value| !value.is_null()) {
                sink.account.lose(name, "it names a page of the web, which is not fetched");
            }
        }
        let mut relations: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for relation in list("relations") {
            let from = relation.get("from").and_then(Value::as_str).unwrap_or_default();
            relations.entry(from).or_default().push(relation.clone());
        }
        for entry in list("conversations_index") {
            let id = entry.get("id").and_then(Value::as_str).unwrap_or_default();
            self.index.insert(id.to_owned(), entry.clone());
        }
        let times: BTreeMap<String, Micros> = list("memories")
            .iter()
            .filter_map(Memory::read)
            .map(|memory| (memory.id.clone(), observed(&memory)))
            .collect();
        for (index, value) in list("memories").iter().enumerate() {
            let Some(memory) = Memory::read(value) else { continue };
            let place = place.part(format_args!("memories/{index}"));
            if is_manifest(value) {
                continue;
            }
            let native = NativeRecord::of_memory(&memory);
            if native.is_some_and(|native| self.take_native(&native, &place, sink)) {
                continue;
            }
            let entry = memory.provenance.conversation_ref.as_deref();
            let index_entry = entry.and_then(|id| self.index.get(id)).filter(|e| is_elsewhere(e));
            let foreign = ForeignMemory {
                value,
                relations: relations.remove(memory.id.as_str()).unwrap_or_default(),
                index_entry: index_entry.cloned(),
                memory,
                place,
            };
            self.push_foreign(foreign, &times, sink);
        }
        // Those in files are read as files.
        self.index.retain(|_, entry| is_elsewhere(entry));
    }

    fn push_foreign(
        &mut self,
        foreign: ForeignMemory<'_>,
        times: &BTreeMap<String, Micros>,
        sink: &mut RowSink,
    ) {
        let ForeignMemory { value, memory, relations, index_entry, place } = foreign;
        let id = source_id(&memory.id);
        if memory.status == "retracted" && memory.content == ERASED {
            return match memory.id == id {
                true => push_cancellation(&id, &place, sink),
                false => sink.account.skip("a tombstone of a derived record", 1),
            };
        }
        self.events.insert(memory.id.clone());
        sink.account.keep("memories", "texts; the rest of each in its origin");
        let content = match memory.content.trim().is_empty() {
            true => {
                let data = Value::object([("content", memory.content.as_str().into())]);
                RowContent::Json { data: to_compact(&data) }
            }
            false => RowContent::Text { text: memory.content.clone() },
        };
        let at = observed(&memory);
        let mut row = ForeignRow::new(&place, content).at(Some(at), TimeBasis::Stated);
        row.recorded_at = Some(memory.temporal.created_at);
        row.labels = memory.tags.iter().map(|tag| format!("tag:{tag}")).collect();
        if !memory.is_exportable() {
            row.label(PRIVATE_LABEL);
        }
        let next = memory.temporal.superseded_by.as_ref().and_then(|next| times.get(next));
        row.no_extract = match memory.status.as_str() {
            "archived" | "retracted" => true,
            // The memory behind it says from when on it is not so any more.
            "superseded" => next.is_none_or(|next| *next <= at),
            _ => false,
        };
        for relation in &relations {
            let text = |name: &str| relation.get(name).and_then(Value::as_str).unwrap_or_default();
            if matches!(text("type"), "derived_from" | "supersedes") {
                row.preceded_by.push(source_id(text("to")));
            }
        }
        let mut kept = value.clone();
        if !memory.content.trim().is_empty() {
            // The event has the words.
            kept.take("content");
        }
        kept.take("embedding_ref");
        let kept = sink.carry("memories[].", kept);
        row.origin = sink.origin([
            ("memory", kept),
            ("relations", Value::Array(relations)),
            ("index_entry", index_entry.unwrap_or(Value::Null)),
        ]);
        sink.push(row.with_id(id.clone()));
        if memory.status == "retracted" {
            push_cancellation(&id, &place, sink);
        }
    }
}

fn observed(memory: &Memory) -> Micros {
    memory.temporal.valid_from.unwrap_or(memory.temporal.created_at)
}

/// Whether a conversation is not a file of the bundle.
fn is_elsewhere(entry: &Value) -> bool {
    let storage = entry.get("storage").filter(|storage| !storage.is_null());
    storage.and_then(|storage| storage.get("type")).and_then(Value::as_str) != Some("file")
}

//! The memories, relations and conversations of a scope at a point.

use std::collections::{BTreeMap, BTreeSet};

use lamina_api::v1::exports::ExportLayer;
use lamina_portable::export::{ExportRecord, line_of};
use lamina_portable::json::Value;
use lamina_portable::loss::LossAccount;
use lamina_portable::pam::{
    Conversation, Memory, MemoryKind, NativeRecord, Provenance, Relation, Temporal, derived_id,
};
use lamina_types::layer::Object;
use lamina_types::{EventId, Micros, RecordedAt};

use super::super::ExportPlan;
use super::gather::Records;
use super::{PamHistory, PamTerms, events, facts, layers};

/// The platform of our own records.
pub(super) const PLATFORM: &str = "lamina";

/// The terms of a snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct SnapshotFrame<'a> {
    pub(super) plan: &'a ExportPlan,
    pub(super) as_of: RecordedAt,
    pub(super) history: PamHistory,
}

impl<'a> SnapshotFrame<'a> {
    pub(super) fn new(plan: &'a ExportPlan, terms: &PamTerms) -> SnapshotFrame<'a> {
        SnapshotFrame { plan, as_of: plan.point.recorded, history: terms.history }
    }

    pub(super) fn has_events(&self) -> bool {
        self.plan.has(ExportLayer::Events)
    }
}

/// Where the words of an event are in the store.
#[derive(Debug, Clone)]
pub(super) enum EventPlace {
    /// In a message.
    Message { conversation: String, message: String },
    /// In a memory.
    Memory(String),
    /// Nowhere: the layer of events is not exported, or the event was cancelled.
    Absent,
}

/// What an event lends to the records that stand on it.
#[derive(Debug, Clone)]
pub(super) struct EventFrame {
    pub(super) place: EventPlace,
    pub(super) recorded: Micros,
    pub(super) is_imported: bool,
}

/// The contents of a store.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub(super) memories: BTreeMap<String, Memory>,
    pub(super) relations: BTreeMap<String, Relation>,
    pub(super) conversations: BTreeMap<String, Conversation>,
    pub(super) index_entries: BTreeMap<String, Value>,
    /// Memories whose words an erasure took, by id: the type that they had.
    pub(super) erased: BTreeMap<String, MemoryKind>,
    /// Versions of facts that another version replaced.
    pub(super) retired: BTreeMap<String, Memory>,
    pub(super) account: LossAccount,
    /// Events that are in the export, or could be.
    pub(super) frames: BTreeMap<EventId, EventFrame>,
    /// Events that their person keeps out of exports.
    pub(super) private: BTreeSet<EventId>,
    /// The sides of conflicts, by the fact that is one.
    pub(super) sides: BTreeMap<String, Vec<ConflictSide>>,
    /// Facts and episodes that are left out because of them.
    pub(super) withheld: BTreeSet<String>,
}

impl Snapshot {
    /// Maps the records of a scope.
    pub(super) fn build(records: Records, frame: &SnapshotFrame<'_>) -> Snapshot {
        let mut snapshot = Snapshot::default();
        events::map(&records, frame, &mut snapshot);
        if frame.has_events() {
            for control in &records.controls {
                snapshot.push_control(control, frame);
            }
        }
        facts::map(&records, frame, &mut snapshot);
        layers::map(&records, frame, &mut snapshot);
        snapshot
    }

    /// Adds a memory under its id, with our own record.
    pub(super) fn push_memory(&mut self, mut memory: Memory, native: Option<&NativeRecord>) {
        if let Some(native) = native {
            native.attach(&mut memory);
        }
        self.account.count_row("memory");
        self.memories.insert(memory.id.clone(), memory);
    }

    /// Adds a relation. Its id is made from its ends and type.
    pub(super) fn push_relation(&mut self, edge: &Edge<'_>) {
        let Edge { from, to, relation_type, weight, created_at } = *edge;
        let relation = Relation {
            id: derived_id("rel", &[from, relation_type, to]),
            from: from.to_owned(),
            to: to.to_owned(),
            relation_type: relation_type.to_owned(),
            confidence: weight.map(share),
            created_at,
        };
        self.relations.insert(relation.id.clone(), relation);
    }

    /// Whether every event that a record stands on is private.
    pub(super) fn all_private(&self, supports: &[EventId]) -> bool {
        !supports.is_empty() && supports.iter().all(|id| self.private.contains(id))
    }

    pub(super) fn withhold(&mut self, id: String) {
        self.withheld.insert(id);
        self.account.skip("it stands on events with the label pam:private", 1);
    }

    /// The conversation, message and time of the first event of some that is in the store.
    pub(super) fn source_of(&self, supports: &[EventId]) -> Provenance {
        let mut provenance = Provenance { platform: PLATFORM.to_owned(), ..Provenance::default() };
        let places = supports.iter().filter_map(|id| self.frames.get(id));
        for frame in places {
            if let EventPlace::Message { conversation, message } = &frame.place {
                provenance.conversation_ref = Some(conversation.clone());
                provenance.message_ref = Some(message.clone());
                break;
            }
        }
        provenance
    }

    /// The memories among the events that a record stands on.
    pub(super) fn memory_events(&self, supports: &[EventId]) -> Vec<String> {
        let places = supports.iter().filter_map(|id| match &self.frames.get(id)?.place {
            EventPlace::Memory(id) => Some(id.clone()),
            _ => None,
        });
        places.collect()
    }

    /// A decision, merge or vocabulary: a memory that other programs show and we read back.
    fn push_control(&mut self, control: &ExportRecord, frame: &SnapshotFrame<'_>) {
        let ExportRecord::Control(line) = control else { return };
        let kind = line.kind.as_str();
        let record = line_of(control).trim_end().to_owned();
        // A decision quotes the claims that it chose between.
        if self.private.iter().any(|id| record.contains(&id.to_string())) {
            return self.withhold(line.id.clone());
        }
        let scope = line.body.get("scope").and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = derived_id("decision", &[kind, &scope, &line.id]);
        let statement = line.body.get("statement").and_then(Value::as_str);
        let content = match statement {
            Some(statement) => statement.to_owned(),
            None => format!("Decided about this memory: {}", kind.replace('_', " ")),
        };
        let native = NativeRecord { layer: "decision".to_owned(), scope, record, citation: None };
        // Lines of decisions say no time of their own.
        let created_at = self.first_recorded().unwrap_or(frame.as_of.0);
        let memory =
            blank_memory(id, MemoryKind::Custom("decision".to_owned()), content, created_at);
        self.push_memory(memory, Some(&native));
    }

    fn first_recorded(&self) -> Option<Micros> {
        self.frames.values().map(|frame| frame.recorded).min()
    }
}

/// A side of a conflict.
#[derive(Debug, Clone)]
pub(super) struct ConflictSide {
    pub(super) object: Object,
    pub(super) id: String,
}

/// An edge between two memories.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    pub(super) relation_type: &'a str,
    pub(super) weight: Option<f64>,
    pub(super) created_at: Micros,
}

/// A number between 0 and 1, as the format has it.
pub(super) fn share(number: f64) -> Value {
    Value::double(rounded(number.clamp(0.0, 1.0)))
}

/// A number in ten-thousandths: confidences fade with every instant, and a copy should not change with each
/// of them.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

/// A memory that says nothing beyond its words.
pub(super) fn blank_memory(
    id: String,
    kind: MemoryKind,
    content: String,
    created_at: Micros,
) -> Memory {
    Memory {
        id,
        kind,
        status: "active".to_owned(),
        content,
        summary: None,
        tags: Vec::new(),
        temporal: Temporal {
            created_at,
            updated_at: None,
            valid_from: None,
            valid_until: None,
            superseded_by: None,
        },
        provenance: Provenance { platform: PLATFORM.to_owned(), ..Provenance::default() },
        confidence: None,
        access: None,
        embedding_ref: None,
        metadata: None,
    }
}

/// An end that is not before its beginning.
pub(super) fn end_after(from: Option<Micros>, until: Option<Micros>) -> Option<Micros> {
    until.filter(|until| from.is_none_or(|from| from <= *until))
}

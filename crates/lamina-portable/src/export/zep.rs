//! Zep: events as episodes, facts as edges, things and concepts as nodes.
//!
//! Episodes and edges are written as they come; nodes are few and are written at the end.

use std::collections::BTreeMap;

use lamina_types::{Content, Micros};
use sha2::{Digest as _, Sha256};

use super::mem0::event_text;
use super::record::{ExportConcept, ExportEvent, ExportFact, ExportRecord, ExportTerm};
use super::{ExportFrame, lose_control, push_text, scope_id};
use crate::json::{Value, to_compact, write_compact};
use crate::loss::LossAccount;
use crate::time;

/// The array that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Episodes,
    Edges,
    Nodes,
}

impl Section {
    fn name(self) -> &'static str {
        match self {
            Section::Episodes => "episodes",
            Section::Edges => "edges",
            Section::Nodes => "nodes",
        }
    }
}

#[derive(Debug)]
pub(super) struct ZepShape {
    group: String,
    section: Option<Section>,
    is_first: bool,
    nodes: BTreeMap<String, Value>,
}

impl ZepShape {
    pub(super) fn new(frame: &ExportFrame) -> ZepShape {
        let group = scope_id(&frame.scope, "ws").unwrap_or(&frame.scope).to_owned();
        ZepShape { group, section: None, is_first: true, nodes: BTreeMap::new() }
    }

    pub(super) fn push(
        &mut self,
        record: &ExportRecord,
        out: &mut String,
        account: &mut LossAccount,
    ) {
        match record {
            ExportRecord::Event(event) => {
                let Some(episode) = self.episode(event, account) else { return };
                account.count_row("event");
                self.write(Section::Episodes, &episode, out);
            }
            ExportRecord::Fact(fact) => {
                account.count_row("fact");
                let edge = self.edge(fact, account);
                self.write(Section::Edges, &edge, out);
            }
            ExportRecord::Concept(concept) => {
                account.count_row("concept");
                self.meet_concept(concept);
            }
            ExportRecord::Belief(_) => account.skip("Zep has no beliefs", 1),
            ExportRecord::Episode(_) => account.skip("Zep makes its own summaries", 1),
            ExportRecord::Header(_) => {}
            ExportRecord::Control(_) => lose_control(record, account),
        }
    }

    pub(super) fn finish(&mut self, out: &mut String) {
        let nodes = std::mem::take(&mut self.nodes);
        for node in nodes.values() {
            self.write(Section::Nodes, node, out);
        }
        self.open(Section::Nodes, out);
        out.push_str("\n]}\n");
    }

    /// Writes an element into its array.
    fn write(&mut self, section: Section, element: &Value, out: &mut String) {
        self.open(section, out);
        if !std::mem::take(&mut self.is_first) {
            out.push(',');
        }
        out.push('\n');
        write_compact(element, out);
    }

    /// Closes arrays and opens the next ones, up to this one.
    fn open(&mut self, wanted: Section, out: &mut String) {
        for section in [Section::Episodes, Section::Edges, Section::Nodes] {
            if self.section >= Some(section) || section > wanted {
                continue;
            }
            out.push_str(if self.section.is_none() { "{" } else { "\n]," });
            out.push_str(&format!("\"{}\":[", section.name()));
            self.section = Some(section);
            self.is_first = true;
        }
    }

    fn episode(&self, event: &ExportEvent, account: &mut LossAccount) -> Option<Value> {
        let experience = &event.experience;
        let text = event_text(&experience.content);
        if text.trim().is_empty() {
            account.skip("the event has no words", 1);
            return None;
        }
        let source = match &experience.content {
            Content::Message { .. } => "message",
            Content::Json { .. } | Content::Triple { .. } => "json",
            Content::Text { .. } | Content::BlobRef { .. } => "text",
        };
        let mut episode = Value::object([
            ("uuid", Value::from(event.id.as_str())),
            ("content", Value::from(text)),
            ("source", Value::from(source)),
            ("source_description", Value::from(experience.modality.as_str())),
            ("group_id", Value::from(self.group.as_str())),
        ]);
        if let Content::Message { role, .. } = &experience.content {
            episode.push("role", experience.observed_actor.id.as_str());
            episode.push("role_type", role.as_str());
        }
        push_text(&mut episode, "session_id", experience.observed_actor.session.as_deref());
        episode.push("valid_at", time::print(experience.context.observed_at.0));
        episode.push("created_at", time::print(event.recorded_at));
        if !experience.context.labels.is_empty() {
            account.lose("context.labels", "episodes of Zep have no labels");
        }
        if !experience.content.media().is_empty() {
            account.lose("content.media", "media is not exported");
        }
        Some(episode)
    }

    fn edge(&mut self, fact: &ExportFact, account: &mut LossAccount) -> Value {
        let subject = fact.subject.id.clone();
        self.meet(&subject, &fact.subject.name, fact.subject.kind.as_deref(), fact.recorded_from);
        let target = match &fact.object {
            ExportTerm::Thing(thing) => {
                self.meet(&thing.id, &thing.name, thing.kind.as_deref(), fact.recorded_from);
                thing.id.clone()
            }
            ExportTerm::Literal { value, .. } => {
                account.change("object", "a value became a node: edges of Zep join nodes");
                let name = value.as_str().map_or_else(|| to_compact(value), str::to_owned);
                let digest: [u8; 32] = Sha256::digest(&name).into();
                let id = lamina_types::stdx::hex::encode(digest.get(..16).unwrap_or_default());
                self.meet(&id, &name, Some("Literal"), fact.recorded_from);
                id
            }
        };
        let mut attributes = Value::object([("extractor", Value::from(fact.extractor.as_str()))]);
        if fact.negated {
            attributes.push("negated", true);
        }
        let mut edge = Value::object([
            ("uuid", Value::from(fact.id.as_str())),
            ("name", Value::from(fact.predicate.as_str())),
            ("fact", Value::from(fact.sentence.as_str())),
            ("source_node_uuid", Value::from(subject)),
            ("target_node_uuid", Value::from(target)),
            ("group_id", Value::from(self.group.as_str())),
            ("rating", Value::double(fact.confidence)),
        ]);
        let printed =
            |at: Option<Micros>| at.map_or(Value::Null, |at| Value::from(time::print(at)));
        edge.push("valid_at", printed(fact.valid_from));
        edge.push("invalid_at", printed(fact.valid_to));
        edge.push("expired_at", printed(fact.recorded_to));
        edge.push("created_at", time::print(fact.recorded_from));
        edge.push("episodes", Value::strings(&fact.supports));
        edge.push("attributes", attributes);
        edge
    }

    fn meet(&mut self, id: &str, name: &str, kind: Option<&str>, at: Micros) {
        let labels: Vec<&str> = std::iter::once("Entity").chain(kind).collect();
        let node = || {
            Value::object([
                ("uuid", Value::from(id)),
                ("name", Value::from(name)),
                ("labels", Value::strings(&labels)),
                ("summary", Value::from("")),
                ("created_at", Value::from(time::print(at))),
            ])
        };
        self.nodes.entry(id.to_owned()).or_insert_with(node);
    }

    fn meet_concept(&mut self, concept: &ExportConcept) {
        let node = Value::object([
            ("uuid", Value::from(concept.id.as_str())),
            ("name", Value::from(concept.name.as_str())),
            ("labels", Value::strings(&["Entity", "Concept"])),
            ("summary", Value::from(concept.summary.as_str())),
            ("created_at", Value::from(time::print(concept.recorded_from))),
        ]);
        self.nodes.insert(concept.id.clone(), node);
    }
}

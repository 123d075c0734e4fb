//! Exports of a small scope in every format, and their way back through the importers.

use std::collections::BTreeSet;
use std::sync::Arc;

use expect_test::{Expect, expect};
use lamina_types::{
    Actor, Content, Context, Directives, EventId, Experience, Hints, Modality, Role, ValidAt,
};

use super::*;
use crate::foreign::{ForeignRow, Format, ImportOptions, RowContent, read};
use crate::json::{ReadPolicy, parse};
use crate::source::{ImportSource, SourceLimits};

const DAY: i64 = 86_400_000_000;

fn at(day: i64) -> Micros {
    Micros(1_767_225_600_000_000 + day * DAY)
}

fn event(number: u8, content: Content) -> ExportRecord {
    let labels = match number {
        2 => {
            ["mem0_source_id:m-1", "mem0_hash:ff", "concept:food", "mem0_metadata.mood:good", "own"]
                .as_slice()
        }
        _ => &[],
    };
    let actor = if number == 1 { "user:nora" } else { "agent:cook" };
    let experience = Experience {
        scope: "org:acme/user:nora".parse().expect("is a scope"),
        observed_actor: Actor {
            id: actor.parse().expect("is an actor"),
            session: Some("s-1".to_owned()),
        },
        subject: "user:nora".parse().expect("is an actor"),
        modality: Modality("conversation".to_owned()),
        content,
        context: Context {
            observed_at: ValidAt(at(i64::from(number))),
            source_recorded_at: None,
            location: Some("\"Lisbon\"".to_owned()),
            preceded_by: if number == 2 { vec![EventId::from_bytes([1; 16])] } else { Vec::new() },
            intent: None,
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            refers_to: None,
        },
        directives: Directives { no_supersede: number == 2, ..Directives::default() },
        source: None,
        origin: None,
        hints: Hints { language: Some("en".to_owned()), ..Hints::default() },
        idempotency_key: format!("key-{number}"),
    };
    ExportRecord::Event(Box::new(ExportEvent {
        id: EventId::from_bytes([number; 16]).to_string(),
        experience,
        recorded_at: at(10),
        origin: (number == 2).then(|| "{\"format\":\"mem0\"}".to_owned()),
    }))
}

fn fact(id: &str, recorded_to: Option<Micros>) -> ExportRecord {
    let thing =
        |id: &str, name: &str| ExportThing { id: id.to_owned(), name: name.to_owned(), kind: None };
    ExportRecord::Fact(Box::new(ExportFact {
        id: id.to_owned(),
        scope: "org:acme/user:nora".to_owned(),
        subject: thing("ent_1", "Nora"),
        predicate: "lives_in".to_owned(),
        object: ExportTerm::Thing(thing("ent_2", "Lisbon")),
        negated: false,
        sentence: "Nora lives in Lisbon".to_owned(),
        valid_from: Some(at(0)),
        valid_to: None,
        recorded_from: at(10),
        recorded_to,
        confidence: 0.9,
        extractor: "rules".to_owned(),
        supports: vec!["evt_1".to_owned()],
        superseded_by: None,
    }))
}

/// A scope with one record of each kind and more of some.
fn records() -> Vec<ExportRecord> {
    let text = |text: &str| Content::Text { text: text.to_owned(), media: Vec::new() };
    let message = Content::Message {
        role: Role::User,
        text: "I moved to \"Lisbon\"\nlast week.".to_owned(),
        media: Vec::new(),
    };
    let triple = r#"{"subject":{"type":"entity","id":"nora","name":"Nora"},"predicate":"likes","object":{"type":"literal","datatype":"string","value":"tea"}}"#;
    vec![
        ExportRecord::Header(ExportHeader {
            scope: "org:acme/user:nora".to_owned(),
            descends: false,
            as_of: at(20),
            layers: vec!["events".to_owned(), "facts".to_owned()],
        }),
        event(1, message),
        event(2, text("Nora likes olives.")),
        event(3, Content::Triple { triple: triple.to_owned(), media: Vec::new() }),
        event(4, Content::Json { data: "{\"steps\":1.50}".to_owned(), media: Vec::new() }),
        ExportRecord::Control(ExportControl {
            kind: LineKind::Cancellation,
            id: "evt_9".to_owned(),
            body: Value::object([("reason", Value::from("a typo"))]),
        }),
        fact("fact_1", None),
        fact("fact_2", Some(at(11))),
        ExportRecord::Belief(Box::new(ExportBelief {
            id: "belief_1".to_owned(),
            scope: "org:acme/user:nora".to_owned(),
            statement: "Nora lives in Lisbon".to_owned(),
            subject: "Nora".to_owned(),
            predicate: "lives_in".to_owned(),
            object: "Lisbon".to_owned(),
            stance: "supported".to_owned(),
            confidence: 0.8,
            valid_from: at(0),
            valid_to: None,
            recorded_from: at(10),
            recorded_to: None,
            supports: vec![ExportSupport { id: "fact_1".to_owned(), weight: 1.35 }],
            contradicts: Vec::new(),
        })),
        ExportRecord::Episode(Box::new(ExportEpisode {
            id: "ep_1".to_owned(),
            scope: "org:acme/user:nora".to_owned(),
            name: "the move".to_owned(),
            summary: String::new(),
            supports: vec!["evt_1".to_owned()],
            started_at: at(1),
            ended_at: Some(at(2)),
            state: "sealed".to_owned(),
            actors: vec!["user:nora".to_owned()],
        })),
        ExportRecord::Concept(Box::new(ExportConcept {
            id: "concept_1".to_owned(),
            scope: "org:acme/user:nora".to_owned(),
            name: "Lisbon".to_owned(),
            summary: "Where Nora lives.".to_owned(),
            version: 2,
            stance: "supported".to_owned(),
            confidence: 0.7,
            valid_from: at(0),
            recorded_from: at(12),
            supports: ConceptSupports {
                facts: vec!["fact_1".to_owned()],
                ..ConceptSupports::default()
            },
        })),
    ]
}

struct Written {
    text: String,
    account: LossAccount,
}

fn write(format: ExportFormat, records: &[ExportRecord]) -> Written {
    let frame = ExportFrame { scope: "org:acme/user:nora".to_owned(), as_of: at(20) };
    let mut writer = ExportWriter::new(format.records().expect("has records"), frame, Vec::new());
    for record in records {
        writer.push(record).expect("memory takes everything");
    }
    let FinishedExport { out, account } = writer.finish().expect("memory takes everything");
    Written { text: String::from_utf8(out).expect("exports are UTF-8"), account }
}

fn read_back(format: Format, name: &str, text: &str) -> Vec<ForeignRow> {
    let bytes = Arc::new(text.as_bytes().to_vec());
    let source = ImportSource::open(name, bytes, &SourceLimits::IMPORT).expect("is readable");
    let rows = read(Arc::new(source), format, ImportOptions::new(at(0)));
    rows.map(|row| row.expect("our own export is good")).collect()
}

fn check(format: ExportFormat, expected: Expect) {
    expected.assert_eq(&write(format, &records()).text);
}

#[test]
fn jsonl_export_has_a_line_for_each_record() {
    check(
        ExportFormat::Jsonl,
        expect![[r#"
            {"lamina":{"line":"header","version":1,"scope":"org:acme/user:nora","descends":false,"as_of":"2026-01-21T00:00:00Z","layers":["events","facts"]}}
            {"lamina":{"line":"event","version":1,"id":"evt_01010101010101010101010101010101","recorded_at":"2026-01-11T00:00:00Z"},"scope":"org:acme/user:nora","observed_actor":{"id":"user:nora","session":"s-1"},"subject":{"id":"user:nora"},"modality":"conversation","content":{"kind":"message","role":"user","text":"I moved to \"Lisbon\"\nlast week."},"context":{"observed_at":"2026-01-02T00:00:00Z","location":"Lisbon"},"language":"en","idempotency_key":"key-1"}
            {"lamina":{"line":"event","version":1,"id":"evt_02020202020202020202020202020202","recorded_at":"2026-01-11T00:00:00Z","origin":{"format":"mem0"}},"scope":"org:acme/user:nora","observed_actor":{"id":"agent:cook","session":"s-1"},"subject":{"id":"user:nora"},"modality":"conversation","content":{"kind":"text","text":"Nora likes olives."},"context":{"observed_at":"2026-01-03T00:00:00Z","location":"Lisbon","preceded_by":["evt_01010101010101010101010101010101"],"labels":["mem0_source_id:m-1","mem0_hash:ff","concept:food","mem0_metadata.mood:good","own"]},"directives":{"no_supersede":true},"language":"en","idempotency_key":"key-2"}
            {"lamina":{"line":"event","version":1,"id":"evt_03030303030303030303030303030303","recorded_at":"2026-01-11T00:00:00Z"},"scope":"org:acme/user:nora","observed_actor":{"id":"agent:cook","session":"s-1"},"subject":{"id":"user:nora"},"modality":"conversation","content":{"kind":"triple","triple":{"subject":{"type":"entity","id":"nora","name":"Nora"},"predicate":"likes","object":{"type":"literal","datatype":"string","value":"tea"}}},"context":{"observed_at":"2026-01-04T00:00:00Z","location":"Lisbon"},"language":"en","idempotency_key":"key-3"}
            {"lamina":{"line":"event","version":1,"id":"evt_04040404040404040404040404040404","recorded_at":"2026-01-11T00:00:00Z"},"scope":"org:acme/user:nora","observed_actor":{"id":"agent:cook","session":"s-1"},"subject":{"id":"user:nora"},"modality":"conversation","content":{"kind":"json","data":{"steps":1.50}},"context":{"observed_at":"2026-01-05T00:00:00Z","location":"Lisbon"},"language":"en","idempotency_key":"key-4"}
            {"lamina":{"line":"cancellation","version":1,"id":"evt_9"},"reason":"a typo"}
            {"lamina":{"line":"fact","version":1,"id":"fact_1"},"scope":"org:acme/user:nora","subject":{"type":"entity","id":"ent_1","name":"Nora"},"predicate":"lives_in","object":{"type":"entity","id":"ent_2","name":"Lisbon"},"sentence":"Nora lives in Lisbon","valid_from":"2026-01-01T00:00:00Z","recorded_from":"2026-01-11T00:00:00Z","confidence":0.9,"extractor":"rules","supports":["evt_1"]}
            {"lamina":{"line":"fact","version":1,"id":"fact_2"},"scope":"org:acme/user:nora","subject":{"type":"entity","id":"ent_1","name":"Nora"},"predicate":"lives_in","object":{"type":"entity","id":"ent_2","name":"Lisbon"},"sentence":"Nora lives in Lisbon","valid_from":"2026-01-01T00:00:00Z","recorded_from":"2026-01-11T00:00:00Z","recorded_to":"2026-01-12T00:00:00Z","confidence":0.9,"extractor":"rules","supports":["evt_1"]}
            {"lamina":{"line":"belief","version":1,"id":"belief_1"},"scope":"org:acme/user:nora","statement":"Nora lives in Lisbon","subject":"Nora","predicate":"lives_in","object":"Lisbon","stance":"supported","confidence":0.8,"valid_from":"2026-01-01T00:00:00Z","recorded_from":"2026-01-11T00:00:00Z","supports":[{"id":"fact_1","weight":1.35}]}
            {"lamina":{"line":"episode","version":1,"id":"ep_1"},"scope":"org:acme/user:nora","name":"the move","summary":"","supports":["evt_1"],"started_at":"2026-01-02T00:00:00Z","ended_at":"2026-01-03T00:00:00Z","state":"sealed","actors":["user:nora"]}
            {"lamina":{"line":"concept","version":1,"id":"concept_1"},"scope":"org:acme/user:nora","name":"Lisbon","summary":"Where Nora lives.","version":2,"stance":"supported","confidence":0.7,"valid_from":"2026-01-01T00:00:00Z","recorded_from":"2026-01-13T00:00:00Z","supports":{"facts":["fact_1"]}}
        "#]],
    );
}

#[test]
fn mem0_export_is_a_page_of_results() {
    check(
        ExportFormat::Mem0,
        expect![[r#"
        {"results":[
        {"id":"evt_01010101010101010101010101010101","memory":"I moved to \"Lisbon\"\nlast week.","user_id":"nora","run_id":"s-1","role":"user","metadata":{"lamina_scope":"org:acme/user:nora"},"created_at":"2026-01-02T00:00:00Z","updated_at":"2026-01-02T00:00:00Z"},
        {"id":"m-1","memory":"Nora likes olives.","hash":"ff","user_id":"nora","agent_id":"cook","run_id":"s-1","categories":["food"],"metadata":{"mood":"good","lamina_scope":"org:acme/user:nora","labels":["own"]},"immutable":true,"created_at":"2026-01-03T00:00:00Z","updated_at":"2026-01-03T00:00:00Z"},
        {"id":"evt_03030303030303030303030303030303","memory":"Nora likes tea","user_id":"nora","agent_id":"cook","run_id":"s-1","metadata":{"lamina_scope":"org:acme/user:nora"},"created_at":"2026-01-04T00:00:00Z","updated_at":"2026-01-04T00:00:00Z"},
        {"id":"evt_04040404040404040404040404040404","memory":"{\"steps\":1.50}","user_id":"nora","agent_id":"cook","run_id":"s-1","metadata":{"lamina_scope":"org:acme/user:nora"},"created_at":"2026-01-05T00:00:00Z","updated_at":"2026-01-05T00:00:00Z"},
        {"id":"fact_1","memory":"Nora lives in Lisbon","user_id":"nora","metadata":{"lamina_scope":"org:acme/user:nora","lamina_layer":"fact","supports":["evt_1"]},"created_at":"2026-01-11T00:00:00Z"},
        {"id":"belief_1","memory":"Nora lives in Lisbon","user_id":"nora","metadata":{"lamina_scope":"org:acme/user:nora","lamina_layer":"belief","supports":["fact_1"]},"created_at":"2026-01-11T00:00:00Z"},
        {"id":"ep_1","memory":"the move","user_id":"nora","metadata":{"lamina_scope":"org:acme/user:nora","lamina_layer":"episode","supports":["evt_1"]},"created_at":"2026-01-02T00:00:00Z"},
        {"id":"concept_1","memory":"Where Nora lives.","user_id":"nora","metadata":{"lamina_scope":"org:acme/user:nora","lamina_layer":"concept","supports":["fact_1"]},"created_at":"2026-01-13T00:00:00Z","categories":["Lisbon"]}
        ],"count":8,"next":null,"previous":null}
    "#]],
    );
}

#[test]
fn zep_export_is_a_graph() {
    check(
        ExportFormat::Zep,
        expect![[r#"
        {"episodes":[
        {"uuid":"evt_01010101010101010101010101010101","content":"I moved to \"Lisbon\"\nlast week.","source":"message","source_description":"conversation","group_id":"org:acme/user:nora","role":"user:nora","role_type":"user","session_id":"s-1","valid_at":"2026-01-02T00:00:00Z","created_at":"2026-01-11T00:00:00Z"},
        {"uuid":"evt_02020202020202020202020202020202","content":"Nora likes olives.","source":"text","source_description":"conversation","group_id":"org:acme/user:nora","session_id":"s-1","valid_at":"2026-01-03T00:00:00Z","created_at":"2026-01-11T00:00:00Z"},
        {"uuid":"evt_03030303030303030303030303030303","content":"Nora likes tea","source":"json","source_description":"conversation","group_id":"org:acme/user:nora","session_id":"s-1","valid_at":"2026-01-04T00:00:00Z","created_at":"2026-01-11T00:00:00Z"},
        {"uuid":"evt_04040404040404040404040404040404","content":"{\"steps\":1.50}","source":"json","source_description":"conversation","group_id":"org:acme/user:nora","session_id":"s-1","valid_at":"2026-01-05T00:00:00Z","created_at":"2026-01-11T00:00:00Z"}
        ],"edges":[
        {"uuid":"fact_1","name":"lives_in","fact":"Nora lives in Lisbon","source_node_uuid":"ent_1","target_node_uuid":"ent_2","group_id":"org:acme/user:nora","rating":0.9,"valid_at":"2026-01-01T00:00:00Z","invalid_at":null,"expired_at":null,"created_at":"2026-01-11T00:00:00Z","episodes":["evt_1"],"attributes":{"extractor":"rules"}},
        {"uuid":"fact_2","name":"lives_in","fact":"Nora lives in Lisbon","source_node_uuid":"ent_1","target_node_uuid":"ent_2","group_id":"org:acme/user:nora","rating":0.9,"valid_at":"2026-01-01T00:00:00Z","invalid_at":null,"expired_at":"2026-01-12T00:00:00Z","created_at":"2026-01-11T00:00:00Z","episodes":["evt_1"],"attributes":{"extractor":"rules"}}
        ],"nodes":[
        {"uuid":"concept_1","name":"Lisbon","labels":["Entity","Concept"],"summary":"Where Nora lives.","created_at":"2026-01-13T00:00:00Z"},
        {"uuid":"ent_1","name":"Nora","labels":["Entity"],"summary":"","created_at":"2026-01-11T00:00:00Z"},
        {"uuid":"ent_2","name":"Lisbon","labels":["Entity"],"summary":"","created_at":"2026-01-11T00:00:00Z"}
        ]}
    "#]],
    );
}

#[test]
fn letta_export_is_an_agent_file() {
    check(
        ExportFormat::Letta,
        expect![[r#"
        {"agents":[{"id":"agent-0","name":"org-acme-user-nora","system":"","agent_type":"letta_v1_agent","messages":[
        {"type":"message","role":"user","content":[{"type":"text","text":"I moved to \"Lisbon\"\nlast week."}],"id":"message-0","agent_id":"agent-0","tool_calls":null,"tool_returns":[],"created_at":"2026-01-02T00:00:00Z"}
        ],"block_ids":["block-0","block-1","block-2"],"tool_ids":[],"in_context_message_ids":[]}],"groups":[],"blocks":[{"id":"block-0","label":"Lisbon","value":"Where Nora lives.","limit":20000},{"id":"block-1","label":"human","value":"Nora lives in Lisbon","limit":20000},{"id":"block-2","label":"persona","value":"","limit":20000}],"files":[],"sources":[],"tools":[],"mcp_servers":[],"passages":[{"id":"evt_02020202020202020202020202020202","text":"Nora likes olives.","created_at":"2026-01-03T00:00:00Z","tags":["mem0_source_id:m-1","mem0_hash:ff","concept:food","mem0_metadata.mood:good","own"]},
        {"id":"evt_03030303030303030303030303030303","text":"Nora likes tea","created_at":"2026-01-04T00:00:00Z","tags":[]},
        {"id":"evt_04040404040404040404040404040404","text":"{\"steps\":1.50}","created_at":"2026-01-05T00:00:00Z","tags":[]}],"metadata":{},"created_at":"2026-01-21T00:00:00Z"}
    "#]],
    );
}

#[test]
fn every_export_is_json_also_when_it_is_empty() {
    for format in ExportFormat::ALL.iter().filter(|format| format.records().is_some()) {
        for records in [records(), Vec::new()] {
            let text = write(*format, &records).text;
            match format {
                ExportFormat::Jsonl => {
                    for line in text.lines() {
                        parse(line.as_bytes(), &ReadPolicy::STRICT).expect("a line is JSON");
                    }
                }
                _ => drop(parse(text.as_bytes(), &ReadPolicy::STRICT).expect("is JSON")),
            }
        }
        assert_eq!(ExportFormat::find(format.name()), Some(*format));
    }
}

#[test]
fn every_record_is_written_or_counted() {
    for format in ExportFormat::ALL.iter().filter(|format| format.records().is_some()) {
        let account = write(*format, &records()).account;
        let header = u64::from(*format != ExportFormat::Jsonl);
        assert_eq!(account.read() + header, records().len() as u64, "{format:?}");
    }
    assert_eq!(write(ExportFormat::Jsonl, &records()).account.skipped(), 0);
}

#[test]
fn records_out_of_order_are_refused() {
    let frame = ExportFrame { scope: "user:nora".to_owned(), as_of: at(20) };
    let mut writer = ExportWriter::new(RecordFormat::Zep, frame, Vec::new());
    writer.push(&fact("fact_1", None)).expect("memory takes everything");
    let late = event(1, Content::Text { text: "late".to_owned(), media: Vec::new() });
    assert!(matches!(writer.push(&late), Err(ExportError::Order { kind: "event" })));
}

#[test]
fn jsonl_export_imports_with_ids_references_and_origin() {
    let rows = read_back(Format::Jsonl, "a.jsonl", &write(ExportFormat::Jsonl, &records()).text);
    let kinds: Vec<&str> = rows.iter().map(|row| row.content.kind()).collect();
    assert_eq!(kinds, ["envelope", "envelope", "envelope", "envelope", "cancellation"]);
    let second = &rows[1];
    assert_eq!(second.source_id, EventId::from_bytes([2; 16]).to_string());
    assert_eq!(second.preceded_by, [EventId::from_bytes([1; 16]).to_string()]);
    assert_eq!(second.origin.as_deref(), Some("{\"format\":\"mem0\"}"));
    assert_eq!(second.observed_at, at(2));
    let RowContent::Envelope { body } = &second.content else { panic!("is an envelope") };
    assert!(body.contains("\"no_supersede\":true") && !body.contains("lamina"), "{body}");
}

#[test]
fn exports_to_others_come_back_with_their_words() {
    let words = |rows: &[ForeignRow]| -> BTreeSet<String> {
        rows.iter().map(|row| row.content.words()).collect()
    };
    let mem0 = read_back(Format::Mem0, "a.json", &write(ExportFormat::Mem0, &records()).text);
    assert!(words(&mem0).contains("Nora likes olives."));
    let olives = mem0.iter().find(|row| row.source_id == "m-1").expect("keeps the id of mem0");
    assert_eq!(olives.variables["user_id"], "nora");
    assert!(olives.labels.contains(&"concept:food".to_owned()));
    assert!(olives.no_supersede);
    let zep = read_back(Format::Zep, "a.json", &write(ExportFormat::Zep, &records()).text);
    let edge = zep.iter().find(|row| row.source_id == "fact_1").expect("keeps the fact");
    let RowContent::Triple(triple) = &edge.content else { panic!("is a fact") };
    assert_eq!((triple.valid_from, triple.confidence), (Some(at(0)), Some(0.9)));
    assert_eq!(edge.preceded_by, ["evt_1"]);
    let letta = read_back(Format::Letta, "a.af", &write(ExportFormat::Letta, &records()).text);
    assert!(words(&letta).contains("I moved to \"Lisbon\"\nlast week."));
    assert!(words(&letta).contains("Nora likes olives."));
    let human = letta.iter().find(|row| row.labels.contains(&"concept:human".to_owned()));
    assert_eq!(human.map(|row| row.content.words()).as_deref(), Some("Nora lives in Lisbon"));
}

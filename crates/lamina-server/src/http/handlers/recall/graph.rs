//! The pack as a graph in JSON-LD (R352): who and what is spoken of, and what is known between them.

use std::collections::BTreeMap;

use lamina_api::time;
use lamina_engine::read::recall::Recalled;
use lamina_engine::read::render::belief_words;
use serde_json::{Map, Value, json};

use crate::http::handlers::{beliefs, facts};

/// The graph of a pack.
pub(super) fn of(recalled: &Recalled) -> Value {
    let mut nodes: BTreeMap<String, Value> = BTreeMap::new();
    let mut claims: Vec<Value> = Vec::new();
    for found in &recalled.facts {
        let fact = &found.record;
        let subject = fact.subject.id.to_string();
        entity(&mut nodes, &subject, &facts::name(&fact.subject.term));
        for side in &fact.objects {
            let value = facts::value(side);
            let object = match (&value.id, &value.name) {
                (Some(id), Some(name)) => {
                    entity(&mut nodes, id, name);
                    json!({"@id": id})
                }
                _ => json!({"@value": value.value, "unit": value.unit}),
            };
            claims.push(json!({
                "@id": fact.id.to_string(),
                "@type": "Fact",
                "subject": {"@id": subject},
                "predicate": fact.predicate,
                "object": object,
                "negated": side.negated,
                "confidence": fact.confidence.as_f64(),
                "validFrom": fact.valid_from.map(|at| time::print(at.0)),
                "validTo": fact.valid_to.map(|at| time::print(at.0)),
                "wasDerivedFrom": fact.supports.iter().map(|id| json!({"@id": id.to_string()})).collect::<Vec<_>>(),
            }));
        }
    }
    for found in &recalled.beliefs {
        claims.push(json!({
            "@id": found.record.id.to_string(),
            "@type": "Belief",
            "name": belief_words(&found.record),
            "stance": beliefs::stance(found.record.shown.stance),
            "held": !recalled.refuted.contains(&found.record.id),
            "confidence": found.record.shown.confidence,
        }));
    }
    for found in &recalled.events {
        let event = &found.record;
        claims.push(json!({
            "@id": event.id.to_string(),
            "@type": "Event",
            "belowFloor": recalled.is_below_floor(),
            "actor": event.experience.observed_actor.id.to_string(),
            "text": event.experience.content.text(),
            "startTime": time::print(event.experience.context.observed_at.0),
        }));
    }
    let mut graph: Vec<Value> = nodes.into_values().collect();
    graph.append(&mut claims);
    json!({"@context": context(), "@graph": graph})
}

fn entity(nodes: &mut BTreeMap<String, Value>, id: &str, name: &str) {
    let node = || json!({"@id": id, "@type": "Entity", "name": name});
    nodes.entry(id.to_owned()).or_insert_with(node);
}

fn context() -> Map<String, Value> {
    let mut context = Map::new();
    context.insert("@vocab".to_owned(), json!("https://schema.org/"));
    context.insert("wasDerivedFrom".to_owned(), json!("http://www.w3.org/ns/prov#wasDerivedFrom"));
    context
}

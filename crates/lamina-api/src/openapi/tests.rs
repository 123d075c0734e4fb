//! The document is whole: every reference leads somewhere, every route is in it once.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document;
use crate::routes::{Method, ROUTES};

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get("$ref") {
                found.insert(target.clone());
            }
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 30);
    for target in found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
}

#[test]
fn operation_ids_are_unique_and_all_routes_are_there() {
    let document = document();
    let mut ids = BTreeSet::new();
    let mut operations = 0;
    for path in document["paths"].as_object().unwrap().values() {
        for operation in path.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} is used twice");
            assert!(!operation["responses"].as_object().unwrap().is_empty(), "{id}");
            operations += 1;
        }
    }
    let expected: usize =
        ROUTES.iter().map(|route| if route.method == Method::Any { 5 } else { 1 }).sum();
    assert_eq!(operations, expected);
}

#[test]
fn health_describes_both_bodies_of_503() {
    let document = document();
    let schema = document
        .pointer(
            "/paths/~1v1~1admin~1health/get/responses/503/content/application~1json/schema/anyOf",
        )
        .unwrap();
    assert_eq!(schema.as_array().unwrap().len(), 2);
}

#[test]
fn a_refusal_is_described_once_and_names_its_codes() {
    let document = document();
    let pointer = "/paths/~1v1~1events/get/responses/403/$ref";
    let target = document.pointer(pointer).and_then(Value::as_str).unwrap();
    let refusal = document.pointer(target.strip_prefix('#').unwrap()).unwrap();
    assert_eq!(refusal["x-error-codes"], serde_json::json!(["POLICY_DENIED"]));
    let described: Vec<String> = document["components"]["responses"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, refusal)| {
            let status = name.split('.').next().unwrap();
            format!("{status} {}", refusal["x-error-codes"])
        })
        .collect();
    let different: BTreeSet<&String> = described.iter().collect();
    assert_eq!(described.len(), different.len(), "two names for the same");
}

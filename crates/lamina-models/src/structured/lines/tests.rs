//! What an answer tells of documents and of triples: one line for each value, and nothing of what is no document.

use super::*;

#[test]
fn a_document_is_its_scalars_under_their_paths() {
    let document = r#"{"customer":{"id":"C-17","plan":"gold","seats":12,"tags":["new","big\nlist"]},"on":true}"#;
    let lines = [
        "customer.id: C-17",
        "customer.plan: gold",
        "customer.seats: 12",
        "customer.tags[0]: new",
        "customer.tags[1]: big list",
        "on: true",
    ];
    assert_eq!(json_lines(document), lines);
    assert!(json_lines("no document").is_empty());
}

#[test]
fn a_triple_is_said() {
    let triple = r#"{"subject":{"type":"entity","id":"a","name":"Service A"},"predicate":"depends_on",
        "object":{"type":"entity","id":"b","name":"Service B"}}"#;
    assert_eq!(triple_lines(triple), ["Service A depends on Service B"]);
    let counted = r#"{"subject":{"type":"entity","id":"acme"},"predicate":"seats",
        "object":{"type":"literal","datatype":"integer","value":20}}"#;
    assert_eq!(triple_lines(counted), ["acme seats 20"]);
    assert_eq!(triple_lines(r#"{"other":1}"#), ["other: 1"]);
}

//! What a vocabulary may be, at every limit.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

fn read(body: &Value) -> Result<Vocabulary, ApiError> {
    VocabularyRequest::read(body.to_string().as_bytes())
}

fn check(body: &Value, expected: Expect) {
    let text = match read(body) {
        Ok(vocabulary) => format!(
            "{} {} {:?}",
            vocabulary.name,
            kind(vocabulary.kind),
            vocabulary.of_predicates().map(|term| term.id.as_str()).collect::<Vec<_>>()
        ),
        Err(error) => format!("{} {}", error.status, error.message),
    };
    expected.assert_eq(&text);
}

#[test]
fn vocabularies_are_read() {
    check(
        &json!({"name": "sales_v1", "predicates": [
            {"id": "deal_stage", "datatype": "string", "values": ["intro", "poc"]},
            {"id": "seat_count", "datatype": "integer"},
            {"id": "contact_at", "datatype": "entity"},
        ]}),
        expect![[r#"sales_v1 predicate ["deal_stage", "seat_count", "contact_at"]"#]],
    );
    check(
        &json!({"name": "r", "kind": "relation", "terms": [{"term": "blocks"}]}),
        expect![[r#"r relation []"#]],
    );
    check(
        &json!({"name": "t", "terms": [{"term": "owner", "id": "owner", "cardinality": "one"}]}),
        expect![[r#"t predicate ["owner"]"#]],
    );
}

#[test]
fn vocabularies_of_another_shape_are_refused_by_name() {
    check(&json!({}), expect!["400 `name`: this field is required"]);
    check(&json!({"name": ""}), expect!["422 `name`: must not be empty"]);
    check(
        &json!({"name": "a/b"}),
        expect!["422 `name`: must consist of letters, digits, `_`, `-` and `.`"],
    );
    check(
        &json!({"name": ".."}),
        expect!["422 `name`: must consist of letters, digits, `_`, `-` and `.`"],
    );
    check(
        &json!({"name": "a", "kind": "poem"}),
        expect!["422 `kind`: must be one of predicate, relation"],
    );
    check(
        &json!({"name": "a", "words": []}),
        expect![
            "422 `words`: unknown field; expected one of name, kind, description, scope, predicates, relations, terms"
        ],
    );
    check(
        &json!({"name": "a", "scope": "nobody"}),
        expect!["422 `scope`: segment 0 is not `type:id`"],
    );
    check(
        &json!({"name": "a", "terms": [{}]}),
        expect!["400 `terms[0].id`: this field is required"],
    );
    check(
        &json!({"name": "a", "terms": [{"id": " x"}]}),
        expect!["422 `terms[0].id`: must not be empty or surrounded by white space"],
    );
    check(
        &json!({"name": "a", "terms": [{"id": "x", "term": "y"}]}),
        expect!["422 `terms[0].term`: differs from `id`, which means the same"],
    );
    check(
        &json!({"name": "a", "terms": [{"id": "x"}, {"id": "x"}]}),
        expect!["422 `terms[1].id`: is listed twice"],
    );
    check(
        &json!({"name": "a", "terms": [{"id": "x", "datatype": "float"}]}),
        expect!["422 `terms[0].datatype`: must be one of string, integer, entity"],
    );
    check(
        &json!({"name": "a", "terms": [{"id": "x", "cardinality": "two"}]}),
        expect!["422 `terms[0].cardinality`: must be one of one, many"],
    );
    check(
        &json!({"name": "a", "terms": [{"id": "x", "valid_from": "soon"}]}),
        expect![
            "422 `terms[0].valid_from`: expected an RFC 3339 timestamp such as 2026-05-13T15:42:00Z"
        ],
    );
}

#[test]
fn limits_at_the_edge() {
    let word = |length: usize| "x".repeat(length);
    let words = |count: usize| (0..count).map(|index| format!("w{index}")).collect::<Vec<_>>();
    let terms = |count: usize| words(count).iter().map(|id| json!({"id": id})).collect::<Vec<_>>();
    let term =
        |field: &str, value: Value| json!({"name": "a", "terms": [{"id": "x", field: value}]});
    for (fits, does_not) in [
        (json!({"name": word(64)}), json!({"name": word(65)})),
        (
            json!({"name": "a", "description": word(2_000)}),
            json!({"name": "a", "description": word(2_001)}),
        ),
        (json!({"name": "a", "terms": terms(1_000)}), json!({"name": "a", "terms": terms(1_001)})),
        (
            json!({"name": "a", "predicates": terms(1_000)}),
            json!({"name": "a", "predicates": terms(1_001)}),
        ),
        (
            json!({"name": "a", "relations": terms(1_000)}),
            json!({"name": "a", "relations": terms(1_001)}),
        ),
        (term("label", json!(word(256))), term("label", json!(word(257)))),
        (term("category", json!(word(256))), term("category", json!(word(257)))),
        (term("replaced_by", json!(word(256))), term("replaced_by", json!(word(257)))),
        (term("definition", json!(word(2_000))), term("definition", json!(word(2_001)))),
        (term("aliases", json!(words(64))), term("aliases", json!(words(65)))),
        (term("values", json!(words(256))), term("values", json!(words(257)))),
        (term("aliases", json!([word(256)])), term("aliases", json!([word(257)]))),
        (term("values", json!([word(256)])), term("values", json!([word(257)]))),
        (
            json!({"name": "a", "terms": [{"id": word(256)}]}),
            json!({"name": "a", "terms": [{"id": word(257)}]}),
        ),
    ] {
        assert!(read(&fits).is_ok(), "{:?}", read(&fits));
        assert_eq!(read(&does_not).unwrap_err().status, 422);
    }
}

#[test]
fn a_change_keeps_what_it_does_not_name() {
    let before = read(&json!({"name": "a", "description": "old", "terms": [
        {"id": "x", "label": "X", "aliases": ["ex"]},
        {"id": "y"},
    ]}))
    .unwrap();
    let change = json!({"description": "new", "terms": [
        {"id": "x", "active": false, "replaced_by": "z"},
        {"id": "z"},
    ]});
    let change = VocabularyRequest::read_part("a", change.to_string().as_bytes()).unwrap();
    let after = change.onto(before).unwrap();
    let [x, y, z] = after.terms.as_slice() else { panic!("{after:?}") };
    assert_eq!((x.label.as_deref(), x.active, x.aliases.len()), (Some("X"), false, 1));
    assert_eq!((y.id.as_str(), z.id.as_str()), ("y", "z"));
    assert_eq!(after.description.as_deref(), Some("new"));
    let other = VocabularyRequest::read_part("a", br#"{"name":"b"}"#).unwrap_err();
    assert_eq!(other.message, "`name`: differs from the name in the path");
}

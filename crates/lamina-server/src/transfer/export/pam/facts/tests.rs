//! Types by predicate, and extractors in the form of the format.

use super::*;

#[test]
fn every_predicate_has_its_type() {
    let cases = [
        ("likes", "preference"),
        ("favorite:color", "preference"),
        ("born_in", "identity"),
        ("spouse", "relationship"),
        ("speaks", "skill"),
        ("goal", "goal"),
        ("instruction", "instruction"),
        ("timezone", "environment"),
        ("deadline", "project"),
        ("habit", "context"),
        ("works_at", "fact"),
        ("anything_else", "fact"),
    ];
    for (predicate, expected) in cases {
        assert_eq!(type_of(predicate), expected, "{predicate}");
    }
}

#[test]
fn extractor_is_a_name_and_three_numbers() {
    let cases = [
        ("rules/1", "lamina-rules/1.0.0"),
        ("model:a.b/v2.10.3-beta4", "lamina-model-a-b/2.10.3"),
        ("plain", "lamina-plain/0.0.0"),
    ];
    for (given, expected) in cases {
        assert_eq!(extractor_name(given), expected);
    }
}

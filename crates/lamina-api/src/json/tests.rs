//! Canonical spelling, and the distance behind suggestions.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::Value;

use super::{canonical, distance};

#[test]
fn canonical_spelling() {
    let check = |json: &str| canonical(json);
    expect![[r#"{"a":[1.50,{"x":null,"y":"é/\n"}],"b":1E2,"é":true}"#]].assert_eq(&check(
        " { \"b\" : 1E2 , \"\\u00e9\":true, \"a\" : [ 1.50 , {\"y\":\"\\u00E9\\/\\n\", \"x\": null } ] } ",
    ));
    for same in ["null", "[]", "{}", "\"\"", "[[],{}]", "-0.0"] {
        assert_eq!(check(same), same);
    }
    for broken in ["", "{", "[1", "{\"a\"}", "{\"a\":}", "[1,]", "1 2", "\"\\", "{a:1}"] {
        assert_eq!(check(broken), broken, "what is not JSON is left alone");
    }
}

#[test]
fn distances() {
    for (a, b, expected) in [
        ("", "", 0),
        ("abc", "abc", 0),
        ("abc", "", 3),
        ("", "ab", 2),
        ("modalty", "modality", 1),
        ("lables", "labels", 2),
    ] {
        assert_eq!(distance(a, b), expected, "{a} {b}");
    }
}

/// Sorts the keys of every object by hand.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(members.into_iter().collect())
        }
        other => other.clone(),
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,3}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn canonical_is_the_sorted_value(value in value()) {
        let expected = serde_json::to_string(&sorted(&value)).unwrap();
        prop_assert_eq!(canonical(&value.to_string()), expected.clone());
        prop_assert_eq!(canonical(&serde_json::to_string_pretty(&value).unwrap()), expected);
    }

    #[test]
    fn canonical_never_panics(text in "[\\[\\]{},:\"\\\\a1 é]{0,40}") {
        let _ = canonical(&text);
    }
}

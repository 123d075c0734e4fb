//! Every kind of value where every other is expected, through serde itself.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::*;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only read")]
struct Body {
    one: u8,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Text,
    Json,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only read")]
enum Either {
    Number(u8),
    Body(Body),
}

fn check<T: DeserializeOwned + std::fmt::Debug>(json: &str, expected: Expect) {
    let error = serde_json::from_str::<T>(json).unwrap_err().to_string();
    let message = error.split(" at line ").next().unwrap();
    expected.assert_eq(&in_json(message));
}

#[test]
fn what_is_expected_is_named_as_json_names_it() {
    check::<f64>(r#""high""#, expect![[r#"must be a number, not the string "high""#]]);
    check::<f64>("null", expect!["must be a number, not null"]);
    check::<u8>("300", expect!["must be a whole number from 0 to 255, not 300"]);
    check::<u8>("-1", expect!["must be a whole number from 0 to 255, not -1"]);
    check::<u32>("1.5", expect!["must be a whole number from 0 to 4294967295, not 1.5"]);
    check::<u64>("true", expect!["must be a whole number that is not negative, not true"]);
    check::<i64>("[]", expect!["must be a whole number, not an array"]);
    check::<String>("{}", expect!["must be a string, not an object"]);
    check::<String>("7", expect!["must be a string, not 7"]);
    check::<bool>(r#""yes""#, expect![[r#"must be true or false, not the string "yes""#]]);
    check::<Vec<u8>>("{}", expect!["must be an array, not an object"]);
    check::<(u8, u8)>("{}", expect!["must be an array, not an object"]);
    check::<(u8, u8)>("[1]", expect!["must not have 1 elements"]);
    check::<BTreeMap<String, u8>>("[]", expect!["must be an object, not an array"]);
    check::<Body>(
        r#""a, expected b""#,
        expect![[r#"must be an object, not the string "a, expected b""#]],
    );
    check::<Kind>(r#""xml""#, expect!["must be one of text, json"]);
    check::<Kind>("7", expect!["expected value"]);
    check::<Either>("[]", expect!["does not have the expected shape"]);
}

#[test]
fn what_is_not_known_is_left_as_it_is() {
    for message in ["", "duplicate field `scope`", "invalid type: ", "invalid length 3"] {
        assert_eq!(in_json(message), message);
    }
}

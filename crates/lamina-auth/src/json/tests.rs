//! Doubles, depth and size.

use super::*;

#[test]
fn a_name_twice_is_refused_however_it_is_written() {
    assert!(Members::parse(br#"{"a":1,"b":2}"#).is_some());
    assert!(Members::parse(br#"{"a":1,"a":1}"#).is_none());
    assert!(Members::parse(br#"{"a":1,"\u0061":2}"#).is_none());
    assert!(Members::parse(br#"{"x":1,"y":{},"x":null}"#).is_none());
}

#[test]
fn anything_else_than_one_object_is_refused() {
    for text in ["", "[]", "1", "null", "{", "{}x", "{} {}", "\"a\"", "{\"a\"}", "{'a':1}"] {
        assert!(Members::parse(text.as_bytes()).is_none(), "{text}");
    }
    assert!(Members::parse(b"{\"a\":\"\xff\"}").is_none());
}

#[test]
fn depth_neither_overflows_the_stack_nor_becomes_a_value() {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let members = Members::parse(deep.as_bytes()).unwrap();
    assert_eq!(members.read::<serde_json::Value>("a"), Err(WrongType));
}

#[test]
fn the_number_of_members_is_bounded() {
    let object = |count: usize| {
        let members: Vec<String> = (0..count).map(|n| format!("\"m{n}\":{n}")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert!(Members::parse(object(MEMBERS_MAX).as_bytes()).is_some());
    assert!(Members::parse(object(MEMBERS_MAX + 1).as_bytes()).is_none());
}

#[test]
fn null_is_absent_and_a_wrong_type_is_not() {
    let members = Members::parse(br#"{"a":null,"b":7,"c":"x"}"#).unwrap();
    assert_eq!(members.read::<String>("a"), Ok(None));
    assert_eq!(members.read::<String>("z"), Ok(None));
    assert_eq!(members.read::<String>("b"), Err(WrongType));
    assert_eq!(members.read::<i64>("b"), Ok(Some(7)));
    assert_eq!(members.read::<String>("c"), Ok(Some("x".to_owned())));
    assert!(members.has("a") && !members.has("z"));
}

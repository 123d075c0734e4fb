//! Values and the text that Python makes of them.

use super::*;
use crate::json::{ReadPolicy, parse};

fn read(json: &str) -> Value {
    parse(json.as_bytes(), &ReadPolicy::PYTHON).expect("is JSON")
}

#[track_caller]
fn check(json: &str, expected: &str) {
    assert_eq!(display(&read(json)), expected);
}

#[test]
fn display_of_json_values_is_python_text() {
    check("null", "None");
    check("-0", "0");
    check("1e16", "1e+16");
    check("NaN", "nan");
    check("-Infinity", "-inf");
    check("\" a \"", " a ");
    check("[1, 2.50, null, true, \"x\"]", "[1, 2.5, None, True, 'x']");
    check(r#"{"a": {"b": ["it's", "say \"it's\""]}}"#, r#"{'a': {'b': ["it's", 'say "it\'s"']}}"#);
    check(
        r#"["\u0000\n\u007f\u00ad\u200b\u0301é\ue000\ud83d\ude00"]"#,
        "['\\x00\\n\\x7f\\xad\\u200b\u{301}é\\ue000😀']",
    );
}

#[test]
fn float_of_text_follows_python() {
    for (text, expected) in [
        (" 1_0.5 ", Some(10.5)),
        ("1__0", None),
        ("_1", None),
        ("+.5", Some(0.5)),
        ("-5.", Some(-5.0)),
        ("--1", None),
        ("0x10", None),
        ("", None),
        ("e5", None),
        ("iNf", Some(f64::INFINITY)),
    ] {
        assert_eq!(parse_float(text), expected, "{text}");
    }
    assert!(parse_float("nan").is_some_and(f64::is_nan));
}

#[test]
fn integer_of_value_follows_python() {
    for (json, expected) in [
        ("7", Some("7")),
        ("-0", Some("0")),
        ("7.0", None),
        ("true", None),
        ("\" +0_7 \"", Some("7")),
        ("\"-00\"", Some("0")),
        ("\"-12\"", Some("-12")),
        ("\"1.0\"", None),
        ("\"\"", None),
        ("123456789012345678901234567890", Some("123456789012345678901234567890")),
    ] {
        assert_eq!(parse_integer(Some(&read(json))).as_deref(), expected, "{json}");
    }
}

#[test]
fn trimmed_text_drops_python_white_space() {
    assert_eq!(text(Some(&read(r#""\u001c\u2003a b\u001f""#))).as_deref(), Some("a b"));
    assert_eq!(text(Some(&read(r#"" \u0085 ""#))), None);
    assert_eq!(text(Some(&read("0"))).as_deref(), Some("0"));
    assert_eq!(text(Some(&Value::Null)), None);
}

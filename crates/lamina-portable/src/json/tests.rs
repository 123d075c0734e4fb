//! The reader, the streams and the compact writer.

use std::io::{self, Read};

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn strict(text: &str) -> Result<Value, JsonError> {
    parse(text.as_bytes(), &ReadPolicy::STRICT)
}

fn check_error(text: &str, expected: Expect) {
    expected.assert_eq(&strict(text).expect_err("is refused").to_string());
}

#[test]
fn reader_keeps_number_tokens_and_member_order() {
    let text = r#"{"b":1.00,"a":[1E5,-0,12345678901234567890123],"c":{"z":null,"y":true}}"#;
    assert_eq!(to_compact(&strict(text).expect("is JSON")), text);
}

#[test]
fn reader_faults_name_their_place() {
    check_error("", expect!["there is no JSON value, at line 1, column 1 (byte 0)"]);
    check_error("{\"a\":", expect!["the JSON ends too early, at line 1, column 6 (byte 5)"]);
    check_error(
        "[1,\n 2,\n x]",
        expect!["found `x` where a value was expected, at line 3, column 2 (byte 9)"],
    );
    check_error(
        "[1 2]",
        expect!["found `2` where `,` or `]` was expected, at line 1, column 4 (byte 3)"],
    );
    check_error(
        "{\"ä\":1,\"ä\":2}",
        expect!["the key `ä` occurs twice in one object, at line 1, column 8 (byte 8)"],
    );
    check_error("[NaN]", expect!["`NaN` is no JSON number, at line 1, column 2 (byte 1)"]);
    check_error(
        "[-Infinity]",
        expect!["`-Infinity` is no JSON number, at line 1, column 2 (byte 1)"],
    );
    check_error(
        r#""\ud83d!""#,
        expect![[r"`\ud83d` is half of a surrogate pair, at line 1, column 2 (byte 1)"]],
    );
    check_error(r#""\q""#, expect![[r"`\q` is no escape of JSON, at line 1, column 2 (byte 1)"]]);
    check_error(
        "\"a\nb\"",
        expect![
            "a string contains the raw control character U+000A; escape it, at line 1, column 3 (byte 2)"
        ],
    );
    check_error("01", expect!["the number is malformed, at line 1, column 2 (byte 1)"]);
    check_error("1.", expect!["the JSON ends too early, at line 1, column 3 (byte 2)"]);
    check_error(
        "{} {}",
        expect!["found `{` after the end of the JSON value, at line 1, column 4 (byte 3)"],
    );
    check_error(
        "{a:1}",
        expect!["found `a` where a key in quotes was expected, at line 1, column 2 (byte 1)"],
    );
    check_error("tru", expect!["the JSON ends too early, at line 1, column 1 (byte 0)"]);
}

#[test]
fn reader_bytes_of_latin_1_are_refused_with_their_place() {
    let error = parse(b"[\"caf\xe9\"]", &ReadPolicy::STRICT).expect_err("is no UTF-8");
    expect!["the text is not UTF-8, at line 1, column 6 (byte 5)"].assert_eq(&error.to_string());
}

#[test]
fn reader_depth_is_limited_at_its_edge() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let depth_max = ReadPolicy::STRICT.depth_max;
    assert!(strict(&nested(depth_max)).is_ok());
    let error = strict(&nested(depth_max + 1)).expect_err("one level too many");
    assert_eq!(error.fault, JsonFault::Depth(depth_max));
    assert!(strict(&"[".repeat(1_000_000)).is_err());
}

#[test]
fn reader_integer_digits_are_limited_at_their_edge() {
    let digits_max = ReadPolicy::INTEGER_DIGITS_MAX;
    assert!(strict(&"9".repeat(digits_max)).is_ok());
    let error = strict(&"9".repeat(digits_max + 1)).expect_err("one digit too many");
    assert_eq!(error.fault, JsonFault::NumberTooLong(digits_max));
}

#[test]
fn reader_python_policy_accepts_python_json() {
    let text = r#"{"a":1,"a":NaN,"s":"x\ud83dy","p":"\ud83d\ude00"}"#;
    let value = parse(text.as_bytes(), &ReadPolicy::PYTHON).expect("Python reads it");
    expect![[r#"{"a":NaN,"s":"x\ud83dy","p":"😀"}"#]].assert_eq(&to_compact(&value));
    assert_eq!(value.get("s").and_then(Value::as_str), None);
}

#[test]
fn reader_duplicate_keys_of_a_large_object_are_found() {
    let members: Vec<String> = (0..200).map(|n| format!("\"k{n}\":{n}")).collect();
    let text = format!("{{{},\"k150\":1}}", members.join(","));
    let error = strict(&text).expect_err("a key occurs twice");
    assert_eq!(error.fault, JsonFault::DuplicateKey("k150".to_owned()));
    let last = parse(text.as_bytes(), &ReadPolicy::PYTHON).expect("the last one wins");
    assert_eq!(last.get("k150").and_then(Value::as_i64), Some(1));
    assert_eq!(last.as_object().map(<[Member]>::len), Some(200));
}

/// Gives a few bytes at a time, so that values cross the edges of reads.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.len().min(buffer.len()).min(3);
        let (now, later) = self.0.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.0 = later;
        Ok(count)
    }
}

fn stream(text: &str, value_bytes_max: usize) -> String {
    let options =
        StreamOptions { policy: ReadPolicy::STRICT, streamed: &["results"], value_bytes_max };
    let mut out = String::new();
    for item in ElementStream::new(Drip(text.as_bytes()), options) {
        let line = match item {
            Ok(StreamItem::Element { member, index, value, start }) => {
                let member = member.unwrap_or("-");
                format!("{member}[{index}] {} @{}:{}", to_compact(&value), start.line, start.column)
            }
            Ok(StreamItem::Member { name, value, .. }) => {
                format!("{} = {}", name.to_lossy(), to_compact(&value))
            }
            Ok(StreamItem::ObjectEnd { .. }) => "end".to_owned(),
            Ok(StreamItem::Scalar { value, .. }) => format!("scalar {}", to_compact(&value)),
            Err(StreamError::Part(error)) => format!("part: {error}"),
            Err(StreamError::Document(error)) => format!("document: {error}"),
            Err(StreamError::Io { .. }) => "io".to_owned(),
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[test]
fn stream_takes_arrays_and_member_arrays_apart() {
    expect![[r#"
        -[0] 1 @1:2
        -[1] {"a":[1,"]"]} @2:2
        -[2] "x\"y" @3:2
    "#]]
    .assert_eq(&stream("[1,\n {\"a\":[1,\"]\"]},\n \"x\\\"y\"]", 100));
    expect![[r#"
        count = 2
        results[0] {"id":1} @1:25
        results[1] {"id":2} @1:34
        next = null
        end
    "#]]
    .assert_eq(&stream(r#"{"count":2,"results" : [{"id":1},{"id":2}],"next":null}"#, 100));
}

#[test]
fn stream_reads_documents_that_follow_each_other() {
    expect![[r#"
        a = 1
        end
        -[0] 2 @2:2
        scalar "{\"a\":1}"
    "#]]
    .assert_eq(&stream("{\"a\":1}\n[2]\n\"{\\\"a\\\":1}\"", 100));
}

#[test]
fn stream_element_at_fault_costs_one_element() {
    expect![[r#"
        -[0] 1 @1:2
        part: `NaN` is no JSON number, at line 1, column 9 (byte 8)
        part: the key `a` occurs twice in one object, at line 1, column 21 (byte 20)
        part: the value has more than 20 bytes, at line 1, column 28 (byte 27)
        -[4] 3 @1:53
    "#]]
    .assert_eq(&stream(r#"[1,{"a":NaN},{"a":1,"a":2},"aaaaaaaaaaaaaaaaaaaaaa",3]"#, 20));
}

#[test]
fn stream_truncated_document_ends_with_the_place() {
    let text = r#"[{"a":1},{"a":"#;
    expect![[r#"
        -[0] {"a":1} @1:2
        document: the JSON ends too early, at line 1, column 15 (byte 14)
    "#]]
    .assert_eq(&stream(text, 100));
    expect![[r#"
        document: there is no JSON value, at line 1, column 3 (byte 2)
    "#]]
    .assert_eq(&stream("  ", 100));
    expect![[r#"
        -[0] 1 @1:2
        document: found `2` where `,` or `]` was expected, at line 1, column 4 (byte 3)
    "#]]
    .assert_eq(&stream("[1 2]", 100));
}

#[test]
fn lines_keep_numbers_skip_blanks_and_survive_long_ones() {
    let text = "{\"a\":1}\r\n\n  \n0123456789012345\nlast";
    let lines: Vec<String> = LineReader::new(Drip(text.as_bytes()), 10)
        .map(|line| match line {
            Ok(line) => format!("{} {}", line.start.line, String::from_utf8_lossy(&line.bytes)),
            Err(error) => error.to_string(),
        })
        .collect();
    expect![[r#"
        [
            "1 {\"a\":1}",
            "the line has more than 10 bytes, at line 4, column 1 (byte 13)",
            "5 last",
        ]
    "#]]
    .assert_debug_eq(&lines);
}

fn text() -> impl Strategy<Value = JsonText> {
    prop_oneof![
        any::<String>().prop_map(JsonText::from),
        prop::collection::vec(any::<u16>(), 0..6).prop_map(JsonText::from_units),
    ]
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::integer),
        any::<f64>().prop_map(Value::double),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..6).prop_map(|members| {
                let mut object: Vec<Member> = Vec::new();
                for (key, value) in members {
                    if object.iter().all(|member| member.key != key) {
                        object.push(Member { key, value });
                    }
                }
                Value::Object(object)
            }),
        ]
    })
}

/// Fails at every read, as a cut or exploding archive does.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is on fire"))
    }
}

#[test]
fn element_stream_ends_at_the_first_failed_read() {
    for before in ["", " ", "[1, 2", "{\"results\": ["] {
        let options = StreamOptions {
            policy: ReadPolicy::STRICT,
            streamed: &["results"],
            value_bytes_max: 100,
        };
        let mut stream = ElementStream::new(before.as_bytes().chain(Broken), options);
        let faults = stream.by_ref().take(10).filter(Result::is_err).count();
        assert_eq!(faults, 1, "{before}");
        assert!(stream.next().is_none(), "{before}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_values_read_back_equal(value in value()) {
        let policy = ReadPolicy { duplicates: DuplicateKeys::Refuse, ..ReadPolicy::PYTHON };
        let read = parse(to_compact(&value).as_bytes(), &policy);
        prop_assert_eq!(read, Ok(value));
    }

    #[test]
    fn streamed_array_equals_the_array_read_whole(elements in prop::collection::vec(value(), 0..6)) {
        let written = to_compact(&Value::Array(elements.clone()));
        let options = StreamOptions {
            policy: ReadPolicy::PYTHON,
            streamed: &[],
            value_bytes_max: 1 << 20,
        };
        let streamed: Vec<Value> = ElementStream::new(Drip(written.as_bytes()), options)
            .map(|item| match item {
                Ok(StreamItem::Element { value, .. }) => value,
                other => panic!("{other:?}"),
            })
            .collect();
        prop_assert_eq!(streamed, elements);
    }

    #[test]
    fn readers_survive_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::targets::json(&bytes);
    }

    #[test]
    fn readers_survive_bytes_that_look_like_json(text in r#"[\[\]{}":,\\u0-9a-eNI\. \n-]{0,80}"#) {
        crate::targets::json(text.as_bytes());
    }
}

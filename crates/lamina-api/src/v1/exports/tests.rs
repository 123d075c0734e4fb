//! Bodies of `POST /v1/export`, good and bad.

use expect_test::{Expect, expect};

use super::*;

fn check(body: &str, expected: Expect) {
    let said = match ExportRequest::read(body.as_bytes()) {
        Ok(order) => {
            let layers = order.layers.iter().flatten();
            let layers: Vec<&str> = layers.map(|layer| layer.as_str()).collect();
            let place = order.destination.as_ref().map(|place| &place.credentials_ref);
            format!(
                "{} {} {} {:?} {:?} {place:?}",
                order.scope,
                order.format,
                layers.join("+"),
                order.as_of.map(time::print),
                order.view
            )
        }
        Err(error) => format!("{} {} {}", error.status, error.code.as_str(), error.message),
    };
    expected.assert_eq(&said);
}

#[test]
fn defaults_are_events_as_lines_of_the_scope() {
    check(r#"{"scope":"user:alice"}"#, expect!["user:alice jsonl  None Local None"]);
    check(
        r#"{"scope":"user:alice","as_of":null,"destination":null,"layers":null}"#,
        expect!["user:alice jsonl  None Local None"],
    );
}

#[test]
fn layers_have_one_order_and_two_names() {
    check(
        r#"{"scope":"user:alice","layers":["beliefs","events","facts","facts"],"view":"descend"}"#,
        expect!["user:alice jsonl events+facts+beliefs None Descend None"],
    );
    check(
        r#"{"scope":"user:alice","include":["understanding","episodes"],"format":"mem0"}"#,
        expect!["user:alice mem0 episodes+concepts None Local None"],
    );
}

#[test]
fn destination_keeps_its_url_out_of_debug_output() {
    let body = r#"{"scope":"user:alice","as_of":"2026-01-02T03:04:05Z","destination":{"kind":"url","url":"https://a.example/x?sig=SECRET","credentials_ref":"archive"}}"#;
    check(
        body,
        expect![[r#"user:alice jsonl  Some("2026-01-02T03:04:05Z") Local Some(Some("archive"))"#]],
    );
    let order = ExportRequest::read(body.as_bytes()).expect("is a request");
    assert!(!format!("{order:?}").contains("SECRET"));
}

#[test]
fn bad_bodies_name_the_field() {
    for (body, field) in [
        ("{}", "scope"),
        (r#"{"scope":"alice"}"#, "scope"),
        (r#"{"scope":"user:alice","layers":[]}"#, "layers"),
        (r#"{"scope":"user:alice","layers":["words"]}"#, "layers[0]"),
        (r#"{"scope":"user:alice","include":["events","x"]}"#, "include[1]"),
        (r#"{"scope":"user:alice","layers":["events"],"include":["events"]}"#, "include"),
        (r#"{"scope":"user:alice","view":"holistic"}"#, "view"),
        (r#"{"scope":"user:alice","as_of":"yesterday"}"#, "as_of"),
        (r#"{"scope":"user:alice","signed":true}"#, "signed"),
        (
            r#"{"scope":"user:alice","destination":{"kind":"s3","url":"s3://b"}}"#,
            "destination.kind",
        ),
        (r#"{"scope":"user:alice","destination":{"kind":"url"}}"#, "destination"),
    ] {
        let error = ExportRequest::read(body.as_bytes()).expect_err(body);
        assert!((400..=422).contains(&error.status), "{body}: {error:?}");
        assert!(error.message.contains(field), "{body}: {}", error.message);
    }
}

#[test]
fn long_urls_are_refused_at_the_edge() {
    let body = |chars: usize| {
        let url = format!("https://a.example/{}", "x".repeat(chars - 18));
        format!(r#"{{"scope":"user:alice","destination":{{"kind":"url","url":"{url}"}}}}"#)
    };
    assert!(ExportRequest::read(body(PLACE_CHARS_MAX).as_bytes()).is_ok());
    assert!(ExportRequest::read(body(PLACE_CHARS_MAX + 1).as_bytes()).is_err());
}

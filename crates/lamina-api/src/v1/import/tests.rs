//! Requests to import: what is read, what is refused, templates and their values.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use super::{CheckedImport, ImportInput, ImportRequest, ImportTarget, ScopeTemplate, read_upload};
use crate::error::ApiError;
use crate::query::Params;

fn shown(checked: &CheckedImport) -> String {
    let target = match &checked.target {
        ImportTarget::Scope(scope) => format!("scope {scope}"),
        ImportTarget::Template(template) => format!("template {}", template.as_str()),
        ImportTarget::Lines => "lines".to_owned(),
    };
    let input = match &checked.input {
        ImportInput::Inline(text) => format!("{text:?}"),
        ImportInput::Url { url, credentials_ref } => format!("{url} by {credentials_ref:?}"),
        ImportInput::Upload => "upload".to_owned(),
    };
    let format = checked.format.as_deref().unwrap_or("-");
    let key = checked.idempotency_key.as_deref().unwrap_or("-");
    let options = serde_json::to_string(&checked.options).unwrap();
    format!("{target}; {format}; {input}; dry {}; key {key}; {options}", checked.dry_run)
}

fn refused(error: &ApiError) -> String {
    let field = error.field().unwrap_or("-");
    format!("{} {} {field}", error.status, error.code.as_str())
}

#[track_caller]
fn check(body: &str, expected: &Expect) {
    let read = ImportRequest::read(body.as_bytes(), None);
    let text = match &read {
        Ok(checked) => shown(checked),
        Err(error) => refused(error),
    };
    expected.assert_eq(&text);
}

#[test]
fn request_in_each_form_gives_one_source() {
    check(
        r#"{"scope":"user:alice","lines":[{"a":1},"{\"b\":2}"]}"#,
        &expect![[r#"scope user:alice; -; "{\"a\":1}\n{\"b\":2}\n"; dry false; key -; {}"#]],
    );
    check(
        r#"{"scope_template":"org:acme/user:{user_id}","rows":[{"id":1}],"dry_run":true}"#,
        &expect![[r#"template org:acme/user:{user_id}; -; "{\"id\":1}\n"; dry true; key -; {}"#]],
    );
    check(
        r#"{"data":"{\"a\":1}\n{\"b\":2}","format":"jsonl","idempotency_key":"k"}"#,
        &expect![[r#"lines; jsonl; "{\"a\":1}\n{\"b\":2}"; dry false; key k; {}"#]],
    );
    check(
        r#"{"scope":"user:alice","source":{"format":"mem0_export_v3","url":null,"inline":{"results":[]}},
            "options":{"ordering":"strict_temporal","preserve_timestamps":true,"map_categories_to":"understanding",
            "extract":["facts"],"embed":"lazy","skip_on_conflict":false}}"#,
        &expect![[
            r#"scope user:alice; mem0_export_v3; "{\"results\":[]}"; dry false; key -; {"ordering":"strict_temporal","preserve_timestamps":true,"map_categories_to":"understanding","extract":["facts"],"embed":"lazy","skip_on_conflict":false}"#
        ]],
    );
    check(
        r#"{"scope":"user:alice","source":{"url":"https://a.example/x","credentials_ref":"secret:a"}}"#,
        &expect![[
            r#"scope user:alice; -; https://a.example/x by Some("secret:a"); dry false; key -; {}"#
        ]],
    );
}

#[test]
fn request_that_contradicts_itself_is_refused_at_the_field() {
    check(r#"{"scope":"user:alice"}"#, &expect!["422 INVALID_BODY source"]);
    check(r#"{"scope":"user:alice","lines":[],"rows":[]}"#, &expect!["422 INVALID_BODY rows"]);
    check(
        r#"{"scope":"user:alice","scope_template":"user:{user_id}","lines":[]}"#,
        &expect!["422 INVALID_BODY scope_template"],
    );
    check(r#"{"scope":"user:alice","lines":["{}\n{}"]}"#, &expect!["422 INVALID_BODY lines[0]"]);
    check(r#"{"scope":"user","lines":[]}"#, &expect!["422 INVALID_SCOPE_GRAMMAR scope"]);
    check(
        r#"{"scope_template":"user:{colour}","lines":[]}"#,
        &expect!["422 INVALID_SCOPE_GRAMMAR scope_template"],
    );
    check(
        r#"{"scope_template":"{user_id}:x","lines":[]}"#,
        &expect!["422 INVALID_SCOPE_GRAMMAR scope_template"],
    );
    check(
        r#"{"scope_template":"system:{user_id}","lines":[]}"#,
        &expect!["422 INVALID_ENVELOPE scope_template"],
    );
    check(r#"{"scope":"user:a","lines":[],"colour":1}"#, &expect!["422 INVALID_BODY colour"]);
    check(
        r#"{"scope":"user:a","lines":[],"options":{"ordering":"random"}}"#,
        &expect!["422 INVALID_BODY options.ordering"],
    );
    check(
        r#"{"scope":"user:a","lines":[],"options":{"extract":["words"]}}"#,
        &expect!["422 INVALID_BODY options.extract"],
    );
    check(
        r#"{"scope":"user:a","lines":[],"options":{"naive_times":"Mars"}}"#,
        &expect!["422 INVALID_BODY options.naive_times"],
    );
    check(
        r#"{"scope":"user:a","lines":[],"options":{"modified":"yesterday"}}"#,
        &expect!["422 INVALID_TIMESTAMP options.modified"],
    );
    check(
        r#"{"scope":"user:a","format":"mem0","source":{"format":"zep","inline":"x"}}"#,
        &expect!["422 INVALID_BODY source.format"],
    );
    check(
        r#"{"scope":"user:a","source":{"inline":"x","credentials_ref":"secret:a"}}"#,
        &expect!["422 INVALID_BODY source.credentials_ref"],
    );
}

#[test]
fn upload_query_is_read_like_a_body() {
    let pairs = [
        ("format", "csv"),
        ("scope", "user:alice"),
        ("dry_run", "true"),
        ("columns", "text=body,time=created"),
        ("naive_times", " 02:00"),
        ("name", "notes.csv"),
    ];
    let pairs: Vec<(String, String)> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let checked = read_upload(&Params::new(&pairs), Some("k")).unwrap();
    expect![[r#"scope user:alice; csv; upload; dry true; key k; {"naive_times":"+02:00","columns":{"text":"body","time":"created"}}"#]]
        .assert_eq(&shown(&checked));
    for (name, value) in [("dry_run", "maybe"), ("columns", "text"), ("ordering", "x")] {
        let pairs = [(name.to_owned(), value.to_owned())];
        assert!(read_upload(&Params::new(&pairs), None).is_err(), "{name}");
    }
}

#[test]
fn template_is_filled_or_says_which_value_is_missing() {
    let template = ScopeTemplate::parse("scope_template", "org:a/user:{user_id}-{app_id}").unwrap();
    let fill = |values: &[(&'static str, &'static str)]| {
        let values: BTreeMap<&str, &str> = values.iter().copied().collect();
        template.fill(&values).map_or_else(|error| error.to_string(), |scope| scope.to_string())
    };
    assert_eq!(fill(&[("user_id", "alice"), ("app_id", "x")]), "org:a/user:alice-x");
    expect!["the row has no value for {app_id} of the scope template"]
        .assert_eq(&fill(&[("user_id", "alice")]));
    expect!["the value for {user_id} of the scope template has characters outside [A-Za-z0-9_-]"]
        .assert_eq(&fill(&[("user_id", "a/org:b"), ("app_id", "x")]));
}

#[test]
fn target_text_is_read_again_as_the_same_target() {
    for text in ["", "user:alice", "org:acme/user:{user_id}"] {
        assert_eq!(ImportTarget::parse(text).unwrap().as_str(), text);
    }
}

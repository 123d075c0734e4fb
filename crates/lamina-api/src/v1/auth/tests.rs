//! Bodies of the token routes, good and bad.

use super::*;

fn refused(result: Result<impl std::fmt::Debug, ApiError>) -> (u16, String) {
    let error = result.unwrap_err();
    let field = error.details.iter().find(|(key, _)| *key == "field");
    (error.status, field.map_or_else(String::new, |(_, value)| value.as_str().unwrap().to_owned()))
}

#[test]
fn a_revocation_names_a_token() {
    let read = |text: &str| RevokeRequest::read(text.as_bytes());
    let request = read(r#"{"jti":"01HX","reason":"rotated"}"#).unwrap();
    assert_eq!((request.jti.as_str(), request.reason.as_deref()), ("01HX", Some("rotated")));
    assert_eq!(refused(read(r#"{"reason":"r"}"#)).0, 400);
    assert_eq!(refused(read(r#"{"jti":""}"#)), (422, "jti".to_owned()));
    assert_eq!(
        refused(read(&format!(r#"{{"jti":"{}"}}"#, "x".repeat(TOKEN_ID_CHARS_MAX + 1)))),
        (422, "jti".into())
    );
    assert_eq!(refused(read(r#"{"jti":"a","exp":-1}"#)), (422, "exp".to_owned()));
    assert_eq!(refused(read(r#"{"jti":"a","why":"x"}"#)), (422, "why".to_owned()));
    assert_eq!(refused(read("")).0, 400);
}

#[test]
fn a_mint_request_names_an_actor() {
    let read = |text: &str| MintRequest::read(text.as_bytes());
    let (request, actor) = read(r#"{"subject":"agent:planner","caps":["scope.write"]}"#).unwrap();
    assert_eq!((actor.as_str(), request.ttl_seconds), ("agent:planner", None));
    assert_eq!(refused(read(r#"{"subject":"nobody"}"#)), (422, "subject".to_owned()));
    assert_eq!(refused(read(r#"{"subject":"user:a","ttl_seconds":0}"#)).1, "ttl_seconds");
    assert_eq!(refused(read(r#"{"subject":"user:a","scope":"no scope"}"#)).1, "scope");
}

#[test]
fn a_signup_may_be_empty() {
    assert_eq!(SignupRequest::read(b"").unwrap(), SignupRequest::default());
    let request = SignupRequest::read(br#"{"source":"cortexdb-mcp"}"#).unwrap();
    assert_eq!(request.source.as_deref(), Some("cortexdb-mcp"));
    assert_eq!(refused(SignupRequest::read(br#"{"email":"a\u0000b"}"#)).1, "email");
}

//! Bodies of the scope routes, good and bad.

use super::*;

fn field(error: &ApiError) -> String {
    let named = error.details.iter().find(|(key, _)| *key == "field").unwrap();
    named.1.as_str().unwrap().to_owned()
}

#[test]
fn a_registration_has_members_and_policies() {
    let text = r#"{"path":"ws:launch","members":[{"actor":"user:alice","role":"owner"},
        {"actor":"agent:planner","role":"writer"}],
        "policies":{"inherit_from":["org:acme"],"children":{"auto_register":true}}}"#;
    let registration = ScopeRegistration::read(text.as_bytes()).unwrap();
    assert_eq!(registration.path.as_str(), "ws:launch");
    let roles: Vec<MemberRole> = registration.members.iter().map(|(_, role)| *role).collect();
    assert_eq!(roles, [MemberRole::Owner, MemberRole::Writer]);
    let short = ScopeRegistration::read(br#"{"path":"ws:a","owner":"user:bob"}"#).unwrap();
    assert_eq!(short.members, [("user:bob".parse().unwrap(), MemberRole::Owner)]);
}

#[test]
fn bad_members_are_named() {
    for (text, at) in [
        (r#"{"members":[{"actor":"alice","role":"owner"}]}"#, "members[0].actor"),
        (r#"{"members":[{"actor":"user:a","role":"admin"}]}"#, "members[0].role"),
        (
            r#"{"members":[{"actor":"user:a","role":"owner"},{"actor":"user:a","role":"reader"}]}"#,
            "members[1].actor",
        ),
    ] {
        assert_eq!(field(&MembersBody::read(text.as_bytes()).unwrap_err()), at);
    }
    let one = r#"{"actor":"user:a","role":"owner"}"#;
    let many = format!(r#"{{"members":[{}{one}]}}"#, format!("{one},").repeat(MEMBERS_MAX));
    assert_eq!(field(&MembersBody::read(many.as_bytes()).unwrap_err()), "members");
}

#[test]
fn pruning_asks_for_an_age() {
    let day = 86_400_000_000;
    assert_eq!(PruneRequest::read(br#"{"older_than":"P90D"}"#).unwrap(), (90 * day, true));
    let now = PruneRequest::read(br#"{"older_than":"PT1H","dry_run":false}"#).unwrap();
    assert_eq!(now, (day / 24, false));
    for bad in ["90 days", "P0D", "-P1D", "p1d", "P"] {
        let body = format!(r#"{{"older_than":"{bad}"}}"#);
        assert_eq!(field(&PruneRequest::read(body.as_bytes()).unwrap_err()), "older_than", "{bad}");
    }
}

#[test]
fn a_path_is_required() {
    assert_eq!(path_of(None).unwrap_err().code, ErrorCode::MissingRequiredField);
    assert_eq!(path_of(Some("no")).unwrap_err().code, ErrorCode::InvalidScopeGrammar);
    assert_eq!(path_of(Some("ws:a")).unwrap().as_str(), "ws:a");
}

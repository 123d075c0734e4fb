//! Rules and sweeps as published clients send them, and what is refused.

use super::*;

fn field(error: &ApiError) -> String {
    let found = error.details.iter().find(|(name, _)| *name == "field");
    found.and_then(|(_, value)| value.as_str()).unwrap_or_default().to_owned()
}

#[test]
fn what_the_published_client_sends() {
    let rule = br#"{"scope": "org:a", "default_retention_days": null}"#;
    assert_eq!(RuleRequest::read(rule).unwrap().keep, Keep::Forever);
    let rule = br#"{"scope": "org:a", "default_retention_days": 30,
        "per_source_days": {"slack": 7, "source:mail": 90}}"#;
    let rule = RuleRequest::read(rule).unwrap();
    assert_eq!(rule.keep, Keep::Days(30));
    assert_eq!(rule.sources, [("mail".to_owned(), 90), ("slack".to_owned(), 7)].into());
    let sweep = SweepRequest::read(br#"{"dry_run": true}"#).unwrap();
    assert!(sweep.dry_run && !sweep.rescan);
    assert_eq!(sweep.events_max, RETENTION_EVENTS_MAX);
    assert_eq!(SweepRequest::read(b"").unwrap(), sweep, "a report unless told otherwise");
    let sweep = br#"{"dry_run": false, "scope": "org:a", "older_than_secs": 5, "max_events": 3}"#;
    let sweep = SweepRequest::read(sweep).unwrap();
    assert_eq!((sweep.older_than_us, sweep.events_max), (Some(5_000_000), 3));
}

#[test]
fn what_is_refused() {
    let refused = |body: &str| field(&RuleRequest::read(body.as_bytes()).unwrap_err());
    for (body, at) in [
        (r#"{"scope": "org:a", "default_retention_days": 0}"#, "default_retention_days"),
        (r#"{"scope": "org:a", "default_retention_days": 36501}"#, "default_retention_days"),
        (r#"{"scope": "org:a", "per_source_days": {"x": 0}}"#, "per_source_days.x"),
        (r#"{"scope": "org:a", "per_source_days": {"source:": 1}}"#, "per_source_days.source:"),
        (r#"{"scope": "org:a", "days": 1}"#, "days"),
        (r#"{"scope": "a"}"#, "scope"),
    ] {
        assert_eq!(refused(body), at, "{body}");
    }
    let refused = |body: &str| field(&SweepRequest::read(body.as_bytes()).unwrap_err());
    assert_eq!(refused(r#"{"older_than_secs": 5}"#), "older_than_secs");
    assert_eq!(refused(r#"{"max_events": 0}"#), "max_events");
    assert_eq!(refused(r#"{"dry": true}"#), "dry");
    let far = r#"{"scope": "org:a", "older_than_secs": 18446744073709551615}"#;
    assert_eq!(refused(far), "older_than_secs");
}

//! A row as a server would put it in, for the tests of this crate that need an audit log with rows.

use lamina_types::{AuditRow, AuditWho, Decision, ScopePath};

use crate::Engine;

/// A read of this actor, now.
pub(crate) fn row(engine: &Engine, tenant: u32, actor: &str) -> AuditRow {
    let pepper = engine.audit_pepper(tenant).unwrap();
    AuditRow {
        id: engine.audit_id(),
        at: engine.now(),
        tenant,
        who: Some(AuditWho {
            actor: Some(actor.parse().unwrap()),
            scope: Some("org:acme/user:x".parse::<ScopePath>().unwrap()),
            path: "/v1/events".to_owned(),
            request_id: "req_1".to_owned(),
            ..AuditWho::default()
        }),
        endpoint: "GET /v1/events".to_owned(),
        capability: "scope.read.local".to_owned(),
        decision: Decision::Allow,
        decided_by_tier: "deployment".to_owned(),
        method: "GET".to_owned(),
        body_hash: Some(pepper.body(b"the body")),
        headers_hash: Some(pepper.headers(b"the headers")),
        body_bytes: Some(8),
        pepper_version: pepper.version,
        response_status: Some(200),
        event_id: None,
        elapsed_ms: Some(1),
        gdpr: false,
        recovered: false,
    }
}

//! The row that a policy-gated request leaves in the audit log (R390-R393).

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, USER_AGENT};
use axum::http::request::Parts;
use lamina_core::policy::Caller;
use lamina_types::{AuditRow, AuditWho, Decision, Micros};

use super::app::App;
use super::listen::Peer;
use super::record::Known;
use super::request_id::Id;
use super::site::Site;

/// What is kept of a request until it is answered.
#[derive(Debug)]
pub(super) struct Asked {
    at: Micros,
    caller: Caller,
    method: String,
    path: String,
    client_ip: Option<String>,
    user_agent: Option<String>,
    headers_hash: Option<[u8; 32]>,
    pepper_version: u32,
}

impl Asked {
    /// Notes what a row will need; nothing of it is kept if no row is written.
    pub(super) fn of(app: &App, caller: &Caller, head: &Parts) -> Asked {
        let pepper = app.engine.audit_pepper(caller.tenant).ok();
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        Asked {
            at: app.engine.log_time(),
            caller: caller.clone(),
            method: head.method.as_str().to_owned(),
            path: head.uri.path().to_owned(),
            client_ip: head.extensions.get::<Peer>().map(|peer| peer.0.ip().to_string()),
            user_agent: text(USER_AGENT).map(str::to_owned),
            headers_hash: pepper.as_ref().map(|pepper| pepper.headers(&canonical(&head.headers))),
            pepper_version: pepper.map_or(0, |pepper| pepper.version),
        }
    }

    /// Writes the row. Where calls are audited in full it is on disk then; that of a change is in any
    /// case, because its entry carries it.
    pub(super) async fn write(self, app: &App, site: &Site, id: &Id, known: Known, end: End) {
        let Some(decision) = known.decision else { return };
        let place = decision.scope.clone().filter(|_| known.audit_id.is_none());
        let place = place.map(|scope| (self.caller.clone(), scope));
        let endpoint = match known.tool {
            Some((tool, _)) => format!("{} {tool}", site.endpoint()),
            None => site.endpoint(),
        };
        let status = known.tool.map_or(end.status, |(_, status)| status);
        let (body_hash, body_bytes) = known.body.unzip();
        let row = AuditRow {
            id: known.audit_id.unwrap_or_else(|| app.engine.audit_id()),
            at: self.at,
            tenant: self.caller.tenant,
            endpoint,
            capability: decision.capability.to_owned(),
            decision: if decision.allowed { Decision::Allow } else { Decision::Deny },
            decided_by_tier: decision.tier.as_str().to_owned(),
            method: self.method,
            body_hash,
            headers_hash: self.headers_hash,
            body_bytes: body_bytes.filter(|_| app.store_body_bytes(&self.caller)),
            pepper_version: self.pepper_version,
            response_status: Some(status),
            event_id: known.event,
            elapsed_ms: Some(end.took_us.max(0).unsigned_abs() / 1_000),
            gdpr: decision.capability.starts_with("forget.gdpr"),
            recovered: false,
            who: Some(AuditWho {
                token_jti: self.caller.grant.as_ref().map(|grant| grant.jti.clone()),
                actor: Some(self.caller.actor),
                scope: decision.scope,
                path: kept(self.path, site),
                client_ip: self.client_ip,
                user_agent: self.user_agent,
                request_id: id.as_str().to_owned(),
            }),
        };
        app.engine.audit(row);
        if let Some((caller, scope)) = place {
            app.engine.audit_kept(&app.boot(), &caller, &scope).await;
        }
    }
}

/// The path that a row keeps. A key that a writer chose is its words, and goes with the event; a row stays.
fn kept(path: String, site: &Site) -> String {
    match site.label().contains("{key}") {
        true => site.label().to_owned(),
        false => path,
    }
}

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) status: u16,
    pub(super) took_us: i64,
}

/// The headers in one order and form, without the token.
fn canonical(headers: &HeaderMap) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = headers
        .iter()
        .filter(|(name, _)| **name != AUTHORIZATION)
        .map(|(name, value)| [name.as_str().as_bytes(), b": ", value.as_bytes()].concat())
        .collect();
    lines.sort_unstable();
    lines.join(&b'\n')
}

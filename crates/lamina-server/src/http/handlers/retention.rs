//! The operator's routes of retention and of the log.
//!
//! They are for operators of the deployment: a rule removes words in scopes that its maker may not read, and the numbers
//! of the log are everybody's. A rule and a sweep are about the operator's own tenant.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::time;
use lamina_api::v1::retention::{
    PolicyBody, RuleRequest, StatusBody, SweepRequest, SweptBody, of as days,
};
use lamina_api::v1::wal::{CompactRequest, CompactedBody, VerifyBody, WalBody};
use lamina_core::policy::{Caller, Denial, DenialCode, Permit, Tier};
use lamina_engine::retention::{BUDGET_US, Cursor, Stopped, SweepAsked, SweepPermit, Swept};
use lamina_engine::{WalStatus, WalVerdict};
use lamina_types::capability::{AdminCompact, Capability as _, DiagnosticsRead};
use lamina_types::limits::RETENTION_EVENTS_MAX;

use crate::http::call::{Call, Desk};
use crate::http::failure::{Failure, denied};
use crate::http::reply;

/// `GET /v1/admin/retention`.
pub(super) async fn status(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let permit = looks(&call.desk, &caller).await?;
    let found = call.app.engine.retention(&permit);
    let every_s = call.app.sweep_every_s;
    let shape = StatusBody {
        enabled: !found.rules.is_empty() || days(found.deployment).is_some(),
        scheduler_disabled: every_s == 0,
        sweep_interval_secs: every_s,
        deployment_default_days: days(found.deployment),
        max_events_per_tick: RETENTION_EVENTS_MAX,
        tick_budget_secs: BUDGET_US.unsigned_abs() / 1_000_000,
        compact_after_sweep: false,
        cursor: found.cursor.map(shown_cursor),
        watermark: found.watermark,
        fingerprint_ok: true,
        running: found.running,
        policies: found
            .rules
            .iter()
            .map(|shown| PolicyBody::new(&shown.rule, shown.effective))
            .collect(),
        last: found.last.as_deref().map(swept),
    };
    reply::json(StatusCode::OK, &shape)
}

/// `GET /v1/admin/retention/policies?scope=`.
pub(super) async fn get(call: Call) -> Result<Response, Failure> {
    let scope = Params::new(&call.pairs()?).scope()?;
    let caller = call.caller()?;
    let permit = looks(&call.desk, &caller).await?;
    let found = call.app.engine.retention_get(&permit, &scope)?;
    reply::json(StatusCode::OK, &PolicyBody::new(&found.rule, found.effective))
}

/// `PUT /v1/admin/retention/policies`.
pub(super) async fn set(mut call: Call) -> Result<Response, Failure> {
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let rule = RuleRequest::read(&body)?;
    let caller = call.caller()?;
    let permit = call.desk.permit::<AdminCompact>(&caller, None).await?;
    let noted = call.noted("");
    let (set, _) = call.app.engine.retention_set(&permit, rule, &noted).await?;
    let shape =
        PolicyBody { cursor_reset: Some(true), ..PolicyBody::new(&set.rule, set.effective) };
    reply::json(StatusCode::OK, &shape)
}

/// `DELETE /v1/admin/retention/policies?scope=`.
pub(super) async fn remove(call: Call) -> Result<Response, Failure> {
    let scope = Params::new(&call.pairs()?).scope()?;
    let caller = call.caller()?;
    let permit = call.desk.permit::<AdminCompact>(&caller, None).await?;
    let noted = call.noted("");
    call.app.engine.retention_remove(&permit, &scope, &noted).await?;
    Ok(reply::empty())
}

/// `POST /v1/admin/retention/sweep`.
pub(super) async fn sweep(mut call: Call) -> Result<Response, Failure> {
    let body = call.optional_json_body(call.app.limits.body_bytes).await?;
    let asked = SweepRequest::read(&body)?;
    let caller = call.caller()?;
    let permit = match asked.dry_run {
        true => SweepPermit::Report(looks(&call.desk, &caller).await?),
        false => SweepPermit::Asked(call.desk.permit::<AdminCompact>(&caller, None).await?),
    };
    let noted = call.noted("");
    let asked = SweepAsked {
        dry_run: asked.dry_run,
        scope: asked.scope,
        older_than_us: asked.older_than_us,
        events_max: asked.events_max,
        rescan: asked.rescan,
        // The log may be ahead of the clock; nothing is older for that.
        now: call.app.engine.clock().wall,
    };
    let done = call.app.engine.retention_sweep(&permit, asked, &noted).await;
    // A pack that is kept may hold what went.
    call.app.forget_packs_of(permit.caller().tenant);
    reply::json(StatusCode::OK, &swept(&*done?))
}

/// `GET /v1/admin/wal`.
pub(super) async fn wal(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    let verify = Params::new(&pairs).choice("verify", &[("false", false), ("true", true)])?;
    let caller = call.caller()?;
    let permit = looks(&call.desk, &caller).await?;
    let WalStatus { log, applied, indexed, entries, erased } = call.app.engine.wal(&permit).await;
    let mut followers = BTreeMap::from([("views".to_owned(), applied)]);
    followers.extend(indexed.map(|indexed| ("search".to_owned(), indexed)));
    let verdict = match verify {
        true => Some(call.app.engine.wal_verify(&permit).await?),
        false => None,
    };
    let shape = WalBody {
        live_count: entries.saturating_sub(erased),
        next_offset: log.next_offset,
        head_offset: log.next_offset.checked_sub(1),
        captured_head_offset: applied.checked_sub(1),
        partitions: 1,
        consumer_offsets: followers,
        retired_marker_count: erased,
        segments: log.segments,
        bytes: log.bytes,
        batches: log.batches,
        checkpoint_at: log.checkpoint_at.map(|at| time::print(at.0)),
        verify: verdict.map(told),
    };
    reply::json(StatusCode::OK, &shape)
}

/// `POST /v1/admin/wal/compact`.
pub(super) async fn compact(mut call: Call) -> Result<Response, Failure> {
    let body = call.optional_json_body(call.app.limits.body_bytes).await?;
    let (dry_run, rewrites) = CompactRequest::read(&body)?;
    let caller = call.caller()?;
    let looks = looks(&call.desk, &caller).await?;
    let mut given_back = None;
    if !dry_run {
        let permit = call.desk.permit::<AdminCompact>(&caller, None).await?;
        if rewrites {
            let done = call.app.engine.wal_compact(&permit).await?;
            given_back = Some(done.bytes_before.saturating_sub(done.bytes_after));
        }
    }
    let WalStatus { entries, erased, .. } = call.app.engine.wal(&looks).await;
    let live = entries.saturating_sub(erased);
    let shape = CompactedBody {
        dry_run,
        scanned: erased,
        removed_tombstones: 0,
        removed_orphaned_twins: 0,
        skipped_sealed: erased,
        live_count_before: live,
        live_count_after: live,
        bytes_removed: given_back.unwrap_or(0),
        ranges_compacted: u64::from(given_back.is_some()),
        truncated_by_budget: false,
    };
    reply::json(StatusCode::OK, &shape)
}

/// Leave to look: `diagnostics.read`, for operators.
pub(super) async fn looks(
    desk: &Desk,
    caller: &Caller,
) -> Result<Permit<DiagnosticsRead>, Failure> {
    let permit = desk.permit::<DiagnosticsRead>(caller, None).await?;
    if caller.operator {
        return Ok(permit);
    }
    let denial = Denial {
        capability: DiagnosticsRead::NAME,
        tier: Tier::Deployment,
        preset: desk.app.preset(),
        remediation:
            "it shows numbers of the whole deployment; ask an operator to look, or to add \
                      this actor to auth.operators"
                .to_owned(),
        code: DenialCode::PolicyDenied,
    };
    desk.record.denied(&denial, None);
    Err(denied(&denial).into())
}

fn told(verdict: WalVerdict) -> VerifyBody {
    match verdict {
        WalVerdict::Holds(entries) => {
            VerifyBody { ok: Some(true), entries, reason: None, skipped: None }
        }
        WalVerdict::Broken(entries, reason) => {
            VerifyBody { ok: Some(false), entries, reason: Some(reason), skipped: None }
        }
        WalVerdict::TooLong(entries) => VerifyBody {
            ok: None,
            entries: 0,
            reason: None,
            skipped: Some(format!(
                "the log has {entries} entries, more than one request reads; `lamina check` reads all"
            )),
        },
    }
}

fn shown_cursor(cursor: Cursor) -> String {
    match cursor.after {
        None => cursor.scope.to_string(),
        Some(after) => format!("{}.{}", cursor.scope, after.tenant_seq),
    }
}

fn swept(done: &Swept) -> SweptBody {
    let stopped = done.stopped.map(|stopped| match stopped {
        Stopped::Events => "max_events",
        Stopped::Time => "tick_budget",
        Stopped::Rules => "policies_changed",
    });
    SweptBody {
        dry_run: done.dry_run,
        at: time::print(done.at),
        scanned: done.scanned,
        expired: done.expired,
        erased: done.erased,
        kept_forever: done.kept_forever,
        cursor_before: done.cursor_before.map(shown_cursor),
        cursor_after: done.cursor_after.map(shown_cursor),
        watermark: done.watermark,
        stopped: stopped.map(str::to_owned),
        elapsed_ms: (done.elapsed_us / 1_000).max(0).unsigned_abs(),
        held: BTreeMap::from([("legal_hold".to_owned(), done.held)]),
        errors: done.errors.clone(),
    }
}

//! The operator's surface of the clock: whether it is believed, what waits because of it, and confirming it.

use lamina_types::JobId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::{json, query};

/// How the clock stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "clock_status")]
pub struct ClockBody {
    /// The machine's time.
    #[schemars(extend("format" = "date-time"))]
    pub wall_at: String,
    /// The `recorded_at` that an event written now gets. It is behind `wall_at` while nobody vouches for a clock that is
    /// far ahead of the log.
    #[schemars(extend("format" = "date-time"))]
    pub log_at: String,
    /// The last `recorded_at` of the log.
    #[schemars(extend("format" = "date-time"))]
    pub recorded_at: String,
    /// When the newest segment file had been written, before the server opened it; null for a new directory.
    #[schemars(extend("format" = "date-time"))]
    pub segment_modified_at: Option<String>,
    /// Seconds by which the log is ahead of the machine's time.
    pub log_ahead_secs: u64,
    /// Why the clock is not believed: `ahead` or `behind` of the log; null if it is believed.
    pub doubt: Option<&'static str>,
    /// Who vouched for the clock since the start: `operator` or `system`; null if nobody had to.
    pub confirmed_by: Option<&'static str>,
    /// Whether anything is deleted because of its age.
    pub automatic_deletion: DeletionBody,
    /// Automatic sweeps that would take too much and wait for confirmation.
    pub stopped_sweeps: Vec<StoppedSweepBody>,
}

/// Whether anything is deleted because of its age.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "clock_deletion")]
pub struct DeletionBody {
    /// It is.
    pub allowed: bool,
    /// Why it is not: `start`, `pause` and `jump` end by themselves, `clock` ends when somebody vouches for it.
    pub reason: Option<&'static str>,
    /// Seconds until it ends by itself.
    pub wait_secs: Option<u64>,
}

/// An automatic sweep that waits for confirmation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "stopped_sweep")]
pub struct StoppedSweepBody {
    /// Send it to `POST /v1/admin/clock/confirm` to let the sweep run.
    #[schemars(regex(pattern = "^job_[0-9a-f]{32}$"))]
    pub sweep_id: String,
    /// Its tenant.
    pub tenant: String,
    /// What too much would go of: `scope` or `tenant`.
    pub of: &'static str,
    /// The scope; null for a tenant, and for a scope of another tenant than the caller's.
    pub scope: Option<String>,
    /// Events there that have been due for more than three days.
    pub overdue: u64,
    /// All events there.
    pub events: u64,
    /// The share that goes without confirmation, in percent.
    pub share_max: u8,
    /// The time that the sweep went by.
    #[schemars(extend("format" = "date-time"))]
    pub planned_at: String,
}

/// A confirmation of the clock, or of one sweep.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "clock_confirm_request")]
pub struct ConfirmRequest {
    /// The sweep that may run; without it the clock is confirmed, and no sweep.
    #[schemars(regex(pattern = "^job_[0-9a-f]{32}$"))]
    pub sweep_id: Option<String>,
}

impl ConfirmRequest {
    /// Reads the body: the sweep that is confirmed, or `None` for the clock.
    pub fn read(body: &[u8]) -> Result<Option<JobId>, ApiError> {
        let request: ConfirmRequest =
            if body.is_empty() { ConfirmRequest::default() } else { json::read(body)? };
        request.sweep_id.map(|id| query::id("sweep_id", &id)).transpose()
    }
}

#[cfg(test)]
mod tests;

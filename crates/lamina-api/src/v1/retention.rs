//! The operator's surface of retention: rules, sweeps, how it stands. Names and fields are those that published
//! clients send and read.

use std::collections::BTreeMap;

use lamina_types::ScopePath;
use lamina_types::limits::{
    RETENTION_DAYS_MAX, RETENTION_EVENTS_MAX, RETENTION_SOURCE_CHARS_MAX, RETENTION_SOURCES_MAX,
};
use lamina_types::retention::{Keep, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;

/// What a label begins with that says where an event comes from.
const SOURCE: &str = "source:";

/// A rule that is to be set for a scope and everything below it.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "retention_policy_request")]
pub struct RuleRequest {
    /// The scope.
    #[schemars(length(max = 4096))]
    pub scope: String,
    /// Days from when an event was recorded; null or absent: for good, unless a scope above says otherwise.
    #[schemars(range(min = 1, max = 36_500))]
    pub default_retention_days: Option<u64>,
    /// Days for events with the label `source:NAME`, by name.
    pub per_source_days: Option<BTreeMap<String, u64>>,
}

impl RuleRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<Rule, ApiError> {
        let RuleRequest { scope, default_retention_days, per_source_days } = json::read(body)?;
        let scope = check::scope("scope", &scope)?;
        let keep = match default_retention_days {
            None => Keep::Forever,
            Some(given) => Keep::Days(days("default_retention_days", given)?),
        };
        let given = per_source_days.unwrap_or_default();
        if given.len() > RETENTION_SOURCES_MAX {
            let reason = format!("has more than {RETENTION_SOURCES_MAX} sources");
            return Err(ApiError::invalid_shape("per_source_days", reason));
        }
        let mut sources = BTreeMap::new();
        for (name, given) in given {
            let field = format!("per_source_days.{name}");
            // Whoever writes the label out means the same.
            let bare = name.strip_prefix(SOURCE).unwrap_or(&name);
            check::short(bare, RETENTION_SOURCE_CHARS_MAX)
                .map_err(|reason| ApiError::invalid_shape(field.clone(), reason))?;
            let given = days(&field, given)?;
            let shorter = sources.get(bare).map_or(given, |known: &u32| given.min(*known));
            sources.insert(bare.to_owned(), shorter);
        }
        Ok(Rule { scope, keep, sources })
    }
}

fn days(field: &str, given: u64) -> Result<u32, ApiError> {
    let days = u32::try_from(given).ok().filter(|days| (1..=RETENTION_DAYS_MAX).contains(days));
    days.ok_or_else(|| {
        let reason = format!("must be between 1 and {RETENTION_DAYS_MAX} days");
        ApiError::invalid_shape(field, reason)
    })
}

/// What is said about a scope and everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "retention_rule")]
pub struct RuleBody {
    /// Days; null: for good.
    pub default_retention_days: Option<u32>,
    /// Days for events of a source.
    pub per_source_days: BTreeMap<String, u32>,
}

/// A rule with its scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "retention_policy")]
pub struct PolicyBody {
    /// The scope.
    pub scope: String,
    /// What is said about it.
    pub policy: RuleBody,
    /// Days that hold there, with what is said about scopes above; null: for good.
    pub effective_days: Option<u32>,
    /// The next sweep begins anew: always, after a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor_reset: Option<bool>,
}

impl PolicyBody {
    /// As it is shown.
    pub fn new(rule: &Rule, effective: Keep) -> PolicyBody {
        let Rule { scope, keep, sources } = rule;
        PolicyBody {
            scope: scope.to_string(),
            policy: RuleBody {
                default_retention_days: of(*keep),
                per_source_days: sources.clone(),
            },
            effective_days: of(effective),
            cursor_reset: None,
        }
    }
}

/// Days, as they are shown.
pub fn of(keep: Keep) -> Option<u32> {
    match keep {
        Keep::Forever => None,
        Keep::Days(days) => Some(days),
    }
}

/// How retention stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "retention_status")]
pub struct StatusBody {
    /// Whether anything is ever removed: there is a rule, or the deployment has one.
    pub enabled: bool,
    /// Sweeps run only when they are asked for.
    pub scheduler_disabled: bool,
    /// Seconds between two sweeps that nobody asks for.
    pub sweep_interval_secs: u64,
    /// Days where no rule is; null: for good.
    pub deployment_default_days: Option<u32>,
    /// Events that one sweep looks at unless asked otherwise.
    pub max_events_per_tick: u64,
    /// Seconds after which a sweep leaves the rest to the next.
    pub tick_budget_secs: u64,
    /// Always false: the words are overwritten where they stand.
    pub compact_after_sweep: bool,
    /// Where the next sweep goes on; null: at the beginning.
    pub cursor: Option<String>,
    /// Entries before this offset are in sight.
    pub watermark: u64,
    /// Always true: a change of rules takes the cursor back.
    pub fingerprint_ok: bool,
    /// A sweep runs.
    pub running: bool,
    /// All rules, by scope.
    pub policies: Vec<PolicyBody>,
    /// The last sweep since the start.
    pub last: Option<SweptBody>,
}

/// A sweep that is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "retention_sweep_request")]
pub struct SweepRequest {
    /// Only count. The default.
    pub dry_run: Option<bool>,
    /// Only this scope and what is below it.
    #[schemars(length(max = 4096))]
    pub scope: Option<String>,
    /// In place of all rules, for this sweep: what was recorded so many seconds ago. Needs a scope.
    pub older_than_secs: Option<u64>,
    /// Events that are looked at.
    #[schemars(range(min = 1))]
    pub max_events: Option<u64>,
    /// From the beginning.
    pub rescan: Option<bool>,
}

/// A sweep, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// Only count.
    pub dry_run: bool,
    /// Only here.
    pub scope: Option<ScopePath>,
    /// In place of all rules, in microseconds.
    pub older_than_us: Option<i64>,
    /// Events that are looked at.
    pub events_max: u64,
    /// From the beginning.
    pub rescan: bool,
}

impl SweepRequest {
    /// Reads the body; an empty one is a report on everything.
    pub fn read(body: &[u8]) -> Result<Sweep, ApiError> {
        let request: SweepRequest =
            if body.is_empty() { SweepRequest::default() } else { json::read(body)? };
        let SweepRequest { dry_run, scope, older_than_secs, max_events, rescan } = request;
        let scope = scope.map(|scope| check::scope("scope", &scope)).transpose()?;
        if older_than_secs.is_some() && scope.is_none() {
            return Err(ApiError::invalid_shape("older_than_secs", "needs a scope"));
        }
        let older_than_us = older_than_secs.map(|secs| {
            i64::try_from(secs).ok().and_then(|secs| secs.checked_mul(1_000_000)).ok_or_else(|| {
                ApiError::invalid_shape("older_than_secs", "is longer than time has been")
            })
        });
        if max_events == Some(0) {
            return Err(ApiError::invalid_shape("max_events", "must be at least 1"));
        }
        Ok(Sweep {
            dry_run: dry_run.unwrap_or(true),
            scope,
            older_than_us: older_than_us.transpose()?,
            events_max: max_events.unwrap_or(RETENTION_EVENTS_MAX).min(RETENTION_EVENTS_MAX),
            rescan: rescan.unwrap_or(false),
        })
    }
}

/// What a sweep did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "retention_swept")]
pub struct SweptBody {
    /// Nothing went.
    pub dry_run: bool,
    /// When it was run.
    #[schemars(extend("format" = "date-time"))]
    pub at: String,
    /// Events that were looked at.
    pub scanned: u64,
    /// Those that are past their time.
    pub expired: u64,
    /// Those whose words are gone now.
    pub erased: u64,
    /// Those among the ones looked at that no rule lets go.
    pub kept_forever: u64,
    /// Where it began; null: at the beginning.
    pub cursor_before: Option<String>,
    /// Where the next one goes on; null: at the beginning.
    pub cursor_after: Option<String>,
    /// Entries before this offset were in sight.
    pub watermark: u64,
    /// Why it is not through: `max_events`, `tick_budget`, or `policies_changed` for an automatic one.
    pub stopped: Option<String>,
    /// How long it took.
    pub elapsed_ms: u64,
    /// What was past its time and stays, by reason.
    pub held: BTreeMap<String, u64>,
    /// What could not be forgotten.
    pub errors: Vec<String>,
}

#[cfg(test)]
mod tests;

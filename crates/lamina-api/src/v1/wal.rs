//! The operator's surface of the log: how it stands, whether it holds, and what compacting can do for it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::json;

/// How the log stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "wal_status")]
pub struct WalBody {
    /// Entries whose words are there.
    pub live_count: u64,
    /// The offset that the next entry gets.
    pub next_offset: u64,
    /// The offset of the newest entry; null in an empty log.
    pub head_offset: Option<u64>,
    /// The newest entry that the views have; null if none.
    pub captured_head_offset: Option<u64>,
    /// Logs: always one.
    pub partitions: u64,
    /// How far those have come that follow the log: the next offset of each.
    pub consumer_offsets: BTreeMap<String, u64>,
    /// Events whose words are gone; their entries stay, sealed.
    pub retired_marker_count: u64,
    /// Segment files.
    pub segments: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Batches.
    pub batches: u64,
    /// When the last signed checkpoint was made.
    pub checkpoint_at: Option<String>,
    /// Whether the log holds, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyBody>,
}

/// Whether the log holds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "wal_verify")]
pub struct VerifyBody {
    /// True: every entry that was read is as it was sealed. False: one is not. Null: the log is longer than
    /// one request reads.
    pub ok: Option<bool>,
    /// Entries that were read.
    pub entries: u64,
    /// What does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why not everything was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// A compaction that is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "wal_compact_request")]
pub struct CompactRequest {
    /// Only count. The default.
    pub dry_run: Option<bool>,
    /// Accepted; no row of the log is ever removed.
    pub max_rows: Option<u64>,
    /// Accepted; no row of the log is ever removed.
    pub below_offset: Option<u64>,
    /// What is done about tables: `none`, or, with `touched_ranges` (the default) and `full`, they are rewritten.
    #[schemars(regex(pattern = "^(none|touched_ranges|full)$"))]
    pub compaction: Option<String>,
}

impl CompactRequest {
    /// Reads the body: whether it is only counted, and whether tables are rewritten.
    pub fn read(body: &[u8]) -> Result<(bool, bool), ApiError> {
        let request: CompactRequest =
            if body.is_empty() { CompactRequest::default() } else { json::read(body)? };
        let CompactRequest { dry_run, max_rows: _, below_offset: _, compaction } = request;
        let rewrites = match compaction.as_deref() {
            None | Some("touched_ranges" | "full") => true,
            Some("none") => false,
            Some(_) => {
                let reason = "must be one of none, touched_ranges, full";
                return Err(ApiError::invalid_shape("compaction", reason));
            }
        };
        Ok((dry_run.unwrap_or(true), rewrites))
    }
}

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "wal_compacted")]
pub struct CompactedBody {
    /// Nothing was done.
    pub dry_run: bool,
    /// Events whose words are gone and whose entries could be removed, if any ever were.
    pub scanned: u64,
    /// Always 0: an entry stays where it is sealed, without its words.
    pub removed_tombstones: u64,
    /// Always 0: there is one copy of an entry.
    pub removed_orphaned_twins: u64,
    /// Those that stay because the chain of seals goes through them: all of `scanned`.
    pub skipped_sealed: u64,
    /// Entries whose words are there, before.
    pub live_count_before: u64,
    /// And after: the same.
    pub live_count_after: u64,
    /// Bytes of tables that were given back.
    pub bytes_removed: u64,
    /// Tables that were rewritten: all, or none.
    pub ranges_compacted: u64,
    /// Always false.
    pub truncated_by_budget: bool,
}

#[cfg(test)]
mod tests;

//! What an operator can set about the engine.

use std::path::PathBuf;
use std::sync::Arc;

use lamina_store::audit::AuditOptions;
use lamina_types::limits;

use crate::embed::Embedding;
use crate::open::OpenProgress;

/// Settings of one engine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The data directory.
    pub data: PathBuf,
    /// Where it is noted what was taken back; best on another disk.
    pub ledger: Option<PathBuf>,
    /// Bytes of a log segment.
    pub segment_bytes: u64,
    /// Bytes kept back so that erasing still works on a full disk.
    pub ballast_bytes: u64,
    /// Bytes of the disk that writes leave free, for what the views have to write.
    pub free_bytes_min: u64,
    /// Bytes of a blob.
    pub blob_bytes_max: u64,
    /// Bytes of the source of an import.
    pub import_bytes_max: u64,
    /// How far behind a lifecycle stream may fall (R361).
    pub stream_lag_ms: u64,
    /// Writes in flight before callers wait.
    pub writes_in_flight_max: usize,
    /// Bytes of a segment of the audit log.
    pub audit_segment_bytes: u64,
    /// How long rows of the audit log are kept.
    pub audit_retention_us: i64,
    /// Days that events are kept where no rule says so; `None`: for good.
    pub retention_days: Option<u32>,
    /// How long a pepper of the audit log is used.
    pub pepper_rotation_us: i64,
    /// How long a pepper is kept when no row made with it is left.
    pub pepper_buffer_us: i64,
    /// A model that makes vectors beside the built-in ones.
    pub embedding: Option<Embedding>,
    /// The share of a scope or a tenant that an automatic sweep takes without confirmation, in percent.
    pub sweep_share_percent_max: u8,
    /// A file that is there once the system has synchronized its clock; `None`: the system is not asked.
    pub synchronized_file: Option<PathBuf>,
    /// Bytes of rows that a long replay gathers before it hands them to the views' store; 0: every chunk goes at once.
    pub rebuild_bytes: usize,
    /// Told how far opening has come.
    pub opening: Arc<OpenProgress>,
}

impl Settings {
    /// Bytes of a log segment unless set: small enough to verify at open in a fraction of a second.
    pub const SEGMENT_BYTES: u64 = 64 * 1_024 * 1_024;
    /// Bytes kept back unless set.
    pub const BALLAST_BYTES: u64 = 64 * 1_024 * 1_024;
    /// Bytes left free unless set: as much as the store of the views keeps in journals.
    pub const FREE_BYTES_MIN: u64 = 64 * 1_024 * 1_024;
    /// Bytes of rows that a replay gathers unless set.
    pub const REBUILD_BYTES: usize = 128 * 1_024 * 1_024;
    /// Writes in flight unless set.
    pub const WRITES_IN_FLIGHT_MAX: usize = 4_096;

    /// How long audit rows are kept unless set: a year.
    pub const AUDIT_RETENTION_US: i64 = 365 * 24 * 3_600 * 1_000_000;
    /// How long a pepper is used unless set: three months (R392).
    pub const PEPPER_ROTATION_US: i64 = 90 * 24 * 3_600 * 1_000_000;

    /// The share that an automatic sweep takes unless set, in percent.
    pub const SWEEP_SHARE_PERCENT_MAX: u8 = 20;
    /// Where systemd says that the clock is synchronized. The directory is empty after each boot.
    pub const SYNCHRONIZED_FILE: &str = "/run/systemd/timesync/synchronized";

    /// The defaults, in this directory.
    pub fn new(data: impl Into<PathBuf>) -> Settings {
        Settings {
            data: data.into(),
            ledger: None,
            segment_bytes: Settings::SEGMENT_BYTES,
            ballast_bytes: Settings::BALLAST_BYTES,
            free_bytes_min: Settings::FREE_BYTES_MIN,
            blob_bytes_max: limits::BLOB_BYTES_MAX,
            import_bytes_max: limits::IMPORT_BYTES_MAX,
            stream_lag_ms: limits::STREAM_LAG_MS_MAX,
            writes_in_flight_max: Settings::WRITES_IN_FLIGHT_MAX,
            audit_segment_bytes: AuditOptions::SEGMENT_BYTES,
            audit_retention_us: Settings::AUDIT_RETENTION_US,
            retention_days: None,
            pepper_rotation_us: Settings::PEPPER_ROTATION_US,
            pepper_buffer_us: Settings::PEPPER_ROTATION_US,
            embedding: None,
            sweep_share_percent_max: Settings::SWEEP_SHARE_PERCENT_MAX,
            synchronized_file: Some(PathBuf::from(Settings::SYNCHRONIZED_FILE)),
            rebuild_bytes: Settings::REBUILD_BYTES,
            opening: Arc::default(),
        }
    }
}

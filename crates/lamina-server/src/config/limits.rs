//! The limits of the HTTP surface.

use lamina_types::limits::{
    BLOB_BYTES_MAX, BODY_BYTES_MAX, BULK_BODY_BYTES_MAX, IMPORT_BYTES_MAX, READS_IN_FLIGHT_MAX,
    STREAM_LAG_MS_MAX,
};

use super::Limits;
use super::source::{ConfigError, Settings};

const MINUTES_10_MS: u64 = 600_000;

impl Limits {
    pub(super) fn take(settings: &mut Settings) -> Result<Limits, ConfigError> {
        Ok(Limits {
            body_bytes: settings.number(
                "limits.body_bytes",
                BODY_BYTES_MAX as u64,
                1 << 10..=64 << 20,
            )?,
            bulk_body_bytes: settings.number(
                "limits.bulk_body_bytes",
                BULK_BODY_BYTES_MAX as u64,
                1 << 10..=256 << 20,
            )?,
            blob_bytes: settings.number("limits.blob_bytes", BLOB_BYTES_MAX, 1..=16 << 30)?,
            import_bytes: settings.number("limits.import_bytes", IMPORT_BYTES_MAX, 1..=1 << 40)?,
            reads_in_flight: settings.number(
                "limits.reads_in_flight",
                READS_IN_FLIGHT_MAX,
                1..=65_536,
            )?,
            connections: settings.number("limits.connections", 1_024, 1..=65_536)?,
            header_timeout_ms: settings.number(
                "limits.header_timeout_ms",
                30_000,
                100..=MINUTES_10_MS,
            )?,
            body_timeout_ms: settings.number(
                "limits.body_timeout_ms",
                30_000,
                100..=MINUTES_10_MS,
            )?,
            handshake_timeout_ms: settings.number(
                "limits.handshake_timeout_ms",
                10_000,
                100..=MINUTES_10_MS,
            )?,
            write_timeout_ms: settings.number(
                "limits.write_timeout_ms",
                60_000,
                100..=MINUTES_10_MS,
            )?,
            stream_lag_ms: settings.number(
                "limits.stream_lag_ms",
                STREAM_LAG_MS_MAX,
                100..=MINUTES_10_MS,
            )?,
            shutdown_timeout_ms: settings.number(
                "limits.shutdown_timeout_ms",
                10_000,
                0..=MINUTES_10_MS,
            )?,
        })
    }
}

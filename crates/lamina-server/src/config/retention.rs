//! `retention.*`: what is deleted by itself because of its age, and when the clock is believed that says so.

use std::path::PathBuf;

use lamina_engine::Settings as EngineSettings;
use lamina_types::limits::RETENTION_DAYS_MAX;

use super::ConfigError;
use super::source::Settings;

/// How often what is past its time is looked for unless set: once an hour.
const SWEEP_EVERY_S: u64 = 3_600;

/// What is deleted by itself because of its age, and when the clock is believed that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetentionConfig {
    /// Days that events are kept where no rule says so; `None`: for good.
    pub days: Option<u32>,
    /// How often what is past its time is looked for, in seconds; 0 is never.
    pub sweep_every_s: u64,
    /// The share of a scope or a tenant that an automatic sweep takes without confirmation, in percent.
    pub sweep_share_max: u8,
    /// A file that is there once the system has synchronized its clock; `None`: the system is not asked.
    pub synchronized_file: Option<PathBuf>,
}

impl RetentionConfig {
    pub(super) fn take(settings: &mut Settings) -> Result<RetentionConfig, ConfigError> {
        let days = settings.number("retention.days", 0, 0..=u64::from(RETENTION_DAYS_MAX))?;
        let sweep_every_s =
            settings.number("retention.sweep_every_s", SWEEP_EVERY_S, 0..=31 * 24 * 3_600)?;
        let share = u64::from(EngineSettings::SWEEP_SHARE_PERCENT_MAX);
        let share_max = settings.number("retention.sweep_share_max", share, 1..=100)?;
        let file = settings
            .text("clock.synchronized_file", EngineSettings::SYNCHRONIZED_FILE.to_owned())?;
        Ok(RetentionConfig {
            days: u32::try_from(days).ok().filter(|days| *days > 0),
            sweep_every_s,
            sweep_share_max: u8::try_from(share_max).unwrap_or(u8::MAX),
            synchronized_file: (file != "none" && !file.is_empty()).then(|| PathBuf::from(file)),
        })
    }
}

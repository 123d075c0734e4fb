//! `?wait=`: how long a write holds its answer (R248, D5).

use lamina_types::{ErrorCode, Stage};

use crate::error::ApiError;

/// What a write waits for before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Nothing beyond durability; answers 202.
    Accepted,
    /// The log has it; answers 200.
    Captured,
    /// Search can find it.
    Indexed,
    /// Facts and beliefs reflect it.
    Consolidated,
    /// Every stage ran.
    Settled,
}

impl Wait {
    /// All values, in the order of waiting.
    pub const ALL: &'static [Wait] =
        &[Wait::Accepted, Wait::Captured, Wait::Indexed, Wait::Consolidated, Wait::Settled];

    /// The value on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Wait::Accepted => "accepted",
            Wait::Captured => "captured",
            Wait::Indexed => "indexed",
            Wait::Consolidated => "consolidated",
            Wait::Settled => "settled",
        }
    }

    /// The stage that must be complete before the answer; none for [`Wait::Accepted`].
    pub fn stage(self) -> Option<Stage> {
        match self {
            Wait::Accepted => None,
            Wait::Captured => Some(Stage::Captured),
            Wait::Indexed => Some(Stage::Indexed),
            Wait::Consolidated => Some(Stage::Consolidated),
            Wait::Settled => Some(Stage::Compressed),
        }
    }

    /// Reads the parameter; absent is [`Wait::Accepted`].
    pub fn parse(value: Option<&str>) -> Result<Wait, ApiError> {
        let Some(value) = value else {
            return Ok(Wait::Accepted);
        };
        Wait::ALL.iter().copied().find(|wait| wait.as_str() == value).ok_or_else(|| {
            let values: Vec<&str> = Wait::ALL.iter().map(|wait| wait.as_str()).collect();
            let reason = format!("must be one of {}", values.join(", "));
            ApiError::at(ErrorCode::InvalidWait, "wait", reason).with("values", values)
        })
    }
}

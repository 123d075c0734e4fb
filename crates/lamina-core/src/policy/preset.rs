//! The four deployment presets an operator can boot with (R180).

use std::fmt;
use std::str::FromStr;

/// A deployment preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Everything allowed, unsigned actors, loopback only.
    DevLocal,
    /// Everything allowed, signed actors.
    OnPremEnterprise,
    /// Many tenants on one deployment.
    CloudSharedSaas,
    /// One tenant in the cloud.
    CloudPrivate,
}

/// The name is not one of the four.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown preset; it is one of dev_local, on_prem_enterprise, cloud_shared_saas, cloud_private"
)]
pub struct PresetError;

impl Preset {
    /// All presets.
    pub const ALL: &'static [Preset] = &[
        Preset::DevLocal,
        Preset::OnPremEnterprise,
        Preset::CloudSharedSaas,
        Preset::CloudPrivate,
    ];

    /// The name in configuration and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Preset::DevLocal => "dev_local",
            Preset::OnPremEnterprise => "on_prem_enterprise",
            Preset::CloudSharedSaas => "cloud_shared_saas",
            Preset::CloudPrivate => "cloud_private",
        }
    }

    /// Whether experimental routes are on without being asked for (R041).
    pub fn experimental_by_default(self) -> bool {
        matches!(self, Preset::DevLocal | Preset::OnPremEnterprise)
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = PresetError;

    fn from_str(text: &str) -> Result<Self, PresetError> {
        Preset::ALL.iter().copied().find(|preset| preset.as_str() == text).ok_or(PresetError)
    }
}

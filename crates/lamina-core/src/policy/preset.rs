//! The four deployment presets an operator can boot with (R180), and the document each stands for
//! (R181-R186, R443-R457). A fifth stands for a document of the operator's own.

use std::fmt;
use std::str::FromStr;

use super::document::Document;

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
    /// What the operator wrote, with signed actors. Its own document is not known here, so this one
    /// allows nothing.
    Custom,
}

/// The name is no preset's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown preset; it is one of dev_local, on_prem_enterprise, cloud_shared_saas, cloud_private, \
     or custom with a policy file"
)]
pub struct PresetError;

impl Preset {
    /// The presets that stand for a document.
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
            Preset::Custom => "custom",
        }
    }

    /// Whether tenants meet in `global:` scopes. Where there is one tenant, what it calls global is its
    /// own (R185).
    pub fn is_shared(self) -> bool {
        match self {
            Preset::OnPremEnterprise | Preset::CloudSharedSaas | Preset::Custom => true,
            Preset::DevLocal | Preset::CloudPrivate => false,
        }
    }

    /// The deployment policy of the preset. What a tenant may configure (`~` in the table) is
    /// allowed here, so that a first write works and a tenant can deny it (C50).
    pub fn document(self) -> Document {
        let (allow, deny): (&[&str], &[&str]) = match self {
            Preset::DevLocal | Preset::OnPremEnterprise => (&["*"], &[]),
            Preset::CloudSharedSaas => (SHARED_ALLOW, SHARED_DENY),
            Preset::CloudPrivate => {
                (&["*"], &["scope.create.cross_tenant", "scope.read.cross_tenant"])
            }
            Preset::Custom => (&[], &[]),
        };
        let mut document =
            Document::from_lists(allow, deny).expect("the rules of presets are known");
        let signed = if self == Preset::DevLocal { "false" } else { "true" };
        let retention = match self {
            Preset::DevLocal => "P7D",
            Preset::OnPremEnterprise | Preset::Custom => "P1Y",
            Preset::CloudSharedSaas => "P2Y",
            Preset::CloudPrivate => "P3Y",
        };
        let rates: &[(&str, &str)] = match self {
            Preset::CloudSharedSaas => {
                &[("rate_limit.write", "100/s"), ("rate_limit.read", "500/s")]
            }
            Preset::DevLocal | Preset::OnPremEnterprise | Preset::CloudPrivate | Preset::Custom => {
                &[]
            }
        };
        let common = [
            ("actor.require_signed", signed),
            ("scope.auto_register", "true"),
            ("forget.cascade.default", "derived_only"),
            ("audit.retention", retention),
            ("audit.store_body_bytes", "true"),
            ("audit.pepper_rotation_period", "P3M"),
            ("audit.pepper_retention_buffer", "P3M"),
        ];
        for (key, value) in common.iter().chain(rates) {
            document.defaults.set(key, value).expect("the settings of presets are known");
        }
        document
    }

    /// Whether experimental routes are on without being asked for (R041).
    pub fn experimental_by_default(self) -> bool {
        matches!(self, Preset::DevLocal | Preset::OnPremEnterprise)
    }
}

/// Everything the table marks Y, Y(op) or ~ for this preset (C25). The list is explicit, so that a
/// capability that is added to the catalog is denied here until somebody decides.
const SHARED_ALLOW: &[&str] = &[
    "scope.create.org",
    "scope.create.dept",
    "scope.create.team",
    "scope.create.app",
    "scope.create.user",
    "scope.create.agent",
    "scope.create.service",
    "scope.create.ws",
    "scope.create.project",
    "scope.create.session",
    "scope.write",
    "scope.write.elevated",
    "scope.write.on_behalf_of",
    "scope.write.about_other",
    "scope.write.as_system",
    "scope.read.local",
    "scope.read.holistic",
    "scope.read.descend",
    "understanding.read",
    "understanding.synthesize",
    "forget.cascade.derived_only",
    "forget.cascade.redact_events",
    "forget.gdpr",
    "forget.gdpr.cross_workspace",
    "import.*",
    "export.*",
    "lifecycle.subscribe",
    "llm.invoke",
    "diagnostics.read",
    "audit.read",
    "auth.revoke",
    "auth.mint",
    "temporal.phrases.read",
    "temporal.phrases.write",
    "vocabulary.read",
    "vocabulary.write",
    "policy.administer.deployment",
    "policy.administer.tenant",
    "policy.administer.scope",
    "policy.administer.actor",
    "blob.*",
    "admin.flush",
    "admin.compact",
    "admin.health",
];

/// Silence would deny these too; written out, the denial cannot be lost by widening a rule above.
const SHARED_DENY: &[&str] = &[
    "scope.create.global",
    "scope.create.cross_tenant",
    "scope.create.custom",
    "scope.read.cross_tenant",
    "understanding.read.cross_scope",
    "audit.read.cross_actor",
];

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = PresetError;

    fn from_str(text: &str) -> Result<Self, PresetError> {
        let all = Preset::ALL.iter().copied().chain(std::iter::once(Preset::Custom));
        all.into_iter().find(|preset| preset.as_str() == text).ok_or(PresetError)
    }
}

#[cfg(test)]
mod tests;

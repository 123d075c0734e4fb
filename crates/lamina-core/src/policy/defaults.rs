//! The settings of a policy document: what holds when a request does not say.
//!
//! Each has the name that administrators write. A parser of YAML or JSON walks its keys and hands
//! name and text to [`Defaults::set`]; every error names the key.

use std::fmt;
use std::str::FromStr;

use lamina_types::limits::{POLICY_SCOPE_TYPE_CHARS_MAX, POLICY_SCOPE_TYPES_MAX};

use super::period::{self, PeriodError};
use super::rate::{Rate, RateError};
use super::{Caller, Tier};

/// The settings of one document. What is `None` is inherited from the tier above.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Defaults {
    /// `actor.require_signed`: whether a caller proves who it is.
    pub require_signed: Option<bool>,
    /// `scope.auto_register`: whether a first write makes the caller owner of the scope (R076).
    pub auto_register: Option<bool>,
    /// `scope.person_private`: whether the scopes of persons are open to nobody else.
    pub person_private: Option<bool>,
    /// `forget.cascade.default`
    pub cascade_default: Option<Cascade>,
    /// `audit.retention`
    pub audit_retention_us: Option<i64>,
    /// `audit.store_body_bytes` (R435)
    pub store_body_bytes: Option<bool>,
    /// `audit.pepper_rotation_period` (R431)
    pub pepper_rotation_us: Option<i64>,
    /// `audit.pepper_retention_buffer` (R431)
    pub pepper_buffer_us: Option<i64>,
    /// `rate_limit.write`
    pub rate_write: Option<Rate>,
    /// `rate_limit.read`
    pub rate_read: Option<Rate>,
    /// `rate_limit.importer` (R426)
    pub rate_importer: Option<Rate>,
    /// `confidence_floor`: beliefs under this are not kept, in ten-thousandths (R232).
    pub confidence_floor: Option<u16>,
    /// `allowed_scope_types`: types beside the built-in ones (C09).
    pub allowed_scope_types: Vec<String>,
}

/// How far a forget reaches when it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cascade {
    /// What was derived.
    DerivedOnly,
    /// What was derived, and the words of its events.
    RedactEvents,
}

/// Why a setting is refused. Each names the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefaultsError {
    /// There is no such setting.
    #[error("`{key}` is not a setting; the settings are {}", KEYS.join(", "))]
    Unknown {
        /// The key.
        key: String,
    },
    /// It was set before.
    #[error("`{key}` is set twice")]
    Twice {
        /// The key.
        key: &'static str,
    },
    /// Neither true nor false.
    #[error("`{key}` is true or false")]
    NotBool {
        /// The key.
        key: &'static str,
    },
    /// Not a way to forget.
    #[error("`{key}` is derived_only or redact_events")]
    NotCascade {
        /// The key.
        key: &'static str,
    },
    /// Not a rate.
    #[error("`{key}` is not a rate")]
    NotRate {
        /// The key.
        key: &'static str,
        /// Why.
        source: RateError,
    },
    /// Not a period.
    #[error("`{key}` is not a period")]
    NotPeriod {
        /// The key.
        key: &'static str,
        /// Why.
        source: PeriodError,
    },
    /// Not a share.
    #[error("`{key}` is a number from 0 to 1")]
    NotShare {
        /// The key.
        key: &'static str,
    },
    /// Not a scope type.
    #[error(
        "`{key}`: `{kind}` does not match [a-z][a-z0-9_]*, or is longer than {POLICY_SCOPE_TYPE_CHARS_MAX} characters"
    )]
    NotScopeType {
        /// The key.
        key: &'static str,
        /// What stands there.
        kind: String,
    },
    /// More types than the limit.
    #[error("`{key}` has at most {POLICY_SCOPE_TYPES_MAX} types")]
    TooManyScopeTypes {
        /// The key.
        key: &'static str,
    },
    /// The tier has no say in it.
    #[error("`{key}` cannot be set by the {} policy", tier.as_str())]
    NotAtTier {
        /// The key.
        key: &'static str,
        /// The tier.
        tier: Tier,
    },
    /// More than the deployment gives.
    #[error("`{key}` is more than the deployment's {limit}; only an operator can raise it")]
    Raises {
        /// The key.
        key: &'static str,
        /// What the deployment says.
        limit: String,
    },
}

const REQUIRE_SIGNED: &str = "actor.require_signed";
const AUTO_REGISTER: &str = "scope.auto_register";
const PERSON_PRIVATE: &str = "scope.person_private";
const CASCADE: &str = "forget.cascade.default";
const RETENTION: &str = "audit.retention";
const BODY_BYTES: &str = "audit.store_body_bytes";
const PEPPER_ROTATION: &str = "audit.pepper_rotation_period";
const PEPPER_BUFFER: &str = "audit.pepper_retention_buffer";
const RATE_WRITE: &str = "rate_limit.write";
const RATE_READ: &str = "rate_limit.read";
const RATE_IMPORTER: &str = "rate_limit.importer";
const FLOOR: &str = "confidence_floor";
const SCOPE_TYPES: &str = "allowed_scope_types";

const KEYS: &[&str] = &[
    REQUIRE_SIGNED,
    AUTO_REGISTER,
    PERSON_PRIVATE,
    CASCADE,
    RETENTION,
    BODY_BYTES,
    PEPPER_ROTATION,
    PEPPER_BUFFER,
    RATE_WRITE,
    RATE_READ,
    RATE_IMPORTER,
    FLOOR,
    SCOPE_TYPES,
];

/// What each tier below the deployment may set. Nobody signs for a tenant but the operator, and the
/// set of scope types is closed at the deployment.
const TENANT_KEYS: &[&str] = &[
    AUTO_REGISTER,
    PERSON_PRIVATE,
    CASCADE,
    RETENTION,
    BODY_BYTES,
    PEPPER_ROTATION,
    PEPPER_BUFFER,
    RATE_WRITE,
    RATE_READ,
    RATE_IMPORTER,
    FLOOR,
];
const SCOPE_KEYS: &[&str] = &[AUTO_REGISTER, CASCADE];

impl Defaults {
    /// The names of all settings.
    pub const KEYS: &'static [&'static str] = KEYS;

    /// Sets one by its name. A list is its items with commas or spaces between them.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), DefaultsError> {
        match key {
            REQUIRE_SIGNED => put(REQUIRE_SIGNED, &mut self.require_signed, value, boolean),
            AUTO_REGISTER => put(AUTO_REGISTER, &mut self.auto_register, value, boolean),
            PERSON_PRIVATE => put(PERSON_PRIVATE, &mut self.person_private, value, boolean),
            CASCADE => put(CASCADE, &mut self.cascade_default, value, |key, value| {
                value.parse().map_err(|CascadeError| DefaultsError::NotCascade { key })
            }),
            RETENTION => put(RETENTION, &mut self.audit_retention_us, value, period),
            BODY_BYTES => put(BODY_BYTES, &mut self.store_body_bytes, value, boolean),
            PEPPER_ROTATION => put(PEPPER_ROTATION, &mut self.pepper_rotation_us, value, period),
            PEPPER_BUFFER => put(PEPPER_BUFFER, &mut self.pepper_buffer_us, value, period),
            RATE_WRITE => put(RATE_WRITE, &mut self.rate_write, value, rate),
            RATE_READ => put(RATE_READ, &mut self.rate_read, value, rate),
            RATE_IMPORTER => put(RATE_IMPORTER, &mut self.rate_importer, value, rate),
            FLOOR => put(FLOOR, &mut self.confidence_floor, value, share),
            SCOPE_TYPES => self.set_scope_types(value),
            _ => Err(DefaultsError::Unknown { key: key.to_owned() }),
        }
    }

    fn set_scope_types(&mut self, value: &str) -> Result<(), DefaultsError> {
        let key = SCOPE_TYPES;
        if !self.allowed_scope_types.is_empty() {
            return Err(DefaultsError::Twice { key });
        }
        let mut types = Vec::new();
        for kind in value.split([',', ' ', '\n', '\t']).filter(|kind| !kind.is_empty()) {
            if !is_scope_type(kind) {
                return Err(DefaultsError::NotScopeType { key, kind: kind.to_owned() });
            }
            if types.len() == POLICY_SCOPE_TYPES_MAX {
                return Err(DefaultsError::TooManyScopeTypes { key });
            }
            types.push(kind.to_owned());
        }
        self.allowed_scope_types = types;
        Ok(())
    }

    /// What is set, by name, in the order of [`Defaults::KEYS`]; [`Defaults::set`] reads it back.
    pub fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let Defaults {
            require_signed,
            auto_register,
            person_private,
            cascade_default,
            audit_retention_us,
            store_body_bytes,
            pepper_rotation_us,
            pepper_buffer_us,
            rate_write,
            rate_read,
            rate_importer,
            confidence_floor,
            allowed_scope_types,
        } = self;
        let boolean = |value: &Option<bool>| value.map(|value| value.to_string());
        let period = |value: &Option<i64>| value.map(period::format);
        let rate = |value: &Option<Rate>| value.map(|rate| rate.to_string());
        let types = Some(allowed_scope_types.join(",")).filter(|types| !types.is_empty());
        [
            (REQUIRE_SIGNED, boolean(require_signed)),
            (AUTO_REGISTER, boolean(auto_register)),
            (PERSON_PRIVATE, boolean(person_private)),
            (CASCADE, cascade_default.map(|cascade| cascade.to_string())),
            (RETENTION, period(audit_retention_us)),
            (BODY_BYTES, boolean(store_body_bytes)),
            (PEPPER_ROTATION, period(pepper_rotation_us)),
            (PEPPER_BUFFER, period(pepper_buffer_us)),
            (RATE_WRITE, rate(rate_write)),
            (RATE_READ, rate(rate_read)),
            (RATE_IMPORTER, rate(rate_importer)),
            (FLOOR, confidence_floor.map(|floor| (f64::from(floor) / SHARES).to_string())),
            (SCOPE_TYPES, types),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
    }

    /// Whether these settings may be put at a tier by this caller. Below the deployment some
    /// settings have no place, and a rate above the deployment's needs an operator: otherwise every
    /// tenant would lift its own limit.
    pub fn check_at(
        &self,
        tier: Tier,
        deployment: &Defaults,
        caller: &Caller,
    ) -> Result<(), DefaultsError> {
        let settable: &[&str] = match tier {
            Tier::Deployment => KEYS,
            Tier::Tenant => TENANT_KEYS,
            Tier::Scope => SCOPE_KEYS,
            Tier::Actor => &[],
        };
        for (key, _) in self.to_pairs() {
            if !settable.contains(&key) {
                return Err(DefaultsError::NotAtTier { key, tier });
            }
        }
        if tier == Tier::Deployment || caller.operator {
            return Ok(());
        }
        let rates = [
            (RATE_WRITE, self.rate_write, deployment.rate_write),
            (RATE_READ, self.rate_read, deployment.rate_read),
            (RATE_IMPORTER, self.rate_importer, deployment.importer()),
        ];
        for (key, own, limit) in rates {
            if let (Some(own), Some(limit)) = (own, limit)
                && own.per_hour() > limit.per_hour()
            {
                return Err(DefaultsError::Raises { key, limit: limit.to_string() });
            }
        }
        Ok(())
    }

    /// The rate of importers: what is set, else a multiple of the rate of writes (R426).
    pub(super) fn importer(&self) -> Option<Rate> {
        let factor = std::num::NonZeroU32::new(lamina_types::limits::IMPORTER_RATE_FACTOR)
            .expect("the factor is not zero");
        self.rate_importer.or_else(|| self.rate_write.map(|rate| rate.times(factor)))
    }
}

fn put<T>(
    key: &'static str,
    slot: &mut Option<T>,
    value: &str,
    read: impl FnOnce(&'static str, &str) -> Result<T, DefaultsError>,
) -> Result<(), DefaultsError> {
    if slot.is_some() {
        return Err(DefaultsError::Twice { key });
    }
    *slot = Some(read(key, value)?);
    Ok(())
}

fn boolean(key: &'static str, value: &str) -> Result<bool, DefaultsError> {
    value.parse().map_err(|_| DefaultsError::NotBool { key })
}

fn period(key: &'static str, value: &str) -> Result<i64, DefaultsError> {
    period::parse(value).map_err(|source| DefaultsError::NotPeriod { key, source })
}

fn rate(key: &'static str, value: &str) -> Result<Rate, DefaultsError> {
    value.parse().map_err(|source| DefaultsError::NotRate { key, source })
}

/// What a whole is made of.
const SHARES: f64 = 10_000.0;

fn share(key: &'static str, value: &str) -> Result<u16, DefaultsError> {
    let share: Option<f64> = value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.map(|share| (share * SHARES).round() as u16).ok_or(DefaultsError::NotShare { key })
}

/// The grammar of a type in a scope path (R065).
fn is_scope_type(kind: &str) -> bool {
    kind.len() <= POLICY_SCOPE_TYPE_CHARS_MAX
        && kind.starts_with(|c: char| c.is_ascii_lowercase())
        && kind.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
}

/// The name is neither of the two.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a cascade is derived_only or redact_events")]
pub struct CascadeError;

impl Cascade {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Cascade::DerivedOnly => "derived_only",
            Cascade::RedactEvents => "redact_events",
        }
    }
}

impl fmt::Display for Cascade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Cascade {
    type Err = CascadeError;

    fn from_str(text: &str) -> Result<Self, CascadeError> {
        match text {
            "derived_only" => Ok(Cascade::DerivedOnly),
            "redact_events" => Ok(Cascade::RedactEvents),
            _ => Err(CascadeError),
        }
    }
}

#[cfg(test)]
mod tests;

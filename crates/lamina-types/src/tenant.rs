//! The name of a tenant, as tokens and operators write it.
//!
//! Inside the database a tenant is a number; its name is what `aud` binds a token to, and it ends up
//! in file names, logs and configuration keys. The grammar is therefore that of a scope's id.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::limits::TENANT_CHARS_MAX;

/// A well-formed tenant name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantName(Arc<str>);

/// Why a text is not a tenant name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a tenant is 1 to {TENANT_CHARS_MAX} characters of [A-Za-z0-9_-], the first a letter or digit"
)]
pub struct TenantError;

impl TenantName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TenantName {
    type Err = TenantError;

    fn from_str(text: &str) -> Result<Self, TenantError> {
        let first_ok = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let all_ok = text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
        if !first_ok || !all_ok || text.len() > TENANT_CHARS_MAX {
            return Err(TenantError);
        }
        Ok(TenantName(Arc::from(text)))
    }
}

impl fmt::Display for TenantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TenantName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;

//! `export.destinations`, `import.sources` and `transfer.credentials`: the other servers that memory
//! travels to and from. Without an entry the server calls nobody.

use std::path::PathBuf;

use super::ConfigError;
use super::source::Settings;
use super::value::list;

/// Hosts, and the credentials that are sent to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransferConfig {
    /// Hosts that exports are sent to, as `HOST` or `HOST:PORT`.
    pub destinations: Vec<String>,
    /// Hosts that imports are fetched from.
    pub sources: Vec<String>,
    /// Credentials by name. The file holds the value of an `Authorization` header.
    pub credentials: Vec<Credential>,
    /// The private key with which exports are signed on request, in PEM.
    pub signing_private_key_file: Option<PathBuf>,
    /// Its public key, which must agree.
    pub signing_public_key_file: Option<PathBuf>,
    /// Its algorithm, which must agree.
    pub signing_algorithm: Option<String>,
}

/// A credential that a request names and only the operator knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The name in `credentials_ref`.
    pub name: String,
    /// The file with the value.
    pub file: PathBuf,
}

impl TransferConfig {
    pub(super) fn take(settings: &mut Settings) -> Result<TransferConfig, ConfigError> {
        Ok(TransferConfig {
            destinations: settings.parsed("export.destinations", "none", hosts)?,
            sources: settings.parsed("import.sources", "none", hosts)?,
            credentials: settings.parsed("transfer.credentials", "none", credentials)?,
            signing_private_key_file: settings
                .optional("export.signing_private_key_file")?
                .map(PathBuf::from),
            signing_public_key_file: settings
                .optional("export.signing_public_key_file")?
                .map(PathBuf::from),
            signing_algorithm: settings.parsed("export.signing_algorithm", "none", algorithm)?,
        })
    }
}

fn algorithm(text: &str) -> Result<Option<String>, String> {
    match text.trim() {
        "" | "none" => Ok(None),
        known @ ("ed25519" | "ml-dsa-65") => Ok(Some(known.to_owned())),
        other => Err(format!("`{other}` is no algorithm; expected ed25519 or ml-dsa-65")),
    }
}

fn hosts(text: &str) -> Result<Vec<String>, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]_".contains(c);
    list(text)
        .map(|item| match item.chars().all(is_plain) {
            true => Ok(item.to_ascii_lowercase()),
            false => Err(format!(
                "`{item}` is not a host: expected HOST or HOST:PORT, for example \
                 bucket.s3.eu-west-1.amazonaws.com, without a scheme, a path or `*`"
            )),
        })
        .collect()
}

fn credentials(text: &str) -> Result<Vec<Credential>, String> {
    let one = |item: &str| {
        let (name, file) = item.split_once('=')?;
        let (name, file) = (name.trim(), file.trim());
        let is_good = !name.is_empty() && !file.is_empty();
        is_good.then(|| Credential { name: name.to_owned(), file: PathBuf::from(file) })
    };
    let expected = "expected NAME=FILE, for example archive=/etc/lamina/archive.token; the file holds \
                    the value of an Authorization header";
    list(text).map(|item| one(item).ok_or_else(|| expected.to_owned())).collect()
}

#[cfg(test)]
mod tests;

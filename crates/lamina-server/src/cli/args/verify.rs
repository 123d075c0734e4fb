//! Flags of commands that verify files and directories.

use std::path::PathBuf;

use clap::Args;

/// Whose signature is trusted.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct TrustArgs {
    /// Exports: the public key that must have signed, in hexadecimal digits, or a file that holds it
    #[arg(long, value_name = "HEX|FILE")]
    pub(in crate::cli) expect_public_key: Option<String>,
    /// Exports: a good signature of a key that was not named by --expect-public-key is a failure
    #[arg(long)]
    pub(in crate::cli) require_pin: bool,
}

/// `lamina verify-export` and `lamina verify-export-subset`.
#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyExportArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub(in crate::cli) path: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) trust: TrustArgs,
    /// Print the report as JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyArgs {
    /// What to verify
    #[arg(value_name = "FILE|DIR")]
    pub(in crate::cli) path: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) trust: TrustArgs,
    /// Evidence: judge it as the reference implementation of AEGX does, with its gaps
    #[cfg(feature = "aegx")]
    #[arg(long)]
    pub(in crate::cli) reference: bool,
    /// Certificates: the public key, 64 hex digits or a file that `lamina keys` was written to [default: that of
    /// --data]
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) key: Option<String>,
    /// Certificates: a data directory that must agree; no server may use it
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) data: Option<PathBuf>,
    /// Certificates: the ledger of erasures, if the directory was restored [default: the setting `storage.ledger`]
    #[arg(long, value_name = "FILE", requires = "data")]
    pub(in crate::cli) ledger: Option<PathBuf>,
    /// Certificates: a file of strings, one in each line, that must be nowhere in the directory
    #[arg(long, value_name = "FILE", requires = "data")]
    pub(in crate::cli) absent: Option<PathBuf>,
    /// Certificates: the manifest that it must be of, as `GET /v1/erasures/ID/manifest` gave it
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) manifest: Option<PathBuf>,
    /// Certificates: the path of the scope that it must be about
    #[arg(long, value_name = "SCOPE")]
    pub(in crate::cli) scope: Option<String>,
    /// Certificates: the salt of the scope [default: the one beside the certificate]
    #[arg(long, value_name = "HEX", requires = "scope")]
    pub(in crate::cli) salt: Option<String>,
    /// Print the report as JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

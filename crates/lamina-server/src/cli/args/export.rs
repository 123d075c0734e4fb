//! Flags of the export commands.

use std::path::PathBuf;

use clap::Args;

use super::ServerArgs;

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    /// The scope [default: LAMINA_SCOPE]
    #[arg(long, value_name = "SCOPE")]
    pub(in crate::cli) scope: Option<String>,
    /// Where to: a file, or `-` for standard output; of `pam` a directory or a file that ends in .zip
    #[arg(long, value_name = "FILE|DIR|-")]
    pub(in crate::cli) out: String,
    /// jsonl, mem0, zep, letta or pam [default: jsonl]
    #[arg(long, value_name = "FORMAT")]
    pub(in crate::cli) format: Option<String>,
    /// Of events, facts, beliefs, episodes, concepts, separated by commas; or `all` [default: events]
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    pub(in crate::cli) layers: Vec<String>,
    /// Only knowledge recorded until then, such as 2026-01-31T00:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) as_of: Option<String>,
    /// `descend` adds the scopes below that may be read [default: local]
    #[arg(long, value_name = "VIEW")]
    pub(in crate::cli) view: Option<String>,
    /// pam: only changes since this export, by its export_id, or since this time
    #[arg(long, value_name = "EXPORT_ID|TIME")]
    pub(in crate::cli) base: Option<String>,
    /// pam: `full` adds versions of facts that were replaced [default: current]
    #[arg(long, value_name = "HISTORY")]
    pub(in crate::cli) history: Option<String>,
    /// pam: sign with this key, an Ed25519 key as PKCS#8 PEM; it stays on this machine
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) private_key: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// Write the report of kept, changed and lost records here, as JSON
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// A data directory that no server uses, instead of a server
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "token_file"])]
    pub(in crate::cli) data: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) server: ServerArgs,
}

//! Flags of the export commands.

use std::path::PathBuf;

use clap::Args;

use super::ServerArgs;

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    /// The scope [default: LAMINA_SCOPE]
    #[arg(long, value_name = "SCOPE")]
    pub(in crate::cli) scope: Option<String>,
    /// Where to: a file, or `-` for standard output
    #[arg(long, value_name = "FILE|-")]
    pub(in crate::cli) out: String,
    /// jsonl, mem0, zep or letta [default: jsonl]
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

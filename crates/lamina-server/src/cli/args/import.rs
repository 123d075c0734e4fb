//! Flags of the import command.

use std::path::PathBuf;

use clap::Args;

use super::ServerArgs;

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// The export of another program: a file, a ZIP, or a directory
    #[arg(value_name = "FILE|DIR|ZIP")]
    pub(in crate::cli) path: PathBuf,
    /// The scope that receives the memory, such as user:alice
    #[arg(long, value_name = "SCOPE", conflicts_with = "scope_template")]
    pub(in crate::cli) scope: Option<String>,
    /// The scope of each row, such as org:acme/user:{user_id}
    #[arg(long, value_name = "TEMPLATE")]
    pub(in crate::cli) scope_template: Option<String>,
    /// The format: auto, jsonl, mem0, zep, letta, openai (ChatGPT), claude, gemini, grok, copilot,
    /// mcp_memory, langgraph, basic_memory, hindsight, csv, eventloom, zaxy, pam
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(in crate::cli) format: String,
    /// Write nothing; show what would come in, what would be lost and why
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// strict_temporal (by the time of the source, the default) or batch_throughput (as it is read)
    #[arg(long, value_name = "ORDER")]
    pub(in crate::cli) ordering: Option<String>,
    /// Write the loss report to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// Write rows again whose events were erased
    #[arg(long)]
    pub(in crate::cli) restore_erased: bool,
    /// Leave out rows that are known with another content, instead of writing their new version
    #[arg(long)]
    pub(in crate::cli) skip_on_conflict: bool,
    /// Portable memory stores: read only one whose signature holds
    #[arg(long)]
    pub(in crate::cli) require_signature: bool,
    /// CSV: the column of each field, such as text=body,time=created
    #[arg(long, value_name = "FIELD=COLUMN,...")]
    pub(in crate::cli) map: Option<String>,
    /// How times without a zone are read: refuse, UTC, or an offset such as +02:00
    #[arg(long, value_name = "ZONE")]
    pub(in crate::cli) naive_times: Option<String>,
    /// Eventloom: take a log whose chain does not hold, and label its events from the broken place on
    #[arg(long)]
    pub(in crate::cli) accept_broken: bool,
    /// A data directory that no server uses, instead of a server
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "token_file"])]
    pub(in crate::cli) data: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) server: ServerArgs,
}

//! Flags of the export commands.

use std::path::PathBuf;

use clap::Args;

use super::ServerArgs;

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    #[command(flatten)]
    pub(in crate::cli) source: SessionSourceArgs,
    /// Where to: a file, or `-` for standard output; with `eventloom` a directory, with formats of several files a
    /// directory or a file that ends in .zip
    #[arg(long, value_name = "FILE|DIR|-")]
    pub(in crate::cli) out: String,
    /// jsonl, mem0, zep, letta, pam, zaxy or eventloom [default: zaxy for a session or a selection, else jsonl]
    #[cfg_attr(
        feature = "aegx",
        doc = "",
        doc = "`aegx` writes the chain of the scope as a bundle of evidence."
    )]
    #[arg(long, value_name = "FORMAT")]
    pub(in crate::cli) format: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) selector: SelectorArgs,
    #[command(flatten)]
    pub(in crate::cli) key: SigningArgs,
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
    /// pam: add a vector of the words of each memory
    #[arg(long)]
    pub(in crate::cli) embeddings: bool,
    /// aegx: names of people and scopes become keyed hashes, whose key nobody keeps
    #[cfg(feature = "aegx")]
    #[arg(long)]
    pub(in crate::cli) pseudonymous: bool,
    /// Replace a file that is there
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// Write the report of kept, changed and lost records here, as JSON
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) door: ExportDoorArgs,
}

/// The scope or the session that leaves.
#[derive(Debug, Args)]
pub(in crate::cli) struct SessionSourceArgs {
    /// The scope [default: LAMINA_SCOPE]
    #[arg(long, value_name = "SCOPE", conflicts_with_all = ["session_id", "project"])]
    pub(in crate::cli) scope: Option<String>,
    /// The session of an agent: the scope project:PROJECT/session:ID
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) session_id: Option<String>,
    /// The project of the session [default: the name of the working directory]
    #[arg(long, value_name = "NAME", requires = "session_id")]
    pub(in crate::cli) project: Option<String>,
    /// A directory of Eventloom logs, instead of a server: the log of the session is verified and exported
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scope", "project", "url", "token_file", "data"])]
    pub(in crate::cli) eventloom_path: Option<PathBuf>,
}

/// Where an export is asked for.
#[derive(Debug, Args)]
pub(in crate::cli) struct ExportDoorArgs {
    /// A data directory that no server uses, instead of a server
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "token_file"])]
    pub(in crate::cli) data: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) server: ServerArgs,
}

/// Which events of a session leave.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct SelectorArgs {
    /// zaxy, eventloom: of event, semantic, separated by commas [default: both]
    #[arg(long, value_name = "GRAINS", value_delimiter = ',')]
    pub(in crate::cli) grains: Option<Vec<String>>,
    /// zaxy, eventloom: only these event types, separated by commas; an empty text means all
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    pub(in crate::cli) types: Option<Vec<String>>,
    /// zaxy, eventloom: only events after this number
    #[arg(long, value_name = "NUMBER")]
    pub(in crate::cli) since: Option<u64>,
    /// zaxy, eventloom: only events up to this number
    #[arg(long, value_name = "NUMBER")]
    pub(in crate::cli) max_seq: Option<u64>,
    /// zaxy, eventloom: only events of this time or later
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) since_time: Option<String>,
    /// zaxy, eventloom: only events of this time or earlier
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) until_time: Option<String>,
    /// zaxy, eventloom: only the events that match these words best
    #[arg(long, value_name = "WORDS")]
    pub(in crate::cli) query: Option<String>,
    /// zaxy, eventloom: how many of them, 1 to 100 [default: 50]
    #[arg(long, value_name = "NUMBER", requires = "query")]
    pub(in crate::cli) query_limit: Option<u64>,
    /// zaxy, eventloom: not the events of these tiers, separated by commas
    #[arg(long, value_name = "TIERS", value_delimiter = ',')]
    pub(in crate::cli) exclude_sensitivities: Option<Vec<String>>,
    /// zaxy, eventloom: only the last so many events; 0 means all
    #[arg(long, value_name = "NUMBER")]
    pub(in crate::cli) limit: Option<u64>,
}

/// The key that signs.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct SigningArgs {
    /// zaxy, pam: sign with this key (PKCS#8 PEM, readable by its owner only); it stays on this machine
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) private_key: Option<PathBuf>,
    /// zaxy: its public key, which must agree [default: derived from the private key]
    #[arg(long, value_name = "FILE", requires = "private_key")]
    pub(in crate::cli) public_key: Option<PathBuf>,
    /// zaxy: its algorithm, ed25519 or ml-dsa-65, which must agree [default: that of the private key]
    #[arg(long, value_name = "NAME", requires = "private_key")]
    pub(in crate::cli) algorithm: Option<String>,
}

/// `lamina export-keygen`.
#[derive(Debug, Args)]
pub(in crate::cli) struct KeygenArgs {
    /// The private key (PKCS#8 PEM), readable by its owner only
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out_private: PathBuf,
    /// The public key, in hexadecimal digits
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out_public: PathBuf,
    /// ed25519 or ml-dsa-65
    #[arg(long, value_name = "NAME", default_value = "ed25519")]
    pub(in crate::cli) algorithm: String,
    /// Replace files that are there
    #[arg(long)]
    pub(in crate::cli) force: bool,
}

/// `lamina export-disclose`.
#[derive(Debug, Args)]
pub(in crate::cli) struct DiscloseArgs {
    /// The signed bundle
    #[arg(value_name = "BUNDLE")]
    pub(in crate::cli) bundle: PathBuf,
    /// Where to: a file, or `-` for standard output
    #[arg(long, value_name = "FILE|-")]
    pub(in crate::cli) out: String,
    /// Of event, semantic, separated by commas [default: both]
    #[arg(long, value_name = "GRAINS", value_delimiter = ',')]
    pub(in crate::cli) grains: Option<Vec<String>>,
    /// Only entries of these kinds, separated by commas: event types, entity:TYPE, edge:RELATION
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub(in crate::cli) kinds: Option<Vec<String>>,
    /// Only entries after this number
    #[arg(long, value_name = "NUMBER")]
    pub(in crate::cli) since: Option<u64>,
    /// Only entries up to this number
    #[arg(long, value_name = "NUMBER")]
    pub(in crate::cli) max_seq: Option<u64>,
    /// Only entries of this time or later
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) since_time: Option<String>,
    /// Only entries of this time or earlier
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) until_time: Option<String>,
    /// Replace a file that is there
    #[arg(long)]
    pub(in crate::cli) force: bool,
}

/// `lamina export-push`.
#[derive(Debug, Args)]
pub(in crate::cli) struct PushArgs {
    /// file or webhook
    #[arg(long, value_name = "SINK")]
    pub(in crate::cli) sink: String,
    /// The path of the file, or the https:// URL of the webhook
    #[arg(long, value_name = "PATH|URL")]
    pub(in crate::cli) dest: String,
    /// webhook: a file with the bearer token, readable by its owner only
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) auth_token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) source: SessionSourceArgs,
    #[command(flatten)]
    pub(in crate::cli) selector: SelectorArgs,
    #[command(flatten)]
    pub(in crate::cli) key: SigningArgs,
    #[command(flatten)]
    pub(in crate::cli) door: ExportDoorArgs,
}

//! The command line as a value. Scripts depend on these names: they may be added to, not changed.

mod export;
mod import;
mod verify;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::mcp::McpArgs;
use crate::config::{Flags, money};

pub(super) use export::{
    DiscloseArgs, ExportArgs, ExportDoorArgs, KeygenArgs, PushArgs, SelectorArgs,
    SessionSourceArgs, SigningArgs,
};
pub(super) use import::ImportArgs;
pub(super) use verify::{TrustArgs, VerifyArgs, VerifyExportArgs};

/// A memory database for AI agents.
#[derive(Debug, Parser)]
#[command(
    name = "lamina",
    version,
    about = "A memory database for AI agents",
    long_about = "Lamina is a memory database for AI agents. It keeps what happened in a sealed, \
append-only log, and serves it over HTTP.\n\nTo try it: `lamina serve`, then follow the line it prints.",
    after_help = EXIT_CODES,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0   everything is in order
  2   stored bytes are damaged, or something does not verify
  3   the data has a format that this version does not read
  4   something cannot be read or used: a directory in use, a file, a port
  64  the command line or the configuration is wrong";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start the server
    #[command(
        long_about = "Start the server.\n\nWithout flags it listens on 127.0.0.1:3141 with the \
preset `dev_local`: no tokens, reachable from this machine only. The data directory is created if it \
is not there. The last line it prints to standard output is `listening on http://ADDRESS:PORT`; from \
then on it answers. Ctrl-C or SIGTERM lets requests finish and loses nothing; neither does `kill -9`."
    )]
    Serve(SettingArgs),
    /// Verify a data directory: every record, seal, checkpoint and view
    #[command(long_about = "Verify a data directory: every record, section, seal, checkpoint and \
view.\n\nReads everything, changes nothing. The directory must not be in use. Exit code 0 means that \
nothing acknowledged is damaged, 2 that something is; the report says which file, where, and what does \
not hold. A half-written end of the log is not damage: the next start cuts it.\n\nWith --absent it says \
instead whether strings are nowhere in the directory: in no file, byte by byte and with what is compressed in \
uploads, in no row of the views, in no document of the search index. Each is looked for as it is, in \
either case, and as JSON, UTF-16, base64, hex and percent-encoded. The report names lines of the file, never \
what they say. Exit code 0 means that none is there and everything could be looked at, 2 that it is not so.")]
    Check(CheckArgs),
    /// Mend what can be mended without losing an acknowledged write, and say what was done
    #[command(
        long_about = "Mend what can be mended without losing an acknowledged write, and say \
what was done.\n\nCuts a half-written end of the log (the cut bytes are kept in `quarantine/`) \
and finishes interrupted erasures; a normal start does the same. Damage in the middle of the log is reported and \
left as it is: no program can know what stood there. A log that ends before writes that were acknowledged is \
refused, too, unless --accept-loss says that they are lost for good. The directory must not be in use."
    )]
    Repair(RepairArgs),
    /// Write everything of a damaged data directory that verifies into a new one
    #[command(
        long_about = "Write everything of a damaged data directory that verifies into a new one.\n\nThe damaged directory \
is only read, and need not open. A flipped bit is set right where checksum and seal prove it; a section that does not \
verify is left blank, and the rest of its entry stays; where entries are gone the new log ends, and events behind \
the gap are written as JSONL files that `lamina import` takes. `salvage/report.json` in the new directory lists what \
did not verify. Exit code 0: nothing was lost; 2: something was, and the report says what."
    )]
    Salvage(SalvageArgs),
    /// Drop every view and derive it again from the log
    #[command(long_about = "Drop every view and derive it again from the log.\n\nThe log is the \
database; views are disposable. Use it after `lamina check` has found a damaged view. The directory \
must not be in use.")]
    Rebuild(RebuildArgs),
    /// Copy a data directory, also while a server uses it
    #[command(
        long_about = "Copy a data directory, also while a server uses it.\n\nThe copy has what cannot \
be made again: the log, the audit log, blobs and keys. Given the same place again, it copies only what \
changed since, and takes away what is not there any more: what was erased leaves the backup with the \
next run. The copy is read and verified before the command ends. It holds the keys of the directory: \
keep it where only its operators can read it. `lamina restore` puts it back."
    )]
    Backup(BackupArgs),
    /// Put a backup in place of a data directory that is empty or not there
    #[command(
        long_about = "Put a backup in place of a data directory that is empty or not there.\n\nEverything \
that was erased, suppressed or revoked after the backup was made is taken back again before the \
directory can be served: the ledger says what. A server writes one to the path set as `storage.ledger`, \
which is best on another disk. Views and the search index are made anew."
    )]
    Restore(RestoreArgs),
    /// Verify a file or a directory: an export, a log, or a certificate of an erasure
    #[command(
        long_about = "Verify a file or a directory: an export, a log, or a certificate of an erasure.\n\nThe format is \
recognized. No server is needed.\n\nBundles of zaxy.portable.v1 and their disclosed subsets: the hash of \
every entry, the Merkle root and the signature. Name the key that you trust with --expect-public-key; without it a good \
signature is reported as not pinned. Eventloom logs, one file or a directory: numbers, hashes and links.\n\nA \
certificate of an erasure, or the answer of `GET /v1/erasures/ID` that has it: with --key it is said whether it is \
authentic. With --data it is said whether the directory agrees: \
the log is the one that was signed for and verifies, the entries that erased are there, every section that they \
name is zero, the search index has nothing of it. --absent looks for strings as well.\n\nExit code 0 means that all \
of it holds, 2 that something does not, 3 that it has a form that this version does not read, 4 that it cannot be read."
    )]
    Verify(VerifyArgs),
    /// Verify a signed export bundle
    VerifyExport(VerifyExportArgs),
    /// Verify a disclosed subset of a signed export bundle
    VerifyExportSubset(VerifyExportArgs),
    /// Print the public key that checkpoints and certificates are signed with
    Keys(KeysArgs),
    /// Read the events of a scope again with this version's extractor, and show what changes
    #[command(
        long_about = "Read the events of a scope again with this version's extractor, and show what \
changes.\n\nWhat was derived stays what it is when the rules or a vocabulary change: answers are in the \
log. This compares the answer of each event with the one of today and lists the facts that are added, \
changed and lost. With --apply the answers that differ are appended, and take the place of the earlier \
ones from now on; what was known before stays known as of then. --undo takes a run back, by appending \
the earlier answers once more. A run that was cut short is carried on by giving the same command \
again. The directory must not be in use."
    )]
    Rederive(RederiveArgs),
    /// Show a stored policy; with --reset, take it back
    #[command(
        long_about = "Show a stored policy; with --reset, take it back.\n\nPolicies are set over HTTP. One \
that denies the right to change it is refused there; this is the way out where one was stored by an \
earlier version, or denies an actor who became an operator since. Without --scope, --actor or --deployment \
it is the policy of the tenant. A deployment policy that is taken back leaves the preset or the policy file \
in force. The directory must not be in use."
    )]
    Policy(PolicyArgs),
    /// What a language model would cost
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Measure how well recall finds what answers a question
    #[command(
        long_about = "Measure how well recall finds what answers a question.\n\nEvery conversation of \
the data sets is written into a scope of its own and asked over HTTP, with the settings a client gets \
that sets nothing: of this program, started on a free port with an empty directory, or of the server \
named by --url. Prints shares of the evidence found among the first 5, 10, 20 and 50 by category, how \
often what was replaced stands below what replaced it, how often nothing is said where there is nothing, \
tokens and times. No data set comes with the program; docs/QUALITY.md says which layouts are read, \
and how to write one of your own."
    )]
    Eval(EvalArgs),
    /// Bring memory from another program: a file, a ZIP or a directory
    #[command(
        long_about = "Bring memory from another program: exports of ChatGPT, Claude, Gemini, Grok and Copilot, \
mem0, Zep and Graphiti, Letta agent files, the MCP memory server, LangGraph stores, basic-memory notes, \
Hindsight banks, CSV, and JSONL of envelopes or of Lamina itself.\n\nFor example:\n  lamina import \
chatgpt-export.zip --scope user:alice --dry-run\n  lamina import chatgpt-export.zip --scope user:alice\n\nThe \
first shows what would come in, what would be lost and why; the second does exactly that. The same file \
again writes nothing: rows are known by their ids. An import goes on after a restart of the server.\n\nIt speaks \
to a server like `lamina recall`; with --data it opens a directory that no server uses. Lines of an export of \
Lamina name their scopes, so that --scope can be left out.\n\nExit code 0: every row was taken, was known, or was \
left out on purpose. 2: some rows were refused; the others are in. 4: nothing could be imported."
    )]
    Import(ImportArgs),
    /// Ask a running server what it knows about a question
    Recall(AskArgs),
    /// Ask a running server for an answer, with its sources
    Answer(AskArgs),
    /// Why a question finds what it finds; of a belief (`belief_...`), what it stands on
    Why(WhyArgs),
    /// Give agents this memory: an MCP server on standard input and output
    #[command(
        long_about = "Give agents this memory: an MCP server on standard input and output.\n\nPut it into the \
configuration of an agent as the command `lamina mcp`; docs/MCP.md has the lines for each. It finds the server of \
the data directory, or starts one that ends by itself after 15 minutes without work, so that many agents share one \
memory. With --url it speaks to a server elsewhere, with --embedded it opens the directory itself. It ends with its client."
    )]
    Mcp(McpArgs),
    /// Whether a running server believes its clock, and what it does not delete until somebody confirms it
    #[command(
        long_about = "Whether a running server believes its clock, and what it does not delete until \
somebody confirms it.\n\nA server that was off for more than 45 days, or whose clock is behind its log, \
deletes nothing because of its age until an operator says that the clock is right (--confirm), or the \
system reports it as synchronized. An automatic sweep that would take too much of a scope or a tenant \
waits too; --confirm --sweep ID lets it run. Only operators may ask. Exit code 0 means that the server \
answered, 4 that it did not or refused."
    )]
    Clock(ClockArgs),
    /// Export a scope to a file, or to standard output
    #[command(long_about = "Export a scope to a file, or to standard output.\n\n\
lamina export --scope user:alice --out alice.jsonl\n\
lamina export --scope user:alice --format mem0 --layers events,facts --out alice.json\n\
lamina export --scope org:acme --view descend --layers all --out - | gzip > acme.jsonl.gz\n\
lamina export --session-id agent-1 --types decision.made --private-key k.pem --out bundle.json\n\
lamina export --scope user:alice --format eventloom --out .eventloom\n\n\
Asks a running server like `lamina recall`. The bytes are \
written while they arrive; the file gets its name when it is whole. `jsonl` loses nothing but the bytes of blobs, and \
`lamina import` reads it; what another format cannot hold is listed at the end and in --report. `zaxy` is a bundle \
of the memory export contract, signed with --private-key, which never leaves this machine; `eventloom` is a chained \
log. --session-id and every flag of a selection mean `zaxy`. Exit code 0 means \
that the export is whole, 2 that nothing was selected to be signed, 4 that it is not whole.")]
    Export(ExportArgs),
    /// Make a key that signs exports
    #[command(
        long_about = "Make a key that signs exports.\n\nlamina export-keygen --out-private k.pem --out-public \
k.pub --algorithm ed25519\n\nThe private key is readable by its owner only. Give the public key to those who verify: \
`lamina verify-export bundle.json --expect-public-key k.pub`. Signing is experimental and was never audited."
    )]
    ExportKeygen(KeygenArgs),
    /// Disclose some entries of a signed bundle, each with the proof that it belongs to it
    ExportDisclose(DiscloseArgs),
    /// Export a session once to a file or a webhook
    #[command(
        long_about = "Export a session once to a file or a webhook.\n\nlamina export-push --sink webhook --dest \
https://example.com/hook --session-id agent-1 --private-key k.pem --auth-token-file token.txt\n\nThe bytes are those \
of `lamina export`. A webhook is tried up to 5 times; a plain http:// URL may only lead to this machine. For regular \
delivery call it from a scheduler."
    )]
    ExportPush(PushArgs),
    /// Print the settings in force and where each came from
    #[command(
        long_about = "Print the settings in force and where each came from.\n\nSettings come \
from `lamina.toml` (the file named by --config or LAMINA_CONFIG, else the one in the data directory), \
then from the environment (LAMINA_DATA, LAMINA_LISTEN, ...), then from flags; later ones win."
    )]
    Config(SettingArgs),
    /// Print the version
    Version,
}

#[derive(Debug, Args)]
pub(super) struct SettingArgs {
    /// The data directory [default: the user's data directory for `lamina`]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where to listen; port 0 takes any free port, unix:PATH is a socket of the owner [default: 127.0.0.1:3141]
    #[arg(long, value_name = "ADDR:PORT|unix:PATH")]
    listen: Option<String>,
    /// End after so long without a connection, as 15m [default: never]
    #[arg(long, value_name = "TIME")]
    idle_exit: Option<String>,
    /// The deployment preset [default: dev_local]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A deployment policy of your own, in YAML, instead of a preset; `lamina config --policy FILE`
    /// checks it without starting
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// The certificate to serve with, in PEM; the ones that sign it follow it
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Its private key, in PEM; the file must be readable by its owner only
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Whose tokens are believed: a file of public keys as `lamina-issuer keys` prints it, the URL of
    /// an OpenID issuer, or ISSUER=URL of a key set (JWKS); several separated by commas
    #[arg(long, value_name = "KEYS.json|URL|ISSUER=URL")]
    trust: Option<String>,
    /// The configuration file [default: lamina.toml in the data directory, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct DataArgs {
    /// The data directory [default: the user's data directory for `lamina`]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct RepairArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// Go on without acknowledged writes that are missing at the end of the log
    #[arg(long)]
    pub(super) accept_loss: bool,
}

#[derive(Debug, Args)]
pub(super) struct RebuildArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// Memory for rows on their way to the views; 0 hands over every chunk at once
    #[arg(long, value_name = "MIB", default_value_t = 128, value_parser = clap::value_parser!(u32).range(0..=4096))]
    pub(super) memory_mib: u32,
}

#[derive(Debug, Args)]
pub(super) struct SalvageArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// The new directory; it must not be there, or be empty
    #[arg(long, value_name = "DIR")]
    pub(super) to: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// A checkpoint kept elsewhere: proves that nothing before it was changed or cut
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,
    /// A file of strings, one in each line, that must be nowhere in the directory
    #[arg(long, value_name = "FILE", conflicts_with = "checkpoint")]
    pub(super) absent: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct KeysArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
}

#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// Where to: a directory that is empty, not there, or an earlier backup of the same data
    #[arg(long, value_name = "DIR")]
    pub(super) to: PathBuf,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// The backup
    #[arg(long, value_name = "DIR")]
    pub(super) from: PathBuf,
    /// The ledger of erasures [default: the setting `storage.ledger`]
    #[arg(long, value_name = "FILE")]
    pub(super) ledger: Option<PathBuf>,
    /// Restore although nobody knows what was erased since
    #[arg(long, conflicts_with = "ledger")]
    pub(super) without_ledger: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct RederiveArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// The tenant
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(super) tenant: String,
    /// The scope; scopes below it are left alone
    #[arg(long, value_name = "SCOPE", required_unless_present_any = ["undo", "runs"])]
    pub(super) scope: Option<String>,
    /// Take back what a run has brought
    #[arg(long, value_name = "RUN", conflicts_with = "scope")]
    pub(super) undo: Option<String>,
    /// List the runs there were
    #[arg(long, conflicts_with_all = ["scope", "undo", "apply", "dry_run"])]
    pub(super) runs: bool,
    /// Append the answers that differ
    #[arg(long)]
    pub(super) apply: bool,
    /// Write nothing, only show what changes; this is the default
    #[arg(long, conflicts_with = "apply")]
    pub(super) dry_run: bool,
    /// Replace answers of a language model too; otherwise they stand
    #[arg(long, conflicts_with = "undo")]
    pub(super) replace_model_answers: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PolicyArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// The tenant
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(super) tenant: String,
    /// The policy of this scope
    #[arg(long, value_name = "SCOPE", conflicts_with_all = ["actor", "deployment"])]
    pub(super) scope: Option<String>,
    /// The policy of this actor
    #[arg(long, value_name = "ACTOR", conflicts_with = "deployment")]
    pub(super) actor: Option<String>,
    /// The policy of the deployment
    #[arg(long)]
    pub(super) deployment: bool,
    /// Take it back
    #[arg(long)]
    pub(super) reset: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum ModelsCommand {
    /// What it would cost to read the events of a scope with a language model; nothing is asked
    #[command(
        long_about = "What it would cost to read the events of a scope with a language model.\n\nNothing \
is asked: the words of the events are counted where they are, and nothing leaves this machine. No model \
needs to be set up; where one is, its settings hold (`models.price_input`, `models.batch_events`, ...), and \
flags win over them. Counted are the events that a model would be shown: messages of people and plain \
texts. `about` takes four bytes for a token and an answer as long as the texts; `at most` is what no call \
can exceed, with each event asked about alone. The directory must not be in use; of a running server \
`GET /v1/cost?scope=SCOPE&estimate=true` tells the same.\n\nFor example:\n  lamina models estimate --scope \
user:alice --price-input 0.15 --price-output 0.60"
    )]
    Estimate(EstimateArgs),
}

#[derive(Debug, Args)]
pub(super) struct EstimateArgs {
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// The tenant
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(super) tenant: String,
    /// The scope; scopes below it are left alone
    #[arg(long, value_name = "SCOPE")]
    pub(super) scope: String,
    /// Price of a million tokens of questions [default: the setting `models.price_input`, or 0]
    #[arg(long, value_name = "MONEY", value_parser = money)]
    pub(super) price_input: Option<u64>,
    /// Price of a million tokens of answers [default: the setting `models.price_output`, or 0]
    #[arg(long, value_name = "MONEY", value_parser = money)]
    pub(super) price_output: Option<u64>,
    /// Events of one call [default: the setting `models.batch_events`, or 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(super) batch_events: Option<u64>,
    /// Print the report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    /// A file in the layout of LoCoMo
    #[arg(long, value_name = "FILE")]
    pub(super) locomo: Option<PathBuf>,
    /// Corrections of its evidence
    #[arg(long, value_name = "FILE", requires = "locomo")]
    pub(super) corrections: Option<PathBuf>,
    /// A directory in the layout of BEAM: one directory for each chat
    #[arg(long, value_name = "DIR")]
    pub(super) beam: Option<PathBuf>,
    /// A file in the layout of LongMemEval
    #[arg(long, value_name = "FILE")]
    pub(super) longmemeval: Option<PathBuf>,
    /// A directory or a file in the layout of MemDaily
    #[arg(long, value_name = "PATH")]
    pub(super) memdaily: Option<PathBuf>,
    /// A directory or a file in the layout of RealMem
    #[arg(long, value_name = "PATH")]
    pub(super) realmem: Option<PathBuf>,
    /// A file of your own, with a JSON object on each line
    #[arg(long, value_name = "FILE")]
    pub(super) own: Option<PathBuf>,
    /// A directory of stories with answers: one file for each
    #[arg(long, value_name = "DIR")]
    pub(super) stories: Option<PathBuf>,
    /// A directory in the layout of FactConsolidation
    #[arg(long, value_name = "DIR")]
    pub(super) factconsolidation: Option<PathBuf>,
    /// A directory in the layout of GateMem
    #[arg(long, value_name = "DIR")]
    pub(super) gatemem: Option<PathBuf>,
    /// Ask the server at this address instead of starting one
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
    /// The token for it
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(super) token_file: Option<PathBuf>,
    /// Write a file with a line for each question into this directory
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Look at the first so many conversations of each set
    #[arg(long, value_name = "N")]
    pub(super) conversations: Option<usize>,
    /// Do not ask questions of memories that cannot know
    #[arg(long)]
    pub(super) no_cross: bool,
    /// Also show each half of a set by itself: its first, third, ... conversations, and the others
    #[arg(long)]
    pub(super) halves: bool,
}

#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question
    #[arg(value_name = "QUESTION", required = true)]
    pub(super) question: Vec<String>,
    /// The scope [default: LAMINA_SCOPE]
    #[arg(long, value_name = "SCOPE")]
    pub(super) scope: Option<String>,
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// How far to look: holistic, granular, raw, descend
    #[arg(long, value_name = "VIEW")]
    pub(super) view: Option<String>,
    /// Events at most
    #[arg(long, value_name = "NUMBER")]
    pub(super) limit: Option<u32>,
    /// With the knowledge of this instant
    #[arg(long, value_name = "TIME")]
    pub(super) as_of: Option<String>,
    /// Only what happened then, in words: `last 30 days`, `in March`
    #[arg(long, value_name = "WORDS")]
    pub(super) when: Option<String>,
}

/// The server that a command asks.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    /// The server [default: LAMINA_URL, else http://127.0.0.1:3141]
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
    /// A file with a token, readable by its owner only [default: the variable LAMINA_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    /// Who asks, where the server takes no tokens [default: LAMINA_ACTOR]
    #[arg(long, value_name = "ACTOR")]
    pub(super) actor: Option<String>,
    /// Print what the server said as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ClockArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Say that the clock of the server is right; with --sweep, let that sweep run
    #[arg(long)]
    pub(super) confirm: bool,
    /// An automatic sweep that waits for confirmation
    #[arg(long, value_name = "ID", requires = "confirm")]
    pub(super) sweep: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    #[command(flatten)]
    pub(super) ask: AskArgs,
}

impl From<SettingArgs> for Flags {
    fn from(args: SettingArgs) -> Flags {
        let SettingArgs {
            data,
            listen,
            idle_exit,
            preset,
            policy,
            trust,
            tls_cert,
            tls_key,
            config,
        } = args;
        Flags { data, listen, idle_exit, preset, policy, trust, tls_cert, tls_key, config }
    }
}

impl From<DataArgs> for Flags {
    fn from(args: DataArgs) -> Flags {
        let DataArgs { data } = args;
        Flags { data, ..Flags::default() }
    }
}

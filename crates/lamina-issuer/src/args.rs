//! The command line as a value. Scripts depend on these names: they may be added to, not changed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Mints tokens for Lamina.
#[derive(Debug, Parser)]
#[command(
    name = "lamina-issuer",
    version,
    about = "Mints the tokens that a Lamina server accepts",
    long_about = "Mints the tokens that a Lamina server accepts.\n\nA server verifies tokens and never \
makes them. This program keeps the secret key and makes them: PASETO v4.public, each for one actor and \
one tenant, valid for a limited time. Whoever already runs an identity provider with a JWKS does not \
need it.\n\nFrom nothing to a token:\n\n  lamina-issuer init --dir issuer\n  lamina-issuer mint --dir \
issuer --sub user:alice --tenant acme\n\nAnd what the server has to know:\n\n  lamina-issuer keys --dir \
issuer > keys.json\n  lamina serve --preset on_prem_enterprise --trust keys.json",
    after_help = EXIT_CODES,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0   everything is in order
  2   what is stored is damaged
  3   the directory was made by a later version
  4   something cannot be read, written or used
  64  the command line is wrong, or names something that is not there";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a new issuer: a directory with a secret key
    #[command(
        long_about = "Make a new issuer: a directory with a secret key.\n\nThe directory is made if it \
is not there, and is for its owner only. Whoever can read it can make tokens for everybody: keep it off \
the machines that run servers, and back it up."
    )]
    Init(InitArgs),
    /// Make a token and print it, and nothing else
    #[command(
        long_about = "Make a token and print it, and nothing else.\n\nThe token says who its bearer is \
and for which tenant. It gives no rights: what an actor may do is decided by the policies of the server. \
With --cap and --scope a token can do less than its actor may, never more. That it was made is recorded; \
the token itself is not, so keep it.\n\nExamples:\n\n  lamina-issuer mint --dir issuer --sub user:alice \
--tenant acme\n  lamina-issuer mint --dir issuer --sub agent:planner --tenant acme --ttl 900 \\\n      \
--cap scope.write --cap scope.read.local --scope 'scope.write:org:acme/team:ops/*'"
    )]
    Mint(MintArgs),
    /// Print the public keys as JSON: what a server needs to trust this issuer
    #[command(
        long_about = "Print the public keys as JSON: what a server needs to trust this issuer.\n\nThe \
current key comes first, then earlier ones of which tokens are still valid. Nothing in it is secret.\n\n  \
lamina-issuer keys --dir issuer > keys.json\n  lamina serve --trust keys.json"
    )]
    Keys(DirArgs),
    /// Show the tokens that were made
    #[command(
        long_about = "Show the tokens that were made.\n\nThose that are valid, in the order they end; \
with --all also those that have expired or were revoked."
    )]
    List(ListArgs),
    /// Mark a token as revoked, and say how to tell the servers
    #[command(
        long_about = "Mark a token as revoked, and say how to tell the servers.\n\nServers do not ask \
the issuer. The token is refused from the moment a server was told, which is the call that this command \
prints."
    )]
    Revoke(RevokeArgs),
    /// Print the revoked tokens that have not expired, as JSON
    Revoked(DirArgs),
    /// Make a new key; tokens of the old one stay valid until they expire
    #[command(
        long_about = "Make a new key; tokens of the old one stay valid until they expire.\n\nNew tokens \
are made with the new key, and the secret half of the old one is removed. Servers that were given the \
keys as a file need the file again: print it with `keys`. The old public key stays in it as long as a \
token of it is valid."
    )]
    Rotate(DirArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DirArgs {
    /// The directory of the issuer
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) dir: DirArgs,
    /// What tokens name as their issuer, usually a URL [default: a random name]
    #[arg(long, value_name = "URL")]
    pub(crate) iss: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MintArgs {
    #[command(flatten)]
    pub(crate) dir: DirArgs,
    /// Whose token it is: `user:NAME`, `agent:NAME` or `service:NAME`
    #[arg(long, value_name = "ACTOR")]
    pub(crate) sub: String,
    /// The tenant it is for
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: String,
    /// How many seconds it is valid: at most 86400, for a `service:` 2592000
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600,
        value_parser = clap::value_parser!(u32).range(1..=2_592_000))]
    pub(crate) ttl: u32,
    /// Narrow the token to this capability; may be given several times
    #[arg(long = "cap", value_name = "NAME")]
    pub(crate) caps: Vec<String>,
    /// Limit a capability to a part of the scope tree; may be given several times
    #[arg(long = "scope", value_name = "CAP:PREFIX")]
    pub(crate) scopes: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) dir: DirArgs,
    /// Also those that have expired or were revoked
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    #[command(flatten)]
    pub(crate) dir: DirArgs,
    /// The id of the token, as `list` shows it
    #[arg(value_name = "JTI")]
    pub(crate) jti: String,
    /// Why, for the record of issuer and server
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

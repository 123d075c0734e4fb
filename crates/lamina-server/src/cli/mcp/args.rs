//! The flags of `lamina mcp`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct McpArgs {
    /// The data directory [default: the user's data directory for `lamina`]
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(in crate::cli) data: Option<PathBuf>,
    /// A server elsewhere [default: LAMINA_URL, else the server of the data directory]
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) url: Option<String>,
    /// A file with a token, readable by its owner only [default: the variable LAMINA_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) token_file: Option<PathBuf>,
    /// Open the directory in this process; no other may use it then
    #[arg(long, conflicts_with = "url")]
    pub(in crate::cli) embedded: bool,
    /// Which tools are listed; all can be called [default: MCP_TOOL_PROFILE, else slim]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) profile: Option<String>,
    /// The name of the project [default: ZAXY_DOMAIN, else by the git repository of the working directory]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) project: Option<String>,
    /// The session of calls that name none [default: EVENTLOOM_THREAD, else PROJECT-default]
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) session: Option<String>,
    /// Who the person is, where the server takes no tokens [default: LAMINA_ACTOR, else the login]
    #[arg(long, value_name = "ACTOR")]
    pub(in crate::cli) actor: Option<String>,
    /// The directory that holds a log of Eventloom; its parent is the workspace
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) eventloom_path: Option<PathBuf>,
    /// How clients connect: `stdio`, or `sse` to serve `GET /sse` and `POST /messages/`
    #[arg(long, value_name = "NAME", default_value = "stdio")]
    pub(in crate::cli) transport: Transport,
    /// Where `--transport sse` listens
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub(in crate::cli) host: String,
    /// Where `--transport sse` listens
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    pub(in crate::cli) port: u16,
    /// Taken for configurations made for Zaxy; there is no graph database here
    #[arg(long, value_name = "URI", hide = true)]
    pub(in crate::cli) neo4j_uri: Option<String>,
    /// Taken for configurations made for Zaxy; there is no graph database here
    #[arg(long, value_name = "USER", hide = true)]
    pub(in crate::cli) neo4j_user: Option<String>,
    /// Do not become the owner of a project on the first write to it
    #[arg(long)]
    pub(in crate::cli) no_register: bool,
}

/// How clients connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Transport {
    /// Lines on standard input and output.
    Stdio,
    /// A stream and a place for messages, over HTTP.
    Sse,
}

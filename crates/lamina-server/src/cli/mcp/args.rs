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
    /// Do not become the owner of a project on the first write to it
    #[arg(long)]
    pub(in crate::cli) no_register: bool,
}

//! `lamina mcp`: the memory as an MCP server on standard input and output.
//!
//! Lists are answered at once. The first call of a tool finds the server of the data directory, or starts one.

mod args;
mod link;
mod pump;
mod start;
mod workspace;

use std::path::PathBuf;

use anyhow::anyhow;
use lamina_env::RealDisk;

use super::call::given;
use super::exit::{Exit, Failure};
use super::serve;
use crate::config::{Config, Environment, Flags};
use crate::mcp::profile::Profile;
use crate::secret::read_secret_file;
pub(super) use args::McpArgs;
use args::Transport;
use link::{Link, LinkCaller};
use workspace::WorkspaceFinder;

/// Threads that carry messages, and that look at files of the workspace. Each costs memory in every client.
const WORKERS: usize = 2;
const BLOCKING_THREADS_MAX: usize = 4;
/// The variable that names the profile.
const MCP_TOOL_PROFILE: &str = "MCP_TOOL_PROFILE";
/// Bytes of a file with a token.
const TOKEN_BYTES_MAX: u64 = 16 << 10;

/// Speaks with one client until it is gone.
pub(super) fn mcp(args: McpArgs) -> Result<Exit, Failure> {
    if args.transport == Transport::Sse {
        return serve_sse(&args);
    }
    let profile = given(args.profile.as_deref(), MCP_TOOL_PROFILE);
    let profile: Profile =
        profile.map_or(Ok(Profile::Slim), |name| name.parse()).map_err(Failure::usage)?;
    let token = token(&args)?;
    let url = given(args.url.as_deref(), "LAMINA_URL").filter(|_| args.data.is_none());
    let data = match &url {
        Some(_) => None,
        None => Some(data(&args)?),
    };
    let finder = WorkspaceFinder {
        project: args.project.clone(),
        session: args.session.clone(),
        eventloom: args.eventloom_path.as_ref().map(|path| path.display().to_string()),
        register: !args.no_register,
        registry: data.clone(),
    };
    let actor = match &token {
        Some(_) => None,
        None => {
            Some(given(args.actor.as_deref(), "LAMINA_ACTOR").unwrap_or_else(workspace::person))
        }
    };
    let caller = LinkCaller { token, actor, profile };
    let link = match (url, data, args.embedded) {
        (Some(url), _, _) => Link::remote(&url, caller)?,
        (None, Some(data), true) => Link::embedded(data, LinkCaller { token: None, ..caller }),
        (None, Some(data), false) => Link::local(data, caller),
        (None, None, _) => {
            return Err(Failure::usage(anyhow!("neither a directory nor a server is named")));
        }
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(WORKERS).max_blocking_threads(BLOCKING_THREADS_MAX).enable_all();
    let runtime = runtime.build().map_err(Failure::unreadable)?;
    let ended = runtime.block_on(pump::run(profile, finder, link));
    // A thread may still wait for a line that never comes.
    runtime.shutdown_background();
    ended
}

/// Serves the older transport until it is told to end, for configurations that name its address.
fn serve_sse(args: &McpArgs) -> Result<Exit, Failure> {
    let listen = Some(format!("{}:{}", args.host, args.port));
    let flags = Flags { data: args.data.clone(), listen, ..Flags::default() };
    let config = Config::load(&flags, &Environment::of_process(), &RealDisk);
    let mut config = config.map_err(Failure::usage)?;
    config.mcp.sse = true;
    serve::serve(&config)
}

/// The directory that a server would use with the same flags.
fn data(args: &McpArgs) -> Result<PathBuf, Failure> {
    let flags = Flags { data: args.data.clone(), ..Flags::default() };
    let config = Config::load(&flags, &Environment::of_process(), &RealDisk);
    let data = config.map_err(Failure::usage)?.data;
    std::path::absolute(&data).map_err(Failure::unreadable)
}

fn token(args: &McpArgs) -> Result<Option<String>, Failure> {
    let Some(path) = &args.token_file else { return Ok(given(None, "LAMINA_TOKEN")) };
    let bytes = read_secret_file(&RealDisk, path, TOKEN_BYTES_MAX).map_err(Failure::unreadable)?;
    let text = String::from_utf8(bytes.expose().clone());
    let text = text.map_err(|_| Failure::usage(anyhow!("{} holds no token", path.display())))?;
    Ok(Some(text.trim().to_owned()))
}

//! The command line: parse, load the configuration, do one thing, end with a code scripts can rely
//! on.

mod args;
mod exit;
mod opening;
mod endpoint;
mod serve;
mod maintenance;
mod absent;
mod backup;
mod verify;
mod policy;
mod rederive;
mod salvage;
mod estimate;
mod eval;
mod export;
mod ask;
mod call;
mod in_process;
mod disk_bytes;
mod door;
mod import;
mod clock;
mod mcp;
mod show;

use std::ffi::OsString;
use std::io::Write as _;

use clap::Parser as _;
use clap::error::ErrorKind;
use lamina_env::RealDisk;

use crate::config::{Config, Environment, Flags};
use args::{Arguments, Command, ModelsCommand};
pub use exit::Exit;
use exit::Failure;

/// Runs one command and says how it ended.
pub fn run(words: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => return explain(&error),
    };
    match dispatch(arguments.command) {
        Ok(exit) => exit,
        Err(Failure { exit, error, help }) => {
            say(&format!("lamina: {error:#}"));
            if let Some(help) = help {
                say(&format!("        {help}"));
            }
            exit
        }
    }
}

fn dispatch(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Serve(settings) => serve::serve(&load(settings.into())?),
        Command::Check(args) => maintenance::check(args),
        Command::Repair(args) => maintenance::repair(args),
        Command::Salvage(args) => salvage::salvage(args),
        Command::Rebuild(args) => maintenance::rebuild(args),
        Command::Backup(args) => backup::backup(args),
        Command::Restore(args) => backup::restore(args),
        Command::Verify(args) => verify::verify(&args),
        Command::VerifyExport(args) => verify::verify_export(&args),
        Command::VerifyExportSubset(args) => verify::verify_export_subset(&args),
        Command::Keys(args) => verify::keys(args),
        Command::Rederive(args) => rederive::rederive(args),
        Command::Policy(args) => policy::policy(args),
        Command::Models(ModelsCommand::Estimate(args)) => estimate::estimate(args),
        Command::Eval(args) => eval::eval(args),
        Command::Import(args) => import::import(&args),
        Command::Recall(args) => ask::recall(&args),
        Command::Answer(args) => ask::answer(&args),
        Command::Why(args) => ask::why(&args),
        Command::Export(args) => export::export(&args),
        Command::ExportKeygen(args) => export::keygen(&args),
        Command::ExportDisclose(args) => export::disclose(&args),
        Command::ExportPush(args) => export::push(&args),
        Command::Mcp(args) => mcp::mcp(args),
        Command::Clock(args) => clock::clock(&args),
        Command::Config(settings) => show::config(&load(settings.into())?),
        Command::Version => show::version(),
    }
}

fn load(flags: Flags) -> Result<Config, Failure> {
    Config::load(&flags, &Environment::of_process(), &RealDisk).map_err(Failure::usage)
}

/// Help and version are answers; everything else that the parser says is a usage error.
fn explain(error: &clap::Error) -> Exit {
    // A closed pipe must not turn help into a failure.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Fine,
        _ => Exit::Usage,
    }
}

/// One line to standard error; a closed one is nobody's problem.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Text to standard output, all at once.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::unreadable)
}

#[cfg(test)]
mod tests;

//! `lamina import`: sends a file or a directory to a server, or to a directory that no server uses, follows the
//! job, and shows the loss report.

mod follow;
mod pack;
mod table;

use anyhow::anyhow;
use lamina_env::disk::write_atomic;
use lamina_env::{Disk as _, RealDisk};
use lamina_portable::time;
use lamina_types::SessionScope;
use serde_json::Value;

use super::args::ImportArgs;
use super::door::Door;
use super::exit::{Exit, Failure};
use super::export::home_of;
use super::{print, say};
pub(super) use pack::PackedSource;

/// The directory of logs inside a workspace.
const LOG_DIRECTORY: &str = ".eventloom";

/// Runs one import and waits for its end.
pub(super) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    check_target(args)?;
    let source = PackedSource::open(&args.path)?;
    let format = match args.format.as_str() {
        "auto" => source.detect()?,
        named => Some(named.to_owned()),
    };
    let door = Door::open(&args.server, args.data.as_deref())?;
    let done = run(args, &door, source, format);
    door.close();
    done
}

fn run(
    args: &ImportArgs,
    door: &Door,
    source: PackedSource,
    format: Option<String>,
) -> Result<Exit, Failure> {
    let target = upload_target(args, &source, format.as_deref())?;
    let mut accepted = door.upload(&target, source)?;
    let id = text(&accepted, "import_id").to_owned();
    if !follow::is_over(&accepted) {
        say(&format!("{id} runs; `GET /v1/import/{id}` shows it if this command ends"));
    }
    accepted = follow::follow(door, &id, accepted)?;
    show(args, &accepted)
}

/// The path and query of the upload.
fn upload_target(
    args: &ImportArgs,
    source: &PackedSource,
    format: Option<&str>,
) -> Result<String, Failure> {
    let sessions = match (&args.scope, &args.scope_template) {
        (None, None) => session_template(args, format)?,
        _ => None,
    };
    let template = args.scope_template.as_deref().or(sessions.as_deref());
    let modified = source.modified.map(time::print);
    let yes = |flag: bool| flag.then_some("true");
    let pairs = [
        ("format", format),
        ("scope", args.scope.as_deref()),
        ("scope_template", template),
        ("name", Some(source.name.as_str())),
        ("modified", modified.as_deref()),
        ("ordering", args.ordering.as_deref()),
        ("columns", args.map.as_deref()),
        ("naive_times", args.naive_times.as_deref()),
        ("dry_run", yes(args.dry_run)),
        ("restore_erased", yes(args.restore_erased)),
        ("skip_on_conflict", yes(args.skip_on_conflict)),
        ("require_signature", yes(args.require_signature)),
        ("accept_broken", yes(args.accept_broken)),
    ];
    let given = pairs.iter().filter_map(|(name, value)| Some((name, (*value)?)));
    let query: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", encode(value))).collect();
    Ok(format!("/v1/import?{}", query.join("&")))
}

/// Where sessions go if nobody says it: below the project whose directory holds the logs.
fn session_template(args: &ImportArgs, format: Option<&str>) -> Result<Option<String>, Failure> {
    let is_directory = args.path.file_name().is_some_and(|name| name == LOG_DIRECTORY);
    if format != Some("eventloom") && !is_directory {
        return Ok(None);
    }
    let place = args.path.canonicalize().map_err(Failure::unreadable)?;
    let holder = match (is_directory, place.parent()) {
        (true, Some(workspace)) => workspace.to_owned(),
        (_, Some(directory)) if directory.file_name().is_some_and(|name| name == LOG_DIRECTORY) => {
            directory.parent().unwrap_or(directory).to_owned()
        }
        (_, Some(directory)) => directory.to_owned(),
        (_, None) => place,
    };
    let home = home_of(&holder);
    let sample =
        SessionScope { home, session_id: "x".to_owned() }.path().map_err(Failure::usage)?;
    let base = sample.as_str().strip_suffix('x').unwrap_or(sample.as_str());
    Ok(Some(format!("{base}{{session}}")))
}

fn check_target(args: &ImportArgs) -> Result<(), Failure> {
    if RealDisk.exists(&args.path) {
        return Ok(());
    }
    let missing = anyhow!("{} is not there", args.path.display());
    Err(Failure {
        help: Some("name a file or a directory".to_owned()),
        ..Failure::unreadable(missing)
    })
}

/// Shows the report and says how it ended.
fn show(args: &ImportArgs, job: &Value) -> Result<Exit, Failure> {
    let report = job.get("report").cloned().unwrap_or(Value::Null);
    if let Some(path) = &args.report {
        let text = serde_json::to_string_pretty(&report).map_err(Failure::unreadable)?;
        write_atomic(&RealDisk, path, format!("{text}\n").as_bytes())
            .map_err(Failure::unreadable)?;
    }
    if args.server.json {
        let text = serde_json::to_string_pretty(job).map_err(Failure::unreadable)?;
        print(&format!("{text}\n"))?;
    } else {
        print(&table::render(&report))?;
    }
    ended(job)
}

/// 0: every row was taken or left out on purpose. 2: rows were refused. 4: the import failed.
fn ended(job: &Value) -> Result<Exit, Failure> {
    let first_error = || {
        let error = job.pointer("/errors/0").or_else(|| job.get("first_error"));
        let error = error.cloned().unwrap_or(Value::Null);
        format!("{}: {}", text(&error, "error"), text(&error, "detail"))
    };
    match text(job, "status") {
        "completed" if number(job, "failed") > 0 => Ok(Exit::Damage),
        "completed" => Ok(Exit::Fine),
        "failed" => {
            Err(Failure::unreadable(anyhow!("nothing more was imported: {}", first_error())))
        }
        "cancelled" => Err(Failure::unreadable(anyhow!("the import was stopped"))),
        _ => Err(Failure::unreadable(anyhow!("the server ended before the import did"))),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// Percent-encodes everything that a query does not take as it is.
fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~:/".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests;

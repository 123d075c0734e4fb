//! `lamina export` and its companions: fetch a scope from a server, from a directory that no server uses, or
//! from Eventloom logs; sign it, disclose parts of it, push it.

mod bundle;
mod disclose;
mod door;
#[cfg(feature = "aegx")]
mod evidence;
mod file;
mod keys;
mod meter;
mod pam;
mod push;
mod session;

use anyhow::anyhow;
use lamina_env::RealDisk;
use lamina_env::disk::write_atomic;
use serde_json::{Map, Value, json};

use super::args::ExportArgs;
use super::exit::{Exit, Failure};
use super::{print, say};
pub(super) use disclose::disclose;
use door::ExportDoor;
use file::OutputFile;
pub(super) use keys::keygen;
use meter::Meter;
pub(super) use push::push;
pub(super) use session::home_of;

/// Runs one export.
pub(super) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    match format_of(args).as_deref() {
        Some("zaxy") => session::export_bundle(args),
        Some("eventloom") => session::export_log(args),
        #[cfg(feature = "aegx")]
        Some(evidence::FORMAT) => evidence::export(args, &order(args, Some(evidence::FORMAT))?),
        Some(pam::FORMAT) => pam::export(args, &order(args, Some(pam::FORMAT))?),
        format => export_records(args, format),
    }
}

/// The format: the named one, a bundle for a session or a selection, else that of the server.
fn format_of(args: &ExportArgs) -> Option<String> {
    let is_session = args.source.session_id.is_some() || args.source.eventloom_path.is_some();
    let is_bundle =
        is_session || session::is_selection(&args.selector) || args.key.private_key.is_some();
    args.format.clone().or_else(|| is_bundle.then(|| "zaxy".to_owned()))
}

fn export_records(args: &ExportArgs, format: Option<&str>) -> Result<Exit, Failure> {
    if session::is_selection(&args.selector) {
        let error = anyhow!("a selection is for the formats zaxy and eventloom");
        return Err(Failure::usage(error));
    }
    if args.key.private_key.is_some() {
        let help = Some("signed formats take it: --format zaxy or --format pam".to_owned());
        let error = anyhow!("this format has no signature");
        return Err(Failure { help, ..Failure::usage(error) });
    }
    let order = order(args, format)?;
    let output = OutputFile::open(&args.out, args.force)?;
    let door = ExportDoor::open(&args.door.server, args.door.data.as_deref())?;
    let done = run(args, &door, &order, output);
    door.close();
    done
}

fn run(
    args: &ExportArgs,
    door: &ExportDoor,
    order: &Value,
    mut output: OutputFile,
) -> Result<Exit, Failure> {
    let job = door.post("/v1/export", order)?;
    let text = |name: &str| job.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let estimated = job.get("estimated_size_bytes").and_then(Value::as_u64).unwrap_or_default();
    let mut meter = Meter::start(estimated, text("format") == "jsonl");
    let mut take = |bytes: &[u8]| {
        meter.advance(bytes);
        output.write(bytes)
    };
    match job.get("data").and_then(Value::as_str) {
        Some(data) => take(data.as_bytes()).map_err(Failure::unreadable)?,
        None => door.download(&text("data_url"), &mut take)?,
    }
    output.finish().map_err(Failure::unreadable)?;
    let job = door.get(&format!("/v1/export/{}", text("export_id")))?;
    meter.end(&args.out);
    show(args, &job)
}

/// The body of the request.
fn order(args: &ExportArgs, format: Option<&str>) -> Result<Value, Failure> {
    let scope = session::scope_of(&args.source)?;
    let mut body = Map::new();
    body.insert("scope".to_owned(), json!(scope));
    let named = [
        ("format", format),
        ("as_of", args.as_of.as_deref()),
        ("view", args.view.as_deref()),
        ("base", args.base.as_deref()),
        ("history", args.history.as_deref()),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            body.insert(name.to_owned(), json!(value));
        }
    }
    if args.embeddings {
        body.insert("embeddings".to_owned(), json!(true));
    }
    #[cfg(feature = "aegx")]
    if args.pseudonymous {
        body.insert("pseudonymous".to_owned(), json!(true));
    }
    if !args.layers.is_empty() {
        let layers = match args.layers.as_slice() {
            [all] if all == "all" => vec!["events", "facts", "beliefs", "episodes", "concepts"],
            layers => layers.iter().map(String::as_str).collect(),
        };
        body.insert("layers".to_owned(), json!(layers));
    }
    Ok(Value::Object(body))
}

/// Writes the report, and says what the format could not hold.
fn show(args: &ExportArgs, job: &Value) -> Result<Exit, Failure> {
    let report = job.get("report").cloned().unwrap_or(Value::Null);
    if let Some(path) = &args.report {
        let text = serde_json::to_string_pretty(&report).map_err(Failure::unreadable)?;
        let written = write_atomic(&RealDisk, path, format!("{text}\n").as_bytes());
        written.map_err(Failure::unreadable)?;
    }
    if args.door.server.json && args.out != "-" {
        let text = serde_json::to_string_pretty(job).map_err(Failure::unreadable)?;
        print(&format!("{text}\n"))?;
    }
    for (list, word) in [("lost", "lost"), ("changed", "changed"), ("skipped_why", "left out")] {
        for row in report.get(list).and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
            let count = row.get("count").and_then(Value::as_u64).unwrap_or_default();
            let field = text("field");
            let field = if field.is_empty() { "records" } else { field };
            say(&format!("{word}: {field} ({count}): {}", text("why")));
        }
    }
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests;

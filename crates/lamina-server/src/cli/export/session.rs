//! A session as a bundle or a log: fetched as the server gives it, signed on this machine.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use lamina_env::disk::read_file;
use lamina_env::{Env, RealDisk};
use lamina_portable::json::{ReadPolicy, Value as Json, parse};
use lamina_portable::sign::BundleKey;
use lamina_portable::zaxy::{
    BundleError, EventLog, GrainSet, Selector, is_session_name, project, session_name,
    signed_bundle, to_file, unsigned_bundle,
};
use lamina_types::{ScopePath, SessionHome, SessionScope};
use serde_json::{Map, Value, json};

use super::door::ExportDoor;
use super::file::OutputFile;
use super::keys::{say_notice, signing_key};
use super::show;
use crate::cli::args::{ExportArgs, ExportDoorArgs, SelectorArgs, SessionSourceArgs};
use crate::cli::call::given;
use crate::cli::exit::{Exit, Failure};
use crate::cli::{print, say};
use crate::transfer::export::signature_inputs;

/// Bytes of one log that is exported.
const LOG_BYTES_MAX: u64 = 1 << 30;
/// Digits of the Merkle root that are shown.
const ROOT_DIGITS: usize = 16;

/// Whether a flag of the selection was given.
pub(super) fn is_selection(args: &SelectorArgs) -> bool {
    let SelectorArgs {
        grains,
        types,
        since,
        max_seq,
        since_time,
        until_time,
        query,
        query_limit,
        exclude_sensitivities,
        limit,
    } = args;
    let lists = [grains, types, exclude_sensitivities].into_iter().any(Option::is_some);
    let texts = [since_time, until_time, query].into_iter().any(Option::is_some);
    let numbers = [since, max_seq, query_limit, limit].into_iter().any(Option::is_some);
    lists || texts || numbers
}

/// The scope that the flags name.
pub(super) fn scope_of(args: &SessionSourceArgs) -> Result<String, Failure> {
    let Some(session_id) = &args.session_id else {
        return given(args.scope.as_deref(), "LAMINA_SCOPE").ok_or_else(|| Failure {
            help: Some("use --scope or --session-id, or set LAMINA_SCOPE".to_owned()),
            ..Failure::usage(anyhow!("no scope is named"))
        });
    };
    let home = match &args.project {
        Some(project) => SessionHome::Project(project.clone()),
        None => {
            let directory = std::env::current_dir();
            let directory = directory.context("the working directory cannot be read");
            home_of(&directory.map_err(Failure::unreadable)?)
        }
    };
    let scope = SessionScope { home, session_id: session_id.clone() }.path();
    Ok(scope.context("the session has no scope").map_err(Failure::usage)?.to_string())
}

/// The home of sessions of a directory: the project of its name, or the user where it is no project.
pub(in crate::cli) fn home_of(directory: &Path) -> SessionHome {
    let is_home = std::env::var_os("HOME").is_some_and(|home| Path::new(&home) == directory);
    let name = directory.file_name().map(|name| name.to_string_lossy().to_lowercase());
    match name.filter(|_| !is_home) {
        Some(name) => SessionHome::Project(slug(&name)),
        None => {
            let login = given(None, "USER").or_else(|| given(None, "LOGNAME"));
            SessionHome::User(login.unwrap_or_else(|| "local".to_owned()))
        }
    }
}

/// The slug of a directory's name, as agents use it.
fn slug(name: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let mut slug = String::new();
    for c in name.chars() {
        let c = if is_kept(c) { c } else { '-' };
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
    }
    match slug.trim_matches(['-', '.', '_']) {
        "" => "project".to_owned(),
        slug => slug.to_owned(),
    }
}

/// Kinds as the flags give them; an empty text means all.
fn kinds_of(kinds: &Option<Vec<String>>) -> Option<Vec<String>> {
    let kinds: Vec<String> =
        kinds.iter().flatten().filter(|kind| !kind.is_empty()).cloned().collect();
    (!kinds.is_empty()).then_some(kinds)
}

/// The selector in a request.
fn selector_body(args: &SelectorArgs) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    put("grains", args.grains.as_ref().map(|grains| json!(grains)));
    put("kinds", kinds_of(&args.types).map(|kinds| json!(kinds)));
    put("since_seq", args.since.map(|number| json!(number)));
    put("max_seq", args.max_seq.map(|number| json!(number)));
    put("since_time", args.since_time.as_ref().map(|time| json!(time)));
    put("until_time", args.until_time.as_ref().map(|time| json!(time)));
    put("query", args.query.as_ref().map(|query| json!(query)));
    put("query_limit", args.query_limit.map(|number| json!(number)));
    put("exclude_sensitivities", kinds_of(&args.exclude_sensitivities).map(|tiers| json!(tiers)));
    put("limit", args.limit.map(|number| json!(number)));
    Value::Object(body)
}

/// The selector for logs on this machine.
fn selector(args: &SelectorArgs) -> Result<Selector, Failure> {
    let grains = match &args.grains {
        None => GrainSet::BOTH,
        Some(names) => GrainSet::parse(names.iter().map(String::as_str)).map_err(Failure::usage)?,
    };
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let selector = Selector {
        grains,
        kinds: kinds_of(&args.types),
        since_seq: args.since,
        max_seq: args.max_seq,
        since_time: args.since_time.clone(),
        until_time: args.until_time.clone(),
        query: args.query.clone(),
        query_limit: args.query_limit.map_or(Selector::QUERY_LIMIT, size),
        exclude_sensitivities: kinds_of(&args.exclude_sensitivities).unwrap_or_default(),
        limit: args.limit.map(size),
    };
    selector.check().map_err(Failure::usage)?;
    Ok(selector)
}

/// What leaves, and how.
pub(super) struct BundleOrder<'a> {
    pub(super) source: &'a SessionSourceArgs,
    pub(super) selector: &'a SelectorArgs,
    pub(super) door: &'a ExportDoorArgs,
    pub(super) as_of: Option<&'a str>,
    pub(super) key: Option<BundleKey>,
}

/// A bundle that is ready to be written.
pub(super) struct ReadyBundle {
    pub(super) text: String,
    pub(super) entries_count: usize,
    /// Algorithm and first digits of the root, if it is signed.
    pub(super) signature: Option<(String, String)>,
    /// The job of the server, if one made it.
    pub(super) job: Option<Value>,
}

/// Makes a bundle.
pub(super) fn make_bundle(order: BundleOrder<'_>) -> Result<ReadyBundle, Failure> {
    if order.selector.limit == Some(0) {
        say("note: --limit 0 means all events");
    }
    let (unsigned, job) = match &order.source.eventloom_path {
        Some(directory) => (bundle_of_log(directory, &order)?, None),
        None => {
            let (text, job) = fetch(&order, "zaxy")?;
            let bundle = parse(text.as_bytes(), &ReadPolicy::PYTHON);
            let bundle = bundle.context("the server answered with no bundle");
            (bundle.map_err(Failure::unreadable)?, Some(job))
        }
    };
    let entries = unsigned.get("entries").and_then(Json::as_array).unwrap_or_default().to_vec();
    let entries_count = entries.len();
    let session = unsigned.get("session_id").and_then(Json::as_str).unwrap_or_default().to_owned();
    let Some(key) = order.key else {
        let text = to_file(&unsigned).map_err(Failure::unreadable)?;
        return Ok(ReadyBundle { text, entries_count, signature: None, job });
    };
    say_notice();
    let inputs = signature_inputs(&Env::real());
    let signed = signed_bundle(&session, entries, &key, inputs).map_err(|error| match error {
        BundleError::Empty => Failure::new(Exit::Damage, error),
        other => Failure::unreadable(other),
    })?;
    let root = signed.get("merkle_root").and_then(Json::as_str).unwrap_or_default();
    let root: String = root.chars().take(ROOT_DIGITS).collect();
    let signature = Some((key.algorithm().name().to_owned(), root));
    let text = to_file(&signed).map_err(Failure::unreadable)?;
    Ok(ReadyBundle { text, entries_count, signature, job })
}

/// The unsigned bundle of a log on this machine, which is verified first.
fn bundle_of_log(directory: &Path, order: &BundleOrder<'_>) -> Result<Json, Failure> {
    let session = order.source.session_id.clone().unwrap_or_else(|| "default".to_owned());
    if !is_session_name(&session) {
        return Err(Failure::usage(anyhow!("`{session}` is no session: it names no file")));
    }
    let path = directory.join(format!("{session}.jsonl"));
    let shown = path.display();
    let bytes = read_file(&RealDisk, &path, LOG_BYTES_MAX);
    let bytes = bytes.with_context(|| format!("{shown} cannot be read"));
    let log = EventLog::read(&bytes.map_err(Failure::unreadable)?);
    let log = log.with_context(|| format!("{shown} is no log"));
    let log = log.map_err(|error| Failure::new(Exit::Schema, error))?;
    log.verify()
        .with_context(|| format!("{shown} does not verify, so it is not exported"))
        .map_err(|error| Failure::new(Exit::Damage, error))?;
    let projection = project(&log.events, &selector(order.selector)?);
    let projection = projection.map_err(|error| Failure::new(Exit::Schema, error))?;
    for warning in &projection.warnings {
        say(&format!("warning: {warning}"));
    }
    Ok(unsigned_bundle(&session, projection.entries))
}

/// Asks for a session, and gives its bytes and its job.
fn fetch(order: &BundleOrder<'_>, format: &str) -> Result<(String, Value), Failure> {
    let scope = scope_of(order.source)?;
    let mut body = json!({"scope": scope, "format": format});
    if let Some(members) = body.as_object_mut() {
        if let Some(session) = order.source.session_id.as_deref().filter(|id| is_session_name(id)) {
            members.insert("session_id".to_owned(), json!(session));
        }
        if is_selection(order.selector) {
            members.insert("selector".to_owned(), selector_body(order.selector));
        }
        if let Some(as_of) = order.as_of {
            members.insert("as_of".to_owned(), json!(as_of));
        }
    }
    let door = ExportDoor::open(&order.door.server, order.door.data.as_deref())?;
    let fetched = fetch_bytes(&door, &body);
    door.close();
    fetched
}

fn fetch_bytes(door: &ExportDoor<'_>, body: &Value) -> Result<(String, Value), Failure> {
    let job = door.post("/v1/export", body)?;
    let text = |name: &str| job.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let data = match job.get("data").and_then(Value::as_str) {
        Some(data) => data.to_owned(),
        None => {
            let mut bytes = Vec::new();
            door.download(&text("data_url"), &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
            let data = String::from_utf8(bytes).context("the server answered with no text");
            data.map_err(Failure::unreadable)?
        }
    };
    let job = door.get(&format!("/v1/export/{}", text("export_id")))?;
    Ok((data, job))
}

fn refuse_layers(args: &ExportArgs) -> Result<(), Failure> {
    let has_layers = !args.layers.is_empty();
    match has_layers || args.view.as_deref().is_some_and(|view| view != "local") {
        true => {
            let error =
                anyhow!("--layers and --view are for other formats: a session leaves as a whole");
            Err(Failure::usage(error))
        }
        false => Ok(()),
    }
}

/// Writes a bundle.
pub(super) fn export_bundle(args: &ExportArgs) -> Result<Exit, Failure> {
    refuse_layers(args)?;
    let key = signing_key(&args.key)?;
    let mut output = OutputFile::open(&args.out, args.force)?;
    let bundle = make_bundle(BundleOrder {
        source: &args.source,
        selector: &args.selector,
        door: &args.door,
        as_of: args.as_of.as_deref(),
        key,
    })?;
    output.write(bundle.text.as_bytes()).map_err(Failure::unreadable)?;
    output.finish().map_err(Failure::unreadable)?;
    let how = match &bundle.signature {
        None => "unsigned".to_owned(),
        Some((algorithm, root)) => format!("alg={algorithm}, root={root}"),
    };
    let line = format!("exported {} entries -> {} ({how})", bundle.entries_count, args.out);
    match args.out == "-" || args.door.server.json {
        true => say(&line),
        false => print(&format!("{line}\n"))?,
    }
    if bundle.entries_count == 0 {
        say("note: the selection is empty");
    }
    match &bundle.job {
        Some(job) => show(args, job),
        None => Ok(Exit::Fine),
    }
}

/// Writes a log into a directory.
pub(super) fn export_log(args: &ExportArgs) -> Result<Exit, Failure> {
    refuse_layers(args)?;
    if args.key.private_key.is_some() {
        let error = anyhow!("a log is chained, not signed: --private-key is for the format zaxy");
        return Err(Failure::usage(error));
    }
    if args.source.eventloom_path.is_some() {
        return Err(Failure::usage(anyhow!(
            "--eventloom-path is a log already; use --format zaxy"
        )));
    }
    if args.force {
        return Err(Failure::usage(anyhow!("a log is never replaced; name another directory")));
    }
    let scope = scope_of(&args.source)?;
    let name = match (&args.source.session_id, scope.parse::<ScopePath>()) {
        (Some(session), _) if is_session_name(session) => session.clone(),
        (_, Ok(path)) => match SessionScope::from_path(&path) {
            Some(session) if is_session_name(&session.session_id) => session.session_id,
            _ => session_name(&scope),
        },
        _ => session_name(&scope),
    };
    let mut output = match args.out.as_str() {
        "-" => OutputFile::Standard,
        directory => {
            let path = PathBuf::from(directory).join(format!("{name}.jsonl"));
            let made = lamina_env::Disk::create_dir_all(&RealDisk, Path::new(directory));
            let made = made.with_context(|| format!("{directory} cannot be made"));
            made.map_err(Failure::unreadable)?;
            OutputFile::open(&path.to_string_lossy(), false)?
        }
    };
    let (text, job) = fetch(
        &BundleOrder {
            source: &args.source,
            selector: &args.selector,
            door: &args.door,
            as_of: args.as_of.as_deref(),
            key: None,
        },
        "eventloom",
    )?;
    output.write(text.as_bytes()).map_err(Failure::unreadable)?;
    output.finish().map_err(Failure::unreadable)?;
    let line = format!("exported {} events -> {}/{name}.jsonl", text.lines().count(), args.out);
    match args.out.as_str() {
        "-" => say(&line),
        _ => print(&format!("{line}\n"))?,
    }
    show(args, &job)
}

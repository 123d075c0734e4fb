//! The directory that faults are done to, and a look at what a server shows of it.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};
use serde_json::{Value, json};

use crate::client::{Client, Request};
use crate::process::{Launch, Server};

const SCOPE: &str = "org:faults/ws:all";
/// Events of a scene; long ones, so that the log has several segments.
const EVENTS: usize = 24;
const FILLER: usize = 90_000;
const DEED: &str = "a scanned deed of the house";

/// Two directories of the same kind: one that faults are done to, one to exchange files with.
pub(super) struct Scene {
    data: PathBuf,
    other: PathBuf,
    events: Vec<(String, String)>,
    blob: String,
}

/// What a server shows.
#[derive(Debug)]
pub(super) struct Sight {
    pub(super) health: String,
    /// Codes of reads that did not give what was written.
    pub(super) errors: Vec<String>,
    /// A read that gave something else.
    pub(super) wrong: Option<String>,
}

impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut codes = self.errors.clone();
        codes.sort();
        codes.dedup();
        match self.errors.len() {
            0 => write!(f, "starts, shows everything, {}", self.health),
            count => write!(f, "starts, {count} reads answer {codes:?}, {}", self.health),
        }
    }
}

pub(super) fn launch(binary: &Path, data: &Path) -> Launch {
    Launch::new(binary, data).environment("LAMINA_STORAGE_SEGMENT_BYTES", "1048576")
}

/// All files below a directory.
pub(super) fn files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !RealDisk.exists(dir) {
        return Ok(found);
    }
    for name in RealDisk.list(dir)? {
        let path = dir.join(name);
        match path.is_dir() {
            true => found.extend(files(&path)?),
            false => found.push(path),
        }
    }
    Ok(found)
}

impl Scene {
    pub(super) fn make(binary: &Path, folder: &Path) -> anyhow::Result<Scene> {
        let (data, other) = (folder.join("data"), folder.join("other"));
        let (events, blob) = filled(binary, &data)?;
        filled(binary, &other)?;
        Ok(Scene { data, other, events, blob })
    }

    pub(super) fn other(&self) -> &Path {
        &self.other
    }

    /// A copy of the directory.
    pub(super) fn copy(&self, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
        let case = folder.join("case");
        for file in files(&self.data)? {
            let name = file.strip_prefix(&self.data)?;
            let to = case.join(name);
            RealDisk.create_dir_all(to.parent().context("a file is in a directory")?)?;
            write_atomic(&RealDisk, &to, &read_file(&RealDisk, &file, 1 << 30)?)?;
            let mode = file.metadata()?.permissions();
            std::fs::set_permissions(&to, mode)?;
        }
        Ok(RealDisk.exists(&case).then_some(case))
    }

    /// Reads everything.
    pub(super) fn look(&self, server: &Server) -> anyhow::Result<Sight> {
        let mut client = server.client();
        let mut sight = Sight { health: String::new(), errors: Vec::new(), wrong: None };
        for (id, words) in &self.events {
            let answer = client.send(&Request::get(&format!("/v1/events/{id}")))?;
            let shown = answer.json().ok();
            let text = shown.as_ref().and_then(|shown| shown.pointer("/content/text"));
            match (answer.status, text.and_then(Value::as_str)) {
                (200, Some(text)) if text == words => {}
                (200, text) => sight.wrong = Some(format!("other words: {:.40?}", text)),
                (status, _) => sight.note(id, status, shown.as_ref()),
            }
        }
        let answer = client.send(&Request::get(&format!("/v1/blobs/{}", self.blob)))?;
        match answer.status {
            200 if answer.body == DEED.as_bytes() => {}
            200 => sight.wrong = Some("another blob".to_owned()),
            status => sight.note("the blob", status, answer.json().ok().as_ref()),
        }
        for (path, body) in [
            (format!("/v1/events?scope={SCOPE}&limit=50"), None),
            (format!("/v1/facts?scope={SCOPE}&limit=50"), None),
            (
                "/v1/recall".to_owned(),
                Some(json!({"scope": SCOPE, "query": "Who keeps the deed?"})),
            ),
        ] {
            let request = match &body {
                Some(body) => Request::post(&path, body),
                None => Request::get(&path),
            };
            let answer = client.send(&request)?;
            if answer.status != 200 {
                sight.wrong = Some(format!("{} of {path}: {}", answer.status, answer.text()));
            }
        }
        let written = write(&mut client, "it goes on")?;
        if written.0 >= 500 && written.0 != 503 {
            sight.wrong = Some(format!("{} to a write", written.0));
        }
        let health = client.send(&Request::get("/v1/health"))?.json()?;
        sight.health = health.get("status").and_then(Value::as_str).unwrap_or("?").to_owned();
        Ok(sight)
    }
}

impl Sight {
    fn note(&mut self, what: &str, status: u16, shown: Option<&Value>) {
        let code = shown.and_then(|shown| shown.get("error_code")).and_then(Value::as_str);
        let code = code.unwrap_or("no code").to_owned();
        if status == 500 {
            self.wrong = Some(format!("500 {code} for {what}"));
        }
        self.errors.push(code);
    }
}

fn write(client: &mut Client, text: &str) -> anyhow::Result<(u16, Value)> {
    let body = json!({"scope": SCOPE, "content": text});
    let answer = client.send(&Request::post("/v1/experience?wait=indexed", &body))?;
    let status = answer.status;
    Ok((status, answer.json().unwrap_or_default()))
}

/// Fills a directory and stops in order: its events by their words, and a blob.
fn filled(binary: &Path, data: &Path) -> anyhow::Result<(Vec<(String, String)>, String)> {
    let server = launch(binary, data).start()?;
    let mut client = server.client();
    let mut events = Vec::new();
    for number in 0..EVENTS {
        let words = format!("Maria keeps deed {number}. {}", "x".repeat(FILLER));
        let (status, answer) = write(&mut client, &words)?;
        let id = answer.get("event_id").and_then(Value::as_str);
        let Some(id) = id else { bail!("a write was answered {status}: {answer}") };
        events.push((id.to_owned(), words));
    }
    let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain").bytes(DEED);
    let blob = client.send(&upload)?.json()?;
    let blob = blob.get("blob_id").and_then(Value::as_str).context("a blob id")?.to_owned();
    client.send(&Request::get("/v1/audit?limit=1"))?;
    if !server.stop()?.success() {
        bail!("the server did not stop in order");
    }
    Ok((events, blob))
}

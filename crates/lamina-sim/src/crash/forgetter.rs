//! A caller that forgets and erases until the server dies under it: an acknowledged request is complete after the crash,
//! and one without an answer has taken everything that it names, or nothing.

use std::path::Path;
use std::time::Duration;

use lamina_env::disk::read_file;
use lamina_env::sim::rng::SimRng;
use lamina_env::{Disk, RealDisk};
use serde_json::{Value, json};

use super::report::Findings;
use crate::client::{Client, Request};
use crate::process::Server;

/// Events that go together: more than a request takes at a time.
const EVENTS_MAX: u64 = 700;
/// How often, and how far apart, a run that was cut short is looked at after the start.
const LOOKS_MAX: usize = 600;
const LOOK: Duration = Duration::from_millis(100);

/// A request to remove events.
#[derive(Debug, Clone)]
pub(super) struct Removal {
    scope: String,
    ids: Vec<String>,
    /// Stands in each of the events, and nowhere else.
    word: String,
    /// An erasure: it ends after its answer.
    is_erasure: bool,
    is_acknowledged: bool,
}

/// A caller that removes events of its own scopes.
pub(super) struct Forgetter {
    pub(super) name: String,
    pub(super) rng: SimRng,
    pub(super) client: Client,
}

impl Forgetter {
    /// Writes and removes until the server is gone.
    pub(super) fn run(mut self) -> Vec<Removal> {
        let mut removals = Vec::new();
        for number in 0u32.. {
            let Some(removal) = self.written(number) else { break };
            removals.push(removal);
            let Some(last) = removals.last_mut() else { break };
            match self.remove(last) {
                Some(200..=202) => last.is_acknowledged = true,
                Some(_) | None => break,
            }
        }
        removals
    }

    fn written(&mut self, number: u32) -> Option<Removal> {
        let scope = format!("org:crash/ws:{}-{number}", self.name);
        let word = format!("zyx{}n{number}zyx", self.name.replace('-', "x"));
        let mut ids = Vec::new();
        let mut left = 1 + self.rng.below(EVENTS_MAX);
        while left > 0 {
            let some = left.min(100);
            left -= some;
            let items: Vec<Value> = (0..some)
                .map(|_| json!({"scope": scope, "content": format!("I keep the {word} here.")}))
                .collect();
            let body = json!({"items": items});
            let request = Request::post("/v1/experience/bulk", &body);
            let answer = self.client.send_once(&request).ok()?.json().ok()?;
            let results = answer.get("results")?.as_array()?;
            let id = |one: &Value| Some(one.get("event_id")?.as_str()?.to_owned());
            ids.extend(results.iter().filter_map(id));
        }
        let is_erasure = self.rng.below(4) == 0;
        Some(Removal { scope, ids, word, is_erasure, is_acknowledged: false })
    }

    fn remove(&mut self, removal: &Removal) -> Option<u16> {
        let (path, body) = match removal.is_erasure {
            true => ("/v1/erasures", json!({"scope": removal.scope, "confirm_all": true})),
            false => (
                "/v1/forget",
                json!({
                    "scope": removal.scope,
                    "selector": {"memory_ids": removal.ids},
                    "cascade": "redact_events",
                }),
            ),
        };
        self.client.send_once(&Request::post(path, &body)).ok().map(|answer| answer.status)
    }
}

/// Compares the reopened server with what was removed.
pub(super) fn verify(
    server: &Server,
    data: &Path,
    removals: &[Removal],
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let mut client = server.client();
    for removal in removals {
        let mut gone = 0;
        let mut words = true;
        for _ in 0..LOOKS_MAX {
            gone = count_gone(&mut client, removal)?;
            let all = gone == removal.ids.len();
            // An erasure hides its events before their words go.
            words = all && !removal.ids.is_empty() && holds(data, &removal.word)?;
            let is_awaited = removal.is_acknowledged && removal.is_erasure;
            if (all && !words) || (gone == 0 && !is_awaited) {
                break;
            }
            std::thread::sleep(LOOK);
        }
        let (all, scope) = (removal.ids.len(), &removal.scope);
        if removal.is_acknowledged && gone != all {
            findings.add(format!("NOT FORGOTTEN {scope}: {gone} of {all} events are gone"));
        } else if gone != 0 && gone != all {
            findings.add(format!("HALF FORGOTTEN {scope}: {gone} of {all} events are gone"));
        } else if words {
            findings.add(format!("WORDS of {scope} are still in the log"));
        }
    }
    Ok(())
}

fn count_gone(client: &mut Client, removal: &Removal) -> anyhow::Result<usize> {
    let mut gone = 0;
    for id in &removal.ids {
        let answer = client.send(&Request::get(&format!("/v1/events/{id}")))?;
        gone += usize::from(matches!(answer.status, 404 | 410));
    }
    Ok(gone)
}

/// Whether a word stands in a file of the log.
fn holds(data: &Path, word: &str) -> anyhow::Result<bool> {
    let log = data.join("log");
    for name in RealDisk.list(&log)? {
        let bytes = read_file(&RealDisk, &log.join(name), 1 << 30)?;
        if bytes.windows(word.len()).any(|part| part == word.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

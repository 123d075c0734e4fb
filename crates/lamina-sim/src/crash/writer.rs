//! Writers that go on until the server dies under them.

use std::time::Duration;

use anyhow::Context;
use lamina_env::sim::rng::SimRng;
use serde_json::json;

use super::forgetter::Forgetter;
use super::ledger::{Attempt, Blob, Cancel, Item, Ledger, Outcome, Page, event_ids};
use super::report::Findings;
use super::{KILL_MS, World};
use crate::client::{Client, Request};
use crate::process::Server;

const BULK_ITEMS_MAX: u64 = 20;
const TEXT_BYTES_MAX: u64 = 6_000;
const BLOB_BYTES_MAX: u64 = 40_000;

/// Starts the writers, kills the server at a random moment, and returns what they know.
pub(super) fn write_until_killed(
    world: &World,
    round: usize,
    server: Server,
    findings: &mut Findings,
) -> anyhow::Result<Ledger> {
    let address = server.address();
    let writers: Vec<_> = (0..world.writers)
        .map(|number| {
            let writer = Writer {
                name: format!("r{round}-w{number}"),
                rng: world.rng.fork(),
                client: Client::new(address),
                page: Page::default(),
            };
            std::thread::spawn(move || writer.run())
        })
        .collect();
    let forgetter = Forgetter {
        name: format!("r{round}-f"),
        rng: world.rng.fork(),
        client: Client::new(address),
    };
    let forgetter = std::thread::spawn(move || forgetter.run());
    let (earliest, latest) = KILL_MS;
    let moment = earliest + world.rng.below(latest - earliest);
    std::thread::sleep(Duration::from_millis(moment));
    server.kill().context("cannot kill the server")?;
    let mut pages = Vec::new();
    for writer in writers {
        let page = writer.join().map_err(|_| anyhow::anyhow!("a writer panicked"))?;
        for answer in &page.unexpected {
            findings.add(format!("an answer that no writer should get: {answer}"));
        }
        pages.push(page);
    }
    let removals =
        forgetter.join().map_err(|_| anyhow::anyhow!("the caller that forgets panicked"))?;
    Ok(Ledger { pages, removals })
}

struct Writer {
    name: String,
    rng: SimRng,
    client: Client,
    page: Page,
}

/// The server is gone, or answered something that ends the writer.
struct Over;

impl Writer {
    fn run(mut self) -> Page {
        for number in 0u64.. {
            let step = match self.rng.below(100) {
                0..70 => self.write(number, 1),
                70..85 => {
                    let count = 2 + self.rng.below(BULK_ITEMS_MAX - 1);
                    self.write(number, count)
                }
                85..92 => self.replay(),
                92..96 => self.cancel(),
                _ => self.upload(),
            };
            if step.is_err() {
                break;
            }
        }
        self.page
    }

    fn write(&mut self, number: u64, count: u64) -> Result<(), Over> {
        let bulk = count > 1;
        let items: Vec<Item> = (0..count).map(|index| self.item(number, index)).collect();
        let attempt = Attempt { items, bulk, outcome: Outcome::Unknown, cancel: Cancel::No };
        let (path, body) = attempt.request();
        let path = match self.rng.below(4) {
            0 => format!("{path}?wait=captured"),
            1 => format!("{path}?wait=indexed"),
            _ => path.to_owned(),
        };
        // Written down before it is sent: without an answer it stays unknown.
        self.page.attempts.push(attempt);
        let response = self.client.send_once(&Request::post(&path, &body)).map_err(|_| Over)?;
        let ids = response
            .json()
            .ok()
            .filter(|_| matches!(response.status, 200 | 202))
            .and_then(|answer| event_ids(&answer, bulk))
            .filter(|ids| ids.len() as u64 == count);
        match (ids, self.page.attempts.last_mut()) {
            (Some(ids), Some(attempt)) => {
                attempt.outcome = Outcome::Acknowledged(ids);
                Ok(())
            }
            _ => self.unexpected("write", response.status, &response.text()),
        }
    }

    fn item(&mut self, number: u64, index: u64) -> Item {
        let key = format!("{}-{number}-{index}", self.name);
        let filler = "x".repeat(usize::try_from(self.rng.below(TEXT_BYTES_MAX)).unwrap_or(0));
        Item {
            text: format!("{key} says ünï {filler}"),
            scope: format!("org:crash/ws:{}", self.name),
            labels: vec![format!("n{}", number % 7)],
            key,
        }
    }

    /// Sends an acknowledged request again: the same events, nothing new.
    fn replay(&mut self) -> Result<(), Over> {
        let Some(attempt) = self.earlier() else {
            return Ok(());
        };
        let (path, body) = attempt.request();
        let response = self.client.send_once(&Request::post(path, &body)).map_err(|_| Over)?;
        let ids = response.json().ok().and_then(|answer| event_ids(&answer, attempt.bulk));
        let same = ids.map(Outcome::Acknowledged) == Some(attempt.outcome);
        if !same || response.header("x-cortex-replay") != Some("true") {
            return self.unexpected("replay", response.status, &response.text());
        }
        self.page.replays += 1;
        Ok(())
    }

    fn cancel(&mut self) -> Result<(), Over> {
        let candidates: Vec<usize> = self
            .page
            .attempts
            .iter()
            .enumerate()
            .filter(|(_, attempt)| !attempt.bulk && attempt.cancel == Cancel::No)
            .map(|(at, _)| at)
            .collect();
        let pick = usize::try_from(self.rng.below(candidates.len() as u64)).unwrap_or(0);
        let Some(attempt) = candidates.get(pick).and_then(|at| self.page.attempts.get_mut(*at))
        else {
            return Ok(());
        };
        let Outcome::Acknowledged(ids) = &attempt.outcome else {
            return Ok(());
        };
        let id = ids.first().map(String::as_str).unwrap_or_default();
        let path = format!("/v1/lifecycle/memory-event/{id}/cancel");
        attempt.cancel = Cancel::Unknown;
        let body = json!({"audit_note": "crash test"});
        let response = self.client.send_once(&Request::post(&path, &body)).map_err(|_| Over)?;
        if response.status != 200 {
            return self.unexpected("cancel", response.status, &response.text());
        }
        attempt.cancel = Cancel::Acknowledged;
        Ok(())
    }

    fn upload(&mut self) -> Result<(), Over> {
        let length = usize::try_from(self.rng.below(BLOB_BYTES_MAX)).unwrap_or(0) + 1;
        let mut bytes = vec![0u8; length];
        lamina_env::Rng::fill(&self.rng, &mut bytes);
        let request = Request::new("POST", "/v1/blobs")
            .header("Content-Type", "application/octet-stream")
            .bytes(bytes.clone());
        let response = self.client.send_once(&request).map_err(|_| Over)?;
        let id = response
            .json()
            .ok()
            .and_then(|answer| Some(answer.get("blob_id")?.as_str()?.to_owned()));
        match id {
            Some(id) => {
                self.page.blobs.push(Blob { id, bytes });
                Ok(())
            }
            None => self.unexpected("upload", response.status, &response.text()),
        }
    }

    /// An acknowledged attempt of this writer.
    fn earlier(&mut self) -> Option<Attempt> {
        let count = self.page.attempts.len() as u64;
        let pick = usize::try_from(self.rng.below(count)).ok()?;
        let attempt = self.page.attempts.get(pick)?;
        matches!(attempt.outcome, Outcome::Acknowledged(_)).then(|| attempt.clone())
    }

    fn unexpected(&mut self, what: &str, status: u16, text: &str) -> Result<(), Over> {
        let text: String = text.chars().take(300).collect();
        self.page.unexpected.push(format!("{} {what}: {status} {text}", self.name));
        Err(Over)
    }
}

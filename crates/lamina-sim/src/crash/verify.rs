//! Compares the reopened server with the ledger.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use serde_json::Value;

use super::ledger::{Attempt, Cancel, Item, Ledger, Outcome, event_ids};
use super::report::{Findings, Summary};
use crate::client::{Client, Request};
use crate::process::Server;

/// Pages of a listing that end before this are short enough to be read in one test.
const PAGES_MAX: usize = 10_000;

/// Everything of one round: by id, by key, by listing, then the retry of what had no answer.
pub(super) fn all(
    server: &Server,
    ledger: &mut Ledger,
    summary: &mut Summary,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let mut client = server.client();
    by_id(&mut client, ledger, summary, findings)?;
    by_key(&mut client, ledger, findings)?;
    unknown_are_whole(&mut client, ledger, summary, findings)?;
    blobs(&mut client, ledger, findings)?;
    retry(&mut client, ledger, findings)?;
    listings(server, ledger, findings)?;
    for finding in doubled(&mut client, ledger)? {
        summary.doubled();
        findings.add(finding);
    }
    Ok(())
}

/// Every acknowledged event is listed exactly once (a cancelled one not at all), and nothing else.
pub(super) fn listings(
    server: &Server,
    ledger: &Ledger,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let mut client = server.client();
    for (scope, attempts) in by_scope(ledger) {
        let listed = list(&mut client, &scope)?;
        for (attempt, item, id) in acknowledged(&attempts) {
            let count = listed.get(item.text.as_str()).map_or(0, Vec::len);
            let expected = match attempt.cancel {
                Cancel::No => 1..=1,
                Cancel::Acknowledged => 0..=0,
                Cancel::Unknown => 0..=1,
            };
            if !expected.contains(&count) {
                findings.add(format!("{id} ({}) is listed {count} times", item.key));
            }
            let other = listed
                .get(item.text.as_str())
                .and_then(|ids| ids.iter().find(|listed| *listed != id));
            if let Some(other) = other {
                findings.add(format!("{} was acknowledged as {id}, listed as {other}", item.key));
            }
        }
        let known: usize = attempts.iter().map(|attempt| attempt.items.len()).sum();
        if listed.values().map(Vec::len).sum::<usize>() > known {
            findings.add(format!("{scope} lists more events than were ever written"));
        }
    }
    Ok(())
}

fn by_id(
    client: &mut Client,
    ledger: &Ledger,
    summary: &mut Summary,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let attempts: Vec<&Attempt> = ledger.attempts().collect();
    for (attempt, item, id) in acknowledged(&attempts) {
        let response = client.send(&Request::get(&format!("/v1/events/{id}")))?;
        if response.status != 200 {
            summary.lost();
            findings.add(format!("LOST {id} ({}): {}", item.key, response.text()));
            continue;
        }
        let event = response.json()?;
        for (field, expected) in
            [("/id", id), ("/content/text", item.text.as_str()), ("/scope", item.scope.as_str())]
        {
            let found = event.pointer(field).and_then(Value::as_str);
            if found != Some(expected) {
                findings.add(format!("CHANGED {id} ({}): {field} is {found:?}", item.key));
            }
        }
        let excluded = event.get("excluded_from_recall") == Some(&Value::Bool(true));
        if attempt.cancel == Cancel::Acknowledged && !excluded {
            findings.add(format!("LOST the cancellation of {id}"));
        }
    }
    Ok(())
}

fn by_key(client: &mut Client, ledger: &Ledger, findings: &mut Findings) -> anyhow::Result<()> {
    let attempts: Vec<&Attempt> = ledger.attempts().collect();
    for (_, item, id) in acknowledged(&attempts) {
        let found = find_key(client, &item.key)?;
        if found.as_deref() != Some(id) {
            findings.add(format!("the key {} finds {found:?}, not {id}", item.key));
        }
    }
    Ok(())
}

/// A write without an answer is absent or whole: a bulk write has all of its events or none, each
/// with its full text.
fn unknown_are_whole(
    client: &mut Client,
    ledger: &Ledger,
    summary: &mut Summary,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    for attempt in unknown(ledger) {
        let mut present = 0;
        for item in &attempt.items {
            let Some(id) = find_key(client, &item.key)? else {
                continue;
            };
            present += 1;
            summary.survived();
            let event = client.send(&Request::get(&format!("/v1/events/{id}")))?.json()?;
            let text = event.pointer("/content/text").and_then(Value::as_str);
            if text != Some(item.text.as_str()) {
                findings.add(format!("HALF {id} ({}): {text:?}", item.key));
            }
        }
        if present != 0 && present != attempt.items.len() {
            let total = attempt.items.len();
            findings.add(format!("HALF a bulk write: {present} of {total} items are there"));
        }
    }
    Ok(())
}

fn blobs(client: &mut Client, ledger: &Ledger, findings: &mut Findings) -> anyhow::Result<()> {
    for blob in ledger.pages.iter().flat_map(|page| &page.blobs) {
        let response = client.send(&Request::get(&format!("/v1/blobs/{}", blob.id)))?;
        if response.status != 200 || response.body != blob.bytes {
            findings.add(format!(
                "LOST blob {}: status {}, {} of {} bytes",
                blob.id,
                response.status,
                response.body.len(),
                blob.bytes.len()
            ));
        }
    }
    Ok(())
}

/// What had no answer is sent again; afterwards it is acknowledged like everything else.
fn retry(client: &mut Client, ledger: &mut Ledger, findings: &mut Findings) -> anyhow::Result<()> {
    for page in &mut ledger.pages {
        for attempt in &mut page.attempts {
            if attempt.outcome != Outcome::Unknown {
                continue;
            }
            let first = attempt.items.first().map(|item| item.key.clone());
            let before = find_key(client, &first.context("an attempt has items")?)?;
            let (path, body) = attempt.request();
            let response = client.send(&Request::post(path, &body))?;
            let ids = response.json().ok().and_then(|answer| event_ids(&answer, attempt.bulk));
            let Some(ids) = ids else {
                findings.add(format!("a retry was refused: {}", response.text()));
                continue;
            };
            let replayed = response.header("x-cortex-replay") == Some("true");
            if replayed != before.is_some() {
                findings.add(format!("a retry says replayed = {replayed}, before: {before:?}"));
            }
            if before.is_some() && before.as_ref() != ids.first() {
                findings.add(format!("a retry made {ids:?} though {before:?} was there"));
            }
            attempt.outcome = Outcome::Acknowledged(ids);
        }
    }
    Ok(())
}

/// Texts that are listed more than once; every text was written under one key only.
fn doubled(client: &mut Client, ledger: &Ledger) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for (scope, _) in by_scope(ledger) {
        for (text, ids) in list(client, &scope)? {
            if ids.len() > 1 {
                let start: String = text.chars().take(40).collect();
                found.push(format!("DOUBLED {start}: {ids:?}"));
            }
        }
    }
    Ok(found)
}

/// The whole scope, page by page: text to event ids.
fn list(client: &mut Client, scope: &str) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut cursor = String::new();
    for _ in 0..PAGES_MAX {
        let target = format!("/v1/events?scope={scope}&limit=1000{cursor}");
        let response = client.send(&Request::get(&target))?;
        if response.status != 200 {
            bail!("{target}: {} {}", response.status, response.text());
        }
        let page = response.json()?;
        let items = page.get("items").and_then(Value::as_array).context("items")?;
        for item in items {
            let text = item.pointer("/content/text").and_then(Value::as_str);
            let id = item.get("id").and_then(Value::as_str).context("id")?;
            found.entry(text.unwrap_or_default().to_owned()).or_default().push(id.to_owned());
        }
        match page.get("next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(found),
        }
    }
    bail!("the listing of {scope} does not end");
}

fn find_key(client: &mut Client, key: &str) -> anyhow::Result<Option<String>> {
    let target = format!("/v1/experience/by-idempotency-key/{key}");
    let response = client.send(&Request::get(&target))?;
    match response.status {
        200 => Ok(response.json()?.get("event_id").and_then(Value::as_str).map(str::to_owned)),
        404 => Ok(None),
        status => bail!("{target}: {status} {}", response.text()),
    }
}

fn acknowledged<'a>(
    attempts: &'a [&'a Attempt],
) -> impl Iterator<Item = (&'a Attempt, &'a Item, &'a str)> {
    attempts.iter().flat_map(|attempt| {
        let ids: &[String] = match &attempt.outcome {
            Outcome::Acknowledged(ids) => ids,
            Outcome::Unknown => &[],
        };
        attempt.items.iter().zip(ids).map(|(item, id)| (*attempt, item, id.as_str()))
    })
}

fn unknown(ledger: &Ledger) -> impl Iterator<Item = &Attempt> {
    ledger.attempts().filter(|attempt| attempt.outcome == Outcome::Unknown)
}

fn by_scope(ledger: &Ledger) -> BTreeMap<String, Vec<&Attempt>> {
    let mut scopes: BTreeMap<String, Vec<&Attempt>> = BTreeMap::new();
    for attempt in ledger.attempts() {
        if let Some(item) = attempt.items.first() {
            scopes.entry(item.scope.clone()).or_default().push(attempt);
        }
    }
    scopes
}

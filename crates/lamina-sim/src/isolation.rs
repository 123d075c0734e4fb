//! Two tenants with the same scopes, texts and keys, and a client that looks for one from the other.
//!
//! A fuzzing client with a token of tenant `acme` asks with ids, cursors, keys, labels and request ids
//! of tenant `other`, whole and mutilated, over every route. A twin server on which `other` never
//! existed is asked the same. What both answer must be equal, byte for byte, after masking what is a
//! server's own: ids, hashes, cursors and times. The other tenant is busy all the while, also in a
//! scope that tenants share and that it has closed.

mod mask;
mod furnish;
mod draw;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use lamina_env::rng::draw as draw_bytes;
use lamina_env::sim::rng::SimRng;
use lamina_env::{Clock, SystemClock, SystemRng};
use serde_json::{Value, json};

use crate::client::{Next, Request};
use crate::ground::{Caller, Ground, Issuer};
use draw::{Ask, Drawer, Kind, resolve};
use furnish::{SCOPES, TOLD, VAULT, close_vault, envelope, furnish, telling};
use mask::{Mask, same};

/// Records of each tenant before the first request.
const RECORDS: u64 = 40;
/// How often it is told how far it has come.
const PROGRESS_EVERY: u64 = 10_000;
/// One request in so many is followed by one of the other tenant.
const BUSY_ONE_IN: u64 = 3;
/// How long to wait before each further question. By the last a deadline that has passed on one server has
/// passed on the other: they were furnished one after the other.
const MOMENTS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(15)];
/// How long a stream may take to show what was written.
const STREAM_TIMEOUT: Duration = Duration::from_secs(60);

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The binary of the server.
    pub binary: PathBuf,
    /// How many requests.
    pub requests: u64,
    /// `None` draws one.
    pub seed: Option<u64>,
}

/// What the requests came to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Requests whose answers were compared.
    pub requests: u64,
    /// Questions that were asked once more, because a deadline fell between the two servers.
    pub again: u64,
    /// How many were answered with each status.
    pub statuses: BTreeMap<u16, u64>,
}

/// Runs and prints. An error if one answer tells of the other tenant.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let seed = options.seed.unwrap_or_else(|| u64::from_le_bytes(draw_bytes(&SystemRng)) >> 16);
    println!("isolation: {} requests, seed {seed}", options.requests);
    let summary =
        compare(&options.binary, options.requests, seed).with_context(|| format!("seed {seed}"))?;
    let Summary { requests, again, .. } = summary;
    println!(
        "{requests} answers, equal on both servers, {again} of them when asked again; by status:"
    );
    for (status, count) in &summary.statuses {
        println!("  {status}: {count}");
    }
    Ok(())
}

/// The tenant under test, on one server.
struct Side {
    caller: Caller,
    mask: Mask,
    _ground: Ground,
}

/// Asks both servers `requests` times.
pub fn compare(binary: &Path, requests: u64, seed: u64) -> anyhow::Result<Summary> {
    let issuer = Issuer::new()?;
    let since = SystemClock::default().wall();
    let token = issuer.token("acme", "user:alice")?;
    let shared = Ground::start(binary, &issuer)?;
    // The other tenant comes first, so that every number counted across tenants would differ.
    let mut other = shared.caller(&issuer.token("other", "user:alice")?);
    let mut mask = Mask::new(since);
    close_vault(&mut other, RECORDS / 4, &mut mask)?;
    let foreign = furnish(&mut other, "other", RECORDS, &mut mask)?;
    let alone = Ground::start(binary, &issuer)?;
    let mut sides = [shared, alone].map(|ground| Side {
        caller: ground.caller(&token),
        mask: Mask::new(since),
        _ground: ground,
    });
    for side in &mut sides {
        furnish(&mut side.caller, "acme", RECORDS, &mut side.mask)?;
    }
    let mut drawer = Drawer::new(seed, &foreign);
    let mut busy = Busy { caller: other, rng: SimRng::new(seed ^ 0xB), number: 0 };
    let mut summary = Summary::default();
    for number in 0..requests {
        let ask = drawer.draw();
        if let Some(before) = ask.without_key() {
            agree(&mut sides, &before, &drawer, number, &mut summary)?;
        }
        let status = agree(&mut sides, &ask, &drawer, number, &mut summary)?;
        *summary.statuses.entry(status).or_default() += 1;
        summary.requests += 1;
        if summary.requests % PROGRESS_EVERY == 0 {
            eprintln!("{} of {requests} requests", summary.requests);
        }
        if number % BUSY_ONE_IN == 0 {
            busy.step()?;
        }
    }
    Ok(summary)
}

/// Asks both servers, and gives the status that both answered with.
fn agree(
    sides: &mut [Side; 2],
    ask: &Ask,
    drawer: &Drawer<'_>,
    number: u64,
    summary: &mut Summary,
) -> anyhow::Result<u16> {
    let [shared, alone] = sides;
    let seen = [shared.mask.seen(), alone.mask.seen()];
    let (mut here, status) = answer(shared, ask, drawer, number)?;
    let (mut there, _) = answer(alone, ask, drawer, number)?;
    // Deadlines fire by the clock, on one server a moment before the other. What one tells of the
    // other tenant it tells again.
    for moment in MOMENTS.into_iter().filter(|_| ask.repeatable()) {
        if same(&here, &there) {
            break;
        }
        std::thread::sleep(moment);
        shared.mask.back_to(seen[0]);
        alone.mask.back_to(seen[1]);
        here = answer(shared, ask, drawer, number)?.0;
        there = answer(alone, ask, drawer, number)?.0;
        summary.again += 1;
    }
    if !same(&here, &there) {
        bail!(
            "request {number}: {} {}\n{}\n--- with the other tenant:\n{here}\n--- without it:\n{there}",
            ask.request.method,
            ask.request.target,
            String::from_utf8_lossy(ask.request.body.as_deref().unwrap_or_default()),
        );
    }
    Ok(status)
}

/// What one server answers, masked.
fn answer(
    side: &mut Side,
    ask: &Ask,
    drawer: &Drawer<'_>,
    number: u64,
) -> anyhow::Result<(String, u16)> {
    let request = resolve(&ask.request, &side.mask);
    if ask.kind == Kind::Stream {
        return streamed(side, request, drawer, number);
    }
    let response = side.caller.send(request).with_context(|| format!("request {number}"))?;
    let masked = side.mask.answer(&response, &drawer.used);
    if ask.kind == Kind::Unsettled {
        settle(side, drawer, number, "org:same")?;
    }
    Ok((masked, response.status))
}

/// A write that is through when it is answered: stages have one order, so what came before is too.
fn settle(
    side: &mut Side,
    drawer: &Drawer<'_>,
    number: u64,
    scope: &str,
) -> anyhow::Result<String> {
    let body = envelope(scope, 0, &format!("settle-{number}"));
    let response = side.caller.send(Request::post("/v1/experience?wait=settled", &body))?;
    side.mask.answer(&response, &drawer.used);
    if response.status != 200 {
        bail!("request {number} was not settled: {} {}", response.status, response.text());
    }
    let event = response.json()?.get("event_id").and_then(Value::as_str).map(str::to_owned);
    event.context("a write without an event")
}

/// Opens a stream, writes something that it has to show, and gives everything up to that.
fn streamed(
    side: &mut Side,
    request: Request,
    drawer: &Drawer<'_>,
    number: u64,
) -> anyhow::Result<(String, u16)> {
    let scope = request.target.split(['=', '&']).nth(1).unwrap_or_default().to_owned();
    let request = side.caller.signed(request).header("Accept", "text/event-stream");
    let mut stream = match side.caller.client().stream(&request)? {
        Ok(stream) => stream,
        Err(refused) => {
            let status = refused.status;
            return Ok((side.mask.answer(&refused, &drawer.used), status));
        }
    };
    let mut masked = side.mask.answer(stream.head(), &drawer.used);
    let event = settle(side, drawer, number, &scope)?;
    loop {
        match stream.next_within(STREAM_TIMEOUT)? {
            Next::Event(shown) => {
                let id = shown.id.unwrap_or_default();
                let last = shown.event == "consolidated" && shown.data.contains(&event);
                let data = side.mask.body(&shown.data, &drawer.used);
                let id = side.mask.body(&id, &drawer.used);
                masked.push_str(&format!("{} {id} {data}\n", shown.event));
                if last {
                    return Ok((masked, 200));
                }
            }
            Next::Closed => return Ok((masked + "closed\n", 200)),
            Next::Quiet => bail!("request {number}: the stream does not show what was written"),
        }
    }
}

/// The other tenant, while it is looked for.
struct Busy {
    caller: Caller,
    rng: SimRng,
    number: u64,
}

impl Busy {
    fn step(&mut self) -> anyhow::Result<()> {
        self.number += 1;
        let at = usize::try_from(self.rng.below(SCOPES.len() as u64))?;
        let scope = SCOPES.get(at).copied().unwrap_or("org:same");
        let key = format!("busy-{}", self.number);
        let request = match self.rng.below(11) {
            0 => Request::get(&format!("/v1/events?scope={scope}")),
            1 => {
                let deny = json!({"deny": ["llm.invoke"]});
                Request::new("PUT", &format!("/v1/policy/scope?path={scope}")).json(&deny)
            }
            2 => {
                let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain");
                upload.bytes("same bytes")
            }
            8 => Request::post(
                "/v1/recall",
                &json!({"scope": TOLD, "query": "Where does Maria work?"}),
            ),
            9 => Request::post("/v1/episodes/build", &json!({"scope": TOLD, "seal": true})),
            10 => {
                let text = format!("Acme has {} seats.", self.number % 50);
                let body = telling(&text, "2020-06-01", &key);
                Request::post("/v1/experience?wait=settled", &body)
            }
            3 => Request::post("/v1/experience", &envelope(VAULT, self.number % 20, &key)),
            4 => {
                let body = envelope(&format!("{scope}/project:b{}", self.number % 9), 1, &key);
                Request::post("/v1/experience", &body)
            }
            _ => Request::post("/v1/experience", &envelope(scope, self.number % 20, &key)),
        };
        self.caller.ok(request)?;
        Ok(())
    }
}

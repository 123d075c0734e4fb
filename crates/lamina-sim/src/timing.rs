//! Whether the time of an answer tells that an id exists in another tenant.
//!
//! Each question is asked in pairs, once with something of the other tenant and once with something
//! that nobody has, in random order on one connection. If the two kinds of answers take different
//! times, the medians or the ranks differ. Other work on the machine slows both alike.

mod rank;

use std::path::PathBuf;

use anyhow::{Context, bail};
use lamina_env::rng::draw;
use lamina_env::sim::rng::SimRng;
use lamina_env::{Clock, SystemClock, SystemRng};
use serde_json::{Value, json};

use crate::client::Request;
use crate::ground::{Caller, Ground, Issuer};
use rank::{median, p_value};

/// How far the medians may be apart.
const MEDIANS_APART_MAX: f64 = 0.02;
/// Of fair comparisons, one in a hundred is below; it is then made once more.
const P_MIN: f64 = 0.01;
const TRIES: usize = 2;
/// Things of each kind on either side: enough that no single one matters.
const THINGS: usize = 200;
/// Pairs before the first that counts.
const WARM_UP: u64 = 200;

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The binary of the server; a release build.
    pub binary: PathBuf,
    /// Pairs for each question.
    pub pairs: u64,
    /// `None` draws one.
    pub seed: Option<u64>,
}

/// One question, with a foreign and an absent thing in its place.
struct Question {
    name: &'static str,
    ask: fn(&str) -> Request,
    foreign: Vec<String>,
    absent: Vec<String>,
}

/// The times of both kinds, in microseconds.
#[derive(Debug, Default)]
struct Times {
    foreign: Vec<i64>,
    absent: Vec<i64>,
}

/// Runs and prints a line for each question. An error if one of them tells.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let seed = options.seed.unwrap_or_else(|| u64::from_le_bytes(draw(&SystemRng)) >> 16);
    let rng = SimRng::new(seed);
    println!("timing: {} pairs for each question, seed {seed}", options.pairs);
    let issuer = Issuer::new()?;
    let ground = Ground::start(&options.binary, &issuer)?;
    let questions = furnished(&ground, &issuer, &rng)?;
    let mut caller = ground.caller(&issuer.token("acme", "user:alice")?);
    println!("{:<16} {:>11} {:>11} {:>8} {:>8}", "", "foreign us", "absent us", "apart", "p");
    let mut told = Vec::new();
    for question in &questions {
        let mut tells = true;
        for _ in 0..TRIES {
            tells = tells && !holds(question, &mut caller, options.pairs, &rng)?;
        }
        if tells {
            told.push(question.name);
        }
    }
    if !told.is_empty() {
        bail!("the time of an answer tells what exists elsewhere: {}", told.join(", "));
    }
    Ok(())
}

/// Asks all pairs of a question and prints what came of it.
fn holds(
    question: &Question,
    caller: &mut Caller,
    pairs: u64,
    rng: &SimRng,
) -> anyhow::Result<bool> {
    let mut times = Times::default();
    let clock = SystemClock::default();
    for number in 0..pairs + WARM_UP {
        let at = usize::try_from(rng.below(THINGS as u64))?;
        let mut pair = [(&question.foreign, true), (&question.absent, false)];
        if rng.below(2) == 0 {
            pair.reverse();
        }
        for (things, is_foreign) in pair {
            let thing = things.get(at).context("as many things on either side")?;
            let request = caller.signed((question.ask)(thing));
            let started = clock.monotonic();
            let response = caller.send_signed(&request)?;
            let took = clock.monotonic().0 - started.0;
            if response.status != 404 {
                bail!("{} {thing}: {} {}", question.name, response.status, response.text());
            }
            if number >= WARM_UP {
                let sample = if is_foreign { &mut times.foreign } else { &mut times.absent };
                sample.push(took);
            }
        }
    }
    let (foreign, absent) = (median(&times.foreign), median(&times.absent));
    let apart = (foreign - absent).abs() / absent.max(1.0);
    let p = p_value(&times.foreign, &times.absent);
    println!(
        "{:<16} {foreign:>11.1} {absent:>11.1} {:>7.2}% {p:>8.4}",
        question.name,
        apart * 100.0
    );
    Ok(apart <= MEDIANS_APART_MAX && p > P_MIN)
}

/// Gives the other tenant what is asked for, and the asking one as much of its own.
fn furnished(ground: &Ground, issuer: &Issuer, rng: &SimRng) -> anyhow::Result<Vec<Question>> {
    let mut known = Known::default();
    for tenant in ["acme", "other"] {
        let mut caller = ground.caller(&issuer.token(tenant, "user:alice")?);
        known = Known::make(&mut caller, tenant)?;
    }
    let Known { events, lifecycle, blobs, audit } = known;
    let words = |prefix: &str| -> Vec<String> {
        (0..THINGS).map(|number| format!("{prefix}-{number:04}")).collect()
    };
    let of_ids = |name, ask, foreign: Vec<String>| {
        let absent = foreign.iter().map(|id| elsewhere(id, rng)).collect();
        Question { name, ask, foreign, absent }
    };
    Ok(vec![
        of_ids("event", |id| Request::get(&format!("/v1/events/{id}")), events.clone()),
        of_ids(
            "stages",
            |id| Request::get(&format!("/v1/lifecycle/memory-event/{id}")),
            events.clone(),
        ),
        of_ids(
            "cancel",
            |id| {
                let target = format!("/v1/lifecycle/memory-event/{id}/cancel");
                Request::post(&target, &json!({}))
            },
            events,
        ),
        of_ids(
            "lifecycle event",
            |id| Request::get(&format!("/v1/lifecycle/event/{id}")),
            lifecycle,
        ),
        of_ids("blob", |id| Request::get(&format!("/v1/blobs/{id}")), blobs),
        of_ids("audit row", |id| Request::get(&format!("/v1/audit/{id}")), audit),
        Question {
            name: "idempotency key",
            ask: |key| Request::get(&format!("/v1/experience/by-idempotency-key/{key}")),
            foreign: words("other"),
            absent: words("nobody"),
        },
        Question {
            name: "scope",
            ask: |path| Request::get(&format!("/v1/scopes?path=org:{path}")),
            foreign: words("other"),
            absent: words("nobody"),
        },
    ])
}

/// Ids of a tenant, [`THINGS`] of each kind.
#[derive(Debug, Default)]
struct Known {
    events: Vec<String>,
    lifecycle: Vec<String>,
    blobs: Vec<String>,
    audit: Vec<String>,
}

impl Known {
    fn make(caller: &mut Caller, tenant: &str) -> anyhow::Result<Known> {
        let mut known = Known::default();
        let text = |value: &Value, key: &str| -> anyhow::Result<String> {
            let found = value.get(key).and_then(Value::as_str);
            Ok(found.with_context(|| format!("no `{key}` in {value}"))?.to_owned())
        };
        for number in 0..THINGS {
            let body = json!({
                "scope": format!("org:{tenant}-{number:04}"),
                "modality": "conversation",
                "content": {"kind": "message", "role": "user", "text": format!("n {number}")},
                "context": {"observed_at": "2020-05-13T15:42:00Z"},
                "idempotency_key": format!("{tenant}-{number:04}"),
            });
            let made = caller.ok(Request::post("/v1/experience?wait=settled", &body))?;
            known.events.push(text(&made, "event_id")?);
            let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain");
            let made = caller.ok(upload.bytes(format!("{tenant} {number}")))?;
            known.blobs.push(text(&made, "blob_id")?);
        }
        for (list, key, ids) in [
            (format!("/v1/lifecycle?limit={THINGS}"), "lifecycle_id", &mut known.lifecycle),
            (format!("/v1/audit?limit={THINGS}"), "id", &mut known.audit),
        ] {
            let page = caller.ok(Request::get(&list))?;
            for item in page.get("items").and_then(Value::as_array).into_iter().flatten() {
                ids.push(text(item, key)?);
            }
        }
        Ok(known)
    }
}

/// An id of the same kind and time that nobody has.
fn elsewhere(id: &str, rng: &SimRng) -> String {
    let drawn = format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64());
    // Everything up to the variant says when and in which format; the rest is random.
    let kept = id.len().saturating_sub(15);
    let (head, tail) = (id.get(..kept).unwrap_or(id), drawn.get(..15).unwrap_or_default());
    format!("{head}{tail}")
}

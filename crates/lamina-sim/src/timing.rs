//! Whether the time of an answer tells that an id exists in another tenant.
//!
//! Each question is asked in pairs, once with something of the other tenant and once with something
//! that nobody has, in random order on one connection. If the two kinds of answers take different
//! times, the medians or the ranks differ. Other work on the machine slows both alike.

mod rank;
mod furnish;

use std::path::PathBuf;

use anyhow::{Context, bail};
use lamina_env::rng::draw;
use lamina_env::sim::rng::SimRng;
use lamina_env::{Clock, SystemClock, SystemRng};

use crate::client::Request;
use crate::ground::{Caller, Ground, Issuer};
use furnish::furnished;
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

//! How fast texts become vectors on one core, against the mere addition of as many rows.
//!
//! Cutting a text into tokens is most of the work; the reference is what could not be saved.

use std::hint::black_box;
use std::time::Duration;

use lamina_env::Env;
use lamina_index::{StaticEmbedder, analyze};

use crate::Options;
use crate::index::Words;

/// As people write them; 14 words on the average.
const SHORT: [&str; 4] = [
    "Maria moved to Oslo last week and the new flat is slowly becoming a home",
    "Could you look at the draft again when you have a minute? It is not urgent.",
    "The deadline for project Heron is in December, and Jonas owns it now",
    "I am allergic to peanuts, so please keep that in mind for the dinner",
];
/// Rows that a short text adds up, and their length.
const ROWS: usize = 16;
const DIMS: usize = 256;

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let embedder = StaticEmbedder::new();
    let long = Words::new().text(&mut 1, 1_024);
    let limit = Duration::from_secs(options.seconds);
    let short_rate = rate(limit, &mut |number| {
        black_box(embedder.embed_one(SHORT.get(number % SHORT.len()).copied().unwrap_or("")));
    });
    let long_rate = rate(limit, &mut |_| {
        black_box(embedder.embed_one(&long));
    });
    let terms_rate = rate(limit, &mut |_| {
        black_box(analyze::terms(&long));
    });
    let rows = vec![1_i8; ROWS * DIMS];
    let bare_rate = rate(limit, &mut |_| {
        let mut sum = [0.0_f32; DIMS];
        for row in black_box(&rows).chunks_exact(DIMS) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += f32::from(*value);
            }
        }
        black_box(sum);
    });
    println!("texts per second on one core\n");
    println!(
        "{:<34} {short_rate:>12.0}   {:.2} of the rows alone",
        "short texts, embedded",
        short_rate / bare_rate
    );
    println!("{:<34} {bare_rate:>12.0}", "their rows alone, added up");
    println!("{:<34} {long_rate:>12.0}", "texts of 1 KiB, embedded");
    println!("{:<34} {terms_rate:>12.0}", "texts of 1 KiB, cut into terms");
    Ok(())
}

/// Calls per second.
fn rate(limit: Duration, call: &mut dyn FnMut(usize)) -> f64 {
    let clock = Env::real().clock;
    let started = clock.monotonic();
    let mut calls = 0;
    loop {
        for _ in 0..256 {
            call(calls);
            calls += 1;
        }
        let took_us = (clock.monotonic().0 - started.0) as f64;
        if took_us >= limit.as_micros() as f64 {
            return calls as f64 / took_us * 1e6;
        }
    }
}

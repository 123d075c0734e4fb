//! Search alone: feeding an index, asking a small scope among many, asking one large scope.
//!
//! Texts are of 1 KiB, their words as frequent as words are. The reference is a sum of products over as
//! many bytes as the vectors of the scope have: what comparing all of them costs at least.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use lamina_env::{Clock, Env};
use lamina_index::analyze::Language;
use lamina_index::{
    Change, Document, Filter, Index, Layer, LexicalQuery, Part, Setup, StaticEmbedder, Statistics,
    VectorQuery,
};
use lamina_types::{Micros, RecordedAt, ScopePath, ValidAt};

use crate::{Options, sample};

const TEXT_BYTES: usize = 1_024;
const BATCH: u64 = 1_000;
/// Changes between two commits, as the engine makes them under load.
const COMMIT: u64 = 5_000;
const QUESTIONS: u64 = 400;
const QUESTION_WORDS: usize = 6;
const HITS: usize = 100;
const TENANT: u32 = 1;
/// Events of a small scope.
const SMALL: u64 = 100;

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let small = options.events / SMALL;
    measure(options, options.events, small.max(1))?;
    measure(options, (options.events / 10).max(SMALL), 1)
}

fn measure(options: &Options, events: u64, scopes: u64) -> anyhow::Result<()> {
    println!("\n{events} events of 1 KiB in {scopes} scopes");
    let dir = tempfile::tempdir_in(&options.dir)?;
    let env = Env::real();
    let index = feed(&env, dir.path(), events, scopes)?;
    println!("{:<28} {:>10.0} MB resident", "", sample::rss_mb("/proc/self/statm"));
    let in_scope = |number: u64| Filter::exact(scope_of(number * 7_919 % scopes));
    ask(&env, &index, "a scope, first use", &in_scope)?;
    ask(&env, &index, "a scope", &in_scope)?;
    bare(&env, events / scopes);
    if scopes > 1 {
        let whole = |_| Filter::subtree("org:bench".parse().expect("a well-formed scope"));
        ask(&env, &index, "the whole tenant", &whole)?;
    }
    println!("{:<28} {:>10.0} MB resident", "", sample::rss_mb("/proc/self/statm"));
    Ok(())
}

fn feed(env: &Env, dir: &Path, events: u64, scopes: u64) -> anyhow::Result<Index> {
    let embedder = StaticEmbedder::new();
    let setup = Setup {
        disk: Arc::clone(&env.disk),
        clock: Arc::clone(&env.clock),
        dir: dir.join("search"),
        log: [0; 20],
        log_end: u64::MAX,
        space: embedder.space().clone(),
        cache_bytes_max: 256 << 20,
    };
    let (index, _) = Index::open(setup)?;
    let words = Words::new();
    let (mut seed, mut number) = (1, 0);
    let started = env.clock.monotonic();
    while number < events {
        let until = events.min(number + BATCH);
        let changes: Vec<Change> = (number..until)
            .map(|number| {
                let text = words.text(&mut seed, TEXT_BYTES);
                Change::Put(document(number, scope_of(number % scopes), text, &embedder))
            })
            .collect();
        index.apply(TENANT, &changes, until)?;
        number = until;
        if number % COMMIT == 0 || number == events {
            index.commit()?;
        }
    }
    let seconds = since(&*env.clock, started) / 1e3;
    println!("{:<28} {:>10.0} events/s, embedding included", "fed", events as f64 / seconds);
    Ok(index)
}

fn document(number: u64, scope: ScopePath, text: String, embedder: &StaticEmbedder) -> Document {
    let at = Micros(number.cast_signed());
    let mut id = [0; 16];
    // Ids are ordered by time in their first half and random in the second.
    let halves = number.to_be_bytes().into_iter().chain(mix(number).to_be_bytes());
    id.iter_mut().zip(halves).for_each(|(to, from)| *to = from);
    Document {
        layer: Layer::Event,
        id,
        scope,
        offset: number,
        recorded: RecordedAt(at),
        valid_from: ValidAt(at),
        valid_until: Some(ValidAt(at)),
        labels: Vec::new(),
        parts: vec![Part { vector: embedder.embed_one(&text), text }],
    }
}

fn ask(
    env: &Env,
    index: &Index,
    name: &str,
    filter: &dyn Fn(u64) -> Filter<'static>,
) -> anyhow::Result<()> {
    let embedder = StaticEmbedder::new();
    let words = Words::new();
    let mut seed = 2;
    let (mut lexical, mut vector) = (Vec::new(), Vec::new());
    for number in 0..QUESTIONS {
        let text = words.text(&mut seed, QUESTION_WORDS * 6);
        let query = LexicalQuery {
            text: &text,
            also: &[],
            language: Some(Language::English),
            filter: filter(number),
            statistics: Statistics::Visible,
            limit: HITS,
        };
        let started = env.clock.monotonic();
        black_box(index.lexical(TENANT, &query)?);
        lexical.push(since(&*env.clock, started));
        let Some(meaning) = embedder.embed_one(&text) else { continue };
        let query = VectorQuery {
            space: embedder.space(),
            vector: &meaning,
            filter: filter(number),
            limit: HITS,
        };
        let started = env.clock.monotonic();
        black_box(index.vector(TENANT, &query)?);
        vector.push(since(&*env.clock, started));
    }
    for (channel, mut times) in [("words", lexical), ("meaning", vector)] {
        let (p50, p99) = (sample::median(&mut times), sample::percentile(&mut times, 0.99));
        println!("{:<28} {p50:>10.3} ms p50 {p99:>10.3} ms p99", format!("{name}, by {channel}"));
    }
    Ok(())
}

/// The sum of products over as many bytes, and nothing else.
fn bare(env: &Env, rows: u64) {
    let values = vec![1_i8; usize::try_from(rows).unwrap_or(0) * 256];
    let question = [1_i8; 256];
    let mut times = Vec::new();
    for _ in 0..50 {
        let started = env.clock.monotonic();
        let mut best = 0;
        for row in black_box(&values).chunks_exact(256) {
            let pairs = row.iter().zip(black_box(&question));
            best = best.max(pairs.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>());
        }
        black_box(best);
        times.push(since(&*env.clock, started));
    }
    println!("{:<28} {:>10.3} ms p50", "its vectors, bare", sample::median(&mut times));
}

/// Milliseconds.
fn since(clock: &dyn Clock, started: Micros) -> f64 {
    (clock.monotonic().0 - started.0) as f64 / 1e3
}

fn scope_of(number: u64) -> ScopePath {
    format!("org:bench/user:u{number}").parse().expect("a well-formed scope")
}

/// Made-up words, the earlier ones the more frequent and the shorter. No two are more alike than words of a language are:
/// each syllable is one of some hundred.
pub(crate) struct Words(Vec<String>);

const ONSETS: [&str; 16] =
    ["b", "br", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v"];
const VOWELS: [&str; 6] = ["a", "e", "i", "o", "u", "ea"];
const CODAS: [&str; 8] = ["", "", "n", "r", "l", "s", "nd", "ck"];
/// Words of one syllable, and of one or two.
const SHORT: [usize; 2] = [200, 6_000];

fn syllable(of: u64) -> String {
    let part = |all: &'static [&'static str], at: u64| {
        all.get(at as usize % all.len()).copied().unwrap_or_default()
    };
    [part(&ONSETS, of), part(&VOWELS, of >> 8), part(&CODAS, of >> 16)].concat()
}

impl Words {
    pub(crate) fn new() -> Words {
        let word = |number: usize| {
            let syllables = 1 + SHORT.iter().filter(|most| number >= **most).count();
            let drawn = mix(number as u64 + 1);
            (0..syllables).map(|at| syllable(drawn >> (20 * at))).collect()
        };
        Words((0..50_000).map(word).collect())
    }

    /// A text of about so many bytes.
    pub(crate) fn text(&self, seed: &mut u64, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            *seed = seed.wrapping_add(1);
            let share = (mix(*seed) >> 11) as f64 / (1_u64 << 53) as f64;
            // Frequencies that fall with the rank.
            let rank = (self.0.len() as f64).powf(share) as usize - 1;
            text.push_str(self.0.get(rank).map_or("ka", String::as_str));
            text.push(' ');
        }
        text
    }
}

fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

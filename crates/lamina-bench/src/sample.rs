//! The events that are written: about 1 KiB each, made from a counter.

use std::path::Path;

use anyhow::Context as _;
use lamina_engine::Write;
use lamina_env::RealDisk;
use lamina_env::disk::read_pseudo_file;
use lamina_types::{
    Actor, Content, Context, Directives, Experience, Hints, Micros, Modality, Role, ScopePath,
    ValidAt,
};

/// Bytes of the text of an event.
pub(crate) const TEXT_BYTES: usize = 1_024;

/// The unit of processor time in `/proc`.
const TICKS_PER_SECOND: f64 = 100.0;

/// The scope that events are written to; a hundred of them, as a busy agent host would have.
pub(crate) fn scope(number: u64) -> ScopePath {
    format!("org:bench/user:u{}", number % 100).parse().expect("a well-formed scope")
}

/// One event.
pub(crate) fn write(number: u64, at: Micros) -> Write {
    let mut text =
        format!("event {number}: the quick brown fox moved to {} seats; ", number % 1_000);
    while text.len() < TEXT_BYTES {
        text.push_str("and then it wrote a long report about what it had seen on the way; ");
    }
    text.truncate(TEXT_BYTES);
    says(number, scope(number), text, at)
}

/// An event with these words.
pub(crate) fn says(number: u64, scope: ScopePath, text: String, at: Micros) -> Write {
    let actor = Actor::new("agent:bench".parse().expect("a well-formed actor"));
    Write {
        key_drawn: false,
        identity: text.as_bytes().to_vec(),
        experience: Experience {
            scope,
            subject: actor.id.clone(),
            observed_actor: actor,
            modality: Modality("conversation".to_owned()),
            content: Content::Message { role: Role::User, text, media: Vec::new() },
            context: Context {
                observed_at: ValidAt(at),
                source_recorded_at: None,
                location: None,
                preceded_by: Vec::new(),
                intent: None,
                labels: Vec::new(),
                refers_to: None,
            },
            directives: Directives::default(),
            source: None,
            origin: None,
            hints: Hints::default(),
            idempotency_key: format!("bench-{number}"),
        },
        request_id: "req_018bcfe5680070008000000000000001".to_owned(),
    }
}

/// The middle one.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The value below which this share of the values lies.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() as f64 * share) as usize;
    values.get(index.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// Processor time of a process so far, in user and system mode.
pub(crate) fn cpu_us(pid: u32) -> anyhow::Result<f64> {
    let stat = read_pseudo_file(&RealDisk, Path::new(&format!("/proc/{pid}/stat")))?;
    // The name of the program stands in parentheses and may contain anything.
    let (_, rest) = stat.rsplit_once(')').context("a process has a name")?;
    let ticks = |index: usize| {
        let field = rest.split_whitespace().nth(index).context("a field of the process")?;
        Ok::<f64, anyhow::Error>(field.parse::<f64>()?)
    };
    Ok((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND * 1e6)
}

/// Resident megabytes of a process, from its `statm` file.
pub(crate) fn rss_mb(statm: &str) -> f64 {
    let env = lamina_env::Env::real();
    let text = lamina_env::disk::read_pseudo_file(&*env.disk, std::path::Path::new(statm));
    let pages = text
        .ok()
        .and_then(|text| text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()));
    pages.unwrap_or(0.0) * 4_096.0 / 1e6
}

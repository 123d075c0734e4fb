//! Metrics: one recorder for the process, read as Prometheus text or as JSON.
//!
//! Names that existing dashboards know (`cortex_*`) are kept where they fit; the rest is `lamina_*`.

use std::time::Duration;

use lamina_engine::{Health, Status};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use serde_json::{Map, Value, json};

/// Experiences that were captured, replays not counted.
pub const EXPERIENCES: &str = "cortex_experience_total";
/// Files that were read again on `SIGHUP`, by what they are for and outcome.
pub const RELOADS: &str = "lamina_reloads_total";
/// Requests by route, method and status.
pub const REQUESTS: &str = "lamina_http_requests_total";
/// Calls of tools by tool and outcome.
pub const MCP_CALLS: &str = "lamina_mcp_tool_calls_total";
/// How long requests took, by route and method.
pub const REQUEST_SECONDS: &str = "lamina_http_request_seconds";

/// From a fast write to a `wait` that gives up.
const SECONDS: &[f64] = &[
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0, 30.0,
];
/// Requests that shared one commit.
const COUNTS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1_024.0];

/// Histograms keep every sample until somebody adds it up.
pub const UPKEEP: Duration = Duration::from_secs(5);

/// The reading side of the recorder.
#[derive(Debug, Clone)]
pub struct Meters(Reading);

#[derive(Clone)]
struct Reading(PrometheusHandle);

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reading")
    }
}

impl Meters {
    /// Installs the recorder of the process. A second call reads a recorder that nothing writes to,
    /// because there can be only one that does.
    pub fn install() -> Meters {
        let seconds = Matcher::Suffix("_seconds".to_owned());
        let counts = Matcher::Suffix("_requests".to_owned());
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(seconds, SECONDS)
            .and_then(|builder| builder.set_buckets_for_metric(counts, COUNTS))
            .expect("the lists of buckets are not empty");
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::debug!("metrics were already started in this process");
        }
        describe();
        Meters(Reading(handle))
    }

    /// The Prometheus text.
    pub fn text(&self) -> String {
        self.0.0.render()
    }

    /// What of it says nothing about the traffic of others: whether the server is well.
    pub fn text_for_tenants(&self) -> String {
        let text = self.text();
        let lines = text.lines().filter(|line| {
            let mut words = line.split([' ', '{']).skip_while(|word| {
                // The name is the first word, or the third of a comment.
                matches!(*word, "#" | "HELP" | "TYPE")
            });
            words.next().is_some_and(|name| FOR_TENANTS.contains(&name))
        });
        lines.fold(String::new(), |all, line| all + line + "\n")
    }

    /// Adds up what histograms have collected.
    pub fn upkeep(&self) {
        self.0.0.run_upkeep();
    }
}

/// The same as JSON.
pub(crate) fn json(text: &str) -> Value {
    json!({ "metrics": samples(text) })
}

/// Metrics that every tenant may see.
const FOR_TENANTS: &[&str] = &["lamina_healthy"];

/// Numbers that are a state and not a stream: read from the engine when somebody asks.
pub(crate) fn gauge(health: &Health) {
    use metrics::gauge;
    gauge!("lamina_log_entries").set(health.log.next_offset as f64);
    gauge!("lamina_log_batches").set(health.log.batches as f64);
    gauge!("lamina_log_segments").set(health.log.segments as f64);
    gauge!("lamina_log_bytes").set(health.log.bytes as f64);
    gauge!("lamina_applied_lag").set(health.applied_lag as f64);
    gauge!("lamina_writes_queued").set(health.writes_queued as f64);
    gauge!("lamina_pipeline_in_flight").set(health.pipeline_in_flight as f64);
    gauge!("lamina_healthy").set(if health.status == Status::Healthy { 1.0 } else { 0.0 });
    if let Some(at) = health.log.checkpoint_at {
        gauge!("lamina_last_checkpoint_timestamp").set(at.0.0 as f64 / 1e6);
    }
}

fn describe() {
    use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
    describe_gauge!("lamina_log_entries", "Entries in the log");
    describe_gauge!("lamina_log_batches", "Batches committed to the log");
    describe_gauge!("lamina_log_segments", "Segment files of the log");
    describe_gauge!("lamina_log_bytes", Unit::Bytes, "Bytes of the log");
    describe_gauge!("lamina_applied_lag", "Entries in the log that the views do not have yet");
    describe_gauge!("lamina_writes_queued", "Writes that wait for the writer");
    describe_gauge!("lamina_pipeline_in_flight", "Events that wait for a stage to be tried again");
    describe_gauge!("lamina_healthy", "1 if healthy, 0 if degraded or unhealthy");
    describe_gauge!(
        "lamina_last_checkpoint_timestamp",
        Unit::Seconds,
        "When the last checkpoint was signed"
    );
    describe_counter!(
        EXPERIENCES,
        "Experiences captured; replays of an idempotency key are not counted"
    );
    describe_counter!(RELOADS, "Files read again on SIGHUP, by what they are for and outcome");
    describe_counter!(REQUESTS, "HTTP requests by route, method and status");
    describe_counter!(MCP_CALLS, "Calls of MCP tools by tool and outcome");
    describe_counter!(
        "lamina_jwks_fetches_total",
        "Fetches of the keys of issuers, by issuer and outcome"
    );
    describe_counter!("lamina_model_calls_total", "Calls to the language model by outcome");
    describe_counter!("lamina_model_events_total", "Events it was asked about by outcome");
    describe_counter!(
        "lamina_model_claims_total",
        "Its claims, by whether their words bear them out"
    );
    describe_counter!("lamina_model_tokens_total", "Tokens that it took, by direction");
    describe_counter!("lamina_model_cost_micros_total", "What it took, in millionths of the money");
    describe_gauge!(
        "lamina_jwks_last_success_timestamp",
        Unit::Seconds,
        "When the keys of an issuer were last fetched"
    );
    describe_histogram!(
        REQUEST_SECONDS,
        Unit::Seconds,
        "Time from the head of a request to the head of its response"
    );
}

/// Every line of the text as an object: name, labels, value.
fn samples(text: &str) -> Vec<Value> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(sample).collect()
}

fn sample(line: &str) -> Option<Value> {
    let (series, value) = line.rsplit_once(' ')?;
    let (name, labels) = match series.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}')?),
        None => (series, ""),
    };
    let value: f64 = value.parse().ok()?;
    Some(json!({ "name": name, "labels": labels_of(labels), "value": value }))
}

/// `a="x",b="y"`, with backslash escapes inside the quotes.
fn labels_of(text: &str) -> Map<String, Value> {
    let mut labels = Map::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once("=\"") {
        let mut value = String::new();
        let mut chars = after.char_indices();
        let mut end = after.len();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, escaped)) => value.push(escaped),
                    None => {}
                },
                plain => value.push(plain),
            }
        }
        labels.insert(name.trim_start_matches(',').to_owned(), Value::String(value));
        rest = after.get(end..).unwrap_or_default();
    }
    labels
}

#[cfg(test)]
mod tests;

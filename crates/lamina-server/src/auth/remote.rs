//! An issuer whose keys are fetched over the network, and the task that keeps them fresh.
//!
//! Only that task fetches, so that there is never more than one fetch for an issuer, and a request
//! that is given up does not end one that others wait for. Requests ask and wait.

use std::sync::Arc;
use std::time::Duration;

use lamina_env::Clock;
use lamina_outbound::Client;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::fetch::{FetchError, Fetched, Source, fetch};
use super::freshness::Freshness;
use crate::http::failure::chain;

/// How long a request waits for keys. Longer than a fetch may take.
const WAIT: Duration = Duration::from_secs(8);
/// How often the task looks whether a fetch is due.
const TURN: Duration = Duration::from_secs(1);
const FETCHES: &str = "lamina_jwks_fetches_total";
const FETCHED_AT: &str = "lamina_jwks_last_success_timestamp";

/// One issuer.
#[derive(Debug)]
pub(super) struct Remote {
    pub(super) iss: String,
    source: Source,
    client: Client,
    clock: Arc<dyn Clock>,
    state: Mutex<Freshness>,
    /// The key set that is in force, as it came.
    text: Mutex<Option<String>>,
    wake: Notify,
    /// Fetches that have ended.
    ended: watch::Sender<u64>,
}

impl Remote {
    pub(super) fn new(iss: &str, source: Source, client: Client, clock: Arc<dyn Clock>) -> Remote {
        let state = Mutex::new(Freshness::new(clock.monotonic()));
        Remote {
            iss: iss.to_owned(),
            source,
            client,
            clock,
            state,
            text: Mutex::default(),
            wake: Notify::new(),
            ended: watch::Sender::new(0),
        }
    }

    /// A token names a key that is not known: waits for a fetch, if one is worth it. Whether one has
    /// ended since.
    pub(super) async fn ask(&self) -> bool {
        let mut ended = self.ended.subscribe();
        if !self.state.lock().ask(self.clock.monotonic()) {
            return false;
        }
        self.wake.notify_one();
        matches!(timeout(WAIT, ended.changed()).await, Ok(Ok(())))
    }

    /// The key set that is in force.
    pub(super) fn text(&self) -> Option<String> {
        self.text.lock().clone()
    }

    /// Whether an operator should look.
    pub(super) fn is_stale(&self) -> bool {
        self.state.lock().is_stale(self.clock.monotonic())
    }

    /// Fetches whenever that is due; `take` puts a key set into force, or says why not.
    pub(super) async fn keep(&self, take: impl Fn(&str) -> Result<(), FetchError>) {
        loop {
            let due = self.state.lock().begin(self.clock.monotonic());
            if due {
                self.end(fetch(&self.client, &self.iss, &self.source).await, &take);
            }
            tokio::select! {
                () = self.wake.notified() => {}
                () = sleep(TURN) => {}
            }
        }
    }

    fn end(
        &self,
        fetched: Result<Fetched, FetchError>,
        take: impl Fn(&str) -> Result<(), FetchError>,
    ) {
        let ended = fetched.and_then(|Fetched { text, age_us }| {
            let unchanged = self.text.lock().as_ref() == Some(&text);
            if !unchanged {
                take(&text)?;
                *self.text.lock() = Some(text);
            }
            Ok(age_us)
        });
        let now = self.clock.monotonic();
        let issuer = self.iss.clone();
        match ended {
            Ok(age_us) => {
                self.state.lock().succeeded(now, age_us);
                metrics::counter!(FETCHES, "issuer" => issuer.clone(), "outcome" => "ok")
                    .increment(1);
                metrics::gauge!(FETCHED_AT, "issuer" => issuer)
                    .set(self.clock.wall().0 as f64 / 1e6);
            }
            Err(error) => {
                self.state.lock().failed(now);
                metrics::counter!(FETCHES, "issuer" => issuer, "outcome" => "failed").increment(1);
                let old = if self.text.lock().is_some() {
                    "the keys of before stay in force"
                } else {
                    "its tokens are refused"
                };
                tracing::warn!(
                    issuer = self.iss,
                    error = chain(&error),
                    "the keys of an issuer were not renewed; {old}"
                );
            }
        }
        self.ended.send_modify(|count| *count += 1);
    }
}

//! What the writers know: every attempt, and whether it was acknowledged.

use serde_json::{Value, json};

use super::forgetter::Removal;

/// One event that a writer tried to write.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Unique over the whole run.
    pub(super) key: String,
    /// Unique over the whole run, so that a doubled event shows in a listing.
    pub(super) text: String,
    pub(super) scope: String,
    pub(super) labels: Vec<String>,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Answered with these event ids, one per item.
    Acknowledged(Vec<String>),
    /// The process died before the answer came.
    Unknown,
}

/// One request: a single write, or a bulk write that is all or nothing.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    pub(super) items: Vec<Item>,
    pub(super) bulk: bool,
    pub(super) outcome: Outcome,
    /// Whether the event was cancelled after it was acknowledged.
    pub(super) cancel: Cancel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancel {
    No,
    Acknowledged,
    Unknown,
}

/// An acknowledged upload.
#[derive(Debug, Clone)]
pub(super) struct Blob {
    pub(super) id: String,
    pub(super) bytes: Vec<u8>,
}

/// One writer's part.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) attempts: Vec<Attempt>,
    pub(super) blobs: Vec<Blob>,
    /// Acknowledged keys that were sent again and answered with the same event.
    pub(super) replays: usize,
    /// Answers that no writer should get.
    pub(super) unexpected: Vec<String>,
}

/// Everything of one round.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) pages: Vec<Page>,
    /// Requests to forget and erasures.
    pub(super) removals: Vec<Removal>,
}

impl Item {
    /// The envelope as it is sent, the same every time.
    pub(super) fn envelope(&self) -> Value {
        json!({
            "scope": self.scope,
            "modality": "observation",
            "content": {"kind": "text", "text": self.text},
            "context": {"observed_at": "2026-05-13T15:42:00Z", "labels": self.labels},
            "idempotency_key": self.key,
        })
    }
}

impl Attempt {
    /// Where and what it sends.
    pub(super) fn request(&self) -> (&'static str, Value) {
        match self.items.first() {
            Some(item) if !self.bulk => ("/v1/experience", item.envelope()),
            _ => {
                let items: Vec<Value> = self.items.iter().map(Item::envelope).collect();
                ("/v1/experience/bulk", json!({"items": items}))
            }
        }
    }
}

impl Ledger {
    pub(super) fn attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.pages.iter().flat_map(|page| &page.attempts)
    }

    /// Events that were acknowledged.
    pub(super) fn acknowledged(&self) -> usize {
        self.attempts()
            .map(|attempt| match &attempt.outcome {
                Outcome::Acknowledged(ids) => ids.len(),
                Outcome::Unknown => 0,
            })
            .sum()
    }

    /// Events without an answer.
    pub(super) fn unknown(&self) -> usize {
        self.attempts()
            .filter(|attempt| attempt.outcome == Outcome::Unknown)
            .map(|attempt| attempt.items.len())
            .sum()
    }
}

/// The event ids of an answer to [`Attempt::request`].
pub(super) fn event_ids(answer: &Value, bulk: bool) -> Option<Vec<String>> {
    let id = |value: &Value| Some(value.get("event_id")?.as_str()?.to_owned());
    if bulk {
        answer.get("results")?.as_array()?.iter().map(id).collect()
    } else {
        Some(vec![id(answer)?])
    }
}

//! What the world promised: slow, plain and obviously right.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::EventId;

use super::admin::Administered;

/// An experience as the model remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) scope: String,
    pub(super) text: String,
}

impl Said {
    /// The words that no other event has: what people say, others say too.
    pub(super) fn own_words(&self) -> &str {
        let from = self.text.find("ords").map_or(0, |at| at.saturating_sub(1));
        self.text.get(from..from + 16).unwrap_or(&self.text)
    }
}

/// Where an acknowledged event stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Acknowledged {
    pub(super) said: Said,
    pub(super) event: EventId,
    pub(super) wal_offset: u64,
    pub(super) erased: Erased,
    /// What was made of it stays somewhere, without its words: then it is named there.
    pub(super) stays: bool,
    pub(super) cancelled: Certainty,
}

/// Whether something that was asked for has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    No,
    /// Asked for, not acknowledged: either way is fine.
    Perhaps,
    Yes,
}

/// Whether the words are gone.
pub(super) type Erased = Certainty;

/// A file of an import.
#[derive(Debug, Clone, Default)]
pub(super) struct ImportedFile {
    /// The ids of its rows, with their words.
    pub(super) rows: Vec<(String, Said)>,
}

/// All promises, by idempotency key.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) events: BTreeMap<String, Acknowledged>,
    /// Sent, but never answered: may be there whole, or not at all.
    pub(super) unanswered: BTreeMap<String, Said>,
    /// Keys whose answer was a refusal that nothing was written.
    pub(super) refused: BTreeSet<String>,
    /// Keys of events that an import wrote.
    pub(super) imported: BTreeSet<String>,
    /// Files that imports bring in, by their rows.
    pub(super) files: Vec<ImportedFile>,
    next: u64,
    /// Policies, revocations, scopes, tenants.
    pub(super) administered: Administered,
}

impl Model {
    /// A new key and text; texts are unique, so that finding one on disk tells whose it is.
    pub(super) fn fresh(&mut self, scope: &str, says: &str, bytes: usize) -> (String, Said) {
        self.next += 1;
        let mut text = match says {
            "" => format!("words-of-{:06}-", self.next),
            says => format!("{says} Words of {:06}: ", self.next),
        };
        while text.len() < bytes {
            text.push_str("lorem ");
        }
        (format!("key-{}", self.next), Said { scope: scope.to_owned(), text })
    }

    pub(super) fn acknowledged(&self) -> u64 {
        self.events.len() as u64
    }

    pub(super) fn erased(&self) -> u64 {
        self.events.values().filter(|event| event.erased == Certainty::Yes).count() as u64
    }
}

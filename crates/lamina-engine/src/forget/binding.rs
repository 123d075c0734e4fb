//! Ties a request to the preview that it names: by the scope and the events and records that both select.
//!
//! The cascade is not part of the binding. A selection that was shown once may be carried out by
//! `derived_only`, by `redact_events` or by an erasure; any other selection needs a preview of its own.

use std::collections::BTreeSet;

use lamina_core::policy::Caller;
use lamina_types::forget::{Cascade, Forget, Layers, MemoryId, Selector};
use lamina_types::{EventId, ScopePath};
use sha2::{Digest, Sha256};

use super::identity;
use super::select::{Place, Selected};
use crate::Error;
use crate::engine::Inner;

/// Names what a request asks for, apart from the cascade.
const SELECTION: &str = "preview.selection";
/// The same for an erasure of everything, which takes scopes below too.
const SUBTREE: &str = "preview.subtree";

/// The events and records that a request selects, as hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreviewBinding {
    /// The scope, the layers and the selector.
    selection: [u8; 32],
    /// Every record that they match; `None` if there are too many to compare.
    records: Option<[u8; 32]>,
    /// The scope and its events, if the request matches nothing else or everything: an erasure takes events.
    events: Option<[u8; 32]>,
}

impl PreviewBinding {
    /// A binding by two numbers: of the selection, and of the records.
    #[cfg(test)]
    pub(super) fn for_tests([selection, records]: [u8; 2]) -> PreviewBinding {
        PreviewBinding { selection: [selection; 32], records: Some([records; 32]), events: None }
    }

    /// The binding of an erasure of some events, or with none named, of everything.
    pub(crate) fn of_erasure(
        inner: &Inner,
        tenant: u32,
        scope: &ScopePath,
        named: &BTreeSet<EventId>,
        taken: &BTreeSet<EventId>,
    ) -> Result<PreviewBinding, Error> {
        let memory_ids = named.iter().copied().map(MemoryId::Event).collect();
        let forget = Forget {
            scope: scope.clone(),
            layers: Layers::ALL,
            selector: Selector { memory_ids, ..Selector::default() },
            cascade: Cascade::RedactEvents,
        };
        let domain = if named.is_empty() { SUBTREE } else { SELECTION };
        Ok(PreviewBinding {
            selection: inner.keyed(tenant)?.mac(domain, &[&identity(&forget)]),
            records: None,
            events: Some(hash_events(scope, taken)),
        })
    }

    /// The binding of a request in a scope that nobody ever wrote to.
    pub(super) fn empty(
        inner: &Inner,
        tenant: u32,
        forget: &Forget,
    ) -> Result<PreviewBinding, Error> {
        let none = BTreeSet::new();
        Ok(PreviewBinding {
            records: Some(hash_records(&forget.scope, &Selected::default(), &none)),
            events: Some(hash_events(&forget.scope, &none)),
            ..PreviewBinding::unmatched(inner, tenant, forget)?
        })
    }

    /// The binding of a request that no other agrees with: it matches more than can be compared.
    pub(super) fn unmatched(
        inner: &Inner,
        tenant: u32,
        forget: &Forget,
    ) -> Result<PreviewBinding, Error> {
        let any = Forget { cascade: Cascade::RedactEvents, ..forget.clone() };
        let selection = inner.keyed(tenant)?.mac(SELECTION, &[&identity(&any)]);
        Ok(PreviewBinding { selection, records: None, events: None })
    }

    /// Whether a request selects the records that this preview did.
    pub(crate) fn check(&self, there: &PreviewBinding) -> Result<(), Error> {
        let same = match (self.records, there.records) {
            (Some(shown), Some(found)) => shown == found,
            _ => self.events.is_some() && self.events == there.events,
        };
        match same {
            true => Ok(()),
            false if self.selection == there.selection => Err(Error::PreviewDrifted),
            false => Err(Error::OtherSelection),
        }
    }
}

impl Place<'_> {
    /// The binding of a request to forget. The events that its filters match belong to it, also if the
    /// cascade leaves events alone, and so do the events beneath the facts and beliefs that it names.
    pub(super) fn binding(self, caller: &Caller, forget: &Forget) -> Result<PreviewBinding, Error> {
        let whole = Forget { cascade: Cascade::RedactEvents, ..forget.clone() };
        let selected = self.selected(caller, &whole)?;
        let words = self.words_of(&selected, &forget.selector.memory_ids)?;
        let mut binding = PreviewBinding::unmatched(self.inner, self.tenant, forget)?;
        binding.records = Some(hash_records(&forget.scope, &selected, &words));
        let everything = forget.selector.is_empty() && forget.layers == Layers::ALL;
        if everything || selected.len() == selected.events.len() {
            binding.events = Some(hash_events(&forget.scope, &words));
        }
        Ok(binding)
    }
}

fn hash_events(scope: &ScopePath, events: &BTreeSet<EventId>) -> [u8; 32] {
    let mut hash = Sha256::new().chain_update(scope.as_str()).chain_update([0]);
    put(&mut hash, events.iter().map(|id| *id.as_bytes()));
    hash.finalize().into()
}

fn hash_records(scope: &ScopePath, selected: &Selected, words: &BTreeSet<EventId>) -> [u8; 32] {
    let mut hash = Sha256::new().chain_update(scope.as_str()).chain_update([0]);
    put_selected(&mut hash, selected);
    put(&mut hash, words.iter().map(|id| *id.as_bytes()));
    hash.finalize().into()
}

/// Adds the ids of selected records, layer by layer.
fn put_selected(hash: &mut Sha256, selected: &Selected) {
    let Selected { events, episodes, facts, beliefs, concepts } = selected;
    put(hash, events.iter().map(|id| *id.as_bytes()));
    put(hash, episodes.iter().map(|id| *id.as_bytes()));
    put(hash, facts.iter().map(|id| *id.as_bytes()));
    put(hash, beliefs.iter().map(|id| *id.as_bytes()));
    put(hash, concepts.iter().map(|id| *id.as_bytes()));
}

/// Adds ids and their number.
fn put(hash: &mut Sha256, ids: impl Iterator<Item = [u8; 16]>) {
    let mut count = 0u64;
    for id in ids {
        hash.update(id);
        count += 1;
    }
    hash.update(count.to_le_bytes());
}

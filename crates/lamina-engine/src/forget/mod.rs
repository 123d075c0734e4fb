//! Forgetting: from a selector to the records it means, and what becomes of them.
//!
//! Previews and executions select with one function (`select`) and count with one (`falls`), so that what
//! was shown is what goes. An execution is named in the log before anything goes and when it is through;
//! in between it goes on in pieces of a bounded size, also if nobody waits for it any more.

mod filter;
mod select;
mod falls;
mod derived;
mod binding;
mod previews;
mod resume;
mod run;
mod scope;
pub(crate) use binding::PreviewBinding;
pub(crate) use falls::Removal;
pub(crate) use run::{Going, KeyUsed};
pub(crate) use select::Place;
#[cfg(test)]
pub(crate) mod testing;

use lamina_core::policy::{Caller, Denial, Permit, Retain};
use lamina_env::Env;
use lamina_store::log::Section;
use lamina_types::capability::{
    AdminCompact, ForgetCascadeDerivedOnly, ForgetCascadeRedactEvents, ForgetGdpr,
};
use lamina_types::forget::{Cascade, Forget, Layers};
use lamina_types::{AuditId, ForgetPreviewId, Micros, ScopePath};
use tokio::sync::Mutex;

use crate::admin::{Noted, by};
use previews::Previews;

/// The right to forget, as far as it goes.
#[derive(Debug, Clone)]
pub enum ForgetPermit {
    /// Derived records.
    DerivedOnly(Permit<ForgetCascadeDerivedOnly>),
    /// The same, but only records whose evidence the caller wrote, and why those of others stay.
    DerivedOwn(Permit<ForgetCascadeDerivedOnly>, Box<Denial>),
    /// Also the words of events.
    RedactEvents(Permit<ForgetCascadeRedactEvents>),
    /// The same, but only words that the caller wrote, and why those of others stay.
    RedactOwn(Permit<ForgetCascadeRedactEvents>, Box<Denial>),
    /// Everything of a scope that is removed (R305).
    Gdpr(Permit<ForgetGdpr>),
    /// What is past its time, when it is time.
    Retention(Permit<Retain>),
    /// What is past its time, because an operator asks.
    Operator(Permit<AdminCompact>),
}

impl ForgetPermit {
    /// Who may.
    pub fn caller(&self) -> &Caller {
        match self {
            ForgetPermit::DerivedOnly(permit) | ForgetPermit::DerivedOwn(permit, _) => {
                permit.caller()
            }
            ForgetPermit::RedactEvents(permit) | ForgetPermit::RedactOwn(permit, _) => {
                permit.caller()
            }
            ForgetPermit::Gdpr(permit) => permit.caller(),
            ForgetPermit::Retention(permit) => permit.caller(),
            ForgetPermit::Operator(permit) => permit.caller(),
        }
    }

    fn allows(&self, cascade: Cascade, scope: &ScopePath) -> bool {
        match (self, cascade) {
            (
                ForgetPermit::DerivedOnly(permit) | ForgetPermit::DerivedOwn(permit, _),
                Cascade::DerivedOnly,
            ) => permit.covers(scope),
            (
                ForgetPermit::RedactEvents(permit) | ForgetPermit::RedactOwn(permit, _),
                Cascade::RedactEvents,
            ) => permit.covers(scope),
            (ForgetPermit::Gdpr(permit), Cascade::RedactEvents) => permit.covers(scope),
            (ForgetPermit::Retention(permit), Cascade::RedactEvents) => permit.covers(scope),
            (ForgetPermit::Operator(permit), Cascade::RedactEvents) => permit.covers(scope),
            _ => false,
        }
    }

    fn who(&self, env: &Env, noted: &Noted) -> Section {
        match self {
            ForgetPermit::DerivedOnly(permit) | ForgetPermit::DerivedOwn(permit, _) => {
                by(env, permit, noted)
            }
            ForgetPermit::RedactEvents(permit) | ForgetPermit::RedactOwn(permit, _) => {
                by(env, permit, noted)
            }
            ForgetPermit::Gdpr(permit) => by(env, permit, noted),
            ForgetPermit::Retention(permit) => by(env, permit, noted),
            ForgetPermit::Operator(permit) => by(env, permit, noted),
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct ForgetAsked {
    /// What is to be forgotten.
    pub forget: Forget,
    /// How many ids were sent.
    pub requested: u64,
    /// Only if this preview matched the same records.
    pub preview: Option<ForgetPreviewId>,
    /// The same key again is answered the same.
    pub idempotency_key: Option<String>,
}

/// How many records of each layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Events.
    pub events: u64,
    /// Episodes.
    pub episodes: u64,
    /// Versions of facts.
    pub facts: u64,
    /// Beliefs.
    pub beliefs: u64,
    /// Concepts.
    pub understanding: u64,
}

impl Counts {
    fn in_order(self) -> [u64; 5] {
        [self.events, self.episodes, self.facts, self.beliefs, self.understanding]
    }

    fn of([events, episodes, facts, beliefs, understanding]: [u64; 5]) -> Counts {
        Counts { events, episodes, facts, beliefs, understanding }
    }
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgotten {
    /// Records that are gone.
    pub deleted: Counts,
    /// How many ids were sent.
    pub requested: u64,
    /// How many records were selected.
    pub matched: u64,
    /// The row of the audit log.
    pub audit_id: AuditId,
    /// The key was used before for the same: this is what was answered then.
    pub replayed: bool,
    /// What went is also out of the files of the search index; if not, it will be.
    pub purged: bool,
}

/// What would be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgetPreview {
    /// Its id.
    pub id: ForgetPreviewId,
    /// Records that would go.
    pub deleted: Counts,
    /// How many ids were sent.
    pub requested: u64,
    /// How many records are selected.
    pub matched: u64,
    /// Until when it can be referred to.
    pub expires: Micros,
}

/// What forgetting keeps in memory.
#[derive(Debug, Default)]
pub(crate) struct ForgetDesk {
    /// One at a time: what is counted is what goes.
    pub(crate) turn: Mutex<()>,
    previews: Previews,
}

impl ForgetDesk {
    /// The records that a preview of this caller matched.
    pub(crate) fn binding(
        &self,
        caller: &Caller,
        id: ForgetPreviewId,
        now: Micros,
    ) -> Result<PreviewBinding, crate::Error> {
        self.previews.binding(id, caller, now)
    }
}

/// What tells two requests apart, as bytes.
fn identity(forget: &Forget) -> Vec<u8> {
    let Forget { scope, layers, selector, cascade } = forget;
    let mut bytes = vec![*cascade as u8, layers.bits()];
    let mut text = |words: Option<&str>| {
        let words = words.unwrap_or_default();
        bytes.extend_from_slice(&(words.len() as u64).to_le_bytes());
        bytes.extend_from_slice(words.as_bytes());
    };
    text(Some(scope.as_str()));
    text(selector.about_subject.as_deref());
    text(selector.about_entity.as_deref());
    text(selector.predicate.as_deref());
    let mut range = |range: Option<(Micros, Micros)>| {
        bytes.push(u8::from(range.is_some()));
        let (from, to) = range.unwrap_or((Micros(0), Micros(0)));
        bytes.extend_from_slice(&from.0.to_le_bytes());
        bytes.extend_from_slice(&to.0.to_le_bytes());
    };
    range(selector.valid_during.map(|(from, to)| (from.0, to.0)));
    range(selector.recorded_during.map(|(from, to)| (from.0, to.0)));
    for id in &selector.memory_ids {
        bytes.extend_from_slice(&[Layers::of([id.layer()]).bits()]);
        bytes.extend_from_slice(id.as_bytes());
    }
    bytes
}

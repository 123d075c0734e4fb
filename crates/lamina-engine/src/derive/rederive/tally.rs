//! What the rounds of a run say, added up: how many facts come, change and go, and which.

use std::collections::HashMap;

use lamina_core::derive::rederive::{Difference, differences};
use lamina_store::codec::answer::Answer;
use lamina_types::layer::{Claim, Effect, Object, Term};
use lamina_types::{EventId, ValidAt};
use sha2::{Digest, Sha256};

use super::Rederived;

/// Changes that are listed; those after them are counted.
pub(super) const LISTED_MAX: usize = 10_000;

/// What is said of one event.
#[derive(Debug)]
pub(super) enum Told {
    Unanswered,
    OfModel(Answer),
    AnsweredSince(Answer),
    Unchanged(Answer),
    Differs { event: EventId, before: Answer, after: Box<Answer> },
}

/// What became of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not found before.
    Added,
    /// It is found otherwise.
    Changed,
    /// It is not found any more.
    Lost,
}

/// A fact that an event gives, or gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Whom or what it is about.
    pub subject: String,
    /// The relation.
    pub predicate: String,
    /// What is said; empty if it is only said that something ends.
    pub object: String,
    /// What it does to what is known.
    pub effect: Effect,
    /// From when, if that is said.
    pub valid_from: Option<ValidAt>,
    /// Until when, if that is said.
    pub valid_to: Option<ValidAt>,
    /// How sure the extractor is, in ten-thousandths.
    pub confidence: u16,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What became of it.
    pub kind: ChangeKind,
    /// The event that says it.
    pub event: EventId,
    /// As it was; `None` if it is new.
    pub before: Option<Said>,
    /// As it is; `None` if it is lost.
    pub after: Option<Said>,
    /// Another event of the scope said it before, or still says it: what is known stays the same.
    pub elsewhere: bool,
}

/// The sum so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    report: Rederived,
    /// How many events say something, before and after.
    said: HashMap<Key, (u32, u32)>,
    /// What the changes that are listed are known by.
    keys: Vec<Key>,
}

type Key = [u8; 16];

impl Tally {
    /// Events so far.
    pub(super) fn events(&self) -> u64 {
        self.report.events
    }

    /// Takes what a round says.
    pub(super) fn take(&mut self, told: Vec<Told>) {
        for told in told {
            self.report.events += 1;
            match told {
                Told::Unanswered => self.report.unanswered += 1,
                Told::OfModel(answer) => {
                    self.report.of_models += 1;
                    self.stays(&answer);
                }
                Told::AnsweredSince(answer) => {
                    self.report.answered_since += 1;
                    self.stays(&answer);
                }
                Told::Unchanged(answer) => {
                    self.report.unchanged += 1;
                    self.stays(&answer);
                }
                Told::Differs { event, before, after } => self.differs(event, &before, &after),
            }
        }
    }

    fn stays(&mut self, answer: &Answer) {
        for claim in facts(answer) {
            let (before, after) = self.said.entry(known_by(claim)).or_default();
            (*before, *after) = (before.saturating_add(1), after.saturating_add(1));
        }
    }

    fn differs(&mut self, event: EventId, before: &Answer, after: &Answer) {
        self.report.differing += 1;
        let (before, after) = (facts(before), facts(after));
        for claim in &before {
            self.said.entry(known_by(claim)).or_default().0 += 1;
        }
        for claim in &after {
            self.said.entry(known_by(claim)).or_default().1 += 1;
        }
        let found = differences(&before, &after);
        self.report.otherwise += u64::from(found.is_empty());
        for difference in found {
            let (kind, before, after) = match difference {
                Difference::Added(claim) => (ChangeKind::Added, None, Some(claim)),
                Difference::Lost(claim) => (ChangeKind::Lost, Some(claim), None),
                Difference::Changed { before, after } => {
                    (ChangeKind::Changed, Some(before), Some(after))
                }
            };
            *match kind {
                ChangeKind::Added => &mut self.report.added,
                ChangeKind::Changed => &mut self.report.changed,
                ChangeKind::Lost => &mut self.report.lost,
            } += 1;
            if self.report.changes.len() < LISTED_MAX {
                self.keys.extend(before.or(after).map(known_by));
                let (before, after) = (before.map(said), after.map(said));
                let change = Change { kind, event, before, after, elsewhere: false };
                self.report.changes.push(change);
            }
        }
    }

    /// The sum.
    pub(super) fn report(self) -> Rederived {
        let Tally { mut report, said, keys } = self;
        for (change, key) in report.changes.iter_mut().zip(keys) {
            let (before, after) = said.get(&key).copied().unwrap_or_default();
            change.elsewhere = match change.kind {
                ChangeKind::Added => before > 0,
                ChangeKind::Lost => after > 0,
                ChangeKind::Changed => false,
            };
        }
        report
    }
}

/// The claims of an answer that facts are made of.
fn facts(answer: &Answer) -> Vec<&Claim> {
    if answer.asked.feedback {
        return Vec::new();
    }
    let claims = answer.extraction.claims.iter().enumerate();
    let borne_out =
        claims.filter(|(at, _)| u16::try_from(*at).is_ok_and(|at| answer.is_believed(at)));
    borne_out.map(|(_, claim)| claim).collect()
}

/// What a claim is known by, whoever says it.
fn known_by(claim: &Claim) -> Key {
    let Said { subject, predicate, object, effect, .. } = said(claim);
    let mut hash = Sha256::new().chain_update([effect as u8]);
    for part in [subject, predicate, object] {
        hash =
            hash.chain_update((part.len() as u64).to_le_bytes()).chain_update(part.to_lowercase());
    }
    let hash: [u8; 32] = hash.finalize().into();
    *hash.first_chunk().expect("32 bytes have a first half")
}

fn said(claim: &Claim) -> Said {
    Said {
        subject: name_of(&claim.subject),
        predicate: claim.predicate.clone(),
        object: match &claim.object {
            Object::Entity(term) => name_of(term),
            Object::Text(words) | Object::Date(words) => words.clone(),
            Object::Number { value, unit: None } => value.clone(),
            Object::Number { value, unit: Some(unit) } => format!("{value} {unit}"),
            Object::Money { amount, currency } => format!("{amount} {currency}"),
            Object::Bool(yes) => yes.to_string(),
        },
        effect: claim.effect,
        valid_from: claim.valid_from,
        valid_to: claim.valid_to,
        confidence: claim.confidence.get(),
    }
}

fn name_of(term: &Term) -> String {
    match term {
        Term::Actor(actor) => actor.as_str().to_owned(),
        Term::Named { name, .. } => name.clone(),
        Term::Of { owner, relation } => format!("{}'s {relation}", name_of(owner)),
    }
}

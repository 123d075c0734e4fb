//! The applier: folds committed entries into the views.
//!
//! It runs beside the writer, so that neither the next sync nor the answer waits for the fold. What
//! takes something back is answered only here, when it is gone from the views.

use std::sync::Arc;

use lamina_store::entry::{Entry, Kind, control};
use lamina_store::log::LogError;
use lamina_store::view::{ViewError, Views};

use crate::Error;
use crate::admin::standing::Standing;
use crate::derive::echo::Served;
use crate::read::episodes::ToldBefore;
use crate::read::recall::text_cache::Texts;
use crate::write::applied::Applied;
use crate::write::capture::{Committed, Due, Placed, Registered, Slot};
use crate::write::room;
use crate::write::stall::{ATTEMPTS_ANSWERED, Stall};

/// The state of the applier thread.
#[derive(Debug)]
pub struct Applier {
    views: Arc<Views>,
    applied: Arc<Applied>,
    standing: Option<Arc<Standing>>,
    told: Option<Arc<ToldBefore>>,
    texts: Option<Arc<Texts>>,
    served: Option<Arc<Served>>,
    stall: Arc<Stall>,
}

impl Applier {
    /// An applier over views that have everything before `applied`.
    pub fn new(views: Arc<Views>, applied: Arc<Applied>) -> Applier {
        Applier {
            views,
            applied,
            standing: None,
            told: None,
            texts: None,
            served: None,
            stall: Arc::default(),
        }
    }

    /// The same, and others see when the views wait for space.
    pub(crate) fn with_stall(self, stall: Arc<Stall>) -> Applier {
        Applier { stall, ..self }
    }

    /// The same, and what is in force follows what was committed.
    pub fn with_standing(self, standing: Arc<Standing>) -> Applier {
        Applier { standing: Some(standing), ..self }
    }

    /// The same, and words that were told are not kept beyond what is taken back.
    pub(crate) fn with_told(self, told: Arc<ToldBefore>, texts: Arc<Texts>) -> Applier {
        Applier { told: Some(told), texts: Some(texts), ..self }
    }

    /// The same, and what was shown is forgotten when something is taken back.
    pub(crate) fn with_served(self, served: Arc<Served>) -> Applier {
        Applier { served: Some(served), ..self }
    }

    /// Folds what was committed, in order, as one batch, and gives back the entries for the stages
    /// and the answers that are due.
    ///
    /// On an error the views stay as they were; the log has the entries, and a restart replays them.
    pub fn fold(&mut self, committed: Vec<Committed>) -> (Result<Vec<Entry>, ViewError>, Answers) {
        let mut entries = Vec::new();
        let mut tip = None;
        let mut due = Vec::new();
        let mut taken_back = Vec::new();
        for committed in committed {
            for appended in committed.appended {
                let some = appended.entries.iter();
                taken_back.extend(some.filter_map(|entry| TakenBack::of(entry, committed.veiled)));
                entries.extend(appended.entries);
                tip = Some(appended.tip);
            }
            due.extend(committed.due);
        }
        let Some(tip) = tip else { return (Ok(entries), Answers(due)) };
        self.stand(&entries);
        let mut attempts = 0;
        let applied = loop {
            match self.views.apply(&entries, &tip) {
                Err(error) if error.is_full() && self.stall.wait(&self.applied, attempts) => {
                    attempts += 1;
                    if attempts == ATTEMPTS_ANSWERED {
                        Answers(std::mem::take(&mut due)).refuse_full();
                    }
                }
                other => break other,
            }
        };
        match applied {
            Ok(()) => {
                self.stall.end(&self.applied, attempts);
                self.stood(&entries);
                taken_back.iter().for_each(|taken| self.forget(taken));
                self.applied.advance(tip.next_offset);
                (Ok(entries), Answers(due))
            }
            Err(error) => (Err(error), Answers(due)),
        }
    }

    /// What was read is not kept beyond what is taken back.
    fn forget(&self, taken: &TakenBack) {
        if let (TakenBack::Hidden(offsets), Some(texts)) = (taken, &self.texts) {
            texts.forget_some(offsets);
        }
        let (TakenBack::Cancelled | TakenBack::Erased) = taken else { return };
        if let Some(told) = &self.told {
            told.forget();
        }
        if let (TakenBack::Erased, Some(texts)) = (taken, &self.texts) {
            texts.forget();
        }
        if let Some(served) = &self.served {
            served.forget();
        }
    }

    /// The answers of what was committed but will not be folded any more: it is durable all the
    /// same.
    pub fn answers_only(&self, committed: Committed) -> Answers {
        for appended in &committed.appended {
            self.stand(&appended.entries);
        }
        Answers(committed.due)
    }

    /// What the views say about scopes may be asked anew.
    fn stood(&self, entries: &[Entry]) {
        if let Some(standing) = &self.standing {
            standing.folded(entries);
        }
    }

    /// What is durable is in force, whatever becomes of the views.
    fn stand(&self, entries: &[Entry]) {
        if let Some(standing) = &self.standing {
            standing.apply(entries);
        }
    }
}

/// What an entry takes back.
#[derive(Debug, PartialEq, Eq)]
enum TakenBack {
    /// What is derived from an event.
    Cancelled,
    /// Words that reads may have kept, wherever that is.
    Erased,
    /// Words of these entries, which no read has looked at since they are hidden.
    Hidden(Vec<u64>),
}

impl TakenBack {
    fn of(entry: &Entry, veiled: bool) -> Option<TakenBack> {
        match (entry.head.kind, entry.head.sub) {
            (Kind::Control, control::CANCEL) => Some(TakenBack::Cancelled),
            (Kind::Control, control::ERASE) if veiled => {
                Some(TakenBack::Hidden(entry.head.causes.clone()))
            }
            (Kind::Control, control::ERASE) => Some(TakenBack::Erased),
            _ => None,
        }
    }
}

/// Answers that can be given now.
#[derive(Debug)]
pub struct Answers(Vec<Due>);

impl Answers {
    pub(crate) fn new(due: Vec<Due>) -> Answers {
        Answers(due)
    }

    /// Tells callers that the views have no space. The entries are durable, and the views follow when there is space:
    /// the same request again finds what it asked for done.
    pub(crate) fn refuse_full(self) {
        for due in self.0 {
            match due {
                Due::Write { reply, .. } => drop(reply.send(Err(room::refusal()))),
                Due::Plain { reply } | Due::TakenBack { reply } => {
                    drop(reply.send(Err(room::refusal())));
                }
                Due::Blob { reply, .. } => drop(reply.send(Err(room::refusal()))),
                Due::Version { reply, .. } => drop(reply.send(Err(room::refusal()))),
                Due::Tenant { reply, .. } => drop(reply.send(Err(room::refusal()))),
            }
        }
    }

    /// Gives them. What was appended is durable whatever became of the views.
    pub fn give(self) {
        for due in self.0 {
            match due {
                Due::Write { slots, reply } => {
                    let placed: Option<Vec<Placed>> = slots.into_iter().map(known).collect();
                    drop(reply.send(placed.ok_or_else(lost)));
                }
                Due::Plain { reply } | Due::TakenBack { reply } => drop(reply.send(Ok(()))),
                Due::Blob { placed, reply } => drop(reply.send(Ok(placed))),
                Due::Version { version, reply } => drop(reply.send(Ok(version))),
                Due::Tenant { ordinal, reply } => {
                    drop(reply.send(Ok(Registered::Is(ordinal))));
                }
            }
        }
    }
}

fn known(slot: Slot) -> Option<Placed> {
    match slot {
        Slot::Known(placed) => Some(placed),
        Slot::New(_) | Slot::Twin(_) => None,
    }
}

/// The log returned fewer entries than it was given: its answer cannot be trusted.
fn lost() -> Error {
    Error::LogUnavailable(Box::new(LogError::Poisoned))
}

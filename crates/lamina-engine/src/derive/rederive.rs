//! Reading the events of a scope again with the extractor of today.
//!
//! A new extractor, or a vocabulary that was changed, does nothing to what was derived before: answers
//! are in the log, and a replay repeats them. A run compares what is said today with the answer that
//! stands, and appends the answers that differ. Each takes the place of the earlier one from now on, as
//! the answer of a model does; what was known before stays known as of then. A run can be taken back: by
//! appending the earlier answers once more.
//!
//! Runs belong to whoever has the directory for itself: between looking at an event and appending its
//! answer nobody else may have answered it. So this is for the command line, and no route leads here.

pub(crate) mod fold;
mod reading;
mod tally;

use lamina_core::policy::{Derive, Permit};
use lamina_store::codec::control::{RederiveBegun, RederiveEnded};
use lamina_store::entry::{Kind, control};
use lamina_store::log::{NewEntry, Section};
use lamina_types::{JobId, RecordedAt, ScopePath};
use tokio::sync::oneshot;

use crate::admin::{Noted, by};
use crate::derive::answer::Draft;
use crate::engine::Inner;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

use fold::RunRow;
use reading::{Reading, Round};
use tally::Tally;

pub use tally::{Change, ChangeKind, Said};

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rederive {
    /// Read the events of a scope again.
    Again {
        /// The scope; not what lies below it.
        scope: ScopePath,
        /// What becomes of answers that a model gave.
        models: ModelAnswers,
    },
    /// Take back what a run has brought.
    Undo {
        /// The run.
        run: JobId,
    },
}

/// What becomes of answers that a model gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelAnswers {
    /// They stand.
    Keep,
    /// Those of the extractor take their place.
    Replace,
}

/// Whether anything is written.
#[derive(Debug, Clone)]
pub enum How {
    /// Nothing is.
    Look,
    /// Answers that differ are appended.
    Append(Noted),
}

/// What a run came to, or would come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rederived {
    /// The run that the answers were appended under; `None` if there was nothing to append.
    pub run: Option<JobId>,
    /// It had been begun before, and was carried on.
    pub resumed: bool,
    /// Events that were looked at.
    pub events: u64,
    /// Of these: their answer is what it was.
    pub unchanged: u64,
    /// The answer of a model stands.
    pub of_models: u64,
    /// They have no answer yet, or no words any more.
    pub unanswered: u64,
    /// Something else has answered them since, so there is nothing to take back.
    pub answered_since: u64,
    /// Their answer differs.
    pub differing: u64,
    /// It differs in names and topics, and in no fact.
    pub otherwise: u64,
    /// Facts that were not found before.
    pub added: u64,
    /// Facts that are found otherwise.
    pub changed: u64,
    /// Facts that are not found any more.
    pub lost: u64,
    /// The first of them.
    pub changes: Vec<Change>,
}

/// A run, as the log tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The run.
    pub id: JobId,
    /// Its scope.
    pub scope: ScopePath,
    /// When it began.
    pub begun: RecordedAt,
    /// When it was through, and how many answers it had appended by then.
    pub ended: Option<(RecordedAt, u64)>,
    /// It takes back what this one brought.
    pub undoes: Option<JobId>,
}

/// A run under way.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    id: JobId,
    /// The offset of the entry that began it.
    begun: u64,
    resumed: bool,
}

impl Engine {
    /// Reads the events of a scope again, or takes a run back; `progress` gets events done and in all.
    ///
    /// Bounded by the round: a kill in the middle loses the round under way, and the next call carries
    /// the run on.
    pub async fn rederive(
        &self,
        permit: &Permit<Derive>,
        asked: &Rederive,
        how: &How,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Rederived, Error> {
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        let (scope, reading) = self.inner.to_be_read(tenant, asked)?;
        if !permit.covers(&self.inner.scope_path(tenant, scope)?) {
            return Err(Error::OutsidePermit);
        }
        let all = self.inner.views.scope_events(tenant, scope, u64::MAX)?;
        let (mut tally, mut run, mut after) = (Tally::default(), None::<UnderWay>, None);
        loop {
            let round = self.blocking(move |inner| inner.round(tenant, scope, reading, after));
            let Round { drafts, next, told } = round.await?;
            tally.take(told);
            if let How::Append(noted) = how
                && !drafts.is_empty()
            {
                let under_way = match run {
                    Some(run) => run,
                    None => self.begin(permit, scope, asked, noted).await?,
                };
                run = Some(under_way);
                self.inner.append(drafts, under_way.begun).await?;
            }
            progress(tally.events(), all);
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let mut report = tally.report();
        if run.is_none() && matches!(how, How::Append(_)) {
            // One that was cut short after its last answer is through as well.
            run = self.inner.unfinished(tenant, scope, asked)?;
        }
        if let Some(UnderWay { id, begun, resumed }) = run {
            self.inner.end(tenant, scope, id, begun).await?;
            (report.run, report.resumed) = (Some(id), resumed);
        }
        Ok(report)
    }

    /// The runs of a tenant, the oldest first.
    pub async fn rederive_runs(&self, tenant: u32) -> Result<Vec<Run>, Error> {
        self.inner.caught_up().await;
        let rows = fold::runs(&self.inner.views, tenant)?;
        rows.into_iter().map(|(id, row)| self.inner.run_of(tenant, id, &row)).collect()
    }

    /// Appends the entry that a run begins with, or finds the one of a run that was cut short.
    async fn begin(
        &self,
        permit: &Permit<Derive>,
        scope: u64,
        asked: &Rederive,
        noted: &Noted,
    ) -> Result<UnderWay, Error> {
        let tenant = permit.caller().tenant;
        if let Some(run) = self.inner.unfinished(tenant, scope, asked)? {
            return Ok(run);
        }
        let id = JobId::mint(self.now(), lamina_env::rng::draw::<8>(&*self.inner.env.rng));
        let what = RederiveBegun {
            run: id,
            undoes: asked.undoes(),
            replaces_models: asked.replaces_models(),
        };
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::REDERIVE_BEGUN,
            tenant,
            scope,
            causes: Vec::new(),
            who: by(&self.inner.env, permit, noted),
            what: section(&*self.inner.env.rng, &what.encode()),
        };
        self.inner.control(entry).await?;
        let row = fold::run(&self.inner.views, tenant, id)?.ok_or(Error::NotFound)?;
        Ok(UnderWay { id, begun: row.begun, resumed: false })
    }
}

impl Rederive {
    fn undoes(&self) -> Option<JobId> {
        match self {
            Rederive::Again { .. } => None,
            Rederive::Undo { run } => Some(*run),
        }
    }

    fn replaces_models(&self) -> bool {
        matches!(self, Rederive::Again { models: ModelAnswers::Replace, .. })
    }
}

impl Inner {
    /// The scope that is read, and how.
    fn to_be_read(&self, tenant: u32, asked: &Rederive) -> Result<(u64, Reading), Error> {
        match asked {
            Rederive::Again { scope, models } => {
                let scope = self.views.scope_ordinal(tenant, scope)?.ok_or(Error::NotFound)?;
                Ok((scope, Reading::Again(*models)))
            }
            Rederive::Undo { run } => {
                let RunRow { begun, scope, .. } =
                    fold::run(&self.views, tenant, *run)?.ok_or(Error::NotFound)?;
                Ok((scope, Reading::Undo { begun }))
            }
        }
    }

    /// The last run that was asked for in the same way and is not through.
    fn unfinished(
        &self,
        tenant: u32,
        scope: u64,
        asked: &Rederive,
    ) -> Result<Option<UnderWay>, Error> {
        let rows = fold::runs(&self.views, tenant)?;
        let same = rows.into_iter().rev().find(|(_, row)| {
            row.scope == scope
                && row.ended.is_none()
                && row.undoes == asked.undoes()
                && row.replaces_models == asked.replaces_models()
        });
        Ok(same.map(|(id, row)| UnderWay { id, begun: row.begun, resumed: true }))
    }

    fn run_of(&self, tenant: u32, id: JobId, row: &RunRow) -> Result<Run, Error> {
        Ok(Run {
            id,
            scope: self.scope_path(tenant, row.scope)?,
            begun: row.at,
            ended: row.ended.map(|at| (at, row.answers)),
            undoes: row.undoes,
        })
    }

    /// Appends the answers of a round, with one sync, and waits until they are folded.
    async fn append(&self, drafts: Vec<Draft>, begun: u64) -> Result<(), Error> {
        let answerer = self.answerer.as_ref().ok_or(Error::NotBuilt { what: "derivation" })?;
        let of_run = |mut draft: Draft| {
            let mut entry = answerer.entry(&mut draft);
            entry.causes.push(begun);
            entry
        };
        let entries = drafts.into_iter().map(of_run).collect();
        let (reply, answer) = oneshot::channel();
        self.submit(Request::Answers { entries, reply }, answer).await?;
        self.caught_up().await;
        Ok(())
    }

    async fn end(&self, tenant: u32, scope: u64, run: JobId, begun: u64) -> Result<(), Error> {
        let row = fold::run(&self.views, tenant, run)?.ok_or(Error::NotFound)?;
        let what = RederiveEnded { run, answers: row.answers };
        self.control(NewEntry {
            kind: Kind::Control,
            sub: control::REDERIVE_ENDED,
            tenant,
            scope,
            causes: vec![begun],
            who: Section::absent(),
            what: section(&*self.env.rng, &what.encode()),
        })
        .await
    }

    async fn control(&self, entry: NewEntry) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Request::Control { entry: Box::new(entry), reply }, answer).await?;
        self.caught_up().await;
        Ok(())
    }
}

#[cfg(test)]
mod tests;

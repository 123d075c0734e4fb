//! Runs of requests to forget. Before a run removes anything, the log names every record that it removes; so a run that a
//! crash or a shutdown cut short goes on after the next start, without its caller and whatever has changed since.

use std::ops::ControlFlow;

use lamina_store::codec::control::{ForgetBegun, ForgetPart, ForgetPlan, ForgetRun, Forgotten};
use lamina_store::entry::{Entry, Kind, Place, control};
use lamina_store::kv::{Direction, Space};
use lamina_store::log::{EraseTarget, NewEntry, Section};
use lamina_types::forget::{Cascade, Layers};
use tokio::sync::oneshot;

use super::ForgetPermit;
use super::run::{EVENTS_AT_ONCE, Going};
use crate::admin::Noted;
use crate::derive::forgotten::ForgettingRow;
use crate::derive::key;
use crate::derive::read::walk;
use crate::engine::Inner;
use crate::write::capture::{Remains, Request};
use crate::write::prepare::section;
use crate::{Engine, Error};

/// Records named in one entry of a plan.
const NAMED_AT_ONCE: usize = if cfg!(test) { 3 } else { 8_192 };
/// Bytes of one entry of a plan, roughly: an entry that a run appends can have several hundred thousand.
const PART_BYTES_MAX: usize = 512 * 1_024;
/// Entries and bytes read at a time.
const ENTRIES_AT_ONCE: usize = 1_024;
const BYTES_AT_ONCE: usize = 4 * 1_024 * 1_024;

/// A run of a request to forget.
#[derive(Debug)]
pub(super) struct ForgetJob {
    pub(super) tenant: u32,
    /// The scope of its entries.
    pub(super) scope: u64,
    pub(super) cascade: Cascade,
    pub(super) run: ForgetRun,
}

/// Who asked for a run, as its entries say.
#[derive(Debug)]
pub(super) enum Requester<'a> {
    /// The caller, who waits.
    Permit(&'a ForgetPermit, &'a Noted),
    /// The caller whom the entry names that began the run, unless an erasure took that.
    Recorded(Option<Vec<u8>>),
}

impl Requester<'_> {
    fn section(&self, inner: &Inner) -> Section {
        match self {
            Requester::Permit(permit, noted) => permit.who(&inner.env, noted),
            Requester::Recorded(Some(by)) => section(&*inner.env.rng, by),
            Requester::Recorded(None) => Section::absent(),
        }
    }
}

impl Engine {
    /// Begins a run: its plan is durable before anything goes.
    pub(super) async fn run_forget(
        &self,
        mut job: ForgetJob,
        layers: Layers,
        who: Requester<'_>,
    ) -> Result<(), Error> {
        let parts = parts(std::mem::take(&mut job.run.plan));
        let mut begun = job.run.clone();
        match &parts[..] {
            [] => {}
            [whole] => begun.plan = whole.clone(),
            parts => {
                begun.parts = parts.len() as u64;
                for plan in parts {
                    let part = ForgetPart { run: begun.id, plan: plan.clone() };
                    let bytes = part.encode();
                    self.append_forget(&job, control::FORGET_PLANNED, Section::absent(), &bytes)
                        .await?;
                }
            }
        }
        let begun = ForgetBegun { cascade: job.cascade, layers, run: Some(begun) };
        let by = who.section(&self.inner);
        self.append_forget(&job, control::FORGET_BEGUN, by, &begun.encode()).await?;
        self.finish_forget(&job, parts, &who).await
    }

    /// Removes what the plan of a run names, in pieces of a bounded size, and notes its end. Whatever an earlier attempt
    /// removed is removed once more without effect.
    async fn finish_forget(
        &self,
        job: &ForgetJob,
        plan: Vec<ForgetPlan>,
        who: &Requester<'_>,
    ) -> Result<(), Error> {
        for part in plan {
            let ForgetPlan { suppress, events, declarations } = part;
            for entry in suppress {
                let by = who.section(&self.inner);
                self.append_forget(job, control::SUPPRESS, by, &entry).await?;
            }
            for some in events.chunks(EVENTS_AT_ONCE) {
                let some = some.iter().copied().collect();
                let how = Going { who: false, remains: Remains::default() };
                self.erase_words(job.tenant, &some, how).await?;
            }
            self.erase_declarations(job.tenant, &declarations).await?;
        }
        let ForgetRun { id, requested, matched, deleted, audit_id, key, .. } = job.run;
        let cascade = job.cascade;
        let ended =
            Forgotten { cascade, deleted, requested, matched, audit_id, key, run: Some(id) };
        let by = who.section(&self.inner);
        self.append_forget(job, control::FORGOTTEN, by, &ended.encode()).await
    }

    /// Removes the words of beliefs that were declared.
    async fn erase_declarations(
        &self,
        tenant: u32,
        declarations: &[(u64, u64)],
    ) -> Result<(), Error> {
        let target = |(offset, place): &(u64, u64)| EraseTarget {
            offset: *offset,
            place: Place(*place),
            who: false,
            what: true,
        };
        for some in declarations.chunks(EVENTS_AT_ONCE) {
            let (reply, answer) = oneshot::channel();
            let (targets, remains) = (some.iter().map(target).collect(), Remains::default());
            let request = Request::Erase { tenant, targets, remains, reply };
            self.inner.submit(request, answer).await?;
        }
        Ok(())
    }

    async fn append_forget(
        &self,
        job: &ForgetJob,
        sub: u16,
        who: Section,
        what: &[u8],
    ) -> Result<(), Error> {
        let entry = NewEntry {
            kind: Kind::Control,
            sub,
            tenant: job.tenant,
            scope: job.scope,
            causes: Vec::new(),
            who,
            what: section(&*self.inner.env.rng, what),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::TakeBack { entry: Box::new(entry), reply }, answer).await
    }

    /// Resumes the runs that a crash or a shutdown cut short, beside serving. Gives their number.
    pub async fn forgets_resume(&self) -> Result<usize, Error> {
        self.inner.caught_up().await;
        let left = self.blocking(Inner::forgets_left).await?;
        let count = left.len();
        if count == 0 {
            return Ok(0);
        }
        let engine = self.clone();
        tokio::spawn(async move {
            let _turn = engine.inner.admin.forgetting.turn.lock().await;
            for row in left {
                match engine.resume_forget(row).await {
                    Ok(()) => {}
                    Err(Error::ShuttingDown) => return,
                    Err(error) => {
                        tracing::error!(
                            %error, offset = row.begun,
                            "a request to forget stopped; the next start resumes it"
                        );
                    }
                }
            }
            tracing::info!(count, "requests to forget that were cut short have ended");
        });
        Ok(count)
    }

    async fn resume_forget(&self, row: ForgettingRow) -> Result<(), Error> {
        let (job, parts, by) = self.blocking(move |inner| inner.forget_recorded(row)).await?;
        // Marks that what is erased from here on is not of an erasure that was cut short later.
        let mark = ForgetPart { run: job.run.id, plan: ForgetPlan::default() }.encode();
        self.append_forget(&job, control::FORGET_PLANNED, Section::absent(), &mark).await?;
        self.finish_forget(&job, parts, &Requester::Recorded(by)).await
    }
}

impl Inner {
    /// The runs that have not ended, oldest first.
    pub(crate) fn forgets_left(&self) -> Result<Vec<ForgettingRow>, Error> {
        let mut left = Vec::new();
        for tenant in self.views.tenants()? {
            let (from, to) = key::forget::all_forgetting(tenant.ordinal);
            walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |_, row| {
                left.extend(ForgettingRow::decode(row).ok());
                ControlFlow::Continue(())
            })?;
        }
        left.sort_by_key(|row| row.begun);
        Ok(left)
    }

    /// A run as the log has it: the job, its plan, and who asked for it.
    #[expect(clippy::type_complexity, reason = "the parts go to one caller")]
    fn forget_recorded(
        &self,
        row: ForgettingRow,
    ) -> Result<(ForgetJob, Vec<ForgetPlan>, Option<Vec<u8>>), Error> {
        let entry = self.reader.entry(row.begun, row.place)?;
        let unreadable = || Error::Undecodable { what: "a request to forget" };
        let begun = entry.what.live().ok_or_else(unreadable)?;
        let begun = ForgetBegun::decode(begun).map_err(|_| unreadable())?;
        let mut run = begun.run.ok_or_else(unreadable)?;
        let mut parts = vec![std::mem::take(&mut run.plan)];
        let mut from = run.parts_from;
        let mut missing = run.parts;
        while missing > 0 && from < row.begun {
            let entries = self.reader.read(from, None, ENTRIES_AT_ONCE, BYTES_AT_ONCE)?;
            let Some(last) = entries.last() else { break };
            from = last.head.offset + 1;
            let before = entries.iter().filter(|entry| entry.head.offset < row.begun);
            for part in before.filter_map(|entry| part_of(entry, &run.id)) {
                missing = missing.saturating_sub(1);
                parts.push(part);
            }
        }
        if missing > 0 {
            return Err(unreadable());
        }
        let by = entry.who.live().map(<[u8]>::to_vec);
        let (tenant, scope) = (entry.head.tenant, entry.head.scope);
        Ok((ForgetJob { tenant, scope, cascade: begun.cascade, run }, parts, by))
    }
}

/// The part of the plan of a run that an entry has.
fn part_of(entry: &Entry, run: &[u8; 16]) -> Option<ForgetPlan> {
    let head = &entry.head;
    let is_part = head.kind == Kind::Control && head.sub == control::FORGET_PLANNED;
    let part = ForgetPart::decode(entry.what.live().filter(|_| is_part)?).ok()?;
    (part.run == *run).then_some(part.plan)
}

/// Splits a plan into parts that fit into an entry each, in the order in which they are carried out.
fn parts(plan: ForgetPlan) -> Vec<ForgetPlan> {
    let ForgetPlan { suppress, events, declarations } = plan;
    let mut parts = vec![ForgetPlan::default()];
    let mut bytes = 0;
    let mut room = |parts: &mut Vec<ForgetPlan>, size: usize| {
        let is_full = parts.last().is_some_and(|last| last.len() >= NAMED_AT_ONCE);
        bytes += size;
        if is_full || (bytes > PART_BYTES_MAX && bytes > size) {
            parts.push(ForgetPlan::default());
            bytes = size;
        }
    };
    for entry in suppress {
        room(&mut parts, entry.len());
        parts.last_mut().expect("there is one").suppress.push(entry);
    }
    for event in events {
        room(&mut parts, 16);
        parts.last_mut().expect("there is one").events.push(event);
    }
    for declared in declarations {
        room(&mut parts, 16);
        parts.last_mut().expect("there is one").declarations.push(declared);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

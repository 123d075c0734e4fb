//! The phase in which words go.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use lamina_store::codec::control::ErasureCounts;
use lamina_store::kv::Space;
use lamina_store::log::EraseTarget;
use lamina_types::EventId;
use tokio::sync::oneshot;

use super::Work;
use super::plan::{Plan, Staying};
use super::run::{DELETE, Job};
use crate::derive::read::row;
use crate::derive::rows::AnswerRow;
use crate::derive::{key, traces};
use crate::engine::Inner;
use crate::forget::Going;
use crate::write::capture::{Remains, Request};
use crate::{Engine, Error};

/// Events whose words go at once: others write in between. With an answer each, that is one entry that erases.
const EVENTS_AT_ONCE: usize = if cfg!(test) { 3 } else { 256 };
/// How many times as long as it worked an erasure rests at most.
const REST_TIMES_MAX: u32 = 4;
/// How often it is looked whether the engine closes while an erasure rests.
const REST_STEP: Duration = Duration::from_millis(50);

/// Whether anybody can see what goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Seen,
    /// No read looks there any more: nobody waits for it, and there is no hurry.
    Hidden,
}

impl Engine {
    /// Takes the words of events, and what else there is of the scopes.
    pub(super) async fn take_words(
        &self,
        (job, work): (&Job, &Work),
        plan: &Plan,
        counts: &mut ErasureCounts,
    ) -> Result<(), Error> {
        let tenant = job.wanted.tenant;
        // Those that are seen from other scopes first: nobody looks into the others any more. An erasure of single
        // events hides nothing.
        let (seen, hidden): (Vec<EventId>, Vec<EventId>) = plan
            .words()
            .into_iter()
            .partition(|event| plan.outside.contains(event) || !job.wanted.events.is_empty());
        work.all.store((seen.len() + hidden.len()) as u64, Ordering::Relaxed);
        let order = move |inner: &Inner| {
            Ok((inner.by_track(tenant, seen)?, inner.by_track(tenant, hidden)?))
        };
        let (seen, hidden) = self.blocking(order).await?;
        for some in seen.chunks(EVENTS_AT_ONCE) {
            self.take_some((job, work), plan, counts, (some, Sight::Seen)).await?;
        }
        for some in hidden.chunks(EVENTS_AT_ONCE) {
            let clock = &*self.inner.env.clock;
            let (began, used) = (clock.monotonic(), clock.processor());
            self.take_some((job, work), plan, counts, (some, Sight::Hidden)).await?;
            let (took, used) = (clock.monotonic().since(began), clock.processor().since(used));
            self.rest(half(took, used)).await;
        }
        let standing: Vec<&Staying> = plan.standing.values().collect();
        for some in standing.chunks(EVENTS_AT_ONCE) {
            let target = |one: &&Staying| EraseTarget {
                offset: one.offset,
                place: one.place,
                who: true,
                what: true,
            };
            let stays = some.iter().map(|one| (one.offset, one.scopes.iter().copied().collect()));
            let remains = Remains { stays: stays.collect(), ..Remains::default() };
            self.take_back(job, some.iter().map(target).collect(), remains).await?;
        }
        for targets in plan.worded.chunks(EVENTS_AT_ONCE) {
            self.take_back(job, targets.to_vec(), Remains::default()).await?;
        }
        self.take_blobs(job).await
    }

    /// Takes the words of some events.
    async fn take_some(
        &self,
        (job, work): (&Job, &Work),
        plan: &Plan,
        counts: &mut ErasureCounts,
        (some, sight): (&[EventId], Sight),
    ) -> Result<(), Error> {
        let some: BTreeSet<EventId> = some.iter().copied().collect();
        let staying = some.iter().filter_map(|event| plan.redact.get(event));
        let stays: BTreeMap<u64, Vec<u64>> =
            staying.map(|one| (one.offset, one.scopes.iter().copied().collect())).collect();
        let redacted = stays.len() as u64;
        let remains = Remains { stays, refuse_keys: true, hidden: sight == Sight::Hidden };
        self.erase_words(job.wanted.tenant, &some, Going { who: true, remains }).await?;
        counts.redacted_events += redacted;
        counts.deleted_events += some.len() as u64 - redacted;
        work.done.fetch_add(some.len() as u64, Ordering::Relaxed);
        // What is done is known after a crash.
        self.step((job, work), DELETE, *counts).await
    }

    /// Rests, but not while the engine closes.
    async fn rest(&self, mut left: Duration) {
        while !left.is_zero() && !self.inner.shared.closing.load(Ordering::Acquire) {
            let step = left.min(REST_STEP);
            tokio::time::sleep(step).await;
            left -= step;
        }
    }

    async fn take_back(
        &self,
        job: &Job,
        targets: Vec<EraseTarget>,
        remains: Remains,
    ) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        let tenant = job.wanted.tenant;
        self.inner.submit(Request::Erase { tenant, targets, remains, reply }, answer).await
    }
}

/// How long to rest so that work takes less than half a core, which used processors for some of its time: what is done beside
/// it has a share as well. Others may have used them too, so it is not made longer without end.
fn half(took: Duration, used: Duration) -> Duration {
    let wanted = (used.saturating_mul(5) / 2).saturating_sub(took);
    wanted.min(took.saturating_mul(REST_TIMES_MAX))
}

impl Inner {
    /// Events in the order in which their words go: those that speak of the same together, because what is known
    /// of it is made again from the rest each time; the latest first, because what came first is looked for.
    fn by_track(&self, tenant: u32, events: Vec<EventId>) -> Result<Vec<EventId>, Error> {
        let mut keyed = Vec::with_capacity(events.len());
        for id in events {
            let offset = self.views.event(tenant, id)?.map_or(0, |row| row.offset);
            let answers = traces::of_event(&self.views, tenant, offset)?;
            let last = match answers.last() {
                // Read once: not worth a place among what reads remember.
                Some((answer, _)) => {
                    let stored = key::answer(tenant, *answer);
                    row(&self.views, Space::Sources, &stored, AnswerRow::decode)?
                }
                None => None,
            };
            let track = last.and_then(|row| row.tracks.first().copied());
            keyed.push((track, Reverse(offset), id));
        }
        keyed.sort_unstable();
        Ok(keyed.into_iter().map(|(_, _, id)| id).collect())
    }
}

#[cfg(test)]
mod tests;

//! The phase in which words go.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use lamina_store::codec::control::ErasureCounts;
use lamina_store::log::EraseTarget;
use lamina_types::EventId;
use tokio::sync::oneshot;

use super::Work;
use super::plan::{Plan, Staying};
use super::run::{DELETE, Job};
use crate::forget::Going;
use crate::write::capture::{Remains, Request};
use crate::{Engine, Error};

/// Events whose words go at once: others write in between.
const EVENTS_AT_ONCE: usize = if cfg!(test) { 3 } else { 512 };

impl Engine {
    /// Takes the words of events, and of what was declared.
    pub(super) async fn take_words(
        &self,
        (job, work): (&Job, &Work),
        plan: &Plan,
        counts: &mut ErasureCounts,
    ) -> Result<(), Error> {
        // Those that are seen from other scopes first: nobody looks into the others any more.
        let (mut words, others): (Vec<EventId>, Vec<EventId>) =
            plan.words().into_iter().partition(|event| plan.outside.contains(event));
        words.extend(others);
        work.all.store(words.len() as u64, Ordering::Relaxed);
        for some in words.chunks(EVENTS_AT_ONCE) {
            let some: BTreeSet<EventId> = some.iter().copied().collect();
            let staying = plan.redact.iter().filter(|(event, _)| some.contains(event));
            let stays = staying.map(|(_, one)| (one.offset, one.scopes.iter().copied().collect()));
            let remains = Remains { stays: stays.collect(), refuse_keys: true };
            self.erase_words(job.wanted.tenant, &some, Going { who: true, remains }).await?;
            let redacted = some.iter().filter(|id| plan.redact.contains_key(id)).count() as u64;
            counts.redacted_events += redacted;
            counts.deleted_events += some.len() as u64 - redacted;
            work.done.fetch_add(some.len() as u64, Ordering::Relaxed);
            // What is done is known after a crash.
            self.step((job, work), DELETE, *counts).await?;
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
            let remains = Remains { stays: stays.collect(), refuse_keys: false };
            self.take_back(job, some.iter().map(target).collect(), remains).await?;
        }
        for targets in plan.declared.chunks(EVENTS_AT_ONCE) {
            self.take_back(job, targets.to_vec(), Remains::default()).await?;
        }
        Ok(())
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

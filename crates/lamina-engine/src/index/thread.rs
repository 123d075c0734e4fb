//! The thread that follows the views, and the one that makes durable what it put.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use lamina_env::Clock;
use lamina_index::{Change, Layer};
use lamina_store::codec::control::Cancel;
use lamina_store::entry::{Entry, Kind, Place, control};
use lamina_store::log::{ErasePayload, LogReader};
use lamina_store::view::Views;
use lamina_types::EventId;

use super::{Search, Wake, Woken, document};
use crate::Error;
use crate::derive::pace::{Pace, background};
use crate::write::room::Room;
use crate::write::stages::Fed;

/// Entries and bytes taken from the log at a time: as few as derivation takes, because a rest is in
/// proportion to the work before it and has an end.
const ENTRIES_AT_ONCE: usize = if cfg!(test) { 32 } else { 65 };
const BYTES_AT_ONCE: usize = 8 * 1_024 * 1_024;
/// How long an idle thread sleeps.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often what was put is made durable. What is lost in a crash is put again from the log, so this
/// is rare: each time costs a sync that captures wait behind.
const LOOKS_PER_COMMIT: u32 = 20;
/// How often it is looked whether something is to be purged.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Bytes that are freed for a purge.
const PURGE_ROOM: u64 = 4 * 1_024 * 1_024;
/// How long to wait before something that failed is tried again, and how often.
const PAUSE: Duration = Duration::from_millis(500);
const ATTEMPTS_MAX: u32 = 5;

/// How often a damaged index is made again before the disk is given up.
const HEALS_MAX: u32 = 5;

/// What came of dropping a damaged index.
enum Heal {
    /// The log is followed from its beginning.
    Begun,
    /// It could not be dropped yet.
    Later,
    /// It stays damaged until a restart.
    Never,
}

/// What following takes.
#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) search: Arc<Search>,
    pub(crate) wake: Arc<Wake>,
    pub(crate) reader: Arc<dyn LogReader>,
    pub(crate) views: Arc<Views>,
    /// Lets captures go first.
    pub(crate) pace: Pace,
    /// Tells how long the work was.
    pub(crate) clock: Arc<dyn Clock>,
}

impl Follower {
    /// Runs until the engine closes, and says how far it has come.
    pub(crate) fn run(self, to_stages: &SyncSender<Fed>) {
        background("indexing");
        let _gone = Gone(&self, to_stages);
        let mut next = self.search.found.offset();
        // Where the log keeps the entry before the next: a segment is not walked from its beginning.
        let mut last: Option<(u64, Place)> = None;
        let (mut attempt, mut heals) = (0, 0);
        loop {
            if self.search.index.is_condemned() {
                match self.heal(&mut heals) {
                    Heal::Begun => (next, last, attempt) = (0, None, 0),
                    Heal::Later => {}
                    Heal::Never => return,
                }
                continue;
            }
            let until = match self.wake.beyond(next, PATIENCE) {
                Woken::To(until) => until,
                Woken::Nothing => {
                    self.search.end_healing();
                    continue;
                }
                Woken::Closed => return,
            };
            let begun = self.clock.monotonic();
            match self.follow(next, until, last) {
                Ok((through, at)) => {
                    attempt = 0;
                    (next, last) = (through, at);
                    self.search.found.advance(next);
                    if next >= until {
                        self.search.end_healing();
                    }
                    drop(to_stages.send(Fed::Indexed { through: next }));
                    let enough = || self.wake.is_closed() || self.search.is_asked();
                    self.pace.rest(self.clock.monotonic().since(begun), enough);
                }
                Err(Error::SearchUnavailable(error)) if error.calls_for_rebuild() => {
                    self.search.failed(&error);
                }
                Err(error) if attempt < ATTEMPTS_MAX => {
                    attempt += 1;
                    tracing::warn!(%error, next, "the search index cannot follow; trying again");
                    self.wake.rest(PAUSE);
                }
                Err(error) => {
                    tracing::error!(%error, next, "the search index stops until a restart");
                    return;
                }
            }
        }
    }

    /// Drops a damaged index, so that it is made again from the log while the server serves.
    fn heal(&self, heals: &mut u32) -> Heal {
        if self.wake.is_closed() {
            return Heal::Never;
        }
        if *heals == HEALS_MAX {
            tracing::error!(
                "the search index is damaged again and again; look at the disk. Events are read instead until a restart"
            );
            return Heal::Never;
        }
        match self.search.start_healing() {
            Ok(()) => {
                *heals += 1;
                tracing::info!("the damaged search index is made again from the log");
                Heal::Begun
            }
            Err(error) => {
                tracing::warn!(%error, "the damaged search index cannot be dropped; trying again");
                self.wake.rest(PAUSE);
                Heal::Later
            }
        }
    }

    /// Puts the next few entries. Gives the offset after the last.
    fn follow(
        &self,
        from: u64,
        until: u64,
        last: Option<(u64, Place)>,
    ) -> Result<(u64, Option<(u64, Place)>), Error> {
        let (start, place) = last.map_or((from, None), |(offset, place)| (offset, Some(place)));
        let entries = self.reader.read(start, place, ENTRIES_AT_ONCE, BYTES_AT_ONCE)?;
        let ahead = |entry: &&Entry| (from..until).contains(&entry.head.offset);
        let entries = entries.iter().filter(ahead);
        let (mut next, mut last) = (from, last);
        let mut changes: BTreeMap<u32, Vec<Change>> = BTreeMap::new();
        let mut erased: BTreeSet<u32> = BTreeSet::new();
        for entry in entries {
            next = entry.head.offset + 1;
            last = Some((entry.head.offset, entry.place));
            let of_tenant = changes.entry(entry.head.tenant).or_default();
            match (entry.head.kind, entry.head.sub) {
                (Kind::Experience, _) => of_tenant.push(self.event(entry)?),
                (Kind::Control, control::CANCEL) => {
                    let cancel = entry.what.live().and_then(|what| Cancel::decode(what).ok());
                    of_tenant.extend(cancel.map(|cancel| gone(cancel.event_id)));
                }
                (Kind::Control, control::ERASE) => {
                    for (tenant, event) in self.erased(entry)? {
                        changes.entry(tenant).or_default().push(gone(event));
                        erased.insert(tenant);
                    }
                }
                _ => {}
            }
        }
        let (index, purging) = (&self.search.index, &self.search.purging);
        for (tenant, changes) in changes {
            // What is put again after a crash is put once.
            index.apply(tenant, &changes, purging.noted(from)).map_err(Error::from)?;
        }
        if let Some(further) = self.search.further.as_ref().filter(|_| !erased.is_empty()) {
            further.forget();
        }
        // What is to be purged is noted as done when it is: a crash in between does it again.
        let noted = purging.followed(&erased, from, next);
        index.apply(0, &[], noted).map_err(Error::from)?;
        Ok((next, last))
    }

    /// What can be found of an event; what cannot any more is removed.
    fn event(&self, entry: &Entry) -> Result<Change, Error> {
        let id = entry.head.event_id();
        let row = self.views.event(entry.head.tenant, id)?;
        let document = row.as_ref().and_then(|row| row.listed()).and_then(|facets| {
            document::of_event(entry, facets, &|text| self.search.meaning(text))
        });
        Ok(document.map_or_else(|| gone(id), Change::Put))
    }

    /// The events whose words an erasure takes.
    fn erased(&self, entry: &Entry) -> Result<Vec<(u32, EventId)>, Error> {
        let payload = entry.what.live().and_then(ErasePayload::decode);
        let targets = payload.map(|payload| payload.targets).unwrap_or_default();
        let mut events = Vec::new();
        for target in targets.iter().filter(|target| target.what) {
            events.extend(self.views.event_at(target.offset)?);
        }
        Ok(events)
    }
}

fn gone(event: EventId) -> Change {
    Change::Remove { layer: Layer::Event, id: *event.as_bytes() }
}

/// Says that nothing more is put, however the thread ends: nobody waits for what does not come.
struct Gone<'a>(&'a Follower, &'a SyncSender<Fed>);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        // After a restart it goes on where it was.
        if !self.0.wake.is_closed() {
            self.0.search.end_following();
            drop(self.1.send(Fed::Indexed { through: u64::MAX }));
        }
    }
}

/// Makes durable what was put, and purges what was erased, until the engine closes.
pub(crate) fn commit(search: &Search, wake: &Wake, room: &Room) {
    background("committing the index");
    let mut looks = 0_u32;
    loop {
        wake.rest(LOOK_EVERY);
        let closing = wake.is_closed();
        // A purge takes erased words out of the files, also on a full disk.
        let may_purge = !search.purging.is_due() || room.secure(PURGE_ROOM);
        if !may_purge || !search.purging.run(&search.index) {
            // Searches find nothing of it any more; its bytes are still there.
            wake.rest(PAUSE);
        }
        looks += 1;
        if (closing || u32::is_multiple_of(looks, LOOKS_PER_COMMIT))
            && search.index.is_dirty()
            && !room.is_low()
            && let Err(error) = search.index.commit()
        {
            // What is not durable is put again after a restart.
            tracing::warn!(%error, "the search index could not be made durable; the log has everything");
            if error.calls_for_rebuild() {
                search.failed(&error);
            }
        }
        if closing {
            return;
        }
    }
}

#[cfg(test)]
mod tests;

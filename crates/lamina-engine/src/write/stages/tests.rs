//! The stage thread's state, driven by hand.

use std::io;
use std::path::Path;

use lamina_env::sim::disk::SimDisk;
use lamina_store::kv::{Direction, Kv, MemKv, Space, Visit};
use lamina_store::log::NewEntry;
use parking_lot::Mutex;
use tokio::sync::broadcast;

use super::*;
use crate::Settings;
use crate::open::{self, FIRST_TENANT};
use crate::write::hub::Told;
use crate::write::prepare::section;
use crate::write::testing;

/// Begins to listen when the first stage runs: in the middle of a round.
#[derive(Debug)]
struct Listens {
    hub: Arc<Hub>,
    heard: Arc<Mutex<Option<broadcast::Receiver<Told>>>>,
}

impl StageWorker for Listens {
    fn run(&mut self, flight: &Flight, stage: Stage, n: u32) -> Result<Performed, StageError> {
        self.heard.lock().get_or_insert_with(|| self.hub.listen());
        NothingDerived.run(flight, stage, n)
    }
}

fn experience(rng: &dyn Rng) -> NewEntry {
    let (who, what) = testing::experience("user:alice", 1, [1; 32]);
    NewEntry {
        kind: Kind::Experience,
        sub: 0,
        tenant: FIRST_TENANT,
        scope: 1,
        causes: Vec::new(),
        who: section(rng, &who),
        what: section(rng, &what),
    }
}

/// A listener that resumes reads the rows first. Rows that were made before it listened and written
/// after it read must reach it all the same.
#[test]
fn who_listens_in_the_middle_of_a_round_is_told_to_read_its_rows() {
    let env = testing::env(3, &Arc::new(SimDisk::new()));
    let data = Path::new("/data");
    let lock = open::lock(&env, data).unwrap();
    let kv = Arc::new(MemKv::new());
    let settings = Settings { ballast_bytes: 0, ..Settings::new(data) };
    let mut parts = open::open_parts(&settings, env.clone(), kv, lock).unwrap().into_parts();
    let two = vec![experience(&*env.rng), experience(&*env.rng)];
    let appended = parts.log.append(two, None).unwrap();
    let hub = Arc::new(Hub::default());
    let heard = Arc::new(Mutex::new(None));
    let worker = Listens { hub: Arc::clone(&hub), heard: Arc::clone(&heard) };
    let reader = parts.log.reader();
    let tip = parts.log.tip();
    let mut stages =
        open::stages_of(&env, &parts.views, &hub, &reader, &tip, Box::new(worker)).unwrap();
    stages.feed(&appended.entries).unwrap();
    let mut heard = heard.lock().take().unwrap();
    // The first event set out unheard; so the rows come first, then what was heard of the second.
    assert!(matches!(heard.try_recv(), Ok(Told::Rows)));
    let [first, second] = [0, 1].map(|index| appended.entries[index].head.event_id());
    let rest: Vec<Told> = std::iter::from_fn(|| heard.try_recv().ok()).collect();
    let of_second =
        |told: &Told| matches!(told, Told::Event(shown) if shown.event.event_id == second);
    assert!(rest.iter().all(of_second) && rest.len() == 4, "{rest:?}");
    for event in [first, second] {
        assert_eq!(parts.views.lifecycle_of_event(FIRST_TENANT, event).unwrap().len(), 4);
    }
}

/// A store whose readers see a batch write by write, as those of the real one do.
#[derive(Debug, Default)]
struct Piecemeal {
    inner: MemKv,
    reader: Mutex<Option<Looks>>,
}

/// A reader of one event.
#[derive(Debug)]
struct Looks {
    views: Arc<Views>,
    event: EventId,
    offset: u64,
}

impl Looks {
    /// The stages of an event that is through, as many as there are rows.
    fn look(&self) -> Option<usize> {
        let through = self.views.pipeline_watermark().unwrap() > self.offset;
        let rows = self.views.lifecycle_of_event(FIRST_TENANT, self.event).unwrap();
        through.then_some(rows.len())
    }
}

impl Kv for Piecemeal {
    fn get(&self, space: Space, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.inner.get(space, key)
    }

    fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        self.inner.scan(space, from, to, direction, visit)
    }

    fn write(&self, batch: Batch) -> io::Result<()> {
        for write in batch.writes {
            self.inner.write(Batch { writes: vec![write] })?;
            if let Some(reader) = &*self.reader.lock() {
                assert_ne!(reader.look(), Some(0), "it is through and has no rows");
            }
        }
        Ok(())
    }

    fn persist(&self) -> io::Result<()> {
        self.inner.persist()
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        self.inner.disk_bytes()
    }

    fn compact(&self) -> io::Result<()> {
        self.inner.compact()
    }
}

/// How long each stage took is told by the rows. An event that is through has them, whenever one looks.
#[test]
fn an_event_is_not_through_before_its_rows_are_there() {
    let env = testing::env(4, &Arc::new(SimDisk::new()));
    let data = Path::new("/data");
    let lock = open::lock(&env, data).unwrap();
    let kv = Arc::new(Piecemeal::default());
    let settings = Settings { ballast_bytes: 0, ..Settings::new(data) };
    let store = Arc::clone(&kv) as Arc<dyn Kv>;
    let mut parts = open::open_parts(&settings, env.clone(), store, lock).unwrap().into_parts();
    let appended = parts.log.append(vec![experience(&*env.rng)], None).unwrap();
    let (hub, reader, tip) = (Arc::new(Hub::default()), parts.log.reader(), parts.log.tip());
    let worker = Box::new(NothingDerived);
    let mut stages = open::stages_of(&env, &parts.views, &hub, &reader, &tip, worker).unwrap();
    let head = &appended.entries[0].head;
    let views = Arc::clone(&parts.views);
    let looks = Looks { views, event: head.event_id(), offset: head.offset };
    *kv.reader.lock() = Some(looks);
    stages.feed(&appended.entries).unwrap();
    let reader = kv.reader.lock().take().unwrap();
    assert_eq!(reader.look(), Some(4));
}

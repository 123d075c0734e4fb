//! The stage thread's state, driven by hand.

use std::path::Path;

use lamina_env::sim::disk::SimDisk;
use lamina_store::kv::MemKv;
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

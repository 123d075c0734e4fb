//! A backup that was made while an erasure was at work: the job ends in the restored log as it would have, and its
//! certificate names what was erased for it, whoever else has erased since.

use lamina_store::certificate::Told;

use super::*;
use crate::backup::{Erasures, make, restore};
use crate::forget::Going;
use crate::write::capture::Remains;

const EVENTS: usize = 11;

fn open(dir: &Path) -> World {
    let ledger = Some(dir.with_extension("ledger"));
    let settings = Settings { ledger, ..Settings::new(dir) };
    let opened = Engine::open_deriving(settings, Env::real(), Arc::new(Plain));
    World::over(opened.unwrap().0, 1_000_000)
}

async fn close(world: World) {
    world.engine.shutdown().await;
    while Arc::strong_count(&world.engine.inner) > 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

impl World {
    async fn come_to(&self, id: ErasureId, phase: usize) {
        loop {
            let status = self.engine.erasure(1, id).await.unwrap();
            if status.phase >= phase || status.outcome != Outcome::Running {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn certificate(&self, id: ErasureId) -> String {
        let caller = "user:officer".parse().unwrap();
        let made = self.engine.erasure_certificate(1, id, &caller).await.unwrap();
        made.unwrap().certificate
    }

    /// Erases events as the job does.
    async fn erases(&self, events: &[EventId]) {
        let going = Going { who: true, remains: Remains::default() };
        let events = events.iter().copied().collect();
        self.engine.erase_words(1, &events, going).await.unwrap();
    }

    async fn forgets(&self, event: EventId) {
        let may = ForgetPermit::RedactEvents(permit_of(1, "user:bob", Some(&path(TEAM))));
        self.engine.forget(may, redacting(TEAM, &[event]), noted()).await.unwrap();
    }
}

/// Something of the scope that is erased, and something of somebody else.
async fn told(world: &mut World) -> (Vec<EventId>, EventId) {
    let mut events = Vec::new();
    for index in 0..EVENTS {
        events.push(world.say_only(ROOT, &format!("I likes zyx{index}")).await);
    }
    world.settle(events[EVENTS - 1]).await;
    (events, world.says(TEAM, "Bob likes tea", "user:bob", None).await)
}

/// Restores a backup with what the ledger has, and carries the erasure on.
async fn carried_on(dir: &Path, id: ErasureId, events: &[EventId], bobs: EventId) -> World {
    let (copy, again) = (dir.join("copy"), dir.join("again"));
    let ledger = Erasures::Ledger(dir.join("data.ledger"));
    restore(&copy, &again, &ledger, &Env::real(), &mut |_, _| {}).unwrap();
    let world = World::open(&again);
    world.engine.erasures_resume().await.unwrap();
    let status = world.ended(id).await;
    assert_eq!(status.outcome, Outcome::Completed);
    assert_eq!(status.counts.deleted_events, EVENTS as u64);
    assert!(events.iter().all(|event| world.is_gone(*event)) && world.is_gone(bobs));
    assert!(!world.log_has("zyx"));
    let told = Told::read(&world.certificate(id).await).unwrap();
    assert_eq!(told.counts, status.counts);
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_at_work_in_the_backup_and_over_since_is_over() {
    for phase in 0..5 {
        let dir = tempfile::tempdir().unwrap();
        let (data, copy) = (dir.path().join("data"), dir.path().join("copy"));
        let mut world = open(&data);
        let (events, bobs) = told(&mut world).await;
        let turn = world.engine.inner.admin.forgetting.turn.lock().await;
        let id = world.begin(&asked(&[])).await.unwrap();
        let held = (phase == 0).then_some(turn);
        world.come_to(id, phase).await;
        make(&data, &copy, &Env::real(), &mut |_| {}).unwrap();
        drop(held);
        world.ended(id).await;
        let certified = world.certificate(id).await;
        world.forgets(bobs).await;
        close(world).await;
        let again = carried_on(dir.path(), id, &events, bobs).await;
        assert_eq!(again.certificate(id).await, certified, "there is one");
        again.check().await;
    }
}

/// The backup is made when so many events were erased, and more are before it is cut short.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_cut_short_in_both_is_finished_and_certifies_its_own() {
    for (steps, before) in [(false, 0), (true, 0), (true, 3)] {
        let dir = tempfile::tempdir().unwrap();
        let (data, copy) = (dir.path().join("data"), dir.path().join("copy"));
        let mut world = open(&data);
        let (events, bobs) = told(&mut world).await;
        let turn = world.engine.inner.admin.forgetting.turn.lock().await;
        let id = world.begin(&asked(&[])).await.unwrap();
        if steps {
            world.stepped(id, 4).await;
        }
        world.erases(&events[..before]).await;
        make(&data, &copy, &Env::real(), &mut |_| {}).unwrap();
        world.stepped(id, 4).await;
        world.erases(&events[before..before + 4]).await;
        world.engine.shutdown().await;
        drop(turn);
        close(world).await;
        let world = open(&data);
        world.forgets(bobs).await;
        close(world).await;
        let again = carried_on(dir.path(), id, &events, bobs).await;
        let certificate = again.certificate(id).await;
        let erased = again.erased(bobs);
        assert!(erased.iter().any(|(_, names)| *names), "{erased:?}");
        for (seal, is_bobs) in erased {
            assert_eq!(certificate.contains(&seal), !is_bobs, "{steps} {before}: {seal}");
        }
        again.check().await;
    }
}

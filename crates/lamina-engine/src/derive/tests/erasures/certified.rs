//! A certificate names the entries that erased for its own job, also if a crash came between.

use lamina_store::codec::control::ErasureStep;
use lamina_store::entry::{Kind, control};
use lamina_store::log::{ErasePayload, NewEntry, Section};
use lamina_types::stdx::hex;
use tokio::sync::oneshot;

use super::*;
use crate::erasure::ErasureCounts;
use crate::write::capture::Request;
use crate::write::prepare::section;

impl World {
    /// Notes that an erasure came to a phase, as its job does.
    pub(super) async fn stepped(&self, id: ErasureId, phase: u8) {
        let counts = ErasureCounts::default();
        let step = ErasureStep { id, phase, counts, cancelled: false, done: None, planned: None };
        let inner = &self.engine.inner;
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::ERASURE_STEP,
            tenant: 1,
            scope: inner.views.scope_ordinal(1, &path(ROOT)).unwrap().unwrap(),
            causes: Vec::new(),
            who: Section::absent(),
            what: section(&*inner.env.rng, &step.encode()),
        };
        let (reply, answer) = oneshot::channel();
        inner.submit(Request::TakeBack { entry: Box::new(entry), reply }, answer).await.unwrap();
    }

    /// Every entry that erased: its seal, and whether it names the entry of an event.
    pub(super) fn erased(&self, event: EventId) -> Vec<(String, bool)> {
        let inner = &self.engine.inner;
        let offset = inner.views.event(1, event).unwrap().unwrap().offset;
        let entries = inner.reader.read(0, None, usize::MAX, usize::MAX).unwrap();
        let erased = entries
            .iter()
            .filter(|entry| entry.head.kind == Kind::Control && entry.head.sub == control::ERASE);
        let named = erased.map(|entry| {
            let payload = ErasePayload::decode(entry.what.live().unwrap()).unwrap();
            let names = payload.targets.iter().any(|target| target.offset == offset);
            (hex::encode(&entry.head.seal), names)
        });
        named.collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_forget_after_a_crash_is_not_certified() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let own = world.say(ROOT, "I likes quilling").await;
    let bobs = world.says(TEAM, "Bob likes tea", "user:bob", None).await;
    let turn = world.engine.inner.admin.forgetting.turn.lock().await;
    let id = world.begin(&asked(&[])).await.unwrap();
    world.engine.shutdown().await;
    drop(turn);
    while Arc::strong_count(&world.engine.inner) > 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(world);
    let world = World::open(dir.path());
    // It had come to its second phase, and before it is carried on somebody else forgets.
    world.stepped(id, 2).await;
    let may = ForgetPermit::RedactEvents(permit_of(1, "user:bob", Some(&path(TEAM))));
    world.engine.forget(may, redacting(TEAM, &[bobs]), noted()).await.unwrap();
    world.engine.erasures_resume().await.unwrap();
    let status = world.ended(id).await;
    assert_eq!((status.outcome, status.counts.deleted_events), (Outcome::Completed, 1));
    assert!(world.is_gone(own) && world.is_gone(bobs));
    let caller = "user:officer".parse().unwrap();
    let certified = world.engine.erasure_certificate(1, id, &caller).await.unwrap().unwrap();
    let erased = world.erased(bobs);
    assert!(erased.iter().any(|(_, names)| *names) && erased.iter().any(|(_, names)| !names));
    for (seal, is_bobs) in erased {
        assert_eq!(certified.certificate.contains(&seal), !is_bobs, "{seal}");
    }
    world.check().await;
}

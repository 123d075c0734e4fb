//! Erasures of scopes: what nothing outside refers to is gone as if never said, what is referred to loses its
//! words, what a hold keeps stays, and nobody else's record is touched. Also after a crash in any phase.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::capability::{ForgetGdpr, ForgetGdprCrossWorkspace, PolicyAdministerTenant};
use lamina_types::{ErasureId, MemberRole};

use super::*;
use crate::Error;
use crate::erasure::{ErasureAsked, ErasureStatus, Outcome, PreviewOf};

const ROOT: &str = "user:alice";
const BELOW: &str = "user:alice/project:x";
const TEAM: &str = "ws:team";

fn asked(events: &[EventId]) -> ErasureAsked {
    ErasureAsked {
        scope: path(ROOT),
        events: events.to_vec(),
        preview: None,
        idempotency_key: None,
    }
}

fn right() -> lamina_core::policy::Permit<ForgetGdpr> {
    permit_of(1, "user:officer", Some(&path(ROOT)))
}

fn beyond() -> lamina_core::policy::Permit<ForgetGdprCrossWorkspace> {
    permit_of(1, "user:officer", Some(&path(ROOT)))
}

impl World {
    async fn says(&mut self, scope: &str, text: &str, who: &str, into: Option<&str>) -> EventId {
        let id = self.say_with(scope, text, |experience| {
            experience.observed_actor = lamina_types::Actor::new(who.parse().unwrap());
            experience.directives.consolidate_into = into.map(path);
        });
        let id = id.await;
        self.settle(id).await;
        id
    }

    async fn begin(&self, asked: &ErasureAsked) -> Result<ErasureId, Error> {
        self.engine.erase(&right(), Some(&beyond()), asked, &noted()).await
    }

    /// Waits until an erasure is at its end.
    async fn ended(&self, id: ErasureId) -> ErasureStatus {
        loop {
            let status = self.engine.erasure(1, id).await.unwrap();
            if status.outcome != Outcome::Running {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    fn is_gone(&self, id: EventId) -> bool {
        self.engine.inner.views.event(1, id).unwrap().unwrap().is_erased()
    }

    fn holds_permit() -> lamina_core::policy::Permit<PolicyAdministerTenant> {
        permit_of(1, "user:counsel", None)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r366_r368_what_is_shared_is_redacted_and_the_rest_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let bobs = world.says(TEAM, "Bob likes tea", "user:bob", None).await;
    let own = world.says(ROOT, "I likes quilling; Bob likes tea", "user:alice", None).await;
    let below = world.says(BELOW, "I =lives_in Zyxwen", "user:alice", None).await;
    let shared = world.says(ROOT, "Bob =works_at Zyxcorp", "user:alice", Some(TEAM)).await;
    let theirs = world.says(TEAM, "I likes zyxball", "user:alice", None).await;
    let about = world.says(TEAM, "Eve knows Bob", "user:bob", None).await;
    let shown = world.engine.erasure_preview(&right(), &asked(&[])).await.unwrap();
    let set = |ids: &[EventId]| ids.iter().copied().collect::<BTreeSet<EventId>>();
    assert_eq!(set(&shown.manifest.delete), set(&[own, below]));
    // The scope was registered by user:alice's own write, so what she did elsewhere is hers too.
    assert_eq!(set(&shown.manifest.redact), set(&[shared, theirs]));
    assert_eq!(shown.reaches.len(), 1);
    assert_eq!((shown.reaches[0].scope.as_str(), shown.reaches[0].events), (TEAM, 2));
    assert_eq!(shown.affected.events, 4);
    // Without the right to reach beyond, nothing goes.
    let refused = world.engine.erase(&right(), None, &asked(&[]), &noted()).await;
    assert!(matches!(refused, Err(Error::OutsidePermit)));
    let mut wanted = asked(&[]);
    wanted.preview = Some(PreviewOf::Erasure(shown.id));
    wanted.idempotency_key = Some("dsr-1".to_owned());
    let id = world.begin(&wanted).await.unwrap();
    let status = world.ended(id).await;
    assert_eq!(status.outcome, Outcome::Completed);
    assert_eq!((status.counts.deleted_events, status.counts.redacted_events), (2, 2));
    assert_eq!(status.done, 10_000);
    for event in [own, below, shared, theirs] {
        assert!(world.is_gone(event));
    }
    assert!(!world.is_gone(bobs) && !world.is_gone(about), "nobody else's record disappears");
    for word in ["quilling", "Zyxwen", "Zyxcorp", "zyxball"] {
        assert!(!world.log_has(word), "{word}");
    }
    assert_eq!(
        world.said(TEAM, |_| {}).await,
        ["Bob likes tea [2, ..) 1", "Eve knows Bob [7, ..) 1"]
    );
    // The same key again is the same erasure.
    assert_eq!(world.begin(&wanted).await.unwrap(), id);
    wanted.events = vec![bobs];
    assert!(matches!(world.begin(&wanted).await, Err(Error::IdempotencyConflict { .. })));
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn r281_a_preview_must_agree() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say(ROOT, "I likes tea").await;
    let shown = world.engine.erasure_preview(&right(), &asked(&[])).await.unwrap();
    world.say(ROOT, "I likes jazz").await;
    let mut wanted = asked(&[]);
    wanted.preview = Some(PreviewOf::Erasure(shown.id));
    assert!(matches!(world.begin(&wanted).await, Err(Error::PreviewDrifted)));
    let unknown = lamina_types::ErasurePreviewId::from_bytes([7; 16]);
    wanted.preview = Some(PreviewOf::Erasure(unknown));
    assert!(matches!(world.begin(&wanted).await, Err(Error::UnknownPreview)));
    assert!(world.engine.erasure_preview_manifest(1, shown.id).is_ok());
    assert!(world.engine.erasure_preview_manifest(2, shown.id).is_err());
    assert_eq!(world.said(ROOT, |_| {}).await.len(), 2);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_stays_until_the_hold_is_lifted() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let own = world.say(ROOT, "I likes tea").await;
    let held = world.say(BELOW, "I likes quilling").await;
    let permit = World::holds_permit();
    let put = world.engine.legal_hold_put(&permit, &path(BELOW), "a trial", &noted()).await;
    assert_eq!(put.unwrap().reason, "a trial");
    let shown = world.engine.erasure_preview(&right(), &asked(&[])).await.unwrap();
    assert_eq!(shown.manifest.held, [held]);
    assert_eq!(shown.holds.len(), 1);
    let id = world.begin(&asked(&[])).await.unwrap();
    let counts = world.ended(id).await.counts;
    assert_eq!((counts.deleted_events, counts.held_events), (1, 1));
    assert!(world.is_gone(own) && !world.is_gone(held));
    world.engine.legal_hold_lift(&permit, &path(BELOW), &noted()).await.unwrap();
    let again = world.engine.legal_hold_lift(&permit, &path(BELOW), &noted()).await;
    assert!(matches!(again, Err(Error::NotFound)));
    let id = world.begin(&asked(&[])).await.unwrap();
    assert_eq!(world.ended(id).await.counts.deleted_events, 1);
    assert!(world.is_gone(held) && !world.log_has("quilling"));
    world.check().await;
}

/// Declared beliefs have words too, whatever became of them; named events are all that goes if some are named.
#[tokio::test(flavor = "multi_thread")]
async fn declarations_go_with_their_scope_and_named_events_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let first = world.say(ROOT, "I likes quilling").await;
    let second = world.say(ROOT, "I likes tea").await;
    world.declares(ROOT, Some("Bob"), "zyxtired").await;
    world.declares(ROOT, Some("Bob"), "calm").await;
    let id = world.begin(&asked(&[first])).await.unwrap();
    world.ended(id).await;
    assert!(world.is_gone(first) && !world.is_gone(second));
    assert!(world.log_has("zyxtired"));
    let id = world.begin(&asked(&[])).await.unwrap();
    world.ended(id).await;
    assert!(world.is_gone(second) && !world.log_has("zyxtired") && !world.log_has("calm"));
    world.check().await;
}

/// Stopped as soon as it has come so far, and carried on by the next start: no event is left behind, and
/// none is counted twice.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_cut_short_in_any_phase_is_finished() {
    for phase in 0..5 {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open(dir.path());
        let mut events = Vec::new();
        for index in 0..11 {
            events.push(world.say_only(ROOT, &format!("I likes zyx{index}")).await);
        }
        world.settle(events[10]).await;
        let kept = world.says(TEAM, "Bob likes tea", "user:bob", None).await;
        let id = world.begin(&asked(&[])).await.unwrap();
        loop {
            let status = world.engine.erasure(1, id).await.unwrap();
            if status.phase >= phase || status.outcome != Outcome::Running {
                break;
            }
            tokio::task::yield_now().await;
        }
        world.engine.shutdown().await;
        // The job hears of it at its next step, and holds the directory until then.
        while Arc::strong_count(&world.engine.inner) > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        drop(world);
        let world = World::open(dir.path());
        world.engine.erasures_resume().await.unwrap();
        let status = world.ended(id).await;
        assert_eq!((status.outcome, status.counts.deleted_events), (Outcome::Completed, 11));
        assert!(events.iter().all(|event| world.is_gone(*event)));
        assert!(!world.is_gone(kept) && !world.log_has("zyx"));
        world.check().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r285_one_that_is_over_cannot_be_stopped_and_one_that_waits_can() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let event = world.say(ROOT, "I likes tea").await;
    let turn = world.engine.inner.admin.forgetting.turn.lock().await;
    let id = world.begin(&asked(&[])).await.unwrap();
    assert!(world.engine.erasure_cancel(1, id).await.unwrap());
    drop(turn);
    let status = world.ended(id).await;
    assert_eq!((status.outcome, status.counts.deleted_events), (Outcome::Cancelled, 0));
    assert!(!world.is_gone(event));
    assert!(!world.engine.erasure_cancel(1, id).await.unwrap());
    world.check().await;
}

/// The set of deleted, redacted and kept events is what a slow oracle says, for any history with shared
/// evidence; what was shown is what changed.
#[tokio::test(flavor = "multi_thread")]
async fn the_sets_are_those_of_an_oracle() {
    for seed in 1..=3_u64 {
        let mut state = seed;
        let mut dice = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open(dir.path());
        let scopes = [ROOT, BELOW, "user:alice/project:x/team:y", TEAM, "user:bob"];
        // Alice owns her scope by a registration, beside somebody else.
        world.says(ROOT, "Bob likes tea", "user:alice", None).await;
        let members = vec![
            ("user:alice".parse().unwrap(), MemberRole::Owner),
            ("user:carol".parse().unwrap(), MemberRole::Owner),
            ("user:dave".parse().unwrap(), MemberRole::Reader),
        ];
        let permit = permit_of(1, "user:alice", Some(&path(ROOT)));
        world.engine.scope_members_set(&permit, &path(ROOT), members, &noted()).await.unwrap();
        for scope in scopes {
            world.says(scope, "Eve knows Bob", "user:bob", None).await;
        }
        let actors = ["user:alice", "user:bob", "user:carol", "user:dave"];
        let mut written: BTreeMap<EventId, (usize, usize, Option<usize>)> = BTreeMap::new();
        for _ in 0..24 {
            let (scope, who) = (dice(scopes.len()), dice(actors.len()));
            let into = Some(dice(scopes.len())).filter(|into| *into != scope && dice(2) == 0);
            let text = ["Bob likes tea", "Bob =works_at Acme", "Eve likes jazz"][dice(3)];
            let id =
                world.says(scopes[scope], text, actors[who], into.map(|into| scopes[into])).await;
            written.insert(id, (scope, who, into));
        }
        let hold = dice(2) == 0;
        if hold {
            let place = path(scopes[2]);
            let permit = World::holds_permit();
            world.engine.legal_hold_put(&permit, &place, "a trial", &noted()).await.unwrap();
        }
        let inside = |scope: usize| scope < 3;
        let (mut delete, mut redact, mut held) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (id, (scope, who, into)) in &written {
            let owner = *who == 0 || *who == 2;
            let outside = !inside(*scope) || into.is_some_and(|into| !inside(into));
            match (inside(*scope) || owner, hold && *scope == 2, outside) {
                (false, ..) => continue,
                (true, true, _) => held.insert(*id),
                (true, false, true) => redact.insert(*id),
                (true, false, false) => delete.insert(*id),
            };
        }
        let shown = world.engine.erasure_preview(&right(), &asked(&[])).await.unwrap();
        let of = |ids: &[EventId]| {
            ids.iter().copied().filter(|id| written.contains_key(id)).collect::<BTreeSet<_>>()
        };
        assert_eq!(of(&shown.manifest.delete), delete, "seed {seed}");
        assert_eq!(of(&shown.manifest.redact), redact, "seed {seed}");
        assert_eq!(of(&shown.manifest.held), held, "seed {seed}");
        let id = world.begin(&asked(&[])).await.unwrap();
        let counts = world.ended(id).await.counts;
        assert_eq!(counts.deleted_events, shown.manifest.delete.len() as u64);
        assert_eq!(counts.redacted_events, shown.manifest.redact.len() as u64);
        for id in written.keys() {
            assert_eq!(world.is_gone(*id), delete.contains(id) || redact.contains(id));
        }
        world.check().await;
    }
}

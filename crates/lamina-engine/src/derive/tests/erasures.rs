//! Erasures of scopes: what nothing outside refers to is gone as if never said, what is referred to loses its
//! words, what a hold keeps stays, and nobody else's record is touched. Also after a crash in any phase.

use std::collections::{BTreeMap, BTreeSet};

use lamina_core::derive::beliefs::PartialReason;
use lamina_types::capability::{ForgetGdpr, PolicyAdministerTenant};
use lamina_types::forget::{Cascade, Forget, Layers, MemoryId, Selector};
use lamina_types::{BeliefId, ErasureId, MemberRole};

use super::*;
use crate::Error;
use crate::erasure::{ErasureAsked, ErasureRights, ErasureStatus, Manifest, Outcome, PreviewOf};
use crate::forget::{ForgetAsked, ForgetPermit};
use crate::read::beliefs::{BeliefRecord, BeliefsQuery};

mod certified;
mod decided;
mod reach;
mod restored;
mod termed;

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

fn rights() -> ErasureRights {
    ErasureRights { boot: crate::admin::testing::boot(), delegates: Vec::new() }
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
        let accepted = self.engine.erase(&right(), &rights(), asked, &noted()).await;
        accepted.map(|accepted| accepted.id)
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

    pub(super) fn is_gone(&self, id: EventId) -> bool {
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
    let shown = world.engine.erasure_preview(&right(), &rights(), &asked(&[])).await.unwrap();
    let set = |ids: &[EventId]| ids.iter().copied().collect::<BTreeSet<EventId>>();
    assert_eq!(set(&shown.manifest.delete), set(&[own, below]));
    // The scope bears her name, so the events of which she is the observed actor go elsewhere too.
    assert_eq!(set(&shown.manifest.redact), set(&[shared, theirs]));
    assert_eq!(shown.reaches.len(), 1);
    assert_eq!((shown.reaches[0].scope.as_str(), shown.reaches[0].events), (TEAM, 2));
    assert_eq!(shown.affected.events, 4);
    // Without the right to reach beyond, nothing goes.
    let mut narrow = rights();
    let mut document = lamina_core::policy::Preset::DevLocal.document();
    document.deny = vec!["forget.gdpr.cross_workspace".parse().unwrap()];
    narrow.boot.document = Arc::new(document);
    let refused = world.engine.erase(&right(), &narrow, &asked(&[]), &noted()).await;
    assert!(matches!(refused, Err(Error::Denied(_))));
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
    // What others refer to stays with them, and nobody knows any more what it was.
    assert_eq!(
        world.said(TEAM, |_| {}).await,
        [
            "Bob likes tea [2, ..) 1",
            "Eve knows Bob [7, ..) 1",
            "[redacted] [redacted] [redacted] [5, ..) 1",
            "[redacted] [redacted] [redacted] [6, ..) 1",
        ]
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
    let shown = world.engine.erasure_preview(&right(), &rights(), &asked(&[])).await.unwrap();
    world.say(ROOT, "I likes jazz").await;
    let mut wanted = asked(&[]);
    wanted.preview = Some(PreviewOf::Erasure(shown.id));
    assert!(matches!(world.begin(&wanted).await, Err(Error::PreviewDrifted)));
    let unknown = lamina_types::ErasurePreviewId::from_bytes([7; 16]);
    wanted.preview = Some(PreviewOf::Erasure(unknown));
    assert!(matches!(world.begin(&wanted).await, Err(Error::UnknownPreview)));
    assert!(world.engine.erasure_preview_scope(1, shown.id).is_ok());
    assert!(world.engine.erasure_preview_scope(2, shown.id).is_err());
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
    let shown = world.engine.erasure_preview(&right(), &rights(), &asked(&[])).await.unwrap();
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

/// Ruling 14: what is deleted was never said, and what it had replaced is so again; what is redacted still ends
/// what was before it, and its own value is gone.
#[tokio::test(flavor = "multi_thread")]
async fn ruling_14_a_redacted_event_still_ends_what_was_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.says(TEAM, "I =lives_in Rome", "user:alice", None).await;
    world.says(ROOT, "I =lives_in Rome", "user:alice", None).await;
    let shared = world.says(ROOT, "I =lives_in Zyxwen", "user:alice", Some(TEAM)).await;
    let made = world.engine.derived_from(1, shared).await.unwrap();
    let id = world.begin(&asked(&[shared])).await.unwrap();
    assert_eq!(world.ended(id).await.counts.redacted_events, 1);
    assert_eq!(
        world.said(TEAM, |_| {}).await,
        ["user:alice lives_in Rome [2, 4) 1", "user:alice lives_in [redacted] [4, ..) 1"]
    );
    // Inside nothing stands on it: as if it had never been said.
    assert_eq!(world.said(ROOT, |_| {}).await, ["user:alice lives_in Rome [3, ..) 1"]);
    let facts = world.facts(TEAM, |_| {}).await;
    let gone = facts.iter().find(|fact| fact.is_redacted()).unwrap();
    assert!(gone.evidence_redacted && gone.supports == [shared]);
    assert!(!facts.iter().find(|fact| !fact.is_redacted()).unwrap().evidence_redacted);
    // With the knowledge of before, neither its words nor what it was.
    let before = RecordedAt(Micros(gone.recorded_from.0.0 + 1));
    let then = world.said(TEAM, |query| query.pins.recorded = before).await;
    assert!(then.iter().all(|fact| !fact.contains("Zyxwen")), "{then:?}");
    // R422: what went of it is told by its id, what stays is there.
    let stay = world.engine.derived_from(1, shared).await.unwrap();
    let permit = permit_of(1, "user:officer", Some(&path(ROOT)));
    let pointers = world.engine.redacted_records(&permit, shared).await.unwrap();
    let told = |id: &String| stay.contains(id) ^ pointers.contains(&format!("redacted:{id}"));
    assert!(made.iter().filter(|id| !id.starts_with("concept_")).all(told), "{stay:?}");
    assert!(pointers.iter().any(|id| id.starts_with("redacted:fact_")), "{pointers:?}");
    // What comes later is about the same, and ends it in its turn.
    world.says(TEAM, "I =lives_in Oslo", "user:alice", None).await;
    assert_eq!(
        world.said(TEAM, |_| {}).await,
        [
            "user:alice lives_in Oslo [5, ..) 1",
            "user:alice lives_in Rome [2, 4) 1",
            "user:alice lives_in [redacted] [4, 5) 1",
        ]
    );
    assert!(!world.log_has("Zyxwen"));
    world.check().await;
}

/// Who else said the same keeps it known; and an erasure of those who referred to it takes the rest.
#[tokio::test(flavor = "multi_thread")]
async fn what_others_say_too_keeps_its_words_and_the_last_reference_takes_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let says = "I likes tea; I =lives_in Zyxwen";
    world.says(TEAM, "silence", "user:bob", None).await;
    let shared = world.says(ROOT, says, "user:alice", Some(TEAM)).await;
    world.says(TEAM, "I likes tea", "user:alice", None).await;
    let id = world.begin(&asked(&[shared])).await.unwrap();
    world.ended(id).await;
    assert_eq!(
        world.said(TEAM, |_| {}).await,
        ["[redacted] [redacted] [redacted] [3, ..) 1", "user:alice likes tea [3, ..) 2"]
    );
    let team = path(TEAM);
    let wanted = ErasureAsked { scope: team.clone(), ..asked(&[]) };
    let right = permit_of(1, "user:officer", Some(&team));
    let shown = world.engine.erasure_preview(&right, &rights(), &wanted).await.unwrap();
    assert_eq!((shown.affected.events, shown.affected.facts), (2, 2));
    let id = world.engine.erase(&right, &rights(), &wanted, &noted()).await.unwrap().id;
    assert_eq!(world.ended(id).await.counts.deleted_events, 2);
    assert_eq!(world.said(TEAM, |_| {}).await, [""; 0]);
    assert_eq!(world.engine.derived_from(1, shared).await.unwrap(), [""; 0]);
    world.check().await;
}

/// R370: a belief that no words are left under is half as sure, and gone if that is too little.
#[tokio::test(flavor = "multi_thread")]
async fn r370_beliefs_without_words_are_half_as_sure_or_gone() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    // Several voices are sure; one alone is not sure enough to be believed by half.
    world.says(TEAM, "I likes mixing", "user:alice", None).await;
    let mut own = Vec::new();
    for (text, who) in [
        ("Bob likes quilling", "user:alice"),
        ("Bob likes quilling", "user:carol"),
        ("Bob likes quilling", "user:dan"),
        ("Bob likes quilling", "user:erin"),
        ("I likes mixing", "user:alice"),
    ] {
        own.push(world.says(ROOT, text, who, Some(TEAM)).await);
    }
    // Whoever says this wants it believed only if it is likely.
    let likely = world.say_with(ROOT, "Bob likes jazz", |experience| {
        experience.directives.consolidate_into = Some(path(TEAM));
        experience.directives.confidence_floor = Some(0.5);
    });
    let likely = likely.await;
    world.settle(likely).await;
    own.push(likely);
    let before = world.believes(TEAM).await;
    let sure = before.iter().find(|belief| belief.object == "quilling").unwrap();
    let shown = world.engine.erasure_preview(&right(), &rights(), &asked(&own)).await.unwrap();
    let id = world.begin(&asked(&own)).await.unwrap();
    let counts = world.ended(id).await.counts;
    assert_eq!(counts.demoted_beliefs, shown.manifest.demoted.len() as u64);
    assert!(shown.manifest.demoted.contains(&sure.id), "{before:?}");
    let after = world.believes(TEAM).await;
    let faded = after.iter().find(|belief| belief.id == sure.id).unwrap();
    assert_eq!(faded.object, "[redacted]");
    assert!((faded.confidence - sure.confidence / 2.0).abs() < 0.01, "{faded:?} {sure:?}");
    assert_eq!((faded.redacted, faded.partial), (1.0, true));
    let mixed = after.iter().find(|belief| belief.object == "mixing").unwrap();
    assert!(mixed.redacted > 0.0 && mixed.redacted < 1.0 && !mixed.partial, "{mixed:?}");
    // Those that the preview counts as gone are gone, and answer so.
    let left: BTreeSet<BeliefId> = after.iter().map(|belief| belief.id).collect();
    let gone: Vec<&Believed> = before.iter().filter(|one| !left.contains(&one.id)).collect();
    assert!(!gone.is_empty(), "{before:?}");
    for belief in gone {
        let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&path(TEAM))));
        let at = RecordedAt(world.engine.now());
        let read = world.engine.belief(permit, belief.id, at).await;
        assert!(matches!(read, Err(Error::Deleted)), "{belief:?}");
    }
    world.check().await;
}

/// R367: who says that an event followed from another refers to it, and so does who declares something on its grounds.
#[tokio::test(flavor = "multi_thread")]
async fn r367_what_is_named_from_outside_is_redacted() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let alone = world.says(ROOT, "I likes tea", "user:alice", None).await;
    let followed = world.says(ROOT, "I likes quilling", "user:alice", None).await;
    let inside = world.says(ROOT, "I likes jazz", "user:alice", None).await;
    let after = world.follows(TEAM, "Eve knows Bob", "user:bob", followed).await;
    world.follows(BELOW, "Eve knows Bob", "user:bob", inside).await;
    let shown = world.engine.erasure_preview(&right(), &rights(), &asked(&[])).await.unwrap();
    assert_eq!(shown.manifest.redact, [followed]);
    assert_eq!(shown.manifest.references, [(followed, path(TEAM))]);
    assert!(shown.manifest.delete.contains(&alone) && shown.manifest.delete.contains(&inside));
    // Who is gone refers to nothing.
    let place = ForgetPermit::RedactEvents(permit_of(1, "user:alice", Some(&path(TEAM))));
    world.engine.forget(place, redacting(TEAM, &[after]), noted()).await.unwrap();
    let shown = world.engine.erasure_preview(&right(), &rights(), &asked(&[])).await.unwrap();
    assert_eq!(shown.manifest.redact, []);
    world.check().await;
}

/// Ruling 14: a key that an erasure took is refused for a day, one of an event that was redacted by its id is free.
#[tokio::test(flavor = "multi_thread")]
async fn ruling_14_keys_are_refused_after_an_erasure_and_free_after_a_redaction() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say(ROOT, "I likes tea").await;
    let (first, second) = (world.keyed("a").await.unwrap(), world.keyed("b").await.unwrap());
    assert_eq!(world.keyed("a").await.unwrap(), first, "the same again is the same");
    let place = ForgetPermit::RedactEvents(permit_of(1, "user:alice", Some(&path(ROOT))));
    world.engine.forget(place, redacting(ROOT, &[first]), noted()).await.unwrap();
    assert_ne!(world.keyed("a").await.unwrap(), first);
    let id = world.begin(&asked(&[second])).await.unwrap();
    world.ended(id).await;
    assert!(matches!(world.keyed("b").await, Err(Error::Deleted)));
    world.engine.shutdown().await;
    drop(world);
    crate::maintenance::rebuild(dir.path(), &Env::real(), 1 << 20, &mut |_, _| {}).unwrap();
    let world = World::open(dir.path());
    assert!(matches!(world.keyed("b").await, Err(Error::Deleted)), "also after a rebuild");
    world.check().await;
}

/// A hold keeps words from everybody, and says so; derived records are no words.
#[tokio::test(flavor = "multi_thread")]
async fn a_hold_keeps_words_from_those_who_forget() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let event = world.say(BELOW, "I likes quilling").await;
    let permit = World::holds_permit();
    world.engine.legal_hold_put(&permit, &path(ROOT), "a trial", &noted()).await.unwrap_err();
    world.say(ROOT, "I likes tea").await;
    world.engine.legal_hold_put(&permit, &path(ROOT), "a trial", &noted()).await.unwrap();
    let may = || ForgetPermit::RedactEvents(permit_of(1, "user:alice", Some(&path(BELOW))));
    let asked = redacting(BELOW, &[event]);
    let refused = world.engine.forget(may(), asked.clone(), noted()).await;
    assert!(matches!(refused, Err(Error::Held { scope }) if scope == path(ROOT)));
    let refused = world.engine.forget_preview(&may(), &asked).await;
    assert!(matches!(refused, Err(Error::Held { .. })));
    assert!(!world.is_gone(event) && world.said(BELOW, |_| {}).await.len() == 1);
    world.engine.legal_hold_lift(&permit, &path(ROOT), &noted()).await.unwrap();
    world.engine.forget(may(), asked, noted()).await.unwrap();
    assert!(world.is_gone(event));
    world.check().await;
}

/// What a test looks at of a belief.
#[derive(Debug)]
struct Believed {
    id: BeliefId,
    object: String,
    confidence: f64,
    redacted: f64,
    partial: bool,
}

fn redacting(scope: &str, events: &[EventId]) -> ForgetAsked {
    let memory_ids = events.iter().map(|id| MemoryId::Event(*id)).collect();
    let forget = Forget {
        scope: path(scope),
        layers: Layers::ALL,
        selector: Selector { memory_ids, ..Selector::default() },
        cascade: Cascade::RedactEvents,
    };
    ForgetAsked { forget, requested: 0, preview: None, idempotency_key: None }
}

impl World {
    async fn believes(&self, scope: &str) -> Vec<Believed> {
        let query = BeliefsQuery {
            scope: path(scope),
            about: None,
            predicate: None,
            stance: None,
            min_confidence: 0.0,
            recorded: RecordedAt(self.engine.now()),
            recorded_during: None,
            valid: None,
            valid_during: None,
            lapsed_by: None,
            deprecated: false,
            after: None,
            limit: 100,
        };
        let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&path(scope))));
        let page = self.engine.beliefs(permit, query).await.unwrap();
        let shown = |belief: &BeliefRecord| Believed {
            id: belief.id,
            object: match &belief.object {
                Object::Text(text) => text.clone(),
                other => format!("{other:?}"),
            },
            confidence: belief.shown.confidence,
            redacted: belief.shown.redacted_fraction,
            partial: belief.shown.partial == Some(PartialReason::SupportingEvidenceRedacted),
        };
        page.items.iter().map(shown).collect()
    }

    async fn follows(&mut self, scope: &str, text: &str, who: &str, earlier: EventId) -> EventId {
        let id = self.say_with(scope, text, |experience| {
            experience.observed_actor = lamina_types::Actor::new(who.parse().unwrap());
            experience.context.preceded_by = vec![earlier];
        });
        let id = id.await;
        self.settle(id).await;
        id
    }

    /// Writes the same under a key.
    async fn keyed(&self, key: &str) -> Result<EventId, Error> {
        let write = crate::admin::testing::written(&self.engine, "user:alice", ROOT, key);
        let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(ROOT)));
        Ok(self.engine.experience(&permit, write).await?.event_id)
    }
}

/// Where the histories of the oracle play; the first three are erased.
const PLACES: [&str; 5] = [ROOT, BELOW, "user:alice/project:x/team:y", TEAM, "user:bob"];
/// The first and the third own what is erased.
const ACTORS: [&str; 4] = ["user:alice", "user:bob", "user:carol", "user:dave"];

/// A number below another, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// What was written: where, by whom, and where it was consolidated; which follows from which; and whether the third
/// place is held.
#[derive(Default)]
struct Story {
    written: BTreeMap<EventId, (usize, usize, Option<usize>)>,
    after: Vec<(EventId, EventId)>,
    hold: bool,
}

/// What becomes of events.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sets {
    delete: BTreeSet<EventId>,
    redact: BTreeSet<EventId>,
    held: BTreeSet<EventId>,
}

impl Story {
    /// Writes at random; Carol is listed as an owner beside Alice, whose name the scope bears.
    async fn tell(world: &mut World, dice: &mut Dice) -> Story {
        let mut story = Story::default();
        world.says(ROOT, "Bob likes tea", "user:alice", None).await;
        let members = vec![
            ("user:alice".parse().unwrap(), MemberRole::Owner),
            ("user:carol".parse().unwrap(), MemberRole::Owner),
            ("user:dave".parse().unwrap(), MemberRole::Reader),
        ];
        let permit = permit_of(1, "user:alice", Some(&path(ROOT)));
        world.engine.scope_members_set(&permit, &path(ROOT), members, &noted()).await.unwrap();
        for scope in PLACES {
            world.says(scope, "Eve knows Bob", "user:bob", None).await;
        }
        for _ in 0..24 {
            let (scope, who) = (dice.below(PLACES.len()), dice.below(ACTORS.len()));
            let into = Some(dice.below(PLACES.len()));
            let into = into.filter(|into| *into != scope && dice.below(2) == 0);
            let texts = ["Bob likes tea", "I =works_at Acme", "I =works_at Initech"];
            let text = texts[dice.below(3)];
            let earlier = story.written.keys().nth(dice.below(story.written.len().max(1)));
            let earlier = earlier.copied().filter(|_| dice.below(3) == 0);
            let id = world.say_with(PLACES[scope], text, |experience| {
                experience.observed_actor = lamina_types::Actor::new(ACTORS[who].parse().unwrap());
                experience.directives.consolidate_into = into.map(|into| path(PLACES[into]));
                experience.context.preceded_by = earlier.into_iter().collect();
            });
            let id = id.await;
            world.settle(id).await;
            story.after.extend(earlier.map(|earlier| (earlier, id)));
            story.written.insert(id, (scope, who, into));
        }
        story.hold = dice.below(2) == 0;
        if story.hold {
            let permit = World::holds_permit();
            let (place, noted) = (path(PLACES[2]), noted());
            world.engine.legal_hold_put(&permit, &place, "a trial", &noted).await.unwrap();
        }
        story
    }

    /// What has to become of them, one by one. What is held keeps what stands on others, as if it were outside.
    fn oracle(&self) -> Sets {
        let is_erased = |scope: usize| scope < 3 && !(self.hold && scope == 2);
        let mut sets = Sets::default();
        for (id, (scope, who, into)) in &self.written {
            let named = self.after.iter().filter(|(earlier, _)| earlier == id);
            let mut named = named.filter_map(|(_, by)| self.written.get(by)).map(|by| by.0);
            let is_outside = !is_erased(*scope)
                || into.is_some_and(|into| !is_erased(into))
                || named.any(|scope| !is_erased(scope));
            let is_candidate = *scope < 3 || *who == 0;
            match (is_candidate, self.hold && *scope == 2, is_outside) {
                (false, ..) => continue,
                (true, true, _) => sets.held.insert(*id),
                (true, false, true) => sets.redact.insert(*id),
                (true, false, false) => sets.delete.insert(*id),
            };
        }
        sets
    }

    /// The same of a list of events.
    fn of(&self, events: &[EventId]) -> BTreeSet<EventId> {
        events.iter().copied().filter(|id| self.written.contains_key(id)).collect()
    }
}

impl World {
    /// What is known outside.
    async fn known_outside(&self) -> [Vec<String>; 2] {
        [self.said(TEAM, |_| {}).await, self.said("user:bob", |_| {}).await]
    }
}

/// Of which times something is known, and by how many.
fn times(said: &[String]) -> Vec<Option<String>> {
    let time = |fact: &String| {
        let fact = fact.replace("[redacted]", "gone");
        fact.split_once('[').map(|(_, time)| time.to_owned())
    };
    let mut times: Vec<Option<String>> = said.iter().map(time).collect();
    times.sort_unstable();
    times
}

/// The set of deleted, redacted and kept events is what a slow oracle says, for any history with shared
/// evidence, events that follow from others and holds; what was shown is what changed, nobody else's record does,
/// and a rebuild brings nothing back.
#[tokio::test(flavor = "multi_thread")]
async fn the_sets_are_those_of_an_oracle() {
    for seed in 1..=3_u64 {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open(dir.path());
        let story = Story::tell(&mut world, &mut Dice(seed)).await;
        let sets = story.oracle();
        let before = world.known_outside().await;
        let shown = world.engine.erasure_preview(&right(), &rights(), &asked(&[])).await.unwrap();
        let Manifest { delete, redact, held, .. } = &*shown.manifest;
        let found =
            Sets { delete: story.of(delete), redact: story.of(redact), held: story.of(held) };
        assert_eq!(found, sets, "seed {seed}");
        let id = world.begin(&asked(&[])).await.unwrap();
        let counts = world.ended(id).await.counts;
        assert_eq!(counts.deleted_events, delete.len() as u64);
        assert_eq!(counts.redacted_events, redact.len() as u64);
        for id in story.written.keys() {
            assert_eq!(world.is_gone(*id), sets.delete.contains(id) || sets.redact.contains(id));
            let made = world.engine.derived_from(1, *id).await.unwrap();
            assert!(made.is_empty() || !sets.delete.contains(id), "{made:?}");
        }
        // Outside as much is known as before, of the same times and by as many; only not always what.
        let now = world.known_outside().await;
        for (before, now) in before.iter().zip(&now) {
            assert_eq!(times(before), times(now), "seed {seed}");
        }
        world.check().await;
        crate::maintenance::rebuild(dir.path(), &Env::real(), 1 << 20, &mut |_, _| {}).unwrap();
        let world = World::open(dir.path());
        assert_eq!(now, world.known_outside().await, "what was forgotten stays so");
        for id in story.written.keys() {
            assert_eq!(world.is_gone(*id), sets.delete.contains(id) || sets.redact.contains(id));
        }
        world.check().await;
    }
}

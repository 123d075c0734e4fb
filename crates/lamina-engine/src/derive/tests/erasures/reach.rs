//! How far an erasure reaches: decided when it begins, and carried out as decided after a crash.

use lamina_core::policy::{Caller, Permit, Preset, Stack};

use super::*;
use crate::Boot;
use crate::erasure::ErasureAccepted;

const ALICE: &str = "user:alice";
const BOB: &str = "user:bob";

/// Rights under a preset that asks for tokens, with one delegate.
fn signed() -> ErasureRights {
    let preset = Preset::OnPremEnterprise;
    let boot = Boot { preset, document: Arc::new(preset.document()) };
    ErasureRights { boot, delegates: vec!["service:backend".parse().unwrap()] }
}

/// A permit of an ordinary caller.
fn ordinary(actor: &str, scope: &str) -> Permit<ForgetGdpr> {
    let caller = Caller::plain(actor.parse().unwrap(), 1);
    Stack::of_preset(Preset::OnPremEnterprise).permit(&caller, Some(&path(scope))).unwrap()
}

impl World {
    /// Writes as one actor what another did.
    async fn writes(&mut self, caller: &str, scope: &str, observed: &str, text: &str) -> EventId {
        let id = self.write_with(caller, scope, text, |experience| {
            experience.observed_actor = lamina_types::Actor::new(observed.parse().unwrap());
        });
        let id = id.await;
        self.settle(id).await;
        id
    }

    async fn begin_as(&self, actor: &str, scope: &str) -> ErasureAccepted {
        let asked = ErasureAsked { scope: path(scope), ..asked(&[]) };
        self.engine.erase(&ordinary(actor, scope), &signed(), &asked, &noted()).await.unwrap()
    }
}

/// Roles and members that change while an erasure is cut short do not change what it takes.
#[tokio::test(flavor = "multi_thread")]
async fn erasure_that_is_carried_on_takes_the_events_it_began_with() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let own = world.writes(ALICE, ROOT, ALICE, "I likes tea").await;
    let hers = world.writes(ALICE, "ws:mine", ALICE, "I likes jazz").await;
    let noted_down = world.writes(BOB, "ws:mine", ALICE, "I likes rain").await;
    world.writes(BOB, TEAM, BOB, "I likes snow").await;
    let delegated = world.writes("service:backend", TEAM, ALICE, "I likes chess").await;
    let others = world.writes(BOB, TEAM, ALICE, "I likes wine").await;
    let begun = world.begin_as(ALICE, ROOT).await;
    world.engine.shutdown().await;
    drop(world);
    let world = World::open(dir.path());
    world.engine.erasures_resume().await.unwrap();
    world.ended(begun.id).await;
    for event in [own, hers, noted_down, delegated] {
        assert!(world.is_gone(event));
    }
    assert!(!world.is_gone(others));
    world.check().await;
}

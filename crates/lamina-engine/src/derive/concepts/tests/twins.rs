//! Two servers that are told the same understand the same: keys of hashes and ids are random, and nothing
//! that is shown hangs on them.

use lamina_types::EntityId;
use lamina_types::capability::PolicyAdministerTenant;

use super::*;
use crate::read::entities::EntitiesQuery;

/// What one server makes of sessions that are sealed at once: every version of every concept, with its words.
async fn understood(sessions: &[&[&str]]) -> Vec<Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    // All of them under way at the same time, so that nothing but the order of the log tells which was first.
    let longest = sessions.iter().map(|session| session.len()).max().unwrap_or(0);
    for turn in 0..longest {
        for (number, session) in sessions.iter().enumerate() {
            let Some(text) = session.get(turn) else { continue };
            world.say_at(SCOPE, &format!("s{number}"), "user:alice", 0, text).await;
        }
    }
    world.build(SCOPE).await;
    let all = versions(&world).await;
    world.check().await;
    all
}

/// Every version of every concept, with its words.
async fn versions(world: &World) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for concept in world.ask(|query| query.pins.deprecated = true).await {
        let versions = world.engine.concept_history(world.may(SCOPE), concept.id).await.unwrap();
        let mut lines: Vec<String> = versions
            .iter()
            .map(|one| {
                let (standing, confidence) = (one.standing == Standing::Held, one.confidence.get());
                let things = one.things.join("+");
                format!("v{} {standing} {:?} {things} {confidence}", one.version, one.name)
            })
            .collect();
        lines.push(concept.things.join("+"));
        all.push(lines);
    }
    all.sort_unstable();
    all
}

/// What one server makes of facts that are brought elsewhere and back, and of an event of them that is cancelled.
async fn moved() -> Vec<Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let mut said = Vec::new();
    for text in [
        "Acme asked for the renewal.",
        "Acme has 200 seats.",
        "Acme asked for the renewal. Acme uses Postgres.",
        "Globex asked for the renewal. Globex uses Postgres.",
        "Acme is based in Rome. The renewal of Acme is late.",
        "Globex is based in Rome and uses Postgres.",
        "The renewal of Acme uses Postgres.",
    ] {
        said.push(world.say(text).await);
        world.build(SCOPE).await;
    }
    let permit = permit_of::<PolicyAdministerTenant>(1, "user:alice", None);
    let ids = [id_of(&world, "Acme").await, id_of(&world, "Globex").await];
    let [acme, globex] = ids;
    for _ in 0..3 {
        world.engine.entity_merge(&permit, acme, globex, &noted()).await.unwrap();
        world.engine.entity_split(&permit, acme, &noted()).await.unwrap();
    }
    world.engine.entity_merge(&permit, globex, acme, &noted()).await.unwrap();
    for id in said.into_iter().skip(2).take(3) {
        world.cancel(id).await;
    }
    let all = versions(&world).await;
    world.check().await;
    all
}

async fn id_of(world: &World, called: &str) -> EntityId {
    let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&path(SCOPE))));
    let called = Some(called.to_owned());
    let query = EntitiesQuery { scope: path(SCOPE), called, after: None, limit: 9 };
    world.engine.entities(permit, query).await.unwrap().items.first().unwrap().id
}

/// Tracks are known by hashes: what their order decides would be another server's chance.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_brought_elsewhere_is_understood_the_same() {
    let once = moved().await;
    assert!(once.iter().any(|versions| versions.len() > 4), "{once:#?}");
    for _ in 0..6 {
        assert_eq!(moved().await, once);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_are_told_the_same_understand_the_same() {
    let sessions: &[&[&str]] = &[
        &["The harbour crane is stuck.", "A mechanic looked at the harbour crane and the winch."],
        &["The winch of the crane was greased.", "Marstal waits for the harbour."],
        &["Marstal and the timetable are late.", "The winch is new."],
        &["The timetable of Marstal is printed.", "The crane lifted the winch."],
        &["The harbour is open, the crane works.", "Marstal has a timetable."],
        &["Oslo asked for a ferry and a pilot.", "The pilot is in Oslo with a ferry."],
        &["A pilot for the Oslo ferry.", "The ferry of Oslo has a pilot."],
        &["The crane and the harbour of Marstal.", "A winch for the timetable."],
    ];
    let once = understood(sessions).await;
    assert!(once.len() >= 2, "{once:#?}");
    for _ in 0..4 {
        assert_eq!(understood(sessions).await, once);
    }
}

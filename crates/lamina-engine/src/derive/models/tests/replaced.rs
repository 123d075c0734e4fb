//! What a second answer does to what the first one said: the past stays, and whoever takes the event back
//! finds both.

use super::*;

/// What the rules found was known until the model knew better, and is known to have been known.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_replaced_keeps_its_past() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new(|items| {
        let near = |_: &str| claim("speaker", "lives_in", "Ostia", "I live in Rome near Ostia");
        heard(&says(near)(items), items)
    });
    model.shut(true);
    let mut world = World::open(dir.path(), models(&model));
    let event = world.say("user:alice", "I live in Rome near Ostia. I like tea.").await;
    let first = world.facts("user:alice").await;
    assert_eq!(lines(&first), ["likes tea", "lives_in Rome"]);
    let then = RecordedAt(world.engine.now());
    model.shut(false);
    world.settled("user:alice").await;
    let second = world.facts("user:alice").await;
    assert_eq!(lines(&second), ["likes tea", "lives_in Ostia"]);
    // The knowledge of before is what it was, records and all.
    let before = world.facts_known("user:alice", then).await;
    assert_eq!(lines(&before), ["likes tea", "lives_in Rome"]);
    let ids = |facts: &[FactRecord]| -> BTreeSet<String> {
        facts.iter().map(|fact| fact.id.to_string()).collect()
    };
    assert_eq!(ids(&before), ids(&first));
    // What both say goes on: the version of before leads to the one of now.
    let tea =
        |facts: &[FactRecord]| facts.iter().find(|fact| fact.predicate == "likes").unwrap().clone();
    assert_eq!(tea(&second).supersedes, Some(tea(&first).id));
    assert_eq!(tea(&second).supports, [event]);
    // Another event says the same; then the first is taken back, with everything it ever said.
    let other = world.say("user:alice", "I like tea.").await;
    world.settled("user:alice").await;
    let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path("user:alice")));
    world.engine.cancel(&permit, event, &noted()).await.unwrap();
    let left = world.facts("user:alice").await;
    assert_eq!(lines(&left), ["likes tea"]);
    assert_eq!(left[0].supports, [other]);
    assert_eq!(world.facts_known("user:alice", then).await, []);
    world.check().await;
}

/// Answers that replace each other on the same tracks, in any order with events that are taken back:
/// whoever was never taken back is known as if the others had never spoken.
#[tokio::test(flavor = "multi_thread")]
async fn replaced_answers_and_cancelled_events_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new(|items| {
        let second = |text: &str| {
            let words: Vec<&str> = text.trim_end_matches('.').split(' ').collect();
            let clause = text.trim_end_matches('.');
            match words.as_slice() {
                [.., "near", place] => claim("speaker", "lives_in", place, clause),
                [.., "and", drink] => claim("speaker", "likes", drink, clause),
                _ => String::new(),
            }
        };
        heard(&says(second)(items), items)
    });
    let mut world = World::open(dir.path(), models(&model));
    let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path("user:alice")));
    let texts = [
        "I live in Rome near Ostia.",
        "I like tea and coffee.",
        "I live in Oslo.",
        "I like coffee.",
        "I live in Ostia near Rome.",
        "I live in Rome near Ostia.",
        "I like tea.",
        "I live in Kiel near Bonn.",
    ];
    let mut events = Vec::new();
    for (index, text) in texts.into_iter().cycle().take(24).enumerate() {
        events.push(world.say("user:alice", text).await);
        if index % 3 == 2 {
            world.settled("user:alice").await;
        }
        // One that was replaced, or one that still waits.
        if index % 4 == 3 {
            let wrong = events.remove(index % events.len());
            world.engine.cancel(&permit, wrong, &noted()).await.unwrap();
        }
    }
    world.settled("user:alice").await;
    for event in events {
        world.engine.cancel(&permit, event, &noted()).await.unwrap();
    }
    assert_eq!(world.facts("user:alice").await, []);
    let kept = world.say("user:alice", "I live in Kiel near Bonn.").await;
    world.settled("user:alice").await;
    let facts = world.facts("user:alice").await;
    assert_eq!(lines(&facts), ["lives_in Bonn"]);
    assert_eq!(facts[0].supports, [kept]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_replaced_is_found_by_an_erasure() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new(|items| heard(&says(german)(items), items));
    let mut world = World::open(dir.path(), models(&model));
    let event = world.say("user:alice", "I work at Acme.").await;
    world.settled("user:alice").await;
    let views = &world.engine.inner.views;
    let offset = views.event(1, event).unwrap().unwrap().offset;
    assert_eq!(read::answers_placed(views, 1, offset).unwrap().len(), 2);
    // Taken back whole.
    let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path("user:alice")));
    world.engine.cancel(&permit, event, &noted()).await.unwrap();
    assert_eq!(world.said("user:alice").await, [""; 0]);
    world.check().await;
}

//! Two servers that are told the same understand the same: keys of hashes and ids are random, and nothing
//! that is shown hangs on them.

use super::*;

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
    world.check().await;
    all
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

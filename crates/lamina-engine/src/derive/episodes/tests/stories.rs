//! The twenty stories of `fixtures/stories`, told to a running engine that reads them with the built-in
//! rules: where a reader takes an episode to begin, one begins. The bar is an F1 of 0.8.

use std::collections::BTreeSet;

use super::*;
use crate::derive::score::{Scores, Story, Told};

const F1_MIN: f64 = 0.8;

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_would_agree_where_episodes_begin() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/stories");
    let disk = Env::real().disk;
    let mut names = disk.list(&folder).unwrap();
    names.sort();
    assert_eq!(names.len(), 20);
    let mut scores = Scores::default();
    for name in names {
        let bytes = lamina_env::disk::read_file(&*disk, &folder.join(&name), 65_536).unwrap();
        let story = Story::parse(std::str::from_utf8(&bytes).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open_at(dir.path(), BEGINNING, Arc::new(Rules));
        let mut events = Vec::new();
        for line in &story.lines {
            let now = world.engine.now().0;
            let told = BEGINNING + line.minute * MINUTE;
            if !story.import && told > now {
                world.clock.advance(told - now);
            }
            let say = Say {
                session: Some(&line.session),
                actor: &line.actor,
                minute: line.minute,
                text: &line.words,
                preceded_by: Vec::new(),
            };
            events.push(world.say(say).await);
        }
        // An episode begins with the event that was recorded first of it.
        let mut begun = BTreeSet::new();
        for episode in world.ask(|_| {}).await {
            begun.extend(episode.events.iter().min().copied());
        }
        let begins = events.iter().map(|event| begun.contains(event)).collect();
        scores.boundaries(&story, &Told { begins, ..Told::default() });
        world.check().await;
    }
    let score = scores.boundaries;
    assert!(score.f1() >= F1_MIN, "F1 {:.3} of {score:?}\n{}", score.f1(), scores.log);
}

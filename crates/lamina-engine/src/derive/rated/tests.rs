//! Feedback on records from what is said to what is counted, and back when it is taken back.

use lamina_types::Modality;

use super::*;
use crate::admin::testing::path;
use crate::derive::tests::World;

fn json(data: &str) -> Content {
    Content::Json { data: data.to_owned(), media: Vec::new() }
}

#[test]
fn feedback_names_records_and_says_whether_they_were_useful() {
    let fact = FactId::from_bytes([7; 16]);
    let event = EventId::from_bytes([9; 16]);
    let told = |data: &str| {
        let data = data.replace("FACT", &fact.to_string()).replace("EVENT", &event.to_string());
        super::told(&json(&data))
    };
    let useful = Rating { layer: Layer::Facts, id: [7; 16], useful: true };
    let not = Rating { useful: false, ..useful };
    let other = Rating { layer: Layer::Events, id: [9; 16], useful: true };
    assert_eq!(told(r#"{"fact_id":"FACT","useful":true}"#), [useful]);
    assert_eq!(told(r#"{"useful":false,"record_id":"FACT"}"#), [not]);
    assert_eq!(told(r#"{"record_ids":["FACT","EVENT","FACT"],"helpful":true}"#), [useful, other]);
    assert_eq!(told(r#"{"record_id":"FACT","feedback":"used"}"#), [useful]);
    assert_eq!(told(r#"{"record_id":"FACT","feedback":"irrelevant","reason":"old"}"#), [not]);
    // Whether something came true is another matter, and so is what is only quoted.
    assert_eq!(told(r#"{"fact_id":"FACT","came_true":true}"#), []);
    assert_eq!(told(r#"{"note":"say \"fact_id\":\"FACT\"","useful":true}"#), []);
    for odd in [
        r#"{"fact_id":"fact_1","useful":true}"#,
        r#"{"fact_id":7,"useful":true}"#,
        r#"{"record_ids":[],"useful":true}"#,
        r#"{"record_ids":[[]],"useful":true}"#,
        r#"{"fact_id":"FACT","useful":"yes"}"#,
        r#"{"fact_id":"FACT","feedback":"bad"}"#,
        r#"{"fact_id":"FACT"}"#,
        r#"{"useful":true}"#,
        "[]",
        "",
    ] {
        assert_eq!(told(odd), [], "{odd}");
    }
    let many: Vec<String> =
        (0..40).map(|n| format!("\"{}\"", EventId::from_bytes([n; 16]))).collect();
    let many = format!(r#"{{"record_ids":[{}],"useful":true}}"#, many.join(","));
    assert_eq!(super::told(&json(&many)).len(), RATED_MAX);
}

impl World {
    /// Somebody says in a scope whether a record was useful.
    async fn rate(&mut self, scope: &str, actor: &str, record: &str, useful: bool) -> EventId {
        let data = format!(r#"{{"record_id":"{record}","useful":{useful}}}"#);
        let id = self.say_with(scope, "", |experience| {
            experience.modality = Modality("feedback".to_owned());
            experience.observed_actor.id = actor.parse().unwrap();
            experience.content = json(&data);
        });
        let id = id.await;
        self.settle(id).await;
        id
    }

    fn net(&self, scopes: &[&str], event: EventId, known: RecordedAt) -> i64 {
        let views = &self.engine.inner.views;
        let ordinal = |scope: &&str| views.scope_ordinal(1, &path(scope)).unwrap().unwrap();
        let scopes: Vec<u64> = scopes.iter().map(ordinal).collect();
        let rated = Rated::within(views, 1, &scopes, known).unwrap();
        rated.map_or(0, |rated| rated.net(Layer::Events, event.as_bytes()).unwrap())
    }
}

const ALWAYS: RecordedAt = RecordedAt(Micros::MAX);

#[tokio::test(flavor = "multi_thread")]
async fn the_last_word_of_everybody_counts_once_where_it_was_given() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let (own, other) = ("user:alice", "user:alice/ws:other");
    let event = world.say(own, "I likes tea").await;
    world.say(other, "I likes jazz").await;
    let id = event.to_string();
    let before = RecordedAt(world.engine.now());
    assert_eq!(world.net(&[own, other], event, ALWAYS), 0);
    let first = world.rate(own, "user:alice", &id, true).await;
    let one = RecordedAt(world.engine.now());
    world.rate(own, "user:alice", &id, true).await;
    assert_eq!(world.net(&[own], event, ALWAYS), 1, "said twice, counted once");
    assert_eq!(world.net(&[other], event, ALWAYS), 0, "not where it was not given");
    world.rate(other, "user:bob", &id, true).await;
    assert_eq!(world.net(&[own], event, ALWAYS), 1);
    assert_eq!(world.net(&[own, other], event, ALWAYS), 2);
    let changed = world.rate(own, "user:alice", &id, false).await;
    assert_eq!(world.net(&[own, other], event, ALWAYS), 0, "the last word counts");
    assert_eq!(world.net(&[own, other], event, one), 1, "as it was");
    assert_eq!(world.net(&[own, other], event, before), 0);
    // What is taken back was never said.
    world.cancel(own, changed).await;
    assert_eq!(world.net(&[own, other], event, ALWAYS), 2);
    world.cancel(own, first).await;
    assert_eq!(world.net(&[own], event, ALWAYS), 1, "the second stands for itself");
    assert_eq!(world.net(&[own], event, one), 0);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_when_all_of_it_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let event = world.say("user:alice", "I likes tea").await;
    let rows = |world: &World| {
        let mut count = 0;
        let all = ([0, 0, 0, 1, 110], [0, 0, 0, 1, 113]);
        let views = &world.engine.inner.views;
        walk(views, Space::Sources, (&all.0, &all.1), Direction::Forward, &mut |_, _| {
            count += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
        count
    };
    assert_eq!(rows(&world), 0);
    let said = world.rate("user:alice", "user:alice", &event.to_string(), true).await;
    assert_eq!(rows(&world), 3);
    // Not feedback, though it looks like it.
    let data = format!(r#"{{"record_id":"{event}","useful":true}}"#);
    let other = world.say_with("user:alice", "", |experience| experience.content = json(&data));
    let other = other.await;
    world.settle(other).await;
    assert_eq!(rows(&world), 3);
    world.cancel("user:alice", said).await;
    assert_eq!(rows(&world), 0);
    world.check().await;
}

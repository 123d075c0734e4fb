//! Episodes through a running engine: sessions, pauses on both axes, topics, size, late reports, what
//! is taken back; and a replay gives the same rows.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lamina_env::Env;
use lamina_env::sim::SimClock;
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_store::kv::MemKv;
use lamina_store::view::check::verify;
use lamina_types::capability::ScopeWrite;
use lamina_types::layer::{
    ByteSpan, Cardinality, Claim, Confidence, Effect, EntityKind, Extraction, Normaliser, Object,
    Term,
};
use lamina_types::lifecycle::Payload;
use lamina_types::{
    Actor, ActorId, EpisodeId, EventId, LifecycleKind, Micros, RecordedAt, Stage, ValidAt,
};

use crate::admin::testing::{noted, path, permit_of, written};
use crate::derive::answer::{Extracted, Extractor, Rules};
use crate::open::TenantKeys;
use crate::read::ReadPermit;
use crate::read::episodes::{EpisodeRecord, EpisodeState, EpisodesQuery};
use crate::{Engine, Settings, Until};

mod stories;

const MINUTE: i64 = 60_000_000;
const BEGINNING: i64 = 1_700_000_000_000_000;
const SCOPE: &str = "user:alice";

/// Every word of five letters and more is a topic, every capitalised one a thing that likes tea.
#[derive(Debug)]
struct Words;

impl Extractor for Words {
    fn extract(&self, _: &ExperienceWho, what: &ExperienceWhat) -> Extracted {
        let words = || what.content.text().split_whitespace();
        let mut topics: Vec<u32> = words().filter(|word| word.len() > 4).map(hash).collect();
        topics.sort_unstable();
        topics.dedup();
        let claims = words().filter(|word| word.starts_with(char::is_uppercase)).map(claim);
        let extraction = Extraction {
            extractor: "words/1".to_owned(),
            claims: claims.collect(),
            topics,
            ..Extraction::default()
        };
        Extracted { extraction, ungrounded: Vec::new() }
    }
}

fn hash(word: &str) -> u32 {
    word.bytes().fold(7, |hash: u32, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)))
}

fn claim(name: &str) -> Claim {
    Claim {
        subject: Term::Named { name: name.to_owned(), kind: EntityKind::Product },
        predicate: "likes".to_owned(),
        object: Object::Text("tea".to_owned()),
        effect: Effect::Holds,
        valid_from: None,
        valid_to: None,
        cardinality: Some(Cardinality::Many),
        confidence: Confidence::new(9_000),
        span: ByteSpan { start: 0, end: 1 },
        normaliser: Normaliser::Identity,
        clause: ByteSpan { start: 0, end: 1 },
    }
}

/// Something to be said.
#[derive(Debug, Clone)]
struct Say<'a> {
    session: Option<&'a str>,
    actor: &'a str,
    /// Minutes since the beginning.
    minute: i64,
    text: &'a str,
    preceded_by: Vec<EventId>,
}

fn say(minute: i64, text: &str) -> Say<'_> {
    Say { session: None, actor: "user:alice", minute, text, preceded_by: Vec::new() }
}

struct World {
    engine: Engine,
    clock: Arc<SimClock>,
    key: u32,
}

impl World {
    fn open(dir: &Path) -> World {
        World::open_at(dir, BEGINNING, Arc::new(Words))
    }

    fn open_at(dir: &Path, now: i64, extractor: Arc<dyn Extractor>) -> World {
        let clock = Arc::new(SimClock::at(Micros(now)));
        let env = Env { clock: Arc::clone(&clock) as _, ..Env::real() };
        let (engine, _) = Engine::open_deriving(Settings::new(dir), env, extractor).unwrap();
        World { engine, clock, key: 0 }
    }

    /// Says something, and lets a second pass.
    async fn say_only(&mut self, say: Say<'_>) -> EventId {
        self.clock.advance(1_000_000);
        self.key += 1;
        let key = format!("k{}-{}", self.key, self.engine.now().0);
        let mut write = written(&self.engine, say.actor, SCOPE, &key);
        let experience = &mut write.experience;
        experience.observed_actor = Actor {
            id: say.actor.parse::<ActorId>().unwrap(),
            session: say.session.map(str::to_owned),
        };
        experience.content =
            lamina_types::Content::Text { text: say.text.to_owned(), media: Vec::new() };
        experience.context.observed_at = ValidAt(Micros(BEGINNING + say.minute * MINUTE));
        experience.context.preceded_by = say.preceded_by;
        let permit = permit_of::<ScopeWrite>(1, say.actor, Some(&path(SCOPE)));
        self.engine.experience(&permit, write).await.unwrap().event_id
    }

    async fn say(&mut self, say: Say<'_>) -> EventId {
        let id = self.say_only(say).await;
        self.settle(id).await;
        id
    }

    async fn settle(&self, id: EventId) {
        let stage = Until::Stage(Stage::Consolidated);
        self.engine.wait_for(1, id, stage, Duration::from_secs(120)).await.unwrap();
    }

    async fn cancel(&self, id: EventId) {
        let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(SCOPE)));
        self.engine.cancel(&permit, id, &noted()).await.unwrap();
    }

    async fn build(&self, seal: bool) -> u64 {
        let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(SCOPE)));
        let built = self.engine.episodes_build(&permit, &path(SCOPE), seal, &noted()).await;
        built.unwrap().episodes
    }

    async fn ask(&self, with: impl FnOnce(&mut EpisodesQuery)) -> Vec<EpisodeRecord> {
        let mut query = EpisodesQuery {
            scope: path(SCOPE),
            actor: None,
            recorded: RecordedAt(self.engine.now()),
            in_the_past: false,
            valid: None,
            valid_during: None,
            recorded_during: None,
            overlapping: None,
            with_chain: false,
            after: None,
            limit: 100,
        };
        with(&mut query);
        let mut items = Vec::new();
        loop {
            let permit = ReadPermit::Local(permit_of(1, "user:alice", Some(&path(SCOPE))));
            let page = self.engine.episodes(permit, query.clone()).await.unwrap();
            assert!(page.items.len() <= query.limit);
            items.extend(page.items);
            match page.next {
                Some(next) => query.after = Some(next),
                None => return items,
            }
        }
    }

    /// The episodes, the first known first: state, minutes, events.
    async fn shown(&self) -> Vec<String> {
        let mut episodes = self.ask(|_| {}).await;
        episodes.reverse();
        episodes.iter().map(shown).collect()
    }

    /// The episode that an event was compressed with, once it is.
    async fn compressed(&self, event: EventId) -> EpisodeId {
        for _ in 0..1_200 {
            let rows = self.engine.inner.views.lifecycle_of_event(1, event).unwrap();
            let kinds: Vec<LifecycleKind> = rows.iter().map(|row| row.kind).collect();
            if let [.., consolidated, last] = rows.as_slice()
                && let Payload::Compressed { episode, .. } = last.payload
            {
                assert_eq!(consolidated.kind, LifecycleKind::Stage(Stage::Consolidated));
                assert_eq!(last.seq, consolidated.seq + 1);
                return episode;
            }
            assert!(!kinds.contains(&LifecycleKind::Stage(Stage::Compressed)), "{kinds:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{event} is not compressed");
    }

    /// Every row is what a replay of the log makes. Stops first: an idle log appends marks.
    async fn check(self) {
        self.engine.shutdown().await;
        let inner = &self.engine.inner;
        let hasher = Arc::new(TenantKeys(Arc::clone(&inner.keys)));
        let kv = Arc::new(MemKv::placed(crate::derive::key::placement()));
        let found = verify(&inner.views, &*inner.reader, kv, hasher, &mut |_, _| {});
        assert_eq!(found.unwrap().differences, []);
    }
}

fn shown(episode: &EpisodeRecord) -> String {
    let minute = |at: ValidAt| (at.0.0 - BEGINNING) / MINUTE;
    let state = match episode.state {
        EpisodeState::Open => "open",
        EpisodeState::Closed => "closed",
        EpisodeState::Sealed => "sealed",
    };
    let why = episode.ended_by.map_or(String::new(), |why| format!(" by {why:?}"));
    let follows = if episode.follows.is_some() { " follows" } else { "" };
    let actors: Vec<&str> = episode.actors.iter().map(ActorId::as_str).collect();
    format!(
        "{state}{why} {}..{} {} {}{follows}",
        minute(episode.started),
        minute(episode.last),
        episode.events.len(),
        actors.join("+"),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_apart_and_a_pause_ends_an_episode() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let one = world.say(Say { session: Some("s1"), ..say(0, "the Gateway starts") }).await;
    world.say(Say { session: Some("s2"), actor: "user:bob", ..say(1, "hello there") }).await;
    world.say(Say { session: Some("s1"), actor: "user:bob", ..say(2, "go on") }).await;
    world.say(Say { session: Some("s1"), ..say(40, "back again") }).await;
    assert_eq!(
        world.shown().await,
        [
            "closed by Gap 0..2 2 user:alice+user:bob",
            "open 1..1 1 user:bob",
            "open 40..40 1 user:alice follows",
        ]
    );
    let episodes = world.ask(|_| {}).await;
    assert_eq!(episodes[2].followed_by, [episodes[0].id]);
    assert_eq!(episodes[0].follows, Some(episodes[2].id));
    // R212: the event points to its episode.
    let derives = world.engine.derived_from(1, one).await.unwrap();
    assert_eq!(derives[0], episodes[2].id.to_string());
    let bobs = world.ask(|query| query.actor = Some("user:bob".parse().unwrap())).await;
    assert_eq!(bobs.len(), 2);
    assert_eq!(episodes[2].summary.as_deref(), Some("the Gateway starts."));
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_database_shows_what_is_over_as_over_and_then_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    // More of them at once than one entry lets pass.
    let mut last = None;
    for number in 0..40 {
        let session = format!("s{number}");
        last = Some(world.say_only(Say { session: Some(&session), ..say(0, "hello") }).await);
    }
    world.settle(last.unwrap()).await;
    let open = world.ask(|_| {}).await;
    assert!(open.iter().all(|one| one.state == EpisodeState::Open) && open.len() == 40);
    let before = world.engine.inner.views.applied().unwrap().next_offset;
    let known = RecordedAt(world.engine.now());
    world.clock.advance(31 * MINUTE);
    // Whether or not the tick is there already.
    let over = world.ask(|_| {}).await;
    assert!(over.iter().all(|one| one.state == EpisodeState::Sealed), "{over:?}");
    let due: Vec<RecordedAt> = over.iter().map(|one| one.sealed_at.unwrap()).collect();
    // An idle log also appends a mark; the deadlines are gone when the ticks have come.
    let views = Arc::clone(&world.engine.inner.views);
    for _ in 0..600 {
        if crate::derive::deadlines::next(&views).unwrap().is_none() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(crate::derive::deadlines::next(&views).unwrap(), None);
    assert!(world.engine.inner.views.applied().unwrap().next_offset > before);
    // Dated at the deadline, whenever the log came to it.
    let sealed = world.ask(|_| {}).await;
    let dated: Vec<RecordedAt> = sealed.iter().map(|one| one.sealed_at.unwrap()).collect();
    assert_eq!(dated, due);
    // And with the knowledge of before nothing was over.
    let then = world.ask(|query| query.recorded = known).await;
    assert!(then.iter().all(|one| one.state == EpisodeState::Open) && then.len() == 40);
    // What comes next is an episode of its own.
    world.say(Say { session: Some("s3"), ..say(32, "hello") }).await;
    let shown = world.shown().await;
    assert_eq!(shown.last().unwrap(), "open 32..32 1 user:alice follows");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_and_late_reports() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let garden = "roses tulips watering compost spade hedges lawns";
    let travel = "flights hotels passport luggage beaches museum visas";
    for minute in [0, 1, 2] {
        world.say(say(minute, garden)).await;
    }
    world.say(say(4, travel)).await;
    world.say(say(5, travel)).await;
    // Late: it belongs where it happened.
    world.say(Say { actor: "user:bob", ..say(-3, garden) }).await;
    // Late, and nothing is near.
    world.say(say(-300, garden)).await;
    assert_eq!(
        world.shown().await,
        [
            "closed by TopicShift -3..2 4 user:bob+user:alice",
            "open 4..5 2 user:alice",
            "closed -300..-300 1 user:alice",
        ]
    );
    let minute = |minute: i64| ValidAt(Micros(BEGINNING + minute * MINUTE));
    let between =
        |from, to| world.ask(move |query| query.overlapping = Some((minute(from), minute(to))));
    assert_eq!(between(3, 4).await.len(), 0);
    assert_eq!(between(3, 5).await.len(), 1);
    assert_eq!(between(2, 5).await.len(), 2);
    assert_eq!(between(-300, -299).await.len(), 1);
    let begun = world.ask(|query| query.valid = Some(minute(3))).await;
    assert_eq!(begun.len(), 2);
    let known = world.ask(|query| query.valid_during = Some((minute(-900), minute(0)))).await;
    assert_eq!(known.len(), 2);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_episode_has_room_for_500_events_and_the_next_one_follows() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let mut last = None;
    for _ in 0..502 {
        last = Some(world.say_only(say(0, "tick")).await);
    }
    world.settle(last.unwrap()).await;
    assert_eq!(
        world.shown().await,
        ["closed by Size 0..0 500 user:alice", "open 0..0 2 user:alice follows"]
    );
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_leaves_its_episode() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let first = world.say(say(0, "Acme wrote")).await;
    let middle = world.say(Say { actor: "user:bob", ..say(5, "Acme called") }).await;
    let last = world.say(say(9, "Initech wrote")).await;
    let alone = world.say(say(100, "nothing else")).await;
    let after = world.say(say(200, "the end")).await;
    world.cancel(middle).await;
    world.cancel(last).await;
    assert_eq!(
        world.shown().await,
        [
            "closed by Gap 0..0 1 user:alice",
            "closed by Gap 100..100 1 user:alice follows",
            "open 200..200 1 user:alice follows",
        ]
    );
    let bobs = world.ask(|query| query.actor = Some("user:bob".parse().unwrap())).await;
    assert_eq!(bobs, []);
    // An episode without events is gone, and nothing points to it.
    world.cancel(alone).await;
    let shown = world.shown().await;
    assert_eq!(shown, ["closed by Gap 0..0 1 user:alice", "open 200..200 1 user:alice"]);
    assert_eq!(world.engine.derived_from(1, alone).await.unwrap(), [""; 0]);
    world.cancel(first).await;
    world.cancel(after).await;
    assert_eq!(world.shown().await, [""; 0]);
    assert_eq!(world.build(false).await, 0);
    // The thread starts anew.
    world.say(say(201, "hello")).await;
    assert_eq!(world.shown().await, ["open 201..201 1 user:alice"]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sealing_by_hand_and_naming_what_came_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let first = world.say(Say { session: Some("a"), ..say(0, "hello") }).await;
    world.say(Say { session: Some("b"), ..say(0, "hello") }).await;
    assert_eq!(world.build(true).await, 2);
    // Another session, and yet about the same.
    let preceded_by = vec![EventId::from_bytes([9; 16]), first];
    world.say(Say { session: Some("c"), preceded_by, ..say(1, "again") }).await;
    world.say(Say { session: Some("a"), ..say(1, "and again") }).await;
    assert_eq!(
        world.shown().await,
        [
            "sealed by Explicit 0..0 1 user:alice",
            "sealed by Explicit 0..0 1 user:alice",
            "open 1..1 1 user:alice follows",
            "open 1..1 1 user:alice follows",
        ]
    );
    let episodes = world.ask(|_| {}).await;
    assert_eq!(episodes[3].followed_by.len(), 2, "{episodes:?}");
    let chained = world.ask(|query| query.with_chain = true).await;
    let roles: Vec<&str> =
        chained[0].chain.as_ref().unwrap().iter().map(|(_, role)| role.as_str()).collect();
    assert_eq!(roles, ["trigger"]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_compressed_with_their_episode_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let by_hand = world.say(say(0, "hello")).await;
    let cancelled = world.say(say(1, "not this")).await;
    world.cancel(cancelled).await;
    world.build(true).await;
    let first = world.ask(|_| {}).await[0].id;
    assert_eq!(world.compressed(by_hand).await, first);
    let by_time = [world.say(say(2, "hello")).await, world.say(say(3, "again")).await];
    let sealed = world.ask(|_| {}).await[0].id;
    world.clock.advance(31 * MINUTE);
    for event in by_time {
        assert_eq!(world.compressed(event).await, sealed);
    }
    // After a restart that goes through the log again, nothing is announced twice.
    let now = world.engine.now().0 + 1;
    world.engine.shutdown().await;
    let views = Arc::clone(&world.engine.inner.views);
    drop(world);
    let mut batch = lamina_store::kv::Batch::default();
    views.pipeline_watermark_put(&mut batch, 1);
    views.commit(batch).unwrap();
    views.persist().unwrap();
    drop(views);
    let mut world = World::open_at(dir.path(), now, Arc::new(Words));
    let last = world.say(say(40, "hello")).await;
    world.build(true).await;
    world.compressed(last).await;
    for event in [by_hand, by_time[0], by_time[1]] {
        world.compressed(event).await;
        let rows = world.engine.inner.views.lifecycle_of_event(1, event).unwrap();
        assert_eq!(rows.len(), 5, "{rows:?}");
    }
    let rows = world.engine.inner.views.lifecycle_of_event(1, cancelled).unwrap();
    let compressed = LifecycleKind::Stage(Stage::Compressed);
    assert!(rows.iter().all(|row| row.kind != compressed), "{rows:?}");
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_names_the_concepts_that_came_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let mut understood = Vec::new();
    for number in 0..3 {
        let session = format!("s{number}");
        let event = world.say(Say { session: Some(&session), ..say(0, "Acme Initech") }).await;
        world.build(true).await;
        world.compressed(event).await;
        let rows = world.engine.inner.views.lifecycle_of_event(1, event).unwrap();
        let Some(Payload::Compressed { understanding, .. }) = rows.last().map(|row| &row.payload)
        else {
            panic!("{rows:?}")
        };
        understood.push(understanding.len());
    }
    // It takes two episodes to understand something.
    assert_eq!(understood.first(), Some(&0));
    assert!(understood.contains(&1), "{understood:?}");
    world.check().await;
}

/// A small generator: the same numbers every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_a_replay_gives_the_same_rows() {
    const TEXTS: &[&str] = &[
        "Acme hello",
        "roses tulips watering compost spade hedges lawns",
        "Initech flights hotels passport luggage beaches museum visas",
        "by the way cameras lenses Acme",
        "ok",
    ];
    for seed in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        let mut dice = Dice(seed);
        let mut world = World::open(dir.path());
        let mut events: Vec<EventId> = Vec::new();
        for _ in 0..120 {
            match dice.roll(20) {
                0..=1 if !events.is_empty() => {
                    let index = dice.roll(events.len() as u64) as usize;
                    world.cancel(events.swap_remove(index)).await;
                }
                2 => world.clock.advance(dice.roll(90) as i64 * MINUTE),
                3 => drop(world.build(true).await),
                4 => {
                    world.engine.shutdown().await;
                    let now = world.engine.now().0 + 1;
                    drop(world);
                    world = World::open_at(dir.path(), now, Arc::new(Words));
                }
                _ => {
                    let session = [None, Some("a"), Some("b")][dice.roll(3) as usize];
                    let preceded_by = match events.get(dice.roll(9) as usize) {
                        Some(event) if dice.roll(4) == 0 => vec![*event],
                        _ => Vec::new(),
                    };
                    let now = (world.engine.now().0 - BEGINNING) / MINUTE;
                    let minute = now - dice.roll(3) as i64 * dice.roll(50) as i64;
                    let actor = ["user:alice", "user:bob"][dice.roll(2) as usize];
                    let text = TEXTS[dice.roll(TEXTS.len() as u64) as usize];
                    events.push(
                        world.say_only(Say { session, actor, minute, text, preceded_by }).await,
                    );
                }
            }
        }
        for event in &events {
            world.settle(*event).await;
        }
        // Every event that is left is in exactly one episode.
        let mut held: Vec<EventId> =
            world.ask(|_| {}).await.into_iter().flat_map(|episode| episode.events).collect();
        held.sort_unstable();
        events.sort_unstable();
        assert_eq!(held, events, "seed {seed}");
        world.check().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_join_and_keep_the_knowledge_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    for number in 0..20 {
        let session = format!("s{number}");
        world.say(Say { session: Some(&session), ..say(number, "hello") }).await;
    }
    let all = world.ask(|_| {}).await;
    assert_eq!(all.len(), 20);
    for limit in [1, 3, 7, 20] {
        assert_eq!(world.ask(|query| query.limit = limit).await, all);
    }
    // More is looked at than one page may: nothing is lost between them.
    let early = ValidAt(Micros(BEGINNING + MINUTE));
    let found = world.ask(|query| query.valid = Some(early)).await;
    assert_eq!(found, all[18..]);
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_find_where_the_talk_turns() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open_at(dir.path(), BEGINNING, Arc::new(Rules));
    // Said at once, so that answers are made on two threads: verdicts are given in order all the same.
    let mut last = None;
    for round in 0..8 {
        let topic = [
            "The roses and tulips in the garden need watering, compost and a sharp spade",
            "Our flights, hotels, passports and luggage for the beach holiday in Lisbon are booked",
        ][round % 2];
        for minute in 0..6 {
            let minute = round as i64 * 6 + minute;
            last = Some(world.say_only(say(minute, topic)).await);
        }
    }
    world.settle(last.unwrap()).await;
    let shown = world.shown().await;
    assert_eq!(shown.len(), 8, "{shown:#?}");
    assert_eq!(shown[0], "closed by TopicShift 0..5 6 user:alice");
    let named = world.ask(|_| {}).await;
    assert_eq!(named[7].name.as_deref(), Some("The roses and tulips in the garden need watering"));
    world.check().await;
}

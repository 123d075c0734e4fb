//! Beliefs in the engine: what is said makes them, what is taken back unmakes them, a replay gives the
//! same rows, and a row is what taking all pieces again comes to.

mod renamed;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use lamina_core::derive::beliefs::ledger::{Piece, replay};
use lamina_core::derive::beliefs::{Hidden, Settings, Stance};
use lamina_store::kv::{Direction, Space};
use lamina_types::capability::ScopeWrite;
use lamina_types::layer::{Confidence, Object, Term};
use lamina_types::{BeliefId, Content, EventId, Micros, Modality, RecordedAt, Role, ValidAt};

use tokio::sync::oneshot;

use super::rows::BeliefRow;
use crate::admin::testing::{noted, path, permit_of};
use crate::derive::answer::Answerer;
use crate::derive::key::beliefs::ClaimKey;
use crate::derive::read::walk;
use crate::derive::tests::{Plain, World};
use crate::read::ReadPermit;
use crate::read::beliefs::{BeliefRecord, BeliefsQuery};
use crate::write::capture::Request;
use crate::write::{BeliefSupportId, BeliefToDeclare};
use crate::{Error, Until};

const HOUR: i64 = 3_600 * 1_000_000;

fn reader(scope: &str) -> ReadPermit {
    ReadPermit::Local(permit_of(1, "user:alice", Some(&path(scope))))
}

impl World {
    async fn beliefs(
        &self,
        scope: &str,
        with: impl FnOnce(&mut BeliefsQuery),
    ) -> Vec<BeliefRecord> {
        let mut query = BeliefsQuery {
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
            limit: 1_000,
        };
        with(&mut query);
        self.engine.beliefs(reader(scope), query).await.unwrap().items
    }

    /// What is believed when everything that waits is shown.
    async fn later(&self, scope: &str) -> Vec<String> {
        let then = RecordedAt(self.engine.now().plus(HOUR));
        let mut lines: Vec<String> =
            self.beliefs(scope, |query| query.recorded = then).await.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }

    async fn declare(&self, statement: &str, subject: Option<&str>, from: i64) -> BeliefId {
        let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path("user:alice")));
        let belief = BeliefToDeclare {
            scope: path("user:alice"),
            statement: statement.to_owned(),
            subject: subject.map(str::to_owned),
            predicate: "asserts".to_owned(),
            confidence: Confidence::new(8_000),
            supports: Vec::new(),
            valid_from: Some(ValidAt(Micros(from))),
        };
        self.engine.declare_belief(&permit, belief, &noted()).await.unwrap()
    }

    /// What was believed with the knowledge of an instant.
    async fn known(&self, scope: &str, at: RecordedAt) -> Vec<String> {
        let all = self.beliefs(scope, |query| query.recorded = at).await;
        let mut lines: Vec<String> = all.iter().map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// Another answer to an event, with the first claims only.
    async fn read_again(&self, event: EventId, claims: usize) {
        let inner = &self.engine.inner;
        let row = inner.views.event(1, event).unwrap().unwrap();
        let said = inner.reader.entry(row.offset, row.place).unwrap();
        let answerer = Answerer::new(Arc::new(Plain), Arc::clone(&inner.env.rng));
        let mut draft = answerer.draft(&said).unwrap();
        draft.answer.extraction.claims.truncate(claims);
        let (reply, answer) = oneshot::channel();
        let entries = vec![answerer.entry(&mut draft)];
        inner.submit(Request::Answers { entries, reply }, answer).await.unwrap();
    }

    async fn gone(&self, id: BeliefId) -> bool {
        let now = RecordedAt(self.engine.now());
        let read = self.engine.belief(reader("user:alice"), id, now).await;
        matches!(read, Err(Error::Deleted))
    }

    /// Every belief is what its pieces come to, and nothing else leads to it.
    fn check_rows(&self) {
        let views = &self.engine.inner.views;
        let mut claims = Vec::new();
        let all = (vec![0, 0, 0, 1, 70], vec![0, 0, 0, 1, 71]);
        walk(views, Space::Sources, (&all.0, &all.1), Direction::Forward, &mut |key, value| {
            let (rest, value_key) = key.split_last_chunk::<16>().unwrap();
            let (rest, said) = rest.split_last_chunk::<16>().unwrap();
            let scope = u64::from_be_bytes(*rest.last_chunk().unwrap());
            let claim = ClaimKey { scope, said: *said, value: *value_key };
            claims.push((claim, BeliefRow::decode(value).unwrap()));
            ControlFlow::Continue(())
        })
        .unwrap();
        for (claim, row) in claims {
            let pieces = self.engine.inner.said_about(1, &claim).unwrap();
            let counts = pieces.iter().filter(|(_, piece)| piece.gone.is_none());
            let said: Vec<Piece> = counts.map(|(_, piece)| piece.piece.clone()).collect();
            let last = said.last().unwrap().recorded();
            let until = last.max(row.held.state.last_revised);
            let lives = replay(&Settings::default(), &said, until);
            assert_eq!(lives.last().unwrap().held, row.held);
        }
    }
}

fn line(belief: &BeliefRecord) -> String {
    let object = match &belief.object {
        Object::Entity(Term::Named { name, .. }) => name.clone(),
        Object::Text(text) => text.clone(),
        other => format!("{other:?}"),
    };
    let stance = match belief.shown.stance {
        Stance::Supported => "+",
        Stance::Contradicted => "-",
        Stance::Uncertain => "?",
        Stance::Deprecated => "x",
    };
    format!("{} {object} {stance}{:.2}", belief.predicate, belief.shown.confidence)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_is_believed_and_what_excludes_it_counts_against_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say("user:alice", "I =lives_in Rome; I likes tea; I owns car not").await;
    // 0.9 of a piece: 1.9 of 2.9.
    assert_eq!(
        world.later("user:alice").await,
        ["likes tea +0.66", "lives_in Rome +0.66", "owns car -0.66"]
    );
    let moved = world.say("user:alice", "I =lives_in Oslo").await;
    world.say("user:alice", "I likes tea ends").await;
    assert_eq!(
        world.later("user:alice").await,
        ["likes tea ?0.50", "lives_in Oslo +0.66", "lives_in Rome ?0.50", "owns car -0.66"]
    );
    // The move is evidence too, and waits for the pause; that is told.
    let now = world.beliefs("user:alice", |query| query.predicate = Some("lives_in".to_owned()));
    let now = now.await;
    assert_eq!(
        now.iter().map(line).collect::<Vec<_>>(),
        ["lives_in Oslo +0.66", "lives_in Rome +0.66"]
    );
    assert!(now[1].shown.partial.is_some() && now[0].shown.partial.is_none());
    assert_eq!(now[1].contradicts.len(), 1);
    assert_eq!(now[1].contradicts[0].belief, now[0].id);
    world.check_rows();
    // Had nobody moved, Rome would be as sure as before, at once.
    world.cancel("user:alice", moved).await;
    let rome = world.beliefs("user:alice", |query| query.predicate = Some("lives_in".to_owned()));
    let rome = rome.await;
    assert_eq!(rome.iter().map(line).collect::<Vec<_>>(), ["lives_in Rome +0.66"]);
    assert_eq!((rome[0].shown.partial, rome[0].id), (None, now[1].id));
    assert!(world.gone(now[0].id).await);
    assert_eq!(world.engine.derived_from(1, moved).await.unwrap(), [""; 0]);
    world.check_rows();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_belief_that_others_keep_alive_keeps_its_id() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let first = world.say("user:alice", "Bob =works_at Acme").await;
    let second = world.say("user:alice", "Bob =works_at Acme").await;
    let before = world.beliefs("user:alice", |_| {}).await;
    assert_eq!(before.len(), 1);
    world.cancel("user:alice", first).await;
    let after = world.beliefs("user:alice", |_| {}).await;
    assert_eq!((after.len(), after[0].id), (1, before[0].id));
    assert!(after[0].recorded_from > before[0].recorded_from);
    let derives = world.engine.derived_from(1, second).await.unwrap();
    assert!(derives.contains(&after[0].id.to_string()), "{derives:?}");
    world.cancel("user:alice", second).await;
    assert!(world.beliefs("user:alice", |_| {}).await.is_empty());
    assert!(world.gone(after[0].id).await);
    // Said again, it is another belief.
    world.say("user:alice", "Bob =works_at Acme").await;
    assert_ne!(world.beliefs("user:alice", |_| {}).await[0].id, after[0].id);
    world.check_rows();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_are_trusted_differently_and_voices_repeat_themselves_in_vain() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let role = |role: Role| {
        move |experience: &mut lamina_types::Experience| {
            let text = experience.content.text().to_owned();
            experience.content = Content::Message { role, text, media: Vec::new() };
        }
    };
    let modality = |name: &str| {
        let name = name.to_owned();
        move |experience: &mut lamina_types::Experience| experience.modality = Modality(name)
    };
    let first = world.say_with("user:alice", "I likes one", role(Role::User)).await;
    world.settle(first).await;
    for (text, name) in [
        ("I likes two", "document"),
        ("I likes three", "tool_result"),
        ("I likes four", "imported"),
    ] {
        let id = world.say_with("user:alice", text, modality(name)).await;
        world.settle(id).await;
    }
    let last = world.say_with("user:alice", "I likes five", role(Role::Assistant)).await;
    world.settle(last).await;
    let mut weights: Vec<(String, f64)> = world
        .beliefs("user:alice", |_| {})
        .await
        .iter()
        .map(|belief| (line(belief), belief.supports[0].weight))
        .collect();
    weights.sort_by(|one, other| one.0.cmp(&other.0));
    let weights: Vec<f64> = weights.into_iter().map(|(_, weight)| weight).collect();
    // five, four, one, three, two.
    assert_eq!(weights, [0.27, 0.72, 0.9, 0.855, 0.81]);
    for _ in 0..20 {
        world.say("user:alice", "I likes one").await;
    }
    let one = world.beliefs("user:alice", |query| query.about = Some("user:alice".to_owned()));
    let one = one.await.into_iter().find(|belief| line(belief).contains("one")).unwrap();
    let weight: f64 = one.supports.iter().map(|support| support.weight).sum();
    assert!(weight < 1.8, "{weight}");
    world.check_rows();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn directives_are_obeyed() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let floor = |at: f64| {
        move |experience: &mut lamina_types::Experience| {
            experience.directives.confidence_floor = Some(at);
        }
    };
    // 19,000 of 29,000 is 0.6551...: one step below is kept, one above is not.
    for (text, at) in [("I likes kept", 0.6551), ("I likes lost", 0.6552)] {
        let id = world.say_with("user:alice", text, floor(at)).await;
        world.settle(id).await;
    }
    let none = world.say_with("user:alice", "I likes facts", |experience| {
        experience.directives.extract = Some(vec!["facts".to_owned()]);
    });
    let none = none.await;
    world.settle(none).await;
    let short = world.say_with("user:alice", "I likes snow", |experience| {
        experience.directives.ttl_for_belief_layer = Some("PT1H".to_owned());
    });
    let short = short.await;
    world.settle(short).await;
    let snow = world.beliefs("user:alice", |_| {}).await;
    let mut lines: Vec<String> = snow.iter().map(line).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["likes kept +0.66", "likes snow +0.66"]);
    let snow = snow.into_iter().find(|belief| line(belief).contains("snow")).unwrap();
    // The last microsecond, and the first after.
    let end = snow.recorded_from.0.plus(HOUR);
    let read = |at: Micros| world.engine.belief(reader("user:alice"), snow.id, RecordedAt(at));
    assert!(read(end.plus(-1)).await.is_ok());
    assert!(matches!(read(end).await, Err(Error::Deleted)));
    // One more piece, and what the floor took is there, from all that is known.
    let id = world.say_with("user:alice", "I likes lost", floor(0.6552)).await;
    world.settle(id).await;
    let again = world.beliefs("user:alice", |_| {}).await;
    let lost = again.iter().find(|belief| line(belief).contains("lost")).map(line);
    assert_eq!(lost.as_deref(), Some("likes lost +0.70"));
    world.check_rows();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn late_reports_fill_the_past_only() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.next = 100_000_000;
    world.say("user:alice", "I =lives_in Oslo").await;
    world.next = 50_000_000;
    world.say("user:alice", "I =lives_in Rome").await;
    let all = world.beliefs("user:alice", |_| {}).await;
    let rome = all.iter().find(|belief| line(belief).contains("Rome")).unwrap();
    let oslo = all.iter().find(|belief| line(belief).contains("Oslo")).unwrap();
    assert_eq!(rome.valid_to, Some(oslo.valid_from));
    assert_eq!((oslo.valid_to, oslo.shown.partial), (None, None));
    let at = |at: i64| {
        let world = &world;
        async move {
            let valid = Some(ValidAt(Micros(at)));
            let found = world.beliefs("user:alice", |query| query.valid = valid).await;
            found.iter().map(line).collect::<Vec<_>>()
        }
    };
    assert_eq!(at(60_000_000).await, ["lives_in Rome +0.66"]);
    assert_eq!(at(101_000_000).await, ["lives_in Oslo +0.66"]);
    assert_eq!(at(50_000_000).await, [""; 0]);
    world.check_rows();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn declarations_close_what_was_declared_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say("user:alice", "Acme likes tea").await;
    let first = world.declare("Acme will renew", Some("Acme"), 1_000).await;
    let between = RecordedAt(world.engine.now());
    let second = world.declare("Acme will leave", Some("Acme"), 2_000).await;
    let declared = |query: &mut BeliefsQuery| query.predicate = Some("asserts".to_owned());
    let both = world.beliefs("user:alice", declared).await;
    let shown: Vec<_> = both.iter().map(|b| (b.id, b.valid_from.0.0, b.valid_to)).collect();
    let until = Some(ValidAt(Micros(2_000)));
    assert_eq!(shown, [(second, 2_000, None), (first, 1_000, until)]);
    assert_eq!(both[1].shown.confidence, 0.7);
    // Before the second was known, the first had no end.
    let then = world.engine.belief(reader("user:alice"), first, between).await.unwrap();
    assert_eq!(then.valid_to, None);
    let history =
        world.engine.belief_history(reader("user:alice"), first, RecordedAt(world.engine.now()));
    let history = history.await.unwrap();
    let ends: Vec<_> = history.versions.iter().map(|version| version.valid_to).collect();
    assert_eq!(ends, [None, until]);
    assert_eq!(history.versions[0].to, Some(history.versions[1].from));
    // One that begins when the second did: the second never was the answer.
    let third = world.declare("Acme is undecided", Some("acme"), 2_000).await;
    let left = world.beliefs("user:alice", declared).await;
    assert_eq!(left.iter().map(|b| b.id).collect::<Vec<_>>(), [third, first]);
    let past = world.engine.belief(reader("user:alice"), second, RecordedAt(world.engine.now()));
    let past = past.await.unwrap();
    assert_eq!(past.shown.hidden, Some(Hidden::Deprecated));
    // Without a subject nothing is closed.
    world.declare("it rains", None, 1).await;
    world.declare("it snows", None, 2).await;
    assert_eq!(world.beliefs("user:alice", declared).await.len(), 4);
    world.check_rows();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_moves_a_declaration_and_what_it_names_can_go() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let named = world.say("user:alice", "I uses Redis").await;
    let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path("user:alice")));
    let belief = BeliefToDeclare {
        scope: path("user:alice"),
        statement: "tea".to_owned(),
        subject: Some("user:alice".to_owned()),
        predicate: "likes".to_owned(),
        confidence: Confidence::new(8_000),
        supports: vec![BeliefSupportId::Event(named)],
        valid_from: None,
    };
    let id = world.engine.declare_belief(&permit, belief, &noted()).await.unwrap();
    world.say("user:alice", "I likes tea").await;
    let then = RecordedAt(world.engine.now().plus(HOUR));
    let read = || world.engine.belief(reader("user:alice"), id, then);
    // 8.9 of 10.9.
    assert_eq!(line(&read().await.unwrap()), "likes tea +0.82");
    assert_eq!(read().await.unwrap().supports.len(), 2);
    world.cancel("user:alice", named).await;
    let after = read().await.unwrap();
    assert_eq!((after.supports.len(), after.shown.redacted_fraction), (1, 0.5));
    world.check_rows();
    world.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn feedback_is_evidence_and_calibrates() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    world.say("user:alice", "I likes tea").await;
    let tea = world.beliefs("user:alice", |_| {}).await.remove(0);
    let mut ids: Vec<EventId> = Vec::new();
    for index in 0..12 {
        let data = format!(r#"{{"belief_id":"{}","came_true":{}}}"#, tea.id, index % 4 != 0);
        let id = world.say_with("user:alice", "", |experience| {
            experience.modality = Modality("feedback".to_owned());
            experience.content = Content::Json { data, media: Vec::new() };
        });
        ids.push(id.await);
    }
    let until = Until::Stage(lamina_types::Stage::Consolidated);
    let last = *ids.last().unwrap();
    world.engine.wait_for(1, last, until, Duration::from_secs(60)).await.unwrap();
    let belief = world.beliefs("user:alice", |_| {}).await.remove(0);
    let calibration = belief.calibration.unwrap();
    assert_eq!(calibration.samples, 12);
    // Shown as 0.6551 each time: what waits is not predicted yet.
    let (p, hits) = (0.6551f64, 9.0);
    let expected = (hits * (1.0 - p) * (1.0 - p) + (12.0 - hits) * p * p) / 12.0;
    assert!((calibration.brier - expected).abs() < 1e-9, "{}", calibration.brier);
    // Too long ago: told, and not dropped.
    let much_later = RecordedAt(world.engine.now().plus(31 * 24 * HOUR));
    let stale = world.engine.belief(reader("user:alice"), belief.id, much_later).await.unwrap();
    assert!(stale.calibration_stale && !belief.calibration_stale);
    // What is taken back was never a sample.
    for id in &ids {
        world.cancel("user:alice", *id).await;
    }
    let after = world.beliefs("user:alice", |_| {}).await.remove(0);
    assert_eq!((after.calibration, after.shown.partial, after.id), (None, None, tea.id));
    world.check_rows();
    world.check().await;
}

/// A long story of everything at once, by a fixed sequence of draws.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_story_is_the_same_when_it_is_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let mut draw = 7u64;
    let mut next = |limit: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % limit
    };
    let mut said = Vec::new();
    for _ in 0..120 {
        let (kind, who, what) = (next(10), next(3), next(4));
        let text = match kind {
            0 => format!("P{who} likes thing{what} ends"),
            1 => format!("P{who} likes thing{what} not"),
            2 => format!("P{who} likes - ends"),
            3..6 => format!("P{who} likes thing{what}; P{who} =lives_in City{what}"),
            _ => format!("P{who} =lives_in City{what}"),
        };
        if kind == 9 && !said.is_empty() {
            let at = next(said.len() as u64) as usize;
            let id = said.swap_remove(at);
            world.settle(id).await;
            world.cancel("user:alice", id).await;
        } else if kind == 8 {
            let subject = format!("P{who}");
            world.declare(&format!("thing{what}"), Some(&subject), what as i64).await;
        } else {
            let ttl = (next(4) == 0).then(|| "PT2S".to_owned());
            let id = world.say_with("user:alice", &text, |experience| {
                experience.directives.ttl_for_belief_layer = ttl;
            });
            said.push(id.await);
        }
    }
    for id in said {
        world.settle(id).await;
    }
    world.check_rows();
    world.check().await;
}

/// Another answer to an event comes in the place of the first.
#[tokio::test(flavor = "multi_thread")]
async fn what_two_answers_to_an_event_say_is_one_belief() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let event = world.say("user:alice", "Bob =works_at Acme; Bob likes tea").await;
    let before = world.beliefs("user:alice", |_| {}).await;
    let then = RecordedAt(world.engine.now());
    world.read_again(event, 1).await;
    let after = world.beliefs("user:alice", |_| {}).await;
    assert_eq!(after.iter().map(line).collect::<Vec<_>>(), ["works_at Acme +0.66"]);
    let acme = before.iter().find(|belief| line(belief).contains("Acme")).unwrap();
    let tea = before.iter().find(|belief| line(belief).contains("tea")).unwrap();
    assert_eq!((after[0].id, after[0].supports.len()), (acme.id, 1));
    // It was believed, and is kept for the past.
    assert_eq!(world.known("user:alice", then).await, ["likes tea +0.66", "works_at Acme +0.66"]);
    let read = world.engine.belief(reader("user:alice"), tea.id, then).await.unwrap();
    assert_eq!((line(&read), read.supports.len()), ("likes tea +0.66".to_owned(), 1));
    let now = RecordedAt(world.engine.now());
    let read = world.engine.belief(reader("user:alice"), tea.id, now).await.unwrap();
    assert_eq!(read.shown.stance, Stance::Deprecated);
    assert!(read.recorded_to.is_some());
    world.check_rows();
    // A cancelled event was never said, whatever was made of it.
    world.cancel("user:alice", event).await;
    assert_eq!(world.known("user:alice", then).await, [""; 0]);
    assert!(world.gone(tea.id).await && world.gone(acme.id).await);
    world.check().await;
}

/// Two say so, one is read again: what it said counts before, and the other alone from then on.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_again_counts_in_the_past() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open(dir.path());
    let first = world.say("user:alice", "Bob likes tea; Bob =works_at Acme").await;
    let second = world.say("user:alice", "Bob =works_at Initech; Bob likes tea").await;
    let then = RecordedAt(world.engine.now());
    let before = world.known("user:alice", then).await;
    let tea = world.beliefs("user:alice", |query| query.predicate = Some("likes".to_owned()));
    let tea = tea.await.remove(0).id;
    world.read_again(first, 0).await;
    let between = RecordedAt(world.engine.now());
    let known = world.known("user:alice", between).await;
    assert_eq!(known, ["likes tea +0.66", "works_at Initech +0.66"]);
    world.read_again(second, 0).await;
    assert_eq!(world.known("user:alice", RecordedAt(world.engine.now())).await, [""; 0]);
    // Each moment keeps what was believed then, under the same id.
    assert_eq!(world.known("user:alice", then).await, before);
    assert_eq!(world.known("user:alice", between).await, known);
    let read = world.engine.belief(reader("user:alice"), tea, then).await.unwrap();
    assert_eq!(read.supports.len(), 1, "one fact, said twice");
    // Said once more, it goes on under its id.
    world.say("user:alice", "Bob likes tea").await;
    let again = world.beliefs("user:alice", |_| {}).await;
    assert_eq!((again.len(), again[0].id), (1, tea));
    assert_eq!(world.known("user:alice", then).await, before);
    world.check_rows();
    world.cancel("user:alice", first).await;
    assert_eq!(world.known("user:alice", then).await, known);
    world.check_rows();
    world.check().await;
}

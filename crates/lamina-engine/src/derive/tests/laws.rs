//! Laws over all layers, for any history: what is known at a point on both axes is what a slow oracle says,
//! no record is without support, nothing stands on what was withdrawn, and a replay gives the same rows.

use std::collections::BTreeSet;

use lamina_core::derive::beliefs::SupportId;
use lamina_core::derive::beliefs::why::NodeId;
use lamina_core::derive::facts::Content;
use lamina_store::kv::{Direction, Space};
use lamina_types::capability::ScopeWrite;
use lamina_types::{EventId, RecordedAt, ValidAt};

use super::*;
use crate::derive::fold::row_error;
use crate::derive::read::{answer_row, walk};
use crate::derive::rows::FactRow;
use crate::read::beliefs::BeliefsQuery;

const SCOPE: &str = "user:alice";
/// Things are said at these seconds, so that they coincide now and then.
const SECONDS: i64 = 8;

/// Something that was said and not withdrawn.
struct Said {
    event: EventId,
    second: i64,
    value: &'static str,
    /// When it was known.
    known: RecordedAt,
}

/// What is known of where Alice lives: what began last holds, and several at once are a conflict.
fn oracle(said: &[Said], valid: i64, recorded: RecordedAt) -> String {
    let begun = || said.iter().filter(|one| one.second <= valid && one.known <= recorded);
    let Some(last) = begun().map(|one| one.second).max() else { return "-".to_owned() };
    let values: BTreeSet<&str> =
        begun().filter(|one| one.second == last).map(|one| one.value).collect();
    values.into_iter().collect::<Vec<&str>>().join("|")
}

impl World {
    async fn answer_at(&self, valid: i64, recorded: RecordedAt) -> String {
        let found = self.facts(SCOPE, |query| {
            query.predicate = Some("lives_in".to_owned());
            query.pins.recorded = recorded;
            query.pins.valid = Some(ValidAt(Micros(valid * 1_000_000)));
        });
        let found = found.await;
        assert!(found.len() <= 1, "a point has one answer: {found:?}");
        let Some(fact) = found.first() else { return "-".to_owned() };
        let mut words: Vec<String> = fact
            .objects
            .iter()
            .map(|object| match &object.object {
                Object::Entity(Term::Named { name, .. }) => name.clone(),
                other => format!("{other:?}"),
            })
            .collect();
        words.sort_unstable();
        words.join("|")
    }

    /// Every version of every fact stands on answers that are there, to events that were not withdrawn.
    fn every_fact_stands(&self, withdrawn: &BTreeSet<EventId>) {
        let views = &self.engine.inner.views;
        let mut rows: Vec<FactRow> = Vec::new();
        let all = (vec![0, 0, 0, 1, 1], vec![0, 0, 0, 1, 2]);
        walk(views, Space::Records, (&all.0, &all.1), Direction::Forward, &mut |_, value| {
            rows.push(FactRow::decode(value).map_err(row_error(Space::Records)).unwrap());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        for FactRow { piece, .. } in rows {
            assert!(!piece.supports.is_empty(), "{piece:?}");
            for support in &piece.supports {
                let answer = answer_row(views, 1, support.source.offset).unwrap();
                let answer = answer.unwrap_or_else(|| panic!("stands on nothing: {piece:?}"));
                assert!(!withdrawn.contains(&answer.event), "{piece:?}");
            }
            if let Content::Conflict(sides) = &piece.content {
                assert!(sides.len() > 1, "{piece:?}");
            }
        }
    }

    async fn every_belief_stands(&self, withdrawn: &BTreeSet<EventId>, at: RecordedAt) {
        let query = BeliefsQuery {
            scope: path(SCOPE),
            about: None,
            predicate: None,
            stance: None,
            min_confidence: 0.0,
            recorded: at,
            recorded_during: None,
            valid: None,
            valid_during: None,
            lapsed_by: None,
            deprecated: true,
            after: None,
            limit: 1_000,
        };
        let permit = ReadPermit::Local(permit_of(1, SCOPE, Some(&path(SCOPE))));
        for belief in self.engine.beliefs(permit, query).await.unwrap().items {
            assert!(!belief.supports.is_empty(), "{belief:?}");
            let permit = ReadPermit::Local(permit_of(1, SCOPE, Some(&path(SCOPE))));
            let why = self.engine.belief_why(permit, belief.id, at).await.unwrap();
            // Beliefs lead to facts and events, facts to events, and events to nothing.
            let level = |id: SupportId| match id {
                SupportId::Fact(_) | SupportId::Episode(_) => 1,
                SupportId::Event(_) => 0,
            };
            for edge in &why.graph.edges {
                let from = match edge.from {
                    NodeId::Belief(id) if id == belief.id => 2,
                    NodeId::Belief(_) => panic!("another belief: {edge:?}"),
                    NodeId::Support(id) => level(id),
                };
                assert!(level(edge.to) < from, "{edge:?}");
                if let SupportId::Event(event) = edge.to {
                    assert!(!withdrawn.contains(&event), "{belief:?}");
                }
            }
        }
    }

    async fn seal(&self) {
        let permit = permit_of::<ScopeWrite>(1, SCOPE, Some(&path(SCOPE)));
        self.engine.episodes_build(&permit, &path(SCOPE), true, &noted()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_point_has_one_answer_and_every_record_its_support() {
    for seed in 1..=3_u64 {
        let mut state = seed;
        let mut next = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open(dir.path());
        let mut said: Vec<Said> = Vec::new();
        let mut withdrawn = BTreeSet::new();
        let mut pins = vec![RecordedAt(world.engine.now())];
        for step in 0..30 {
            match next(10) {
                0..=2 if !said.is_empty() => {
                    let gone = said.remove(next(said.len() as u64) as usize);
                    world.cancel(SCOPE, gone.event).await;
                    withdrawn.insert(gone.event);
                }
                3 => world.seal().await,
                4 if step > 10 => {
                    world.engine.shutdown().await;
                    let (next, written) = (world.next, world.written);
                    drop(world);
                    world = World { next, written, ..World::open(dir.path()) };
                }
                _ => {
                    let second = 1 + next(SECONDS as u64).cast_signed();
                    let value = ["Rome", "Oslo", "Bern"][next(3) as usize];
                    world.next = (second - 1) * 1_000_000;
                    let event = world.say(SCOPE, &format!("I =lives_in {value}")).await;
                    let known = RecordedAt(world.engine.now());
                    said.push(Said { event, second, value, known });
                    pins.push(known);
                }
            }
            world.every_fact_stands(&withdrawn);
        }
        pins.push(RecordedAt(world.engine.now()));
        for recorded in &pins {
            for valid in 0..=SECONDS + 1 {
                let (expected, found) =
                    (oracle(&said, valid, *recorded), world.answer_at(valid, *recorded).await);
                assert_eq!(found, expected, "seed {seed}: valid {valid}, recorded {recorded:?}");
            }
            world.every_belief_stands(&withdrawn, *recorded).await;
        }
        for event in &withdrawn {
            assert_eq!(world.engine.derived_from(1, *event).await.unwrap(), [""; 0]);
        }
        world.check().await;
    }
}

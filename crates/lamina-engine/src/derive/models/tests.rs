//! A model that does as it is told by a test, good or bad, and what becomes of events meanwhile: the
//! rules' answer stands, nothing is asked that is not paid for, and a replay gives the same rows.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use lamina_core::derive::facts::{Pins, Superseded};
use lamina_env::Env;
use lamina_models::llm::{Fault, Heard, Item, Spent, Trouble, Usage, read_output};
use lamina_store::kv::MemKv;
use lamina_store::view::check::verify;
use lamina_types::capability::ScopeWrite;
use lamina_types::layer::{Confidence, Object, Term};
use lamina_types::lifecycle::Payload;
use lamina_types::{EventId, LifecycleKind, Micros, RecordedAt, Stage, ValidAt};

use super::budget::{Budget, Prices};
use super::{Model, Models};
use crate::admin::testing::{noted, path, permit_of, written};
use crate::derive::answer::Rules;
use crate::derive::read;
use crate::open::TenantKeys;
use crate::read::ReadPermit;
use crate::read::cost::CostReport;
use crate::read::facts::{FactRecord, FactsQuery, Order};
use crate::{Engine, Settings, Until};

mod budgets;
mod faults;
mod replaced;

type Says = dyn Fn(&[Item]) -> Heard + Send + Sync;

/// A model that a test speaks for.
struct Scripted {
    says: Box<Says>,
    asked: Mutex<Vec<Vec<String>>>,
    /// Holds calls back until it is opened or closed.
    gate: Gate,
}

#[derive(Default)]
struct Gate {
    shut: Mutex<bool>,
    changed: Condvar,
    closed: AtomicBool,
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripted")
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "test:scripted/1"
    }

    fn ask(&self, items: &[Item]) -> Heard {
        let texts = items.iter().map(|item| item.text.clone()).collect();
        self.asked.lock().unwrap().push(texts);
        let waiting = |shut: &mut bool| *shut && !self.gate.closed.load(Ordering::SeqCst);
        drop(self.gate.changed.wait_while(self.gate.shut.lock().unwrap(), waiting));
        (self.says)(items)
    }

    fn close(&self) {
        self.gate.closed.store(true, Ordering::SeqCst);
        self.gate.changed.notify_all();
    }
}

impl Scripted {
    fn new(says: impl Fn(&[Item]) -> Heard + Send + Sync + 'static) -> Arc<Scripted> {
        Arc::new(Scripted { says: Box::new(says), asked: Mutex::default(), gate: Gate::default() })
    }

    fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().unwrap().clone()
    }

    fn shut(&self, shut: bool) {
        *self.gate.shut.lock().unwrap() = shut;
        self.gate.changed.notify_all();
    }
}

/// Claims by event: what the model says of each text.
fn says(claims: impl Fn(&str) -> String) -> impl Fn(&[Item]) -> String {
    move |items| {
        let events: Vec<String> = items
            .iter()
            .map(|item| format!(r#"{{"id":"{}","claims":[{}]}}"#, item.id, claims(&item.text)))
            .collect();
        format!(r#"{{"events":[{}]}}"#, events.join(","))
    }
}

fn claim(subject: &str, predicate: &str, quote: &str, clause: &str) -> String {
    format!(
        r#"{{"subject":"{subject}","subject_kind":"person","predicate":"{predicate}","quote":"{quote}","clause":"{clause}","effect":"holds","confidence":0.9}}"#
    )
}

fn heard(words: &str, items: &[Item]) -> Heard {
    let usage = Usage { input: 100, output: 10 };
    match read_output(words, items) {
        Ok(output) => Heard { said: Ok(output), spent: Spent::Tokens(usage) },
        Err(fault) => Heard::trouble(fault, Spent::Tokens(usage)),
    }
}

/// A model that knows where people live in German.
fn german(text: &str) -> String {
    let place = text.strip_prefix("Zuhause bin ich in ").map(|rest| rest.trim_end_matches('.'));
    place.map_or_else(String::new, |place| {
        claim("speaker", "lives_in", place, &format!("Zuhause bin ich in {place}"))
    })
}

fn models(model: &Arc<Scripted>) -> Models {
    Models {
        model: Arc::clone(model) as _,
        batch_events: 4,
        attempts: 2,
        output_tokens_max: 200,
        prices: Prices { input_micros: 1_000_000, output_micros: 2_000_000 },
        budget_scope: Budget::default(),
        budget_all: Budget::default(),
        pause_ms: 1,
    }
}

struct World {
    engine: Engine,
    next: i64,
}

impl World {
    fn open(dir: &Path, models: Models) -> World {
        let settings = Settings::new(dir);
        let opened = Engine::open_asking(settings, Env::real(), Arc::new(Rules), Some(models));
        World { engine: opened.unwrap().0, next: 1_700_000_000_000_000 }
    }

    async fn say(&mut self, scope: &str, text: &str) -> EventId {
        self.next += 1_000_000;
        let mut write = written(&self.engine, "user:alice", scope, &format!("k{}", self.next));
        write.experience.content =
            lamina_types::Content::Text { text: text.to_owned(), media: Vec::new() };
        write.experience.context.observed_at = ValidAt(Micros(self.next));
        let permit = permit_of::<ScopeWrite>(1, "user:alice", Some(&path(scope)));
        let id = self.engine.experience(&permit, write).await.unwrap().event_id;
        let stage = Until::Stage(Stage::Consolidated);
        self.engine.wait_for(1, id, stage, Duration::from_secs(60)).await.unwrap();
        id
    }

    fn permit(scope: &str) -> ReadPermit {
        ReadPermit::Local(permit_of(1, "user:alice", Some(&path(scope))))
    }

    async fn cost(&self, scope: &str) -> CostReport {
        self.engine.cost(World::permit(scope), path(scope), true).await.unwrap()
    }

    /// Waits until nobody waits for the model.
    async fn settled(&self, scope: &str) -> CostReport {
        self.until(scope, |report| report.waiting == 0).await
    }

    async fn until(&self, scope: &str, is_it: impl Fn(&CostReport) -> bool) -> CostReport {
        for _ in 0..6_000 {
            let report = self.cost(scope).await;
            if is_it(&report) {
                return report;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it does not come to that: {:?}", self.cost(scope).await);
    }

    async fn facts(&self, scope: &str) -> Vec<FactRecord> {
        self.facts_known(scope, RecordedAt(self.engine.now())).await
    }

    /// What was known at some time.
    async fn facts_known(&self, scope: &str, recorded: RecordedAt) -> Vec<FactRecord> {
        let query = FactsQuery {
            scope: path(scope),
            subject: None,
            predicate: None,
            pins: Pins {
                recorded,
                superseded: Superseded::Hidden,
                valid: None,
                valid_during: None,
                recorded_during: None,
            },
            lapsed_by: None,
            min_confidence: Confidence::new(0),
            after: None,
            order: Order::NewestFirst,
            limit: 100,
        };
        self.engine.facts(World::permit(scope), query).await.unwrap().items
    }

    async fn said(&self, scope: &str) -> Vec<String> {
        lines(&self.facts(scope).await)
    }

    /// What was announced of an event in this way.
    async fn announced(&self, event: EventId, kind: LifecycleKind) -> Payload {
        for _ in 0..6_000 {
            let rows = self.engine.inner.views.lifecycle_of_event(1, event).unwrap();
            if let Some(row) = rows.iter().find(|row| row.kind == kind) {
                let rules = LifecycleKind::Stage(Stage::Extracted);
                let rules = rows.iter().find(|row| row.kind == rules).map(|row| row.seq);
                assert!(rules < Some(row.seq), "after the rules have answered: {rows:?}");
                return row.payload.clone();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{kind:?} was not announced");
    }

    /// Every row is what a replay of the log makes.
    async fn check(self) {
        self.engine.shutdown().await;
        let inner = &self.engine.inner;
        let hasher = Arc::new(TenantKeys(Arc::clone(&inner.keys)));
        let kv = Arc::new(MemKv::placed(crate::derive::key::placement()));
        let found = verify(&inner.views, &*inner.reader, kv, hasher, &mut |_, _| {});
        assert_eq!(found.unwrap().differences, []);
    }
}

fn lines(facts: &[FactRecord]) -> Vec<String> {
    let line = |fact: &FactRecord| {
        let objects = fact.objects.iter().map(|object| match &object.object {
            Object::Entity(Term::Named { name, .. }) => name.clone(),
            Object::Text(text) => text.clone(),
            other => format!("{other:?}"),
        });
        format!("{} {}", fact.predicate, objects.collect::<Vec<_>>().join("|"))
    };
    let mut lines: Vec<String> = facts.iter().map(line).collect();
    lines.sort_unstable();
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_answer_at_once_and_the_model_after_them() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new(|items| heard(&says(german)(items), items));
    model.shut(true);
    let mut world = World::open(dir.path(), models(&model));
    let first = world.say("user:alice", "I work at Acme.").await;
    world.say("user:alice", "Zuhause bin ich in Kiel.").await;
    assert_eq!(world.said("user:alice").await, ["works_at Acme"]);
    let before = world.facts("user:alice").await;
    model.shut(false);
    let report = world.settled("user:alice").await;
    assert_eq!(world.said("user:alice").await, ["lives_in Kiel", "works_at Acme"]);
    let after = world.facts("user:alice").await;
    assert!(after.iter().all(|fact| fact.extractor == "test:scripted/1"), "{after:?}");
    // Whom both answers speak of is the same.
    let subjects: BTreeSet<String> =
        before.iter().chain(&after).map(|fact| fact.subject.id.to_string()).collect();
    assert_eq!(subjects.len(), 1);
    assert_eq!((report.total.events, report.total.failed, report.total.gave_up), (2, 0, 0));
    let calls = report.total.calls;
    assert_eq!(report.total.cost.input_tokens, 100 * calls);
    assert_eq!(report.total.cost.output_tokens, 10 * calls);
    assert_eq!(report.total.cost.micros, 120 * calls);
    assert_eq!(report.model.as_deref(), Some("test:scripted/1"));
    let told = world.announced(first, LifecycleKind::Revised).await;
    // Nothing new: the rules had found it.
    let Payload::Revised { facts: 0, entities: 2, ungrounded: 0, input_tokens, .. } = told else {
        panic!("{told:?}");
    };
    assert!((1..=100).contains(&input_tokens));
    assert!(report.estimate.unwrap().events == 2 && report.estimate.unwrap().cost.micros > 0);
    world.check().await;
}

//! A page that ends early goes on where it ended, also while it is still leaving events out.

use std::path::Path;

use lamina_core::policy::{Caller, Permit, Policy, Preset};
use lamina_env::Env;
use lamina_types::capability::Capability;
use lamina_types::{Actor, Content, Context, Directives, Experience, Hints, Modality, ScopePath};
use lamina_types::{EventId, ValidAt};

use crate::read::{Axis, EventsQuery, ReadPermit};
use crate::{Engine, Settings, Write};

fn scope() -> ScopePath {
    "user:alice".parse().unwrap()
}

fn permit<C: Capability>() -> Permit<C> {
    let caller = Caller::local("user:local".parse().unwrap(), 1);
    Policy::new(Preset::DevLocal).unwrap().permit(&caller, Some(&scope())).unwrap()
}

async fn written(dir: &Path, count: usize) -> (Engine, Vec<EventId>) {
    let (engine, _) = Engine::open(Settings::new(dir), Env::real()).unwrap();
    let mut ids = Vec::new();
    for number in 0..count {
        let actor = Actor::new("user:alice".parse().unwrap());
        let write = Write {
            key_drawn: false,
            experience: Experience {
                scope: scope(),
                subject: actor.id.clone(),
                observed_actor: actor,
                modality: Modality("observation".to_owned()),
                content: Content::Text { text: format!("text {number}"), media: Vec::new() },
                context: Context {
                    observed_at: ValidAt(engine.now()),
                    source_recorded_at: None,
                    location: None,
                    preceded_by: Vec::new(),
                    intent: None,
                    labels: Vec::new(),
                    refers_to: None,
                },
                directives: Directives::default(),
                source: None,
                origin: None,
                hints: Hints::default(),
                idempotency_key: format!("key {number}"),
            },
            identity: vec![0],
            request_id: "req_1".to_owned(),
        };
        ids.push(engine.experience(&permit(), write).await.unwrap().event_id);
    }
    (engine, ids)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_out_is_counted_across_pages_that_end_early() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, ids) = written(dir.path(), 30).await;
    engine.inner.caught_up().await;
    for (skip, looked_at_max) in [(0, 7), (6, 7), (7, 7), (8, 7), (23, 7), (29, 1), (40, 7)] {
        let mut query = EventsQuery {
            scope: scope(),
            axis: Axis::Recorded,
            newest_first: false,
            observed: (None, None),
            recorded: (None, None),
            actor: None,
            modality: None,
            labels: Vec::new(),
            after: None,
            skip,
            limit: 5,
        };
        let mut found = Vec::new();
        for page in 0.. {
            assert!(page <= 60, "skip {skip} goes on for ever");
            let read = engine.inner.events(&ReadPermit::Local(permit()), &query, looked_at_max);
            let read = read.unwrap();
            found.extend(read.items.iter().map(|item| item.id));
            let Some(next) = read.next else { break };
            query.after = Some(next);
            query.skip = read.skip_left;
        }
        assert_eq!(found, ids.get(skip..).unwrap_or_default(), "skip {skip}, {looked_at_max}");
    }
    engine.shutdown().await;
}

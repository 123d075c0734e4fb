//! The events of an export against those that lists show: across pages, with cancelled events in their
//! places, and not beyond the pinned point.

use std::sync::Arc;

use lamina_core::policy::{Caller, Permit, Policy, Preset};
use lamina_env::Env;
use lamina_types::capability::{Capability, ScopeWrite};
use lamina_types::{
    Actor, AuditId, Content, Context, Directives, EventId, Experience, Hints, Modality, RecordedAt,
    ScopePath, ValidAt,
};

use super::{EXPORT_EVENTS_MAX, ExportPageStart, ExportPoint};
use crate::read::ReadPermit;
use crate::{Engine, Noted, Settings, Write};

fn scope() -> ScopePath {
    "user:alice".parse().expect("is a scope")
}

fn permit<C: Capability>() -> Permit<C> {
    let caller = Caller::local("user:local".parse().expect("is an actor"), 1);
    let policy = Policy::new(Preset::DevLocal).expect("is a preset");
    policy.permit(&caller, Some(&scope())).expect("may")
}

async fn write(engine: &Engine, number: usize) -> EventId {
    let actor = Actor::new("user:alice".parse().expect("is an actor"));
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
            hints: Hints::default(),
            idempotency_key: format!("key {number}"),
            origin: None,
        },
        identity: vec![0],
        request_id: "req_1".to_owned(),
    };
    engine.experience(&permit(), write).await.expect("is written").event_id
}

/// All events of an export, and the sizes of its pages.
async fn walk(engine: &Engine, recorded: RecordedAt) -> (Vec<EventId>, Vec<usize>) {
    let permit = Arc::new(ReadPermit::Local(permit()));
    let point = ExportPoint { scope: scope(), recorded, in_the_past: false };
    let cancelled = engine.export_cancelled(&permit, &point).await.expect("is read");
    let cancelled = Arc::new(cancelled);
    let (mut ids, mut sizes, mut after) = (Vec::new(), Vec::new(), None);
    loop {
        let start = ExportPageStart { after, cancelled: Arc::clone(&cancelled) };
        let page = engine.export_events(&permit, &point, start).await.expect("is read");
        sizes.push(page.items.len());
        ids.extend(page.items.iter().map(|item| item.id));
        after = page.next;
        if after.is_none() {
            return (ids, sizes);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn export_walks_every_event_once_with_cancelled_ones_in_place() {
    let dir = tempfile::tempdir().expect("there is room");
    let (engine, _) = Engine::open(Settings::new(dir.path()), Env::real()).expect("opens");
    let mut ids = Vec::new();
    for number in 0..3 * EXPORT_EVENTS_MAX + 1 {
        ids.push(write(&engine, number).await);
    }
    let pin = RecordedAt(engine.log_time());
    let last = EXPORT_EVENTS_MAX - 1;
    // Around the ends of pages, where one is lost or told twice most easily.
    for place in [0, last, last + 1, last + 2, 2 * EXPORT_EVENTS_MAX, ids.len() - 1] {
        let permit: Permit<ScopeWrite> = permit();
        let noted = Noted {
            audit_id: AuditId::from_bytes([1; 16]),
            request_id: String::new(),
            note: String::new(),
        };
        let id = *ids.get(place).expect("is one");
        engine.cancel(&permit, id, &noted).await.expect("is cancelled");
    }
    let (walked, sizes) = walk(&engine, pin).await;
    assert_eq!(walked, ids);
    assert!(sizes.len() > 1, "{sizes:?}");
    write(&engine, 10_000).await;
    assert_eq!(walk(&engine, pin).await.0, ids, "the point is pinned");
    engine.shutdown().await;
}

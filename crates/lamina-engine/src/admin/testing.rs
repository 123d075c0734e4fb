//! What the tests of administration share.

use std::path::Path;
use std::sync::Arc;

use lamina_core::policy::{Caller, Permit, Preset, Stack};
use lamina_env::Env;
use lamina_types::capability::{Capability, ScopeWrite};
use lamina_types::{
    Actor, AuditId, Content, Context, Directives, Experience, Hints, Modality, ScopePath, ValidAt,
};

use super::{Boot, Noted};
use crate::{Engine, Settings, Write};

pub(crate) fn open(dir: &Path) -> Engine {
    Engine::open(Settings::new(dir), Env::real()).unwrap().0
}

pub(crate) async fn reopen(engine: Engine, dir: &Path) -> Engine {
    engine.shutdown().await;
    drop(engine);
    open(dir)
}

pub(crate) fn path(text: &str) -> ScopePath {
    text.parse().unwrap()
}

pub(crate) fn permit_of<C: Capability>(
    tenant: u32,
    actor: &str,
    scope: Option<&ScopePath>,
) -> Permit<C> {
    let caller = Caller::local(actor.parse().unwrap(), tenant);
    Stack::of_preset(Preset::DevLocal).permit(&caller, scope).unwrap()
}

pub(crate) fn permit<C: Capability>() -> Permit<C> {
    permit_of(1, "user:root", None)
}

pub(crate) fn boot() -> Boot {
    let preset = Preset::DevLocal;
    Boot { preset, document: Arc::new(preset.document()) }
}

pub(crate) fn noted() -> Noted {
    Noted {
        audit_id: AuditId::from_bytes([9; 16]),
        request_id: "req_1".to_owned(),
        note: String::new(),
    }
}

/// Writes an event into a scope.
pub(crate) async fn write(engine: &Engine, tenant: u32, actor: &str, scope: &str, key: &str) {
    let permit = permit_of::<ScopeWrite>(tenant, actor, Some(&path(scope)));
    engine.experience(&permit, written(engine, actor, scope, key)).await.unwrap();
}

/// An event to write into a scope.
pub(crate) fn written(engine: &Engine, actor: &str, scope: &str, key: &str) -> Write {
    let who = Actor::new(actor.parse().unwrap());
    Write {
        key_drawn: false,
        experience: Experience {
            scope: path(scope),
            subject: who.id.clone(),
            observed_actor: who,
            modality: Modality("observation".to_owned()),
            content: Content::Text { text: key.to_owned(), media: Vec::new() },
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
            idempotency_key: key.to_owned(),
        },
        identity: key.as_bytes().to_vec(),
        request_id: "req_1".to_owned(),
    }
}

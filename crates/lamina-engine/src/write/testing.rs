//! What the tests of the write path share: a simulated outside, and an experience as the log has it.

use std::sync::Arc;

use lamina_env::Env;
use lamina_env::sim::clock::SimClock;
use lamina_env::sim::disk::SimDisk;
use lamina_env::sim::rng::SimRng;
use lamina_store::codec::experience::{Admission, Identity, split};
use lamina_types::{
    Actor, AuditId, Content, Context, Directives, Experience, Hints, Micros, Modality, ValidAt,
};

/// Everything simulated, over this disk.
pub(crate) fn env(seed: u64, disk: &Arc<SimDisk>) -> Env {
    Env {
        clock: Arc::new(SimClock::at(Micros(1_700_000_000_000_000))),
        rng: Arc::new(SimRng::new(seed)),
        disk: Arc::clone(disk) as _,
    }
}

/// The two sections of an experience with a text of so many bytes.
pub(crate) fn experience(scope: &str, bytes: usize, mac: [u8; 32]) -> (Vec<u8>, Vec<u8>) {
    let actor = Actor::new("user:alice".parse().unwrap());
    let (who, what) = split(
        Admission {
            caller: "user:local".parse().unwrap(),
            request_id: "req_1".to_owned(),
            audit_id: AuditId::mint(Micros(1), [0; 8]),
            decision: "scope.write".to_owned(),
            home: None,
            as_system: false,
        },
        Experience {
            scope: scope.parse().unwrap(),
            subject: actor.id.clone(),
            observed_actor: actor,
            modality: Modality("observation".to_owned()),
            content: Content::Text { text: "x".repeat(bytes), media: Vec::new() },
            context: Context {
                observed_at: ValidAt(Micros(1)),
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
            idempotency_key: "key".to_owned(),
        },
        Identity { family: 1, idem_mac: mac, body_mac: mac, batch_id: None },
    );
    (who.encode(), what.encode())
}

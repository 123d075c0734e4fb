//! What is asked for by its id, and the questions that do.

use anyhow::Context;
use lamina_env::sim::rng::SimRng;
use serde_json::{Value, json};

use super::{Question, THINGS};
use crate::client::Request;
use crate::ground::{Caller, Ground, Issuer};

/// Gives the other tenant what is asked for, and the asking one as much of its own.
pub(super) fn furnished(
    ground: &Ground,
    issuer: &Issuer,
    rng: &SimRng,
) -> anyhow::Result<Vec<Question>> {
    let mut known = Known::default();
    for tenant in ["acme", "other"] {
        let mut caller = ground.caller(&issuer.token(tenant, "user:alice")?);
        known = Known::make(&mut caller, tenant)?;
    }
    let absent = |foreign: &[String]| foreign.iter().map(|id| elsewhere(id, rng)).collect();
    let of_ids =
        |name, ask, foreign: Vec<String>| Question { name, ask, absent: absent(&foreign), foreign };
    let words = |prefix: &str| -> Vec<String> {
        (0..THINGS).map(|number| format!("{prefix}-{:04}", number % NAMED)).collect()
    };
    let of_words =
        |name, ask| Question { name, ask, foreign: words("other"), absent: words("noone") };
    let Known {
        events,
        lifecycle,
        blobs,
        audit,
        beliefs,
        conflicts,
        concepts,
        entities,
        erasures,
        previews,
        packs,
    } = known;
    Ok(vec![
        // First, because packs live for a minute.
        of_ids("pack", pack, packs),
        of_ids("event", |id| Request::get(&format!("/v1/events/{id}")), events.clone()),
        of_ids(
            "stages",
            |id| Request::get(&format!("/v1/lifecycle/memory-event/{id}")),
            events.clone(),
        ),
        of_ids("cancel", cancel, events),
        of_ids(
            "lifecycle event",
            |id| Request::get(&format!("/v1/lifecycle/event/{id}")),
            lifecycle,
        ),
        of_ids("blob", |id| Request::get(&format!("/v1/blobs/{id}")), blobs),
        of_ids("audit row", |id| Request::get(&format!("/v1/audit/{id}")), audit),
        of_ids("belief", |id| Request::get(&format!("/v1/beliefs/{id}")), beliefs.clone()),
        of_ids("why", |id| Request::get(&format!("/v1/beliefs/why?belief_id={id}")), beliefs),
        of_ids("concept", |id| Request::get(&format!("/v1/understanding/{id}")), concepts),
        of_ids("conflict", |id| Request::get(&format!("/v1/conflicts/{id}")), conflicts),
        of_ids("entity", merge, entities),
        of_ids("erasure", |id| Request::get(&format!("/v1/erasures/{id}")), erasures),
        of_ids(
            "plan of an erasure",
            |id| Request::get(&format!("/v1/erasures/preview/{id}/manifest")),
            previews,
        ),
        of_words("idempotency key", |key| {
            Request::get(&format!("/v1/experience/by-idempotency-key/{key}"))
        }),
        of_words("scope", |path| Request::get(&format!("/v1/scopes?path=org:{path}"))),
        of_words("vocabulary", |name| Request::get(&format!("/v1/vocabularies/{name}"))),
        of_words("phrase", |name| Request::new("DELETE", &format!("/v1/temporal/phrases/{name}"))),
    ])
}

fn pack(id: &str) -> Request {
    Request::post(
        "/v1/answer",
        &json!({"scope": "org:acme-0000", "question": "n?", "use_pack_id": id}),
    )
}

fn cancel(id: &str) -> Request {
    Request::post(&format!("/v1/lifecycle/memory-event/{id}/cancel"), &json!({}))
}

fn merge(id: &str) -> Request {
    Request::post(&format!("/v1/entities/{id}/merge"), &json!({"into": id}))
}

/// Ids of a tenant, [`THINGS`] of each kind.
#[derive(Debug, Default)]
struct Known {
    events: Vec<String>,
    lifecycle: Vec<String>,
    blobs: Vec<String>,
    audit: Vec<String>,
    beliefs: Vec<String>,
    conflicts: Vec<String>,
    concepts: Vec<String>,
    entities: Vec<String>,
    erasures: Vec<String>,
    previews: Vec<String>,
    packs: Vec<String>,
}

/// Things with a name of their own: a tenant has at most a hundred vocabularies.
const NAMED: usize = 100;

/// What is said in every scope: two things that cannot both be so, and one that recurs.
const SAID: &[(&str, &str)] = &[
    ("2020-01-10", "I live in Rome."),
    ("2020-01-10", "I live in Oslo."),
    ("2020-02-11", "Acme asked for the renewal."),
    ("2020-02-12", "Acme asked for the renewal."),
    ("2020-02-13", "Acme asked for the renewal."),
];

fn text(value: &Value, key: &str) -> anyhow::Result<String> {
    let found = value.get(key).and_then(Value::as_str);
    Ok(found.with_context(|| format!("no `{key}` in {value}"))?.to_owned())
}

fn envelope(scope: &str, day: &str, text: &str, key: &str) -> Value {
    json!({
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": format!("{day}T10:00:00Z")},
        "idempotency_key": key,
    })
}

impl Known {
    fn make(caller: &mut Caller, tenant: &str) -> anyhow::Result<Known> {
        let mut known = Known::default();
        for number in 0..THINGS {
            known.one(caller, &format!("{tenant}-{number:04}"))?;
        }
        for (list, key, ids) in [
            (format!("/v1/lifecycle?limit={THINGS}"), "lifecycle_id", &mut known.lifecycle),
            (format!("/v1/audit?limit={THINGS}"), "id", &mut known.audit),
        ] {
            let page = caller.ok(Request::get(&list))?;
            for item in page.get("items").and_then(Value::as_array).into_iter().flatten() {
                ids.push(text(item, key)?);
            }
        }
        // Last, because packs live for a minute.
        for _ in 0..THINGS {
            let asked = json!({"scope": format!("org:{tenant}-0000"), "query": "n 0"});
            known.packs.push(text(&caller.ok(Request::post("/v1/recall", &asked))?, "pack_id")?);
        }
        Ok(known)
    }

    /// One thing of each kind, in a scope of their own.
    fn one(&mut self, caller: &mut Caller, name: &str) -> anyhow::Result<()> {
        let scope = format!("org:{name}");
        let write = |day: &str, text: &str, key: &str| {
            Request::post("/v1/experience?wait=settled", &envelope(&scope, day, text, key))
        };
        let made = caller.ok(write("2020-05-13", &format!("n {name}"), name))?;
        self.events.push(text(&made, "event_id")?);
        let upload = Request::new("POST", "/v1/blobs").header("Content-Type", "text/plain");
        self.blobs.push(text(&caller.ok(upload.bytes(name))?, "blob_id")?);
        for (number, (day, said)) in SAID.iter().enumerate() {
            caller.ok(write(day, said, &format!("{name}-{number}")))?;
        }
        let page = caller.ok(Request::get(&format!("/v1/conflicts?scope={scope}")))?;
        let conflict = page.pointer("/conflicts/0").context("two homes are a conflict")?;
        self.conflicts.push(text(conflict, "id")?);
        self.entities.push(text(conflict, "subject_id")?);
        let all = json!({"scope": scope, "topics": []});
        caller.ok(Request::post("/v1/understanding/synthesize", &all))?;
        let page = caller.ok(Request::get(&format!("/v1/understanding?scope={scope}")))?;
        self.concepts.push(text(page.pointer("/items/0").context("what recurs")?, "id")?);
        let belief = json!({"scope": scope, "statement": "It works.", "confidence": 0.9});
        self.beliefs.push(text(&caller.ok(Request::post("/v1/beliefs", &belief))?, "id")?);
        let nothing = json!({
            "scope": scope,
            "selector": {"memory_ids": ["evt_01890000000070008000000000000000"]},
        });
        let shown = caller.ok(Request::post("/v1/erasures/preview", &nothing))?;
        self.previews.push(text(&shown, "preview_id")?);
        let begun = caller.ok(Request::post("/v1/erasures", &nothing))?;
        self.erasures.push(text(&begun, "erasure_id")?);
        if self.events.len() > NAMED {
            return Ok(());
        }
        let span = json!({"valid_during": ["2026-07-01", "2026-10-01"]});
        let phrase =
            json!({"name": name, "pattern": format!("days of {name}"), "resolves_to": span});
        caller.ok(Request::post("/v1/temporal/phrases", &phrase))?;
        let words = json!({"name": name, "terms": [{"id": "x"}]});
        caller.ok(Request::post("/v1/vocabularies", &words))?;
        Ok(())
    }
}

/// An id of the same kind and time that nobody has.
fn elsewhere(id: &str, rng: &SimRng) -> String {
    let drawn = format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64());
    // Everything up to the variant says when and in which format; the rest is random.
    let kept = id.len().saturating_sub(15);
    let (head, tail) = (id.get(..kept).unwrap_or(id), drawn.get(..15).unwrap_or_default());
    format!("{head}{tail}")
}

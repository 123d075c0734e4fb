//! Stores of many scopes for the judge: random ones, and every story of the fixtures. The published toolkit
//! reads those that are written where `LAMINA_PAM_OUT` says; here our own validator does.

use std::path::{Path, PathBuf};

use lamina_env::disk::write_atomic;
use lamina_env::{Disk as _, RealDisk};
use lamina_portable::time;
use lamina_types::Micros;
use serde_json::{Value, json};

use super::{Bundle, export, settle};
use crate::harness::Api;

/// Random scopes, unless `LAMINA_PAM_SCOPES` says another number.
const SCOPES: u64 = 4;
/// The first instant of a story.
const START_US: i64 = 1_735_689_600_000_000;
const MINUTE_US: i64 = 60_000_000;

const SENTENCES: &[&str] = &[
    "I live in Porto.",
    "I moved to Lisbon last week.",
    "I work at Initech as a nurse.",
    "I no longer work at Initech.",
    "My name is Zoë Ågren.",
    "My wife Sara likes olives.",
    "I speak Spanish and I play the violin.",
    "My goal is to run a marathon.",
    "Always answer in French.",
    "Stop answering in French.",
    "The report is due on Friday.",
    "My favourite colour is green.",
    "Actually, my favourite colour is blue.",
    "We use Kubernetes and switched to Postgres.",
    "Bob lives in Rome.",
    "Bob lives in Oslo.",
    "🦀 tabs\tand\nlines \u{200b} \u{feff}",
    "   spaces   ",
];

/// Numbers that are the same on every machine.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        let index = self.below(items.len() as u64);
        items[usize::try_from(index).unwrap()]
    }
}

fn content(sequence: &mut Sequence) -> (Value, &'static str) {
    let text = sequence.pick(SENTENCES);
    match sequence.below(10) {
        0 => (json!({"kind": "text", "text": text}), "document"),
        1 => (
            json!({"kind": "json", "data": {"size": u64::MAX, "deep": {"": [null, -0.0, 1e300]}}}),
            "observation",
        ),
        2 => {
            let object = json!({"type": "entity", "id": "Berlin", "name": "Berlin"});
            let subject = json!({"type": "entity", "id": "Bob", "name": "Bob"});
            let triple = json!({"subject": subject, "predicate": "visited", "object": object});
            (json!({"kind": "triple", "triple": triple}), "observation")
        }
        _ => {
            let role = sequence.pick(&["user", "user", "user", "assistant", "tool", "system"]);
            (json!({"kind": "message", "role": role, "text": text}), "conversation")
        }
    }
}

fn fill_randomly(api: &mut Api, seed: u64) {
    let mut sequence = Sequence(seed);
    let mut ids: Vec<Value> = Vec::new();
    let count = sequence.below(24);
    for number in 0..count {
        let minutes = i64::try_from(sequence.below(500_000)).unwrap();
        let (content, modality) = content(&mut sequence);
        let label = sequence.pick(&["deal", "Two Words", "tag:x-1", "pam:private", "_no", "a"]);
        let body = json!({
            "scope": api.scope, "modality": modality, "content": content,
            "observed_actor": {"id": "user:nora", "session": format!("s {}", sequence.below(3))},
            "context": {"observed_at": time::print(Micros(START_US + minutes * MINUTE_US + 7)),
                "labels": [label]},
            "idempotency_key": format!("{}-{number}", api.scope),
        });
        ids.push(api.post("/v1/experience", &body).ok(202)["event_id"].clone());
    }
    settle(api);
    let scope = api.scope.clone();
    if sequence.below(2) == 0 {
        api.post("/v1/understanding/synthesize", &json!({"scope": scope, "topics": []})).ok(202);
    }
    if let (0, Some(id)) = (sequence.below(3), ids.first()) {
        let order = json!({"scope": scope, "cascade": "redact_events", "confirm_all": false,
            "selector": {"memory_ids": [id]}, "reason": "asked to"});
        api.post("/v1/forget", &order).ok(200);
    }
}

/// Writes a bundle for the judge, if there is one.
fn hand_over(bundle: &Bundle, name: &str) {
    let Some(folder) = std::env::var_os("LAMINA_PAM_OUT") else { return };
    let folder = PathBuf::from(folder).join(name);
    for file in &bundle.files {
        let path = folder.join(&file.name);
        RealDisk.create_dir_all(path.parent().unwrap()).unwrap();
        write_atomic(&RealDisk, &path, &file.bytes).unwrap();
    }
}

#[test]
fn random_scopes_are_stores_without_a_finding() {
    let scopes = std::env::var("LAMINA_PAM_SCOPES").ok().and_then(|text| text.parse().ok());
    let mut own = Api::shared("pam-random");
    let base = own.scope.clone();
    for seed in 0..scopes.unwrap_or(SCOPES) {
        own.scope = format!("{base}/project:r{seed}");
        fill_randomly(&mut own, seed);
        let whole = export(&mut own, &json!({}));
        hand_over(&whole, &format!("random-{seed:03}"));
        let full = export(&mut own, &json!({"history": "full", "embeddings": true}));
        hand_over(&full, &format!("history-{seed:03}"));
        let id = whole.store()["export_id"].clone();
        let said = own.envelope("I moved to Berlin.");
        own.post("/v1/experience?wait=settled", &said).ok(200);
        hand_over(&export(&mut own, &json!({"base": id})), &format!("delta-{seed:03}"));
    }
}

/// The lines of a story: `> 2 10:00 s2 alice | words | things | claims`.
fn tell(api: &mut Api, story: &str) {
    for line in story.lines() {
        let mut parts = line.trim_start_matches('>').split('|');
        let head: Vec<&str> = parts.next().unwrap_or_default().split_whitespace().collect();
        let (&[day, clock, session, actor], Some(words)) = (&head[..], parts.next()) else {
            continue;
        };
        let (Ok(day), Some((hour, minute))) = (day.parse::<i64>(), clock.split_once(':')) else {
            continue;
        };
        let minutes = hour.parse::<i64>().unwrap() * 60 + minute.parse::<i64>().unwrap();
        let at = START_US + (day * 1_440 + minutes) * MINUTE_US;
        let body = json!({
            "scope": api.scope, "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": words.trim()},
            "observed_actor": {"id": format!("user:{actor}"), "session": session},
            "context": {"observed_at": time::print(Micros(at))},
            "idempotency_key": format!("{}-{at}", crate::harness::unique_key()),
        });
        api.post("/v1/experience", &body).ok(202);
    }
}

#[test]
fn every_story_is_a_store_without_a_finding() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut own = Api::shared("pam-stories");
    let base = own.scope.clone();
    let mut told = 0;
    for folder in RealDisk.list(&fixtures).unwrap() {
        if !folder.starts_with("stories") {
            continue;
        }
        for name in RealDisk.list(&fixtures.join(&folder)).unwrap() {
            let path = fixtures.join(&folder).join(&name);
            let bytes = lamina_env::disk::read_file(&RealDisk, &path, 1 << 20).unwrap();
            own.scope = format!("{base}/project:story{told}");
            tell(&mut own, &String::from_utf8(bytes).unwrap());
            settle(&mut own);
            let scope = own.scope.clone();
            own.post("/v1/understanding/synthesize", &json!({"scope": scope, "topics": []}))
                .ok(202);
            let bundle = export(&mut own, &json!({}));
            hand_over(&bundle, &format!("{folder}-{told:03}"));
            told += 1;
        }
    }
    assert!(told > 16, "{told}");
}

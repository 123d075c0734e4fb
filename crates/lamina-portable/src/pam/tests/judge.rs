//! Bundles for a judge outside of this program: `.ci/pam` names a folder and validates its content with
//! the published toolkit.

#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "files for another program")]

use std::fs;
use std::path::Path;

use lamina_types::Micros;

use super::stores::{export, memory};
use crate::json::Value;
use crate::pam::*;
use crate::sign::SigningKey;

const BUNDLES: u64 = 100;

/// A small deterministic sequence: the judge must see the same bundles on each run.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

const WORDS: [&str; 8] =
    ["Initech", "café", "CAFE\u{301}", "İstanbul", "線", "🦀", "tab\there", "line\nbreak"];
const KINDS: [&str; 10] = [
    "fact",
    "preference",
    "skill",
    "context",
    "relationship",
    "goal",
    "instruction",
    "identity",
    "environment",
    "project",
];

fn bundle(seed: u64) -> StoreExport {
    let mut sequence = Sequence(seed);
    let count = sequence.below(12);
    let memories = (0..count).map(|at| {
        let words: Vec<&str> = (0..=sequence.below(5))
            .map(|_| WORDS[usize::try_from(sequence.below(8)).expect("small")])
            .collect();
        let mut memory = memory(&format!("m{at}"), &words.join(" "));
        let kind = KINDS[usize::try_from(sequence.below(10)).expect("small")];
        memory.kind = match sequence.below(4) {
            0 => MemoryKind::Custom(format!("own {kind}")),
            _ => MemoryKind::Standard(kind.to_owned()),
        };
        let created = i64::try_from(sequence.below(2_000_000_000)).expect("small") * 1_000_123;
        memory.temporal.created_at = Micros(created);
        memory.temporal.valid_from = Some(Micros(created - 5));
        memory.temporal.valid_until = (at % 2 == 0).then_some(Micros(created));
        if at > 0 && sequence.below(3) == 0 {
            memory.status = "superseded".to_owned();
            memory.temporal.superseded_by = Some(format!("m{}", at - 1));
        }
        if let Some(confidence) = &mut memory.confidence {
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            let weight = sequence.below(1_000_003) as f64 / 1_000_003.0;
            confidence.current = Some(Value::double(weight));
            confidence.last_reinforced = Some(Micros(created + 1));
        }
        memory.metadata = Some(Value::object([
            ("🦀", Value::double(1e21)),
            ("\u{fb33}", Value::Null),
            ("x", Value::integer(i64::MAX)),
        ]));
        memory.access = (at % 3 == 0).then(|| Value::object([("visibility", "shared".into())]));
        memory
    });
    let mut export = export(memories.collect());
    export.relations = (1..count)
        .map(|at| Relation {
            id: format!("r{at}"),
            from: format!("m{at}"),
            to: format!("m{}", at - 1),
            relation_type: "derived_from".to_owned(),
            confidence: Some(Value::double(0.5)),
            created_at: Micros(1),
        })
        .collect();
    if seed.is_multiple_of(3) {
        export.key = Some(SigningKey::from_seed(&[9; 32]));
    }
    if seed.is_multiple_of(2) {
        export.embeddings = (0..count)
            .map(|at| Embedding {
                id: format!("e{at}"),
                memory_id: format!("m{at}"),
                model: "lamina-static-256/1".to_owned(),
                created_at: Micros(1),
                vector: vec![0.25, -1e-9],
            })
            .collect();
    }
    export
}

#[test]
fn bundles_for_the_judge_are_written() {
    let folder = std::env::var("LAMINA_PAM_OUT").ok();
    if folder.is_none() {
        eprintln!("LAMINA_PAM_OUT is not set: the bundles are checked here only");
    }
    for seed in 0..BUNDLES {
        let written = bundle(seed).write().expect("valid");
        let report = verify(Container::Directory, &written.files);
        assert!(report.findings().iter().all(|f| f.level != Level::Error), "{seed}");
        let Some(folder) = &folder else { continue };
        for file in written.files {
            let path = Path::new(folder).join(format!("bundle-{seed:03}")).join(&file.name);
            fs::create_dir_all(path.parent().expect("has one")).expect("folder");
            fs::write(path, file.bytes).expect("file");
        }
    }
}

//! Rows that become experiences: scopes, actors, times, identities.

use std::sync::Arc;

use lamina_api::v1::experience::Strictness;
use lamina_api::v1::import::{ImportOptions, ImportTarget};
use lamina_portable::foreign::{self, ForeignRow, Format};
use lamina_portable::source::{ImportSource, SourceLimits};
use lamina_types::Micros;

use super::{RowDraft, RowRefusal, RowRules, person_of};

const NOW: Micros = Micros(1_780_000_000_000_000);

fn rules(format: Format, target: &str) -> RowRules {
    RowRules {
        format,
        target: ImportTarget::parse(target).unwrap(),
        options: ImportOptions::default(),
        caller: "user:importer".parse().unwrap(),
        now: NOW,
        strictness: Strictness::Strict,
    }
}

fn rows(format: Format, text: &str) -> Vec<ForeignRow> {
    let bytes = Arc::new(text.as_bytes().to_vec());
    let source = ImportSource::open("source", bytes, &SourceLimits::IMPORT).unwrap();
    let options = foreign::ImportOptions::new(Micros(0));
    foreign::read(Arc::new(source), format, options).map(Result::unwrap).collect()
}

fn admit(rules: &RowRules, text: &str) -> Result<RowDraft, RowRefusal> {
    rules.admit(&rows(rules.format, text)[0], "key")
}

const ENVELOPE: &str = r#"{"scope":"user:alice/project:x","modality":"conversation","content":{"kind":"text","text":"tea"},"context":{"observed_at":"2026-01-01T00:00:00Z"}}"#;
const MEM0: &str = r#"{"results":[{"id":"1","memory":"Likes tea","user_id":"ann","created_at":"2026-01-05T10:00:00Z"}]}"#;

#[test]
fn line_keeps_a_scope_at_or_below_the_target() {
    for (target, scope, moved) in [
        ("", "user:alice/project:x", false),
        ("user:alice", "user:alice/project:x", false),
        ("user:bob", "user:bob", true),
        ("user:al", "user:al", true),
    ] {
        let draft = admit(&rules(Format::Jsonl, target), ENVELOPE).unwrap();
        assert_eq!(draft.experience.scope.as_str(), scope);
        assert_eq!(draft.is_moved, moved, "{target}");
    }
}

#[test]
fn record_without_an_actor_is_the_memory_of_the_person() {
    let draft = admit(&rules(Format::Mem0, "org:x/user:nora/project:y"), MEM0).unwrap();
    assert_eq!(draft.experience.observed_actor.id.as_str(), "user:nora");
    let draft = admit(&rules(Format::Mem0, "ws:team"), MEM0).unwrap();
    assert_eq!(draft.experience.observed_actor.id.as_str(), "user:importer");
}

#[test]
fn identity_does_not_depend_on_caller_target_or_options() {
    let first = admit(&rules(Format::Mem0, "ws:team"), MEM0).unwrap();
    let mut other = rules(Format::Mem0, "user:nora");
    other.caller = "user:other".parse().unwrap();
    other.options.extract = Some(vec!["facts".to_owned()]);
    assert_eq!(admit(&other, MEM0).unwrap().identity, first.identity);
    let changed = MEM0.replace("tea", "coffee");
    assert_ne!(admit(&other, &changed).unwrap().identity, first.identity);
}

#[test]
fn expired_record_is_left_out_and_a_living_one_says_how_long() {
    let with = |date: &str| {
        MEM0.replace("\"user_id\"", &format!("\"expiration_date\":\"{date}\",\"user_id\""))
    };
    let rules = rules(Format::Mem0, "ws:team");
    assert!(matches!(admit(&rules, &with("2020-01-01")), Err(RowRefusal::Skip(_))));
    let draft = admit(&rules, &with("2040-01-01")).unwrap();
    let ttl = draft.experience.directives.ttl_for_event_layer.unwrap();
    assert!(ttl.starts_with("PT") && ttl.ends_with('S'), "{ttl}");
}

#[test]
fn times_of_the_source_are_kept_unless_refused() {
    let kept = admit(&rules(Format::Mem0, "ws:team"), MEM0).unwrap();
    assert_eq!(kept.experience.context.observed_at.0, Micros(1_767_607_200_000_000));
    let mut anew = rules(Format::Mem0, "ws:team");
    anew.options.preserve_timestamps = Some(false);
    let draft = admit(&anew, MEM0).unwrap();
    assert_eq!(draft.experience.context.observed_at.0, NOW);
    assert!(draft.experience.context.source_recorded_at.is_some());
}

#[test]
fn person_of_a_scope_is_the_nearest_user() {
    let person = |scope: &str| person_of(&scope.parse().unwrap()).map(|person| person.to_string());
    assert_eq!(person("org:a/user:ann/project:x"), Some("user:ann".to_owned()));
    assert_eq!(person("agent:bot"), None);
    assert_eq!(person("org:a"), None);
}

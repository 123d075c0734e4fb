//! A small set of own questions that guards recall against getting worse, through `lamina eval`.

use lamina_env::RealDisk;
use lamina_env::disk::read_file;
use serde_json::Value;

use crate::cli::{code, lamina, out, text};
use crate::harness::directory;

/// Texts and questions made for this test, in the own layout of `lamina eval`.
const SET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/quality/own.jsonl");

/// What recall has to find among the first ten, on average.
const RECALL_AT_10_MIN: f64 = 0.85;
/// Questions of all those that have an answer which may be met with nothing.
const SILENT_MAX: usize = 2;
/// Of the questions that nothing answers, those that may be met with something.
const FOOLED_MAX: usize = 4;

/// Stories whose questions nobody wrote a rule for.
const STORIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/stories-asked");
/// Questions of the stories that have to be answered right, of 126.
const STORY_RIGHT_MIN: usize = 90;
/// Questions of the stories whose answer may begin with an outdated value.
const STORY_STALE_FIRST_MAX: usize = 6;
/// Answerable questions of the stories that may meet an empty pack.
const STORY_EMPTY_MAX: usize = 0;
/// Mean characters of the context block over all questions of the stories.
const STORY_BLOCK_CHARS_MAX: f64 = 1_800.0;

fn lines(path: &std::path::Path) -> Vec<Value> {
    let bytes = read_file(&RealDisk, path, 1 << 24).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn empty(outcome: &&Value) -> bool {
    outcome["found"].as_array().is_some_and(Vec::is_empty)
}

#[test]
fn recall_is_as_good_as_it_was() {
    let dir = directory();
    let results = dir.path().join("results");
    let run = lamina(&["eval", "--own", SET, "--no-cross", "--out", text(&results)]);
    code(&run, 0);
    let table = out(&run);
    assert!(table.contains("2 conversations") && table.contains("mean@10"), "{table}");
    let outcomes = lines(&results.join("own.jsonl"));
    let of = |kind: &'static str| outcomes.iter().filter(move |outcome| outcome["kind"] == kind);
    let answerable: Vec<&Value> = of("answerable").collect();
    let recall = answerable.iter().filter_map(|outcome| outcome["recall_at_10"].as_f64());
    let mean = recall.sum::<f64>() / answerable.len() as f64;
    assert!(mean >= RECALL_AT_10_MIN, "{mean}\n{table}");
    let silent = answerable.iter().copied().filter(empty).count();
    assert!(silent <= SILENT_MAX, "{silent}\n{table}");
    let fooled: Vec<&Value> = of("unanswerable").filter(|outcome| !empty(outcome)).collect();
    assert!(fooled.len() <= FOOLED_MAX, "{fooled:?}");
    let updates = answerable.iter().filter(|outcome| outcome["update_first"] == false).count();
    assert!(updates <= 1, "what is so now stands above what was so\n{table}");
}

#[test]
fn stories_are_answered_as_well_as_they_were() {
    let dir = directory();
    let results = dir.path().join("results");
    let run = lamina(&["eval", "--stories", STORIES, "--out", text(&results)]);
    code(&run, 0);
    let table = out(&run);
    let outcomes = lines(&results.join("stories.jsonl"));
    assert_eq!(outcomes.len(), 126, "{table}");
    let count = |field: &str| outcomes.iter().filter(|outcome| outcome[field] == true).count();
    assert!(count("right") >= STORY_RIGHT_MIN, "{table}");
    assert!(count("stale_first") <= STORY_STALE_FIRST_MAX, "{table}");
    assert_eq!(count("empty"), STORY_EMPTY_MAX, "{table}");
    let chars = outcomes.iter().filter_map(|outcome| outcome["block_chars"].as_f64());
    let mean = chars.sum::<f64>() / outcomes.len() as f64;
    assert!(mean <= STORY_BLOCK_CHARS_MAX, "{mean}\n{table}");
}

#[test]
fn eval_says_what_is_wrong_with_its_arguments() {
    code(&lamina(&["eval"]), 64);
    let missing = lamina(&["eval", "--own", "/nonexistent/questions.jsonl"]);
    code(&missing, 4);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(said.contains("questions.jsonl"), "{said}");
}

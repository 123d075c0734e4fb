//! What counts as a right answer, and how stories are read.

use std::path::Path;

use lamina_env::Disk as _;
use lamina_env::sim::SimDisk;
use serde_json::json;

use super::{JudgedAnswer, judge, says};
use crate::eval::sets::stories::{FactExpectation, StoryContent, StoryQuestion, read};

fn question(answers: &[&str], stale: &[&str]) -> StoryQuestion {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    StoryQuestion { answers: owned(answers), stale: owned(stale), ..StoryQuestion::default() }
}

#[test]
fn judge_counts_a_stale_word_before_the_right_one() {
    let asked = question(&["Ivo"], &["Bettina"]);
    let right = JudgedAnswer { is_right: true, is_stale_first: false, is_anywhere: true };
    assert_eq!(judge("Ivo manages it, no longer Bettina.", &asked), right);
    let stale = JudgedAnswer { is_right: false, is_stale_first: true, is_anywhere: true };
    assert_eq!(judge("Bettina manages it.\nIvo manages it.", &asked), stale);
    let late = JudgedAnswer { is_right: false, is_stale_first: false, is_anywhere: true };
    assert_eq!(judge("Somebody manages it.\nIvo manages it.", &asked), late);
}

#[test]
fn judge_takes_yes_in_capitals_for_a_yes_at_the_beginning() {
    let asked = question(&["YES"], &["No,"]);
    assert!(judge("Yes: the flag is on.", &asked).is_right);
    assert!(!judge("It was so yesterday. Yes.", &asked).is_right);
}

#[test]
fn says_wants_the_value_and_a_word_of_the_subject() {
    let fact = json!({"subject": {"name": "Acme deal"}, "predicate": "amount_eur",
        "object": {"value": 78000}});
    let expected = |subject: &str, value: &str| FactExpectation {
        subject: subject.to_owned(),
        value: value.to_owned(),
        about: "sum".to_owned(),
    };
    assert!(says(&fact, &expected("Acme", "78,000")));
    assert!(!says(&fact, &expected("Acme", "8000")), "not a part of a number");
    assert!(!says(&fact, &expected("Borealis", "78000")), "another subject");
}

#[test]
fn read_gives_records_questions_and_facts_and_names_a_wrong_line() {
    let disk = SimDisk::new();
    let path = Path::new("/d/one.jsonl");
    disk.create_dir_all(Path::new("/d")).unwrap();
    let text = r#"{"story":"deals","about":"x"}
{"id":"1","said":"Hello.","at":"2026-03-01T08:00:00Z","speaker":"user:ada","session":"s"}
{"id":"2","record":{"deal":"Acme"},"at":"2026-03-01T08:00:00Z","speaker":"agent:crm","source":"crm"}
{"question":"Who?","asker":"user:ada","at":"2026-03-02T08:00:00Z","kind":"current","answers":["A"],"stale":[]}
{"current":{"subject":"Acme","value":"won","about":"stage"}}
{"ended":{"subject":"Acme","value":"lost","about":"stage"}}
"#;
    disk.create_new(path).unwrap().write_at(text.as_bytes(), 0).unwrap();
    let stories = read(&disk, Path::new("/d")).unwrap();
    let [story] = stories.as_slice() else { panic!("one story") };
    assert_eq!((story.name.as_str(), story.records.len()), ("deals", 2));
    assert!(matches!(&story.records[1].content, StoryContent::Record { source: Some(_), .. }));
    assert_eq!((story.questions.len(), story.current.len(), story.ended.len()), (1, 1, 1));
    let wrong = Path::new("/d/two.jsonl");
    disk.create_new(wrong).unwrap().write_at(b"{\"nothing\":1}\n", 0).unwrap();
    let error = format!("{:#}", read(&disk, Path::new("/d")).unwrap_err());
    assert!(error.contains("two.jsonl, line 1"), "{error}");
}

//! What people read, drawn.

use expect_test::expect;
use lamina_types::{EventId, JobId, Micros, RecordedAt};

use super::*;

fn said(object: &str, confidence: u16) -> Said {
    Said {
        subject: "Acme".to_owned(),
        predicate: "seats".to_owned(),
        object: object.to_owned(),
        effect: Effect::Holds,
        valid_from: None,
        valid_to: None,
        confidence,
    }
}

fn change(kind: ChangeKind, before: Option<Said>, after: Option<Said>, elsewhere: bool) -> Change {
    Change { kind, event: EventId::from_bytes([1; 16]), before, after, elsewhere }
}

fn read(apply: bool, run: Option<JobId>, resumed: bool) -> Done {
    let ended =
        Said { effect: Effect::Ends, valid_to: Some(ValidAt(Micros(0))), ..said("7", 9_000) };
    let changes = vec![
        change(ChangeKind::Added, None, Some(said("200", 9_000)), true),
        change(ChangeKind::Changed, Some(said("20", 9_000)), Some(said("20", 8_000)), false),
        change(ChangeKind::Lost, Some(ended), None, false),
    ];
    let scope: ScopePath = "user:alice".parse().unwrap();
    Done::Read {
        tenant: "default".to_owned(),
        scope: scope.clone(),
        asked: Rederive::Undo { run: JobId::from_bytes([2; 16]) },
        apply,
        report: Rederived {
            run,
            resumed,
            events: 5,
            unchanged: 1,
            of_models: 1,
            differing: 3,
            added: 1,
            changed: 1,
            lost: 1,
            changes,
            ..Rederived::default()
        },
    }
}

#[test]
fn a_report_says_what_changes_and_what_to_do_next() {
    expect![[r#"
        user:alice of tenant default: 5 events
          + evt_01010101010101010101010101010101  Acme seats 200  (said before by another event)
          ~ evt_01010101010101010101010101010101  Acme seats 20 (0.90)  ->  Acme seats 20 (0.80)
          - evt_01010101010101010101010101010101  Acme seats 7 [ends] until 1970-01-01T00:00:00Z
        facts: 1 added, 1 changed, 1 lost
        events: 1 unchanged, 1 keep the answer of a model
        nothing was written; to append these answers: lamina rederive --tenant default --undo job_02020202020202020202020202020202 --apply
    "#]].assert_eq(&read(false, None, false).text());
    let run = Some(JobId::from_bytes([3; 16]));
    expect![[r#"
         1 added, 1 changed, 1 lost
        events: 1 unchanged, 1 keep the answer of a model
        3 answers were appended by the run job_03030303030303030303030303030303, which had been cut short before
        to take it back: lamina rederive --tenant default --undo job_03030303030303030303030303030303 --apply
    "#]].assert_eq(read(true, run, true).text().split_once("facts:").unwrap().1);
    let json: Value = serde_json::from_str(&read(true, run, false).json()).unwrap();
    assert_eq!(json["facts"], json!({"added": 1, "changed": 1, "lost": 1}));
    assert_eq!(json["changes"][2]["before"]["valid_to"], "1970-01-01T00:00:00Z");
    assert_eq!(json["changes"][0]["after"]["object"], "200");
    assert_eq!(json["changes_listed_all"], true);
}

#[test]
fn runs_are_listed_with_what_became_of_them() {
    let run = Run {
        id: JobId::from_bytes([3; 16]),
        scope: "user:alice".parse().unwrap(),
        begun: RecordedAt(Micros(0)),
        ended: Some((RecordedAt(Micros(1)), 7)),
        undoes: None,
    };
    let cut = Run { ended: None, undoes: Some(run.id), ..run.clone() };
    expect![[r#"
        job_03030303030303030303030303030303  1970-01-01T00:00:00Z  user:alice  7 answers
        job_03030303030303030303030303030303  1970-01-01T00:00:00Z  user:alice  cut short, takes back job_03030303030303030303030303030303
    "#]].assert_eq(&Done::Runs(vec![run, cut]).text());
    assert_eq!(Done::Runs(Vec::new()).text(), "nothing was ever read again\n");
}

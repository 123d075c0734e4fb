//! The pipeline as transcripts: what goes in, what comes out.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn event(n: u8) -> EventId {
    EventId::from_bytes([n; 16])
}

/// Each line of the script is an input for event 1; the transcript shows it with its actions.
fn check(script: &str, expected: Expect) {
    let mut pipeline = Pipeline::default();
    let mut transcript = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let stage = |index: usize| {
            Stage::ALL.iter().copied().find(|stage| stage.as_str() == words[index]).unwrap()
        };
        let input = match words[0] {
            "enter" => Input::Enter { event: event(1), done: stage(1) },
            "done" => Input::Done { event: event(1), stage: stage(1), announce: true },
            "quiet" => Input::Done { event: event(1), stage: stage(1), announce: false },
            "failed" => Input::Failed {
                event: event(1),
                stage: stage(1),
                now: Micros(words[2].parse().unwrap()),
            },
            "cancel" => Input::Cancel { event: event(1) },
            "tick" => Input::Tick { now: Micros(words[1].parse().unwrap()) },
            other => panic!("{other}"),
        };
        transcript.push_str(line);
        for action in pipeline.on(input) {
            transcript.push_str(&match action {
                Action::Run { stage, attempt, .. } => {
                    format!("\n    run {} #{attempt}", stage.as_str())
                }
                Action::Publish { kind, attempts, .. } => format!(
                    "\n    publish {}{} after {attempts}",
                    kind.as_str(),
                    kind.stage().map_or(String::new(), |stage| format!("({})", stage.as_str())),
                ),
                Action::Cancelled { from, .. } => format!("\n    cancelled from {}", from.as_str()),
                Action::Finish { .. } => "\n    finish".to_owned(),
            });
        }
        transcript.push('\n');
    }
    expected.assert_eq(&transcript);
}

#[test]
fn r423_stages_run_in_order() {
    check(
        "enter captured
         done extracted
         done indexed
         done consolidated
         quiet compressed",
        expect![[r#"
            enter captured
                run extracted #1
            done extracted
                publish extracted(extracted) after 1
                run indexed #1
            done indexed
                publish indexed(indexed) after 1
                run consolidated #1
            done consolidated
                publish consolidated(consolidated) after 1
                run compressed #1
            quiet compressed
                finish
        "#]],
    );
}

#[test]
fn a_failed_stage_is_tried_again_after_a_pause() {
    check(
        "enter captured
         failed extracted 0
         tick 999999
         tick 1000000
         failed extracted 1000000
         tick 2999999
         tick 3000000
         done extracted",
        expect![[r#"
            enter captured
                run extracted #1
            failed extracted 0
            tick 999999
            tick 1000000
                run extracted #2
            failed extracted 1000000
            tick 2999999
            tick 3000000
                run extracted #3
            done extracted
                publish extracted(extracted) after 3
                run indexed #1
        "#]],
    );
}

#[test]
fn a_stage_that_gives_up_is_announced_and_the_next_one_runs() {
    check(
        "enter captured
         failed extracted 0
         tick 1000000000
         failed extracted 0
         tick 1000000000
         failed extracted 0
         tick 1000000000
         failed extracted 0
         tick 1000000000
         failed extracted 0
         done indexed",
        expect![[r#"
            enter captured
                run extracted #1
            failed extracted 0
            tick 1000000000
                run extracted #2
            failed extracted 0
            tick 1000000000
                run extracted #3
            failed extracted 0
            tick 1000000000
                run extracted #4
            failed extracted 0
            tick 1000000000
                run extracted #5
            failed extracted 0
                publish failed(extracted) after 5
                run indexed #1
            done indexed
                publish indexed(indexed) after 1
                run consolidated #1
        "#]],
    );
}

#[test]
fn cancelling_stops_between_any_two_stages_and_late_outcomes_are_ignored() {
    for done in &Stage::ALL[..Stage::ALL.len() - 1] {
        let next = done.next().unwrap();
        for waiting in [false, true] {
            let mut pipeline = Pipeline::default();
            pipeline.on(Input::Enter { event: event(1), done: *done });
            if waiting {
                pipeline.on(Input::Failed { event: event(1), stage: next, now: Micros(0) });
            }
            let actions = pipeline.on(Input::Cancel { event: event(1) });
            assert_eq!(
                actions,
                [
                    Action::Cancelled { event: event(1), from: next },
                    Action::Finish { event: event(1) }
                ],
                "{done:?}"
            );
            assert!(pipeline.is_empty());
            assert!(
                pipeline
                    .on(Input::Done { event: event(1), stage: next, announce: true })
                    .is_empty()
            );
            assert!(pipeline.on(Input::Tick { now: Micros(i64::MAX) }).is_empty());
        }
    }
}

proptest! {
    /// Whatever order outcomes arrive in, published stages of one event only ever go up, and
    /// everything in flight can be brought to an end.
    #[test]
    fn published_stages_increase(steps in prop::collection::vec((0u8..4, 1u8..4), 1..200)) {
        let mut pipeline = Pipeline::default();
        let mut running: BTreeMap<EventId, Stage> = BTreeMap::new();
        let mut last: BTreeMap<EventId, Stage> = BTreeMap::new();
        let mut entered = BTreeSet::new();
        let mut now = 0i64;
        for (what, who) in steps {
            let event = event(who);
            now += 700_000;
            let input = match (what, running.get(&event).copied()) {
                (0, _) if entered.insert(event) => Input::Enter { event, done: Stage::Captured },
                (1, Some(stage)) => Input::Done { event, stage, announce: true },
                (2, Some(stage)) => Input::Failed { event, stage, now: Micros(now) },
                _ => Input::Tick { now: Micros(now) },
            };
            if let Input::Done { .. } | Input::Failed { .. } = input {
                running.remove(&event);
            }
            for action in pipeline.on(input) {
                match action {
                    Action::Run { event, stage, attempt } => {
                        prop_assert!(attempt <= ATTEMPTS_MAX);
                        running.insert(event, stage);
                    }
                    Action::Publish { event, kind, .. } => {
                        let stage = kind.stage().unwrap();
                        prop_assert!(last.insert(event, stage).is_none_or(|before| before < stage));
                    }
                    Action::Cancelled { .. } => prop_assert!(false, "nothing was cancelled"),
                    Action::Finish { event } => { running.remove(&event); }
                }
            }
        }
        prop_assert!(pipeline.len() <= 3);
    }
}

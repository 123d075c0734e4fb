//! Verdicts follow the order of events, and what is remembered has a bound.

use lamina_store::codec::answer::{Answer, AnswerWho, Asked};
use lamina_types::layer::Extraction;
use lamina_types::{Micros, ValidAt};

use super::*;

fn draft(session: &str, minute: i64, topics: &[u32]) -> Draft {
    Draft {
        tenant: 1,
        scope: 7,
        event: 0,
        who: AnswerWho {
            observed_actor: "user:a".parse().unwrap(),
            session: Some(session.to_owned()),
        },
        answer: Answer {
            observed_at: ValidAt(Micros(minute * 60_000_000)),
            extraction: Extraction { topics: topics.to_vec(), ..Extraction::default() },
            matches: Vec::new(),
            mapped: Vec::new(),
            relations: Vec::new(),
            ungrounded: Vec::new(),
            shifts_topic: false,
            preceded_by: Vec::new(),
            asked: Asked::default(),
            awaits_model: false,
            cost: None,
            source_class: lamina_types::layer::SourceClass::Said,
            judged: None,
            rated: Vec::new(),
            echoes: Vec::new(),
            echoed: Vec::new(),
            stands: false,
            revoked: Vec::new(),
            concepts: Vec::new(),
        },
        cue: false,
        rule: None,
    }
}

fn decide(turns: &mut Turns, mut draft: Draft) -> bool {
    turns.decide(&mut draft);
    draft.answer.shifts_topic
}

#[test]
fn a_new_topic_is_one_for_its_own_thread_only() {
    let mut turns = Turns::default();
    let (garden, trip) = ([1, 2, 3, 4, 5, 6, 7], [11, 12, 13, 14, 15, 16, 17]);
    for minute in 0..3 {
        assert!(!decide(&mut turns, draft("a", minute, &garden)));
        assert!(!decide(&mut turns, draft("b", minute, &trip)));
    }
    // A late report says nothing about what is talked about now.
    assert!(!decide(&mut turns, draft("a", 1, &trip)));
    assert!(decide(&mut turns, draft("a", 3, &trip)));
    assert!(!decide(&mut turns, draft("a", 4, &trip)));
    assert!(!decide(&mut turns, draft("b", 4, &trip)));
}

#[test]
fn the_threads_that_were_silent_longest_are_forgotten() {
    let mut turns = Turns::default();
    for number in 0..100 {
        decide(&mut turns, draft(&format!("s{number}"), 0, &[1, 2, 3, 4, 5, 6, 7]));
        assert!(turns.threads.len() <= THREADS_MAX);
    }
    assert!(turns.threads.contains_key(&(1, 7, Some("s99".to_owned()))));
    assert!(!turns.threads.contains_key(&(1, 7, Some("s0".to_owned()))));
}

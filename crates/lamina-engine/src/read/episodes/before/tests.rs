//! What is kept of what was told, and for how long.

use lamina_types::{Micros, RecordedAt, ValidAt};

use super::*;
use crate::derive::rows::episodes::EpisodeEventRow;

fn member(event: u8, answer: u64) -> Member {
    let row = EpisodeEventRow {
        joined: RecordedAt(Micros(1)),
        actor: Default::default(),
        things: Vec::new(),
        answer,
    };
    (ValidAt(Micros(i64::from(event))), EventId::from_bytes([event; 16]), row)
}

fn text(name: &str) -> Text {
    Text {
        name: Some(name.to_owned()),
        summary: None,
        actors: Vec::new(),
        authors: AuthorList::default(),
    }
}

fn episode(number: u8) -> EpisodeId {
    EpisodeId::from_bytes([number; 16])
}

#[test]
fn what_was_told_holds_while_events_and_answers_are_the_same() {
    let before = ToldBefore::default();
    let stamp = Stamp::of(&[member(1, 10), member(2, 11)]);
    let asked = before.get(1, episode(1), stamp).unwrap_err();
    before.put((1, 7), episode(1), stamp, asked, text("a walk"));
    assert_eq!(*before.get(1, episode(1), stamp).unwrap(), text("a walk"));
    // Another tenant, another event, an event less, another answer.
    before.get(2, episode(1), stamp).unwrap_err();
    for members in [vec![member(1, 10), member(3, 11)], vec![member(1, 10)]] {
        before.get(1, episode(1), Stamp::of(&members)).unwrap_err();
    }
    let answered = Stamp::of(&[member(1, 10), member(2, 12)]);
    let asked = before.get(1, episode(1), answered).unwrap_err();
    before.put((1, 7), episode(1), answered, asked, text("a swim"));
    assert_eq!(*before.get(1, episode(1), answered).unwrap(), text("a swim"));
}

#[test]
fn what_was_read_before_something_was_taken_back_is_not_kept() {
    let before = ToldBefore::default();
    let stamp = Stamp::of(&[member(1, 10)]);
    let asked = before.get(1, episode(1), stamp).unwrap_err();
    before.put((1, 7), episode(1), stamp, asked, text("a secret"));
    before.forget();
    let again = before.get(1, episode(1), stamp).unwrap_err();
    before.put((1, 7), episode(1), stamp, asked, text("a secret"));
    before.get(1, episode(1), stamp).unwrap_err();
    before.put((1, 7), episode(1), stamp, again, text("nothing"));
    assert_eq!(*before.get(1, episode(1), stamp).unwrap(), text("nothing"));
}

#[test]
fn what_is_asked_for_again_outlives_what_is_not() {
    let before = ToldBefore::default();
    let stamp = Stamp::of(&[member(1, 10)]);
    for number in 0..20 {
        drop(before.get(1, episode(0), stamp));
        let asked = before.get(1, episode(number), stamp);
        if let Err(asked) = asked {
            before.put((1, 7), episode(number), stamp, asked, text("told"));
        }
    }
    assert!(before.get(1, episode(0), stamp).is_ok());
    assert!(before.get(1, episode(1), stamp).is_err());
    let kept = before.kept.lock();
    assert!(kept.recent.len() <= EPISODES_MAX && kept.older.len() <= EPISODES_MAX);
}

#[test]
fn what_was_told_of_hidden_scopes_goes_and_the_rest_stays() {
    let before = ToldBefore::default();
    let stamp = Stamp::of(&[member(1, 10)]);
    let asked = before.get(1, episode(1), stamp).unwrap_err();
    for (place, number) in [((1, 7), 1), ((1, 8), 2), ((2, 7), 3)] {
        before.put(place, episode(number), stamp, asked, text("told"));
    }
    before.forget_scopes(1, &BTreeSet::from([7, 9]));
    before.get(1, episode(1), stamp).unwrap_err();
    assert!(before.get(1, episode(2), stamp).is_ok(), "another scope");
    assert!(before.get(2, episode(3), stamp).is_ok(), "another tenant");
    before.put((1, 7), episode(1), stamp, asked, text("told"));
    before.get(1, episode(1), stamp).expect_err("it was read before that");
}

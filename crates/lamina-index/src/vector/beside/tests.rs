//! The thread compares, and leaves alone what it cannot judge.

use super::Beside;
use crate::filter::Filter;
use crate::vector::{Space, Vector, VectorQuery};

#[test]
fn the_thread_answers_when_it_is_free_and_the_filter_is_plain() {
    let beside = Beside::start();
    let space = Space { model: "any".to_owned(), dims: 4 };
    let vector = Vector::of(&[1.0, 0.0, 0.0, 0.0]).unwrap();
    let asked = |filter| VectorQuery { space: &space, vector: &vector, filter, limit: 3 };
    let plain = || asked(Filter::within(Vec::new()));
    // It may not be waiting yet.
    let answer = (0..1_000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        beside.compare(&[], &plain())
    });
    let answer = answer.expect("it has nothing to do");
    assert_eq!(answer.recv().unwrap(), Vec::new());
    let visible = asked(Filter { visible: Some(&|_| true), ..Filter::within(Vec::new()) });
    assert!(beside.compare(&[], &visible).is_none(), "who asks has to be asked");
}

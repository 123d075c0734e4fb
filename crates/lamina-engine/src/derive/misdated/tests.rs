//! Which events count as younger than their date.

use super::*;

const NOW: Micros = Micros(9_000);

#[track_caller]
fn check(marks: &[(u64, Mark)], offset: u64, expected: i64) {
    let mut spans = MisdatedSpans::default();
    for (offset, mark) in marks {
        assert_eq!(Mark::decode(&mark.encode()), Some(*mark));
        spans.push(*offset, *mark);
    }
    let found = spans.recorded_by(offset, RecordedAt(Micros(100)), NOW);
    assert_eq!(found, Micros(expected), "{offset} in {spans:?}");
}

#[test]
fn event_in_a_marked_stretch_is_as_young_as_its_end() {
    let trusted = Mark::Trusted(Micros(5_000));
    let marks = [(10, Mark::Doubted), (12, Mark::Doubted), (20, trusted), (21, trusted)];
    for (offset, expected) in [(9, 100), (10, 5_000), (15, 5_000), (19, 5_000), (20, 100)] {
        check(&marks, offset, expected);
    }
    check(&[(10, Mark::Doubted)], 15, NOW.0);
    check(&[(10, Mark::Doubted)], 9, 100);
    check(&[(20, trusted)], 15, 100);
    check(&[(10, Mark::Doubted), (20, Mark::Trusted(Micros(50)))], 15, 100);
}

//! Laws of a track, for any history.

use std::cell::Cell as Counter;
use std::collections::BTreeSet;
use std::convert::Infallible;

use proptest::prelude::*;

use super::oracle::{Axis, POINTS};
use super::*;

/// Times in histories are small, so that they coincide; the last points stand for all later ones.
const TIMES: i64 = 12;

fn values() -> impl Strategy<Value = ValueKey> {
    prop::sample::select(vec!["a", "b", "c"]).prop_map(key)
}

fn sayings() -> impl Strategy<Value = Saying> {
    prop_oneof![
        6 => values().prop_map(Saying::Holds),
        2 => values().prop_map(Saying::Corrects),
        2 => values().prop_map(Saying::Negated),
        3 => prop::option::weighted(0.8, values()).prop_map(Saying::Ends),
    ]
}

fn times() -> impl Strategy<Value = Option<i64>> {
    prop::option::weighted(0.3, 0..TIMES)
}

fn assertions() -> impl Strategy<Value = Input> {
    (sayings(), 0..TIMES, times(), times(), 0..10_000u16, prop::bool::weighted(0.1)).prop_map(
        |(saying, observed, from, to, confidence, no_supersede)| {
            Input::Said(Assertion {
                source: AssertionId { offset: 0, ordinal: 0 },
                kept: None,
                recorded: recorded(0),
                observed: valid(observed),
                saying,
                valid_from: from.map(valid),
                valid_to: to.map(valid),
                confidence: Confidence::new(confidence),
                no_supersede,
                settles: None,
                author: None,
            })
        },
    )
}

fn sides() -> impl Strategy<Value = Value> {
    (values(), prop::bool::weighted(0.8))
        .prop_map(|(key, is)| if is { Value::Is(key) } else { Value::IsNot(key) })
}

fn resolutions() -> impl Strategy<Value = Input> {
    let action = prop_oneof![
        sides().prop_map(Action::Pick),
        (0..TIMES, sides(), sides()).prop_map(|(boundary, earlier, later)| Action::Split {
            boundary: valid(boundary),
            earlier,
            later
        }),
        (values(), times(), times()).prop_map(|(value, from, to)| Action::NewInformation(
            NewInformation { value, valid_from: from.map(valid), valid_to: to.map(valid) }
        )),
        Just(Action::Dismiss),
    ];
    (action, 0..TIMES).prop_map(|(action, at)| {
        Input::Resolved(Resolution {
            source: AssertionId { offset: 0, ordinal: 0 },
            recorded: recorded(0),
            at: valid(at),
            action,
        })
    })
}

/// Shown as the script that it is.
struct History(Vec<Turn>);

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|turn| write!(f, "\n    {}", show_turn(turn)))
    }
}

/// Any history; several claims may share an answer.
fn histories() -> impl Strategy<Value = History> {
    let retraction = prop::collection::btree_set(1..15u64, 1..4).prop_map(|gone| {
        let gone = gone.into_iter().map(|n| AssertionId { offset: n * 10, ordinal: 0 }).collect();
        let source = AssertionId { offset: 0, ordinal: 0 };
        Turn::Retraction(Retraction { source, recorded: recorded(0), gone })
    });
    let turn = prop_oneof![
        10 => assertions().prop_map(Turn::Input),
        2 => resolutions().prop_map(Turn::Input),
        1 => retraction,
    ];
    prop::collection::vec((turn, prop::bool::weighted(0.2)), 0..14).prop_map(|turns| {
        let (mut offset, mut ordinal) = (0, 0);
        let turns = turns
            .into_iter()
            .map(|(mut turn, is_same_answer)| {
                if is_same_answer && offset > 0 {
                    ordinal += 1;
                } else {
                    (offset, ordinal) = (offset + 10, 0);
                }
                let place = AssertionId { offset, ordinal };
                let at = recorded(i64::try_from(offset).unwrap());
                match &mut turn {
                    Turn::Input(Input::Said(assertion)) => {
                        (assertion.source, assertion.recorded) = (place, at)
                    }
                    Turn::Input(Input::Resolved(resolution)) => {
                        (resolution.source, resolution.recorded) = (place, at);
                    }
                    Turn::Retraction(retraction) => {
                        (retraction.source, retraction.recorded) = (place, at);
                    }
                }
                turn
            })
            .collect();
        History(turns)
    })
}

fn show_turn(turn: &Turn) -> String {
    let option = |name: &str, at: Option<ValidAt>| {
        at.map_or(String::new(), |at| format!(" {name}={}", at.0.0))
    };
    let place = format!("{}.{}", turn.source().offset, turn.source().ordinal);
    match turn {
        Turn::Input(Input::Said(said)) => {
            let saying = match said.saying {
                Saying::Holds(value) => format!("is {}", word(value)),
                Saying::Corrects(value) => format!("actually {}", word(value)),
                Saying::Negated(value) => format!("not {}", word(value)),
                Saying::Ends(value) => format!("ends {}", value.map_or(String::new(), word)),
            };
            let (from, to) = (option("from", said.valid_from), option("to", said.valid_to));
            let beside = if said.no_supersede { " beside" } else { "" };
            format!("{place} {} {saying}{from}{to}{beside}", said.observed.0.0)
        }
        Turn::Input(Input::Resolved(resolution)) => {
            let action = match resolution.action {
                Action::Pick(value) => format!("pick {}", show_value(&value)),
                Action::Split { boundary, earlier, later } => {
                    let (earlier, later) = (show_value(&earlier), show_value(&later));
                    format!("split {} {earlier} {later}", boundary.0.0)
                }
                Action::NewInformation(new) => {
                    let (from, to) = (option("from", new.valid_from), option("to", new.valid_to));
                    format!("new {}{from}{to}", word(new.value))
                }
                Action::Dismiss => "dismiss".to_owned(),
            };
            format!("{place} at={} {action}", resolution.at.0.0)
        }
        Turn::Retraction(retraction) => {
            let gone: Vec<String> =
                retraction.gone.iter().map(|gone| gone.offset.to_string()).collect();
            format!("{place} retracts {}", gone.join(" "))
        }
    }
}

fn answers(track: &Track, at_recorded: RecordedAt) -> Vec<String> {
    (0..POINTS)
        .map(|point| AsOf { valid: valid(point), recorded: at_recorded })
        .map(|point| show_known(at(track.pieces(), point)))
        .collect()
}

/// A piece without its name.
type Anonymous = (Content, Valid, RecordedAt, Option<RecordedAt>, Vec<Support>);

fn anonymous(track: &Track) -> Vec<Anonymous> {
    let mut pieces: Vec<_> = track
        .pieces()
        .iter()
        .map(|piece| {
            let Piece { content, valid, recorded_from, recorded_to, supports, .. } = piece.clone();
            (content, valid, recorded_from, recorded_to, supports)
        })
        .collect();
    pieces.sort_by_key(|piece| format!("{piece:?}"));
    pieces
}

/// Counts what is read.
struct Counted<'a> {
    track: &'a Track,
    reads: Counter<usize>,
}

impl Pieces for Counted<'_> {
    type Error = Infallible;

    fn before(&self, at: ValidAt) -> Result<Option<Piece>, Infallible> {
        self.reads.set(self.reads.get() + 1);
        self.track.before(at)
    }

    fn after(&self, at: ValidAt) -> Result<Option<Piece>, Infallible> {
        self.reads.set(self.reads.get() + 1);
        self.track.after(at)
    }

    fn undated(&self, value: ValueKey) -> Result<Option<Piece>, Infallible> {
        self.reads.set(self.reads.get() + 1);
        self.track.undated(value)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Every point on both axes has one answer, the oracle's; also at every earlier pin, after all
    /// that came later.
    #[test]
    fn every_point_has_the_answer_of_the_oracle(History(history) in histories()) {
        let mut axis = Axis::new();
        let mut expected: Vec<(RecordedAt, Vec<String>)> = Vec::new();
        let mut counting: Vec<&Input> = Vec::new();
        for turn in &history {
            match turn {
                Turn::Retraction(retraction) => {
                    counting.retain(|said| !retraction.gone.contains(&said.source()));
                    axis = Axis::new();
                    counting.iter().for_each(|said| axis.hear(said));
                }
                Turn::Input(input) => {
                    counting.push(input);
                    axis.hear(input);
                }
            }
            let row = (0..POINTS).map(|point| axis.show(point)).collect();
            match expected.last_mut() {
                Some((at, last)) if *at == turn.recorded() => *last = row,
                _ => expected.push((turn.recorded(), row)),
            }
        }
        let track = Track::replay(&history);
        for (at_recorded, row) in expected {
            prop_assert_eq!(answers(&track, at_recorded), row, "at {:?}", at_recorded);
        }
    }

    /// Nothing stands without evidence, names are unique, links lead somewhere, neighbours differ.
    #[test]
    fn versions_are_well_formed(History(history) in histories()) {
        let track = Track::replay(&history);
        let ids: BTreeSet<PieceId> = track.pieces().iter().map(|piece| piece.id).collect();
        prop_assert_eq!(ids.len(), track.pieces().len());
        for piece in track.pieces() {
            prop_assert!(!piece.supports.is_empty());
            for link in [piece.supersedes, piece.superseded_by].into_iter().flatten() {
                prop_assert!(ids.contains(&link), "{:?}", link);
            }
            if let (Some(from), Some(to)) = (piece.from(), piece.to()) {
                prop_assert!(from < to);
            }
            if let Content::Conflict(sides) = &piece.content {
                prop_assert!(sides.len() > 1);
            }
            let sources = history.iter().map(Turn::source).collect::<BTreeSet<_>>();
            prop_assert!(piece.supports.iter().all(|support| sources.contains(&support.source)));
        }
        let mut current: Vec<&Piece> = track
            .pieces()
            .iter()
            .filter(|piece| piece.recorded_to.is_none() && piece.from().is_some())
            .collect();
        current.sort_by_key(|piece| piece.from());
        for pair in current.windows(2) {
            prop_assert!(pair[0].to() <= pair[1].from());
            let touch = pair[0].to() == pair[1].from();
            prop_assert!(!touch || pair[0].content != pair[1].content);
        }
    }

    /// What was withdrawn was never said: the track is the one of the rest, on both axes, and nothing
    /// stands on it.
    #[test]
    fn what_was_withdrawn_was_never_said(
        History(history) in histories(),
        picks in prop::collection::vec(any::<bool>(), 14),
    ) {
        let withdrawn: BTreeSet<AssertionId> = history
            .iter()
            .zip(&picks)
            .filter(|(_, pick)| **pick)
            .map(|(input, _)| input.source())
            .collect();
        let (track, _) = without_turns(&history, &withdrawn);
        let rest: Vec<Turn> = history
            .iter()
            .filter(|input| !withdrawn.contains(&input.source()))
            .cloned()
            .collect();
        prop_assert_eq!(anonymous(&track), anonymous(&Track::replay(&rest)));
        let stands_on = |piece: &Piece| {
            piece.supports.iter().any(|support| withdrawn.contains(&support.source))
        };
        prop_assert!(!track.pieces().iter().any(stands_on));
        // Made together, both are what they are when each is made from the beginning.
        let (before, after, heirs) = with_and_without(&history, &withdrawn);
        let inherits = |turn: Turn| match (turn, &heirs) {
            (Turn::Input(Input::Said(mut said)), heirs) if heirs.contains_key(&said.source) => {
                said.kept = heirs.get(&said.source).copied();
                Turn::Input(Input::Said(said))
            }
            (turn, _) => turn,
        };
        let rest: Vec<Turn> = rest.into_iter().map(inherits).collect();
        prop_assert_eq!(after, Track::replay(&rest));
        prop_assert_eq!(before, Track::replay(&history));
    }

    #[test]
    fn withdrawing_everything_leaves_nothing(History(history) in histories()) {
        let everything = history.iter().map(Turn::source).collect();
        prop_assert!(without_turns(&history, &everything).0.pieces().is_empty());
    }

    /// Plain statements with different beginnings, all going on or all bounded as they like: the one
    /// that began last holds, and the order in which they were recorded does not matter.
    #[test]
    fn plain_statements_may_come_in_any_order(
        said in prop::collection::btree_map(0..TIMES, (values(), prop::option::of(1..6i64)), 0..8),
        order in any::<u64>(),
    ) {
        let mut said: Vec<(i64, ValueKey, Option<i64>)> =
            said.into_iter().map(|(from, (value, length))| (from, value, length)).collect();
        let expected: Vec<String> = (0..POINTS)
            .map(|point| {
                said.iter()
                    .filter(|(from, _, length)| {
                        *from <= point && length.is_none_or(|length| point < from + length)
                    })
                    .max_by_key(|(from, ..)| *from)
                    .map_or("-".to_owned(), |(_, value, _)| word(*value))
            })
            .collect();
        said.sort_by_key(|(from, ..)| {
            (u64::try_from(*from).unwrap() + 1).wrapping_mul(order | 1).rotate_left(17)
        });
        let mut track = Track::default();
        for (index, (from, value, length)) in said.iter().enumerate() {
            let offset = u64::try_from(index + 1).unwrap();
            track.push(&Input::Said(Assertion {
                source: AssertionId { offset, ordinal: 0 },
                kept: None,
                recorded: recorded(i64::try_from(offset).unwrap()),
                observed: valid(*from),
                saying: Saying::Holds(*value),
                valid_from: Some(valid(*from)),
                valid_to: length.map(|length| valid(from + length)),
                confidence: Confidence::FULL,
                no_supersede: false,
                settles: None,
                author: None,
            }));
        }
        prop_assert_eq!(answers(&track, recorded(i64::MAX)), expected);
    }
}

fn plain(offset: u64, observed: i64, value: &str) -> Input {
    parse(&format!("{offset} {observed} is {value}"))
}

/// A push reads a handful of pieces, however long the history is.
#[test]
fn a_push_in_order_costs_the_same_after_a_long_history() {
    let mut track = Track::default();
    for round in 1..400u64 {
        let time = i64::try_from(round).unwrap() * 10;
        let counted = Counted { track: &track, reads: Counter::new(0) };
        let input = plain(round, time, if round % 2 == 0 { "a" } else { "b" });
        push(&counted, &input).unwrap();
        assert!(counted.reads.get() <= 4, "{} reads", counted.reads.get());
        track.push(&input);
    }
    let counted = Counted { track: &track, reads: Counter::new(0) };
    push(&counted, &plain(1_000, 5, "c")).unwrap();
    assert!(counted.reads.get() <= 4, "{} reads for a late report", counted.reads.get());
}

/// The ends of the axis are instants like others.
#[test]
fn the_first_and_the_last_instant_can_be_spoken_of() {
    let (first, last) = (i64::MIN, i64::MAX);
    let inputs = script(&format!(
        "10 {last} is a\n20 {first} is b\n30 {last} is c\n40 {first} ends b\n50 {last} ends a\n\
         60 at={last} dismiss\n70 {first} actually d\n80 {last} actually e to={first}"
    ));
    let track = Track::fold(&inputs);
    let known = |point: i64, at_recorded: i64| {
        let point = AsOf { valid: valid(point), recorded: recorded(at_recorded) };
        show_known(at(track.pieces(), point))
    };
    assert_eq!(known(last, 10), "a");
    assert_eq!(known(first, 20), "b");
    assert_eq!(known(last, 30), "a|c");
    assert_eq!(known(0, 40), "-");
    assert_eq!(known(last, 50), "c");
}

/// The thousandth repetition costs what the hundredth does, and forgets neither the first nor the
/// latest.
#[test]
fn repetitions_are_bounded() {
    let mut track = Track::default();
    for round in 1..=1_000u64 {
        let outcome = track.push(&plain(round, i64::try_from(round).unwrap(), "a"));
        assert!(outcome.changes.len() == 1, "{outcome:?}");
    }
    let [piece] = track.pieces() else { panic!("one version") };
    assert_eq!(piece.supports.len(), super::super::piece::SUPPORTS_MAX);
    assert_eq!(piece.supports.first().unwrap().source.offset, 1);
    assert_eq!(piece.supports.last().unwrap().source.offset, 1_000);
}

#[test]
fn a_fact_keeps_its_id_while_any_evidence_survives() {
    let inputs = script("10 10 is a\n20 20 is a\n30 30 is a\n40 50 is b");
    let id = |offset| AssertionId { offset, ordinal: 0 };
    let gone: BTreeSet<AssertionId> = [id(10)].into();
    let (track, heirs) = without(&inputs, &gone);
    assert_eq!(heirs.into_iter().collect::<Vec<_>>(), [(id(20), id(10))]);
    let facts: BTreeSet<AssertionId> = track.pieces().iter().map(|piece| piece.id.fact).collect();
    assert_eq!(facts, [id(10), id(40)].into());
    // And again, after the heir goes too.
    let mut rest = inputs.clone();
    rest.retain(|input| input.source() != id(10));
    if let Input::Said(heir) = &mut rest[0] {
        heir.kept = Some(id(10));
    }
    let (track, heirs) = without(&rest, &[id(20)].into());
    assert_eq!(heirs.into_iter().collect::<Vec<_>>(), [(id(30), id(10))]);
    assert!(track.pieces().iter().any(|piece| piece.id.fact == id(10)));
}

/// An event is read again: what it says now comes first, then what it said before goes.
#[test]
fn what_is_said_again_in_other_words_keeps_its_id() {
    let mut track = Track::fold(&script("10 10 is a\n20 30 is b\n30 10 is a"));
    track.retract(&Retraction {
        source: AssertionId { offset: 30, ordinal: 1 },
        recorded: recorded(30),
        gone: [AssertionId { offset: 10, ordinal: 0 }].into(),
    });
    let current: Vec<(u64, String)> = timeline(track.pieces(), recorded(40))
        .iter()
        .map(|piece| (piece.id.fact.offset, show_content(&piece.content)))
        .collect();
    assert_eq!(current, [(10, "a".to_owned()), (20, "b".to_owned())]);
    let late = timeline(track.pieces(), recorded(40));
    assert!(
        late.iter()
            .all(|piece| { piece.supports.iter().all(|support| support.source.offset != 10) })
    );
    let early = timeline(track.pieces(), recorded(20));
    assert_eq!(early.first().unwrap().supports.first().unwrap().source.offset, 10);
}

#[test]
fn what_superseded_a_fact_reopens_it_when_it_goes() {
    let inputs = script("10 10 is a\n20 30 is b");
    let (track, _) = without(&inputs, &[AssertionId { offset: 20, ordinal: 0 }].into());
    let rows = table(&track, &[0, 10, 20], &[0, 10, 30, 60]);
    expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     a     a
                    30     -     a     a
                    60     -     a     a
    "#]]
    .assert_eq(&rows);
}

/// Questions hold together: each filter by itself, and both pins.
#[test]
fn r421_filters_are_independent() {
    let track = Track::fold(&script("10 10 is a\n20 30 is b\n30 50 is c to=60"));
    let all = Pins {
        recorded: recorded(100),
        superseded: Superseded::Shown,
        valid: None,
        valid_during: None,
        recorded_during: None,
    };
    let ask = |pins: Pins| {
        let shown = track.pieces().iter().filter(|piece| pins.admit(piece));
        let shown: Vec<String> = shown
            .map(|piece| {
                let to = piece.to().map_or("..".to_owned(), |to| to.0.0.to_string());
                format!("{} {}-{to}", show_content(&piece.content), piece.from().unwrap().0.0)
            })
            .collect();
        shown.join(", ")
    };
    let rows = [
        ("all", all),
        ("current", Pins { superseded: Superseded::Hidden, ..all }),
        ("known at 20", Pins { recorded: recorded(20), superseded: Superseded::Hidden, ..all }),
        ("all at 20", Pins { recorded: recorded(20), ..all }),
        ("valid at 30", Pins { valid: Some(valid(30)), superseded: Superseded::Hidden, ..all }),
        ("valid at 29, all", Pins { valid: Some(valid(29)), ..all }),
        (
            "during 30-50",
            Pins {
                valid_during: Some((valid(30), valid(50))),
                superseded: Superseded::Hidden,
                ..all
            },
        ),
        ("recorded 10-20", Pins { recorded_during: Some((recorded(10), recorded(20))), ..all }),
        ("recorded 20-30", Pins { recorded_during: Some((recorded(20), recorded(30))), ..all }),
    ];
    let answers: String =
        rows.iter().map(|(name, pins)| format!("{name}: {}\n", ask(*pins))).collect();
    expect![[r#"
        all: a 10-.., a 10-30, b 30-.., b 30-50, c 50-60, b 60-..
        current: a 10-30, b 30-50, c 50-60, b 60-..
        known at 20: a 10-30, b 30-..
        all at 20: a 10-.., a 10-30, b 30-..
        valid at 30: b 30-50
        valid at 29, all: a 10-.., a 10-30
        during 30-50: b 30-50
        recorded 10-20: a 10-..
        recorded 20-30: a 10-30, b 30-..
    "#]]
    .assert_eq(&answers);
}

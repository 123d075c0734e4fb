//! Transcripts of the state machine, and its laws over random arrivals.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const MINUTE: i64 = 60_000_000;

fn recorded(minute: i64) -> RecordedAt {
    RecordedAt(Micros(minute * MINUTE))
}

fn thread(session: u8) -> Thread {
    Thread { scope: 1, session: (session > 0).then_some([session; 16]) }
}

fn arrival(number: u16, session: u8, recorded_at: i64, observed: i64) -> Arrival {
    let [high, low] = number.to_be_bytes();
    let mut id = [0; 16];
    (id[0], id[1]) = (high, low);
    Arrival {
        event: EventId::from_bytes(id),
        thread: thread(session),
        recorded: recorded(recorded_at),
        observed: ValidAt(Micros(observed * MINUTE)),
        shift: false,
        ends: false,
        continues: None,
        fresh: EpisodeId::from_bytes(id),
    }
}

fn short(id: &[u8; 16]) -> u16 {
    u16::from_be_bytes([id[0], id[1]])
}

fn show(action: &Action) -> String {
    let ep = |id: &EpisodeId| short(id.as_bytes());
    let minute = |at: &RecordedAt| at.0.0 / MINUTE;
    match action {
        Action::Opened { episode, at, successor_of, .. } => {
            let after = successor_of.map_or(String::new(), |id| format!(" after {}", ep(&id)));
            format!("{:<3} open {}{after}", minute(at), ep(episode))
        }
        Action::Joined { episode, event, late } => {
            let late = if *late { " late" } else { "" };
            format!("-   {} -> {}{late}", short(event.as_bytes()), ep(episode))
        }
        Action::Closed { episode, at, why } => {
            format!("{:<3} close {} {why:?}", minute(at), ep(episode))
        }
        Action::Sealed { episode, at } => format!("{:<3} seal {}", minute(at), ep(episode)),
    }
}

/// Lines `recorded observed [sN] [shift] [ends]`, `recorded end [sN]`, `recorded seal [sN]` or
/// `recorded tick`; event n opens episode n, if it opens one.
fn check(limits: Limits, story: &str, expect: Expect) {
    let mut windows = Windows::new(limits);
    let mut out = String::new();
    for (number, line) in story.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at: i64 = words[0].parse().unwrap();
        let session = words.iter().find_map(|word| word.strip_prefix('s')?.parse().ok());
        let session: u8 = session.unwrap_or(0);
        let input = match words[1] {
            "tick" => Input::Tick { now: recorded(at) },
            "end" => Input::End { thread: thread(session), at: recorded(at) },
            "seal" => Input::Seal { thread: thread(session), at: recorded(at) },
            observed => {
                let mut arrival =
                    arrival(number as u16 + 1, session, at, observed.parse().unwrap());
                arrival.shift = words.contains(&"shift");
                arrival.ends = words.contains(&"ends");
                Input::Arrive(arrival)
            }
        };
        for action in windows.on(input) {
            out += &show(&action);
            out.push('\n');
        }
    }
    expect.assert_eq(&out);
}

#[test]
fn sealing_a_thread_leaves_nothing_of_it_to_join() {
    check(
        Limits::default(),
        "0 0
         1 60
         2 30 s1
         3 5
         4 seal
         5 5
         6 31 s1",
        expect![[r#"
            0   open 1
            -   1 -> 1
            1   close 1 Gap
            1   open 2 after 1
            -   2 -> 2
            2   open 3
            -   3 -> 3
            -   4 -> 1 late
            4   close 2 Explicit
            4   seal 1
            4   seal 2
            5   open 6
            -   6 -> 6
            -   7 -> 3
        "#]],
    );
}

#[test]
fn a_gap_ends_an_episode_on_either_axis() {
    check(
        Limits::default(),
        "0 0
         10 10
         40 40
         41 71
         100 tick",
        expect![[r#"
            0   open 1
            -   1 -> 1
            -   2 -> 1
            40  close 1 Gap
            40  seal 1
            40  open 3
            -   3 -> 3
            41  close 3 Gap
            41  open 4 after 3
            -   4 -> 4
            70  seal 3
            71  close 4 Gap
            71  seal 4
        "#]],
    );
}

#[test]
fn an_import_of_years_in_a_minute_has_its_episodes() {
    check(
        Limits::default(),
        "0 0
         0 5
         0 1000
         0 1010
         0 9000
         31 tick",
        expect![[r#"
            0   open 1
            -   1 -> 1
            -   2 -> 1
            0   close 1 Gap
            0   open 3 after 1
            -   3 -> 3
            -   4 -> 3
            0   close 3 Gap
            0   open 5 after 3
            -   5 -> 5
            30  seal 1
            30  seal 3
            30  close 5 Gap
            30  seal 5
        "#]],
    );
}

#[test]
fn a_topic_shift_ends_an_episode_unless_it_comes_late() {
    check(
        Limits::default(),
        "0 0
         1 1
         2 2 shift
         3 3
         4 1 shift",
        expect![[r#"
            0   open 1
            -   1 -> 1
            -   2 -> 1
            2   close 1 TopicShift
            2   open 3
            -   3 -> 3
            -   4 -> 3
            -   5 -> 1 late
        "#]],
    );
}

#[test]
fn a_late_event_within_the_open_episode_never_ends_it() {
    check(
        Limits { events_max: 3, ..Limits::default() },
        "0 0
         1 10
         2 5 shift
         3 6
         4 11",
        expect![[r#"
            0   open 1
            -   1 -> 1
            -   2 -> 1
            -   3 -> 1 late
            3   open 4
            -   4 -> 4 late
            4   close 1 Size
            4   open 5 after 1
            -   5 -> 5
        "#]],
    );
}

#[test]
fn a_full_episode_is_carried_on_in_the_next() {
    check(
        Limits { events_max: 2, ..Limits::default() },
        "0 0
         1 1
         2 2
         3 3
         4 4
         5 1",
        expect![[r#"
            0   open 1
            -   1 -> 1
            -   2 -> 1
            2   close 1 Size
            2   open 3 after 1
            -   3 -> 3
            -   4 -> 3
            4   close 3 Size
            4   open 5 after 3
            -   5 -> 5
            -   6 -> 5 late
        "#]],
    );
}

#[test]
fn an_explicit_end_seals_at_once() {
    check(
        Limits::default(),
        "0 0
         1 1 ends
         2 2
         3 end
         4 end
         5 2",
        expect![[r#"
            0   open 1
            -   1 -> 1
            -   2 -> 1
            1   close 1 Explicit
            1   seal 1
            2   open 3
            -   3 -> 3
            3   close 3 Explicit
            3   seal 3
            5   open 6
            -   6 -> 6
        "#]],
    );
}

#[test]
fn late_events_go_where_they_belong_or_into_an_episode_of_their_own() {
    check(
        Limits::default(),
        "0 0
         1 100
         2 5
         3 -500
         4 -490
         5 101
         36 tick
         37 6",
        expect![[r#"
            0   open 1
            -   1 -> 1
            1   close 1 Gap
            1   open 2 after 1
            -   2 -> 2
            -   3 -> 1 late
            3   open 4
            -   4 -> 4 late
            -   5 -> 4 late
            -   6 -> 2
            32  seal 1
            34  seal 4
            35  close 2 Gap
            35  seal 2
            37  open 8
            -   8 -> 8
        "#]],
    );
}

#[test]
fn sessions_do_not_mix_and_deadlines_fire_in_order() {
    check(
        Limits::default(),
        "0 0 s2
         0 0 s1
         5 5 s3
         90 tick",
        expect![[r#"
            0   open 1
            -   1 -> 1
            0   open 2
            -   2 -> 2
            5   open 3
            -   3 -> 3
            30  close 1 Gap
            30  seal 1
            30  close 2 Gap
            30  seal 2
            35  close 3 Gap
            35  seal 3
        "#]],
    );
}

#[test]
fn too_many_late_windows_seal_the_one_longest_idle() {
    let story: String = (0..=UNSEALED_MAX as i64).map(|i| format!("{i} {}\n", -100 * i)).collect();
    check(
        Limits::default(),
        &story,
        expect![[r#"
            0   open 1
            -   1 -> 1
            1   open 2
            -   2 -> 2 late
            2   open 3
            -   3 -> 3 late
            3   open 4
            -   4 -> 4 late
            4   open 5
            -   5 -> 5 late
            5   open 6
            -   6 -> 6 late
            6   open 7
            -   7 -> 7 late
            7   open 8
            -   8 -> 8 late
            8   seal 2
            8   open 9
            -   9 -> 9 late
        "#]],
    );
}

#[derive(Debug, Clone)]
struct Life {
    inputs: Vec<Input>,
}

fn lives() -> impl Strategy<Value = Life> {
    let one =
        (0..25_i64, -90..60_i64, 0..3_u8, prop::bool::weighted(0.2), prop::bool::weighted(0.05));
    prop::collection::vec(one, 1..80).prop_map(|steps| {
        let mut now = 0;
        let inputs = steps
            .into_iter()
            .enumerate()
            .map(|(index, (pause, offset, session, shift, ends))| {
                now += pause;
                let mut arrival = arrival(index as u16, session, now, now + offset);
                // Strictly increasing, as recorded times are.
                arrival.recorded = RecordedAt(Micros(now * MINUTE + index as i64));
                (arrival.shift, arrival.ends) = (shift, ends);
                if ends && offset < -75 {
                    Input::Seal { thread: arrival.thread, at: arrival.recorded }
                } else if ends && offset < -60 {
                    Input::End { thread: arrival.thread, at: arrival.recorded }
                } else {
                    Input::Arrive(arrival)
                }
            })
            .collect();
        Life { inputs }
    })
}

fn time(input: &Input) -> RecordedAt {
    match input {
        Input::Arrive(arrival) => arrival.recorded,
        Input::End { at, .. } | Input::Seal { at, .. } => *at,
        Input::Tick { now } => *now,
    }
}

proptest! {
    #[test]
    fn every_event_is_in_exactly_one_episode_and_a_sealed_one_never_changes(
        life in lives(), events_max in 1..6_u32,
    ) {
        let limits = Limits { events_max, ..Limits::default() };
        let mut windows = Windows::new(limits);
        let (mut opened, mut sealed, mut closed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut counts: BTreeMap<EpisodeId, u32> = BTreeMap::new();
        let mut last = RecordedAt(Micros(i64::MIN));
        for input in &life.inputs {
            let mut joined = Vec::new();
            for action in windows.on(*input) {
                match action {
                    Action::Opened { episode, successor_of, .. } => {
                        prop_assert!(opened.insert(episode));
                        if let Some(before) = successor_of {
                            prop_assert!(opened.contains(&before) && before != episode);
                        }
                    }
                    Action::Joined { episode, event, .. } => {
                        prop_assert!(opened.contains(&episode) && !sealed.contains(&episode));
                        *counts.entry(episode).or_default() += 1;
                        joined.push(event);
                    }
                    Action::Closed { episode, at, .. } => {
                        prop_assert!(!sealed.contains(&episode) && closed.insert(episode));
                        prop_assert!(at <= time(input) && at >= last || at == time(input));
                        last = at;
                    }
                    Action::Sealed { episode, at } => {
                        prop_assert!(sealed.insert(episode));
                        prop_assert!(at <= time(input));
                    }
                }
            }
            match input {
                Input::Arrive(arrival) => prop_assert_eq!(joined, vec![arrival.event]),
                _ => prop_assert!(joined.is_empty()),
            }
            for session in 0..3 {
                let kept = windows.thread(&thread(session));
                prop_assert!(kept.len() <= UNSEALED_MAX);
                prop_assert!(kept.iter().filter(|window| window.open).count() <= 1);
            }
        }
        prop_assert!(counts.values().all(|count| *count <= events_max));
        windows.on(Input::Tick { now: RecordedAt(Micros(i64::MAX)) });
        prop_assert_eq!(windows, Windows::new(limits));
    }

    /// Whether a tick came in between, and whether the windows went through a view, does not matter.
    #[test]
    fn replay_equals_live(life in lives()) {
        let mut plain = Windows::new(Limits::default());
        let mut live = Windows::new(Limits::default());
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        for input in &life.inputs {
            expected.extend(plain.on(*input));
            while let Some(deadline) = live.next_deadline().filter(|at| *at <= time(input)) {
                found.extend(live.on(Input::Tick { now: deadline }));
            }
            let rows: Vec<_> = live.rows().map(|(thread, rows)| (*thread, rows.to_vec())).collect();
            let restored = Windows::restore(Limits::default(), rows);
            prop_assert_eq!(&restored, &live);
            live = restored;
            found.extend(live.on(*input));
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(live, plain);
    }
}

//! The revision policy as transcripts, and its laws over random histories.

use expect_test::{Expect, expect};
use lamina_types::layer::{Confidence, SourceClass};
use lamina_types::{EpisodeId, FactId, Micros, RecordedAt, ValidAt};
use proptest::prelude::*;

use super::*;
use crate::derive::beliefs::evidence::{SupportId, Witness, trust};

const MINUTE: i64 = 60_000_000;

fn minute(at: i64) -> RecordedAt {
    RecordedAt(Micros(at * MINUTE))
}

fn piece(at: i64, polarity: Polarity, actor: u8, episode: u8) -> Evidence {
    Evidence {
        source: SupportId::Fact(FactId::from_bytes([at as u8; 16])),
        polarity,
        confidence: Confidence::FULL,
        trust: trust(SourceClass::Said),
        witness: Witness {
            actor: [actor; 16],
            episode: Some(EpisodeId::from_bytes([episode; 16])),
        },
        recorded: minute(at),
        valid_from: ValidAt(Micros(at * MINUTE)),
        expires: None,
    }
}

/// `minute +|- actor/episode [ttl minutes]` lines in, one line per step out.
fn check(story: &str, until: i64, expect: Expect) {
    check_with(&Settings::default(), story, until, expect);
}

fn check_with(settings: &Settings, story: &str, until: i64, expect: Expect) {
    let evidence: Vec<Evidence> = story
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (at, side, who) = (words.first()?, words.get(1)?, words.get(2)?);
            let (actor, episode) = who.split_once('/')?;
            let at: i64 = at.parse().unwrap();
            let side = if *side == "+" { Polarity::Supports } else { Polarity::Against };
            let mut piece = piece(at, side, actor.parse().unwrap(), episode.parse().unwrap());
            piece.expires = words.get(3).map(|ttl| minute(at + ttl.parse::<i64>().unwrap()));
            Some(piece)
        })
        .collect();
    let (state, steps) = replay(settings, &evidence, minute(until)).unwrap();
    let mut out = String::new();
    for step in &steps {
        let Mass { supports, against } = step.after;
        out += &format!("{:>4} {:?} {supports}:{against}\n", step.at.0.0 / MINUTE, step.reason);
    }
    out += &format!(
        "known {}:{} count {}",
        state.known.supports, state.known.against, state.revision_count
    );
    out += &format!(" due {:?}\n", state.due.map(|at| at.0.0 / MINUTE));
    expect.assert_eq(&out);
}

#[test]
fn evidence_within_the_cooldown_is_shown_when_it_ends() {
    check(
        "0 + 1/1
         2 + 2/1
         3 - 3/1
         20 + 4/1",
        30,
        expect![[r#"
               0 Created 20000:10000
               2 Unshown(Cooldown) 20000:10000
               3 Unshown(Cooldown) 20000:10000
               5 Due 30000:20000
              20 NewEvidence 40000:20000
            known 30000:10000 count 2 due None
        "#]],
    );
}

#[test]
fn evidence_at_the_end_of_the_cooldown_is_shown_at_once() {
    check(
        "0 + 1/1
         5 + 2/1
         9 + 3/1",
        9,
        expect![[r#"
               0 Created 20000:10000
               5 NewEvidence 30000:10000
               9 Unshown(Cooldown) 30000:10000
            known 30000:0 count 1 due Some(10)
        "#]],
    );
}

#[test]
fn so_many_revisions_an_hour_and_the_next_one_when_the_first_is_an_hour_old() {
    // With the default pause of five minutes no hour holds more than twelve; a shorter pause needs
    // the budget.
    let settings =
        Settings { cooldown_us: MINUTE, revisions_per_hour_max: 4, ..Settings::default() };
    let story: String = (0..9).map(|i| format!("{} + {i}/1\n", i * 2)).collect();
    check_with(
        &settings,
        &story,
        200,
        expect![[r#"
           0 Created 20000:10000
           2 NewEvidence 30000:10000
           4 NewEvidence 40000:10000
           6 NewEvidence 50000:10000
           8 NewEvidence 60000:10000
          10 Unshown(Budget) 60000:10000
          12 Unshown(Budget) 60000:10000
          14 Unshown(Budget) 60000:10000
          16 Unshown(Budget) 60000:10000
          62 Due 100000:10000
        known 90000:0 count 5 due None
    "#]],
    );
}

#[test]
fn little_new_mass_waits_without_a_deadline() {
    let mut story: String = (0..30).map(|i| format!("{} + {i}/1\n", i * 10)).collect();
    story += "400 - 99/1\n";
    check(
        &story,
        1_000,
        expect![[r#"
           0 Created 20000:10000
          10 NewEvidence 30000:10000
          20 NewEvidence 40000:10000
          30 NewEvidence 50000:10000
          40 NewEvidence 60000:10000
          50 NewEvidence 70000:10000
          60 NewEvidence 80000:10000
          70 NewEvidence 90000:10000
          80 NewEvidence 100000:10000
          90 NewEvidence 110000:10000
         100 NewEvidence 120000:10000
         110 NewEvidence 130000:10000
         120 NewEvidence 140000:10000
         130 NewEvidence 150000:10000
         140 NewEvidence 160000:10000
         150 NewEvidence 170000:10000
         160 NewEvidence 180000:10000
         170 NewEvidence 190000:10000
         180 NewEvidence 200000:10000
         190 Unshown(BelowDelta) 200000:10000
         200 NewEvidence 220000:10000
         210 Unshown(BelowDelta) 220000:10000
         220 NewEvidence 240000:10000
         230 Unshown(BelowDelta) 240000:10000
         240 NewEvidence 260000:10000
         250 Unshown(BelowDelta) 260000:10000
         260 NewEvidence 280000:10000
         270 Unshown(BelowDelta) 280000:10000
         280 NewEvidence 300000:10000
         290 Unshown(BelowDelta) 300000:10000
         400 NewEvidence 310000:20000
        known 300000:10000 count 24 due None
    "#]],
    );
}

#[test]
fn repetition_in_one_conversation_counts_half() {
    check(
        "0 + 1/1
         10 + 1/1
         20 + 1/1
         30 + 1/2",
        30,
        expect![[r#"
               0 Created 20000:10000
              10 NewEvidence 25000:10000
              20 NewEvidence 27500:10000
              30 NewEvidence 32500:10000
            known 22500:0 count 3 due None
        "#]],
    );
}

#[test]
fn a_belief_lives_as_long_as_its_last_evidence() {
    check(
        "0 + 1/1 60
         10 + 2/1 90
         120 + 3/1",
        200,
        expect![[r#"
               0 Created 20000:10000
              10 NewEvidence 30000:10000
             100 Deleted(Expired) 30000:10000
             120 NotHeld 30000:10000
            known 20000:0 count 1 due None
        "#]],
    );
    check(
        "0 + 1/1 60
         10 + 2/1",
        200,
        expect![[r#"
               0 Created 20000:10000
              10 NewEvidence 30000:10000
            known 20000:0 count 1 due None
        "#]],
    );
}

#[test]
fn losing_all_words_halves_the_confidence_and_may_end_the_belief() {
    let settings = Settings::default();
    let (mut weak, _) = begin(&settings, &piece(0, Polarity::Supports, 1, 1));
    // 2/3 for it; half of that is above 0.3.
    assert_eq!(redact(&mut weak, &settings, 1, minute(1)).reason, Reason::Redacted);
    assert!(weak.all_redacted());
    let mut low = piece(0, Polarity::Supports, 1, 1);
    low.confidence = Confidence::new(1_000);
    let (mut mixed, _) = begin(&settings, &low);
    // 1.1/2.1 for it; half of that is below 0.3.
    let step = redact(&mut mixed, &settings, 1, minute(1));
    assert_eq!(step.reason, Reason::Deleted(Deletion::BelowFloor));
    assert_eq!(next_deadline(&mixed), None);
    let (after, steps) =
        revise(mixed, &settings, &piece(2, Polarity::Supports, 2, 1), Heard::default());
    assert_eq!(steps.last().unwrap().reason, Reason::NotHeld);
    assert!(matches!(after.standing, Standing::Deleted { .. }));
}

#[test]
fn a_contradicted_belief_is_kept_because_it_is_sure_to_be_wrong() {
    let settings = Settings::default();
    let against: Vec<Evidence> =
        (0..9).map(|i| piece(i * 10, Polarity::Against, i as u8, 1)).collect();
    let (state, _) = replay(&settings, &against, minute(500)).unwrap();
    assert_eq!(state.standing, Standing::Held);
    assert!(is_contradicted(state.visible()));
}

#[test]
fn the_floor_is_exact_at_its_edge() {
    let mut settings = Settings { floor: Confidence::new(6_666), ..Settings::default() };
    // 20000/30000 is above 0.6666 and below 0.6667.
    assert_eq!(begin(&settings, &piece(0, Polarity::Supports, 1, 1)).0.standing, Standing::Held);
    settings.floor = Confidence::new(6_667);
    let (state, step) = begin(&settings, &piece(0, Polarity::Supports, 1, 1));
    assert_eq!(step.reason, Reason::Deleted(Deletion::BelowFloor));
    assert!(matches!(state.standing, Standing::Deleted { .. }));
}

#[test]
fn a_deprecated_belief_takes_nothing_more() {
    let settings = Settings::default();
    let (mut state, _) = begin(&settings, &piece(0, Polarity::Supports, 1, 1));
    let step = deprecate(&mut state, Deprecation::Identity, minute(1));
    assert_eq!(step.reason, Reason::Deprecated(Deprecation::Identity));
    assert_eq!(deprecate(&mut state, Deprecation::Vocabulary, minute(2)).reason, Reason::NotHeld);
    let known = state.known;
    let (state, _) = revise(state, &settings, &piece(3, Polarity::Against, 2, 1), Heard::default());
    assert_eq!(state.known, known);
}

fn histories() -> impl Strategy<Value = Vec<Evidence>> {
    let one =
        (1..20_i64, any::<bool>(), 0..3_u8, 0..3_u8, 0..10_001_u16, prop::option::of(1..90_i64));
    prop::collection::vec(one, 1..60).prop_map(|steps| {
        let mut at = 0;
        steps
            .into_iter()
            .map(|(pause, side, actor, episode, confidence, ttl)| {
                at += pause;
                let side = if side { Polarity::Supports } else { Polarity::Against };
                let mut piece = piece(at, side, actor, episode);
                piece.confidence = Confidence::new(confidence);
                piece.expires = ttl.map(|ttl| minute(at + ttl));
                piece
            })
            .collect()
    })
}

proptest! {
    /// Firing deadlines one by one as time passes is the same as firing them when the next entry
    /// comes: an idle database and a busy one agree.
    #[test]
    fn ticks_in_between_change_nothing(history in histories()) {
        let settings = Settings::default();
        let until = minute(history.last().unwrap().recorded.0.0 / MINUTE + 200);
        let (expected, expected_steps) = replay(&settings, &history, until).unwrap();
        let mut voices = Voices::default();
        voices.hear(&history[0]);
        let (mut state, first) = begin(&settings, &history[0]);
        let mut steps = vec![first];
        let mut clock = history[0].recorded.0.0;
        for piece in &history[1..] {
            while clock < piece.recorded.0.0 {
                clock += MINUTE / 2;
                let now = RecordedAt(Micros(clock.min(piece.recorded.0.0)));
                while let Some(step) = fire(&mut state, &settings, now) {
                    steps.push(step);
                }
            }
            let heard = voices.hear(piece);
            let (next, more) = revise(state, &settings, piece, heard);
            state = next;
            steps.extend(more);
        }
        while let Some(step) = fire(&mut state, &settings, until) {
            steps.push(step);
        }
        prop_assert_eq!(state, expected);
        prop_assert_eq!(steps, expected_steps);
    }

    /// The policy is never broken, nothing is shown that is not known, and no change of the mean of
    /// five hundredths or more stays hidden once the policy allows to show it.
    #[test]
    fn the_revision_policy_is_kept(history in histories(), cooldown in 0..9_i64, budget in 1..13_u32) {
        let settings = Settings {
            cooldown_us: cooldown * MINUTE,
            revisions_per_hour_max: budget,
            ..Settings::default()
        };
        let until = RecordedAt(history.last().unwrap().recorded.0.plus(10_000 * MINUTE));
        let (state, steps) = replay(&settings, &history, until).unwrap();
        let shown: Vec<i64> = steps
            .iter()
            .filter(|step| matches!(step.reason, Reason::NewEvidence | Reason::Due))
            .map(|step| step.at.0.0)
            .collect();
        for pair in shown.windows(2) {
            prop_assert!(pair[1] - pair[0] >= settings.cooldown_us);
        }
        for run in shown.windows(budget as usize + 1) {
            prop_assert!(run[budget as usize] - run[0] >= BUDGET_WINDOW_US);
        }
        for pair in steps.windows(2) {
            prop_assert!(pair[0].at <= pair[1].at);
            prop_assert_eq!(pair[0].after, pair[1].before);
        }
        prop_assert!(state.shown.supports <= state.known.supports);
        prop_assert!(state.shown.against <= state.known.against);
        if state.standing == Standing::Held {
            let mean = |mass: Mass| mass.supports as f64 / mass.total() as f64;
            let hidden = mean(state.prior.plus(state.known)) - mean(state.visible());
            prop_assert!(hidden.abs() < 0.05, "{}", hidden);
        }
    }

    /// Every piece adds to its side; the order of two voices does not matter.
    #[test]
    fn masses_are_sums(history in histories()) {
        let settings = Settings { floor: Confidence::new(0), ..Settings::default() };
        let lasting: Vec<Evidence> =
            history.into_iter().map(|piece| Evidence { expires: None, ..piece }).collect();
        let until = lasting.last().unwrap().recorded;
        let (state, _) = replay(&settings, &lasting, until).unwrap();
        let mut expected = Mass::default();
        for (index, piece) in lasting.iter().enumerate() {
            let same = |other: &&Evidence| {
                other.witness.actor == piece.witness.actor && other.polarity == piece.polarity
            };
            let earlier: Vec<&Evidence> = lasting[..index].iter().filter(same).collect();
            let here = earlier.iter().filter(|e| e.witness == piece.witness).count();
            let others: std::collections::BTreeSet<_> = earlier
                .iter()
                .map(|e| e.witness.episode)
                .filter(|episode| *episode != piece.witness.episode)
                .collect();
            let base = u64::from(piece.confidence.get());
            let weight = if here > 14 { 0 } else { base / (1 << here) / (1 + others.len() as u64) };
            match piece.polarity {
                Polarity::Supports => expected.supports += weight,
                Polarity::Against => expected.against += weight,
            }
        }
        prop_assert_eq!(state.known, expected);
    }
}

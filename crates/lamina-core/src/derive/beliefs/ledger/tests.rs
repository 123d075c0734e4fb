//! One claim, piece by piece: what begins, what ends, and that taking equals taking again.

use lamina_types::layer::{Confidence, SourceClass};
use lamina_types::{EpisodeId, EventId, Micros, RecordedAt, ValidAt};
use proptest::prelude::*;

use super::*;
use crate::derive::beliefs::evidence::{SupportId, Witness, trust};
use crate::derive::beliefs::revise;

const MINUTE: i64 = 60_000_000;

fn minute(at: i64) -> RecordedAt {
    RecordedAt(Micros(at * MINUTE))
}

fn evidence(at: i64, polarity: Polarity, actor: u8, episode: u8) -> Evidence {
    Evidence {
        source: SupportId::Event(EventId::from_bytes([at as u8; 16])),
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

fn said(at: i64, actor: u8) -> Said {
    let evidence = evidence(at, Polarity::Supports, actor, 1);
    Said { evidence, valid_to: None, floor: None, names: true }
}

fn declared(at: i64, from: i64, confidence: u16) -> Piece {
    Piece::Declared(Declaration {
        confidence: Confidence::new(confidence),
        valid_from: ValidAt(Micros(from * MINUTE)),
        supports_count: 0,
        at: minute(at),
        expires: None,
    })
}

fn shown(pieces: &[Piece], until: i64) -> Vec<(usize, Standing, u64, u64)> {
    replay(&Settings::default(), pieces, minute(until))
        .into_iter()
        .map(|life| {
            let mass = life.held.state.visible();
            (life.from, life.held.state.standing, mass.supports, mass.against)
        })
        .collect()
}

#[test]
fn a_belief_knows_what_each_piece_weighed_for_it() {
    let against = Said { names: false, ..said(0, 1) };
    let pieces: Vec<Piece> =
        [against, said(1, 1), said(2, 1), said(3, 2)].into_iter().map(Piece::Said).collect();
    let lives = replay(&Settings::default(), &pieces, minute(9));
    let took: Vec<_> = lives.iter().map(|life| (life.from, life.took.clone())).collect();
    assert_eq!(took, [(1, vec![(1, 10_000), (2, 5_000), (3, 10_000)])]);
}

#[test]
fn after_an_expiry_the_next_belief_begins_from_nothing() {
    let mut first = said(0, 1);
    first.evidence.expires = Some(minute(10));
    let pieces = [Piece::Said(first), Piece::Said(said(20, 1))];
    let gone = Standing::Deleted { at: minute(10), why: Deletion::Expired };
    // The voice is heard as if for the first time.
    assert_eq!(
        shown(&pieces, 30),
        [(0, gone, 20_000, 10_000), (1, Standing::Held, 20_000, 10_000)]
    );
    assert_eq!(shown(&pieces[..1], 9), [(0, Standing::Held, 20_000, 10_000)]);
}

#[test]
fn what_the_floor_takes_comes_back_with_all_that_is_known() {
    let floor = Some(Confidence::new(7_400));
    let pieces: Vec<Piece> =
        (0..3).map(|at| Piece::Said(Said { floor, ..said(at, at as u8) })).collect();
    let below = |at: i64| Standing::Deleted { at: minute(at), why: Deletion::BelowFloor };
    // One piece: two thirds. Two: three quarters.
    assert_eq!(shown(&pieces[..1], 1), [(0, below(0), 20_000, 10_000)]);
    assert_eq!(
        shown(&pieces[..2], 1),
        [(0, below(0), 20_000, 10_000), (1, Standing::Held, 30_000, 10_000)]
    );
    // The third waits for the pause like any other.
    assert_eq!(shown(&pieces, 60)[1], (1, Standing::Held, 40_000, 10_000));
}

#[test]
fn the_lowest_floor_counts() {
    let pieces = [
        Piece::Said(Said { floor: Some(Confidence::new(9_000)), ..said(0, 1) }),
        Piece::Said(Said { floor: None, ..said(1, 2) }),
    ];
    assert_eq!(shown(&pieces, 1).last().unwrap().1, Standing::Held);
}

#[test]
fn what_speaks_of_a_rival_begins_nothing() {
    let mut rival = said(0, 1);
    rival.evidence.polarity = Polarity::Against;
    rival.names = false;
    assert_eq!(shown(&[Piece::Said(rival.clone())], 1), []);
    rival.names = true;
    assert_eq!(shown(&[Piece::Said(rival)], 1), [(0, Standing::Held, 10_000, 20_000)]);
}

#[test]
fn the_end_of_a_belief_is_the_latest_that_is_said() {
    let until = |at: i64| Some(ValidAt(Micros(at)));
    let end = |pieces: &[Piece]| {
        replay(&Settings::default(), pieces, minute(60)).pop().unwrap().held.valid_to
    };
    let ends = |at: i64, to| Piece::Said(Said { valid_to: to, ..said(at, at as u8) });
    assert_eq!(end(&[ends(0, until(5))]), until(5));
    assert_eq!(end(&[ends(0, until(5)), ends(1, until(3))]), until(5));
    assert_eq!(end(&[ends(0, until(5)), ends(1, None)]), None);
    assert_eq!(end(&[ends(0, None), ends(1, until(5))]), None);
}

#[test]
fn a_newer_declaration_retires_and_asserts_again() {
    // Declared for the time from minute 5 on, then otherwise from minute 8 on.
    let older = [declared(10, 5, 8_000), Piece::Closed { at: minute(20), newer: minute_valid(8) }];
    let life = replay(&Settings::default(), &older, minute(30)).pop().unwrap();
    assert_eq!(life.held.state.standing, Standing::Held);
    assert_eq!(life.held.valid_to, Some(minute_valid(8)));
    // Before it was known, there was no end.
    let before = replay(&Settings::default(), &older[..1], minute(19)).pop().unwrap();
    assert_eq!(before.held.valid_to, None);
    // What never was the answer at any time is kept for the past only.
    let replaced =
        [declared(10, 5, 8_000), Piece::Closed { at: minute(20), newer: minute_valid(5) }];
    let life = replay(&Settings::default(), &replaced, minute(30)).pop().unwrap();
    assert!(matches!(life.held.state.standing, Standing::Deprecated { .. }));
}

fn minute_valid(at: i64) -> ValidAt {
    ValidAt(Micros(at * MINUTE))
}

#[test]
fn declaring_again_begins_another_belief() {
    let pieces = [declared(0, 0, 8_000), declared(10, 0, 6_000), Piece::Said(said(20, 1))];
    let lives = shown(&pieces, 30);
    assert_eq!(lives.len(), 2);
    assert!(matches!(lives[0].1, Standing::Deprecated { .. }));
    // Evidence comes on top of the declaration: 6 + 1 against 4.
    assert_eq!(lives[1], (1, Standing::Held, 70_000, 40_000));
}

/// Without floors, expiries and declarations a claim has one belief, and it is the one that the
/// revision policy alone makes.
#[test]
fn equals_the_revision_of_all_evidence() {
    let story = |pieces: &[(i64, bool, u8, u8)]| -> Vec<Evidence> {
        let side = |yes: bool| if yes { Polarity::Supports } else { Polarity::Against };
        pieces
            .iter()
            .map(|(at, yes, who, where_)| evidence(*at, side(*yes), *who, *where_))
            .collect()
    };
    let strategy = proptest::collection::vec((0i64..400, any::<bool>(), 0u8..3, 0u8..3), 1..40);
    proptest!(|(mut pieces in strategy)| {
        pieces.sort_by_key(|piece| piece.0);
        let all = story(&pieces);
        let whole: Vec<Piece> = all
            .iter()
            .map(|evidence| Piece::Said(Said {
                evidence: evidence.clone(), valid_to: None, floor: None, names: true,
            }))
            .collect();
        let lives = replay(&Settings::default(), &whole, minute(500));
        let (state, steps) = revise::replay(&Settings::default(), &all, minute(500)).unwrap();
        if state.standing == Standing::Held {
            prop_assert_eq!(lives.len(), 1);
            prop_assert_eq!(&lives[0].held.state, &state);
            let mine: Vec<Revision> = lives[0].steps.iter().map(|(step, _)| *step).collect();
            prop_assert_eq!(mine, steps);
        }
    });
}

/// Taking piece by piece with counted voices comes to the same as taking all at once, whatever comes.
#[test]
fn piece_by_piece_equals_all_at_once() {
    let strategy = proptest::collection::vec(
        (0i64..300, 0u8..5, 0u8..3, 0u8..3, proptest::option::of(1i64..60), any::<bool>()),
        1..40,
    );
    proptest!(|(mut drawn in strategy)| {
        drawn.sort_by_key(|piece| piece.0);
        let pieces: Vec<Piece> = drawn
            .iter()
            .map(|(at, kind, who, where_, ttl, picky)| match kind {
                0 => declared(*at, *at, 7_000),
                1 => Piece::Closed { at: minute(*at), newer: minute_valid(*at) },
                kind => {
                    let side = if *kind == 2 { Polarity::Against } else { Polarity::Supports };
                    let mut evidence = evidence(*at, side, *who, *where_);
                    evidence.expires = ttl.map(|ttl| minute(at + ttl));
                    let floor = picky.then_some(Confidence::new(7_000));
                    Piece::Said(Said { evidence, valid_to: None, floor, names: *kind != 2 })
                }
            })
            .collect();
        let settings = Settings::default();
        let mut held: Option<Held> = None;
        let mut voices = Voices::default();
        for piece in &pieces {
            let heard = match piece {
                Piece::Said(said) => voices.heard(&said.evidence),
                _ => Heard::default(),
            };
            let Some(taken) = take(held.clone(), &settings, piece, heard) else { continue };
            if taken.afresh {
                voices = Voices::default();
            }
            if let Piece::Said(said) = piece {
                voices.hear(&said.evidence);
            }
            held = Some(taken.held);
        }
        if let Some(held) = &mut held {
            held.fire(&settings, minute(400));
        }
        let lives = replay(&settings, &pieces, minute(400));
        prop_assert_eq!(lives.last().map(|life| &life.held), held.as_ref());
    });
}

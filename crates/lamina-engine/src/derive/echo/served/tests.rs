//! What was shown counts where it was asked and below, for whoever asked, for a day, and not before it was.

use super::*;

fn event(number: u8) -> EventId {
    EventId::from_bytes([number; 16])
}

fn caller(id: &str) -> ActorId {
    id.parse().expect("an actor")
}

#[test]
fn what_was_shown_counts_where_it_was_asked() {
    let served = Served::default();
    let scope = |path: &str| path.parse::<ScopePath>().expect("a scope");
    let (here, below, beside) = (scope("org:a"), scope("org:a/user:b"), scope("org:c"));
    let at = |hours: i64| Micros(hours * 3_600 * 1_000_000);
    let (alice, bob) = (caller("user:alice"), caller("user:bob"));
    let shows = |scope, hours| Shows { tenant: 1, scope, caller: &alice, at: at(hours) };
    served.note(&shows(&here, 10), [event(1), event(2)].into_iter());
    let before = |shows: Shows<'_>| served.before(&shows).len();
    assert_eq!(before(shows(&here, 11)), 2);
    assert_eq!(before(shows(&below, 11)), 2, "it was shown above");
    assert_eq!(before(shows(&beside, 11)), 0, "elsewhere");
    assert_eq!(before(shows(&here, 9)), 0, "not yet");
    assert_eq!(before(shows(&here, 40)), 0, "too long ago");
    assert_eq!(before(Shows { tenant: 2, ..shows(&here, 11) }), 0, "another tenant");
    assert_eq!(before(Shows { caller: &bob, ..shows(&here, 11) }), 0, "somebody else");
    let digest = Arc::new(Digested::new());
    served.keep_digest((1, event(1)), &digest, served.erased());
    assert!(served.digest(1, event(1)).is_some());
    served.keep_digest((1, event(2)), &digest, served.erased() + 1);
    assert!(served.digest(1, event(2)).is_none(), "read before something was erased");
}

#[test]
fn only_the_last_packs_are_remembered() {
    let served = Served::default();
    let scope: ScopePath = "org:a".parse().expect("a scope");
    let alice = caller("user:alice");
    let shows = |at: i64| Shows { tenant: 1, scope: &scope, caller: &alice, at: Micros(at) };
    for number in 0..=PACKS_MAX as u8 {
        served.note(&shows(i64::from(number)), [event(number)].into_iter());
    }
    let known = served.before(&shows(1_000));
    assert_eq!(known.len(), PACKS_MAX);
    assert!(!known.contains(&event(0)));
}

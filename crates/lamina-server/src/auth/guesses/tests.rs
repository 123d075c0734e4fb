//! The edge, the wait, and who shares a bucket.

use lamina_env::sim::SimClock;

use super::*;

fn world(rate: &str) -> (Arc<SimClock>, Guesses) {
    let clock = Arc::new(SimClock::at(Micros(0)));
    (Arc::clone(&clock), Guesses::new(rate.parse().unwrap(), clock, "Too many"))
}

fn peer(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn the_last_guess_is_answered_and_the_next_one_waits() {
    let (clock, guesses) = world("3/m");
    let here = peer("192.0.2.1");
    for _ in 0..3 {
        assert!(guesses.refusal(here).is_none());
        guesses.count(here);
    }
    assert_eq!(guesses.refusal(here).unwrap().retry_after_s, Some(60));
    assert!(guesses.refusal(peer("192.0.2.2")).is_none(), "others are not meant");
    clock.advance(59 * SECOND_US + 1);
    assert_eq!(guesses.refusal(here).unwrap().retry_after_s, Some(1));
    clock.advance(SECOND_US);
    assert!(guesses.refusal(here).is_none());
    guesses.count(here);
    assert!(guesses.refusal(here).is_none(), "a new period begins");
}

#[test]
fn a_network_of_ipv6_is_one_place_and_a_mapped_address_is_its_own() {
    let (_, guesses) = world("1/h");
    guesses.count(peer("2001:db8:1:2::1"));
    assert!(guesses.refusal(peer("2001:db8:1:2:ffff::9")).is_some());
    assert!(guesses.refusal(peer("2001:db8:1:3::1")).is_none());
    guesses.count(peer("::ffff:192.0.2.7"));
    assert!(guesses.refusal(peer("192.0.2.7")).is_some());
}

#[test]
fn memory_is_bounded_and_a_crowd_shares() {
    let (clock, mut guesses) = world("2/m");
    guesses.places_max = 4;
    for last in 0..4 {
        guesses.count(peer(&format!("192.0.2.{last}")));
    }
    guesses.count(peer("192.0.2.100"));
    guesses.count(peer("192.0.2.101"));
    assert!(guesses.refusal(peer("192.0.2.102")).is_some(), "one bucket for the crowd");
    assert!(guesses.refusal(peer("192.0.2.0")).is_none(), "who was there has its own");
    assert_eq!(guesses.places.lock().len(), 5);
    clock.advance(60 * SECOND_US);
    guesses.count(peer("192.0.2.103"));
    assert_eq!(guesses.places.lock().len(), 1, "what is over is forgotten");
}

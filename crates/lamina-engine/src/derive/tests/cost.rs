//! What an event costs does not grow with what is known of its scope.
//!
//! Counted in rows that the fold reads and writes, so that a busy machine changes nothing about it. How
//! long that takes is measured by `lamina-bench derive`.

use lamina_store::view::derived::Work;

use super::super::answer::Rules;
use super::*;

/// Events that are taken together.
const ROUND: usize = 800;
/// How much more an event may cost when the scope has grown, in tenths.
const TENTHS_MAX: u64 = 13;

const PEOPLE: [&str; 3] = ["Maria", "Jonas", "Priya"];
const PLACES: [&str; 3] = ["Oslo", "Lisbon", "Nairobi"];
/// Some say something about somebody, some change what was said before, some say nothing.
const SAID: [&str; 6] = [
    "I moved to {place} last week, and {person} helped me carry the boxes up four floors.",
    "Could you look at the draft again when you have a minute? It is not urgent.",
    "{person} works at Northwind {number} now, as a product manager. We spoke about the release.",
    "The deadline for project Heron {number} is 2026-12-01. {person} owns it.",
    "I am allergic to peanuts, and {person} is vegetarian, so keep that in mind for {place}.",
    "Thanks, that helped a lot! The answer was in the second paragraph all the time.",
];

fn message(number: usize) -> String {
    let pick = |list: &[&'static str], at: usize| list[at % list.len()];
    pick(&SAID, number)
        .replace("{person}", pick(&PEOPLE, number / SAID.len()))
        .replace("{place}", pick(&PLACES, number / 24))
        .replace("{number}", &(number % 7).to_string())
}

/// Says so much more in a scope; what folding it took.
async fn more(world: &mut World, from: usize) -> Work {
    let before = world.engine.inner.views.worked();
    let mut last = None;
    for number in from..from + ROUND {
        // Two events a minute: episodes end by their topics.
        world.next += 29_000_000;
        last = Some(world.say_only("user:alice", &message(number)).await);
    }
    world.settle(last.expect("something was said")).await;
    let after = world.engine.inner.views.worked();
    Work {
        read: after.read - before.read,
        walks: after.walks - before.walks,
        written: after.written - before.written,
        bytes: after.bytes - before.bytes,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_costs_as_much_in_a_large_scope_as_in_a_small_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut world = World::open_with(dir.path(), Arc::new(Rules));
    // Until everybody has been spoken of.
    more(&mut world, 0).await;
    let early = more(&mut world, ROUND).await;
    more(&mut world, 2 * ROUND).await;
    let late = more(&mut world, 3 * ROUND).await;
    for (what, early, late) in [
        ("rows read", early.read, late.read),
        ("walks", early.walks, late.walks),
        ("rows written", early.written, late.written),
        ("bytes", early.bytes, late.bytes),
    ] {
        assert!(early > 0 && late * 10 <= early * TENTHS_MAX, "{what}: {early}, then {late}");
    }
    // A few dozen rows for a message, and not hundreds.
    let rows = (late.read + late.written) / ROUND as u64;
    assert!(rows < 300, "{rows} rows for an event: {late:?}");
}

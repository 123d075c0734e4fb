//! Turns are fair, order within a tenant is that of the log.

use super::*;

fn job(tenant: u32, offset: u64) -> Job {
    Job { tenant, event: EventId::from_bytes([0; 16]), offset, place: Place(offset) }
}

#[test]
fn tenants_take_turns_and_keep_their_order() {
    let backlog = Backlog::default();
    for offset in 0..100 {
        backlog.push(job(1, offset));
    }
    backlog.push(job(2, 100));
    backlog.push(job(7, 101));
    assert_eq!(backlog.len(), 102);
    let mut turns = Vec::new();
    while let Some(jobs) = backlog.try_take(40) {
        turns.push((jobs[0].tenant, jobs.len(), jobs[0].offset));
    }
    assert_eq!(turns, [(1, 40, 0), (2, 1, 100), (7, 1, 101), (1, 40, 40), (1, 20, 80)]);
    assert!(backlog.is_empty());
}

#[test]
fn closing_ends_the_wait() {
    let backlog = Backlog::default();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| backlog.take(1, Duration::from_secs(600)));
        backlog.close();
        assert_eq!(waiting.join().unwrap(), Taken::Closed);
    });
}

#[test]
fn nobody_waits_longer_than_he_wants_to() {
    let backlog = Backlog::default();
    assert_eq!(backlog.take(1, Duration::from_millis(1)), Taken::Nothing);
    backlog.push(job(1, 5));
    assert_eq!(backlog.take(1, Duration::ZERO), Taken::Jobs(vec![job(1, 5)]));
}

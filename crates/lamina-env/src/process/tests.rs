//! The system does as it was asked.

use rustix::process::{DumpableBehavior, dumpable_behavior};

use super::*;

#[test]
fn the_memory_of_the_process_is_not_dumped() {
    forbid_core_dumps().unwrap();
    assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
}

#[test]
fn only_the_thread_that_asks_steps_back() {
    let niceness = || rustix::process::getpriority_process(None).unwrap();
    let before = niceness();
    let inside = std::thread::spawn(move || {
        work_in_background().unwrap();
        std::thread::spawn(niceness).join().unwrap()
    });
    assert_eq!(inside.join().unwrap(), BACKGROUND_NICENESS);
    assert_eq!(niceness(), before);
}

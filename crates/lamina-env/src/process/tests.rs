//! The system does as it was asked.

use rustix::process::{DumpableBehavior, dumpable_behavior};

use super::*;

#[test]
fn the_memory_of_the_process_is_not_dumped() {
    forbid_core_dumps().unwrap();
    assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
}

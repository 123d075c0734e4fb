//! The process itself: what the system may do with its memory.

use std::io;

/// Asks the system not to write the memory of this process to a core file when it crashes, and not
/// to let other processes of the same user read it: there are keys in it. Does nothing on systems
/// that cannot.
#[cfg(target_os = "linux")]
pub fn forbid_core_dumps() -> io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Asks the system not to write the memory of this process to a core file when it crashes, and not
/// to let other processes of the same user read it: there are keys in it. Does nothing on systems
/// that cannot.
#[cfg(not(target_os = "linux"))]
pub fn forbid_core_dumps() -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests;

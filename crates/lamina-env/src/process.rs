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

/// How much less of a busy processor a thread in the background gets.
#[cfg(target_os = "linux")]
const BACKGROUND_NICENESS: i32 = 10;

/// Lets this thread, and those that it starts, step back while others have work to do. Does nothing on
/// systems where that would be the whole process.
#[cfg(target_os = "linux")]
pub fn work_in_background() -> io::Result<()> {
    // Zero stands for the calling thread, not for its process.
    Ok(rustix::process::setpriority_process(None, BACKGROUND_NICENESS)?)
}

/// Lets this thread, and those that it starts, step back while others have work to do. Does nothing on
/// systems where that would be the whole process.
#[cfg(not(target_os = "linux"))]
pub fn work_in_background() -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests;

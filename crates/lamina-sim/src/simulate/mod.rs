//! One thread, one seed: log, views and stages under a disk that tears, lies and fills up.
//!
//! A seed decides everything: what is written, when power is lost, what the disk forgets. After
//! each restart the checkers ask whether everything that was acknowledged is there once, whether
//! seals and tips hold, whether what is in force is what was answered, and whether the views equal a
//! replay. The same seed gives the same trace.

mod faults;
mod model;
mod world;
mod workload;
mod admin;
mod imports;
mod recall;
mod checkers;

use lamina_env::sim::rng::SimRng;

use world::World;

/// Lives of the process in one run.
const LIVES: u64 = 6;
/// Steps of one life, at most.
const STEPS_MAX: u64 = 60;
/// Steps for each recall.
const RECALL_EVERY: u64 = 4;

/// What one seed did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events acknowledged.
    pub acknowledged: u64,
    /// Events erased.
    pub erased: u64,
    /// Events that recalls showed.
    pub recalled: u64,
    /// Recalls that asked for words that were erased, and got none of them.
    pub asked_for_erased: u64,
    /// Times power was lost.
    pub crashes: u64,
    /// Times the directory was opened.
    pub opens: u64,
}

/// Runs one seed. An error says what does not hold; the trace says how it came about.
pub fn run(seed: u64, trace: &mut dyn FnMut(&str)) -> Result<Summary, String> {
    let mut world = World::new(seed);
    let choices = SimRng::new(seed ^ 0x5EED);
    // Of its own, so that asking changes nothing of what a seed does.
    let asking = SimRng::new(seed ^ 0xA5C);
    let mut summary = Summary::default();
    for life in 0..LIVES {
        let last = life + 1 == LIVES;
        world.armed = false;
        let faults = if last { "none".to_owned() } else { faults::arm(&mut world, &choices) };
        trace(&format!("life {life}: faults {faults}"));
        let opened = world.open(trace);
        summary.opens += 1;
        if let Err(error) = opened {
            if !world.faulted() || error.contains("damaged") {
                return Err(format!("opening failed and must not: {error}"));
            }
            trace(&format!("  open failed: {error}"));
            world.crash(&choices);
            summary.crashes += 1;
            continue;
        }
        if !world.faulted() {
            checkers::after_open(&mut world)?;
        }
        for _ in 0..choices.below(STEPS_MAX) {
            let step = workload::step(&mut world, &choices);
            trace(&format!("  {step}"));
            if world.disk.is_off() {
                break;
            }
            if asking.below(RECALL_EVERY) == 0 {
                let (shown, erased) = recall::ask(&world, &asking)?;
                summary.recalled += shown;
                summary.asked_for_erased += erased;
            }
        }
        let clean = !world.faulted() && choices.below(3) == 0;
        if clean {
            trace("  close");
            world.close()?;
        }
        trace(if clean { "  stop" } else { "  power off" });
        world.crash(&choices);
        summary.crashes += 1;
    }
    // A last life without faults: everything must be in order.
    world.armed = false;
    world.open(trace).map_err(|error| format!("the last open failed: {error}"))?;
    summary.opens += 1;
    checkers::after_open(&mut world)?;
    imports::finish(&mut world, &choices)?;
    // Rows of the audit log are complete once it is opened again.
    world.close()?;
    world.crash(&choices);
    summary.crashes += 1;
    world.open(trace).map_err(|error| format!("opening after the imports failed: {error}"))?;
    summary.opens += 1;
    checkers::after_open(&mut world)?;
    checkers::at_the_end(&mut world)?;
    summary.acknowledged = world.model.acknowledged();
    summary.erased = world.model.erased();
    Ok(summary)
}

#[cfg(test)]
mod tests;

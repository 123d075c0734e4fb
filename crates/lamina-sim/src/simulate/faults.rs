//! What goes wrong in one life.

use std::io::ErrorKind;

use lamina_env::sim::rng::SimRng;

use super::world::World;

/// Arms the disk and the view store with what this life will suffer, and says what.
pub(super) fn arm(world: &mut World, choices: &SimRng) -> String {
    world.armed = true;
    let used = world.disk.used_bytes();
    match choices.below(10) {
        0 | 1 => {
            let bytes = choices.below(60_000);
            world.disk.power_off_after_bytes(bytes);
            format!("power off after {bytes} bytes")
        }
        2 | 3 => {
            let calls = choices.below(160);
            world.disk.power_off_after_calls(calls);
            format!("power off after {calls} calls")
        }
        4 => {
            let call = 1 + choices.below(120);
            let kind =
                if choices.below(2) == 0 { ErrorKind::Other } else { ErrorKind::StorageFull };
            world.disk.fail_call(call, kind);
            format!("call {call} fails with {kind:?}")
        }
        5 => {
            let sync = 1 + choices.below(40);
            world.disk.fail_sync(sync);
            format!("sync {sync} fails")
        }
        6 => {
            let room = choices.below(200_000);
            world.disk.set_capacity(Some(used + room));
            format!("room for {room} bytes")
        }
        7 => {
            let calls = choices.below(400);
            world.kv.fail_after(calls);
            format!("the view store fails after {calls} calls")
        }
        _ => {
            world.armed = false;
            "none".to_owned()
        }
    }
}

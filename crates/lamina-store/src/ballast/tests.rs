//! The ballast grows with the log, is given up for what must be written, and comes back with space.

use lamina_env::sim::SimDisk;

use super::*;

const MIB: u64 = 1_024 * 1_024;

fn ballast(disk: &SimDisk) -> Ballast {
    disk.create_dir_all(Path::new("/data")).unwrap();
    Ballast::new(Arc::new(disk.clone()), Path::new("/data"), 32 * MIB)
}

fn len(disk: &SimDisk) -> Option<u64> {
    disk.open_read(Path::new("/data/ballast")).and_then(|file| file.len()).ok()
}

#[test]
fn ballast_begins_small_and_grows_with_the_log() {
    let disk = SimDisk::new();
    let ballast = ballast(&disk);
    assert!(!ballast.is_held());
    for (log_bytes, expected) in [(0, 8), (9 * MIB, 9), (20 * MIB, 20), (900 * MIB, 32)] {
        ballast.restore(log_bytes);
        assert_eq!(len(&disk), Some(expected * MIB));
        assert!(ballast.is_held() && ballast.missing() == 0);
    }
}

#[test]
fn secure_gives_the_ballast_up_only_when_space_is_missing() {
    let disk = SimDisk::new();
    let ballast = ballast(&disk);
    ballast.restore(0);
    disk.set_capacity(Some(disk.used_bytes() + MIB));
    assert!(ballast.secure(MIB));
    assert!(ballast.is_held(), "there was enough without it");
    assert!(ballast.secure(2 * MIB));
    assert!(!ballast.is_held());
    assert_eq!(ballast.missing(), 8 * MIB);
    assert!(!ballast.secure(64 * MIB), "there is no more than that");
    // Not with less than twice its size free.
    ballast.restore(0);
    assert!(!ballast.is_held());
    disk.set_capacity(Some(disk.used_bytes() + 16 * MIB));
    ballast.restore(0);
    assert!(ballast.is_held());
}

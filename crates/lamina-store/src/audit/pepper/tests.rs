//! Peppers are made, rotated, kept and let go.

use lamina_env::sim::{SimDisk, SimRng};

use super::*;

const DIR: &str = "/data/keys";
const QUARTER: i64 = 90 * 86_400 * 1_000_000;

fn open(disk: &SimDisk, seed: u64) -> Peppers {
    disk.create_dir_all(Path::new(DIR)).unwrap();
    Peppers::open(Arc::new(disk.clone()), Path::new(DIR), Arc::new(SimRng::new(seed))).unwrap()
}

#[test]
fn a_pepper_is_made_once_and_survives() {
    let disk = SimDisk::new();
    let peppers = open(&disk, 1);
    let first = peppers.current(1, Micros(1_000), QUARTER).unwrap();
    assert_eq!((first.version, first.made_at), (1, Micros(1_000)));
    disk.crash_losing_all();
    let again = open(&disk, 2).current(1, Micros(2_000), QUARTER).unwrap();
    assert_eq!((again.version, again.body(b"x")), (1, first.body(b"x")));
    assert_ne!(first.body(b"x"), first.headers(b"x"));
    assert_ne!(first.body(b"x"), first.body(b"y"));
    let other = peppers.current(2, Micros(1_000), QUARTER).unwrap();
    assert_ne!(other.body(b"x"), first.body(b"x"), "each tenant has its own");
}

#[test]
fn it_is_replaced_when_the_period_is_over_and_not_before() {
    let disk = SimDisk::new();
    let peppers = open(&disk, 1);
    let at = |us| peppers.current(1, Micros(us), QUARTER).unwrap().version;
    assert_eq!(at(5), 1);
    assert_eq!(at(5 + QUARTER - 1), 1);
    assert_eq!(at(5 + QUARTER), 2);
    assert_eq!(at(0), 2, "a clock that went back makes no new one");
    let old = peppers.version(1, 1).unwrap();
    assert_ne!(old.body(b"x"), peppers.version(1, 2).unwrap().body(b"x"));
    assert!(peppers.version(1, 3).is_none() && peppers.version(2, 1).is_none());
}

#[test]
fn an_old_one_goes_when_nothing_can_need_it() {
    let disk = SimDisk::new();
    let peppers = open(&disk, 1);
    for quarter in 0..4 {
        peppers.current(1, Micros(quarter * QUARTER), QUARTER).unwrap();
    }
    let keep = 2 * QUARTER;
    let now = |quarters| Micros(quarters * QUARTER);
    assert_eq!(peppers.expire(1, now(2), keep).unwrap(), 0);
    // The first was replaced at 1 and is needed until 3.
    assert_eq!(peppers.expire(1, Micros(3 * QUARTER - 1), keep).unwrap(), 0);
    assert_eq!(peppers.expire(1, now(3), keep).unwrap(), 1);
    assert!(peppers.version(1, 1).is_none() && peppers.version(1, 2).is_some());
    assert_eq!(peppers.expire(1, now(99), keep).unwrap(), 2, "the one in use stays");
    disk.crash_losing_all();
    let again = open(&disk, 2);
    assert!(again.version(1, 3).is_none());
    assert_eq!(again.current(1, now(3), QUARTER).unwrap().version, 4);
    assert_eq!(again.current(1, now(5), QUARTER).unwrap().version, 5, "no number comes again");
    assert_eq!(peppers.expire(7, now(99), keep).unwrap(), 0);
}

#[test]
fn a_file_that_others_may_read_is_refused() {
    let disk = SimDisk::new();
    open(&disk, 1).current(1, Micros(7), QUARTER).unwrap();
    let path = Path::new(DIR).join("pepper-1-1-7");
    disk.set_mode(&path, 0o644).unwrap();
    let opened = Peppers::open(Arc::new(disk.clone()), Path::new(DIR), Arc::new(SimRng::new(1)));
    assert!(matches!(opened, Err(KeyError::Exposed { .. })));
}

#[test]
fn other_files_are_left_alone() {
    for name in ["pepper-1-1", "pepper-x-1-1", "pepper-1-1-1.tmp", "pepper-01-1-1", "tenant-1"] {
        assert_eq!(parse_name(name), None, "{name}");
    }
    assert_eq!(parse_name("pepper-4-2-9"), Some((4, 2, Micros(9))));
}

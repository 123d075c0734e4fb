//! What a ledger keeps, and what it makes of bytes that are cut off or changed.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lamina_env::{Disk, DiskFile, RealDisk};

use super::{Ledger, LedgerError, Taken, Target, Until, read};
use crate::entry::{Place, control};
use crate::log::EraseTarget;

const LOG: [u8; 16] = [7; 16];

fn disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn taken(offset: u64) -> Taken {
    let target = EraseTarget { offset: offset - 1, place: Place(99), who: false, what: true };
    Taken {
        epoch: 2,
        offset,
        seal: [3; 32],
        sub: control::ERASE,
        tenant: 1,
        scope: 5,
        targets: vec![Target { target, seal: [4; 32] }],
        what: b"residue".to_vec(),
    }
}

fn written(path: &Path) -> Vec<u8> {
    let mut ledger = Ledger::open(&disk(), path, LOG).unwrap();
    ledger.take(&taken(8));
    assert!(ledger.is_behind());
    ledger.flush(Until { epoch: 2, offset: 9 }).unwrap();
    ledger.take(&taken(20));
    ledger.flush(Until { epoch: 2, offset: 21 }).unwrap();
    assert!(!ledger.is_behind());
    lamina_env::disk::read_file(&RealDisk, path, u64::MAX).unwrap()
}

#[test]
fn what_was_taken_back_is_there_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger");
    written(&path);
    let ledger = Ledger::open(&disk(), &path, LOG).unwrap();
    assert_eq!(ledger.until(), Until { epoch: 2, offset: 21 });
    let second = Ledger::open(&disk(), &path, LOG);
    assert!(matches!(second, Err(LedgerError::InUse { .. })), "{second:?}");
    drop(ledger);
    assert_eq!(read(&RealDisk, &path).unwrap().taken, [taken(8), taken(20)]);
    let other = Ledger::open(&disk(), &path, [8; 16]);
    assert!(matches!(other, Err(LedgerError::OtherLog { .. })), "{other:?}");
}

#[test]
fn wherever_it_is_cut_off_the_whole_records_before_stay() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = written(&dir.path().join("whole"));
    let path = dir.path().join("cut");
    for length in super::HEAD_LEN..bytes.len() {
        let file = RealDisk.create_new(&path).unwrap();
        file.write_at(&bytes[..length], 0).unwrap();
        let contents = read(&RealDisk, &path).unwrap();
        assert!([taken(8), taken(20)].starts_with(&contents.taken), "{length}");
        // What follows is written where the whole records end.
        let mut ledger = Ledger::open(&disk(), &path, LOG).unwrap();
        ledger.take(&taken(30));
        ledger.flush(Until { epoch: 2, offset: 31 }).unwrap();
        let again = read(&RealDisk, &path).unwrap();
        assert_eq!(again.taken.len(), contents.taken.len() + 1);
        RealDisk.remove(&path).unwrap();
    }
}

#[test]
fn a_changed_byte_before_the_end_is_told_and_never_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = written(&dir.path().join("whole"));
    let path = dir.path().join("changed");
    let last = super::FRAME_LEN + 1 + 4 + 8;
    for at in 0..bytes.len() - last {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        let file = RealDisk.create_new(&path).unwrap();
        file.write_at(&changed, 0).unwrap();
        let read = read(&RealDisk, &path);
        assert!(matches!(read, Err(LedgerError::Damaged { .. })), "byte {at}: {read:?}");
        RealDisk.remove(&path).unwrap();
    }
}

/// A file whose syncs fail until they do not.
#[derive(Debug)]
struct Failing(Box<dyn DiskFile>, Arc<AtomicBool>);

impl DiskFile for Failing {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.0.read_at(buffer, position)
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.0.write_at(bytes, position)
    }

    fn sync(&self) -> io::Result<()> {
        match self.1.load(Ordering::Relaxed) {
            true => Err(io::Error::other("the disk is gone")),
            false => self.0.sync(),
        }
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.0.allocate(len)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }
}

#[test]
fn what_could_not_be_written_is_written_with_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger");
    let fails = Arc::new(AtomicBool::new(true));
    let opened = Ledger::open(&disk(), &path, LOG).unwrap();
    let Ledger { file, path, until, lives, end, waiting } = opened;
    let file = Box::new(Failing(file, Arc::clone(&fails)));
    let mut ledger = Ledger { file, path: path.clone(), until, lives, end, waiting };
    ledger.take(&taken(8));
    assert!(ledger.flush(Until { epoch: 2, offset: 9 }).is_err());
    assert!(ledger.is_behind());
    ledger.take(&taken(20));
    assert!(ledger.reached(Until { epoch: 2, offset: 21 }).is_err());
    fails.store(false, Ordering::Relaxed);
    ledger.flush(Until { epoch: 2, offset: 22 }).unwrap();
    assert!(!ledger.is_behind());
    let contents = read(&RealDisk, &path).unwrap();
    assert_eq!(contents.taken, [taken(8), taken(20)]);
    assert_eq!(contents.until, Until { epoch: 2, offset: 22 });
}

#[test]
fn ledger_remembers_how_far_it_goes_in_every_life_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ledger");
    let mut ledger = Ledger::open(&disk(), &path, LOG).unwrap();
    for (epoch, offset) in [(0, 40), (1, 12), (0, 50)] {
        ledger.flush(Until { epoch, offset }).unwrap();
    }
    drop(ledger);
    let ledger = Ledger::open(&disk(), &path, LOG).unwrap();
    assert_eq!((ledger.until_in(0), ledger.until_in(1), ledger.until_in(2)), (50, 12, 0));
    assert!(ledger.has_other_lives(0) && ledger.has_other_lives(2));
}

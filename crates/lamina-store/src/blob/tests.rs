//! Blobs survive, and unfinished ones leave nothing.

use super::*;
use lamina_env::sim::disk::SimDisk;
use lamina_env::sim::rng::SimRng;

fn store(disk: &Arc<SimDisk>) -> BlobStore {
    let disk: Arc<dyn Disk> = Arc::clone(disk) as _;
    BlobStore::open(disk, Path::new("/data/blobs"), Arc::new(SimRng::new(1))).unwrap()
}

#[test]
fn a_blob_reads_back_whole_and_hashed() {
    let disk = Arc::new(SimDisk::default());
    let store = store(&disk);
    let mut writer = store.start().unwrap();
    writer.write(b"one ").unwrap();
    writer.write(b"two").unwrap();
    let stored = writer.finish().unwrap();
    assert_eq!(stored.size, 7);
    assert_eq!(stored.sha256, <[u8; 32]>::from(Sha256::digest(b"one two")));
    let mut bytes = [0; 16];
    let read = store.open_file(stored.file).unwrap().read_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes[..read], b"one two");
    assert_eq!(store.list().unwrap(), [stored.file]);
    store.remove(stored.file).unwrap();
    store.remove(stored.file).unwrap();
    assert!(store.open_file(stored.file).is_err());
}

#[test]
fn an_unfinished_blob_leaves_nothing() {
    let disk = Arc::new(SimDisk::default());
    let store = store(&disk);
    let mut writer = store.start().unwrap();
    writer.write(b"half").unwrap();
    drop(writer);
    assert_eq!(disk.list(Path::new("/data/blobs")).unwrap(), Vec::<String>::new());
}

fn bytes_of(store: &BlobStore, file: [u8; 16]) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    let read = store.open_file(file).unwrap().read_at(&mut bytes, 0).unwrap();
    bytes.truncate(read);
    bytes
}

/// Everything that touches the disk for one blob.
fn upload(disk: &Arc<SimDisk>) -> io::Result<StoredBlob> {
    let disk: Arc<dyn Disk> = Arc::clone(disk) as _;
    let store = BlobStore::open(disk, Path::new("/data/blobs"), Arc::new(SimRng::new(1)))?;
    let mut writer = store.start()?;
    writer.write(b"some ")?;
    writer.write(b"bytes")?;
    writer.finish()
}

#[test]
fn a_finished_blob_survives_the_loss_of_power() {
    let disk = Arc::new(SimDisk::default());
    let stored = upload(&disk).unwrap();
    disk.crash_losing_all();
    assert_eq!(bytes_of(&store(&disk), stored.file), b"some bytes");
}

#[test]
fn power_lost_at_every_call_leaves_a_whole_blob_or_none() {
    for calls in 0.. {
        let disk = Arc::new(SimDisk::default());
        disk.power_off_after_calls(calls);
        let stored = upload(&disk);
        disk.crash(&SimRng::new(calls));
        disk.restart();
        let store = store(&disk);
        let files = store.list().unwrap();
        for file in &files {
            assert_eq!(bytes_of(&store, *file), b"some bytes", "power lost at call {calls}");
        }
        assert_eq!(disk.files().len(), files.len(), "power lost at call {calls}");
        if let Ok(stored) = stored {
            assert_eq!(files, [stored.file]);
            return;
        }
    }
}

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

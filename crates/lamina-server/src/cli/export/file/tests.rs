//! A file has its name only when it is whole.

use lamina_env::disk::{read_file, write_atomic};

use super::*;

fn read(path: &Path) -> Vec<u8> {
    read_file(&RealDisk, path, 1_000).expect("is there")
}

#[test]
fn whole_output_takes_its_name_and_half_of_one_leaves_nothing() {
    let dir = tempfile::tempdir().expect("there is room");
    let path = dir.path().join("a.jsonl");
    let mut half = OutputFile::create(&path, Overwrite::Refuse).expect("is free");
    half.write(b"half").expect("is written");
    assert!(!RealDisk.exists(&path), "no name before the end");
    drop(half);
    assert_eq!(RealDisk.list(dir.path()).expect("is a directory"), Vec::<String>::new());
    let mut whole = OutputFile::create(&path, Overwrite::Refuse).expect("is free");
    whole.write(b"one ").expect("is written");
    whole.write(b"two").expect("is written");
    whole.finish().expect("is durable");
    drop(whole);
    assert_eq!(read(&path), b"one two");
}

#[test]
fn file_that_is_there_is_replaced_only_if_that_is_said() {
    let dir = tempfile::tempdir().expect("there is room");
    let path = dir.path().join("a.jsonl");
    write_atomic(&RealDisk, &path, b"before").expect("is written");
    assert!(OutputFile::create(&path, Overwrite::Refuse).is_err());
    let mut output = OutputFile::create(&path, Overwrite::Replace).expect("is allowed");
    output.write(b"after").expect("is written");
    assert_eq!(read(&path), b"before", "until the end");
    output.finish().expect("is durable");
    assert_eq!(read(&path), b"after");
}

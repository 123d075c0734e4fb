//! Sources of every container, and the codes of their faults.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::zip::{StoredFile, ZipWriter};

fn open(name: &str, bytes: Vec<u8>) -> Result<ImportSource, SourceError> {
    ImportSource::open(name, Arc::new(bytes), &SourceLimits::IMPORT)
}

fn read(source: &ImportSource, index: usize) -> String {
    let mut text = String::new();
    source.reader(index).expect("opens").read_to_string(&mut text).expect("is text");
    text
}

fn names(source: &ImportSource) -> Vec<&str> {
    source.entries().iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn plain_gzip_and_zip_sources_have_named_entries() {
    let plain = open("some/folder/a.json", b"[]".to_vec()).expect("is plain");
    assert_eq!((names(&plain), read(&plain, 0)), (vec!["a.json"], "[]".to_owned()));

    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"[1]").expect("memory takes everything");
    let packed = encoder.finish().expect("memory takes everything");
    let gzip = open("a.jsonl.gz", packed).expect("is gzip");
    assert_eq!((names(&gzip), read(&gzip, 0)), (vec!["a.jsonl"], "[1]".to_owned()));

    let mut writer = ZipWriter::new(Vec::new());
    for name in ["x/a.json", "x/.DS_Store"] {
        let file = StoredFile { name, bytes: 2, modified: None };
        writer.add(file, &mut &b"{}"[..]).expect("memory takes everything");
    }
    let zip = open("a.zip", writer.finish().expect("memory takes everything")).expect("is a ZIP");
    assert_eq!((names(&zip), read(&zip, 0)), (vec!["x/a.json", "x/.DS_Store"], "{}".to_owned()));
    assert_eq!(zip.entries()[0].file_name(), "a.json");
    assert!(zip.entries()[1].is_clutter());
}

#[test]
fn faults_of_the_bytes_have_codes_of_the_sender() {
    let error = open("a.zip", b"PK\x03\x04".to_vec()).expect_err("has no end record");
    assert_eq!(error.code(), ErrorCode::InvalidBody);
    let empty = open("a.json", Vec::new()).expect("an empty file opens");
    assert_eq!(read(&empty, 0), "");
    let wide = open("a.json", b"\xff\xfe\0\0".to_vec()).expect("opens");
    let error = wide.head(0, 10).expect_err("is UTF-32");
    assert_eq!(error.code(), ErrorCode::UnsupportedMediaType);
    assert_eq!(error.detail(), "the text is UTF-32; convert it to UTF-8");
    let broken = open("a.gz", b"\x1f\x8b\0\0\0".to_vec()).expect("opens");
    assert_eq!(broken.head(0, 10).expect_err("is corrupt").code(), ErrorCode::InvalidBody);
}

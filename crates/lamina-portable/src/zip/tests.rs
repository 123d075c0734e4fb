//! Archives that are read, and every kind that is refused.

use std::io::{Read, Write};
use std::sync::Arc;

use expect_test::{Expect, expect};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use lamina_types::Micros;
use proptest::prelude::*;

use super::*;

/// One entry of an archive that is made by hand, with room for lies.
#[derive(Clone)]
struct Forged {
    name: &'static [u8],
    content: Vec<u8>,
    method: u16,
    flags: u16,
    made_by: u16,
    attributes: u32,
    bytes: Option<u32>,
    crc: Option<u32>,
    local_name: Option<&'static [u8]>,
    header_at: Option<u32>,
}

fn file(name: &'static str, content: &[u8]) -> Forged {
    Forged {
        name: name.as_bytes(),
        content: content.to_vec(),
        method: 8,
        flags: 0,
        made_by: 3 << 8,
        attributes: 0o100_644 << 16,
        bytes: None,
        crc: None,
        local_name: None,
        header_at: None,
    }
}

fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

fn crc(content: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(content);
    crc.sum()
}

fn forge(entries: &[Forged]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let at = entry.header_at.unwrap_or(out.len() as u32);
        let data = if entry.method == 8 { deflate(&entry.content) } else { entry.content.clone() };
        let bytes = entry.bytes.unwrap_or(entry.content.len() as u32);
        let mut common = Vec::new();
        for field in [20, entry.flags, entry.method, 0, 0x5a21] {
            common.extend_from_slice(&u16::to_le_bytes(field));
        }
        for field in [entry.crc.unwrap_or(crc(&entry.content)), data.len() as u32, bytes] {
            common.extend_from_slice(&u32::to_le_bytes(field));
        }
        let local_name = entry.local_name.unwrap_or(entry.name);
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&common);
        out.extend_from_slice(&(local_name.len() as u16).to_le_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(local_name);
        out.extend_from_slice(&data);
        directory.extend_from_slice(b"PK\x01\x02");
        directory.extend_from_slice(&entry.made_by.to_le_bytes());
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&(entry.name.len() as u16).to_le_bytes());
        directory.extend_from_slice(&[0; 8]);
        directory.extend_from_slice(&entry.attributes.to_le_bytes());
        directory.extend_from_slice(&at.to_le_bytes());
        directory.extend_from_slice(entry.name);
    }
    let start = out.len() as u32;
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        out.extend_from_slice(&(entries.len() as u16).to_le_bytes());
    }
    out.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    out
}

fn limits() -> ZipLimits {
    ZipLimits {
        entries_max: 3,
        entry_bytes_max: 16 << 20,
        total_bytes_max: 20 << 20,
        directory_bytes_max: 1 << 20,
        ratio_max: 200,
    }
}

/// Reads everything, or says why not.
fn unpack(bytes: Vec<u8>) -> Result<Vec<(String, Vec<u8>)>, String> {
    let archive =
        ZipArchive::open(Arc::new(bytes), &limits()).map_err(|error| error.to_string())?;
    let mut files = Vec::new();
    for (index, entry) in archive.entries().iter().enumerate() {
        let mut reader = archive.reader(index).map_err(|error| error.to_string())?;
        let mut content = Vec::new();
        reader.read_to_end(&mut content).map_err(|error| error.to_string())?;
        files.push((entry.name.clone(), content));
    }
    Ok(files)
}

fn check_refused(bytes: Vec<u8>, expected: Expect) {
    expected.assert_eq(&unpack(bytes).expect_err("is refused"));
}

#[test]
fn archive_with_stored_and_deflated_entries_is_read() {
    let stored = Forged { method: 0, ..file("b/./c.txt", b"stored") };
    let folder = Forged { method: 0, attributes: 0o040_755 << 16, ..file("b/", b"") };
    let files = unpack(forge(&[file("a.json", b"deflated"), folder, stored])).expect("is good");
    let expected = [("a.json", "deflated"), ("b/c.txt", "stored")];
    let expected = expected.map(|(name, content)| (name.to_owned(), content.as_bytes().to_vec()));
    assert_eq!(files, expected);
}

#[test]
fn names_that_leave_the_archive_are_refused() {
    for (name, why) in [
        ("../x", "leads out of the archive"),
        ("a/../../x", "leads out of the archive"),
        ("a\\..\\x", "leads out of the archive"),
        ("/etc/passwd", "has an absolute path"),
        ("\\x", "has an absolute path"),
        ("C:\\x", "names a drive"),
        ("", "has no name"),
        ("a\0b", "has a zero byte in its name"),
    ] {
        let error = unpack(forge(&[file(name, b"x")])).expect_err("is refused");
        assert!(error.ends_with(why), "{name:?}: {error}");
    }
}

#[test]
fn links_passwords_methods_and_twins_are_refused() {
    let link = Forged { attributes: 0o120_777 << 16, ..file("link", b"/etc/passwd") };
    check_refused(
        forge(&[link]),
        expect!["the entry `link` is a symbolic link or another special file"],
    );
    let secret = Forged { flags: 1, ..file("secret", b"x") };
    check_refused(
        forge(&[secret]),
        expect!["the entry `secret` is encrypted; unpack the archive with its password first"],
    );
    let bzip = Forged { method: 12, ..file("b", b"x") };
    check_refused(
        forge(&[bzip]),
        expect![
            "the entry `b` is compressed by method 12; only stored and deflated entries are read"
        ],
    );
    check_refused(
        forge(&[file("a", b"1"), file("./a", b"2")]),
        expect!["the entry `a` occurs twice"],
    );
}

#[test]
fn entries_are_limited_at_their_edge() {
    let names = ["1", "2", "3", "4"].map(|name| file(name, b"x"));
    assert!(unpack(forge(&names[..3])).is_ok());
    check_refused(forge(&names), expect!["the ZIP archive has 4 entries; at most 3 are read"]);
}

#[test]
fn bombs_are_refused_before_they_are_inflated() {
    let zeros = vec![0; 10 << 20];
    check_refused(
        forge(&[file("zeros", &zeros)]),
        expect!["the entry `zeros` inflates to more than 200 times its size"],
    );
    let large = Forged { bytes: Some(17 << 20), ..file("large", b"x") };
    check_refused(
        forge(&[large]),
        expect!["the entry `large` has 17825792 bytes; at most 16777216 are read"],
    );
    let many = ["1", "2", "3"].map(|name| Forged { bytes: Some(8 << 20), ..file(name, b"x") });
    check_refused(forge(&many), expect!["the ZIP archive inflates to more than 20971520 bytes"]);
}

#[test]
fn entries_that_share_bytes_are_refused() {
    let second = Forged { header_at: Some(0), ..file("b", b"x") };
    check_refused(
        forge(&[file("a", b"x"), second]),
        expect!["the entry `a` is damaged: it overlaps another part of the archive"],
    );
}

#[test]
fn entries_that_contradict_the_directory_are_refused() {
    let small = Forged { bytes: Some(3), ..file("a", b"more than three") };
    check_refused(
        forge(&[small]),
        expect!["the entry `a` is damaged: it inflates to more bytes than the directory says"],
    );
    let large = Forged { bytes: Some(30), ..file("a", b"less") };
    check_refused(
        forge(&[large]),
        expect!["the entry `a` is damaged: it ends before the size that the directory says"],
    );
    let checksum = Forged { crc: Some(1), ..file("a", b"x") };
    check_refused(
        forge(&[checksum]),
        expect!["the entry `a` is damaged: its checksum does not agree"],
    );
    let renamed = Forged { local_name: Some(b"z"), ..file("a", b"x") };
    check_refused(
        forge(&[renamed]),
        expect!["the entry `a` is damaged: its header has another name than the directory"],
    );
}

#[test]
fn archive_cut_at_any_byte_is_refused() {
    let whole = forge(&[file("a.json", b"some text"), file("b.json", b"more text")]);
    for length in 0..whole.len() {
        assert!(unpack(whole[..length].to_vec()).is_err(), "cut at {length}");
    }
    let mut longer = whole;
    longer.extend_from_slice(b"junk");
    check_refused(
        longer,
        expect!["this is not a ZIP archive, or it was cut off: its end record is missing"],
    );
}

fn pack(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Vec::new());
    for (name, content) in files {
        let modified = Some(Micros(1_767_225_600_000_000));
        let file = StoredFile { name, bytes: content.len() as u64, modified };
        writer.add(file, &mut content.as_slice()).expect("memory takes everything");
    }
    writer.finish().expect("memory takes everything")
}

#[test]
fn written_archive_keeps_times_and_can_be_sought() {
    let bytes = pack(&[("a/b.md".to_owned(), b"# note".to_vec())]);
    let source = crate::bytes::SeekSource::new(std::io::Cursor::new(bytes));
    let archive = ZipArchive::open(Arc::new(source), &limits()).expect("is our own");
    let entry = &archive.entries()[0];
    assert_eq!(entry.name, "a/b.md");
    assert_eq!(entry.modified, Some(Micros(1_767_225_600_000_000)));
}

#[test]
fn file_that_changes_while_it_is_read_is_an_error() {
    for announced in [2, 4] {
        let mut writer = ZipWriter::new(Vec::new());
        let file = StoredFile { name: "log", bytes: announced, modified: None };
        let error = writer.add(file, &mut &b"abc"[..]).expect_err("has three bytes");
        assert_eq!(
            error.to_string(),
            format!("`log` changed while it was read: {announced} bytes were announced")
        );
    }
}

#[test]
fn archive_of_a_hundred_thousand_files_is_the_limit() {
    let pack_many = |count: usize| {
        let mut writer = ZipWriter::new(Vec::new());
        for number in 0..count {
            let name = format!("n/{number}");
            let file = StoredFile { name: &name, bytes: 0, modified: None };
            writer.add(file, &mut std::io::empty()).expect("memory takes everything");
        }
        writer.finish().expect("memory takes everything")
    };
    let open = |bytes| ZipArchive::open(Arc::new(bytes), &ZipLimits::IMPORT);
    let archive = open(pack_many(100_000)).expect("as many as may be");
    assert_eq!(archive.entries().len(), 100_000);
    expect!["the ZIP archive has 100001 entries; at most 100000 are read"]
        .assert_eq(&open(pack_many(100_001)).expect_err("one too many").to_string());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn written_archives_read_back_equal(
        contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..4)
    ) {
        let files: Vec<(String, Vec<u8>)> =
            contents.into_iter().take(3).enumerate().map(|(n, content)| (format!("f/{n}"), content)).collect();
        prop_assert_eq!(unpack(pack(&files)), Ok(files));
    }

    #[test]
    fn reader_survives_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::targets::zip(&bytes);
    }

    #[test]
    fn reader_survives_changed_bytes(edits in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6)) {
        let mut bytes = forge(&[file("a.json", b"some text"), file("b.json", b"more text")]);
        for (at, byte) in edits {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        crate::targets::zip(&bytes);
    }
}

//! An audit log that somebody edited: `lamina check` says so and names the row.

use std::path::{Path, PathBuf};
use std::process::Output;

use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk, RealDisk};
use tempfile::TempDir;

use crate::cli::{code, lamina, out, text};
use crate::harness::{Own, data};

/// Bytes before the first record of a segment.
const SEGMENT_HEAD: usize = 128;
/// A commit record begins with this and has so many bytes.
const COMMIT: (u32, usize) = (u32::from_le_bytes(*b"LCMT"), 52);
const FRAME: usize = 14;
/// Bytes of a head without causes; rows have none.
const HEAD: usize = 217;
/// Where the head says which chain it is in: rows are in that of scope 1.
const SCOPE_AT: usize = 39;

/// A directory whose audit log has some rows, and where their records lie.
struct Kept {
    directory: TempDir,
    segment: PathBuf,
    bytes: Vec<u8>,
    /// Position and length.
    rows: Vec<(usize, usize)>,
}

fn kept() -> Kept {
    let own = Own::start();
    let mut api = own.api("tampering");
    for number in 0..12 {
        let id = api.write(&format!("event {number}"));
        api.event(&id);
    }
    // A question to the audit log has its rows written before it is answered.
    api.get("/v1/audit?limit=1").ok(200);
    let directory = own.stop();
    let log = data(directory.path()).join("audit/log");
    let name = RealDisk.list(&log).unwrap().into_iter().find(|name| name.ends_with(".seg"));
    let segment = log.join(name.expect("the audit log has a segment"));
    let bytes = read_file(&RealDisk, &segment, 1 << 30).unwrap();
    let rows = rows(&bytes);
    assert!(rows.len() >= 24, "{}", rows.len());
    Kept { directory, segment, bytes, rows }
}

fn rows(bytes: &[u8]) -> Vec<(usize, usize)> {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut rows, mut at) = (Vec::new(), SEGMENT_HEAD);
    while at + 8 <= bytes.len() && number(at) != 0 {
        if number(at) == COMMIT.0 {
            at += COMMIT.1;
            continue;
        }
        let len = number(at);
        assert_eq!(number(at + 4), !len, "a record begins at {at}");
        let scope = at + FRAME + SCOPE_AT;
        if u64::from_le_bytes(bytes[scope..scope + 8].try_into().unwrap()) == 1 {
            rows.push((at, FRAME + len as usize));
        }
        at += FRAME + len as usize;
    }
    rows
}

impl Kept {
    fn check(&self) -> Output {
        lamina(&["check", "--data", text(&data(self.directory.path()))])
    }

    /// Checks an edited copy of the segment and puts the segment back.
    fn after(&self, edit: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = self.bytes.clone();
        edit(&mut bytes);
        bytes.resize(self.bytes.len(), 0);
        put(&self.segment, &bytes);
        let output = self.check();
        put(&self.segment, &self.bytes);
        code(&output, 2);
        let said = out(&output);
        assert!(said.contains("DAMAGED: audit/"), "{said}");
        said
    }
}

fn put(segment: &Path, bytes: &[u8]) {
    write_atomic(&RealDisk, segment, bytes).unwrap();
}

#[track_caller]
fn names(said: &str, row: usize) {
    let before = match row {
        0 => "at the first row of the segment".to_owned(),
        row => format!("after row {} of tenant 1", row - 1),
    };
    let named = [format!("at row {row} of tenant 1"), before];
    assert!(named.iter().any(|named| said.contains(named)), "row {row}: {said}");
}

#[test]
fn an_audit_log_nobody_touched_is_fine() {
    code(&kept().check(), 0);
}

#[test]
fn a_changed_row_is_named() {
    let kept = kept();
    let (in_head, in_who) = (FRAME + 60, FRAME + HEAD + 50);
    // In the frame, the head, and both sections.
    for (row, from_end, byte) in
        [(0, false, in_head), (5, false, 3), (5, false, in_head), (5, false, in_who), (5, true, 20)]
    {
        let (at, len) = kept.rows[row];
        let byte = if from_end { len - byte } else { byte };
        let said = kept.after(|bytes| bytes[at + byte] ^= 0x20);
        names(&said, row);
        if byte == in_who {
            assert!(said.contains("(audit_"), "the id stands in the other section: {said}");
        }
    }
}

#[test]
fn a_row_that_was_cut_out_is_missed() {
    let kept = kept();
    for row in [0, 7] {
        let (at, len) = kept.rows[row];
        let said = kept.after(|bytes| drop(bytes.drain(at..at + len)));
        // What stands there now is the row after it.
        let named =
            [row, row + 1].iter().any(|row| said.contains(&format!("row {row} of tenant 1")));
        assert!(named, "row {row}: {said}");
    }
}

#[test]
fn a_row_that_was_put_in_is_found() {
    let kept = kept();
    let (at, len) = kept.rows[6];
    let said = kept.after(|bytes| {
        let copy = bytes[at..at + len].to_vec();
        bytes.splice(at + len..at + len, copy);
    });
    names(&said, 6);
}

#[test]
fn rows_in_another_order_are_found() {
    let kept = kept();
    // Two that were written as one batch.
    let pair = kept.rows.windows(2).position(|pair| pair[0].0 + pair[0].1 == pair[1].0);
    let pair = pair.expect("rows are written in batches");
    let ((first, _), (second, two)) = (kept.rows[pair], kept.rows[pair + 1]);
    let said = kept.after(|bytes| {
        let swapped = [&bytes[second..second + two], &bytes[first..second]].concat();
        bytes[first..second + two].copy_from_slice(&swapped);
    });
    names(&said, pair + 1);
}

//! What lies in the files of an index is shown, until it is purged.

use std::path::Path;
use std::sync::Arc;

use lamina_env::Disk;
use lamina_env::sim::SimDisk;

use super::{DIR, open, put, remove};
use crate::inspect::{Kind, Lies, inspect};

/// Offset, kind and strings of all that lies there.
fn lying(disk: &SimDisk, strings: &[&str]) -> Vec<(u64, Kind, Vec<usize>)> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut found = Vec::new();
    let mut show = |lies: Lies| found.push((lies.offset, lies.kind, lies.strings));
    let seen = inspect(&disk, Path::new(DIR), strings, &mut show).unwrap();
    assert_eq!(seen.unread, []);
    let count = |kind| found.iter().filter(|(_, found, _)| *found == kind).count() as u64;
    assert_eq!((seen.documents, seen.vectors), (count(Kind::Document), count(Kind::Vector)));
    found.sort_by_key(|(offset, kind, _)| (*offset, *kind == Kind::Vector));
    found
}

#[test]
fn a_document_lies_in_its_files_until_it_is_purged() {
    let disk = SimDisk::new();
    let strings = ["behind the Paintings", "paintings of Geneva", "a unicorn"];
    {
        let (index, _) = open(&disk);
        let texts = ["The safe is behind the painting.", "We saw Geneva.", "Geneva has paintings."];
        for (number, text) in (1..).zip(texts) {
            index.apply(1, &[put(number, "user:a", text)], number).unwrap();
            index.commit().unwrap();
        }
    }
    let all = [
        (1, Kind::Document, vec![0]),
        (1, Kind::Vector, vec![]),
        (2, Kind::Document, vec![]),
        (2, Kind::Vector, vec![]),
        (3, Kind::Document, vec![1]),
        (3, Kind::Vector, vec![]),
    ];
    // Every word of a string counts, in the form that it is indexed in; strings have to be there whole.
    assert_eq!(lying(&disk, &strings), all);
    let (index, _) = open(&disk);
    index.apply(1, &[remove(1)], 4).unwrap();
    index.purge(1).unwrap();
    drop(index);
    assert_eq!(lying(&disk, &strings), all[2..]);
}

#[test]
fn nothing_lies_in_an_index_that_is_not_there() {
    let disk = SimDisk::new();
    assert_eq!(lying(&disk, &["anything"]), []);
}

//! `docs/ACCEPTANCE.md` is held to its word: every test it names exists, and no line of its sections
//! is left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lamina_env::disk::read_file;
use lamina_env::{Disk, RealDisk};

const FILE_BYTES_MAX: u64 = 1 << 20;
/// The numbers of the sections, first and last.
const SECTIONS: &[(u32, u32)] = &[
    (1, 63),
    (64, 122),
    (123, 196),
    (197, 244),
    (245, 253),
    (270, 286),
    (287, 300),
    (301, 307),
    (308, 317),
    (318, 341),
    (362, 389),
    (390, 394),
    (410, 420),
    (443, 457),
    (458, 468),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn text(path: &Path) -> String {
    String::from_utf8(read_file(&RealDisk, path, FILE_BYTES_MAX).unwrap()).unwrap()
}

fn rows() -> Vec<(String, String)> {
    text(&root().join("docs/ACCEPTANCE.md"))
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.split(" | ");
            let number = cells.next()?.to_owned();
            let shown = cells.nth(1)?.trim_end_matches(" |").to_owned();
            Some((number, shown))
        })
        .filter(|(number, _)| !["Line", "Part"].contains(&number.as_str()))
        .collect()
}

/// The names of all functions below a folder.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for name in RealDisk.list(folder).unwrap() {
        let path = folder.join(&name);
        if path.is_dir() {
            functions(&path, found);
        } else if name.ends_with(".rs") {
            let source = text(&path);
            for after in source.split("fn ").skip(1) {
                let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(0);
                found.insert(after[..end].to_owned());
            }
        }
    }
}

#[test]
fn every_line_is_ticked_with_a_test_that_exists_or_open_with_a_reason() {
    let mut known = BTreeSet::new();
    functions(&root().join("crates"), &mut known);
    for (number, shown) in rows() {
        assert!(!shown.is_empty(), "{number}");
        for quoted in shown.split('`').skip(1).step_by(2).filter(|word| word.contains("::")) {
            let name = quoted.rsplit("::").next().unwrap();
            assert!(known.contains(name), "{number} names `{quoted}`, which does not exist");
        }
        let ticked = shown.contains("::") || shown.contains("test");
        let reason = ["open: ", "a promise", "nothing to show"];
        let explained = reason.iter().any(|reason| shown.contains(reason));
        assert!(ticked || explained, "{number} is neither ticked nor explained: {shown}");
    }
}

#[test]
fn no_line_of_the_sections_is_missing() {
    let rows = rows();
    let listed: BTreeSet<&str> = rows.iter().flat_map(|(numbers, _)| numbers.split(", ")).collect();
    for (first, last) in SECTIONS {
        for number in *first..=*last {
            assert!(listed.contains(format!("R{number:03}").as_str()), "R{number:03} is missing");
        }
    }
    for number in 1..=21 {
        assert!(listed.contains(format!("ruling {number}").as_str()), "ruling {number} is missing");
    }
}

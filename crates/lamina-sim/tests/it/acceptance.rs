//! `docs/ACCEPTANCE.md` is held to its word: every test it names exists, and no line of its sections
//! is left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lamina_env::disk::read_file;
use lamina_env::{Disk, RealDisk};

const FILE_BYTES_MAX: u64 = 1 << 20;
/// The requirements of the checklist, and the contradictions that it decides.
const REQUIREMENTS: std::ops::RangeInclusive<u32> = 1..=468;
const CONTRADICTIONS: std::ops::RangeInclusive<u32> = 1..=53;
const RULINGS: std::ops::RangeInclusive<u32> = 1..=21;

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

/// The lines that a row is about: `R395-R401, R429` are eight.
fn lines_of(numbers: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for part in numbers.split(", ") {
        let number = |text: &str| text.trim_start_matches(['R', 'C']).parse::<u32>();
        match part.split_once('-').map(|(first, last)| (number(first), number(last))) {
            Some((Ok(first), Ok(last))) => {
                let kind = &part[..1];
                let width = part.split_once('-').map_or(0, |(first, _)| first.len() - 1);
                lines.extend((first..=last).map(|line| format!("{kind}{line:0width$}")));
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}

#[test]
fn no_line_of_the_checklist_is_missing() {
    let listed: BTreeSet<String> =
        rows().iter().flat_map(|(numbers, _)| lines_of(numbers)).collect();
    let requirements = REQUIREMENTS.map(|number| format!("R{number:03}"));
    let contradictions = CONTRADICTIONS.map(|number| format!("C{number:02}"));
    let rulings = RULINGS.map(|number| format!("ruling {number}"));
    let all = requirements.chain(contradictions).chain(rulings);
    let missing: Vec<String> = all.filter(|line| !listed.contains(line)).collect();
    assert_eq!(missing, Vec::<String>::new(), "give each a row: shown, or open with the reason");
}

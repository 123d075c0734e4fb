//! What holds for every importer, whatever it reads.

use proptest::prelude::*;

use super::super::testing::{FILE_TIME, open, read_all};
use super::super::{Format, ImportOptions};
use crate::json::to_compact;

/// Every name of a file that a format looks for.
const NAMES: &[&str] =
    &["a.json", "a.jsonl", "a.md", "a.csv", "a.af", "a.html", "conversations.json"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn importers_survive_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in Format::all() {
            for name in NAMES {
                crate::targets::import(format, name, &bytes);
            }
        }
    }

    #[test]
    fn importers_survive_any_json(value in crate::json::tests::value()) {
        let text = to_compact(&value);
        for format in Format::all() {
            crate::targets::import(format, "a.json", text.as_bytes());
        }
    }

    #[test]
    fn importers_survive_changed_fixtures(
        at in any::<prop::sample::Index>(),
        word in "[\"{}\\[\\]:,0-9a-z]{0,4}",
    ) {
        for (format, text) in super::FIXTURES {
            let mut cut = at.index(text.len());
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            let (before, after) = text.split_at(cut);
            crate::targets::import(*format, "a.json", format!("{before}{word}{after}").as_bytes());
            crate::targets::import(*format, "a.json", before.as_bytes());
        }
    }
}

#[test]
fn reading_twice_gives_the_same_rows_and_the_same_report() {
    for (format, text) in super::FIXTURES {
        let read =
            || read_all(open("a.json", text.as_bytes()), *format, ImportOptions::new(FILE_TIME));
        let (first, second) = (read(), read());
        assert_eq!(first.rows, second.rows);
        assert_eq!(first.report, second.report);
        let mut ids: Vec<&str> = first.rows.iter().map(|row| row.source_id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), first.rows.len(), "ids of {format} tell rows apart");
    }
}

#[test]
fn names_of_formats_read_back_equal() {
    for format in Format::all() {
        assert_eq!(format.name().parse(), Ok(format));
        assert!(!format.title().is_empty());
    }
    assert_eq!("chatgpt".parse(), Ok(Format::ChatGpt));
    assert!("floppy".parse::<Format>().is_err());
}

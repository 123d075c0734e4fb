//! What holds for every importer, whatever it reads.

use proptest::prelude::*;

use super::super::testing::{FILE_TIME, open, read_all};
use super::super::{Format, ImportOptions, RowContent, read};
use crate::json::to_compact;

/// Every name of a file that a format looks for.
const NAMES: &[&str] =
    &["a.json", "a.jsonl", "a.md", "a.csv", "a.af", "a.html", "conversations.json"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

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

#[test]
fn inline_rows_of_a_request_are_an_array() {
    let rows: [(Format, &str, &[&str]); 5] = [
        (Format::Mem0, r#"[{"id":"1","memory":"Likes tea","user_id":"nora"}]"#, &["text"]),
        (
            Format::Zep,
            r#"[{"uuid":"n","name":"Nora","labels":[]},{"role":"user","role_type":"user","content":"Hi","created_at":"2026-01-01T00:00:00Z"}]"#,
            &["message"],
        ),
        (
            Format::Letta,
            r#"[{"label":"human","value":"Nora sails."},{"role":"user","content":"Hi"},{"text":"A passage."}]"#,
            &["text", "message", "text"],
        ),
        (Format::ChatGpt, r#"[{"text":"Has a boat","created":"2026-01-01T00:00:00Z"}]"#, &["text"]),
        (Format::Jsonl, r#"[{"scope":"user:nora","content":"Hi"}]"#, &["envelope"]),
    ];
    for (format, text, kinds) in rows {
        let result =
            read_all(open("inline", text.as_bytes()), format, ImportOptions::new(FILE_TIME));
        let found: Vec<&str> = result.rows.iter().map(|row| row.content.kind()).collect();
        assert_eq!((found.as_slice(), result.errors.len()), (kinds, 0), "{format}");
    }
}

#[test]
fn ontology_names_the_predicates_of_edges() {
    let text = r#"{"nodes":[{"uuid":"a","name":"Nora"},{"uuid":"b","name":"tea"}],
        "edges":[{"uuid":"e","name":"PreferenceEdge","fact":"Nora likes tea","source_node_uuid":"a","target_node_uuid":"b"}]}"#;
    let ontology = [("PreferenceEdge".to_owned(), "user_preference".to_owned())].into();
    let options = ImportOptions { ontology, ..ImportOptions::new(FILE_TIME) };
    let result = read_all(open("a.json", text.as_bytes()), Format::Zep, options);
    let [row] = result.rows.as_slice() else { panic!("{:?}", result.rows) };
    let RowContent::Triple(triple) = &row.content else { panic!("is a fact") };
    assert_eq!(triple.predicate, "user_preference");
}

#[test]
fn progress_reaches_the_size_of_what_is_read() {
    let source = open("a.json", super::FIXTURES[1].1.as_bytes());
    let mut rows = read(source, Format::Mem0, ImportOptions::new(FILE_TIME));
    assert_eq!(rows.progress().bytes_read, 0);
    rows.by_ref().for_each(drop);
    assert_eq!(Some(rows.progress().bytes_read), rows.progress().bytes_total);
}

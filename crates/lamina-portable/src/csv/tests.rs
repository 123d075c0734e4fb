//! Records that are read, limits at their edges, and columns by name.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Vec<Result<CsvRecord, CsvError>> {
    let limits = CsvLimits { columns_max: 4, record_bytes_max: 30 };
    CsvReader::new(text.as_bytes(), b',', limits).collect()
}

fn check(text: &str, expected: Expect) {
    let show = |record: Result<CsvRecord, CsvError>| match record {
        Ok(record) => format!("{}: {:?}\n", record.start.line, record.fields),
        Err(error) => format!("{error}\n"),
    };
    expected.assert_eq(&read(text).into_iter().map(show).collect::<String>());
}

#[test]
fn records_with_quotes_breaks_and_crlf_are_read() {
    check(
        "a,b\r\n\"x, y\",\"line\nbreak\"\r\n\n\"say \"\"hi\"\"\",5\" disk\nlast,",
        expect![[r#"
        1: ["a", "b"]
        2: ["x, y", "line\nbreak"]
        5: ["say \"hi\"", "5\" disk"]
        6: ["last", ""]
    "#]],
    );
}

#[test]
fn record_at_fault_costs_one_record() {
    check(
        "1,2,3,4\n1,2,3,4,5\n0123456789012345678901234567890\n\"a\"b,c\nok,ok\n\"open",
        expect![[r#"
            1: ["1", "2", "3", "4"]
            the record has more than 4 columns, at line 2, column 1 (byte 8)
            the record has more than 30 bytes, at line 3, column 1 (byte 18)
            text follows a closing quote, at line 4, column 4 (byte 53); double the quotes inside of a quoted field
            5: ["ok", "ok"]
            the quote that opens at line 6, column 1 (byte 63) is never closed
        "#]],
    );
}

#[test]
fn header_of_ten_thousand_columns_is_refused() {
    let header = vec!["c"; 10_000].join(",");
    let mut reader = CsvReader::new(header.as_bytes(), b',', CsvLimits::IMPORT);
    let error = reader.next().expect("there is a record").expect_err("is refused");
    expect!["the record has more than 1000 columns, at line 1, column 1 (byte 0)"]
        .assert_eq(&error.to_string());
    assert!(reader.next().is_none());
}

#[test]
fn columns_are_found_by_map_and_by_name() {
    let header = ["Created_At", "Body", "Author", "x"].map(str::to_owned);
    let map = ColumnMap::parse("text=body, labels=x").expect("is a map");
    let bound = map.bind(&header).expect("fits");
    expect![[r#"
        {
            Text: 1,
            Time: 0,
            Role: 2,
            Labels: 3,
        }
    "#]]
    .assert_debug_eq(&bound.columns);
    let refused = [
        ColumnMap::parse("text").expect_err("no column"),
        ColumnMap::parse("words=body").expect_err("no such field"),
        ColumnMap::parse("text=bod")
            .and_then(|map| map.bind(&header).map(|_| map))
            .expect_err("no such column"),
        ColumnMap::default().bind(&["a".to_owned()]).expect_err("no text"),
    ];
    let refused: String = refused.iter().map(|error| format!("{error}\n")).collect();
    expect![[r#"
        `text` is not `field=column`, such as `text=body`
        `words` is no field; there are text, id, time, recorded, role, session, actor, about, labels, subject, predicate, object, valid_from, valid_to, confidence
        the header has no column `bod`; it has `Created_At`, `Body`, `Author`, `x`
        no column holds the text; say which with `--map text=COLUMN`. The header has `a`
    "#]].assert_eq(&refused);
}

fn write(records: &[Vec<String>]) -> String {
    let field = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
    let lines =
        records.iter().map(|record| record.iter().map(field).collect::<Vec<_>>().join(",") + "\n");
    lines.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_records_read_back_equal(
        records in prop::collection::vec(prop::collection::vec(any::<String>(), 2..5), 0..5)
    ) {
        let limits = CsvLimits { columns_max: 5, record_bytes_max: 1 << 20 };
        let text = write(&records);
        let read: Result<Vec<_>, _> =
            CsvReader::new(text.as_bytes(), b',', limits).map(|record| record.map(|r| r.fields)).collect();
        prop_assert_eq!(read.map_err(|error| error.to_string()), Ok(records));
    }

    #[test]
    fn reader_survives_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::targets::csv(&bytes);
    }

    #[test]
    fn reader_survives_bytes_that_look_like_csv(text in "[a\",;\r\n]{0,60}") {
        crate::targets::csv(text.as_bytes());
    }
}

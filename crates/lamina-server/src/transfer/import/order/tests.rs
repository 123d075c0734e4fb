//! Both orderings, sources that do not fit into memory, and controls around the rows.

use std::sync::Arc;

use lamina_api::v1::import::ImportOrdering;
use lamina_portable::foreign::{ForeignRow, Format, ImportOptions, RowError};
use lamina_portable::source::{ImportSource, SourceLimits};
use lamina_types::Micros;

use super::{RowTaker, SourceReader, TimedRow, WINDOW_BYTES_MAX, next_window, take_rows};

#[derive(Default)]
struct Taken {
    orders: Vec<u64>,
    controls: Vec<&'static str>,
    errors: usize,
    total: u64,
}

impl RowTaker for Taken {
    type Stop = &'static str;

    fn look(&mut self) -> Result<(), &'static str> {
        Ok(())
    }

    fn count(&mut self, rows: u64) {
        self.total = rows;
    }

    fn row(&mut self, row: ForeignRow, _share: Option<u16>) -> Result<(), &'static str> {
        self.orders.push(row.order);
        Ok(())
    }

    fn error(&mut self, _error: &RowError) -> Result<(), &'static str> {
        self.errors += 1;
        Ok(())
    }

    fn control(&mut self, row: ForeignRow) -> Result<(), &'static str> {
        self.controls.push(row.content.kind());
        Ok(())
    }

    fn out_of_bounds(&mut self, why: &'static str) -> &'static str {
        why
    }
}

fn taken(lines: &[String], ordering: ImportOrdering) -> Taken {
    let bytes = Arc::new(lines.join("\n").into_bytes());
    let source = ImportSource::open("x.jsonl", bytes, &SourceLimits::IMPORT).unwrap();
    let options = ImportOptions::new(Micros(0));
    let reader = SourceReader { source: Arc::new(source), format: Format::Jsonl, options };
    let mut taken = Taken::default();
    take_rows(&reader, ordering, &mut taken).unwrap();
    taken
}

fn line(minute: u32, padding: usize) -> String {
    let text = "x".repeat(padding);
    format!(
        r#"{{"scope":"user:a","content":"{text}","context":{{"observed_at":"2026-01-01T00:{minute:02}:00Z"}}}}"#
    )
}

#[test]
fn strict_order_is_by_time_and_then_by_source() {
    let lines: Vec<String> = [3, 1, 2, 1].iter().map(|minute| line(*minute, 1)).collect();
    assert_eq!(taken(&lines, ImportOrdering::StrictTemporal).orders, [1, 3, 2, 0]);
    assert_eq!(taken(&lines, ImportOrdering::BatchThroughput).orders, [0, 1, 2, 3]);
}

#[test]
fn source_larger_than_a_window_is_sorted_in_several_passes() {
    let padding = 1 << 20;
    let count = u32::try_from(WINDOW_BYTES_MAX / padding as u64).unwrap() + 3;
    let backwards: Vec<String> =
        (0..count).rev().map(|minute| line(minute % 60, padding)).collect();
    let strict = taken(&backwards, ImportOrdering::StrictTemporal);
    let mut expected: Vec<(u32, u64)> =
        (0..count).rev().enumerate().map(|(order, minute)| (minute % 60, order as u64)).collect();
    expected.sort_unstable();
    let expected: Vec<u64> = expected.into_iter().map(|(_, order)| order).collect();
    assert_eq!(strict.orders, expected);
    assert_eq!(strict.total, u64::from(count));
}

#[test]
fn controls_stand_around_the_rows() {
    let lines = [
        r#"{"lamina":{"line":"cancellation","version":1,"id":"x"}}"#.to_owned(),
        line(1, 1),
        r#"{"lamina":{"line":"vocabulary","version":1,"id":"y"}}"#.to_owned(),
        "{broken".to_owned(),
    ];
    for ordering in [ImportOrdering::StrictTemporal, ImportOrdering::BatchThroughput] {
        let taken = taken(&lines, ordering);
        assert_eq!(taken.controls, ["vocabulary", "cancellation"], "{ordering:?}");
        assert_eq!((taken.orders.len(), taken.errors), (1, 1), "{ordering:?}");
    }
}

#[test]
fn window_has_at_least_one_row() {
    let large = TimedRow { at: 0, order: 0, bytes: u32::MAX };
    let index = [large, large];
    assert_eq!(next_window(&index, 0).map(<[TimedRow]>::len), Some(1));
    assert_eq!(next_window(&index, 1).map(<[TimedRow]>::len), Some(1));
    assert_eq!(next_window(&index, 2), None);
}

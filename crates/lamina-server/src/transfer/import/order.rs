//! The rows of a source in the order in which they are written, within bounded memory.
//!
//! `batch_throughput` is the order of the source. `strict_temporal` sorts by the time of the source: small
//! sources in memory; large ones by an index of times and several passes, each of which takes one window of
//! rows. A source that is in order already takes two passes. The order depends on the source alone, so that a
//! job can stop at any row and go on later.

use std::sync::Arc;

use lamina_api::v1::import::ImportOrdering;
use lamina_portable::foreign::{
    self, ForeignRow, ForeignRows, Format, ImportOptions, RowContent, RowError,
};
use lamina_portable::loss::LossAccount;
use lamina_portable::source::ImportSource;

/// Bytes of rows that are sorted in memory, and of one window.
pub(super) const WINDOW_BYTES_MAX: u64 = 64 << 20;
/// Rows of a source that is sorted: its index stays in memory.
pub(super) const SORTED_ROWS_MAX: usize = 20_000_000;
/// Bytes of the lines of our own export that are no events.
const CONTROL_BYTES_MAX: u64 = 64 << 20;
/// Rows between two looks whether the job still runs, where no row is taken.
const LOOK_ROWS: u64 = 4_096;
/// Memory of a row beside its words.
const ROW_OVERHEAD_BYTES: u64 = 256;

/// A staged source and how it is read.
#[derive(Debug, Clone)]
pub(super) struct SourceReader {
    pub(super) source: Arc<ImportSource>,
    pub(super) format: Format,
    pub(super) options: ImportOptions,
}

/// Takes rows in the order of writing.
pub(super) trait RowTaker {
    /// Why no more rows are taken.
    type Stop;

    /// Asks whether the job still runs.
    fn look(&mut self) -> Result<(), Self::Stop>;
    /// The number of rows is known, without control lines and lines that cannot be read.
    fn count(&mut self, rows: u64);
    /// Takes a row. `share` is the part of the source that was read, in ten-thousandths, where rows are taken
    /// as they are read.
    fn row(&mut self, row: ForeignRow, share: Option<u16>) -> Result<(), Self::Stop>;
    /// Takes a row that could not be read.
    fn error(&mut self, error: &RowError) -> Result<(), Self::Stop>;
    /// Takes a line of our own export that is no event, in the order of the source. Vocabularies come before
    /// all rows, the others behind them.
    fn control(&mut self, row: ForeignRow) -> Result<(), Self::Stop>;
    /// The source is larger than can be sorted or held.
    fn out_of_bounds(&mut self, why: &'static str) -> Self::Stop;
}

/// Gives every row to the taker. The account is that of one reading.
pub(super) fn take_rows<T: RowTaker>(
    reader: &SourceReader,
    ordering: ImportOrdering,
    taker: &mut T,
) -> Result<LossAccount, T::Stop> {
    match ordering {
        ImportOrdering::BatchThroughput => take_as_read(reader, taker),
        ImportOrdering::StrictTemporal => take_sorted(reader, taker),
    }
}

impl SourceReader {
    fn rows(&self) -> ForeignRows {
        foreign::read(Arc::clone(&self.source), self.format, self.options.clone())
    }
}

/// Control lines that wait for the rows before them.
#[derive(Default)]
struct HeldControls {
    rows: Vec<ForeignRow>,
    bytes: u64,
}

impl HeldControls {
    fn hold<T: RowTaker>(&mut self, row: ForeignRow, taker: &mut T) -> Result<(), T::Stop> {
        self.bytes += row_bytes(&row);
        if self.bytes > CONTROL_BYTES_MAX {
            return Err(taker.out_of_bounds("the lines that are no events have more than 64 MiB"));
        }
        self.rows.push(row);
        Ok(())
    }

    fn give<T: RowTaker>(self, taker: &mut T) -> Result<(), T::Stop> {
        self.rows.into_iter().try_for_each(|row| taker.control(row))
    }
}

fn take_as_read<T: RowTaker>(reader: &SourceReader, taker: &mut T) -> Result<LossAccount, T::Stop> {
    let mut rows = reader.rows();
    let mut controls = HeldControls::default();
    let mut taken = 0;
    while let Some(item) = rows.next() {
        match item {
            Err(error) => taker.error(&error)?,
            Ok(row) if is_vocabulary(&row) => taker.control(row)?,
            Ok(row) if is_control(&row) => controls.hold(row, taker)?,
            Ok(row) => {
                taken += 1;
                taker.row(row, share_read(&rows))?;
            }
        }
    }
    taker.count(taken);
    controls.give(taker)?;
    Ok(rows.into_account())
}

/// Where a row stands in the order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TimedRow {
    at: i64,
    order: u32,
    bytes: u32,
}

fn take_sorted<T: RowTaker>(reader: &SourceReader, taker: &mut T) -> Result<LossAccount, T::Stop> {
    let mut rows = reader.rows();
    let mut index: Vec<TimedRow> = Vec::new();
    let mut kept: Option<Vec<ForeignRow>> = Some(Vec::new());
    let (mut kept_bytes, mut seen) = (0_u64, 0_u64);
    let mut controls = HeldControls::default();
    for item in rows.by_ref() {
        seen += 1;
        if seen.is_multiple_of(LOOK_ROWS) {
            taker.look()?;
        }
        let row = match item {
            Err(error) => {
                taker.error(&error)?;
                continue;
            }
            Ok(row) if is_control(&row) => {
                controls.hold(row, taker)?;
                continue;
            }
            Ok(row) => row,
        };
        let bytes = row_bytes(&row);
        let order = u32::try_from(row.order).unwrap_or(u32::MAX);
        if index.len() >= SORTED_ROWS_MAX || order == u32::MAX {
            let why =
                "the source has more rows than can be sorted; use the ordering batch_throughput";
            return Err(taker.out_of_bounds(why));
        }
        let bytes_shown = u32::try_from(bytes).unwrap_or(u32::MAX);
        index.push(TimedRow { at: row.observed_at.0, order, bytes: bytes_shown });
        kept_bytes += bytes;
        match &mut kept {
            Some(list) if kept_bytes <= WINDOW_BYTES_MAX => list.push(row),
            _ => kept = None,
        }
    }
    let account = rows.into_account();
    taker.count(index.len() as u64);
    let (first, rest): (Vec<_>, Vec<_>) =
        std::mem::take(&mut controls.rows).into_iter().partition(is_vocabulary);
    first.into_iter().try_for_each(|row| taker.control(row))?;
    match kept {
        Some(mut rows) => {
            rows.sort_by_key(|row| (row.observed_at, row.order));
            rows.into_iter().try_for_each(|row| taker.row(row, None))?;
        }
        None => take_windows(reader, index, taker)?,
    }
    rest.into_iter().try_for_each(|row| taker.control(row))?;
    Ok(account)
}

/// Reads the source once for each window of rows; once in all if it is in order.
fn take_windows<T: RowTaker>(
    reader: &SourceReader,
    mut index: Vec<TimedRow>,
    taker: &mut T,
) -> Result<(), T::Stop> {
    if index.is_sorted() {
        let events = reader.rows().flatten().filter(|row| !is_control(row));
        for row in events {
            taker.row(row, None)?;
        }
        return Ok(());
    }
    index.sort_unstable();
    let mut from = 0;
    while let Some(window) = next_window(&index, from) {
        from += window.len();
        let mut wanted: Vec<u32> = window.iter().map(|timed| timed.order).collect();
        wanted.sort_unstable();
        let mut rows = Vec::with_capacity(window.len());
        for (seen, row) in reader.rows().flatten().enumerate() {
            if (seen as u64).is_multiple_of(LOOK_ROWS) {
                taker.look()?;
            }
            let order = u32::try_from(row.order).unwrap_or(u32::MAX);
            if !is_control(&row) && wanted.binary_search(&order).is_ok() {
                rows.push(row);
            }
        }
        rows.sort_by_key(|row| (row.observed_at, row.order));
        rows.into_iter().try_for_each(|row| taker.row(row, None))?;
    }
    Ok(())
}

/// The rows from here on that fit into one window; at least one.
fn next_window(index: &[TimedRow], from: usize) -> Option<&[TimedRow]> {
    let rest = index.get(from..).filter(|rest| !rest.is_empty())?;
    let mut bytes = 0;
    let fits = rest.iter().take_while(|timed| {
        bytes += u64::from(timed.bytes);
        bytes <= WINDOW_BYTES_MAX
    });
    let count = fits.count().max(1);
    rest.get(..count)
}

fn is_control(row: &ForeignRow) -> bool {
    matches!(row.content, RowContent::Line { .. })
}

fn is_vocabulary(row: &ForeignRow) -> bool {
    matches!(row.content, RowContent::Line { line: "vocabulary", .. })
}

/// The memory that a row takes.
fn row_bytes(row: &ForeignRow) -> u64 {
    let words = match &row.content {
        RowContent::Message { text, .. } | RowContent::Text { text } => text.len(),
        RowContent::Json { data } => data.len(),
        RowContent::Triple(_) => 512,
        RowContent::Envelope { body } | RowContent::Line { body, .. } => body.len(),
    };
    let origin = row.origin.as_ref().map_or(0, String::len);
    let labels: usize = row.labels.iter().map(String::len).sum();
    (words + origin + labels) as u64 + ROW_OVERHEAD_BYTES
}

fn share_read(rows: &ForeignRows) -> Option<u16> {
    let progress = rows.progress();
    let total = progress.bytes_total.filter(|total| *total > 0)?;
    let share = progress.bytes_read.min(total).saturating_mul(10_000) / total;
    u16::try_from(share).ok()
}

#[cfg(test)]
mod tests;

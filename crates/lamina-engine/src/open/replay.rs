//! Folding the log into views that are behind it: chunk by chunk, and from far behind with a thread that reads ahead and
//! rows that gather in memory.

use std::sync::mpsc;

use lamina_store::entry::Entry;
use lamina_store::kv::BulkKv;
use lamina_store::log::{LogReader, Tip};
use lamina_store::view::{Residues, Views};

use super::{CATCH_UP_BYTES, apply};
use crate::OpenError;

/// Entries folded at a time.
const CATCH_UP_ENTRIES: usize = 8_192;
/// A replay of so many entries is gathered in memory, and read ahead by a thread of its own.
const BULK_ENTRIES_MIN: u64 = if cfg!(test) { 40 } else { 10_000 };
/// Chunks of entries that are read ahead.
const CHUNKS_AHEAD: usize = 2;

/// The store behind the views, and how many bytes of rows it gathers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gathering<'a> {
    pub(super) bulk: &'a BulkKv,
    pub(super) bytes_max: usize,
}

impl Gathering<'_> {
    /// Folds everything the views do not have; gathers rows if that is much. Gives the number of entries.
    pub(super) fn catch_up(
        self,
        views: &Views,
        reader: &dyn LogReader,
        tip: &Tip,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, OpenError> {
        let applied = views.applied().map_or(0, |applied| applied.next_offset);
        if tip.next_offset.saturating_sub(applied) >= BULK_ENTRIES_MIN {
            self.bulk.begin(self.bytes_max).map_err(OpenError::ViewStore)?;
        }
        let replayed = catch_up(views, reader, tip, progress)?;
        self.bulk.end().map_err(OpenError::ViewStore)?;
        Ok(replayed)
    }
}

/// Folds everything the views do not have. Gives the number of entries.
pub fn catch_up(
    views: &Views,
    reader: &dyn LogReader,
    tip: &Tip,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<u64, OpenError> {
    let applied = views.applied();
    let from = applied.as_ref().map_or(0, |applied| applied.next_offset);
    if from >= tip.next_offset {
        return Ok(0);
    }
    progress(from, tip.next_offset);
    // Erased entries come before what is left of them.
    views.set_residues(Residues::of(reader, applied.as_ref())?);
    let mut chunks = Chunks { reader, tip, at: applied.filter(|applied| applied.next_offset > 0) };
    let mut replayed = 0;
    let mut fold = |chunk: Chunk| {
        replayed += chunk.entries.len() as u64;
        apply(views, &chunk.entries, &chunk.at)?;
        progress(chunk.at.next_offset, tip.next_offset);
        Ok::<(), OpenError>(())
    };
    if tip.next_offset - from < BULK_ENTRIES_MIN {
        while let Some(chunk) = chunks.read()? {
            fold(chunk)?;
        }
    } else {
        std::thread::scope(|scope| {
            let (ahead, read) = mpsc::sync_channel(CHUNKS_AHEAD);
            scope.spawn(move || {
                loop {
                    let chunk = chunks.read().transpose();
                    let is_over = !matches!(chunk, Some(Ok(_)));
                    // Nobody takes it any more after an error of the fold.
                    if chunk.is_some_and(|chunk| ahead.send(chunk).is_err()) || is_over {
                        break;
                    }
                }
            });
            read.into_iter().try_for_each(|chunk| fold(chunk?))
        })?;
    }
    views.set_residues(Residues::default());
    Ok(replayed)
}

/// Whole batches of the log, and the tip after them.
struct Chunk {
    entries: Vec<Entry>,
    at: Tip,
}

/// Reads the log in chunks of whole batches.
struct Chunks<'a> {
    reader: &'a dyn LogReader,
    tip: &'a Tip,
    /// Where the last chunk ended.
    at: Option<Tip>,
}

impl Chunks<'_> {
    fn read(&mut self) -> Result<Option<Chunk>, OpenError> {
        let from = self.at.map_or(0, |at| at.next_offset);
        if from >= self.tip.next_offset {
            return Ok(None);
        }
        let place = self.at.map(|at| at.place);
        let mut entries = self.reader.read(from, place, CATCH_UP_ENTRIES, CATCH_UP_BYTES)?;
        let at = whole_batches(&mut entries, self.reader, self.tip)?;
        self.at = Some(at);
        Ok(Some(Chunk { entries, at }))
    }
}

/// Drops a batch that was read only in part, and says where the rest ends.
fn whole_batches(
    entries: &mut Vec<Entry>,
    reader: &dyn LogReader,
    tip: &Tip,
) -> Result<Tip, OpenError> {
    let last = entries.last().map(|entry| (entry.head.offset, entry.head.batch));
    let Some((offset, batch)) = last.filter(|(offset, _)| offset + 1 < tip.next_offset) else {
        return Ok(*tip);
    };
    let whole =
        entries.iter().rposition(|entry| entry.head.batch != batch).map_or(0, |index| index + 1);
    let cut = entries.get(whole).map(|entry| entry.place);
    match cut.filter(|_| whole > 0) {
        Some(place) => {
            entries.truncate(whole);
            Ok(reader.tip_at(place)?)
        }
        // One batch fills the whole read: it is complete iff the next entry begins another.
        None => {
            let next = reader.read(offset + 1, None, 1, CATCH_UP_BYTES)?;
            let place = next.first().map(|entry| entry.place).unwrap_or(tip.place);
            Ok(reader.tip_at(place)?)
        }
    }
}

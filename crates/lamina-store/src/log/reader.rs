//! The reading side: entries by place or by offset, beside the writer.
//!
//! Readers see committed batches only. They share the list of segments and the tip with the
//! writer, and read files by position, so nobody waits for anybody.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lamina_env::{Disk, DiskFile};
use lamina_types::RecordedAt;
use lamina_types::limits::ENTRY_BYTES_MAX;
use parking_lot::{Mutex, RwLock};

use super::bytes::{from, index};
use super::erase::EraseEntry;
use super::paths::Paths;
use super::record::{Fault, Record, Seed};
use super::scan::{self, Item, Part};
use super::section::{self, SectionRead};
use super::segment::{self, COMMIT_LEN, HEAD_LEN};
use super::{LogError, LogReader, Tip};
use crate::entry::{Entry, Head, Place, SectionState};

/// Segment files kept open for readers.
const OPEN_FILES_MAX: usize = 64;
/// The first read of one entry: most fit.
const ENTRY_READ: usize = 4 * 1_024;
/// The first read of a walk.
const WALK_READ: usize = 256 * 1_024;
/// More than the largest record.
const READ_MAX: usize = ENTRY_BYTES_MAX + 64 * 1_024;

impl Place {
    /// A position in a segment, by the segment's number.
    pub(crate) fn at(segment: usize, position: usize) -> Place {
        Place(((segment as u64) << 32) | (position as u64 & u64::from(u32::MAX)))
    }

    pub(crate) fn segment(self) -> usize {
        index(self.0 >> 32)
    }

    pub(crate) fn position(self) -> usize {
        index(self.0 & u64::from(u32::MAX))
    }
}

/// Where a segment begins.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) first_offset: u64,
    pub(super) first_batch: u64,
    pub(super) prev_tip: [u8; 32],
    /// `recorded_at` of the last entry before it.
    pub(super) prev_recorded_at: RecordedAt,
    /// Where its batches end, once sealed.
    pub(super) end: Option<u64>,
}

impl Segment {
    pub(super) fn name(&self) -> String {
        segment::file_name(self.first_offset)
    }
}

/// A segment, as far as those who index it need to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// Its number in this process.
    pub(crate) number: usize,
    pub(crate) first_offset: u64,
    /// The offset after its last entry.
    pub(crate) next_offset: u64,
    /// `recorded_at` of its last entry; `None` while it is written.
    pub(crate) ended_at: Option<RecordedAt>,
    /// It has a footer.
    pub(crate) sealed: bool,
}

/// What writer and readers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) paths: Paths,
    pub(super) log_id: [u8; 16],
    pub(super) seed: Seed,
    pub(super) segments: RwLock<Vec<Segment>>,
    pub(super) tip: RwLock<Tip>,
    /// Erasures that are durable but not finished: their targets may be half zero.
    pub(super) erasing: RwLock<Vec<EraseEntry>>,
    /// Segments before this offset were dropped.
    pub(super) floor: AtomicU64,
    files: Mutex<Vec<(usize, Arc<dyn DiskFile>)>>,
    /// The last tip that was looked up: a replay asks for later and later ones.
    looked_up: Mutex<Option<Tip>>,
}

impl Shared {
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        paths: Paths,
        log_id: [u8; 16],
        segments: Vec<Segment>,
        tip: Tip,
    ) -> Shared {
        Shared {
            disk,
            paths,
            log_id,
            seed: Seed::of(&log_id),
            segments: RwLock::new(segments),
            tip: RwLock::new(tip),
            erasing: RwLock::new(Vec::new()),
            floor: AtomicU64::new(0),
            files: Mutex::new(Vec::new()),
            looked_up: Mutex::new(None),
        }
    }

    /// The name of a segment's file.
    pub(super) fn name(&self, segment: usize) -> String {
        self.segments
            .read()
            .get(segment)
            .map_or_else(|| format!("segment {segment}"), Segment::name)
    }

    fn file(&self, segment: usize) -> Result<Arc<dyn DiskFile>, LogError> {
        let mut files = self.files.lock();
        if let Some(at) = files.iter().position(|(number, _)| *number == segment) {
            let found = files.remove(at);
            let file = Arc::clone(&found.1);
            files.push(found);
            return Ok(file);
        }
        let path = self.paths.segment(&self.name(segment));
        let file: Arc<dyn DiskFile> = Arc::from(self.disk.open_read(&path).map_err(reading)?);
        if files.len() >= OPEN_FILES_MAX {
            files.remove(0);
        }
        files.push((segment, Arc::clone(&file)));
        Ok(file)
    }

    /// Where committed bytes of a segment end; `None` if the segment has none.
    fn end(&self, segment: usize, tip: &Tip) -> Option<usize> {
        if segment == tip.place.segment() {
            return Some(tip.place.position());
        }
        let segments = self.segments.read();
        segments.get(segment)?.end.map(index)
    }

    fn corrupt(&self, segment: usize, position: usize, what: &str) -> LogError {
        LogError::Corrupt {
            file: self.name(segment),
            position: position as u64,
            what: what.to_owned(),
        }
    }

    /// Reads from `position` up to `len` bytes, not past `end`.
    fn bytes(
        &self,
        segment: usize,
        position: usize,
        len: usize,
        end: usize,
    ) -> Result<Vec<u8>, LogError> {
        let len = len.min(end.saturating_sub(position));
        let mut bytes = vec![0; len];
        let read = self.file(segment)?.read_at(&mut bytes, position as u64).map_err(reading)?;
        if read < len {
            return Err(self.corrupt(segment, position + read, "the file stops early"));
        }
        Ok(bytes)
    }

    /// The record as an entry, its sections held against their commitments.
    fn entry_of(&self, record: Record<'_>, place: Place) -> Result<Entry, LogError> {
        let offset = record.head.offset;
        let starts = [record.who_start, record.what_start()];
        let [who_start, what_start] = starts.map(|start| place.position() + start);
        let who = self.section(record.who, &record.head.who_commit, || Spot {
            place,
            start: who_start,
            offset,
            part: Part::Who,
        })?;
        let what = self.section(record.what, &record.head.what_commit, || Spot {
            place,
            start: what_start,
            offset,
            part: Part::What,
        })?;
        Ok(Entry { head: record.head, who, what, place })
    }

    fn section(
        &self,
        bytes: &[u8],
        commit: &[u8; 32],
        spot: impl Fn() -> Spot,
    ) -> Result<SectionState, LogError> {
        if bytes.is_empty() {
            return Ok(SectionState::Absent);
        }
        match section::read(bytes, commit) {
            SectionRead::Live(plaintext) => Ok(SectionState::Live(plaintext.to_vec())),
            SectionRead::Erased => Ok(SectionState::Erased),
            SectionRead::Damaged(what) => {
                let spot = spot();
                let erasing = self.erasing.read();
                if erasing.iter().any(|e| e.names(spot.offset, spot.part)) {
                    return Ok(SectionState::Erased);
                }
                drop(erasing);
                // The bytes may have been read while an erasure was zeroing them that is finished
                // by now: look once more.
                let segment = spot.place.segment();
                let end = spot.start + bytes.len();
                let again = self.bytes(segment, spot.start, bytes.len(), end)?;
                if again.iter().all(|byte| *byte == 0) {
                    return Ok(SectionState::Erased);
                }
                Err(self.corrupt(segment, spot.start, what))
            }
        }
    }

    /// Walks items from a place on until `visit` stops. Gives it committed records and commits.
    pub(super) fn walk(
        &self,
        from_place: Place,
        tip: &Tip,
        visit: &mut dyn FnMut(Place, Item<'_>) -> Result<Step, LogError>,
    ) -> Result<(), LogError> {
        let mut segment = from_place.segment();
        let mut position = from_place.position().max(HEAD_LEN);
        while let Some(end) = self.end(segment, tip) {
            let mut chunk_len = WALK_READ;
            'segment: while position < end {
                let chunk = self.bytes(segment, position, chunk_len, end)?;
                let mut at = 0;
                while at < chunk.len() {
                    let place = Place::at(segment, position + at);
                    match scan::item(from(&chunk, at), self.seed) {
                        Ok(Item::Footer(_)) => break 'segment,
                        Ok(Item::Blank) => {
                            let what = "committed bytes are blank";
                            return Err(self.corrupt(segment, position + at, what));
                        }
                        Ok(found) => {
                            at += match &found {
                                Item::Record(record) => record.len,
                                Item::Commit(_) | Item::Footer(_) | Item::Blank => COMMIT_LEN,
                            };
                            if visit(place, found)? == Step::Stop {
                                return Ok(());
                            }
                        }
                        Err(Fault::Short(needed))
                            if needed > chunk.len() - at && position + at + needed <= end =>
                        {
                            chunk_len = chunk_len.max(needed.min(READ_MAX));
                            break;
                        }
                        Err(fault) => {
                            return Err(self.corrupt(segment, position + at, fault.what()));
                        }
                    }
                }
                position += at;
            }
            segment += 1;
            position = HEAD_LEN;
        }
        Ok(())
    }

    /// Where to begin looking for an offset: the start of its segment.
    pub(super) fn segment_of(&self, offset: u64) -> Option<Place> {
        let segments = self.segments.read();
        let after = segments.partition_point(|segment| segment.first_offset <= offset);
        Some(Place::at(after.checked_sub(1)?, HEAD_LEN))
    }

    fn tip_of_segment(&self, number: usize) -> Option<Tip> {
        let segments = self.segments.read();
        let segment = segments.get(number)?;
        Some(Tip {
            next_offset: segment.first_offset,
            batch: segment.first_batch.saturating_sub(1),
            hash: segment.prev_tip,
            recorded_at: segment.prev_recorded_at,
            place: Place::at(number, HEAD_LEN),
        })
    }
}

/// Whether a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    On,
    Stop,
}

/// A section in a file.
struct Spot {
    place: Place,
    start: usize,
    offset: u64,
    part: Part,
}

fn reading(source: io::Error) -> LogError {
    LogError::Io { doing: "reading a segment", source }
}

/// The reader of a [`super::SegmentLog`].
#[derive(Debug, Clone)]
pub struct SegmentReader {
    shared: Arc<Shared>,
}

impl SegmentReader {
    pub(super) fn new(shared: Arc<Shared>) -> SegmentReader {
        SegmentReader { shared }
    }

    /// How far the log has come.
    pub(crate) fn tip(&self) -> Tip {
        *self.shared.tip.read()
    }

    pub(super) fn seed(&self) -> Seed {
        self.shared.seed
    }

    pub(super) fn log_id(&self) -> [u8; 16] {
        self.shared.log_id
    }

    /// The file of a segment, opened anew: what is there now, not what was there once.
    pub(super) fn open_segment(&self, span: &Span) -> Result<Box<dyn DiskFile>, LogError> {
        let path = self.shared.paths.segment(&segment::file_name(span.first_offset));
        self.shared.disk.open_read(&path).map_err(reading)
    }

    /// The segments, oldest first.
    pub(crate) fn segments(&self) -> Vec<Span> {
        let tip = *self.shared.tip.read();
        let segments = self.shared.segments.read();
        let after = segments.iter().skip(1).map(|next| (next.first_offset, next.prev_recorded_at));
        let ends = after.chain(std::iter::once((tip.next_offset, tip.recorded_at)));
        let numbered = segments.iter().zip(ends).enumerate();
        let span = |(number, (segment, (next_offset, ended_at))): (usize, (&Segment, _))| Span {
            number,
            first_offset: segment.first_offset,
            next_offset,
            ended_at: Some(ended_at),
            sealed: segment.end.is_some(),
        };
        let floor = self.shared.floor.load(Ordering::Acquire);
        numbered.map(span).filter(|span| span.first_offset >= floor).collect()
    }
}

impl LogReader for SegmentReader {
    fn read(
        &self,
        from: u64,
        place: Option<Place>,
        entries_max: usize,
        bytes_max: usize,
    ) -> Result<Vec<Entry>, LogError> {
        let shared = &*self.shared;
        let tip = *shared.tip.read();
        let mut entries = Vec::new();
        if from >= tip.next_offset || entries_max == 0 {
            return Ok(entries);
        }
        let start = match place {
            Some(place) => place,
            None => shared.segment_of(from).ok_or(LogError::NoSuchEntry { offset: from })?,
        };
        let mut bytes = 0;
        shared.walk(start, &tip, &mut |place, item| {
            let Item::Record(record) = item else {
                return Ok(Step::On);
            };
            let expected = from + entries.len() as u64;
            if record.head.offset < expected {
                return Ok(Step::On);
            }
            if record.head.offset > expected {
                return Err(LogError::NoSuchEntry { offset: expected });
            }
            bytes += record.len;
            entries.push(shared.entry_of(record, place)?);
            let full = entries.len() >= entries_max || bytes >= bytes_max;
            Ok(if full { Step::Stop } else { Step::On })
        })?;
        if entries.is_empty() {
            return Err(LogError::NoSuchEntry { offset: from });
        }
        Ok(entries)
    }

    fn heads(
        &self,
        from: u64,
        place: Option<Place>,
        entries_max: usize,
    ) -> Result<Vec<(Head, Place)>, LogError> {
        let shared = &*self.shared;
        let tip = *shared.tip.read();
        let mut heads: Vec<(Head, Place)> = Vec::new();
        if from >= tip.next_offset || entries_max == 0 {
            return Ok(heads);
        }
        let start = match place {
            Some(place) => place,
            None => shared.segment_of(from).ok_or(LogError::NoSuchEntry { offset: from })?,
        };
        shared.walk(start, &tip, &mut |place, item| {
            let Item::Record(record) = item else {
                return Ok(Step::On);
            };
            let expected = from + heads.len() as u64;
            if record.head.offset < expected {
                return Ok(Step::On);
            }
            if record.head.offset > expected {
                return Err(LogError::NoSuchEntry { offset: expected });
            }
            heads.push((record.head, place));
            Ok(if heads.len() >= entries_max { Step::Stop } else { Step::On })
        })?;
        if heads.is_empty() {
            return Err(LogError::NoSuchEntry { offset: from });
        }
        Ok(heads)
    }

    fn entry(&self, offset: u64, place: Place) -> Result<Entry, LogError> {
        let shared = &*self.shared;
        let missing = LogError::NoSuchEntry { offset };
        let tip = *shared.tip.read();
        let (segment, position) = (place.segment(), place.position());
        let Some(end) = shared.end(segment, &tip) else {
            return Err(missing);
        };
        if offset >= tip.next_offset || position < HEAD_LEN || position >= end {
            return Err(missing);
        }
        let mut len = ENTRY_READ;
        loop {
            let bytes = shared.bytes(segment, position, len, end)?;
            match scan::item(&bytes, shared.seed) {
                Ok(Item::Record(record)) if record.head.offset == offset => {
                    return shared.entry_of(record, place);
                }
                Ok(_) => return Err(missing),
                Err(Fault::Short(needed)) if needed > len && position + needed <= end => {
                    len = needed;
                }
                Err(fault) => return Err(shared.corrupt(segment, position, fault.what())),
            }
        }
    }

    fn tip_at(&self, place: Place) -> Result<Tip, LogError> {
        let shared = &*self.shared;
        let tip = *shared.tip.read();
        let segment = place.segment();
        // The very start of a segment file is as good as the place behind its head.
        let place = Place::at(segment, place.position().max(HEAD_LEN));
        if place == tip.place {
            return Ok(tip);
        }
        let missing = || LogError::NoSuchEntry { offset: tip.next_offset };
        let start = shared.tip_of_segment(segment).ok_or_else(missing)?;
        let known = shared.looked_up.lock().filter(|known| {
            known.place.segment() == segment && known.place.position() <= place.position()
        });
        let mut at = known.unwrap_or(start);
        if place == at.place {
            return Ok(at);
        }
        let mut found = None;
        shared.walk(at.place, &tip, &mut |here, item| {
            match item {
                Item::Record(record) => {
                    at.next_offset = record.head.offset + 1;
                    at.recorded_at = record.head.recorded_at;
                }
                Item::Commit(commit) => {
                    at.batch = commit.batch;
                    at.hash = commit.tip;
                    at.place = Place::at(segment, here.position() + COMMIT_LEN);
                    found = (at.place == place).then_some(at);
                }
                Item::Footer(_) | Item::Blank => {}
            }
            let passed = here.segment() != segment || here.position() >= place.position();
            Ok(if found.is_some() || passed { Step::Stop } else { Step::On })
        })?;
        let found = found.ok_or_else(missing)?;
        *shared.looked_up.lock() = Some(found);
        Ok(found)
    }
}

#[cfg(test)]
mod tests;

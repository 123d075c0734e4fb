//! Making room: sealing the segment that is full, making the next one, and the ballast.
//!
//! The order matters. The footer is synced before the next segment exists, and the next segment
//! is synced, with its directory, before a batch goes into it. So a crash between any two steps
//! leaves a segment with a footer and perhaps a file that holds nothing yet.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lamina_env::DiskFile;

use super::LogError;
use super::anchor::Anchor;
use super::reader::Segment;
use super::segment::{FOOTER_LEN, Footer, HEAD_LEN, SegmentHead, file_name};
use super::writer::{Active, Room, SegmentLog, is_full};
use crate::entry::Place;

/// The size of a segment made while the disk is full.
const URGENT_SEGMENT_BYTES: u64 = 1_024 * 1_024;
/// The size of the first segment. Each later one is as large as all before it, up to the configured size, so that
/// a small log takes little space.
const SEGMENT_BYTES_MIN: u64 = 1_024 * 1_024;

impl SegmentLog {
    /// Sees to it that `len` bytes, and a footer after them, fit into the active segment.
    pub(super) fn make_room(&mut self, len: u64, room: Room) -> Result<(), LogError> {
        let needed = len + FOOTER_LEN as u64;
        if let Some(active) = &mut self.active
            && !active.sealed
        {
            let fits = active.position + needed <= active.capacity;
            if fits && active.epoch == self.epoch {
                return Ok(());
            }
            if active.entries == 0 && active.epoch == self.epoch {
                // An empty segment is not sealed; it grows.
                let capacity = active.position + needed;
                active.file.allocate(capacity).map_err(making)?;
                active.capacity = capacity;
                return Ok(());
            }
            self.seal_active()?;
        }
        self.make_segment(needed, room)
    }

    /// Drops the segments before the one that begins with this offset: first the anchor is durable,
    /// then they go. Nothing may be under way in them.
    pub(crate) fn drop_before(
        &mut self,
        next_offset: u64,
        payload: Vec<u8>,
    ) -> Result<Anchor, LogError> {
        let missing = LogError::NoSuchEntry { offset: next_offset };
        let (dropped, first) = {
            let segments = self.shared.segments.read();
            let first = segments.iter().find(|segment| segment.first_offset == next_offset);
            let before = segments.iter().filter(|segment| segment.first_offset < next_offset);
            (before.map(Segment::name).collect::<Vec<_>>(), first.cloned())
        };
        let first = first.ok_or(missing)?;
        if !self.erasures.is_empty() {
            return Err(LogError::NotErasable { offset: next_offset });
        }
        let anchor = Anchor {
            log_id: self.log_id,
            batch: first.first_batch - 1,
            next_offset,
            tip: first.prev_tip,
            recorded_at: first.prev_recorded_at,
            payload,
        };
        let path = self.shared.paths.anchor();
        let bytes = anchor.encode(self.keys.signing());
        lamina_env::disk::write_atomic(&*self.disk, &path, &bytes).map_err(making)?;
        self.shared.floor.store(next_offset, Ordering::Release);
        for name in dropped {
            let path = self.shared.paths.segment(&name);
            // What stays behind is removed by the next open.
            if self.disk.exists(&path) {
                let _ = self.disk.remove(&path);
            }
        }
        self.disk.sync_dir(&self.shared.paths.log()).map_err(making)?;
        Ok(anchor)
    }

    /// The anchor of the log, if segments were dropped.
    pub(crate) fn anchor(&self) -> Result<Option<Anchor>, LogError> {
        Anchor::find(&*self.disk, &self.shared.paths, Some(self.keys.public()))
    }

    fn seal_active(&mut self) -> Result<(), LogError> {
        let active = self.active.as_mut().expect("only called with one");
        let footer = Footer {
            last_offset: self.tip.next_offset - 1,
            last_batch: self.tip.batch,
            count: active.entries,
            end: active.position,
            recorded_at: self.tip.recorded_at,
            tip: self.tip.hash,
        }
        .encode(self.shared.seed);
        let (file, number, end) = (Arc::clone(&active.file), active.number, active.position);
        if let Err(source) = file.write_at(&footer, end) {
            return Err(self.failed_write(&*file, end, FOOTER_LEN as u64, source));
        }
        // Gives back what was allocated but not used, and puts the footer at the end of the file,
        // where opening looks for it.
        let trimmed = file.set_len(end + FOOTER_LEN as u64).and_then(|()| file.sync());
        if let Err(source) = trimmed {
            self.poisoned = true;
            return Err(LogError::Io { doing: "sealing a segment", source });
        }
        active_mut(self).sealed = true;
        if let Some(segment) = self.shared.segments.write().get_mut(number) {
            segment.end = Some(end);
        }
        Ok(())
    }

    /// Bytes of all segments, without space that is allocated and not used.
    pub(super) fn written(&self) -> u64 {
        let segments = self.shared.segments.read();
        let sealed: u64 = segments.iter().filter_map(|segment| segment.end).sum();
        let active = self.active.as_ref().filter(|active| !active.sealed);
        sealed + active.map_or(0, |active| active.position)
    }

    fn make_segment(&mut self, needed: u64, room: Room) -> Result<(), LogError> {
        let wished = match room {
            Room::Normal => self.segment_bytes.min(self.written().max(SEGMENT_BYTES_MIN)),
            Room::Urgent => self.segment_bytes.min(URGENT_SEGMENT_BYTES),
        };
        let capacity = wished.max(HEAD_LEN as u64 + needed);
        let head = SegmentHead {
            log_id: self.log_id,
            epoch: self.epoch,
            first_offset: self.tip.next_offset,
            first_batch: self.tip.batch + 1,
            prev_tip: self.tip.hash,
            erase_from: self.erasures.first().map_or(0, |erase| erase.offset),
            erase_gen: Some(0),
        };
        let path = self.shared.paths.segment(&file_name(head.first_offset));
        let file = self.write_new(&path, capacity, &head)?;
        let mut segments = self.shared.segments.write();
        let number = segments.len();
        segments.push(Segment {
            first_offset: head.first_offset,
            first_batch: head.first_batch,
            prev_tip: head.prev_tip,
            prev_recorded_at: self.tip.recorded_at,
            end: None,
        });
        drop(segments);
        self.active = Some(Active {
            file,
            number,
            epoch: self.epoch,
            position: HEAD_LEN as u64,
            capacity,
            entries: 0,
            sealed: false,
        });
        self.tip.place = Place::at(number, HEAD_LEN);
        *self.shared.tip.write() = self.tip;
        Ok(())
    }

    /// Writes the file of a new segment and makes it durable.
    fn write_new(
        &mut self,
        path: &Path,
        capacity: u64,
        head: &SegmentHead,
    ) -> Result<Arc<dyn DiskFile>, LogError> {
        if self.disk.exists(path) {
            // Left by an attempt that failed half-way; nothing was ever written into it.
            self.disk.remove(path).map_err(making)?;
        }
        let file: Arc<dyn DiskFile> = Arc::from(self.disk.create_new(path).map_err(making)?);
        let written = file.allocate(capacity).and_then(|()| file.write_at(&head.encode(), 0));
        if let Err(source) = written {
            // If this fails too, the next attempt or the next open removes it.
            let _ = self.disk.remove(path);
            return Err(making(source));
        }
        let durable = file.sync().and_then(|()| self.disk.sync_dir(&self.shared.paths.log()));
        if let Err(source) = durable {
            self.poisoned = true;
            return Err(LogError::Io { doing: "syncing a new segment", source });
        }
        Ok(file)
    }
}

fn active_mut(log: &mut SegmentLog) -> &mut Active {
    log.active.as_mut().expect("there is an active segment")
}

fn making(source: io::Error) -> LogError {
    if is_full(&source) {
        return LogError::Full(source);
    }
    LogError::Io { doing: "making a segment", source }
}

#[cfg(test)]
mod tests;

//! The ends of the segments: each head and footer held against the one before.

use lamina_env::Disk;
use lamina_types::{Micros, RecordedAt};

use super::LogError;
use super::anchor::Anchor;
use super::chains::Chains;
use super::erase::EraseEntry;
use super::open::{corrupt_at, opening, read_whole};
use super::paths::Paths;
use super::reader::Segment;
use super::record::Seed;
use super::scan::{Standing, walk};
use super::segment::{
    FOOTER_LEN, FORMAT, Footer, HEAD_LEN, HeadFault, SegmentHead, file_name, parse_name,
};

/// The ends of the segments, each held against the one before.
#[derive(Debug, Default)]
pub(super) struct Ends {
    pub(super) segments: Vec<Segment>,
    /// Where the log stood before the first of them.
    pub(super) base: Option<Standing>,
    pub(super) log_id: Option<[u8; 16]>,
    pub(super) epoch: u32,
    pub(super) footer: Option<Footer>,
    /// Numbers of segments whose erase generation is torn.
    pub(super) torn_generations: Vec<usize>,
}

impl Ends {
    /// No segments yet, behind what was dropped.
    pub(super) fn after(anchor: Option<&Anchor>) -> Ends {
        Ends {
            base: anchor.map(Anchor::standing),
            log_id: anchor.map(|anchor| anchor.log_id),
            ..Ends::default()
        }
    }

    /// Where the log stands after the segments so far.
    pub(super) fn standing(&self) -> Standing {
        let base = self.base.unwrap_or(Standing {
            next_offset: 0,
            next_batch: 1,
            tip: Some([0; 32]),
            recorded_at: RecordedAt(Micros(0)),
        });
        self.footer.map_or(base, |footer| Standing {
            next_offset: footer.last_offset + 1,
            next_batch: footer.last_batch + 1,
            tip: Some(footer.tip),
            recorded_at: footer.recorded_at,
        })
    }

    /// Adds a segment that another one follows: its head and its footer must hold.
    pub(super) fn sealed(
        &mut self,
        disk: &dyn Disk,
        paths: &Paths,
        first_offset: u64,
    ) -> Result<(), LogError> {
        let name = file_name(first_offset);
        let file = disk.open_read(&paths.segment(&name)).map_err(opening)?;
        let mut head = [0; HEAD_LEN];
        let read = file.read_at(&mut head, 0).map_err(opening)?;
        let head = head.get(..read).unwrap_or(&[]);
        let head = SegmentHead::decode(head).map_err(|fault| match fault {
            HeadFault::Newer(found) => LogError::NewerFormat { found, supported: FORMAT },
            HeadFault::Damaged(what) => corrupt_at(&name, 0, what),
        })?;
        self.begins(&name, &head)?;
        let len = file.len().map_err(opening)?;
        let end = len.saturating_sub(FOOTER_LEN as u64);
        let mut footer = [0; FOOTER_LEN];
        let read = file.read_at(&mut footer, end).map_err(opening)?;
        let footer = footer.get(..read).unwrap_or(&[]);
        let footer = Footer::decode(footer, Seed::of(&head.log_id))
            .map_err(|fault| corrupt_at(&name, end, fault.what()))?;
        let standing = self.standing();
        let fits = footer.end == end
            && footer.last_offset >= standing.next_offset
            && footer.last_batch >= standing.next_batch
            && footer.recorded_at > standing.recorded_at
            && footer.count == footer.last_offset + 1 - standing.next_offset;
        if !fits {
            return Err(corrupt_at(&name, end, "the footer does not fit its segment"));
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.end = Some(end);
        }
        self.footer = Some(footer);
        Ok(())
    }

    /// Adds a segment by its head, which must continue the one before.
    pub(super) fn begins(&mut self, name: &str, head: &SegmentHead) -> Result<(), LogError> {
        let standing = self.standing();
        let continues = head.first_offset == standing.next_offset
            && head.first_batch == standing.next_batch
            && Some(head.prev_tip) == standing.tip
            && parse_name(name) == Some(head.first_offset)
            && self.log_id.is_none_or(|log_id| log_id == head.log_id)
            && head.epoch >= self.epoch;
        if !continues {
            let what = "the segment does not continue the one before it";
            return Err(corrupt_at(name, 0, what));
        }
        if head.erase_gen.is_none() {
            self.torn_generations.push(self.segments.len());
        }
        self.log_id = Some(head.log_id);
        self.epoch = head.epoch;
        self.segments.push(Segment {
            first_offset: head.first_offset,
            first_batch: head.first_batch,
            prev_tip: head.prev_tip,
            prev_recorded_at: standing.recorded_at,
            end: None,
        });
        Ok(())
    }
}

/// Erasures that were open when the last segment began: read from the segment of the oldest on.
pub(super) fn open_before(
    disk: &dyn Disk,
    paths: &Paths,
    ends: &Ends,
    seed: Seed,
    erase_from: u64,
) -> Result<Vec<EraseEntry>, LogError> {
    let mut open = Vec::new();
    if erase_from == 0 {
        return Ok(open);
    }
    // The last segment is in the list already; it is judged later.
    let sealed = ends.segments.len().saturating_sub(1);
    for (segment, next) in ends.segments.iter().take(sealed).zip(ends.segments.iter().skip(1)) {
        if next.first_offset <= erase_from {
            continue;
        }
        let name = segment.name();
        let file = disk.open_read(&paths.segment(&name)).map_err(opening)?;
        let standing = Standing {
            next_offset: segment.first_offset,
            next_batch: segment.first_batch,
            tip: Some(segment.prev_tip),
            recorded_at: segment.prev_recorded_at,
        };
        let walk = walk(&read_whole(&*file)?, HEAD_LEN, seed, standing, Chains::new());
        if let Some((position, fault)) = walk.stop {
            return Err(corrupt_at(&name, position as u64, fault.what()));
        }
        open = walk.open_erasures(open);
    }
    Ok(open)
}

//! Reads the whole log and says everything that does not hold. Changes nothing.
//!
//! Opening looks at the last segment; this looks at every record, section, chain, tip, footer and
//! signature, and goes on after damage as far as it can.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use lamina_env::Disk;
use lamina_types::{Micros, RecordedAt};

use super::LogError;
use super::acknowledged::Reached;
use super::anchor::Anchor;
use super::bytes::{from, written_len};
use super::chains::Chains;
use super::checkpoint::Checkpoint;
use super::erase::EraseEntry;
use super::files::list;
use super::open::{opening, read_whole};
use super::paths::Paths;
use super::record::Seed;
use super::recover::judge;
use super::scan::{
    CheckpointEntry, Item, Own, Part, Standing, Suspect, Walk, evidence, item, walk,
};
use super::segment::{FOOTER_LEN, FORMAT, HEAD_LEN, HeadFault, SegmentHead, file_name};
use crate::codec::control::Blob;

/// Findings listed; more are only counted.
const FINDINGS_MAX: usize = 1_000;
/// How often a walk goes on after damage within one segment.
const RESUMES_MAX: usize = 1_000;

/// What to hold the log against, besides itself.
#[derive(Debug, Clone, Copy)]
pub struct CheckOptions<'a> {
    /// The key that checkpoints must be signed with; `None`: whichever they name.
    pub public_key: Option<[u8; 32]>,
    /// A checkpoint file that someone kept.
    pub checkpoint: Option<&'a [u8]>,
}

/// How far a check has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of segments checked.
    pub done: u64,
    /// Bytes of segments in all.
    pub total: u64,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The next open repairs it: a torn tail, an unfinished erasure, an unused file.
    Mends,
    /// Something that was acknowledged, or signed, does not hold.
    Corrupt,
}

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub file: String,
    /// Where in it.
    pub position: u64,
    /// What does not hold.
    pub what: String,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Segment files.
    pub segments: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Complete batches.
    pub batches: u64,
    /// Entries in them.
    pub entries: u64,
    /// Sections that were erased.
    pub erased_sections: u64,
    /// Offsets of the entries whose words were erased.
    pub erased_words: BTreeSet<u64>,
    /// Erasures that are not finished.
    pub erasures_open: u64,
    /// Checkpoints in the log whose signature and statement hold.
    pub checkpoints: u64,
    /// The tip after the last complete batch.
    pub tip: [u8; 32],
    /// What does not hold, at most a thousand.
    pub findings: Vec<Finding>,
    /// Findings in all.
    pub findings_count: u64,
    /// The blobs that the log has, by the offset of their entries.
    pub blobs: BTreeMap<u64, Blob>,
}

impl CheckReport {
    /// Whether nothing that was acknowledged is damaged.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Mends)
    }

    fn add(&mut self, severity: Severity, file: &str, position: usize, what: &str) {
        self.findings_count += 1;
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding {
                severity,
                file: file.to_owned(),
                position: position as u64,
                what: what.to_owned(),
            });
        }
    }
}

/// Checks the log in a data directory. Nobody may write to it meanwhile.
pub fn check(
    disk: &dyn Disk,
    dir: &Path,
    options: CheckOptions<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<CheckReport, LogError> {
    let paths = Paths::new(dir);
    let segments = match disk.exists(&paths.log()) {
        true => list(disk, &paths)?,
        false => Vec::new(),
    };
    let (anchor, anchor_fault) = match Anchor::find(disk, &paths, options.public_key) {
        Ok(anchor) => (anchor, None),
        Err(LogError::Corrupt { what, .. }) => (None, Some(what)),
        Err(error) => return Err(error),
    };
    let first_left = anchor.as_ref().map_or(0, |anchor| anchor.next_offset);
    let (dropped, segments): (Vec<u64>, Vec<u64>) =
        segments.into_iter().partition(|first| *first < first_left);
    let mut total = 0;
    for first_offset in &segments {
        let path = paths.segment(&file_name(*first_offset));
        total += disk.open_read(&path).and_then(|file| file.len()).map_err(opening)?;
    }
    let mut checker = Checker {
        standing: anchor.as_ref().map_or(
            Standing {
                next_offset: 0,
                next_batch: 1,
                tip: Some([0; 32]),
                recorded_at: RecordedAt(Micros(0)),
            },
            Anchor::standing,
        ),
        epoch: 0,
        log_id: anchor.as_ref().map(|anchor| anchor.log_id),
        first_left,
        chains: Chains::new(),
        erased: BTreeMap::new(),
        open: Vec::new(),
        suspects: Vec::new(),
        torn_generations: Vec::new(),
        checkpoints: Vec::new(),
        footer_last: false,
        report: CheckReport::default(),
    };
    if let Some(what) = anchor_fault {
        checker.corrupt("anchor", 0, &what);
    }
    for first_offset in dropped {
        let what = "the segment was being dropped";
        checker.report.add(Severity::Mends, &file_name(first_offset), 0, what);
    }
    let last = segments.last().copied();
    for first_offset in segments {
        let name = file_name(first_offset);
        let file = disk.open_read(&paths.segment(&name)).map_err(opening)?;
        let bytes = read_whole(&*file)?;
        checker.report.segments += 1;
        checker.report.bytes += bytes.len() as u64;
        checker.segment(&name, &bytes, Some(first_offset) == last)?;
        progress(Progress { done: checker.report.bytes, total });
    }
    checker.resolve();
    checker.signatures(&options);
    checker.kept_checkpoints(disk, &paths, &options)?;
    checker.acknowledged(Reached::find(disk, &paths.acknowledged()));
    checker.report.tip = checker.standing.tip.unwrap_or_default();
    Ok(checker.report)
}

struct Checker {
    standing: Standing,
    epoch: u32,
    log_id: Option<[u8; 16]>,
    /// What stood before this offset was dropped, and is signed for.
    first_left: u64,
    chains: Chains,
    /// Sections that erase entries name.
    erased: BTreeMap<(u64, bool), ()>,
    open: Vec<EraseEntry>,
    suspects: Vec<(String, Suspect)>,
    /// Segments whose erase generation is torn, by number.
    torn_generations: Vec<(usize, String)>,
    checkpoints: Vec<(String, CheckpointEntry)>,
    /// The log ends in a footer, so its last batch was durable.
    footer_last: bool,
    report: CheckReport,
}

impl Checker {
    fn corrupt(&mut self, file: &str, position: usize, what: &str) {
        self.report.add(Severity::Corrupt, file, position, what);
    }

    fn segment(&mut self, name: &str, bytes: &[u8], is_last: bool) -> Result<(), LogError> {
        let empty = is_last && written_len(from(bytes, HEAD_LEN)) == 0;
        let being_made = HeadFault::Damaged("the segment head is not complete");
        let head = match SegmentHead::decode(bytes) {
            Ok(head) if empty && head.erase_gen.is_none() => Err(being_made),
            other => other,
        };
        let head = match head {
            Ok(head) => head,
            Err(HeadFault::Newer(found)) => {
                return Err(LogError::NewerFormat { found, supported: FORMAT });
            }
            Err(HeadFault::Damaged(_)) if empty => {
                let what = "the segment was being made and holds nothing";
                self.report.add(Severity::Mends, name, 0, what);
                return Ok(());
            }
            Err(HeadFault::Damaged(what)) => {
                self.corrupt(name, 0, what);
                self.standing.tip = None;
                self.chains = Chains::new();
                return Ok(());
            }
        };
        self.begin(name, &head);
        let seed = Seed::of(&head.log_id);
        let mut start = HEAD_LEN;
        for _ in 0..RESUMES_MAX {
            let chains = std::mem::replace(&mut self.chains, Chains::new());
            let walk = walk(bytes, start, seed, self.standing, chains);
            let (stop, end, footer) = (walk.stop, walk.end, walk.footer);
            self.collect(name, walk);
            let Some((position, fault)) = stop else {
                match footer {
                    Some(_) => self.after_footer(name, bytes, end + FOOTER_LEN, is_last),
                    None if is_last => {}
                    None => self.corrupt(name, end, "the segment has no footer"),
                }
                return Ok(());
            };
            if is_last && judge(bytes, seed, start_of(&head), &self.open).is_ok() {
                let what = "a batch was being written and is not complete";
                self.report.add(Severity::Mends, name, position, what);
                return Ok(());
            }
            self.corrupt(name, position, fault.what());
            let Some(next) = self.resume(bytes, position + 1, seed) else {
                return Ok(());
            };
            start = next;
        }
        Ok(())
    }

    /// Holds a segment's head against what stands before it, and goes on from it.
    fn begin(&mut self, name: &str, head: &SegmentHead) {
        let standing = &self.standing;
        let continues = head.first_offset == standing.next_offset
            && head.first_batch == standing.next_batch
            && standing.tip.is_none_or(|tip| tip == head.prev_tip)
            && self.log_id.is_none_or(|log_id| log_id == head.log_id)
            && head.epoch >= self.epoch
            && file_name(head.first_offset) == name;
        if !continues && standing.tip.is_some() {
            self.corrupt(name, 0, "the segment does not continue the one before it");
            self.chains = Chains::new();
        }
        if head.erase_gen.is_none() {
            let number = usize::try_from(self.report.segments - 1).unwrap_or(usize::MAX);
            self.torn_generations.push((number, name.to_owned()));
        }
        self.log_id = Some(head.log_id);
        self.epoch = head.epoch;
        self.standing.next_offset = head.first_offset;
        self.standing.next_batch = head.first_batch;
        self.standing.tip = Some(head.prev_tip);
    }

    fn collect(&mut self, name: &str, walk: Walk) {
        self.report.entries += walk.entries;
        self.report.batches += walk.batches;
        self.open = walk.open_erasures(std::mem::take(&mut self.open));
        self.suspects.extend(walk.suspects.iter().map(|suspect| (name.to_owned(), *suspect)));
        for own in walk.own {
            match own {
                Own::Erase(erase) => {
                    for target in erase.targets {
                        if target.who {
                            self.erased.insert((target.offset, true), ());
                        }
                        if target.what {
                            self.erased.insert((target.offset, false), ());
                        }
                    }
                }
                Own::Erased(_) => {}
                Own::Checkpoint(entry) => self.checkpoints.push((name.to_owned(), entry)),
                Own::Blob(entry) => match Blob::decode(&entry.payload) {
                    Ok(blob) => drop(self.report.blobs.insert(entry.offset, blob)),
                    Err(error) => {
                        let what = format!("the entry {} of a blob: {error}", entry.offset);
                        self.corrupt(name, 0, &what);
                    }
                },
                Own::BlobRemoved(offset) => drop(self.report.blobs.remove(&offset)),
            }
        }
        self.footer_last = walk.footer.is_some() || (walk.batches == 0 && self.footer_last);
        self.standing = walk.standing;
        self.chains = walk.chains;
    }

    fn after_footer(&mut self, name: &str, bytes: &[u8], after: usize, is_last: bool) {
        if written_len(from(bytes, after)) > 0 {
            self.corrupt(name, after, "bytes follow the footer");
        } else if bytes.len() > after {
            // Between sealing a segment and trimming it, a crash may leave the rest.
            match is_last {
                true => self.report.add(Severity::Mends, name, after, "the segment is not trimmed"),
                false => self.corrupt(name, after, "the footer is not at the end of the file"),
            }
        }
    }

    /// Finds the next batch after damage and stands before it.
    fn resume(&mut self, bytes: &[u8], from_position: usize, seed: Seed) -> Option<usize> {
        let batch_min = self.standing.next_batch + 1;
        let mut position = from_position;
        loop {
            position = evidence(bytes, position, seed, batch_min)?.position;
            if let Ok(Item::Record(record)) = item(from(bytes, position), seed) {
                self.chains = Chains::new();
                self.standing = Standing {
                    next_offset: record.head.offset,
                    next_batch: record.head.batch,
                    tip: None,
                    recorded_at: RecordedAt(record.head.at().plus(-1)),
                };
                return Some(position);
            }
            position += 1;
        }
    }

    /// Sections that are not live must be named by an erasure, half-zeroed ones by an open one.
    fn resolve(&mut self) {
        for (file, suspect) in std::mem::take(&mut self.suspects) {
            let key = (suspect.offset, suspect.part == Part::Who);
            let position = usize::try_from(suspect.position).unwrap_or(usize::MAX);
            let open = self.open.iter().any(|e| e.names(suspect.offset, suspect.part));
            match suspect.damage {
                None if self.erased.contains_key(&key) => {
                    self.report.erased_sections += 1;
                    if suspect.part == Part::What {
                        self.report.erased_words.insert(suspect.offset);
                    }
                }
                None => {
                    let what = "a section is blank that no erasure names";
                    self.last_batch_or_corrupt(&file, position, suspect.batch, what);
                }
                Some(_) if open => {}
                Some(what) => self.last_batch_or_corrupt(&file, position, suspect.batch, what),
            }
        }
        for (number, file) in std::mem::take(&mut self.torn_generations) {
            let mut targets = self.open.iter().flat_map(|erase| &erase.targets);
            if !targets.any(|target| target.place.segment() == number) {
                let what = "the erase generation does not hold and no erasure is open";
                self.corrupt(&file, 120, what);
            }
        }
        // A blob whose entry is being erased has no file to miss.
        let erased = &self.erased;
        self.report.blobs.retain(|offset, _| !erased.contains_key(&(*offset, false)));
        self.report.erasures_open = self.open.len() as u64;
        for erase in std::mem::take(&mut self.open) {
            let what = format!("the erasure at offset {} is not finished", erase.offset);
            self.report.add(Severity::Mends, "log", 0, &what);
        }
    }

    /// In the last batch, with nothing after it, a bad section is a torn write.
    fn last_batch_or_corrupt(&mut self, file: &str, position: usize, batch: u64, what: &str) {
        let severity = match batch + 1 == self.standing.next_batch && !self.footer_last {
            true => Severity::Mends,
            false => Severity::Corrupt,
        };
        self.report.add(severity, file, position, what);
    }

    /// Every checkpoint in the log must be signed, and say where the log stood.
    fn signatures(&mut self, options: &CheckOptions<'_>) {
        for (file, entry) in std::mem::take(&mut self.checkpoints) {
            let what = match Checkpoint::decode(&entry.payload) {
                None => Some("a checkpoint does not decode"),
                Some(checkpoint) => self.checkpoint_fault(&checkpoint, &entry, options),
            };
            match what {
                None => {
                    self.report.checkpoints += 1;
                    self.checkpoints.push((file, entry));
                }
                Some(what) => {
                    let what = format!("{what} (offset {})", entry.offset);
                    self.corrupt(&file, 0, &what);
                }
            }
        }
    }

    fn checkpoint_fault(
        &self,
        checkpoint: &Checkpoint,
        entry: &CheckpointEntry,
        options: &CheckOptions<'_>,
    ) -> Option<&'static str> {
        let before = &entry.before;
        if let Some(what) = signature_fault(checkpoint, options) {
            return Some(what);
        }
        let holds = Some(checkpoint.log_id) == self.log_id
            && checkpoint.next_offset == before.next_offset
            && checkpoint.batch + 1 == before.next_batch
            && before.tip.is_none_or(|tip| tip == checkpoint.tip);
        (!holds).then_some("a checkpoint does not say where the log stood")
    }

    /// Checkpoints outside the log must be in the log, word for word.
    fn kept_checkpoints(
        &mut self,
        disk: &dyn Disk,
        paths: &Paths,
        options: &CheckOptions<'_>,
    ) -> Result<(), LogError> {
        if let Some(bytes) = options.checkpoint {
            self.kept_checkpoint("the given checkpoint", bytes, options);
        }
        let path = paths.checkpoint();
        if disk.exists(&path) {
            let bytes = lamina_env::disk::read_file(disk, &path, 64 * 1_024);
            let bytes = bytes.or_else(|error| match error.kind() {
                io::ErrorKind::InvalidData => Ok(Vec::new()),
                _ => Err(opening(error)),
            })?;
            self.kept_checkpoint("checkpoints/latest.json", &bytes, options);
        }
        Ok(())
    }

    /// The record beside the log must not know of more than the log has.
    fn acknowledged(&mut self, reached: Option<Reached>) {
        let Some(reached) = reached else { return };
        if self.log_id.is_some_and(|log_id| log_id != reached.log_id) {
            return self.corrupt("acknowledged", 0, "the record belongs to another log");
        }
        let ends = self.standing.next_offset;
        if reached.is_beyond(ends) {
            let what = format!(
                "the log ends before entry {ends}, and had been acknowledged up to entry {}",
                reached.next_offset
            );
            self.corrupt("acknowledged", 0, &what);
        }
    }

    fn kept_checkpoint(&mut self, name: &str, bytes: &[u8], options: &CheckOptions<'_>) {
        let parsed = std::str::from_utf8(bytes).ok().and_then(Checkpoint::from_json);
        let Some(checkpoint) = parsed else {
            return self.corrupt(name, 0, "the file is not a checkpoint");
        };
        if let Some(what) = signature_fault(&checkpoint, options) {
            return self.corrupt(name, 0, what);
        }
        // What it covers is gone, and the anchor is signed by the same key.
        if checkpoint.next_offset < self.first_left && Some(checkpoint.log_id) == self.log_id {
            return;
        }
        let payload = checkpoint.encode();
        if !self.checkpoints.iter().any(|(_, entry)| entry.payload == payload) {
            let what = format!(
                "the log does not hold what was signed: batch {}, offset {}",
                checkpoint.batch, checkpoint.next_offset
            );
            self.corrupt(name, 0, &what);
        }
    }
}

fn signature_fault(checkpoint: &Checkpoint, options: &CheckOptions<'_>) -> Option<&'static str> {
    if !checkpoint.is_signed() {
        return Some("the signature of a checkpoint does not hold");
    }
    let expected = options.public_key.is_none_or(|key| key == checkpoint.public_key);
    (!expected).then_some("a checkpoint is signed by another key")
}

/// Where the log stood before the segment with this head.
fn start_of(head: &SegmentHead) -> Standing {
    Standing {
        next_offset: head.first_offset,
        next_batch: head.first_batch,
        tip: Some(head.prev_tip),
        // The walk before this one held it against the segment before.
        recorded_at: RecordedAt(Micros(i64::MIN)),
    }
}

#[cfg(test)]
mod tests;

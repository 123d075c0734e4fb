//! Writes everything of a damaged log that verifies into a new directory.
//!
//! A record stands on its own seal, so most damage costs little:
//!
//! | Damaged | What the new log has |
//! |---|---|
//! | a section | the entry without that section, named by an erasure |
//! | one bit of a frame, head, commit or footer | the bit as it was: the checksum and the seal prove it |
//! | a segment head, a commit, a footer | the same, made again from what stands around it |
//! | anything else: entries that are gone, a segment that is gone | the log ends before it |
//!
//! Seals chain entries of a scope, so nothing can follow an entry that is gone. Entries behind it that verify for
//! themselves are given to the caller as *loose* entries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lamina_env::disk::write_atomic;
use lamina_env::rng::draw;
use lamina_env::{Disk, DiskFile, Rng};
use lamina_types::limits::CAUSES_MAX;
use lamina_types::{EventId, Micros, RecordedAt};

use self::item::{Found, Kept, flip_back, head_of, kept, kind_name};
use super::bytes::{from, written_len};
use super::chains::{Chains, NoViews};
use super::erase::{EraseEntry, ErasedEntry, encode as encode_erase};
use super::files::list;
use super::open::opening;
use super::paths::Paths;
use super::record::{self, HEAD_VERSION, Seed};
use super::scan::{Item, Part, item};
use super::section::{self, SectionRead};
use super::segment::{
    COMMIT_LEN, Commit, FOOTER_LEN, Footer, HEAD_LEN, SegmentHead, TipHash, file_name,
};
use super::{EraseTarget, LogError, Section};
use crate::codec::control::Blob;
use crate::entry::{DEPLOYMENT, Entry, Head, Kind, Place, SYSTEM_SCOPE, SectionState, control};

mod item;

/// Bytes read at a time; a piece that the disk does not give back is taken for zeros.
const READ_BYTES: usize = 64 * 1_024;
/// Findings listed; more are only counted.
const FINDINGS_MAX: usize = 1_000;

/// One thing that did not verify, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvageFinding {
    /// The file under the source.
    pub file: String,
    /// Where in it.
    pub position: u64,
    /// What did not verify, and what the new log has in its place.
    pub what: String,
}

/// What a salvage found and wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSalvage {
    /// Segment files that were read.
    pub segments: u64,
    /// Entries of the new log that come from the old one.
    pub kept: u64,
    /// Entries of the new log that lost a section.
    pub blanked: u64,
    /// Places that were mended without loss.
    pub mended: u64,
    /// Where the new log ends, if entries behind it are gone.
    pub ends_at: Option<u64>,
    /// Entries behind that place that verify for themselves.
    pub loose: u64,
    /// What did not verify, at most a thousand.
    pub findings: Vec<SalvageFinding>,
    /// Findings in all.
    pub findings_count: u64,
    /// The blobs that the new log has, by the offset of their entries.
    pub blobs: BTreeMap<u64, Blob>,
}

/// Writes what verifies of the log under `from` to a log under `to`, where there must be none. Gives loose entries to
/// `loose`.
pub fn salvage(
    disk: &dyn Disk,
    (from, to): (&Path, &Path),
    rng: &dyn Rng,
    loose: &mut dyn FnMut(Entry),
) -> Result<LogSalvage, LogError> {
    let (source, target) = (Paths::new(from), Paths::new(to));
    let firsts = match disk.exists(&source.log()) {
        true => list(disk, &source)?,
        false => Vec::new(),
    };
    disk.create_dir_all(&target.log()).map_err(opening)?;
    let mut files = Vec::new();
    for first in &firsts {
        let name = file_name(*first);
        let file = disk.open_read(&source.segment(&name)).map_err(opening)?;
        files.push((*first, name, file));
    }
    let mut known = None;
    for (_, _, file) in &files {
        let mut bytes = vec![0; HEAD_LEN];
        let _ = file.read_at(&mut bytes, 0);
        known = known.or_else(|| head_of(&bytes).map(|(head, _)| head));
    }
    let mut salvager = Salvager::new(disk, target, rng, loose);
    let Some(known) = known else {
        if !files.is_empty() {
            salvager.found("log", 0, "no segment says which log it belongs to; nothing was read");
        }
        return Ok(salvager.report);
    };
    salvager.log_id = known.log_id;
    for (first, name, file) in files {
        salvager.report.segments += 1;
        let bytes = salvager.read(&name, &*file);
        salvager.segment(first, &name, &bytes)?;
    }
    salvager.finish()
}

struct Salvager<'a> {
    disk: &'a dyn Disk,
    paths: Paths,
    rng: &'a dyn Rng,
    loose: &'a mut dyn FnMut(Entry),
    log_id: [u8; 16],
    epoch: u32,
    next_offset: u64,
    next_batch: u64,
    tip: [u8; 32],
    recorded_at: RecordedAt,
    chains: Chains,
    /// The segment that is being written: its first offset, and its bytes.
    out: (u64, Vec<u8>),
    written: usize,
    in_segment: u64,
    /// Sections that are to be named by an erasure, by tenant.
    blank: BTreeMap<u32, BTreeMap<u64, EraseTarget>>,
    /// Sections that are zero, and those that an erasure names.
    zero: BTreeMap<(u64, bool), (u32, Place)>,
    named: BTreeSet<(u64, bool)>,
    report: LogSalvage,
}

impl<'a> Salvager<'a> {
    fn new(
        disk: &'a dyn Disk,
        paths: Paths,
        rng: &'a dyn Rng,
        loose: &'a mut dyn FnMut(Entry),
    ) -> Salvager<'a> {
        Salvager {
            disk,
            paths,
            rng,
            loose,
            log_id: [0; 16],
            epoch: 0,
            next_offset: 0,
            next_batch: 1,
            tip: [0; 32],
            recorded_at: RecordedAt(Micros(0)),
            chains: Chains::new(),
            out: (0, Vec::new()),
            written: 0,
            in_segment: 0,
            blank: BTreeMap::new(),
            zero: BTreeMap::new(),
            named: BTreeSet::new(),
            report: LogSalvage::default(),
        }
    }

    fn seed(&self) -> Seed {
        Seed::of(&self.log_id)
    }

    fn found(&mut self, file: &str, position: usize, what: &str) {
        self.report.findings_count += 1;
        if self.report.findings.len() < FINDINGS_MAX {
            let (file, what) = (format!("log/{file}"), what.to_owned());
            self.report.findings.push(SalvageFinding { file, position: position as u64, what });
        }
    }

    fn mended(&mut self, file: &str, position: usize, what: &str) {
        self.report.mended += 1;
        self.found(file, position, what);
    }

    /// The bytes of a file. What the disk does not give back is zero.
    fn read(&mut self, name: &str, file: &dyn DiskFile) -> Vec<u8> {
        let len = file.len().unwrap_or(0);
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        let mut at = 0;
        while at < bytes.len() {
            let end = bytes.len().min(at + READ_BYTES);
            let Some(piece) = bytes.get_mut(at..end) else { break };
            match file.read_at(piece, at as u64) {
                Ok(0) => break,
                Ok(read) => at += read,
                Err(_) => {
                    piece.fill(0);
                    self.found(name, at, "the disk does not give these bytes back");
                    at = end;
                }
            }
        }
        bytes
    }

    fn segment(&mut self, first: u64, name: &str, bytes: &[u8]) -> Result<(), LogError> {
        let own = head_of(bytes).filter(|(head, _)| head.log_id == self.log_id);
        let head = match own {
            Some((head, false)) => head,
            other => {
                let mended = other.map(|(head, _)| head);
                self.mended(name, 0, "the segment head was damaged and is made again");
                mended.unwrap_or(SegmentHead {
                    log_id: self.log_id,
                    epoch: self.epoch,
                    first_offset: first,
                    first_batch: self.next_batch,
                    prev_tip: self.tip,
                    erase_from: 0,
                    erase_gen: Some(1),
                })
            }
        };
        let goes_on = head.first_offset == self.next_offset
            && head.first_batch == self.next_batch
            && head.prev_tip == self.tip;
        if !goes_on {
            self.end(name, 0, "entries before this segment are gone");
        }
        self.epoch = self.epoch.max(head.epoch);
        if self.report.ends_at.is_none() {
            self.out = (head.first_offset, head.encode().to_vec());
            self.in_segment = 0;
        }
        self.batches(name, bytes);
        self.seal()
    }

    /// From here on nothing can be chained any more.
    fn end(&mut self, name: &str, position: usize, what: &str) {
        if self.report.ends_at.is_none() {
            self.report.ends_at = Some(self.next_offset);
            let what = format!(
                "{what}: the new log ends before entry {}; what verifies behind it is loose",
                self.next_offset
            );
            self.found(name, position, &what);
        }
    }

    /// Reads the batches of a segment, and copies those that hold.
    fn batches(&mut self, name: &str, bytes: &[u8]) {
        let written = HEAD_LEN.max(written_len(bytes)).min(bytes.len());
        let mut position = HEAD_LEN.min(bytes.len());
        let mut batch: Vec<Kept> = Vec::new();
        while position < bytes.len() {
            match self.item(name, bytes, position) {
                Found::Record(kept, len) => {
                    position += len;
                    batch.push(*kept);
                }
                Found::Commit(commit) => {
                    position += COMMIT_LEN;
                    self.flush(name, std::mem::take(&mut batch), Some(commit));
                }
                Found::Footer => break,
                Found::Blank if position >= written => break,
                Found::Blank | Found::Nothing => {
                    let Some(next) = self.next_item(bytes, position + 1) else { break };
                    let is_commit_alone =
                        next - position == COMMIT_LEN && self.closes(bytes, next, &batch);
                    let whole = std::mem::take(&mut batch);
                    if is_commit_alone {
                        self.mended(name, position, "a commit was damaged and is made again");
                        self.flush(name, whole, None);
                    } else {
                        self.end(name, position, "entries are damaged beyond reading");
                        whole.into_iter().for_each(|kept| self.let_go(kept));
                    }
                    position = next;
                }
            }
        }
        if !batch.is_empty() {
            let what = "a batch has no end: nothing says that it was ever acknowledged";
            self.found(name, position, what);
            batch.into_iter().for_each(|kept| self.let_go(kept));
        }
    }

    /// Whether what follows at a place says that a batch ended before it.
    fn closes(&self, bytes: &[u8], next: usize, batch: &[Kept]) -> bool {
        let Some(last) = batch.last() else { return false };
        match item(from(bytes, next), self.seed()) {
            Ok(Item::Record(record)) => {
                record.head.offset == last.head.offset + 1
                    && record.head.batch == last.head.batch + 1
            }
            Ok(Item::Footer(footer)) => footer.last_offset == last.head.offset,
            _ => false,
        }
    }

    /// What stands at a place, a flipped bit set right.
    fn item(&mut self, name: &str, bytes: &[u8], position: usize) -> Found {
        let (seed, rest) = (self.seed(), from(bytes, position));
        match item(rest, seed) {
            Ok(Item::Record(record)) => return kept(&record, rest, position),
            Ok(Item::Commit(commit)) => return Found::Commit(commit),
            Ok(Item::Footer(_)) => return Found::Footer,
            Ok(Item::Blank) => return Found::Blank,
            Err(_) => {}
        }
        let Some(mended) = flip_back(rest, seed) else { return Found::Nothing };
        self.mended(name, position, "a flipped bit was set right: checksum and seal hold again");
        match item(&mended, seed) {
            Ok(Item::Record(record)) => kept(&record, &mended, position),
            Ok(Item::Commit(commit)) => Found::Commit(commit),
            Ok(Item::Footer(_)) => Found::Footer,
            Ok(Item::Blank) | Err(_) => Found::Nothing,
        }
    }

    /// The next place at which something can be read.
    fn next_item(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let (seed, end) = (self.seed(), written_len(bytes));
        (start..end).find(|position| {
            matches!(
                item(from(bytes, *position), seed),
                Ok(Item::Record(_) | Item::Commit(_) | Item::Footer(_))
            )
        })
    }

    /// Copies a batch, if it continues what was copied before.
    fn flush(&mut self, name: &str, batch: Vec<Kept>, commit: Option<Commit>) {
        let position = batch.first().map_or(0, |kept| kept.position);
        if self.report.ends_at.is_none() && !self.continues(&batch, commit.as_ref()) {
            self.end(name, position, "a batch does not continue the one before it");
        }
        if self.report.ends_at.is_some() {
            batch.into_iter().for_each(|kept| self.let_go(kept));
            return;
        }
        let mut tip = TipHash::after(&self.tip);
        let count = u32::try_from(batch.len()).expect("a batch is limited");
        for kept in batch {
            tip.seal(&kept.head.seal);
            self.chains.push(&kept.head);
            self.next_offset = kept.head.offset + 1;
            self.recorded_at = kept.head.recorded_at;
            self.copy(name, kept);
        }
        self.chains.keep();
        self.tip = tip.finish();
        let commit = Commit { batch: self.next_batch, count, tip: self.tip };
        let seed = self.seed();
        commit.encode(&mut self.out.1, seed);
        self.next_batch += 1;
    }

    fn continues(&mut self, batch: &[Kept], commit: Option<&Commit>) -> bool {
        let (mut offset, mut at) = (self.next_offset, self.recorded_at);
        let mut tip = TipHash::after(&self.tip);
        let mut holds = !batch.is_empty();
        for Kept { head, .. } in batch {
            holds &= head.offset == offset
                && head.batch == self.next_batch
                && head.recorded_at > at
                && self.chains.continues(head).is_ok();
            self.chains.push(head);
            tip.seal(&head.seal);
            (offset, at) = (offset + 1, head.recorded_at);
        }
        self.chains.take_back();
        let (tip, count) = (tip.finish(), batch.len());
        holds
            && commit.is_none_or(|commit| {
                commit.batch == self.next_batch
                    && commit.count as usize == count
                    && commit.tip == tip
            })
    }

    /// Copies a record. A section that does not verify is left blank.
    fn copy(&mut self, name: &str, kept: Kept) {
        let Kept { head, mut bytes, damaged, position } = kept;
        let place = Place::at(self.written, self.out.1.len());
        if !damaged.is_empty() {
            self.report.blanked += 1;
        }
        for (part, range) in damaged {
            let what = format!(
                "the section `{}` of entry {} ({}) does not verify and is left blank",
                if part == Part::Who { "who" } else { "what" },
                head.offset,
                kind_name(&head),
            );
            self.found(name, position + range.start, &what);
            if let Some(section) = bytes.get_mut(range) {
                section.fill(0);
            }
            self.blank(&head, place, part);
        }
        self.note(&head, &bytes, place);
        self.out.1.extend_from_slice(&bytes);
        self.in_segment += 1;
        self.report.kept += 1;
    }

    fn blank(&mut self, head: &Head, place: Place, part: Part) {
        let target = EraseTarget { offset: head.offset, place, who: false, what: false };
        let targets = self.blank.entry(head.tenant).or_default();
        let target = targets.entry(head.offset).or_insert(target);
        target.who |= part == Part::Who;
        target.what |= part == Part::What;
        self.named.insert((head.offset, part == Part::Who));
    }

    /// Notes blobs, blank sections, and what erasures name.
    fn note(&mut self, head: &Head, bytes: &[u8], place: Place) {
        let Ok(record) = record::decode(bytes, self.seed()) else { return };
        for (section, is_who) in [(record.who, true), (record.what, false)] {
            if !section.is_empty() && section.iter().all(|byte| *byte == 0) {
                self.zero.insert((head.offset, is_who), (head.tenant, place));
            }
        }
        if head.kind != Kind::Control {
            return;
        }
        if head.sub == control::BLOB_REMOVED {
            for blob in &head.causes {
                self.report.blobs.remove(blob);
            }
        }
        let SectionRead::Live(what) = section::read(record.what, &head.what_commit) else { return };
        match head.sub {
            control::BLOB => {
                if let Ok(blob) = Blob::decode(what) {
                    self.report.blobs.insert(head.offset, blob);
                }
            }
            control::ERASE => {
                for target in EraseEntry::decode(head, what).into_iter().flat_map(|one| one.targets)
                {
                    let parts = [(target.who, true), (target.what, false)];
                    let parts = parts.into_iter().filter(|(named, _)| *named);
                    self.named.extend(parts.map(|(_, is_who)| (target.offset, is_who)));
                }
            }
            _ => {}
        }
    }

    /// Gives an entry that cannot be chained to the caller.
    fn let_go(&mut self, kept: Kept) {
        let Ok(record) = record::decode(&kept.bytes, self.seed()) else { return };
        let state = |bytes: &[u8], commit: &[u8; 32]| match section::read(bytes, commit) {
            _ if bytes.is_empty() => SectionState::Absent,
            SectionRead::Live(words) => SectionState::Live(words.to_vec()),
            SectionRead::Erased | SectionRead::Damaged(_) => SectionState::Erased,
        };
        let who = state(record.who, &record.head.who_commit);
        let what = state(record.what, &record.head.what_commit);
        self.report.loose += 1;
        (self.loose)(Entry { head: record.head, who, what, place: Place(0) });
    }

    /// Writes the segment with a footer, if it holds anything.
    fn seal(&mut self) -> Result<(), LogError> {
        let (first, mut bytes) = std::mem::take(&mut self.out);
        if self.in_segment == 0 {
            return Ok(());
        }
        let footer = Footer {
            last_offset: self.next_offset - 1,
            last_batch: self.next_batch - 1,
            count: std::mem::take(&mut self.in_segment),
            end: bytes.len() as u64,
            recorded_at: self.recorded_at,
            tip: self.tip,
        };
        bytes.extend_from_slice(&footer.encode(self.seed()));
        debug_assert!(bytes.len() >= HEAD_LEN + FOOTER_LEN);
        self.written += 1;
        let path = self.paths.segment(&file_name(first));
        write_atomic(self.disk, &path, &bytes).map_err(opening)
    }

    /// Adds a segment that names the sections that are blank now, and a mark.
    fn finish(mut self) -> Result<LogSalvage, LogError> {
        if self.written == 0 {
            return Ok(self.report);
        }
        let zero = std::mem::take(&mut self.zero);
        for ((offset, is_who), (tenant, place)) in zero {
            if !self.named.contains(&(offset, is_who)) {
                let target = EraseTarget { offset, place, who: false, what: false };
                let targets = self.blank.entry(tenant).or_default();
                let target = targets.entry(offset).or_insert(target);
                target.who |= is_who;
                target.what |= !is_who;
            }
        }
        let head = SegmentHead {
            log_id: self.log_id,
            epoch: self.epoch,
            first_offset: self.next_offset,
            first_batch: self.next_batch,
            prev_tip: self.tip,
            erase_from: 0,
            erase_gen: Some(0),
        };
        self.out = (self.next_offset, head.encode().to_vec());
        for (tenant, targets) in std::mem::take(&mut self.blank) {
            let targets: Vec<EraseTarget> = targets.into_values().collect();
            for some in targets.chunks(CAUSES_MAX) {
                let causes = some.iter().map(|target| target.offset).collect();
                let erase = self.next_offset;
                self.own((control::ERASE, tenant), causes, &encode_erase(some, &[]));
                let ended = ErasedEntry { erase }.encode();
                self.own((control::ERASED, tenant), vec![erase], &ended);
            }
        }
        self.own((0, DEPLOYMENT), Vec::new(), &[]);
        self.seal()?;
        Ok(self.report)
    }

    /// Appends an entry of the log itself as a batch of its own; a mark has no number.
    fn own(&mut self, (sub, tenant): (u16, u32), causes: Vec<u64>, what: &[u8]) {
        let chain = self.chains.next(tenant, SYSTEM_SCOPE, &NoViews);
        let chain = chain.expect("a lookup in memory does not fail");
        let what = match what {
            [] => Section::absent(),
            words => {
                let mut salt = draw::<32>(self.rng);
                salt[0] |= 1;
                Section::seal(salt, words)
            }
        };
        let at = RecordedAt(self.recorded_at.0.plus(1));
        let mut head = Head {
            version: HEAD_VERSION,
            kind: if sub == 0 { Kind::Mark } else { Kind::Control },
            sub,
            flags: 0,
            codec_who: 0,
            codec_what: 0,
            key_id: 0,
            offset: self.next_offset,
            batch: self.next_batch,
            tenant,
            tenant_seq: chain.tenant_seq,
            scope: SYSTEM_SCOPE,
            scope_seq: chain.scope_seq,
            id: *EventId::mint(at.0, draw::<8>(self.rng)).as_bytes(),
            recorded_at: at,
            causes,
            who_len: 0,
            what_len: u32::try_from(what.bytes().len()).expect("the entry is small"),
            who_commit: [0; 32],
            what_commit: what.commit(),
            prev_seal: chain.prev_seal,
            seal: [0; 32],
        };
        let seed = self.seed();
        record::encode(&mut self.out.1, seed, &mut head, &[], what.bytes());
        let mut tip = TipHash::after(&self.tip);
        tip.seal(&head.seal);
        self.tip = tip.finish();
        Commit { batch: self.next_batch, count: 1, tip: self.tip }.encode(&mut self.out.1, seed);
        self.chains.push(&head);
        self.chains.keep();
        self.in_segment += 1;
        self.next_offset += 1;
        self.next_batch += 1;
        self.recorded_at = at;
    }
}

#[cfg(test)]
mod tests;

//! Opening: the ends of all segments, the whole of the last one, and what law 4 makes of it.
//!
//! The cost depends on the last segment, not on the size of the log: sealed segments show their
//! head and their footer only.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use lamina_env::rng::draw;
use lamina_env::{Disk, DiskFile, Rng, SteadyClock};
use lamina_types::RecordedAt;

use super::acknowledged::{KnownTail, Reached, Record};
use super::anchor::Anchor;
use super::bytes::{from, index, written_len};
use super::chains::Chains;
use super::checkpoint::Checkpoint;
use super::ends::{Ends, open_before};
use super::erase::EraseEntry;
use super::files::list;
use super::paths::Paths;
use super::quarantine::{self, Torn, Unused};
use super::reader::{Segment, SegmentReader, Shared};
use super::record::Seed;
use super::recover::{Damage, Recovered, judge};
use super::scan::{Own, Standing};
use super::segment::{
    ERASE_GEN_AT, FOOTER_LEN, FORMAT, HEAD_LEN, HeadFault, SegmentHead, file_name,
};
use super::writer::{Active, SegmentLog};
use super::{LogError, LogReader, Tip, zero};
use crate::ballast::Ballast;
use crate::entry::Place;
use crate::keys::Keys;

/// Limits of the configured segment size; positions in a segment are 32 bits, and the last
/// segment is read into memory when the log is opened.
const SEGMENT_BYTES_MAX: u64 = 256 * 1_024 * 1_024;
/// Bytes read at a time.
const READ_BYTES: usize = 256 * 1_024;
const CHECKPOINT_FILE_BYTES_MAX: u64 = 64 * 1_024;

/// How to open a log.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Where the files are.
    pub disk: Arc<dyn Disk>,
    /// The data directory.
    pub dir: PathBuf,
    /// The time.
    pub clock: Arc<SteadyClock>,
    /// Ids, salts and the log's own id.
    pub rng: Arc<dyn Rng>,
    /// Signs checkpoints.
    pub keys: Arc<Keys>,
    /// Bytes of a segment file; [`OpenOptions::SEGMENT_BYTES`] unless there is a reason.
    pub segment_bytes: u64,
    /// Space kept back for a full disk.
    pub ballast: Ballast,
    /// Which life of the log this is: 0, and one more after each restore. Never goes back.
    pub epoch: u32,
    /// How far the log is known to have reached.
    pub known: KnownTail,
}

impl OpenOptions {
    /// The usual size of a segment.
    pub const SEGMENT_BYTES: u64 = 64 * 1_024 * 1_024;
}

/// What opening found and did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenReport {
    /// A torn tail that was cut.
    pub cut: Option<Cut>,
    /// A segment file that was being made when the process stopped, and was removed.
    pub removed: Option<String>,
    /// Erasures that had been interrupted and were finished.
    pub finished_erasures: u64,
    /// Segment files.
    pub segments: u64,
    /// Entries.
    pub entries: u64,
    /// Bytes that were read and verified.
    pub verified_bytes: u64,
}

/// Bytes that do not hold, from the end of the log, and are now in quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The segment file's name.
    pub file: String,
    /// Where in it.
    pub position: u64,
    /// How many.
    pub bytes: u64,
    /// The file in `quarantine/` that has them.
    pub quarantine: String,
    /// Whether the record beside the log says that they had been acknowledged; `None`: there is no record.
    pub acknowledged: Option<bool>,
}

/// What an opened log begins with.
pub(super) struct Opened {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) rng: Arc<dyn Rng>,
    pub(super) keys: Arc<Keys>,
    pub(super) shared: Arc<Shared>,
    pub(super) log_id: [u8; 16],
    pub(super) epoch: u32,
    pub(super) segment_bytes: u64,
    pub(super) ballast: Ballast,
    pub(super) clock: Arc<SteadyClock>,
    pub(super) tip: Tip,
    pub(super) active: Option<Active>,
    pub(super) erasures: Vec<EraseEntry>,
    pub(super) chains: Chains,
    pub(super) closed: bool,
    pub(super) checkpoint: Option<LastCheckpoint>,
    pub(super) record: Option<Record>,
}

/// What is known of the last checkpoint.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastCheckpoint {
    /// The last batch it covers.
    pub(super) batch: u64,
    pub(super) recorded_at: RecordedAt,
}

/// What there is on disk, before anything is done about it.
struct Looked {
    paths: Paths,
    log_id: Option<[u8; 16]>,
    dropped: Vec<u64>,
    unused: Option<Unused>,
    ends: Ends,
    last: Option<Last>,
    tail: Tail,
    checkpoint: Option<LastCheckpoint>,
    /// What the record beside the log says.
    reached: Option<Reached>,
}

impl Looked {
    /// Looks at everything that can refuse. Changes nothing.
    fn at(options: &OpenOptions) -> Result<Looked, LogError> {
        let paths = Paths::new(&options.dir);
        let disk = &*options.disk;
        let anchor = Anchor::find(disk, &paths, Some(options.keys.public()))?;
        let (dropped, mut list) = dropped(list(disk, &paths)?, anchor.as_ref());
        let (last, unused) = take_last(disk, &paths, &mut list, options.epoch)?;
        let mut ends = Ends::after(anchor.as_ref());
        for first_offset in &list {
            ends.sealed(disk, &paths, *first_offset)?;
        }
        let log_id = last.as_ref().map(|last| last.head.log_id).or(ends.log_id);
        let mut tail = Tail::before(&ends);
        if let Some(last) = &last {
            tail = Tail::of(disk, &paths, &mut ends, last)?;
            tail.number_targets(&ends);
        }
        let checkpoint = match options.known.accept_loss {
            // What it saw may be what is given up.
            true => tail.checkpoint,
            false => last_checkpoint(disk, &paths, &log_id.unwrap_or_default(), &tail)?,
        };
        generations_hold(&ends, &tail.erasures)?;
        let known = &options.known;
        let reached = known.judge(disk, &paths.acknowledged(), log_id, &tail.tip)?;
        Ok(Looked { paths, log_id, dropped, unused, ends, last, tail, checkpoint, reached })
    }
}

/// The reading side of a log that nobody writes: nothing is mended, made or enlarged.
pub fn read_only(options: &OpenOptions) -> Result<(Arc<dyn LogReader>, Tip), LogError> {
    let Looked { paths, log_id, ends, tail, .. } = Looked::at(options)?;
    let disk = Arc::clone(&options.disk);
    let shared = Shared::new(disk, paths, log_id.unwrap_or_default(), ends.segments, tail.tip);
    shared.erasing.write().extend(tail.erasures);
    Ok((Arc::new(SegmentReader::new(Arc::new(shared))), tail.tip))
}

impl SegmentLog {
    /// Opens the log in a data directory, or begins one. Call [`SegmentLog::start`] before the
    /// first append.
    pub fn open(options: OpenOptions) -> Result<(SegmentLog, OpenReport), LogError> {
        let paths = Paths::new(&options.dir);
        let disk = &*options.disk;
        make_directories(disk, &paths)?;
        let ballast = options.ballast.clone();
        let mut report = OpenReport::default();
        let Looked { paths, log_id, dropped, unused, ends, last, tail, checkpoint, reached } =
            Looked::at(&options)?;
        let log_id = log_id.unwrap_or_else(|| draw::<16>(&*options.rng));
        report.verified_bytes = last.as_ref().map_or(0, |last| last.bytes.len() as u64);
        // Everything that can refuse has had its say; only now is anything changed.
        remove(disk, &paths, &dropped)?;
        if options.known.accept_loss && disk.exists(&paths.checkpoint()) {
            disk.remove(&paths.checkpoint()).map_err(opening)?;
        }
        if let Some(unused) = unused {
            report.removed = Some(quarantine::remove_unused(disk, &paths, unused)?);
        }
        if let (Some(last), Some(range)) = (&last, tail.cut) {
            let torn = last.torn(range);
            let mut cut = quarantine::cut(disk, &paths, &torn, &ballast)?;
            cut.acknowledged = reached.map(|reached| reached.is_beyond(tail.tip.next_offset));
            report.cut = Some(cut);
        }
        let tip = tail.tip;
        let record = options
            .known
            .recorded
            .then(|| Record::open(disk, &paths.acknowledged(), log_id, &tip))
            .flatten();
        report.segments = ends.segments.len() as u64;
        report.entries = tip.next_offset;
        let epoch = options.epoch.max(ends.epoch);
        let shared =
            Arc::new(Shared::new(Arc::clone(&options.disk), paths, log_id, ends.segments, tip));
        for erase in &tail.erasures {
            zero::sections(&shared, &erase.targets, &ballast)?;
        }
        shared.erasing.write().extend_from_slice(&tail.erasures);
        report.finished_erasures = tail.erasures.len() as u64;
        let mut opened = Opened {
            clock: options.clock,
            disk: options.disk,
            rng: options.rng,
            keys: options.keys,
            shared,
            log_id,
            epoch,
            segment_bytes: options.segment_bytes.clamp(4_096, SEGMENT_BYTES_MAX),
            ballast,
            tip,
            active: None,
            erasures: tail.erasures,
            chains: tail.chains,
            closed: tail.closed,
            checkpoint,
            record,
        };
        if let Some(last) = last {
            opened.active = Some(activate(&opened, last, tail.entries, tail.sealed)?);
        }
        Ok((SegmentLog::from_opened(opened), report))
    }
}

fn make_directories(disk: &dyn Disk, paths: &Paths) -> Result<(), LogError> {
    for dir in [paths.log(), paths.quarantine(), paths.checkpoints()] {
        if !disk.exists(&dir) {
            disk.create_dir_all(&dir).map_err(opening)?;
        }
    }
    disk.sync_dir(paths.data()).map_err(opening)
}

/// Segments before the anchor, which were being dropped when the process stopped, and those after.
fn dropped(list: Vec<u64>, anchor: Option<&Anchor>) -> (Vec<u64>, Vec<u64>) {
    let first_left = anchor.map_or(0, |anchor| anchor.next_offset);
    list.into_iter().partition(|first| *first < first_left)
}

fn remove(disk: &dyn Disk, paths: &Paths, dropped: &[u64]) -> Result<(), LogError> {
    for first_offset in dropped {
        disk.remove(&paths.segment(&file_name(*first_offset))).map_err(opening)?;
    }
    Ok(())
}

/// The last segment, in memory.
struct Last {
    name: String,
    file: Arc<dyn DiskFile>,
    head: SegmentHead,
    bytes: Vec<u8>,
}

impl Last {
    fn torn(&self, (start, end): (usize, usize)) -> Torn<'_> {
        Torn {
            segment: &self.name,
            file: &*self.file,
            position: start,
            bytes: self.bytes.get(start..end).unwrap_or(&[]),
        }
    }
}

/// Takes the last segment off the list, and before it one that holds nothing: it was being made
/// when the process stopped, or is empty and of an earlier epoch.
fn take_last(
    disk: &dyn Disk,
    paths: &Paths,
    list: &mut Vec<u64>,
    epoch: u32,
) -> Result<(Option<Last>, Option<Unused>), LogError> {
    let mut unused = None;
    while let Some(first_offset) = list.pop() {
        let name = file_name(first_offset);
        let file: Arc<dyn DiskFile> = Arc::from(disk.open(&paths.segment(&name)).map_err(opening)?);
        let mut bytes = read_whole(&*file)?;
        let empty = written_len(from(&bytes, HEAD_LEN)) == 0;
        let why = match SegmentHead::decode(&bytes) {
            Ok(head) if !(empty && (head.epoch < epoch || head.erase_gen.is_none())) => {
                let last = Last { name, file, head, bytes };
                return Ok((Some(last), unused));
            }
            Err(HeadFault::Newer(found)) => {
                return Err(LogError::NewerFormat { found, supported: FORMAT });
            }
            Ok(_) => "an empty segment follows an empty segment",
            Err(HeadFault::Damaged(what)) => what,
        };
        // The head is durable before the first batch is written: with a batch behind it, a head
        // that does not hold was damaged later. And only one segment is made at a time.
        if !empty || unused.is_some() {
            return Err(corrupt_at(&name, 0, why));
        }
        bytes.truncate(HEAD_LEN);
        unused = Some(Unused { name, head: bytes });
    }
    Ok((None, unused))
}

/// The bytes of a whole segment. Most of the last one is often still zero: what was never written to
/// is not touched here either, so that it costs no memory.
pub(super) fn read_whole(file: &dyn DiskFile) -> Result<Vec<u8>, LogError> {
    let len = index(file.len().map_err(opening)?);
    let mut bytes = vec![0; len];
    let mut buffer = vec![0; READ_BYTES];
    let mut done = 0;
    while done < len {
        let read = file.read_at(&mut buffer, done as u64).map_err(opening)?;
        let (Some(piece), Some(rest)) = (buffer.get(..read), bytes.get_mut(done..)) else { break };
        if piece.is_empty() {
            break;
        }
        if piece.iter().any(|byte| *byte != 0) {
            rest.iter_mut().zip(piece).for_each(|(to, from)| *to = *from);
        }
        done += read;
    }
    bytes.truncate(done);
    Ok(bytes)
}

/// How the log ends.
struct Tail {
    tip: Tip,
    erasures: Vec<EraseEntry>,
    chains: Chains,
    entries: u64,
    closed: bool,
    sealed: bool,
    checkpoint: Option<LastCheckpoint>,
    cut: Option<(usize, usize)>,
}

impl Tail {
    /// The end of a log without a last segment: an empty one, or one whose last segment is sealed.
    fn before(ends: &Ends) -> Tail {
        let standing = ends.standing();
        Tail {
            tip: tip(&standing, Place::at(ends.segments.len(), HEAD_LEN)),
            erasures: Vec::new(),
            chains: Chains::new(),
            entries: 0,
            closed: true,
            sealed: false,
            checkpoint: None,
            cut: None,
        }
    }

    /// The end of a log, from its last segment.
    fn of(disk: &dyn Disk, paths: &Paths, ends: &mut Ends, last: &Last) -> Result<Tail, LogError> {
        let seed = Seed::of(&last.head.log_id);
        ends.begins(&last.name, &last.head)?;
        let open_before = open_before(disk, paths, ends, seed, last.head.erase_from)?;
        let recovered = judge(&last.bytes, seed, ends.standing(), &open_before)
            .map_err(|damage| corrupt(&last.name, damage))?;
        let number = ends.segments.len() - 1;
        let Recovered { walk, open, cut } = recovered;
        let sealed = walk.footer.is_some();
        if sealed && let Some(segment) = ends.segments.last_mut() {
            segment.end = Some(walk.end as u64);
        }
        let place = match sealed {
            true => Place::at(number + 1, HEAD_LEN),
            false => Place::at(number, walk.end),
        };
        ends.epoch = last.head.epoch;
        let checkpoint = walk.own.iter().rev().find_map(|own| match own {
            Own::Checkpoint(entry) => Some(LastCheckpoint {
                batch: Checkpoint::decode(&entry.payload)?.batch,
                recorded_at: entry.recorded_at,
            }),
            Own::Erase(_) | Own::Erased(_) | Own::Blob(_) | Own::BlobRemoved(_) => None,
        });
        Ok(Tail {
            tip: tip(&walk.standing, place),
            erasures: open,
            entries: walk.entries,
            closed: walk.last.is_none_or(|last| last.closing),
            chains: walk.chains,
            sealed,
            checkpoint,
            cut,
        })
    }
}

impl Tail {
    /// Names the segments of unfinished erasures by their number in this process: those before them
    /// may have been dropped since.
    fn number_targets(&mut self, ends: &Ends) {
        for target in self.erasures.iter_mut().flat_map(|erase| &mut erase.targets) {
            let after = ends.segments.partition_point(|s| s.first_offset <= target.offset);
            target.place = Place::at(after.saturating_sub(1), target.place.position());
        }
    }
}

fn tip(standing: &Standing, place: Place) -> Tip {
    Tip {
        next_offset: standing.next_offset,
        batch: standing.next_batch - 1,
        hash: standing.tip.unwrap_or_default(),
        recorded_at: standing.recorded_at,
        place,
    }
}

/// The newest checkpoint we know of. The file beside the log also says how far the log once was:
/// if it is shorter now, something acknowledged is gone.
fn last_checkpoint(
    disk: &dyn Disk,
    paths: &Paths,
    log_id: &[u8; 16],
    tail: &Tail,
) -> Result<Option<LastCheckpoint>, LogError> {
    let path = paths.checkpoint();
    if !disk.exists(&path) {
        return Ok(tail.checkpoint);
    }
    let bytes = lamina_env::disk::read_file(disk, &path, CHECKPOINT_FILE_BYTES_MAX);
    let file = bytes
        .ok()
        .and_then(|bytes| Checkpoint::from_json(std::str::from_utf8(&bytes).ok()?))
        .filter(Checkpoint::is_signed);
    // An unreadable file proves nothing; `check` reports it.
    let Some(file) = file else {
        return Ok(tail.checkpoint);
    };
    let (tip, what) = (&tail.tip, "checkpoints/latest.json");
    // The checkpoint is an entry of its own, at this offset, and was durable before the file.
    if tip.next_offset <= file.next_offset {
        return Err(LogError::Corrupt {
            file: what.to_owned(),
            position: 0,
            what: format!(
                "the log ends before offset {}, but a signed checkpoint saw it reach {}",
                tip.next_offset, file.next_offset
            ),
        });
    }
    if file.log_id != *log_id {
        return Err(LogError::Corrupt {
            file: what.to_owned(),
            position: 0,
            what: "the checkpoint belongs to another log".to_owned(),
        });
    }
    Ok(tail
        .checkpoint
        .or(Some(LastCheckpoint { batch: file.batch, recorded_at: file.recorded_at })))
}

/// A torn erase generation is fine only where an open erasure was at work.
fn generations_hold(ends: &Ends, erasures: &[EraseEntry]) -> Result<(), LogError> {
    for number in &ends.torn_generations {
        let mut targets = erasures.iter().flat_map(|erase| &erase.targets);
        if !targets.any(|target| target.place.segment() == *number) {
            let name = ends.segments.get(*number).map(Segment::name);
            let what = "the erase generation does not hold and no erasure is open";
            return Err(corrupt_at(&name.unwrap_or_default(), ERASE_GEN_AT, what));
        }
    }
    Ok(())
}

/// Makes the last segment writable again, or trims it if it was sealed but not trimmed yet.
fn activate(opened: &Opened, last: Last, entries: u64, sealed: bool) -> Result<Active, LogError> {
    let segments = opened.shared.segments.read();
    let number = segments.len() - 1;
    let end = segments.get(number).and_then(|segment| segment.end);
    let len = last.bytes.len() as u64;
    let mut capacity = len;
    if let Some(end) = end {
        let sealed_len = end + FOOTER_LEN as u64;
        if len > sealed_len {
            last.file.set_len(sealed_len).map_err(opening)?;
            last.file.sync().map_err(opening)?;
        }
    } else if len < opened.segment_bytes && last.file.allocate(opened.segment_bytes).is_ok() {
        // Without the space, the next batch that does not fit makes a segment of its own.
        capacity = opened.segment_bytes;
    }
    Ok(Active {
        file: last.file,
        number,
        epoch: last.head.epoch,
        position: end.unwrap_or(opened.tip.place.position() as u64),
        capacity,
        entries,
        sealed,
    })
}

pub(super) fn opening(source: io::Error) -> LogError {
    LogError::Io { doing: "opening the log", source }
}

fn corrupt(name: &str, damage: Damage) -> LogError {
    corrupt_at(name, damage.position as u64, &damage.what)
}

pub(super) fn corrupt_at(name: &str, position: u64, what: &str) -> LogError {
    LogError::Corrupt { file: name.to_owned(), position, what: what.to_owned() }
}

#[cfg(test)]
mod tests;

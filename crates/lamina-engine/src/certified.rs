//! Holding a certificate of an erasure against a directory: whether what it says was erased is zero there, and
//! whether the log is the one that it was signed for. Nothing is written.
//!
//! A directory that was restored from an older backup has other entries that erased, which the restore made
//! from the ledger. The ledger knows the entries of the certificate by their seals, and what they erased.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use lamina_env::Env;
use lamina_index::inspect::{Lies, inspect};
use lamina_store::certificate;
use lamina_store::codec::control::ErasureCertified;
use lamina_store::entry::{Entry, Kind, SectionState, control};
use lamina_store::ledger::{self, Taken};
use lamina_store::log::{self, Checkpoint, ErasePayload, EraseTarget, LogReader};

use crate::OpenError;
use crate::ledger::epoch_of;
use crate::maintenance::{With, checked, open_keys, options};
use crate::open::lock;

pub use lamina_store::certificate::{commitment, is_signed, manifest};

/// Entries and bytes of the log that are read at a time.
const ENTRIES_AT_ONCE: usize = 4_096;
const BYTES_AT_ONCE: usize = 8 * 1_024 * 1_024;

/// What a certificate says of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// The certificate in its canonical form.
    pub certificate: String,
    /// The hash of the one before it.
    pub previous: Option<[u8; 32]>,
    /// The log.
    pub log_id: [u8; 16],
    /// Checkpoints before and after, by their hashes.
    pub checkpoints: [[u8; 32]; 2],
    /// The seal of the entry that it began with.
    pub begun: [u8; 32],
    /// The seals of the entries that erased.
    pub erased: Vec<[u8; 32]>,
    /// Sections that they name.
    pub sections: u64,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Whether it is so.
    pub holds: bool,
    /// What was looked at.
    pub what: String,
}

/// The public half of the key that signs checkpoints and certificates. The directory may be in use.
pub fn public_key(data: &Path, env: &Env) -> Result<[u8; 32], OpenError> {
    crate::maintenance::existing(data, env)?;
    Ok(open_keys(data, env)?.public())
}

/// What the log of a directory has, as far as certificates speak of it.
#[derive(Debug, Default)]
struct Told {
    begun: BTreeSet<[u8; 32]>,
    erasures: BTreeMap<[u8; 32], ErasePayload>,
    checkpoints: BTreeSet<[u8; 32]>,
    certificates: BTreeSet<[u8; 32]>,
}

/// Holds a certificate against a directory that no server uses. With its ledger, the directory may be one that
/// was restored.
pub fn agrees(
    data: &Path,
    env: &Env,
    claims: &Claims,
    ledger: Option<&Path>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Point>, OpenError> {
    let found = checked(data, env, None, With::LogsAlone, progress)?;
    let damage = found.findings.iter().find(|finding| !finding.mends);
    let mut points = vec![match damage {
        None => Point::of(true, format!("the log verifies: {} entries, every seal", found.entries)),
        Some(finding) => Point::of(
            false,
            format!("{} at byte {}: {}", finding.file, finding.position, finding.what),
        ),
    }];
    if !found.findings.is_empty() {
        let what = "what is damaged or half written is no proof; nothing else was looked at";
        points.push(Point::of(false, what));
        return Ok(points);
    }
    let _lock = lock(env, data)?;
    let keys = open_keys(data, env)?;
    let (reader, _) = log::read_only(&options(data, env, &keys))?;
    let own = log::id(&*env.disk, data)?;
    points.push(Point::of(own == Some(claims.log_id), "it is the log that was signed for"));
    let told = told(&*reader)?;
    let epoch = epoch_of(&*env.disk, data)?;
    let is_zero = match ledger.filter(|_| epoch > 0 && !told.has_all(claims)) {
        Some(path) => {
            let taken = ledger::read(&*env.disk, path)?.taken;
            let (found, seen) = restored(&*reader, claims, &told, (&taken, epoch))?;
            points.extend(found);
            seen.point(claims).holds
        }
        None => {
            points.extend(told.has(claims));
            let seen = sections(&*reader, claims, &told)?;
            points.push(seen.point(claims));
            if epoch > 0 && !told.has_all(claims) {
                let what =
                    "the directory was restored: its ledger knows what was erased (--ledger)";
                points.push(Point::of(false, what));
            }
            seen.point(claims).holds
        }
    };
    // The index is held against what is zero in the log: what is not is nowhere said to be erased.
    points.push(match left_in_index(data, env, &found.erased_words) {
        Ok(0) if !is_zero => Point::of(
            false,
            "whether the search index has something of it cannot be told: not all of it is erased here",
        ),
        Ok(0) => Point::of(true, "the search index has nothing of what was erased"),
        Ok(left) => Point::of(false, format!("the search index has {left} traces")),
        Err(error) => Point::of(false, format!("the search index cannot be read: {error}")),
    });
    Ok(points)
}

impl Point {
    fn of(holds: bool, what: impl Into<String>) -> Point {
        Point { holds, what: what.into() }
    }
}

fn told(reader: &dyn LogReader) -> Result<Told, OpenError> {
    let mut told = Told::default();
    let (mut next, mut start, mut place) = (0, 0, None);
    loop {
        let entries = reader.read(start, place, ENTRIES_AT_ONCE, BYTES_AT_ONCE)?;
        for entry in entries.iter().filter(|entry| entry.head.offset >= next) {
            told.take(entry);
        }
        let Some(last) = entries.last().filter(|last| last.head.offset >= next) else {
            return Ok(told);
        };
        (next, start, place) = (last.head.offset + 1, last.head.offset, Some(last.place));
    }
}

impl Told {
    /// Whether the log has every entry that a certificate names.
    fn has_all(&self, claims: &Claims) -> bool {
        self.begun.contains(&claims.begun)
            && claims.checkpoints.iter().all(|hash| self.checkpoints.contains(hash))
            && claims.erased.iter().all(|seal| self.erasures.contains_key(seal))
    }

    /// Whether the log has what a certificate names.
    fn has(&self, claims: &Claims) -> [Point; 5] {
        let [own, before] = self.certifies(claims);
        let known = claims.checkpoints.iter().all(|hash| self.checkpoints.contains(hash));
        let there = claims.erased.iter().filter(|seal| self.erasures.contains_key(*seal)).count();
        let all = claims.erased.len();
        [
            own,
            before,
            Point::of(known, "the log has the checkpoints before and after"),
            Point::of(self.begun.contains(&claims.begun), "the log has its first entry"),
            Point::of(there == all, format!("the log has {there} of {all} entries that erased")),
        ]
    }

    /// Whether it has the certificate, and the one before it.
    fn certifies(&self, claims: &Claims) -> [Point; 2] {
        let own = self.certificates.contains(&certificate::hash(&claims.certificate));
        let before = claims.previous.is_none_or(|hash| self.certificates.contains(&hash));
        [
            Point::of(own, "the log has this certificate"),
            Point::of(before, "the log has the certificate before it"),
        ]
    }

    fn take(&mut self, entry: &Entry) {
        if entry.head.kind != Kind::Control {
            return;
        }
        let Some(what) = entry.what.live() else { return };
        match entry.head.sub {
            control::ERASURE_BEGUN => drop(self.begun.insert(entry.head.seal)),
            control::ERASE => {
                let payload = ErasePayload::decode(what);
                self.erasures.extend(payload.map(|payload| (entry.head.seal, payload)));
            }
            control::CHECKPOINT => {
                let checkpoint = Checkpoint::decode(what);
                self.checkpoints.extend(checkpoint.as_ref().map(certificate::checkpoint));
            }
            control::ERASURE_CERTIFIED => {
                let certified = ErasureCertified::decode(what).ok();
                let hash = certified.map(|it| certificate::hash(&it.certificate));
                self.certificates.extend(hash);
            }
            _ => {}
        }
    }
}

/// What became of the sections that a certificate speaks of.
#[derive(Debug, Default)]
struct Seen {
    named: u64,
    zero: u64,
    /// Of entries that this directory never had, or has no more.
    elsewhere: u64,
}

impl Seen {
    /// Looks at the sections of an entry; `None` if it is not there.
    fn look(&mut self, target: &EraseTarget, entry: Option<&Entry>) {
        let parts = |entry: &Entry| {
            let zero = |section: &SectionState| !matches!(section, SectionState::Live(_));
            [(target.who, zero(&entry.who)), (target.what, zero(&entry.what))]
        };
        self.named += u64::from(target.who) + u64::from(target.what);
        match entry.map(parts) {
            Some(parts) => {
                self.zero += parts.map(|(named, zero)| u64::from(named && zero)).iter().sum::<u64>()
            }
            None => self.elsewhere += u64::from(target.who) + u64::from(target.what),
        }
    }

    fn point(&self, claims: &Claims) -> Point {
        let Seen { named, zero, elsewhere } = *self;
        let holds = zero + elsewhere == named && named == claims.sections;
        let what = format!("{zero} of {} sections are zero", claims.sections);
        match elsewhere {
            0 => Point::of(holds, what),
            _ => Point::of(holds, format!("{what}, {elsewhere} are not in this directory")),
        }
    }
}

/// What the entries of the log that erased came to.
fn sections(reader: &dyn LogReader, claims: &Claims, told: &Told) -> Result<Seen, OpenError> {
    let mut seen = Seen::default();
    for payload in claims.erased.iter().filter_map(|seal| told.erasures.get(seal)) {
        for target in &payload.targets {
            seen.look(target, Some(&reader.entry(target.offset, target.place)?));
        }
    }
    Ok(seen)
}

/// The same for a directory that was restored, from what its ledger has of the entries that erased.
fn restored(
    reader: &dyn LogReader,
    claims: &Claims,
    told: &Told,
    (ledger, epoch): (&[Taken], u32),
) -> Result<(Vec<Point>, Seen), OpenError> {
    let mut points = Vec::new();
    let by_seal: BTreeMap<[u8; 32], &Taken> =
        ledger.iter().filter(|it| it.sub == control::ERASE).map(|it| (it.seal, it)).collect();
    let known: Vec<&Taken> =
        claims.erased.iter().filter_map(|seal| by_seal.get(seal).copied()).collect();
    let earlier = known.iter().all(|taken| taken.epoch < epoch);
    let what = format!("the directory was restored since: life {epoch} of its log");
    points.push(Point::of(earlier, what));
    points.extend(told.certifies(claims));
    let (there, all) = (known.len(), claims.erased.len());
    points.push(Point::of(
        there == all,
        format!("the ledger has {there} of {all} entries that erased"),
    ));
    let mut seen = Seen::default();
    for target in known.iter().flat_map(|taken| &taken.targets) {
        // An entry is known by its seal: another may stand in its place in this life.
        let is_it = |entry: &Entry| entry.head.seal == target.seal;
        let place = target.target.place;
        let found = reader.entry(target.target.offset, place).ok().filter(is_it);
        let found = match found {
            Some(entry) => Some(entry),
            None => reader.read(target.target.offset, None, 1, usize::MAX)?.into_iter().find(is_it),
        };
        seen.look(&target.target, found.as_ref());
    }
    points.push(seen.point(claims));
    Ok((points, seen))
}

/// Documents and vectors of erased events.
fn left_in_index(data: &Path, env: &Env, erased: &BTreeSet<u64>) -> Result<u64, String> {
    let mut left = 0;
    let mut show = |lies: Lies| left += u64::from(erased.contains(&lies.offset));
    let disk = Arc::clone(&env.disk);
    let seen = inspect(&disk, &data.join("search"), &[], &mut show);
    match seen.map_err(|error| error.to_string())?.unread.first() {
        None => Ok(left),
        Some((place, why)) => Err(format!("{place}: {why}")),
    }
}

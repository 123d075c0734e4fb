//! Holding a certificate of an erasure against a directory: whether what it says was erased is zero there, and
//! whether the log is the one that it was signed for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use lamina_env::Env;
use lamina_index::inspect::{Lies, inspect};
use lamina_store::certificate;
use lamina_store::codec::control::ErasureCertified;
use lamina_store::entry::{Entry, Kind, SectionState, control};
use lamina_store::log::{Checkpoint, ErasePayload, Log as _, LogReader, SegmentLog};

use crate::OpenError;
use crate::maintenance::{check, open_keys, options};
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

/// Holds a certificate against a directory that no server uses.
pub fn agrees(
    data: &Path,
    env: &Env,
    claims: &Claims,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Point>, OpenError> {
    let found = check(data, env, None, progress)?;
    let damage = found.findings.iter().find(|finding| !finding.mends);
    let mut points = vec![match damage {
        None => Point::of(true, format!("the log verifies: {} entries, every seal", found.entries)),
        Some(finding) => Point::of(
            false,
            format!("{} at byte {}: {}", finding.file, finding.position, finding.what),
        ),
    }];
    // Opening would mend, and this changes nothing.
    if !found.findings.is_empty() {
        let what = "what is damaged or half written is no proof; nothing else was looked at";
        points.push(Point::of(false, what));
        return Ok(points);
    }
    let _lock = lock(env, data)?;
    let keys = open_keys(data, env)?;
    let (log, _) = SegmentLog::open(options(data, env, &keys))?;
    let reader = log.reader();
    let own = lamina_store::log::id(&*env.disk, data)?;
    points.push(Point::of(own == Some(claims.log_id), "it is the log that was signed for"));
    let told = told(&*reader)?;
    points.extend(told.has(claims));
    let (zero, named) = sections(&*reader, claims, &told)?;
    points.push(Point::of(
        zero == named && named == claims.sections,
        format!("{zero} of {} sections are zero", claims.sections),
    ));
    points.push(match left_in_index(data, env, &found.erased_words) {
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
    /// Whether the log has what a certificate names.
    fn has(&self, claims: &Claims) -> [Point; 5] {
        let own = certificate::hash(&claims.certificate);
        let before = claims.previous.is_none_or(|hash| self.certificates.contains(&hash));
        let known = claims.checkpoints.iter().all(|hash| self.checkpoints.contains(hash));
        let there = claims.erased.iter().filter(|seal| self.erasures.contains_key(*seal)).count();
        let all = claims.erased.len();
        [
            Point::of(self.certificates.contains(&own), "the log has this certificate"),
            Point::of(before, "the log has the certificate before it"),
            Point::of(known, "the log has the checkpoints before and after"),
            Point::of(self.begun.contains(&claims.begun), "the log has its first entry"),
            Point::of(there == all, format!("the log has {there} of {all} entries that erased")),
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

/// How many of the sections that the entries name are zero, and how many there are.
fn sections(reader: &dyn LogReader, claims: &Claims, told: &Told) -> Result<(u64, u64), OpenError> {
    let (mut zero, mut named) = (0, 0);
    for payload in claims.erased.iter().filter_map(|seal| told.erasures.get(seal)) {
        for target in &payload.targets {
            let entry = reader.entry(target.offset, target.place)?;
            for (is_named, section) in [(target.who, &entry.who), (target.what, &entry.what)] {
                named += u64::from(is_named);
                zero += u64::from(is_named && !matches!(section, SectionState::Live(_)));
            }
        }
    }
    Ok((zero, named))
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

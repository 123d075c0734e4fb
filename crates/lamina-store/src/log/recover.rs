//! What law 4 says about the last segment: clean, torn, or corrupt.
//!
//! Batch b+1 is written only after the sync of b. So bytes that do not hold are a torn write only
//! if nothing valid of a later batch follows them; otherwise they were acknowledged once, and
//! the log refuses to open. A mark, a checkpoint and a footer are such "later" things.
//!
//! Pure: the caller does what the verdict says.

use super::bytes::{from, index, written_len};
use super::chains::Chains;
use super::erase::EraseEntry;
use super::record::{Fault, Seed};
use super::scan::{Standing, Walk, evidence, walk};
use super::segment::{FOOTER_LEN, HEAD_LEN};

/// Where the last segment is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) position: usize,
    pub(super) what: String,
}

/// The last segment as it is to be used.
#[derive(Debug)]
pub(super) struct Recovered {
    /// What is left after the cut.
    pub(super) walk: Walk,
    /// Bytes `start..end` were never acknowledged and are to be cut.
    pub(super) cut: Option<(usize, usize)>,
    /// Erasures that are durable but not finished.
    pub(super) open: Vec<EraseEntry>,
}

/// Judges the last segment. `open_before` are erasures still open from earlier segments.
pub(super) fn judge(
    bytes: &[u8],
    seed: Seed,
    standing: Standing,
    open_before: &[EraseEntry],
) -> Result<Recovered, Damage> {
    let full = walk(bytes, HEAD_LEN, seed, standing, Chains::new());
    let Some(cut) = torn_from(bytes, seed, &full)? else {
        let open = erasures_hold(&full, open_before)?;
        return Ok(Recovered { walk: full, cut: None, open });
    };
    let kept = bytes.get(..cut).unwrap_or(bytes);
    let walk = walk(kept, HEAD_LEN, seed, standing, Chains::new());
    let open = erasures_hold(&walk, open_before)?;
    Ok(Recovered { walk, cut: Some((cut, written_len(bytes))), open })
}

/// Where the torn tail begins, if there is one.
fn torn_from(bytes: &[u8], seed: Seed, walk: &Walk) -> Result<Option<usize>, Damage> {
    if let Some(footer) = &walk.footer {
        let after = index(footer.end) + FOOTER_LEN;
        if written_len(from(bytes, after)) > 0 {
            return Err(damage(after, "bytes follow the footer"));
        }
    }
    if let Some((position, fault)) = walk.stop {
        if let Fault::Meaning(what) = fault {
            return Err(damage(position, what));
        }
        let later = evidence(bytes, walk.end, seed, walk.standing.next_batch + 1);
        if let Some(later) = later {
            return Err(damage(position, &followed(fault.what(), later.batch)));
        }
    }
    let torn_tail = walk.stop.map(|_| walk.end);
    let Some(last) = walk.last else {
        return Ok(torn_tail);
    };
    // Nothing after the last batch can have erased from it, so its sections must all be live.
    let Some(suspect) = walk.suspects.iter().find(|s| s.batch == last.number) else {
        return Ok(torn_tail);
    };
    let what = suspect.damage.unwrap_or("a section is blank");
    let position = index(suspect.position);
    if walk.footer.is_some() {
        return Err(damage(position, &followed(what, last.number + 1)));
    }
    match evidence(bytes, walk.end, seed, last.number + 1) {
        Some(later) => Err(damage(position, &followed(what, later.batch))),
        None => Ok(Some(last.start)),
    }
}

/// Every section that is not live must be named by an erasure; half-zeroed ones by an open one.
fn erasures_hold(walk: &Walk, open_before: &[EraseEntry]) -> Result<Vec<EraseEntry>, Damage> {
    let open = walk.open_erasures(open_before.to_vec());
    for suspect in &walk.suspects {
        let named = match suspect.damage {
            None => walk.names(suspect),
            Some(_) => open.iter().any(|erase| erase.names(suspect.offset, suspect.part)),
        };
        if !named {
            let what = suspect.damage.unwrap_or("a section is blank that no erasure names");
            return Err(damage(index(suspect.position), what));
        }
    }
    Ok(open)
}

fn damage(position: usize, what: &str) -> Damage {
    Damage { position, what: what.to_owned() }
}

fn followed(what: &str, batch: u64) -> String {
    format!("{what}, and something of batch {batch} follows, so this was durable once")
}

#[cfg(test)]
mod tests;

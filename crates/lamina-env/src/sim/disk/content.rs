//! The bytes of a file, by sector: what was never written takes no memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::rng::SimRng;

pub(super) const SECTOR: u64 = 512;

type Sector = [u8; SECTOR as usize];

/// A sparse file.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    sectors: BTreeMap<u64, Sector>,
    len: u64,
    /// Bytes reserved beyond the length, or up to it.
    allocated: u64,
    /// Sectors changed since the last `catch_up`; a sync costs what was written, not the file.
    dirty: BTreeSet<u64>,
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes the file takes on the disk.
    pub(super) fn charged(&self) -> u64 {
        self.len.max(self.allocated)
    }

    pub(super) fn read(&self, position: u64, buffer: &mut [u8]) -> usize {
        let available = self.len.saturating_sub(position);
        let len = buffer.len().min(usize::try_from(available).unwrap_or(usize::MAX));
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..len)
            && !rest.is_empty()
        {
            let (number, offset) = locate(position + done as u64);
            let sector = self.sectors.get(&number).copied().unwrap_or([0; 512]);
            done += copy(rest, sector.get(offset..).unwrap_or(&[]));
        }
        len
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(self.len).unwrap_or(usize::MAX)];
        self.read(0, &mut bytes);
        bytes
    }

    /// Writes, and grows if it must.
    pub(super) fn write(&mut self, position: u64, bytes: &[u8]) {
        let mut done = 0;
        while let Some(rest) = bytes.get(done..)
            && !rest.is_empty()
        {
            let (number, offset) = locate(position + done as u64);
            let sector = self.sectors.entry(number).or_insert([0; 512]);
            self.dirty.insert(number);
            done += copy(sector.get_mut(offset..).unwrap_or_default(), rest);
        }
        self.len = self.len.max(position + bytes.len() as u64);
    }

    /// Cuts or extends; what was cut is zero if the file grows again.
    pub(super) fn set_len(&mut self, len: u64) {
        if len < self.len {
            let (last, offset) = locate(len);
            let gone = self.sectors.split_off(&(last + u64::from(offset > 0)));
            self.dirty.extend(gone.keys());
            self.dirty.insert(last);
            if let Some(sector) = self.sectors.get_mut(&last) {
                sector.iter_mut().skip(offset).for_each(|byte| *byte = 0);
            }
            self.allocated = self.allocated.min(len);
        }
        self.len = len;
    }

    pub(super) fn allocate(&mut self, len: u64) {
        self.allocated = self.allocated.max(len);
        self.len = self.len.max(len);
    }

    /// Becomes like `new`, of which only the dirty sectors can differ.
    pub(super) fn catch_up(&mut self, new: &mut Content) {
        for number in std::mem::take(&mut new.dirty) {
            match new.sectors.get(&number) {
                Some(sector) => self.sectors.insert(number, *sector),
                None => self.sectors.remove(&number),
            };
        }
        self.len = new.len;
        self.allocated = new.allocated;
    }

    /// What a crash may leave of `self` (the durable bytes) and `new` (what was written since).
    pub(super) fn torn(&self, new: &Content, rng: &SimRng) -> Content {
        let mut left = self.clone();
        let numbers: std::collections::BTreeSet<u64> =
            self.sectors.keys().chain(new.sectors.keys()).copied().collect();
        for number in numbers {
            let old = self.sectors.get(&number).copied().unwrap_or([0; 512]);
            let fresh = new.sectors.get(&number).copied().unwrap_or([0; 512]);
            if old == fresh {
                continue;
            }
            let chosen = match rng.below(4) {
                0 => old,
                1 | 2 => fresh,
                _ => splice(fresh, old, rng.below(SECTOR)),
            };
            left.sectors.insert(number, chosen);
        }
        let len = if rng.below(2) == 0 { self.len } else { new.len };
        let allocated = if rng.below(2) == 0 { self.allocated } else { new.allocated };
        // Sectors past the chosen end are gone.
        left.len = u64::MAX;
        left.set_len(len);
        left.allocated = allocated;
        left.dirty.clear();
        left
    }
}

/// Copies what fits, and says how much that was.
fn copy(to: &mut [u8], from: &[u8]) -> usize {
    let len = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
    len
}

fn locate(position: u64) -> (u64, usize) {
    let offset = usize::try_from(position % SECTOR).unwrap_or(0);
    (position / SECTOR, offset)
}

/// The first `at` bytes of one sector, the rest of another.
fn splice(first: Sector, rest: Sector, at: u64) -> Sector {
    let mut bytes = rest;
    let at = usize::try_from(at).unwrap_or(0);
    for (to, byte) in bytes.iter_mut().zip(first).take(at) {
        *to = byte;
    }
    bytes
}

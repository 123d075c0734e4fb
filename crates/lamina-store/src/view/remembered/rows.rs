//! Rows of a list, one after the other in one piece of memory: a list of an event has a dozen short rows, and there
//! are very many of them.

use crate::kv::Direction;

/// Rows in the order in which they were walked.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    bytes: Vec<u8>,
    /// Where the key and the value of each end.
    ends: Vec<(u32, u32)>,
}

impl Rows {
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        // A list ends long before it has four gigabytes.
        let end = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.ends.push((end(key_end), end(self.bytes.len())));
    }

    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + size_of::<(u32, u32)>() * self.ends.len()
    }

    /// The key of the last one.
    pub(super) fn last(&self) -> Option<&[u8]> {
        self.row(self.ends.len().checked_sub(1)?).map(|(key, _)| key)
    }

    /// All of them, this way if they were walked that way.
    pub(super) fn each(
        &self,
        way: Direction,
        walked: Direction,
    ) -> impl Iterator<Item = (&[u8], &[u8])> {
        let count = self.ends.len();
        let at = move |step: usize| if way == walked { step } else { count - 1 - step };
        (0..count).filter_map(move |step| self.row(at(step)))
    }

    /// Takes no more memory than it has to.
    pub(super) fn done(mut self) -> Rows {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        self
    }

    fn row(&self, at: usize) -> Option<(&[u8], &[u8])> {
        let before = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.map_or(0, |(_, end)| *end as usize);
        let (key_end, end) = self.ends.get(at)?;
        let (key_end, end) = (*key_end as usize, *end as usize);
        Some((self.bytes.get(start..key_end)?, self.bytes.get(key_end..end)?))
    }
}

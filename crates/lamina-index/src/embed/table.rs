//! The table of token vectors as it lies in the program.
//!
//! ```text
//! magic "LMNEMB1\n", model name len u8 + bytes, dims u16, tokens u32          little endian
//! per token: what a byte of its row is worth, f32
//! per token: one byte per dimension
//! per token: length of its text u8
//! the texts, one after the other
//! ```

use std::collections::HashMap;
use std::sync::OnceLock;

/// Made by `tools/distill_embedder.py`; a test holds its checksum.
static BYTES: &[u8] = include_bytes!("../../assets/embedder.bin");

const MAGIC: &[u8] = b"LMNEMB1\n";
/// Tokens before this one are signs and single letters, not words in the order of their frequency.
const FIRST_RANKED: u32 = 1_996;

/// Token vectors and the vocabulary they belong to.
pub(crate) struct Table {
    model: &'static str,
    dims: u16,
    scales: &'static [u8],
    rows: &'static [u8],
    /// Beginnings of words, and whole words.
    heads: HashMap<&'static str, u32, Fnv>,
    /// What goes on within a word.
    tails: HashMap<&'static str, u32, Fnv>,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({}, {} tokens)", self.model, self.heads.len() + self.tails.len())
    }
}

/// The table, read at first use.
pub(crate) fn vocabulary() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::read(BYTES).expect("the table that is compiled in is whole"))
}

impl Table {
    fn read(bytes: &'static [u8]) -> Option<Table> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (length, rest) = rest.split_first()?;
        let (model, rest) = rest.split_at_checked(usize::from(*length))?;
        let (dims, rest) = rest.split_first_chunk::<2>()?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let dims = u16::from_le_bytes(*dims);
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (scales, rest) = rest.split_at_checked(count * 4)?;
        let (rows, rest) = rest.split_at_checked(count * usize::from(dims))?;
        let (lengths, mut texts) = rest.split_at_checked(count)?;
        let (mut heads, mut tails) = (HashMap::default(), HashMap::default());
        for (token, length) in (0_u32..).zip(lengths) {
            let (text, rest) = texts.split_at_checked(usize::from(*length))?;
            texts = rest;
            let text = std::str::from_utf8(text).ok()?;
            // `[CLS]` and its like are no text.
            if text.len() > 2 && text.starts_with('[') && text.ends_with(']') {
                continue;
            }
            match text.strip_prefix("##") {
                Some(tail) if !tail.is_empty() => tails.insert(tail, token),
                _ => heads.insert(text, token),
            };
        }
        let model = std::str::from_utf8(model).ok()?;
        Some(Table { model, dims, scales, rows, heads, tails })
    }

    pub(crate) fn model(&self) -> &'static str {
        self.model
    }

    pub(crate) fn dims(&self) -> u16 {
        self.dims
    }

    pub(super) fn head(&self, text: &str) -> Option<u32> {
        self.heads.get(text).copied()
    }

    pub(super) fn tail(&self, text: &str) -> Option<u32> {
        self.tails.get(text).copied()
    }

    /// The place of a word among all words by frequency, from 1; none if it is not among them.
    pub(crate) fn rank(&self, word: &str) -> Option<u32> {
        let token = self.head(word)?;
        token.checked_sub(FIRST_RANKED).map(|place| place + 1).or(Some(1))
    }

    /// Adds the vector of a token.
    pub(super) fn add(&self, token: u32, sum: &mut [f32]) {
        let (token, dims) = (token as usize, usize::from(self.dims));
        let scale = self.scales.get(token * 4..).and_then(|scales| scales.first_chunk::<4>());
        let row = self.rows.get(token * dims..(token + 1) * dims);
        if let (Some(scale), Some(row)) = (scale, row) {
            let scale = f32::from_le_bytes(*scale);
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += f32::from(value.cast_signed()) * scale;
            }
        }
    }
}

/// FNV-1a: short keys that nobody chooses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fnv;

impl std::hash::BuildHasher for Fnv {
    type Hasher = FnvHasher;
    fn build_hasher(&self) -> FnvHasher {
        FnvHasher(0xcbf2_9ce4_8422_2325)
    }
}

#[derive(Debug)]
pub(crate) struct FnvHasher(u64);

impl std::hash::Hasher for FnvHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

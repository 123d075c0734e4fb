//! bzip2, read only: archives of other programs may hold such entries.

use std::io::{self, BufRead, Read};

const BLOCK_MAGIC: u64 = 0x3141_5926_5359;
const END_MAGIC: u64 = 0x1772_4538_5090;
/// Symbols that are coded with one table before the next table is chosen.
const GROUP_SYMBOLS: usize = 50;
const CODE_BITS_MAX: u32 = 20;
const TABLES_MAX: usize = 6;
const SELECTORS_MAX: usize = 18_002;

/// Decompresses one stream. A block is held in memory: at most 900,000 bytes and as many positions.
#[derive(Debug)]
pub(super) struct Bzip2Reader<R> {
    bits: Bits<R>,
    block_bytes_max: usize,
    output: Vec<u8>,
    output_at: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Header,
    Blocks,
    End,
}

impl<R: BufRead> Bzip2Reader<R> {
    pub(super) fn new(inner: R) -> Bzip2Reader<R> {
        Bzip2Reader {
            bits: Bits { inner, buffer: 0, count: 0 },
            block_bytes_max: 0,
            output: Vec::new(),
            output_at: 0,
            state: State::Header,
        }
    }

    fn advance(&mut self) -> io::Result<()> {
        if self.state == State::Header {
            if self.bits.take(24)? != 0x42_5a68 {
                return Err(corrupt());
            }
            let level = self.bits.take(8)?.checked_sub(u64::from(b'0')).ok_or_else(corrupt)?;
            if !(1..=9).contains(&level) {
                return Err(corrupt());
            }
            self.block_bytes_max = usize::try_from(level).map_err(|_| corrupt())? * 100_000;
            self.state = State::Blocks;
        }
        match self.bits.take(48)? {
            BLOCK_MAGIC => self.block(),
            END_MAGIC => {
                self.state = State::End;
                Ok(())
            }
            _ => Err(corrupt()),
        }
    }

    /// Reads a block. Its checksum is not needed: the archive has one over the whole entry.
    fn block(&mut self) -> io::Result<()> {
        self.bits.take(32)?;
        let is_randomized = self.bits.take(1)? == 1;
        if is_randomized {
            return Err(corrupt());
        }
        let origin = usize::try_from(self.bits.take(24)?).map_err(|_| corrupt())?;
        let transformed = self.symbols()?;
        self.output = expand_runs(&invert(&transformed, origin)?);
        self.output_at = 0;
        Ok(())
    }

    /// The bytes of the block before the inverse of its sorting.
    fn symbols(&mut self) -> io::Result<Vec<u8>> {
        let mut recent = self.alphabet()?;
        let end_symbol = recent.len() + 1;
        let tables_count = usize::try_from(self.bits.take(3)?).map_err(|_| corrupt())?;
        if !(2..=TABLES_MAX).contains(&tables_count) {
            return Err(corrupt());
        }
        let selectors = self.selectors(tables_count)?;
        let mut tables = Vec::with_capacity(tables_count);
        for _ in 0..tables_count {
            tables.push(self.table(end_symbol + 1)?);
        }
        let mut out = Vec::new();
        let (mut run, mut run_place) = (0_usize, 1_usize);
        for selector in selectors {
            let table = tables.get(selector).ok_or_else(corrupt)?;
            for _ in 0..GROUP_SYMBOLS {
                let symbol = table.decode(&mut self.bits)?;
                if symbol < 2 {
                    run = run_place.checked_mul(symbol + 1).map_or(run, |more| run + more);
                    run_place = run_place.checked_mul(2).ok_or_else(corrupt)?;
                    if run > self.block_bytes_max {
                        return Err(corrupt());
                    }
                    continue;
                }
                if run > 0 {
                    let first = *recent.first().ok_or_else(corrupt)?;
                    out.resize(out.len() + run, first);
                    (run, run_place) = (0, 1);
                }
                if symbol == end_symbol {
                    return if out.len() > self.block_bytes_max { Err(corrupt()) } else { Ok(out) };
                }
                let moved = recent.get(..symbol).and(recent.get(symbol - 1)).copied();
                let byte = moved.ok_or_else(corrupt)?;
                recent.copy_within(..symbol - 1, 1);
                if let Some(first) = recent.first_mut() {
                    *first = byte;
                }
                out.push(byte);
                if out.len() > self.block_bytes_max {
                    return Err(corrupt());
                }
            }
        }
        Err(corrupt())
    }

    /// The bytes that occur in the block, in order.
    fn alphabet(&mut self) -> io::Result<Vec<u8>> {
        let ranges = self.bits.take(16)?;
        let mut used = Vec::new();
        for range in 0..16_u8 {
            if ranges & (1 << (15 - range)) == 0 {
                continue;
            }
            let bytes = self.bits.take(16)?;
            used.extend(
                (0..16_u8).filter(|low| bytes & (1 << (15 - low)) != 0).map(|low| range * 16 + low),
            );
        }
        if used.is_empty() { Err(corrupt()) } else { Ok(used) }
    }

    fn selectors(&mut self, tables: usize) -> io::Result<Vec<usize>> {
        let count = usize::try_from(self.bits.take(15)?).map_err(|_| corrupt())?;
        if count == 0 || count > SELECTORS_MAX {
            return Err(corrupt());
        }
        let mut recent: Vec<usize> = (0..tables).collect();
        let mut selectors = Vec::with_capacity(count);
        for _ in 0..count {
            let mut at = 0;
            while self.bits.take(1)? == 1 {
                at += 1;
                if at >= tables {
                    return Err(corrupt());
                }
            }
            let chosen = recent.remove(at);
            recent.insert(0, chosen);
            selectors.push(chosen);
        }
        Ok(selectors)
    }

    fn table(&mut self, symbols: usize) -> io::Result<HuffmanTable> {
        let mut length = i64::try_from(self.bits.take(5)?).map_err(|_| corrupt())?;
        let mut lengths = Vec::with_capacity(symbols);
        for _ in 0..symbols {
            loop {
                if !(1..=i64::from(CODE_BITS_MAX)).contains(&length) {
                    return Err(corrupt());
                }
                if self.bits.take(1)? == 0 {
                    break;
                }
                length += if self.bits.take(1)? == 0 { 1 } else { -1 };
            }
            lengths.push(u32::try_from(length).map_err(|_| corrupt())?);
        }
        Ok(HuffmanTable::new(&lengths))
    }
}

impl<R: BufRead> Read for Bzip2Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.output_at == self.output.len() && self.state != State::End {
            self.advance()?;
        }
        let mut ready = self.output.get(self.output_at..).unwrap_or_default();
        let count = ready.read(buffer)?;
        self.output_at += count;
        Ok(count)
    }
}

/// A canonical prefix code: symbols sorted by length, and for each length its first code.
#[derive(Debug)]
struct HuffmanTable {
    symbols: Vec<usize>,
    /// For each length from 1: how many codes it has.
    counts: Vec<usize>,
}

impl HuffmanTable {
    fn new(lengths: &[u32]) -> HuffmanTable {
        let mut symbols: Vec<usize> = (0..lengths.len()).collect();
        symbols.sort_by_key(|symbol| (lengths.get(*symbol).copied(), *symbol));
        let counts = (1..=CODE_BITS_MAX)
            .map(|length| lengths.iter().filter(|own| **own == length).count())
            .collect();
        HuffmanTable { symbols, counts }
    }

    fn decode<R: BufRead>(&self, bits: &mut Bits<R>) -> io::Result<usize> {
        let (mut code, mut first, mut index) = (0_usize, 0_usize, 0_usize);
        for count in &self.counts {
            code |= usize::try_from(bits.take(1)?).map_err(|_| corrupt())?;
            if let Some(place) = code.checked_sub(first).filter(|place| place < count) {
                return self.symbols.get(index + place).copied().ok_or_else(corrupt);
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err(corrupt())
    }
}

/// Bits, the highest of each byte first.
#[derive(Debug)]
struct Bits<R> {
    inner: R,
    buffer: u64,
    count: u32,
}

impl<R: BufRead> Bits<R> {
    /// Takes at most 48 bits.
    fn take(&mut self, wanted: u32) -> io::Result<u64> {
        while self.count < wanted {
            let mut byte = [0];
            self.inner.read_exact(&mut byte)?;
            let [byte] = byte;
            self.buffer = self.buffer << 8 | u64::from(byte);
            self.count += 8;
        }
        self.count -= wanted;
        let value = self.buffer >> self.count;
        self.buffer &= (1 << self.count) - 1;
        Ok(value)
    }
}

/// The inverse of the sorting of a block.
fn invert(sorted: &[u8], origin: usize) -> io::Result<Vec<u8>> {
    if sorted.is_empty() {
        return Ok(Vec::new());
    }
    let mut starts = [0_u32; 257];
    for byte in sorted {
        if let Some(count) = starts.get_mut(usize::from(*byte) + 1) {
            *count += 1;
        }
    }
    for index in 1..starts.len() {
        let before = starts.get(index - 1).copied().unwrap_or_default();
        if let Some(start) = starts.get_mut(index) {
            *start += before;
        }
    }
    let mut next = vec![0_u32; sorted.len()];
    for (position, byte) in (0_u32..).zip(sorted) {
        let place = starts.get_mut(usize::from(*byte)).ok_or_else(corrupt)?;
        if let Some(slot) = next.get_mut(*place as usize) {
            *slot = position;
        }
        *place += 1;
    }
    let mut at = *next.get(origin).ok_or_else(corrupt)?;
    let mut out = Vec::with_capacity(sorted.len());
    for _ in 0..sorted.len() {
        out.push(*sorted.get(at as usize).ok_or_else(corrupt)?);
        at = *next.get(at as usize).ok_or_else(corrupt)?;
    }
    Ok(out)
}

/// Four equal bytes are followed by a count of further ones.
fn expand_runs(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut equal = 0;
    for byte in bytes {
        if equal == 4 {
            let last = out.last().copied().unwrap_or_default();
            out.resize(out.len() + usize::from(*byte), last);
            equal = 0;
            continue;
        }
        equal = if out.last() == Some(byte) && equal > 0 { equal + 1 } else { 1 };
        out.push(*byte);
    }
    out
}

fn corrupt() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the bzip2 stream is corrupt")
}

//! Gzip files of strangers, inflated while they are read, with limits that a bomb meets early; and gzip
//! streams of our own.

use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

/// The first bytes of every gzip file.
pub const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// How much a file may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GzipLimits {
    /// Inflated bytes.
    pub bytes_max: u64,
    /// Inflated bytes for each compressed byte, beyond [`Self::RATIO_FREE_BYTES`].
    pub ratio_max: u64,
}

impl GzipLimits {
    /// So much may be inflated from any number of bytes.
    pub const RATIO_FREE_BYTES: u64 = 8 << 20;

    /// The limits of imports.
    pub const IMPORT: GzipLimits = GzipLimits { bytes_max: 10 << 30, ratio_max: 200 };
}

/// Why inflating stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GzipError {
    /// Too many bytes.
    #[error("the gzip file inflates to more than {0} bytes")]
    TooLarge(u64),
    /// A bomb.
    #[error("the gzip file inflates to more than {0} times its size")]
    Ratio(u64),
    /// Bytes that are no gzip, or a wrong checksum.
    #[error("the gzip file is corrupt")]
    Corrupt,
    /// The end is missing.
    #[error("the gzip file was cut off")]
    Truncated,
}

/// Inflates while it is read. Faults arrive as `io::Error` around a [`GzipError`].
pub struct GzipReader<R> {
    decoder: MultiGzDecoder<BufReader<CountingReader<R>>>,
    limits: GzipLimits,
    compressed: Arc<AtomicU64>,
    inflated: u64,
    /// The fault at which inflating stopped: a reader that asks again gets no further.
    stopped: Option<GzipError>,
}

impl<R> std::fmt::Debug for GzipReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GzipReader({} bytes inflated)", self.inflated)
    }
}

impl<R: Read> GzipReader<R> {
    /// A reader of one or more gzip members.
    pub fn new(inner: R, limits: GzipLimits) -> GzipReader<R> {
        let compressed = Arc::new(AtomicU64::new(0));
        let counting = CountingReader { inner, count: Arc::clone(&compressed) };
        let decoder = MultiGzDecoder::new(BufReader::with_capacity(65_536, counting));
        GzipReader { decoder, limits, compressed, inflated: 0, stopped: None }
    }

    fn check(&self) -> Result<(), GzipError> {
        if self.inflated > self.limits.bytes_max {
            return Err(GzipError::TooLarge(self.limits.bytes_max));
        }
        let allowed = self.compressed.load(Ordering::Relaxed).saturating_mul(self.limits.ratio_max);
        if self.inflated > GzipLimits::RATIO_FREE_BYTES.max(allowed) {
            return Err(GzipError::Ratio(self.limits.ratio_max));
        }
        Ok(())
    }
}

impl<R: Read> Read for GzipReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let fault = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        if let Some(error) = self.stopped {
            return Err(fault(error));
        }
        let count = self.decoder.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Ok(GzipError::Corrupt),
            io::ErrorKind::UnexpectedEof => Ok(GzipError::Truncated),
            _ => Err(error),
        });
        let checked = match count {
            Ok(count) => {
                self.inflated += count as u64;
                self.check().map(|()| count)
            }
            Err(Ok(stop)) => Err(stop),
            Err(Err(error)) => return Err(error),
        };
        checked.map_err(|error| {
            self.stopped = Some(error);
            fault(error)
        })
    }
}

/// Counts the bytes that pass.
struct CountingReader<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Compresses bytes while they are written.
#[derive(Debug)]
pub struct GzipWriter<W: Write>(GzEncoder<W>);

impl<W: Write> GzipWriter<W> {
    /// Begins a stream.
    pub fn new(out: W) -> GzipWriter<W> {
        GzipWriter(GzEncoder::new(out, Compression::fast()))
    }

    /// Writes the end of the stream.
    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests;

//! Bytes that lie somewhere: a staged file, an upload in memory. The caller opens them; codecs read them
//! by place, so that entries of an archive can be read in any order and more than once.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes with places.
pub trait ByteSource: Send + Sync {
    /// How many there are.
    fn bytes_count(&self) -> io::Result<u64>;
    /// Reads up to the buffer's length; fewer bytes only at the end.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;
}

impl ByteSource for Vec<u8> {
    fn bytes_count(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        let mut rest = self.get(position..).unwrap_or_default();
        rest.read(buffer)
    }
}

/// Anything that can be read and sought.
#[derive(Debug)]
pub struct SeekSource<R>(Mutex<R>);

impl<R: Read + Seek + Send> SeekSource<R> {
    /// A source over this reader.
    pub fn new(reader: R) -> SeekSource<R> {
        SeekSource(Mutex::new(reader))
    }
}

impl<R: Read + Seek + Send> ByteSource for SeekSource<R> {
    fn bytes_count(&self) -> io::Result<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seek(SeekFrom::End(0))
    }

    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reader.seek(SeekFrom::Start(position))?;
        let mut count = 0;
        while let Some(rest) = buffer.get_mut(count..).filter(|rest| !rest.is_empty()) {
            match reader.read(rest) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }
}

/// Fills the buffer from a place on.
pub(crate) fn read_exact_at(
    source: &dyn ByteSource,
    mut buffer: &mut [u8],
    mut position: u64,
) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = source.read_at(buffer, position)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = buffer.get_mut(count..).unwrap_or_default();
        position += count as u64;
    }
    Ok(())
}

/// Reads a range of a source.
pub struct RangeReader {
    source: Arc<dyn ByteSource>,
    position: u64,
    end: u64,
}

impl std::fmt::Debug for RangeReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RangeReader({}..{})", self.position, self.end)
    }
}

impl RangeReader {
    /// The bytes from `start` up to `end`.
    pub fn new(source: Arc<dyn ByteSource>, start: u64, end: u64) -> RangeReader {
        RangeReader { source, position: start, end }
    }

    /// All bytes of a source.
    pub fn whole(source: Arc<dyn ByteSource>) -> io::Result<RangeReader> {
        let end = source.bytes_count()?;
        Ok(RangeReader::new(source, 0, end))
    }
}

impl Read for RangeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let length = left.min(buffer.len());
        let count = match buffer.get_mut(..length) {
            Some(buffer) if length > 0 => self.source.read_at(buffer, self.position)?,
            _ => 0,
        };
        self.position += count as u64;
        Ok(count)
    }
}

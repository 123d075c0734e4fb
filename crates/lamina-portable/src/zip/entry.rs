//! Reading one entry: exactly as many bytes as the directory says, and their checksum.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::ZipError;
use super::bzip2::Bzip2Reader;
use super::directory::{ZipEntry, ZipMethod};
use super::fields::{FLAG_DESCRIPTOR, FLAG_ENCRYPTED, Fields, LOCAL_BYTES, LOCAL_SIGNATURE};
use crate::bytes::{ByteSource, RangeReader, read_exact_at};

/// Reads the bytes of one entry. Faults arrive as `io::Error` around a [`ZipError`].
pub struct EntryReader {
    inner: Inflater,
    name: String,
    left: u64,
    crc: Crc,
    crc_expected: u32,
    is_checked: bool,
}

impl std::fmt::Debug for EntryReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EntryReader({}, {} bytes left)", self.name, self.left)
    }
}

enum Inflater {
    Stored(RangeReader),
    Deflated(DeflateDecoder<BufReader<RangeReader>>),
    Bzip2(Box<Bzip2Reader<BufReader<RangeReader>>>),
}

pub(super) fn open_entry(
    source: &Arc<dyn ByteSource>,
    entry: &ZipEntry,
    directory_at: u64,
) -> Result<EntryReader, ZipError> {
    let data_at = find_data(&**source, entry)?;
    let end = data_at.saturating_add(entry.compressed);
    if end > directory_at {
        let name = entry.name.clone();
        return Err(ZipError::Entry { name, why: "it reaches into the directory" });
    }
    let range = RangeReader::new(Arc::clone(source), data_at, end);
    let inner = match entry.method {
        ZipMethod::Stored => Inflater::Stored(range),
        ZipMethod::Deflated => {
            Inflater::Deflated(DeflateDecoder::new(BufReader::with_capacity(65_536, range)))
        }
        ZipMethod::Bzip2 => {
            let reader = Bzip2Reader::new(BufReader::with_capacity(65_536, range));
            Inflater::Bzip2(Box::new(reader))
        }
    };
    Ok(EntryReader {
        inner,
        name: entry.name.clone(),
        left: entry.bytes,
        crc: Crc::new(),
        crc_expected: entry.crc,
        is_checked: false,
    })
}

/// Checks the header in front of the entry against the directory; gives the place of the data.
fn find_data(source: &dyn ByteSource, entry: &ZipEntry) -> Result<u64, ZipError> {
    let refuse = |why| ZipError::Entry { name: entry.name.clone(), why };
    let mut header = [0; LOCAL_BYTES];
    read_exact_at(source, &mut header, entry.header_at)?;
    let local = LocalHeader::read(&header).ok_or_else(|| refuse("its header is missing"))?;
    let mut name = vec![0; usize::from(local.name_bytes)];
    read_exact_at(source, &mut name, entry.header_at + LOCAL_BYTES as u64)?;
    let method = match entry.method {
        ZipMethod::Stored => 0,
        ZipMethod::Deflated => 8,
        ZipMethod::Bzip2 => 12,
    };
    if name != entry.raw_name {
        return Err(refuse("its header has another name than the directory"));
    }
    if local.method != method || (local.flags ^ entry.flags) & FLAG_ENCRYPTED != 0 {
        return Err(refuse("its header has another method than the directory"));
    }
    let is_sized = local.flags & FLAG_DESCRIPTOR == 0;
    let agrees = |own: u32, listed: u64| own == u32::MAX || u64::from(own) == listed;
    let is_same = local.crc == entry.crc
        && agrees(local.compressed, entry.compressed)
        && agrees(local.bytes, entry.bytes);
    if is_sized && !is_same {
        return Err(refuse("its header has another size than the directory"));
    }
    let variable = u64::from(local.name_bytes) + u64::from(local.extra_bytes);
    Ok(entry.header_at + LOCAL_BYTES as u64 + variable)
}

struct LocalHeader {
    flags: u16,
    method: u16,
    crc: u32,
    compressed: u32,
    bytes: u32,
    name_bytes: u16,
    extra_bytes: u16,
}

impl LocalHeader {
    fn read(bytes: &[u8]) -> Option<LocalHeader> {
        let mut fields = Fields(bytes);
        if fields.u32()? != LOCAL_SIGNATURE {
            return None;
        }
        let _version_needed = fields.u16()?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        let _dos_time_and_date = fields.u32()?;
        Some(LocalHeader {
            flags,
            method,
            crc: fields.u32()?,
            compressed: fields.u32()?,
            bytes: fields.u32()?,
            name_bytes: fields.u16()?,
            extra_bytes: fields.u16()?,
        })
    }
}

impl EntryReader {
    fn fault(&self, why: &'static str) -> io::Error {
        let error = ZipError::Entry { name: self.name.clone(), why };
        io::Error::new(io::ErrorKind::InvalidData, error)
    }

    fn read_inner(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.inner {
            Inflater::Stored(range) => range.read(buffer),
            Inflater::Bzip2(decoder) => decoder.read(buffer),
            Inflater::Deflated(decoder) => match decoder.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    Err(self.fault("its compressed bytes are corrupt"))
                }
                other => other,
            },
        }
    }

    /// At the end: nothing more may come, and the checksum must agree.
    fn finish(&mut self) -> io::Result<usize> {
        if !self.is_checked {
            if self.read_inner(&mut [0])? > 0 {
                return Err(self.fault("it inflates to more bytes than the directory says"));
            }
            if self.crc.sum() != self.crc_expected {
                return Err(self.fault("its checksum does not agree"));
            }
            self.is_checked = true;
        }
        Ok(0)
    }
}

impl Read for EntryReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return self.finish();
        }
        let length = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let buffer = buffer.get_mut(..length).unwrap_or_default();
        if buffer.is_empty() {
            return Ok(0);
        }
        let count = self.read_inner(buffer)?;
        if count == 0 {
            return Err(self.fault("it ends before the size that the directory says"));
        }
        self.crc.update(buffer.get(..count).unwrap_or_default());
        self.left -= count as u64;
        Ok(count)
    }
}

//! Archives that are written in one pass: stored, as a directory travels as one body, or deflated.

use std::io::{self, Read, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use lamina_types::Micros;

use super::ZipError;
use super::fields::{
    CENTRAL_SIGNATURE, DESCRIPTOR_SIGNATURE, END_SIGNATURE, END64_BYTES, END64_LOCATOR_SIGNATURE,
    END64_SIGNATURE, EXTRA_TIMES, EXTRA_ZIP64, FLAG_DESCRIPTOR, FLAG_UTF8, LOCAL_SIGNATURE,
};
use crate::time;

const COPY_BYTES: usize = 65_536;
/// Version 4.5: the first that knows the 64-bit fields.
const VERSION: u16 = 45;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// The usual level of compression.
const LEVEL: u32 = 6;

/// The head of a file, known before its bytes are read.
#[derive(Debug, Clone, Copy)]
pub struct StoredFile<'a> {
    /// Its name in the archive, with `/` between folders.
    pub name: &'a str,
    /// How many bytes it has.
    pub bytes: u64,
    /// When it was last changed.
    pub modified: Option<Micros>,
}

/// Writes files one after the other, and the directory at the end.
#[derive(Debug)]
pub struct ZipWriter<W> {
    out: W,
    position: u64,
    entries: Vec<WrittenEntry>,
}

#[derive(Debug)]
struct WrittenEntry {
    name: String,
    method: u16,
    flags: u16,
    bytes: u64,
    compressed: u64,
    crc: u32,
    modified: Option<Micros>,
    header_at: u64,
}

impl<W: Write> ZipWriter<W> {
    /// A writer of an empty archive.
    pub fn new(out: W) -> ZipWriter<W> {
        ZipWriter { out, position: 0, entries: Vec::new() }
    }

    /// Appends a file. It must have exactly the announced number of bytes: one that grows or shrinks
    /// while it is read is an error, and the archive is not finished.
    pub fn add(&mut self, file: StoredFile<'_>, content: &mut dyn Read) -> Result<(), ZipError> {
        let StoredFile { name, bytes, modified } = file;
        let name_bytes = u16::try_from(name.len()).map_err(|_| ZipError::Name {
            name: name.to_owned(),
            why: "has a name that is too long",
        })?;
        let header_at = self.position;
        let mut head = Record::default();
        head.u32(LOCAL_SIGNATURE).u16(VERSION).u16(FLAG_DESCRIPTOR | FLAG_UTF8).u16(0);
        head.u32(dos_stamp(modified)).u32(0);
        // The sizes are known, the checksum follows behind the bytes.
        head.u32(u32::MAX).u32(u32::MAX).u16(name_bytes).u16(20);
        head.bytes(name.as_bytes()).u16(EXTRA_ZIP64).u16(16).u64(bytes).u64(bytes);
        self.write(&head.0)?;
        let crc = self.copy(file, content)?;
        let mut tail = Record::default();
        tail.u32(DESCRIPTOR_SIGNATURE).u32(crc).u64(bytes).u64(bytes);
        self.write(&tail.0)?;
        self.entries.push(WrittenEntry {
            name: name.to_owned(),
            method: STORED,
            flags: FLAG_DESCRIPTOR | FLAG_UTF8,
            bytes,
            compressed: bytes,
            crc,
            modified,
            header_at,
        });
        Ok(())
    }

    /// Appends a deflated file without a time. The same bytes give the same archive.
    pub fn add_deflated(&mut self, name: &str, content: &[u8]) -> Result<(), ZipError> {
        let name_bytes = u16::try_from(name.len()).map_err(|_| ZipError::Name {
            name: name.to_owned(),
            why: "has a name that is too long",
        })?;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(LEVEL));
        encoder.write_all(content)?;
        let packed = encoder.finish()?;
        let mut crc = Crc::new();
        crc.update(content);
        let (bytes, compressed) = (content.len() as u64, packed.len() as u64);
        let (header_at, crc) = (self.position, crc.sum());
        let mut head = Record::default();
        head.u32(LOCAL_SIGNATURE).u16(VERSION).u16(FLAG_UTF8).u16(DEFLATED);
        head.u32(dos_stamp(None)).u32(crc);
        head.u32(u32::MAX).u32(u32::MAX).u16(name_bytes).u16(20);
        head.bytes(name.as_bytes()).u16(EXTRA_ZIP64).u16(16).u64(bytes).u64(compressed);
        self.write(&head.0)?;
        self.write(&packed)?;
        self.entries.push(WrittenEntry {
            name: name.to_owned(),
            method: DEFLATED,
            flags: FLAG_UTF8,
            bytes,
            compressed,
            crc,
            modified: None,
            header_at,
        });
        Ok(())
    }

    fn copy(&mut self, file: StoredFile<'_>, content: &mut dyn Read) -> Result<u32, ZipError> {
        let changed = || ZipError::FileChanged { name: file.name.to_owned(), expected: file.bytes };
        let mut crc = Crc::new();
        let mut buffer = vec![0; COPY_BYTES];
        let mut left = file.bytes;
        loop {
            let count = match content.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let piece = buffer.get(..count).unwrap_or_default();
            left = left.checked_sub(count as u64).ok_or_else(changed)?;
            if count == 0 {
                return if left == 0 { Ok(crc.sum()) } else { Err(changed()) };
            }
            crc.update(piece);
            self.write(piece)?;
        }
    }

    /// Writes the directory and gives the output back.
    pub fn finish(mut self) -> Result<W, ZipError> {
        let start = self.position;
        let entries = std::mem::take(&mut self.entries);
        for entry in &entries {
            self.write(&entry.central_record().0)?;
        }
        let (count, end64_at) = (entries.len() as u64, self.position);
        let mut tail = Record::default();
        tail.u32(END64_SIGNATURE).u64(END64_BYTES as u64 - 12).u16(VERSION).u16(VERSION);
        tail.u32(0).u32(0).u64(count).u64(count).u64(end64_at - start).u64(start);
        tail.u32(END64_LOCATOR_SIGNATURE).u32(0).u64(end64_at).u32(1);
        tail.u32(END_SIGNATURE).u16(0).u16(0).u16(u16::MAX).u16(u16::MAX);
        tail.u32(u32::MAX).u32(u32::MAX).u16(0);
        self.write(&tail.0)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}

impl WrittenEntry {
    fn central_record(&self) -> Record {
        let mut extra = Record::default();
        extra.u16(EXTRA_ZIP64).u16(24);
        extra.u64(self.bytes).u64(self.compressed).u64(self.header_at);
        let seconds = self.modified.map(|at| i32::try_from(at.0.div_euclid(1_000_000)));
        if let Some(Ok(seconds)) = seconds {
            extra.u16(EXTRA_TIMES).u16(5).bytes(&[1]).bytes(&seconds.to_le_bytes());
        }
        let mut record = Record::default();
        record.u32(CENTRAL_SIGNATURE).u16(VERSION).u16(VERSION);
        record.u16(self.flags).u16(self.method).u32(dos_stamp(self.modified));
        record.u32(self.crc).u32(u32::MAX).u32(u32::MAX);
        record.length(self.name.len()).length(extra.0.len()).u16(0).u16(0).u16(0).u32(0);
        record.u32(u32::MAX).bytes(self.name.as_bytes()).bytes(&extra.0);
        record
    }
}

/// The time and the date of the old format, which counts from 1980.
fn dos_stamp(modified: Option<Micros>) -> u32 {
    time::to_dos(modified.unwrap_or(Micros(0)))
}

/// A record that is being put together.
#[derive(Debug, Default)]
struct Record(Vec<u8>);

impl Record {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Record {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u16(&mut self, number: u16) -> &mut Record {
        self.bytes(&number.to_le_bytes())
    }

    fn u32(&mut self, number: u32) -> &mut Record {
        self.bytes(&number.to_le_bytes())
    }

    fn u64(&mut self, number: u64) -> &mut Record {
        self.bytes(&number.to_le_bytes())
    }

    /// A length that was checked to fit.
    fn length(&mut self, length: usize) -> &mut Record {
        self.u16(u16::try_from(length).unwrap_or(u16::MAX))
    }
}

//! The central directory: which entries there are, judged before any of them is read.

use std::collections::HashSet;
use std::sync::Arc;

use lamina_types::Micros;

use super::entry::{EntryReader, open_entry};
use super::fields::{
    CENTRAL_BYTES, CENTRAL_SIGNATURE, END_BYTES, END_SIGNATURE, END64_BYTES, END64_LOCATOR_BYTES,
    END64_LOCATOR_SIGNATURE, END64_SIGNATURE, EXTRA_TIMES, EXTRA_ZIP64, FLAG_ENCRYPTED, Fields,
    LOCAL_BYTES, extra_field,
};
use super::{ZipError, ZipLimits};
use crate::bytes::{ByteSource, read_exact_at};
use crate::time;

/// The comment at the end of an archive.
const COMMENT_BYTES_MAX: u64 = 65_535;

/// How an entry is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZipMethod {
    /// Not at all.
    Stored,
    /// DEFLATE.
    Deflated,
    /// bzip2, which only the lenient reader takes.
    Bzip2,
}

/// How archives are read on which two programs disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZipTolerance {
    /// They are refused.
    Strict,
    /// As the `zip` crate 2 reads them on Linux: the last of two entries of one name stands, `\` is a
    /// character of a name, unusual modes are files, bytes may stand before the archive, and entries
    /// may be compressed by bzip2. Needed to repeat the verdict of a program that uses that crate.
    Lenient,
}

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZipEntry {
    /// Its name, with `/` between folders.
    pub name: String,
    /// Its inflated size.
    pub bytes: u64,
    /// When the file was last changed, as the archive says.
    pub modified: Option<Micros>,
    pub(super) raw_name: Vec<u8>,
    pub(super) method: ZipMethod,
    pub(super) flags: u16,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) header_at: u64,
}

/// An archive whose directory was read and found good.
pub struct ZipArchive {
    source: Arc<dyn ByteSource>,
    entries: Vec<ZipEntry>,
    directory_at: u64,
}

impl std::fmt::Debug for ZipArchive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ZipArchive({} entries)", self.entries.len())
    }
}

impl ZipArchive {
    /// Reads the directory of an archive and checks it against the limits.
    pub fn open(source: Arc<dyn ByteSource>, limits: &ZipLimits) -> Result<ZipArchive, ZipError> {
        ZipArchive::open_with(source, limits, ZipTolerance::Strict)
    }

    /// Reads the directory of an archive with this tolerance.
    pub fn open_with(
        source: Arc<dyn ByteSource>,
        limits: &ZipLimits,
        tolerance: ZipTolerance,
    ) -> Result<ZipArchive, ZipError> {
        let extent = find_directory(&*source, tolerance)?;
        if extent.entries > limits.entries_max {
            let (count, max) = (extent.entries, limits.entries_max);
            return Err(ZipError::EntriesTooMany { count, max });
        }
        if extent.bytes > limits.directory_bytes_max {
            return Err(ZipError::Damaged("its directory is too large"));
        }
        let length = usize::try_from(extent.bytes).unwrap_or(usize::MAX);
        let mut directory = vec![0; length];
        read_exact_at(&*source, &mut directory, extent.start)?;
        let entries = read_entries(&directory, &extent, limits, tolerance)?;
        if tolerance == ZipTolerance::Strict {
            check_overlaps(&entries, extent.start)?;
        }
        Ok(ZipArchive { source, entries, directory_at: extent.start })
    }

    /// The files; folders are left out.
    pub fn entries(&self) -> &[ZipEntry] {
        &self.entries
    }

    /// Opens a file for reading.
    pub fn reader(&self, index: usize) -> Result<EntryReader, ZipError> {
        let entry = self.entries.get(index).ok_or(ZipError::Damaged("there is no such entry"))?;
        open_entry(&self.source, entry, self.directory_at)
    }
}

/// Where the directory is.
struct DirectoryExtent {
    start: u64,
    bytes: u64,
    entries: u64,
    /// Bytes before the archive, by which all its positions are shifted.
    shift: u64,
}

fn find_directory(
    source: &dyn ByteSource,
    tolerance: ZipTolerance,
) -> Result<DirectoryExtent, ZipError> {
    let total = source.bytes_count()?;
    let tail_bytes = total.min(COMMENT_BYTES_MAX + END_BYTES as u64);
    let tail_at = total - tail_bytes;
    let mut tail = vec![0; usize::try_from(tail_bytes).unwrap_or(usize::MAX)];
    read_exact_at(source, &mut tail, tail_at)?;
    let last = tail.len().checked_sub(END_BYTES).ok_or(ZipError::NoEndRecord)?;
    for at in (0..=last).rev() {
        let mut fields = Fields(tail.get(at..).unwrap_or_default());
        if fields.u32() == Some(END_SIGNATURE)
            && let Some(end) = EndRecord::read(&mut fields)
            && fields.0.len() == usize::from(end.comment_bytes)
        {
            return end.locate(source, tail_at + at as u64, tolerance);
        }
    }
    Err(ZipError::NoEndRecord)
}

/// The end record of the classic format, after its signature.
struct EndRecord {
    disk: u16,
    directory_disk: u16,
    entries_here: u16,
    entries: u16,
    bytes: u32,
    start: u32,
    comment_bytes: u16,
}

impl EndRecord {
    fn read(fields: &mut Fields<'_>) -> Option<EndRecord> {
        Some(EndRecord {
            disk: fields.u16()?,
            directory_disk: fields.u16()?,
            entries_here: fields.u16()?,
            entries: fields.u16()?,
            bytes: fields.u32()?,
            start: fields.u32()?,
            comment_bytes: fields.u16()?,
        })
    }

    fn locate(
        &self,
        source: &dyn ByteSource,
        end_at: u64,
        tolerance: ZipTolerance,
    ) -> Result<DirectoryExtent, ZipError> {
        let is_large = self.entries == u16::MAX || self.bytes == u32::MAX || self.start == u32::MAX;
        if is_large && let Some(extent) = locate_large(source, end_at)? {
            return Ok(extent);
        }
        if self.disk != 0 || self.directory_disk != 0 || self.entries_here != self.entries {
            return Err(ZipError::SeveralDisks);
        }
        let (start, bytes) = (u64::from(self.start), u64::from(self.bytes));
        let entries = u64::from(self.entries);
        let shift = start.checked_add(bytes).and_then(|end| end_at.checked_sub(end));
        match shift {
            Some(0) => Ok(DirectoryExtent { start, bytes, entries, shift: 0 }),
            Some(shift) if tolerance == ZipTolerance::Lenient => {
                Ok(DirectoryExtent { start: start + shift, bytes, entries, shift })
            }
            _ => Err(ZipError::Damaged("its directory does not end at its end record")),
        }
    }
}

/// The directory by the end record of the 64-bit format, if there is one.
fn locate_large(source: &dyn ByteSource, end_at: u64) -> Result<Option<DirectoryExtent>, ZipError> {
    let Some(locator_at) = end_at.checked_sub(END64_LOCATOR_BYTES as u64) else { return Ok(None) };
    let mut locator = [0; END64_LOCATOR_BYTES];
    read_exact_at(source, &mut locator, locator_at)?;
    let mut fields = Fields(&locator);
    if fields.u32() != Some(END64_LOCATOR_SIGNATURE) {
        return Ok(None);
    }
    let damaged = || ZipError::Damaged("its 64-bit end record is malformed");
    let disk = fields.u32().ok_or_else(damaged)?;
    let record_at = fields.u64().ok_or_else(damaged)?;
    let disks = fields.u32().ok_or_else(damaged)?;
    if disk != 0 || disks > 1 {
        return Err(ZipError::SeveralDisks);
    }
    if record_at.checked_add(END64_BYTES as u64) != Some(locator_at) {
        return Err(damaged());
    }
    let mut record = [0; END64_BYTES];
    read_exact_at(source, &mut record, record_at)?;
    let mut fields = Fields(&record);
    let is_record = fields.u32() == Some(END64_SIGNATURE);
    let is_sized = fields.u64() == Some(END64_BYTES as u64 - 12);
    // Versions and disk numbers.
    let is_whole = fields.bytes(12).is_some();
    let (here, entries) = (fields.u64().ok_or_else(damaged)?, fields.u64().ok_or_else(damaged)?);
    let (bytes, start) = (fields.u64().ok_or_else(damaged)?, fields.u64().ok_or_else(damaged)?);
    let is_joined = start.checked_add(bytes) == Some(record_at);
    match is_record && is_sized && is_whole && is_joined && here == entries {
        true => Ok(Some(DirectoryExtent { start, bytes, entries, shift: 0 })),
        false => Err(damaged()),
    }
}

fn read_entries(
    directory: &[u8],
    extent: &DirectoryExtent,
    limits: &ZipLimits,
    tolerance: ZipTolerance,
) -> Result<Vec<ZipEntry>, ZipError> {
    let mut fields = Fields(directory);
    let mut entries: Vec<ZipEntry> = Vec::new();
    let mut names = HashSet::new();
    let mut has_duplicates = false;
    let mut total = 0_u64;
    for _ in 0..extent.entries {
        let header = CentralHeader::read(&mut fields)
            .ok_or(ZipError::Damaged("an entry of its directory is malformed"))?;
        let name = clean_name(header.name, tolerance)?;
        let is_folder = match tolerance {
            ZipTolerance::Strict => matches!(header.name.last(), Some(b'/' | b'\\')),
            ZipTolerance::Lenient => header.name.last() == Some(&b'/'),
        };
        header.check_kind(&name, is_folder, tolerance)?;
        if !names.insert(name.clone()) {
            match tolerance {
                ZipTolerance::Strict => return Err(ZipError::DuplicateName(name)),
                ZipTolerance::Lenient => has_duplicates = true,
            }
        }
        let mut entry = header.entry(name, tolerance)?;
        entry.header_at = entry.header_at.saturating_add(extent.shift);
        if is_folder {
            if entry.bytes > 0 {
                return Err(ZipError::Entry { name: entry.name, why: "a folder with bytes" });
            }
            continue;
        }
        check_size(&entry, limits)?;
        total = total.saturating_add(entry.bytes);
        if total > limits.total_bytes_max {
            return Err(ZipError::TotalTooLarge { max: limits.total_bytes_max });
        }
        entries.push(entry);
    }
    if has_duplicates {
        let mut kept = HashSet::new();
        entries.reverse();
        entries.retain(|entry| kept.insert(entry.name.clone()));
        entries.reverse();
    }
    match fields.0.is_empty() {
        true => Ok(entries),
        false => Err(ZipError::Damaged("its directory is longer than its entries")),
    }
}

fn check_size(entry: &ZipEntry, limits: &ZipLimits) -> Result<(), ZipError> {
    let name = || entry.name.clone();
    if entry.bytes > limits.entry_bytes_max {
        let max = limits.entry_bytes_max;
        return Err(ZipError::EntryTooLarge { name: name(), bytes: entry.bytes, max });
    }
    let allowed = entry.compressed.saturating_mul(limits.ratio_max);
    if entry.bytes > ZipLimits::RATIO_FREE_BYTES.max(allowed) {
        return Err(ZipError::Ratio { name: name(), max: limits.ratio_max });
    }
    if entry.method == ZipMethod::Stored && entry.bytes != entry.compressed {
        return Err(ZipError::Entry { name: name(), why: "a stored entry has two sizes" });
    }
    Ok(())
}

/// Entries that share bytes are how a small archive holds petabytes.
fn check_overlaps(entries: &[ZipEntry], directory_at: u64) -> Result<(), ZipError> {
    let mut sorted: Vec<&ZipEntry> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.header_at);
    let ends = sorted.iter().skip(1).map(|entry| entry.header_at).chain([directory_at]);
    for (entry, end) in sorted.iter().zip(ends) {
        let head = (LOCAL_BYTES + entry.raw_name.len()) as u64;
        let least = entry.header_at.saturating_add(head).saturating_add(entry.compressed);
        if least > end {
            let name = entry.name.clone();
            return Err(ZipError::Entry { name, why: "it overlaps another part of the archive" });
        }
    }
    Ok(())
}

/// One entry of the directory.
struct CentralHeader<'a> {
    made_by: u16,
    flags: u16,
    method: u16,
    dos_time: u16,
    dos_date: u16,
    crc: u32,
    compressed: u32,
    bytes: u32,
    disk: u16,
    attributes: u32,
    header_at: u32,
    name: &'a [u8],
    extra: &'a [u8],
}

impl<'a> CentralHeader<'a> {
    fn read(fields: &mut Fields<'a>) -> Option<CentralHeader<'a>> {
        let mut head = Fields(fields.bytes(CENTRAL_BYTES)?);
        if head.u32()? != CENTRAL_SIGNATURE {
            return None;
        }
        let made_by = head.u16()?;
        let _version_needed = head.u16()?;
        let (flags, method) = (head.u16()?, head.u16()?);
        let (dos_time, dos_date) = (head.u16()?, head.u16()?);
        let (crc, compressed, bytes) = (head.u32()?, head.u32()?, head.u32()?);
        let (name_bytes, extra_bytes, comment_bytes) = (head.u16()?, head.u16()?, head.u16()?);
        let disk = head.u16()?;
        let _internal_attributes = head.u16()?;
        let (attributes, header_at) = (head.u32()?, head.u32()?);
        let name = fields.bytes(usize::from(name_bytes))?;
        let extra = fields.bytes(usize::from(extra_bytes))?;
        fields.bytes(usize::from(comment_bytes))?;
        Some(CentralHeader {
            made_by,
            flags,
            method,
            dos_time,
            dos_date,
            crc,
            compressed,
            bytes,
            disk,
            attributes,
            header_at,
            name,
            extra,
        })
    }

    fn check_kind(
        &self,
        name: &str,
        is_folder: bool,
        tolerance: ZipTolerance,
    ) -> Result<(), ZipError> {
        if self.flags & FLAG_ENCRYPTED != 0 {
            return Err(ZipError::Encrypted(name.to_owned()));
        }
        // Systems of the Unix family keep the kind of a file in the upper half.
        let is_unix = matches!(self.made_by >> 8, 3 | 19);
        let kind = (self.attributes >> 16) & 0o170_000;
        let is_plain = match kind {
            0 | 0o100_000 => true,
            0o040_000 => is_folder,
            0o120_000 => false,
            _ => tolerance == ZipTolerance::Lenient,
        };
        if is_unix && !is_plain {
            return Err(ZipError::SpecialFile(name.to_owned()));
        }
        match self.disk {
            0 | u16::MAX => Ok(()),
            _ => Err(ZipError::SeveralDisks),
        }
    }

    fn entry(&self, name: String, tolerance: ZipTolerance) -> Result<ZipEntry, ZipError> {
        let method = match self.method {
            0 => ZipMethod::Stored,
            8 => ZipMethod::Deflated,
            12 if tolerance == ZipTolerance::Lenient => ZipMethod::Bzip2,
            method => return Err(ZipError::Method { name, method }),
        };
        // Sizes that do not fit stand in the extra field, in this order.
        let mut large = Fields(extra_field(self.extra, EXTRA_ZIP64).unwrap_or_default());
        let mut widen = |size: u32| match size {
            u32::MAX => large.u64().unwrap_or(u64::from(size)),
            size => u64::from(size),
        };
        let (bytes, compressed) = (widen(self.bytes), widen(self.compressed));
        let header_at = widen(self.header_at);
        Ok(ZipEntry {
            name,
            bytes,
            modified: self.modified(),
            raw_name: self.name.to_vec(),
            method,
            flags: self.flags,
            crc: self.crc,
            compressed,
            header_at,
        })
    }

    fn modified(&self) -> Option<Micros> {
        if let Some(times) = extra_field(self.extra, EXTRA_TIMES) {
            let mut fields = Fields(times);
            let flags = fields.bytes(1)?.first()?;
            if flags & 1 != 0 {
                let seconds = i32::from_le_bytes(fields.u32()?.to_le_bytes());
                return Some(Micros(i64::from(seconds) * 1_000_000));
            }
        }
        time::from_dos(self.dos_date, self.dos_time)
    }
}

/// The name with `/` between folders, if it stays inside of the archive.
fn clean_name(raw: &[u8], tolerance: ZipTolerance) -> Result<String, ZipError> {
    let shown = match std::str::from_utf8(raw) {
        Ok(text) => text.to_owned(),
        // Names of old archives are in the code page of their machine.
        Err(_) => raw.iter().map(|byte| show_byte(*byte)).collect(),
    };
    let refuse = |why| Err(ZipError::Name { name: shown.clone(), why });
    let slashed = match tolerance {
        ZipTolerance::Strict => shown.replace('\\', "/"),
        ZipTolerance::Lenient => shown.clone(),
    };
    if slashed.is_empty() {
        return refuse("has no name");
    }
    if slashed.contains('\0') {
        return refuse("has a zero byte in its name");
    }
    if slashed.starts_with(['/', '\\']) {
        return refuse("has an absolute path");
    }
    if slashed.as_bytes().get(1) == Some(&b':') {
        return refuse("names a drive");
    }
    let parts = slashed.split('/').filter(|part| !part.is_empty() && *part != ".");
    let parts: Vec<&str> = parts.collect();
    if parts.contains(&"..") {
        return refuse("leads out of the archive");
    }
    Ok(parts.join("/"))
}

fn show_byte(byte: u8) -> String {
    match byte.is_ascii() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    }
}

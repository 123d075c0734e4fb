//! Exports of several files: the archive that a server made becomes a directory or stays a ZIP.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use lamina_env::disk::write_atomic;
use lamina_env::{Disk as _, RealDisk};
use lamina_portable::pam::BundleFile;
use lamina_portable::source::{ImportSource, SourceLimits};
use lamina_portable::zip::{StoredFile, ZipWriter};
use serde_json::Value;

use super::door::ExportDoor;
use super::meter::Meter;
use crate::cli::args::ExportArgs;
use crate::cli::exit::Failure;

/// Bytes of an archive that is taken.
const ARCHIVE_BYTES_MAX: usize = 1 << 30;

/// A bundle as the server gave it.
pub(super) struct FetchedBundle {
    /// The job that made it.
    pub(super) job: Value,
    /// A ZIP of its files.
    pub(super) archive: Vec<u8>,
}

/// Fetches the archive of a bundle.
pub(super) fn fetch(
    args: &ExportArgs,
    door: &ExportDoor<'_>,
    order: &Value,
) -> Result<FetchedBundle, Failure> {
    let job = door.post("/v1/export", order)?;
    let text = |name: &str| job.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let estimated = job.get("estimated_size_bytes").and_then(Value::as_u64).unwrap_or_default();
    let mut meter = Meter::start(estimated, false);
    let mut archive = Vec::new();
    let mut take = |bytes: &[u8]| {
        meter.advance(bytes);
        if archive.len() + bytes.len() > ARCHIVE_BYTES_MAX {
            return Err(std::io::Error::other("the archive is larger than a bundle can be"));
        }
        archive.extend_from_slice(bytes);
        Ok(())
    };
    door.download(&text("data_url"), &mut take)?;
    let job = door.get(&format!("/v1/export/{}", text("export_id")))?;
    meter.end(&args.out);
    Ok(FetchedBundle { job, archive })
}

/// The files of an archive.
pub(super) fn unpack(archive: Vec<u8>) -> Result<Vec<BundleFile>, Failure> {
    let files = files_of(archive).context("the archive of the server cannot be read");
    files.map_err(Failure::unreadable)
}

fn files_of(archive: Vec<u8>) -> anyhow::Result<Vec<BundleFile>> {
    let source = ImportSource::open("store.zip", Arc::new(archive), &SourceLimits::IMPORT)?;
    let mut files = Vec::new();
    for (index, entry) in source.entries().iter().enumerate() {
        let mut bytes = Vec::new();
        source.reader(index)?.read_to_end(&mut bytes)?;
        files.push(BundleFile { name: entry.name.clone(), bytes });
    }
    Ok(files)
}

/// Where a bundle goes.
pub(super) enum BundlePlace {
    Directory(PathBuf),
    Archive(PathBuf),
}

impl BundlePlace {
    /// Refuses a place that is taken, before anything is fetched. A directory is replaced only if it has the file
    /// `marker`.
    pub(super) fn open(args: &ExportArgs, marker: &str) -> Result<BundlePlace, Failure> {
        if args.out == "-" {
            let help = Some("name a directory, or a file that ends in .zip".to_owned());
            let error = anyhow!("a bundle is several files and cannot go to standard output");
            return Err(Failure { help, ..Failure::usage(error) });
        }
        let path = PathBuf::from(&args.out);
        let is_archive = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("zip"));
        let is_taken = match is_archive {
            true => RealDisk.exists(&path),
            false => {
                RealDisk.exists(&path)
                    && RealDisk.list(&path).map_or(true, |names| !names.is_empty())
            }
        };
        if is_taken && !args.force {
            return Err(Failure {
                help: Some("--force replaces it".to_owned()),
                ..Failure::usage(anyhow!("{} is there already", path.display()))
            });
        }
        if is_taken && !is_archive && !RealDisk.exists(&path.join(marker)) {
            let text = "is no bundle; it is not replaced";
            return Err(Failure::usage(anyhow!("{} {text}", path.display())));
        }
        Ok(if is_archive { BundlePlace::Archive(path) } else { BundlePlace::Directory(path) })
    }

    /// Writes the archive as it is.
    #[cfg(feature = "aegx")]
    pub(super) fn write_archive(&self, archive: &[u8]) -> Result<(), Failure> {
        let (BundlePlace::Archive(path) | BundlePlace::Directory(path)) = self;
        let written = write_atomic(&RealDisk, path, archive);
        let written = written.with_context(|| format!("{} cannot be written", path.display()));
        written.map_err(Failure::unreadable)
    }

    /// Writes all files, or none: they get their place when they are whole.
    pub(super) fn write(&self, files: &[BundleFile]) -> Result<(), Failure> {
        match self {
            BundlePlace::Archive(path) => {
                let bytes = pack(files).map_err(Failure::unreadable)?;
                let written = write_atomic(&RealDisk, path, &bytes);
                written.with_context(|| format!("{} cannot be written", path.display()))
            }
            BundlePlace::Directory(path) => write_directory(path, files)
                .with_context(|| format!("{} cannot be written", path.display())),
        }
        .map_err(Failure::unreadable)
    }
}

fn pack(files: &[BundleFile]) -> anyhow::Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Vec::new());
    for file in files {
        let bytes = file.bytes.len() as u64;
        let head = StoredFile { name: &file.name, bytes, modified: None };
        archive.add(head, &mut file.bytes.as_slice())?;
    }
    Ok(archive.finish()?)
}

fn write_directory(path: &Path, files: &[BundleFile]) -> std::io::Result<()> {
    let mut name: OsString = path.components().as_path().as_os_str().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    let partial = PathBuf::from(name);
    let written = fill(&partial, files).and_then(|()| {
        if RealDisk.exists(path) {
            RealDisk.remove_dir_all(path)?;
        }
        RealDisk.rename(&partial, path)
    });
    if written.is_err() {
        drop(RealDisk.remove_dir_all(&partial));
    }
    written
}

fn fill(directory: &Path, files: &[BundleFile]) -> std::io::Result<()> {
    RealDisk.create_dir_all(directory)?;
    for file in files {
        // The reader of the archive has refused names that lead elsewhere.
        let path = directory.join(&file.name);
        if let Some(parent) = path.parent() {
            RealDisk.create_dir_all(parent)?;
        }
        write_atomic(&RealDisk, &path, &file.bytes)?;
    }
    Ok(())
}

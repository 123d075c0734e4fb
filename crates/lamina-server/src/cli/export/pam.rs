//! Portable memory stores on this machine: the archive that a server made becomes a directory or stays a ZIP,
//! signed with a key that never leaves this machine.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use lamina_env::disk::{read_file, write_atomic};
use lamina_env::{Disk as _, RealDisk};
use lamina_portable::pam::{BundleFile, sign_store};
use lamina_portable::sign::SigningKey;
use lamina_portable::source::{ImportSource, SourceLimits};
use lamina_portable::zip::{StoredFile, ZipWriter};
use serde_json::Value;
use zeroize::Zeroizing;

use super::door::ExportDoor;
use super::meter::Meter;
use super::session::is_selection;
use super::show;
use crate::cli::args::ExportArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::say;

pub(super) const FORMAT: &str = "pam";
const STORE_FILE: &str = "memory-store.json";
/// Bytes of an archive that is taken.
const ARCHIVE_BYTES_MAX: usize = 1 << 30;
/// Bytes of a file that holds a key.
const KEY_BYTES_MAX: u64 = 64 << 10;

/// Exports a scope into a directory or a ZIP.
pub(super) fn export(args: &ExportArgs, order: &Value) -> Result<Exit, Failure> {
    if is_selection(&args.selector) {
        let error = anyhow!("a selection of events is for the formats zaxy and eventloom");
        return Err(Failure::usage(error));
    }
    let place = BundlePlace::open(args)?;
    let key = args.key.private_key.as_deref().map(read_key).transpose()?;
    let door = ExportDoor::open(&args.door.server, args.door.data.as_deref())?;
    let done = run(args, &door, order).and_then(|(job, mut files)| {
        if let Some(key) = &key {
            sign(&mut files, key)?;
        }
        place.write(&files)?;
        say_id(&files);
        show(args, &job)
    });
    door.close();
    done
}

/// Fetches the archive and reads its files.
fn run(
    args: &ExportArgs,
    door: &ExportDoor<'_>,
    order: &Value,
) -> Result<(Value, Vec<BundleFile>), Failure> {
    let job = door.post("/v1/export", order)?;
    let text = |name: &str| job.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let estimated = job.get("estimated_size_bytes").and_then(Value::as_u64).unwrap_or_default();
    let mut meter = Meter::start(estimated, false);
    let mut archive = Vec::new();
    let mut take = |bytes: &[u8]| {
        meter.advance(bytes);
        if archive.len() + bytes.len() > ARCHIVE_BYTES_MAX {
            return Err(std::io::Error::other("the archive is larger than a store can be"));
        }
        archive.extend_from_slice(bytes);
        Ok(())
    };
    door.download(&text("data_url"), &mut take)?;
    let job = door.get(&format!("/v1/export/{}", text("export_id")))?;
    meter.end(&args.out);
    let files = unpack(archive).context("the archive of the server cannot be read");
    Ok((job, files.map_err(Failure::unreadable)?))
}

fn unpack(archive: Vec<u8>) -> anyhow::Result<Vec<BundleFile>> {
    let source = ImportSource::open("store.zip", Arc::new(archive), &SourceLimits::IMPORT)?;
    let mut files = Vec::new();
    for (index, entry) in source.entries().iter().enumerate() {
        let mut bytes = Vec::new();
        source.reader(index)?.read_to_end(&mut bytes)?;
        files.push(BundleFile { name: entry.name.clone(), bytes });
    }
    Ok(files)
}

fn read_key(path: &Path) -> Result<SigningKey, Failure> {
    let unreadable = || format!("{} cannot be read", path.display());
    let bytes = read_file(&RealDisk, path, KEY_BYTES_MAX).with_context(unreadable);
    let bytes = Zeroizing::new(bytes.map_err(Failure::unreadable)?);
    let text = std::str::from_utf8(&bytes).with_context(unreadable).map_err(Failure::unreadable)?;
    SigningKey::from_pem(text).map_err(Failure::usage)
}

fn sign(files: &mut [BundleFile], key: &SigningKey) -> Result<(), Failure> {
    let store = files.iter_mut().find(|file| file.name == STORE_FILE);
    let store = store.ok_or_else(|| Failure::unreadable(anyhow!("there is no {STORE_FILE}")))?;
    store.bytes = sign_store(&store.bytes, key).map_err(Failure::unreadable)?;
    Ok(())
}

/// Says the id that a delta names.
fn say_id(files: &[BundleFile]) {
    let store = files.iter().find(|file| file.name == STORE_FILE);
    let store: Option<Value> = store.and_then(|file| serde_json::from_slice(&file.bytes).ok());
    let text = |name: &str| store.as_ref()?.get(name)?.as_str();
    if let (Some(id), Some("full")) = (text("export_id"), text("export_type")) {
        say(&format!("export {id}; `--base {id}` exports later changes alone"));
    }
}

/// Where a bundle goes.
enum BundlePlace {
    Directory(PathBuf),
    Archive(PathBuf),
}

impl BundlePlace {
    /// Refuses a place that is taken, before anything is fetched.
    fn open(args: &ExportArgs) -> Result<BundlePlace, Failure> {
        if args.out == "-" {
            let help = Some("name a directory, or a file that ends in .zip".to_owned());
            let error = anyhow!("a store is several files and cannot go to standard output");
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
        if is_taken && !is_archive && !RealDisk.exists(&path.join(STORE_FILE)) {
            let text = "is no store; it is not replaced";
            return Err(Failure::usage(anyhow!("{} {text}", path.display())));
        }
        Ok(if is_archive { BundlePlace::Archive(path) } else { BundlePlace::Directory(path) })
    }

    /// Writes all files, or none: they get their place when they are whole.
    fn write(&self, files: &[BundleFile]) -> Result<(), Failure> {
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

//! The files of a bundle: which belong there, and whether blobs are what their names say.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use crate::digest::parse_hash;
use crate::model::Hash;
use crate::report::{Finding, FindingClass, FindingCode, Place, Report};
use crate::source::{BundleSource, EntryKind};
use crate::verify::VerifyMode;
use crate::{AUDIT_LOG, BLOBS, KEEP, MANIFEST, RECORDS};

/// A blob of the folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlobState {
    pub(crate) entry: usize,
    pub(crate) bytes: u64,
    pub(crate) is_referenced: bool,
}

/// The files of a bundle by their role.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    pub(crate) manifest: Option<usize>,
    pub(crate) records: Option<usize>,
    pub(crate) audit_log: Option<usize>,
    pub(crate) blobs: HashMap<Hash, BlobState>,
    /// Files that are not read otherwise.
    others: Vec<usize>,
    /// Files of the folder of blobs, as the manifest counts them.
    pub(crate) blobs_count: u64,
}

impl Inventory {
    pub(crate) fn take(
        source: &dyn BundleSource,
        mode: VerifyMode,
        report: &mut Report,
    ) -> Inventory {
        let mut inventory = Inventory::default();
        check_conflicts(source, report);
        for (index, entry) in source.entries().iter().enumerate() {
            let path = entry.path.as_str();
            let is_file = entry.kind == EntryKind::File;
            if entry.kind == EntryKind::Link && mode == VerifyMode::Strict {
                let message = "a bundle has no symbolic links";
                report.add(evidence(FindingCode::FileLink, path, message));
            }
            let mut strict = |code, message: &str| {
                if mode == VerifyMode::Strict {
                    report.add(shape(code, path, message));
                }
            };
            match (path, entry.kind) {
                (BLOBS, EntryKind::Folder) => continue,
                (_, EntryKind::Folder) => {
                    strict(FindingCode::FileUnexpected, "a bundle has no such folder");
                    continue;
                }
                (MANIFEST, _) => inventory.manifest = Some(index),
                (RECORDS, _) => inventory.records = Some(index),
                (AUDIT_LOG, _) => inventory.audit_log = Some(index),
                (KEEP, _) => {
                    inventory.others.push(index);
                    if entry.bytes > 0 {
                        strict(FindingCode::FileUnexpected, "this file must be empty");
                    }
                }
                _ => match path.strip_prefix(BLOBS).and_then(|rest| rest.strip_prefix('/')) {
                    Some(name) if !name.contains('/') => {
                        inventory.blobs_count += u64::from(is_file);
                        let state =
                            BlobState { entry: index, bytes: entry.bytes, is_referenced: false };
                        match parse_hash(name) {
                            Some(hash) => drop(inventory.blobs.insert(hash, state)),
                            None => {
                                inventory.others.push(index);
                                if mode == VerifyMode::Strict {
                                    let message = "the name of a blob is the hash of its bytes";
                                    report.add(evidence(FindingCode::BlobName, path, message));
                                }
                            }
                        }
                    }
                    _ => {
                        inventory.others.push(index);
                        strict(FindingCode::FileUnexpected, "a bundle has no such file");
                    }
                },
            }
        }
        report.blobs = inventory.blobs_count;
        inventory
    }

    /// Hashes blobs: all of them, or those that a record names for a reference verifier.
    pub(crate) fn check_blobs(
        &self,
        source: &dyn BundleSource,
        mode: VerifyMode,
        report: &mut Report,
    ) {
        let mut blobs: Vec<(&Hash, &BlobState)> = self.blobs.iter().collect();
        blobs.sort_unstable_by_key(|(_, state)| state.entry);
        for (name, state) in blobs {
            let path = path_of(source, state.entry);
            if mode == VerifyMode::Strict && !state.is_referenced {
                report.add(evidence(
                    FindingCode::BlobUnreferenced,
                    path,
                    "no record names this blob",
                ));
            }
            if mode == VerifyMode::Strict || state.is_referenced {
                self.check_blob(source, name, state, report);
            } else if source.is_archive() {
                drain(source, state.entry, report);
            }
        }
        if source.is_archive() {
            for index in &self.others {
                drain(source, *index, report);
            }
        }
    }

    fn check_blob(
        &self,
        source: &dyn BundleSource,
        name: &Hash,
        state: &BlobState,
        report: &mut Report,
    ) {
        let path = path_of(source, state.entry);
        match hash_of(source, state.entry) {
            Ok(found) if found == *name => {}
            Ok(_) => report.add(evidence(
                FindingCode::BlobHash,
                path,
                "the bytes are not those that the name stands for",
            )),
            Err(error) => {
                let class = match source.is_archive() {
                    true => FindingClass::Unreadable,
                    false => FindingClass::Evidence,
                };
                report.add(Finding {
                    code: FindingCode::FileUnreadable,
                    class,
                    place: Place::file(path),
                    message: format!("the blob cannot be read: {error}"),
                });
            }
        }
    }
}

fn path_of(source: &dyn BundleSource, index: usize) -> &str {
    source.entries().get(index).map_or("", |entry| entry.path.as_str())
}

fn hash_of(source: &dyn BundleSource, index: usize) -> io::Result<Hash> {
    let mut reader = source.open(index)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 65_536];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().into()),
            Ok(count) => hasher.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads a file of an archive to its end, where its checksum stands.
fn drain(source: &dyn BundleSource, index: usize, report: &mut Report) {
    let drained = source.open(index).and_then(|mut reader| io::copy(&mut reader, &mut io::sink()));
    if let Err(error) = drained {
        report.add(Finding {
            code: FindingCode::FileUnreadable,
            class: FindingClass::Unreadable,
            place: Place::file(path_of(source, index)),
            message: format!("the file cannot be read: {error}"),
        });
    }
}

/// One path is one file, and a file is no folder.
fn check_conflicts(source: &dyn BundleSource, report: &mut Report) {
    let files: HashSet<&str> = source
        .entries()
        .iter()
        .filter(|entry| entry.kind != EntryKind::Folder)
        .map(|entry| entry.path.as_str())
        .collect();
    let mut seen = HashSet::new();
    for entry in source.entries() {
        let path = entry.path.as_str();
        let ancestors = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let is_conflict = !seen.insert(path) || ancestors.take(16).any(|part| files.contains(part));
        if is_conflict {
            report.add(Finding {
                code: FindingCode::FileUnreadable,
                class: FindingClass::Unreadable,
                place: Place::file(path),
                message: "two files cannot stand at one path".to_owned(),
            });
        }
    }
}

fn shape(code: FindingCode, path: &str, message: &str) -> Finding {
    let (place, message) = (Place::file(path), message.to_owned());
    Finding { code, class: FindingClass::Shape, place, message }
}

fn evidence(code: FindingCode, path: &str, message: &str) -> Finding {
    Finding { class: FindingClass::Evidence, ..shape(code, path, message) }
}

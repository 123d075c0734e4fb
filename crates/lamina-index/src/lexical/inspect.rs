//! Segments as they lie on disk: every document of every one of them, also the deleted.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use lamina_env::Disk;
use tantivy::Index;

use super::directory::DiskDirectory;
use super::schema::Fields;
use super::segment::Segment;
use crate::error::Error;
use crate::inspect::{Inspected, Kind, Lies, VerifiedFiles, Words, with_all};

/// Digits of the name of a segment, before the first dot of its files.
const NAME_LEN: usize = 32;

/// Shows every document of the index in `dir`.
pub(crate) fn inspect(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    place: &str,
    words: &[Words],
    seen: &mut Inspected,
    show: &mut dyn FnMut(Lies),
) -> Result<(), Error> {
    let directory = DiskDirectory::new(Arc::clone(disk), dir.to_owned());
    let fields = Fields::new();
    let mut known = BTreeSet::new();
    if Index::exists(&directory).map_err(tantivy::TantivyError::from)? {
        let index = Index::open(directory)?;
        for segment in index.searchable_segments()? {
            known.insert(segment.id().uuid_string());
            let open = Segment::open(&segment, &fields)?;
            let mut matching = with_all(words, &mut |term| open.documents_with(term, &fields))?;
            let place = format!("{place}/{}", segment.id().uuid_string());
            for document in 0..open.reader.max_doc() {
                let candidate = open.numbers(document)?.candidate;
                seen.documents += 1;
                show(Lies {
                    place: place.clone(),
                    kind: Kind::Document,
                    key: candidate.key,
                    offset: candidate.offset,
                    strings: matching.remove(&document).unwrap_or_default(),
                });
            }
        }
    }
    // What a crash left behind, and no list of segments names.
    let mut left = BTreeSet::new();
    for name in disk.list(dir)? {
        let segment = name.split('.').next().unwrap_or_default();
        let named = segment.len() == NAME_LEN && segment.bytes().all(|c| c.is_ascii_hexdigit());
        if named && !known.contains(segment) {
            left.insert(segment.to_owned());
        }
    }
    let what = "files of a segment that is not in use any more; the next commit removes them";
    seen.unread.extend(left.into_iter().map(|name| (format!("{place}/{name}"), what.to_owned())));
    Ok(())
}

/// Compares the files of the index in `dir` with their checksums.
pub(crate) fn verify(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    place: &str,
    verified: &mut VerifiedFiles,
) -> Result<(), Error> {
    let directory = DiskDirectory::new(Arc::clone(disk), dir.to_owned());
    if !Index::exists(&directory).map_err(tantivy::TantivyError::from)? {
        return Ok(());
    }
    let index = Index::open(directory)?;
    let fields = Fields::new();
    let segments = index.searchable_segments()?;
    verified.files += disk.list(dir)?.len() as u64;
    let named: BTreeSet<String> =
        segments.iter().map(|segment| segment.id().uuid_string()).collect();
    let mut files: Vec<_> = index.directory().list_managed_files().into_iter().collect();
    files.sort();
    let mut is_known = false;
    for file in files {
        let name = file.to_string_lossy().into_owned();
        let is_used = named.contains(name.split('.').next().unwrap_or_default());
        if !is_used || !disk.exists(&dir.join(&file)) {
            continue;
        }
        // A footer that cannot be read is damage too.
        if !index.directory().validate_checksum(&file).unwrap_or(false) {
            is_known = true;
            let what = "its checksum does not hold".to_owned();
            verified.damaged.push((format!("{place}/{name}"), what));
        }
    }
    // A file that is missing has no checksum.
    for segment in segments.iter().filter(|_| !is_known) {
        if let Err(error) = Segment::open(segment, &fields) {
            let place = format!("{place}/{}", segment.id().uuid_string());
            verified.damaged.push((place, error.to_string()));
        }
    }
    Ok(())
}

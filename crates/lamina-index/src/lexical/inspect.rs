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
use crate::inspect::{Inspected, Kind, Lies, Words, with_all};

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

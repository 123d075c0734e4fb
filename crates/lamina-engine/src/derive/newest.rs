//! Where the newest entry of a kind is, for what a tenant sets as a whole: the last one is all there is to
//! know, and one row says where it stands.

use lamina_store::codec::CodecError;
use lamina_store::entry::{Entry, Place, control};
use lamina_store::kv::Space;
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};

use crate::derive::key;
use crate::derive::read::row;

/// Notes where the newest is; one whose words are gone says nothing any more.
pub(super) fn set(rows: &mut Rows<'_, '_>, entry: &Entry) {
    let at = match entry.head.sub {
        control::PHRASES_SET => key::phrases(entry.head.tenant),
        _ => key::retention::rules(entry.head.tenant),
    };
    if entry.what.live().is_none() {
        rows.delete(Space::Sources, at);
        return;
    }
    let mut row = entry.head.offset.to_be_bytes().to_vec();
    row.extend_from_slice(&entry.place.0.to_be_bytes());
    rows.put(Space::Sources, at, row);
}

/// The words of an entry are erased: if it was the newest, there is none.
pub(super) fn drop_at(rows: &mut Rows<'_, '_>, at: Vec<u8>, offset: u64) -> Result<(), ViewError> {
    let row = rows.get(Space::Sources, &at)?;
    if row.is_some_and(|row| row.starts_with(&offset.to_be_bytes())) {
        rows.delete(Space::Sources, at);
    }
    Ok(())
}

/// Where the newest is.
pub(crate) fn place(views: &Views, at: &[u8]) -> Result<Option<(u64, Place)>, ViewError> {
    row(views, Space::Sources, at, |value| {
        let (offset, place) = value.split_first_chunk::<8>().ok_or(CodecError::Truncated)?;
        let place = place.try_into().map_err(|_| CodecError::Truncated)?;
        Ok((u64::from_be_bytes(*offset), Place(u64::from_be_bytes(place))))
    })
}

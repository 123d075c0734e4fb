//! What became of requests to forget, by their idempotency keys: the same request again is answered the
//! same.

use lamina_store::codec::control::Forgotten;
use lamina_store::entry::Entry;
use lamina_store::kv::Space;
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;

use crate::derive::key;

/// Keeps what an entry says under its key; the first one stands.
pub(super) fn keep(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some(bytes) = entry.what.live() else { return Ok(()) };
    let forgotten = Forgotten::decode(bytes)
        .map_err(|source| ViewError::Entry { offset: entry.head.offset, source })?;
    let Some((used, _)) = &forgotten.key else { return Ok(()) };
    let row = key::forget::forgotten(entry.head.tenant, used);
    if rows.get(Space::Records, &row)?.is_none() {
        rows.put(Space::Records, row, bytes.to_vec());
    }
    Ok(())
}

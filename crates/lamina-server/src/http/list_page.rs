//! Pages of lists that the engine gives as a whole: short lists, in an order that does not change.

use lamina_api::query::Params;
use lamina_api::{ApiError, PageStart, cursor};
use lamina_types::ErrorCode;
use lamina_types::limits::PAGE_DEFAULT;

use super::app::App;

/// A list, and who reads it.
pub(crate) struct WholeList<'a, T> {
    pub(crate) app: &'a App,
    pub(crate) tenant: u32,
    /// The list with its filters: a cursor is good for the list it came from.
    pub(crate) name: &'a str,
    pub(crate) items: Vec<T>,
}

/// The items of a page, and the cursor of the next one.
#[derive(Debug)]
pub(crate) struct ListPage<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next_cursor: Option<String>,
}

impl<T> WholeList<'_, T> {
    /// The page that `limit` and `cursor` ask for. `name_of` tells an item apart from all others.
    pub(crate) fn page(
        self,
        params: &Params<'_>,
        name_of: impl Fn(&T) -> String,
    ) -> Result<ListPage<T>, ApiError> {
        let WholeList { app, tenant, name, mut items } = self;
        let mac = |bytes: &[u8]| app.engine.cursor_mac(tenant, bytes);
        let list = mac(name.as_bytes());
        let hashed = |item: &T| mac(name_of(item).as_bytes());
        let limit = params.limit(PAGE_DEFAULT)?;
        let from = match cursor::decode(params.one("cursor")?, &list, &mac)? {
            PageStart::Begin => 0,
            PageStart::Offset(offset) => usize::try_from(offset).unwrap_or(usize::MAX),
            PageStart::After(position) => after(&items, &position, &hashed)?,
        };
        let mut items = items.split_off(from.min(items.len()));
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more);
        let next_cursor = last.map(|last| {
            let end = from.saturating_add(limit) as u64;
            let position = [end.to_be_bytes().as_slice(), &hashed(last)].concat();
            cursor::encode(&position, &list, &mac)
        });
        Ok(ListPage { items, next_cursor })
    }
}

/// Where the page after a position begins: behind the item that was the last one, or at its number if
/// that item is gone.
fn after<T>(
    items: &[T],
    position: &[u8],
    hashed: &impl Fn(&T) -> [u8; 32],
) -> Result<usize, ApiError> {
    let (number, last) =
        position.split_first_chunk::<8>().ok_or_else(|| ApiError::of(ErrorCode::InvalidCursor))?;
    let number = usize::try_from(u64::from_be_bytes(*number)).unwrap_or(usize::MAX);
    let found = items.iter().position(|item| hashed(item).as_slice() == last);
    Ok(found.map_or(number.saturating_sub(1), |at| at + 1))
}

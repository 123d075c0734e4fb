//! A page of a list (R198).

use schemars::JsonSchema;
use serde::Serialize;

/// One page.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{T}_page")]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

impl<T> Page<T> {
    /// A page that goes on where the cursor says, or ends.
    pub fn new(items: Vec<T>, next_cursor: Option<String>) -> Page<T> {
        Page { items, has_more: next_cursor.is_some(), next_cursor }
    }
}

/// Where a page starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageStart {
    /// At the first item.
    Begin,
    /// After so many items.
    Offset(u64),
    /// After the item at this position, whose meaning belongs to whoever made the cursor.
    After(Vec<u8>),
}

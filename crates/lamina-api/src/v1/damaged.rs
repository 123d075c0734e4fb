//! Records of a list that cannot be read because their stored bytes are damaged: each is an item with an error of its own,
//! and the rest of the page is served.

use lamina_types::ErrorCode;
use schemars::JsonSchema;
use serde::Serialize;

/// An item of a list: the record, or why it cannot be read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum ListItem<T> {
    /// The record.
    Whole(T),
    /// A record whose stored bytes are damaged. Damaged items stand at the end of their page.
    Damaged(DamagedItem),
}

/// A record whose stored bytes are damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "damaged_item")]
pub struct DamagedItem {
    /// Its id.
    pub id: String,
    /// Why it cannot be read.
    pub error: DamagedItemError,
}

/// Why a record cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "damaged_item_error")]
pub struct DamagedItemError {
    /// The code that a request for this record alone is answered with.
    #[schemars(extend("const" = "RECORD_DAMAGED"))]
    pub code: &'static str,
    /// The same in words.
    pub message: &'static str,
}

impl DamagedItem {
    /// The item of a record.
    pub fn new(id: impl ToString) -> DamagedItem {
        let code = ErrorCode::RecordDamaged.as_str();
        let message = "the stored bytes of this record are damaged; the operator can restore it";
        DamagedItem { id: id.to_string(), error: DamagedItemError { code, message } }
    }
}

impl<T> ListItem<T> {
    /// The items of a page: those that could be read, then those that could not.
    pub fn page<Id: ToString>(items: impl IntoIterator<Item = T>, damaged: &[Id]) -> Vec<Self> {
        let damaged = damaged.iter().map(|id| ListItem::Damaged(DamagedItem::new(id.to_string())));
        items.into_iter().map(ListItem::Whole).chain(damaged).collect()
    }
}

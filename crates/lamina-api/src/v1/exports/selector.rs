//! The selector of the memory export contract: which events of a session leave, and which entries of a
//! signed bundle are disclosed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;

/// Items of one list of a selector.
const ITEMS_MAX: usize = 256;
/// Characters of one item, of a time and of a session.
const ITEM_CHARS_MAX: usize = 256;
const SESSION_CHARS_MAX: usize = 128;
/// Characters of a query.
const QUERY_CHARS_MAX: usize = 4_096;
/// Events that a query keeps at most.
const QUERY_LIMIT_MAX: u64 = 100;

/// Which events of a session. Every axis is optional; without any it is the whole session in both grains.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "export_selector")]
pub struct SelectorBody {
    /// `event`, `semantic` or both.
    #[schemars(length(min = 1, max = 2))]
    pub grains: Option<Vec<String>>,
    /// Event types.
    #[schemars(length(max = 256))]
    pub kinds: Option<Vec<String>>,
    /// Only events after this number.
    pub since_seq: Option<u64>,
    /// Only events up to this number.
    pub max_seq: Option<u64>,
    /// The first time.
    pub since_time: Option<String>,
    /// The last time.
    pub until_time: Option<String>,
    /// Only the events that match these words best.
    #[schemars(length(min = 1, max = 4096))]
    pub query: Option<String>,
    /// How many of them; 50 unless said.
    #[schemars(range(min = 1, max = 100))]
    pub query_limit: Option<u64>,
    /// Not the events of these tiers.
    #[schemars(length(max = 256))]
    pub exclude_sensitivities: Option<Vec<String>>,
    /// Only the last so many events; 0 means all.
    pub limit: Option<u64>,
}

/// Which entries of a bundle are disclosed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "export_entry_selector")]
pub struct EntrySelectorBody {
    /// `event`, `semantic` or both.
    #[schemars(length(min = 1, max = 2))]
    pub grains: Option<Vec<String>>,
    /// Kinds of entries: event types, `entity:...`, `edge:...`.
    #[schemars(length(max = 256))]
    pub kinds: Option<Vec<String>>,
    /// Only entries after this number.
    pub since_seq: Option<u64>,
    /// Only entries up to this number.
    pub max_seq: Option<u64>,
    /// The first time.
    pub since_time: Option<String>,
    /// The last time.
    pub until_time: Option<String>,
}

/// A selector that was checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The bounds that entries have too.
    pub entries: EntrySelection,
    /// Only the events that match these words best.
    pub query: Option<String>,
    /// How many of them.
    pub query_limit: Option<u64>,
    /// Tiers to leave out.
    pub exclude_sensitivities: Vec<String>,
    /// Only the last so many events; 0 means all.
    pub limit: Option<u64>,
}

/// Bounds on entries that were checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntrySelection {
    /// The grains; none means both.
    pub grains: Option<Vec<String>>,
    /// Kinds.
    pub kinds: Option<Vec<String>>,
    /// After this number.
    pub since_seq: Option<u64>,
    /// Up to this number.
    pub max_seq: Option<u64>,
    /// The first time.
    pub since_time: Option<String>,
    /// The last time.
    pub until_time: Option<String>,
}

/// How a session leaves as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionOrder {
    /// Its name.
    pub session_id: Option<String>,
    /// Which events.
    pub selection: Selection,
    /// Whether the server signs.
    pub sign: bool,
    /// Which entries are disclosed.
    pub disclose: Option<EntrySelection>,
    /// The first of its members that the request named.
    pub named: Option<&'static str>,
}

pub(super) struct SessionMembers {
    pub(super) session_id: Option<String>,
    pub(super) selector: Option<SelectorBody>,
    pub(super) sign: Option<bool>,
    pub(super) disclose: Option<EntrySelectorBody>,
}

impl SessionOrder {
    pub(super) fn read(members: SessionMembers) -> Result<SessionOrder, ApiError> {
        let SessionMembers { session_id, selector, sign, disclose } = members;
        let named = [
            ("session_id", session_id.is_some()),
            ("selector", selector.is_some()),
            ("sign", sign.is_some()),
            ("disclose", disclose.is_some()),
        ];
        let named = named.into_iter().find(|(_, is_named)| *is_named).map(|(name, _)| name);
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        if let Some(session) = &session_id
            && (session.is_empty()
                || session.len() > SESSION_CHARS_MAX
                || !session.chars().all(is_letter))
        {
            let reason = "must be 1 to 128 of A-Z, a-z, 0-9, `_`, `.`, `-`";
            return Err(ApiError::invalid_shape("session_id", reason));
        }
        Ok(SessionOrder {
            session_id,
            selection: selector.map_or_else(|| Ok(Selection::default()), Selection::read)?,
            sign: sign.unwrap_or(false),
            disclose: disclose.map(|body| EntrySelection::read(body, "disclose")).transpose()?,
            named,
        })
    }
}

impl Selection {
    fn read(body: SelectorBody) -> Result<Selection, ApiError> {
        let SelectorBody {
            grains,
            kinds,
            since_seq,
            max_seq,
            since_time,
            until_time,
            query,
            query_limit,
            exclude_sensitivities,
            limit,
        } = body;
        let bounds =
            EntrySelectorBody { grains, kinds, since_seq, max_seq, since_time, until_time };
        let entries = EntrySelection::read(bounds, "selector")?;
        let chars = query.as_ref().map(|query| query.chars().count());
        if chars.is_some_and(|chars| !(1..=QUERY_CHARS_MAX).contains(&chars)) {
            let reason = format!("must have 1 to {QUERY_CHARS_MAX} characters");
            return Err(ApiError::invalid_shape("selector.query", reason));
        }
        if query_limit.is_some_and(|limit| !(1..=QUERY_LIMIT_MAX).contains(&limit)) {
            let reason = format!("must be from 1 to {QUERY_LIMIT_MAX}");
            return Err(ApiError::invalid_shape("selector.query_limit", reason));
        }
        let exclude_sensitivities = exclude_sensitivities.unwrap_or_default();
        check_items("selector.exclude_sensitivities", &exclude_sensitivities)?;
        Ok(Selection { entries, query, query_limit, exclude_sensitivities, limit })
    }
}

impl EntrySelection {
    fn read(body: EntrySelectorBody, place: &str) -> Result<EntrySelection, ApiError> {
        let EntrySelectorBody { grains, kinds, since_seq, max_seq, since_time, until_time } = body;
        let known = |grain: &String| matches!(grain.as_str(), "event" | "semantic");
        if grains.as_ref().is_some_and(|grains| grains.is_empty() || !grains.iter().all(known)) {
            let reason = "must be `event`, `semantic` or both";
            return Err(ApiError::invalid_shape(format!("{place}.grains"), reason));
        }
        check_items(&format!("{place}.kinds"), kinds.as_deref().unwrap_or_default())?;
        for (name, time) in [("since_time", &since_time), ("until_time", &until_time)] {
            if let Some(time) = time {
                check_items(&format!("{place}.{name}"), std::slice::from_ref(time))?;
            }
        }
        Ok(EntrySelection { grains, kinds, since_seq, max_seq, since_time, until_time })
    }
}

fn check_items(place: &str, items: &[String]) -> Result<(), ApiError> {
    let is_long = |item: &String| item.is_empty() || item.chars().count() > ITEM_CHARS_MAX;
    if items.len() > ITEMS_MAX || items.iter().any(is_long) {
        let reason =
            format!("must have at most {ITEMS_MAX} items of 1 to {ITEM_CHARS_MAX} characters");
        return Err(ApiError::invalid_shape(place, reason));
    }
    Ok(())
}

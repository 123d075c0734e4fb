//! The request of an upload: its body is the file, so everything else stands in the query.

use std::collections::BTreeMap;

use super::options::ImportOptions;
use super::{CheckedImport, ImportInput, checked_key, checked_name, target};
use crate::error::ApiError;
use crate::query::Params;

/// Reads the query of an upload; `key` is the idempotency key from the header.
pub fn read_upload(params: &Params<'_>, key: Option<&str>) -> Result<CheckedImport, ApiError> {
    let text = |name: &str| params.one(name).map(|text| text.map(str::to_owned));
    let options = ImportOptions {
        ordering: text("ordering")?,
        preserve_timestamps: switch(params, "preserve_timestamps")?,
        map_categories_to: text("map_categories_to")?,
        extract: text("extract")?.map(|list| list.split(',').map(str::to_owned).collect()),
        embed: text("embed")?,
        skip_on_conflict: switch(params, "skip_on_conflict")?,
        preserve_bi_temporal: switch(params, "preserve_bi_temporal")?,
        ontology_mapping: pairs(params, "ontology_mapping")?,
        map_core_blocks_to: text("map_core_blocks_to")?,
        map_archival_to: text("map_archival_to")?,
        restore_erased: switch(params, "restore_erased")?,
        require_signature: switch(params, "require_signature")?,
        // A plus sign that was not encoded arrives as a space.
        naive_times: text("naive_times")?.map(|text| text.replace(' ', "+")),
        columns: pairs(params, "columns")?,
        accept_broken: switch(params, "accept_broken")?,
        modified: text("modified")?.map(|text| text.replace(' ', "+")),
    };
    options.check()?;
    Ok(CheckedImport {
        target: target(text("scope")?, text("scope_template")?)?,
        format: text("format")?,
        input: ImportInput::Upload,
        options,
        name: checked_name(text("name")?)?,
        dry_run: switch(params, "dry_run")?.unwrap_or(false),
        idempotency_key: checked_key(key.map(str::to_owned))?,
    })
}

fn switch(params: &Params<'_>, name: &str) -> Result<Option<bool>, ApiError> {
    match params.one(name)? {
        None => Ok(None),
        Some("true" | "1") => Ok(Some(true)),
        Some("false" | "0") => Ok(Some(false)),
        Some(_) => Err(ApiError::invalid_parameter(name, "must be true or false")),
    }
}

/// `text=body,time=created`.
fn pairs(params: &Params<'_>, name: &str) -> Result<Option<BTreeMap<String, String>>, ApiError> {
    let Some(text) = params.one(name)? else { return Ok(None) };
    let pair = |pair: &str| {
        let (from, to) = pair.split_once('=')?;
        Some((from.trim().to_owned(), to.trim().to_owned()))
    };
    let map: Option<BTreeMap<String, String>> = text.split(',').map(pair).collect();
    let reason = "must be pairs such as `text=body,time=created`";
    map.map(Some).ok_or_else(|| ApiError::invalid_parameter(name, reason))
}

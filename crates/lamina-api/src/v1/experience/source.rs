//! The source descriptor, version 2: which part of which source a content was taken from.
//!
//! It is stored as submitted; here it is only checked. Limits are in bytes, as the writers of
//! descriptors count them.

use std::collections::BTreeSet;

use lamina_types::limits::{
    FRAGMENT_ID_BYTES_MAX, LOCATOR_PATH_SEGMENTS_MAX, LOCATOR_SEGMENT_BYTES_MAX,
    LOCATOR_TEXT_BYTES_MAX, MODALITY_CHARS_MAX, SAFE_INTEGER_MAX, SOURCE_BYTES_MAX,
    SOURCE_FRAGMENTS_MAX, SOURCE_ID_BYTES_MAX, SOURCE_KIND_BYTES_MAX,
};
use lamina_types::stdx::hex;
use lamina_types::{Content, Modality};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use crate::check::{self, Rule};
use crate::error::ApiError;
use crate::json::{self, FreeJson, Obj};
use crate::time;

/// Where a content was taken from.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "source_descriptor")]
pub struct SourceBody {
    /// The version of the descriptor: 2.
    #[schemars(range(min = 2, max = 2))]
    pub schema_version: u64,
    /// The source, in the caller's own naming.
    #[schemars(length(min = 1, max = 4096))]
    pub source_id: String,
    /// The modality of the envelope, repeated.
    #[schemars(length(min = 1, max = 128))]
    pub modality: String,
    /// The kind of content, such as a media type.
    #[schemars(length(min = 1, max = 256))]
    pub content_kind: String,
    /// BCP 47 tag of the source's language.
    pub language: Option<String>,
    /// Hash of the whole source: `sha256:` or `blake3:` and 64 lower-case hex digits.
    #[schemars(regex(pattern = "^(sha256|blake3):[0-9a-f]{64}$"))]
    pub source_fingerprint: String,
    /// The parts of the source that this content represents.
    #[schemars(length(min = 1, max = 1024))]
    pub fragments: Vec<Obj<FragmentBody>>,
}

/// One part of a source.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "source_fragment")]
pub struct FragmentBody {
    /// Its id, unique within the descriptor after normalisation to NFC.
    #[schemars(length(min = 1, max = 1024))]
    pub fragment_id: String,
    /// Where in the source it is, in the terms of that kind of source.
    pub locator: LocatorBody,
    /// Where in the source it is, in bytes.
    pub byte_range: Option<Obj<ByteRange>>,
    /// Hash of the part: `sha256:` or `blake3:` and 64 lower-case hex digits.
    #[schemars(regex(pattern = "^(sha256|blake3):[0-9a-f]{64}$"))]
    pub content_fingerprint: String,
}

/// A half-open range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "byte_range")]
pub struct ByteRange {
    /// First byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

/// A range of lines, counted from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "line_range")]
pub struct LineRange {
    /// First line.
    #[schemars(range(min = 1))]
    pub start: u32,
    /// Last line.
    #[schemars(range(min = 1))]
    pub end: u32,
}

/// A half-open range of milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "time_range")]
pub struct TimeRange {
    /// Start.
    pub start_ms: u64,
    /// End.
    pub end_ms: u64,
}

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "region")]
pub struct Region {
    /// Left edge.
    pub x: u32,
    /// Upper edge.
    pub y: u32,
    /// Width, at least 1.
    #[schemars(range(min = 1))]
    pub width: u32,
    /// Height, at least 1.
    #[schemars(range(min = 1))]
    pub height: u32,
}

/// A place in a source, in the terms of that kind of source.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "source_locator")]
pub enum LocatorBody {
    /// A turn of a conversation.
    Conversation {
        /// The session.
        session_id: String,
        /// Which turn of it.
        turn_index: u64,
        /// Who spoke.
        speaker: Option<String>,
        /// The message's own id.
        message_id: Option<String>,
    },
    /// A place in a document.
    Document {
        /// The page.
        page: Option<u32>,
        /// The headings that lead there.
        section_path: Option<Vec<String>>,
        /// The block within it.
        block_index: Option<u64>,
    },
    /// A value in a JSON document.
    Json {
        /// RFC 6901 pointer.
        pointer: String,
    },
    /// A cell of a table.
    Table {
        /// The table.
        table: Option<String>,
        /// The sheet.
        sheet: Option<String>,
        /// The row.
        row: Option<u64>,
        /// The column.
        column: Option<String>,
        /// The field.
        field: Option<String>,
    },
    /// A place in code.
    Code {
        /// The file.
        file: String,
        /// The symbol.
        symbol: Option<String>,
        /// The lines.
        lines: Option<LineRange>,
    },
    /// A record of a log.
    Log {
        /// The record's id.
        record_id: Option<String>,
        /// The record's number.
        record_index: Option<u64>,
        /// The record's time, RFC 3339.
        timestamp: Option<String>,
        /// The record's level.
        level: Option<String>,
        /// What wrote it.
        component: Option<String>,
        /// A field of it.
        field: Option<String>,
    },
    /// A part of an image, a recording or a scan.
    Media {
        /// The page.
        page: Option<u32>,
        /// The frame.
        frame_index: Option<u64>,
        /// The span of time.
        time_range: Option<TimeRange>,
        /// The part of the picture.
        region: Option<Region>,
        /// The track.
        track: Option<String>,
    },
    /// Anything else that has an order or a path.
    Generic {
        /// The path.
        path: Option<Vec<String>>,
        /// The position.
        ordinal: Option<u64>,
    },
}

/// Checks a descriptor against its envelope; gives back what is stored.
pub(super) fn admit(
    source: FreeJson,
    modality: &Modality,
    content: &Content,
) -> Result<String, ApiError> {
    if source.as_str().len() > SOURCE_BYTES_MAX {
        let reason = format!("has more than {SOURCE_BYTES_MAX} bytes");
        return Err(ApiError::invalid_envelope("source", reason));
    }
    let Obj(body) = json::read_part::<Obj<SourceBody>>(source.as_str(), "source")?;
    check_head(&body, modality)?;
    check_fragments(&body.fragments)?;
    check_fingerprint(&body.fragments, content)?;
    Ok(source.into_string())
}

fn invalid(field: &str, reason: impl Into<String>) -> ApiError {
    ApiError::invalid_envelope(format!("source.{field}"), reason)
}

fn check_head(body: &SourceBody, modality: &Modality) -> Result<(), ApiError> {
    let SourceBody {
        schema_version,
        source_id,
        modality: repeated,
        content_kind,
        language,
        source_fingerprint,
        fragments: _,
    } = body;
    if *schema_version != 2 {
        return Err(invalid("schema_version", "must be 2"));
    }
    let at = |field: &'static str| move |reason: String| invalid(field, reason);
    check::trimmed(source_id, SOURCE_ID_BYTES_MAX).map_err(at("source_id"))?;
    check::trimmed(repeated, MODALITY_CHARS_MAX).map_err(at("modality"))?;
    if repeated != modality.as_str() {
        return Err(invalid("modality", "must be the modality of the envelope"));
    }
    check::trimmed(content_kind, SOURCE_KIND_BYTES_MAX).map_err(at("content_kind"))?;
    if let Some(language) = language {
        check::language(language).map_err(at("language"))?;
    }
    fingerprint(source_fingerprint).map_err(at("source_fingerprint"))
}

fn fingerprint(text: &str) -> Rule {
    let digest = text.strip_prefix("sha256:").or_else(|| text.strip_prefix("blake3:"));
    let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    match digest {
        Some(digest) if digest.len() == 64 && digest.bytes().all(hex) => Ok(()),
        _ => Err("must be `sha256:` or `blake3:` and 64 lower-case hex digits".to_owned()),
    }
}

fn check_fragments(fragments: &[Obj<FragmentBody>]) -> Result<(), ApiError> {
    if fragments.is_empty() || fragments.len() > SOURCE_FRAGMENTS_MAX {
        let reason = format!("must have 1 to {SOURCE_FRAGMENTS_MAX} items");
        return Err(invalid("fragments", reason));
    }
    let mut ids: BTreeSet<String> = BTreeSet::new();
    let mut places: BTreeSet<String> = BTreeSet::new();
    for (index, Obj(fragment)) in fragments.iter().enumerate() {
        let at = |field: &str| format!("fragments[{index}].{field}");
        let FragmentBody { fragment_id, locator, byte_range, content_fingerprint } = fragment;
        check::trimmed(fragment_id, FRAGMENT_ID_BYTES_MAX)
            .map_err(|reason| invalid(&at("fragment_id"), reason))?;
        if !ids.insert(fragment_id.nfc().collect()) {
            return Err(invalid(&at("fragment_id"), "is repeated (after NFC)"));
        }
        check_locator(locator).map_err(|(field, reason)| {
            let field = match field {
                "" => at("locator"),
                field => at(&format!("locator.{field}")),
            };
            invalid(&field, reason)
        })?;
        if let Some(Obj(ByteRange { start, end })) = byte_range
            && (end <= start || *end > SAFE_INTEGER_MAX)
        {
            return Err(invalid(&at("byte_range"), "`end` must be after `start`"));
        }
        fingerprint(content_fingerprint)
            .map_err(|reason| invalid(&at("content_fingerprint"), reason))?;
        let range = byte_range.map(|Obj(range)| range);
        let place = serde_json::to_string(&(locator, range, content_fingerprint));
        if !places.insert(place.unwrap_or_default().nfc().collect()) {
            let field = format!("fragments[{index}]");
            return Err(invalid(&field, "repeats the place and content of another"));
        }
    }
    Ok(())
}

/// Which field of a locator is refused (empty for the locator itself), and why.
type LocatorRule = Result<(), (&'static str, String)>;

fn check_locator(locator: &LocatorBody) -> LocatorRule {
    match locator {
        LocatorBody::Conversation { session_id, turn_index, speaker, message_id } => {
            text("session_id", Some(session_id))?;
            integer("turn_index", Some(*turn_index))?;
            text("speaker", speaker.as_deref())?;
            text("message_id", message_id.as_deref())
        }
        LocatorBody::Document { page, section_path, block_index } => {
            path("section_path", section_path.as_deref())?;
            integer("block_index", *block_index)?;
            let sections = section_path.as_deref().is_some_and(|path| !path.is_empty());
            anchored(page.is_some() || block_index.is_some() || sections)
        }
        LocatorBody::Json { pointer } => check_pointer(pointer),
        LocatorBody::Table { table, sheet, row, column, field } => {
            let texts = [("table", table), ("sheet", sheet), ("column", column), ("field", field)];
            for (name, value) in &texts {
                text(name, value.as_deref())?;
            }
            integer("row", *row)?;
            anchored(row.is_some() || texts.iter().any(|(_, value)| value.is_some()))
        }
        LocatorBody::Code { file, symbol, lines } => {
            text("file", Some(file))?;
            text("symbol", symbol.as_deref())?;
            match lines {
                Some(LineRange { start, end }) if *start < 1 || end < start => {
                    Err(("lines", "`start` must be at least 1 and not after `end`".into()))
                }
                _ => Ok(()),
            }
        }
        LocatorBody::Log { .. } | LocatorBody::Media { .. } => check_record(locator),
        LocatorBody::Generic { path: segments, ordinal } => {
            path("path", segments.as_deref())?;
            integer("ordinal", *ordinal)?;
            let named = segments.as_deref().is_some_and(|path| !path.is_empty());
            anchored(ordinal.is_some() || named)
        }
    }
}

fn check_record(locator: &LocatorBody) -> LocatorRule {
    match locator {
        LocatorBody::Log { record_id, record_index, timestamp, level, component, field } => {
            text("record_id", record_id.as_deref())?;
            text("level", level.as_deref())?;
            text("component", component.as_deref())?;
            text("field", field.as_deref())?;
            integer("record_index", *record_index)?;
            if let Some(timestamp) = timestamp {
                time::parse(timestamp).map_err(|error| ("timestamp", error.to_string()))?;
            }
            anchored(record_id.is_some() || record_index.is_some() || timestamp.is_some())
        }
        LocatorBody::Media { page, frame_index, time_range, region, track } => {
            integer("frame_index", *frame_index)?;
            text("track", track.as_deref())?;
            if let Some(TimeRange { start_ms, end_ms }) = time_range
                && (end_ms <= start_ms || *end_ms > SAFE_INTEGER_MAX)
            {
                return Err(("time_range", "`end_ms` must be after `start_ms`".into()));
            }
            if region.is_some_and(|region| region.width == 0 || region.height == 0) {
                return Err(("region", "`width` and `height` must be at least 1".into()));
            }
            let frame = frame_index.is_some() || time_range.is_some();
            anchored(page.is_some() || frame || region.is_some() || track.is_some())
        }
        _ => Ok(()),
    }
}

fn text(field: &'static str, value: Option<&str>) -> LocatorRule {
    match value {
        Some(value) => {
            check::trimmed(value, LOCATOR_TEXT_BYTES_MAX).map_err(|reason| (field, reason))
        }
        None => Ok(()),
    }
}

fn integer(field: &'static str, value: Option<u64>) -> LocatorRule {
    match value {
        Some(value) if value > SAFE_INTEGER_MAX => {
            Err((field, format!("must be at most {SAFE_INTEGER_MAX}")))
        }
        _ => Ok(()),
    }
}

fn path(field: &'static str, segments: Option<&[String]>) -> LocatorRule {
    let segments = segments.unwrap_or_default();
    if segments.len() > LOCATOR_PATH_SEGMENTS_MAX {
        let reason = format!("has more than {LOCATOR_PATH_SEGMENTS_MAX} segments");
        return Err((field, reason));
    }
    segments.iter().try_for_each(|segment| {
        check::trimmed(segment, LOCATOR_SEGMENT_BYTES_MAX).map_err(|reason| (field, reason))
    })
}

fn anchored(anchored: bool) -> LocatorRule {
    match anchored {
        true => Ok(()),
        false => Err(("", "says nothing about the place".into())),
    }
}

fn check_pointer(pointer: &str) -> LocatorRule {
    let refuse = |reason: &str| Err(("pointer", reason.to_owned()));
    if pointer.len() > LOCATOR_TEXT_BYTES_MAX {
        return refuse("is too long");
    }
    if pointer.chars().any(char::is_control) {
        return refuse("contains a control character");
    }
    let escapes_ok = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    match (pointer.is_empty() || pointer.starts_with('/')) && escapes_ok {
        true => Ok(()),
        false => refuse("is not an RFC 6901 JSON pointer"),
    }
}

/// A descriptor with one fragment says what the text is, so it can be held to it.
fn check_fingerprint(fragments: &[Obj<FragmentBody>], content: &Content) -> Result<(), ApiError> {
    let ([Obj(fragment)], Content::Message { text, .. } | Content::Text { text, .. }) =
        (fragments, content)
    else {
        return Ok(());
    };
    let claimed = fragment.content_fingerprint.as_str();
    let found = match claimed.starts_with("sha256:") {
        true => format!("sha256:{}", hex::encode(&Sha256::digest(text.as_bytes()))),
        false => format!("blake3:{}", hex::encode(blake3::hash(text.as_bytes()).as_bytes())),
    };
    match claimed == found {
        true => Ok(()),
        false => Err(invalid(
            "fragments[0].content_fingerprint",
            "does not match the UTF-8 bytes of the text",
        )),
    }
}

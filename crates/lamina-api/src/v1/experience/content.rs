//! The five kinds of content: as read, as checked, as shown.

use lamina_types::limits::{
    MEDIA_MAX, PREDICATE_CHARS_MAX, REFERENCE_ID_CHARS_MAX, REFERENCE_NAME_CHARS_MAX,
    TEXT_BYTES_MAX,
};
use lamina_types::{BlobId, Content, MediaRef, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::admit::{Strictness, required};
use crate::check;
use crate::error::ApiError;
use crate::json::{self, FreeJson, Obj, OrText};
use crate::time;

/// The content of an experience, by kind. This is the shape in the contract and of the record; a
/// body is read through a flat struct, because choosing a variant first would mean reading twice.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(rename = "content", deny_unknown_fields)]
pub enum ContentBody {
    /// One message of a conversation.
    Message {
        /// Who speaks.
        role: RoleBody,
        /// What was said.
        text: String,
        /// Attached blobs.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schemars(with = "Option<Vec<MediaBody>>", length(max = 64))]
        media: Vec<MediaBody>,
    },
    /// Plain text.
    Text {
        /// The text.
        text: String,
        /// Attached blobs.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schemars(with = "Option<Vec<MediaBody>>", length(max = 64))]
        media: Vec<MediaBody>,
    },
    /// Any JSON value.
    Json {
        /// The value.
        #[schemars(with = "serde_json::Value")]
        data: Box<RawValue>,
        /// Attached blobs.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schemars(with = "Option<Vec<MediaBody>>", length(max = 64))]
        media: Vec<MediaBody>,
    },
    /// An uploaded blob, perhaps with its text.
    BlobRef {
        /// The blob.
        #[schemars(regex(pattern = "^blob_"))]
        blob_id: String,
        /// Its text, if the caller has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        transcript: Option<String>,
        /// Attached blobs.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schemars(with = "Option<Vec<MediaBody>>", length(max = 64))]
        media: Vec<MediaBody>,
    },
    /// A stated triple, which becomes a fact without extraction.
    Triple {
        /// Subject, predicate, object.
        #[schemars(with = "TripleBody")]
        triple: Box<RawValue>,
        /// Attached blobs.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schemars(with = "Option<Vec<MediaBody>>", length(max = 64))]
        media: Vec<MediaBody>,
    },
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "role")]
pub enum RoleBody {
    /// A person.
    User,
    /// An agent.
    Assistant,
    /// A tool that an agent called.
    Tool,
    /// The frame around a conversation.
    System,
}

/// A reference to an uploaded blob.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "media_ref")]
pub struct MediaBody {
    /// The blob.
    #[schemars(regex(pattern = "^blob_"))]
    pub blob_id: String,
}

/// A stated triple.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "triple")]
pub struct TripleBody {
    /// What the statement is about.
    #[schemars(with = "TypedValueShape")]
    pub subject: Option<Obj<TypedValue>>,
    /// The relation.
    #[schemars(required, length(min = 1, max = 256))]
    pub predicate: Option<String>,
    /// What is said of it.
    #[schemars(with = "TypedValueShape")]
    pub object: Option<Obj<TypedValue>>,
    /// From when it holds. Beta: servers that read it list `triple_validity_v1`.
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: Option<String>,
    /// Until when it holds, exclusive and after `valid_from`. Beta: servers that read it list `triple_validity_v1`.
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
    /// How sure it is, from 0 to 1; 1 if it is not said. Beta: servers that read it list `triple_validity_v1`.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
}

/// A typed value as it is read: every field of every type, all optional.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypedValue {
    /// `literal`, `entity` or `concept`.
    pub r#type: Option<String>,
    /// The datatype of a literal.
    pub datatype: Option<String>,
    /// The value of a literal.
    pub value: Option<FreeJson>,
    /// The id of an entity or concept.
    pub id: Option<String>,
    /// The name of an entity.
    pub name: Option<String>,
}

/// A typed value.
#[derive(Debug, JsonSchema)]
#[schemars(tag = "type", rename_all = "snake_case", deny_unknown_fields, rename = "typed_value")]
#[expect(dead_code, reason = "describes the shape in the schema; never built")]
enum TypedValueShape {
    /// A plain value.
    Literal {
        /// Such as `string`, `integer`, `number`, `boolean` or `date`; other names are kept.
        #[schemars(length(min = 1, max = 64))]
        datatype: String,
        /// A value that agrees with the datatype.
        value: LiteralShape,
    },
    /// A thing in the world.
    Entity {
        /// Its id.
        #[schemars(length(min = 1, max = 256))]
        id: String,
        /// Its name.
        #[schemars(length(min = 1, max = 1024))]
        name: Option<String>,
    },
    /// A concept of the understanding layer.
    Concept {
        /// Its id.
        #[schemars(length(min = 1, max = 256))]
        id: String,
    },
}

/// A plain value.
#[derive(Debug, JsonSchema)]
#[schemars(untagged, rename = "literal_value")]
#[expect(dead_code, reason = "describes the shape in the schema; never built")]
enum LiteralShape {
    /// Text.
    Text(String),
    /// A number.
    Number(f64),
    /// True or false.
    Boolean(bool),
}

/// The content as it is read: every field of every kind, all optional.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentInput {
    kind: Option<String>,
    role: Option<String>,
    text: Option<String>,
    media: Option<Vec<Obj<MediaBody>>>,
    data: Option<FreeJson>,
    blob_id: Option<String>,
    transcript: Option<String>,
    triple: Option<FreeJson>,
}

const KINDS: &str = "one of message, text, json, blob_ref, triple";
const ROLES: &str = "one of user, assistant, tool, system";

/// Checks a content and gives it its type.
pub(super) fn admit(
    input: OrText<ContentInput>,
    strictness: Strictness,
) -> Result<Content, ApiError> {
    let input = match (input, strictness) {
        (OrText::Object(input), _) => input,
        (OrText::Text(text), Strictness::Lenient) => {
            ContentInput { text: Some(text), ..ContentInput::default() }
        }
        (OrText::Text(_), Strictness::Strict) => {
            return Err(super::admit::not_an_object("content"));
        }
    };
    let kind = match (&input.kind, strictness) {
        (Some(kind), _) => kind.clone(),
        (None, Strictness::Lenient) if input.text.is_some() => match input.role {
            Some(_) => "message".to_owned(),
            None => "text".to_owned(),
        },
        (None, _) => {
            return Err(invalid("kind", format!("this field is required: {KINDS}")));
        }
    };
    let content = of_kind(&kind, input)?;
    if content.flattened_bytes() > TEXT_BYTES_MAX {
        let field = match content {
            Content::Message { .. } | Content::Text { .. } => "text",
            Content::Json { .. } => "data",
            Content::BlobRef { .. } => "transcript",
            Content::Triple { .. } => "triple",
        };
        let reason = format!("the flattened text has more than {TEXT_BYTES_MAX} bytes");
        return Err(invalid(field, reason));
    }
    Ok(content)
}

fn of_kind(kind: &str, input: ContentInput) -> Result<Content, ApiError> {
    let fields: &[&str] = match kind {
        "message" => &["role", "text"],
        "text" => &["text"],
        "json" => &["data"],
        "blob_ref" => &["blob_id", "transcript"],
        "triple" => &["triple"],
        _ => return Err(invalid("kind", format!("must be {KINDS}"))),
    };
    let ContentInput { kind: _, role, text, media, data, blob_id, transcript, triple } = input;
    let given = [
        ("role", role.is_some()),
        ("text", text.is_some()),
        ("data", data.is_some()),
        ("blob_id", blob_id.is_some()),
        ("transcript", transcript.is_some()),
        ("triple", triple.is_some()),
    ];
    if let Some((field, _)) = given.iter().find(|(field, given)| *given && !fields.contains(field))
    {
        return Err(invalid(field, format!("does not belong to kind {kind}")));
    }
    let media = admit_media(media.unwrap_or_default())?;
    match kind {
        "message" => {
            let role = admit_role(role)?;
            let text = admit_text(text, &media)?;
            Ok(Content::Message { role, text, media })
        }
        "text" => {
            let text = admit_text(text, &media)?;
            Ok(Content::Text { text, media })
        }
        "json" => {
            let data = data.ok_or_else(|| required("content.data"))?.into_string();
            Ok(Content::Json { data, media })
        }
        "blob_ref" => {
            let blob_id = blob_id.ok_or_else(|| required("content.blob_id"))?;
            let blob_id = admit_blob("content.blob_id", &blob_id)?;
            if transcript.as_deref() == Some("") {
                return Err(invalid("transcript", "must not be empty"));
            }
            Ok(Content::BlobRef { blob_id, transcript, media })
        }
        _ => {
            let triple = triple.ok_or_else(|| required("content.triple"))?;
            admit_triple(&triple)?;
            let triple = triple.into_string();
            Ok(Content::Triple { triple, media })
        }
    }
}

fn invalid(field: &str, reason: impl Into<String>) -> ApiError {
    ApiError::invalid_envelope(format!("content.{field}"), reason)
}

fn admit_role(role: Option<String>) -> Result<Role, ApiError> {
    let role =
        role.ok_or_else(|| invalid("role", format!("required for kind message: {ROLES}")))?;
    Role::ALL
        .iter()
        .copied()
        .find(|known| known.as_str() == role)
        .ok_or_else(|| invalid("role", format!("must be {ROLES}")))
}

/// Any Unicode is a text; an empty one says something only with an attachment.
fn admit_text(text: Option<String>, media: &[MediaRef]) -> Result<String, ApiError> {
    let text = text.ok_or_else(|| required("content.text"))?;
    if text.is_empty() && media.is_empty() {
        return Err(invalid("text", "must not be empty"));
    }
    Ok(text)
}

fn admit_media(media: Vec<Obj<MediaBody>>) -> Result<Vec<MediaRef>, ApiError> {
    if media.len() > MEDIA_MAX {
        return Err(invalid("media", format!("has more than {MEDIA_MAX} items")));
    }
    media
        .into_iter()
        .enumerate()
        .map(|(index, Obj(MediaBody { blob_id }))| {
            let field = format!("content.media[{index}].blob_id");
            admit_blob(&field, &blob_id).map(|blob_id| MediaRef { blob_id })
        })
        .collect()
}

fn admit_blob(field: &str, id: &str) -> Result<BlobId, ApiError> {
    id.parse().map_err(|error: lamina_types::ids::IdError| {
        ApiError::invalid_envelope(field, error.to_string())
    })
}

fn admit_triple(triple: &FreeJson) -> Result<(), ApiError> {
    let at = "content.triple";
    let body = json::read_part::<Obj<TripleBody>>(triple.as_str(), at)?;
    let Obj(TripleBody { subject, predicate, object, valid_from, valid_to, confidence }) = body;
    for (name, value) in [("subject", subject), ("object", object)] {
        let field = format!("{at}.{name}");
        let Obj(value) = value.ok_or_else(|| required(&field))?;
        admit_value(&field, &value)?;
    }
    let field = format!("{at}.predicate");
    let predicate = predicate.ok_or_else(|| required(&field))?;
    check::field(&field, check::short(&predicate, PREDICATE_CHARS_MAX))?;
    admit_validity(at, valid_from.as_deref(), valid_to.as_deref())?;
    if confidence.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
        let reason = "must be a number from 0 to 1";
        return Err(ApiError::invalid_envelope(format!("{at}.confidence"), reason));
    }
    Ok(())
}

/// The interval of a triple is not empty.
fn admit_validity(at: &str, from: Option<&str>, to: Option<&str>) -> Result<(), ApiError> {
    let read = |name: &str, text: Option<&str>| {
        text.map(|text| time::field(&format!("{at}.{name}"), text)).transpose()
    };
    let (from, to) = (read("valid_from", from)?, read("valid_to", to)?);
    match (from, to) {
        (Some(from), Some(to)) if to <= from => {
            let reason = "must be after `valid_from`";
            Err(ApiError::invalid_envelope(format!("{at}.valid_to"), reason))
        }
        _ => Ok(()),
    }
}

fn admit_value(at: &str, value: &TypedValue) -> Result<(), ApiError> {
    let TypedValue { r#type, datatype, value, id, name } = value;
    let kind = r#type.as_deref();
    let fields: &[&str] = match kind {
        Some("literal") => &["datatype", "value"],
        Some("entity") => &["id", "name"],
        Some("concept") => &["id"],
        Some(_) => {
            let reason = "must be one of literal, entity, concept";
            return Err(ApiError::invalid_envelope(format!("{at}.type"), reason));
        }
        None => return Err(required(&format!("{at}.type"))),
    };
    let given = [
        ("datatype", datatype.is_some()),
        ("value", value.is_some()),
        ("id", id.is_some()),
        ("name", name.is_some()),
    ];
    for (field, given) in given {
        let field_at = format!("{at}.{field}");
        match (given, fields.contains(&field)) {
            (true, false) => {
                let reason = format!("does not belong to type {}", kind.unwrap_or_default());
                return Err(ApiError::invalid_envelope(field_at, reason));
            }
            (false, true) if field != "name" => return Err(required(&field_at)),
            _ => {}
        }
    }
    if let (Some(datatype), Some(value)) = (datatype, value) {
        admit_literal(at, datatype, value)?;
    }
    for (field, text, chars_max) in
        [("id", id, REFERENCE_ID_CHARS_MAX), ("name", name, REFERENCE_NAME_CHARS_MAX)]
    {
        if let Some(text) = text {
            check::field(&format!("{at}.{field}"), check::short(text, chars_max))?;
        }
    }
    Ok(())
}

/// A literal agrees with its datatype where the datatype is one we know; others are kept.
fn admit_literal(at: &str, datatype: &str, value: &FreeJson) -> Result<(), ApiError> {
    check::field(&format!("{at}.datatype"), check::short(datatype, 64))?;
    let refuse = |reason: &str| {
        let field = format!("{at}.value");
        Err(ApiError::invalid_envelope(field, reason))
    };
    if value.is_object() || value.is_array() {
        return refuse("a literal is a string, a number or a boolean");
    }
    let text = value.as_str();
    let is_number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let is_integer = is_number && !text.contains(['.', 'e', 'E']);
    match datatype {
        "string" | "date" | "datetime" if !value.is_string() => refuse("must be a string"),
        "integer" if !is_integer => refuse("must be a whole number"),
        "number" | "float" | "double" | "decimal" if !is_number => refuse("must be a number"),
        "boolean" if !matches!(text, "true" | "false") => refuse("must be true or false"),
        _ => Ok(()),
    }
}

impl From<Role> for RoleBody {
    fn from(role: Role) -> RoleBody {
        match role {
            Role::User => RoleBody::User,
            Role::Assistant => RoleBody::Assistant,
            Role::Tool => RoleBody::Tool,
            Role::System => RoleBody::System,
        }
    }
}

impl From<&Content> for ContentBody {
    fn from(content: &Content) -> ContentBody {
        let media = content
            .media()
            .iter()
            .map(|MediaRef { blob_id }| MediaBody { blob_id: blob_id.to_string() })
            .collect();
        match content {
            Content::Message { role, text, .. } => {
                ContentBody::Message { role: (*role).into(), text: text.clone(), media }
            }
            Content::Text { text, .. } => ContentBody::Text { text: text.clone(), media },
            Content::Json { data, .. } => ContentBody::Json { data: crate::json::raw(data), media },
            Content::BlobRef { blob_id, transcript, .. } => ContentBody::BlobRef {
                blob_id: blob_id.to_string(),
                transcript: transcript.clone(),
                media,
            },
            Content::Triple { triple, .. } => {
                ContentBody::Triple { triple: crate::json::raw(triple), media }
            }
        }
    }
}

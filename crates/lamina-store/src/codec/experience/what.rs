//! The bytes of a `what` section.

use lamina_types::{
    BatchId, BlobId, Content, Context, Directives, EventId, Hints, MediaRef, Micros, Modality,
    Role, ScopePath, ValidAt,
};

use crate::codec::CodecError;
use crate::codec::experience::{ExperienceWhat, Identity};
use crate::codec::wire::{
    Cursor, FieldWriter, array, fields, ids, once, parsed, put_sized, required, string,
};

const WHAT_VERSION: u8 = 1;

mod what_tag {
    pub(super) const SCOPE: u8 = 1;
    pub(super) const MODALITY: u8 = 2;
    pub(super) const CONTENT_KIND: u8 = 3;
    pub(super) const ROLE: u8 = 4;
    pub(super) const TEXT: u8 = 5;
    pub(super) const BLOB: u8 = 6;
    pub(super) const MEDIA: u8 = 7;
    pub(super) const OBSERVED_AT: u8 = 8;
    pub(super) const SOURCE_RECORDED_AT: u8 = 9;
    pub(super) const LOCATION: u8 = 10;
    pub(super) const PRECEDED_BY: u8 = 11;
    pub(super) const INTENT: u8 = 12;
    pub(super) const LABEL: u8 = 13;
    pub(super) const REFERS_TO: u8 = 14;
    pub(super) const EXTRACT: u8 = 15;
    pub(super) const CONSOLIDATE_INTO: u8 = 16;
    pub(super) const CONFIDENCE_FLOOR: u8 = 17;
    pub(super) const BELIEF_TTL: u8 = 18;
    pub(super) const EMBED: u8 = 19;
    pub(super) const SOURCE: u8 = 20;
    pub(super) const LANGUAGE: u8 = 21;
    pub(super) const SCRIPT: u8 = 22;
    pub(super) const TIMEZONE: u8 = 23;
    pub(super) const KEY: u8 = 24;
    pub(super) const FAMILY: u8 = 25;
    pub(super) const IDEM_MAC: u8 = 26;
    pub(super) const BODY_MAC: u8 = 27;
    pub(super) const BATCH: u8 = 28;
    pub(super) const NO_SUPERSEDE: u8 = 29;
    pub(super) const EVENT_TTL: u8 = 30;
    pub(super) const ORIGIN: u8 = 31;
}

mod kind {
    pub(super) const MESSAGE: u8 = 1;
    pub(super) const TEXT: u8 = 2;
    pub(super) const JSON: u8 = 3;
    pub(super) const BLOB_REF: u8 = 4;
    pub(super) const TRIPLE: u8 = 5;
}

impl ExperienceWhat {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let origin_bytes = self.origin.as_ref().map_or(0, String::len);
        let mut out =
            FieldWriter::new(WHAT_VERSION, 384 + self.content.text().len() + origin_bytes);
        out.field(what_tag::SCOPE, self.scope.as_str().as_bytes());
        out.field(what_tag::MODALITY, self.modality.as_str().as_bytes());
        encode_content(&mut out, &self.content);
        encode_context(&mut out, &self.context);
        encode_directives(&mut out, &self.directives);
        out.optional(what_tag::SOURCE, bytes_of(&self.source));
        let Hints { language, scripts, timezone } = &self.hints;
        out.optional(what_tag::LANGUAGE, bytes_of(language));
        for script in scripts {
            out.field(what_tag::SCRIPT, script.as_bytes());
        }
        out.optional(what_tag::TIMEZONE, bytes_of(timezone));
        out.field(what_tag::KEY, self.idempotency_key.as_bytes());
        let Identity { family, idem_mac, body_mac, batch_id } = &self.identity;
        out.field(what_tag::FAMILY, &[*family]);
        out.field(what_tag::IDEM_MAC, idem_mac);
        out.field(what_tag::BODY_MAC, body_mac);
        out.optional(what_tag::BATCH, batch_id.as_ref().map(|id| id.as_bytes().as_slice()));
        out.optional(what_tag::ORIGIN, bytes_of(&self.origin));
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ExperienceWhat, CodecError> {
        let mut raw = RawWhat::default();
        let mut fields = fields(bytes, WHAT_VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            raw.set(tag, value)?;
        }
        raw.finish()
    }
}

/// The bulk write that an experience came with, without reading the rest of its section.
pub fn batch_of(bytes: &[u8]) -> Result<Option<BatchId>, CodecError> {
    let mut fields = fields(bytes, WHAT_VERSION)?;
    while let Some((tag, value)) = fields.next()? {
        if tag == what_tag::BATCH {
            return Ok(Some(BatchId::from_bytes(array(value, "batch_id")?)));
        }
    }
    Ok(None)
}

fn bytes_of(text: &Option<String>) -> Option<&[u8]> {
    text.as_deref().map(str::as_bytes)
}

fn encode_content(out: &mut FieldWriter, content: &Content) {
    let (kind, text) = match content {
        Content::Message { text, .. } => (kind::MESSAGE, Some(text)),
        Content::Text { text, .. } => (kind::TEXT, Some(text)),
        Content::Json { data, .. } => (kind::JSON, Some(data)),
        Content::BlobRef { transcript, .. } => (kind::BLOB_REF, transcript.as_ref()),
        Content::Triple { triple, .. } => (kind::TRIPLE, Some(triple)),
    };
    out.field(what_tag::CONTENT_KIND, &[kind]);
    if let Content::Message { role, .. } = content {
        out.field(what_tag::ROLE, &[role_number(*role)]);
    }
    out.optional(what_tag::TEXT, text.map(String::as_bytes));
    if let Content::BlobRef { blob_id, .. } = content {
        out.field(what_tag::BLOB, blob_id.as_bytes());
    }
    if !content.media().is_empty() {
        let media = content.media().iter();
        out.field(
            what_tag::MEDIA,
            &media.flat_map(|media| *media.blob_id.as_bytes()).collect::<Vec<u8>>(),
        );
    }
}

fn encode_context(out: &mut FieldWriter, context: &Context) {
    let Context {
        observed_at,
        source_recorded_at,
        location,
        preceded_by,
        intent,
        labels,
        refers_to,
    } = context;
    out.field(what_tag::OBSERVED_AT, &observed_at.0.0.to_le_bytes());
    let source_recorded_at = source_recorded_at.map(|at| at.0.0.to_le_bytes());
    out.optional(
        what_tag::SOURCE_RECORDED_AT,
        source_recorded_at.as_ref().map(<[u8; 8]>::as_slice),
    );
    out.optional(what_tag::LOCATION, bytes_of(location));
    if !preceded_by.is_empty() {
        out.field(
            what_tag::PRECEDED_BY,
            &preceded_by.iter().flat_map(|id| *id.as_bytes()).collect::<Vec<u8>>(),
        );
    }
    out.optional(what_tag::INTENT, bytes_of(intent));
    for label in labels {
        out.field(what_tag::LABEL, label.as_bytes());
    }
    out.optional(what_tag::REFERS_TO, bytes_of(refers_to));
}

fn encode_directives(out: &mut FieldWriter, directives: &Directives) {
    let Directives {
        extract,
        consolidate_into,
        confidence_floor,
        ttl_for_belief_layer,
        ttl_for_event_layer,
        embed,
        no_supersede,
    } = directives;
    if let Some(extract) = extract {
        // One field that holds a list: an empty list is not the same as no list.
        let mut list = Vec::new();
        for item in extract {
            put_sized(&mut list, item.as_bytes());
        }
        out.field(what_tag::EXTRACT, &list);
    }
    out.optional(
        what_tag::CONSOLIDATE_INTO,
        consolidate_into.as_ref().map(|scope| scope.as_str().as_bytes()),
    );
    if let Some(floor) = confidence_floor {
        out.field(what_tag::CONFIDENCE_FLOOR, &floor.to_bits().to_le_bytes());
    }
    out.optional(what_tag::BELIEF_TTL, bytes_of(ttl_for_belief_layer));
    out.optional(what_tag::EVENT_TTL, bytes_of(ttl_for_event_layer));
    out.optional(what_tag::EMBED, bytes_of(embed));
    if *no_supersede {
        out.field(what_tag::NO_SUPERSEDE, &[]);
    }
}

fn role_number(role: Role) -> u8 {
    match role {
        Role::User => 1,
        Role::Assistant => 2,
        Role::Tool => 3,
        Role::System => 4,
    }
}

fn role_of(value: &[u8]) -> Result<Role, CodecError> {
    Role::ALL
        .iter()
        .copied()
        .find(|role| value == [role_number(*role)])
        .ok_or(CodecError::Malformed { field: "role" })
}

fn instant(value: &[u8], field: &'static str) -> Result<ValidAt, CodecError> {
    array(value, field).map(|bytes| ValidAt(Micros(i64::from_le_bytes(bytes))))
}

fn list(value: &[u8]) -> Result<Vec<String>, CodecError> {
    let mut cursor = Cursor::new(value);
    let mut items = Vec::new();
    while !cursor.is_done() {
        items.push(string(cursor.sized()?, "extract")?);
    }
    Ok(items)
}

/// The fields of a `what` section as they come in.
#[derive(Debug, Default)]
struct RawWhat<'a> {
    scope: Option<ScopePath>,
    modality: Option<String>,
    kind: Option<u8>,
    role: Option<Role>,
    text: Option<&'a [u8]>,
    blob: Option<BlobId>,
    media: Option<Vec<MediaRef>>,
    observed_at: Option<ValidAt>,
    source_recorded_at: Option<ValidAt>,
    location: Option<String>,
    preceded_by: Option<Vec<EventId>>,
    intent: Option<String>,
    labels: Vec<String>,
    refers_to: Option<String>,
    extract: Option<Vec<String>>,
    consolidate_into: Option<ScopePath>,
    confidence_floor: Option<f64>,
    belief_ttl: Option<String>,
    event_ttl: Option<String>,
    embed: Option<String>,
    no_supersede: bool,
    source: Option<String>,
    origin: Option<String>,
    language: Option<String>,
    scripts: Vec<String>,
    timezone: Option<String>,
    key: Option<String>,
    family: Option<u8>,
    idem_mac: Option<[u8; 32]>,
    body_mac: Option<[u8; 32]>,
    batch: Option<BatchId>,
}

impl<'a> RawWhat<'a> {
    fn set(&mut self, tag: u8, value: &'a [u8]) -> Result<(), CodecError> {
        match tag {
            what_tag::SCOPE => once(&mut self.scope, parsed(value, "scope")?, "scope"),
            what_tag::MODALITY => once(&mut self.modality, string(value, "modality")?, "modality"),
            what_tag::CONTENT_KIND..=what_tag::MEDIA => self.set_content(tag, value),
            what_tag::OBSERVED_AT..=what_tag::REFERS_TO => self.set_context(tag, value),
            what_tag::EXTRACT..=what_tag::EMBED | what_tag::EVENT_TTL => {
                self.set_directive(tag, value)
            }
            what_tag::SOURCE => once(&mut self.source, string(value, "source")?, "source"),
            what_tag::ORIGIN => once(&mut self.origin, string(value, "origin")?, "origin"),
            what_tag::LANGUAGE => once(&mut self.language, string(value, "language")?, "language"),
            what_tag::SCRIPT => {
                self.scripts.push(string(value, "scripts")?);
                Ok(())
            }
            what_tag::TIMEZONE => once(&mut self.timezone, string(value, "timezone")?, "timezone"),
            what_tag::KEY..=what_tag::BATCH => self.set_identity(tag, value),
            what_tag::NO_SUPERSEDE => {
                self.no_supersede = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn set_content(&mut self, tag: u8, value: &'a [u8]) -> Result<(), CodecError> {
        match tag {
            what_tag::CONTENT_KIND => {
                once(&mut self.kind, u8::from_le_bytes(array(value, "kind")?), "kind")
            }
            what_tag::ROLE => once(&mut self.role, role_of(value)?, "role"),
            what_tag::TEXT => once(&mut self.text, value, "text"),
            what_tag::BLOB => {
                let id = BlobId::from_bytes(array(value, "blob_id")?);
                once(&mut self.blob, id, "blob_id")
            }
            _ => {
                let media = ids(value, "media", |id| MediaRef { blob_id: BlobId::from_bytes(id) })?;
                once(&mut self.media, media, "media")
            }
        }
    }

    fn set_context(&mut self, tag: u8, value: &'a [u8]) -> Result<(), CodecError> {
        match tag {
            what_tag::OBSERVED_AT => {
                let at = instant(value, "observed_at")?;
                once(&mut self.observed_at, at, "observed_at")
            }
            what_tag::SOURCE_RECORDED_AT => {
                let at = instant(value, "source_recorded_at")?;
                once(&mut self.source_recorded_at, at, "source_recorded_at")
            }
            what_tag::LOCATION => once(&mut self.location, string(value, "location")?, "location"),
            what_tag::PRECEDED_BY => {
                let events = ids(value, "preceded_by", EventId::from_bytes)?;
                once(&mut self.preceded_by, events, "preceded_by")
            }
            what_tag::INTENT => once(&mut self.intent, string(value, "intent")?, "intent"),
            what_tag::LABEL => {
                self.labels.push(string(value, "labels")?);
                Ok(())
            }
            _ => once(&mut self.refers_to, string(value, "refers_to")?, "refers_to"),
        }
    }

    fn set_directive(&mut self, tag: u8, value: &'a [u8]) -> Result<(), CodecError> {
        match tag {
            what_tag::EXTRACT => once(&mut self.extract, list(value)?, "extract"),
            what_tag::CONSOLIDATE_INTO => {
                let scope = parsed(value, "consolidate_into")?;
                once(&mut self.consolidate_into, scope, "consolidate_into")
            }
            what_tag::CONFIDENCE_FLOOR => {
                let bits = u64::from_le_bytes(array(value, "confidence_floor")?);
                let floor = f64::from_bits(bits);
                once(&mut self.confidence_floor, floor, "confidence_floor")
            }
            what_tag::BELIEF_TTL => {
                let ttl = string(value, "ttl_for_belief_layer")?;
                once(&mut self.belief_ttl, ttl, "ttl_for_belief_layer")
            }
            what_tag::EVENT_TTL => {
                let ttl = string(value, "ttl_for_event_layer")?;
                once(&mut self.event_ttl, ttl, "ttl_for_event_layer")
            }
            _ => once(&mut self.embed, string(value, "embed")?, "embed"),
        }
    }

    fn set_identity(&mut self, tag: u8, value: &'a [u8]) -> Result<(), CodecError> {
        match tag {
            what_tag::KEY => {
                let key = string(value, "idempotency_key")?;
                once(&mut self.key, key, "idempotency_key")
            }
            what_tag::FAMILY => {
                let family = u8::from_le_bytes(array(value, "family")?);
                once(&mut self.family, family, "family")
            }
            what_tag::IDEM_MAC => once(&mut self.idem_mac, array(value, "idem_mac")?, "idem_mac"),
            what_tag::BODY_MAC => once(&mut self.body_mac, array(value, "body_mac")?, "body_mac"),
            _ => {
                let id = BatchId::from_bytes(array(value, "batch_id")?);
                once(&mut self.batch, id, "batch_id")
            }
        }
    }

    fn content(&mut self) -> Result<Content, CodecError> {
        let media = self.media.take().unwrap_or_default();
        let text = self.text.map(|text| string(text, "text")).transpose()?;
        Ok(match required(self.kind, "kind")? {
            kind::MESSAGE => Content::Message {
                role: required(self.role, "role")?,
                text: required(text, "text")?,
                media,
            },
            kind::TEXT => Content::Text { text: required(text, "text")?, media },
            kind::JSON => Content::Json { data: required(text, "text")?, media },
            kind::BLOB_REF => Content::BlobRef {
                blob_id: required(self.blob, "blob_id")?,
                transcript: text,
                media,
            },
            kind::TRIPLE => Content::Triple { triple: required(text, "text")?, media },
            _ => return Err(CodecError::Malformed { field: "kind" }),
        })
    }

    fn finish(mut self) -> Result<ExperienceWhat, CodecError> {
        Ok(ExperienceWhat {
            content: self.content()?,
            scope: required(self.scope, "scope")?,
            modality: Modality(required(self.modality, "modality")?),
            context: Context {
                observed_at: required(self.observed_at, "observed_at")?,
                source_recorded_at: self.source_recorded_at,
                location: self.location,
                preceded_by: self.preceded_by.unwrap_or_default(),
                intent: self.intent,
                labels: self.labels,
                refers_to: self.refers_to,
            },
            directives: Directives {
                extract: self.extract,
                consolidate_into: self.consolidate_into,
                confidence_floor: self.confidence_floor,
                ttl_for_belief_layer: self.belief_ttl,
                ttl_for_event_layer: self.event_ttl,
                embed: self.embed,
                no_supersede: self.no_supersede,
            },
            source: self.source,
            origin: self.origin,
            hints: Hints {
                language: self.language,
                scripts: self.scripts,
                timezone: self.timezone,
            },
            idempotency_key: required(self.key, "idempotency_key")?,
            identity: Identity {
                family: required(self.family, "family")?,
                idem_mac: required(self.idem_mac, "idem_mac")?,
                body_mac: required(self.body_mac, "body_mac")?,
                batch_id: self.batch,
            },
        })
    }
}

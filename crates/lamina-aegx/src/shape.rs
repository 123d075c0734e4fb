//! The shapes of manifest, record and audit entry, in both modes.
//!
//! A reference verifier first decodes a line into typed fields and judges the shape of what is left.
//! A fault of decoding makes the file unreadable for it, unknown members vanish, and a list stands for
//! an object. The strict mode judges the line as it is.

use std::collections::HashSet;

use lamina_portable::canon;
use lamina_portable::json::{Member, Value};

use crate::digest::parse_hash;
use crate::instant;
use crate::model::{Hash, Principal, RecordType};
use crate::report::{FindingClass, FindingCode};
use crate::verify::VerifyMode;

/// A fault of one value.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) code: FindingCode,
    pub(crate) class: FindingClass,
    /// The path of the member.
    pub(crate) member: String,
    pub(crate) message: String,
}

/// A record as it stands in a line.
#[derive(Debug, Clone)]
pub(crate) struct RecordShape {
    pub(crate) stated_id: String,
    pub(crate) kind: String,
    pub(crate) principal: String,
    pub(crate) taint: Vec<String>,
    pub(crate) parents: Vec<String>,
    pub(crate) meta: Value,
    pub(crate) payload: PayloadShape,
    pub(crate) extensions: Option<Value>,
}

#[derive(Debug, Clone)]
pub(crate) enum PayloadShape {
    Inline(Value),
    Blob { blob: String, mime: String, size: u64 },
}

/// An entry of the audit log.
#[derive(Debug, Clone)]
pub(crate) struct EntryShape {
    pub(crate) index: u64,
    pub(crate) at: String,
    pub(crate) record: Hash,
    pub(crate) previous: Hash,
    pub(crate) hash: Hash,
}

/// The manifest. A count that is no plain number is `None`.
#[derive(Debug, Clone)]
pub(crate) struct ManifestShape {
    pub(crate) roots: Vec<Hash>,
    pub(crate) records: Option<u64>,
    pub(crate) blobs: Option<u64>,
    pub(crate) audit_head: Hash,
    pub(crate) created_at: String,
    pub(crate) meta: Option<Value>,
    pub(crate) extensions: Option<Value>,
}

const RECORD_MEMBERS: &[&str] = &[
    "recordId",
    "type",
    "principal",
    "taint",
    "parents",
    "meta",
    "payload",
    "schema",
    "extensions",
];
const ENTRY_MEMBERS: &[&str] = &["idx", "ts", "recordId", "prev", "entryHash"];
const MANIFEST_MEMBERS: &[&str] = &[
    "aegx_version",
    "created_at",
    "hash_alg",
    "canonicalization",
    "root_records",
    "record_count",
    "blob_count",
    "audit_head",
    "meta",
    "extensions",
];

/// Whether a reference verifier refuses a second member of this name in a line.
pub(crate) fn is_typed_member(file: &str, name: &str) -> bool {
    match file {
        crate::RECORDS => RECORD_MEMBERS.contains(&name),
        crate::AUDIT_LOG => ENTRY_MEMBERS.contains(&name),
        _ => false,
    }
}

/// Collects the faults of one value.
pub(crate) struct Judge {
    mode: VerifyMode,
    pub(crate) faults: Vec<Fault>,
}

impl Judge {
    pub(crate) fn new(mode: VerifyMode) -> Judge {
        Judge { mode, faults: Vec::new() }
    }

    fn is_strict(&self) -> bool {
        self.mode == VerifyMode::Strict
    }

    fn fault(&mut self, code: FindingCode, class: FindingClass, member: &str, message: &str) {
        let (member, message) = (member.to_owned(), message.to_owned());
        self.faults.push(Fault { code, class, member, message });
    }

    /// A fault that a reference verifier meets while it decodes.
    fn decoding(&mut self, code: FindingCode, member: &str, message: &str) {
        let class = match self.mode {
            VerifyMode::Reference => FindingClass::Unreadable,
            VerifyMode::Strict => FindingClass::Shape,
        };
        self.fault(code, class, member, message);
    }

    /// A fault of the shape in both modes.
    fn shape(&mut self, member: &str, message: &str) {
        self.fault(FindingCode::MemberInvalid, FindingClass::Shape, member, message);
    }

    fn strict(&mut self, code: FindingCode, member: &str, message: &str) {
        if self.is_strict() {
            self.fault(code, FindingClass::Shape, member, message);
        }
    }

    fn unknown(&mut self, value: &Value, known: &[&str], at: &str) {
        for member in value.as_object().unwrap_or_default() {
            let name = member.key.to_lossy();
            if !known.contains(&name.as_ref()) {
                let path = format!("{at}/{}", shorten(&name));
                self.strict(FindingCode::MemberUnknown, &path, "the format has no such member");
            }
        }
    }

    /// Keys that are different bytes and one text make two readers see two objects.
    fn colliding_keys(&mut self, value: &Value, at: &str) {
        if !self.is_strict() {
            return;
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.colliding_keys(item, at)),
            Value::Object(members) => {
                let is_ascii = |member: &Member| member.key.as_str().is_some_and(str::is_ascii);
                if !members.iter().all(is_ascii) {
                    let mut seen = HashSet::new();
                    for member in members {
                        let form = canon::aegx(&Value::String(member.key.clone()));
                        if form.is_ok_and(|form| !seen.insert(form)) {
                            self.strict(
                                FindingCode::DuplicateKey,
                                at,
                                "two keys are one text after normalization",
                            );
                        }
                    }
                }
                members.iter().for_each(|member| self.colliding_keys(&member.value, at));
            }
            _ => {}
        }
    }

    fn time(&mut self, text: &str, member: &str) {
        if !instant::has_shape(text) {
            self.shape(member, "expected a time such as 2026-05-13T15:42:00Z");
        } else if !instant::is_calendar(text) {
            self.strict(FindingCode::Calendar, member, "no calendar has this time");
        }
    }

    fn hash(&mut self, text: &str, member: &str) -> Option<Hash> {
        let hash = parse_hash(text);
        if hash.is_none() {
            self.shape(member, "expected 64 lower-case hexadecimal digits");
        }
        hash
    }

    /// A member that must be there.
    fn required<'a>(&mut self, value: &'a Value, name: &str) -> Option<&'a Value> {
        let member = value.get(name);
        if member.is_none() {
            let at = format!("/{name}");
            self.decoding(FindingCode::MemberMissing, &at, "the member is missing");
        }
        member
    }

    fn text(&mut self, value: &Value, name: &str) -> Option<String> {
        let member = self.required(value, name)?;
        let text = member.as_str().map(str::to_owned);
        if text.is_none() {
            let message = format!("expected a string, found {}", member.type_name());
            self.decoding(FindingCode::MemberInvalid, &format!("/{name}"), &message);
        }
        text
    }

    fn texts(&mut self, value: &Value, name: &str) -> Option<Vec<String>> {
        let member = self.required(value, name)?;
        let items = member.as_array().map(|items| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        let texts = items.flatten();
        if texts.is_none() {
            let at = format!("/{name}");
            self.decoding(FindingCode::MemberInvalid, &at, "expected a list of strings");
        }
        texts
    }

    /// A name of a closed list. A reference verifier also reads `{"name": null}`.
    fn name(&mut self, value: &Value, name: &str, is_known: fn(&str) -> bool) -> Option<String> {
        let at = format!("/{name}");
        let member = self.required(value, name)?;
        let text = match member {
            Value::Object(members) if !self.is_strict() => match members.as_slice() {
                [Member { key, value: Value::Null }] => key.as_str(),
                _ => None,
            },
            other => other.as_str(),
        };
        match text {
            Some(text) if is_known(text) => Some(text.to_owned()),
            Some(text) => {
                let message = format!("`{}` is not one of the names of the format", shorten(text));
                self.decoding(FindingCode::MemberInvalid, &at, &message);
                None
            }
            None => {
                self.decoding(FindingCode::MemberInvalid, &at, "expected a name");
                None
            }
        }
    }

    /// The members of a line. A reference verifier also reads a list with every member in its order.
    fn members(&mut self, value: Value, names: &[&str]) -> Option<Value> {
        match value {
            Value::Object(_) => Some(value),
            Value::Array(items) if !self.is_strict() && items.len() == names.len() => {
                let members = names.iter().zip(items).map(|(name, item)| Member::new(name, item));
                Some(Value::Object(members.collect()))
            }
            other => {
                let message = format!("expected an object, found {}", other.type_name());
                self.decoding(FindingCode::MemberInvalid, "", &message);
                None
            }
        }
    }

    /// Reads a line of the records.
    pub(crate) fn record(&mut self, value: Value) -> Option<RecordShape> {
        let mut value = self.members(value, RECORD_MEMBERS)?;
        self.unknown(&value, RECORD_MEMBERS, "");
        let stated_id = self.text(&value, "recordId");
        let kind = self.name(&value, "type", self.known_types());
        let principal = self.name(&value, "principal", |name| Principal::from_name(name).is_some());
        let taint = self.texts(&value, "taint");
        let parents = self.texts(&value, "parents");
        let payload = self.payload(&mut value);
        self.schema(&value);
        let extensions = self.optional_object(&mut value, "extensions");
        let has_meta = self.required(&value, "meta").is_some();
        let meta = value.take("meta").filter(|_| has_meta);
        if let Some(meta) = &meta {
            self.meta(meta);
        }
        if let Some(id) = &stated_id {
            self.hash(id, "/recordId");
        }
        for (index, parent) in parents.iter().flatten().enumerate() {
            if parse_hash(parent).is_none() {
                self.hash(parent, &format!("/parents/{index}"));
            }
        }
        Some(RecordShape {
            stated_id: stated_id?,
            kind: kind?,
            principal: principal?,
            taint: taint?,
            parents: parents?,
            meta: meta?,
            payload: payload?,
            extensions,
        })
    }

    fn known_types(&self) -> fn(&str) -> bool {
        match self.mode {
            VerifyMode::Strict => |name| RecordType::from_name(name).is_some(),
            VerifyMode::Reference => |name| {
                RecordType::from_name(name).is_some_and(|kind| kind != RecordType::NetworkRequest)
            },
        }
    }

    fn meta(&mut self, meta: &Value) {
        if !matches!(meta, Value::Object(_)) {
            self.shape("/meta", "expected an object");
            return;
        }
        match meta.get("ts") {
            None => self.fault(
                FindingCode::MemberMissing,
                FindingClass::Shape,
                "/meta/ts",
                "the member is missing",
            ),
            Some(ts) => match ts.as_str() {
                Some(text) => self.time(text, "/meta/ts"),
                None => self.shape("/meta/ts", "expected a string"),
            },
        }
        self.colliding_keys(meta, "/meta");
    }

    fn schema(&mut self, value: &Value) {
        match value.get("schema") {
            None => {}
            Some(Value::Null) => {
                self.strict(FindingCode::MemberInvalid, "/schema", "expected \"0.1\"");
            }
            Some(schema) => match schema.as_str() {
                Some("0.1") => {}
                Some(_) => self.shape("/schema", "expected \"0.1\""),
                None => {
                    self.decoding(FindingCode::MemberInvalid, "/schema", "expected a string");
                }
            },
        }
    }

    fn optional_object(&mut self, value: &mut Value, name: &str) -> Option<Value> {
        let at = format!("/{name}");
        match value.take(name) {
            None => None,
            Some(Value::Null) => {
                self.strict(FindingCode::MemberInvalid, &at, "expected an object");
                None
            }
            Some(object @ Value::Object(_)) => {
                self.colliding_keys(&object, &at);
                Some(object)
            }
            Some(_) => {
                self.shape(&at, "expected an object");
                None
            }
        }
    }

    fn payload(&mut self, value: &mut Value) -> Option<PayloadShape> {
        self.required(value, "payload")?;
        let mut payload = value.take("payload")?;
        let has_inline = payload.get("inline").is_some();
        let known: &[&str] = if has_inline { &["inline"] } else { &["blob", "mime", "size"] };
        self.unknown(&payload, known, "/payload");
        if let Some(inline) = payload.take("inline") {
            self.colliding_keys(&inline, "/payload/inline");
            return Some(PayloadShape::Inline(inline));
        }
        let text = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
        let size = payload.get("size").and_then(plain_count);
        match (text("blob"), text("mime"), size) {
            (Some(blob), Some(mime), Some(size)) => {
                self.hash(&blob, "/payload/blob");
                Some(PayloadShape::Blob { blob, mime, size })
            }
            _ => {
                let message = "expected {\"inline\": …} or {\"blob\", \"mime\", \"size\"}";
                self.decoding(FindingCode::MemberInvalid, "/payload", message);
                None
            }
        }
    }

    /// Reads a line of the audit log.
    pub(crate) fn entry(&mut self, value: Value) -> Option<EntryShape> {
        let value = self.members(value, ENTRY_MEMBERS)?;
        self.unknown(&value, ENTRY_MEMBERS, "");
        let index = self.required(&value, "idx").and_then(plain_count);
        if index.is_none() && value.get("idx").is_some() {
            self.decoding(FindingCode::MemberInvalid, "/idx", "expected a number from 0");
        }
        let at = self.text(&value, "ts");
        let [record, previous, hash] = ["recordId", "prev", "entryHash"].map(|name| {
            let text = self.text(&value, name)?;
            self.hash(&text, &format!("/{name}"))
        });
        if let Some(at) = &at {
            self.time(at, "/ts");
        }
        let at = at.filter(|at| instant::has_shape(at));
        Some(EntryShape {
            index: index?,
            at: at?,
            record: record?,
            previous: previous?,
            hash: hash?,
        })
    }

    /// Reads the manifest.
    pub(crate) fn manifest(&mut self, mut value: Value) -> Option<ManifestShape> {
        if !matches!(value, Value::Object(_)) {
            self.shape("", "expected an object");
            return None;
        }
        for member in value.as_object().unwrap_or_default() {
            let name = member.key.to_lossy();
            if !MANIFEST_MEMBERS.contains(&name.as_ref()) {
                let at = format!("/{}", shorten(&name));
                let message = "the format has no such member";
                self.fault(FindingCode::MemberUnknown, FindingClass::Shape, &at, message);
            }
        }
        let fixed = [
            ("aegx_version", "0.1"),
            ("hash_alg", "sha256"),
            ("canonicalization", "AEGX_CANON_0_1"),
        ];
        for (name, expected) in fixed {
            let stated = self.present(&value, name);
            if stated.is_some_and(|stated| stated.as_str() != Some(expected)) {
                self.shape(&format!("/{name}"), &format!("expected \"{expected}\""));
            }
        }
        let created_at = self.present(&value, "created_at").cloned();
        match created_at.as_ref().map(Value::as_str) {
            Some(Some(text)) => self.time(text, "/created_at"),
            Some(None) => self.shape("/created_at", "expected a string"),
            None => {}
        }
        let head = self.present(&value, "audit_head").map(|head| head.as_str().unwrap_or_default());
        let audit_head = head.map(str::to_owned).and_then(|head| self.hash(&head, "/audit_head"));
        let roots = self.roots(&value);
        let records = self.counter(&value, "record_count");
        let blobs = self.counter(&value, "blob_count");
        let [meta, extensions] = ["meta", "extensions"].map(|name| {
            if value.get(name).is_some_and(Value::is_null) {
                self.shape(&format!("/{name}"), "expected an object");
                return None;
            }
            self.optional_object(&mut value, name)
        });
        Some(ManifestShape {
            roots: roots?,
            records,
            blobs,
            audit_head: audit_head?,
            created_at: created_at.as_ref().and_then(Value::as_str)?.to_owned(),
            meta,
            extensions,
        })
    }

    /// A member of the manifest, whose absence is a fault of the shape in both modes.
    fn present<'a>(&mut self, value: &'a Value, name: &str) -> Option<&'a Value> {
        let member = value.get(name);
        if member.is_none() {
            let at = format!("/{name}");
            let message = "the member is missing";
            self.fault(FindingCode::MemberMissing, FindingClass::Shape, &at, message);
        }
        member
    }

    fn roots(&mut self, value: &Value) -> Option<Vec<Hash>> {
        let stated = self.present(value, "root_records")?;
        let Some(items) = stated.as_array() else {
            self.shape("/root_records", "expected a list");
            return None;
        };
        let mut roots = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let text = item.as_str().unwrap_or_default();
            match parse_hash(text) {
                Some(hash) => roots.push(hash),
                None => {
                    self.hash(text, &format!("/root_records/{index}"));
                }
            }
        }
        Some(roots)
    }

    /// A counter of the manifest. A reference verifier takes any integral double for an integer and
    /// then does not compare it.
    fn counter(&mut self, value: &Value, name: &str) -> Option<u64> {
        let at = format!("/{name}");
        let stated = self.present(value, name)?;
        if let Some(count) = plain_count(stated) {
            return Some(count);
        }
        let double = stated.as_number().map(|token| token.to_f64());
        let is_integral = double.is_some_and(|double| double >= 0.0 && double.fract() == 0.0);
        match is_integral && !self.is_strict() {
            true => {}
            false => self.shape(&at, "expected a number from 0, without a fraction"),
        }
        None
    }
}

fn plain_count(value: &Value) -> Option<u64> {
    let token = value.as_number()?;
    if token.is_integer() { token.as_str().parse().ok() } else { None }
}

/// The beginning of a text of a stranger.
pub(crate) fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        shown.push('…');
    }
    shown
}

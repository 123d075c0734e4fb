//! The sink of a reader: rows of every format are checked, numbered and identified here.

use std::collections::{HashMap, HashSet, VecDeque};

use lamina_types::limits::{
    LABEL_CHARS_MAX, LABELS_MAX, ORIGIN_BYTES_MAX, SESSION_CHARS_MAX, TEXT_BYTES_MAX,
};
use lamina_types::stdx::hex;
use lamina_types::{ActorId, ErrorCode, Micros};
use sha2::{Digest as _, Sha256};

use super::row::{ErrorCost, ForeignRow, IdBasis, Place, RowContent, RowError, TimeBasis};
use super::{Format, ImportOptions};
use crate::json::{Value, to_compact};
use crate::loss::{LossAccount, ReportedError};
use crate::time::{self, NaiveTimes, TimeError};

const EMPTY: &str = "the text is empty";

/// Where readers put rows.
pub(super) struct RowSink {
    pub(super) account: LossAccount,
    format: Format,
    naive: NaiveTimes,
    fallback_time: Micros,
    /// When the file that is being read was changed, if its archive says so.
    pub(super) file_time: Option<Micros>,
    queue: VecDeque<Result<ForeignRow, RowError>>,
    next_order: u64,
    /// How often each row without an id occurred.
    occurrences: HashMap<[u8; 16], u32>,
}

impl RowSink {
    pub(super) fn new(format: Format, options: &ImportOptions) -> RowSink {
        RowSink {
            account: LossAccount::default(),
            format,
            naive: options.naive_times.unwrap_or_else(|| format.naive_times()),
            fallback_time: options.fallback_time,
            file_time: None,
            queue: VecDeque::new(),
            next_order: 0,
            occurrences: HashMap::new(),
        }
    }

    pub(super) fn pop(&mut self) -> Option<Result<ForeignRow, RowError>> {
        self.queue.pop_front()
    }

    /// Takes a row, unless it says nothing or too much.
    pub(super) fn push(&mut self, mut row: ForeignRow) {
        let words = match &row.content {
            RowContent::Message { text, .. } | RowContent::Text { text } => text.as_str(),
            RowContent::Json { data } => data.as_str(),
            RowContent::Triple(_) | RowContent::Envelope { .. } | RowContent::Line { .. } => "-",
        };
        if words.trim().is_empty() {
            return self.account.skip(EMPTY, 1);
        }
        // The role of a message counts as text: `[user] `.
        let prefix_bytes = match &row.content {
            RowContent::Message { role, .. } => role.as_str().len() + "[] ".len(),
            _ => 0,
        };
        let bytes = words.len() + prefix_bytes;
        if bytes > TEXT_BYTES_MAX {
            let detail = format!("the text has {bytes} bytes; at most {TEXT_BYTES_MAX} are kept");
            return self.fail(&row.place, ErrorCode::BodyTooLarge, detail);
        }
        if row.time_basis == TimeBasis::Fallback {
            row.observed_at = self.file_time.unwrap_or(self.fallback_time);
            // Envelopes say their own time, or are refused for it.
            if !matches!(row.content, RowContent::Line { .. } | RowContent::Envelope { .. }) {
                self.account
                    .change("time", "the source has no time; the time of the file was taken");
            }
        }
        self.bound(&mut row);
        if row.id_basis == IdBasis::Derived {
            row.source_id = self.derive_id(&row);
        }
        row.order = self.next_order;
        self.next_order += 1;
        self.account.count_row(row.content.kind());
        self.queue.push_back(Ok(row));
    }

    /// Brings labels, session and origin within their limits.
    fn bound(&mut self, row: &mut ForeignRow) {
        let mut seen = HashSet::new();
        let mut labels = std::mem::take(&mut row.labels);
        labels.retain(|label| !label.is_empty() && seen.insert(label.clone()));
        for label in &mut labels {
            if label.chars().count() > LABEL_CHARS_MAX {
                *label = shorten(label, LABEL_CHARS_MAX);
                self.account.change("labels", "a label was too long and was shortened");
            }
        }
        if labels.len() > LABELS_MAX {
            labels.truncate(LABELS_MAX);
            self.account.lose("labels", "there were more labels than an event has");
        }
        row.labels = labels;
        row.session = row.session.take().filter(|session| !session.trim().is_empty());
        if let Some(session) = &mut row.session
            && session.chars().count() > SESSION_CHARS_MAX
        {
            *session = shorten(session, SESSION_CHARS_MAX);
            self.account
                .change("session", "the name of the session was too long and was shortened");
        }
        if row.origin.as_ref().is_some_and(|origin| origin.len() > ORIGIN_BYTES_MAX) {
            let format = Value::from(self.format.name());
            row.origin = Some(to_compact(&Value::object([
                ("format", format),
                ("id", Value::from(row.source_id.as_str())),
                ("truncated", Value::Bool(true)),
            ])));
            self.account.lose("origin", "the rest of the record is larger than an origin");
        }
    }

    /// The id of a row that has none: a hash of its content, and its number among equal rows.
    fn derive_id(&mut self, row: &ForeignRow) -> String {
        let mut hash = Sha256::new();
        let time = match row.time_basis {
            TimeBasis::Fallback => String::new(),
            _ => row.observed_at.0.to_string(),
        };
        let role = match &row.content {
            RowContent::Message { role, .. } => role.as_str(),
            _ => "",
        };
        let validity = match &row.content {
            RowContent::Triple(triple) => format!("{:?}..{:?}", triple.valid_from, triple.valid_to),
            _ => String::new(),
        };
        let session = row.session.as_deref().unwrap_or_default();
        let words = row.content.words();
        for part in [row.content.kind(), role, session, &time, &validity, &words] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let (short, _) = digest.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
        let count = self.occurrences.entry(*short).or_default();
        *count += 1;
        format!("sha256:{}#{count}", hex::encode(short))
    }

    /// Counts a row that could not be read.
    pub(super) fn fail(&mut self, place: &Place, code: ErrorCode, detail: impl Into<String>) {
        let detail = detail.into();
        self.fail_with(RowError { place: place.clone(), code, detail, cost: ErrorCost::Row });
    }

    pub(super) fn fail_with(&mut self, error: RowError) {
        let line = error.place.line();
        self.account.fail(ReportedError { line, code: error.code, detail: error.to_string() });
        self.queue.push_back(Err(error));
    }

    /// The time in a value. A bad one costs the row: the error is queued and `Err` returned.
    pub(super) fn time(
        &mut self,
        value: Option<&Value>,
        place: &Place,
    ) -> Result<Option<Micros>, BadRow> {
        let Some(value) = value.filter(|value| !value.is_blank()) else { return Ok(None) };
        match self.read_time(value) {
            Ok(time) => Ok(Some(time)),
            Err(error) => {
                self.fail(place, ErrorCode::InvalidTimestamp, error.to_string());
                Err(BadRow)
            }
        }
    }

    /// The time in a value that the row can do without.
    pub(super) fn optional_time(&mut self, value: Option<&Value>, field: &str) -> Option<Micros> {
        let value = value.filter(|value| !value.is_blank())?;
        match self.read_time(value) {
            Ok(time) => Some(time),
            Err(_) => {
                self.account.lose(field, "it is no time");
                None
            }
        }
    }

    fn read_time(&mut self, value: &Value) -> Result<Micros, TimeError> {
        let time = time::read_value(value, self.naive)?;
        if let Some(assumption) = time.assumption {
            self.account.change("time", assumption.why());
        }
        Ok(time.at)
    }

    /// The time in a text that spells it out.
    pub(super) fn spelled_time(&mut self, text: &str, place: &Place) -> Result<Micros, BadRow> {
        match time::parse_spelled(text, self.naive) {
            Ok(time) => {
                if let Some(assumption) = time.assumption {
                    self.account.change("time", assumption.why());
                }
                Ok(time.at)
            }
            Err(error) => {
                self.fail(place, ErrorCode::InvalidTimestamp, error.to_string());
                Err(BadRow)
            }
        }
    }

    /// How times without a zone are read.
    pub(super) fn naive_times(&self) -> NaiveTimes {
        self.naive
    }

    /// The rest of a record, for `origin`: blank members are dropped, the others counted under their
    /// path.
    pub(super) fn carry(&mut self, prefix: &str, rest: Value) -> Value {
        let Value::Object(mut members) = rest else { return Value::Null };
        members.retain(|member| !member.value.is_blank());
        for member in &members {
            self.account.carry(&format!("{prefix}{}", member.key.to_lossy()));
        }
        Value::Object(members)
    }

    /// The origin of a row: the format and the given parts, without blank ones.
    pub(super) fn origin<const N: usize>(&self, parts: [(&str, Value); N]) -> Option<String> {
        let mut origin = Value::object([("format", Value::from(self.format.name()))]);
        for (name, value) in parts {
            if !value.is_blank() {
                origin.push(name, value);
            }
        }
        Some(to_compact(&origin))
    }
}

/// The row was refused, and its error is queued.
#[derive(Debug)]
pub(super) struct BadRow;

/// The first characters of a name and a hash of all of it.
fn shorten(name: &str, chars_max: usize) -> String {
    let digest: [u8; 32] = Sha256::digest(name).into();
    let suffix = hex::encode(digest.get(..4).unwrap_or_default());
    let kept: String = name.chars().take(chars_max - suffix.len() - 1).collect();
    format!("{kept}-{suffix}")
}

/// The actor of a name in another program: `kind:name` with `-` for characters that an actor cannot have.
pub(super) fn actor_id(kind: &str, name: &str) -> Option<ActorId> {
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    let slug: String = name
        .chars()
        .take(200)
        .map(|c| if c.is_ascii_alphanumeric() || "._@+-".contains(c) { c } else { '-' })
        .collect();
    let slug = match slug.trim_matches('-') {
        "" => shorten("x", 10),
        slug => slug.to_owned(),
    };
    let slug = match name.is_ascii() {
        true => slug,
        // Other scripts become dashes: the hash tells such names apart.
        false => {
            format!("{}-{}", slug.get(..slug.len().min(180)).unwrap_or(&slug), name_hash(name))
        }
    };
    format!("{kind}:{slug}").parse().ok()
}

/// Sixteen hexadecimal digits that tell a text from others.
pub(super) fn name_hash(name: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(name).into();
    hex::encode(digest.get(..8).unwrap_or_default())
}

/// A segment of a scope path for a name: `-` for characters that it cannot have.
pub(super) fn scope_segment(kind: &str, name: &str) -> Option<String> {
    let slug: String = name
        .trim()
        .chars()
        .take(128)
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' })
        .collect();
    (!slug.is_empty()).then(|| format!("{kind}:{slug}"))
}

//! Which column of a CSV file holds which part of a memory.

use std::collections::BTreeMap;

/// A part of a memory that a column can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowField {
    /// The words.
    Text,
    /// The id of the row.
    Id,
    /// When it happened.
    Time,
    /// When the source recorded it.
    RecordedTime,
    /// Who speaks: `user`, `assistant`, `tool` or `system`.
    Role,
    /// The conversation.
    Session,
    /// Who did it.
    Actor,
    /// Whom it is about.
    About,
    /// Labels, separated by `;` or `,`.
    Labels,
    /// The subject of a triple.
    Subject,
    /// Its predicate.
    Predicate,
    /// Its object.
    Object,
    /// From when the triple holds.
    ValidFrom,
    /// Until when.
    ValidTo,
    /// How sure it is, 0 to 1.
    Confidence,
}

/// The name of each field in `--map`, and the headers that mean it without being told.
const FIELDS: &[(RowField, &str, &[&str])] = &[
    (
        RowField::Text,
        "text",
        &["text", "content", "message", "memory", "body", "note", "messagecontent", "prompt"],
    ),
    (RowField::Id, "id", &["id", "uuid", "message_id", "memory_id"]),
    (
        RowField::Time,
        "time",
        &["time", "timestamp", "created", "created_at", "createdat", "date", "observed_at"],
    ),
    (RowField::RecordedTime, "recorded", &["recorded_at", "source_recorded_at"]),
    (RowField::Role, "role", &["role", "author", "sender"]),
    (
        RowField::Session,
        "session",
        &[
            "session",
            "session_id",
            "conversation",
            "conversation_id",
            "thread",
            "thread_id",
            "chatname",
        ],
    ),
    (RowField::Actor, "actor", &["actor", "observed_actor", "user", "user_id"]),
    (RowField::About, "about", &["about"]),
    (RowField::Labels, "labels", &["labels", "tags", "label", "tag"]),
    (RowField::Subject, "subject", &["subject"]),
    (RowField::Predicate, "predicate", &["predicate", "relation"]),
    (RowField::Object, "object", &["object", "value"]),
    (RowField::ValidFrom, "valid_from", &["valid_from", "valid_at"]),
    (RowField::ValidTo, "valid_to", &["valid_to", "invalid_at", "valid_until"]),
    (RowField::Confidence, "confidence", &["confidence"]),
];

impl RowField {
    /// The name in a map.
    pub fn name(self) -> &'static str {
        FIELDS.iter().find(|(field, ..)| *field == self).map_or("", |(_, name, _)| name)
    }
}

/// Why a map does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnMapError {
    /// Not `field=column`.
    #[error("`{}` is not `field=column`, such as `text=body`", crate::quote(.0))]
    Form(String),
    /// A field that does not exist.
    #[error("`{}` is no field; there are {}", crate::quote(.0), field_names())]
    Field(String),
    /// A column that the header does not have.
    #[error("the header has no column `{}`; it has {listed}", crate::quote(.name))]
    Column {
        /// The column.
        name: String,
        /// The columns that there are.
        listed: String,
    },
    /// Neither words nor a triple.
    #[error("no column holds the text; say which with `--map text=COLUMN`. The header has {0}")]
    NoText(String),
}

fn field_names() -> String {
    FIELDS.iter().map(|(_, name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// The columns of a file, by field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnMap {
    /// Headers that were chosen by hand.
    chosen: BTreeMap<RowField, String>,
}

/// The columns of one header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoundColumns {
    pub(crate) columns: BTreeMap<RowField, usize>,
}

impl ColumnMap {
    /// Reads `text=body,time=created`.
    pub fn parse(text: &str) -> Result<ColumnMap, ColumnMapError> {
        let mut chosen = BTreeMap::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, column) =
                pair.split_once('=').ok_or_else(|| ColumnMapError::Form(pair.to_owned()))?;
            let field = FIELDS.iter().find(|(_, own, _)| *own == name.trim());
            let (field, ..) = field.ok_or_else(|| ColumnMapError::Field(name.to_owned()))?;
            chosen.insert(*field, column.trim().to_owned());
        }
        Ok(ColumnMap { chosen })
    }

    /// Finds the columns in a header: the chosen ones, then those whose names say it.
    pub(crate) fn bind(&self, header: &[String]) -> Result<BoundColumns, ColumnMapError> {
        let place =
            |name: &str| header.iter().position(|column| column.trim().eq_ignore_ascii_case(name));
        let listed = || {
            let shown: Vec<String> =
                header.iter().take(20).map(|name| format!("`{}`", crate::quote(name))).collect();
            shown.join(", ")
        };
        let mut columns = BTreeMap::new();
        for (field, name) in &self.chosen {
            let missing = || ColumnMapError::Column { name: name.clone(), listed: listed() };
            columns.insert(*field, place(name).ok_or_else(missing)?);
        }
        for (field, _, known) in FIELDS {
            let found = known.iter().find_map(|name| place(name));
            if let Some(at) = found.filter(|at| !columns.values().any(|used| used == at)) {
                columns.entry(*field).or_insert(at);
            }
        }
        let is_triple = [RowField::Subject, RowField::Predicate, RowField::Object];
        let has_triple = is_triple.iter().all(|field| columns.contains_key(field));
        match columns.contains_key(&RowField::Text) || has_triple {
            true => Ok(BoundColumns { columns }),
            false => Err(ColumnMapError::NoText(listed())),
        }
    }
}

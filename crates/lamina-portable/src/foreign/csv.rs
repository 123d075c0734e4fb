//! CSV files with a column map, and the CSV files of the Copilot privacy dashboard, whose columns are
//! known.

use std::collections::BTreeMap;

use lamina_types::{ErrorCode, Micros, Role};

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::role_of;
use super::row::{ForeignRow, ForeignTriple, Place, RowContent, TimeBasis, TripleTerm};
use super::sink::{BadRow, RowSink, actor_id};
use crate::csv::{BoundColumns, ColumnMap, RowField};
use crate::json::{Member, Value};
use crate::source::SourceEntry;

/// Whose files these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CsvFlavor {
    Plain,
    Copilot,
}

pub(super) struct CsvMapper {
    flavor: CsvFlavor,
    map: ColumnMap,
    file: HeaderState,
    /// An answer that waits for its question: Copilot writes the answer first, with the same time.
    held: Option<ForeignRow>,
}

enum HeaderState {
    /// The first record of the file is still to come.
    Awaited,
    Bound {
        header: Vec<String>,
        columns: BoundColumns,
    },
    /// The header does not fit; its records are passed over.
    Refused,
}

impl CsvMapper {
    pub(super) fn new(flavor: CsvFlavor, map: &ColumnMap) -> CsvMapper {
        CsvMapper { flavor, map: map.clone(), file: HeaderState::Awaited, held: None }
    }
}

impl Mapper for CsvMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Csv, |entry| {
            let name = entry.file_name().to_ascii_lowercase();
            is_single || name.ends_with(".csv") || name.ends_with(".tsv")
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body, place, .. } = input;
        match body {
            InputBody::FileEnd => {
                self.file = HeaderState::Awaited;
                self.held.take().into_iter().for_each(|row| sink.push(row));
            }
            InputBody::Record(fields) => match &self.file {
                HeaderState::Awaited => self.bind(fields, &place, sink),
                HeaderState::Bound { header, columns } => {
                    let record = CsvRow { header, columns, fields };
                    // The error of a bad row is queued already.
                    if let Ok(Some(row)) = map_record(&record, self.flavor, &place, sink) {
                        self.push(row, sink);
                    }
                }
                HeaderState::Refused => sink.account.skip("the header of its file was refused", 1),
            },
            _ => {}
        }
    }
}

impl CsvMapper {
    fn bind(&mut self, header: Vec<String>, place: &Place, sink: &mut RowSink) {
        self.file = match self.map.bind(&header) {
            Ok(columns) => HeaderState::Bound { header, columns },
            Err(error) => {
                sink.fail(place, ErrorCode::InvalidParameter, error.to_string());
                HeaderState::Refused
            }
        };
    }
}

impl CsvMapper {
    fn push(&mut self, row: ForeignRow, sink: &mut RowSink) {
        let role = |row: &ForeignRow| match row.content {
            RowContent::Message { role, .. } => Some(role),
            _ => None,
        };
        let held = self.held.take();
        let is_question = held.as_ref().is_some_and(|held| {
            role(&row) == Some(Role::User)
                && held.session == row.session
                && held.observed_at == row.observed_at
        });
        let waits = self.flavor == CsvFlavor::Copilot && role(&row) == Some(Role::Assistant);
        match (held, waits) {
            (Some(held), false) if is_question => {
                sink.push(row);
                sink.push(held);
            }
            (held, waits) => {
                held.into_iter().for_each(|row| sink.push(row));
                match waits {
                    true => self.held = Some(row),
                    false => sink.push(row),
                }
            }
        }
    }
}

/// A record beside its header.
struct CsvRow<'a> {
    header: &'a [String],
    columns: &'a BoundColumns,
    fields: Vec<String>,
}

impl CsvRow<'_> {
    fn get(&self, field: RowField) -> Option<&str> {
        let at = self.columns.columns.get(&field)?;
        self.fields.get(*at).map(|text| text.trim()).filter(|text| !text.is_empty())
    }

    /// The columns that no field names.
    fn rest(&self) -> Value {
        let used: Vec<usize> = self.columns.columns.values().copied().collect();
        let rest = self.header.iter().zip(&self.fields).enumerate();
        let rest = rest.filter(|(at, _)| !used.contains(at));
        let mut members: BTreeMap<&str, &str> = BTreeMap::new();
        for (_, (name, value)) in rest {
            members.entry(name).or_insert(value);
        }
        let members =
            members.into_iter().map(|(name, value)| Member::new(name, Value::from(value)));
        Value::Object(members.collect())
    }
}

fn map_record(
    record: &CsvRow<'_>,
    flavor: CsvFlavor,
    place: &Place,
    sink: &mut RowSink,
) -> Result<Option<ForeignRow>, BadRow> {
    if record.fields.len() > record.header.len() {
        let (own, header) = (record.fields.len(), record.header.len());
        let detail = format!("the record has {own} fields, the header {header}");
        sink.fail(place, ErrorCode::InvalidBody, detail);
        return Err(BadRow);
    }
    let time = read_time(record, RowField::Time, flavor, place, sink)?;
    let Some(row) = row_of(record, flavor, place, sink)? else {
        sink.account.skip("the text is empty", 1);
        return Ok(None);
    };
    // A fact without a time of its own is as old as its validity.
    let valid_from = match &row.content {
        RowContent::Triple(triple) => triple.valid_from,
        _ => None,
    };
    let mut row = row.at(valid_from, TimeBasis::Context).at(time, TimeBasis::Stated);
    row.recorded_at = read_time(record, RowField::RecordedTime, flavor, place, sink)?;
    row.session = record.get(RowField::Session).map(str::to_owned);
    row.actor = record.get(RowField::Actor).and_then(named_actor).or(row.actor);
    row.subject = record.get(RowField::About).and_then(named_actor);
    for label in record.get(RowField::Labels).unwrap_or_default().split([';', ',']) {
        row.label(label.trim());
    }
    if let Some(id) = record.get(RowField::Id) {
        row = row.with_id(id);
    }
    for (field, to) in KEPT {
        if record.get(*field).is_some() {
            sink.account.keep(field_name(*field), to);
        }
    }
    let rest = sink.carry("", record.rest());
    row.origin = sink.origin([("columns", rest)]);
    Ok(Some(row))
}

const KEPT: &[(RowField, &str)] = &[
    (RowField::Text, "content.text"),
    (RowField::Id, "the id of the row"),
    (RowField::Time, "context.observed_at"),
    (RowField::RecordedTime, "context.source_recorded_at"),
    (RowField::Role, "content.role"),
    (RowField::Session, "observed_actor.session"),
    (RowField::Actor, "observed_actor.id"),
    (RowField::About, "subject.id"),
    (RowField::Labels, "context.labels"),
    (RowField::Subject, "subject, predicate and object of a triple"),
];

fn field_name(field: RowField) -> &'static str {
    match field {
        RowField::Subject => "subject, predicate, object",
        field => field.name(),
    }
}

/// The row by its columns: a triple, a message or a text. `None` if it says nothing.
fn row_of(
    record: &CsvRow<'_>,
    flavor: CsvFlavor,
    place: &Place,
    sink: &mut RowSink,
) -> Result<Option<ForeignRow>, BadRow> {
    let triple = [RowField::Subject, RowField::Predicate, RowField::Object];
    if let [Some(subject), Some(predicate), Some(object)] = triple.map(|field| record.get(field)) {
        let (subject, object) = (TripleTerm::entity(subject), TripleTerm::entity(object));
        let mut triple = ForeignTriple::new(subject, predicate, object);
        triple.valid_from = read_time(record, RowField::ValidFrom, flavor, place, sink)?;
        triple.valid_to = read_time(record, RowField::ValidTo, flavor, place, sink)?;
        let confidence = record.get(RowField::Confidence).and_then(|text| text.parse().ok());
        triple.confidence = confidence.filter(|number| (0.0..=1.0).contains(number));
        triple.sentence = record.get(RowField::Text).map(str::to_owned);
        return Ok(Some(ForeignRow::triple(place, triple)));
    }
    let Some(text) = record.get(RowField::Text) else { return Ok(None) };
    let role = match (record.get(RowField::Role), flavor) {
        (None, CsvFlavor::Plain) => return Ok(Some(ForeignRow::text(place, text))),
        // A file without authors holds prompts only.
        (None, CsvFlavor::Copilot) => Role::User,
        (Some(name), CsvFlavor::Copilot) => role_of(name).unwrap_or(Role::Assistant),
        (Some(name), CsvFlavor::Plain) => match role_of(name) {
            Some(role) => role,
            None => {
                let detail = format!(
                    "`{}` is no role; there are user, assistant, tool, system",
                    crate::quote(name)
                );
                sink.fail(place, ErrorCode::InvalidEnvelope, detail);
                return Err(BadRow);
            }
        },
    };
    let mut row = ForeignRow::message(place, role, text);
    if flavor == CsvFlavor::Copilot && role == Role::Assistant {
        row.actor = actor_id("agent", "copilot");
    }
    Ok(Some(row))
}

/// `type:id` as it is, a name as a user.
fn named_actor(name: &str) -> Option<lamina_types::ActorId> {
    name.parse().ok().or_else(|| actor_id("user", name))
}

fn read_time(
    record: &CsvRow<'_>,
    field: RowField,
    flavor: CsvFlavor,
    place: &Place,
    sink: &mut RowSink,
) -> Result<Option<Micros>, BadRow> {
    let Some(text) = record.get(field) else { return Ok(None) };
    match flavor {
        CsvFlavor::Copilot if text.contains('/') => sink.spelled_time(text, place).map(Some),
        _ => sink.time(Some(&Value::from(text)), place),
    }
}

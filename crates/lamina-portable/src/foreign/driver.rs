//! The iterator over the rows of a source: which files are read, in which order, and by which reader.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lamina_types::ErrorCode;

use super::parts::{JsonParts, PartBody};
use super::row::{ErrorCost, ForeignRow, Place, RowError};
use super::sink::RowSink;
use super::{Format, ImportOptions};
use crate::csv::{CsvError, CsvLimits, CsvReader};
use crate::json::{Position, Value};
use crate::loss::LossAccount;
use crate::source::{ImportSource, SourceEntry, SourceError, io_code};

/// Bytes of one text file, such as a note.
const TEXT_FILE_BYTES_MAX: u64 = 64 << 20;

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileLayout {
    /// JSON or JSON lines; arrays of these members are taken apart.
    Json(&'static [&'static str]),
    /// One text.
    Text,
    /// Records of fields.
    Csv,
}

/// One reading of one file.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadStep {
    /// The file.
    pub(super) entry: usize,
    /// How it is read.
    pub(super) layout: FileLayout,
    /// For formats that read a file more than once, or files of different kinds.
    pub(super) phase: u8,
}

/// One record that a mapper turns into rows.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) phase: u8,
    /// The member whose array holds the record.
    pub(super) member: Option<&'static str>,
    pub(super) body: InputBody,
    pub(super) place: Place,
}

#[derive(Debug)]
pub(super) enum InputBody {
    /// An element of an array.
    Element(Value),
    /// An object that is a document or a line.
    Object {
        value: Value,
        /// Whether streamed arrays were taken out of it.
        has_elements: bool,
    },
    /// A text file.
    Text(String),
    /// The fields of a CSV record.
    Record(Vec<String>),
    /// The end of a file.
    FileEnd,
}

/// A format: the files it reads and the meaning of their records.
pub(super) trait Mapper: Send {
    /// The files to read, in order.
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep>;
    /// Turns a record into rows.
    fn map(&mut self, input: Input, sink: &mut RowSink);
    /// Whether the format needs a file that it does not read, such as proofs that a caller has verified.
    fn needs(&self, _entry: &SourceEntry) -> bool {
        false
    }
    /// Rows that are known only at the end.
    fn finish(&mut self, _sink: &mut RowSink) {}
}

/// A step for each file whose name passes.
pub(super) fn steps_for(
    entries: &[SourceEntry],
    layout: FileLayout,
    is_wanted: impl Fn(&SourceEntry) -> bool,
) -> Vec<ReadStep> {
    let wanted = entries.iter().enumerate();
    let wanted = wanted.filter(|(_, entry)| !entry.is_clutter() && is_wanted(entry));
    wanted.map(|(entry, _)| ReadStep { entry, layout, phase: 0 }).collect()
}

enum OpenFile {
    Json(Box<JsonParts>),
    Text(Box<dyn Read + Send>),
    Csv {
        records: Box<CsvReader<Box<dyn Read + Send>>>,
        /// Whether its header was read.
        has_header: bool,
    },
    /// Everything was read; the mapper is still to be told.
    Ended,
}

struct OpenStep {
    step: ReadStep,
    file: OpenFile,
    name: String,
}

/// How far a reader has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadProgress {
    /// Bytes that were read, inflated.
    pub bytes_read: u64,
    /// Bytes that will be read; `None` if a file does not tell its inflated size.
    pub bytes_total: Option<u64>,
}

/// Counts the bytes that pass.
struct CountedReader {
    inner: Box<dyn Read + Send>,
    count: Arc<AtomicU64>,
}

impl Read for CountedReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The rows of a source, one after the other. [`account`](Self::account) is complete at the end.
pub struct ForeignRows {
    source: Arc<ImportSource>,
    mapper: Box<dyn Mapper>,
    steps: VecDeque<ReadStep>,
    open: Option<OpenStep>,
    sink: RowSink,
    is_finished: bool,
    bytes_read: Arc<AtomicU64>,
    bytes_total: Option<u64>,
}

impl std::fmt::Debug for ForeignRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ForeignRows({:?}, {} files left)", self.source, self.steps.len())
    }
}

impl ForeignRows {
    pub(super) fn new(
        source: Arc<ImportSource>,
        format: Format,
        options: ImportOptions,
    ) -> ForeignRows {
        let mapper = format.mapper(&options);
        let steps: VecDeque<ReadStep> = mapper.steps(source.entries()).into();
        let mut sink = RowSink::new(format, &options);
        let read: std::collections::BTreeSet<usize> = steps.iter().map(|step| step.entry).collect();
        for (index, entry) in source.entries().iter().enumerate() {
            if !read.contains(&index) && !entry.is_clutter() && !mapper.needs(entry) {
                sink.account.lose(&file_kind(entry), "files of this kind are not imported");
            }
        }
        let sizes = steps.iter().map(|step| source.entries().get(step.entry)?.bytes);
        let bytes_total = sizes.sum();
        ForeignRows {
            source,
            mapper,
            steps,
            open: None,
            sink,
            is_finished: false,
            bytes_read: Arc::new(AtomicU64::new(0)),
            bytes_total,
        }
    }

    /// How far the reader has come.
    pub fn progress(&self) -> ReadProgress {
        let bytes_read = self.bytes_read.load(Ordering::Relaxed);
        ReadProgress { bytes_read, bytes_total: self.bytes_total }
    }

    /// The loss account so far.
    pub fn account(&self) -> &LossAccount {
        &self.sink.account
    }

    /// The account of all that was read.
    pub fn into_account(self) -> LossAccount {
        self.sink.account
    }

    /// Reads until there is a row or an error in the sink, or nothing is left.
    fn advance(&mut self) {
        match self.open.take() {
            Some(open) => self.open = self.read_record(open),
            None => match self.steps.pop_front() {
                Some(step) => self.open = self.open_file(step),
                None => {
                    self.mapper.finish(&mut self.sink);
                    self.is_finished = true;
                }
            },
        }
    }

    fn open_file(&mut self, step: ReadStep) -> Option<OpenStep> {
        let entry = self.source.entries().get(step.entry)?;
        self.sink.file_time = entry.modified;
        let name = entry.name.clone();
        let opened = self.source.open_text(step.entry).and_then(|text| {
            if let Some(note) = text.encoding.note() {
                self.sink.account.change("(encoding)", note);
            }
            let count = Arc::clone(&self.bytes_read);
            let reader: Box<dyn Read + Send> =
                Box::new(CountedReader { inner: text.reader, count });
            Ok(match step.layout {
                FileLayout::Json(streamed) => {
                    OpenFile::Json(Box::new(JsonParts::open(&name, reader, streamed)?))
                }
                FileLayout::Text => OpenFile::Text(reader),
                FileLayout::Csv => {
                    let (delimiter, reader) = sniff_delimiter(reader)?;
                    let records = Box::new(CsvReader::new(reader, delimiter, CsvLimits::IMPORT));
                    OpenFile::Csv { records, has_header: false }
                }
            })
        });
        match opened {
            Ok(file) => Some(OpenStep { step, file, name }),
            Err(error) => {
                self.fail_file(&name, None, &error);
                None
            }
        }
    }

    fn read_record(&mut self, mut open: OpenStep) -> Option<OpenStep> {
        let place = |position| Place { file: open.name.clone(), position, pointer: String::new() };
        let phase = open.step.phase;
        match &mut open.file {
            OpenFile::Json(parts) => match parts.next() {
                Some(Ok(part)) => {
                    let body = match part.body {
                        PartBody::Element(value) => InputBody::Element(value),
                        PartBody::Object { value, has_elements } => {
                            InputBody::Object { value, has_elements }
                        }
                    };
                    let place = place(Some(part.start));
                    let input = Input { phase, member: part.member, body, place };
                    self.mapper.map(input, &mut self.sink);
                }
                Some(Err(error)) => {
                    let (code, detail, cost) = (error.code, error.detail, error.cost);
                    let place = place(Some(error.position));
                    self.sink.fail_with(RowError { place, code, detail, cost });
                }
                None => {
                    if parts.had_nested_text {
                        let why = "the file was a JSON string that holds JSON";
                        self.sink.account.change("(document)", why);
                    }
                    open.file = OpenFile::Ended;
                }
            },
            OpenFile::Csv { records, has_header } => match records.next() {
                Some(Ok(record)) => {
                    *has_header = true;
                    let body = InputBody::Record(record.fields);
                    let place = place(Some(record.start));
                    self.mapper.map(Input { phase, member: None, body, place }, &mut self.sink);
                }
                Some(Err(error)) => {
                    let mut error = csv_error(&error, place(csv_position(&error)));
                    if !*has_header {
                        error.cost = ErrorCost::File;
                        open.file = OpenFile::Ended;
                    }
                    self.sink.fail_with(error);
                }
                None => open.file = OpenFile::Ended,
            },
            OpenFile::Text(reader) => {
                match read_text(reader) {
                    Ok(text) => {
                        let body = InputBody::Text(text);
                        let place = place(Some(Position::START));
                        self.mapper.map(Input { phase, member: None, body, place }, &mut self.sink);
                    }
                    Err(error) => self.sink.fail_with(RowError { place: place(None), ..error }),
                }
                open.file = OpenFile::Ended;
            }
            OpenFile::Ended => {
                let place = place(None);
                let input = Input { phase, member: None, body: InputBody::FileEnd, place };
                self.mapper.map(input, &mut self.sink);
                return None;
            }
        }
        Some(open)
    }

    fn fail_file(&mut self, name: &str, position: Option<Position>, error: &SourceError) {
        let place = Place { file: name.to_owned(), position, pointer: String::new() };
        let (code, detail) = (error.code(), error.detail());
        self.sink.fail_with(RowError { place, code, detail, cost: ErrorCost::File });
    }
}

impl Iterator for ForeignRows {
    type Item = Result<ForeignRow, RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.sink.pop() {
                return Some(row);
            }
            if self.is_finished {
                return None;
            }
            self.advance();
        }
    }
}

/// The name under which a file that is not read is counted: its extension, or its whole name.
fn file_kind(entry: &SourceEntry) -> String {
    match entry.file_name().rsplit_once('.') {
        Some((_, extension)) if extension.len() <= 8 && !extension.is_empty() => {
            format!("*.{}", extension.to_ascii_lowercase())
        }
        _ => "(files)".to_owned(),
    }
}

fn read_text(reader: &mut (dyn Read + Send)) -> Result<String, RowError> {
    let failed = |code, detail| RowError {
        place: Place { file: String::new(), position: None, pointer: String::new() },
        code,
        detail,
        cost: ErrorCost::File,
    };
    let mut bytes = Vec::new();
    reader
        .take(TEXT_FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(io_code(&error), error.to_string()))?;
    if bytes.len() as u64 > TEXT_FILE_BYTES_MAX {
        let detail = format!("the text has more than {TEXT_FILE_BYTES_MAX} bytes");
        return Err(failed(ErrorCode::BodyTooLarge, detail));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = Position::START
            .after(error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default());
        failed(ErrorCode::UnsupportedMediaType, format!("the text is not UTF-8, at {at}"))
    })
}

fn csv_position(error: &CsvError) -> Option<Position> {
    match error {
        CsvError::ColumnsTooMany { start, .. }
        | CsvError::TooLarge { start, .. }
        | CsvError::Utf8 { start } => Some(*start),
        CsvError::AfterQuote { at } => Some(*at),
        CsvError::Unclosed { opened } => Some(*opened),
        CsvError::Io { position, .. } => Some(*position),
    }
}

fn csv_error(error: &CsvError, place: Place) -> RowError {
    let (code, detail, cost) = match error {
        CsvError::ColumnsTooMany { .. } | CsvError::TooLarge { .. } => {
            (ErrorCode::BodyTooLarge, error.to_string(), ErrorCost::Row)
        }
        CsvError::AfterQuote { .. } => (ErrorCode::InvalidBody, error.to_string(), ErrorCost::Row),
        CsvError::Utf8 { .. } => {
            (ErrorCode::UnsupportedMediaType, error.to_string(), ErrorCost::Row)
        }
        CsvError::Unclosed { .. } => (ErrorCode::InvalidBody, error.to_string(), ErrorCost::File),
        CsvError::Io { source, .. } => (io_code(source), source.to_string(), ErrorCost::File),
    };
    RowError { place, code, detail, cost }
}

/// The separator that the first line has most of.
fn sniff_delimiter(
    mut reader: Box<dyn Read + Send>,
) -> std::io::Result<(u8, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    reader.by_ref().take(super::parts::HEAD_BYTES as u64).read_to_end(&mut head)?;
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |wanted: u8| first.iter().filter(|byte| **byte == wanted).count();
    let delimiter = [b',', b';', b'\t'].into_iter().rev().max_by_key(|byte| count(*byte));
    let whole = std::io::Cursor::new(head).chain(reader);
    Ok((delimiter.unwrap_or(b','), Box::new(whole)))
}

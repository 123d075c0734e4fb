//! Gemini activity of a Google Takeout: `MyActivity.json` in its three forms, and `MyActivity.html`.
//!
//! Most records name no conversation. Records within 30 minutes of each other become one session, named
//! by the time of its first record.

use lamina_types::{Micros, Role};

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{text_of, texts_of};
use super::html;
use super::row::{ForeignRow, Place, TimeBasis};
use super::sink::{RowSink, actor_id};
use crate::json::Value;
use crate::source::SourceEntry;
use crate::time;

const SESSION_GAP_US: i64 = 30 * 60 * 1_000_000;
/// Rows that wait for the first record of their session.
const SESSION_ROWS_MAX: usize = 10_000;
/// The verb before a prompt, by language.
const PROMPT_VERBS: &[&str] = &[
    "Prompted",
    "Asked",
    "Said",
    "Branched",
    "Answered",
    "Solicitou",
    "Solicitó",
    "Demandé",
    "Angefordert",
    "Richiesto",
];
const NO_PROMPT: &str = "an activity that is no prompt";

#[derive(Default)]
pub(super) struct GeminiMapper {
    /// Rows of the session that is being read.
    pending: Vec<ForeignRow>,
    last: Option<Micros>,
}

impl Mapper for GeminiMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_html =
            |entry: &SourceEntry| entry.file_name().to_ascii_lowercase().ends_with(".html");
        let is_activity = |entry: &SourceEntry| {
            let name = entry.file_name().to_lowercase().replace(' ', "");
            let is_named = name.starts_with("myactivity") || name.starts_with("minhaatividade");
            // A Takeout has an activity file for each product.
            entries.len() == 1 || is_named && (entry.name.contains("Gemini") || entries.len() < 5)
        };
        let mut steps = steps_for(entries, FileLayout::Json(&[]), |entry| {
            is_activity(entry) && !is_html(entry)
        });
        steps.extend(steps_for(entries, FileLayout::Text, |entry| {
            is_activity(entry) && is_html(entry)
        }));
        steps
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body, place, .. } = input;
        match body {
            InputBody::Element(value) | InputBody::Object { value, .. } => {
                self.map_activity(value, &place, sink);
            }
            InputBody::Text(page) => self.map_page(&page, &place, sink),
            InputBody::FileEnd => self.flush(sink),
            InputBody::Record(_) => {}
        }
    }
}

/// One exchange.
struct Exchange {
    time: Option<Micros>,
    /// The conversation, if the record names one.
    session: Option<String>,
    prompts: Vec<String>,
    answers: Vec<String>,
    rest: Value,
}

impl GeminiMapper {
    fn map_activity(&mut self, mut record: Value, place: &Place, sink: &mut RowSink) {
        let header = text_of(&record, &["header"]).unwrap_or_default().to_owned();
        let products = texts_of(&record, "products");
        if !header.contains("Gemini") && !products.iter().any(|product| product.contains("Gemini"))
        {
            return sink.account.skip("an activity of another product", 1);
        }
        let Ok(time) = sink.time(record.get("time"), place) else { return };
        let mut exchange = Exchange {
            time,
            session: text_of(&record, &["titleUrl"]).and_then(conversation_id),
            prompts: Vec::new(),
            answers: Vec::new(),
            rest: Value::Null,
        };
        read_details(&record, &mut exchange);
        if exchange.prompts.is_empty() && exchange.answers.is_empty() {
            read_title(&record, &mut exchange, sink);
        }
        if exchange.prompts.is_empty() && exchange.answers.is_empty() {
            return sink.account.skip(NO_PROMPT, 1);
        }
        for name in
            ["header", "title", "time", "details", "userInteractions", "safeHtmlItem", "products"]
        {
            record.take(name);
        }
        exchange.rest = sink.carry("", record);
        self.push_exchange(exchange, place, sink);
    }

    fn push_exchange(&mut self, exchange: Exchange, place: &Place, sink: &mut RowSink) {
        let Exchange { time, session, prompts, answers, rest } = exchange;
        if session.is_none() && self.is_far(time) {
            self.flush(sink);
        }
        sink.account.keep("(records)", "messages with role, time and session");
        let prompts = prompts.into_iter().map(|text| (Role::User, text));
        let answers = answers.into_iter().map(|text| (Role::Assistant, text));
        let mut origin = sink.origin([("activity", rest)]);
        for (role, text) in prompts.chain(answers) {
            let mut row = ForeignRow::message(place, role, text).at(time, TimeBasis::Stated);
            row.recorded_at = time;
            row.actor = if role == Role::User { None } else { actor_id("agent", "gemini") };
            row.origin = origin.take();
            row.session.clone_from(&session);
            match session {
                Some(_) => sink.push(row),
                None => self.pending.push(row),
            }
        }
        self.last = time;
        if self.pending.len() >= SESSION_ROWS_MAX {
            self.flush(sink);
        }
    }

    fn is_far(&self, time: Option<Micros>) -> bool {
        match (self.last, time) {
            (Some(last), Some(time)) => (last.0 - time.0).abs() > SESSION_GAP_US,
            _ => false,
        }
    }

    /// Names the session of the rows that wait, and passes them on in the order of their times.
    fn flush(&mut self, sink: &mut RowSink) {
        let mut rows = std::mem::take(&mut self.pending);
        self.last = None;
        rows.sort_by_key(|row| row.observed_at);
        let session = rows.first().map(|row| format!("gemini-{}", time::print(row.observed_at)));
        for mut row in rows {
            row.session.clone_from(&session);
            sink.push(row);
        }
    }

    /// The HTML form: one cell for each activity.
    fn map_page(&mut self, page: &str, place: &Place, sink: &mut RowSink) {
        for (index, cell) in page.split("class=\"outer-cell").skip(1).enumerate() {
            let place = place.part(format_args!("cell/{index}"));
            match read_cell(cell, sink) {
                Some(exchange) => self.push_exchange(exchange, &place, sink),
                None => sink.account.skip(NO_PROMPT, 1),
            }
        }
    }
}

/// `/c/<id>` of the address of a conversation.
fn conversation_id(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("/c/")?;
    let id: String =
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-').collect();
    (!id.is_empty()).then_some(id)
}

/// The forms with `details` and with `userInteractions`.
fn read_details(record: &Value, exchange: &mut Exchange) {
    for detail in record.get("details").and_then(Value::as_array).unwrap_or_default() {
        let Some(text) = text_of(detail, &["value"]).map(str::to_owned) else { continue };
        match text_of(detail, &["name"]) {
            Some("Request") => exchange.prompts.push(text),
            Some("Response") => exchange.answers.push(text),
            _ => {}
        }
    }
    for wrapper in record.get("userInteractions").and_then(Value::as_array).unwrap_or_default() {
        let Some(interaction) = wrapper.get("userInteraction") else { continue };
        exchange.prompts.extend(text_of(interaction, &["request"]).map(str::to_owned));
        exchange.answers.extend(text_of(interaction, &["response"]).map(str::to_owned));
    }
}

/// The form of real Takeouts: the prompt in the title, the answer as HTML.
fn read_title(record: &Value, exchange: &mut Exchange, sink: &mut RowSink) {
    let Some(prompt) = text_of(record, &["title"]).and_then(strip_verb) else { return };
    let prompt = match prompt.rfind(" Attached ") {
        Some(at) if prompt.ends_with("file.") || prompt.ends_with("files.") => {
            sink.account.lose("attachedFiles", "the bytes of files are not imported");
            prompt.get(..at).unwrap_or(prompt)
        }
        _ => prompt,
    };
    exchange.prompts.push(prompt.to_owned());
    for item in record.get("safeHtmlItem").and_then(Value::as_array).unwrap_or_default() {
        exchange.answers.extend(text_of(item, &["html"]).map(html::to_text));
    }
}

/// The prompt behind its verb.
fn strip_verb(title: &str) -> Option<&str> {
    let verb = PROMPT_VERBS.iter().find(|verb| title.starts_with(**verb))?;
    let rest = title.get(verb.len()..)?;
    rest.starts_with([' ', '\u{a0}']).then(|| rest.trim())
}

/// `<verb> prompt<br>[attachments<br>]time<br>answer`.
fn read_cell(cell: &str, sink: &mut RowSink) -> Option<Exchange> {
    let (_, body) = cell.split_once("mdl-typography--body-1\">")?;
    let body = body.split("<div class=\"content-cell").next().unwrap_or(body);
    let mut lines = body.split("<br>");
    let mut prompt = html::to_text(strip_verb(&html::decode_entities(lines.next()?))?);
    let mut date = None;
    for line in lines.by_ref() {
        let line = html::to_text(line);
        if let Ok(time) = time::parse_spelled(&line, sink.naive_times()) {
            if let Some(assumption) = time.assumption {
                sink.account.change("time", assumption.why());
            }
            date = Some(time.at);
            break;
        }
        if line.starts_with("Attached ") || line.starts_with("- ") {
            sink.account.lose("attachedFiles", "the bytes of files are not imported");
        } else {
            prompt.push('\n');
            prompt.push_str(&line);
        }
    }
    let answer = html::to_text(&lines.collect::<Vec<_>>().join("<br>"));
    if date.is_none() {
        sink.account.lose("time", "the date of a cell could not be read");
    }
    Some(Exchange {
        time: date,
        session: None,
        prompts: vec![prompt],
        answers: if answer.is_empty() { Vec::new() } else { vec![answer] },
        rest: Value::Null,
    })
}

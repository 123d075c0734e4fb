//! Notes of basic-memory: Markdown with front matter, observations (`- [category] text #tag (context)`)
//! and relations (`- relation [[Target]] (context)`).

use lamina_types::Micros;

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::mcp_memory::observed_sentence;
use super::row::{ForeignRow, ForeignTriple, Place, TimeBasis, TripleTerm};
use super::sink::{BadRow, RowSink, name_hash};
use crate::json::Value;
use crate::source::SourceEntry;

pub(super) struct BasicMemoryMapper;

impl Mapper for BasicMemoryMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Text, |entry| {
            let name = entry.file_name().to_ascii_lowercase();
            is_single || name.ends_with(".md") || name.ends_with(".markdown")
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body, place, .. } = input;
        if let InputBody::Text(text) = body {
            // The error of a bad note is queued already.
            let _ = map_note(&text, &place, sink);
        }
    }
}

/// The front matter of a note.
struct NoteHead {
    title: String,
    id: String,
    tags: Vec<String>,
    time: Option<Micros>,
    created: Option<Micros>,
    rest: Value,
}

fn map_note(text: &str, place: &Place, sink: &mut RowSink) -> Result<(), BadRow> {
    let (front, body) = split_front_matter(text);
    let head = read_head(front, place, sink)?;
    let first_line = text.len() - body.len();
    let first_line = text.get(..first_line).unwrap_or_default().lines().count() as u64;
    let mut prose = String::new();
    for (index, line) in body.lines().enumerate() {
        let mut place = place.clone();
        if let Some(position) = &mut place.position {
            position.line += first_line + index as u64;
        }
        if let Some(observation) = read_observation(line) {
            push_observation(observation, &head, &place, sink);
        } else if let Some(relation) = read_relation(line) {
            push_relation(relation, &head, &place, sink);
        } else {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    let is_prose = prose.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#'));
    if is_prose {
        sink.account.keep("(prose)", "texts of modality document");
        let mut row = dated(ForeignRow::text(place, prose.trim()), &head);
        row.modality = "document";
        row.label(format!("concept:{}", head.title));
        row.labels.extend(head.tags.iter().map(|tag| format!("tag:{tag}")));
        row.origin = sink.origin([("note", head.rest.clone())]);
        sink.push(row.with_id(head.id.clone()));
    }
    Ok(())
}

fn split_front_matter(text: &str) -> (&str, &str) {
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return ("", text);
    };
    match rest.find("\n---") {
        Some(end) => {
            let body = rest.get(end + 4..).unwrap_or_default();
            (rest.get(..end).unwrap_or_default(), body.trim_start_matches(['\r', '\n']))
        }
        None => ("", text),
    }
}

/// Reads `name: value` lines and lists below a name; other YAML is kept as it is.
fn read_head(front: &str, place: &Place, sink: &mut RowSink) -> Result<NoteHead, BadRow> {
    let file = place.file.rsplit('/').next().unwrap_or_default();
    let mut head = NoteHead {
        title: file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned(),
        id: place.file.clone(),
        tags: Vec::new(),
        time: None,
        created: None,
        rest: Value::object([]),
    };
    let mut name = "";
    let (mut modified, mut date) = (None, None);
    for line in front.lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            if name == "tags" {
                head.tags.push(unquote(item).to_owned());
            }
            continue;
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        name = key.trim();
        let value = unquote(value);
        if value.is_empty() {
            continue;
        }
        match name {
            "title" => head.title = value.to_owned(),
            "permalink" => head.id = value.to_owned(),
            "tags" => {
                let items =
                    value.trim_matches(['[', ']']).split(',').map(|item| unquote(item).to_owned());
                head.tags.extend(items.filter(|item| !item.is_empty()));
            }
            "created" | "created_at" => {
                head.created = sink.time(Some(&Value::from(value)), place)?
            }
            "modified" | "updated" | "updated_at" => {
                modified = sink.time(Some(&Value::from(value)), place)?
            }
            "date" => date = sink.time(Some(&Value::from(value)), place)?,
            _ => {
                sink.account.carry(name);
                head.rest.push(name, value);
            }
        }
    }
    head.time = modified.or(head.created).or(date);
    sink.account.keep("title, permalink, tags", "labels concept:<title>, tag:<tag>; the id");
    Ok(head)
}

fn unquote(value: &str) -> &str {
    value.trim().trim_matches(['"', '\''])
}

fn dated(row: ForeignRow, head: &NoteHead) -> ForeignRow {
    let mut row = row.at(head.time, TimeBasis::Context);
    row.recorded_at = head.created;
    row
}

/// A line without its bullet and its context in parentheses.
fn split_context(line: &str) -> Option<(&str, Option<&str>)> {
    let line = line.trim();
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?;
    match line.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((text, context)) => Some((text.trim(), Some(context))),
        None => Some((line.trim(), None)),
    }
}

struct Observation<'a> {
    category: &'a str,
    text: &'a str,
    context: Option<&'a str>,
}

fn read_observation(line: &str) -> Option<Observation<'_>> {
    let (line, context) = split_context(line)?;
    let (category, text) = line.strip_prefix('[')?.split_once(']')?;
    // `[ ]` and `[x]` are tasks, `[text](url)` is a link.
    let is_task = matches!(category.trim(), "" | "x" | "X" | "-");
    let is_plain = !is_task && text.starts_with(' ') && !category.starts_with('[');
    is_plain.then(|| Observation { category: category.trim(), text: text.trim(), context })
}

struct Relation<'a> {
    predicate: &'a str,
    target: &'a str,
    context: Option<&'a str>,
}

fn read_relation(line: &str) -> Option<Relation<'_>> {
    let (line, context) = split_context(line)?;
    let (predicate, rest) = line.split_once("[[")?;
    let target = rest.strip_suffix("]]")?;
    let predicate = match predicate.trim() {
        "" => "relates_to",
        predicate => predicate,
    };
    // A sentence with a link in it is prose.
    let is_short = predicate.split_whitespace().count() <= 4;
    is_short.then_some(Relation { predicate, target: target.trim(), context })
}

fn push_observation(
    observation: Observation<'_>,
    head: &NoteHead,
    place: &Place,
    sink: &mut RowSink,
) {
    let Observation { category, text, context } = observation;
    sink.account.keep("observations", "texts that begin with the note's title");
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_tag(word)).collect();
    let mut row =
        dated(ForeignRow::text(place, observed_sentence(&head.title, &words.join(" "))), head);
    row.label(format!("entity:{}", head.title));
    row.label(format!("category:{category}"));
    for tag in text.split_whitespace().filter(|word| is_tag(word)) {
        row.label(format!("tag:{}", tag.trim_start_matches('#')));
    }
    row.origin = sink.origin([
        ("note", Value::from(head.title.as_str())),
        ("observation", Value::from(text)),
        ("context", context.map_or(Value::Null, Value::from)),
    ]);
    sink.push(row.with_id(format!("{}#{}", head.id, name_hash(&format!("{category}/{text}")))));
}

fn is_tag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('#')
}

fn push_relation(relation: Relation<'_>, head: &NoteHead, place: &Place, sink: &mut RowSink) {
    let Relation { predicate, target, context } = relation;
    sink.account.keep("relations", "facts, the predicate is the relation's name");
    let triple =
        ForeignTriple::new(TripleTerm::entity(&head.title), predicate, TripleTerm::entity(target));
    let mut row = dated(ForeignRow::triple(place, triple), head);
    row.origin = sink.origin([("context", context.map_or(Value::Null, Value::from))]);
    sink.push(row.with_id(format!("{}#{predicate}/{target}", head.id)));
}

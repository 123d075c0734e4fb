//! Stories with answers: what was said and recorded, questions with the right words and the outdated ones, and the
//! facts that are current and over at the end. A directory with one JSON-lines file per story.
//!
//! ```text
//! {"id":"1","said":"The oven is a Miwe.","at":"2026-03-01T08:00:00Z","speaker":"user:ada","session":"s1"}
//! {"id":"2","record":{"deal":"Acme","stage":"won"},"at":"2026-03-02T08:00:00Z","speaker":"agent:crm","source":"crm"}
//! {"question":"Which oven?","asker":"user:ada","at":"2026-03-03T08:00:00Z","kind":"current","answers":["Miwe"],"stale":[]}
//! {"current":{"subject":"Acme","value":"won","about":"stage"}}
//! ```

use std::path::Path;

use anyhow::{Context as _, anyhow};
use lamina_env::Disk;
use serde_json::Value;

use super::{bytes, digits, files, json, list, text};

/// The kind of a question that the story does not answer.
pub(crate) const UNANSWERABLE: &str = "unanswerable";
/// When the first statement of a list without dates is made.
const LIST_BEGINS: &str = "2024-01-01 00:00";
/// Seconds between two statements of such a list.
const LIST_STEP_SECONDS: i64 = 60;

/// One story.
#[derive(Debug, Clone, Default)]
pub(crate) struct Story {
    pub(crate) name: String,
    pub(crate) records: Vec<StoryRecord>,
    pub(crate) questions: Vec<StoryQuestion>,
    /// Facts that have to be listed at the end.
    pub(crate) current: Vec<FactExpectation>,
    /// Facts that must not be listed at the end.
    pub(crate) ended: Vec<FactExpectation>,
}

/// Something that was said, or the structured result of a tool.
#[derive(Debug, Clone)]
pub(crate) struct StoryRecord {
    pub(crate) speaker: String,
    pub(crate) session: Option<String>,
    pub(crate) at: String,
    pub(crate) content: StoryContent,
}

#[derive(Debug, Clone)]
pub(crate) enum StoryContent {
    Text(String),
    Record { data: Value, source: Option<String> },
}

/// A question, the words that answer it, and the outdated ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoryQuestion {
    pub(crate) text: String,
    pub(crate) asker: Option<String>,
    /// When it is asked; now, if it does not say.
    pub(crate) at: Option<String>,
    pub(crate) kind: String,
    pub(crate) answers: Vec<String>,
    pub(crate) stale: Vec<String>,
}

/// What a listed fact says.
#[derive(Debug, Clone)]
pub(crate) struct FactExpectation {
    pub(crate) subject: String,
    pub(crate) value: String,
    pub(crate) about: String,
}

/// Reads a directory of stories.
pub(crate) fn read(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<Story>> {
    let mut stories = Vec::new();
    for file in files(disk, path, ".jsonl") {
        let bytes = bytes(disk, &file)?;
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let mut story = Story { name: stem.unwrap_or_default(), ..Story::default() };
        for (number, line) in std::str::from_utf8(&bytes)?.lines().enumerate() {
            if !line.trim().is_empty() {
                let place = || format!("{}, line {}", file.display(), number + 1);
                add_line(&mut story, &serde_json::from_str(line).with_context(place)?)
                    .with_context(place)?;
            }
        }
        stories.push(story);
    }
    match stories.is_empty() {
        true => Err(anyhow!("{} has no file that ends in .jsonl", path.display())),
        false => Ok(stories),
    }
}

/// Reads FactConsolidation: lists of numbered statements of which a later one replaces an earlier one.
pub(crate) fn read_consolidation(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<Story>> {
    let mut stories = Vec::new();
    for file in files(disk, path, ".json") {
        let set = json(disk, &file)?;
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = stem.unwrap_or_default();
        let kind = if name.starts_with("mh") { "multi-hop" } else { "single-hop" };
        let mut records = Vec::new();
        for (number, fact) in list(&set, "facts")?.iter().enumerate() {
            let fact = fact.as_str().ok_or_else(|| anyhow!("a fact is not a text"))?;
            let words = fact.split_once(". ").map_or(fact, |(_, words)| words);
            if words.trim().is_empty() {
                continue;
            }
            let step = LIST_STEP_SECONDS.saturating_mul(i64::try_from(number)?);
            let at = digits(LIST_BEGINS)?.checked_add(jiff::SignedDuration::from_secs(step))?;
            records.push(StoryRecord {
                speaker: "user:source".to_owned(),
                session: None,
                at: format!("{at}Z"),
                content: StoryContent::Text(words.to_owned()),
            });
        }
        let mut questions = Vec::new();
        for asked in list(&set, "qa")? {
            questions.push(StoryQuestion {
                text: text(asked, "question")?.to_owned(),
                kind: kind.to_owned(),
                answers: texts(asked, "answers"),
                ..StoryQuestion::default()
            });
        }
        stories.push(Story { name, records, questions, ..Story::default() });
    }
    Ok(stories)
}

fn add_line(story: &mut Story, line: &Value) -> anyhow::Result<()> {
    let field = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
    let said = field("said").map(StoryContent::Text);
    let recorded = line
        .get("record")
        .map(|data| StoryContent::Record { data: data.clone(), source: field("source") });
    if let Some(content) = said.or(recorded) {
        story.records.push(StoryRecord {
            speaker: text(line, "speaker")?.to_owned(),
            session: field("session"),
            at: text(line, "at")?.to_owned(),
            content,
        });
    } else if let Some(question) = field("question") {
        story.questions.push(StoryQuestion {
            text: question,
            asker: field("asker"),
            at: field("at"),
            kind: text(line, "kind")?.to_owned(),
            answers: texts(line, "answers"),
            stale: texts(line, "stale"),
        });
    } else if let Some(fact) = line.get("current") {
        story.current.push(expectation(fact)?);
    } else if let Some(fact) = line.get("ended") {
        story.ended.push(expectation(fact)?);
    } else if let Some(name) = field("story") {
        story.name = name;
    } else {
        return Err(anyhow!("neither a record nor a question nor a fact"));
    }
    Ok(())
}

fn expectation(fact: &Value) -> anyhow::Result<FactExpectation> {
    Ok(FactExpectation {
        subject: text(fact, "subject")?.to_owned(),
        value: text(fact, "value")?.to_owned(),
        about: text(fact, "about")?.to_owned(),
    })
}

fn texts(value: &Value, field: &str) -> Vec<String> {
    let items = value.get(field).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

//! Measures answers: whether the right words come first, whether outdated ones come before them, how long packs are,
//! and which facts are listed as current.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::ask::Server;
use super::measure::mean;
use super::sets::stories::{
    FactExpectation, Story, StoryContent, StoryQuestion, StoryRecord, UNANSWERABLE,
};

/// Records of one bulk write.
const BATCH: usize = 200;
/// Facts that are listed.
const FACTS_LISTED: usize = 200;

/// The result of one question.
#[derive(Debug, Clone)]
pub(super) struct AnswerOutcome {
    pub(super) kind: String,
    question: String,
    answer: String,
    pub(super) is_right: bool,
    /// Outdated words come before the right ones.
    pub(super) is_stale_first: bool,
    /// The right words are anywhere in the answer.
    pub(super) is_anywhere: bool,
    /// The pack has no record, although the question has an answer.
    pub(super) is_empty: bool,
    /// Characters of the context block.
    pub(super) block_chars: usize,
}

/// The results of one set of stories.
#[derive(Debug, Default)]
pub(super) struct StoryReport {
    pub(super) name: String,
    pub(super) outcomes: Vec<AnswerOutcome>,
    /// Expected facts, and those of them that are listed.
    pub(super) current: (usize, usize),
    /// Facts that are over, and those of them that are listed.
    pub(super) ended: (usize, usize),
}

impl StoryReport {
    /// Tells a story to the server and asks its questions.
    pub(super) async fn add(&mut self, server: &Server, story: &Story) -> anyhow::Result<()> {
        let scope = format!("ws:eval_{}_{}", self.name, story.name);
        for (number, batch) in story.records.chunks(BATCH).enumerate() {
            let first = number * BATCH;
            let items: Vec<Value> = (first..)
                .zip(batch)
                .map(|(number, record)| envelope(&scope, number, record))
                .collect();
            let path = "/v1/experience/bulk?wait=consolidated";
            server.post(path, &json!({"items": items}), None).await?;
        }
        for question in &story.questions {
            let outcome = ask(server, &scope, question).await;
            self.outcomes.push(outcome.with_context(|| question.text.clone())?);
        }
        if !story.current.is_empty() || !story.ended.is_empty() {
            let at = story.questions.first().and_then(|question| question.at.as_deref());
            let pinned = at.map(|at| format!("&as_of_valid={at}")).unwrap_or_default();
            let path = format!("/v1/facts?scope={scope}&limit={FACTS_LISTED}{pinned}");
            let listed = server.get(&path).await?;
            let listed: Vec<&Value> =
                listed.get("items").and_then(Value::as_array).into_iter().flatten().collect();
            let count = |expected: &[FactExpectation]| {
                let is_listed = |fact: &&FactExpectation| listed.iter().any(|one| says(one, fact));
                (expected.len(), expected.iter().filter(is_listed).count())
            };
            let (current, ended) = (count(&story.current), count(&story.ended));
            self.current = (self.current.0 + current.0, self.current.1 + current.1);
            self.ended = (self.ended.0 + ended.0, self.ended.1 + ended.1);
        }
        Ok(())
    }

    /// One line per question.
    pub(super) fn lines(&self) -> String {
        let mut lines = String::new();
        for one in &self.outcomes {
            let line = json!({
                "set": self.name, "kind": one.kind, "question": one.question, "answer": one.answer,
                "right": one.is_right, "stale_first": one.is_stale_first, "anywhere": one.is_anywhere,
                "empty": one.is_empty, "block_chars": one.block_chars,
            });
            let _ = writeln!(lines, "{line}");
        }
        lines
    }

    /// A table with a row for each kind of question.
    pub(super) fn table(&self) -> String {
        let mut text = format!("{}: {} questions\n", self.name, self.outcomes.len());
        let _ = writeln!(
            text,
            "  {:<16}{:>5} {:>7} {:>9} {:>12} {:>7} {:>12}",
            "kind", "n", "right", "anywhere", "stale first", "empty", "block chars"
        );
        let kinds: BTreeSet<&str> = self.outcomes.iter().map(|one| one.kind.as_str()).collect();
        let mut rows: BTreeMap<&str, Vec<&AnswerOutcome>> = BTreeMap::new();
        for kind in kinds {
            let of = self.outcomes.iter().filter(|one| one.kind == kind);
            rows.insert(kind, of.collect());
        }
        for (kind, outcomes) in &rows {
            row(&mut text, kind, outcomes);
        }
        row(&mut text, "all", &self.outcomes.iter().collect::<Vec<_>>());
        for (what, (of, hits)) in
            [("current facts listed", self.current), ("ended facts listed", self.ended)]
        {
            if of > 0 {
                let _ = writeln!(text, "  {what:<30}{hits:>5} of {of}");
            }
        }
        text
    }
}

fn row(text: &mut String, name: &str, outcomes: &[&AnswerOutcome]) {
    let count =
        |is: fn(&AnswerOutcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let _ = writeln!(
        text,
        "  {name:<16}{:>5} {:>7} {:>9} {:>12} {:>7} {:>12.0}",
        outcomes.len(),
        count(|one| one.is_right),
        count(|one| one.is_anywhere),
        count(|one| one.is_stale_first),
        count(|one| one.is_empty),
        mean(outcomes.iter().map(|one| one.block_chars as f64)),
    );
}

async fn ask(
    server: &Server,
    scope: &str,
    question: &StoryQuestion,
) -> anyhow::Result<AnswerOutcome> {
    let mut recall = json!({"scope": scope, "query": question.text});
    let mut answer = json!({"scope": scope, "question": question.text});
    if let (Some(at), Some(recall), Some(answer)) =
        (&question.at, recall.as_object_mut(), answer.as_object_mut())
    {
        recall.insert("temporal".to_owned(), json!({"as_of_valid": at}));
        answer.insert("temporal".to_owned(), json!({"as_of_valid": at}));
        answer.insert("question_date".to_owned(), json!(at));
    }
    let asker = question.asker.as_deref();
    let pack = server.post("/v1/recall", &recall, asker).await?;
    let answered = server.post("/v1/answer", &answer, asker).await?;
    let said = answered.get("answer").and_then(Value::as_str).unwrap_or_default();
    let is_answered = answered.get("answered").and_then(Value::as_bool).unwrap_or_default();
    let block = pack.get("context_block").and_then(Value::as_str).unwrap_or_default();
    let layers = pack.get("layers").and_then(Value::as_object).into_iter().flatten();
    let records: usize = layers.map(|(_, records)| records.as_array().map_or(0, Vec::len)).sum();
    let is_unanswerable = question.kind == UNANSWERABLE;
    let judged = judge(said, question);
    Ok(AnswerOutcome {
        kind: question.kind.clone(),
        question: question.text.clone(),
        answer: said.to_owned(),
        is_right: if is_unanswerable { !is_answered } else { is_answered && judged.is_right },
        is_stale_first: is_answered && judged.is_stale_first,
        is_anywhere: judged.is_anywhere,
        is_empty: !is_unanswerable && records == 0,
        block_chars: block.chars().count(),
    })
}

/// What an answer says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JudgedAnswer {
    is_right: bool,
    is_stale_first: bool,
    is_anywhere: bool,
}

/// Judges an answer by its first line, which holds its first sentence.
pub(super) fn judge(answer: &str, question: &StoryQuestion) -> JudgedAnswer {
    let first = answer.lines().next().unwrap_or_default();
    let place = |words: &[String]| words.iter().filter_map(|word| find(first, word)).min();
    let (right, stale) = (place(&question.answers), place(&question.stale));
    let is_stale_first = stale.is_some_and(|stale| right.is_none_or(|right| stale < right));
    JudgedAnswer {
        is_right: right.is_some() && !is_stale_first,
        is_stale_first,
        is_anywhere: question.answers.iter().any(|word| find(answer, word).is_some()),
    }
}

/// Where words stand in an answer. `YES` in capitals stands for a yes at the beginning.
fn find(answer: &str, word: &str) -> Option<usize> {
    match word {
        "YES" => answer.trim_start_matches("On ").starts_with("Yes").then_some(0),
        word => answer.find(word),
    }
}

/// Whether a listed fact says what is expected: its value, and a word of its subject or of what it is about.
fn says(listed: &Value, expected: &FactExpectation) -> bool {
    let at = |path: &str| listed.pointer(path).map(printed).unwrap_or_default();
    let value = format!("{} {}", at("/object/value"), at("/object/name"));
    let fold = |text: &str| text.to_lowercase().replace([',', '_'], "");
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let wanted = fold(&expected.value);
    let value = fold(&value);
    let is_value = match digits(&wanted) {
        true => value.split_whitespace().any(|word| word == wanted),
        false => value.contains(&wanted),
    };
    let words = |text: &str| -> BTreeSet<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric());
        parts.filter(|part| part.len() > 2).map(str::to_lowercase).collect()
    };
    let known = words(&format!("{} {}", at("/subject/name"), at("/predicate")));
    let about = words(&format!("{} {}", expected.subject, expected.about));
    is_value && !known.is_disjoint(&about)
}

fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn envelope(scope: &str, number: usize, record: &StoryRecord) -> Value {
    let mut actor = json!({"id": record.speaker});
    if let (Some(session), Some(actor)) = (&record.session, actor.as_object_mut()) {
        actor.insert("session".to_owned(), json!(session));
    }
    let mut context = json!({"observed_at": record.at});
    let (modality, content) = match &record.content {
        StoryContent::Text(said) => {
            ("conversation", json!({"kind": "message", "role": "user", "text": said}))
        }
        StoryContent::Record { data, source } => {
            if let (Some(source), Some(context)) = (source, context.as_object_mut()) {
                context.insert("labels".to_owned(), json!([format!("source:{source}")]));
            }
            ("tool_result", json!({"kind": "json", "data": data}))
        }
    };
    json!({
        "scope": scope,
        "modality": modality,
        "observed_actor": actor,
        "subject": {"id": record.speaker},
        "content": content,
        "context": context,
        "idempotency_key": format!("eval:{scope}:{number}"),
    })
}

#[cfg(test)]
mod tests;

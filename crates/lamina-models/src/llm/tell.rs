//! A model that is asked for words: an answer, or a document, from records that it is shown.

use lamina_outbound::{Answer, Request};
use serde_json::{Value, json};

use super::Fault;
use super::call::{Llm, Spent, Trouble, refused, unanswered};
use super::wire::{Provider, Wire};

const INSTRUCTIONS: &str = include_str!("../../prompts/answer-1.md");

/// One record, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What the answer calls it.
    pub marker: String,
    /// The day it is from.
    pub day: String,
    /// What it is: a tag of a closed set.
    pub kind: &'static str,
    /// Who said it, and through whom it was written if that is somebody else.
    pub who: String,
    /// The words.
    pub text: String,
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The question, or what a document is to be about.
    pub task: String,
    /// How it should be written.
    pub wishes: Option<String>,
    /// What may be used.
    pub records: Vec<Shown>,
    /// Tokens of what is written, at most.
    pub tokens_max: u32,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// What was written.
    pub said: Result<String, Trouble>,
    /// What it took.
    pub spent: Spent,
}

impl Llm {
    /// The name of the model, as the configuration has it.
    pub fn model(&self) -> &str {
        &self.wire().model
    }

    /// Tokens that an answer of it may have.
    pub fn output_tokens_max(&self) -> u32 {
        self.wire().output_tokens_max
    }

    /// Asks for words.
    pub async fn tell(&self, task: &Task) -> Words {
        let trouble = |fault: Fault, spent: Spent| Words {
            said: Err(Trouble { fault, retry_after_s: None }),
            spent,
        };
        let request = Request::post_json(self.endpoint().clone(), body(self.wire(), task));
        let Some(request) = self.with_headers(request) else {
            return trouble(Fault::Rejected, Spent::Nothing);
        };
        match self.client().send(request).await {
            Ok(answer) => heard(self.wire(), &answer),
            Err(error) => {
                let (fault, spent) = unanswered(&error);
                trouble(fault, spent)
            }
        }
    }
}

fn heard(wire: &Wire, answer: &Answer) -> Words {
    if let Some((trouble, spent)) = refused(answer) {
        return Words { said: Err(trouble), spent };
    }
    let none = |fault: Fault| Err(Trouble { fault, retry_after_s: None });
    let Ok(value) = serde_json::from_slice::<Value>(&answer.body) else {
        return Words { said: none(Fault::NotJson), spent: Spent::Unknown };
    };
    let spent = wire.usage(&value).map_or(Spent::Unknown, Spent::Tokens);
    let said = match text(wire.provider, &value) {
        Some(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        _ => none(Fault::Empty),
    };
    Words { said, spent }
}

/// The body of a question for words.
fn body(wire: &Wire, task: &Task) -> Vec<u8> {
    let records: Vec<Value> = task
        .records
        .iter()
        .map(|shown| {
            let Shown { marker, day, kind, who, text } = shown;
            let text = super::shown(text);
            json!({ "marker": marker, "day": day, "kind": kind, "who": who, "text": text })
        })
        .collect();
    let shown = json!({ "task": task.task, "wishes": task.wishes, "records": records }).to_string();
    let (model, limit) = (wire.model.as_str(), task.tokens_max);
    let chat = json!([
        { "role": "system", "content": INSTRUCTIONS },
        { "role": "user", "content": shown },
    ]);
    let body = match wire.provider {
        Provider::OpenAi => {
            let limit_name = if wire.newer_limit { "max_completion_tokens" } else { "max_tokens" };
            json!({ "model": model, "messages": chat, limit_name: limit })
        }
        Provider::Anthropic => json!({
            "model": model,
            "max_tokens": limit,
            "system": INSTRUCTIONS,
            "messages": [{ "role": "user", "content": shown }],
        }),
        Provider::Ollama => json!({
            "model": model,
            "messages": chat,
            "stream": false,
            "options": { "num_predict": limit, "temperature": 0 },
        }),
    };
    body.to_string().into_bytes()
}

/// Where in an answer the words stand. One that was cut short is still an answer.
fn text(provider: Provider, value: &Value) -> Option<&str> {
    match provider {
        Provider::OpenAi => value.pointer("/choices/0/message/content")?.as_str(),
        Provider::Ollama => value.pointer("/message/content")?.as_str(),
        Provider::Anthropic => value
            .get("content")?
            .as_array()?
            .iter()
            .find(|block| block.get("type").and_then(Value::as_str) == Some("text"))?
            .get("text")?
            .as_str(),
    }
}

#[cfg(test)]
mod tests;

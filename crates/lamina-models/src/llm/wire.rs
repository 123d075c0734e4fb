//! The three protocols: how a question is written, and where in the answer the output stands.

use serde_json::{Value, json};

use super::Fault;
use super::prompt::{Item, document, instructions, schema};

/// What the tool is called that Anthropic's models are made to use.
const TOOL: &str = "record_claims";

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Chat completions, as OpenAI made them and many others speak them.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// A local Ollama.
    Ollama,
}

impl Provider {
    /// All of them.
    pub const ALL: &'static [Provider] = &[Provider::OpenAi, Provider::Anthropic, Provider::Ollama];

    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Ollama => "ollama",
        }
    }

    /// Where it is, unless the configuration says otherwise.
    pub fn base_url(self) -> &'static str {
        match self {
            Provider::OpenAi => "https://api.openai.com/v1",
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::Ollama => "http://127.0.0.1:11434",
        }
    }

    /// Whether it answers to nobody without a key.
    pub fn needs_key(self) -> bool {
        matches!(self, Provider::Anthropic)
    }

    /// What follows the base URL.
    pub(super) fn path(self) -> &'static str {
        match self {
            Provider::OpenAi => "/chat/completions",
            Provider::Anthropic => "/v1/messages",
            Provider::Ollama => "/api/chat",
        }
    }

    /// Headers of a question, with the key in the one it belongs in.
    pub(super) fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        match (self, key) {
            (Provider::Anthropic, key) => {
                headers.push(("anthropic-version", "2023-06-01".to_owned()));
                headers.extend(key.map(|key| ("x-api-key", key.to_owned())));
            }
            (_, Some(key)) => headers.push(("authorization", format!("Bearer {key}"))),
            (_, None) => {}
        }
        headers
    }
}

/// Tokens, as the provider counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Of the question.
    pub input: u64,
    /// Of the answer.
    pub output: u64,
}

/// How a model is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    /// The protocol.
    pub provider: Provider,
    /// The model.
    pub model: String,
    /// Tokens that an answer may have.
    pub output_tokens_max: u32,
    /// OpenAI's own servers have given the limit of tokens another name; the older name is the one that
    /// everybody else understands.
    pub newer_limit: bool,
}

/// What an answer holds, before anybody believes it.
#[derive(Debug)]
pub(super) struct Reply {
    /// The output.
    pub(super) output: Result<Value, Fault>,
    /// What it says that it took.
    pub(super) usage: Option<Usage>,
}

impl Wire {
    /// The body of a question.
    pub(super) fn body(&self, items: &[Item]) -> Vec<u8> {
        let (model, limit) = (self.model.as_str(), self.output_tokens_max);
        let (told, shown) = (instructions(), document(items));
        let chat = json!([
            { "role": "system", "content": told },
            { "role": "user", "content": shown },
        ]);
        let body = match self.provider {
            Provider::OpenAi => {
                let limit_name =
                    if self.newer_limit { "max_completion_tokens" } else { "max_tokens" };
                json!({
                    "model": model,
                    "messages": chat,
                    limit_name: limit,
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": { "name": TOOL, "strict": true, "schema": schema() },
                    },
                })
            }
            Provider::Anthropic => json!({
                "model": model,
                "max_tokens": limit,
                "system": told,
                "messages": [{ "role": "user", "content": shown }],
                "tools": [{
                    "name": TOOL,
                    "description": "Notes the claims of each event.",
                    "input_schema": schema(),
                }],
                "tool_choice": { "type": "tool", "name": TOOL },
            }),
            Provider::Ollama => json!({
                "model": model,
                "messages": chat,
                "stream": false,
                "format": schema(),
                "options": { "num_predict": limit, "temperature": 0 },
            }),
        };
        body.to_string().into_bytes()
    }

    /// Reads the body of an answer.
    pub(super) fn read(&self, body: &[u8]) -> Reply {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            return Reply { output: Err(Fault::NotJson), usage: None };
        };
        let usage = self.usage(&value);
        let errs = value.get("error").is_some_and(|error| !error.is_null())
            || value.get("type").and_then(Value::as_str) == Some("error");
        let output = if errs {
            Err(Fault::ErrorBody)
        } else {
            match self.provider {
                Provider::OpenAi => openai(&value),
                Provider::Anthropic => anthropic(&value),
                Provider::Ollama => ollama(&value),
            }
        };
        Reply { output, usage }
    }

    pub(super) fn usage(&self, value: &Value) -> Option<Usage> {
        let number = |pointer: &str| value.pointer(pointer).and_then(Value::as_u64);
        match self.provider {
            Provider::OpenAi => Some(Usage {
                input: number("/usage/prompt_tokens")?,
                output: number("/usage/completion_tokens")?,
            }),
            Provider::Anthropic => {
                let cached = |name: &str| number(&format!("/usage/{name}")).unwrap_or(0);
                let input = number("/usage/input_tokens")?
                    .saturating_add(cached("cache_creation_input_tokens"))
                    .saturating_add(cached("cache_read_input_tokens"));
                Some(Usage { input, output: number("/usage/output_tokens")? })
            }
            // A prompt that it still has in its memory is not counted again.
            Provider::Ollama => Some(Usage {
                input: number("/prompt_eval_count").unwrap_or(0),
                output: number("/eval_count")?,
            }),
        }
    }
}

fn openai(value: &Value) -> Result<Value, Fault> {
    let choice = value.pointer("/choices/0").ok_or(Fault::Empty)?;
    let text = |pointer: &str| choice.pointer(pointer).and_then(Value::as_str);
    if text("/message/refusal").is_some_and(|refusal| !refusal.is_empty()) {
        return Err(Fault::Refusal);
    }
    match text("/finish_reason") {
        Some("length") => return Err(Fault::Truncated),
        Some("content_filter") => return Err(Fault::Refusal),
        _ => {}
    }
    inner(text("/message/content").ok_or(Fault::Empty)?)
}

fn anthropic(value: &Value) -> Result<Value, Fault> {
    match value.get("stop_reason").and_then(Value::as_str) {
        Some("max_tokens" | "model_context_window_exceeded") => return Err(Fault::Truncated),
        Some("refusal") => return Err(Fault::Refusal),
        _ => {}
    }
    let blocks = value.get("content").and_then(Value::as_array).ok_or(Fault::Empty)?;
    let used = blocks.iter().find(|block| {
        block.get("type").and_then(Value::as_str) == Some("tool_use")
            && block.get("name").and_then(Value::as_str) == Some(TOOL)
    });
    match used.and_then(|block| block.get("input")) {
        Some(input) => Ok(input.clone()),
        // It talks instead of doing what it was made to do.
        None if blocks.is_empty() => Err(Fault::Empty),
        None => Err(Fault::Refusal),
    }
}

fn ollama(value: &Value) -> Result<Value, Fault> {
    if value.get("done_reason").and_then(Value::as_str) == Some("length") {
        return Err(Fault::Truncated);
    }
    inner(value.pointer("/message/content").and_then(Value::as_str).ok_or(Fault::Empty)?)
}

/// JSON within JSON: the model's own words.
fn inner(text: &str) -> Result<Value, Fault> {
    if text.trim().is_empty() {
        return Err(Fault::Empty);
    }
    serde_json::from_str(text).map_err(|_| Fault::NotJson)
}

//! The two protocols: how texts are sent, and where in the answer their vectors stand.

use serde_json::{Value, json};

use super::DIMS_MAX;
use crate::llm::Fault;

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedProvider {
    /// Embeddings, as OpenAI made them and many others speak them.
    OpenAi,
    /// A local Ollama.
    Ollama,
}

impl EmbedProvider {
    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            EmbedProvider::OpenAi => "openai",
            EmbedProvider::Ollama => "ollama",
        }
    }

    /// Where it is, unless the configuration says otherwise.
    pub fn base_url(self) -> &'static str {
        match self {
            EmbedProvider::OpenAi => "https://api.openai.com/v1",
            EmbedProvider::Ollama => "http://127.0.0.1:11434",
        }
    }

    fn path(self) -> &'static str {
        match self {
            EmbedProvider::OpenAi => "/embeddings",
            EmbedProvider::Ollama => "/api/embed",
        }
    }
}

/// How an embedding model is spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedWire {
    /// The protocol.
    pub provider: EmbedProvider,
    /// The model, as the provider knows it.
    pub model: String,
    /// Numbers that a vector is to have, if the model can be told.
    pub dimensions: Option<u16>,
    /// What stands before every text that is stored; some models want to be told.
    pub text_prefix: String,
    /// What stands before every question.
    pub question_prefix: String,
}

impl EmbedWire {
    /// The address to call, under a base URL.
    pub fn url(&self, base: &str) -> String {
        format!("{}{}", base.trim_end_matches('/'), self.provider.path())
    }

    /// What its vectors are known by: everything that changes those of stored texts.
    pub fn name(&self) -> String {
        let mut name = format!("{}:{}", self.provider.as_str(), self.model);
        if let Some(dimensions) = self.dimensions {
            name.push_str(&format!("@{dimensions}"));
        }
        if !self.text_prefix.is_empty() {
            name.push_str(&format!("+{:?}", self.text_prefix));
        }
        name
    }

    /// The model whose vectors are known by this name, if only the model differs.
    pub fn former(&self, name: &str) -> Option<EmbedWire> {
        let rest = name.strip_prefix(self.provider.as_str())?.strip_prefix(':')?;
        let (rest, text_prefix) = match rest.split_once("+\"") {
            None => (rest, String::new()),
            Some((rest, quoted)) => {
                let prefix: String = serde_json::from_str(&format!("\"{quoted}")).ok()?;
                (rest, prefix)
            }
        };
        let (model, dimensions) = match rest.rsplit_once('@') {
            Some((model, dimensions)) => (model, Some(dimensions.parse().ok()?)),
            None => (rest, None),
        };
        let former = EmbedWire {
            provider: self.provider,
            model: model.to_owned(),
            dimensions,
            text_prefix,
            question_prefix: self.question_prefix.clone(),
        };
        (former.name() == name).then_some(former)
    }

    /// The body of a question.
    pub(super) fn body(&self, texts: &[String]) -> Vec<u8> {
        let mut body = json!({ "model": self.model, "input": texts });
        if let (Some(dimensions), Some(fields)) = (self.dimensions, body.as_object_mut()) {
            fields.insert("dimensions".to_owned(), dimensions.into());
        }
        body.to_string().into_bytes()
    }

    /// Reads the body of an answer: a vector for each of so many texts.
    pub(super) fn read(&self, body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, Fault> {
        let value: Value = serde_json::from_slice(body).map_err(|_| Fault::NotJson)?;
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::ErrorBody);
        }
        let vectors = match self.provider {
            EmbedProvider::OpenAi => openai(&value, texts)?,
            EmbedProvider::Ollama => {
                let all = value.get("embeddings").and_then(Value::as_array);
                all.ok_or(Fault::Empty)?.iter().map(numbers).collect::<Result<_, _>>()?
            }
        };
        let length = vectors.first().map_or(0, Vec::len);
        let wanted = self.dimensions.is_none_or(|wanted| usize::from(wanted) == length);
        let alike = vectors.iter().all(|vector| vector.len() == length);
        if vectors.len() != texts || !alike || !wanted || length == 0 || length > DIMS_MAX {
            return Err(Fault::WrongShape);
        }
        Ok(vectors)
    }
}

/// Each has its number; they may come in any order.
fn openai(value: &Value, texts: usize) -> Result<Vec<Vec<f32>>, Fault> {
    let data = value.get("data").and_then(Value::as_array).ok_or(Fault::Empty)?;
    let mut vectors = vec![None; texts];
    for (at, one) in data.iter().enumerate() {
        let index = match one.get("index") {
            None => at,
            Some(index) => {
                index.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or(Fault::WrongShape)?
            }
        };
        let place = vectors.get_mut(index).filter(|place| place.is_none());
        let embedding = one.get("embedding").ok_or(Fault::WrongShape)?;
        *place.ok_or(Fault::WrongShape)? = Some(numbers(embedding)?);
    }
    vectors.into_iter().collect::<Option<_>>().ok_or(Fault::Missing)
}

fn numbers(value: &Value) -> Result<Vec<f32>, Fault> {
    let values = value.as_array().ok_or(Fault::WrongShape)?;
    let number = |value: &Value| {
        // Not a number as JSON, or too large for one of ours.
        let number = value.as_f64().map(|number| number as f32);
        number.filter(|number| number.is_finite()).ok_or(Fault::WrongShape)
    };
    values.iter().map(number).collect()
}

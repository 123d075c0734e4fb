//! What the small files of a directory say.

use serde_json::Value;

use super::{ModelError, ReadFile, file};

/// Tokens of a text at most, unless the directory says otherwise.
const TOKENS_MAX: usize = 512;
/// Nothing that can be run here is larger.
const SIZE_MAX: u64 = 1 << 16;

/// How a text's vector is made of its tokens' outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Their mean.
    Mean,
    /// That of the first.
    First,
}

/// What is between two matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    Gelu,
    GeluTanh,
    Relu,
}

#[derive(Debug)]
pub(super) struct Config {
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) epsilon: f32,
    pub(super) activation: Activation,
    pub(super) tokens_max: usize,
    pub(super) pooling: Pooling,
    pub(super) lower_case: bool,
    pub(super) text_prompt: String,
    pub(super) question_prompt: String,
}

impl Config {
    pub(super) fn read(read: ReadFile<'_>) -> Result<Config, ModelError> {
        const NAME: &str = "config.json";
        let config = json(read, NAME)?.ok_or(ModelError::Missing(NAME))?;
        let text = |name: &str| config.get(name).and_then(Value::as_str);
        if text("model_type") != Some("bert") {
            let kind = text("model_type").unwrap_or("unknown").chars().take(40).collect::<String>();
            return Err(ModelError::bad(
                NAME,
                format!(
                    "says that the model is of the type `{kind}`; those of the type `bert` can be run"
                ),
            ));
        }
        if text("position_embedding_type").is_some_and(|kind| kind != "absolute") {
            return Err(ModelError::bad(NAME, "asks for positions that are not absolute"));
        }
        let activation = match text("hidden_act").unwrap_or("gelu") {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            _ => return Err(ModelError::bad(NAME, "has a `hidden_act` that is not known")),
        };
        let size = |name: &'static str| {
            let size = config.get(name).and_then(Value::as_u64);
            let size = size.filter(|size| (1..=SIZE_MAX).contains(size));
            let size = size.and_then(|size| usize::try_from(size).ok());
            size.ok_or_else(|| ModelError::bad(NAME, format!("has no `{name}` that can be used")))
        };
        let (hidden, heads) = (size("hidden_size")?, size("num_attention_heads")?);
        if !hidden.is_multiple_of(heads) || hidden > super::super::DIMS_MAX {
            return Err(ModelError::bad(NAME, "has a `hidden_size` that cannot be used"));
        }
        let epsilon = config.get("layer_norm_eps").and_then(Value::as_f64).unwrap_or(1e-12) as f32;
        let (text_prompt, question_prompt) = prompts(read)?;
        Ok(Config {
            hidden,
            heads,
            layers: size("num_hidden_layers")?,
            epsilon,
            activation,
            tokens_max: tokens_max(read)?.min(size("max_position_embeddings")?),
            pooling: pooling(read)?,
            lower_case: lower_case(read)?,
            text_prompt,
            question_prompt,
        })
    }

    /// What of it changes vectors and is not in the weights.
    pub(super) fn told(&self) -> String {
        let Config { tokens_max, pooling, lower_case, text_prompt, heads, activation, .. } = self;
        format!("{tokens_max} {pooling:?} {lower_case} {heads} {activation:?} {text_prompt}")
    }
}

fn json(read: ReadFile<'_>, name: &'static str) -> Result<Option<Value>, ModelError> {
    let Some(bytes) = file(read, name)? else { return Ok(None) };
    let value = serde_json::from_slice(&bytes);
    value.map(Some).map_err(|_| ModelError::bad(name, "is not JSON"))
}

fn tokens_max(read: ReadFile<'_>) -> Result<usize, ModelError> {
    let value = json(read, "sentence_bert_config.json")?;
    let length = value.as_ref().and_then(|value| value.get("max_seq_length")?.as_u64());
    let length = length.and_then(|length| usize::try_from(length).ok());
    Ok(length.unwrap_or(TOKENS_MAX).max(2))
}

/// A module that this cannot do would be left out silently: it is refused.
fn pooling(read: ReadFile<'_>) -> Result<Pooling, ModelError> {
    const MODULES: &str = "modules.json";
    if let Some(modules) = json(read, MODULES)? {
        let kinds =
            modules.as_array().into_iter().flatten().filter_map(|one| one.get("type")?.as_str());
        let known = ["Transformer", "Pooling", "Normalize"];
        let strange = |kind: &&str| !known.contains(&kind.rsplit('.').next().unwrap_or(kind));
        if let Some(kind) = kinds.into_iter().find(strange) {
            let kind: String = kind.chars().take(80).collect();
            return Err(ModelError::bad(
                MODULES,
                format!("names a module that is not known: `{kind}`"),
            ));
        }
    }
    const NAME: &str = "1_Pooling/config.json";
    let Some(value) = json(read, NAME)? else { return Ok(Pooling::Mean) };
    let on = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    match (on("pooling_mode_mean_tokens"), on("pooling_mode_cls_token")) {
        (true, false) => Ok(Pooling::Mean),
        (false, true) => Ok(Pooling::First),
        _ => Err(ModelError::bad(NAME, "asks for a way of pooling that is not known")),
    }
}

fn lower_case(read: ReadFile<'_>) -> Result<bool, ModelError> {
    let value = json(read, "tokenizer_config.json")?;
    let said = value.as_ref().and_then(|value| value.get("do_lower_case")?.as_bool());
    Ok(said.unwrap_or(true))
}

/// What stands before texts and before questions.
fn prompts(read: ReadFile<'_>) -> Result<(String, String), ModelError> {
    let value = json(read, "config_sentence_transformers.json")?.unwrap_or_default();
    let prompt = |names: &[&str]| {
        let all = names.iter().filter_map(|name| value.get("prompts")?.get(name)?.as_str());
        all.into_iter().next().unwrap_or_default().to_owned()
    };
    Ok((prompt(&["document", "passage"]), prompt(&["query"])))
}

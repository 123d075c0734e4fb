//! How an embedding model is set up, and how a mistake is reported without repeating a secret.

use expect_test::{Expect, expect};
use lamina_env::RealDisk;

use super::super::{Config, Environment, Flags};
use super::*;

const KEY: &str = "sk-very-secret";

fn load(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let mut all = vec![("HOME", "/nowhere"), ("EMBED_KEY", KEY)];
    all.extend_from_slice(pairs);
    Config::load(&Flags::default(), &Environment::of(&all), &RealDisk)
}

fn check(pairs: &[(&str, &str)], expected: Expect) {
    let found = match load(pairs) {
        Ok(config) => {
            let shown = config.shown().iter().filter(|row| row.key.starts_with("models.embed."));
            let lines = shown.map(|row| format!("{} = {}\n", row.key, row.value));
            lines.collect::<String>() + &format!("{:?}\n", config.embed)
        }
        Err(error) => format!("{}\n", crate::http::failure::chain(&error)),
    };
    assert!(!found.contains(KEY), "{found}");
    expected.assert_eq(&found);
}

const OPENAI: [(&str, &str); 3] = [
    ("LAMINA_MODELS_EMBED_PROVIDER", "openai"),
    ("LAMINA_MODELS_EMBED_MODEL", "text-embedding-3-small"),
    ("LAMINA_MODELS_EMBED_KEY_VARIABLE", "EMBED_KEY"),
];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    OPENAI.iter().chain(more).copied().collect()
}

/// Nothing is called unless somebody says so: not with the defaults, and not because a model that
/// extracts is configured.
#[test]
fn off_unless_a_provider_is_named() {
    let config = load(&[]).unwrap();
    assert!(config.embed.is_none() && config.models.is_none() && config.auth.remote.is_empty());
    let extracts = [("LAMINA_MODELS_PROVIDER", "ollama"), ("LAMINA_MODELS_MODEL", "llama3.1")];
    assert!(load(&extracts).unwrap().embed.is_none());
}

#[test]
fn a_whole_setup_shows_everything_but_the_key() {
    check(
        &with(&[("LAMINA_MODELS_EMBED_DIMENSIONS", "512")]),
        expect![[r#"
        models.embed.provider = openai
        models.embed.model = text-embedding-3-small
        models.embed.directory = none
        models.embed.base_url = https://api.openai.com/v1
        models.embed.key_file = none
        models.embed.key_variable = EMBED_KEY
        models.embed.dimensions = 512
        models.embed.text_prefix = none
        models.embed.question_prefix = none
        models.embed.timeout_ms = 30000
        models.embed.question_timeout_ms = 1000
        models.embed.batch_texts = 32
        models.embed.pause_ms = 1000
        models.embed.cache_texts = 10000
        Some(EmbedConfig { source: Remote { wire: EmbedWire { provider: OpenAi, model: "text-embedding-3-small", dimensions: Some(512), text_prefix: "", question_prefix: "" }, endpoint: Endpoint(https://api.openai.com/v1/embeddings), key: Held, timeout_ms: 30000, question_timeout_ms: 1000 }, batch_texts: 32, pause_ms: 1000, cache_texts: 10000 })
    "#]],
    );
    check(
        &[
            ("LAMINA_MODELS_EMBED_PROVIDER", "ollama"),
            ("LAMINA_MODELS_EMBED_MODEL", "nomic-embed-text"),
            ("LAMINA_MODELS_EMBED_TEXT_PREFIX", "search_document:"),
            ("LAMINA_MODELS_EMBED_QUESTION_PREFIX", "search_query:"),
        ],
        expect![[r#"
            models.embed.provider = ollama
            models.embed.model = nomic-embed-text
            models.embed.directory = none
            models.embed.base_url = http://127.0.0.1:11434
            models.embed.key_file = none
            models.embed.key_variable = none
            models.embed.dimensions = none
            models.embed.text_prefix = search_document:
            models.embed.question_prefix = search_query:
            models.embed.timeout_ms = 30000
            models.embed.question_timeout_ms = 1000
            models.embed.batch_texts = 32
            models.embed.pause_ms = 1000
            models.embed.cache_texts = 10000
            Some(EmbedConfig { source: Remote { wire: EmbedWire { provider: Ollama, model: "nomic-embed-text", dimensions: None, text_prefix: "search_document:", question_prefix: "search_query:" }, endpoint: Endpoint(http://127.0.0.1:11434/api/embed), key: None, timeout_ms: 30000, question_timeout_ms: 1000 }, batch_texts: 32, pause_ms: 1000, cache_texts: 10000 })
        "#]],
    );
}

#[test]
fn mistakes_are_named() {
    check(
        &[("LAMINA_MODELS_EMBED_PROVIDER", "cohere")],
        expect![[r#"
        `models.embed.provider` cannot be `cohere` (environment LAMINA_MODELS_EMBED_PROVIDER): expected none, openai, ollama or local
    "#]],
    );
    check(
        &[("LAMINA_MODELS_EMBED_PROVIDER", "openai")],
        expect![[r#"
        `models.embed.provider` is set and `models.embed.model` is not; they go together
    "#]],
    );
    check(
        &[("LAMINA_MODELS_EMBED_MODEL", "m")],
        expect![[r#"
        `models.embed.model` is set and `models.embed.provider` is not; they go together
    "#]],
    );
    check(
        &[("LAMINA_MODELS_EMBED_DIRECTORY", "/models/minilm")],
        expect![[r#"
        `models.embed.directory` is set and `models.embed.provider` is not; they go together
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_EMBED_DIMENSIONS", "4097")]),
        expect![[r#"
        `models.embed.dimensions` cannot be `4097` (environment LAMINA_MODELS_EMBED_DIMENSIONS): expected a number from 1 to 4096
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_EMBED_BATCH_TEXTS", "0")]),
        expect![[r#"
        `models.embed.batch_texts` cannot be `0` (environment LAMINA_MODELS_EMBED_BATCH_TEXTS): expected a number from 1 to 256
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_EMBED_BASE_URL", "http://example.com/v1")]),
        expect![[r#"
        `models.embed.base_url` cannot be used: the address is in the clear and leads to another machine; use https://, or allow plain HTTP
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_EMBED_KEY_VARIABLE", KEY)]),
        expect![[r#"
        `models.embed.key_variable` cannot be used: it is the name of a variable of the environment that holds the key, never the key
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_EMBED_KEY_FILE", "/k")]),
        expect![[r#"
        `models.embed.key_file` and `models.embed.key_variable` are both set; leave one of them out
    "#]],
    );
}

#[cfg(not(feature = "local-embedder"))]
#[test]
fn a_lean_build_says_what_it_lacks() {
    check(
        &[("LAMINA_MODELS_EMBED_PROVIDER", "local")],
        expect![[r#"
        `models.embed.provider` cannot be `local` (environment LAMINA_MODELS_EMBED_PROVIDER): this program was built without the feature `local-embedder`
    "#]],
    );
}

#[cfg(feature = "local-embedder")]
#[test]
fn a_local_model_has_a_directory() {
    check(
        &[("LAMINA_MODELS_EMBED_PROVIDER", "local")],
        expect![[r#"
        `models.embed.provider` is set and `models.embed.directory` is not; they go together
    "#]],
    );
}

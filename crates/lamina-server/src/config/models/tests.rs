//! How a language model is set up, and how a mistake is reported without repeating a secret.

use expect_test::{Expect, expect};
use lamina_env::RealDisk;

use super::super::{Config, Environment, Flags};
use super::*;

const KEY: &str = "sk-very-secret";

fn load(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let mut all = vec![("HOME", "/nowhere"), ("OPENAI_API_KEY", KEY)];
    all.extend_from_slice(pairs);
    let environment = Environment::of(&all);
    Config::load(&Flags::default(), &environment, &RealDisk)
}

fn check(pairs: &[(&str, &str)], expected: Expect) {
    let found = match load(pairs) {
        Ok(config) => {
            let shown = config.shown().iter().filter(|row| row.key.starts_with("models."));
            let lines = shown.map(|row| format!("{} = {}\n", row.key, row.value));
            lines.collect::<String>() + &format!("{:?}\n", config.models)
        }
        Err(error) => format!("{}\n", crate::http::failure::chain(&error)),
    };
    assert!(!found.contains(KEY), "{found}");
    expected.assert_eq(&found);
}

const OPENAI: [(&str, &str); 3] = [
    ("LAMINA_MODELS_PROVIDER", "openai"),
    ("LAMINA_MODELS_MODEL", "gpt-4o-mini"),
    ("LAMINA_MODELS_KEY_VARIABLE", "OPENAI_API_KEY"),
];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    OPENAI.iter().chain(more).copied().collect()
}

#[test]
fn off_unless_a_provider_is_named() {
    assert!(load(&[]).unwrap().models.is_none());
}

#[test]
fn a_whole_setup_shows_everything_but_the_key() {
    check(
        &with(&[
            ("LAMINA_MODELS_PRICE_INPUT", "0.15"),
            ("LAMINA_MODELS_PRICE_OUTPUT", "0.6"),
            ("LAMINA_MODELS_BUDGET_SCOPE_TOKENS", "100_000"),
            ("LAMINA_MODELS_BUDGET_MONEY", "2.50"),
        ]),
        expect![[r#"
            models.provider = openai
            models.model = gpt-4o-mini
            models.base_url = https://api.openai.com/v1
            models.key_file = none
            models.key_variable = OPENAI_API_KEY
            models.timeout_ms = 60000
            models.output_tokens_max = 4096
            models.batch_events = 16
            models.attempts = 5
            models.pause_ms = 1000
            models.price_input = 0.15
            models.price_output = 0.6
            models.budget_scope_tokens = 100_000
            models.budget_scope_money = none
            models.budget_tokens = none
            models.budget_money = 2.50
            models.answers = false
            models.embed.provider = none
            models.embed.model = none
            models.embed.directory = none
            models.embed.base_url = none
            models.embed.key_file = none
            models.embed.key_variable = none
            models.embed.dimensions = none
            models.embed.text_prefix = none
            models.embed.question_prefix = none
            models.embed.timeout_ms = 30000
            models.embed.question_timeout_ms = 1000
            models.embed.batch_texts = 32
            models.embed.pause_ms = 1000
            models.embed.cache_texts = 10000
            Some(ModelsConfig { wire: Wire { provider: OpenAi, model: "gpt-4o-mini", output_tokens_max: 4096, newer_limit: true }, endpoint: Endpoint(https://api.openai.com/v1/chat/completions), key: Held, timeout_ms: 60000, batch_events: 16, attempts: 5, pause_ms: 1000, prices: Prices { input_micros: 150000, output_micros: 600000 }, budget_scope: Budget { tokens: Some(100000), micros: None }, budget_all: Budget { tokens: None, micros: Some(2500000) }, answers: false })
        "#]],
    );
    let config = load(&OPENAI).unwrap().models.unwrap();
    let ModelKey::Held(key) = &config.key else { panic!("{config:?}") };
    assert_eq!(key.expose(), KEY);
    assert!(config.wire.newer_limit);
    let own = with(&[("LAMINA_MODELS_BASE_URL", "http://127.0.0.1:8000/v1/")]);
    let own = load(&own).unwrap().models.unwrap();
    assert!(!own.wire.newer_limit);
    assert_eq!(own.endpoint.to_string(), "http://127.0.0.1:8000/v1/chat/completions");
}

#[test]
fn mistakes_say_what_is_missing() {
    check(
        &[("LAMINA_MODELS_PROVIDER", "gemini")],
        expect![[r#"
        `models.provider` cannot be `gemini` (environment LAMINA_MODELS_PROVIDER): expected none, openai, anthropic or ollama
    "#]],
    );
    check(
        &[("LAMINA_MODELS_PROVIDER", "openai")],
        expect![[r#"
        `models.provider` is set and `models.model` is not; they go together
    "#]],
    );
    check(
        &[("LAMINA_MODELS_MODEL", "llama3")],
        expect![[r#"
        `models.model` is set and `models.provider` is not; they go together
    "#]],
    );
    let claude = [("LAMINA_MODELS_PROVIDER", "anthropic"), ("LAMINA_MODELS_MODEL", "claude")];
    check(
        &claude,
        expect![[r#"
        `models.provider` is set and `models.key_file` is not; they go together
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_KEY_FILE", "/key")]),
        expect![[r#"
        `models.key_file` and `models.key_variable` are both set; leave one of them out
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_BASE_URL", "http://example.com/v1")]),
        expect![[r#"
        `models.base_url` cannot be used: the address is in the clear and leads to another machine; use https://, or allow plain HTTP
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_BASE_URL", "https://u:sk-very-secret@example.com")]),
        expect![[r#"
        `models.base_url` cannot be used: the address must not hold a user name or password
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_BASE_URL", "https://h/v1?key=sk-very-secret")]),
        expect![[r#"
        `models.base_url` cannot be used: the address must not have a query or a fragment
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_PRICE_INPUT", "-1")]),
        expect![[r#"
        `models.price_input` cannot be `-1` (environment LAMINA_MODELS_PRICE_INPUT): expected an amount such as 0.15 or 2.50, with at most six decimals
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_PRICE_INPUT", "NaN")]),
        expect![[r#"
        `models.price_input` cannot be `NaN` (environment LAMINA_MODELS_PRICE_INPUT): expected an amount such as 0.15 or 2.50, with at most six decimals
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_PRICE_INPUT", "0.1234567")]),
        expect![[r#"
        `models.price_input` cannot be `0.1234567` (environment LAMINA_MODELS_PRICE_INPUT): expected an amount such as 0.15 or 2.50, with at most six decimals
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_BUDGET_MONEY", "1")]),
        expect![[r#"
        `models.budget_money` is set and `models.price_input` is not; they go together
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_BUDGET_TOKENS", "lots")]),
        expect![[r#"
        `models.budget_tokens` cannot be `lots` (environment LAMINA_MODELS_BUDGET_TOKENS): expected a whole number, for example 4194304 or 4MiB
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_BATCH_EVENTS", "0")]),
        expect![[r#"
        `models.batch_events` cannot be `0` (environment LAMINA_MODELS_BATCH_EVENTS): expected a number from 1 to 64
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_BATCH_EVENTS", "65")]),
        expect![[r#"
        `models.batch_events` cannot be `65` (environment LAMINA_MODELS_BATCH_EVENTS): expected a number from 1 to 64
    "#]],
    );
    check(
        &with(&[("LAMINA_MODELS_TIMEOUT_MS", "99")]),
        expect![[r#"
        `models.timeout_ms` cannot be `99` (environment LAMINA_MODELS_TIMEOUT_MS): expected a number from 100 to 600000
    "#]],
    );
}

#[test]
fn a_key_where_a_name_belongs_is_not_repeated() {
    let wrong = [
        ("LAMINA_MODELS_PROVIDER", "openai"),
        ("LAMINA_MODELS_MODEL", "gpt-4o-mini"),
        ("LAMINA_MODELS_KEY_VARIABLE", KEY),
    ];
    check(
        &wrong,
        expect![[r#"
        `models.key_variable` cannot be used: it is the name of a variable of the environment that holds the key, never the key
    "#]],
    );
    // Commands that do not ask a model do without its key.
    let [provider, model, _] = OPENAI;
    let unset = [provider, model, ("LAMINA_MODELS_KEY_VARIABLE", "NO_SUCH_VARIABLE")];
    let unset = load(&unset).unwrap().models.unwrap();
    assert!(matches!(unset.key, ModelKey::Unset));
}

#[test]
fn money_is_exact() {
    assert_eq!(money("0.15"), Ok(150_000));
    assert_eq!(money("2"), Ok(2_000_000));
    assert_eq!(money("0.000001"), Ok(1));
    assert_eq!(money("1000000"), Ok(1_000_000_000_000));
    for bad in ["", ".", ".5", "1,5", "1e3", "+1", "1000001", "99999999999999999999"] {
        assert!(money(bad).is_err(), "{bad}");
    }
}

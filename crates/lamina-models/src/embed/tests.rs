//! Texts as they go out, vectors as they come in.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{DIMS_MAX, EmbedProvider, EmbedWire};
use crate::llm::Fault;

fn wire(provider: EmbedProvider) -> EmbedWire {
    EmbedWire {
        provider,
        model: "small".to_owned(),
        dimensions: None,
        text_prefix: String::new(),
        question_prefix: String::new(),
    }
}

#[test]
fn both_protocols_send_all_texts_at_once() {
    let texts = ["one \"quoted\"".to_owned(), "two".to_owned()];
    let body = |wire: &EmbedWire| serde_json::from_slice::<Value>(&wire.body(&texts)).unwrap();
    let openai = wire(EmbedProvider::OpenAi);
    assert_eq!(body(&openai), json!({"model": "small", "input": texts}));
    assert_eq!(openai.url("https://api.example.com/v1/"), "https://api.example.com/v1/embeddings");
    let short = EmbedWire { dimensions: Some(64), ..openai };
    assert_eq!(body(&short)["dimensions"], 64);
    let ollama = wire(EmbedProvider::Ollama);
    assert_eq!(body(&ollama), json!({"model": "small", "input": texts}));
    assert_eq!(ollama.url("http://127.0.0.1:11434"), "http://127.0.0.1:11434/api/embed");
}

fn check(wire: &EmbedWire, answer: &Value, expected: Expect) {
    let read = match wire.read(answer.to_string().as_bytes(), 2) {
        Ok(vectors) => format!("{vectors:?}"),
        Err(fault) => fault.as_str().to_owned(),
    };
    expected.assert_eq(&read);
}

#[test]
fn an_answer_of_openai_is_sorted_or_refused() {
    let wire = wire(EmbedProvider::OpenAi);
    let one = |index: Value, vector: Value| json!({"index": index, "embedding": vector});
    let data = |data: Vec<Value>| json!({"data": data});
    let both = data(vec![one(json!(1), json!([0.5, 2])), one(json!(0), json!([1, 0]))]);
    check(&wire, &both, expect!["[[1.0, 0.0], [0.5, 2.0]]"]);
    let unnumbered = data(vec![json!({"embedding": [1]}), json!({"embedding": [2]})]);
    check(&wire, &unnumbered, expect!["[[1.0], [2.0]]"]);
    let bad = [
        (json!({}), expect!["empty"]),
        (json!([]), expect!["empty"]),
        (json!({"error": {"message": "no"}}), expect!["error_body"]),
        (data(vec![one(json!(0), json!([1]))]), expect!["missing"]),
        (data(vec![one(json!(0), json!([1])), one(json!(0), json!([1]))]), expect!["wrong_shape"]),
        (data(vec![one(json!(0), json!([1])), one(json!(7), json!([1]))]), expect!["wrong_shape"]),
        (data(vec![one(json!(0), json!([1])), one(json!(-1), json!([1]))]), expect!["wrong_shape"]),
        (
            data(vec![one(json!(0), json!([1])), one(json!(1), json!([1, 2]))]),
            expect!["wrong_shape"],
        ),
        (
            data(vec![one(json!(0), json!(["1"])), one(json!(1), json!([1]))]),
            expect!["wrong_shape"],
        ),
        (
            data(vec![one(json!(0), json!([1e300])), one(json!(1), json!([1]))]),
            expect!["wrong_shape"],
        ),
        (data(vec![one(json!(0), json!([])), one(json!(1), json!([]))]), expect!["wrong_shape"]),
    ];
    for (answer, expected) in bad {
        check(&wire, &answer, expected);
    }
    assert_eq!(wire.read(b"<html>", 1), Err(Fault::NotJson));
    let at_most = |length: usize| {
        wire.read(data(vec![one(json!(0), json!(vec![1; length]))]).to_string().as_bytes(), 1)
    };
    assert!(at_most(DIMS_MAX).is_ok());
    assert_eq!(at_most(DIMS_MAX + 1), Err(Fault::WrongShape));
    let asked = EmbedWire { dimensions: Some(3), ..wire };
    check(&asked, &both, expect!["wrong_shape"]);
}

#[test]
fn an_answer_of_ollama_is_in_order() {
    let wire = wire(EmbedProvider::Ollama);
    check(&wire, &json!({"embeddings": [[1, 0], [0, 1]]}), expect!["[[1.0, 0.0], [0.0, 1.0]]"]);
    check(&wire, &json!({"embeddings": [[1, 0]]}), expect!["wrong_shape"]);
    check(&wire, &json!({"embeddings": null}), expect!["empty"]);
    check(&wire, &json!({"error": "model not found"}), expect!["error_body"]);
}

/// What changes vectors changes the name, and the name tells how to ask for them again.
#[test]
fn vectors_are_known_by_all_that_made_them() {
    let plain = wire(EmbedProvider::OpenAi);
    assert_eq!(plain.name(), "openai:small");
    let told = EmbedWire {
        dimensions: Some(256),
        text_prefix: "say \"it\": ".to_owned(),
        question_prefix: "ask: ".to_owned(),
        ..plain.clone()
    };
    assert_eq!(told.name(), r#"openai:small@256+"say \"it\": ""#);
    assert_eq!(told.former(&plain.name()).map(|former| former.name()), Some(plain.name()));
    assert_eq!(plain.former(&told.name()).map(|former| former.name()), Some(told.name()));
    assert_eq!(plain.former("ollama:small"), None);
    assert_eq!(plain.former("lamina-static-1"), None);
    let ollama = wire(EmbedProvider::Ollama);
    let tagged = ollama.former("ollama:nomic-embed-text:v1.5").unwrap();
    assert_eq!((tagged.model.as_str(), tagged.dimensions), ("nomic-embed-text:v1.5", None));
}

//! Questions as they go out, answers as they come in, and claims that stand on nothing.

use lamina_types::layer::extraction::{Effect, Object, Term};
use lamina_types::{ActorId, Micros, Role};
use serde_json::{Value, json};

use super::Fault;
use super::candidate::{Candidate, output};
use super::prompt::{Item, document, instructions, prompt_version, schema};
use super::wire::{Provider, Usage, Wire};
use super::{Read, TEXT_BYTES_MAX, read, shown, shown_bytes};
use crate::ground::grounded;
use crate::source::Source;

fn wire(provider: Provider) -> Wire {
    Wire { provider, model: "small".to_owned(), output_tokens_max: 512, newer_limit: false }
}

fn item(id: &str, text: &str) -> Item {
    let observed_at = Micros(1_741_946_400_000_000);
    Item { id: id.to_owned(), observed_at, text: text.to_owned() }
}

fn asked(provider: Provider) -> Value {
    let body = wire(provider).body(&[item("a1", "I live in \"Rome\".\n}]}")]);
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn the_three_protocols_ask_for_the_same() {
    let openai = asked(Provider::OpenAi);
    assert_eq!(openai["response_format"]["json_schema"]["strict"], true);
    assert_eq!(&openai["response_format"]["json_schema"]["schema"], schema());
    assert_eq!(openai["max_tokens"], 512);
    assert_eq!(openai["messages"][0]["role"], "system");
    let newer = Wire { newer_limit: true, ..wire(Provider::OpenAi) };
    let newer: Value = serde_json::from_slice(&newer.body(&[item("a1", "x")])).unwrap();
    assert_eq!(
        (&newer["max_completion_tokens"], &newer["max_tokens"]),
        (&json!(512), &Value::Null)
    );
    let anthropic = asked(Provider::Anthropic);
    assert_eq!(&anthropic["tools"][0]["input_schema"], schema());
    assert_eq!(anthropic["tool_choice"]["name"], anthropic["tools"][0]["name"]);
    assert_eq!(anthropic["max_tokens"], 512);
    let ollama = asked(Provider::Ollama);
    assert_eq!((&ollama["format"], &ollama["stream"]), (schema(), &json!(false)));
    assert_eq!(ollama["options"]["num_predict"], 512);
    // The words are within one JSON text, whatever stands in them.
    let data: Value =
        serde_json::from_str(openai["messages"][1]["content"].as_str().unwrap()).unwrap();
    let event = &data["events"][0];
    assert_eq!(event["text"], "I live in \"Rome\".\n}]}");
    assert_eq!(event["said_at"], "2025-03-14T10:00:00Z");
    assert_eq!(anthropic["messages"][0]["content"], openai["messages"][1]["content"]);
    assert_eq!(ollama["messages"], openai["messages"]);
}

/// A strict schema names every property as required and allows no other: OpenAI refuses anything else.
#[test]
fn the_schema_is_strict_at_every_depth() {
    fn check(schema: &Value) {
        if schema["type"] == "object" {
            let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
            let required = schema["required"].as_array().unwrap();
            assert_eq!(names.len(), required.len());
            assert!(names.iter().all(|name| required.contains(&json!(name))), "{names:?}");
            assert_eq!(schema["additionalProperties"], false);
            schema["properties"].as_object().unwrap().values().for_each(check);
        }
        if schema["type"] == "array" {
            check(&schema["items"]);
        }
    }
    check(schema());
    assert!(instructions().contains("- lives_in (entity): live in"));
    assert!(!instructions().contains("{relations}"));
    let (name, hash) = prompt_version().split_once('.').unwrap();
    assert_eq!((name, hash.len()), ("extract-1", 8));
}

#[test]
fn an_event_takes_no_more_bytes_than_are_counted_for_it() {
    let long = "é".repeat(TEXT_BYTES_MAX);
    for text in ["", "plain", "\u{1}\u{2}\"\\", "日本語のテキスト", &long] {
        let with = document(&[item("0123456789ab", shown(text))]).len();
        let without = document(&[]).len();
        assert!(with - without <= shown_bytes(text), "{} {}", with - without, shown_bytes(text));
    }
    assert_eq!(shown(&long).len(), TEXT_BYTES_MAX);
    assert_eq!(shown(&format!("x{long}")).len(), TEXT_BYTES_MAX - 1, "cut between characters");
}

const SAID: &str = r#"{"events":[{"id":"a1","claims":[]}]}"#;

fn heard(provider: Provider, body: &Value) -> (Result<usize, Fault>, Option<Usage>) {
    heard_bytes(provider, body.to_string().as_bytes())
}

fn heard_bytes(provider: Provider, body: &[u8]) -> (Result<usize, Fault>, Option<Usage>) {
    let reply = wire(provider).read(body);
    let said = reply.output.and_then(|value| output(&value, &[item("a1", "x")]));
    (said.map(|output| output.events.iter().flatten().count()), reply.usage)
}

#[test]
fn good_answers_of_each_protocol() {
    let usage = Some(Usage { input: 10, output: 5 });
    let openai = json!({
        "choices": [{"message": {"content": SAID, "refusal": null}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5}
    });
    assert_eq!(heard(Provider::OpenAi, &openai), (Ok(1), usage));
    let anthropic = json!({
        "type": "message", "stop_reason": "tool_use",
        "content": [
            {"type": "text", "text": "So:"},
            {"type": "tool_use", "name": "record_claims", "input": {"events": [{"id": "a1", "claims": []}]}}
        ],
        "usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 5}
    });
    assert_eq!(heard(Provider::Anthropic, &anthropic), (Ok(1), usage));
    let ollama = json!({
        "message": {"role": "assistant", "content": SAID}, "done": true, "done_reason": "stop",
        "prompt_eval_count": 10, "eval_count": 5
    });
    assert_eq!(heard(Provider::Ollama, &ollama), (Ok(1), usage));
}

/// A body per way in which a provider can fail while it answers.
#[test]
fn bad_answers_have_names() {
    let chat = |message: Value, end: &str| {
        json!({"choices": [{"message": message, "finish_reason": end}],
               "usage": {"prompt_tokens": 1, "completion_tokens": 1}})
    };
    let content = |text: &str| chat(json!({ "content": text }), "stop");
    let openai = [
        (json!({"error": {"message": "overloaded"}}), Fault::ErrorBody),
        (json!({"choices": []}), Fault::Empty),
        (json!([1, 2]), Fault::Empty),
        (chat(json!({"content": null, "refusal": "I cannot"}), "stop"), Fault::Refusal),
        (chat(json!({"content": null}), "content_filter"), Fault::Refusal),
        (chat(json!({"content": "{\"events\":["}), "length"), Fault::Truncated),
        (content(""), Fault::Empty),
        (content("   "), Fault::Empty),
        (content("Sure! Here it is."), Fault::NotJson),
        (content("{\"events\":[{\"id\":"), Fault::NotJson),
        (
            content("{\"events\":[{\"id\":\"a1\",\"claims\":[{\"confidence\":NaN}]}]}"),
            Fault::NotJson,
        ),
        (
            content("{\"events\":[{\"id\":\"a1\",\"claims\":[{\"confidence\":1e999}]}]}"),
            Fault::NotJson,
        ),
        (content("null"), Fault::WrongShape),
        (content("{\"events\":{}}"), Fault::WrongShape),
        (content("{\"events\":[]}"), Fault::Empty),
        (content("{\"events\":[{\"id\":\"other\",\"claims\":[]}]}"), Fault::WrongShape),
        (content("{\"events\":[{\"id\":\"a1\",\"claims\":\"none\"}]}"), Fault::WrongShape),
        (content(&"[".repeat(100_000)), Fault::NotJson),
    ];
    for (body, fault) in openai {
        assert_eq!(heard(Provider::OpenAi, &body).0, Err(fault), "{body:.120}");
    }
    assert_eq!(heard_bytes(Provider::OpenAi, b"<html>").0, Err(Fault::NotJson));
    assert_eq!(heard_bytes(Provider::OpenAi, b"").0, Err(Fault::NotJson));
    let anthropic = [
        (json!({"type": "error", "error": {"type": "overloaded_error"}}), Fault::ErrorBody),
        (json!({"stop_reason": "refusal", "content": []}), Fault::Refusal),
        (json!({"stop_reason": "max_tokens", "content": []}), Fault::Truncated),
        (json!({"stop_reason": "end_turn", "content": []}), Fault::Empty),
        (json!({"content": [{"type": "text", "text": "no"}]}), Fault::Refusal),
        (
            json!({"content": [{"type": "tool_use", "name": "other", "input": {"events": []}}]}),
            Fault::Refusal,
        ),
    ];
    for (body, fault) in anthropic {
        assert_eq!(heard(Provider::Anthropic, &body).0, Err(fault), "{body:.120}");
    }
    let ollama = [
        (json!({"error": "model not found"}), Fault::ErrorBody),
        (json!({"message": {"content": "{"}, "done_reason": "length"}), Fault::Truncated),
        (json!({"done": true}), Fault::Empty),
    ];
    for (body, fault) in ollama {
        assert_eq!(heard(Provider::Ollama, &body).0, Err(fault), "{body:.120}");
    }
}

#[test]
fn strangers_twins_and_floods_are_ignored() {
    let items = [item("a1", "x"), item("b2", "y")];
    let claim = json!({"subject": "speaker", "predicate": "likes", "quote": "x", "clause": "x",
                       "effect": "holds", "confidence": 7});
    let flood: Vec<Value> = vec![claim; 1_000];
    let value = json!({"events": [
        {"id": "a1", "claims": flood},
        {"id": "a1", "claims": []},
        {"id": "zz", "claims": []},
        "nonsense",
        {"claims": []},
    ]});
    let output = output(&value, &items).unwrap();
    assert_eq!(output.events.len(), 2);
    assert_eq!(output.events[0].as_ref().unwrap().len(), super::CLAIMS_MAX);
    assert_eq!(output.events[0].as_ref().unwrap()[0].confidence, 10_000);
    assert_eq!(output.events[1], None);
    assert_eq!(output.ignored, 1_000 - super::CLAIMS_MAX + 4);
}

fn candidate(subject: &str, predicate: &str, quote: &str, clause: &str) -> Candidate {
    Candidate {
        subject: subject.to_owned(),
        subject_relation: None,
        subject_kind: "person".to_owned(),
        predicate: predicate.to_owned(),
        quote: quote.to_owned(),
        clause: clause.to_owned(),
        effect: "holds".to_owned(),
        since: None,
        until: None,
        confidence: 9_000,
    }
}

/// What is made of candidates, as lines; those that fail the gate begin with `!`.
fn lines(text: &str, candidates: &[Candidate]) -> Vec<String> {
    let speaker: ActorId = "user:alice".parse().unwrap();
    let source = Source {
        text,
        speaker: &speaker,
        addressee: None,
        role: Some(Role::User),
        observed_at: Micros(1_741_946_400_000_000),
        timezone: None,
    };
    let Read { extraction, ungrounded } =
        read(&source, crate::rules::extract(&source), candidates, "test");
    assert_eq!(extraction.extractor, "test");
    let line = |(at, claim): (usize, &lamina_types::layer::Claim)| {
        let refused = ungrounded.iter().any(|position| usize::from(*position) == at);
        assert!(refused || grounded(claim, &source).is_ok(), "{claim:?}");
        let term = |term: &Term| match term {
            Term::Actor(actor) => actor.to_string(),
            Term::Named { name, .. } => name.clone(),
            Term::Of { relation, .. } => format!("its {relation}"),
        };
        let object = match &claim.object {
            Object::Entity(named) => term(named),
            Object::Text(text) | Object::Date(text) => text.clone(),
            Object::Number { value, .. } => value.clone(),
            Object::Money { amount, currency } => format!("{amount} {currency}"),
            Object::Bool(yes) => yes.to_string(),
        };
        let effect = if claim.effect == Effect::Holds { "" } else { " ended" };
        let mark = if refused { "!" } else { "" };
        format!("{mark}{} {} {object}{effect}", term(&claim.subject), claim.predicate)
    };
    extraction.claims.iter().enumerate().map(line).collect()
}

#[test]
fn a_claim_is_made_of_the_words_it_quotes() {
    let text = "Moin, ich wohne jetzt in Kiel und arbeite bei Initech.";
    let found = lines(
        text,
        &[
            candidate("speaker", "lives_in", "Kiel", "ich wohne jetzt in Kiel"),
            candidate("speaker", "works_at", "Initech", "arbeite bei Initech"),
        ],
    );
    assert_eq!(found, ["user:alice lives_in Kiel", "user:alice works_at Initech"]);
    let text = "Our team at Acme grew to two hundred seats for $4,000 a month.";
    let found = lines(
        text,
        &[
            candidate("Acme", "count:seats", "two hundred", text),
            candidate("Acme", "price", "$4,000", text),
        ],
    );
    assert!(found.contains(&"Acme count:seats 200".to_owned()), "{found:?}");
    assert!(found.contains(&"Acme price 4000 USD".to_owned()), "{found:?}");
}

/// Nothing that a model can say gets past its words.
#[test]
fn what_the_words_do_not_bear_out_is_kept_apart() {
    let text = "Carol moved to Oslo. Do I live in Paris? Romeo wrote.";
    let cases = [
        // A quote that stands nowhere, one inside another word, one outside its clause.
        candidate("Carol", "lives_in", "Bergen", "Carol moved to Oslo"),
        candidate("Carol", "lives_in", "Rome", "Romeo wrote"),
        candidate("Carol", "lives_in", "Romeo", "Carol moved to Oslo"),
        // A clause that was never written.
        candidate("Carol", "lives_in", "Oslo", "Carol has always lived in Oslo"),
        // Somebody who is not spoken of, a relation that there is not, a value of another kind.
        candidate("Mallory", "lives_in", "Oslo", "Carol moved to Oslo"),
        candidate("Carol", "murdered", "Oslo", "Carol moved to Oslo"),
        candidate("Carol", "Lives In", "Oslo", "Carol moved to Oslo"),
        candidate("Carol", "age", "Oslo", "Carol moved to Oslo"),
        candidate("Carol", "count:seats", "Oslo", "Carol moved to Oslo"),
        // A question.
        candidate("speaker", "lives_in", "Paris", "I live in Paris"),
        candidate("speaker", "lives_in", "Paris", "Do I live in Paris?"),
        // An end that nobody speaks of.
        Candidate {
            effect: "ends".to_owned(),
            ..candidate("speaker", "lives_in", "Paris", "live in Paris")
        },
        Candidate {
            effect: "maybe".to_owned(),
            ..candidate("Carol", "lives_in", "Oslo", "moved to Oslo")
        },
        // Somebody's somebody who is not in the text.
        Candidate {
            subject_relation: Some("wife".to_owned()),
            ..candidate("Carol", "lives_in", "Oslo", "Carol moved to Oslo")
        },
    ];
    for case in cases {
        let found = lines(text, std::slice::from_ref(&case));
        let believed: Vec<&String> = found.iter().filter(|line| !line.starts_with('!')).collect();
        assert_eq!(believed, ["Carol lives_in Oslo"], "{case:?}");
        assert_eq!(found.len(), 2, "{case:?} is kept to be seen");
    }
    // Who speaks of nobody else's life is not spoken of.
    let found =
        lines("Carol moved to Oslo.", &[candidate("speaker", "lives_in", "Oslo", "moved to Oslo")]);
    assert_eq!(found, ["Carol lives_in Oslo", "!speaker lives_in Oslo"]);
}

#[test]
fn a_model_adds_to_the_rules_and_takes_nothing_away() {
    let text = "I live in Rome and I like jazz.";
    let rules = lines(text, &[]);
    assert_eq!(rules, ["user:alice lives_in Rome", "user:alice likes jazz"]);
    // The same again is the same.
    let again = [
        candidate("speaker", "lives_in", "Rome", "I live in Rome"),
        candidate("speaker", "likes", "jazz", "I like jazz"),
    ];
    assert_eq!(lines(text, &again), rules);
    // Of a relation with one value the model's counts, and there is one.
    let other = lines(
        "I live in Rome near Ostia.",
        &[candidate("speaker", "lives_in", "Ostia", "I live in Rome near Ostia")],
    );
    assert_eq!(other, ["user:alice lives_in Ostia"]);
}

#[test]
fn times_come_from_the_words_or_not_at_all() {
    let text = "Since May 2019 my sister Ida works at Initech.";
    let claim = Candidate {
        since: Some("May 2019".to_owned()),
        until: Some("next decade".to_owned()),
        ..candidate("Ida", "works_at", "Initech", text)
    };
    let speaker: ActorId = "user:alice".parse().unwrap();
    let source = Source {
        text,
        speaker: &speaker,
        addressee: None,
        role: None,
        observed_at: Micros(1_741_946_400_000_000),
        timezone: None,
    };
    let found = read(&source, crate::rules::extract(&source), &[claim], "test");
    let worked = found.extraction.claims.iter().find(|claim| claim.predicate == "works_at");
    let from = worked.unwrap().valid_from.map(|at| at.0.0);
    assert_eq!(from, Some(1_556_668_800_000_000), "{worked:?}");
    assert_eq!(worked.unwrap().valid_to, None);
    assert_eq!(found.ungrounded, [0u16; 0]);
}

#[test]
fn faults_are_told_apart_by_number_and_name() {
    for (at, fault) in Fault::ALL.iter().enumerate() {
        assert_eq!(Fault::from_u8(*fault as u8), Some(*fault));
        let others = Fault::ALL.iter().skip(at + 1);
        assert!(others.clone().all(|other| other.as_str() != fault.as_str()));
    }
    assert_eq!(Fault::from_u8(0), None);
}

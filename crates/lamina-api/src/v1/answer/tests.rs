//! What an answer and a document may be asked with, at the edges.

use lamina_types::recall::CitationMode;
use lamina_types::{ErrorCode, limits};

use super::{AnswerRequest, ComposeRequest};

fn refused(body: &str) -> (ErrorCode, String) {
    let error = AnswerRequest::read(body.as_bytes()).unwrap_err();
    (error.code, error.field().unwrap_or_default().to_owned())
}

#[test]
fn r266_what_the_published_client_sends() {
    let body = r#"{"scope":"user:ada","view":"holistic","question":" Who? ","diagnostics":"none",
        "question_type":"multi-session","question_date":"2026-01-05","answer_model":"small",
        "answer_max_tokens":100,"answer_instructions":"be terse","cite_sources":true,
        "use_pack_id":"pack_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b","filters":{}}"#;
    let asked = AnswerRequest::read(body.as_bytes()).unwrap();
    assert_eq!((asked.question.as_str(), asked.recall.query.as_str()), ("Who?", "Who?"));
    assert_eq!((asked.model.as_deref(), asked.tokens_max), (Some("small"), Some(100)));
    assert!(asked.pack.is_some() && asked.recall.temporal.reference.is_some());
    assert_eq!(asked.recall.citation_mode, CitationMode::InlineWithMarkers);
}

#[test]
fn what_is_refused() {
    assert_eq!(
        refused(r#"{"scope":"user:ada"}"#),
        (ErrorCode::MissingRequiredField, "question".to_owned())
    );
    assert_eq!(refused(r#"{"question":"Who?"}"#).0, ErrorCode::MissingRequiredField);
    let with = |rest: &str| format!(r#"{{"scope":"user:ada","question":"Who?",{rest}}}"#);
    assert_eq!(refused(&with(r#""use_pack_id":"evt_1""#)).0, ErrorCode::InvalidId);
    for (tokens, fine) in [(0, false), (1, true), (limits::ANSWER_TOKENS_MAX, true)] {
        let body = with(&format!(r#""answer_max_tokens":{tokens}"#));
        assert_eq!(AnswerRequest::read(body.as_bytes()).is_ok(), fine, "{tokens}");
    }
    let over = with(&format!(r#""answer_max_tokens":{}"#, limits::ANSWER_TOKENS_MAX + 1));
    assert_eq!(refused(&over).1, "answer_max_tokens");
    for (chars, fine) in [(limits::ANSWER_INSTRUCTIONS_CHARS_MAX, true), (4_001, false)] {
        let body = with(&format!(r#""answer_instructions":"{}""#, "x".repeat(chars)));
        assert_eq!(AnswerRequest::read(body.as_bytes()).is_ok(), fine, "{chars}");
    }
}

#[test]
fn a_document_has_bounds_too() {
    let of = |rest: &str| {
        let body = format!(r#"{{"scope":"user:ada","brief":"The year"{rest}}}"#);
        ComposeRequest::read(body.as_bytes())
    };
    let plain = of("").unwrap();
    assert!(plain.cites && plain.structure.is_empty());
    assert_eq!(of(r#","length":"brief""#).unwrap().tokens_max, 600);
    assert_eq!(of(r#","length":"brief","max_tokens":50"#).unwrap().tokens_max, 50);
    let digest = of(r#","depth":"exhaustive","time":"last 7 days","citations":false"#).unwrap();
    assert_eq!(digest.answering.recall.floor, Some(0.0));
    assert!(!digest.cites && digest.answering.recall.temporal.natural.is_some());
    assert!(of(r#","depth":"bottomless""#).is_err() && of(r#","length":"long""#).is_err());
    let headings = |count: usize| {
        let headings = vec![r#""x""#; count].join(",");
        of(&format!(r#","structure":[{headings}]"#))
    };
    assert!(headings(limits::COMPOSE_SECTIONS_MAX).is_ok());
    assert!(headings(limits::COMPOSE_SECTIONS_MAX + 1).is_err());
}

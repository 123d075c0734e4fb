//! What a phrase may be, at the edges.

use lamina_types::limits;

use super::{PhraseBody, PhraseRequest};

fn read(name: &str, pattern: &str, range: &str) -> Result<PhraseBody, Option<String>> {
    let meaning = format!(r#"{{"valid_during":{range}}}"#);
    let body = format!(r#"{{"name":"{name}","pattern":"{pattern}","resolves_to":{meaning}}}"#);
    let phrase = PhraseRequest::read(body.as_bytes());
    phrase.map(|phrase| PhraseBody::new(&phrase)).map_err(|error| error.field().map(str::to_owned))
}

#[test]
fn r339_a_phrase_and_its_bounds() {
    let range = r#"["2026-07-01","2026-10-01"]"#;
    let phrase = read("fiscal_q3", "fiscal Q3", range).unwrap();
    assert_eq!(phrase.resolves_to.valid_during, ["2026-07-01T00:00:00Z", "2026-10-01T00:00:00Z"]);
    let named = |chars: usize| read(&"x".repeat(chars), "fiscal Q3", range).is_ok();
    assert!(named(limits::PHRASE_NAME_CHARS_MAX) && !named(limits::PHRASE_NAME_CHARS_MAX + 1));
    let said = |chars: usize| read("x", &"x".repeat(chars), range).is_ok();
    assert!(said(limits::TEMPORAL_CHARS_MAX) && !said(limits::TEMPORAL_CHARS_MAX + 1));
    assert_eq!(read("a/b", "x", range).unwrap_err().as_deref(), Some("name"));
    assert_eq!(read("x", "...", range).unwrap_err().as_deref(), Some("pattern"));
    let backward = r#"["2026-10-01","2026-07-01"]"#;
    assert_eq!(read("x", "x", backward).unwrap_err().as_deref(), Some("resolves_to.valid_during"));
}
